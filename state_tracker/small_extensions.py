"""Entry points of extensions with only one or two functions each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.count_limits import MOST_DRAWS, check_count
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    read_array,
    read_bytes,
    read_pointers,
)
from gallette.state_tracker.entry_points.registry import entry, implemented, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.vertices.buffer_objects import bind_indexed

if TYPE_CHECKING:
    from typing import Any

    from gallette.state_tracker.context import Context


# GL_AMD_draw_buffers_blend and GL_EXT_draw_buffers2: aliases of core functions, named irregularly.
for _name, _twin in (
    ("BlendFuncIndexedAMD", "BlendFunci"),
    ("BlendFuncSeparateIndexedAMD", "BlendFuncSeparatei"),
    ("BlendEquationIndexedAMD", "BlendEquationi"),
    ("BlendEquationSeparateIndexedAMD", "BlendEquationSeparatei"),
    ("ColorMaskIndexedEXT", "ColorMaski"),
):
    register(FUNCTIONS[_name].method, implemented(_twin))


# -- GL_ARB_parallel_shader_compile: compilation is always synchronous -----------------------------


def _threads(ctx: Context, count: int) -> None:
    ctx.hints[int(GL.MAX_SHADER_COMPILER_THREADS_KHR)] = count


register("max_shader_compiler_threads_arb", _threads)
register("max_shader_compiler_threads_khr", _threads)
gets(
    {
        "MAX_SHADER_COMPILER_THREADS_KHR": lambda c: c.hints.get(
            GL.MAX_SHADER_COMPILER_THREADS_KHR, 0xFFFFFFFF
        )
    }
)

# -- GL_EXT_debug_marker ---------------------------------------------------------------------------


@entry
def insert_event_marker_ext(ctx: Context, length: int, marker: str | None) -> None:
    if length < 0:
        raise invalid_value("negative length of a marker")


@entry
def push_group_marker_ext(ctx: Context, length: int, marker: str | None) -> None:
    if length < 0:
        raise invalid_value("negative length of a marker")


@entry
def pop_group_marker_ext(ctx: Context) -> None:
    """Do nothing: markers are for tracing tools, which record the call."""


# -- GL_EXT_texture_integer: clear colours of integer buffers --------------------------------------


@entry
def clear_color_ii_ext(ctx: Context, red: int, green: int, blue: int, alpha: int) -> None:
    ctx.fragment.clear_color = (red, green, blue, alpha)


register("clear_color_iui_ext", clear_color_ii_ext)


# -- GL_EXT_transform_feedback: a buffer from an offset to its end ---------------------------------


@entry
def bind_buffer_offset_ext(ctx: Context, target: int, index: int, buffer: int, offset: int) -> None:
    if target != GL.TRANSFORM_FEEDBACK_BUFFER:
        raise invalid_enum(target, "indexed buffer target")
    if offset < 0 or offset % 4:
        raise invalid_value("the offset is negative or no multiple of 4")
    bind_indexed(ctx, target, index, buffer, offset, 0)


# -- GL_IBM_multimode_draw_arrays: a mode for each draw, with a stride -----------------------------


def _modes(mode: Pointer, count: int, stride: int) -> list[int]:
    if count < 0:
        raise invalid_value("negative count of draws")
    if isinstance(mode, list | tuple) or not count:
        return [int(m) for m in mode[:count]] if count else []
    before = (count - 1) * max(-stride, 0)  # the bytes below the pointer
    if before and not isinstance(mode, int):
        raise invalid_value("a negative stride leads out of the array")
    raw = read_bytes(mode - before if before else mode, (count - 1) * abs(stride) + 4)
    starts = (before + i * stride for i in range(count))
    return [int.from_bytes(raw[at : at + 4].tobytes(), "little") for at in starts]


@entry
def multi_mode_draw_arrays_ibm(
    ctx: Context, mode: Pointer, first: Pointer, count: Pointer, primcount: int, modestride: int
) -> None:
    check_count(primcount, MOST_DRAWS, "draws")
    modes = _modes(mode, primcount, modestride)
    firsts, counts = read_array(first, "int", primcount), read_array(count, "int", primcount)
    for each, start, length in zip(modes, firsts.tolist(), counts.tolist(), strict=True):
        if length > 0:
            implemented("DrawArrays")(ctx, each, start, length)


@entry
def multi_mode_draw_elements_ibm(
    ctx: Context, mode: Pointer, count: Pointer, type: int, indices: Pointer,
    primcount: int, modestride: int,
) -> None:  # fmt: skip
    check_count(primcount, MOST_DRAWS, "draws")
    modes = _modes(mode, primcount, modestride)
    counts, places = read_array(count, "int", primcount), read_pointers(indices, primcount)
    for each, length, place in zip(modes, counts.tolist(), places, strict=True):
        if length > 0:
            implemented("DrawElements")(ctx, each, length, type, place)


def _no_imaging(ctx: Context, *args: Any) -> None:
    raise invalid_operation("there is no imaging subset")


for _name in ("color_table", "convolution_filter", "separable_filter", "histogram", "minmax"):
    register(f"getn_{_name}_arb", _no_imaging)
