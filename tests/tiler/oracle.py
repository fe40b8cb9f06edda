"""An independent look at code: who overwrites whom, who reads too early, who does not wait.

Nothing here is shared with the compiler but the instructions themselves: live ranges are sets per
instruction, and the machine's rules are written down once more, from the documentation.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.drivers.machines.tiler.backend.code import Code
from gallette.drivers.machines.tiler.compile import Compiled
from gallette.drivers.machines.tiler.isa.instruction import Instruction


def _next(code: list[Instruction]) -> list[list[int]]:
    """By instruction, those that may come after it; labels are instructions here."""
    labels = {i.target: at for at, i in enumerate(code) if i.op.kind == "label"}
    found = []
    for at, instr in enumerate(code):
        after = [] if instr.op.name in ("jump", "end") else [at + 1]
        if instr.op.name in ("jump", "br", "brdead"):
            after.append(labels[instr.target])
        found.append([a for a in after if a < len(code)])
    return found


def clashes(virtual: Code, places: dict[int, int]) -> list[str]:
    """Values that are alive together and share a register."""
    code = virtual.instrs
    after = _next(code)
    reads = [{o.nr for o in i.srcs if o.file == "v"} for i in code]
    writes = [i.dst.nr if i.dst.file == "v" else None for i in code]
    kills = [{w} if w is not None and i.fresh else set() for w, i in zip(writes, code, strict=True)]
    live: list[set[int]] = [set() for _ in code]
    changed = True
    while changed:
        changed = False
        for at in range(len(code) - 1, -1, -1):
            out = set().union(*(live[a] for a in after[at]))
            found = reads[at] | (out - kills[at])
            w = writes[at]
            if w is not None and not code[at].fresh:
                found.add(w)
            if found != live[at]:
                live[at], changed = found, True
    problems = []
    for at, instr in enumerate(code):
        w = writes[at]
        if w is None:
            continue
        others = set().union(*(live[a] for a in after[at])) - {w}
        if instr.op.name == "mov" and instr.srcs[0].file == "v" and not instr.srcs[0].modified:
            others.discard(instr.srcs[0].nr)  # the same value in both
        mine = set(range(places[w], places[w] + virtual.sizes[w]))
        for other in others:
            if mine & set(range(places[other], places[other] + virtual.sizes[other])):
                problems.append(f"{at}: v{w} overwrites v{other}")
    return problems


def _touched(instr: Instruction) -> tuple[set[object], set[object]]:
    """Registers and predicates that are read and written."""
    reads: set[object] = set()
    for k in range(len(instr.srcs)):
        reads.update(instr.read(k))
    if instr.op.name in ("br", "brdead", "kill"):
        reads.add(f"p{instr.pred}")
    writes: set[object] = set(instr.written())
    if instr.dst.file == "p":
        writes.add(f"p{instr.dst.nr}")
    return reads, writes


def _blocks(made: Compiled) -> Iterator[list[Instruction]]:
    for start, stop in made.executable.blocks:
        yield made.executable.code[start:stop]


def early_reads(made: Compiled) -> list[str]:
    """Arithmetic results that are read before the pipe has them."""
    problems = []
    for block in _blocks(made):
        written: dict[object, int] = {}
        now = 0
        for instr in block:
            reads, writes = _touched(instr)
            wanted = 4 if instr.op.cat in (1, 2, 3) else 7
            for place in reads:
                if place not in written:
                    continue
                least = wanted
                if instr.op.cat == 3 and place not in (*instr.read(0), *instr.read(1)):
                    least = 2
                if now - written[place] < least:
                    problems.append(f"{instr.op.name} reads {place} {now - written[place]} later")
            arithmetic = instr.op.cat in (1, 2, 3)
            for place in writes:
                written.pop(place, None)
                if arithmetic:
                    written[place] = now + instr.repeat
            now += instr.repeat + 1
    return problems


def missing_waits(made: Compiled) -> list[str]:
    """Registers that are touched while a slow result may still be on its way to them."""
    code = made.executable.code
    after = [
        ([] if i.op.name in ("jump", "end") else [at + 1])
        + ([i.target] if i.op.name in ("jump", "br", "brdead") else [])
        for at, i in enumerate(code)
    ]
    slow = {"sampler": "sy", "memory": "sy", "image": "sy"}
    state: list[set[tuple[str, int]]] = [set() for _ in range(len(code) + 1)]
    problems: set[str] = set()
    work = [0]
    seen = {0}
    while work:
        at = work.pop()
        instr = code[at]
        pending = {
            (queue, nr)
            for queue, nr in state[at]
            if not (queue == "ss" and instr.ss) and not (queue == "sy" and instr.sy)
        }
        reads, writes = _touched(instr)
        for queue, nr in pending:
            if nr in reads or nr in writes:
                problems.add(f"{at}: {instr.op.name} touches {nr} without ({queue})")
        if instr.op.kind == "special":
            pending |= {("ss", nr) for nr in instr.written()}
        elif instr.op.kind == "quad":
            pending |= {("sy", nr) for nr in instr.written()}
        elif instr.message is not None:
            pending |= {(slow.get(instr.message.unit, "ss"), nr) for nr in instr.written()}
        for target in after[at]:
            if target < len(code) and (target not in seen or not pending <= state[target]):
                state[target] |= pending
                seen.add(target)
                work.append(target)
    return sorted(problems)
