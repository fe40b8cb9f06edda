"""Blending: equations and factors, in 8 bits, in floats, and the advanced equations.

8-bit normalised formats are blended in 8 bits with llvmpipe's rounding, everything else in float32.
One table of factors describes both, written against an `Arithmetic` that defines multiplication
and 1.
"""

from __future__ import annotations

from collections.abc import Callable

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def
from gallette.pipe.enums import BlendFactor, BlendFunc
from gallette.pipe.state import RenderTargetBlend

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
"""The colour (of the four in `Colors`) that a factor reads, and whether only its alpha."""


@lazy_dataclass(frozen=True)
class Colors:
    """The colours that are blended, or from which factors are computed."""

    source: Def
    destination: Def
    constant: Def
    second: Def


class _Arithmetic:
    """How colours are multiplied and combined: floats."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.one = b.imm_float(1.0)

    def multiply(self, x: Def, y: Def) -> Def:
        return self.b.fmul(x, y)

    def add(self, x: Def, y: Def) -> Def:
        return self.b.fadd(x, y)

    def subtract(self, x: Def, y: Def) -> Def:
        return self.b.fsub(x, y)

    def smaller(self, x: Def, y: Def) -> Def:
        return self.b.fmin(x, y)

    def larger(self, x: Def, y: Def) -> Def:
        return self.b.fmax(x, y)


class _Bytes(_Arithmetic):
    """Numbers from 0 to 255 that stand for 0 to 1; sums and differences are clamped."""

    def __init__(self, b: Builder) -> None:
        self.b = b
        self.one = b.imm_int(255)

    def multiply(self, x: Def, y: Def) -> Def:
        """x y / 255, rounded as llvmpipe rounds: (t + (t >> 8) + 128) >> 8."""
        b, product = self.b, self.b.imul(x, y)
        eight = b.imm_int(8)
        return b.ushr(b.iadd(b.iadd(product, b.ushr(product, eight)), b.imm_int(128)), eight)

    def add(self, x: Def, y: Def) -> Def:
        return self.b.umin(self.b.iadd(x, y), self.one)

    def subtract(self, x: Def, y: Def) -> Def:
        return self.b.isub(self.b.umax(x, y), y)

    def smaller(self, x: Def, y: Def) -> Def:
        return self.b.umin(x, y)

    def larger(self, x: Def, y: Def) -> Def:
        return self.b.umax(x, y)


def blend(b: Builder, state: RenderTargetBlend, colors: Colors, bytes8: bool) -> Def:
    """The blended colour."""
    if state.rgb_func.is_advanced:
        return _advanced(b, state.rgb_func, colors.source, colors.destination)
    a = _Bytes(b) if bytes8 else _Arithmetic(b)
    of_rgb = state.rgb_func, state.rgb_src_factor, state.rgb_dst_factor
    of_alpha = (
        state.alpha_func,
        _of_alpha(state.alpha_src_factor),
        _of_alpha(state.alpha_dst_factor),
    )
    rgb = _combined(a, colors, *of_rgb)
    if of_rgb == of_alpha:
        return rgb
    alpha = _combined(a, colors, *of_alpha)
    return b.gather([(rgb, 0), (rgb, 1), (rgb, 2), (alpha, 3)])


def _of_alpha(factor: BlendFactor) -> BlendFactor:
    return _F.ONE if factor is _F.SRC_ALPHA_SATURATE else factor


def _combined(
    a: _Arithmetic, colors: Colors, func: BlendFunc, src: BlendFactor, dst: BlendFactor
) -> Def:
    """One blend equation, applied to all four components."""
    if func is BlendFunc.MIN:
        return a.smaller(colors.source, colors.destination)
    if func is BlendFunc.MAX:
        return a.larger(colors.source, colors.destination)
    x, y = _weighted(a, colors.source, src, colors), _weighted(a, colors.destination, dst, colors)
    if func is BlendFunc.REVERSE_SUBTRACT:
        x, y = y, x
    if y is None:
        return a.b.imm_zero(4, 32) if x is None else x
    if x is None:
        return y if func is BlendFunc.ADD else a.subtract(a.b.imm_zero(4, 32), y)
    return a.add(x, y) if func is BlendFunc.ADD else a.subtract(x, y)


def _weighted(a: _Arithmetic, color: Def, factor: BlendFactor, colors: Colors) -> Def | None:
    """A colour times a factor; None stands for zero."""
    b = a.b
    if factor is _F.ZERO:
        return None
    if factor is _F.ONE:
        return color
    if factor is _F.SRC_ALPHA_SATURATE:
        alpha, beside = b.channel(colors.source, 3), b.channel(colors.destination, 3)
        return a.multiply(color, a.smaller(alpha, a.subtract(a.one, beside)))
    base = INVERSE.get(factor)
    number, alpha_only = DIRECT[base or factor]
    weight = (colors.source, colors.destination, colors.constant, colors.second)[number]
    if alpha_only:
        weight = b.channel(weight, 3)
    return a.multiply(color, weight if base is None else a.subtract(a.one, weight))


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


# -- advanced equations (KHR_blend_equation_advanced) ----------------------------------------------
#
# Colours are multiplied by alpha before and after; the modes combine them without it. Where source
# and destination overlap (`a_s a_d` of the pixel, as if coverage were independent), the mode's
# function of both contributes, elsewhere the one that covers the pixel:
#
#     colour = f(c_s, c_d) a_s a_d + c_s a_s (1 - a_d) + c_d a_d (1 - a_s)
#     alpha  = a_s a_d + a_s (1 - a_d) + a_d (1 - a_s)


def _advanced(b: Builder, func: BlendFunc, source: Def, destination: Def) -> Def:
    one = b.imm_float(1.0)
    a_s, a_d = b.channel(source, 3), b.channel(destination, 3)
    c_s, c_d = _unmultiplied(b, source, a_s), _unmultiplied(b, destination, a_d)
    both, only_s, only_d = (
        b.fmul(a_s, a_d),
        b.fmul(a_s, b.fsub(one, a_d)),
        b.fmul(a_d, b.fsub(one, a_s)),
    )
    mixed = _MODES[func](b, c_s, c_d)
    rgb = b.fadd(b.fadd(b.fmul(mixed, both), b.fmul(c_s, only_s)), b.fmul(c_d, only_d))
    return b.concat(rgb, b.fadd(b.fadd(both, only_s), only_d))


def _unmultiplied(b: Builder, color: Def, alpha: Def) -> Def:
    """The colour divided by alpha; black where alpha is 0."""
    zero = b.imm_float(0.0)
    return b.bcsel(b.feq(alpha, zero), zero, b.fdiv(b.trim(color, 3), alpha))


def _screen(b: Builder, s: Def, d: Def) -> Def:
    return b.fsub(b.fadd(s, d), b.fmul(s, d))


def _hard_light(b: Builder, s: Def, d: Def) -> Def:
    one, two = b.imm_float(1.0), b.imm_float(2.0)
    dark = b.fmul(b.fmul(two, s), d)
    light = b.fsub(one, b.fmul(b.fmul(two, b.fsub(one, s)), b.fsub(one, d)))
    return b.bcsel(b.fge(b.imm_float(0.5), s), dark, light)


def _color_dodge(b: Builder, s: Def, d: Def) -> Def:
    zero, one = b.imm_float(0.0), b.imm_float(1.0)
    lit = b.bcsel(b.flt(s, one), b.fmin(one, b.fdiv(d, b.fsub(one, s))), one)
    return b.bcsel(b.flt(zero, d), lit, zero)


def _color_burn(b: Builder, s: Def, d: Def) -> Def:
    zero, one = b.imm_float(0.0), b.imm_float(1.0)
    burnt = b.fsub(one, b.fmin(one, b.fdiv(b.fsub(one, d), s)))
    return b.bcsel(b.flt(d, one), b.bcsel(b.flt(zero, s), burnt, zero), one)


def _soft_light(b: Builder, s: Def, d: Def) -> Def:
    one, two = b.imm_float(1.0), b.imm_float(2.0)
    twice = b.fmul(two, s)
    darker = b.fsub(d, b.fmul(b.fmul(b.fsub(one, twice), d), b.fsub(one, d)))
    more = b.fsub(twice, one)
    curve = b.fsub(b.fmul(b.imm_float(16.0), d), b.imm_float(12.0))
    curve = b.fadd(b.fmul(curve, d), b.imm_float(3.0))
    low = b.fadd(d, b.fmul(b.fmul(more, d), curve))
    root = b.fsqrt(b.fmax(d, b.imm_float(0.0)))
    high = b.fadd(d, b.fmul(more, b.fsub(root, d)))
    lighter = b.bcsel(b.fge(b.imm_float(0.25), d), low, high)
    return b.bcsel(b.fge(b.imm_float(0.5), s), darker, lighter)


def _exclusion(b: Builder, s: Def, d: Def) -> Def:
    return b.fsub(b.fadd(s, d), b.fmul(b.fmul(b.imm_float(2.0), s), d))


# Hue, saturation and luminosity.


def _luminosity(b: Builder, c: Def) -> Def:
    red, green, blue = (
        b.fmul(part, b.imm_float(share))
        for part, share in zip(b.channels(c), (0.30, 0.59, 0.11), strict=True)
    )
    return b.fadd(b.fadd(red, green), blue)


def _extremes(b: Builder, c: Def) -> tuple[Def, Def]:
    red, green, blue = b.channels(c)
    return b.fmin(b.fmin(red, green), blue), b.fmax(b.fmax(red, green), blue)


def _with_luminosity(b: Builder, base: Def, luminosity: Def) -> Def:
    """A colour with another's luminosity, moved into 0..1 along the line to grey, which keeps the
    luminosity.
    """
    zero, one = b.imm_float(0.0), b.imm_float(1.0)
    c = b.fadd(base, b.fsub(_luminosity(b, luminosity), _luminosity(b, base)))
    grey = _luminosity(b, c)
    low, high = _extremes(b, c)
    raised = b.fdiv(b.fmul(b.fsub(c, grey), grey), b.fsub(grey, low))
    c = b.bcsel(b.flt(low, zero), b.fadd(grey, raised), c)
    lowered = b.fdiv(b.fmul(b.fsub(c, grey), b.fsub(one, grey)), b.fsub(high, grey))
    return b.bcsel(b.flt(one, high), b.fadd(grey, lowered), c)


def _with_both(b: Builder, base: Def, saturation: Def, luminosity: Def) -> Def:
    low, high = _extremes(b, base)
    wanted_low, wanted_high = _extremes(b, saturation)
    scale = b.fdiv(b.fsub(wanted_high, wanted_low), b.fsub(high, low))
    scale = b.bcsel(b.flt(low, high), scale, b.imm_float(0.0))
    return _with_luminosity(b, b.fmul(b.fsub(base, low), scale), luminosity)


_MODES: dict[BlendFunc, Callable[[Builder, Def, Def], Def]] = {
    BlendFunc.MULTIPLY: lambda b, s, d: b.fmul(s, d),
    BlendFunc.SCREEN: _screen,
    BlendFunc.OVERLAY: lambda b, s, d: _hard_light(b, d, s),
    BlendFunc.DARKEN: lambda b, s, d: b.fmin(s, d),
    BlendFunc.LIGHTEN: lambda b, s, d: b.fmax(s, d),
    BlendFunc.COLOR_DODGE: _color_dodge,
    BlendFunc.COLOR_BURN: _color_burn,
    BlendFunc.HARD_LIGHT: _hard_light,
    BlendFunc.SOFT_LIGHT: _soft_light,
    BlendFunc.DIFFERENCE: lambda b, s, d: b.fabs(b.fsub(d, s)),
    BlendFunc.EXCLUSION: _exclusion,
    BlendFunc.HSL_HUE: lambda b, s, d: _with_both(b, s, d, d),
    BlendFunc.HSL_SATURATION: lambda b, s, d: _with_both(b, d, s, d),
    BlendFunc.HSL_COLOR: lambda b, s, d: _with_luminosity(b, s, d),
    BlendFunc.HSL_LUMINOSITY: lambda b, s, d: _with_luminosity(b, d, s),
}
