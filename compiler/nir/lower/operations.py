"""Replaces operations by code that a target has, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def

Build: TypeAlias = Callable[[Builder, Sequence[Def]], Def]
"""(builder, sources) -> result"""


def lower_operations(shader: Shader, lowering: Callable[[Alu], Build | None]) -> bool:
    """Replace each operation for which `lowering` returns code."""
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            build = lowering(instr) if isinstance(instr, Alu) else None
            if build is not None:
                b = Builder(impl).at_before(instr)
                instr.replace_by(build(b, [b.swizzle(s.value, s.swizzle) for s in instr.srcs]))
                progress = True
    return progress
