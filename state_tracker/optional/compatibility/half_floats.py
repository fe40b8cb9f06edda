"""GL_NV_half_float: vertex attributes in 16-bit floats.

C has no type for these numbers: they are passed as unsigned shorts. Each function unpacks its
arguments and calls the float version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.entry_points.errors import invalid_value
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import implemented, register

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def _floats(halves: Any) -> list[float]:
    """Unpack 16-bit floats; Python callers may pass wider integers, C callers cannot."""
    bits = (np.asarray(halves, np.int64) & 0xFFFF).astype(np.uint16)
    values: list[float] = bits.view(np.float16).astype(float).tolist()
    return values


def _by_value(function: Function, twin: str) -> None:
    before = sum(p.type != "ushort" for p in function.params)  # a unit or an index

    def call(ctx: Context, *args: Any) -> None:
        implemented(twin)(ctx, *args[:before], *_floats(args[before:]))

    register(function.method, call)


def _by_pointer(function: Function, twin: str, count: int) -> None:
    def call(ctx: Context, *args: Any) -> None:
        implemented(twin)(ctx, *args[:-1], *_floats(read_array(args[-1], "ushort", count)))

    register(function.method, call)


def _several(function: Function, twin: str, count: int) -> None:
    """Set consecutive attributes; the lowest index is set last: attribute 0 emits a vertex."""

    def call(ctx: Context, index: int, n: int, v: Pointer) -> None:
        if n < 0:
            raise invalid_value("negative count of attributes")
        values = _floats(read_array(v, "ushort", n * count))
        for i in reversed(range(n)):
            implemented(twin)(ctx, index + i, *values[i * count : (i + 1) * count])

    register(function.method, call)


_FAMILIES = {
    "Vertex": (2, 3, 4),
    "Normal": (3,),
    "Color": (3, 4),
    "TexCoord": (1, 2, 3, 4),
    "MultiTexCoord": (1, 2, 3, 4),
    "FogCoord": (1,),
    "SecondaryColor": (3,),
    "VertexAttrib": (1, 2, 3, 4),
}

for _name, _counts in _FAMILIES.items():
    for _count in _counts:
        _stem = _name if _name == "FogCoord" else f"{_name}{_count}"
        _float = f"{_stem}f"
        _by_value(FUNCTIONS[f"{_stem}hNV"], _float)
        _by_pointer(FUNCTIONS[f"{_stem}hvNV"], _float, _count)
        if _name == "VertexAttrib":
            _several(FUNCTIONS[f"VertexAttribs{_count}hvNV"], _float, _count)
