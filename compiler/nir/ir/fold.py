"""Evaluation of opcodes on constants: raw bits in, raw bits out, by the table's semantics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.opcodes import Opcode, numpy_dtype
from gallette.compiler.nir.ir.values import Def


def evaluate(
    op: Opcode, srcs: Sequence[tuple[int, ...]], bit_sizes: Sequence[int], bit_size: int
) -> tuple[int, ...]:
    """Components of the result as raw bits; `srcs` are already swizzled."""
    arrays = [
        np.array(values, _UNSIGNED[bits]).view(numpy_dtype(type.base, bits))
        for values, type, bits in zip(srcs, op.input_types, bit_sizes, strict=True)
    ]
    unsigned = _UNSIGNED[bit_size]
    with np.errstate(all="ignore"):
        if op.per_component:
            return tuple(_bits(np.ascontiguousarray(op.semantics(*arrays)), unsigned))
        args = [
            a if size <= 1 else [a[i : i + 1] for i in range(size)]
            for a, size in zip(arrays, op.input_sizes, strict=True)
        ]
        results = op.semantics(*args)
    out: list[int] = []
    for r in results if op.output_size > 1 else [results]:
        out += _bits(np.ascontiguousarray(r), unsigned)
    return tuple(out)


def _bits(values: np.ndarray[Any, Any], unsigned: np.dtype[Any]) -> list[int]:
    """Raw bits as integers (booleans as 0 and 1)."""
    raw: list[int] = values.view(unsigned).tolist()
    return raw if unsigned.kind == "u" else [int(v) for v in raw]


_UNSIGNED = {bits: numpy_dtype("uint", bits) for bits in (1, 8, 16, 32, 64)}


@lru_cache(maxsize=4096)
def evaluated(
    op: Opcode, srcs: tuple[tuple[int, ...], ...], bit_sizes: tuple[int, ...], bit_size: int
) -> tuple[int, ...]:
    """`evaluate` with a cache, because the same few operations occur in shader after shader."""
    return evaluate(op, srcs, bit_sizes, bit_size)


def folded_now(op: Opcode, srcs: Sequence[Def], bit_size: int) -> tuple[int, ...] | None:
    """The result of an operation on unswizzled values if all are constants, else None."""
    values, bits = [], []
    for src in srcs:
        const = src.instr
        if const.__class__ is not LoadConst:
            return None
        values.append(const.values)
        bits.append(src.bit_size)
    if op.is_derivative:
        return (0,) * len(values[0])
    return evaluated(op, tuple(values), tuple(bits), bit_size)


def fold_alu(instr: Alu) -> tuple[int, ...] | None:
    """The result of an instruction whose sources are all constant, else None."""
    srcs, bits = [], []
    for src in instr.srcs:
        const = src.value.instr
        if not isinstance(const, LoadConst):
            return None
        values = const.values
        srcs.append(tuple([values[c] for c in src.swizzle]))
        bits.append(src.value.bit_size)
    return evaluated(instr.op, tuple(srcs), tuple(bits), instr.result.bit_size)
