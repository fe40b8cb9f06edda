"""Point rasterization: squares aligned to window pixels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.points import point_pixels, point_size, point_square
from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet
from gallette.pipe.state import RasterizerState

from .batch import Batch, Polygons
from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern
from .setup import Edges, Rect, conservative_edges, polygon_edges

Bools = npt.NDArray[np.bool_]

FARTHEST = float(1 << 20)
"""Points this far from the window, or at a NaN position, are not drawn."""


def point_sizes(vertices: VertexSet, which: Ints, state: RasterizerState) -> Floats:
    """The size of each point: the shader's, or the state's."""
    if state.point_size_per_vertex:
        components = vertices.varyings.get(VaryingSlot.PSIZ)
        if components is not None and components[0] is not None:
            value = components[0]
            return np.asarray(value[which] if value.ndim else np.full(len(which), value), "f4")
    return np.full(len(which), state.point_size, np.float32)


def set_up_points(
    vertices: VertexSet,
    batch: Batch,
    state: RasterizerState,
    target: Rect,
    pattern: SamplePattern | None = None,
) -> Polygons:
    """The squares that points cover."""
    which = batch.corners[:, 0]
    window = vertices.window[:2, which]
    size = rasterized_size(point_sizes(vertices, which, state))
    keep = (np.abs(window) < FARTHEST).all(axis=0)
    if not keep.all():
        rows = np.flatnonzero(keep)
        batch, window, size = batch.take(rows), window[:, rows], size[rows]
    places = window[0], window[1], size
    info = PrimitiveInfo(batch.facing(), batch.identity, places, state.sprite_coord_upper_left)
    info.round = bool(pattern) and state.point_smooth and not state.multisample
    center = state.half_pixel_center and not pattern
    if pattern or state.conservative:
        edges = _squares(window, size, state, target, center)
    else:
        x0, x1 = point_extent(window[0], size, state)
        y0, y1 = point_extent(window[1], size, state)
        nothing = np.zeros((0, len(size)))
        edges = Edges(
            nothing,
            nothing,
            nothing,
            np.maximum(x0, target.x0),
            np.minimum(x1, target.x1),
            np.maximum(y0, target.y0),
            np.minimum(y1, target.y1),
        )
    source = PlaneSource(vertices, batch.corners.T, batch.provoking, center, depth=batch.depth)
    return Polygons(edges, source, info, pattern)


def rasterized_size(size: Floats) -> Floats:
    """Sizes as rasterized: whole sub-pixels, at least one pixel."""
    return np.asarray(evaluate(point_size(), [size])[0])


def _squares(
    window: Floats, size: Floats, state: RasterizerState, target: Rect, center: bool
) -> Edges:
    """Points as squares of their exact size, for multisampling and conservative rasterization."""
    (left, right), (low, high) = (
        [side.astype(np.float64) for side in _sides(at, size, center)] for at in window
    )
    corners_x = np.stack((left, left, right, right))
    corners_y = np.stack((low, high, high, low))
    if state.conservative:
        return conservative_edges(corners_x, corners_y, target)
    return polygon_edges(corners_x, corners_y, state.bottom_edge_rule, target)


def _sides(at: Floats, size: Floats, center: bool) -> list[Ints]:
    return evaluate(point_square(0.5 if center else 0.0), [at, size])


def point_extent(center: Floats, size: Floats, state: RasterizerState) -> tuple[Ints, Ints]:
    """First and past-the-last pixel along one axis."""
    if state.point_quad_rasterization:
        # A square of exactly that size: pixels whose centres are inside, left edge included.
        low, high = _sides(center, size, state.half_pixel_center)
        first, past = (low + 255) >> 8, (high + 255) >> 8
    else:
        first, past = evaluate(point_pixels(), [center, size])
    return first.astype(np.int64), past.astype(np.int64)
