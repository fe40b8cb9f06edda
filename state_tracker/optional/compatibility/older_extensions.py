"""Extensions of a few functions that only the compatibility profile lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import entry, implemented, register
from gallette.state_tracker.getters import gets

if TYPE_CHECKING:
    from typing import Any

    from gallette.state_tracker.context import Context


# -- GL_EXT_compiled_vertex_array: a hint without effect -------------------------------------------


@entry
def lock_arrays_ext(ctx: Context, first: int, count: int) -> None:
    if first < 0 or count <= 0:
        raise invalid_value("an empty range of vertices")
    if ctx.arrays.locked is not None or ctx.immediate.active:
        raise invalid_operation("the arrays are locked already")
    ctx.arrays.locked = (first, count)


@entry
def unlock_arrays_ext(ctx: Context) -> None:
    if ctx.arrays.locked is None or ctx.immediate.active:
        raise invalid_operation("the arrays are not locked")
    ctx.arrays.locked = None


gets(
    {
        "ARRAY_ELEMENT_LOCK_FIRST_EXT": lambda c: (c.arrays.locked or (0, 0))[0],
        "ARRAY_ELEMENT_LOCK_COUNT_EXT": lambda c: (c.arrays.locked or (0, 0))[1],
    },
    profiles="compat",
)

# -- GL_EXT_vertex_array: core arrays with an unused count -----------------------------------------


def _counted(name: str, before: int) -> None:
    def call(ctx: Context, *args: Any) -> None:
        if args[before] < 0:
            raise invalid_value("negative count of vertices")
        implemented(name)(ctx, *args[:before], *args[before + 1 :])

    register(FUNCTIONS[name + "EXT"].method, call)


for _name, _before in (
    ("ColorPointer", 3),
    ("EdgeFlagPointer", 1),
    ("IndexPointer", 2),
    ("NormalPointer", 2),
    ("TexCoordPointer", 3),
    ("VertexPointer", 3),
):
    _counted(_name, _before)

gets(
    {
        f"{name}_ARRAY_COUNT_EXT": lambda c: 0
        for name in ("VERTEX", "NORMAL", "COLOR", "INDEX", "TEXTURE_COORD", "EDGE_FLAG")
    },
    profiles="compat",
)

# -- GL_NV_primitive_restart: a new primitive inside glBegin ---------------------------------------


@entry
def primitive_restart_nv(ctx: Context) -> None:
    if not ctx.immediate.active:
        raise invalid_operation("glPrimitiveRestartNV outside glBegin and glEnd")
    mode = ctx.immediate.mode
    ctx.immediate.end()
    ctx.immediate.begin(mode)
