"""Queries of fixed function: texture environment and generation, lights, residence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.drawing.color_clamp import queried_color
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    read_array,
    read_names,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import to_int
from gallette.state_tracker.optional.compatibility.matrices import TEXTURE_UNITS, coordinate_unit

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


# Initial values of glGetTexEnv.
_ENV_DEFAULTS: dict[int, float] = {
    GL.TEXTURE_ENV_MODE: GL.MODULATE,
    GL.COMBINE_RGB: GL.MODULATE,
    GL.COMBINE_ALPHA: GL.MODULATE,
    GL.SOURCE0_RGB: GL.TEXTURE,
    GL.SOURCE1_RGB: GL.PREVIOUS,
    GL.SOURCE2_RGB: GL.CONSTANT,
    GL.SOURCE0_ALPHA: GL.TEXTURE,
    GL.SOURCE1_ALPHA: GL.PREVIOUS,
    GL.SOURCE2_ALPHA: GL.CONSTANT,
    GL.SOURCE3_RGB_NV: GL.ZERO,
    GL.SOURCE3_ALPHA_NV: GL.ZERO,
    GL.OPERAND3_RGB_NV: GL.ONE_MINUS_SRC_COLOR,
    GL.OPERAND3_ALPHA_NV: GL.ONE_MINUS_SRC_ALPHA,
    GL.OPERAND0_RGB: GL.SRC_COLOR,
    GL.OPERAND1_RGB: GL.SRC_COLOR,
    GL.OPERAND2_RGB: GL.SRC_ALPHA,
    GL.OPERAND0_ALPHA: GL.SRC_ALPHA,
    GL.OPERAND1_ALPHA: GL.SRC_ALPHA,
    GL.OPERAND2_ALPHA: GL.SRC_ALPHA,
    GL.RGB_SCALE: 1.0,
    GL.ALPHA_SCALE: 1.0,
}


def _tex_env(ctx: Context, target: int, pname: int) -> list[float]:
    unit, active = ctx.textures.unit, ctx.textures.active
    if target == GL.POINT_SPRITE and pname == GL.COORD_REPLACE:
        return [float(ctx.raster.coord_replace >> coordinate_unit(ctx) & 1)]
    if target == GL.TEXTURE_FILTER_CONTROL and pname == GL.TEXTURE_LOD_BIAS:
        return [unit.lod_bias]
    if target not in (GL.TEXTURE_ENV, GL.POINT_SPRITE, GL.TEXTURE_FILTER_CONTROL):
        raise invalid_enum(target, "texture environment target")
    if target == GL.TEXTURE_ENV and pname == GL.TEXTURE_ENV_COLOR:
        return (
            queried_color(ctx, ctx.lighting.env_colors[active])
            if active < TEXTURE_UNITS
            else [0.0] * 4
        )
    if target == GL.TEXTURE_ENV and pname in _ENV_DEFAULTS:
        return [float(dict(unit.env).get(pname, _ENV_DEFAULTS[pname]))]
    raise invalid_enum(pname, "texture environment parameter")


def _integers(values: list[float], color: bool) -> list[int]:
    return [to_int(v, color) for v in values]


register("get_tex_envfv", _tex_env)
register(
    "get_tex_enviv",
    lambda ctx, target, pname: _integers(
        _tex_env(ctx, target, pname), pname == GL.TEXTURE_ENV_COLOR
    ),
)

# -- texture residence: all textures are resident --------------------------------------------------


@entry
def prioritize_textures(ctx: Context, n: int, textures: Pointer, priorities: Pointer) -> None:
    if n < 0:
        raise invalid_value("a negative number of textures")
    values = read_array(priorities, "clampf", n).tolist()
    for name, value in zip(read_array(textures, "uint", n).tolist(), values, strict=True):
        found = ctx.textures.names.get(name)
        if found is not None:
            found.priority = min(max(float(value), 0.0), 1.0)


@entry
def are_textures_resident(ctx: Context, n: int, textures: Pointer) -> tuple[int, list[int]]:
    if n < 0:
        raise invalid_value("a negative number of textures")
    for name in read_names(textures, n):
        if ctx.textures.names.get(name) is None:
            raise invalid_value(f"{name} is not the name of a texture")
    return 1, [1] * n


# -- shader objects of ARB_shader_objects ----------------------------------------------------------


@entry
def get_handle_arb(ctx: Context, pname: int) -> int:
    if pname != GL.PROGRAM_OBJECT_ARB:
        raise invalid_enum(pname, "handle")
    current = ctx.programs.current
    return current.name if current is not None else 0


@entry
def get_attached_objects_arb(ctx: Context, program: int) -> list[int]:
    return [shader.name for shader in ctx.programs.program(program).attached]
