"""`link`: from checked shaders to a `LinkedProgram`.

The order: join the shaders of each stage; match neighbouring stages and assign slots to varyings;
lay out uniforms and blocks; lower every stage to NIR with those variables; run the passes; optimise
across stages (dead and constant varyings).
"""

from __future__ import annotations

from gallette.compiler import debug
from gallette.compiler.errors import CompileError, GalletteError, print_message
from gallette.compiler.glsl.check import hir
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.link.feedback import link_feedback
from gallette.compiler.glsl.link.locations import (
    link_attributes,
    link_builtins,
    link_fragment_outputs,
)
from gallette.compiler.glsl.link.lowering import lower_stage
from gallette.compiler.glsl.link.matching import link_stages
from gallette.compiler.glsl.link.program_interfaces import (
    builtin_resources,
    declared_resources,
)
from gallette.compiler.glsl.link.resources import ResourceLinker
from gallette.compiler.glsl.link.stage import join_stage
from gallette.compiler.glsl.link.stage_interface import StageInterface
from gallette.compiler.glsl.link.stage_rules import check_program, check_stage
from gallette.compiler.glsl.link.unit import StageUnit
from gallette.compiler.glsl.lower.context import StageVariables
from gallette.compiler.link.finish import finish_program
from gallette.compiler.link.log import LinkLog, LinkStop
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import DRAWING
from gallette.compiler.nir.run.optimize import DEFAULT, OptimizeOptions
from gallette.compiler.nir.text.printer import print_shader

_STAGES = tuple(Stage)
_VERTEX, _GEOMETRY, _FRAGMENT = Stage.VERTEX, Stage.GEOMETRY, Stage.FRAGMENT


