"""Declares the resources of SPIR-V shaders for OpenGL (ARB_gl_spirv) to the linker.

GLSL's front end matches by name; this one by number: uniforms by location, blocks by binding,
varyings by location. Names are kept if the module has them, but nothing depends on them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.ends import assign_attributes, assign_fragment_outputs
from gallette.compiler.link.feedback import Capture, declared_feedback
from gallette.compiler.link.finish import finish_program
from gallette.compiler.link.layout import block_size
from gallette.compiler.link.log import LinkLog, LinkStop
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.link.resources import Block, ResourceTables, Uniform, dims_of
from gallette.compiler.link.slots import Port, check_overlaps, within_limits
from gallette.compiler.link.stages import check_stages
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.modes import DRAWING, Mode, Stage
from gallette.compiler.nir.ir.queries import derefs_in
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.link.feedback import targets
from gallette.compiler.nir.passes.vars.split_struct_vars import split_members
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Module, SpirvError, text_of
from gallette.compiler.spirv.read.translate import read_entry


@lazy_dataclass(frozen=True)
class SpirvShader:
    """A specialised module: its entry point, and the constants' values by `SpecId`."""

    stage: Stage
    module: Module
    entry: str = "main"
    constants: tuple[tuple[int, int], ...] = ()

    @property
    def specialize(self) -> Mapping[int, int]:
        return dict(self.constants)


_NAME = opcode("OpName")
_MADE = re.compile(r"(v|struct_)\d+(?=[.\[]|$)")
"""names of variables and structures of which a module names none"""
_GENERIC0, _DATA0 = VertAttrib.GENERIC0, FragResult.DATA0


