"""Subroutines (ARB_shader_subroutine): functions a shader calls, selected by the application.

The linker stores the index of a default function in the default block for each subroutine uniform.
The application's selection is state of the context and not of the program (section 7.10): contexts
that share a program do not see each other's selections, and glUseProgram, glUseProgramStages and
binding another pipeline restore the defaults. So a draw writes them over a copy of the default
block.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.shading.program_queries import split_subscript
from gallette.state_tracker.shading.programs import STAGES, Executable

if TYPE_CHECKING:
    from gallette.compiler.glsl import SubroutineUniform
    from gallette.compiler.nir.ir import Stage
    from gallette.state_tracker.context import Context

INVALID_INDEX = 0xFFFFFFFF
_ARRAY_STRIDE = 16  # elements of an array in the default block


def _stage(shadertype: int) -> Stage:
    if shadertype not in STAGES:
        raise invalid_enum(shadertype, "shader type")
    return STAGES[shadertype]


def _uniforms(executable: Executable, stage: Stage) -> list[SubroutineUniform]:
    found = [u for u in executable.linked.subroutine_uniforms if u.stage is stage]
    return sorted(found, key=lambda u: u.location)


def _executable(ctx: Context, program: int, shadertype: int) -> tuple[Executable, Stage]:
    stage = _stage(shadertype)
    return ctx.programs.program(program).require_linked(), stage


def _elements(uniform: SubroutineUniform) -> int:
    return max(1, uniform.array_size)


def _reported(uniform: SubroutineUniform) -> str:
    return f"{uniform.name}[0]" if uniform.array_size else uniform.name


def _places(executable: Executable, stage: Stage) -> dict[int, tuple[SubroutineUniform, int]]:
    """Every location of a stage: its uniform and the offset of its selection in the
    default block.
    """
    places = {}
    for uniform in _uniforms(executable, stage):
        for element in range(_elements(uniform)):
            offset = uniform.offset + element * _ARRAY_STRIDE
            places[uniform.location + element] = (uniform, offset)
    return places


def _locations(executable: Executable, stage: Stage) -> int:
    return max(_places(executable, stage), default=-1) + 1


class SubroutineChoices:
    """The subroutines that one context has selected for the subroutine uniforms of each stage."""

    def __init__(self, ctx: Context) -> None:
        self._chosen: dict[Stage, tuple[Executable, dict[int, int]]] = {}  # index by offset

    def choose(self, executable: Executable, stage: Stage, indices: dict[int, int]) -> None:
        self._chosen[stage] = executable, indices

    def reset(self, stages: Iterable[Stage] | None = None) -> bool:
        """Restore the defaults; returns whether other functions were selected."""
        if not self._chosen:
            return False
        found = [self._chosen.pop(s, None) for s in stages or list(self._chosen)]
        return any(found)

    def at(self, executable: Executable, stage: Stage, offset: int) -> int:
        """The index of the function that a call through the uniform at this offset reaches."""
        program, indices = self._chosen.get(stage, (None, {}))
        if program is executable and offset in indices:
            return indices[offset]
        return int.from_bytes(executable.uniforms.data[offset : offset + 4], "little")

    def default_block(self, executable: Executable) -> bytes:
        """The default block of a program as its shaders see it in this context."""
        data = bytes(executable.uniforms.data)
        if not executable.linked.subroutine_uniforms:
            return data
        written = bytearray(data)
        for program, indices in self._chosen.values():
            if program is executable:
                for offset, index in indices.items():
                    struct.pack_into("<I", written, offset, index)
        return bytes(written)


@entry
def get_subroutine_uniform_location(ctx: Context, program: int, shadertype: int, name: str) -> int:
    executable, stage = _executable(ctx, program, shadertype)
    base, element = split_subscript(name)
    for uniform in _uniforms(executable, stage):
        if uniform.name == name:
            return uniform.location
        if uniform.name == base and element < uniform.array_size:
            return uniform.location + element
    return -1


def _active(executable: Executable, stage: Stage) -> list[str]:
    """The active subroutines; the shader may have skipped some indices."""
    return [name for name in executable.linked.subroutines.get(stage, []) if name]


@entry
def get_subroutine_index(ctx: Context, program: int, shadertype: int, name: str) -> int:
    executable, stage = _executable(ctx, program, shadertype)
    names = executable.linked.subroutines.get(stage, [])
    return names.index(name) if name and name in names else INVALID_INDEX


def _uniform_at(ctx: Context, program: int, shadertype: int, index: int) -> SubroutineUniform:
    executable, stage = _executable(ctx, program, shadertype)
    uniforms = _uniforms(executable, stage)
    if not 0 <= index < len(uniforms):
        raise invalid_value(f"subroutine uniform {index} is not below {len(uniforms)}")
    return uniforms[index]


@entry
def get_active_subroutine_uniformiv(
    ctx: Context, program: int, shadertype: int, index: int, pname: int
) -> list[int]:
    uniform = _uniform_at(ctx, program, shadertype, index)
    if pname == GL.COMPATIBLE_SUBROUTINES:
        return list(uniform.compatible)
    values: dict[int, int] = {
        GL.NUM_COMPATIBLE_SUBROUTINES: len(uniform.compatible),
        GL.UNIFORM_SIZE: _elements(uniform),
        GL.UNIFORM_NAME_LENGTH: len(_reported(uniform)) + 1,
    }
    if pname not in values:
        raise invalid_enum(pname, "subroutine uniform parameter")
    return [values[pname]]


@entry
def get_active_subroutine_uniform_name(
    ctx: Context, program: int, shadertype: int, index: int
) -> str:
    return _reported(_uniform_at(ctx, program, shadertype, index))


@entry
def get_active_subroutine_name(ctx: Context, program: int, shadertype: int, index: int) -> str:
    executable, stage = _executable(ctx, program, shadertype)
    names = _active(executable, stage)
    if not 0 <= index < len(names):
        raise invalid_value(f"subroutine {index} is not below {len(names)}")
    return names[index]


@entry
def get_program_stageiv(ctx: Context, program: int, shadertype: int, pname: int) -> list[int]:
    if pname not in _STAGE_VALUES:
        raise invalid_enum(pname, "program stage parameter")
    stage, found = _stage(shadertype), ctx.programs.program(program)
    # A program that is not linked has no subroutines; it is no error to ask.
    return [_STAGE_VALUES[pname](found.executable, stage) if found.executable is not None else 0]


_STAGE_VALUES: dict[int, Callable[[Executable, Stage], int]] = {
    GL.ACTIVE_SUBROUTINE_UNIFORMS: lambda e, s: len(_uniforms(e, s)),
    GL.ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS: lambda e, s: _locations(e, s),
    GL.ACTIVE_SUBROUTINES: lambda e, s: len(_active(e, s)),
    GL.ACTIVE_SUBROUTINE_UNIFORM_MAX_LENGTH: lambda e, s: max(
        (len(_reported(u)) + 1 for u in _uniforms(e, s)), default=0
    ),
    GL.ACTIVE_SUBROUTINE_MAX_LENGTH: lambda e, s: max(
        (len(n) + 1 for n in _active(e, s)), default=0
    ),
}


def _in_use(ctx: Context, stage: Stage) -> Executable:
    executable: Any = ctx.programs.executable
    if executable is None and ctx.pipelines.current is not None:
        executable = ctx.pipelines.current.stages().get(stage)
    if executable is None or stage not in executable.linked.shaders:
        raise invalid_operation(f"no program with a {stage.value} shader is in use")
    return executable  # type: ignore[no-any-return]


@entry
def uniform_subroutinesuiv(ctx: Context, shadertype: int, count: int, indices: Pointer) -> None:
    stage = _stage(shadertype)
    executable = _in_use(ctx, stage)
    if count != _locations(executable, stage):
        raise invalid_value("every subroutine uniform of the stage must be chosen for")
    chosen = read_array(indices, "uint", count).tolist()
    names = executable.linked.subroutines.get(stage, [])
    places = _places(executable, stage)
    for location, (uniform, _) in places.items():
        if not any(names[chosen[location] : chosen[location] + 1]):
            raise invalid_value(f"there is no subroutine {chosen[location]}")
        if chosen[location] not in uniform.compatible:
            raise invalid_operation(f"{names[chosen[location]]} does not suit {uniform.name}")
    indices_by_offset = {offset: chosen[location] for location, (_, offset) in places.items()}
    ctx.subroutines.choose(executable, stage, indices_by_offset)
    ctx.dirty |= Dirty.CONSTANTS


@entry
def get_uniform_subroutineuiv(ctx: Context, shadertype: int, location: int) -> list[int]:
    stage = _stage(shadertype)
    executable = _in_use(ctx, stage)
    place = _places(executable, stage).get(location)
    if place is None:
        raise invalid_value(f"{location} is not the location of a subroutine uniform")
    return [ctx.subroutines.at(executable, stage, place[1])]
