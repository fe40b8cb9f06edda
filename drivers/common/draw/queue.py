"""The pending draws of a context: the batch that the executor runs at the next flush.

A small draw is not executed at once. It becomes pending, with a snapshot of what is bound
(`snapshot`) and its constants. Meanwhile buffers and textures may be written (`copy_on_write`), and
queries may begin and end. Whatever else makes an effect of a pending draw visible, such as reading
a render target, or could change one, such as another framebuffer, flushes the batch first.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from gallette.drivers.common.memory.clear import ClearValues, clear
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.queries import Mark, Moment, Moments, Query
from gallette.drivers.common.vertex.stream import restarts
from gallette.pipe.deferral import may_defer
from gallette.pipe.enums import MapFlags
from gallette.pipe.series import Series
from gallette.pipe.state import (
    BufferWrite,
    ClearCall,
    DrawInfo,
    FramebufferState,
    QueryChange,
)

from .copy_on_write import CopyOnWrite
from .execution import Execution
from .finding import DrawStates
from .known_snapshots import KnownSnapshots
from .merging import MergedDraws, PendingDraw
from .parts import LISTS
from .pipeline import draw
from .repeating import Between, Repeatable, write_now
from .resources import MERGED_STAGES
from .snapshot import Constants, Plan, Row, Snapshot

__all__ = ["MERGED_STAGES", "DrawQueue"]

SMALL = 4096
"""Draws of more vertices than this are executed at once."""

MOST = 4096
"""Draws of a batch."""

_ALONE = 3
"""After so many entries of a series it is worth to look for what can be made together."""

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
        "_lanes",
        "_made",
        "_marks",
        "_memory",
        "_regroup",
        "_snapshot",
        "_states",
        "_target",
        "_vertex",
    )

    def __init__(self, states: DrawStates, regroup: bool = True, counts: bool = False) -> None:
        """`regroup`: draws of several states may change places to be executed together; `counts`:
        what each of them counts is known then."""
        self._states = states
        self._regroup, self._counts, self._defers = regroup, counts, may_defer()
        self._vertex, self._fragment = (states.bound.stages[stage] for stage in MERGED_STAGES)
        self._memory = KnownSnapshots(states)
        self._snapshot: Snapshot | None = None  # what is bound now, if that is known
        self._info: DrawInfo | None = None  # the last call that could be pending with it
        self._made: DrawInfo | None = None  # the last call that was made at once, the quick way
        self._entries: list[PendingDraw] = []
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
        """What is bound as block 0 of the vertex and the fragment stage."""
        first, second = self._vertex.constants, self._fragment.constants
        return first[0] if first else None, second[0] if second else None

    def rebinding(self) -> None:
        """Something else than block 0 is about to be bound."""
        self._snapshot = self._info = self._made = None

    def forget(self) -> None:
        """A shader or the context is gone: forget all snapshots. (No draw is pending.)"""
        self.rebinding()
        self._memory.clear()
        self._execution.forget()

    def joins(self, info: DrawInfo) -> bool:
        """Whether a draw can be submitted without flushing the batch first."""
        if self.elsewhere(self._states.bound.framebuffer):
            return False
        if not self._entries:
            return True
        if len(self._entries) >= MOST or self._lanes >= MOST_LANES:
            return False
        return info is self._info or self._can_be_pending(info)

    def elsewhere(self, target: FramebufferState) -> bool:
        """Whether the pending draws, or the one made last, are for another framebuffer. The next
        draws are for this one."""
        if target is self._target:
            return False
        old, self._target = self._target, target
        return old != target

    def retargets(self, draw: Repeatable) -> bool:
        """Is a draw that comes again for another framebuffer? Then flush the queue first."""
        return draw.target is not self._target and self.elsewhere(draw.target)

    def submit(self, info: DrawInfo) -> None:
        """Draw now or later."""
        try:
            self._submit(info)
        except BaseException:
            self._spoiled()
            raise

    def _submit(self, info: DrawInfo) -> None:
        if info is self._info or self._can_be_pending(info):
            snapshot, row = self._snapshot, self._constants()
            assert snapshot is not None
            plan = None if self._entries else snapshot.made_plan(info.mode)
            if plan is not None and plan.draw(info, row):
                return
            self._add(snapshot, info, row)
            for block in row:
                if block is not None and block.buffer is not None:
                    self._copies.note_block(block.buffer)
        elif not self._at_once(info):
            draw(self._states, info)

    def _add(self, snapshot: Snapshot, info: DrawInfo, row: Constants) -> None:
        """Add a draw to the batch."""
        if not snapshot.held:
            self._hold(snapshot)
        if info.index_buffer is not None:
            info.index_buffer.ref()
            self._copies.note_indices(info.index_buffer)
        self._entries.append((snapshot, info, row))
        self._lanes += info.count * info.instance_count

    def _hold(self, snapshot: Snapshot) -> None:
        """A draw with this snapshot is about to be pending: its resources must stay."""
        snapshot.hold()
        self._copies.note(snapshot)

    def _spoiled(self) -> None:
        """Drawing ended half way: what was derived of attachments may be stale."""
        for framebuffer in (self._states.bound.framebuffer, self._target):
            for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
                if surface is not None:
                    assert isinstance(surface.resource, HostResource)
                    surface.resource.touch()

    def _at_once(self, info: DrawInfo) -> bool:
        """Draw now, the quick way; false if there is none."""
        if not self._plain(info):
            return False
        if self._snapshot is None:
            self._snapshot = self._memory.current()
        plan = self._snapshot.plan(info.mode)
        done = plan is not None and plan.draw(info, self._constants())
        self._made = info if done else None
        return done

    def _plain(self, info: DrawInfo) -> bool:
        """A small draw of which all is known that nobody looks at closely."""
        return (
            self._states.witness is None
            and self._states.recorder is None
            and not self._states.bound.stream_targets
            and 0 < info.count <= SMALL
            and 0 < info.instance_count <= SMALL
            and info.indirect is None
            and info.count_from_stream_output is None
        )

    def repeatable(self, info: DrawInfo) -> Repeatable | None:
        """A token to repeat the draw that was submitted last; None if it had no quick way."""
        snapshot, waits = self._snapshot, info is self._info
        if snapshot is None or not (waits or info is self._made):
            return None
        bound = self._states.bound
        lanes = info.count * info.instance_count
        return Repeatable(snapshot, info, bound.framebuffer, bound.epoch, waits, lanes)

    def repeat(self, draw: Repeatable, data: bytes | bytearray, start: int) -> bool:
        """Draw once more, now or later: other vertices with other constants, and all else as it
        was."""
        snapshot, entries = draw.snapshot, self._entries
        if draw.epoch != self._states.bound.epoch:
            return False
        if not entries:
            plan = draw.made_plan()
            if plan is not None and snapshot.alive and self._repeated(plan, draw.info, data, start):
                return True
        if not draw.waits or len(entries) >= MOST or self._lanes >= MOST_LANES:
            return False
        if not (snapshot.held or snapshot.alive):
            return False
        self._add(snapshot, draw.call(start), bytes(data))
        return True

    def _repeated(self, plan: Plan, info: DrawInfo, data: bytes | bytearray, start: int) -> bool:
        try:
            return plan.repeat(info, data, start)
        except BaseException:
            self._spoiled()
            raise

    def repeat_more(self, series: Series, first: int) -> int:
        """Repeat draws from `first` on that are made as the one before them was just now: how many
        there are, until there is something else to look at."""
        like = series.entries[first - 1]
        assert isinstance(like, Repeatable)
        if not self._entries:
            return self._more_at_once(like, series, first)
        return self._more_that_wait(like, series, first) if like.waits else 0

    def _more_that_wait(self, like: Repeatable, series: Series, first: int) -> int:
        """Repeat draws that become pending.

        Nobody looks at what is bound in between, so how many queries count samples is told before
        draws, and that it is another number in the end: where one query ends and the next begins,
        nothing has changed.
        """
        draws, data, starts = series.entries, series.data, series.firsts
        entries, bound = self._entries, self._states.bound
        good: set[Repeatable] = set()  # the draws that are known to wait
        number, last = first, len(draws)
        more, changed = 0, False
        mark: Mark | None = None  # the moment between what waits and what comes
        try:
            while number < last:
                draw = draws[number]
                if type(draw) is QueryChange:
                    if not changed:
                        if not self._counts:
                            break
                        changed = True
                    query, begins = draw.query, draw.begins
                    if query.counts_samples and (begins or query.active):
                        more += 1 if begins else -1
                    if mark is None:
                        mark = self._mark()
                    query.change(begins, mark)
                    number += 1
                    continue
                if more:
                    bound.count_samples(more)
                    more = 0
                if type(draw) is not Repeatable:
                    if not self._happens(draw, starts[number], data[number]):
                        break
                    number += 1
                    continue
                if draw.epoch != bound.epoch or self._lanes >= MOST_LANES or len(entries) >= MOST:
                    break
                if draw not in good:
                    snapshot = draw.snapshot
                    if not draw.waits or draw.target is not like.target:
                        break
                    if not snapshot.held:
                        if not snapshot.alive:
                            break
                        self._hold(snapshot)
                    good.add(draw)
                info, start = draw.info, starts[number]
                if start != info.start:
                    info = draw.call(start)
                if info.index_buffer is not None:
                    info.index_buffer.ref()
                    self._copies.note_indices(info.index_buffer)
                entries.append((draw.snapshot, info, data[number]))
                self._lanes += draw.lanes
                mark = None
                number += 1
        finally:
            if more:
                bound.count_samples(more)
            if changed:
                self._recount()
        return number - first

    def _more_at_once(self, like: Repeatable, series: Series, first: int) -> int:
        """The same where none wait: those that have a plan."""
        plan, bound, target = like.made_plan(), self._states.bound, like.target
        if plan is None:
            return 0

        def planned(draw: Repeatable) -> Plan | None:
            return draw.made_plan() if draw.target is target and draw.snapshot.alive else None

        runs, known, number = plan.runs(series, planned), like, first
        begin = end = first + _ALONE  # of the next run: what comes before is made one by one
        draws, pieces, starts = series.entries, series.pieces, series.firsts
        moment: Moment | None = None  # this one, as long as nothing is drawn
        changed = False
        try:
            while number < len(draws):
                if number >= end:
                    begin, end = runs.next(number, bound.epoch)
                if begin <= number < end:
                    made, more = runs.make(number, end)
                    if more is not None:
                        bound.count_samples(more)
                        changed = True
                    number += made
                    begin = end = number + 1
                    moment = None
                    continue
                draw = draws[number]
                if type(draw) is QueryChange:
                    moment, changed = self._change(draw.query, draw.begins, moment), True
                    number += 1
                    continue
                moment = None
                if draw is known:
                    if draw.epoch != bound.epoch:
                        break
                elif type(draw) is BufferWrite:
                    write_now(draw, starts[number], pieces[number])
                    number += 1
                    continue
                elif not isinstance(draw, Repeatable):
                    if not self._happens(draw, starts[number], pieces[number]):
                        break
                    number += 1
                    continue
                else:
                    plan, known = planned(draw), draw
                    if plan is None or draw.epoch != bound.epoch:
                        break
                if not self._repeated(plan, draw.info, pieces[number], starts[number]):
                    break
                number += 1
        finally:
            if changed:
                self._recount()
        return number - first

    def _happens(self, what: Between, start: int, data: bytes) -> bool:
        """Do what comes between draws, if that does not take a flush."""
        if type(what) is ClearCall:
            values = ClearValues(what.color, what.depth, what.stencil)
            if self._entries:
                return False
            clear(what.framebuffer, what.flags, values, what.scissor)
            return True
        assert type(what) is BufferWrite
        buffer = what.buffer
        assert isinstance(buffer, HostResource)
        if self._entries and not self._copies.may_write(buffer, self._entries):
            return False
        write_now(what, start, data)
        return True

    def _can_be_pending(self, info: DrawInfo) -> bool:
        """A small, plain draw whose programs can run for many draws at once."""
        if (
            not self._defers
            or self._states.witness is not None
            or self._states.bound.stream_targets  # others each time: nothing can be remembered
            or info.count * info.instance_count > SMALL
            or info.indirect is not None
            or info.count_from_stream_output is not None
        ):
            return False
        snapshot = self._snapshot
        if snapshot is None:
            snapshot = self._snapshot = self._memory.current()
        if not snapshot.can_be_pending(info.mode):
            return False
        if info.instance_count != 1 and not (
            info.instance_count > 0
            and info.count >= LISTS.get(info.mode, 1)
            and snapshot.repeats_instances(info.mode)
            and not restarts(info)
        ):
            return False
        self._info = info
        return True

    # -- queries -------------------------------------------------------------------------------

    def begin_query(self, query: Query) -> None:
        """Count from here on, between pending draws."""
        self._change(query, True)
        self._recount()

    def end_query(self, query: Query) -> None:
        """Count no more."""
        self._change(query, False)
        self._recount()

    def _change(self, query: Query, begins: bool, moment: Moment | None = None) -> Moment | None:
        """A query begins or ends after the pending draws. `moment` is
        this one, if that is known; answers the same for the next query.
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
        """The moment after all pending draws."""
        marks, draws = self._marks, len(self._entries)
        if marks and marks[-1].draws == draws:
            return marks[-1]
        mark = Mark(draws)
        marks.append(mark)
        return mark

    def _recount(self) -> None:
        """How many queries count samples is another number for draws that come now."""
        self.rebinding()
        self._states.forget()

    # -- buffers and textures ------------------------------------------------------------------

    def may_map(self, resource: HostResource, flags: MapFlags) -> bool:
        """Whether the resource can be mapped without flushing the batch."""
        if not self._entries:
            return True
        wanted = int(flags)
        if wanted & _PERSISTENT:
            return False
        if wanted & _WRITE:
            return self._copies.may_write(resource, self._entries)
        return self._copies.may_read(resource)

    def may_write(self, resource: HostResource) -> bool:
        """Whether the resource can be written without flushing the batch."""
        return not self._entries or self._copies.may_write(resource, self._entries)

    # -- execution -----------------------------------------------------------------------------

    def flush(self) -> None:
        """Execute the batch."""
        self.rebinding()  # whoever has work done may change anything
        entries = self._entries
        if not entries:
            return
        self._entries, self._lanes = [], 0
        draws = list(self._copies.applied(entries)) if self._copies else entries
        self._copies.clear()
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
            if moments is not None:
                moments.end()
            for info in map(_INFO, entries):
                if info.index_buffer is not None:
                    info.index_buffer.unref()
            for snapshot in {*map(_SNAPSHOT, entries)}:
                snapshot.flushes += 1
                snapshot.release()
            self._memory.tidy()
