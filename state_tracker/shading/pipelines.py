"""Program pipeline objects (ARB_separate_shader_objects): each stage from its own program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject, NameTable, swap
from gallette.state_tracker.shading.pipeline_rules import problem_of
from gallette.state_tracker.shading.program_objects import create_program, create_shader
from gallette.state_tracker.shading.programs import STAGES, Executable, ProgramObject, of_stages
from gallette.state_tracker.shading.sampler_units import sampler_conflict

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

BITS = of_stages("{}_SHADER_BIT")


class Pipeline(GLObject):
    """A pipeline object: a program per stage, and the active program of glUniform."""

    kind = "program pipeline"

    def __init__(self, name: int):
        super().__init__(name)
        self.programs: dict[Stage, ProgramObject] = {}
        self.active: ProgramObject | None = None
        self.info_log = ""
        self.validate_ok = False

    def use(self, stage: Stage, program: ProgramObject | None) -> None:
        old = self.programs.pop(stage, None)
        if program is not None:
            self.programs[stage] = program.retain()
        if old is not None:
            old.release()

    def stages(self) -> dict[Stage, Executable]:
        """The executable of each stage: programs that have a shader for it."""
        found = {}
        for stage, program in self.programs.items():
            executable = program.executable
            if executable is not None and stage in executable.linked.shaders:
                found[stage] = executable
        return found

    def destroy(self) -> None:
        for stage in list(self.programs):
            self.use(stage, None)
        self.active = swap(self.active, None)


class PipelineState:
    """Names and the bound pipeline."""

    def __init__(self, ctx: Context) -> None:
        self.names: NameTable[Pipeline] = NameTable("program pipeline")
        self.current: Pipeline | None = None

    def release_all(self) -> None:
        self.current = swap(self.current, None)
        self.names.clear()


def _unbind(ctx: Context, found: Pipeline) -> None:
    if ctx.pipelines.current is found:
        ctx.pipelines.current = swap(found, None)
        ctx.dirty |= Dirty.PROGRAM


objects(
    "program_pipeline",
    lambda ctx: ctx.pipelines.names,
    _unbind,
    lambda ctx, name: Pipeline(name),
    label=GL.PROGRAM_PIPELINE,
)


@entry
def bind_program_pipeline(ctx: Context, pipeline: int) -> None:
    if ctx.feedback.current.running:
        raise invalid_operation("transform feedback is active")
    found = None
    if pipeline:
        found = ctx.pipelines.names.bind(pipeline, Pipeline, True)
    if found is not ctx.pipelines.current and ctx.subroutines.reset():
        ctx.dirty |= Dirty.CONSTANTS
    ctx.pipelines.current = swap(ctx.pipelines.current, found)
    ctx.dirty |= Dirty.PROGRAM


def _named(ctx: Context, name: int) -> Pipeline:
    return ctx.pipelines.names.bind(name, Pipeline, True)


@entry
def use_program_stages(ctx: Context, pipeline: int, stages: int, program: int) -> None:
    known = 0
    for bit in BITS:
        known |= bit
    if stages != 0xFFFFFFFF and stages & ~known:
        raise invalid_value("unknown shader stages")
    chosen = None
    if program:
        chosen = ctx.programs.program(program)
        chosen.require_linked()
        if not chosen.was_separable:
            raise invalid_operation(f"program {program} was not linked as separable")
    found = _named(ctx, pipeline)  # the first use of a name creates its object
    for bit, stage in BITS.items():
        if stages & bit:
            if ctx.subroutines.reset([stage]):
                ctx.dirty |= Dirty.CONSTANTS
            executable = chosen.executable if chosen is not None else None
            has = executable is not None and stage in executable.linked.shaders
            found.use(stage, chosen if has else None)
    ctx.dirty |= Dirty.PROGRAM


@entry
def active_shader_program(ctx: Context, pipeline: int, program: int) -> None:
    chosen = ctx.programs.program(program) if program else None
    if chosen is not None:
        chosen.require_linked()
    found = _named(ctx, pipeline)
    found.active = swap(found.active, chosen)


@entry
def create_shader_programv(ctx: Context, type: int, count: int, strings: list[str]) -> int:
    if type not in STAGES:
        raise invalid_enum(type, "shader type")
    shader = ctx.programs.shader(create_shader(ctx, type))
    shader.source, shader.has_source = "".join(strings), True
    shader.compile(ctx)
    name = create_program(ctx)
    program = ctx.programs.program(name)
    program.separable = True
    log = shader.compiled.info_log if shader.compiled is not None else ""
    if shader.ok:
        program.attach(shader)
        program.link(ctx)
        program.detach(shader)
    program.info_log = log + program.info_log
    ctx.programs.free(shader)
    return name


@entry
def validate_program_pipeline(ctx: Context, pipeline: int) -> None:
    found = _named(ctx, pipeline)
    stages = found.stages()
    conflict = problem_of(stages, ctx.profiles == ("es",)) or sampler_conflict(set(stages.values()))
    found.validate_ok = bool(found.programs) and not conflict
    found.info_log = f"error: {conflict}\n" if conflict else ""


@entry
def get_program_pipeline_info_log(ctx: Context, pipeline: int) -> str:
    return _named(ctx, pipeline).info_log


@entry
def get_program_pipelineiv(ctx: Context, pipeline: int, pname: int) -> list[int]:
    found = _named(ctx, pipeline)
    if pname == GL.ACTIVE_PROGRAM:
        return [found.active.name if found.active is not None else 0]
    if pname == GL.VALIDATE_STATUS:
        return [int(found.validate_ok)]
    if pname == GL.INFO_LOG_LENGTH:
        return [len(found.info_log) + 1 if found.info_log else 0]
    if pname in STAGES:
        program = found.programs.get(STAGES[pname])
        return [program.name if program is not None else 0]
    raise invalid_enum(pname, "pipeline parameter")


gets(
    {
        "PROGRAM_PIPELINE_BINDING": lambda c: (
            c.pipelines.current.name if c.pipelines.current is not None else 0
        )
    }
)
