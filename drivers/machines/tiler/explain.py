"""A program as text: assembly beside the NIR it comes from, with stalls."""

from __future__ import annotations

from gallette.drivers.machines.isa.messages import describe

from .backend.timing import PIPE
from .compile import Compiled
from .isa.table import ISA

__all__ = ["listing"]


def listing(compiled: Compiled) -> str:
    """Numbered instructions, the cycle in which they issue within the block, the cycles they wait,
    and the NIR operation that begins there.
    """
    executable = compiled.executable
    lines = [
        f"; {compiled.instructions} instructions, {compiled.registers} registers, "
        f"{compiled.allocation.spills} spills, {compiled.nops} cycles of nops, "
        f"{compiled.cycles} cycles if every block runs once, {sum(compiled.stalls)} of them waiting"
    ]
    starts = {start for start, _ in executable.blocks}
    now = 0
    for at, (instr, stall, note) in enumerate(
        zip(executable.code, compiled.stalls, compiled.notes, strict=True)
    ):
        text = f"{at:4}: {ISA.line(instr)}"
        now = stall + (0 if at in starts else now)
        when = f"{now}" + (f" +{stall}" if stall else "")
        message = instr.message
        told = f"{note} {describe(message.unit, message.desc) if message else ''}".strip()
        lines.append(f"{text:<64} ; {when:<9}{told}".rstrip())
        now += PIPE.issue_cycles(instr)
    return "\n".join(lines) + "\n"
