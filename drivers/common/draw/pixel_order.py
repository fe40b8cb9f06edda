"""Executes pending draws with different pipeline states in per-pixel order.

Draws of one state are a group; their vertices and primitives are made together. The pixels that all
draws cover are found first. Then each round executes, of every pipeline state, the fragments that
no earlier fragment of another state at the same pixel has to come before. So there are as many
rounds as states alternate at one pixel, however many draws overlap. If only one fragment of each
pixel can stay visible, that one is found first and there are no rounds.

Shaders that need derivatives run on 2x2 quads; then quads take the place of pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.output.fragment_state import FragmentShader, FragmentState
from gallette.drivers.common.output.order import Scratch, real_lanes, visible
from gallette.drivers.common.raster.batch import FragmentSink
from gallette.drivers.common.raster.fragments import Fragments, lanes_of_quads
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.masks import every, where
from gallette.pipe.enums import Primitive

from .pipeline import rasterize_part
from .splitting import Primitives
from .state import DrawState

Ints = npt.NDArray[np.int64]


@lazy_dataclass(frozen=True)
class Covered:
    """The pixels that some primitives cover, as the rasterizer reports them."""

    spans: Spans
    source: PlaneSource
    info: PrimitiveInfo


class CoverageSink(FragmentSink):
    """A sink that keeps covered pixels."""

    def __init__(self) -> None:
        self.found: list[Covered] = []

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Keep the covered pixels."""
        self.found.append(Covered(spans, source, info))


@lazy_dataclass()
class Group:
    """Merged draws: their numbers in the batch, and their primitives."""

    draw: DrawState
    mode: Primitive
    entries: Sequence[int]
    primitives: Primitives | None  # their `identity` is the number of the draw in the group
    starts: Ints | None = None  # the first vertex of each draw, where not all have as many


def rows_covered(group: Group) -> float:
    """An upper bound on the rows that the primitives of a group cover, summed; it may be NaN."""
    if group.primitives is None:
        return 0.0
    y = group.primitives.vertices.window[1].take(group.primitives.corners)
    with np.errstate(all="ignore"):  # infinite less infinite is not a number
        rows = np.minimum(np.ptp(y, axis=1) + 2, group.draw.fixed.raster.target.y1)
    return float(rows.sum())


MOST_ROWS = 1 << 20
"""Rows of primitives whose spans are kept."""

AT_ONCE = 1 << 18
"""Fragments dealt out at a time, unless a single draw has more."""

LARGE = 1 << 11
"""Turns of so many fragments are drawn one after another: finding an order of the fragments takes
longer.
"""

Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint16]


@lazy_dataclass()
class _Sheet:
    """The pixels that primitives of a group cover."""

    engine: FragmentEngine
    shader: FragmentShader
    covered: Covered
    draws: Numbers  # of each primitive: the number of its draw
    order: Numbers  # for each span
    entries: Numbers  # by the identity of a primitive: its draw

    def _begin(self) -> None:
        self.engine.state.work.begin(merged=True)
        if self.engine.counters.tally is not None:
            self.engine.counters.tally.count_for(self.entries)

    @property
    def spans(self) -> Spans:
        return self.covered.spans

    @property
    def quads(self) -> bool:
        """Whether fragments have to come in quads."""
        return self.shader.quads and self.engine.shades

    def in_quads(self) -> _Sheet:
        """The pixels extended to quads, because fragments of other states come in quads."""
        return replace(self, shader=replace(self.shader, quads=True))

    def lanes(self, quads: bool) -> Fragments:
        """Its fragments."""
        covered = self.covered
        return self.engine.fragments(covered.spans, covered.source, covered.info, quads)

    def part(self, first: int, end: int) -> _Sheet | None:
        """The pixels that the draws from `first` to before `end` cover."""
        return self.of(where((self.order >= first) & (self.order < end)))

    def of(self, chosen: Ints) -> _Sheet | None:
        """A part of the sheet: some of its spans."""
        if not len(chosen):
            return None
        if len(chosen) == len(self.order):
            return self
        spans = self.covered.spans.take(chosen)
        return replace(
            self, covered=replace(self.covered, spans=spans), order=self.order.take(chosen)
        )

    def draw(self) -> None:
        """Draw the whole sheet at once."""
        self._begin()
        with np.errstate(all="ignore"):
            covered = self.covered
            self.engine.draw(self.shader, covered.spans, covered.source, covered.info)

    def run(self, lanes: Fragments) -> None:
        """Run some of its fragments."""
        self._begin()
        with np.errstate(all="ignore"):
            self.engine.run(self.shader, lanes, self.covered.source, self.covered.info)

    def shade(self, lanes: Fragments, where: Ints | None, passing: Bools) -> None:
        """Shade those of its fragments that are visible."""
        self._begin()
        with np.errstate(all="ignore"):
            covered = self.covered
            self.engine.shade(self.shader, lanes, where, passing, covered.source, covered.info)


