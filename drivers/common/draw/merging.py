"""Merges pending draws: those with an equal merge key become instances of one draw.

Draws with one snapshot differ in constant block 0 alone; those are *alike*. Merged draws may also
differ in vertex buffers, other constant blocks, scissors, viewports, in the vertices that a call
names, and in the textures that fragments read. The vertex shader still runs once for all of them:
every draw's vertices are fetched from its own buffers and rasterized inside its own scissor, and
fragments are shaded with the textures of their draw.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import MERGED_STAGES, ConstantBuffer
from gallette.drivers.common.output.fragment_state import FragmentShader, SeveralPrograms
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.vertex.fetch import Gathered
from gallette.drivers.common.vertex.masks import begins_of
from gallette.drivers.common.vertex.stream import restarts
from gallette.drivers.common.vertex.vertices import OwnViewports
from gallette.pipe.state import DrawInfo

from .programs import ConstantTables
from .snapshot import Constants, Snapshot, row_of
from .splitting import CALL_VALUES, LISTS, lanes_at_once
from .state import DrawState

PendingDraw = tuple[Snapshot, DrawInfo, Constants]
"""A pending draw: its snapshot, its call, its constants."""

Table = npt.NDArray[np.uint8]
Which = npt.NDArray[np.uint16]

_WORTH_JOINING = 4  # calls

_SNAPSHOT, _INFO, _ROW = (operator.itemgetter(place) for place in range(3))


Thing = TypeVar("Thing")


class _Distinct(Generic[Thing]):
    """The distinct objects among one property of draws, by identity, and the number of each draw's
    object.
    """

    __slots__ = ("first", "which")

    def __init__(self, things: list[Thing]) -> None:
        ids = list(map(id, things))
        found = dict(zip(ids, things, strict=True))
        self.first = list(found.values())
        if len(found) == 1:
            self.which = np.zeros(len(ids), np.uint16)
            return
        numbers = dict(zip(found, range(len(found)), strict=True))
        self.which = np.fromiter(map(numbers.__getitem__, ids), np.uint16, len(ids))

    def kinds(self, key: Callable[[Thing], Any]) -> tuple[list[Thing], Which]:
        """The first object of each kind, by `key`, and for each draw the kind of its object."""
        kinds: dict[Any, int] = {}
        first: list[Thing] = []
        of_each: list[int] = []
        for each in self.first:
            kind = kinds.setdefault(key(each), len(kinds))
            of_each.append(kind)
            if kind == len(first):
                first.append(each)
        return first, np.array(of_each, np.uint16).take(self.which)


@lazy_dataclass(frozen=True)
class _Differ:
    """The distinct snapshots and calls of draws."""

    snapshots: _Distinct[Snapshot]
    infos: _Distinct[DrawInfo]

    @classmethod
    def of(cls, entries: Sequence[PendingDraw]) -> _Differ:
        return cls(_Distinct(list(map(_SNAPSHOT, entries))), _Distinct(list(map(_INFO, entries))))


@lazy_dataclass()
class MergedDraws:
    """Draws that are executed as one, with their numbers in the batch, in order."""

    numbers: list[int]
    entries: Sequence[PendingDraw]
    end_to_end: bool = False  # calls that name vertices in other ways
    _differ: _Differ | None = field(default=None, repr=False)
    _constants: dict[Stage, ConstantTables] | None = field(init=False, default=None)

    @classmethod
    def of(cls, entries: Sequence[PendingDraw]) -> MergedDraws:
        """All draws of a list, to be executed as one."""
        return cls(list(range(len(entries))), entries)

    @property
    def _snapshots(self) -> _Distinct[Snapshot]:
        return self._differences.snapshots

    @property
    def _infos(self) -> _Distinct[DrawInfo]:
        return self._differences.infos

    @property
    def _differences(self) -> _Differ:
        if self._differ is None:
            self._differ = _Differ.of(self.entries)
        return self._differ

    @property
    def lanes(self) -> int:
        counts = np.bincount(self._infos.which).tolist()
        calls = zip(self._infos.first, counts, strict=True)
        return sum(info.count * info.instance_count * times for info, times in calls)

    @property
    def calls(self) -> list[DrawInfo] | None:
        """The calls of all its draws, where their vertices are concatenated."""
        return list(map(_INFO, self.entries)) if self.end_to_end else None

    @property
    def alike(self) -> bool:
        """Whether its draws differ only in constants."""
        return len(self._snapshots.first) == 1 and not self.end_to_end

    @property
    def limit(self) -> int:
        """The maximum number of lanes shaded at a time."""
        snapshot, info, _ = self.entries[0]
        selection = snapshot.selection(info.mode)
        assert selection is not None
        return lanes_at_once(next(iter(selection.stages.values())).facts)

    @property
    def constants(self) -> dict[Stage, ConstantTables]:
        """The constants that shaders read in each of its draws."""
        if self._constants is None:
            self._constants = _tables(self.entries, self._snapshots)
        return self._constants

    @property
    def firsts(self) -> npt.NDArray[np.int64] | None:
        """The first vertex of each draw; None if all are equal."""
        starts = [info.start for info in self._infos.first]
        if starts.count(starts[0]) == len(starts):
            return None
        return np.array(starts, np.int64).take(self._infos.which)

    def first_state(self) -> DrawState | None:
        """The state of its first draw, by itself and without copies."""
        snapshot, info, _ = self.entries[0]
        return snapshot.like.states.of(info.mode)

    def state_differing_in_constants(self) -> DrawState | None:
        """The state of all its draws as instances of one, if they differ only in constants."""
        snapshot, info, _ = self.entries[0]
        draw = snapshot.states.merged(info.mode, self.constants)
        firsts = self.firsts
        return draw if draw is None or firsts is None else replace(draw, firsts=firsts)

    def state(self) -> DrawState | None:
        """The state of all its draws as one, including everything that differs besides
        constants.
        """
        draw = self.state_differing_in_constants()
        if draw is None:
            return None
        snapshots, constants = self._snapshots, self.constants
        snapshot = snapshots.first[0]
        alike = all(each.like is snapshot.like for each in snapshots.first)
        first, which = snapshots.kinds(lambda each: each.buffers)
        if len(first) > 1:
            draw = replace(draw, gathered=Gathered(first, which, alike))
        first, which = snapshots.kinds(lambda each: each.reads)
        if (len(first) > 1 or first[0].versions) and draw.fragment.program is not None:
            draw = replace(draw, fragment=self._fragments(first, which, constants[Stage.FRAGMENT]))
        if alike:
            return draw
        first, which = snapshots.kinds(lambda each: each.scissors)
        if len(first) > 1 and draw.fixed.raster.state.scissor:
            draw = _with_scissors(draw, first, which)
        first, which = snapshots.kinds(lambda each: each.viewports)
        if len(first) > 1:
            states = [each.like.states.bound.viewports[0] for each in first]
            scale = np.array([state.scale for state in states], np.float32).T
            translate = np.array([state.translate for state in states], np.float32).T
            draw = replace(
                draw, viewports=OwnViewports(scale, translate).take(which.astype(np.int64))
            )
        return draw

    def _fragments(
        self, first: list[Snapshot], which: Which, tables: ConstantTables
    ) -> FragmentShader:
        """The fragment program of each of these snapshots, and which of them each draw runs."""
        mode = self.entries[0][1].mode
        states = {id(each.states): each.states for each in first}
        found = {key: each.merged_fragment(mode, tables) for key, each in states.items()}
        programs = [found[id(each.states)].program for each in first]
        quads = any(each.quads for each in found.values())
        begins = [each.seek for each in first]
        return FragmentShader(programs[0], quads, SeveralPrograms(programs, which, begins))


def _with_scissors(draw: DrawState, first: Sequence[Snapshot], which: Which) -> DrawState:
    """The state with a scissor for each draw, and the rectangle around all of them for setup."""
    bounds = [each.like.states.bound for each in first]
    rects = [Rect.of(bound.framebuffer, bound.scissors[0]) for bound in bounds]
    sides = np.array([(r.x0, r.y0, r.x1, r.y1) for r in rects], np.int64)
    low, high = sides[:, :2].min(axis=0).tolist(), sides[:, 2:].max(axis=0).tolist()
    raster = replace(draw.fixed.raster, target=Rect(*low, *high))
    fixed = replace(draw.fixed, raster=raster)
    return replace(draw, fixed=fixed, scissors=sides.take(which, axis=0).T)


def never_merged(entries: Sequence[PendingDraw]) -> set[int]:
    """The identities of calls of several instances that cannot be concatenated."""
    calls = {id(info): info for _, info, _ in entries}
    if all(info.instance_count == 1 for info in calls.values()):
        return set()
    pairs = {(id(snapshot), id(info)): (snapshot, info) for snapshot, info, _ in entries}
    several = (pair for pair in pairs.values() if pair[1].instance_count > 1)
    return {id(info) for snapshot, info in several if not _instances_follow(snapshot, info)}


def _instances_follow(snapshot: Snapshot, info: DrawInfo) -> bool:
    """Whether the primitives of instances, and of other draws, can follow one another as those of
    one draw do.
    """
    selection = snapshot.selection(info.mode)
    return (
        selection is not None
        and not CALL_VALUES & selection.stages[Stage.VERTEX].facts.system_values
        and info.count >= LISTS.get(info.mode, 1)
        and not (info.mode in LISTS and restarts(info))
    )


def merge(entries: Sequence[PendingDraw]) -> list[MergedDraws]:
    """Merge draws; the results are in the order of their first draws."""
    differ = _Differ.of(entries)
    gathered: dict[Any, list[list[int]]] = {}
    for numbers in _alike(entries, differ):
        snapshot, info, _ = entries[numbers[0]]
        gathered.setdefault((snapshot.merge_key(info.mode), call_key(snapshot, info)), []).append(
            numbers
        )
    gathered, joined = _end_to_end(entries, gathered)
    found = []
    for key, alike in gathered.items():
        merged = _merged(entries, [number for numbers in alike for number in numbers], differ)
        merged.end_to_end |= key in joined
        if len(alike) > 1 and merged.lanes > merged.limit:
            found += [_merged(entries, numbers, differ) for numbers in alike]
        else:
            found.append(merged)
    return found


_Gathered = dict[Any, list[list[int]]]


def _end_to_end(entries: Sequence[PendingDraw], gathered: _Gathered) -> tuple[_Gathered, set[Any]]:
    """Concatenate draws that differ in their calls; draws of several instances always are.

    Also returns the keys of the concatenated draws.
    """
    joined: set[Any] = set()
    several = any(entries[alike[0][0]][1].instance_count > 1 for alike in gathered.values())
    if len(gathered) < _WORTH_JOINING and not several:
        return gathered, joined
    found: _Gathered = {}
    for key, alike in gathered.items():
        snapshot, info, _ = entries[alike[0][0]]
        if info.instance_count > 1 or _instances_follow(snapshot, info):
            key = key[0], ("end to end", info.mode, info.instance_count > 1)
            if key in found:
                joined.add(key)
        found.setdefault(key, []).extend(alike)
    return found, joined


def _merged(entries: Sequence[PendingDraw], numbers: list[int], differ: _Differ) -> MergedDraws:
    if len(numbers) == len(entries):
        several = entries[0][1].instance_count > 1
        return MergedDraws(list(range(len(entries))), entries, several, differ)
    numbers.sort()
    some = [entries[number] for number in numbers]
    return MergedDraws(numbers, some, some[0][1].instance_count > 1)


def _alike(entries: Sequence[PendingDraw], differ: _Differ) -> list[list[int]]:
    """The numbers of draws that differ only in constants, grouped."""
    snapshots, infos = differ.snapshots, differ.infos
    if len(snapshots.first) == len(infos.first) == 1:
        return [list(range(len(entries)))]
    if len(snapshots.first) == 1 and _differ_in_starts(snapshots.first[0], infos.first):
        return [list(range(len(entries)))]
    if len(entries) in (len(snapshots.first), len(infos.first)):
        same = [[number] for number in range(len(entries))]
    else:
        same = _equal(snapshots.which.astype(np.int64) * len(infos.first) + infos.which)
    found: dict[tuple[int, Any], list[int]] = {}
    for numbers in same:
        snapshot, info, _ = entries[numbers[0]]
        found.setdefault((id(snapshot), call_key(snapshot, info)), []).extend(numbers)
    return list(found.values())


def _equal(numbers: npt.NDArray[np.int64]) -> list[list[int]]:
    """For each number the indices where it occurs, ordered by first occurrence."""
    order = numbers.argsort(kind="stable")
    begins = begins_of(numbers.take(order)).tolist()
    places = order.tolist()
    return sorted(places[a:b] for a, b in pairwise([*begins, len(places)]))


def call_key(snapshot: Snapshot, info: DrawInfo) -> Any:
    """The key of calls that can be merged: everything but where they begin in their buffers."""
    if info.index_size or snapshot.observes_start(info.mode):
        return info
    return _but_the_start(info)


def _differ_in_starts(snapshot: Snapshot, infos: Sequence[DrawInfo]) -> bool:
    """Whether calls are equal except for their first vertices, on which the draws do not depend."""
    first = infos[0]
    if first.index_size or snapshot.observes_start(first.mode):
        return False
    mode, count, many, at, in_list = _but_the_start(first)
    return all(
        each.mode is mode
        and each.in_list == in_list
        and each.count == count
        and each.instance_count == many
        and each.start_instance == at
        and not each.index_size
        for each in infos
    )


def _but_the_start(info: DrawInfo) -> tuple[Any, ...]:
    return info.mode, info.count, info.instance_count, info.start_instance, info.in_list


def _tables(
    entries: Sequence[PendingDraw], snapshots: _Distinct[Snapshot]
) -> dict[Stage, ConstantTables]:
    constants = list(map(_ROW, entries))
    tables_: list[Table | None]
    if set(map(type, constants)) == {bytes}:  # mostly all stages are given the same
        tables_ = [_table(constants)] * 2
    else:
        rows = list(map(row_of, constants))
        tables_ = [_table([_bytes(row[number]) for row in rows]) for number in (0, 1)]
    found = [{} if each is None else {0: each} for each in tables_]
    if len({snapshot.blocks for snapshot in snapshots.first}) > 1:
        kinds, which = snapshots.kinds(lambda each: each.blocks)
        shaders = snapshots.first[0].shaders
        for stage, shader, rows_of_stage in zip(MERGED_STAGES, shaders, found, strict=True):
            for number, size in () if shader is None else shader.reads.blocks:
                block = _block_rows(kinds, stage, number, size)
                rows_of_stage[number] = block.take(which, axis=0)
    return dict(zip(MERGED_STAGES, found, strict=True))


def _block_rows(kinds: Sequence[Snapshot], stage: Stage, number: int, size: int) -> Table:
    """The bytes that shaders read of a constant block, a row per draw; zeros after its end."""
    rows = np.zeros((len(kinds), -(-size // 16) * 16), np.uint8)
    for row, snapshot in zip(rows, kinds, strict=True):
        block = snapshot.block(stage, number)
        if block is not None:
            data = block.data[: len(row)]
            row[: len(data)] = data
    return rows


def _bytes(block: ConstantBuffer | None) -> bytes:
    return b"" if block is None else block.raw or block.data.tobytes()


def _table(data: Sequence[Any]) -> Table | None:
    """The blocks' bytes, one per row, padded to whole vec4s."""
    size = max(map(len, data))
    if not size:
        return None
    room = -(-size // 16) * 16
    if room > size or min(map(len, data)) < size:
        data = [each.ljust(room, b"\0") for each in data]
    return np.frombuffer(b"".join(data), np.uint8).reshape(-1, room)
