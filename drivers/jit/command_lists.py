"""Command lists: parts of a series that one call into machine code executes.

A plan (`draw_plan`) holds the block of words that a draw in one state is called with. Here each
draw of a series becomes a command that names its block, its constants and its first vertex. Writes
to buffers between draws become commands, too, and so do the ends of queries, which store how many
samples have passed so far. `run` of `shader.command_list_code` executes the commands in order, so
that Python handles hundreds of draws at once.

Python reads indices and converts textures before the list is executed, so a list ends before a draw
for which a command of the list writes these.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.bound import COUNTING
from gallette.drivers.common.draw.snapshot import PreparedDraw
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.queries import Samples
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.draw_series import Series
from gallette.pipe.state import BufferWrite, DrawInfo, FramebufferState, QueryChange

from .llvm.engine import Function, compile_module, loads
from .plan_memory import CONSTANTS, PlanMemory, Stream
from .shader.command_list_code import COSTLY, command_list_text
from .shader.layout import CommandWords, ListWords, TallyWords

if TYPE_CHECKING:
    from .draw_plan import DrawPlan

_FEW_KEPT = 16
_MOST_KEPT = 256
"""Series whose calls are kept."""

_MOST_HELD = 4096
"""Draws of all of these: each holds a snapshot and a plan."""

_MOST_LISTS = 64
"""Command lists of a window that are kept."""

_LEAST = 3
"""Fewer entries than that are not worth a run."""

_WINDOW = 1024
"""So many entries are examined together: not thousands again after each list."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_FOREVER = (1 << 31) - 1


@functools.lru_cache(maxsize=2)
def _runs(cache: Any) -> Function:
    return compile_module(command_list_text(), ("run",), cache).function("run", ctypes.c_void_p)


def _numbers(kinds: Ints) -> list[int]:
    """The distinct kinds of some entries, ascending."""
    found: list[int] = np.bincount(kinds).nonzero()[0].tolist()
    return found


