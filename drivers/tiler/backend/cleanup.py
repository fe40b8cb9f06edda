"""Passes before allocation: remove dead code, compute values in payloads, coalesce copies."""

from __future__ import annotations

from gallette.drivers.common.machine.colouring import bits_of, merged
from gallette.drivers.common.machine.messages import only_reads
from gallette.drivers.common.machine.payloads import Forwarding, reader_counts
from gallette.drivers.tiler.isa.instruction import Instruction

from .code import LABEL, Block, Code, blocks_of

__all__ = ["coalesce", "dead_code", "forward", "interference", "live_ranges"]


def is_pure(instr: Instruction) -> bool:
    """Whether the instruction is dead if its destination is not read."""
    if instr.op.kind in ("flow", "kill", "label"):
        return False
    return instr.message is None or only_reads(instr.unit, instr.message.desc)


def dead_code(code: Code) -> None:
    """Remove dead code."""
    readers = reader_counts(code.instrs)
    progress = True
    while progress:
        progress = False
        kept: list[Instruction] = []
        for instr in reversed(code.instrs):
            unread = instr.dst.file == "v" and not readers.get(instr.dst.nr)
            if unread and is_pure(instr):
                for src in instr.srcs:
                    if src.file == "v":
                        readers[src.nr] -= 1
                        progress = True
                continue
            kept.append(instr)
        kept.reverse()
        code.instrs = kept


def forward(code: Code) -> None:
    """Compute a value that is only copied into a payload directly in the payload."""
    block_of: list[int] = []
    number = 0
    for instr in code.instrs:
        number += instr.op is LABEL
        block_of.append(number)
        number += instr.op.kind == "flow"
    code.instrs = _FORWARDING.run(code.instrs, block_of)


def is_copy(instr: Instruction) -> bool:
    """Whether an instruction copies bits unchanged."""
    if instr.op.name != "mov" or instr.dst.file != "v" or instr.sat:
        return False
    src = instr.srcs[0]
    return src.file == "v" and not src.modified and not src.half and not instr.dst.half


def _may_write(maker: Instruction, copy: Instruction) -> bool:
    """Whether `maker` can write the destination of `copy` directly."""
    return not maker.dst.half


def _retarget(maker: Instruction, copy: Instruction) -> None:
    maker.dst = copy.dst


_FORWARDING = Forwarding(12, is_copy, _may_write, _retarget)


# -- live ranges -----------------------------------------------------------------------------------


def live_ranges(code: Code) -> dict[int, Block]:
    """Blocks with the values live around them.

    A channel writes only its own part of a register, so plain liveness suffices: channels that wait
    elsewhere keep their values.
    """
    blocks = blocks_of(code.instrs)
    for block in blocks.values():
        for instr in code.instrs[block.start : block.stop]:
            for src in instr.srcs:
                if src.file == "v":
                    block.uses |= (1 << src.nr) & ~block.kills
            if instr.dst.file == "v":
                if instr.fresh:
                    block.kills |= 1 << instr.dst.nr & ~block.uses
                else:
                    block.uses |= (1 << instr.dst.nr) & ~block.kills
    order = sorted(blocks.values(), key=lambda b: -b.start)
    changed = True
    while changed:
        changed = False
        for block in order:
            out = 0
            for at in block.next:
                out |= blocks[at].live_in
            live = block.uses | out & ~block.kills
            if out != block.live_out or live != block.live_in:
                block.live_out, block.live_in = out, live
                changed = True
    return blocks


def interference(code: Code, copies: bool = False) -> dict[int, int]:
    """By register, a mask of those it interferes with; `copies` do not count as interference."""
    graph: dict[int, int] = {}
    for block in live_ranges(code).values():
        live = block.live_out
        for instr in reversed(code.instrs[block.start : block.stop]):
            if instr.dst.file == "v":
                nr = instr.dst.nr
                found = live
                if instr.message is not None:  # the answer may come before the last read
                    for src in instr.srcs:
                        if src.file == "v":
                            found |= 1 << src.nr
                if copies and is_copy(instr):
                    found &= ~(1 << instr.srcs[0].nr)
                graph[nr] = graph.get(nr, 0) | found & ~(1 << nr)
                if instr.fresh:
                    live &= ~(1 << nr)
                else:
                    live |= 1 << nr
            for src in instr.srcs:
                if src.file == "v":
                    live |= 1 << src.nr
    for nr, found in list(graph.items()):
        for other in bits_of(found):
            graph[other] = graph.get(other, 0) | 1 << nr
    return graph


def coalesce(code: Code) -> None:
    """Give both sides of a copy one register if their live ranges allow it."""
    copies = [
        instr
        for instr in code.instrs
        if is_copy(instr) and code.sizes[instr.srcs[0].nr] == code.sizes[instr.dst.nr] == 1
    ]
    if not copies:
        return
    graph = interference(code, copies=True)
    final = merged(graph, ((instr.dst.nr, instr.srcs[0].nr) for instr in copies), lambda a, b: True)
    if not final:
        return
    kept = []
    for instr in code.instrs:
        if instr.dst.file == "v":
            instr.dst = instr.dst._replace(nr=final.get(instr.dst.nr, instr.dst.nr))
        instr.srcs = tuple(
            s._replace(nr=final.get(s.nr, s.nr)) if s.file == "v" else s for s in instr.srcs
        )
        if not (is_copy(instr) and instr.srcs[0] == instr.dst):
            kept.append(instr)
    code.instrs = kept
