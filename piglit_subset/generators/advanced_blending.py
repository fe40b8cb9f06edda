"""The blend equations of GL_KHR_blend_equation_advanced, against the specification's formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from gallette.piglit_subset.generators.common import templates

Array = npt.NDArray[np.float64]

_PAIRS = (
    ((0.8, 0.2, 0.4, 1.0), (0.2, 0.6, 1.0, 1.0)),
    ((0.4, 0.3, 0.1, 0.5), (0.3, 0.2, 0.45, 0.6)),
    ((0.6, 0.6, 0.0, 0.8), (0.0, 0.25, 0.5, 1.0)),
)
"""Source and destination, premultiplied by alpha."""


def _dodge(s: float, d: float) -> float:
    if d <= 0:
        return 0.0
    return min(1.0, d / (1 - s)) if s < 1 else 1.0


def _burn(s: float, d: float) -> float:
    if d >= 1:
        return 1.0
    return 1 - min(1.0, (1 - d) / s) if s > 0 else 0.0


def _hard(s: float, d: float) -> float:
    return 2 * s * d if s <= 0.5 else 1 - 2 * (1 - s) * (1 - d)


def _soft(s: float, d: float) -> float:
    if s <= 0.5:
        return d - (1 - 2 * s) * d * (1 - d)
    if d <= 0.25:
        return d + (2 * s - 1) * d * ((16 * d - 12) * d + 3)
    return d + (2 * s - 1) * (math.sqrt(d) - d)


_CHANNELS: dict[str, Callable[[float, float], float]] = {
    "MULTIPLY": lambda s, d: s * d,
    "SCREEN": lambda s, d: s + d - s * d,
    "OVERLAY": lambda s, d: _hard(d, s),
    "DARKEN": min,
    "LIGHTEN": max,
    "COLORDODGE": _dodge,
    "COLORBURN": _burn,
    "HARDLIGHT": _hard,
    "SOFTLIGHT": _soft,
    "DIFFERENCE": lambda s, d: abs(d - s),
    "EXCLUSION": lambda s, d: s + d - 2 * s * d,
}


def _luminosity(color: Array) -> float:
    return float(color @ np.array([0.30, 0.59, 0.11]))


def _with_luminosity(color: Array, of: Array) -> Array:
    moved = color + (_luminosity(of) - _luminosity(color))
    light, low, high = _luminosity(moved), moved.min(), moved.max()
    if low < 0:
        moved = light + (moved - light) * light / (light - low)
    if high > 1:
        moved = light + (moved - light) * (1 - light) / (high - light)
    return moved


def _with_saturation(base: Array, of: Array, light: Array) -> Array:
    width = base.max() - base.min()
    spread = (base - base.min()) * (of.max() - of.min()) / width if width > 0 else base * 0
    return _with_luminosity(spread, light)


_WHOLE: dict[str, Callable[[Array, Array], Array]] = {
    "HSL_HUE": lambda s, d: _with_saturation(s, d, d),
    "HSL_SATURATION": lambda s, d: _with_saturation(d, s, d),
    "HSL_COLOR": lambda s, d: _with_luminosity(s, d),
    "HSL_LUMINOSITY": lambda s, d: _with_luminosity(d, s),
}


def tests() -> Iterator[str]:
    for name in (*_CHANNELS, *_WHOLE):
        cases = [(s, d, _blended(name, np.array(s), np.array(d))) for s, d in _PAIRS]
        yield templates("advanced_blending").equation(name, cases)


def _blended(name: str, source: Array, target: Array) -> Array:
    s, d = source[:3] / source[3], target[:3] / target[3]
    if name in _WHOLE:
        mixed = _WHOLE[name](s, d)
    else:
        mixed = np.array([_CHANNELS[name](float(a), float(b)) for a, b in zip(s, d, strict=True)])
    both = source[3] * target[3]
    only_s, only_d = source[3] * (1 - target[3]), target[3] * (1 - source[3])
    color = mixed * both + s * only_s + d * only_d
    return np.array([*color, both + only_s + only_d])