class _Linker:
    def __init__(self, options: LinkOptions, optimize_options: OptimizeOptions) -> None:
        self.options = options
        self.optimize_options = optimize_options
        self.log = LinkLog()
        self.program = LinkedProgram()
        self.units: dict[Stage, StageUnit] = {}
        self.variables: dict[Stage, StageVariables] = {}
        self.interfaces: list[StageInterface] = []

    def run(self, shaders: list[tuple[Stage, hir.Shader, Language]]) -> LinkedProgram:
        try:
            self.join(shaders)
            self.link_interfaces()
            self.resources()
            self.lower()
            self.program.ok = True
        except (LinkStop, GalletteError) as stop:
            if isinstance(stop, CompileError):
                self.log.error(stop.log)
            elif isinstance(stop, GalletteError):  # recursion through subroutines
                self.log.error(str(stop))
            for shader in self.program.shaders.values():
                shader.unref()
            self.program.shaders.clear()
        self.program.info_log = self.log.text
        return self.program

    def join(self, shaders: list[tuple[Stage, hir.Shader, Language]]) -> None:
        groups: dict[Stage, list[tuple[hir.Shader, Language]]] = {}
        languages = []
        info = self.program.info
        for stage, tree, language in shaders:
            groups.setdefault(stage, []).append((tree, language))
            languages.append(language)
            info.glsl_version = max(info.glsl_version, language.version)
        for stage in _STAGES:
            if stage in groups:
                unit = self.units[stage] = join_stage(stage, groups[stage], self.log)
                info.has_handles |= unit.has_handles
        if _GEOMETRY in self.units:
            self.outside_geometry(self.units[_GEOMETRY])
        check_program(self.units, languages, self.options, self.log)
        for stage, unit in self.units.items():
            check_stage(unit, self.options.limits, self.log)
            self.variables[stage] = StageVariables(canonical=unit.canonical)
        self.log.stop_on_error()

    def outside_geometry(self, unit: StageUnit) -> None:
        """Take the primitives of ARB_geometry_shader4, which the API sets instead of a layout."""
        for key, value in (
            ("input_primitive", self.options.geometry_input),
            ("output_primitive", self.options.geometry_output),
            ("max_vertices", self.options.geometry_max_vertices),
        ):
            if value:
                unit.layout.setdefault(key, value)

    def link_interfaces(self) -> None:
        chain = [self.units[s] for s in DRAWING if s in self.units]
        options, log = self.options, self.log
        captured = frozenset(options.xfb_varyings)
        if captured:
            captured |= {name.partition("[")[0].partition(".")[0] for name in captured}
        limits = options.limits
        vertex, fragment = self.units.get(_VERTEX), self.units.get(_FRAGMENT)
        if chain and chain[0] is not vertex:
            self.interfaces.append(link_stages(None, chain[0], self.variables, limits, log, True))
        last, kept = None, captured
        followers: list[StageUnit | None] = [*chain[1:], None]
        for producer, consumer in zip(chain, followers, strict=False):
            if producer is not fragment:
                kept = self.captures(producer, captured)
                last = link_stages(
                    producer, consumer, self.variables, limits, log, options.separable, kept
                )
                self.interfaces.append(last)
        for unit in chain:
            link_builtins(unit, self.variables[unit.stage], self.program)
        if vertex is not None:
            link_attributes(vertex, self.variables[_VERTEX], self.program, options, log)
        if fragment is not None:
            variables = self.variables[_FRAGMENT]
            link_fragment_outputs(fragment, variables, self.program, options, log)
        if last is None:
            if captured:
                log.error("transform feedback needs a vertex, geometry or tessellation shader")
        elif kept:
            assert last.producer is not None
            unit, own = self.units[last.producer], self.variables[last.producer]
            self.program.xfb = link_feedback(unit, last.outputs, own, options, log)
        self.describe_ends(chain)
        log.stop_on_error()

    def captures(self, unit: StageUnit, names: frozenset[str]) -> frozenset[str]:
        """The names of outputs that transform feedback keeps alive."""
        found = (*unit.globals.values(), *unit.builtins.values())
        explicit = {v.name for v in found if "xfb_offset" in v.quals.layout}
        for block in unit.blocks.values():
            keep = "xfb_offset" in block.quals.layout or any(
                "xfb_offset" in q.layout for q in block.member_quals
            )
            if keep:
                explicit.add(block.name)
                explicit |= {m.name for m in block.members}
        return names | explicit if explicit else names

    def describe_ends(self, chain: list[StageUnit]) -> None:
        """Record inputs of the first stage and outputs of the last, for interface queries."""
        for interface in self.interfaces:
            if interface.producer is None:
                self.program.inputs += [
                    variable.varying(chain[0].stage) for variable in interface.inputs
                ]
            elif interface.consumer is None:
                self.program.outputs += [
                    variable.varying(interface.producer) for variable in interface.outputs
                ]

    def list_ends(self) -> None:
        """Record the interface as program queries list it, with built-in variables."""
        program, stages = self.program, [s for s in _STAGES if s in self.units]
        for interface in self.interfaces:
            if interface.producer is None:
                for variable in interface.inputs:
                    program.input_resources += declared_resources(variable, stages[0])
            elif interface.consumer is None:
                for variable in interface.outputs:
                    program.output_resources += declared_resources(variable, interface.producer)
        for storage, some, rows in (
            ("in", stages[:1], program.input_resources),
            ("out", stages[-1:], program.output_resources),
        ):
            for stage in some:  # empty if the program has no shaders
                own = self.variables[stage], program.shaders[stage]
                rows += builtin_resources(self.units[stage], storage, *own)

    def resources(self) -> None:
        units = list(self.units.values())
        ResourceLinker(units, self.variables, self.program, self.options.limits, self.log).run()
        self.log.stop_on_error()

    # -- NIR ---------------------------------------------------------------------------------

    def lower(self) -> None:
        program = self.program
        for stage, unit in self.units.items():
            program.shaders[stage] = lower_stage(unit, self.variables[stage], program)
        self.list_ends()
        if debug.is_set("glsl:dump"):
            for shader in program.shaders.values():
                print_message(print_shader(shader))
        finish_program(program, self.options, self.optimize_options)
        if debug.is_set("nir:validate"):
            for shader in program.shaders.values():
                validate(shader, "linking", trusting=True)


def link(
    shaders: list[tuple[Stage, hir.Shader, Language]],
    options: LinkOptions,
    optimize_options: OptimizeOptions | None = None,
) -> LinkedProgram:
    """Link checked shaders; errors are in the result's `info_log`."""
    return _Linker(options, optimize_options or DEFAULT).run(shaders)
