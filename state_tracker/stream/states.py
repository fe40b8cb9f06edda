"""The states of a batch: the current selections, and the state in which each command is called."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.vertices.vertex_arrays import SLOTS

from .calls import CALLS, HASHED_WORDS, NUMBERS, Family, Ints, Selected, by_first, distinct, whole

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.stream.stream import Stream

Bools = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint8]
"""Function numbers: few enough to be sorted quickly."""
Settings = list[tuple[int, int, int, int]]
"""Slots, their values, and whether (0 or 1) draws and clears depend on them."""


def _odd(count: int) -> Hashes:
    """Random odd numbers: an application cannot predict them to construct hash collisions."""
    return np.frombuffer(os.urandom(8 * count), np.uint64) | np.uint64(1)


_FACTORS = np.zeros((len(CALLS), HASHED_WORDS), np.uint64)
_START = _odd(len(CALLS))
for _call in CALLS:
    _FACTORS[_call.number, _call.hashed] = _odd(len(_call.hashed))
_SLOT, _KIND, _BUFFER = _odd(3)
_COMPONENTS = _odd(4 * SLOTS).reshape(SLOTS, 4)
_FAMILY = np.array([0 if call.group is None else call.group.value for call in CALLS])
_BY_FIRST = np.array([call.slots is by_first for call in CALLS])
_SPECIAL = [call for call in CALLS if call.slots not in (None, whole, by_first)]
_SETS_STATE = np.array([call.slots is not None for call in CALLS])

_BY_DRAWS, _BY_CLEARS = np.zeros(256, np.uint64), np.zeros(256, np.uint64)
for _family in Family:
    _BY_DRAWS[_family.value] = _family.seen_by_draws
    _BY_CLEARS[_family.value] = _family.seen_by_clears

_USE, _ARRAY, _ACTIVE, _CLIENT_ACTIVE, _BIND, _FRAMEBUFFER = (
    NUMBERS[name]
    for name in (
        *("UseProgram", "BindVertexArray", "ActiveTexture", "ClientActiveTexture"),
        *("BindTexture", "BindFramebuffer"),
    )
)
_BUFFER_NAME_AT = {
    NUMBERS["BindBuffer"]: 2,
    NUMBERS["BindBufferBase"]: 3,
    NUMBERS["BindBufferRange"]: 3,
}

Getter = Callable[..., int]
"""Returns a value of a context, for some arguments."""


def _unit(ctx: Context) -> int:
    return ctx.textures.active


def _client_unit(ctx: Context) -> int:
    return ctx.arrays.client_unit


def _program(ctx: Context) -> int:
    return 0 if ctx.programs.current is None else ctx.programs.current.name


def _array(ctx: Context) -> int:
    return ctx.arrays.current.name


def _drawn(ctx: Context) -> int:
    return ctx.framebuffers.draw.name


def _read(ctx: Context) -> int:
    return ctx.framebuffers.read.name


def _texture(ctx: Context, unit: int, target: int) -> int:
    there = 0 <= unit < len(ctx.textures.units)
    bound = ctx.textures.units[unit].bound.get(target) if there else None
    return 0 if bound is None else bound.name


def _buffer(ctx: Context, target: int) -> int:
    bound = ctx.buffers.bound.get(target)
    return 0 if bound is None else bound.name


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit over all others (the finish of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def values_of(rows: Ints, numbers: Numbers) -> Hashes:
    """The hashes of calls with their arguments (`take` copies rows faster than an index does)."""
    words = rows[:, :HASHED_WORDS].view(np.uint64)
    found: Hashes = np.einsum("ij,ij->i", words, _FACTORS.take(numbers, 0))
    return found + _START[numbers]


def hashes_of(columns: npt.NDArray[np.float64], slots: list[int]) -> Hashes:
    """The hashes of some attributes, a row of four numbers each."""
    words = np.ascontiguousarray(columns).view(np.uint64)
    return _mixed(np.einsum("ij,j->i", words, _COMPONENTS[slots].reshape(-1)))


def kind_of(values: Hashes, states: Hashes) -> Hashes:
    """The hashes of calls combined with states."""
    return _mixed(states * _KIND + values)


class States:
    """The writes to slots that change a value, in order, and the states between them."""

    def __init__(self, stream: Stream, rows: Ints, numbers: Numbers, values: Hashes) -> None:
        self._ctx: Context = stream.ctx
        self._rows, self._numbers, self._count = rows, numbers, len(rows)
        self._before: dict[tuple[Getter, tuple[int, ...]], int] = {}
        self._units: dict[int, int] = {}
        self._last_writes: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self._order = numbers.argsort(kind="stable")
        self._ends = [0, *np.bincount(numbers, minlength=len(CALLS)).cumsum().tolist()]
        self._find(stream, *self._writes(values))

    def before(self, getter: Getter, *which: int) -> int:
        """A value of the context before the batch, which the states depend on from now on."""
        found = self._before.get((getter, which))
        if found is None:
            found = self._before[getter, which] = getter(self._ctx, *which)
        return found

    def hold(self, stream: Stream, rows: Ints) -> bool:
        """Whether the states are those of the same calls now, too, after a state with the same
        hashes: of these commands.
        """
        self._rows = rows
        applied, ctx = stream.applied, self._ctx
        if any(applied.get(slot, 0) != value for slot, value in self._old):
            return False
        return all(get(ctx, *which) == value for (get, which), value in self._before.items())

    def where(self, number: int) -> Ints:
        """The positions of the calls of a function."""
        return self._order[self._ends[number] : self._ends[number + 1]]

    def _writes(self, values: Hashes) -> tuple[Ints, Ints, Hashes, Bools]:
        """All writes to slots in order: position, slot, the hash of the call, and whether that call
        writes several slots.
        """
        places = _SETS_STATE[self._numbers].nonzero()[0]
        numbers, rows = self._numbers[places], self._rows.take(places, 0)
        values = values[places]
        slots = np.where(_BY_FIRST[numbers], rows[:, 1] << 8, 0) | _FAMILY[numbers]
        several = np.zeros(len(places), bool)
        more: list[tuple[Ints, Ints]] = []
        for call in _SPECIAL:
            at = self.where(call.number)
            if len(at) and call.group is not None and call.slots is not None:
                some = places.searchsorted(at)
                selected = Selected(self, at)
                first, *others = call.slots(call.group, rows[some], selected)
                if call.points_into_buffer:
                    values[some] += selected.array_buffer.view(np.uint64) * _BUFFER
                slots[some], several[some] = first, bool(others)
                more += [(some, other) for other in others]
        if more:
            which = np.concatenate([np.arange(len(places)), *[some for some, _ in more]])
            slots = np.concatenate([slots, *[other for _, other in more]])
            order = which.argsort(kind="stable")
            order = order[slots[order] >= 0]
            which, slots = which[order], slots[order]
            places, values, several = places[which], values[which], several[which]
        return places, slots, values, several

    def _find(
        self, stream: Stream, places: Ints, slots: Ints, values: Hashes, several: Bools
    ) -> None:
        """Keep the writes of commands that change a slot."""
        values = _mixed(values + slots.view(np.uint64) * _SLOT)
        order = _grouped(slots)
        places, slots, values, several = places[order], slots[order], values[order], several[order]
        self._written = slots, values
        first = np.concatenate(((True,), slots[1:] != slots[:-1]))[: len(slots)].nonzero()[0]
        before = np.empty(len(slots), np.uint64)
        before[1:] = values[:-1]
        self._old = [(slot, stream.applied.get(slot, 0)) for slot in slots[first].tolist()]
        before[first] = np.array([value for _, value in self._old], np.uint64)
        keep = values != before
        if several.any():
            changing = np.zeros(self._count, bool)
            changing[places[keep]] = True
            keep |= several & changing[places]
        kept = keep.nonzero()[0]
        kept = kept[places[kept].argsort(kind="stable")]
        self.place: Ints = places[kept]
        self.slot: Ints = slots[kept]
        self.value: Hashes = values[kept]
        change, family = self.value - before[kept], self.slot & 255
        self._for_draws = _sums(stream.for_draws, change * _BY_DRAWS[family])
        self._for_clears = _sums(stream.for_clears, change * _BY_CLEARS[family])

    @property
    def last(self) -> Settings:
        """The slots that calls set, with their values after all calls."""
        slots, values = self._written
        families = slots & 255
        rows = zip(
            slots.tolist(), values.tolist(), _BY_DRAWS[families].tolist(),
            _BY_CLEARS[families].tolist(), strict=True,
        )  # fmt: skip
        return list({row[0]: row for row in rows}.values())

    def last_writes(self, first: int, end: int) -> list[tuple[int, int, int]]:
        """Of some writes the last one to each slot: position, slot and value, in order."""
        found = self._last_writes.get((first, end))
        if found is None:
            _, last = np.unique(self.slot[first:end][::-1], return_index=True)
            some = np.sort(end - 1 - last)
            columns = self.place[some].tolist(), self.slot[some].tolist(), self.value[some].tolist()
            found = self._last_writes[first, end] = list(zip(*columns, strict=True))
        return found

    def unit_at(self, place: int) -> int:
        """The active texture unit at one command."""
        found = self._units.get(place)
        if found is None:
            found = self._units[place] = int(self.unit(np.array([place]))[0])
        return found

    def hashes_at(self, place: int) -> tuple[int, int]:
        """The states of draws and of clears before one command."""
        at = int(self.place.searchsorted(place))
        return int(self._for_draws[at]), int(self._for_clears[at])

    def for_draws(self, places: Ints) -> Hashes:
        """The states of draws at these positions."""
        return self._for_draws[self.place.searchsorted(places)]

    def for_clears(self, places: Ints) -> Hashes:
        """The states of clears, which depend on additional slots."""
        return self._for_clears[self.place.searchsorted(places)]

    # -- selections --------------------------------------------------------------------------------

    def unit(self, at: Ints) -> Ints:
        """The active texture unit at some commands."""
        where = self.where(_ACTIVE)
        units = self._rows[where, 1] - int(GL.TEXTURE0)
        return _last(where, units, self.before(_unit), at)

    def client_unit(self, at: Ints) -> Ints:
        """The texture unit whose array of coordinates is set."""
        where = self.where(_CLIENT_ACTIVE)
        units = self._rows[where, 1] - int(GL.TEXTURE0)
        return _last(where, units, self.before(_client_unit), at)

    def program(self, at: Ints) -> Ints:
        """The name of the program in use."""
        where = self.where(_USE)
        return _last(where, self._rows[where, 1], self.before(_program), at)

    def vertex_array(self, at: Ints) -> Ints:
        """The name of the vertex array."""
        where = self.where(_ARRAY)
        return _last(where, self._rows[where, 1], self.before(_array), at)

    def framebuffer(self, at: Ints) -> Ints:
        """The name of the framebuffer that is drawn to."""
        return self._bound(GL.READ_FRAMEBUFFER, self.before(_drawn), at)

    def read_framebuffer(self, at: Ints) -> Ints:
        """The name of the framebuffer that is read."""
        return self._bound(GL.DRAW_FRAMEBUFFER, self.before(_read), at)

    def _bound(self, other: int, before: int, at: Ints) -> Ints:
        """The name of the framebuffer that was bound last, to any target but the `other`."""
        where = self.where(_FRAMEBUFFER)
        where = where[self._rows[where, 1] != other]
        return _last(where, self._rows[where, 2], before, at)

    def texture(self, target: int, at: Ints) -> Ints:
        """The names of the textures that are bound to a target of the active units."""
        units, names = self.unit(at), np.zeros(len(at), np.int64)
        binds = self.where(_BIND)
        binds = binds[self._rows[binds, 1] == target]
        bound_in = self.unit(binds)
        for unit in distinct(units):
            where = binds[bound_in == unit]
            name = self.before(_texture, unit, target)
            names = np.where(units == unit, _last(where, self._rows[where, 2], name, at), names)
        return names

    def buffer(self, target: int, at: Ints) -> Ints:
        """The names of the buffers that are bound to a target."""
        places, names = [], []
        for number, word in _BUFFER_NAME_AT.items():
            where = self.where(number)
            where = where[self._rows[where, 1] == target]
            places.append(where)
            names.append(self._rows[where, word])
        joined = np.concatenate(places)
        order = joined.argsort(kind="stable")
        name = self.before(_buffer, target)
        return _last(joined[order], np.concatenate(names)[order], name, at)


def _last(places: Ints, values: Ints, before: int, at: Ints) -> Ints:
    """The values that were set last before some commands, among those set at `places`."""
    found: Ints = np.concatenate(((before,), values))[places.searchsorted(at)]
    return found


def _grouped(slots: Ints) -> Ints:
    """A permutation that brings the writes of each slot together, in their order."""
    codes = (slots.view(np.uint64) * _SLOT >> np.uint64(48)).astype(np.uint16)
    order: Ints = codes.argsort(kind="stable")  # fast for 16-bit numbers
    codes, found = codes[order], slots[order]
    if ((codes[1:] == codes[:-1]) & (found[1:] != found[:-1])).any():
        order = slots.argsort(kind="stable")
    return order


def _sums(start: int, changes: Hashes) -> Hashes:
    """The sum before each change, and after the last."""
    found: Hashes = np.concatenate(((np.uint64(start),), changes)).cumsum(dtype=np.uint64)
    return found
