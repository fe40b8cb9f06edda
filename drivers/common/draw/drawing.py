"""Executes one pending draw, or merged draws as one.

`Failures` keeps one that fails from stopping the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError, ResetError
from gallette.drivers.common.vertex.stream import submitted
from gallette.pipe.state import DrawInfo

from .grouping import Group
from .merging import MergedDraws
from .pipeline import draw, run, run_part
from .snapshot import Constants, Snapshot, row_of
from .splitting import end_to_end, parts

__all__ = ["Failures", "add_group", "draw_group", "draw_many", "draw_one"]


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
        draw.counters.ia_vertices += merged.lanes
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
