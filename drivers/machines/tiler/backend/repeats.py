"""Repetition: adjacent instructions that differ by consecutive registers merge into one.

    mul.f r0.x, c0.x, r4.x
    mul.f r0.y, c0.y, r4.x    =>    (rpt1)mul.f r0.x, (r)c0.x, r4.x

It saves fetching and decoding, not cycles: a repetition takes as long as an instruction.
"""

from __future__ import annotations

from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand

MOST = 4
_KINDS = frozenset({"alu", "compare", "select"})


def fold_repeats(instrs: list[Instruction]) -> list[Instruction]:
    """Fold runs of such instructions."""
    found: list[Instruction] = []
    run: list[Instruction] = []
    for instr in instrs:
        if run and len(run) < MOST and _continues(run, instr):
            run.append(instr)
            continue
        found += _folded(run)
        run = [instr]
    return found + _folded(run)


def _folded(run: list[Instruction]) -> list[Instruction]:
    if len(run) < 2:
        return run
    first = run[0].copy()
    first.repeat = len(run) - 1
    first.srcs = tuple(
        a._replace(rep=_follows(a, b)) for a, b in zip(run[0].srcs, run[1].srcs, strict=True)
    )
    return [first]


def _follows(a: Operand, b: Operand) -> bool:
    return a.file in ("r", "c") and b == a._replace(nr=a.nr + 1)


def _continues(run: list[Instruction], instr: Instruction) -> bool:
    """Whether the instruction applies the run's operation to the next registers."""
    first, last = run[0], run[-1]
    if instr.op is not first.op or instr.op.kind not in _KINDS or instr.sat != first.sat:
        return False
    if first.dst.file != "r" or instr.dst != last.dst._replace(nr=last.dst.nr + 1):
        return False
    for k, (a, b) in enumerate(zip(last.srcs, instr.srcs, strict=True)):
        moves = _follows(a, b)
        if not moves and a != b:
            return False
        if len(run) > 1 and moves != _follows(run[0].srcs[k], run[1].srcs[k]):
            return False
        if a.file == "h":
            return False
    return all(_undisturbed(run, instr, k) for k in range(len(instr.srcs)))


def _undisturbed(run: list[Instruction], instr: Instruction, k: int) -> bool:
    """Whether no repetition reads with source `k` what an earlier one has written."""
    first = run[0].srcs[k]
    if first.file != "r":
        return True
    moves = _follows(run[-1].srcs[k], instr.srcs[k])
    count = len(run) + 1
    read = range(first.nr, first.nr + (count if moves else 1))
    start = run[0].dst.nr
    apart = read.stop <= start or start + count <= read.start
    return apart or (moves and first.nr == start)
