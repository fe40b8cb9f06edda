"""Depth and stencil tests of a block of pixels, in machine code.

Depth is compared as codes: unsigned integers in the order of depths, as the buffer stores them.
"""

from __future__ import annotations

from dataclasses import dataclass

from gallette.pipe.enums import CompareFunc, StencilOp
from gallette.pipe.state import StencilState

from ..llvm.text import Builder
from ..llvm.values import V
from .tile_keys import DepthKey

__all__ = ["Tested", "depth_codes", "test"]


@dataclass(slots=True)
class Tested:
    """Lanes that pass, and the words to store in the lanes of `changed`."""

    passing: V
    words: V
    changed: V


def depth_codes(b: Builder, key: DepthKey, z: V) -> V:
    """Depths as codes, clamped to 0..1; NaN is 0."""
    low = b.select(z > 0.0, z, 0.0)
    unit = b.select(low < 1.0, low, 1.0)
    if key.is_float:
        return unit.as_int()
    if key.bits == 32:
        wide = b.math("roundeven", unit.fp("double") * 4294967295.0)
        return b.cast("fptoui", wide, "i32")
    return b.cast("fptoui", b.math("roundeven", unit * float((1 << key.bits) - 1)), "i32")


def _compare(b: Builder, func: CompareFunc, x: V, y: V) -> V:
    """The lanes whose depth code `x` passes the comparison with the stored code `y`."""
    if func is CompareFunc.ALWAYS:
        return b.spread(b.const("i1", True), y.w)
    if func is CompareFunc.NEVER:
        return b.spread(b.const("i1", False), y.w)
    how = {
        CompareFunc.LESS: "ult",
        CompareFunc.EQUAL: "eq",
        CompareFunc.LEQUAL: "ule",
        CompareFunc.GREATER: "ugt",
        CompareFunc.NOTEQUAL: "ne",
        CompareFunc.GEQUAL: "uge",
    }[func]
    return b.compare(how, x, y)


def test(
    b: Builder, key: DepthKey, mask: V, words: V, codes: V | None, front: V, references: V
) -> Tested:
    """Test the lanes of a mask; `words` is the buffer's contents, widened to 32 bits or more."""
    t = words.t
    passing = mask
    in_depth: V | None = None
    if key.func is not None and codes is not None:
        depth = words.lshr(key.shift) if key.shift else words
        depth = depth.to("i32") if t == "i64" else depth
        full = (1 << key.bits) - 1
        depth = depth & full if key.bits < 32 else depth
        in_depth = _compare(b, key.func, codes, depth)
        passing = passing & in_depth
    new = words
    changed = b.spread(b.const("i1", False), mask.w)
    if key.stencil is not None:
        stencil = words.lshr(key.stencil_shift).to("i32") & 0xFF
        back = key.stencil[1].enabled
        faces = [(key.stencil[0], (references & 0xFF).to("i32"))]
        if back:
            faces.append((key.stencil[1], references.lshr(32).to("i32") & 0xFF))
        results = [_stencil(b, state, reference, stencil, in_depth) for state, reference in faces]
        ok, value = results[0]
        if back:
            ok = b.select(front, ok, results[1][0])
            value = b.select(front, value, results[1][1])
        passing = passing & ok
        kept = ~(0xFF << key.stencil_shift)
        moved = value.to(t, False) << key.stencil_shift
        new = (words & kept) | moved
        changed = mask
    if key.func is not None and key.write and codes is not None:
        wide = codes.to(t, False) << key.shift if key.shift else codes.to(t, False)
        kept = ~(((1 << key.bits) - 1) << key.shift)
        written = (new & kept) | wide
        new = b.select(passing, written, new)
        changed = changed | passing
    return Tested(passing, new, changed)


def _stencil(
    b: Builder, state: StencilState, reference: V, stencil: V, in_depth: V | None
) -> tuple[V, V]:
    """Which lanes pass one face's test, and the new stencil values."""
    ok = _compare(b, state.func, b.spread(reference & state.valuemask, stencil.w),
                  stencil & state.valuemask)  # fmt: skip
    value = stencil
    deep = b.spread(b.const("i1", True), stencil.w) if in_depth is None else in_depth
    for op, where in (
        (state.fail_op, ~ok),
        (state.zfail_op, ok & ~deep),
        (state.zpass_op, ok & deep),
    ):
        if op is not StencilOp.KEEP:
            value = b.select(where, _operated(b, op, stencil, reference), value)
    mask = state.writemask & 0xFF
    return ok, (stencil & ~mask) | (value & mask)


def _operated(b: Builder, op: StencilOp, old: V, reference: V) -> V:
    if op is StencilOp.ZERO:
        return b.spread(b.const("i32", 0), old.w)
    if op is StencilOp.REPLACE:
        return b.spread(reference, old.w)
    if op is StencilOp.INCR:
        return b.math("umin", old + 1, 255)
    if op is StencilOp.DECR:
        return b.select(old.eq(0), old, old - 1)
    if op is StencilOp.INCR_WRAP:
        return (old + 1) & 0xFF
    if op is StencilOp.DECR_WRAP:
        return (old - 1) & 0xFF
    return ~old & 0xFF
