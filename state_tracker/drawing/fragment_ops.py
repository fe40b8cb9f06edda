"""Per-fragment state: blending, colour masks, depth, stencil and alpha tests, logic operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir import Stage
from gallette.pipe.enums import BlendFactor, BlendFunc, CompareFunc, LogicOp, StencilOp
from gallette.pipe.state import BlendState, DepthStencilAlphaState, RenderTargetBlend, StencilState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.color_clamp import clamps, told_color
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, gets_indexed

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = [
    "EVERY_BUFFER",
    "FragmentState",
    "blend_state",
    "check_advanced_blending",
    "depth_stencil_alpha_state",
]

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
STENCIL_OPS: dict[int, StencilOp] = {
    GL.KEEP: StencilOp.KEEP,
    GL.ZERO: StencilOp.ZERO,
    GL.REPLACE: StencilOp.REPLACE,
    GL.INCR: StencilOp.INCR,
    GL.DECR: StencilOp.DECR,
    GL.INVERT: StencilOp.INVERT,
    GL.INCR_WRAP: StencilOp.INCR_WRAP,
    GL.DECR_WRAP: StencilOp.DECR_WRAP,
}
BUFFERS = 8
EVERY_BUFFER = (1 << BUFFERS) - 1


@dataclass(slots=True)
class Blend:
    """Blending of one colour buffer, in GL's names (`FragmentState.blend_enabled`: whether)."""

    equation_rgb: int = GL.FUNC_ADD
    equation_alpha: int = GL.FUNC_ADD
    src_rgb: int = GL.ONE
    dst_rgb: int = GL.ZERO
    src_alpha: int = GL.ONE
    dst_alpha: int = GL.ZERO
    mask: tuple[bool, bool, bool, bool] = (True, True, True, True)


@dataclass(slots=True)
class Stencil:
    """The stencil test of one face, in GL's names."""

    func: int = GL.ALWAYS
    ref: int = 0
    value_mask: int = 0xFFFFFFFF
    write_mask: int = 0xFFFFFFFF
    fail: int = GL.KEEP
    zfail: int = GL.KEEP
    zpass: int = GL.KEEP


class FragmentState:
    """Everything between the fragment shader and the framebuffer."""

    def __init__(self) -> None:
        self.blend = [Blend() for _ in range(BUFFERS)]
        self.blend_enabled = 0  # a bit for each colour buffer
        self.blend_color = (0.0, 0.0, 0.0, 0.0)
        self.blend_coherent = True
        self.logic_enabled = False
        self.index_logic_enabled = False  # of colour indices, which no buffer here holds
        self.logic_op: int = GL.COPY
        self.dither = True
        self.alpha_to_coverage = self.alpha_to_one = False
        self.depth_test = False
        self.depth_mask = True
        self.depth_func: int = GL.LESS
        self.stencil_test = False
        self.stencil = [Stencil(), Stencil(), Stencil()]  # front, back, EXT_stencil_two_side's back
        self.stencil_two_side = False
        self.stencil_active: int = GL.FRONT
        self.alpha_test = False
        self.alpha_func: int = GL.ALWAYS
        self.alpha_ref = 0.0
        self.depth_bounds_test = False
        self.depth_bounds = (0.0, 1.0)
        self.clear_color: tuple[float, float, float, float] | tuple[int, int, int, int] = (
            0.0,
            0.0,
            0.0,
            0.0,
        )
        self.clear_depth = 1.0
        self.clear_stencil = 0
        self.clamp_fragment_color: int = GL.FIXED_ONLY
        self.clamp_vertex_color: int = GL.TRUE
        self.clamp_read_color: int = GL.FIXED_ONLY

    @property
    def stencil_faces(self) -> tuple[Stencil, Stencil]:
        """The tests in force for front and back faces."""
        return self.stencil[0], self.stencil[2 if self.stencil_two_side else 1]


