"""Passes before allocation: remove dead code, compute values in payloads, coalesce copies."""

from __future__ import annotations

from gallette.drivers.common.machine.colouring import bits_of, merged
from gallette.drivers.common.machine.launch import LIVE_FLAG
from gallette.drivers.common.machine.messages import only_reads
from gallette.drivers.common.machine.payloads import Forwarding, reader_counts
from gallette.drivers.simd.isa.instruction import NULL, Instruction

from .code import Code
from .liveness import Liveness, LiveRanges, layouts

__all__ = ["coalesce", "dead_code", "forward"]


def _is_pure(instr: Instruction) -> bool:
    """Whether the instruction is dead if its destination is not read."""
    if instr.op.kind == "flow":
        return False
    message = instr.message
    return message is None or only_reads(message.unit, message.desc)


def dead_code(code: Code) -> None:
    """Remove dead code; a comparison of which only the flag is read loses its destination."""
    readers = reader_counts(code.instrs)
    progress = True
    while progress:
        progress = False
        flags: set[int] = {LIVE_FLAG}
        kept: list[Instruction] = []
        for instr in reversed(code.instrs):
            if instr.op.kind == "flow":
                flags = {LIVE_FLAG}
                if instr.pred:
                    flags.add(instr.flag)
                kept.append(instr)
                continue
            wanted = instr.writes_flag and instr.flag in flags
            unread = instr.dst.file == "v" and not readers.get(instr.dst.nr)
            if unread and wanted and instr.op.kind in ("compare", "move", "alu"):
                instr.dst = NULL._replace(type=instr.dst.type)
            if not wanted and _is_pure(instr) and (unread or instr.dst.file == "n"):
                for src in instr.srcs:
                    if src.file == "v":
                        readers[src.nr] -= 1
                        progress = True
                continue
            if wanted and not instr.pred and instr.flag != LIVE_FLAG and not instr.group:
                flags.discard(instr.flag)
            if instr.pred:
                flags.add(instr.flag)
            kept.append(instr)
        kept.reverse()
        code.instrs = kept


def forward(code: Code) -> None:
    """Compute a value that is only copied into a payload directly in the payload."""
    code.instrs = _FORWARDING.run(code.instrs, _block_numbers(code))


def _may_write(maker: Instruction, copy: Instruction) -> bool:
    """Whether `maker` can write the destination of `copy` directly."""
    return (
        (maker.width, maker.group) == (copy.width, copy.group)
        and maker.dst.stride == 1
        and not maker.dst.offset
        and maker.dst.type.size == copy.dst.type.size
        and not maker.no_mask
        and (not maker.pred or maker.op.kind == "select")
    )


def _retarget(maker: Instruction, copy: Instruction) -> None:
    maker.dst = copy.dst.retyped(maker.dst.type)


def _block_numbers(code: Code) -> list[int]:
    number, found = 0, []
    for instr in code.instrs:
        if instr.op.kind == "flow":
            number += 1
        found.append(number)
        if instr.op.kind == "flow":
            number += 1
    return found


def _is_copy(instr: Instruction) -> bool:
    """Whether an instruction copies bits unchanged."""
    if instr.op.kind != "move" or instr.cond or instr.pred or instr.sat or instr.no_mask:
        return False
    src, dst = instr.srcs[0], instr.dst
    if dst.file != "v" or dst.stride != 1 or src.file != "v" or src.stride != 1 or src.modified:
        return False
    same = src.type is dst.type or "float" not in (src.type.base, dst.type.base)
    return same and src.type.size == dst.type.size


_FORWARDING = Forwarding(10, _is_copy, _may_write, _retarget)


def coalesce(code: Code, ranges: LiveRanges) -> None:
    """Give both sides of a copy one register if their live ranges allow it."""
    copies = [
        instr
        for instr in code.instrs
        if _is_copy(instr)
        and not instr.srcs[0].offset
        and instr.written() == (0, 32 * code.sizes[instr.dst.nr])
        and instr.width == code.width
        and code.sizes[instr.srcs[0].nr] == code.sizes[instr.dst.nr]
    ]
    if not copies:
        return
    graph = interference(code, ranges, copies=True)
    keys, _ = layouts(code)
    final = merged(
        graph,
        ((instr.dst.nr, instr.srcs[0].nr) for instr in copies),
        lambda a, b: keys.get(a) is not None and keys.get(a) == keys.get(b),
    )
    if not final:
        return
    kept = []
    for instr in code.instrs:
        if instr.dst.file == "v" and instr.dst.nr in final:
            instr.dst = instr.dst._replace(nr=final[instr.dst.nr])
        if any(s.file == "v" and s.nr in final for s in instr.srcs):
            instr.srcs = tuple(
                s._replace(nr=final[s.nr]) if s.file == "v" and s.nr in final else s
                for s in instr.srcs
            )
        gone = (
            _is_copy(instr)
            and instr.srcs[0].nr == instr.dst.nr
            and instr.srcs[0].offset == instr.dst.offset
        )
        if not gone:
            kept.append(instr)
    code.instrs = kept


def interference(code: Code, ranges: LiveRanges, copies: bool = False) -> dict[int, int]:
    """By register, a mask of those it interferes with; `copies` do not count as interference."""
    lives = Liveness(code, ranges)
    graph: dict[int, int] = {}
    for block in lives.blocks.values():
        for instr, live in lives.backwards(block):
            if instr.dst.file != "v":
                continue
            nr = instr.dst.nr
            found = lives.against(block, instr, live)
            if copies and _is_copy(instr) and instr.srcs[0].file == "v":
                found &= ~(1 << instr.srcs[0].nr)
            graph[nr] = graph.get(nr, 0) | found
    for nr, found in list(graph.items()):
        for other in bits_of(found):
            graph[other] = graph.get(other, 0) | 1 << nr
    return graph
