"""Families that share the way to fragments: they differ only in what becomes of those.

Programs switch blending or the depth test between draws, which has nothing to do with vertices and
with what primitives cover. So families with the same shaders, rasterizer and target go that way as
one group; what it covers is then told apart by family, each with an engine of its own (see
`dealing`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gallette.pipe.enums import Primitive

from .families import Family, Waiting, kind_of
from .grouping import Group, Portion
from .runs import add_group

__all__ = ["Company", "add_company", "companies"]

_MOST = 256  # families are told apart by bytes

Company = list[Family]
"""Families that share the way to fragments."""


def companies(found: Sequence[Family]) -> list[Company] | None:
    """The families, put together; None where each has its own way."""
    gathered: dict[Any, Company] = {}
    for family in found:
        gathered.setdefault(_way(family), []).append(family)
    made: list[Company] = []
    for company in gathered.values():
        lanes = sum(family.lanes for family in company)
        if 1 < len(company) <= _MOST and lanes <= company[0].limit:
            made.append(company)
        else:
            made += [[family] for family in company]
    return made if len(made) < len(found) else None


def _way(family: Family) -> Any:
    """What is the same for families with the same way to fragments."""
    given, info, _ = family.entries[0]
    relatives = given.relatives(info.mode)
    state = None if len(relatives) < 2 else given.states.of(info.mode)
    if state is None or family.end_to_end or info.mode is Primitive.POINTS:
        return id(family)
    fixed, selection = state.fixed, state.fixed.selection
    if fixed.engine.idle or state.witness is not None or hasattr(state.fragment.program, "fill"):
        return id(family)
    (_, rasterizer, _, *others), *rest = relatives[0]  # blending and tests may differ
    same = rasterizer, *others, *rest, *relatives[2:]
    return same, selection.origin, fixed.raster.flat, fixed.raster.linear, kind_of(given, info)


def add_company(
    groups: list[Group], company: Company, entries: Sequence[Waiting], attempt: Callable[..., None]
) -> None:
    """The vertices and primitives of families, and what becomes of the fragments of each."""
    if len(company) == 1:
        attempt(add_group, groups, company[0])
        return
    numbers = sorted(number for family in company for number in family.numbers)
    whole = Family(numbers, [entries[number] for number in numbers])
    before = len(groups)
    attempt(add_group, groups, whole)
    if len(groups) == before:
        return
    row_of = dict(zip(numbers, range(len(numbers)), strict=True))
    part = np.zeros(len(numbers), np.uint8)
    portions = []
    for place, family in enumerate(company):
        rows = [row_of[number] for number in family.numbers]
        part[rows] = place
        portions.append(Portion(*family.shading(whole.constants, rows, len(numbers))))
    groups[-1] = replace(groups[-1], portions=portions, portion=part)
