"""The geometry stage of a draw: primitives in, a new set of vertices and primitives out.

Input primitives are assembled whole, adjacent vertices included. What the shader emits is a stream
of vertices with runs, one per strip, which goes through primitive assembly like any other.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.draw.emissions import Expanded, run_geometry
from gallette.drivers.common.vertex.assembly import Runs, assemble
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import LANE
from gallette.pipe.enums import Primitive

from .splitting import Primitives, lanes_at_once
from .state import DrawState

OUTPUT_MODES = {
    "points": Primitive.POINTS,
    "line_strip": Primitive.LINE_STRIP,
    "triangle_strip": Primitive.TRIANGLE_STRIP,
}
_INPUT_CORNERS = {
    "points": 1,
    "lines": 2,
    "lines_adjacency": 4,
    "triangles": 3,
    "triangles_adjacency": 6,
}


def emitted_primitives(state: DrawState, given: Primitives) -> Iterator[Primitives]:
    """Run the geometry shader, over as many primitives at a time as memory allows."""
    selection = state.fixed.selection
    program, info = selection.stages[Stage.GEOMETRY], selection.infos[Stage.GEOMETRY]
    invocations = max(1, info.invocations)
    corners, identity = given.corners, given.identity
    if corners.shape[1] != _INPUT_CORNERS.get(info.input_primitive):
        corners = corners[:0]
    state.counters.gs_invocations += len(corners) * invocations
    state.work.spend(LANE * len(corners) * invocations)
    mode = OUTPUT_MODES[info.output_primitive or "triangle_strip"]
    done = 0
    step = max(1, lanes_at_once(program.facts) // (invocations * max(1, info.vertices_out)))
    for start in range(0, len(corners), step):
        streams = run_geometry(
            program,
            state.programs[Stage.GEOMETRY],
            given.vertices.component,
            corners[start : start + step],
            identity[start : start + step],
            invocations,
            info.vertices_out,
        )
        for stream in list(streams):
            made = _primitives(state, mode, stream, streams.pop(stream), done)
            state.counters.gs_primitives += len(made.corners)
            if not stream:
                done += len(made.corners)
            yield made


def _primitives(
    state: DrawState, mode: Primitive, stream: int, emitted: Expanded, done: int
) -> Primitives:
    """The primitives emitted to one stream, numbered from `done` on."""
    new = VertexSet.from_outputs(
        emitted.count,
        {slot: list(values) for slot, values in emitted.outputs.items()},
        state.fixed.viewport,
        fused=False,
    )
    first = state.fixed.raster.state.flatshade_first
    assembled = assemble(mode, Runs(emitted.start, emitted.length), first)
    corners, provoking = assembled.corners, assembled.provoking
    if emitted.order is not None:
        corners, provoking = emitted.order.take(corners), emitted.order.take(provoking)
    numbers = np.arange(done, done + len(provoking), dtype=np.int32)
    written = emitted.outputs.get(VaryingSlot.PRIMITIVE_ID)
    if written is not None and written[0] is not None:
        numbers = written[0].view(np.int32)[provoking]
    return Primitives(new, corners, provoking, numbers, stream=stream)