class _Linker:
    def __init__(self, options: LinkOptions) -> None:
        self.options = options
        self.program = LinkedProgram()
        self.program.info.glsl_version = 450
        self.log = LinkLog()
        self.tables = ResourceTables(self.program, options.limits, self.log)
        self.counters: dict[tuple[int, int], tuple[str, Type, set[Stage]]] = {}
        """by binding and offset"""

    def run(self, shaders: list[SpirvShader]) -> LinkedProgram:
        program = self.program
        try:
            for given in shaders:
                if given.stage in program.shaders:
                    raise SpirvError(f"two {given.stage.value} shaders")
                shader, counters = read_entry(
                    given.module, given.stage, given.entry, given.specialize
                )
                program.shaders[given.stage] = shader
                self.count(given.stage, counters)
            check_stages(program.shaders.keys(), self.options.separable, self.log)
            self.log.stop_on_error()
            self.ends()
            self.resources()
            self.feedback()
            self.log.stop_on_error()
            compute = program.shaders.get(Stage.COMPUTE)
            if compute is not None:
                program.info.local_size = compute.info.workgroup_size
            finish_program(program, self.options)
            self.forget_names(shaders)
            program.ok = True
        except (LinkStop, GalletteError) as stop:
            if isinstance(stop, GalletteError):
                self.log.error(str(stop))
            for shader in program.shaders.values():
                shader.unref()
            program.shaders.clear()
        program.info_log = self.log.text
        return program

    def grouped(
        self, mode: Mode, number: Callable[[Variable], int | None]
    ) -> Iterator[tuple[int, dict[Stage, Variable]]]:
        """The variables of a mode, grouped across stages by a number."""
        found: dict[int, dict[Stage, Variable]] = {}
        for stage, shader in self.program.shaders.items():
            for var in shader.variables_of(mode):
                key = number(var)
                if key is not None:
                    found.setdefault(key, {})[stage] = var
        yield from sorted(found.items())

    def forget_names(self, shaders: list[SpirvShader]) -> None:
        """Take the names of resources away that the reader made, as the modules have none."""
        given = {
            text_of(instr.words, 1)[0]
            for shader in shaders
            for instr in shader.module.instructions
            if instr.opcode == _NAME
        }

        def named(items: list[Any]) -> list[Any]:
            roots = [_MADE.match(item.name) for item in items]
            return [
                replace(item, name="") if root is not None and root[0] not in given else item
                for item, root in zip(items, roots, strict=True)
            ]

        program = self.program
        for table in ("uniforms", "uniform_blocks", "storage_blocks", "buffer_variables",
                      "attributes", "frag_outputs", "inputs", "outputs"):  # fmt: skip
            setattr(program, table, named(getattr(program, table)))
        program.input_resources, program.output_resources = program.inputs, program.outputs
        if program.xfb is not None:
            program.xfb = replace(program.xfb, varyings=tuple(named(list(program.xfb.varyings))))

    # Inputs and outputs.

    def ends(self) -> None:
        program, limits = self.program, self.options.limits
        vertex, fragment = (program.shaders.get(s) for s in (Stage.VERTEX, Stage.FRAGMENT))
        if vertex is not None:
            inputs = [v for v in vertex.variables_of(Mode.SHADER_IN) if v.location >= _GENERIC0]
            assign_attributes(program, [(v, v.type) for v in inputs], limits, self.log)
        if fragment is not None:
            outputs = [v for v in fragment.variables_of(Mode.SHADER_OUT) if v.location >= _DATA0]
            assign_fragment_outputs(program, outputs, limits, self.log)
        chain = [program.shaders[s] for s in DRAWING if s in program.shaders]
        for shader in chain:
            check_overlaps(list(_ports(shader, Mode.SHADER_IN)), limits, self.log)
            # Outputs that no stage reads may share a location, as on Mesa: programs capture them.
            within_limits(list(_ports(shader, Mode.SHADER_OUT)), limits, self.log)
        for rows, some, mode in (
            (program.inputs, chain[:1], Mode.SHADER_IN),
            (program.outputs, chain[-1:], Mode.SHADER_OUT),
        ):
            for shader in some:  # empty if there is none
                rows += (port.varying(shader.stage) for port in _ports(shader, mode))
        program.input_resources, program.output_resources = program.inputs, program.outputs

    # Resources.

    def resources(self) -> None:
        tables = self.tables
        for (binding, offset), (name, type_, stages) in self.counters.items():
            tables.counter(name, type_, binding, offset, frozenset(stages))
        for mode in (Mode.UBO, Mode.SSBO):
            blocks = self.grouped(mode, lambda v: v.binding)
            tables.blocks(mode, [self.block(mode, own) for _, own in blocks])
        uniforms = [own for _, own in self.grouped(Mode.UNIFORM, _data_location)]
        uniforms += [own for _, own in self.grouped(Mode.UNIFORM, _handle_number)]
        for own in uniforms:
            first = next(iter(own.values()))
            if first.location >= 0:
                tables.reserve(first.name, first.type, first.location, True)
            elif not first.type.without_array.is_opaque:
                raise SpirvError(f"uniform {first.name} has no location")
        for own in uniforms:
            self.uniform(own)
        tables.finish()

    def block(self, mode: Mode, own: dict[Stage, Variable]) -> Block:
        var = next(iter(own.values()))
        type_, stages = var.type.without_array, frozenset(own)
        name, dims = type_.name, dims_of(var.type)
        size, binding = block_size(type_), max(var.binding, 0)
        return Block(name, mode, type_, size, dims, binding, own, stages, f"{name}.")

    def uniform(self, own: dict[Stage, Variable]) -> None:
        first = next(iter(own.values()))
        initial = None
        for var in own.values():
            initial = var.constant_initializer if initial is None else initial
            var.constant_initializer = None
        parts = self.separate_opaques(own)
        declared = Uniform(
            first.name,
            first.type,
            own,
            first.location,
            first.binding if first.type.without_array.is_opaque else -1,
            initial,
            part=lambda stage, fields, *_: parts[stage].get(fields),
        )
        self.tables.uniform(declared)
        for stage, var in own.items():
            _retype(self.program.shaders[stage], var)

    def separate_opaques(
        self, own: dict[Stage, Variable]
    ) -> dict[Stage, dict[tuple[int, ...], Variable]]:
        """Make samplers and images in structures variables of their own, by the path of members."""
        found: dict[Stage, dict[tuple[int, ...], Variable]] = {}
        for stage, var in own.items():
            parts = found[stage] = {}
            if var.type.without_array.is_opaque or not var.type.holds_opaque:
                continue
            shader = self.program.shaders[stage]
            for impl in shader.impls():
                inner = [d for d in derefs_in(impl, Mode.UNIFORM) if d.root_var is var]
                handles = [d for d in inner if d.type.is_opaque]
                split_members(impl, shader.variables, var, handles, parts)
            if all(leaf.is_opaque for leaf in var.type.leaves()):
                shader.variables.remove(var)
        return found

    def count(self, stage: Stage, counters: list[tuple[str, Type, int, int]]) -> None:
        """Group the atomic counters of a stage with those of others, by their place."""
        for name, type_, binding, offset in _arrays(counters):
            self.counters.setdefault((binding, offset), (name, type_, set()))[2].add(stage)

    def feedback(self) -> None:
        """Declare the outputs with a place in a buffer (OpenGL 4.6, 7.3; `XfbBuffer`)."""
        chain = [s for s in DRAWING if s in self.program.shaders and s is not Stage.FRAGMENT]
        if not chain:
            return
        shader = self.program.shaders[chain[-1]]
        captures: list[Capture] = []
        strides: dict[int, int] = {}
        for var in shader.variables_of(Mode.SHADER_OUT):
            if var.xfb_buffer < 0 or var.xfb_offset < 0:
                continue
            root = (var.name, var.type)
            found = targets([root], var.location, var.component, var.packed, var.stream)
            captures.append(Capture(var.name, found, var.xfb_buffer, var.xfb_offset))
            if var.xfb_stride > 0:
                strides[var.xfb_buffer] = var.xfb_stride
        self.program.xfb = declared_feedback(captures, strides, self.options.limits, self.log)
        shader.info.has_transform_feedback = self.program.xfb is not None


