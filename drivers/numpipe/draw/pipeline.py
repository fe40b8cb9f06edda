"""The way of a draw: indices, vertices, primitives, fragments.

draw            resolves indirect and stream-output counts, runs the rest per draw
_Draw.run       indices -> unique vertices -> shader -> assembly -> capture -> rasterize
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from compiler.nir.slots import VaryingSlot
from drivers.numpipe.output.color import ColorTarget
from drivers.numpipe.output.depth import DepthTarget
from drivers.numpipe.output.engine import FragmentEngine, FragmentState
from drivers.numpipe.raster.setup import Rect
from drivers.numpipe.raster.triangles import DepthOffset
from drivers.numpipe.resource import NumpipeResource
from drivers.numpipe.shader.api import Outputs
from pipe.state import DrawInfo, FramebufferState

from .assembly import Runs, assemble, cut_runs
from .clip import ClipPlanes
from .fetch import FetchedVertices, VertexSource
from .programs import DrawPrograms, select_programs
from .rasterize import Batch, RasterContext, rasterize
from .stream_output import capture
from .vertices import Ints, VertexSet

if TYPE_CHECKING:
    from drivers.numpipe.context import NumpipeContext

__all__ = ["draw"]

_SPARSE = 4
"""Index ranges up to this many times the number of indices are shaded whole."""


def draw(context: NumpipeContext, info: DrawInfo) -> None:
    """Execute a draw call."""
    if info.indirect is not None:
        for single in _indirect(info):
            _draw(context, single)
        return
    target = info.count_from_stream_output
    if target is not None:
        elements = context.bound.vertex_buffers
        stride = next((b.stride for b in elements if b is not None and b.stride), 0)
        count = target.written // stride if stride else 0
        info = replace(info, count=count, start=0, count_from_stream_output=None)
    _draw(context, info)


def _indirect(info: DrawInfo) -> list[DrawInfo]:
    """The draws whose parameters lie in a buffer."""
    indirect = info.indirect
    assert indirect is not None
    count = indirect.draw_count
    if indirect.count_buffer is not None:
        words = _words(indirect.count_buffer, indirect.count_offset, 1)
        count = min(count, int(words[0]))
    fields = 5 if info.index_size else 4
    draws = []
    for number in range(count):
        offset = indirect.offset + number * (indirect.stride or fields * 4)
        words = _words(indirect.buffer, offset, fields)
        values = [int(w) for w in words]
        common = {
            "count": values[0],
            "instance_count": values[1],
            "start": values[2],
            "draw_id": info.draw_id + number,
            "indirect": None,
        }
        if info.index_size:
            bias = values[3] - (1 << 32) if values[3] >= 1 << 31 else values[3]
            draws.append(replace(info, index_bias=bias, start_instance=values[4], **common))  # type: ignore[arg-type]
        else:
            draws.append(replace(info, start_instance=values[3], **common))  # type: ignore[arg-type]
    return draws


def _words(resource: Any, offset: int, count: int) -> npt.NDArray[np.uint32]:
    """Words of a buffer; what lies outside is zero."""
    assert isinstance(resource, NumpipeResource)
    found = resource.bytes_at(offset, count * 4)
    padded = np.zeros(count * 4, np.uint8)
    padded[: len(found)] = found
    return padded.view(np.uint32)


def _draw(context: NumpipeContext, info: DrawInfo) -> None:
    if info.count <= 0 or info.instance_count <= 0:
        return
    programs = select_programs(context, info)
    if programs is None:
        return
    stream, runs, source = _stream(info)
    if not len(stream) or not source.count:
        return
    vertices = _shade(context, programs, source)
    bound = context.bound
    state = bound.rasterizer.state
    assembled = assemble(info.mode, runs, state.flatshade_first)
    corners = stream[assembled.corners]
    provoking = stream[assembled.provoking]
    identity = np.arange(len(corners), dtype=np.int32)
    edges = assembled.edges
    if source.instances > 1:
        shift = np.repeat(np.arange(source.instances) * source.count, len(corners))
        corners = np.tile(corners, (source.instances, 1)) + shift[:, None]
        provoking = np.tile(provoking, source.instances) + shift
        identity = np.tile(identity, source.instances)
        edges = None if edges is None else np.tile(edges, source.instances)
    counters = context.counters
    counters.ia_vertices += info.count * info.instance_count
    counters.ia_primitives += len(corners)
    if any(t is not None for t in bound.stream_targets) and programs.stream_output is not None:
        capture(context, programs.stream_output, vertices, corners)
    counters.primitives_generated += len(corners)
    if state.rasterizer_discard or not len(corners):
        return
    engine = _engine(context, programs)
    if engine.idle:
        return
    raster = _raster_context(context, programs, engine)
    rasterize(raster, vertices, Batch(corners, provoking, identity, edges))
    engine.finish()


# -- indices -------------------------------------------------------------------------------------


def _stream(info: DrawInfo) -> tuple[Ints, Runs, VertexSource]:
    """The stream of vertex lanes, its runs, and the vertices behind the lanes."""
    common = {
        "instances": info.instance_count,
        "start_instance": info.start_instance,
        "draw_id": info.draw_id,
    }
    if not info.index_size:
        source = VertexSource(info.start, info.count, None, base_vertex=info.start, **common)
        return np.arange(info.count), Runs.whole(info.count), source
    indices = _indices(info)
    runs = Runs.whole(len(indices))
    if info.primitive_restart:
        kept, runs = cut_runs(indices, info.restart_index)
        if len(kept) != len(indices):
            indices = indices[kept]
    if not len(indices):
        return np.zeros(0, np.int64), runs, VertexSource(0, 0, None, base_vertex=0, **common)
    wide = indices.astype(np.int64)
    low, high = int(wide.min()), int(wide.max())
    extent = high - low + 1
    bias = info.index_bias
    wide -= low
    if extent <= _SPARSE * len(wide):
        source = VertexSource(low + bias, extent, None, base_vertex=bias, **common)
        return wide, runs, source
    unique, inverse = np.unique(wide, return_inverse=True)
    source = VertexSource(
        low + bias, len(unique), unique + (low + bias), base_vertex=bias, **common
    )
    return inverse.astype(np.int64, copy=False), runs, source


def _indices(info: DrawInfo) -> npt.NDArray[Any]:
    """The index values of a draw; indices outside the buffer read as zero."""
    resource = info.index_buffer
    assert isinstance(resource, NumpipeResource)
    size = info.index_size
    data = resource.bytes_at(info.index_offset + info.start * size, info.count * size)
    usable = len(data) // size
    if usable == info.count:
        if data.ctypes.data % size:
            data = data.copy()
        return data.view(f"<u{size}")
    padded = np.zeros(info.count * size, np.uint8)
    padded[: usable * size] = data[: usable * size]
    return padded.view(f"<u{size}")


# -- vertices ------------------------------------------------------------------------------------


def _shade(context: NumpipeContext, programs: DrawPrograms, source: VertexSource) -> VertexSet:
    """Run the vertex shader once per unique vertex and instance."""
    bound = context.bound
    lanes = source.lanes
    context.counters.vs_invocations += lanes
    elements, buffers = bound.elements.state, bound.vertex_buffers
    size = programs.vertex_facts.chunk_lanes
    if lanes <= size + size // 4:
        fetched = FetchedVertices(source, elements, buffers, 0, lanes)
        outputs = programs.vertex.vertex(fetched)
    else:
        parts = []
        for start in range(0, lanes, size):
            stop = min(start + size, lanes)
            fetched = FetchedVertices(source, elements, buffers, start, stop)
            parts.append((programs.vertex.vertex(fetched), stop - start))
        outputs = _joined(parts)
    return VertexSet.from_outputs(
        lanes, {slot: list(values) for slot, values in outputs.items()}, bound.viewport
    )


def _joined(parts: list[tuple[Outputs, int]]) -> Outputs:
    """The outputs of several chunks as one."""
    joined: Outputs = {}
    for slot, components in parts[0][0].items():
        values: list[npt.NDArray[Any] | None] = []
        for i in range(len(components)):
            pieces = [(part[slot][i], count) for part, count in parts]
            if any(piece is None for piece, _ in pieces):
                values.append(None)
                continue
            values.append(
                np.concatenate(
                    [p if p is not None and p.ndim else np.full(n, p) for p, n in pieces]
                )
            )
        joined[slot] = values
    return joined


# -- the rest of the pipeline ----------------------------------------------------------------------


def _target_rect(context: NumpipeContext) -> Rect:
    framebuffer = context.bound.framebuffer
    x0, y0, x1, y1 = 0, 0, framebuffer.width, framebuffer.height
    if context.bound.rasterizer.state.scissor:
        scissor = context.bound.scissor
        x0, y0 = max(x0, scissor.minx), max(y0, scissor.miny)
        x1, y1 = min(x1, scissor.maxx), min(y1, scissor.maxy)
    return Rect(x0, y0, x1, y1)


def _engine(context: NumpipeContext, programs: DrawPrograms) -> FragmentEngine:
    bound = context.bound
    framebuffer = bound.framebuffer
    blend = bound.blend.state
    colors = [
        None if surface is None else ColorTarget(surface, blend, index, bound.blend_color)
        for index, surface in enumerate(framebuffer.cbufs)
    ]
    depth = None if framebuffer.zsbuf is None else DepthTarget(framebuffer.zsbuf)
    width = framebuffer.width
    if depth is not None:
        width = depth.stride
    elif colors and colors[0] is not None:
        width = colors[0].stride
    raster = bound.rasterizer.state
    clamp = None
    if raster.depth_clamp or not (raster.depth_clip_near and raster.depth_clip_far):
        scale, translate = bound.viewport.scale[2], bound.viewport.translate[2]
        near = translate if raster.clip_halfz else translate - scale
        clamp = min(near, translate + scale), max(near, translate + scale)
    state = FragmentState(
        width=width,
        height=framebuffer.height,
        colors=colors,
        depth=depth,
        tests=bound.depth_stencil_alpha.state,
        references=bound.stencil_ref,
        program=programs.fragment,
        facts=programs.fragment_facts,
        quads=programs.quads,
        counting=context.active_occlusion > 0,
        depth_clamp=clamp,
        sample_mask=bound.sample_mask,
    )
    return FragmentEngine(state, context.scratch, context.counters)


def _raster_context(
    context: NumpipeContext, programs: DrawPrograms, engine: FragmentEngine
) -> RasterContext:
    bound = context.bound
    state = bound.rasterizer.state
    distances = {
        6 + i: (VaryingSlot.CLIP_DIST0 + i // 4, i % 4)
        for i in range(8)
        if state.clip_plane_enable >> i & 1
        and programs.vertex_facts.outputs.get(VaryingSlot.CLIP_DIST0 + i // 4, 0) >> (i % 4) & 1
    }
    culls = sum(
        (programs.vertex_facts.outputs.get(VaryingSlot.CULL_DIST0 + i // 4, 0) >> (i % 4)) & 1
        for i in range(8)
    )
    return RasterContext(
        state=state,
        target=_target_rect(context),
        engine=engine,
        counters=context.counters,
        planes=ClipPlanes.of(state, distances),
        flat=programs.flat_slots,
        linear=programs.linear_slots,
        offset=_depth_offset(bound.framebuffer),
        cull_distances=culls,
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
