"""What a program does to the world, and whether two programs do the same.

The oracles of the back ends run a program twice: as selection made it, with a register of its own
for every value, and as it comes back from its encoded words. Instructions are functions nobody
knows (`Symbols`, or hashes), so values are equal only if they were computed in the same way from
the same things. Whether a branch is taken is drawn by lot, the same lot for both. Both then must
have sent the same messages, with the same contents, in the same order.

Nothing here, and nothing in the oracles, asks the back end what lives, what interferes or what
depends on what.
"""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gallette.drivers.machines.isa.messages import IMAGE_OPS, MEMORY_OPS, URB_OPS


@dataclass(slots=True)
class Effect:
    """One thing done: what it was, and the values it was done with (0: nobody defined them)."""

    what: tuple[Hashable, ...]
    values: Any


@dataclass(slots=True)
class Verdict:
    """What comparing two runs found."""

    problems: list[str] = field(default_factory=list)
    effects: int = 0
    values: int = 0
    undefined: int = 0  # values nobody defined: they may be anything

    def add(self, other: Verdict) -> None:
        self.problems += other.problems
        self.effects += other.effects
        self.values += other.values
        self.undefined += other.undefined


class Lots:
    """Decides branches: the same for the same branch, turn and channel of the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def draw(self, branch: int, turn: int, channels: int, chance: float = 0.45) -> list[bool]:
        """By channel: is the branch's condition true?"""
        lot = random.Random(self.seed * 1_000_003 + branch * 9_176 + turn)
        return [lot.random() < chance for _ in range(channels)]


def is_lasting(unit: str, fields: dict[str, int]) -> bool:
    """Does a message change anything outside the thread, or wait for somebody?"""
    if unit == "memory":
        return MEMORY_OPS[fields["op"]] not in ("load", "size")
    if unit == "image":
        return IMAGE_OPS[fields["op"]] not in ("load", "size", "samples")
    if unit == "urb":
        return URB_OPS[fields["op"]] not in ("read", "peer")
    return unit in ("render", "gateway")


def sees_memory(unit: str) -> bool:
    """Does the answer depend on what was written before?"""
    return unit in ("memory", "image", "urb")


def compared(wanted: list[Effect], found: list[Effect]) -> Verdict:
    """What `found` does otherwise than `wanted`."""
    verdict = Verdict(effects=len(wanted))
    for at, (one, other) in enumerate(zip(wanted, found, strict=False)):
        if one.what != other.what:
            verdict.problems.append(f"effect {at} is {other.what}, not {one.what}")
            return verdict
        mine, theirs = np.asarray(one.values), np.asarray(other.values)
        defined = mine != 0
        verdict.values += int(defined.sum())
        verdict.undefined += int(defined.size - defined.sum())
        wrong = defined & (mine != theirs)
        if wrong.any():
            where = tuple(int(k) for k in np.argwhere(wrong)[0])
            verdict.problems.append(f"effect {at}, {one.what}: another value at {where}")
    if len(wanted) != len(found):
        verdict.problems.append(f"{len(found)} effects instead of {len(wanted)}")
    return verdict
