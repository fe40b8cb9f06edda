"""The uniforms of a batch: the contents of the default block for each draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.shading.programs import ProgramObject

from .calls import CALLS, PAYLOAD, Ints, Role

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable
    from gallette.state_tracker.shading.uniform_storage import Slot, UniformStorage

_LOCATIONS = 1 << 24
_MOST_BYTES = 64  # of a value
Bytes = npt.NDArray[np.uint8]
Written = tuple[bytes, int]
"""What calls have written beside the commands, and where that was in memory."""

_NUMBERED = {kind: number for number, kind in enumerate({call.kind: None for call in CALLS})}
_KINDS = np.array([_NUMBERED[call.kind] for call in CALLS])
"""A number for the kind of uniform that each function sets."""
_COUNTED = np.array([call.role is Role.UNIFORM and call.pointer for call in CALLS])
_SIZES = np.array([call.payload if call.role is Role.UNIFORM else 0 for call in CALLS])
_ADDRESSES = np.array([1 + call.words for call in CALLS])
"""The bytes of a value, and the word with the address of several."""


class Uniforms:
    """The uniform calls of a batch, in order; one for each element that a call sets of an array."""

    def __init__(
        self, ctx: Context, commands: Ints, where: Ints, programs: Ints, written: Written
    ) -> None:
        """`where`: the positions of uniform calls among the commands; `programs`: the name of the
        program in use at each.
        """
        self._ctx, self._called = ctx, where  # one for each call
        # By program: from and to in the default block, where they are called and which of the calls
        # these are, and where their bytes begin.
        self._writes: dict[int, list[tuple[int, int, Ints, Ints, int]]] = {}
        self._units: list[tuple[int, Ints, UniformStorage, Slot]] = []  # of samplers
        self._found: dict[int, Executable | None] = {}
        self._last: dict[int, list[tuple[int, Ints]]] = {}  # see `rows`
        self._end = len(commands)
        self._of_array = np.zeros(0, np.int64)  # which of the calls set elements of arrays
        self._calls = np.arange(len(where))
        self._elements = np.zeros(len(where), np.int64)
        if len(where):
            self._find(commands[where], programs)
        self._where = where[self._calls]
        if len(self._calls):
            self._add_all(commands[self._where], programs[self._calls])
        self._read(commands, written)

    def _find(self, rows: Ints, programs: Ints) -> None:
        """Find the elements that calls with several values set."""
        numbers, locations = rows[:, 0], rows[:, 1]
        wild = (locations < -1) | (locations >= _LOCATIONS)
        if wild.any():
            self._end = int(self._called[wild.argmax()])
        counts = np.where(_COUNTED[numbers], rows[:, 2], 1)
        several = (counts > 1).nonzero()[0]
        if not len(several):
            return
        known: dict[tuple[int, ...], int] = {}
        for call in several.tolist():
            key = int(programs[call]), int(locations[call]), int(numbers[call]), int(counts[call])
            if key not in known:
                known[key] = self._set_elements(*key)
            counts[call] = known[key]
            if counts[call] < 0:
                self._end = min(self._end, int(self._called[call]))
        counts = counts.clip(0)
        self._calls = np.arange(len(rows)).repeat(counts)
        self._elements = np.arange(len(self._calls)) - (counts.cumsum() - counts).repeat(counts)
        is_several = np.zeros(len(rows), np.bool_)
        is_several[several] = True
        self._of_array = is_several[self._calls].nonzero()[0]

    def _set_elements(self, name: int, location: int, number: int, count: int) -> int:
        """How many elements a call with several values sets; -1 if it does more or fails."""
        executable = self.executable(name)
        slot = None if executable is None else executable.uniforms.slots.get(location)
        if executable is None or slot is None:
            return 0 if executable is not None and location in executable.uniforms.ignored else -1
        if not slot.uniform.array_size or not slot.copies(*CALLS[number].kind):
            return -1
        return min(count, slot.remaining)

    def _add_all(self, rows: Ints, programs: Ints) -> None:
        locations = rows[:, 1] + self._elements
        keys = (programs * _LOCATIONS + (locations & (_LOCATIONS - 1))) * 64 + _KINDS[rows[:, 0]]
        order = keys.argsort(kind="stable")
        keys = keys[order]
        starts = np.concatenate(((True,), keys[1:] != keys[:-1])).nonzero()[0]
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
            some = order[start:end]
            first = int(some[0])
            program, location = int(programs[first]), int(locations[first])
            self._add(program, location, int(rows[first, 0]), some)

    def _read(self, commands: Ints, written: Written) -> None:
        """Read the values that are given."""
        rows = commands[self._where]
        self._payload = rows.view(np.uint8).reshape(len(rows), 8 * commands.shape[1])[:, PAYLOAD:]
        if len(self._of_array):
            some, (memory, at) = rows[self._of_array], written
            sizes, words = _SIZES[some[:, 0]], _ADDRESSES[some[:, 0]]
            begins = some[np.arange(len(some)), words] - at
            begins += sizes * self._elements[self._of_array]
            places = begins[:, None] + np.arange(_MOST_BYTES)
            values = np.frombuffer(memory, np.uint8).take(places, mode="clip")
            self._payload[self._of_array, :_MOST_BYTES] = values
        self.odd = self._end
        """The first call that does more than store bytes, and must be made separately."""
        for first, some, uniforms, slot in self._units:  # usually unchanged
            unit = uniforms.units[slot.index][slot.element]
            if first < self.odd and (self._payload[some, :4].copy().view(np.int32) != unit).any():
                self.odd = first

    def hold(self, commands: Ints, written: Written) -> bool:
        """Whether the same calls, given as these commands, store values in the same places."""
        self._read(commands, written)
        return all(self._now(name) is found for name, found in self._found.items())

    def executable(self, name: int) -> Executable | None:
        """The executable of a program, if its uniforms may be recorded."""
        if name not in self._found:
            self._found[name] = self._now(name)
        return self._found[name]

    def _now(self, name: int) -> Executable | None:
        program = self._ctx.programs.names.get(name) if name else None
        return program.executable if isinstance(program, ProgramObject) else None

    def _add(self, name: int, location: int, number: int, some: Ints) -> None:
        where, executable = self._where[some], self.executable(name)
        first = int(where[0])
        if executable is None:
            self._end = min(self._end, first)
            return
        uniforms = executable.uniforms
        slot = uniforms.slots.get(location)
        if slot is None:
            odd = location not in uniforms.ignored
        elif slot.copies(*CALLS[number].kind):
            writes = self._writes.setdefault(name, [])
            for place, begin, size in slot.pieces:
                writes.append((begin, begin + size, where, some, place))
            odd = False
        else:
            odd = slot.kind != "" or CALLS[number].kind != ("i", 1, 1)
            if not odd:
                self._units.append((first, some, uniforms, slot))
        if odd:
            self._end = min(self._end, first)

    def rows(self, name: int, draws: Ints) -> Bytes | None:
        """The default blocks for the draws of one program, which are at these positions among the
        commands; None if they are empty.
        """
        executable = self.executable(name)
        if executable is None or not executable.uniforms.data:
            return None
        data = np.frombuffer(bytes(executable.uniforms.data), np.uint8)
        found = np.repeat(data[None], len(draws), 0)
        writes = self._writes.get(name, ())
        if name not in self._last:
            self._last[name] = [_last(where, some, draws) for _, _, where, some, _ in writes]
        for (begin, end, _, _, place), (first, which) in zip(writes, self._last[name], strict=True):
            if first < len(draws):
                found[first:, begin:end] = self._payload[which, place : place + end - begin]
        return found

    def store(self, end: int) -> None:
        """Store in the programs the uniforms that were set before the command at `end`."""
        for name, writes in self._writes.items():
            executable = self._found[name]
            assert executable is not None
            data = executable.uniforms.data
            for begin, stop, where, some, place in writes:
                last = int(where.searchsorted(end)) - 1
                if last >= 0:
                    value = self._payload[some[last], place : place + stop - begin]
                    data[begin:stop] = value.tobytes()


def _last(where: Ints, some: Ints, draws: Ints) -> tuple[int, Ints]:
    """The first of the draws after one of these calls, and for each from there on the last call
    before it.
    """
    last = where.searchsorted(draws) - 1
    first = int(last.searchsorted(0))
    return first, some[last[first:]]
