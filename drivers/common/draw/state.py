"""What draws derive from bound state, kept until a binding changes.

Everything here is a function of what is bound, apart from constants, textures and vertex buffers;
those may change from draw to draw without anything being derived anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.output.color import ColorTarget
from gallette.drivers.common.output.depth import DepthTarget
from gallette.drivers.common.output.engine import FragmentEngine, FragmentState
from gallette.drivers.common.output.multisample import MultisampleEngine
from gallette.drivers.common.program import BoundProgram, DriverShader, ProgramFacts
from gallette.drivers.common.raster.primitives import RasterContext
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.stipple import polygon_screen
from gallette.drivers.common.raster.triangles import DepthOffset
from gallette.drivers.common.vertex.clip import ClipPlanes
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.state import FramebufferState, RasterizerState, StreamOutputInfo

from .geometry import OUTPUT_MODES
from .programs import Selection, join, select

if TYPE_CHECKING:
    from gallette.drivers.common.context import HostContext

__all__ = ["DrawState", "draw_state"]


@dataclass(slots=True)
class DrawState:
    """What runs in a draw and how its primitives are rasterized."""

    selection: Selection
    engine: FragmentEngine
    raster: RasterContext
    vertex: BoundProgram
    vertex_facts: ProgramFacts
    stream_output: StreamOutputInfo | None
    control: BoundProgram | None = None
    evaluation: BoundProgram | None = None
    geometry: BoundProgram | None = None


def draw_state(context: HostContext, mode: Primitive) -> DrawState | None:
    """The state derived for draws of this mode; None when no vertex shader is bound."""
    bound = context.bound
    points = _draws_points(_emitted_mode(bound, mode), bound.rasterizer.state)
    found = context.derived.get(points)
    if found is None:
        found = _derive(context, points)
        if found is None:
            return None
        context.derived[points] = found
    selection = found.selection
    found.vertex = join(bound, Stage.VERTEX, selection.vertex).program
    if selection.control is not None:
        found.control = join(bound, Stage.TESS_CTRL, selection.control).program
    if selection.evaluation is not None:
        found.evaluation = join(bound, Stage.TESS_EVAL, selection.evaluation).program
    if selection.geometry is not None:
        found.geometry = join(bound, Stage.GEOMETRY, selection.geometry).program
    if selection.fragment is not None:
        joined = join(bound, Stage.FRAGMENT, selection.fragment)
        fragments = found.engine.state
        fragments.program, fragments.quads = joined.program, joined.quads
    return found


def _last_shader(bound: Bound) -> DriverShader:
    """The shader in front of the rasterizer."""
    for stage in (Stage.GEOMETRY, Stage.TESS_EVAL):
        found: DriverShader | None = bound.shaders.get(stage)
        if found is not None:
            return found
    last: DriverShader = bound.shaders[Stage.VERTEX]
    return last


def _emitted_mode(bound: Bound, mode: Primitive) -> Primitive:
    """What kind of primitive the last stage before the rasterizer puts out."""
    geometry = bound.shaders.get(Stage.GEOMETRY)
    if geometry is not None:
        return OUTPUT_MODES[geometry.shader.info.output_primitive or "triangle_strip"]
    evaluation = bound.shaders.get(Stage.TESS_EVAL)
    if evaluation is not None:
        info = evaluation.shader.info
        if info.tess_point_mode:
            return Primitive.POINTS
        return Primitive.LINES if info.tess_primitive == "isolines" else Primitive.TRIANGLES
    return mode


def _derive(context: HostContext, points: bool) -> DrawState | None:
    selection = select(context, Primitive.POINTS if points else Primitive.TRIANGLES)
    if selection is None:
        return None
    bound = context.bound
    engine = _engine(context, selection)
    return DrawState(
        selection,
        engine,
        _raster_context(context, selection, engine),
        join(bound, Stage.VERTEX, selection.vertex).program,
        selection.vertex.facts,
        _last_shader(bound).stream_output,
    )


_POINTS_AND_LINES = frozenset(
    {
        Primitive.POINTS,
        Primitive.LINES,
        Primitive.LINE_STRIP,
        Primitive.LINE_LOOP,
        Primitive.LINES_ADJACENCY,
        Primitive.LINE_STRIP_ADJACENCY,
    }
)


def _draws_points(mode: Primitive, rasterizer: RasterizerState) -> bool:
    """Points reach the rasterizer: drawn as such, or as corners of polygons."""
    if mode in _POINTS_AND_LINES:
        return mode is Primitive.POINTS
    return rasterizer.fill_front is PolygonMode.POINT


def _target_rect(context: HostContext) -> Rect:
    framebuffer = context.bound.framebuffer
    x0, y0, x1, y1 = 0, 0, framebuffer.width, framebuffer.height
    if context.bound.rasterizer.state.scissor:
        scissor = context.bound.scissor
        x0, y0 = max(x0, scissor.minx), max(y0, scissor.miny)
        x1, y1 = min(x1, scissor.maxx), min(y1, scissor.maxy)
    return Rect(x0, y0, x1, y1)


def _engine(context: HostContext, selection: Selection) -> FragmentEngine:
    bound = context.bound
    framebuffer = bound.framebuffer
    blend = bound.blend.state
    samples = _samples(framebuffer)
    planes = [
        [
            None if surface is None else ColorTarget(surface, blend, i, bound.blend_color, sample)
            for i, surface in enumerate(framebuffer.cbufs)
        ]
        for sample in range(samples)
    ]
    depths = [
        None if framebuffer.zsbuf is None else DepthTarget(framebuffer.zsbuf, sample)
        for sample in range(samples)
    ]
    colors, depth = planes[0], depths[0]
    width, plane = framebuffer.width, framebuffer.width * framebuffer.height
    reference = depth or next((color for color in colors if color is not None), None)
    if reference is not None:
        width, plane = reference.stride, reference.plane
    raster = bound.rasterizer.state
    clamp = None
    if raster.depth_clamp or not (raster.depth_clip_near and raster.depth_clip_far):
        scale, translate = bound.viewport.scale[2], bound.viewport.translate[2]
        near = translate if raster.clip_halfz else translate - scale
        clamp = min(near, translate + scale), max(near, translate + scale)
    state = FragmentState(
        width=width,
        plane=plane,
        layers=1 if samples > 1 else max(1, framebuffer.layers),
        colors=colors,
        depth=depth,
        tests=bound.depth_stencil_alpha.state,
        references=bound.stencil_ref,
        facts=None if selection.fragment is None else selection.fragment.facts,
        counting=context.active_occlusion > 0,
        depth_clamp=clamp,
        sample_mask=bound.sample_mask,
    )
    if samples == 1:
        return FragmentEngine(state, context.scratch, context.counters)
    facts = state.facts
    return MultisampleEngine(
        state,
        context.scratch,
        context.counters,
        planes,
        depths,
        per_sample=bound.min_samples > 1 or (facts is not None and facts.uses_sample_shading),
        alpha_to_coverage=blend.alpha_to_coverage and raster.multisample,
    )


def _samples(framebuffer: FramebufferState) -> int:
    """Samples per pixel of the attachments."""
    for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
        if surface is not None:
            return max(1, surface.resource.desc.samples)
    return 1


def _raster_context(
    context: HostContext, selection: Selection, engine: FragmentEngine
) -> RasterContext:
    bound = context.bound
    outputs = selection.last.facts.outputs
    state = bound.rasterizer.state
    distances = {
        6 + i: (VaryingSlot.CLIP_DIST0 + i // 4, i % 4)
        for i in range(8)
        if state.clip_plane_enable >> i & 1
        and outputs.get(VaryingSlot.CLIP_DIST0 + i // 4, 0) >> (i % 4) & 1
    }
    culls = sum((outputs.get(VaryingSlot.CULL_DIST0 + i // 4, 0) >> (i % 4)) & 1 for i in range(8))
    return RasterContext(
        state=state,
        target=_target_rect(context),
        sink=engine,
        counters=context.counters,
        planes=ClipPlanes.of(state, distances),
        flat=selection.flat_slots,
        linear=selection.linear_slots,
        offset=_depth_offset(bound.framebuffer),
        cull_distances=culls,
        screen=polygon_screen(bound.polygon_stipple) if state.poly_stipple_enable else None,
        multisampled=state.multisample and _samples(bound.framebuffer) > 1,
    )


def _depth_offset(framebuffer: FramebufferState) -> DepthOffset:
    """What an offset unit is worth: two steps of a fixed-point buffer, as on llvmpipe."""
    surface = framebuffer.zsbuf
    if surface is None:
        return DepthOffset(0.0)
    for channel in surface.format.channels:
        if channel.name == "Z":
            if channel.type == "FLOAT":
                return DepthOffset(0.0, True)
            return DepthOffset(2.0 / ((1 << channel.bits) - 1))
    return DepthOffset(0.0)