def _ports(shader: Shader, mode: Mode) -> Iterator[Port]:
    """The inputs from another stage, or the outputs for one."""
    if (shader.stage, mode) in _EDGES:
        return
    for var in shader.variables_of(mode):
        first = VaryingSlot.PATCH0 if var.patch else VaryingSlot.VAR0
        if var.location >= first:
            at = var.location - first
            yield Port(var, var.type, explicit=at, location=at)


_EDGES = ((Stage.VERTEX, Mode.SHADER_IN), (Stage.FRAGMENT, Mode.SHADER_OUT))


def _data_location(var: Variable) -> int | None:
    return None if var.type.without_array.is_opaque else var.location


def _handle_number(var: Variable) -> int | None:
    """Samplers and images in order of location or binding."""
    element = var.type.without_array
    number = var.location if var.location >= 0 else (1 << 16) + max(var.binding, 0)
    return number * 2 + element.is_image if element.is_opaque else None


def _retype(shader: Shader, var: Variable) -> None:
    """Retype pointers into a variable whose type was laid out."""
    for impl in shader.impls():
        for block in impl.blocks():
            for deref in block.instrs():
                if isinstance(deref, Deref) and deref.root_var is var:
                    type = var.type
                    for step in deref.path()[1:]:
                        is_member = step.form == "struct"
                        type = type.fields[step.field].type if is_member else type.indexed()
                    deref.type = type


def _arrays(
    counters: list[tuple[str, Type, int, int]],
) -> Iterator[tuple[str, Type, int, int]]:
    """Enumerate arrays of arrays of counters as their innermost arrays."""
    for name, type, binding, offset in counters:
        inner, count = type, 1
        while inner.element is not None and inner.element.is_array:
            count *= inner.length
            inner = inner.element
        for i in range(min(count, 1 << 12)):
            label = f"{name}[{i}]" if count > 1 else name
            yield label, inner, binding, offset + 4 * i * inner.array_elements


def link_spirv(shaders: list[SpirvShader], options: LinkOptions) -> LinkedProgram:
    """Link specialised modules; errors are in the result's `info_log`."""
    return _Linker(options).run(shaders)
