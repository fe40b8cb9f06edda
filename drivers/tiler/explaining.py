"""A program as people read it: assembly beside the NIR it comes from, with stalls."""

from __future__ import annotations

from .compile import Compiled
from .isa.assembly import line_of, meaning_of

__all__ = ["listing"]


def listing(compiled: Compiled) -> str:
    """Numbered instructions; cycles they wait, and the NIR operation they begin."""
    executable = compiled.executable
    lines = [
        f"; {compiled.instructions} instructions, {compiled.registers} registers, "
        f"{compiled.allocation.spills} spills, {compiled.nops} cycles of nops, "
        f"{compiled.cycles} cycles if every block runs once"
    ]
    for at, (instr, stall, note) in enumerate(
        zip(executable.code, compiled.stalls, compiled.notes, strict=True)
    ):
        text = f"{at:4}: {line_of(instr)}"
        wait = f"+{stall}" if stall else ""
        told = f"{note} {meaning_of(instr)}".strip()
        lines.append(f"{text:<64} ; {wait:<5}{told}".rstrip(" ;"))
    return "\n".join(lines) + "\n"
