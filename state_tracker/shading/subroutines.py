"""Subroutines (ARB_shader_subroutine): functions a shader calls, selected by the application.

The linker stores each selection in the default block as the index of the chosen function, so
selecting is writing an integer. Selections are not program state: every glUseProgram resets them.
"""

from __future__ import annotations

import struct
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

__all__ = ["reset_choices"]

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


def reset_choices(executable: Executable) -> None:
    """Reset every subroutine uniform to its first choice, for glUseProgram."""
    for uniform in executable.linked.subroutine_uniforms:
        for element in range(_elements(uniform)):
            at = uniform.offset + element * _ARRAY_STRIDE
            struct.pack_into("<I", executable.uniforms.data, at, min(uniform.compatible, default=0))


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
    executable, stage = _executable(ctx, program, shadertype)
    uniforms = _uniforms(executable, stage)
    names = _active(executable, stage)
    values: dict[int, int] = {
        GL.ACTIVE_SUBROUTINE_UNIFORMS: len(uniforms),
        GL.ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS: _locations(executable, stage),
        GL.ACTIVE_SUBROUTINES: len(names),
        GL.ACTIVE_SUBROUTINE_UNIFORM_MAX_LENGTH: max(
            (len(_reported(u)) + 1 for u in uniforms), default=0
        ),
        GL.ACTIVE_SUBROUTINE_MAX_LENGTH: max((len(n) + 1 for n in names), default=0),
    }
    if pname not in values:
        raise invalid_enum(pname, "program stage parameter")
    return [values[pname]]


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
    for location, (_, offset) in places.items():
        struct.pack_into("<I", executable.uniforms.data, offset, chosen[location])
    ctx.dirty |= Dirty.CONSTANTS


@entry
def get_uniform_subroutineuiv(ctx: Context, shadertype: int, location: int) -> list[int]:
    stage = _stage(shadertype)
    executable = _in_use(ctx, stage)
    place = _places(executable, stage).get(location)
    if place is None:
        raise invalid_value(f"{location} is not the location of a subroutine uniform")
    return [struct.unpack_from("<I", executable.uniforms.data, place[1])[0]]
