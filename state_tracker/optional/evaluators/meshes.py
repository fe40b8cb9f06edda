"""glEvalMesh: all points of a part of a grid, evaluated as arrays and drawn from a buffer.

Programs define the same maps and draw the same meshes in each frame, so the vertices of a mesh are
kept by what they follow from: a mesh that was drawn before is neither evaluated nor uploaded again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.pipe.enums import Bind, Primitive
from gallette.pipe.state import DrawInfo
from gallette.state_tracker.drawing.draw import RESTART, check_mode, draw_info
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, out_of_memory
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.optional.compatibility.kept_primitives import (
    keep_vertices,
    release_vertices,
)
from gallette.state_tracker.optional.evaluators.maps import evaluate
from gallette.state_tracker.vertices.vertex_arrays import VertexArray
from gallette.state_tracker.vertices.vertex_input import upload

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

MOST_POINTS = 1 << 18
"""Limit on the vertices of one mesh: a call may ask for billions."""

_MOST_KEPT, _MOST_KEPT_POINTS = 512, 1 << 18
"""Limits on the meshes that are kept, and on all their vertices."""

Draw = tuple[int, DrawInfo]
_PRIMITIVES = {
    GL.POINTS: Primitive.POINTS,
    GL.LINE_STRIP: Primitive.LINE_STRIP,
    GL.QUAD_STRIP: Primitive.QUAD_STRIP,
    GL.TRIANGLES: Primitive.TRIANGLES,
}


@lazy_dataclass(eq=False)
class _Mesh:
    """Vertices in a buffer, one for each point, and the draws that connect them."""

    vertices: VertexArray
    count: int
    draws: list[Draw]


class MeshState:
    """The meshes that were drawn, and the indices for each size of a mesh."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._meshes: dict[Any, _Mesh] = {}
        self._points = 0  # of all meshes
        self._draws: dict[Any, list[Draw]] = {}

    def release_all(self) -> None:
        for mesh in self._meshes.values():
            release_vertices(mesh.vertices)
        for draws in self._draws.values():
            for _, info in draws:
                if info.index_buffer is not None:
                    info.index_buffer.unref()
        self._meshes, self._draws, self._points = {}, {}, 0

    def draw(self, mode: int, *ranges: tuple[int, int]) -> None:
        """Draw the part of a grid between the first and the last number of each axis."""
        ctx, state, dims = self._ctx, self._ctx.evaluators, len(ranges)
        maps, grid = state.enabled(dims), state.grids[dims]
        check_mode(ctx, GL.POINTS)
        if VertAttrib.POS not in maps:
            return
        sizes = tuple(max(last + 1 - first, 0) for first, last in ranges)
        count = int(np.prod(sizes, dtype=np.int64))
        if count > MOST_POINTS:
            raise out_of_memory(f"a mesh of {count} points; {MOST_POINTS} are evaluated at most")
        if not count:
            return
        if mode == GL.FILL and _shows_quads(ctx):
            mode = GL.QUAD_STRIP
        alike = tuple((slot, target, each.key) for slot, (target, each) in maps.items())
        key = alike, state.auto_normal, grid, ranges, mode
        mesh = self._meshes.get(key)
        if mesh is None:
            if len(self._meshes) >= _MOST_KEPT or self._points + count > _MOST_KEPT_POINTS:
                self.release_all()
            numbers = [
                np.arange(first, first + n) for (first, _), n in zip(ranges, sizes, strict=True)
            ]
            values = evaluate(ctx, *(grid.coordinates(*each) for each in enumerate(numbers)))
            mesh = self._meshes[key] = self._made(values, mode, sizes)
            self._points += count
        for primitive, info in mesh.draws:
            draw = partial(draw_info, ctx, primitive, info, 0, count - 1)
            ctx.immediate.draw_from(mesh.vertices, draw)

    def _made(self, values: dict[VertAttrib, Any], mode: int, sizes: tuple[int, ...]) -> _Mesh:
        count = int(np.prod(sizes))
        slots = [VertAttrib.POS, *(slot for slot in values if slot is not VertAttrib.POS)]
        data = np.empty((count, len(slots), 4), np.float32)
        data[:] = (0.0, 0.0, 0.0, 1.0)
        for column, slot in enumerate(slots):
            size = values[slot].shape[-1]
            data[:, column, :size] = values[slot].reshape(-1, size)
        vertices = keep_vertices(self._ctx, [int(slot) for slot in slots], data)
        draws = self._draws.get((mode, sizes))
        if draws is None:
            made = [self._draw_of(*draw) for draw in _connected(mode, sizes)]
            draws = self._draws[mode, sizes] = [each for each in made if each[1].count]
        return _Mesh(vertices, count, draws)

    def _draw_of(self, mode: int, strips: npt.NDArray[Any]) -> Draw:
        """The draw of some strips of points, or of triangles."""
        restarts = mode in (GL.LINE_STRIP, GL.QUAD_STRIP) and len(strips) > 1
        if restarts:
            strips = np.pad(strips, ((0, 0), (0, 1)), constant_values=RESTART)
        indices = strips.reshape(-1).astype("<u4")[: -1 if restarts else None]
        buffer = upload(self._ctx, indices, Bind.INDEX_BUFFER) if indices.size else None
        info = DrawInfo(
            _PRIMITIVES[mode],
            count=indices.size,
            index_size=4,
            index_buffer=buffer,
            primitive_restart=restarts,
            restart_index=RESTART,
        )
        return mode, info


def _shows_quads(ctx: Context) -> bool:
    """Whether a mesh must consist of strips of quads: it may show which corners belong together.
    Otherwise it consists of triangles that are cut as by Mesa.
    """
    raster = ctx.raster
    return raster.flat_shade or not raster.polygon_front == raster.polygon_back == GL.FILL


def _connected(mode: int, sizes: tuple[int, ...]) -> list[tuple[int, npt.NDArray[Any]]]:
    """The draws of a mesh: modes and rows of the numbers of points."""
    numbers = np.arange(np.prod(sizes)).reshape(sizes)
    if mode == GL.POINT:
        return [(GL.POINTS, numbers.reshape(1, -1))]
    if mode == GL.LINE:
        lines = (numbers.T, numbers) if numbers.ndim > 1 else (numbers[None],)
        return [(GL.LINE_STRIP, each) for each in lines]
    # Of each quad the corners at (u, v), (u, v + 1), (u + 1, v) and (u + 1, v + 1).
    a, b, c, d = numbers[:-1, :-1], numbers[:-1, 1:], numbers[1:, :-1], numbers[1:, 1:]
    if mode == GL.QUAD_STRIP:
        pairs = np.stack([numbers[:, :-1], numbers[:, 1:]], axis=-1)  # column, strip, side
        return [(mode, pairs.transpose(1, 0, 2).reshape(sizes[1] - 1, -1))]
    return [(GL.TRIANGLES, np.stack([a, b, c, c, b, d], axis=-1).swapaxes(0, 1))]


@entry
def eval_mesh1(ctx: Context, mode: int, i1: int, i2: int) -> None:
    if mode not in (GL.POINT, GL.LINE):
        raise invalid_enum(mode, "evaluator mesh mode")
    ctx.meshes.draw(mode, (i1, i2))


@entry
def eval_mesh2(ctx: Context, mode: int, i1: int, i2: int, j1: int, j2: int) -> None:
    if mode not in (GL.POINT, GL.LINE, GL.FILL):
        raise invalid_enum(mode, "evaluator mesh mode")
    ctx.meshes.draw(mode, (i1, i2), (j1, j2))
