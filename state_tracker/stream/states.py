"""The states of a batch: what is selected, and which state each command is called in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.entry_points.enums import GL

from .calls import CALLS, HASHED_WORDS, NUMBERS, Call, Family, Ints, Selected

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.stream.stream import Stream

__all__ = ["Hashes", "Numbers", "States", "kind_of", "values_of"]

Bools = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint8]
"""Those of functions: few enough to be sorted quickly."""

# Numbers that nobody can guess, so that nobody can make two states look the same.
_secrets = np.random.default_rng()


def _odd(count: int) -> Hashes:
    numbers = _secrets.integers(1 << 62, size=count, dtype=np.uint64)
    return numbers * np.uint64(2) + np.uint64(1)


_FACTORS, _START = _odd(HASHED_WORDS), _odd(len(CALLS))
_SLOT, _KIND = _odd(2)

_BY_DRAWS, _BY_CLEARS = np.zeros(256, np.uint64), np.zeros(256, np.uint64)
for _family in Family:
    _BY_DRAWS[_family.value] = _family.seen_by_draws
    _BY_CLEARS[_family.value] = _family.seen_by_clears

_USE, _ARRAY, _ACTIVE, _FRAMEBUFFER = (
    NUMBERS[name] for name in ("UseProgram", "BindVertexArray", "ActiveTexture", "BindFramebuffer")
)
_BUFFER_NAME_AT = {
    NUMBERS["BindBuffer"]: 2,
    NUMBERS["BindBufferBase"]: 3,
    NUMBERS["BindBufferRange"]: 3,
}


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit over all others (the finish of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def values_of(call: Call, rows: Ints) -> Hashes:
    """The hashes of what a function was called with."""
    words = rows.view(np.uint64)
    found = np.full(len(rows), _START[call.number])
    for word in call.hashed:
        found += words[:, word] * _FACTORS[word]
    return found


def kind_of(values: Hashes, states: Hashes) -> Hashes:
    """The hashes of calls in states."""
    return _mixed(states * _KIND + values)


class States:
    """The writes to slots that change something, in order, and the states between them."""

    def __init__(self, stream: Stream, rows: Ints, numbers: Numbers) -> None:
        self._ctx: Context = stream.ctx
        self._rows, self._numbers, self._count = rows, numbers, len(rows)
        program = self._ctx.programs.current
        self._program = 0 if program is None else program.name
        self._unit, self._array = self._ctx.textures.active, self._ctx.arrays.current.name
        self._framebuffer = self._ctx.framebuffers.draw.name
        order = numbers.argsort(kind="stable")
        ends = np.bincount(numbers, minlength=len(CALLS)).cumsum().tolist()
        self.where = [order[first:end] for first, end in zip([0, *ends], ends, strict=False)]
        """By function: the places of its calls."""
        columns: dict[Family, list[tuple[Ints, Ints, Hashes]]] = {}
        several = np.zeros(self._count, bool)  # the commands that write more than one slot
        for call in CALLS:
            where = self.where[call.number]
            if call.group is not None and call.slots is not None and len(where):
                its = rows[where]
                values = values_of(call, its)
                found = call.slots(call.group, its, Selected(self, where))
                several[where] = len(found) > 1
                for slots in found:
                    there = slots >= 0
                    column = where, slots, values
                    if not there.all():
                        column = where[there], slots[there], values[there]
                    columns.setdefault(call.group, []).append(column)
        self._find(stream, list(columns.values()), several)

    def _find(
        self, stream: Stream, groups: list[list[tuple[Ints, Ints, Hashes]]], several: Bools
    ) -> None:
        """Keep the writes of commands that change a slot."""
        found = [_changes(_joined(columns), stream.applied) for columns in groups]
        changing = np.zeros(self._count, bool)
        for places, _, _, change in found:
            changing[places[change != 0]] = True
        kept: list[tuple[npt.NDArray[np.generic], ...]] = []
        for places, slots, values, change in found:
            keep = change != 0
            if several[places].any():
                keep |= several[places] & changing[places]
            keep = np.flatnonzero(keep)
            kept.append((places[keep], slots[keep], values[keep], change[keep]))
        none = np.zeros(0, np.int64)
        kept.append((none, none, none.view(np.uint64), none.view(np.uint64)))
        joined = [np.concatenate(parts) for parts in zip(*kept, strict=True)]
        order = joined[0].argsort(kind="stable")
        self.place: Ints = joined[0][order]
        self.slot: Ints = joined[1][order]
        self.value: Hashes = joined[2][order]
        change, family = joined[3][order], self.slot & 255
        self._for_draws = _sums(stream.for_draws, change * _BY_DRAWS[family])
        self._for_clears = _sums(stream.for_clears, change * _BY_CLEARS[family])

    def for_draws(self, places: Ints) -> Hashes:
        """The states of draws at these places."""
        return self._for_draws[self.place.searchsorted(places)]

    def for_clears(self, places: Ints) -> Hashes:
        """The states of clears, which depend on some more."""
        return self._for_clears[self.place.searchsorted(places)]

    # -- what is selected --------------------------------------------------------------------------

    def unit(self, at: Ints) -> Ints:
        """The active texture unit at some commands."""
        where = self.where[_ACTIVE]
        units = self._rows[where, 1] - int(GL.TEXTURE0)
        return _last(where, units, self._unit, at)

    def program(self, at: Ints) -> Ints:
        """The name of the program in use."""
        where = self.where[_USE]
        return _last(where, self._rows[where, 1], self._program, at)

    def vertex_array(self, at: Ints) -> Ints:
        """The name of the vertex array."""
        where = self.where[_ARRAY]
        return _last(where, self._rows[where, 1], self._array, at)

    def framebuffer(self, at: Ints) -> Ints:
        """The name of the framebuffer that is drawn to."""
        where = self.where[_FRAMEBUFFER]
        where = where[self._rows[where, 1] != GL.READ_FRAMEBUFFER]
        return _last(where, self._rows[where, 2], self._framebuffer, at)

    def buffer(self, target: int, at: Ints) -> Ints:
        """The names of the buffers that are bound to a target."""
        places, names = [], []
        for number, word in _BUFFER_NAME_AT.items():
            where = self.where[number]
            where = where[self._rows[where, 1] == target]
            places.append(where)
            names.append(self._rows[where, word])
        joined = np.concatenate(places)
        order = joined.argsort(kind="stable")
        bound = self._ctx.buffers.bound.get(target)
        name = 0 if bound is None else bound.name
        return _last(joined[order], np.concatenate(names)[order], name, at)


def _last(places: Ints, values: Ints, before: int, at: Ints) -> Ints:
    """The values that were set last before some commands, of those set at these places."""
    found: Ints = np.append(before, values)[places.searchsorted(at)]
    return found


def _joined(columns: list[tuple[Ints, Ints, Hashes]]) -> tuple[Ints, Ints, Hashes]:
    """The writes of several columns in order."""
    if len(columns) == 1:
        return columns[0]
    places, slots, values = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    order = places.argsort(kind="stable")
    return places[order], slots[order], values[order]


def _changes(
    writes: tuple[Ints, Ints, Hashes], applied: dict[int, int]
) -> tuple[Ints, Ints, Hashes, Hashes]:
    """Writes with the hash of slot and value, and by how much each changes the sum of those."""
    places, slots, values = writes
    values = _mixed(values + slots.view(np.uint64) * _SLOT)
    if len(slots) and (slots[0] != slots).any():
        order = slots.argsort(kind="stable")
        places, slots, values = places[order], slots[order], values[order]
        first = np.flatnonzero(np.append(True, slots[1:] != slots[:-1]))
    else:
        first = np.arange(min(1, len(slots)))
    before = np.empty(len(slots), np.uint64)
    before[1:] = values[:-1]
    before[first] = np.array([applied.get(slot, 0) for slot in slots[first].tolist()], np.uint64)
    return places, slots, values, values - before


def _sums(start: int, changes: Hashes) -> Hashes:
    """The sum before each change, and after the last."""
    return np.cumsum(np.append(np.uint64(start), changes), dtype=np.uint64)