class Calls:
    """The commands of the draws of a series. Programs repeat the same ones in each frame, so they
    are kept for as long as nothing changes that they follow from.
    """

    def __init__(
        self,
        tokens: list[PreparedDraw],
        plans: list[DrawPlan | None],
        memory: PlanMemory,
        fixed: bool,
    ) -> None:
        """`fixed`: they say what their first instance is."""
        self._tokens, self.loads = tokens, loads()
        self._plans = [plan for plan in plans if plan is not None]
        self._whole, self._moves = None not in plans, self._all_moves()
        self._memory, self._moved = memory, memory.moved
        self._resources = {id(each): each for token in tokens for each in token.snapshot.named}
        count = len(tokens)
        self.commands = np.zeros((count, CommandWords.SIZE), np.int64)
        # Bytes there may be, -1 if it is no command, the number of vertices and instances; and
        # of several instances the first, since these need rows.
        limits = np.full((3, count), ((-1,), (_FOREVER,), (_FOREVER,)))
        only = np.full(count, -1)
        self.bounds = limits, only
        self.epochs = np.array([token.epoch for token in tokens])
        self.calls: dict[int, tuple[DrawPlan, DrawInfo, Stream]] = {}
        self.cost = 0
        self._followed: dict[int, tuple[HostResource, int]] = {}
        changing = {id(resource) for plan in self._plans for resource in plan.touched}
        owners: dict[DrawPlan, tuple[bool, DrawInfo]] = {}
        looked_at: dict[int, Any] = {}
        for place, (plan, token) in enumerate(zip(plans, tokens, strict=True)):
            if plan is None or plan.memory is not memory:
                continue
            info = token.info
            rows = info.instance_count > 1
            strict, owner = owners.setdefault(plan, (rows, info))
            if (strict or rows) and owner is not info:
                continue  # which rows are read is no part of a command
            read = {id(resource): resource for resource in plan.looked_at(info)}
            if not changing.isdisjoint(read):
                continue
            found = plan.command(info)
            if found is None:
                continue
            stream, self.commands[place] = found
            self.calls[place] = plan, info, stream
            inside = rows or not fixed or info.start_instance < plan.least_instances
            limits[0, place] = CONSTANTS if inside else -1
            if rows:
                only[place] = info.start_instance
            else:
                limits[2, place] = plan.least_instances
            if not info.index_size:
                limits[1, place] = plan.least
            self.cost = max(self.cost, stream.cost)
            looked_at |= read
            indices: Any = info.index_buffer
            if indices is not None:
                self._followed[id(indices)] = indices, indices.writes
        self.looked_at = looked_at.keys()
        self.part: Part | None = None  # the last one that consists of these draws

    def __len__(self) -> int:
        return len(self._tokens)

    def among(
        self, numbers: list[int], count: int
    ) -> tuple[Ints, dict[int, tuple[DrawPlan, DrawInfo, Stream]], Ints, Ints]:
        """Commands, calls and bounds of so many kinds, of which the draws have these numbers."""
        commands = np.zeros((count, CommandWords.SIZE), np.int64)
        limits = np.full((3, count), ((-1,), (_FOREVER,), (_FOREVER,)))
        only = np.full(count, -1)
        commands[numbers] = self.commands
        limits[:, numbers], only[numbers] = self.bounds
        return commands, {numbers[at]: call for at, call in self.calls.items()}, limits, only

    @property
    def alive(self) -> bool:
        """Whether all resources of the draws and of the writes between them still exist."""
        between = self.part is None or self.part.alive
        return between and all(resource.refcount for resource in self._resources.values())

    def _all_moves(self) -> int:
        return sum([plan.moves for plan in self._plans])

    def serves(self, planned: Callable[[Any], DrawPlan | None]) -> bool:
        """Whether the draws have the same plans and indices still. They draw to one framebuffer,
        so that one of them tells whether it is bound.
        """
        if not self._whole or planned(self._tokens[0]) is None:
            return False
        if self._moved != self._memory.moved:
            self._moved = self._memory.moved
            if self._moves != self._all_moves():
                return False
        return self.alive and all(
            resource.writes == writes and not resource.live
            for resource, writes in self._followed.values()
        )


