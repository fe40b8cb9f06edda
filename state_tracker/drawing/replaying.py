"""One replay of what was recorded (see `replays`): its records in order, most of them together.

All that may change between recorded draws is told by the words in their records, so each kind of
record is looked at once: the context is brought into the state the words tell, and asked for the
driver's token. Then draws, and what comes between them, go to the driver together. What has no
token is done the long way, in its turn.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.enums import ClearFlags
from gallette.pipe.series import Pieces, Series
from gallette.pipe.state import BufferWrite, ClearCall, FramebufferState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing import draw as draws
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.drawing.viewports import scissor_state
from gallette.state_tracker.entry_points import abi, recording
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.recording.words import (
    CAPABILITIES,
    COPIED,
    FIRST_STATE,
    HEADER,
    RECORDS,
    SAMPLES_PASSED,
    Word,
)
from gallette.state_tracker.queries import QueryObject, begin_query, end_query, have_changed
from gallette.state_tracker.targets import clears
from gallette.state_tracker.vertices.buffer_objects import sub_data

if TYPE_CHECKING:
    from gallette.state_tracker.drawing.replays import Replays
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["Replay", "Tokens"]

_WRITE, _BEGIN, _END, _CLEAR = map(
    RECORDS.index, ("BufferSubData", "BeginQuery", "EndQuery", "Clear")
)
_ELEMENTS = RECORDS.index("DrawElements")
_KEY = 8 * (HEADER + COPIED)
_PROGRAM = HEADER + Word.PROGRAM - FIRST_STATE
_CLEARED = struct.Struct("<4fdI")
"""What glClear clears to, behind the number of the function and its argument."""

_SCISSOR_TEST, _SCISSOR, _FRAMEBUFFER = (
    8 * (HEADER + word - FIRST_STATE)
    for word in (CAPABILITIES[GL.SCISSOR_TEST][0], Word.SCISSOR, Word.FRAMEBUFFER)
)
_BOX, _NAME = struct.Struct("<4i"), struct.Struct("<q")
_Cleared = tuple[ClearFlags | None, FramebufferState, tuple[int, int]]

_MANY = 64
"""So many records are quicker told apart all at once."""

_FACTORS = np.array([pow(3, 5 * word + 7, 1 << 62) for word in range(HEADER + COPIED)])
_COPIES = 1  # where bytes lie that are written: behind the log

Ints = npt.NDArray[np.int64]

_Draws = tuple[Ints, Ints, bytes, Sequence[Any]]
"""Where each kind is first, the kind of each, the keys of the kinds, what is known of them."""


_MOST_TOKENS = 4096
_REMEMBERED = 1 << 10
"""Draws whose kinds are remembered until the next time."""


class Tokens:
    """What the driver knows kinds of draws by, in one situation: programs draw the same things in
    every frame, so it is quickly seen that all keys are those of last time."""

    __slots__ = ("_last", "known")

    def __init__(self) -> None:
        self.known: dict[bytes, Any] = {}  # by their keys
        self._last: tuple[bytes, _Draws] | None = None

    def of_all(self, keys: Ints) -> _Draws:
        """The kinds of draws with such keys."""
        if len(self.known) >= _MOST_TOKENS:
            self.known.clear()
            self._last = None
        get = self.known.get
        data = keys.tobytes()
        key = data[:_KEY]
        if data.endswith(key) and data == key * len(keys):
            return np.zeros(1, np.int64), np.zeros(len(keys), np.int64), key, [get(key)]
        if self._last is not None and self._last[0] == data:
            return self._last[1]
        first, which = _kinds_of(keys, data)
        each = keys[first].tobytes()
        tokens = [get(each[at : at + _KEY]) for at in range(0, len(each), _KEY)]
        found = first, which, each, tokens
        if len(keys) <= _REMEMBERED and None not in tokens:
            self._last = data, found
        return found

    def forget(self, key: bytes) -> None:
        """The driver may want another one."""
        self.known.pop(key, None)
        self._last = None


class Replay:
    """One replay: the log, and the tokens of the kinds of records it has."""

    def __init__(
        self, replays: Replays, executables: dict[int, Executable], noted: recording.Noted
    ) -> None:
        self._replays, self._ctx, self._executables = replays, replays.ctx, executables
        self._log, self._stride = noted.log, noted.words[Word.STRIDE]
        self._records = np.frombuffer(noted.log, np.int64).reshape(-1, self._stride // 8)
        numbers = self._records[:, 0]  # in `RECORDS`
        self._numbers: list[int] = numbers.tolist()
        self._copies, self._copied_at = noted.written, recording.written()
        self._tokens = replays.tokens(executables.values())
        self._active = self._ctx.queries.active.get((SAMPLES_PASSED, 0))
        self._clears: dict[tuple[int, int], _Cleared] = {}  # by framebuffer, and what is cleared
        self._asked: list[int] = []  # records where a query the driver knows begins or ends
        self._changes: list[QueryObject] = []  # and these
        self._starts = np.zeros(len(numbers), np.int64)
        self._which = np.empty(len(numbers), np.int64)
        self._keys = b""  # of the kinds that are draws, which come first
        self._kinds: list[Any] = []  # what the driver knows each by
        self._seen: list[int] = []  # where it comes first
        self._tell_apart(numbers)
        self._order = [kind for kind, found in enumerate(self._kinds) if found is None]
        self._order.sort(key=self._seen.__getitem__)
        self._looked = 0  # so many of these were looked at
        self._unknown: dict[int, int] = {}  # kinds it does not know: where they come next

    def all(self) -> None:
        """Make the draws of the log, in order."""
        at = 0
        while at < len(self._numbers):
            at = self._some(at)

    # -- kinds -------------------------------------------------------------------------------------

    def _tell_apart(self, numbers: Ints) -> None:
        """Find the kind of each record, and of these what is known beforehand.

        Draws are of one kind if their keys are the same, writes if they are to one buffer; anything
        else is of a kind of its own.
        """
        records, counts = self._records, np.bincount(numbers, minlength=len(RECORDS)).tolist()
        if any(counts[:_WRITE]):
            drawn = (numbers < _WRITE).nonzero()[0]
            self._add_draws(drawn, records[drawn, : HEADER + COPIED])
        if counts[_WRITE]:
            written = (numbers == _WRITE).nonzero()[0]
            self._starts[written] = records[written, 2]
            self._add(written, *_alike(records[written, 1]))
        if counts[_CLEAR]:
            self._add(np.flatnonzero(numbers == _CLEAR), *[np.arange(counts[_CLEAR])] * 2)
        if counts[_BEGIN] or counts[_END]:
            asked = ((numbers == _BEGIN) | (numbers == _END)).nonzero()[0]
            first = len(self._kinds)
            self._add(asked, *[np.arange(len(asked))] * 2)
            self._kinds[first:] = self._queries(asked, numbers[asked] == _BEGIN)
        self._pieces = self._where(numbers, counts[_WRITE] > 0)

    def _add(self, records: Ints, first: Ints, which: Ints) -> None:
        """These records are of new kinds: where each is first among them, and the kind of each."""
        self._which[records] = which + len(self._kinds)
        self._seen += records[first].tolist()
        self._kinds += [None] * len(first)

    def _add_draws(self, drawn: Ints, keys: Ints) -> None:
        """Draws: a key is what those of one kind have in common, the call, but for its first
        vertex, and the state it is made in."""
        arrays = keys[:, 0] < _ELEMENTS
        self._starts[drawn] = np.where(arrays, keys[:, 2], 0)
        keys[arrays, 2] = 0
        first, which, self._keys, found = self._tokens.of_all(keys)
        self._add(drawn, first, which)
        self._kinds = [*found]

    def _key(self, kind: int) -> bytes:
        """That of draws of one kind."""
        return self._keys[kind * _KEY : (kind + 1) * _KEY]

    def _queries(self, asked: Ints, begins: npt.NDArray[np.bool_]) -> Sequence[Any]:
        """What the driver knows the records by where queries begin and end: in turn, for no others
        are noted. None where it does not know all of them, so that each is looked at in its turn.
        """
        names = self._records[asked[begins], 1].tolist()
        queries: list[Any] = list(map(self._ctx.queries.names.get, names))
        if not begins[0]:
            queries.insert(0, self._active)
        known: list[Any] = [None if query is None else query.changes for query in queries]
        if None in known:
            return [None] * len(asked)
        first = int(not begins[0])
        some = slice(first, first + len(asked))
        self._asked = asked.tolist()
        self._changes = [*chain.from_iterable(zip(queries, queries, strict=True))][some]
        return [*chain.from_iterable(known)][some]

    def _where(self, numbers: Ints, written: bool) -> Pieces:
        """Uniforms, or what is written, if something is: where they lie."""
        first, records = _KEY, self._records
        offsets = np.arange(first, first + self._stride * len(records), self._stride)
        sizes = self._sizes(numbers < _WRITE)
        which = np.zeros(len(records), np.int64)
        if written:
            those = numbers == _WRITE
            offsets[those] = records[those, 4] - self._copied_at
            sizes[those] = records[those, 3]
            which[those] = _COPIES
        return Pieces.of((self._log, self._copies), which, offsets, sizes)

    def _sizes(self, drawn: npt.NDArray[np.bool_]) -> Ints:
        """How many bytes the uniforms of each draw are; 0 for what is none."""
        found = np.zeros(len(drawn), np.int64)
        sizes = {name: len(each.uniforms.data) for name, each in self._executables.items()}
        if len({*sizes.values()}) == 1:
            found[drawn] = next(iter(sizes.values()))
        else:
            found[drawn] = [*map(sizes.__getitem__, self._records[drawn, _PROGRAM].tolist())]
        return found

    def _known_until(self, at: int) -> int:
        """Where the first record from there on is that has to go the long way."""
        end = len(self._numbers)
        for kind, place in [*self._unknown.items()]:
            if place < at:
                further = np.flatnonzero(self._which[at:] == kind)[:1].tolist()
                if not further:
                    del self._unknown[kind]
                    continue
                self._unknown[kind] = place = at + further[0]
            if place < end and not self._known(kind, place):
                end = place
        while self._looked < len(self._order):
            kind = self._order[self._looked]
            record = self._seen[kind]
            if record >= end:
                break
            self._looked += 1
            if not self._known(kind, record):
                return record
        return end

    def _known(self, kind: int, record: int) -> bool:
        """Ask what the driver knows a kind by; false, and that is noted, if by nothing."""
        found = self._kinds[kind] = self._find(kind, record)
        if found is None:
            self._unknown[kind] = record
        else:
            self._unknown.pop(kind, None)
        return found is not None

    def _find(self, kind: int, record: int) -> Any:
        """What the driver knows such records by; None: they go the long way."""
        number = self._numbers[record]
        if number == _WRITE:
            return self._write(int(self._records[record, 1]))
        if number == _CLEAR:
            return self._clear(record)
        if number in (_BEGIN, _END):
            query = self._query(record) if number == _BEGIN else self._active
            if query is None or query.changes is None:
                return None
            self._asked.append(record)
            self._changes.append(query)
            self._active = query if number == _BEGIN else None
            return query.changes[number == _END]
        key = self._key(kind)
        return self._tokens.known.get(key) or self._token(key, record)

    # -- replaying ---------------------------------------------------------------------------------

    def _some(self, at: int) -> int:
        """Replay records from there on, until one goes the long way; answers what comes next."""
        end, done = self._known_until(at), at
        if end > at:
            some = slice(at, end)
            pieces = self._pieces.part(at, end)
            series = Series(self._kinds, self._which[some], pieces, self._starts[some])
            done += self._ctx.repeats.drawn_together(series)
            if self._asked:
                self._changed(done)
        if done < end:  # the driver may want another token
            kind = int(self._which[done])
            self._tokens.forget(self._key(kind))
            self._unknown[kind] = done
        if done < len(self._numbers):
            self._make(done)
            done += 1
        return done

    def _write(self, name: int) -> BufferWrite | None:
        """Where bytes are written that a record names."""
        buffer = self._ctx.buffers.names.get(name)
        resource = None if buffer is None else buffer.plain
        if resource is None:
            return None
        return BufferWrite(resource)

    def _clear(self, record: int) -> ClearCall | None:
        """What a record says is cleared, if that can be done at once."""
        log, place = self._log, record * self._stride
        (target,) = _NAME.unpack_from(log, place + _FRAMEBUFFER)
        kind = target, int(self._records[record, 1])
        found = self._clears.get(kind)
        if found is None:
            found = self._clears[kind] = self._cleared(record)
        flags, framebuffer, size = found
        if flags is None:
            return None
        red, green, blue, alpha, depth, stencil = _CLEARED.unpack_from(log, place + 16)
        scissor = None
        if log[place + _SCISSOR_TEST]:
            x, y, width, height = _BOX.unpack_from(log, place + _SCISSOR)
            box = self._replays.scissor if height < 0 else (x, y, width, height)
            scissor = scissor_state(size, True, box)
        return ClearCall(
            framebuffer, flags, (red, green, blue, alpha), depth, stencil & 0xFF, scissor
        )

    def _cleared(self, record: int) -> _Cleared:
        """What such records clear: what of which framebuffer, of what size."""
        ctx = self._ctx
        _, (buffers, *_) = self._shown(record)
        validate(ctx, Dirty.TARGETS)
        flags = clears.clearable(ctx, buffers)
        return flags, ctx.pipe_framebuffer, ctx.framebuffers.draw.size

    def _query(self, record: int) -> QueryObject | None:
        """The query a record says begins."""
        return self._ctx.queries.names.get(int(self._records[record, 1]))

    def _change(self, record: int) -> None:
        """Begin or end a query the long way."""
        ctx = self._ctx
        try:
            if self._numbers[record] == _BEGIN:
                begin_query(ctx, SAMPLES_PASSED, int(self._records[record, 1]))
            else:
                end_query(ctx, SAMPLES_PASSED)
        finally:
            self._active = ctx.queries.active.get((SAMPLES_PASSED, 0))

    def _changed(self, done: int) -> None:
        """The driver has begun and ended the queries of all records before that one."""
        asked, count = self._asked, len(self._asked)
        if asked[-1] >= done:
            count = bisect_left(asked, done)
        if count:
            begun = self._numbers[asked[count - 1]] == _BEGIN
            have_changed(self._ctx, self._changes[:count], begun)
            del asked[:count], self._changes[:count]

    def _token(self, key: bytes, record: int) -> Any:
        """The driver's token for such records, if it has one."""
        ctx = self._ctx
        number, (mode, one, two, three, four) = self._shown(record)
        if number < _ELEMENTS:
            call: Any = mode, two, three if number else 1
        else:
            call = draws.indexed_call(ctx, mode, one, two, three or None, four if number > 2 else 1)
        token = None if call is None else ctx.repeats.token(call)
        if token is not None:
            self._tokens.known[key] = token
        return token

    def _shown(self, record: int) -> tuple[int, tuple[int, ...]]:
        """Bring the context into a record's state: which function it is of, with what."""
        number, *found = self._records[record, : HEADER + COPIED].tolist()
        self._replays.show(tuple(found[HEADER - 1 :]))
        return number, tuple(found[: HEADER - 1])

    def _make(self, record: int) -> None:
        """Do what a record says the long way."""
        ctx, number = self._ctx, self._numbers[record]
        try:
            if number == _WRITE:
                name, offset, size, address = self._records[record, 1:5].tolist()
                first = address - self._copied_at
                data = memoryview(self._copies)[first : first + size]
                sub_data(ctx, ctx.buffers.names.require(name), offset, size, data)
            elif number in (_BEGIN, _END):
                self._change(record)
            elif number == _CLEAR:
                _, (buffers, *values) = self._shown(record)
                self._replays.show_cleared(values)
                clears.clear(ctx, buffers)
            else:
                number, arguments = self._shown(record)
                middle = record * self._stride + _KEY
                uniforms = self._executables[int(self._records[record, _PROGRAM])].uniforms.data
                uniforms[:] = self._log[middle : middle + len(uniforms)]
                ctx.dirty |= Dirty.CONSTANTS
                _MADE_BY[number](ctx, *arguments)
        except BaseException as error:
            abi.failed(FUNCTIONS[RECORDS[number]], error)


