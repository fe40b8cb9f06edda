"""The executor: turns the pending draws of a batch into as few draws as possible.

Draws with an equal merge key become instances of one draw (`merging`). If draws with several keys
are left, they are executed in per-pixel order (`pixel_order`), or one after the other where that is
not possible. Draws whose shaders seldom meet others like them are executed one by one. A draw that
fails does not stop the others.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError, ResetError
from gallette.compiler.gc_pause import gc_paused
from gallette.drivers.common.vertex.stream import submitted
from gallette.pipe.state import DrawInfo

from .draw_states import DrawStates
from .merging import MergedDraws, PendingDraw, merge, never_merged
from .pipeline import draw, run, run_part
from .pixel_order import Group, can_order_pixels, draw_in_pixel_order
from .snapshot import Constants, Snapshot, row_of
from .splitting import end_to_end, parts


class Failures:
    """Lets the other draws continue when one fails, and raises the first error at the end."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: Exception | None = None

    def of(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function; returns its result, or None if it fails."""
        try:
            return work(*arguments)
        except ResetError:
            raise
        except (GalletteError, MemoryError) as error:
            self._first = self._first or error
        return None

    def raise_first(self) -> None:
        if self._first is not None:
            raise self._first


def draw_one(snapshot: Snapshot, info: DrawInfo, constants: Constants, number: int) -> None:
    """Execute a single draw; returns its number among those that are executed now."""
    counters = snapshot.states.counters
    tally = counters.tally
    if tally is not None:
        tally.count_for(number)
    snapshot.seek()
    snapshot.bind(row_of(constants))
    draw(snapshot.states, info)


def draw_many(merged: MergedDraws, number: int = 0) -> None:
    """Execute draws of one state as instances of one draw; returns the number of the first."""
    entries = merged.entries
    snapshot, info, _ = entries[0]
    if info.instance_count > 1:
        for at, entry in enumerate(entries):
            draw_one(*entry, number + at)
        return
    if snapshot.states.counters.tally is not None:
        snapshot.states.counters.tally.count_for(range(number, number + len(entries)))
    state = merged.state_differing_in_constants()
    if state is not None:
        snapshot.seek()
        snapshot.states.work.begin(merged=True)
        with np.errstate(all="ignore"):
            run(state, replace(info, instance_count=len(entries)), merged=True)


def add_group(groups: list[Group], merged: MergedDraws) -> None:
    """Add the vertices and primitives of draws that run as one."""
    merged.entries[0][0].seek()  # vertices of all sample the same versions (`may_write_box`)
    draw, info = merged.state(), merged.entries[0][1]
    if draw is None or not info.count:
        return
    count = len(merged.entries)
    infos = merged.calls
    if infos is not None:
        with np.errstate(all="ignore"):
            primitives, starts = end_to_end(draw, infos)
        groups.append(Group(draw, info.mode, merged.numbers, primitives, starts))
        draw.counters.ia_vertices += sum(submitted(each) * each.instance_count for each in infos)
        return
    with np.errstate(all="ignore"):
        made = list(parts(draw, replace(info, instance_count=count), merged=True))
        assert len(made) <= 1
        groups.append(Group(draw, info.mode, merged.numbers, made[0] if made else None))
        draw.counters.ia_vertices += submitted(info) * count


def draw_group(group: Group) -> None:
    """Execute all draws of a group."""
    group.draw.work.begin(merged=True)
    if group.draw.counters.tally is not None:
        group.draw.counters.tally.count_for(group.entries)
    if group.primitives is not None:
        with np.errstate(all="ignore"):
            run_part(group.draw, group.mode, group.primitives)


WORTH_MERGING = 24
"""After so many draws of the same shaders that could have been merged, merged variants pay."""


class Execution:
    """Executes the batches of a context, and counts for which shaders merging was possible."""

    __slots__ = ("_drawn", "_regroup", "_states", "taps")

    def __init__(self, states: DrawStates, regroup: bool) -> None:
        """`regroup`: draws of several states may be reordered so that those of one state are
        executed together.
        """
        self._states, self._regroup = states, regroup
        self.taps: list[Callable[[Sequence[MergedDraws]], None]] = []
        """Observers: each is called with the merged draws of a batch before they are executed."""
        self._drawn: Counter[Any] = Counter()  # by shaders: draws that were pending together

    def forget(self) -> None:
        """Forget a shader that has been deleted."""
        self._drawn.clear()

    def alone(self, draw: PendingDraw) -> None:
        """Execute a single draw."""
        draw_one(*draw, 0)

    @gc_paused
    def run(self, entries: list[PendingDraw]) -> None:
        """Execute draws, of which thousands may be pending."""
        failures = Failures()
        worth, apart = self._merging_pays(entries), never_merged(entries)
        number, tally = 0, self._states.counters.tally
        for merges, group in itertools.groupby(
            entries, lambda entry: worth[entry[0]] and id(entry[1]) not in apart
        ):
            some = list(group)
            for part, found in _merged(some) if merges else ((some, None),):
                if tally is not None:
                    tally.first = number
                if found is None:
                    for at, entry in enumerate(part):
                        failures.of(draw_one, *entry, at)
                else:
                    self._together(part, found, failures)
                number += len(part)
        failures.raise_first()

    def _merging_pays(self, entries: list[PendingDraw]) -> dict[Snapshot, bool]:
        """For each snapshot, whether merged variants of its shaders pay."""
        draws = Counter([snapshot for snapshot, _, _ in entries])
        shaders = {snapshot: snapshot.shaders for snapshot in draws}
        counts: Counter[Any] = Counter()
        for snapshot, count in draws.items():
            counts[shaders[snapshot]] += count
        several = {s: n for s, n in counts.items() if n > 1}
        self._drawn.update(several)
        worth = {s for s in several if self._drawn[s] >= WORTH_MERGING}
        return {snapshot: found in worth for snapshot, found in shaders.items()}

    def _together(
        self, entries: list[PendingDraw], found: list[MergedDraws], failures: Failures
    ) -> None:
        """Execute draws that share shaders: merged, in pixel order, or else one after the other."""
        for tap in self.taps:
            tap(found)
        if len(found) == 1 and found[0].alike:
            failures.of(draw_many, found[0])
        elif not (self._regroup and self._in_pixel_order(found, failures)):
            self._in_order(entries, failures)

    def _in_pixel_order(self, found: list[MergedDraws], failures: Failures) -> bool:
        """Execute draws in per-pixel order; returns false, having drawn nothing, if that is
        impossible.
        """
        if any(merged.lanes > merged.limit for merged in found):
            return False
        if len(found) > 1:
            states = [merged.first_state() for merged in found]
            if not all(state is None or can_order_pixels(state) for state in states):
                return False
        counters = self._states.counters
        before = counters.snapshot()
        groups: list[Group] = []
        for merged in found:
            merged.entries[0][0].states.work.begin(merged=True)
            failures.of(add_group, groups, merged)
        if len(found) == 1:
            if groups:
                failures.of(draw_group, groups[0])
            return True
        if draw_in_pixel_order(groups, self._states.scratch, failures.of):
            return True
        counters.restore(before)
        return False

    def _in_order(self, entries: list[PendingDraw], failures: Failures) -> None:
        """Execute draws in order; neighbours that differ only in constants are one draw."""
        number = 0
        for _, some in itertools.groupby(entries, lambda entry: (id(entry[0]), entry[1])):
            same = list(some)
            failures.of(draw_many, MergedDraws.of(same), number)
            number += len(same)


def _merged(
    entries: list[PendingDraw],
) -> Iterator[tuple[list[PendingDraw], list[MergedDraws] | None]]:
    """Draws, merged; if too many vertices would be shaded at once, those of each half."""
    found = merge(entries)
    alike = len(found) == 1 and found[0].alike
    if alike or len(entries) < 2 or all(merged.lanes <= merged.limit for merged in found):
        yield entries, found
    else:
        half = len(entries) // 2
        yield from _merged(entries[:half])
        yield from _merged(entries[half:])
