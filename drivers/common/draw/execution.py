"""Draws that waited, executed: as few draws as they can be made, whose ways they share.

Of draws in several states those of one state are one, states that are alike in most share their
vertices (`families`) or what they cover (`sharing`), and what comes before what is decided where
nobody can tell (`grouping`, `dealing`). Those whose shaders seldom meet others like them, or that
have a quick way of their own, are made one by one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from gallette.compiler.collector import collector_paused

from .clearing import Clear
from .dealing import deal
from .families import Family, Waiting, families, fewest, pairs_of, shared_fragments
from .finding import DrawStates
from .grouping import Group, batches
from .runs import Failures, add_group, draw_batch, draw_many, draw_one
from .sharing import add_company, companies
from .targets import Targets
from .together import fill_together
from .waiting import Given, row_of

__all__ = ["Execution"]

WORTH_MERGING = 24
"""So many draws of the same shaders that might have been one make merged variants worth it."""

_FOR_A_PLAN = 3
"""So many flushes have to have had draws in a state for it to be certain that more come."""


class Execution:
    """How the draws of a context are executed that waited, and which shaders have met others."""

    __slots__ = ("_drawn", "_regroup", "_states")

    def __init__(self, states: DrawStates, regroup: bool) -> None:
        """`regroup`: draws of several states may change places to be executed together."""
        self._states, self._regroup = states, regroup
        self._drawn: Counter[Any] = Counter()  # by shaders: draws that waited beside others

    def forget(self) -> None:
        """A shader is gone."""
        self._drawn.clear()

    def alone(self, draw: Waiting) -> None:
        """Execute a single draw."""
        draw_one(*draw, 0)

    @collector_paused
    def run(self, draws: list[Waiting], clears: list[Clear], targets: Targets) -> None:
        """Execute draws, of which thousands may have waited with all they were given."""
        if targets.several:
            self._execute_apart(draws, clears, targets)
        elif clears:
            self._execute_around(draws, clears)
        else:
            self._execute(draws)

    def _execute_apart(self, entries: list[Waiting], clears: list[Clear], targets: Targets) -> None:
        """Execute draws into several framebuffers, and the clears between them."""
        failures = Failures()
        for draws, between in targets.apart(entries, clears):
            if between:
                failures.of(self._execute_around, draws, between)
            elif len(draws) == 1:
                failures.of(self.alone, draws[0])
            else:
                failures.of(self._execute, draws)
        failures.tell()

    def _execute_around(self, entries: list[Waiting], clears: list[Clear]) -> None:
        """The same for draws between which there are clears."""
        failures = Failures()
        if all(self._worth(entries).values()) and self._dealt(entries, failures, clears):
            failures.tell()
            return
        first = 0
        for clear in (*clears, None):
            end = len(entries) if clear is None else clear.after
            if end - first == 1:
                failures.of(self.alone, entries[first])
            elif end > first:
                failures.of(self._execute, entries[first:end])
            if clear is not None:
                clear.now()
            first = end
        failures.tell()

    def _directly(self, entries: list[Waiting], failures: Failures) -> list[Waiting]:
        """Make draws by themselves if all have a quick way, or if there are too few to share what
        it takes to draw them together. Answers those from the first on that had no such way.
        """
        given, info, _ = entries[0]
        if self._states.counters.tally is not None or given.has_no_plan(info.mode):
            return entries
        kinds = {(id(given), info.mode): given for given, info in pairs_of(entries)}
        new = 0
        for (_, mode), given in kinds.items():
            new += given.made_plan(mode) is None and given.flushes < _FOR_A_PLAN
        if new > fewest(entries):
            return entries
        plans = {(key, mode): given.plan(mode) for (key, mode), given in kinds.items()}
        if None in plans.values():
            return entries
        for number, (given, info, row) in enumerate(entries):
            plan = plans[id(given), info.mode]
            assert plan is not None
            if failures.of(plan.draw, info, row_of(row)) is False:
                return entries[number:]
        return []

    def _worth(self, entries: list[Waiting]) -> dict[Given, bool]:
        """For which states it is worth it to have variants that run many draws at once."""
        draws = Counter([given for given, _, _ in entries])
        shaders = {given: given.shaders for given in draws}
        counts: Counter[Any] = Counter()
        for given, count in draws.items():
            counts[shaders[given]] += count
        several = {s: n for s, n in counts.items() if n > 1}
        self._drawn.update(several)
        worth = {s for s in several if self._drawn[s] >= WORTH_MERGING}
        return {given: found in worth for given, found in shaders.items()}

    def _execute(self, entries: list[Waiting]) -> None:
        failures = Failures()
        entries = self._directly(entries, failures)
        if not entries:
            failures.tell()
            return
        merges = self._worth(entries)
        if all(merges.values()):
            self._together(entries, failures)
            failures.tell()
            return
        number, tally = 0, self._states.counters.tally
        for merge, group in itertools.groupby(entries, lambda entry: merges[entry[0]]):
            some = list(group)
            if tally is not None:
                tally.first = number
            if merge:
                self._together(some, failures)
            else:
                for at, entry in enumerate(some):
                    failures.of(draw_one, *entry, at)
            number += len(some)
        failures.tell()

    def _together(self, entries: list[Waiting], failures: Failures) -> None:
        """Draws whose shaders run for many draws at once."""
        found = families(entries)
        if len(found) == 1 and found[0].alike:
            failures.of(draw_many, found[0])
            return
        if self._regroup and self._shared_ways(entries, found, failures):
            return
        groups: list[Group] = []
        for family in found:
            if not self._regroup or family.lanes > family.limit:
                break  # too many for one part: in order, then
            family.entries[0][0].states.work.begin(merged=True)
            failures.of(add_group, groups, family)
        else:
            if fill_together(groups, failures.of):
                pass
            elif len(groups) == 1:
                failures.of(draw_batch, groups[0], list(range(len(entries))))
            elif not deal(
                groups, self._states.scratch, failures.of, lambda: shared_fragments(entries)
            ):
                for group, rows in batches(groups):
                    failures.of(draw_batch, group, rows)
            return
        number = 0
        for _, some in itertools.groupby(entries, lambda entry: (id(entry[0]), entry[1])):
            same = list(some)
            failures.of(draw_many, Family.of(same), number)
            number += len(same)

    def _shared_ways(self, entries: list[Waiting], found: list[Family], failures: Failures) -> bool:
        """Families that share the way to fragments; false, and nothing is drawn, if none do."""
        together = companies(found)
        if together is None or any(family.lanes > family.limit for family in found):
            return False
        counters = self._states.counters
        before = counters.snapshot()
        groups: list[Group] = []
        for company in together:
            company[0].entries[0][0].states.work.begin(merged=True)
            add_company(groups, company, entries, failures.of)
        if deal(groups, self._states.scratch, failures.of, lambda: shared_fragments(entries)):
            return True
        counters.restore(before)
        return False

    def _dealt(self, entries: list[Waiting], failures: Failures, clears: Sequence[Clear]) -> bool:
        """All of it at once, clears in between; false, and nothing is drawn, if that cannot be."""
        found = families(entries)
        if any(family.lanes > family.limit for family in found):
            return False
        groups: list[Group] = []
        for family in found:
            family.entries[0][0].states.work.begin(merged=True)
            failures.of(add_group, groups, family)
        return deal(groups, self._states.scratch, failures.of, clears=clears)
