"""Per-fragment state: depth and alpha tests and clamping (see also `blending`, `stencil`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.enums import CompareFunc
from gallette.pipe.state import DepthStencilAlphaState, StencilState
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.blending import BUFFERS, Blend
from gallette.state_tracker.drawing.color_clamp import clamps
from gallette.state_tracker.drawing.stencil import Stencil, check_compare, face_state
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


class FragmentState:
    """All state between the fragment shader and the framebuffer."""

    def __init__(self, ctx: Context) -> None:
        self.blend = [Blend() for _ in range(BUFFERS)]
        self.blend_enabled: int = 0  # a bit for each colour buffer
        self.blend_color: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
        self.blend_coherent = True
        self.logic_enabled = False
        self.index_logic_enabled = False  # for colour indices, which no buffer here holds
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
        """The stencil state in effect for front and back faces."""
        return self.stencil[0], self.stencil[2 if self.stencil_two_side else 1]


def depth_stencil_alpha_state(ctx: Context) -> DepthStencilAlphaState:
    """The pipe depth-stencil-alpha state; tests without a buffer to test against are off."""
    state, draw = ctx.fragment, ctx.framebuffers.draw
    depth = state.depth_test and draw.has("Z")
    stencil = state.stencil_test and draw.has("S")
    faces = (StencilState(), StencilState())
    if stencil:
        front, back = (face_state(s) for s in state.stencil_faces)
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
    """The reference value of the alpha test: clamped where colours are."""
    reference = ctx.fragment.alpha_ref
    if clamps(ctx, ctx.fragment.clamp_fragment_color):
        return min(max(reference, 0.0), 1.0)
    return reference


# -- depth, stencil, alpha -------------------------------------------------------------------------


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

gets(
    {
        "ALPHA_TEST_REF": alpha_reference,
    },
    profiles="compat",
)