_SECOND_COLOR = frozenset(
    (GL.SRC1_COLOR, GL.ONE_MINUS_SRC1_COLOR, GL.SRC1_ALPHA, GL.ONE_MINUS_SRC1_ALPHA)
)


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
        mask = sum(1 << i for i, on in enumerate(blend.mask) if on)
        if not state.blend_enabled >> index & 1 or state.logic_enabled:
            targets.append(RenderTargetBlend(colormask=mask))
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
    independent = any(t != targets[0] for t in targets)
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
    ):  # which ignore the factors: one key for all of them
        return BlendFactor.ONE, BlendFactor.ONE
    return FACTORS[src], FACTORS[dst]


def depth_stencil_alpha_state(ctx: Context) -> DepthStencilAlphaState:
    """The pipe depth-stencil-alpha state; tests without a buffer to test against are off."""
    state, draw = ctx.fragment, ctx.framebuffers.draw
    depth = state.depth_test and draw.has("Z")
    stencil = state.stencil_test and draw.has("S")
    faces = (StencilState(), StencilState())
    if stencil:
        front, back = (_face(s) for s in state.stencil_faces)
        faces = (front, back)
    alpha = state.alpha_test and ctx.is_compat and state.alpha_func != GL.ALWAYS
    if alpha and ctx.pipe_framebuffer.cbufs:
        color = ctx.pipe_framebuffer.cbufs[0]
        alpha = color is None or not color.format.is_pure_integer  # integers are not tested
    bounds = state.depth_bounds_test and draw.has("Z")
    return DepthStencilAlphaState(
        depth,
        state.depth_mask if depth else False,
        CompareFunc(state.depth_func - GL.NEVER) if depth else CompareFunc.LESS,
        bounds,
        *(state.depth_bounds if bounds else (0.0, 1.0)),
        faces,
        alpha,
        CompareFunc(state.alpha_func - GL.NEVER) if alpha else CompareFunc.ALWAYS,
        alpha_reference(ctx) if alpha else 0.0,
    )


def alpha_reference(ctx: Context) -> float:
    """What alpha is compared with: clamped where colours are."""
    reference = ctx.fragment.alpha_ref
    if clamps(ctx, ctx.fragment.clamp_fragment_color):
        return min(max(reference, 0.0), 1.0)
    return reference


def _face(stencil: Stencil) -> StencilState:
    return StencilState(
        True,
        CompareFunc(stencil.func - GL.NEVER),
        STENCIL_OPS[stencil.fail],
        STENCIL_OPS[stencil.zfail],
        STENCIL_OPS[stencil.zpass],
        stencil.value_mask & 0xFF,
        stencil.write_mask & 0xFF,
    )


def check_advanced_blending(ctx: Context) -> None:
    """Advanced equations need one colour buffer and a shader that declares them."""
    cbufs = ctx.pipe_framebuffer.cbufs
    for index, surface in enumerate(cbufs):
        blend = ctx.fragment.blend[index]
        blends = ctx.fragment.blend_enabled >> index & 1
        func = ADVANCED_EQUATIONS.get(blend.equation_rgb) if blends else None
        if surface is None or func is None or surface.format.is_pure_integer:
            continue
        if sum(other is not None for other in cbufs) > 1:
            raise invalid_operation("advanced blend equations work on one colour buffer")
        executable = ctx.programs.stages.get(Stage.FRAGMENT)
        declared = 0
        if executable is not None:
            declared = executable.linked.shaders[Stage.FRAGMENT].info.blend_equations_advanced
        if not declared >> list(ADVANCED_EQUATIONS.values()).index(func) & 1:
            raise invalid_operation(
                f"the fragment shader does not declare blend_support_{func.name.lower()}"
            )


# -- blending --------------------------------------------------------------------------------------


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
        blend.src_rgb, blend.dst_rgb, blend.src_alpha, blend.dst_alpha = factors
    ctx.dirty |= Dirty.BLEND


def _set_equation(
    ctx: Context, index: int | None, rgb: int, alpha: int, advanced: bool = False
) -> None:
    for equation in (rgb, alpha):
        if equation not in EQUATIONS and not (advanced and equation in ADVANCED_EQUATIONS):
            raise invalid_enum(equation, "blend equation")
    for blend in _buffers(ctx, index):
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


@entry
def logic_op(ctx: Context, opcode: int) -> None:
    if not GL.CLEAR <= opcode <= GL.SET:
        raise invalid_enum(opcode, "logic operation")
    ctx.fragment.logic_op = opcode
    ctx.dirty |= Dirty.BLEND