def can_order_pixels(state: DrawState) -> bool:
    """Whether draws with this state can be among those that are executed in per-pixel order."""
    return state.fixed.engine.deals and state.witness is None


def draw_in_pixel_order(
    groups: Sequence[Group], scratch: Scratch, attempt: Callable[..., None]
) -> bool:
    """Execute the draws of all groups; returns false, having drawn nothing, if they cover too many
    rows.

    `attempt` calls a function with arguments and keeps its failure from stopping the others.
    """
    shown = [group for group in groups if group.primitives is not None]
    if not sum(rows_covered(group) for group in shown) <= MOST_ROWS:
        return False
    sheets: list[_Sheet] = []
    for group in shown:
        attempt(_cover, group, sheets)
    for part in _portions(sheets):
        if len(part) == 1:
            attempt(part[0].draw)
        elif _resolve(part):
            for seen in _resolved(part, scratch):
                attempt(*seen)
        elif part:
            state = shown[0].draw.fixed.engine.state
            if turns := _turns(part, state):
                for sheet in turns:
                    attempt(sheet.draw)
                continue
            for sheet, lanes in _rounds(part, state, scratch):
                attempt(sheet.run, lanes)
    for group in shown:
        group.draw.fixed.engine.finish()
    return True


def _resolve(sheets: Sequence[_Sheet]) -> bool:
    """Whether it is enough to find the one visible fragment of each pixel."""
    return bool(sheets) and all(s.engine.resolves_with(sheets[0].engine) for s in sheets)


def _cover(group: Group, sheets: list[_Sheet]) -> None:
    """Find the pixels that the draws of a group cover."""
    draw = group.draw
    assert group.primitives is not None
    draw.work.begin(merged=True)
    if draw.counters.tally is not None:
        draw.counters.tally.count_for(group.entries)
    kept = CoverageSink()
    with np.errstate(all="ignore"):
        rasterize_part(draw, group.mode, group.primitives, kept)
    if not draw.fixed.engine.state.sample_mask & 1:
        return
    numbers = np.asarray(group.entries, np.uint16)
    for covered in kept.found:
        if covered.spans.count:
            draws = numbers.take(covered.info.identity)
            order = draws.take(covered.spans.primitive)
            engine, shader = draw.fixed.engine, draw.fragment
            sheets.append(_Sheet(engine, shader, covered, draws, order, numbers))


def _portions(sheets: list[_Sheet]) -> Iterator[list[_Sheet]]:
    """Split between draws, so that there are not too many fragments at a time."""
    if not sheets:
        return
    last = max(int(sheet.order.max()) for sheet in sheets)
    sizes = np.zeros(last + 1, np.float64)
    for sheet in sheets:
        sizes += np.bincount(sheet.order, sheet.spans.length, last + 1)
    if sizes.sum() <= AT_ONCE + AT_ONCE // 2:
        yield sheets
        return
    ends = np.cumsum(sizes)
    first = 0
    while first <= last:
        before = ends[first - 1] if first else 0.0
        end = max(first + 1, int(np.searchsorted(ends, before + AT_ONCE, side="right")))
        yield [part for sheet in sheets if (part := sheet.part(first, end)) is not None]
        first = end


