"""Blending and logic operations on colour planes.

8-bit normalised formats are blended in 8 bits (held in uint16) with llvmpipe's rounding, everything
else in float32. One table of factors describes both, written against an `Arithmetic` that defines
multiplication and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
from gallette.pipe.state import RenderTargetBlend

__all__ = [
    "BYTES",
    "DIRECT",
    "FLOATS",
    "INVERSE",
    "Arithmetic",
    "Operands",
    "blend",
    "logic_op",
    "needs_destination",
]

Array = npt.NDArray[Any]
Planes = Sequence[Array]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How colours are multiplied and combined."""

    one: Any
    multiply: Callable[[Array, Array], Array]
    add: Callable[[Array, Array], Array]
    subtract: Callable[[Array, Array], Array]


def _multiply_bytes(a: Array, b: Array) -> Array:
    """a b / 255, rounded as llvmpipe rounds: (t + (t >> 8) + 128) >> 8."""
    product: Array = a * b
    product += product >> np.uint16(8)
    product += np.uint16(128)
    product >>= np.uint16(8)
    return product


def _add_bytes(a: Array, b: Array) -> Array:
    total = np.asarray(a + b)
    return minmax.minimum(total, 255, total)


def _subtract_bytes(a: Array, b: Array) -> Array:
    return np.maximum(a, b) - b


BYTES = Arithmetic(np.uint16(255), _multiply_bytes, _add_bytes, _subtract_bytes)
FLOATS = Arithmetic(np.float32(1.0), np.multiply, np.add, np.subtract)

_F = BlendFactor
INVERSE = {
    _F.INV_SRC_COLOR: _F.SRC_COLOR,
    _F.INV_SRC_ALPHA: _F.SRC_ALPHA,
    _F.INV_DST_COLOR: _F.DST_COLOR,
    _F.INV_DST_ALPHA: _F.DST_ALPHA,
    _F.INV_CONST_COLOR: _F.CONST_COLOR,
    _F.INV_CONST_ALPHA: _F.CONST_ALPHA,
    _F.INV_SRC1_COLOR: _F.SRC1_COLOR,
    _F.INV_SRC1_ALPHA: _F.SRC1_ALPHA,
}
"""Factors that are one minus another factor."""

DIRECT = {
    _F.SRC_COLOR: (0, False),
    _F.SRC_ALPHA: (0, True),
    _F.DST_COLOR: (1, False),
    _F.DST_ALPHA: (1, True),
    _F.CONST_COLOR: (2, False),
    _F.CONST_ALPHA: (2, True),
    _F.SRC1_COLOR: (3, False),
    _F.SRC1_ALPHA: (3, True),
}
"""The operand (of the four `Operands`) that a factor reads, and whether only its alpha."""


@dataclass(slots=True)
class Operands:
    """The colours from which factors are computed."""

    source: Planes
    destination: Planes
    constant: Planes
    second: Planes
    arithmetic: Arithmetic

    def factor(self, factor: BlendFactor, channel: int) -> Array | None:
        """The weight of a channel; None stands for 1, a scalar 0 for zero."""
        if factor is _F.ONE:
            return None
        if factor is _F.ZERO:
            return np.zeros((), self.source[0].dtype)
        if factor is _F.SRC_ALPHA_SATURATE:
            if channel == 3:
                return None
            one = self.arithmetic.one
            return np.asarray(np.minimum(self.source[3], one - self.destination[3]))
        base = INVERSE.get(factor)
        if base is not None:
            return np.asarray(self.arithmetic.one - self._direct(base, channel))
        return self._direct(factor, channel)

    def _direct(self, factor: BlendFactor, channel: int) -> Array:
        number, alpha = DIRECT[factor]
        planes = (self.source, self.destination, self.constant, self.second)[number]
        return planes[3 if alpha else channel]


def blend(
    state: RenderTargetBlend,
    source: Planes,
    destination: Planes,
    constant: Planes,
    second: Planes,
    arithmetic: Arithmetic,
) -> list[Array]:
    """Blend the source with the destination; returns four planes."""
    operands = Operands(source, destination, constant, second, arithmetic)
    return [_channel(state, operands, channel) for channel in range(4)]


def _channel(state: RenderTargetBlend, operands: Operands, channel: int) -> Array:
    if channel == 3:
        func, src, dst = state.alpha_func, state.alpha_src_factor, state.alpha_dst_factor
    else:
        func, src, dst = state.rgb_func, state.rgb_src_factor, state.rgb_dst_factor
    a, b = operands.source[channel], operands.destination[channel]
    if func is BlendFunc.MIN:
        return np.minimum(a, b)
    if func is BlendFunc.MAX:
        return np.maximum(a, b)
    arithmetic = operands.arithmetic
    weighted = []
    for value, factor in ((a, src), (b, dst)):
        weight = operands.factor(factor, channel)
        if weight is None:
            weighted.append(value)
        elif factor is _F.ZERO:
            weighted.append(weight)
        else:
            weighted.append(arithmetic.multiply(value, weight))
    a, b = weighted
    if func is BlendFunc.ADD:
        return arithmetic.add(a, b)
    if func is BlendFunc.SUBTRACT:
        return arithmetic.subtract(a, b)
    return arithmetic.subtract(b, a)


_DESTINATION_FACTORS = {
    _F.DST_COLOR,
    _F.DST_ALPHA,
    _F.INV_DST_COLOR,
    _F.INV_DST_ALPHA,
    _F.SRC_ALPHA_SATURATE,
}


def needs_destination(state: RenderTargetBlend) -> bool:
    """Whether the result depends on the colour buffer's contents (write masks aside)."""
    if not state.blend_enable:
        return False
    for func, src, dst in (
        (state.rgb_func, state.rgb_src_factor, state.rgb_dst_factor),
        (state.alpha_func, state.alpha_src_factor, state.alpha_dst_factor),
    ):
        if func in (BlendFunc.MIN, BlendFunc.MAX) or func.is_advanced:
            return True
        if dst is not _F.ZERO or src in _DESTINATION_FACTORS:
            return True
    return False


_LOGIC: dict[LogicOp, Callable[[Array, Array], Array]] = {
    LogicOp.CLEAR: lambda s, d: np.zeros_like(s),
    LogicOp.AND: lambda s, d: s & d,
    LogicOp.AND_REVERSE: lambda s, d: s & ~d,
    LogicOp.COPY: lambda s, d: s,
    LogicOp.AND_INVERTED: lambda s, d: ~s & d,
    LogicOp.NOOP: lambda s, d: d,
    LogicOp.XOR: lambda s, d: s ^ d,
    LogicOp.OR: lambda s, d: s | d,
    LogicOp.NOR: lambda s, d: ~(s | d),
    LogicOp.EQUIV: lambda s, d: ~(s ^ d),
    LogicOp.INVERT: lambda s, d: ~d,
    LogicOp.OR_REVERSE: lambda s, d: s | ~d,
    LogicOp.COPY_INVERTED: lambda s, d: ~s,
    LogicOp.OR_INVERTED: lambda s, d: ~s | d,
    LogicOp.NAND: lambda s, d: ~(s & d),
    LogicOp.SET: lambda s, d: ~np.zeros_like(s),
}


def logic_op(op: LogicOp, source: Array, destination: Array) -> Array:
    """Apply a bitwise operation to raw texels."""
    return _LOGIC[op](source, destination)
