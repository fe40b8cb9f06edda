"""Smaller extensions of OpenGL ES 1.1 contexts: query_matrix, point_size_array, cube maps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gallette.state_tracker.enables import is_enabled, set_enabled, switches
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, implemented, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.optional.compatibility.client_arrays import POINT_SIZES
from gallette.state_tracker.optional.es1.fixed_point import FIXED_ONE, to_fixed
from gallette.state_tracker.vertices.buffers import name_of
from gallette.state_tracker.vertices.vertex_arrays import Attrib, set_pointer

if TYPE_CHECKING:
    from collections.abc import Callable

    from gallette.state_tracker.context import Context


# -- OES_query_matrix ------------------------------------------------------------------------------


@entry
def query_matrixx_oes(ctx: Context) -> tuple[int, list[int], list[int]]:
    """The current matrix as mantissas and exponents; a bit for each component that is invalid."""
    invalid, mantissas, exponents = 0, [], []
    for i, value in enumerate(ctx.matrices.current[-1].T.reshape(-1).tolist()):
        if not math.isfinite(value):
            invalid |= 1 << i
            value = 0.0
        mantissa, exponent = math.frexp(value)
        mantissas.append(int(mantissa * FIXED_ONE))
        exponents.append(exponent)
    return invalid, mantissas, exponents


# -- OES_point_size_array --------------------------------------------------------------------------


@entry
def point_size_pointer_oes(ctx: Context, type: int, stride: int, pointer: Pointer) -> None:
    if type not in (GL.FLOAT, GL.FIXED):
        raise invalid_enum(type, "array type")
    set_pointer(ctx, POINT_SIZES, 1, type, False, stride, pointer)


def _point_sizes(ctx: Context) -> Attrib:
    return ctx.arrays.current.attribs[POINT_SIZES]


def _switch_point_sizes(ctx: Context, on: bool) -> None:
    _point_sizes(ctx).enabled = on
    ctx.arrays.current.changed()


switches(
    "POINT_SIZE_ARRAY_OES", lambda c: _point_sizes(c).enabled, _switch_point_sizes, profiles="es1"
)
gets(
    {
        "POINT_SIZE_ARRAY_TYPE_OES": lambda c: _point_sizes(c).type,
        "POINT_SIZE_ARRAY_STRIDE_OES": lambda c: _point_sizes(c).stride,
        "POINT_SIZE_ARRAY_BUFFER_BINDING_OES": lambda c: name_of(
            c.arrays.current.bindings[_point_sizes(c).binding].buffer
        ),
    },
    profiles="es1",
)


def _switch_generation(ctx: Context, on: bool) -> None:
    for coordinate in (GL.TEXTURE_GEN_S, GL.TEXTURE_GEN_T, GL.TEXTURE_GEN_R):
        set_enabled(ctx, coordinate, on)


switches(
    "TEXTURE_GEN_STR_OES",
    lambda ctx: is_enabled(ctx, GL.TEXTURE_GEN_S),
    _switch_generation,
    profiles="es1",
)


# -- OES_texture_cube_map: one generated coordinate for three --------------------------------------


def _generate(ctx: Context, coord: int, pname: int, mode: float) -> None:
    if coord != GL.TEXTURE_GEN_STR_OES:
        raise invalid_enum(coord, "texture coordinate")
    if pname != GL.TEXTURE_GEN_MODE:
        raise invalid_enum(pname, "texture generation parameter")
    if int(mode) not in (GL.NORMAL_MAP, GL.REFLECTION_MAP):
        raise invalid_enum(int(mode), "texture generation mode")
    for each in (GL.S, GL.T, GL.R):
        implemented("TexGenf")(ctx, each, pname, float(mode))


def _vector(gl_type: str) -> Callable[..., None]:
    def call(ctx: Context, coord: int, pname: int, params: Pointer) -> None:
        _generate(ctx, coord, pname, read_array(params, gl_type, 1).tolist()[0])

    return call


def _generated(ctx: Context, coord: int, pname: int) -> list[float]:
    if coord != GL.TEXTURE_GEN_STR_OES:
        raise invalid_enum(coord, "texture coordinate")
    found: list[float] = implemented("GetTexGenfv")(ctx, GL.S, pname)
    return found


for _letter, _gl_type in (("f", "float"), ("i", "int"), ("x", "fixed")):
    register(FUNCTIONS[f"TexGen{_letter}OES"].method, _generate)
    register(FUNCTIONS[f"TexGen{_letter}vOES"].method, _vector(_gl_type))
register("get_tex_genfv_oes", _generated)
register("get_tex_geniv_oes", lambda ctx, c, p: [int(v) for v in _generated(ctx, c, p)])
register("get_tex_genxv_oes", lambda ctx, c, p: [to_fixed(p, v) for v in _generated(ctx, c, p)])