# -- depth, stencil, alpha -------------------------------------------------------------------------


def check_compare(func: int) -> None:
    if not GL.NEVER <= func <= GL.ALWAYS:
        raise invalid_enum(func, "comparison")


@entry
def depth_func(ctx: Context, func: int) -> None:
    check_compare(func)
    ctx.fragment.depth_func = func
    ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def depth_mask(ctx: Context, flag: int) -> None:
    if ctx.fragment.depth_mask is not bool(flag):
        ctx.fragment.depth_mask = bool(flag)
        ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def depth_bounds_ext(ctx: Context, zmin: float, zmax: float) -> None:
    if zmin > zmax:
        raise invalid_value("depth bounds in the wrong order")
    ctx.fragment.depth_bounds = (min(max(zmin, 0.0), 1.0), min(max(zmax, 0.0), 1.0))
    ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def alpha_func(ctx: Context, func: int, ref: float) -> None:
    check_compare(func)
    ctx.fragment.alpha_func, ctx.fragment.alpha_ref = func, float(ref)
    ctx.dirty |= Dirty.DEPTH_STENCIL


_FACES: dict[int, tuple[int, ...]] = {
    GL.FRONT: (0,),
    GL.BACK: (1,),
    GL.FRONT_AND_BACK: (0, 1),
}


def _faces(ctx: Context, face: int) -> list[Stencil]:
    if face not in _FACES:
        raise invalid_enum(face, "face")
    return [ctx.fragment.stencil[i] for i in _FACES[face]]


def _active_faces(ctx: Context) -> list[Stencil]:
    """What the functions that name no face change: both faces, or EXT_stencil_two_side's back."""
    state = ctx.fragment
    return state.stencil[:2] if state.stencil_active == GL.FRONT else state.stencil[2:]


def _set_func(ctx: Context, faces: list[Stencil], func: int, ref: int, mask: int) -> None:
    check_compare(func)
    for stencil in faces:
        stencil.func, stencil.ref, stencil.value_mask = func, ref, mask & 0xFFFFFFFF
    ctx.dirty |= Dirty.DEPTH_STENCIL | Dirty.STENCIL_REF


@entry
def stencil_func_separate(ctx: Context, face: int, func: int, ref: int, mask: int) -> None:
    _set_func(ctx, _faces(ctx, face), func, ref, mask)


@entry
def stencil_func(ctx: Context, func: int, ref: int, mask: int) -> None:
    _set_func(ctx, _active_faces(ctx), func, ref, mask)


@entry
def stencil_func_separate_ati(ctx: Context, front: int, back: int, ref: int, mask: int) -> None:
    check_compare(back)
    for func, stencil in zip((front, back), ctx.fragment.stencil[:2], strict=True):
        _set_func(ctx, [stencil], func, ref, mask)


def _set_ops(ctx: Context, faces: list[Stencil], fail: int, zfail: int, zpass: int) -> None:
    for op in (fail, zfail, zpass):
        if op not in STENCIL_OPS:
            raise invalid_enum(op, "stencil operation")
    for stencil in faces:
        stencil.fail, stencil.zfail, stencil.zpass = fail, zfail, zpass
    ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def stencil_op_separate(ctx: Context, face: int, sfail: int, dpfail: int, dppass: int) -> None:
    _set_ops(ctx, _faces(ctx, face), sfail, dpfail, dppass)


register("stencil_op_separate_ati", stencil_op_separate)


@entry
def stencil_op(ctx: Context, fail: int, zfail: int, zpass: int) -> None:
    _set_ops(ctx, _active_faces(ctx), fail, zfail, zpass)


def _set_mask(ctx: Context, faces: list[Stencil], mask: int) -> None:
    for stencil in faces:
        stencil.write_mask = mask & 0xFFFFFFFF
    ctx.dirty |= Dirty.DEPTH_STENCIL


@entry
def stencil_mask_separate(ctx: Context, face: int, mask: int) -> None:
    _set_mask(ctx, _faces(ctx, face), mask)


@entry
def stencil_mask(ctx: Context, mask: int) -> None:
    _set_mask(ctx, _active_faces(ctx), mask)


