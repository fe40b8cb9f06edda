"""One batch: the commands in the ring, executed together as far as possible.

NumPy processes all of them at once. Each call that sets state writes *slots*; the hash of a state
is the sum of a number for every slot and its value, so a running sum gives the state before each
command. Draws and clears with equal calls and states are of one *kind*. Kinds that the driver knows
by a token are passed to it together, with the writes and queries between them. At any other kind
the batch stops: the calls that set the state are made, then the command itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe.draw_series import Pieces, Series
from gallette.pipe.state import BufferWrite, QueryChange
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.registry import implemented
from gallette.state_tracker.queries import QueryObject, have_changed
from gallette.state_tracker.targets.clears import clear_call
from gallette.state_tracker.texturing.teximage import texture_write
from gallette.state_tracker.texturing.texture_objects import set_parameter

from .calls import (
    CALLS,
    COMMAND_BYTES,
    NUMBERS,
    PAYLOAD,
    Call,
    Family,
    Ints,
    Role,
    keeps_state,
)
from .states import Settings, States, kind_of, values_of
from .uniforms import Uniforms

if TYPE_CHECKING:
    from gallette.state_tracker.stream.stream import Stream

__all__ = ["Batch"]

_ROLE = {role: number for number, role in enumerate(Role)}
_ROLES = np.array([_ROLE[call.role] for call in CALLS])
_ENTRIES = np.array([call.role not in (Role.STATE, Role.UNIFORM) for call in CALLS])
_ARRAYS = np.array([call.name.startswith("DrawArrays") for call in CALLS])
_BEGIN = NUMBERS["BeginQuery"]
_WRITTEN = 1
"""The memory of `Pieces` that holds data for buffers and textures; 0 holds uniforms."""


class Batch:
    """The commands from a given one on; an unsupported one may be the last."""

    def __init__(
        self, stream: Stream, commands: memoryview, address: int, written: bytes, written_at: int
    ) -> None:
        self._stream, self._ctx = stream, stream.ctx
        self._bytes, self._written, self._written_at = commands, written, written_at
        self._rows = np.frombuffer(commands, np.int64).reshape(-1, COMMAND_BYTES // 8)
        self._address = address
        self._numbers = self._rows[:, 0].astype(np.uint8)
        self._count = len(self._rows)
        self._states = States(stream, self._rows, self._numbers)
        self._generation = stream.generation
        self._synced = 0  # the first write to a slot that the context has not received
        self._kinds: list[Any] = []
        self._keys: list[int] = []  # of the kinds of draws and clears, which come first
        self._asked: list[int] = []
        self._changes: list[QueryObject] = []
        self._find_entries()

    # -- entries -----------------------------------------------------------------------------------

    def _find_entries(self) -> None:
        """Find draws, clears, writes and queries, and the kind of each."""
        numbers, rows = self._numbers, self._rows
        where = (_ROLES[numbers] == _ROLE[Role.UNIFORM]).nonzero()[0]
        programs = self._states.program(where)
        self._uniforms = Uniforms(self._ctx, rows, where, programs)
        self._new = self._unaccepted()
        self._entries = _ENTRIES[numbers].nonzero()[0]
        if not len(self._entries):
            return
        self._which = np.empty(len(self._entries), np.int64)
        roles = _ROLES[numbers[self._entries]]
        self._add_known(roles)
        self._add_writes((roles == _ROLE[Role.WRITE]).nonzero()[0])
        self._add_texels((roles == _ROLE[Role.TEXELS]).nonzero()[0])
        self._add_queries((roles == _ROLE[Role.QUERY]).nonzero()[0])
        unknown = np.array([kind is None for kind in self._kinds], bool)
        self._blocked = unknown[self._which] if len(unknown) else np.zeros(0, bool)
        self._pieces = self._where_bytes_are(roles)
        first = rows[self._entries, 2]
        starts = np.where(_ARRAYS[numbers[self._entries]], first, 0)
        self._blocked |= starts < 0
        self._starts = np.where(roles == _ROLE[Role.WRITE], first, starts)

    def _add_known(self, roles: Ints) -> None:
        """Add draws and clears: their kinds, as far as the stream knows them."""
        is_draw = roles == _ROLE[Role.DRAW]
        some = (is_draw | (roles == _ROLE[Role.CLEAR])).nonzero()[0]
        at, is_draw = self._entries[some], is_draw[some]
        states = self._states.for_draws(at)
        if not is_draw.all():
            states = np.where(is_draw, states, self._states.for_clears(at))
        keys = kind_of(values_of(self._rows.take(at, 0), self._numbers[at]), states)
        found, which = np.unique(keys, return_inverse=True)
        self._which[some] = which
        self._keys = found.tolist()
        self._kinds = list(map(self._stream.kinds.get, self._keys))

    def _add_writes(self, some: Ints) -> None:
        """Add writes to buffers: their kind is the buffer."""
        if not len(some):
            return
        at = self._entries[some]
        targets, names = self._rows[at, 1], np.zeros(len(at), np.int64)
        for target in np.unique(targets).tolist():
            names = np.where(targets == target, self._states.buffer(target, at), names)
        ends = self._rows[at, 2] + self._rows[at, 3]
        for name in np.unique(names).tolist():
            these = (names == name).nonzero()[0]
            buffer = self._ctx.buffers.names.get(name) if name else None
            resource = None if buffer is None else buffer.plain
            good = np.zeros(len(these), bool)
            if resource is not None and buffer is not None:
                good = (self._rows[at[these], 2] >= 0) & (ends[these] <= buffer.size)
            self._which[some[these]] = np.where(good, len(self._kinds), len(self._kinds) + 1)
            self._kinds += [None if resource is None else BufferWrite(resource), None]

    def _add_texels(self, some: Ints) -> None:
        """Add writes to textures: each box of a level is a kind."""
        if not len(some):
            return
        at = self._entries[some]
        rows = self._rows[at, 1:7]
        rows[:, 0] = np.where(
            rows[:, 0] == GL.TEXTURE_2D, self._states.texture(int(GL.TEXTURE_2D), at), 0
        )
        found: dict[tuple[int, ...], int] = {}
        for entry, row in zip(some.tolist(), map(tuple, rows.tolist()), strict=True):
            if row not in found:
                found[row] = len(self._kinds)
                self._kinds.append(texture_write(self._ctx, *row))
            self._which[entry] = found[row]

    def _add_queries(self, some: Ints) -> None:
        """Add queries of samples: each begin and end is a kind of its own. They are followed as
        long as begins alternate with ends of the query that was begun.
        """
        if not len(some):
            return
        state, target = self._ctx.queries, int(GL.SAMPLES_PASSED)
        self._which[some] = len(self._kinds) + np.arange(len(some))
        running = state.active.get((target, 0))
        at = self._entries[some]
        begins, given = self._numbers[at] == _BEGIN, self._rows[at, 1]
        turns = (np.arange(len(some)) + (running is not None)) % 2 == 0
        wrong = (begins != turns) | (given != target)
        last = int(wrong.argmax()) if wrong.any() else len(some)
        if len(state.active) != (running is not None) or (running and not running.changes):
            last, running = 0, None
        queries: list[QueryObject] = [] if running is None else [running]
        for name in self._rows[at[:last][begins[:last]], 2].tolist():
            query = state.names.get(name)
            if query is None or query.target != target or query.changes is None:
                break
            queries.append(query)
        kinds: list[QueryChange] = []
        for query in queries:
            kinds += query.changes or ()
        first = int(running is not None)  # which was begun before
        changes = [each for each in queries for _ in range(2)][first:][:last]
        last = len(changes)
        self._changes += changes
        self._asked += some[:last].tolist()
        self._kinds += [*kinds[first:][:last], *[None] * (len(some) - last)]

    def _unaccepted(self) -> list[int]:
        """The commands that set a slot to a value for the first time, which may be errors."""
        accepted, states = self._stream.accepted, self._states
        if accepted.issuperset(states.value.tolist()):
            return []
        values, first = np.unique(states.value, return_index=True)
        places = zip(values.tolist(), states.place[first].tolist(), strict=True)
        return sorted({place for value, place in places if value not in accepted})

    def _where_bytes_are(self, roles: Ints) -> Pieces:
        """Locate the uniforms of draws, and the data written to buffers and textures."""
        count = len(self._entries)
        offsets, sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        which = np.zeros(count, np.int64)
        drawn = (roles == _ROLE[Role.DRAW]).nonzero()[0]
        blocks: list[bytes] = []
        total = 0
        programs = self._states.program(self._entries[drawn])
        for name in np.unique(programs).tolist():
            some = drawn[programs == name]
            rows = self._uniforms.rows(name, self._entries[some])
            if rows is None:
                continue
            stride = rows.shape[1]
            offsets[some] = total + stride * np.arange(len(some))
            sizes[some] = stride
            blocks.append(rows.tobytes())
            total += rows.size
        for role, pointer in ((Role.WRITE, 4), (Role.TEXELS, 9)):
            writes = roles == _ROLE[role]
            if writes.any():
                rows = self._rows[self._entries[writes]]
                offsets[writes] = rows[:, pointer] - self._written_at
                texels = role is Role.TEXELS
                sizes[writes] = 4 * rows[:, 5] * rows[:, 6] if texels else rows[:, 3]
                which[writes] = _WRITTEN
        return Pieces.of((b"".join(blocks), self._written), which, offsets, sizes)

    @property
    def sets(self) -> Settings | None:
        """What its calls set, if they only set state, as they did before without an error. Uniforms
        are none: some choose a sampler's unit, which depends on the program.
        """
        only = bool((_ROLES[self._numbers] == _ROLE[Role.STATE]).all())
        return self._states.last if only and not self._new else None

    # -- execution ---------------------------------------------------------------------------------

    def execute(self) -> int:
        """Execute commands up to and including the first unsupported one; returns their number."""
        end, entry = self._uniforms.odd, 0
        new = iter([place for place in self._new if place < end])
        last = int(self._entries.searchsorted(end))
        stop = next(new, end)
        while entry < last or stop < end:
            until = int(self._entries.searchsorted(stop))
            entry = self._draw_known(entry, until)
            if entry < until:
                self._make(int(self._entries[entry]), entry)
                entry += 1
            elif stop < end:
                if not self._accept(stop):
                    self._finish(stop + 1)
                    self._stream.forget()
                    return stop + 1
                stop = next(new, end)
        self._finish(end)
        if end == self._count:
            return end
        self._perform(end)
        if not keeps_state(CALLS[int(self._numbers[end])].name):
            self._stream.forget()
        return end + 1

    def _draw_known(self, entry: int, until: int) -> int:
        """Let the driver draw entries of known kinds; returns the first it did not."""
        while entry < until:
            some = self._blocked[entry:until]
            end = entry + int(some.argmax()) if some.any() else until
            if end == entry:
                return entry
            part = slice(entry, end)
            series = Series(
                self._kinds, self._which[part], self._pieces.part(entry, end), self._starts[part]
            )
            try:
                entry += self._ctx.pipe.draw_series(series)
            except BaseException as error:
                abi.failed(self._call(entry).function, error)
                entry = end
            self._queries_changed(entry)
            if entry < end:  # the driver may know it by a new token
                self._forget(entry)
                return entry
        return entry

    def _forget(self, entry: int) -> None:
        kind = int(self._which[entry])
        if kind < len(self._keys):
            self._stream.kinds.pop(self._keys[kind], None)
            self._kinds[kind] = None
            self._blocked[entry:] |= self._which[entry:] == kind
        else:
            self._blocked[entry] = True

    def _call(self, entry: int) -> Call:
        return CALLS[int(self._numbers[self._entries[entry]])]

    def _make(self, place: int, entry: int) -> None:
        """Execute a draw, clear, write or query by its entry point, in its state."""
        self._sync(place)
        call, kind = CALLS[int(self._numbers[place])], int(self._which[entry])
        stream, found = self._stream, None
        if call.role is Role.CLEAR:
            found = clear_call(self._ctx, int(self._rows[place, 1]))
        if call.role is Role.DRAW:
            self._uniforms.store(place)
            self._ctx.dirty |= Dirty.CONSTANTS
            stream.drawn = None
        self._perform(place)
        if call.role is Role.DRAW and stream.drawn is not None:
            found = stream.token()
        if stream.generation != self._generation:
            self._generation = stream.generation
            self._kinds[: len(self._keys)] = [None] * len(self._keys)
            self._blocked |= self._which < len(self._keys)
        if found is not None and kind < len(self._keys):
            stream.store_token(self._keys[kind], found)
            self._kinds[kind] = found
            known = self._which[entry:] == kind
            self._blocked[entry:] &= ~known | (self._starts[entry:] < 0)

    def _accept(self, place: int) -> bool:
        """Make a call that sets state for the first time.

        False if the following commands must be made call by call: it was an error, or the program
        now in use has subroutines.
        """
        self._sync(place)
        if not self._perform(place) or self._stream.uses_subroutines:
            self._synced = self._writes_by(place).stop
            return False
        self._set_by(place)
        return True

    def _perform(self, place: int) -> bool:
        """Make a call as C made it; false if it failed."""
        return self._stream.perform(CALLS[int(self._numbers[place])], self._arguments(place))

    def _arguments(self, place: int) -> tuple[Any, ...]:
        call = CALLS[int(self._numbers[place])]
        return call.arguments(self._bytes, place * COMMAND_BYTES, self._address)

    def _writes_by(self, place: int) -> range:
        """The writes to slots of one command."""
        first, last = self._states.place.searchsorted([place, place + 1]).tolist()
        return range(first, last)

    def _set_by(self, place: int) -> None:
        """Record that the context has received a command."""
        applied, accepted = self._stream.applied, self._stream.accepted
        for write in self._writes_by(place):
            value = int(self._states.value[write])
            applied[int(self._states.slot[write])] = value
            accepted.add(value)
        self._synced = max(self._synced, self._writes_by(place).stop)

    def _sync(self, place: int) -> None:
        """Bring the context into the state before a command.

        Of the calls that set a slot since the last sync, the last one is made, if it changes the
        slot.
        """
        first, end = self._synced, int(self._states.place.searchsorted(place))
        if end > first:
            self._synced = end
            _, last = np.unique(self._states.slot[first:end][::-1], return_index=True)
            for write in np.sort(end - 1 - last).tolist():
                slot, value = int(self._states.slot[write]), int(self._states.value[write])
                if self._stream.applied.get(slot) != value:
                    self._apply(int(self._states.place[write]), slot)
            self._ctx.textures.active = self._selected(self._states.unit, place)

    @staticmethod
    def _selected(what: Callable[[Ints], Ints], place: int) -> int:
        """The selection at one command."""
        return int(what(np.array([place]))[0])

    def _apply(self, place: int, slot: int) -> None:
        """Make a call that was accepted before, independent of the current selection."""
        ctx, family = self._ctx, Family(slot & 255)
        if family is Family.TEXTURE:
            ctx.textures.active = self._selected(self._states.unit, place)
        if family is Family.TEXTURE_PARAMETER:
            target, pname = self._rows[place, 1:3].tolist()
            name = int(self._states.texture(target, np.array([place]))[0])
            texture = ctx.textures.names.get(name) if name else ctx.textures.defaults[target]
            if texture is not None:
                set_parameter(ctx, texture, pname, [self._arguments(place)[2]])
        elif family is Family.DRAW_BUFFERS:
            count = int(self._rows[place, 1])
            buffers = self._address + place * COMMAND_BYTES + PAYLOAD
            name = self._selected(self._states.framebuffer, place)
            implemented("NamedFramebufferDrawBuffers")(ctx, name, count, buffers)
        elif family is Family.READ_BUFFER:
            name = self._selected(self._states.read_framebuffer, place)
            implemented("NamedFramebufferReadBuffer")(ctx, name, int(self._rows[place, 1]))
        elif family is Family.ELEMENT_BUFFER:
            array = self._selected(self._states.vertex_array, place)
            implemented("VertexArrayElementBuffer")(ctx, array, int(self._rows[place, 2]))
        else:
            self._perform(place)
        for write in self._writes_by(place):
            self._stream.applied[int(self._states.slot[write])] = int(self._states.value[write])

    def _queries_changed(self, entry: int) -> None:
        """Record that the driver began and ended the queries of all entries before `entry`."""
        count = bisect_left(self._asked, entry)
        if count:
            begun = self._call(self._asked[count - 1]).number == _BEGIN
            have_changed(self._ctx, self._changes[:count], begun)
            del self._asked[:count], self._changes[:count]

    def _finish(self, end: int) -> None:
        """Set the context's state to that before the command at `end`."""
        self._sync(end)
        self._uniforms.store(end)
        self._ctx.dirty |= Dirty.CONSTANTS
        stream = self._stream
        there = np.array([end])
        stream.for_draws = int(self._states.for_draws(there)[0])
        stream.for_clears = int(self._states.for_clears(there)[0])
