"""A program as text: assembly beside the NIR it comes from, with stalls."""

from __future__ import annotations

from .compile import Compiled
from .isa.table import ISA

__all__ = ["listing"]


def listing(compiled: Compiled) -> str:
    """Numbered instructions, the cycles they stall, and the NIR operation that begins there."""
    executable = compiled.executable
    lines = [
        f"; SIMD{executable.width}, {compiled.instructions} instructions, "
        f"{compiled.registers} registers, {compiled.allocation.spills} spills, "
        f"{compiled.cycles} cycles if every block runs once"
    ]
    for at, (instr, stall, note) in enumerate(
        zip(executable.code, compiled.stalls, compiled.notes, strict=True)
    ):
        text = f"{at:4}: {ISA.line(instr)}"
        wait = f"+{stall}" if stall else ""
        lines.append(f"{text:<88} ; {wait:<5}{note}".rstrip(" ;"))
    return "\n".join(lines) + "\n"
