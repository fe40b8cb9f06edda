"""From assembled primitives to fragments: clip, cull, apply the polygon mode, rasterize."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.raster.batch import (
    Batch,
    FragmentSink,
    Polygons,
    RasterContext,
    ScissorSink,
    first_of_each,
    numbered,
)
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.lines import CENTER, lengthened, set_up_lines
from gallette.drivers.common.raster.points import set_up_points
from gallette.drivers.common.raster.samples import SamplePattern, sampled_spans
from gallette.drivers.common.raster.setup import Edges, Rect
from gallette.drivers.common.raster.spans import Spans, slices, spans_of
from gallette.drivers.common.raster.stipple import dashes
from gallette.drivers.common.raster.triangles import (
    MOST_ROWS,
    Faced,
    face_triangles,
    offset_depth,
    rasterize_triangles,
)
from gallette.drivers.common.raster.viewports import (
    Viewports,
    own_vertices,
    reprojected,
)
from gallette.drivers.common.vertex.assembly import ALL_EDGES
from gallette.drivers.common.vertex.clip import (
    ClipContext,
    clip_codes,
    clip_lines,
    clip_polygons,
)
from gallette.drivers.common.vertex.masks import ends_of, every, where
from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet
from gallette.pipe.enums import PolygonMode
from gallette.pipe.state import RasterizerState

Bools = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.uint32]

LARGEST_BATCH = {1: 1 << 13, 2: 1 << 14, 3: 1 << 15}
"""Points, lines and triangles per setup batch, which bounds the memory it takes."""

_TURNED = np.array([1, 2, 0])
"""The corner order of a triangle whose last vertex is provoking, from one whose first is."""


def rasterize(
    context: RasterContext, sink: FragmentSink, vertices: VertexSet, batch: Batch
) -> None:
    """Draw one batch of points, lines or triangles."""
    if context.viewports is not None and len(batch.corners):
        context, sink, vertices, batch = _windowed(
            context.viewports, context, sink, vertices, batch
        )
    context.counters.clipper_in += len(batch.corners)
    if context.cull_distances:
        batch = _cull_by_distance(context, vertices, batch)
    batch = clipped(context, vertices, _left(context, sink, vertices, batch, False))
    context.counters.clipper_out += len(batch.corners)
    if context.target.empty or not len(batch.corners):
        return
    count, size = batch.corners.shape
    step = LARGEST_BATCH[size]
    for start in range(0, count, step):
        part = batch if count <= step else batch.take(slice(start, start + step))
        if size == 3:
            _triangles(context, sink, vertices, part)
        elif size == 2:
            _lines(context, sink, vertices, part)
        else:
            _points(context, sink, vertices, part)


def _left(
    context: RasterContext, sink: FragmentSink, vertices: VertexSet, batch: Batch, inside: bool
) -> Batch:
    """The primitives that the sink does not fill itself."""
    done = sink.fill(context, vertices, batch, inside) if len(batch.corners) else 0
    return batch.take(slice(done, None)) if done else batch


def _windowed(
    viewports: Viewports,
    context: RasterContext,
    sink: FragmentSink,
    vertices: VertexSet,
    batch: Batch,
) -> tuple[RasterContext, FragmentSink, VertexSet, Batch]:
    """The batch with each primitive in its own viewport."""
    index = viewports.indices(vertices, batch.provoking)
    first = int(index[0])
    if (index == first).all():
        if first:
            vertices = reprojected(vertices, viewports.states[first])
    else:
        vertices, corners, provoking = own_vertices(
            vertices, batch.corners, batch.provoking, index, viewports
        )
        batch = replace(batch, corners=corners, provoking=provoking)
    target = viewports.around(index)
    if first or target != viewports.rects[0] or not (index == first).all():
        sink = ScissorSink(sink, viewports.rectangles)
    return replace(context, target=target), sink, vertices, batch


def _cull_by_distance(context: RasterContext, vertices: VertexSet, batch: Batch) -> Batch:
    """Drop primitives whose vertices all have a negative value of the same cull distance."""
    keep = np.ones(len(batch.corners), np.bool_)
    for number in range(context.cull_distances):
        slot = VaryingSlot.CULL_DIST0 + number // 4
        value = vertices.component(slot, number % 4)
        at = np.broadcast_to(value, vertices.count)[batch.corners]
        keep &= ~(at < 0).all(axis=1)
    return batch if every(keep) else batch.take(where(keep))


def clipped(context: RasterContext, vertices: VertexSet, batch: Batch) -> Batch:
    """The batch inside the clip volume, order kept."""
    size = batch.corners.shape[1]
    codes = clip_codes(vertices, context.planes, size > 1 or context.state.point_clip_sides)
    if codes is None:
        return batch
    at = codes.take(batch.corners)
    outside, crossing = at[:, 0], at[:, 0]
    for i in range(1, size):
        outside = outside & at[:, i]
        crossing = crossing | at[:, i]
    keep = outside == 0
    if not every(keep):
        rows = where(keep)
        batch, crossing = batch.take(rows), crossing.take(rows)
    needing = where(crossing)
    if not len(needing):
        return batch
    cut, planes = batch.take(needing), crossing.take(needing)
    clip = ClipContext(vertices, context.planes, context.flat, context.linear)
    if size == 2:
        ends, alive = clip_lines(clip, cut.corners, cut.provoking, planes)
        batch.corners = batch.corners.copy()
        batch.corners[needing] = ends
        if not alive.all():
            kept = np.ones(len(batch.corners), np.bool_)
            kept[needing[~alive]] = False
            batch = batch.take(where(kept))
        return batch
    edges = None if context.fills else _edges_of(cut)
    pieces = clip_polygons(clip, cut.corners, cut.provoking, planes, edges)
    return _merged(context, batch, where(crossing == 0), needing, *pieces)


def _edges_of(batch: Batch) -> npt.NDArray[np.uint8]:
    """Which edges belong to the outline."""
    if batch.edges is not None:
        return batch.edges
    return np.full(len(batch.corners), ALL_EDGES, np.uint8)


def _merged(
    context: RasterContext,
    batch: Batch,
    whole: Ints,
    needing: Ints,
    corners: Ints,
    rows: Ints,
    edges: npt.NDArray[np.uint8] | None,
) -> Batch:
    """Triangles inside the volume and pieces of clipped ones, merged in drawing order."""
    numbers = np.concatenate((whole, needing.take(rows)))
    order = numbers.argsort(kind="stable")
    source = numbers.take(order)
    pieces = corners if context.state.flatshade_first else corners.take(_TURNED, axis=1)
    all_corners = np.concatenate((batch.corners.take(whole, axis=0), pieces)).take(order, axis=0)
    all_edges = None
    if edges is not None:
        if not context.state.flatshade_first:
            edges = (edges >> np.uint8(1)) | ((edges & np.uint8(1)) << np.uint8(2))
        all_edges = np.concatenate((_edges_of(batch).take(whole), edges)).take(order)
    begun = source if batch.resets is None else numbered(batch.resets)[source]
    return Batch(
        all_corners,
        batch.provoking.take(source),
        batch.identity.take(source),
        all_edges,
        first_of_each(begun) if context.state.line_stipple_enable else None,
    )


def _triangles(
    context: RasterContext, sink: FragmentSink, vertices: VertexSet, batch: Batch
) -> None:
    state = context.state
    pattern = context.pattern(state.poly_smooth)
    faced = face_triangles(vertices, batch.corners, batch.provoking, state, pattern)
    modes = list(_by_mode(faced, state))
    del faced  # here and below: free the rows' data while they are drawn
    while modes:
        mode, some = modes.pop(0)
        identity = batch.identity[some.rows]
        depth = None
        wanted = {
            PolygonMode.FILL: state.offset_tri,
            PolygonMode.LINE: state.offset_line,
            PolygonMode.POINT: state.offset_point,
        }[mode]
        if wanted:
            depth = offset_depth(vertices, some.corners, state, context.offset)
        if mode is not PolygonMode.FILL:
            _outlines(context, sink, vertices, batch, some, mode, depth)
            continue
        filled = _filled(context, vertices, some, identity, depth)
        del some, identity, depth
        for spans, source, info in filled:
            sink.draw(spans, source, info)
            del spans, source, info


def _filled(
    context: RasterContext,
    vertices: VertexSet,
    faced: Faced,
    identity: npt.NDArray[np.int32],
    depth: Floats | None,
) -> Iterator[tuple[Spans, PlaneSource, PrimitiveInfo]]:
    """The spans of triangles, in parts with a bounded number of rows."""
    state = context.state
    parts = faced.parts(context.target)
    while parts:
        part = parts.pop(0)
        spans, source, info = rasterize_triangles(
            vertices,
            faced.take(part),
            identity[part],
            state,
            context.target,
            None if depth is None else depth[:, part],
            context.pattern(state.poly_smooth),
        )
        info.screen = context.screen
        if not parts:
            del faced, identity, depth
        yield spans, source, info
        del spans, source, info


def _by_mode(faced: Faced, state: RasterizerState) -> Iterator[tuple[PolygonMode, Faced]]:
    """Triangles by polygon mode, in drawing order.

    Where front and back differ, which is rare, every run of triangles with equal facing is
    separate.
    """
    if not faced.count:
        return
    if state.fill_front is state.fill_back or faced.front.all():
        yield state.fill_front, faced
        return
    starts = np.flatnonzero(np.diff(faced.front, prepend=~faced.front[:1]))
    for start, stop in zip(starts, [*starts[1:], faced.count], strict=True):
        mode = state.fill_front if faced.front[start] else state.fill_back
        yield mode, faced.take(slice(start, stop))


_LINE_ORDER = np.array([2, 0, 1], np.uint8)  # the order of Mesa's draw module
_POINT_ORDER = np.array([0, 1, 2], np.uint8)


def _outlines(
    context: RasterContext,
    sink: FragmentSink,
    vertices: VertexSet,
    batch: Batch,
    faced: Faced,
    mode: PolygonMode,
    depth: Floats | None,
) -> None:
    """Draw triangles as lines along their outline edges, or as points at those edges'
    beginnings.
    """
    original = batch.corners[faced.rows]
    mask = (
        np.full(faced.count, ALL_EDGES, np.uint8)
        if batch.edges is None
        else batch.edges[faced.rows]
    )
    lines = mode is PolygonMode.LINE
    size, sequence = (2, _LINE_ORDER) if lines else (1, _POINT_ORDER)
    row, place = np.nonzero((mask[:, None] >> sequence) & 1)
    edge = sequence[place].astype(np.intp)
    ends = np.stack((original[row, edge], original[row, (edge + 1) % 3]), axis=1)
    heights: Floats | None = None
    if depth is not None:
        z = depth.copy()
        if faced.reversed is not None:
            a, b = (1, 2) if context.state.flatshade_first else (0, 1)
            z[a] = np.where(faced.reversed, depth[b], depth[a])
            z[b] = np.where(faced.reversed, depth[a], depth[b])
        heights = np.stack((z[edge, row], z[(edge + 1) % 3, row]))[:size]
    resets: Bools | None = None
    if context.state.line_stipple_enable:
        resets = first_of_each(
            faced.rows[row] if batch.resets is None else numbered(batch.resets)[faced.rows[row]]
        )
    outline = Batch(
        ends[:, :size],
        faced.provoking[row],
        batch.identity[faced.rows][row],
        resets=resets,
        depth=heights,
        front=faced.front[row],
    )
    (_lines if lines else _points)(context, sink, vertices, outline)


def _lines(context: RasterContext, sink: FragmentSink, vertices: VertexSet, batch: Batch) -> None:
    if context.state.line_stipple_enable:
        resets = np.ones(len(batch.corners), np.bool_) if batch.resets is None else batch.resets
        ends, rows = dashes(
            vertices, batch.corners, batch.provoking, resets, context.state, context.flat
        )
        # Dashes have a depth of their own, without the offset.
        batch = replace(batch.take(rows), corners=ends, depth=None)
    batch = _left(context, sink, vertices, batch, True)
    if not len(batch.corners):
        return
    pattern = context.pattern(context.state.line_smooth)
    if pattern is not context.multisampled:
        vertices, batch = lengthened(vertices, batch)
        pattern = CENTER
    _polygons(context, sink, set_up_lines(vertices, batch, context.state, context.target, pattern))


def _points(context: RasterContext, sink: FragmentSink, vertices: VertexSet, batch: Batch) -> None:
    batch = _left(context, sink, vertices, batch, True)
    if not len(batch.corners):
        return
    pattern = context.pattern(context.state.point_smooth)
    _polygons(context, sink, set_up_points(vertices, batch, context.state, context.target, pattern))


def _polygons(context: RasterContext, sink: FragmentSink, polygons: Polygons) -> None:
    """Draw the polygons that lines or points cover, in parts with a bounded number of rows."""
    edges, source, info, pattern = polygons
    for part in slices(ends_of(np.maximum(edges.y1 - edges.y0, 0)), MOST_ROWS):
        # The engine frees the rows while it draws, so no name may hold them here.
        sink.draw(_spans_of(edges, part, context.target, pattern), source, info)


def _spans_of(edges: Edges, part: slice, target: Rect, pattern: SamplePattern | None) -> Spans:
    """The spans of some polygons, which keep their numbers."""
    some = edges.take(part)
    spans = sampled_spans(some, target, pattern) if pattern else spans_of(some)
    spans.primitive += part.start
    return spans