@entry
def active_stencil_face_ext(ctx: Context, face: int) -> None:
    if face not in (GL.FRONT, GL.BACK):
        raise invalid_enum(face, "stencil face")
    ctx.fragment.stencil_active = face


@entry
def clamp_color(ctx: Context, target: int, clamp: int) -> None:
    if clamp not in (GL.TRUE, GL.FALSE, GL.FIXED_ONLY):
        raise invalid_enum(clamp, "clamp mode")
    names = {GL.CLAMP_READ_COLOR: "clamp_read_color"}
    if ctx.is_compat:
        names[GL.CLAMP_VERTEX_COLOR] = "clamp_vertex_color"
        names[GL.CLAMP_FRAGMENT_COLOR] = "clamp_fragment_color"
    if target not in names:
        raise invalid_enum(target, "clamp target")
    if getattr(ctx.fragment, names[target]) != clamp:
        setattr(ctx.fragment, names[target], clamp)
        ctx.dirty |= Dirty.RASTERIZER | Dirty.BUILTINS


# -- queries ---------------------------------------------------------------------------------------

_BLEND_GETS: dict[str, str] = {
    "BLEND_SRC_RGB": "src_rgb",
    "BLEND_DST_RGB": "dst_rgb",
    "BLEND_SRC_ALPHA": "src_alpha",
    "BLEND_DST_ALPHA": "dst_alpha",
    "BLEND_EQUATION_RGB": "equation_rgb",
    "BLEND_EQUATION_ALPHA": "equation_alpha",
    "COLOR_WRITEMASK": "mask",
    "BLEND_SRC": "src_rgb",
    "BLEND_DST": "dst_rgb",
}


def _blend_getter(field: str) -> Any:
    return lambda ctx, index=0: getattr(ctx.fragment.blend[index], field)


gets({name: _blend_getter(field) for name, field in _BLEND_GETS.items()})
gets_indexed(
    lambda c: c.caps.max_render_targets,
    {name: _blend_getter(field) for name, field in _BLEND_GETS.items()},
)


def _stencil_getter(face: int, field: str) -> Any:
    def get(ctx: Context) -> int:
        state = ctx.fragment
        extra = face == 0 and state.stencil_active == GL.BACK
        return int(getattr(state.stencil[2 if extra else face], field))

    return get


for _face_index, _prefix in ((0, "STENCIL_"), (1, "STENCIL_BACK_")):
    gets(
        {
            _prefix + name: _stencil_getter(_face_index, field)
            for name, field in (
                ("FUNC", "func"),
                ("REF", "ref"),
                ("VALUE_MASK", "value_mask"),
                ("WRITEMASK", "write_mask"),
                ("FAIL", "fail"),
                ("PASS_DEPTH_FAIL", "zfail"),
                ("PASS_DEPTH_PASS", "zpass"),
            )
        }
    )
gets(
    {
        "LOGIC_OP_MODE": lambda c: c.fragment.logic_op,
        "DEPTH_FUNC": lambda c: c.fragment.depth_func,
        "DEPTH_WRITEMASK": lambda c: c.fragment.depth_mask,
        "STENCIL_CLEAR_VALUE": lambda c: c.fragment.clear_stencil,
        "CLAMP_READ_COLOR": lambda c: c.fragment.clamp_read_color,
    }
)
gets(
    {
        "BLEND_COLOR": lambda c: told_color(c, c.fragment.blend_color),
        "COLOR_CLEAR_VALUE": lambda c: told_color(c, c.fragment.clear_color),
        "DEPTH_CLEAR_VALUE": lambda c: c.fragment.clear_depth,
        "DEPTH_BOUNDS_EXT": lambda c: c.fragment.depth_bounds,
    },
    normalized=True,
)
gets(
    {
        "ALPHA_TEST_FUNC": lambda c: c.fragment.alpha_func,
        "ALPHA_TEST_REF": alpha_reference,
        "ACTIVE_STENCIL_FACE_EXT": lambda c: c.fragment.stencil_active,
        "CLAMP_VERTEX_COLOR": lambda c: c.fragment.clamp_vertex_color,
        "CLAMP_FRAGMENT_COLOR": lambda c: c.fragment.clamp_fragment_color,
    },
    compat=True,
)
