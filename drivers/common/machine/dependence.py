"""Dependence graph of a basic block, and a list scheduler that hides latencies.

Of the instructions that could issue soonest, the scheduler takes the one with the longest path to
the end of the block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

__all__ = ["Node", "Timing", "block_by_block", "dependence_graph", "edge", "list_scheduled"]

Instr = TypeVar("Instr")


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


def dependence_graph(
    block: Sequence[Instr],
    touched: Callable[[Instr], tuple[set[int], set[int]]],
    until_read: Callable[[Instr, Instr, int], int],
    until_overwritten: Callable[[Instr, int], int],
    latency: Callable[[Instr], int],
) -> list[Node[Instr]]:
    """The dependence graph of a block, with the cycles between its instructions.

    `touched` are the registers an instruction reads and writes; `until_read` the cycles from a
    write to a read, `until_overwritten` those to the next write of the same register.
    """
    nodes = [Node(instr) for instr in block]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        reads, writes = touched(node.instr)
        for place in reads:
            if place in writer:
                maker = nodes[writer[place]].instr
                edge(nodes, writer[place], at, until_read(maker, node.instr, place))
            readers.setdefault(place, []).append(at)
        for place in writes:
            for reader in readers.pop(place, ()):
                edge(nodes, reader, at, 1)
            if place in writer:
                gap = until_overwritten(nodes[writer[place]].instr, place)
                edge(nodes, writer[place], at, gap)
            writer[place] = at
            if place in reads:
                readers[place] = [at]
    _measure_paths(nodes, latency)
    return nodes


def block_by_block(
    instrs: Sequence[Instr],
    ends: Callable[[Instr], bool],
    order: Callable[[list[Instr]], list[Instr]],
) -> list[Instr]:
    """The code with each basic block reordered; the instruction that ends a block stays last."""
    found: list[Instr] = []
    block: list[Instr] = []
    for instr in instrs:
        if ends(instr):
            found += order(block)
            found.append(instr)
            block = []
        else:
            block.append(instr)
    return found + order(block)


def _measure_paths(nodes: Sequence[Node[Instr]], latency: Callable[[Instr], int]) -> None:
    """Compute each instruction's longest path to the end of the block."""
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        node.path = max(
            (nodes[user].path + nodes[user].before[at] for user in node.after),
            default=latency(node.instr),
        )


def list_scheduled(
    nodes: Sequence[Node[Instr]], issue_cycles: Callable[[Instr], int]
) -> list[Instr]:
    """The instructions of a block in scheduled order."""
    missing = [len(node.before) for node in nodes]
    earliest = [0] * len(nodes)
    ready = [at for at, count in enumerate(missing) if not count]
    found: list[Instr] = []
    now = 0
    while ready:
        at = min(ready, key=lambda k: (max(earliest[k], now), -nodes[k].path, k))
        ready.remove(at)
        start = max(earliest[at], now)
        now = start + issue_cycles(nodes[at].instr)
        found.append(nodes[at].instr)
        for user in nodes[at].after:
            earliest[user] = max(earliest[user], start + nodes[user].before[at])
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return found
