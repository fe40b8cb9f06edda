"""Covering arrays: few rows in which every pair (or triple) of choices of any factors meets.

A fault that needs two features at once is met by a test of each row, without trying every product.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

Row = tuple[int, ...]
Meeting = tuple[tuple[int, int], ...]
"""choices that meet in a row: (factor, its choice)"""
CANDIDATES = 12


def meetings(row: Row, strength: int) -> set[Meeting]:
    """What meets in a row."""
    return set(combinations(enumerate(row), strength))


def covering(sizes: Sequence[int], strength: int = 2, seed: int = 1) -> list[Row]:
    """Rows of choices `0 <= row[i] < sizes[i]` in which every `strength` of them meet."""
    r = random.Random(seed)
    missing: set[Meeting] = {
        tuple(zip(factors, choices, strict=True))
        for factors in combinations(range(len(sizes)), strength)
        for choices in product(*(range(sizes[f]) for f in factors))
    }
    rows: list[Row] = []
    while missing:
        # A row around something that is missing, the best of a few.
        wanted = dict(min(missing))
        candidates = [_row(sizes, wanted, missing, r) for _ in range(CANDIDATES)]
        row = max(candidates, key=lambda row: len(meetings(row, strength) & missing))
        rows.append(row)
        missing -= meetings(row, strength)
    return rows


def rows(*factors: Sequence[Any], strength: int = 2) -> list[tuple[Any, ...]]:
    """Choices of each factor in which every `strength` of them meet."""
    return [
        tuple(factor[choice] for factor, choice in zip(factors, row, strict=True))
        for row in covering([len(factor) for factor in factors], strength)
    ]


def _row(
    sizes: Sequence[int], wanted: dict[int, int], missing: set[Meeting], r: random.Random
) -> Row:
    """`wanted`, and for the other factors, in random order, what brings most that is missing."""
    chosen = dict(wanted)
    others = [f for f in range(len(sizes)) if f not in chosen]
    r.shuffle(others)
    for factor in others:
        pairs = [
            [tuple(sorted(((factor, choice), item))) for item in chosen.items()]
            for choice in range(sizes[factor])
        ]
        news = [(sum(pair in missing for pair in found), r.random()) for found in pairs]
        chosen[factor] = news.index(max(news))
    return tuple(chosen[f] for f in range(len(sizes)))
