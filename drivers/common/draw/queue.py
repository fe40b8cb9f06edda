"""The pending draws of a context: the batch that the executor runs at the next flush.

A small draw is not executed at once. It becomes pending, with a snapshot of the bound state
(`snapshot`) and its constants. Meanwhile buffers and textures may be written (`copy_on_write`), and
queries may begin and end. Whatever else makes an effect of a pending draw visible, such as reading
a render target, or could change one, such as another framebuffer, flushes the batch first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from gallette.drivers.common.bound import MERGED_STAGES
from gallette.drivers.common.memory.clear import ClearValues, clear
from gallette.drivers.common.memory.resource import HostResource, write_texels
from gallette.drivers.common.queries import Mark, Moment, Moments, Query
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import MapFlags, Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.settings import may_defer
from gallette.pipe.state import (
    Box,
    BufferWrite,
    ClearCall,
    DrawInfo,
    FramebufferState,
    QueryChange,
    TextureWrite,
)

from .copy_on_write import CopyOnWrite
from .draw_states import DrawStates
from .execution import Execution
from .merging import MergedDraws, PendingDraw
from .pipeline import draw
from .snapshot import CommandLists, Constants, Plan, PreparedDraw, Row, Snapshot
from .snapshot_cache import SnapshotCache

SMALL = 1 << 14
"""Draws of more vertices than this do not become pending."""

FEW_VERTICES = 1 << 10
"""Draws of no more vertices than this do not flush others, though they have a plan."""

MOST_PLANNED = 1 << 21
"""Draws of more vertices than this have no plan."""

MOST = 4096
"""Draws of a batch."""

_ALONE = 3
"""After so many entries of a short series it is worth to look for what can be made together."""

_SHORT = 8
"""Entries of a short series."""

MOST_LANES = 1 << 18
"""Vertices of a batch: about as many as are shaded at a time."""

_WRITE, _PERSISTENT = int(MapFlags.WRITE), int(MapFlags.PERSISTENT)
_SNAPSHOT, _INFO = operator.itemgetter(0), operator.itemgetter(1)


class DrawQueue:
    """The pending draws of a context."""

    __slots__ = (
        "_copies",
        "_counts",
        "_defers",
        "_entries",
        "_execution",
        "_fragment",
        "_info",
        "_joined",
        "_lanes",
        "_marks",
        "_memory",
        "_most",
        "_plans",
        "_snapshot",
        "_states",
        "_target",
        "_vertex",
    )

    def __init__(
        self,
        states: DrawStates,
        plans: bool = False,
        regroup: bool = True,
        counts: bool = False,
    ) -> None:
        """Small draws become pending, to be merged; with `plans`, those whose state has a plan each
        follow it. `regroup`: draws of several states may change places to be
        executed together; `counts`: what each of them counts is known then."""
        self._states = states
        self._counts, self._defers, self._plans = counts, may_defer(), plans
        self._most = MOST_PLANNED if plans else SMALL  # vertices of a small draw
        self._vertex, self._fragment = (states.bound.stages[stage] for stage in MERGED_STAGES)
        self._memory = SnapshotCache(states)
        self._snapshot: Snapshot | None = None  # what is bound now, if that is known
        self._info: DrawInfo | None = None  # the last small call with it
        self._entries: list[PendingDraw] = []
        self._joined = 0  # of these, how many have a plan
        self._lanes = 0
        self._target = FramebufferState()  # of the draw made last
        self._execution = Execution(states, regroup)
        self._copies = CopyOnWrite()
        self._marks: list[Mark] = []

    @property
    def taps(self) -> list[Callable[[Sequence[MergedDraws]], None]]:
        """Observers of the merged draws of batches."""
        return self._execution.taps

    def _constants(self) -> Row:
        """The blocks bound as block 0 of the vertex and the fragment stage."""
        first, second = self._vertex.constants, self._fragment.constants
        return first[0] if first else None, second[0] if second else None

    def rebinding(self) -> None:
        """Called before a binding other than block 0 changes."""
        self._snapshot = self._info = None

    def forget(self) -> None:
        """Forget all snapshots, because a shader or the context is gone. (No draw is pending.)"""
        self.rebinding()
        self._memory = SnapshotCache(self._states)
        self._execution.forget()

    def joins(self, info: DrawInfo) -> bool:
        """Whether a draw can be submitted without flushing the batch first."""
        if self.retargets(self._states.bound.framebuffer):
            return False
        if not self._entries:
            return True
        if len(self._entries) >= MOST or self._lanes >= MOST_LANES:
            return False
        return self._is_small(info) and self._can_be_pending(info)

    def retargets(self, target: FramebufferState) -> bool:
        """Record the framebuffer of the next draws; returns whether it differs from that of the
        last ones.
        """
        if target is self._target:
            return False
        old, self._target = self._target, target
        return old != target

    def submit(self, info: DrawInfo) -> None:
        """Execute a draw now, or add it to the batch."""
        try:
            done = self._submit_small(info) if self._is_small(info) else 0
            if done is not None:
                draw(self._states, info, done)
        except BaseException:
            self._spoiled()
            raise

    def _submit_small(self, info: DrawInfo) -> int | None:
        """The draw becomes pending, or follows its state's plan; returns the number of its first
        part that is still to be executed, if there is one.
        """
        snapshot, row = self._snapshot, self._constants()
        assert snapshot is not None
        if not self._can_be_pending(info):
            plan = snapshot.plan(info.mode)
            return 0 if plan is None else plan.draw(info, row)
        self._add(snapshot, info, row)
        for block in row:
            if block is not None and block.buffer is not None:
                self._copies.note_block(block.buffer)
        return None

    def _add(self, snapshot: Snapshot, info: DrawInfo, constants: Constants) -> None:
        """Add a draw to the batch."""
        self._hold(snapshot)
        if info.index_buffer is not None:
            self._hold_indices(info.index_buffer)
        self._entries.append((snapshot, info, constants))
        self._joined += self._is_planned(snapshot, info.mode)
        self._lanes += info.count * info.instance_count

    def _hold(self, snapshot: Snapshot) -> None:
        """Keep the resources of a snapshot until the batch is flushed."""
        if not snapshot.held:
            snapshot.hold()
            self._copies.note(snapshot)

    def _hold_indices(self, buffer: Resource) -> None:
        """Keep a buffer of indices until the batch is flushed."""
        buffer.ref()
        self._copies.note_indices(buffer)

    def _spoiled(self) -> None:
        """Called when drawing was interrupted: data derived from attachments may be stale."""
        for framebuffer in (self._states.bound.framebuffer, self._target):
            for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
                if surface is not None:
                    assert isinstance(surface.resource, HostResource)
                    surface.resource.touch()

    # -- series ------------------------------------------------------------------------------------

    def prepared(self, info: DrawInfo) -> PreparedDraw | None:
        """The draw that was submitted last, to be repeated; None if it was not small."""
        if self._snapshot is None or info is not self._info:
            return None
        bound = self._states.bound
        return self._snapshot.prepared(info, bound.framebuffer, bound.epoch)

    def prepared_call(self, token: PreparedDraw, info: DrawInfo) -> PreparedDraw | None:
        """Another call in the state of a prepared draw; None if it is not small."""
        if not 0 < info.instance_count * info.count <= self._most:
            return None
        return token.snapshot.prepared(info, token.target, token.epoch)

    def extend(self, series: Series, first: int) -> tuple[int, bool]:
        """Take entries of a series, from `first` on: how many, and whether more can be taken once
        the batch is flushed. Draws become pending, or follow their plans.
        """
        if self._plans and not self._entries:
            made = self._execute(series, first)
            if made:
                return made, False
        return self._append(series, first) if self._defers else (0, False)

    def _append(self, series: Series, first: int) -> tuple[int, bool]:
        """Entries become pending."""
        draws, data, starts = series.entries, series.data, series.firsts
        instances = series.first_instances
        entries, bound, target = self._entries, self._states.bound, self._target
        valid: set[PreparedDraw] = set()
        number, last = first, len(draws)
        changed = full = False
        try:
            while number < last:
                draw = draws[number]
                if type(draw) is QueryChange:
                    if entries and not self._counts:
                        full = True
                        break
                    self._change(draw.query, draw.begins)
                    changed = True
                    number += 1
                    continue
                if type(draw) is not PreparedDraw:
                    if not self._performed(draw, starts[number], data[number]):
                        full = True
                        break
                    number += 1
                    continue
                if self._lanes >= MOST_LANES or len(entries) >= MOST:
                    full = True
                    break
                if not self._waits(draw.snapshot, draw.info):
                    full = bool(entries)
                    break
                if draw not in valid:
                    if draw.epoch != bound.epoch:
                        break
                    if draw.target is not target:
                        if entries and draw.target != target:
                            full = True
                            break
                        self._target = target = draw.target
                    snapshot, mode = draw.snapshot, draw.info.mode
                    if not snapshot.can_be_pending(mode):
                        break
                    if not (snapshot.held or snapshot.alive):
                        break
                    self._hold(snapshot)
                    valid.add(draw)
                elif draw.epoch != bound.epoch:
                    break
                info, start = draw.info, starts[number]
                instance = info.start_instance if instances is None else instances[number]
                if start != info.start or instance != info.start_instance:
                    info = draw.begun.at(info, start, instance)
                if info.index_buffer is not None:
                    self._hold_indices(info.index_buffer)
                entries.append((draw.snapshot, info, data[number]))
                self._joined += self._is_planned(draw.snapshot, info.mode)
                self._lanes += info.count * info.instance_count
                number += 1
        finally:
            if changed:
                self._recount()
        return number - first, full

    def _execute(self, series: Series, first: int) -> int:
        """Execute entries as long as draws have a plan."""
        bound, target = self._states.bound, self._target
        kinds, which, pieces, starts = series.kinds, series.which, series.pieces, series.starts
        instances, count = series.first_instances, len(series)
        known: PreparedDraw | None = None
        plan: Plan | None = None  # of that draw
        lists: CommandLists | None = None
        begin = end = number = first  # `begin` and `end`: of the next run
        moment: Moment | None = None  # this one, as long as nothing is drawn
        changed = False

        def planned(draw: PreparedDraw) -> Plan | None:
            if draw.target is not target or not draw.snapshot.alive:
                return None
            return draw.snapshot.plan(draw.info.mode)

        try:
            while number < count:
                if lists is not None and number >= end:
                    begin, end = lists.next(number, bound.epoch)
                if lists is not None and begin <= number < end:
                    made, more = lists.make(number, end)
                    if more is not None:
                        bound.count_samples(more)
                        changed = True
                    number += made
                    begin = end = number + 1
                    moment = None
                    continue
                draw = kinds[which[number]]
                if type(draw) is QueryChange:
                    moment, changed = self._change(draw.query, draw.begins, moment), True
                    number += 1
                    continue
                moment = None
                if type(draw) is not PreparedDraw:
                    data = b"" if type(draw) is ClearCall else pieces[number]
                    self._performed(draw, int(starts[number]), data)
                    number += 1
                    continue
                if draw is not known:
                    if draw.target is not target:
                        self._target = target = draw.target
                        lists = None
                    known, plan = draw, planned(draw)
                if plan is None or draw.epoch != bound.epoch:
                    break
                if lists is None:
                    lists = plan.command_lists(series, target, planned)
                    begin = end = number
                    if count - number <= _SHORT:
                        begin = end = number + 1 + _ALONE
                    continue
                info = draw.info
                if instances is not None and instances[number] != info.start_instance:
                    info = draw.begun.at(info, info.start, instances[number])
                if not self._repeated(plan, info, pieces[number], int(starts[number])):
                    break
                number += 1
        finally:
            if changed:
                self._recount()
        return number - first

    def _repeated(self, plan: Plan, info: DrawInfo, data: bytes | bytearray, start: int) -> bool:
        try:
            return plan.repeat(info, data, start)
        except BaseException:
            self._spoiled()
            raise

    def _performed(
        self, what: BufferWrite | TextureWrite | ClearCall, start: int, data: bytes
    ) -> bool:
        """Perform a write or a clear; returns false if the batch has to be flushed first."""
        if type(what) is BufferWrite:
            buffer = what.buffer
            assert isinstance(buffer, HostResource)
            if self._entries and not self._copies.may_write(buffer, self._entries):
                return False
            buffer.memory[start : start + len(data)] = data
            buffer.touch()
            return True
        if type(what) is TextureWrite:
            texture = what.texture
            assert isinstance(texture, HostResource)
            if not self._may_write_box(texture, what.level, what.box):
                return False
            write_texels(texture, what.level, what.box, data)
            return True
        assert type(what) is ClearCall
        if self._entries:
            return False
        values = ClearValues(what.color, what.depth, what.stencil)
        clear(what.framebuffer, what.flags, values, what.scissor)
        return True

    def _is_small(self, info: DrawInfo) -> bool:
        """Whether a draw is small (or may have a plan) and unobserved. Its snapshot is the current
        one.
        """
        if info is self._info:
            return True
        if (
            self._states.witness is not None
            or self._states.bound.stream_targets  # others each time: no snapshot would come again
            or not 0 < info.instance_count * info.count <= self._most
            or info.indirect is not None
            or info.count_from_stream_output is not None
        ):
            return False
        if self._snapshot is None:
            self._snapshot = self._memory.current()
        self._info = info
        return True

    def _can_be_pending(self, info: DrawInfo) -> bool:
        """Whether a small draw can be pending."""
        assert self._snapshot is not None
        return self._waits(self._snapshot, info) and self._snapshot.can_be_pending(info.mode)

    def _waits(self, snapshot: Snapshot, info: DrawInfo) -> bool:
        """Whether a draw is to become pending, if it can. A few vertices that have a plan wait with
        draws that are pending already, since those would have to be executed first; but not more
        draws than there are without a plan, and only if pixels can be ordered.
        """
        if not self._defers:
            return False
        vertices = info.count * info.instance_count
        if not self._is_planned(snapshot, info.mode):
            return vertices <= SMALL
        if vertices > FEW_VERTICES or 2 * self._joined >= len(self._entries):
            return False
        first, call, _ = self._entries[0]
        return first.can_order(call.mode)

    def _is_planned(self, snapshot: Snapshot, mode: Primitive) -> bool:
        """Whether draws follow plans instead of becoming pending."""
        return self._plans and snapshot.alive and snapshot.plan(mode) is not None

    # -- queries -------------------------------------------------------------------------------

    def begin_query(self, query: Query) -> None:
        """Begin counting samples of the draws from here on, without a flush."""
        self._change(query, True)
        self._recount()

    def end_query(self, query: Query) -> None:
        """Stop counting samples."""
        self._change(query, False)
        self._recount()

    def _change(self, query: Query, begins: bool, moment: Moment | None = None) -> Moment | None:
        """Begin or end a query after the pending draws. `moment` is the current position in the
        batch, if known; returns the position for the next query.
        """
        counts = query.counts_samples
        if counts and (begins or query.active):
            self._states.bound.count_samples(1 if begins else -1)
        if self._entries:
            moment = self._mark()
        elif moment is None or not counts:
            moment = self._states.counters.moment(counts)
        query.change(begins, moment)
        return moment if counts else None

    def _mark(self) -> Mark:
        """The position after all pending draws."""
        marks, draws = self._marks, len(self._entries)
        if marks and marks[-1].draws == draws:
            return marks[-1]
        mark = Mark(draws)
        marks.append(mark)
        return mark

    def _recount(self) -> None:
        """Update the number of queries that count samples for the next draws."""
        self.rebinding()
        self._states.forget()

    # -- buffers and textures ------------------------------------------------------------------

    def may_map(
        self, resource: HostResource, flags: MapFlags, place: tuple[int, Box] | None = None
    ) -> bool:
        """Whether the resource can be mapped without flushing the batch: a box of a level, or all
        of it.
        """
        if not self._entries:
            return True
        wanted = int(flags)
        if wanted & _PERSISTENT:
            return False
        if not wanted & _WRITE:
            return self._copies.may_read(resource)
        return self.may_write(resource) if place is None else self._may_write_box(resource, *place)

    def _may_write_box(self, texture: HostResource, level: int, box: Box) -> bool:
        """Whether a box of texels can be written without flushing the batch."""
        if not self._entries or self._states.recorder is not None:  # which samples only later
            return self.may_write(texture)
        return self._copies.may_write_box(texture, level, box, self._entries)

    def may_write(self, resource: HostResource) -> bool:
        """Whether the resource can be written without flushing the batch."""
        return not self._entries or self._copies.may_write(resource, self._entries)

    # -- execution -----------------------------------------------------------------------------

    def flush(self) -> None:
        """Execute the batch."""
        self.rebinding()  # the caller may change any binding afterwards
        entries = self._entries
        if not entries:
            return
        self._entries, self._joined, self._lanes = [], 0, 0
        draws = list(self._copies.applied(entries)) if self._copies else entries
        written = self._copies.clear()
        marks, self._marks = self._marks, []
        moments = Moments(self._states.counters, len(entries), marks) if marks else None
        try:
            if len(draws) == 1:
                self._execution.alone(draws[0])
            else:
                self._execution.run(draws)
        except BaseException:
            self._spoiled()
            raise
        finally:
            for texture in written:
                texture.seek_last()
            if moments is not None:
                moments.end()
            for info in map(_INFO, entries):
                if info.index_buffer is not None:
                    info.index_buffer.unref()
            for snapshot in {*map(_SNAPSHOT, entries)}:
                snapshot.release()
