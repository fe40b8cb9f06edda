"""One replay of what was recorded (see `replays`): its records in order, most of them together.

All that may change between recorded draws is told by the words in their records, so each kind of
record is looked at once: the context is brought into the state the words tell, and asked for the
driver's token. Then draws, and what comes between them, go to the driver together. What has no
token is done the long way, in its turn.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.enums import ClearFlags
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
from gallette.state_tracker.queries import QueryObject, begin_query, end_query
from gallette.state_tracker.targets import clears
from gallette.state_tracker.vertices.buffer_objects import sub_data

if TYPE_CHECKING:
    from gallette.state_tracker.drawing.replays import Replays
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["Replay"]

_WRITE, _BEGIN, _END, _CLEAR = map(
    RECORDS.index, ("BufferSubData", "BeginQuery", "EndQuery", "Clear")
)
_ELEMENTS = RECORDS.index("DrawElements")
_KEY = 8 * (HEADER + COPIED)
_CLEARED = struct.Struct("<4fdI")
"""What glClear clears to, behind the number of the function and its argument."""

_SCISSOR_TEST, _SCISSOR, _FRAMEBUFFER = (
    8 * (HEADER + word - FIRST_STATE)
    for word in (CAPABILITIES[GL.SCISSOR_TEST][0], Word.SCISSOR, Word.FRAMEBUFFER)
)
_BOX, _NAME = struct.Struct("<4i"), struct.Struct("<q")
_Cleared = tuple[ClearFlags | None, FramebufferState, tuple[int, int]]

_MANY = 512
"""So many records are quicker told apart all at once."""

_FACTORS = np.array([pow(3, 5 * word + 7, 1 << 62) for word in range(HEADER + COPIED)])


class Replay:
    """One replay: the log, and the tokens of the kinds of records it has."""

    def __init__(self, replays: Replays, executable: Executable, noted: recording.Noted) -> None:
        self._replays, self._ctx, self._uniforms = replays, replays.ctx, executable.uniforms
        self._log, self._stride = noted.log, noted.words[Word.STRIDE]
        self._records = np.frombuffer(noted.log, np.int64).reshape(-1, self._stride // 8)
        self._numbers: list[int] = self._records[:, 0].tolist()  # in `RECORDS`
        self._arguments: list[list[int]] = self._records[:, 1:5].tolist()
        keys = self._records[:, : HEADER + COPIED].copy()
        arrays = keys[:, 0] < _ELEMENTS
        self._firsts: list[int] = np.where(arrays, keys[:, 2], 0).tolist()
        keys[arrays, 2] = 0  # they may begin anywhere
        self._keys, self._kinds = keys.tobytes(), self._told_apart(keys)
        self._size = len(executable.uniforms.data)
        self._written, self._written_at = memoryview(noted.written), recording.written()
        self._tokens = replays.tokens(executable)
        self._writes: dict[tuple[int, int], BufferWrite] = {}
        self._clears: dict[tuple[int, int], _Cleared] = {}  # by framebuffer, and what is cleared

    def all(self) -> None:
        """Make the draws of the log, in order."""
        at = 0
        while at < len(self._numbers):
            at = self._some(at)

    def _told_apart(self, keys: npt.NDArray[np.int64]) -> list[Any]:
        """Something for each record that tells its kind from others; empty: its key does."""
        records = len(keys)
        drawn = np.flatnonzero(keys[:, 0] < _WRITE)  # nobody asks of what kind others are
        if len(drawn) < _MANY:
            return []
        if len(drawn) < records:
            keys = keys.take(drawn, axis=0)
        sums = keys @ _FACTORS  # equal ones seldom are of different kinds
        _, first, which = np.unique(sums, return_index=True, return_inverse=True)
        if not np.array_equal(keys, keys.take(first.take(which), axis=0)):
            return []
        kinds = np.zeros(records, np.int64)
        kinds[drawn] = which
        found: list[int] = kinds.tolist()
        return found

    def _key(self, number: int) -> bytes:
        """What records of one kind have in common: the call, but for its first vertex, and the
        state it is made in."""
        return self._keys[number * _KEY : (number + 1) * _KEY]

    def _some(self, at: int) -> int:
        """Replay records from there on, until one goes the long way; answers what comes next."""
        log, stride, size, kinds, numbers = (
            self._log, self._stride, self._size, self._kinds, self._numbers,
        )  # fmt: skip
        known: dict[Any, Any] = {}
        tokens: list[Any] = []
        rows: list[Any] = []
        firsts = self._firsts[at:]
        writes, active = self._writes, self._ctx.queries.active.get((SAMPLES_PASSED, 0))
        changed: list[tuple[int, QueryObject]] = []  # queries, and what token begins or ends each
        for record in range(at, len(numbers)):
            number = numbers[record]
            if number >= _WRITE:
                if number == _WRITE:
                    name, offset, length, address = self._arguments[record]
                    write = writes.get((name, offset)) or self._write(name, offset)
                    if write is None:
                        break
                    tokens.append(write)
                    first = address - self._written_at
                    rows.append(self._written[first : first + length])
                    continue
                if number == _CLEAR:
                    call = self._clear(record)
                    if call is None:
                        break
                    tokens.append(call)
                    rows.append(None)
                    continue
                query = self._query(record) if number == _BEGIN else active
                if query is None or query.changes is None:
                    break
                changed.append((len(tokens), query))
                active = query if number == _BEGIN else None
                tokens.append(query.changes[number == _END])
                rows.append(None)
                continue
            kind = kinds[record] if kinds else self._key(record)
            token = known.get(kind)
            if token is None:
                key = self._key(record)
                token = known[kind] = self._tokens.get(key) or self._token(key, record)
                if token is None:
                    break
            tokens.append(token)
            middle = record * stride + _KEY
            rows.append(log[middle : middle + size])
        done = self._ctx.repeats.drawn_together(tokens, rows, firsts) if tokens else 0
        for number, query in changed:
            if number < done:
                self._changed(query, tokens[number].begins)
        at += done
        if done < len(tokens):
            self._tokens.pop(self._key(at), None)  # the driver may want another
        if at < len(numbers):
            self._make(at)
            at += 1
        return at

    def _write(self, name: int, offset: int) -> BufferWrite | None:
        """Where bytes are written that a record names."""
        buffer = self._ctx.buffers.names.get(name)
        resource = None if buffer is None else buffer.plain
        if resource is None:
            return None
        found = self._writes[name, offset] = BufferWrite(resource, offset)
        return found

    def _clear(self, record: int) -> ClearCall | None:
        """What a record says is cleared, if that can be done at once."""
        log, place = self._log, record * self._stride
        (target,) = _NAME.unpack_from(log, place + _FRAMEBUFFER)
        kind = target, self._arguments[record][0]
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
        return self._ctx.queries.names.get(self._arguments[record][0])

    def _changed(self, query: QueryObject, begun: bool) -> None:
        """The driver has begun or ended a query."""
        if begun:
            query.begun()
        else:
            query.active = False
            del self._ctx.queries.active[SAMPLES_PASSED, 0]

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
            self._tokens[key] = token
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
                name, offset, size, address = self._arguments[record]
                first = address - self._written_at
                data = self._written[first : first + size]
                sub_data(ctx, ctx.buffers.names.require(name), offset, size, data)
            elif number == _BEGIN:
                begin_query(ctx, SAMPLES_PASSED, self._arguments[record][0])
            elif number == _END:
                end_query(ctx, SAMPLES_PASSED)
            elif number == _CLEAR:
                _, (buffers, *values) = self._shown(record)
                self._replays.show_cleared(values)
                clears.clear(ctx, buffers)
            else:
                number, arguments = self._shown(record)
                middle = record * self._stride + _KEY
                self._uniforms.data[:] = self._log[middle : middle + self._size]
                ctx.dirty |= Dirty.CONSTANTS
                _MADE_BY[number](ctx, *arguments)
        except BaseException as error:
            abi.failed(FUNCTIONS[RECORDS[number]], error)


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
