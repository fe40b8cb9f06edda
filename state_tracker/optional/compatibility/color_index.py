"""Colour index entry points: they set state that no draw uses, since this GL draws in RGBA only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.vertices.current_attribs import set_current
from gallette.state_tracker.vertices.vertex_arrays import set_pointer

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

SLOT = int(VertAttrib.COLOR_INDEX)
_TYPES = {"d": "double", "f": "float", "i": "int", "s": "short", "ub": "ubyte"}


class IndexState:
    """Clear value and write mask of the index buffer that does not exist."""

    def __init__(self, ctx: Context) -> None:
        self.clear = 0.0
        self.mask = 0xFFFFFFFF


def _index(ctx: Context, value: Any) -> None:
    set_current(ctx, SLOT, (float(value), 0.0, 0.0, 1.0))


for _letter, _gl_type in _TYPES.items():
    register(f"index{_letter}", _index)
    register(
        f"index{_letter}v",
        lambda ctx, c, t=_gl_type: _index(ctx, read_array(c, t, 1)[0].item()),
    )


@entry
def index_pointer(ctx: Context, type: int, stride: int, pointer: Pointer) -> None:
    if type not in (GL.UNSIGNED_BYTE, GL.SHORT, GL.INT, GL.FLOAT, GL.DOUBLE):
        raise invalid_enum(type, "array type")
    set_pointer(ctx, SLOT, 1, type, False, stride, pointer)


gets(
    {
        "CURRENT_INDEX": lambda c: c.arrays.values[SLOT][0],
        "INDEX_ARRAY_TYPE": lambda c: c.arrays.current.attribs[SLOT].type,
        "INDEX_ARRAY_STRIDE": lambda c: c.arrays.current.attribs[SLOT].stride,
        "EDGE_FLAG_ARRAY_STRIDE": lambda c: c.arrays.current.attribs[VertAttrib.EDGEFLAG].stride,
    },
    profiles="compat",
)
