"""Finds uniforms that decide control flow.

A shader with `if (lighting)` or `for (i = 0; i < lights; i++)` is several shaders in one. If the
values of a few uniforms are known, `inline_uniforms` and the optimiser leave only one.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.compiler.nir.algebraic.position import position_values
from gallette.compiler.nir.ir.cf import Block, If, walk
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, LoadConst, Phi
from gallette.compiler.nir.ir.modes import MAKES_POSITIONS
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.values import Def

_CONDITIONAL = frozenset(("discard_if", "demote_if"))
_LONGEST = 64  # the most instructions in a condition


def deciding_uniforms(shader: Shader, most: int = 8) -> tuple[int, ...]:
    """Byte offsets in the default block of up to `most` 32-bit uniforms that decide something.

    A condition counts if it depends only on such uniforms, constants, and loop counters. Conditions
    on which a position depends are excluded (see `inline_uniforms`).
    """
    found: dict[int, None] = {}
    for impl in shader.impls():
        spared = position_values(impl) if shader.stage in MAKES_POSITIONS else set()
        for condition, component in _conditions(impl):
            if condition in spared:
                continue
            offsets = _uniforms_of(condition, component)
            if offsets and len(found.keys() | offsets) <= most:
                found.update(dict.fromkeys(sorted(offsets)))
    return tuple(sorted(found))


def _conditions(impl: FunctionImpl) -> Iterator[tuple[Def, int]]:
    """Conditions of ifs, selects and discards, each a component of a value."""
    for node in walk(impl.body):
        if isinstance(node, If):
            yield node.condition.value, 0
        elif isinstance(node, Block):
            for instr in node.instrs():
                if isinstance(instr, Alu) and instr.op.name == "bcsel":
                    condition = instr.srcs[0]
                    for component in set(condition.swizzle):
                        yield condition.value, component
                elif isinstance(instr, Intrinsic) and instr.name in _CONDITIONAL:
                    yield instr.srcs[0].value, 0


def _uniforms_of(condition: Def, component: int) -> set[int]:
    """Offsets of the uniforms a condition depends on; empty if it depends on anything else."""
    offsets: set[int] = set()
    seen = {(condition, component)}
    work = [(condition, component)]
    while work:
        value, at = work.pop()
        instr = value.instr
        if isinstance(instr, Alu):
            for src, size in zip(instr.srcs, instr.op.input_sizes, strict=True):
                for c in src.swizzle[:size] if size else (src.swizzle[at],):
                    if (src.value, c) not in seen:
                        seen.add((src.value, c))
                        work.append((src.value, c))
            if len(seen) > _LONGEST:
                return set()
        elif isinstance(instr, Intrinsic) and instr.name == "load_ubo":
            first = const_int(instr.srcs[1].value)
            if const_int(instr.srcs[0].value) != 0 or first is None or value.bit_size != 32:
                return set()
            offsets.add(first + 4 * at)
        elif not isinstance(instr, (LoadConst, Phi)):
            return set()
    return offsets
