"""Blending, colour masks and logic operations, of each colour buffer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
from gallette.pipe.state import BlendState, RenderTargetBlend
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

FACTORS: dict[int, BlendFactor] = {
    GL.ZERO: BlendFactor.ZERO,
    GL.ONE: BlendFactor.ONE,
    GL.SRC_COLOR: BlendFactor.SRC_COLOR,
    GL.ONE_MINUS_SRC_COLOR: BlendFactor.INV_SRC_COLOR,
    GL.SRC_ALPHA: BlendFactor.SRC_ALPHA,
    GL.ONE_MINUS_SRC_ALPHA: BlendFactor.INV_SRC_ALPHA,
    GL.DST_COLOR: BlendFactor.DST_COLOR,
    GL.ONE_MINUS_DST_COLOR: BlendFactor.INV_DST_COLOR,
    GL.DST_ALPHA: BlendFactor.DST_ALPHA,
    GL.ONE_MINUS_DST_ALPHA: BlendFactor.INV_DST_ALPHA,
    GL.SRC_ALPHA_SATURATE: BlendFactor.SRC_ALPHA_SATURATE,
    GL.CONSTANT_COLOR: BlendFactor.CONST_COLOR,
    GL.ONE_MINUS_CONSTANT_COLOR: BlendFactor.INV_CONST_COLOR,
    GL.CONSTANT_ALPHA: BlendFactor.CONST_ALPHA,
    GL.ONE_MINUS_CONSTANT_ALPHA: BlendFactor.INV_CONST_ALPHA,
    GL.SRC1_COLOR: BlendFactor.SRC1_COLOR,
    GL.ONE_MINUS_SRC1_COLOR: BlendFactor.INV_SRC1_COLOR,
    GL.SRC1_ALPHA: BlendFactor.SRC1_ALPHA,
    GL.ONE_MINUS_SRC1_ALPHA: BlendFactor.INV_SRC1_ALPHA,
}
EQUATIONS: dict[int, BlendFunc] = {
    GL.FUNC_ADD: BlendFunc.ADD,
    GL.FUNC_SUBTRACT: BlendFunc.SUBTRACT,
    GL.FUNC_REVERSE_SUBTRACT: BlendFunc.REVERSE_SUBTRACT,
    GL.MIN: BlendFunc.MIN,
    GL.MAX: BlendFunc.MAX,
}
ADVANCED_EQUATIONS: dict[int, BlendFunc] = {
    GL.MULTIPLY_KHR: BlendFunc.MULTIPLY,
    GL.SCREEN_KHR: BlendFunc.SCREEN,
    GL.OVERLAY_KHR: BlendFunc.OVERLAY,
    GL.DARKEN_KHR: BlendFunc.DARKEN,
    GL.LIGHTEN_KHR: BlendFunc.LIGHTEN,
    GL.COLORDODGE_KHR: BlendFunc.COLOR_DODGE,
    GL.COLORBURN_KHR: BlendFunc.COLOR_BURN,
    GL.HARDLIGHT_KHR: BlendFunc.HARD_LIGHT,
    GL.SOFTLIGHT_KHR: BlendFunc.SOFT_LIGHT,
    GL.DIFFERENCE_KHR: BlendFunc.DIFFERENCE,
    GL.EXCLUSION_KHR: BlendFunc.EXCLUSION,
    GL.HSL_HUE_KHR: BlendFunc.HSL_HUE,
    GL.HSL_SATURATION_KHR: BlendFunc.HSL_SATURATION,
    GL.HSL_COLOR_KHR: BlendFunc.HSL_COLOR,
    GL.HSL_LUMINOSITY_KHR: BlendFunc.HSL_LUMINOSITY,
}
_EVERY_EQUATION = EQUATIONS | ADVANCED_EQUATIONS
BUFFERS = 8
EVERY_BUFFER = (1 << BUFFERS) - 1


@lazy_dataclass()
class Blend:
    """Blending of one colour buffer, in GL's enums (`FragmentState.blend_enabled` holds the
    enables).
    """

    equation_rgb: int = GL.FUNC_ADD
    equation_alpha: int = GL.FUNC_ADD
    src_rgb: int = GL.ONE
    dst_rgb: int = GL.ZERO
    src_alpha: int = GL.ONE
    dst_alpha: int = GL.ZERO
    mask: tuple[bool, bool, bool, bool] = (True, True, True, True)


_SECOND_COLOR = frozenset(
    (GL.SRC1_COLOR, GL.ONE_MINUS_SRC1_COLOR, GL.SRC1_ALPHA, GL.ONE_MINUS_SRC1_ALPHA)
)

_UNBLENDED = [RenderTargetBlend(colormask=mask) for mask in range(16)]


def blend_state(ctx: Context) -> BlendState:
    """The pipe blend state."""
    state = ctx.fragment
    drawn = [i for i, b in enumerate(ctx.framebuffers.draw.draw_buffers) if b != GL.NONE]
    count = max(drawn, default=0) + 1
    if count > max(1, ctx.caps.max_dual_source_render_targets) and any(
        not _SECOND_COLOR.isdisjoint((b.src_rgb, b.dst_rgb, b.src_alpha, b.dst_alpha))
        for b in state.blend[:count]
    ):
        raise invalid_operation(f"a second source colour while draw buffer {count - 1} is in use")
    targets = []
    for index, blend in enumerate(state.blend[:count]):
        r, g, b, a = blend.mask
        mask = r | g << 1 | b << 2 | a << 3
        if not state.blend_enabled >> index & 1 or state.logic_enabled:
            targets.append(_UNBLENDED[mask])
            continue
        targets.append(
            RenderTargetBlend(
                True,
                _EVERY_EQUATION[blend.equation_rgb],
                *_factors(blend.equation_rgb, blend.src_rgb, blend.dst_rgb),
                _EVERY_EQUATION[blend.equation_alpha],
                *_factors(blend.equation_alpha, blend.src_alpha, blend.dst_alpha),
                mask,
            )
        )
    independent = targets.count(targets[0]) != len(targets)
    padding = [targets[0]] * (BUFFERS - len(targets))
    return BlendState(
        tuple(targets + padding) if independent else (targets[0],),
        independent,
        state.logic_enabled,
        LogicOp(state.logic_op - GL.CLEAR),
        False,
        state.alpha_to_coverage,
        state.alpha_to_one,
    )


def _factors(equation: int, src: int, dst: int) -> tuple[BlendFactor, BlendFactor]:
    if (
        equation in (GL.MIN, GL.MAX) or equation in ADVANCED_EQUATIONS
    ):  # these ignore the factors: one key for all of them
        return BlendFactor.ONE, BlendFactor.ONE
    return FACTORS[src], FACTORS[dst]


def check_advanced_blending(ctx: Context) -> None:
    """Advanced equations need a shader that declares them, which writes fragment colour 0 alone."""
    cbufs = ctx.pipe_framebuffer.cbufs
    for index, surface in enumerate(cbufs):
        blend = ctx.fragment.blend[index]
        blends = ctx.fragment.blend_enabled >> index & 1
        func = ADVANCED_EQUATIONS.get(blend.equation_rgb) if blends else None
        if surface is None or func is None or surface.format.is_pure_integer:
            continue
        if any(other is not None for other in cbufs[1:]):
            raise invalid_operation("advanced blend equations work on fragment colour 0 alone")
        executable = ctx.programs.stages.get(Stage.FRAGMENT)
        declared = 0
        if executable is not None:
            declared = executable.linked.shaders[Stage.FRAGMENT].info.blend_equations_advanced
        if not declared >> list(ADVANCED_EQUATIONS.values()).index(func) & 1:
            raise invalid_operation(
                f"the fragment shader does not declare blend_support_{func.name.lower()}"
            )


# -- entry points ----------------------------------------------------------------------------------


def _buffers(ctx: Context, index: int | None) -> list[Blend]:
    if index is None:
        return ctx.fragment.blend
    if index >= ctx.caps.max_render_targets:
        raise invalid_value(f"there is no draw buffer {index}")
    return [ctx.fragment.blend[index]]


def _set_factors(ctx: Context, index: int | None, *factors: int) -> None:
    for factor in factors:
        if factor not in FACTORS:
            raise invalid_enum(factor, "blend factor")
    for blend in _buffers(ctx, index):
        if (blend.src_rgb, blend.dst_rgb, blend.src_alpha, blend.dst_alpha) != factors:
            blend.src_rgb, blend.dst_rgb, blend.src_alpha, blend.dst_alpha = factors
            ctx.dirty |= Dirty.BLEND


def _set_equation(
    ctx: Context, index: int | None, rgb: int, alpha: int, advanced: bool = False
) -> None:
    for equation in (rgb, alpha):
        if equation not in EQUATIONS and not (advanced and equation in ADVANCED_EQUATIONS):
            raise invalid_enum(equation, "blend equation")
    for blend in _buffers(ctx, index):
        if (blend.equation_rgb, blend.equation_alpha) != (rgb, alpha):
            blend.equation_rgb, blend.equation_alpha = rgb, alpha
            ctx.dirty |= Dirty.BLEND


@entry
def blend_func(ctx: Context, sfactor: int, dfactor: int) -> None:
    _set_factors(ctx, None, sfactor, dfactor, sfactor, dfactor)


@entry
def blend_func_separate(ctx: Context, src: int, dst: int, src_alpha: int, dst_alpha: int) -> None:
    _set_factors(ctx, None, src, dst, src_alpha, dst_alpha)


@entry
def blend_funci(ctx: Context, buf: int, src: int, dst: int) -> None:
    _set_factors(ctx, buf, src, dst, src, dst)


@entry
def blend_func_separatei(
    ctx: Context, buf: int, src: int, dst: int, src_alpha: int, dst_alpha: int
) -> None:
    _set_factors(ctx, buf, src, dst, src_alpha, dst_alpha)


@entry
def blend_equation(ctx: Context, mode: int) -> None:
    _set_equation(ctx, None, mode, mode, ctx.caps.blend_advanced)


@entry
def blend_equation_separate(ctx: Context, rgb: int, alpha: int) -> None:
    _set_equation(ctx, None, rgb, alpha)


@entry
def blend_equationi(ctx: Context, buf: int, mode: int) -> None:
    _set_equation(ctx, buf, mode, mode, ctx.caps.blend_advanced)


@entry
def blend_equation_separatei(ctx: Context, buf: int, rgb: int, alpha: int) -> None:
    _set_equation(ctx, buf, rgb, alpha)


@entry
def blend_color(ctx: Context, red: float, green: float, blue: float, alpha: float) -> None:
    ctx.fragment.blend_color = (red, green, blue, alpha)
    ctx.dirty |= Dirty.BLEND_COLOR


@entry
def color_mask(ctx: Context, red: int, green: int, blue: int, alpha: int) -> None:
    mask = (bool(red), bool(green), bool(blue), bool(alpha))
    _mask(ctx, ctx.fragment.blend, mask)


@entry
def color_maski(ctx: Context, index: int, r: int, g: int, b: int, a: int) -> None:
    _mask(ctx, _buffers(ctx, index), (bool(r), bool(g), bool(b), bool(a)))


def _mask(ctx: Context, buffers: Iterable[Any], mask: tuple[bool, bool, bool, bool]) -> None:
    for blend in buffers:
        if blend.mask != mask:
            blend.mask = mask
            ctx.dirty |= Dirty.BLEND