def _turns(sheets: list[_Sheet], state: FragmentState) -> list[_Sheet]:
    """The parts of the sheets in drawing order, to be drawn one after another; none if they are
    small and many more than rounds would be. Each sheet takes a turn whenever another one has
    drawn, and a part in most rounds; where draws cover the whole target, there are as many rounds
    as turns.
    """
    draws = [np.unique(sheet.order) for sheet in sheets]
    order = np.concatenate(draws)
    turn = np.argsort(order, kind="stable")
    owner = np.repeat(np.arange(len(sheets)), [len(each) for each in draws]).take(turn)
    order = order.take(turn)
    first = where(np.append(True, owner[1:] != owner[:-1]))
    fragments = sum(int(sheet.spans.length.sum()) for sheet in sheets)
    rounds = max(len(sheets), fragments / (state.plane * state.layers))
    if len(first) > 2 * rounds and fragments < LARGE * len(first):
        return []
    parts = []
    for start, end in zip(first, [*first[1:], len(order)], strict=True):
        part = sheets[owner[start]].part(int(order[start]), int(order[end - 1]) + 1)
        assert part is not None
        parts.append(part)
    return parts


def _rounds(
    sheets: list[_Sheet], state: FragmentState, scratch: Scratch
) -> Iterator[tuple[_Sheet, Fragments]]:
    """Interleave fragments of the sheets so that at every pixel they are in drawing order."""
    quads = any(sheet.quads for sheet in sheets)
    if quads:
        sheets = [sheet.in_quads() for sheet in sheets]
    dealt = [sheet.lanes(quads) for sheet in sheets]
    who = scratch.at_least(state.plane * state.layers)
    if quads and _are_disjoint(dealt, who):
        yield from ((s, lanes) for s, lanes in zip(sheets, dealt, strict=True) if lanes.count)
        return
    step = 4 if quads else 1
    places = np.concatenate([lanes.pixel[::step] for lanes in dealt])
    bounds = np.cumsum([0, *[lanes.count // step for lanes in dealt]])
    shared = _shared(places, who)
    owner = np.searchsorted(bounds[1:], shared, side="right").astype(np.int16)
    numbers = np.empty(len(shared), np.uint16)
    cuts = np.searchsorted(shared, bounds)
    for number, (sheet, lanes) in enumerate(zip(sheets, dealt, strict=True)):
        part = slice(cuts[number], cuts[number + 1])
        some = shared[part] - bounds[number]
        numbers[part] = sheet.draws.take(lanes.primitive.take(some * step))
    alone = np.ones(len(places), np.bool_)
    alone[shared] = False
    for turn, some in enumerate(_runnable_units(places.take(shared), owner, numbers, who)):
        now = shared.take(some)
        if not turn:  # with all units whose places no other unit has
            alone[now] = True
            now = where(alone)
        cuts = np.searchsorted(now, bounds)
        for number, (sheet, lanes) in enumerate(zip(sheets, dealt, strict=True)):
            which = now[cuts[number] : cuts[number + 1]] - bounds[number]
            if not len(which):
                continue
            if len(which) * step == lanes.count:
                yield sheet, lanes
                continue
            yield sheet, lanes.take(lanes_of_quads(which) if quads else which)


def _are_distinct(places: Ints, who: npt.NDArray[np.int32]) -> bool:
    """Whether all places are distinct."""
    numbers = np.arange(len(places), dtype=np.int32)
    who[places] = numbers
    return every(who.take(places) == numbers)


def _shared(places: Ints, who: npt.NDArray[np.int32]) -> Ints:
    """The units at places where other sheets have units, too: usually few, and only their order
    matters.
    """
    numbers = np.arange(len(places), dtype=np.int32)
    who[places] = numbers
    hidden = where(who.take(places) != numbers)
    if not len(hidden):
        return hidden
    who[places.take(hidden)] = -1
    return where(who.take(places) < 0)


def _resolved(
    sheets: list[_Sheet], scratch: Scratch
) -> list[tuple[Callable[..., None], Fragments, Ints | None, Bools]]:
    """The visible fragments of every sheet, one per pixel, to be shaded.

    Each is a function and its arguments.
    """
    engine = sheets[0].engine
    state = engine.state
    found: list[tuple[_Sheet, Fragments, Ints | None]] = []
    pixels, numbers, depths = [], [], []
    for sheet in sheets:
        own, covered = sheet.engine, sheet.covered
        quads = sheet.shader.quads
        with np.errstate(all="ignore"):
            lanes = own.fragments(covered.spans, covered.source, covered.info, quads)
            real, where = real_lanes(lanes)
            if engine.tests.depth:
                depths.append(own.tests.codes(covered.source, real))
        found.append((sheet, lanes, where))
        pixels.append(real.pixel)
        numbers.append(np.broadcast_to(sheet.draws.take(real.primitive), real.count))
    order = np.argsort(np.concatenate(numbers), kind="stable")
    codes = np.concatenate(depths).take(order) if depths else None
    who = scratch.at_least(state.plane * state.layers)
    depth = state.depth if engine.tests.depth else None
    winners = visible(np.concatenate(pixels).take(order), codes, depth, state.tests, who)
    passing = np.ones(len(order), np.bool_)
    if winners is not None:
        passing[order] = winners
    ends = np.cumsum([len(each) for each in pixels])
    parts = np.split(passing, ends[:-1])
    return [
        (sheet.shade, lanes, where, part)
        for (sheet, lanes, where), part in zip(found, parts, strict=True)
        if len(part)
    ]


def _are_disjoint(dealt: Sequence[Fragments], who: npt.NDArray[np.int32]) -> bool:
    """Whether no pixel is covered twice; then quads at the same place may run in any order."""
    covered = [
        lanes.pixel if lanes.covered is None else lanes.pixel.compress(lanes.covered)
        for lanes in dealt
    ]
    return _are_distinct(np.concatenate(covered), who)


def _runnable_units(
    places: Ints, owner: npt.NDArray[np.int16], numbers: Numbers, who: npt.NDArray[np.int32]
) -> Iterator[Ints]:
    """Round by round, the units that can run: those that no unit of another owner precedes.

    `places` are where units are, `numbers` is their order (units of one owner are in order), `who`
    is scratch memory for every place.
    """
    left = np.argsort(numbers, kind="stable")
    at, whose = places.take(left), owner.take(left)
    for _ in range(_SEARCHED_ROUNDS):
        running = np.arange(len(left), dtype=np.int32)
        who[at[::-1]] = running[::-1]  # the first at each place
        others = where(whose != whose.take(who.take(at).astype(np.int64)))
        chosen = np.zeros(len(places), np.bool_)  # quicker than to sort what is chosen
        if not len(others):
            chosen[left] = True
            yield where(chosen)
            return
        who[at] = len(left)
        who[at.take(others[::-1])] = others[::-1]  # the first of another owner
        now = running < who.take(at)
        chosen[left.compress(now)] = True
        yield where(chosen)
        later = where(~now)
        left, at, whose = left.take(later), at.take(later), whose.take(later)
    yield from _numbered_rounds(left, at, whose)


_SEARCHED_ROUNDS = 4
"""Few rounds are found sooner by looking at all units in each; many, by sorting the units once."""


def _numbered_rounds(left: Ints, at: Ints, whose: npt.NDArray[np.int16]) -> Iterator[Ints]:
    """The units of each round. A unit's round is the number of times that the owner changes before
    it at its place. `left` are units in their order, with places and owners.
    """
    by_place = np.argsort(at, kind="stable")
    at, whose = at.take(by_place), whose.take(by_place)
    begins = np.append(True, at[1:] != at[:-1])  # the first unit of a place
    runs = np.cumsum(begins | np.append(True, whose[1:] != whose[:-1]))
    rounds = runs - np.maximum.accumulate(np.where(begins, runs, 0))
    by_round = np.argsort(rounds, kind="stable")
    units = left.take(by_place.take(by_round))
    for some in np.split(units, np.cumsum(np.bincount(rounds))[:-1]):
        yield np.sort(some)
