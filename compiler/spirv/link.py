"""Links SPIR-V shaders for OpenGL (ARB_gl_spirv), creating the tables that GL queries.

A GLSL linker matches by name; this one by number: uniforms by location, blocks by binding, varyings
by location. Names are kept if the module has them, but nothing depends on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.link.layout import (
    block_leaves,
    counter,
    counter_buffer,
    leaves,
    opaque_paths,
    write_constant,
)
from gallette.compiler.link.program import (
    Attribute,
    FragOutput,
    LinkedProgram,
    LinkOptions,
    UniformBlock,
    Varying,
)
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import align, explicit_size, explicit_type, size_align
from gallette.compiler.nir.ir.modes import DRAWING, Mode, Stage
from gallette.compiler.nir.ir.queries import derefs_in
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.link.feedback import (
    StreamOutput,
    StreamVarying,
    captured,
    targets,
)
from gallette.compiler.nir.link.shared_memory import check_shared_memory
from gallette.compiler.nir.passes.vars.split_struct_vars import split_members
from gallette.compiler.nir.run.pipeline import link_driver_forms, to_driver_form
from gallette.compiler.spirv.module import Module, SpirvError
from gallette.compiler.spirv.read.translate import read_entry

__all__ = ["SpirvShader", "link_spirv"]


@dataclass(frozen=True, slots=True)
class SpirvShader:
    """A specialised module: its entry point, and the constants' values by `SpecId`."""

    stage: Stage
    module: Module
    entry: str = "main"
    constants: tuple[tuple[int, int], ...] = ()

    @property
    def specialize(self) -> Mapping[int, int]:
        return dict(self.constants)


@dataclass(slots=True)
class _Uniform:
    """A uniform, buffer or handle of the program, with its variable in each stage."""

    variables: dict[Stage, Variable] = field(default_factory=dict)

    @property
    def first(self) -> Variable:
        return next(iter(self.variables.values()))

    @property
    def stages(self) -> frozenset[Stage]:
        return frozenset(self.variables)


