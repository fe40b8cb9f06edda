"""Before allocation: removes dead code, computes values directly in payloads, coalesces copies."""

from __future__ import annotations

from collections.abc import Sequence

from gallette.drivers.machines.isa.instruction import Instruction
from gallette.drivers.machines.isa.messages import LIVE_FLAG, only_reads

from .code import Code, Instr, reader_counts, renamed
from .colouring import merged
from .liveness import interference


def cleaned(code: Code[Instr]) -> None:
    """The code after all passes of this module, in order."""
    dead_code(code)
    forward(code)
    coalesce(code)


def _is_pure(instr: Instruction) -> bool:
    """Whether an instruction can be removed if its result is not read."""
    if instr.op.kind in ("flow", "kill", "label"):
        return False
    message = instr.message
    return message is None or only_reads(message.unit, message.desc)


def dead_code(code: Code[Instr]) -> None:
    """Remove instructions whose results are not read; a comparison of which only the flag is read
    gets no destination.
    """
    readers = reader_counts(code.instrs)
    progress = True
    while progress:
        progress = False
        flags: set[int] = {LIVE_FLAG}
        kept: list[Instr] = []
        for instr in reversed(code.instrs):
            if instr.op.kind == "flow":
                flags = {LIVE_FLAG, *instr.flags_read}
            wanted = not flags.isdisjoint(instr.flags_written)
            unread = instr.dst.file == "v" and not readers.get(instr.dst.nr)
            if _is_pure(instr) and not wanted and (unread or not instr.writes_registers):
                for src in instr.srcs:
                    if src.file == "v":
                        readers[src.nr] -= 1
                        progress = True
                continue
            if unread and wanted:
                instr.dst = instr.dst._replace(file="n", nr=0)
            if wanted and instr.replaces_flag:
                flags.difference_update(instr.flags_written)
            flags.update(instr.flags_read)
            kept.append(instr)
        kept.reverse()
        code.instrs = kept


def forward(code: Code[Instr]) -> None:
    """Compute a value directly in the payload if it is only copied there.

    add v1, a, b                  add v9+2, a, b
    mov v9+2, v1         =>
    send ... v9                   send ... v9
    """
    moved = _moved(code, code.block_numbers())
    if not moved:
        return
    touched = {code.instrs[at].dst.nr for at in moved}
    code.instrs = [instr for at, instr in enumerate(code.instrs) if at not in moved]
    seen: set[int] = set()
    for instr in code.instrs:
        if instr.dst.file == "v" and instr.dst.nr in touched:
            instr.fresh = instr.dst.nr not in seen
            seen.add(instr.dst.nr)


def _moved(code: Code[Instr], block_of: Sequence[int]) -> set[int]:
    """The copies that are removed because their values are computed in the copies' destinations."""
    instrs = code.instrs
    writers: dict[int, list[int]] = {}
    readers: dict[int, list[int]] = {}
    for at, instr in enumerate(instrs):
        if instr.dst.file == "v":
            writers.setdefault(instr.dst.nr, []).append(at)
        for src in instr.srcs:
            if src.file == "v":
                readers.setdefault(src.nr, []).append(at)
    moved: set[int] = set()
    for at, copy in enumerate(instrs):
        if not code.is_copy(copy):
            continue
        src, dst = copy.srcs[0], copy.dst
        made = writers.get(src.nr, [])
        if len(made) != 1 or len(readers[src.nr]) != 1 or src.offset or dst.nr == src.nr:
            continue
        maker, block = instrs[made[0]], block_of[at]
        fits = (
            block_of[made[0]] == block
            and at - code.near <= made[0] < at
            and maker.message is None
            and code.may_write(maker, copy)
            and not any(s.file == "v" and s.nr == dst.nr for s in maker.srcs)
        )
        # Only registers gathered and sent in this block: nothing looks at them meanwhile.
        local = all(block_of[k] == block and k >= at for k in readers.get(dst.nr, [])) and all(
            block_of[k] == block for k in writers[dst.nr]
        )
        if fits and local:
            maker.dst = code.retargeted(maker, copy)
            moved.add(at)
            writers[dst.nr].append(made[0])
            writers[dst.nr].remove(at)
    return moved


def coalesce(code: Code[Instr]) -> None:
    """Give both sides of a copy one register where their live ranges allow it."""
    copies, fit = code.coalescable()
    if not copies:
        return
    graph = interference(code, copies=True)
    final = merged(graph, ((copy.dst.nr, copy.srcs[0].nr) for copy in copies), fit)
    kept = []
    for instr in code.instrs if final else ():
        renamed(instr, final)
        source = instr.srcs[0] if code.is_copy(instr) else None
        if source is None or (source.nr, source.offset) != (instr.dst.nr, instr.dst.offset):
            kept.append(instr)
    code.instrs = kept if final else code.instrs
