"""One batch: the commands in the ring, executed together as far as possible.

NumPy processes all of them at once (`analysis`). Each call that sets state writes *slots*; the hash
of a state is the sum of a number for every slot and its value, so a running sum gives the state
before each command. Draws and clears with equal calls and states are of one *kind*. Kinds that the
driver knows by a token are passed to it together, with the writes and queries between them. At any
other kind the batch stops: the calls that set the state are made, then the command itself.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir import Stage
from gallette.pipe.draw_series import Pieces, Series
from gallette.pipe.state import BufferWrite, QueryChange
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.registry import implemented
from gallette.state_tracker.queries import QueryObject, have_changed
from gallette.state_tracker.targets.clears import clear_call
from gallette.state_tracker.texturing.texture_objects import set_parameter

from .analysis import Analysis, is_ambiguous
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

if TYPE_CHECKING:
    from gallette.state_tracker.shading.programs import Executable
    from gallette.state_tracker.stream.stream import Stream
    from gallette.state_tracker.texturing.textures import TextureObject

    from .states import Settings

_ATTRIBUTES = (Family.ATTRIBUTE, Family.ATTRIBUTE_ENABLED, Family.ATTRIBUTE_DIVISOR)
_OF_UNIT = (Family.TEXTURE, Family.TEXTURE_ENV, Family.CAPABILITY)
_BEGIN, _SAMPLES = NUMBERS["BeginQuery"], int(GL.SAMPLES_PASSED)


class Batch:
    """The commands from a given one on; an unsupported one may be the last."""

    def __init__(
        self,
        stream: Stream,
        analysis: Analysis,
        rows: Ints,
        commands: memoryview,
        address: int,
        written: bytes,
        written_at: int,
    ) -> None:
        """`rows`: the words of the commands."""
        self._stream, self._ctx, self._analysis = stream, stream.ctx, analysis
        self._bytes, self._written, self._written_at = commands, written, written_at
        self._rows, self._numbers = rows, analysis.numbers
        self._address, self._count = address, len(rows)
        self._states, self._uniforms = analysis.states, analysis.uniforms
        self._entries, self._which, self._keys = analysis.entries, analysis.which, analysis.keys
        self._generation = stream.generation
        self._synced = 0  # the first write to a slot that the context has not received
        self._new = analysis.unaccepted(stream.accepted)
        self._kinds: list[Any] = []  # those of draws and clears come first
        self._asked: list[int] = []
        self._changes: list[QueryObject] = []
        self._tables: dict[Executable, int] = {}
        self._fill_in()

    # -- entries -----------------------------------------------------------------------------------

    def _fill_in(self) -> None:
        """Look up what the calls of draws, clears, writes and queries name now."""
        analysis, rows, ctx = self._analysis, self._rows, self._ctx
        at = analysis.entries
        if not len(at):
            return
        self._kinds += map(self._stream.kinds.get, self._keys)
        for name in analysis.written:
            buffer = ctx.buffers.names.get(name) if name else None
            resource = None if buffer is None else buffer.plain
            if ctx.group.crowded and is_ambiguous(name, buffer, ctx.buffers.bound.values()):
                resource = None
            self._kinds += [None if resource is None else BufferWrite(resource), None]
        self._kinds += analysis.texture_writes(ctx)
        if len(analysis.asked):
            self._add_queries(analysis.asked)
        self._blocked = np.array([kind is None for kind in self._kinds], bool)[self._which]
        self._starts = np.where(analysis.begins, rows[at, 2], 0)
        self._blocked |= self._starts < 0
        self._pieces = self._where_bytes_are()
        if self._stream.fixed is not None:
            readers = self._stream.readers
            self._add_blocks([n for n, key in enumerate(self._keys) if key in readers])

    def _add_queries(self, some: Ints) -> None:
        """Add queries of samples. They are followed as long as begins alternate with ends of the
        query that was begun.
        """
        state, analysis = self._ctx.queries, self._analysis
        running = state.active.get((_SAMPLES, 0))
        queries = list(map(state.names.get, analysis.begun))
        given = len(state.active), running, queries, [query and query.changes for query in queries]
        if analysis.queries is None or analysis.queries[0] != given:
            analysis.queries = given, self._followed(some, running, queries)
        changes, kinds = analysis.queries[1]
        self._changes += changes
        self._asked += some[: len(changes)].tolist()
        self._kinds += kinds

    def _followed(
        self, some: Ints, running: QueryObject | None, named: list[QueryObject | None]
    ) -> tuple[list[QueryObject], list[QueryChange | None]]:
        """The queries that the followed calls begin and end, and the kinds of all calls. `named`:
        the queries that are begun.
        """
        active = self._ctx.queries.active
        at = self._analysis.entries[some]
        begins, given = self._numbers[at] == _BEGIN, self._rows[at, 1]
        turns = (np.arange(len(some)) + (running is not None)) % 2 == 0
        wrong = (begins != turns) | (given != _SAMPLES)
        last = int(wrong.argmax()) if wrong.any() else len(some)
        if len(active) != (running is not None) or (running and not running.changes):
            last, running = 0, None
        queries: list[QueryObject] = [] if running is None else [running]
        for query in named[: int(begins[:last].sum())]:
            if query is None or query.target != _SAMPLES or query.changes is None:
                break
            queries.append(query)
        kinds: list[QueryChange | None] = []
        for query in queries:
            kinds += query.changes or ()
        first = int(running is not None)  # which was begun before
        changes = [each for each in queries for _ in range(2)][first:][:last]
        last = len(changes)
        return changes, [*kinds[first:][:last], *[None] * (len(some) - last)]

    def _where_bytes_are(self) -> Pieces:
        """Locate the uniforms of draws, and the data written to buffers and textures."""
        analysis, rows = self._analysis, self._rows
        count = len(analysis.entries)
        offsets, sizes = np.zeros(count, np.int64), analysis.sizes.copy()
        blocks: list[bytes] = []
        total = 0
        for name, some, at in analysis.drawn:
            table = analysis.uniforms.rows(name, at)
            if table is None:
                continue
            stride = table.shape[1]
            offsets[some] = np.arange(total, total + table.size, stride)
            sizes[some] = stride
            blocks.append(table.tobytes())
            total += table.size
        for some, at, pointer in analysis.copied:
            offsets[some] = rows[at, pointer] - self._written_at
        return Pieces.of((b"".join(blocks), self._written), analysis.memories, offsets, sizes)

    def _add_blocks(self, kinds: Iterable[int]) -> None:
        """Let draws of fixed function, of these kinds, read the uniforms of their shaders."""
        pieces, fixed = self._pieces, self._stream.fixed
        memories, tables = [*pieces.memories], self._tables
        memory, sizes = np.full(len(self._keys), -1), np.zeros(len(self._keys), np.int64)
        for kind in kinds:
            vertex = self._stream.readers[self._keys[kind]]
            blocks = fixed.blocks(vertex)
            if vertex not in tables:
                tables[vertex] = len(memories)
                memories.append(blocks.tobytes())
            memory[kind], sizes[kind] = tables[vertex], blocks.shape[1]
        which = np.append(memory, -1)[np.minimum(self._which, len(memory))]
        these = (which >= 0).nonzero()[0]
        size = sizes[self._which[these]]
        offsets, all_sizes, in_memory = pieces.offsets, pieces.sizes, pieces.which.copy()
        in_memory[these], all_sizes[these] = which[these], size
        offsets[these] = size * fixed.rows_of(self._rows[self._entries[these]])
        self._pieces = Pieces.of(memories, in_memory, offsets, all_sizes)

    @property
    def sets(self) -> Settings | None:
        """What its calls set, if they only set state, as they did before without an error."""
        return None if self._new else self._analysis.sets

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
        if not keeps_state(CALLS[int(self._numbers[end])].function):
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
            if stream.fixed is not None:
                stream.fixed.before(self._rows[place])
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
            if stream.fixed is not None and call.role is Role.DRAW:
                stream.readers[self._keys[kind]] = self._ctx.programs.stages[Stage.VERTEX]
                if known[1:].any():
                    self._add_blocks([kind])
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
            for at, slot, value in self._states.last_writes(first, end):
                if self._stream.applied.get(slot) != value:
                    self._apply(at, slot)
            self._ctx.textures.active = self._states.unit_at(place)

    @staticmethod
    def _selected(what: Callable[[Ints], Ints], place: int) -> int:
        """The selection at one command."""
        return int(what(np.array([place]))[0])

    def _apply(self, place: int, slot: int) -> None:
        """Make a call that was accepted before, independent of the current selection."""
        ctx, family = self._ctx, Family(slot & 255)
        if family in _OF_UNIT:
            ctx.textures.active = self._states.unit_at(place)
        if family in _ATTRIBUTES:
            self._set_attribute(place)
        elif family is Family.TEXTURE_PARAMETER:
            target, pname = self._rows[place, 1:3].tolist()
            name = int(self._states.texture(target, np.array([place]))[0])
            # (Another context may have deleted the name of one that is bound.)
            unit = ctx.textures.units[self._states.unit_at(place)]
            texture: TextureObject | None = unit.bound[target]
            if texture is None or texture.name != name:
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

    def _set_attribute(self, place: int) -> None:
        """Make a call that sets an attribute of the vertex array, and from the array buffer, that
        were bound for it, and of the unit that was selected.
        """
        arrays, bound = self._ctx.arrays, self._ctx.buffers.bound
        before = arrays.current, bound[GL.ARRAY_BUFFER], arrays.client_unit
        name = self._selected(self._states.vertex_array, place)
        array, source = arrays.names.get(name) if name else arrays.default, before[1]
        if CALLS[int(self._numbers[place])].points_into_buffer:
            target = int(GL.ARRAY_BUFFER)
            buffer = self._selected(lambda at: self._states.buffer(target, at), place)
            # (Another context may have deleted its name.)
            if source is None or source.name != buffer:
                source = self._ctx.buffers.names.get(buffer)
            if source is None:
                return
        if array is None:
            return
        arrays.current, bound[GL.ARRAY_BUFFER] = array, source
        arrays.client_unit = self._selected(self._states.client_unit, place)
        try:
            self._perform(place)
        finally:
            arrays.current, bound[GL.ARRAY_BUFFER], arrays.client_unit = before

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
        stream.for_draws, stream.for_clears = self._states.hashes_at(end)
