"""Scheduling: an order of straight code that hides latencies.

Registers are assigned by now, so dependencies follow from the registers, flags and memory that
instructions read and write. Of the instructions that could issue soonest, the list scheduler takes
the one with the longest path to the block's end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Generic

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.machines.isa.instruction import Instruction
from gallette.drivers.machines.isa.messages import LIVE_FLAG, only_reads, sees_live_pixels

from .code import Instr

FLAGS, MEMORY = 1000, 2000
"""The places that stand for the flags and for all memory, among the numbers of registers."""

MOST = 1200
"""Longer blocks stay as they are: finding dependences is not free."""


@lazy_dataclass()
class Node(Generic[Instr]):
    """An instruction, its predecessors, and the minimum cycles between them."""

    instr: Instr
    before: dict[int, int] = field(default_factory=dict)
    after: list[int] = field(default_factory=list)
    path: int = 0  # cycles to the end of the block


@lazy_dataclass()
class Timing:
    """The cycles of a block, and the stall before each of its instructions."""

    cycles: int
    stalls: list[int]


def edge(nodes: Sequence[Node[Instr]], first: int, second: int, cycles: int) -> None:
    """Require that `second` issues at least this many cycles after `first`."""
    if first == second:
        return
    before = nodes[second].before
    if first not in before:
        nodes[first].after.append(second)
    before[first] = max(before.get(first, 0), cycles)


def places_read(instr: Instruction) -> set[int]:
    """The registers and flags that an instruction reads."""
    found = {nr for k in range(len(instr.srcs)) for nr in instr.read(k)}
    found.update(FLAGS + flag for flag in instr.flags_read)
    if instr.message is not None and sees_live_pixels(instr.message.unit, instr.message.desc):
        found.add(FLAGS + LIVE_FLAG)
    return found


def places_written(instr: Instruction) -> set[int]:
    """The registers and flags that an instruction writes."""
    return {*instr.written(), *(FLAGS + flag for flag in instr.flags_written)}


def _access(instr: Instruction) -> str:
    """Whether a message reads or writes memory, so that it keeps its order among those that
    write.
    """
    message = instr.message
    if message is None or message.unit in ("input", "constant", "sampler"):
        return ""
    return "reads" if only_reads(message.unit, message.desc) else "writes"


class Pipe(ABC, Generic[Instr]):
    """A machine's description of the time its instructions take."""

    def reads(self, instr: Instr) -> set[int]:
        """The registers, flags and memory that an instruction reads."""
        found = places_read(instr)
        return found | {MEMORY} if _access(instr) == "reads" else found

    def writes(self, instr: Instr) -> set[int]:
        """The registers, flags and memory that an instruction writes."""
        found = places_written(instr)
        return found | {MEMORY} if _access(instr) == "writes" else found

    @abstractmethod
    def latency(self, instr: Instr) -> int:
        """The cycles until an instruction's result can be read."""

    @abstractmethod
    def issue_cycles(self, instr: Instr) -> int:
        """The cycles that an instruction occupies the pipe."""

    @abstractmethod
    def until_read(self, maker: Instr, reader: Instr, place: int) -> int:
        """The cycles from a write of a place to a read."""

    @abstractmethod
    def until_overwritten(self, maker: Instr) -> int:
        """The cycles from a write to the next one of the same place."""

    @abstractmethod
    def timing(self, block: Sequence[Instr]) -> Timing:
        """The time that a straight run takes."""


def dependencies(block: Sequence[Instr], pipe: Pipe[Instr]) -> list[Node[Instr]]:
    """The dependencies between instructions of a block, with the cycles between them."""
    nodes = [Node(instr) for instr in block]
    writer: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        reads, writes = pipe.reads(node.instr), pipe.writes(node.instr)
        for place in reads:
            if place in writer:
                maker = nodes[writer[place]].instr
                gap = pipe.until_read(maker, node.instr, place) if place < MEMORY else 1
                edge(nodes, writer[place], at, gap)
            readers.setdefault(place, []).append(at)
        for place in writes:
            for reader in readers.pop(place, ()):
                edge(nodes, reader, at, 1)
            if place in writer:
                gap = pipe.until_overwritten(nodes[writer[place]].instr) if place < MEMORY else 1
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
    """The code with each block reordered; instructions that begin or end a block stay in place."""
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
