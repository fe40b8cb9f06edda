"""The stages of a draw: indices, vertices, primitives, fragments.

draw            resolves indirect and stream-output counts, runs the rest per draw
run             part by part: assembled (`parts`), tessellated, expanded, captured, rasterized
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.output.engine import FragmentRun
from gallette.drivers.common.raster.batch import Batch, FragmentSink, ScissorSink
from gallette.drivers.common.raster.primitives import rasterize
from gallette.drivers.common.vertex.stream import resolved, submitted
from gallette.drivers.common.vertex.stream_output import capture
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import LANE, PRIMITIVE
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

from .draw_states import DrawStates
from .geometry import emitted_primitives
from .splitting import Primitives, parts, without_excess
from .state import DrawState
from .tessellation import tessellated_primitives


def draw(states: DrawStates, info: DrawInfo, done: int = 0) -> None:
    """Execute a draw call, of which some parts may be `done`. Infinities and NaNs are legitimate in
    all code called from here.
    """
    states.work.begin()
    with np.errstate(all="ignore"):
        for single in resolved(info):
            if single.count > 0 and single.instance_count > 0:
                state = states.of(single.mode)
                if state is not None:
                    run(state, single, done=done)


def run(draw: DrawState, info: DrawInfo, merged: bool = False, done: int = 0) -> None:
    """Take a draw through the whole pipeline.

    If it is `merged` from several draws, its instances are those draws, and a primitive is
    identified by the draw it belongs to. The first parts may be `done` by the draw's plan.
    """
    info = info if done else without_excess(draw, info)
    if draw.recorder is not None and draw.recorder.record(draw, info, merged):
        return
    stages, counters = draw.fixed.selection.stages, draw.counters
    if not done:
        draw.work.spend(LANE * info.count * info.instance_count)
        counters.ia_vertices += submitted(info) * info.instance_count
    drawn = False
    for part in parts(draw, info, merged, done):
        counters.ia_primitives += len(part.corners)
        pieces = iter((part,))
        if info.mode is Primitive.PATCHES:
            if Stage.TESS_EVAL not in stages:
                return
            pieces = tessellated_primitives(draw, part, info.patch_levels)
        for piece in pieces:
            if Stage.GEOMETRY not in stages:
                drawn |= _finish(draw, info.mode, piece)
                continue
            for emitted in emitted_primitives(draw, piece):
                drawn |= _finish(draw, info.mode, emitted)
    if drawn:
        draw.fixed.engine.finish()


def run_part(draw: DrawState, mode: Primitive, part: Primitives) -> None:
    """Take assembled primitives of a draw without further stages through the rest of it."""
    draw.counters.ia_primitives += len(part.corners)
    if _finish(draw, mode, part):
        draw.fixed.engine.finish()


def rasterize_part(draw: DrawState, mode: Primitive, part: Primitives, sink: FragmentSink) -> None:
    """Draw primitives into another sink of fragments."""
    draw.counters.ia_primitives += len(part.corners)
    _finish(draw, mode, part, sink)


def _finish(
    draw: DrawState, mode: Primitive, part: Primitives, sink: FragmentSink | None = None
) -> bool:
    """Capture and rasterize some primitives; true if memory may have been written."""
    fixed, counters = draw.fixed, draw.counters
    vertices, corners, state = part.vertices, part.corners, fixed.raster.state
    draw.work.spend(PRIMITIVE * len(corners))
    stream = counters.streams[part.stream]
    if any(t is not None for t in draw.targets) and fixed.stream_output is not None:
        capture(draw.targets, fixed.stream_output, stream, vertices, corners, part.stream)
    stream.generated += len(corners)
    if counters.tally is not None:
        counters.tally.generate(part.identity)
    if part.stream:
        return False  # only the first stream is rasterized
    if state.rasterizer_discard or not len(corners) or fixed.engine.idle:
        return False
    batch = batch_of(draw, mode, part)
    if sink is None:
        fragments = FragmentRun(fixed.engine, draw.fragment)
        sink = fragments
        if draw.witness is not None:
            sink = draw.witness.around(draw, vertices, batch, fragments)
    if draw.scissors is not None:
        rectangles = draw.scissors
        sink = ScissorSink(sink, lambda _, info: rectangles.take(info.identity, axis=1))
    rasterize(fixed.raster, sink, vertices, batch)
    return True


def batch_of(draw: DrawState, mode: Primitive, part: Primitives) -> Batch:
    """The primitives as the rasterizer takes them."""
    vertices, corners, state = part.vertices, part.corners, draw.fixed.raster.state
    batch = Batch(corners, part.provoking, part.identity, part.edges)
    if mode in _EDGE_FLAGGED and VaryingSlot.EDGE in vertices.varyings:
        batch.edges = _flagged_edges(vertices, batch)
    if state.line_stipple_enable and mode in _CONNECTED:
        batch.resets = np.ones(len(corners), np.bool_)
        batch.resets[1:] = corners[1:, 0] != corners[:-1, 1]
    elif state.line_stipple_enable and part.edges is not None and corners.shape[1] == 3:
        # What a polygon was cut into goes on with the edge that the piece before has inside.
        before = 1 if state.flatshade_first else 4
        batch.resets = part.edges & before != 0
    return batch


_CONNECTED = (Primitive.LINE_STRIP, Primitive.LINE_LOOP, Primitive.LINE_STRIP_ADJACENCY)
_EDGE_FLAGGED = (Primitive.TRIANGLES, Primitive.QUADS, Primitive.POLYGON)


def _flagged_edges(vertices: VertexSet, batch: Batch) -> npt.NDArray[np.uint8]:
    """The edges that begin at a vertex with an edge flag."""
    value = vertices.component(VaryingSlot.EDGE, 0)
    flags = np.broadcast_to(value != 0, vertices.count)[batch.corners]
    bits = flags * np.array([1, 2, 4], np.uint8)
    mask: npt.NDArray[np.uint8] = bits.sum(axis=1, dtype=np.uint8)
    return mask if batch.edges is None else mask & batch.edges