def _kinds_of(keys: Ints, data: bytes) -> tuple[Ints, Ints]:
    """Where each kind of draws is first among them, and the kind of each, by their keys."""
    if len(keys) >= _MANY:
        sums = keys @ _FACTORS  # equal ones seldom are of different kinds
        first, which = _alike(sums)
        if np.array_equal(keys, keys.take(first.take(which), axis=0)):
            return first, which
    numbers: dict[bytes, int] = {}
    places = range(0, len(data), _KEY)
    found = [numbers.setdefault(data[at : at + _KEY], len(numbers)) for at in places]
    return _alike(np.array(found, np.int64))


def _alike(values: Ints) -> tuple[Ints, Ints]:
    """Where each value is first, and for all of them which of these they equal."""
    if len(values) and (values == values[0]).all():
        return np.zeros(1, np.int64), np.zeros(len(values), np.int64)
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    return first, which


_MADE_BY: tuple[Callable[..., None], ...] = (
    lambda ctx, mode, first, count, *_: draws.draw_arrays(ctx, mode, first, count),
    lambda ctx, mode, first, count, many, _: draws.draw_arrays_instanced(
        ctx, mode, first, count, many
    ),
    lambda ctx, mode, count, type, at, _: draws.draw_elements(ctx, mode, count, type, at or None),
    lambda ctx, mode, count, type, at, many: draws.draw_elements_instanced(
        ctx, mode, count, type, at or None, many
    ),
)
"""What makes the draws of each of `DRAWS`."""