class Part:
    """Some entries of a series as commands, and which of them can be executed in sequence."""

    def __init__(
        self, series: Series, some: slice, others: dict[int, Any], known: Calls, draws: list[int],
        epoch: int,
    ) -> None:  # fmt: skip
        """`draws`: the numbers of the kinds that are draws, with these `known` calls; `others`: the
        other kinds.
        """
        self._given = which, sizes, starts, instances = _given(series, some)
        self._bytes = _bytes(*self._given)
        self._others, self._draws, self._epoch = others, draws, epoch
        self._lists: dict[tuple[int, int], CommandList] = {}
        count = len(series.kinds)
        self.written: dict[int, HostResource] = {}
        self.changes: dict[int, QueryChange] = {}
        self.steps = np.zeros(count, np.int64)  # how many more queries count samples afterwards
        self.commands, self.draws, limits, only = known.among(draws, count)
        self._addresses: list[tuple[HostResource, int]] = []
        self._add_writes(others, limits[0])
        self._add_changes(others, limits[0])
        self._leave_out(known, limits[0])
        rooms, vertices, counts = limits[:, which]
        drawn = self.commands[which, CommandWords.CALL] != 0
        good = (np.where(drawn, sizes, starts + sizes) <= rooms) & (starts < vertices)
        self.size = int(sizes[drawn.argmax()])
        good &= ~drawn | (sizes == self.size)
        if instances is not None:
            wanted = only[which]
            good &= ~drawn | (instances == wanted) | ((wanted < 0) & (instances < counts))
        good &= self._follow(which, known.epochs)
        bounded = np.zeros(len(good) + 2, np.bool_)
        bounded[1:-1] = good
        edges = (bounded[1:] != bounded[:-1]).nonzero()[0]
        self.runs: list[tuple[int, int]] = list(map(tuple, edges.reshape(-1, 2).tolist()))

    def serves(
        self, series: Series, some: slice, others: dict[int, Any], draws: list[int], epoch: int
    ) -> bool:
        """Whether these entries are the same, apart from their data."""
        return (
            epoch == self._epoch
            and draws == self._draws
            and others == self._others
            and _bytes(*_given(series, some)) == self._bytes
            and all(_address_of(buffer) == address for buffer, address in self._addresses)
        )

    def list_of(self, begin: int, end: int, memory: PlanMemory) -> CommandList:
        """The command list of some of the entries."""
        found = self._lists.get((begin, end))
        if found is None:
            if len(self._lists) >= _MOST_LISTS:
                self._lists.clear()
            which, sizes, starts, instances = self._given
            some = slice(begin, end)
            found = self._lists[begin, end] = CommandList(
                self, memory, which[some], sizes[some], starts[some],
                None if instances is None else instances[some],
            )  # fmt: skip
        return found

    @property
    def alive(self) -> bool:
        """Whether the buffers that it writes to still exist."""
        return all(buffer.refcount for buffer in self.written.values())

    def _follow(self, which: Ints, wanted: Ints) -> Bools:
        """Which entries can be executed in sequence: draws must belong to the bound state's
        epoch.
        """
        expected = np.full(len(self.steps), -1)
        expected[self._draws] = wanted
        changes = self.steps[which]
        epochs = self._epoch + COUNTING * (changes.cumsum() - changes)
        good: Bools = (expected[which] < 0) | (expected[which] == epochs)
        return good

    def _add_writes(self, kinds: dict[int, Any], rooms: Ints) -> None:
        """Add commands for writes, as copies to the address of a buffer."""
        for number, kind in kinds.items():
            if type(kind) is BufferWrite:
                buffer: Any = kind.buffer
                address = self.commands[number, CommandWords.BLOCK] = _address_of(buffer)
                self._addresses.append((buffer, address))
                rooms[number] = buffer.desc.width
                self.written[number] = buffer

    def _add_changes(self, kinds: dict[int, Any], rooms: Ints) -> None:
        """Add the commands of queries that count samples; `make` provides the address for the
        count.
        """
        for number, kind in kinds.items():
            if type(kind) is QueryChange and kind.query.counts_samples:
                rooms[number] = _FOREVER
                self.changes[number] = kind
                self.steps[number] = 1 if kind.begins else -1

    def _leave_out(self, known: Calls, rooms: Ints) -> None:
        """Leave out draws that read in advance what a command writes."""
        changing = {id(buffer) for buffer in self.written.values()}
        if known.looked_at.isdisjoint(changing):
            return
        for number, (plan, info, _) in list(self.draws.items()):
            if any(id(resource) in changing for resource in plan.looked_at(info)):
                self.commands[number], rooms[number] = 0, -1
                del self.draws[number]


def _given(series: Series, some: slice) -> tuple[Ints, Ints, Ints, Ints | None]:
    instances = None if series.instances is None else series.instances[some]
    return series.which[some], series.pieces.sizes[some], series.starts[some], instances


def _bytes(*columns: Ints | None) -> list[bytes | None]:
    """Columns to be compared, which is faster than comparing arrays."""
    return [None if each is None else each.tobytes() for each in columns]


