"""Vertices and attributes that C called thousands of functions for, as arrays.

The functions wrote their calls into the ring of `state_tracker.stream`. NumPy finds the value that
each attribute has at each vertex: the one that the last call before the vertex set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.stream.calls import CALLS, NUMBERS, PAYLOAD, Call, Ints, distinct
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

POS, COLOR = int(VertAttrib.POS), int(VertAttrib.COLOR0)
_BEGIN, _END = NUMBERS["Begin"], NUMBERS["End"]
_DTYPES = {"f": np.float32, "d": np.float64, "B": np.uint8}
_UNITS = 8
_SLOT_OF = {
    "Vertex": VertAttrib.POS,
    "Color": VertAttrib.COLOR0,
    "SecondaryColor": VertAttrib.COLOR1,
    "Normal": VertAttrib.NORMAL,
    "TexCoord": VertAttrib.TEX0,
    "MultiTexCoord": VertAttrib.TEX0,
}
_SLOTS = np.array(
    [
        _SLOT_OF.get(call.name.rstrip("fdubv").rstrip("1234"), -1) if call.specifies else -1
        for call in CALLS
    ]
)
"""By function: the attribute that it sets, -1 for none; of the first unit if it names a unit."""
_NAMES_UNIT = np.array([call.name.startswith("MultiTexCoord") for call in CALLS])


def _values(call: Call, rows: Ints) -> Any:
    """The four components that calls of one function set."""
    letter, count, _ = call.kind
    dtype = np.dtype(_DTYPES[letter])
    words = rows.view(dtype)
    each = 8 // dtype.itemsize  # in a word
    if call.pointer:
        first = PAYLOAD // dtype.itemsize
        given = words[:, first : first + count]
    else:
        first = each * (1 + call.words - count)
        given = words[:, first : first + each * count : each]
    found = np.zeros((len(rows), 4))
    found[:, 3] = 1.0
    found[:, :count] = given / 255.0 if letter == "B" else given
    return found


class Specified:
    """Recorded calls between glBegin and glEnd, and of attributes beside them."""

    def __init__(self, ctx: Context, rows: Ints) -> None:
        self._ctx = ctx
        numbers = rows[:, 0]
        self.begins, self.ends = (numbers == _BEGIN).nonzero()[0], (numbers == _END).nonzero()[0]
        slots = _SLOTS[numbers]
        units = _NAMES_UNIT[numbers].nonzero()[0]
        chosen = rows[units, 1] - GL.TEXTURE0
        slots[units] += chosen
        change = (numbers == _BEGIN).astype(np.int64) - (numbers == _END)
        self.depth = np.cumsum(change) + ctx.immediate.active
        self.modes = rows[self.begins, 1]
        self.vertices = (slots == POS).nonzero()[0]
        self.is_good = not (
            ctx.lists.recorder is not None
            or (chosen < 0).any()
            or (chosen >= _UNITS).any()
            or self.depth.min() < 0
            or self.depth.max() > 1
            or not self.depth[self.vertices].all()
            or ((self.modes < GL.POINTS) | (self.modes > GL.POLYGON)).any()
        )
        """Whether there is no error among them."""
        self._rows, self._numbers, self._slots = rows, numbers, slots

    def columns(self) -> dict[int, Any]:
        """By attribute that is set: its values at the vertices, `[vertex, component]`."""
        rows, slots = self._rows, self._slots
        values = np.empty((len(rows), 4))
        for number in distinct(self._numbers):
            if _SLOTS[number] >= 0:
                some = (self._numbers == number).nonzero()[0]
                values[some] = _values(CALLS[number], rows[some])
        found = {POS: values[self.vertices]}
        self._last: dict[int, tuple[float, ...]] = {}
        for slot in distinct(slots):
            if slot in (-1, POS):
                continue
            setter = (slots == slot).nonzero()[0]
            last = setter.searchsorted(self.vertices) - 1
            before = self._ctx.arrays.values[slot]
            found[slot] = np.where((last < 0)[:, None], before, values[setter[last]])
            self._last[slot] = tuple(values[setter[-1]].tolist())
        return found

    def bounds(self, places: Ints) -> Ints:
        """The number of vertices before some calls."""
        found: Ints = self.vertices.searchsorted(places)
        return found

    def set_current(self) -> None:
        """Set the attributes to the last values of `columns`."""
        for slot, values in self._last.items():
            set_current(self._ctx, slot, values)
        if COLOR in self._last:
            self._ctx.lighting.track_color(self._ctx)


def specify(ctx: Context, rows: Ints) -> bool:
    """Make recorded calls between glBegin and glEnd, and of attributes beside them.

    False if they must be made one by one: there is an error among them, or something else than the
    list of pending vertices depends on each.
    """
    found = Specified(ctx, rows)
    if not found.is_good:
        return False
    columns = found.columns()
    ctx.immediate.append(columns, found.modes, found.bounds(found.begins), found.bounds(found.ends))
    found.set_current()
    return True
