"""Advanced blend equations (KHR_blend_equation_advanced).

Colours are multiplied by alpha before and after; the modes combine them without it. Where source
and destination overlap (`a_s a_d` of the pixel, as if coverage were independent), the mode's
function of both contributes, elsewhere the one that covers the pixel:

    colour = f(c_s, c_d) a_s a_d + c_s a_s (1 - a_d) + c_d a_d (1 - a_s)
    alpha  = a_s a_d + a_s (1 - a_d) + a_d (1 - a_s)

The HSL modes take hue, saturation and luminosity from the source or the destination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.enums import BlendFunc

__all__ = ["blend_advanced"]

Array = npt.NDArray[Any]
Color = list[Array]
F32 = np.float32
_ONE, _HALF = F32(1.0), F32(0.5)


def blend_advanced(func: BlendFunc, source: Sequence[Array], destination: Sequence[Array]) -> Color:
    """Blend four planes of premultiplied colour."""
    a_s, a_d = (np.asarray(planes[3], F32) for planes in (source, destination))
    c_s, c_d = _unmultiplied(source, a_s), _unmultiplied(destination, a_d)
    both, only_s, only_d = a_s * a_d, a_s * (_ONE - a_d), a_d * (_ONE - a_s)
    mixed = (
        _HSL[func](c_s, c_d)
        if func in _HSL
        else [_SEPARABLE[func](s, d) for s, d in zip(c_s, c_d, strict=True)]
    )
    out = [m * both + s * only_s + d * only_d for m, s, d in zip(mixed, c_s, c_d, strict=True)]
    return [np.asarray(plane, F32) for plane in (*out, both + only_s + only_d)]


def _unmultiplied(planes: Sequence[Array], alpha: Array) -> Color:
    """The colour divided by alpha; black where alpha is 0."""
    return [np.where(alpha > 0, np.asarray(p, F32) / alpha, F32(0.0)) for p in planes[:3]]


# -- one channel at a time -------------------------------------------------------------------------


def _hard_light(s: Array, d: Array) -> Array:
    dark, light = 2 * s * d, _ONE - 2 * (_ONE - s) * (_ONE - d)
    return np.where(s <= _HALF, dark, light)


def _color_dodge(s: Array, d: Array) -> Array:
    lit = np.where(s < 1, np.minimum(_ONE, d / (_ONE - s)), _ONE)
    return np.where(d > 0, lit, F32(0.0))


def _color_burn(s: Array, d: Array) -> Array:
    burnt = np.where(s > 0, _ONE - np.minimum(_ONE, (_ONE - d) / s), F32(0.0))
    return np.where(d < 1, burnt, _ONE)


def _soft_light(s: Array, d: Array) -> Array:
    darker = d - (_ONE - 2 * s) * d * (_ONE - d)
    low = d + (2 * s - _ONE) * d * ((16 * d - 12) * d + 3)
    high = d + (2 * s - _ONE) * (np.sqrt(np.maximum(d, 0)) - d)
    return np.where(s <= _HALF, darker, np.where(d <= F32(0.25), low, high))


_SEPARABLE: dict[BlendFunc, Callable[[Array, Array], Array]] = {
    BlendFunc.MULTIPLY: lambda s, d: s * d,
    BlendFunc.SCREEN: lambda s, d: s + d - s * d,
    BlendFunc.OVERLAY: lambda s, d: _hard_light(d, s),
    BlendFunc.DARKEN: np.minimum,
    BlendFunc.LIGHTEN: np.maximum,
    BlendFunc.COLOR_DODGE: _color_dodge,
    BlendFunc.COLOR_BURN: _color_burn,
    BlendFunc.HARD_LIGHT: _hard_light,
    BlendFunc.SOFT_LIGHT: _soft_light,
    BlendFunc.DIFFERENCE: lambda s, d: np.abs(d - s),
    BlendFunc.EXCLUSION: lambda s, d: s + d - 2 * s * d,
}

# -- hue, saturation, luminosity -------------------------------------------------------------------


def _luminosity(c: Color) -> Array:
    return np.asarray(c[0] * F32(0.30) + c[1] * F32(0.59) + c[2] * F32(0.11))


def _extremes(c: Color) -> tuple[Array, Array]:
    low, high = (np.asarray(f(f(c[0], c[1]), c[2])) for f in (np.minimum, np.maximum))
    return low, high


def _clipped(c: Color) -> Color:
    """Colours moved into 0..1 along the line to grey, which keeps the luminosity."""
    grey = _luminosity(c)
    low, high = _extremes(c)
    c = [np.where(low < 0, grey + (p - grey) * grey / (grey - low), p) for p in c]
    return [np.where(high > 1, grey + (p - grey) * (_ONE - grey) / (high - grey), p) for p in c]


def _with_luminosity(base: Color, luminosity: Color) -> Color:
    difference = _luminosity(luminosity) - _luminosity(base)
    return _clipped([p + difference for p in base])


def _with_both(base: Color, saturation: Color, luminosity: Color) -> Color:
    low, high = _extremes(base)
    wanted_low, wanted_high = _extremes(saturation)
    scale = np.where(high > low, (wanted_high - wanted_low) / (high - low), F32(0.0))
    return _with_luminosity([(p - low) * scale for p in base], luminosity)


_HSL: dict[BlendFunc, Callable[[Color, Color], Color]] = {
    BlendFunc.HSL_HUE: lambda s, d: _with_both(s, d, d),
    BlendFunc.HSL_SATURATION: lambda s, d: _with_both(d, s, d),
    BlendFunc.HSL_COLOR: lambda s, d: _with_luminosity(s, d),
    BlendFunc.HSL_LUMINOSITY: lambda s, d: _with_luminosity(d, s),
}
