"""The way of a draw: indices, vertices, primitives, fragments.

draw            resolves indirect and stream-output counts, runs the rest per draw
run             indices -> unique vertices -> shader -> assembly -> capture -> rasterize
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.output.engine import FragmentRun
from gallette.drivers.common.program import Outputs
from gallette.drivers.common.raster.primitives import Batch, RasterContext, rasterize
from gallette.drivers.common.vertex.assembly import assemble
from gallette.drivers.common.vertex.clip import clip_codes
from gallette.drivers.common.vertex.corners import input_corners, patch_corners
from gallette.drivers.common.vertex.fetch import FetchedVertices, VertexSource
from gallette.drivers.common.vertex.stream import resolved, vertex_stream
from gallette.drivers.common.vertex.stream_output import capture
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.state import DrawInfo

from .finding import DrawStates
from .geometry import emitted_primitives
from .state import DrawState
from .tessellation import tessellated_primitives

__all__ = ["draw", "run"]


def draw(states: DrawStates, info: DrawInfo) -> None:
    """Execute a draw call. Infinities and NaNs are legitimate from here down."""
    with np.errstate(all="ignore"):
        for single in resolved(info, states.bound.vertex_buffers):
            if single.count > 0 and single.instance_count > 0:
                state = states.of(single.mode)
                if state is not None:
                    run(state, single)


def run(draw: DrawState, info: DrawInfo, merged: bool = False) -> None:
    """Take a draw through the whole pipeline.

    If it is `merged` from several draws, its instances are those draws, and a primitive is
    identified by the draw it belongs to.
    """
    stream, runs, source = vertex_stream(info)
    if not len(stream) or not source.count:
        return
    vertices = _shade(draw, source)
    fixed = draw.fixed
    raster, stages = fixed.raster, fixed.selection.stages
    state = raster.state
    edges = None
    if info.mode is Primitive.PATCHES:
        corners = stream[patch_corners(runs, info.vertices_per_patch)]
        provoking = corners[:, 0]
    elif Stage.GEOMETRY in stages:
        corners = stream[input_corners(info.mode, runs, state.flatshade_first)]
        provoking = corners[:, 0]
    else:
        plain = info.mode is Primitive.QUADS and _needs_only_filling(raster, vertices)
        assembled = assemble(info.mode, runs, state.flatshade_first, plain)
        corners = stream[assembled.corners]
        provoking = stream[assembled.provoking]
        edges = assembled.edges
    identity = np.arange(len(corners), dtype=np.int32)
    if source.instances > 1:
        instance = np.repeat(np.arange(source.instances), len(corners))
        shift = instance * source.count
        corners = np.tile(corners, (source.instances, 1)) + shift[:, None]
        provoking = np.tile(provoking, source.instances) + shift
        identity = instance.astype(np.int32) if merged else np.tile(identity, source.instances)
        edges = None if edges is None else np.tile(edges, source.instances)
    counters = draw.counters
    counters.ia_vertices += info.count * info.instance_count
    counters.ia_primitives += len(corners)
    if info.mode is Primitive.PATCHES:
        if Stage.TESS_EVAL not in stages:
            return
        vertices, corners, identity = tessellated_primitives(
            draw, vertices, corners, identity, info.patch_levels
        )
        provoking = corners[:, 0 if state.flatshade_first else -1]
    if Stage.GEOMETRY in stages:
        vertices, corners, provoking, identity = emitted_primitives(
            draw, vertices, corners, identity
        )
    if any(t is not None for t in draw.targets) and fixed.stream_output is not None:
        capture(draw.targets, fixed.stream_output, counters, vertices, corners)
    counters.primitives_generated += len(corners)
    if state.rasterizer_discard or not len(corners):
        return
    engine = fixed.engine
    if not engine.idle:
        batch = Batch(corners, provoking, identity, edges)
        if info.mode in _EDGE_FLAGGED and VaryingSlot.EDGE in vertices.varyings:
            batch.edges = _flagged_edges(vertices, batch)
        if state.line_stipple_enable and info.mode in _CONNECTED:
            batch.resets = np.ones(len(corners), np.bool_)
            batch.resets[1:] = corners[1:, 0] != corners[:-1, 1]
        rasterize(raster, FragmentRun(engine, draw.fragment), vertices, batch)
        engine.finish()


def _needs_only_filling(raster: RasterContext, vertices: VertexSet) -> bool:
    """Polygons go to the rasterizer as they are: nothing to clip, outline, offset or stipple."""
    state = raster.state
    return (
        state.fill_front is PolygonMode.FILL
        and state.fill_back is PolygonMode.FILL
        and not (state.offset_point or state.offset_line or state.offset_tri)
        and not (state.poly_stipple_enable or state.light_twoside)
        and clip_codes(vertices, raster.planes) is None
    )


_CONNECTED = (Primitive.LINE_STRIP, Primitive.LINE_LOOP, Primitive.LINE_STRIP_ADJACENCY)
_EDGE_FLAGGED = (Primitive.TRIANGLES, Primitive.QUADS, Primitive.POLYGON)


def _flagged_edges(vertices: VertexSet, batch: Batch) -> npt.NDArray[np.uint8]:
    """The edges that begin at a vertex with an edge flag."""
    value = vertices.component(VaryingSlot.EDGE, 0)
    flags = np.broadcast_to(value != 0, vertices.count)[batch.corners]
    bits = flags * np.array([1, 2, 4], np.uint8)
    mask: npt.NDArray[np.uint8] = bits.sum(axis=1, dtype=np.uint8)
    return mask if batch.edges is None else mask & batch.edges


def _shade(draw: DrawState, source: VertexSource) -> VertexSet:
    """Run the vertex shader once per unique vertex and instance."""
    lanes = source.lanes
    draw.counters.vs_invocations += lanes
    elements, buffers = draw.elements, draw.buffers
    program = draw.programs[Stage.VERTEX]
    size = draw.fixed.selection.stages[Stage.VERTEX].facts.chunk_lanes
    if lanes <= size + size // 4:
        fetched = FetchedVertices(source, elements, buffers, 0, lanes)
        outputs = program.vertex(fetched)
    else:
        parts = []
        for start in range(0, lanes, size):
            stop = min(start + size, lanes)
            fetched = FetchedVertices(source, elements, buffers, start, stop)
            parts.append((program.vertex(fetched), stop - start))
        outputs = _joined(parts)
    return VertexSet.from_outputs(
        lanes, {slot: list(values) for slot, values in outputs.items()}, draw.fixed.viewport
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
