"""Scheduling: an order of straight code that hides latencies.

Registers are assigned by now, so what must come before what is read off the registers, flags and
memory that instructions touch. A list scheduler takes, of the instructions that could issue
soonest, the one with the longest way to the block's end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from .code import Instr

__all__ = ["MEMORY", "Node", "Pipe", "Timing", "dependencies", "edge", "schedule"]

MEMORY = 2000
"""The place that stands for all memory, among numbers of registers and flags."""

MOST = 1200
"""Longer blocks stay as they are: finding dependences is not free."""


@dataclass(slots=True)
class Node(Generic[Instr]):
    """An instruction, its predecessors, and the cycles that must lie between."""

    instr: Instr
    before: dict[int, int] = field(default_factory=dict)
    after: list[int] = field(default_factory=list)
    path: int = 0  # cycles to the end of the block


@dataclass(slots=True)
class Timing:
    """Cycles of a block, and the stall before each of its instructions."""

    cycles: int
    stalls: list[int]


def edge(nodes: Sequence[Node[Instr]], first: int, second: int, cycles: int) -> None:
    """Make `second` issue at least so many cycles after `first`."""
    if first == second:
        return
    before = nodes[second].before
    if first not in before:
        nodes[first].after.append(second)
    before[first] = max(before.get(first, 0), cycles)


class Pipe(ABC, Generic[Instr]):
    """What a machine says of the time its instructions take."""

    @abstractmethod
    def reads(self, instr: Instr) -> set[int]:
        """Registers, flags and memory an instruction reads."""

    @abstractmethod
    def writes(self, instr: Instr) -> set[int]:
        """Registers, flags and memory an instruction writes."""

    @abstractmethod
    def latency(self, instr: Instr) -> int:
        """Cycles until what an instruction writes can be read."""

    @abstractmethod
    def issue_cycles(self, instr: Instr) -> int:
        """Cycles an instruction keeps the pipe."""

    @abstractmethod
    def until_read(self, maker: Instr, reader: Instr, place: int) -> int:
        """Cycles from a writer of a place to its reader."""

    @abstractmethod
    def until_overwritten(self, maker: Instr, place: int) -> int:
        """Cycles from a writer of a place to the next one."""

    @abstractmethod
    def timing(self, block: Sequence[Instr]) -> Timing:
        """What a straight run costs."""


def dependencies(block: Sequence[Instr], pipe: Pipe[Instr]) -> list[Node[Instr]]:
    """What must come before what in a block, and how many cycles should lie between."""
    nodes = [Node(instr) for instr in block]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        reads, writes = pipe.reads(node.instr), pipe.writes(node.instr)
        for place in reads:
            if place in writer:
                maker = nodes[writer[place]].instr
                edge(nodes, writer[place], at, pipe.until_read(maker, node.instr, place))
            readers.setdefault(place, []).append(at)
        for place in writes:
            for reader in readers.pop(place, ()):
                edge(nodes, reader, at, 1)
            if place in writer:
                gap = pipe.until_overwritten(nodes[writer[place]].instr, place)
                edge(nodes, writer[place], at, gap)
            writer[place] = at
            if place in reads:
                readers[place] = [at]
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        node.path = max(
            (nodes[user].path + nodes[user].before[at] for user in node.after),
            default=pipe.latency(node.instr),
        )
    return nodes


def schedule(instrs: Iterable[Instr], pipe: Pipe[Instr]) -> list[Instr]:
    """The code, block by block in a better order; what begins or ends a block stays in place."""
    found: list[Instr] = []
    block: list[Instr] = []
    for instr in instrs:
        block.append(instr)
        if instr.ends_block:
            found += [*_ordered(block[:-1], pipe), instr]
            block = []
    return found + _ordered(block, pipe)


def _ordered(block: list[Instr], pipe: Pipe[Instr]) -> list[Instr]:
    if len(block) < 3 or len(block) > MOST:
        return block
    nodes = dependencies(block, pipe)
    missing = [len(node.before) for node in nodes]
    earliest = [0] * len(nodes)
    ready = [at for at, count in enumerate(missing) if not count]
    found: list[Instr] = []
    now = 0
    while ready:
        at = min(ready, key=lambda k: (max(earliest[k], now), -nodes[k].path, k))
        ready.remove(at)
        start = max(earliest[at], now)
        now = start + pipe.issue_cycles(nodes[at].instr)
        found.append(nodes[at].instr)
        for user in nodes[at].after:
            earliest[user] = max(earliest[user], start + nodes[user].before[at])
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return found
