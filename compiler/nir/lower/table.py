"""The table of lowered functions, filled by the other modules of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.target_machine import Machine

__all__ = ["Lower", "enter", "special"]

Lower: TypeAlias = Callable[..., Def]
"""(builder, machine, *sources) -> result, in 32 bits"""
_ROWS: dict[str, Lower] = {}


def enter(rows: dict[str, Lower]) -> None:
    """Register functions, by opcode."""
    _ROWS.update(rows)


def special(b: Builder, m: Machine, name: str, *srcs: Def) -> Def:
    """Compute the function `name` for machine `m`, on 32-bit floats."""
    if name in m.has:
        return b.alu(name, *srcs)
    with b.exactly():
        return _ROWS[name](b, m, *srcs)