class _Linker:
    def __init__(self, options: LinkOptions) -> None:
        self.options = options
        self.program = LinkedProgram()
        self.program.info.glsl_version = 450
        self.initial: list[tuple[int, Type, Any]] = []
        self.storage = 0
        self.units: dict[tuple[Stage, bool], int] = {}
        """How many textures and images each stage has."""
        self.members: set[Variable] = set()
        """Variables that were members of structures."""

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
                self._counters(given.stage, counters)
            self._check()
            self._ends()
            self._blocks(Mode.UBO)
            self._blocks(Mode.SSBO)
            self._default_block()
            self._handles()
            self._feedback()
            self._facts()
            self._lower()
            program.ok = True
        except GalletteError as error:
            program.info_log = f"error: {error}\n"
            for shader in program.shaders.values():
                shader.unref()
            program.shaders.clear()
        return program

    def _check(self) -> None:
        stages = set(self.program.shaders)
        if Stage.COMPUTE in stages and len(stages) > 1:
            raise SpirvError("a compute shader is alone in its program")
        if stages and not self.options.separable:
            if Stage.COMPUTE not in stages and Stage.VERTEX not in stages:
                raise SpirvError("there is no vertex shader")
            if Stage.TESS_CTRL in stages and Stage.TESS_EVAL not in stages:
                raise SpirvError("there is no tessellation evaluation shader")

    def _collect(self, mode: Mode, wanted: Any) -> list[tuple[int, _Uniform]]:
        """Variables of a mode, grouped across stages by the number that `wanted` returns."""
        found: dict[int, _Uniform] = {}
        for stage, shader in self.program.shaders.items():
            for var in shader.variables_of(mode):
                key = wanted(var)
                if key is not None:
                    found.setdefault(key, _Uniform()).variables[stage] = var
        return sorted(found.items())

    # Inputs and outputs.

    def _ends(self) -> None:
        program = self.program
        vertex = program.shaders.get(Stage.VERTEX)
        for var in vertex.variables_of(Mode.SHADER_IN) if vertex is not None else ():
            location = var.location - VertAttrib.GENERIC0
            length = var.type.length if var.type.is_array else 0
            if location >= 0:
                program.attributes.append(
                    Attribute(var.name, var.type.without_array, location, length)
                )
        fragment = program.shaders.get(Stage.FRAGMENT)
        for var in fragment.variables_of(Mode.SHADER_OUT) if fragment is not None else ():
            location = var.location - FragResult.DATA0
            length = var.type.length if var.type.is_array else 0
            if location >= 0:
                program.frag_outputs.append(
                    FragOutput(var.name, var.type.without_array, location, var.index, length)
                )
        chain = [program.shaders[s] for s in DRAWING if s in program.shaders]
        if chain and chain[0].stage is not Stage.VERTEX:
            program.inputs += self._varyings(chain[0], Mode.SHADER_IN)
        if chain and chain[-1].stage is not Stage.FRAGMENT:
            program.outputs += self._varyings(chain[-1], Mode.SHADER_OUT)
        program.input_resources, program.output_resources = program.inputs, program.outputs

    def _varyings(self, shader: Shader, mode: Mode) -> Iterator[Varying]:
        stage = shader.stage
        for var in shader.variables_of(mode):
            if var.location >= VaryingSlot.VAR0:
                length = var.type.length if var.type.is_array else 0
                first = VaryingSlot.PATCH0 if var.patch else VaryingSlot.VAR0
                of_one = var.type.without_array
                element = var.type.element if var.per_vertex else None
                slots = (element or var.type).slots()
                location = var.location - first
                yield Varying(var.name, of_one, location, length, stage, slots, True, var.patch)

    # Buffers.

    def _blocks(self, mode: Mode) -> None:
        program = self.program
        tables = program.uniform_blocks if mode == Mode.UBO else program.storage_blocks
        members = program.uniforms if mode == Mode.UBO else program.buffer_variables
        offset = 1 if mode == Mode.UBO else 0
        for binding, block in self._collect(mode, lambda v: v.binding):
            var = block.first
            type = var.type.without_array
            first = len(tables)
            indices = []
            name = type.name
            for leaf in block_leaves(type, mode):
                indices.append(len(members))
                members.append(leaf.uniform(block.stages, prefix=f"{name}.", block=first))
            size = align(max(explicit_size(type), 1), 16)
            for i in range(var.type.array_elements):
                label = f"{name}[{i}]" if var.type.is_array else name
                numbers = dict.fromkeys(block.stages, first + i + offset)
                tables.append(
                    UniformBlock(
                        label, size, max(binding, 0) + i, block.stages, tuple(indices), numbers
                    )
                )
            for own in block.variables.values():
                own.driver_location = first + offset

    def _default_block(self) -> None:
        def location(var: Variable) -> int | None:
            return None if var.type.without_array.is_opaque else var.location

        for place, uniform in self._collect(Mode.UNIFORM, location):
            if place < 0:
                raise SpirvError(f"uniform {uniform.first.name} has no location")
            handles = self._separate_opaque_members(uniform)
            type = explicit_type(uniform.first.type)
            size, alignment = size_align(uniform.first.type)
            offset = align(self.storage, max(alignment, 4))
            self.storage = offset + size
            for var in uniform.variables.values():
                if var.constant_initializer is not None:
                    self.initial.append((offset, type, var.constant_initializer))
                var.constant_initializer = None
                var.type, var.offset = type, offset
            for stage in uniform.stages:
                _retype(self.program.shaders[stage], uniform.variables[stage])
            at = place
            for leaf in leaves(uniform.first.name, type, offset):
                firsts = handles.get(leaf.fields, {})
                units = {stage: first + leaf.flat for stage, first in firsts.items()}
                self.program.uniforms.append(leaf.uniform(uniform.stages, location=at, units=units))
                at += max(1, leaf.array_size)
        self.program.default_block_size = align(self.storage, 16)
        data = bytearray(self.program.default_block_size)
        for offset, type, value in self.initial:
            write_constant(data, offset, type, value)
        self.program.default_block_initial = bytes(data)

    def _separate_opaque_members(
        self, uniform: _Uniform
    ) -> dict[tuple[int, ...], dict[Stage, int]]:
        """Make samplers and images in structures separate variables with units. Returns the first
        variable of each, by the path of members.
        """
        found: dict[tuple[int, ...], dict[Stage, int]] = {}
        for fields, type, _ in opaque_paths(uniform.first.type, ""):
            found[fields] = {
                stage: self._take_units(stage, type.without_array.is_image, type.array_elements)
                for stage in uniform.stages
            }
        for stage, var in uniform.variables.items() if found else ():
            shader = self.program.shaders[stage]
            parts: dict[tuple[int, ...], Variable] = {}
            for impl in shader.impls():
                inner = [d for d in derefs_in(impl, Mode.UNIFORM) if d.root_var is var]
                handles = [d for d in inner if d.type.is_opaque]
                split_members(impl, shader.variables, var, handles, parts)
            for fields, part in parts.items():
                part.driver_location = found[fields][stage]
            self.members.update(parts.values())
            if all(leaf.is_opaque for leaf in var.type.leaves()):
                shader.variables.remove(var)
        return found

    def _take_units(self, stage: Stage, image: bool, count: int) -> int:
        """Reserve free units of textures or images; returns the first."""
        first = self.units.get((stage, image), 0)
        self.units[stage, image] = first + count
        return first

    def _handles(self) -> None:
        """Assign units to samplers and images per stage, in order of location or binding."""

        def key(var: Variable) -> int | None:
            if not var.type.without_array.is_opaque or var in self.members:
                return None
            image = var.type.without_array.is_image
            number = var.location if var.location >= 0 else (1 << 16) + max(var.binding, 0)
            return number * 2 + image

        for _, handle in self._collect(Mode.UNIFORM, key):
            var = handle.first
            element, count = var.type.without_array, var.type.array_elements
            firsts: dict[Stage, int] = {}
            for stage, own in handle.variables.items():
                firsts[stage] = self._take_units(stage, element.is_image, count)
                own.driver_location = firsts[stage]
            location = var.location
            if location < 0:
                location = 1 + max((u.location for u in self.program.uniforms), default=-1)
            for leaf in leaves(var.name, explicit_type(var.type)):
                binding = var.binding + leaf.flat if var.binding >= 0 else -1
                units = {s: first + leaf.flat for s, first in firsts.items()}
                self.program.uniforms.append(
                    leaf.uniform(handle.stages, location=location, units=units, binding=binding)
                )
                location += max(1, leaf.array_size)

    def _counters(self, stage: Stage, counters: list[tuple[str, Type, int, int]]) -> None:
        program = self.program
        for name, type, binding, offset in _arrays(counters):
            known = next(
                (
                    i
                    for i, u in enumerate(program.uniforms)
                    if u.atomic_buffer == binding and u.offset == offset
                ),
                None,
            )
            if known is not None:
                before = program.uniforms[known]
                program.uniforms[known] = replace(before, stages=before.stages | {stage})
                continue
            program.uniforms.append(counter(name, type, binding, offset, frozenset((stage,))))
        program.atomic_buffers.clear()
        bindings = sorted({u.atomic_buffer for u in program.uniforms if u.atomic_buffer >= 0})
        for binding in bindings:
            own = [i for i, u in enumerate(program.uniforms) if u.atomic_buffer == binding]
            program.atomic_buffers.append(counter_buffer(binding, own, program.uniforms))

    # Transform feedback.

    def _feedback(self) -> None:
        chain = [s for s in DRAWING if s in self.program.shaders and s is not Stage.FRAGMENT]
        if not chain:
            return
        shader = self.program.shaders[chain[-1]]
        runs: list[StreamVarying] = []
        named: list[StreamVarying] = []
        strides: dict[int, int] = {}
        for var in shader.variables_of(Mode.SHADER_OUT):
            if var.xfb_buffer < 0 or var.xfb_offset < 0:
                continue
            root = (var.name, var.type)
            found = targets([root], var.location, var.component, var.packed, var.stream)
            for whole, parts in captured(var.name, found, var.xfb_buffer, var.xfb_offset):
                named.append(whole)
                runs += parts
                end = whole.offset + 4 * whole.num_components
                stride = max(var.xfb_stride, strides.get(whole.buffer, 0), end)
                strides[whole.buffer] = stride
        if not runs:
            return
        count = max(strides) + 1
        self.program.xfb = StreamOutput(
            tuple(runs), tuple(strides.get(i, 0) for i in range(count)), tuple(named)
        )
        shader.info.has_transform_feedback = True

    # The rest.

    def _facts(self) -> None:
        compute = self.program.shaders.get(Stage.COMPUTE)
        if compute is not None:
            self.program.info.local_size = compute.info.workgroup_size

    def _lower(self) -> None:
        program = self.program
        for shader in program.shaders.values():
            check_shared_memory(shader, self.options.limits.max_compute_shared_memory_size)
            to_driver_form(shader)
        keep = frozenset(v.slot for v in program.xfb.outputs) if program.xfb else frozenset()
        chain = [program.shaders[s] for s in DRAWING if s in program.shaders]
        link_driver_forms(program.shaders.values(), chain, keep)


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
