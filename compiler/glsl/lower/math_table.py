"""The table of numeric built-ins, filled by the modules beside this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def

__all__ = ["MATH", "Lower", "imm", "row"]

Lower = Callable[[Builder, hir.BuiltinCall, list[Any]], Any]
"""(builder, call, argument values) -> the result, or a tuple of it and what is written"""
MATH: dict[str, Lower] = {}


def row(*names: str) -> Callable[[Lower], Lower]:
    """Enter a function into the table under each of `names`."""

    def register(f: Lower) -> Lower:
        for name in names:
            MATH[name] = f
        return f

    return register


def imm(b: Builder, x: float, like: Def) -> Def:
    """A float constant of the width of `like`."""
    return b.imm_float(x, like.bit_size)
