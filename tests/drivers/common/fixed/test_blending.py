"""Blending against the formulas of the specification, every factor on either side."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.blending import Colors, blend, needs_destination
from gallette.drivers.common.fixed.output import ColorKey, merged
from gallette.drivers.common.fixed.routine import routine
from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
from gallette.pipe.formats import FORMATS
from gallette.pipe.state import RenderTargetBlend

F = BlendFactor
FUNCS = [func for func in BlendFunc if not func.is_advanced]
LANES = 4

Array = npt.NDArray[Any]


def weight(factor: BlendFactor, s: Array, d: Array, c: Array, s1: Array) -> Array:
    """Table 17.2 of the specification: a factor as `[channel, lane]`."""
    one = np.ones_like(s)
    name = factor.name.removeprefix("INV_")
    if factor is F.SRC_ALPHA_SATURATE:
        least = np.minimum(s[3], 1 - d[3])
        return np.stack([least, least, least, one[3]])
    if factor in (F.ZERO, F.ONE):
        return one if factor is F.ONE else 0 * one
    whose, what = name.split("_")
    color = {"SRC": s, "DST": d, "CONST": c, "SRC1": s1}[whose]
    value = color if what == "COLOR" else one * color[3]
    return np.asarray(1 - value if factor.name.startswith("INV_") else value)


def expected(state: RenderTargetBlend, s: Array, d: Array, c: Array, s1: Array) -> Array:
    """Equation 17.1 and its kin."""

    def of(func: BlendFunc, src: BlendFactor, dst: BlendFactor) -> Array:
        if func in (BlendFunc.MIN, BlendFunc.MAX):  # factors mean nothing
            return np.minimum(s, d) if func is BlendFunc.MIN else np.maximum(s, d)
        a, b = s * weight(src, s, d, c, s1), d * weight(dst, s, d, c, s1)
        if func is BlendFunc.ADD:
            return np.asarray(a + b)
        return np.asarray(a - b if func is BlendFunc.SUBTRACT else b - a)

    color = of(state.rgb_func, state.rgb_src_factor, state.rgb_dst_factor)
    alpha = of(state.alpha_func, state.alpha_src_factor, state.alpha_dst_factor)
    return np.stack([*color[:3], alpha[3]])


def states() -> list[RenderTargetBlend]:
    """Every pair of factors for colours under one function, for alphas under another."""
    found = []
    for number, (src, dst) in enumerate(product(F, F)):
        one, other = FUNCS[number % 5], FUNCS[(number + number // 5) % 5]
        found.append(RenderTargetBlend(True, one, src, dst, other, dst, src))
    return found


def blended(state: RenderTargetBlend, operands: Array, bytes8: bool) -> Array:
    """Four colours of `[channel, lane]`, blended by a routine."""

    def build(b: Builder, s: Def, d: Def, c: Def, s1: Def) -> list[Def]:
        return [blend(b, state, Colors(s, d, c, s1), bytes8)]

    made = routine("blend", dict.fromkeys("sdct", (4, 32)), build)
    given = operands.astype(np.int32 if bytes8 else np.float32)
    planes = evaluate(made, [plane for color in given for plane in color])
    kind = np.int32 if bytes8 else np.float32
    return np.stack([np.broadcast_to(p, LANES).view(kind) for p in planes]).astype(float)


def test_every_factor_is_the_specifications() -> None:
    operands = np.random.default_rng(1).integers(0, 256, (4, 4, LANES))
    operands[:, :, 0], operands[:, :, 1] = 0, 255
    floats = operands / 255
    for state in states():
        right = expected(state, *floats)
        assert np.abs(blended(state, floats, False) - right).max() < 1e-6, state
        # Each product may be rounded to a byte; nothing and everything are exact.
        off = np.abs(blended(state, operands, True) - 255 * right.clip(0, 1))
        assert off.max() < 1.6 and off[:, :2].max() < 1e-9, state


@pytest.mark.parametrize("channels", ["rgb", "alpha"])
def test_the_destination_is_read_where_the_result_depends_on_it(channels: str) -> None:
    """Another destination, another term: then and only then fragments must come in order."""
    first, second = np.random.default_rng(2).random((2, 4, 4, LANES))
    second[[0, 2, 3]] = first[[0, 2, 3]]  # all but the destination
    of_channels = slice(3) if channels == "rgb" else slice(3, 4)
    for func, src, dst in product(FUNCS, F, F):
        names = (f"{channels}_{what}" for what in ("func", "src_factor", "dst_factor"))
        chosen: dict[str, Any] = dict(zip(names, (func, src, dst), strict=True))
        state = RenderTargetBlend(True, **chosen)
        one, other = (
            [
                (s * weight(src, s, d, c, s1))[of_channels],
                (d * weight(dst, s, d, c, s1))[of_channels],
            ]
            for s, d, c, s1 in (first, second)
        )
        seen = func in (BlendFunc.MIN, BlendFunc.MAX) or not np.array_equal(one, other)
        # Saturated is 1 for alphas, which is not worth a question of its own.
        careful = channels == "alpha" and src is F.SRC_ALPHA_SATURATE
        assert needs_destination(state) == (seen or careful), state
        assert not needs_destination(replace(state, blend_enable=False))


@pytest.mark.parametrize("func", [f for f in BlendFunc if f.is_advanced])
def test_advanced_equations_need_the_destination(func: BlendFunc) -> None:
    assert needs_destination(RenderTargetBlend(True, rgb_func=func, alpha_func=func))


@pytest.mark.parametrize("op", LogicOp)
def test_logic_operations_are_their_numbers(op: LogicOp) -> None:
    """GL numbers them by their truth tables: bit 0 for both bits set, 1 for the source's, ..."""
    s, d = np.array([0b1100], np.uint8), np.array([0b1010], np.uint8)
    (result,) = evaluate(merged(ColorKey(FORMATS["R8_UINT"], None, op, None)), [s, d])
    table = [op >> (3 - 2 * a - b) & 1 for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    assert [int(result.item()) >> bit & 1 for bit in (3, 2, 1, 0)] == table
    assert (int(result.item()) >> 4 == 0b1111) == bool(op >> 3)
