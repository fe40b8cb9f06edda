"""The geometry stage of a draw: primitives in, a new set of vertices and primitives out.

Input primitives are assembled whole, adjacent vertices included. What the shader emits is a stream
of vertices with runs, one per strip, which goes through primitive assembly like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.shader import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.numpipe.shader.geometry import run_geometry
from gallette.pipe.enums import Primitive

from .assembly import Runs, assemble
from .vertices import Ints, VertexSet

if TYPE_CHECKING:
    from gallette.drivers.numpipe.context import NumpipeContext

    from .state import DrawState

__all__ = ["OUTPUT_MODES", "emitted_primitives", "input_corners", "patch_corners"]

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


def input_corners(mode: Primitive, runs: Runs, provoking_first: bool) -> Ints:
    """Stream positions of each input primitive's vertices, adjacent ones included."""
    if mode is Primitive.LINES_ADJACENCY:
        return _windows(runs, 4, 4, lambda n: n // 4)
    if mode is Primitive.LINE_STRIP_ADJACENCY:
        return _windows(runs, 1, 4, lambda n: n - 3)
    if mode is Primitive.TRIANGLES_ADJACENCY:
        return _windows(runs, 6, 6, lambda n: n // 6)
    if mode is Primitive.TRIANGLE_STRIP_ADJACENCY:
        return _adjacency_strip(runs)
    return assemble(mode, runs, provoking_first).corners


def patch_corners(runs: Runs, size: int) -> Ints:
    """Stream positions of each patch's vertices."""
    return _windows(runs, size, size, lambda n: n // size)


def _windows(runs: Runs, step: int, width: int, count) -> Ints:  # type: ignore[no-untyped-def]
    counts = np.maximum(count(runs.length), 0)
    first = np.repeat(runs.start, counts) + step * _numbers(counts)
    corners: Ints = first[:, None] + np.arange(width)
    return corners


def _numbers(counts: Ints) -> Ints:
    """0, 1, 2... for each of several runs."""
    total: Ints = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return total


def _adjacency_strip(runs: Runs) -> Ints:
    """A strip with adjacency: every other vertex belongs to a neighbour; the ends are special."""
    counts = np.maximum((runs.length - 4) // 2, 0)
    k = _numbers(counts)
    last = k == np.repeat(counts - 1, counts)
    odd = k & 1 == 1
    at = 2 * k
    before = np.where(k == 0, at + 1, at - 2)
    after = np.where(last, at + 5, at + 6)
    columns = (
        np.where(odd, at + 2, at),
        before,
        np.where(odd, at, at + 2),
        np.where(odd, at + 3, after),
        at + 4,
        np.where(odd, after, at + 3),
    )
    corners: Ints = np.stack(columns, axis=1) + np.repeat(runs.start, counts)[:, None]
    return corners


def emitted_primitives(
    context: NumpipeContext,
    derived: DrawState,
    vertices: VertexSet,
    corners: Ints,
    identity: npt.NDArray[np.int32],
) -> tuple[VertexSet, Ints, Ints, npt.NDArray[np.int32]]:
    """Run the geometry shader: (vertices, corners, provoking vertices, primitive numbers)."""
    bound = context.bound
    program, joined = derived.selection.geometry, derived.geometry
    assert program is not None and joined is not None
    info = bound.shaders[Stage.GEOMETRY].shader.info
    first = bound.rasterizer.state.flatshade_first
    if corners.shape[1] != _INPUT_CORNERS.get(info.input_primitive):
        corners = corners[:0]
    context.counters.gs_invocations += len(corners) * max(1, info.invocations)
    expanded = run_geometry(
        program,
        joined,
        vertices.component,
        corners,
        identity,
        max(1, info.invocations),
        info.vertices_out,
    )
    new = VertexSet.from_outputs(
        expanded.count,
        {slot: list(values) for slot, values in expanded.outputs.items()},
        bound.viewport,
    )
    mode = OUTPUT_MODES[info.output_primitive or "triangle_strip"]
    assembled = assemble(mode, Runs(expanded.start, expanded.length), first)
    provoking = assembled.provoking
    context.counters.gs_primitives += len(provoking)
    numbers = np.arange(len(assembled.corners), dtype=np.int32)
    written = expanded.outputs.get(VaryingSlot.PRIMITIVE_ID)
    if written is not None and written[0] is not None:
        numbers = written[0].view(np.int32)[provoking]
    return new, assembled.corners, provoking, numbers
