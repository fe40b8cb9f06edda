"""Vertices and attributes that C called thousands of functions for, as arrays.

The functions wrote their calls into the ring of `state_tracker.stream`. NumPy finds the value that
each attribute has at each vertex: the one that the last call before the vertex set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.optional.compatibility.kept_primitives import KeptPrimitives
from gallette.state_tracker.optional.compatibility.recorded_arrays import (
    draws_quads,
    may_gather,
    with_copies,
)
from gallette.state_tracker.stream.calls import (
    CALLS,
    NUMBERS,
    PAYLOAD,
    Call,
    Ints,
    distinct,
)
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

    Values = tuple[float, ...]

POS, COLOR = int(VertAttrib.POS), int(VertAttrib.COLOR0)
BEGIN, END = NUMBERS["Begin"], NUMBERS["End"]
_DTYPES = {"f": np.float32, "d": np.float64, "B": np.uint8, "i": np.int32}
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
        _SLOT_OF.get(call.name.rstrip("fdubiv").rstrip("1234"), -1) if call.specifies else -1
        for call in CALLS
    ]
)
"""By function: the attribute that it sets, -1 for none; of the first unit if it names a unit."""
_COPIES = np.array([call.copies for call in CALLS])
IS_PRIMITIVE = np.array([call.is_primitive for call in CALLS])
_IS_RECTANGLE = IS_PRIMITIVE & ~_COPIES
_SLOTS[IS_PRIMITIVE] = POS
_CORNERS = (0, 1), (2, 1), (2, 3), (0, 3)
"""Which arguments of glRect are the position of each vertex."""
SETS_COLOR = np.isin(_SLOTS, (VertAttrib.COLOR0, VertAttrib.COLOR1))
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


@lazy_dataclass(frozen=True)
class Specified:
    """What recorded calls specify."""

    columns: dict[int, Any]  # the vertices, by attribute
    modes: Any
    begins: Any  # before which of the vertices primitives begin, and end
    ends: Any
    last: dict[int, Values]  # the attributes that they set

    def set_last(self, ctx: Context) -> None:
        """Set attributes to the values that they have after the calls."""
        for slot, values in self.last.items():
            set_current(ctx, slot, values)
        if COLOR in self.last:
            ctx.lighting.track_color(ctx)


def unmatched(active: bool, rows: Ints) -> Ints:
    """Which calls of glEnd end no primitive: errors, which programs make without noticing.
    `active`: whether one is being specified before these calls.
    """
    some = ((rows[:, 0] == BEGIN) | (rows[:, 0] == END)).nonzero()[0]
    ends = rows[some, 0] == END
    found: Ints = some[ends & np.append(not active, ends[:-1])[: len(some)]]
    return found


def specify(ctx: Context, rows: Ints) -> bool:
    """Make recorded calls between glBegin and glEnd, and of attributes beside them.

    False if they must be made one by one: there is an error among them, or something else than the
    list of pending vertices depends on each.
    """
    found = None if draws_quads(rows) else specified(ctx, rows)
    if found is None:
        return False
    ctx.immediate.append(found.columns, found.modes, found.begins, found.ends)
    found.set_last(ctx)
    return True


def specified(ctx: Context, rows: Ints, listed: bool = False) -> Specified | None:
    """What these calls specify; None if they must be made one by one. `listed`: they are compiled
    into a list.
    """
    immediate = ctx.immediate
    numbers = rows[:, 0]
    copied, whole, rectangles = _COPIES[numbers], IS_PRIMITIVE[numbers], _IS_RECTANGLE[numbers]
    begins, ends = (numbers == BEGIN) | whole, (numbers == END) | whole
    slots = _slots(rows)
    if slots is None:
        return None
    depth = np.cumsum(begins.astype(np.int64) - ends) + immediate.active + whole
    modes = np.where(rectangles, GL.POLYGON, rows[:, 1])[begins]
    vertices = (slots == POS).nonzero()[0]
    if (
        (ctx.lists.recorder is not None and not listed)
        or depth.min() < 0
        or depth.max() > 1
        or not depth[vertices].all()
        or ((modes < GL.POINTS) | (modes > GL.POLYGON)).any()
        or (copied.any() and not may_gather(ctx, rows[copied]))
    ):
        return None
    values, columns, last = _attributes(ctx, rows, slots, vertices)
    columns[POS] = values[vertices]
    starts = vertices.searchsorted(begins.nonzero()[0])
    stops = vertices.searchsorted(ends.nonzero()[0], "right")
    if rectangles.any():
        places = _with_corners(rectangles[vertices], columns)
        starts, stops = places[starts], places[stops]
        vertices = vertices.repeat(np.diff(places))
    if copied.any():
        some = copied[vertices].nonzero()[0]
        places = with_copies(ctx, rows[vertices[some]], some, columns)
        starts, stops = places[starts], places[stops]
    return Specified(columns, modes, starts, stops, last)


def kept(ctx: Context, rows: Ints) -> KeptPrimitives | None:
    """The primitives of a list that these calls specify; None if they are compiled one by one."""
    found = specified(ctx, rows, listed=True)
    if found is None:
        return None
    columns = found.columns
    slots = [POS, *(slot for slot in columns if slot != POS)]
    data = np.empty((len(columns[POS]), len(slots), 4), np.float32)
    for place, slot in enumerate(slots):
        data[:, place] = columns[slot]
    parts = [
        (mode, first, end - first)
        for mode, first, end in zip(
            found.modes.tolist(), found.begins.tolist(), found.ends.tolist(), strict=True
        )
        if end > first
    ]
    given = _slots(rows)
    assert given is not None
    vertices = (given == POS).nonzero()[0]
    before = {}
    for slot in slots[1:]:
        count = int(vertices.searchsorted((given == slot).argmax()))
        if count:
            before[slot] = count, ctx.arrays.values[slot]
    return KeptPrimitives(slots, data, parts, found.last, before)


def current_values(ctx: Context, rows: Ints, at: Ints) -> Specified | None:
    """The values of attributes that these calls set, as they are at some of them; None if there is
    an error.
    """
    slots = _slots(rows)
    if slots is None or (slots == POS).any():
        return None
    _, columns, last = _attributes(ctx, rows, slots, at)
    none = at[:0]
    return Specified(columns, none, none, none, last)


def _slots(rows: Ints) -> Ints | None:
    """The attribute that each call sets, -1 for none; None if there is an error."""
    slots = _SLOTS[rows[:, 0]]
    units = _NAMES_UNIT[rows[:, 0]].nonzero()[0]
    if len(units):
        chosen = rows[units, 1] - GL.TEXTURE0
        if (chosen < 0).any() or (chosen >= _UNITS).any():
            return None
        slots[units] += chosen
    return slots


def _attributes(
    ctx: Context, rows: Ints, slots: Ints, at: Ints
) -> tuple[Any, dict[int, Any], dict[int, Values]]:
    """The values that calls set; and by attribute, except the position, those at some of them, and
    the last.
    """
    values = np.empty((len(rows), 4))
    for number in distinct(rows[:, 0]):
        if _SLOTS[number] >= 0 and not _COPIES[number]:
            some = (rows[:, 0] == number).nonzero()[0]
            values[some] = _values(CALLS[number], rows[some])
    columns, last = {}, {}
    for slot in distinct(slots):
        if slot not in (-1, POS):
            setter = (slots == slot).nonzero()[0]
            which = setter.searchsorted(at) - 1
            before = ctx.arrays.values[slot]
            columns[slot] = np.where((which < 0)[:, None], before, values[setter[which]])
            last[slot] = tuple(values[setter[-1]].tolist())
    return values, columns, last


def _with_corners(rectangles: Any, columns: dict[int, Any]) -> Ints:
    """Replace some vertices of `columns`, the arguments of glRect, by the corners. Returns by the
    number of a vertex in old columns, or their length, its number in new ones.
    """
    given, repeats = columns[POS][rectangles], np.where(rectangles, len(_CORNERS), 1)
    first = np.append(0, np.cumsum(repeats))
    for slot, column in columns.items():
        columns[slot] = column.repeat(repeats, 0)
    for corner, which in enumerate(_CORNERS):
        columns[POS][first[:-1][rectangles] + corner] = (0.0, 0.0, 0.0, 1.0)
        columns[POS][first[:-1][rectangles] + corner, :2] = given[:, which]
    return first
