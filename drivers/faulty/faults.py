"""The mistakes: each changes one piece of the state or arguments of a draw, clear or blit.

A fault names the piece (`on`) and a function that returns a wrong one, or None where the mistake
would make no difference: a wrong blend factor needs blending.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import (
    BlendFactor,
    BlendFunc,
    ClearFlags,
    CompareFunc,
    CullFace,
    Filter,
    Primitive,
    StencilOp,
    Swizzle,
    Wrap,
)
from gallette.pipe.state import (
    BlendState,
    BlitInfo,
    Box,
    DepthStencilAlphaState,
    DrawInfo,
    RasterizerState,
    SamplerState,
    SamplerView,
    ScissorState,
    VertexBuffer,
    VertexElement,
    ViewportState,
)


@lazy_dataclass(frozen=True)
class Fault:
    """One mistake. `on` is a piece of state, or `draw`, `clear`, `blit`: the call itself."""

    name: str
    on: str
    doc: str
    spoil: Callable[[Any], Any]


FAULTS: dict[str, Fault] = {}


def _fault(on: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        doc = (function.__doc__ or "").strip()
        FAULTS[function.__name__] = Fault(function.__name__, on, doc, function)
        return function

    return register


def _changed(before: Any, **fields: Any) -> Any:
    after = replace(before, **fields)
    return None if after == before else after


# -- viewport and scissor ------------------------------------------------------------------------


@_fault("viewport")
def half_pixel(state: ViewportState) -> Any:
    """The viewport is half a pixel off."""
    x, y, z = state.translate
    return replace(state, translate=(x + 0.5, y + 0.5, z))


@_fault("viewport")
def depth_range(state: ViewportState) -> Any:
    """Depths are scaled a little too far."""
    x, y, z = state.scale
    return replace(state, scale=(x, y, z * 0.99))


@_fault("viewport")
def upside_down(state: ViewportState) -> Any:
    """The picture is upside down."""
    x, y, z = state.scale
    return replace(state, scale=(x, -y, z))


# -- rasterizer ----------------------------------------------------------------------------------


@_fault("rasterizer")
def culls_wrong_side(state: RasterizerState) -> Any:
    """Front faces are culled instead of back faces (and the other way round)."""
    other = {CullFace.BACK: CullFace.FRONT, CullFace.FRONT: CullFace.BACK}
    return _changed(state, cull_face=other.get(state.cull_face, state.cull_face))


@_fault("rasterizer")
def culls_unasked(state: RasterizerState) -> Any:
    """Back faces are culled although culling is disabled."""
    return _changed(state, cull_face=CullFace.BACK)


@_fault("rasterizer")
def no_clip_planes(state: RasterizerState) -> Any:
    """User clip planes are forgotten."""
    return _changed(state, clip_plane_enable=0)


@_fault("rasterizer")
def depth_bias(state: RasterizerState) -> Any:
    """Every triangle's depth is off by two hundred units."""
    return replace(state, offset_tri=True, offset_units=state.offset_units + 200)


@_fault("rasterizer")
def thick_lines(state: RasterizerState) -> Any:
    """Lines are two pixels wider than asked for."""
    return replace(state, line_width=state.line_width + 2)


@_fault("rasterizer")
def large_points(state: RasterizerState) -> Any:
    """The size of points that the shader writes is ignored."""
    return _changed(state, point_size_per_vertex=False)


# -- depth and stencil ---------------------------------------------------------------------------


@_fault("depth_stencil_alpha")
def depth_func(state: DepthStencilAlphaState) -> Any:
    """LESS is taken for GREATER, LEQUAL and EQUAL for LESS."""
    other = {
        CompareFunc.LESS: CompareFunc.GREATER,
        CompareFunc.LEQUAL: CompareFunc.LESS,
        CompareFunc.EQUAL: CompareFunc.LESS,
    }
    if not state.depth_enabled:
        return None
    return _changed(state, depth_func=other.get(state.depth_func, state.depth_func))


@_fault("depth_stencil_alpha")
def no_depth_write(state: DepthStencilAlphaState) -> Any:
    """Depths are tested but not written."""
    return _changed(state, depth_writemask=False) if state.depth_enabled else None


@_fault("depth_stencil_alpha")
def no_depth_test(state: DepthStencilAlphaState) -> Any:
    """The depth test always passes."""
    return _changed(state, depth_func=CompareFunc.ALWAYS) if state.depth_enabled else None


@_fault("depth_stencil_alpha")
def no_stencil_test(state: DepthStencilAlphaState) -> Any:
    """The stencil test always passes."""
    front, back = state.stencil
    always = (replace(front, func=CompareFunc.ALWAYS), replace(back, func=CompareFunc.ALWAYS))
    return _changed(state, stencil=always) if front.enabled else None


@_fault("depth_stencil_alpha")
def stencil_keeps(state: DepthStencilAlphaState) -> Any:
    """The stencil buffer is never written."""
    front, back = state.stencil
    kept = (replace(front, zpass_op=StencilOp.KEEP), replace(back, zpass_op=StencilOp.KEEP))
    return _changed(state, stencil=kept) if front.enabled else None


# -- blending ------------------------------------------------------------------------------------


def _blend(state: BlendState, **fields: Any) -> Any:
    if not state.rt[0].blend_enable:
        return None
    return _changed(state, rt=tuple(replace(rt, **fields) for rt in state.rt))


