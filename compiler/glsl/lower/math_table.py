"""The table of numeric built-ins, filled by other modules of this package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.builder import Builder

Lower = Callable[[Builder, hir.BuiltinCall, list[Any]], Any]
"""(builder, call, argument values) -> the result, or a tuple with values written"""
MATH = FunctionTable[str, Lower]()
row = MATH.entry
