"""Observes draws inside the driver: meshes, overdraw, visible primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.drivers.common.output.engine import FragmentRun
from gallette.drivers.common.raster.batch import Batch, FragmentSink
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import PrimitiveInfo
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.vertex.fetch import FetchedVertices
from gallette.drivers.common.vertex.stream import resolved, vertex_stream
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.inspector.frames import Mesh

MOST_PRIMITIVES = 4000


class DrawWitness:
    """Counts the fragments of every pixel, and keeps the mesh, of one GL call."""

    def __init__(self) -> None:
        self.begin((0, 0))

    def begin(self, size: tuple[int, int]) -> None:
        """Start counting for the next call, which draws into a framebuffer of that size."""
        self.size = size
        self.counts: Any = None
        self.primitives = 0
        self.after: list[tuple[Any, Any]] = []

    def around(self, draw: Any, vertices: VertexSet, batch: Batch, run: FragmentRun) -> _Counting:
        """The sink that a draw's primitives are rasterized into."""
        self.primitives += len(batch.corners)
        if sum(len(c) for _, c in self.after) < MOST_PRIMITIVES:
            window = np.array(vertices.window[:3], np.float64)
            points = np.concatenate([window, np.asarray(vertices.clip[3:4], np.float64)]).T
            self.after.append((points, np.array(batch.corners[:MOST_PRIMITIVES])))
        return _Counting(self, run)

    def count(self, spans: Spans) -> None:
        """Add spans to the picture of overdraw: work by rows, not by fragments."""
        width, height = self.size
        if self.counts is None:
            self.counts = np.zeros((height, width + 1), np.int32)
        inside = (spans.y >= 0) & (spans.y < height)
        y = spans.y[inside]
        first = np.clip(spans.x[inside], 0, width)
        last = np.clip(spans.x[inside] + spans.length[inside], 0, width)
        np.add.at(self.counts, (y, first), 1)
        np.add.at(self.counts, (y, last), -1)

    @property
    def overdraw(self) -> Any:
        """Fragments per pixel, [y, x]; None if there were none."""
        return None if self.counts is None else np.cumsum(self.counts[:, :-1], axis=1)


class _Counting(FragmentSink):
    """Lets every fragment through, and counts it."""

    def __init__(self, witness: DrawWitness, run: FragmentRun) -> None:
        self._witness, self._run = witness, run

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        self._witness.count(spans)
        self._run.draw(spans, source, info)


def mesh_of(gl: Any, info: Any, witness: DrawWitness) -> Mesh | None:
    """The mesh of a draw that has just been made, with the fetched attributes of each vertex."""
    if not witness.after:
        return None
    points = np.concatenate([p for p, _ in witness.after])
    corners, base = [], 0
    for p, c in witness.after:
        corners.append(c + base)
        base += len(p)
    used = np.concatenate(corners)[:MOST_PRIMITIVES]
    names, before = _attributes(gl, info, len(points))
    points = np.where(np.isfinite(points), points, 0.0)
    kept: Any
    flat: Any
    kept, flat = np.unique(used, return_inverse=True)
    return Mesh(
        names,
        np.round(before[kept], 5).tolist() if len(before) else [],
        np.round(points[kept], 4).tolist(),
        flat.reshape(used.shape).tolist(),
        witness.primitives,
    )


def _attributes(gl: Any, info: Any, count: int) -> tuple[list[str], Any]:
    """The attributes of the first `count` vertices, as the vertex shader received them."""
    state = None if info is None else gl.pipe._states.of(info.mode)
    if state is None:
        return [], np.zeros((0, 0))
    single = next(iter(resolved(info)), None)
    if single is None:
        return [], np.zeros((0, 0))
    _, _, source = vertex_stream(single)
    if source.lanes != count:  # geometry or tessellation made other vertices
        return [], np.zeros((0, 0))
    lanes = FetchedVertices(source, state.elements, state.buffers, 0, count)
    executable = gl.programs.executable
    called = {a.location: a.name for a in executable.linked.attributes} if executable else {}
    names, columns = [], []
    for index, element in enumerate(state.elements):
        width = min(4, max(1, len(element.src_format.channels)))
        for c in range(width):
            value = lanes.attribute(index, c)
            columns.append(np.broadcast_to(np.asarray(value, np.float64), (count,)))
            names.append(f"{called.get(index, f'attribute {index}')}.{'xyzw'[c]}")
    table = np.stack(columns, axis=1) if columns else np.zeros((count, 0))
    return names, np.where(np.isfinite(table), table, 0.0)
