"""Keys of expressions: two instructions with equal keys compute the same value."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from gallette.compiler.nir.ir.instrs import Alu, Deref, Instr, Intrinsic, LoadConst, Phi, Tex
from gallette.compiler.nir.ir.values import Src


def expression_key(instr: Instr) -> Hashable | None:
    """A key that equal expressions share; None for instructions that are never equal.

    The key holds references to its values, so that no later value can be confused with one of them.
    """
    make = EXPRESSION_KEYS.get(instr.__class__)
    return None if make is None else make(instr)


def _alu_key(instr: Alu) -> Hashable:
    """The key of an ALU instruction: opcode, width and sources. It is computed for every one."""
    op, srcs = instr.op, instr.srcs
    first = srcs[0]
    if len(srcs) == 1:
        return (op, len(first.swizzle), first.value, first.swizzle)
    second = srcs[1]
    if op.commutative and _sorts_after(first, second):
        first, second = second, first
    width = instr.dest.num_components
    if len(srcs) == 2:
        return (op, width, first.value, first.swizzle, second.value, second.swizzle)
    rest = [part for src in srcs[2:] for part in (src.value, src.swizzle)]
    return (op, width, first.value, first.swizzle, second.value, second.swizzle, *rest)


def _sorts_after(first: Src, second: Src) -> bool:
    """A canonical order of commutative sources."""
    a, b = id(first.value), id(second.value)
    return b < a or (a == b and second.swizzle < first.swizzle)


def _const_key(instr: LoadConst) -> Hashable:
    return instr.values, instr.dest.bit_size


def _intrinsic_key(instr: Intrinsic) -> Hashable | None:
    dest = instr.dest
    if dest is None or not instr.info.is_pure:
        return None
    parts = [s.value for s in instr.srcs]
    return (instr.info.name, dest.num_components, dest.bit_size, *instr.indices.values(), *parts)


def _deref_key(instr: Deref) -> Hashable:
    parts = [s.value for s in instr.srcs]
    return (
        "deref",
        instr.form,
        instr.var,
        instr.field,
        instr.type,
        instr.modes,
        instr.stride,
        *parts,
    )


def _phi_key(instr: Phi) -> Hashable:
    pairs = sorted([(s.pred.index, id(s.value), s.value) for s in instr.phi_srcs])
    return ("phi", instr.block, *pairs)


def _tex_key(instr: Tex) -> Hashable:
    srcs = tuple([(k, s.value) for k, s in zip(instr.src_kinds, instr.srcs, strict=True)])
    return (
        instr.op,
        instr.dim,
        instr.is_array,
        instr.is_shadow,
        instr.dest_type,
        instr.texture_index,
        instr.sampler_index,
        instr.component,
        instr.tg4_offsets,
        instr.result.num_components,
        srcs,
    )


EXPRESSION_KEYS: dict[type[Instr], Callable[[Any], Hashable | None]] = {
    Alu: _alu_key,
    LoadConst: _const_key,
    Intrinsic: _intrinsic_key,
    Deref: _deref_key,
    Phi: _phi_key,
    Tex: _tex_key,
}