@_fault("blend")
def blend_factor(state: BlendState) -> Any:
    """The destination's factor is ONE."""
    return _blend(state, rgb_dst_factor=BlendFactor.ONE, rgb_src_factor=BlendFactor.ONE)


@_fault("blend")
def no_blending(state: BlendState) -> Any:
    """Blending is forgotten."""
    return _blend(state, blend_enable=False)


@_fault("blend")
def blend_subtracts(state: BlendState) -> Any:
    """ADD is taken for SUBTRACT."""
    return _blend(state, rgb_func=BlendFunc.SUBTRACT)


@_fault("blend")
def loses_blue(state: BlendState) -> Any:
    """The colour mask loses blue."""
    return _changed(state, rt=tuple(replace(rt, colormask=rt.colormask & ~4) for rt in state.rt))


# -- textures ------------------------------------------------------------------------------------


def _each(items: Any, change: Callable[[Any], Any]) -> Any:
    changed = tuple(item if item is None else change(item) for item in items)
    return None if changed == tuple(items) else changed


@_fault("samplers")
def filters_wrong(states: Any) -> Any:
    """Linear filtering is nearest, and the other way round."""

    def change(s: SamplerState) -> SamplerState:
        flip = {Filter.NEAREST: Filter.LINEAR, Filter.LINEAR: Filter.NEAREST}
        return replace(
            s, min_img_filter=flip[s.min_img_filter], mag_img_filter=flip[s.mag_img_filter]
        )

    return _each(states, change)


@_fault("samplers")
def wraps_wrong(states: Any) -> Any:
    """Textures repeat where they should clamp, and the other way round."""

    def flip(wrap: Wrap) -> Wrap:
        return Wrap.CLAMP_TO_EDGE if wrap is Wrap.REPEAT else Wrap.REPEAT

    return _each(states, lambda s: replace(s, wrap_s=flip(s.wrap_s), wrap_t=flip(s.wrap_t)))


@_fault("samplers")
def level_bias(states: Any) -> Any:
    """The level of detail is off by one."""
    return _each(states, lambda s: replace(s, lod_bias=s.lod_bias + 1))


@_fault("samplers")
def shadow_compare(states: Any) -> Any:
    """Shadow samplers compare the wrong way round."""

    def change(s: SamplerState) -> SamplerState:
        return replace(s, compare_func=CompareFunc.GREATER) if s.compare_enabled else s

    return _each(states, change)


@_fault("views")
def swaps_red_and_blue(views: Any) -> Any:
    """Red and blue of textures are swapped."""

    def change(v: SamplerView) -> SamplerView:
        x, y, z, w = v.swizzle
        return replace(v, swizzle=(z, y, x, w)) if x is Swizzle.X else v

    return _each(views, change)


# -- vertices and constants ----------------------------------------------------------------------


@_fault("vertex_elements")
def attribute_offset(elements: tuple[VertexElement, ...]) -> Any:
    """The last attribute is read four bytes too far."""
    if not elements:
        return None
    last = elements[-1]
    return (*elements[:-1], replace(last, src_offset=last.src_offset + 4))


@_fault("vertex_buffers")
def buffer_offset(buffers: Any) -> Any:
    """The first vertex buffer begins one vertex late."""
    if not buffers or buffers[0] is None:
        return None
    first: VertexBuffer = buffers[0]
    late = _changed(first, offset=first.offset + first.stride)
    return (late, *buffers[1:]) if late is not None else None


@_fault("draw")
def loses_last_primitive(info: DrawInfo) -> Any:
    """The last primitive is not drawn."""
    size = {Primitive.TRIANGLES: 3, Primitive.LINES: 2, Primitive.POINTS: 1}.get(info.mode, 1)
    return replace(info, count=info.count - size) if info.count > size else None


@_fault("draw")
def loses_instance(info: DrawInfo) -> Any:
    """The last instance is not drawn."""
    if info.instance_count < 2:
        return None
    return replace(info, instance_count=info.instance_count - 1)


@_fault("draw")
def index_bias(info: DrawInfo) -> Any:
    """Indices are off by one."""
    return replace(info, index_bias=info.index_bias + 1) if info.index_size else None


# -- clears and blits ----------------------------------------------------------------------------


@_fault("clear")
def clear_colour(args: tuple[Any, ...]) -> Any:
    """Clears leave green a step of 8 bits too bright."""
    flags, color, *rest = args
    if not flags & ClearFlags.COLOR:
        return None
    r, g, b, a = color
    return (flags, (r, g + 1.5 / 255, b, a), *rest)


@_fault("clear")
def clear_depth(args: tuple[Any, ...]) -> Any:
    """Clears set a depth that is a little too near."""
    flags, color, depth, *rest = args
    return (flags, color, depth * 0.5, *rest) if flags & ClearFlags.DEPTH else None


@_fault("clear")
def clear_forgotten(args: tuple[Any, ...]) -> Any:
    """Clears of depth are forgotten."""
    flags, *rest = args
    return (flags & ~ClearFlags.DEPTH, *rest) if flags & ClearFlags.DEPTH else None


@_fault("blit")
def blit_flips(info: BlitInfo) -> Any:
    """Blits turn the picture over."""
    box = info.src_box
    turned = Box(box.x, box.y + box.height, box.z, box.width, -box.height, box.depth)
    return replace(info, src_box=turned)


@_fault("scissor")
def scissor_off_by_one(state: ScissorState) -> Any:
    """The scissor rectangle is a pixel too narrow."""
    return _changed(state, maxx=max(state.minx, state.maxx - 1))