class CommandList:
    """Successive commands, without the addresses of their data."""

    def __init__(
        self,
        part: Part,
        memory: PlanMemory,
        which: Ints,
        sizes: Ints,
        starts: Ints,
        instances: Ints | None,
    ) -> None:
        """`which`, ...: as in a `Series`."""
        commands = self.commands = part.commands[which]
        commands[:, CommandWords.BYTES] = sizes
        drawn = commands[:, CommandWords.CALL] != 0
        self.first_draw = int(drawn.argmax())
        firsts = commands[:, CommandWords.START]
        np.copyto(firsts, starts, where=firsts < 0)
        if instances is not None:
            commands[:, CommandWords.INSTANCE] = instances
        commands[:, CommandWords.BLOCK] += np.where(drawn, 0, starts)
        self.steps = part.steps[which]
        self.changes = self.steps.nonzero()[0]
        self.queries = [part.changes[number] for number in which[self.changes].tolist()]
        # The number of samples that have passed is written there at each change.
        self.passed = np.zeros(len(self.queries), np.int64)
        passed_at, size = self.passed.ctypes.data, self.passed.itemsize
        commands[self.changes, CommandWords.BLOCK] = passed_at + size * np.arange(self.passed.size)
        commands[self.changes, CommandWords.BYTES] = size
        self.tally_at = memory.tally[TallyWords.PASSED :].ctypes.data
        numbers = _numbers(which)
        draws = [part.draws[number] for number in numbers if number in part.draws]
        self.plans = {plan: (info, stream) for plan, info, stream in draws}
        touched = {id(plan.touched): plan.touched for plan in self.plans}
        self._touched = [resource for some in touched.values() for resource in some]
        self._written = [part.written[number] for number in numbers if number in part.written]
        self._size = part.size
        self._begun: Any = None
        self._converting: list[DrawPlan] = []  # plans that read converted data
        self._quick: list[DrawPlan] = []

    def begin(self, memory: PlanMemory) -> None:
        """Prepare the plans, unless they are prepared for this list still."""
        known = self._begun == (memory.ended, memory.room, loads())
        for plan in self._converting if known else self.plans:
            plan.begin(*self.plans[plan], self._size)
        if not known:
            self._converting = [plan for plan in self.plans if not plan.reads_in_place]
            self._quick = [plan for plan in self.plans if plan.is_quick]
        self._begun = memory.ended, memory.room, loads()

    def executed(self, seconds: float) -> None:
        """Charge the plans for this time, and record that resources have changed."""
        for resource in self._touched:
            resource.writes += 1
        for plan in self._quick:
            plan.charge(seconds / len(self.plans))
        for buffer in self._written:
            buffer.touch()


def _address_of(buffer: HostResource) -> int:
    return int(buffer.storage[0][0, 0].ctypes.data)


