"""Live ranges, and which virtual registers must not share a register.

They are those of one channel: from a value's definition to its uses. A machine whose channels may
overwrite each other's values adds conflicts (`against`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic

from .code import Block, Code, Instr, blocks_of
from .colouring import bits_of


class Liveness(Generic[Instr]):
    """The live ranges of a shader's code."""

    def __init__(self, code: Code[Instr]) -> None:
        self.instrs = code.instrs
        self.blocks = blocks_of(code.instrs, code.jumps())
        for block in self.blocks.values():
            for instr in self.instrs[block.start : block.stop]:
                for src in instr.srcs:
                    if src.file == "v":
                        block.uses |= 1 << src.nr & ~block.kills
                if instr.dst.file == "v" and instr.replaces:
                    block.kills |= 1 << instr.dst.nr
        order = sorted(self.blocks.values(), key=lambda b: -b.start)
        changed = True
        while changed:
            changed = False
            for block in order:
                out = 0
                for at in block.next:
                    out |= self.blocks[at].live_in
                live = block.uses | out & ~block.kills
                if out != block.live_out or live != block.live_in:
                    block.live_out, block.live_in = out, live
                    changed = True

    def backwards(self, block: Block) -> Iterator[tuple[Instr, int]]:
        """The instructions of a block from its end, each with the registers live after it."""
        live = block.live_out
        for instr in reversed(self.instrs[block.start : block.stop]):
            yield instr, live
            if instr.dst.file == "v" and instr.replaces:
                live &= ~(1 << instr.dst.nr)
            for src in instr.srcs:
                if src.file == "v":
                    live |= 1 << src.nr

    def against(self, block: Block, instr: Instr, live: int) -> int:
        """All registers that the destination of `instr` must not share a register with."""
        if instr.message is not None:  # the answer comes while the payload may still be read
            for src in instr.srcs:
                if src.file == "v":
                    live |= 1 << src.nr
        return int(live & ~(1 << instr.dst.nr))


def interference(code: Code[Instr], copies: bool = False) -> dict[int, int]:
    """By register, a mask of those it must not share with; `copies` do not count as conflicts."""
    lives = code.liveness()
    graph: dict[int, int] = {}
    for block in lives.blocks.values():
        for instr, live in lives.backwards(block):
            if instr.dst.file != "v":
                continue
            found = lives.against(block, instr, live)
            if copies and code.is_copy(instr):
                found &= ~(1 << instr.srcs[0].nr)
            graph[instr.dst.nr] = graph.get(instr.dst.nr, 0) | found
    for nr, found in list(graph.items()):
        for other in bits_of(found):
            graph[other] = graph.get(other, 0) | 1 << nr
    return graph
