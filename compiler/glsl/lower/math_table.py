"""The table of numeric built-ins, filled by other modules of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.builder import Builder

Lower = Callable[[Builder, hir.BuiltinCall, list[Any]], Any]
"""(builder, call, argument values) -> the result, or a tuple with values written"""
MATH: dict[str, Lower] = {}


def row(*names: str) -> Callable[[Lower], Lower]:
    """Register a function under each of `names`."""

    def register(f: Lower) -> Lower:
        for name in names:
            MATH[name] = f
        return f

    return register