class CommandLists:
    """The runs of a series, found on request."""

    def __init__(
        self,
        like: DrawPlan,
        series: Series,
        target: FramebufferState,
        planned: Callable[[Any], Any],
    ) -> None:
        """Draws to the `target`; `planned`: the plan of a draw, if it has one and draws there."""
        self._like, self._memory, self._target = like, like.memory, target
        self._series, self._planned = series, planned
        self._end = 0  # of the entries that were looked at
        self._found: list[list[int]] = []  # runs that come next, the first last

    def next(self, number: int, epoch: int) -> tuple[int, int]:
        """The bounds of the next run of commands at or after this entry."""
        if number >= self._end:
            self._look(number, epoch)
        found = self._found
        while found:
            begin, end = found[-1]
            if end - max(begin, number) >= _LEAST:
                return max(begin, number), end
            found.pop()
        return self._end, self._end

    # -- looking -----------------------------------------------------------------------------------

    def _look(self, first: int, epoch: int) -> None:
        """Classify the next entries: those that can be commands form a run, others end it."""
        series = self._series
        self._end, self._found = first + _WINDOW, []
        some = slice(first, self._end)
        elsewhere = self._elsewhere[series.which[some]]
        count = int(elsewhere.argmax()) if elsewhere.any() else len(elsewhere)
        self._end, some = first + count, slice(first, first + count)
        kinds = {number: series.kinds[number] for number in _numbers(series.which[some])}
        draws = [number for number, kind in kinds.items() if type(kind) is PreparedDraw]
        known = self._known(kinds, draws, 2 * len(draws) <= self._end - first)
        if known is None:
            return
        others = kinds if len(draws) < len(kinds) else {}
        for number in draws if others else ():
            del others[number]
        part = known.part
        if part is None or not part.serves(series, some, others, draws, epoch):
            part = known.part = Part(series, some, others, known, draws, epoch)
        self._part, self._first = part, first
        self._most = (self._like.work.limit - known.cost) // FRAGMENT
        self._found = [[first + begin, first + end] for begin, end in part.runs[::-1]]

    @functools.cached_property
    def _elsewhere(self) -> Bools:
        """Which kinds are draws to other framebuffers: other lists begin there."""
        kinds, memory = self._series.kinds, self._memory
        if memory.targets is None or memory.targets[0] is not kinds:
            each = [id(kind.target) if type(kind) is PreparedDraw else 0 for kind in kinds]
            memory.targets = kinds, np.array(each)
        targets = memory.targets[1]
        found: Bools = (targets != id(self._target)) & (targets != 0)
        return found

    def _known(self, kinds: dict[int, Any], draws: list[int], few: bool) -> Calls | None:
        """The calls of the draws. If these are not `few`, it takes as long to prepare them as to
        make each alone, so that is done when they come again, unless it has to be done each time.
        """
        if not draws:
            return None
        tokens = [kinds[number] for number in draws]
        fixed = self._series.instances is None
        kept, key = self._memory.calls, (fixed, *map(id, tokens))
        found: Calls | bool | None = kept.get(key)
        if not few and (found is None or found is False):
            kept[key] = found is None  # true: they came once
            return None
        if isinstance(found, Calls):
            serves = found.serves(self._planned)
            if serves and found.loads == loads():
                return found
            if not (few or serves):
                kept[key] = False
                return None
        self._tidy(kept)
        plans = list(map(self._planned, tokens))
        found = kept[key] = Calls(tokens, plans, self._memory, fixed)
        return found

    def _tidy(self, kept: dict[Any, Any]) -> None:
        """Forget calls of deleted resources, whose memory they hold, whenever there are twice as
        many as were left last time; and all, if there are too many.
        """
        if len(kept) >= self._memory.crowded:
            for key in [k for k, each in kept.items() if not getattr(each, "alive", False)]:
                del kept[key]
            self._memory.crowded = max(_FEW_KEPT, 2 * len(kept))
        held = sum([len(each) for each in kept.values() if isinstance(each, Calls)])
        if len(kept) >= _MOST_KEPT or held > _MOST_HELD:
            kept.clear()

    # -- making ------------------------------------------------------------------------------------

    def make(self, begin: int, end: int) -> tuple[int, int | None]:
        """Execute these entries, or the first ones of them."""
        memory, pieces, part = self._memory, self._series.pieces, self._part
        made = part.list_of(begin - self._first, end - self._first, memory)
        made.begin(memory)
        made.commands[:, CommandWords.SOURCE] = pieces.addresses(begin, end)
        if made.plans:  # what follows their constants is zero
            memory.put(0, pieces.only(begin + made.first_draw))
        if made.queries:
            made.commands[made.changes, CommandWords.SOURCE] = made.tally_at
        before = self._like.counters.moment(True).samples_passed - memory.samples_passed
        seconds, done, state = self._run(made.commands)
        made.executed(seconds)
        more = None
        if made.queries:
            count = int(made.changes.searchsorted(done))
            passed = (made.passed[:count] + before).tolist()
            for change, samples in zip(made.queries, passed, strict=False):
                change.query.change(change.begins, Samples(samples))
            more = int(made.steps[:done].sum())
        if state:
            plan, _, stream = part.draws[int(self._series.which[begin + done])]
            done += plan.ended(0 if state == COSTLY else state, stream)
        return done, more

    def _run(self, commands: Ints) -> tuple[float, int, int]:
        """Execute commands; returns the time taken, the entry where it ended, and its state."""
        words = np.zeros(ListWords.SIZE, np.int64)
        words[ListWords.COMMANDS], words[ListWords.COUNT] = commands.ctypes.data, len(commands)
        words[ListWords.CONSTANTS] = self._memory.constants_at[0]
        words[ListWords.COUNTERS] = self._memory.counters.ctypes.data
        words[ListWords.MOST] = self._most
        self._like.work.begin(merged=True)
        run, begun = _runs(self._like.cache), time.perf_counter()
        run(words.ctypes.data)
        seconds = time.perf_counter() - begun
        return seconds, int(words[ListWords.DONE]), int(words[ListWords.STATE])
