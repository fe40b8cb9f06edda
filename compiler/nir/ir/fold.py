"""Evaluating opcodes on constants: raw bits in, raw bits out, by the table's semantics."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.opcodes import Opcode, numpy_dtype


def evaluate(
    op: Opcode, srcs: Sequence[tuple[int, ...]], bit_sizes: Sequence[int], bit_size: int
) -> tuple[int, ...]:
    """Components of the result as raw bits; `srcs` are already swizzled."""
    arrays = []
    for values, type, bits in zip(srcs, op.input_types, bit_sizes, strict=True):
        raw = np.array(values, dtype=numpy_dtype("uint", bits))
        arrays.append(raw.view(numpy_dtype(type.base, bits)))
    with np.errstate(all="ignore"):
        if op.per_component:
            results = [op.semantics(*arrays)]
        else:
            sizes = op.input_sizes
            args = [
                a if size <= 1 else [a[i : i + 1] for i in range(size)]
                for a, size in zip(arrays, sizes, strict=True)
            ]
            results = op.semantics(*args)
            results = list(results) if op.output_size > 1 else [results]
    unsigned = numpy_dtype("uint", bit_size)
    out: list[int] = []
    for r in results:
        out.extend(np.ascontiguousarray(r).view(unsigned).tolist())
    return tuple(int(v) for v in out)


@lru_cache(maxsize=4096)
def _evaluated(
    op: Opcode, srcs: tuple[tuple[int, ...], ...], bit_sizes: tuple[int, ...], bit_size: int
) -> tuple[int, ...]:
    """The same few sums are asked for in shader after shader."""
    return evaluate(op, srcs, bit_sizes, bit_size)


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
    return _evaluated(instr.op, tuple(srcs), tuple(bits), instr.result.bit_size)
