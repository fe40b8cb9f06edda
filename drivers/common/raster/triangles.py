"""Triangles: facing, culling, depth offset, and their spans."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.vertex.masks import begins_of, counted, lengths_from
from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet
from gallette.pipe.enums import CullFace, PolygonMode
from gallette.pipe.state import RasterizerState

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern, sampled_spans
from .setup import (
    Box,
    Rect,
    box_of,
    conservative_edges,
    polygon_edges,
    snap,
    triangle_area,
)
from .spans import Spans, slices, spans_of

MOST_ROWS = 1 << 18
"""The number of rows rasterized at a time."""

Bools = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]


@lazy_dataclass(frozen=True)
class DepthOffset:
    """The value of a unit of depth offset: a constant, or (float depth) a step that depends on the
    exponent.
    """

    unit: float  # 0 for float depth buffers
    is_float: bool = False


@lazy_dataclass()
class Faced:
    """Triangles that remain after culling, all of them clockwise (y up)."""

    corners: Ints  # [3, n]
    x: Doubles  # snapped, [3, n]
    y: Doubles
    provoking: Ints
    front: Bools
    rows: Ints  # index of each triangle in the input
    reversed: Bools | None  # whose corner order changed
    box: Box

    def take(self, which: Any) -> Faced:
        return Faced(
            self.corners[:, which],
            self.x[:, which],
            self.y[:, which],
            self.provoking[which],
            self.front[which],
            self.rows[which],
            None if self.reversed is None else self.reversed[which],
            _some(self.box, which),
        )

    @property
    def count(self) -> int:
        return len(self.provoking)

    def parts(self, target: Rect) -> list[slice]:
        """Split the batch into parts with a bounded number of rows, which bounds memory."""
        if self.count * (target.y1 - target.y0) <= MOST_ROWS:
            return [slice(0, self.count)]
        low, high = (np.minimum(np.maximum(side, target.y0), target.y1) for side in self.box[2:])
        return slices(np.cumsum(high - low + 1), MOST_ROWS)


def face_triangles(
    vertices: VertexSet,
    corners: Ints,
    provoking: Ints,
    state: RasterizerState,
    multisampled: SamplePattern | None = None,
) -> Faced:
    """Snap, drop triangles without area or with the culled facing, turn the others clockwise.

    A counter-clockwise triangle swaps two corners other than the provoking one. A triangle without
    area faces back, but its outline is drawn.
    """
    columns = np.array(corners.T, order="C")  # a copy: corners are swapped below
    snapped = snap(vertices.window[:2], state.half_pixel_center and not multisampled)
    x, y = snapped[0].take(columns), snapped[1].take(columns)
    area = triangle_area(x, y)
    clockwise = area > 0
    extended = area != 0
    front = (clockwise != state.front_ccw) & extended
    keep = np.isfinite(area)
    box = box_of(x, y)
    if state.fill_back is PolygonMode.FILL:
        keep &= extended
    if not multisampled and state.fill_front is state.fill_back is PolygonMode.FILL:
        keep &= box[0] <= box[1]
        keep &= box[2] <= box[3]
    if state.cull_face & CullFace.FRONT:
        keep &= ~front
    if state.cull_face & CullFace.BACK:
        keep &= front
    rows = np.arange(len(corners))
    if not keep.all():
        rows = np.flatnonzero(keep)
        columns, x, y = (array.take(rows, axis=1) for array in (columns, x, y))
        provoking, front, clockwise = provoking[rows], front[rows], clockwise[rows]
        box = _some(box, rows)
    reversed_ = None
    if not clockwise.all():
        a, b = (1, 2) if state.flatshade_first else (0, 1)
        reversed_ = ~clockwise
        _swap((columns, x, y), a, b, reversed_)
    return Faced(columns, x, y, provoking, front, rows, reversed_, box)


def _some(box: Box, which: Any) -> Box:
    left, right, top, bottom = box
    return left[which], right[which], top[which], bottom[which]


def _swap(arrays: tuple[npt.NDArray[Any], ...], a: int, b: int, where: Bools) -> None:
    """Swap two rows of each array in some columns."""
    if where.all():
        for array in arrays:
            array[[a, b]] = array[[b, a]]
        return
    other = np.arange(len(where))
    step = where * np.int64((b - a) * len(where))
    one = other + a * len(where)
    other += b * len(where)
    one += step
    other -= step
    for array in arrays:
        flat = array.reshape(-1)
        array[a], array[b] = flat.take(one), flat.take(other)


def offset_depth(
    vertices: VertexSet, corners: Ints, state: RasterizerState, offset: DepthOffset
) -> Floats:
    """Window z at the corners, plus the polygon offset."""
    window = vertices.window[:, corners]
    x, y, z = window[0], window[1], window[2]
    dx01, dy01 = x[0] - x[1], y[0] - y[1]
    dx20, dy20 = x[2] - x[0], y[2] - y[0]
    inverse = np.float32(1.0) / (dx01 * dy20 - dx20 * dy01)
    dz01, dz20 = z[0] - z[1], z[2] - z[0]
    slope_x = np.abs((dz01 * dy20 - dz20 * dy01) * inverse)
    slope_y = np.abs((dz20 * dx01 - dz01 * dx20) * inverse)
    slope = np.fmax(slope_x, slope_y)
    slope[~np.isfinite(slope)] = 0  # without area
    units = np.float32(state.offset_units)
    if offset.is_float:
        largest = np.abs(z).max(axis=0)
        exponent = np.frexp(largest)[1] - 1
        unit = np.where(largest > 0, np.ldexp(np.float32(1.0), exponent - 23), 0)
        bias = unit.astype(np.float32) * units
    else:
        bias = np.full(slope.shape, np.float32(offset.unit) * units, np.float32)
    moved: Floats = bias + slope * np.float32(state.offset_scale)
    if state.offset_clamp > 0:
        moved = np.minimum(moved, np.float32(state.offset_clamp))
    elif state.offset_clamp < 0:
        moved = np.maximum(moved, np.float32(state.offset_clamp))
    return np.asarray(moved + z)


def rasterize_triangles(
    vertices: VertexSet,
    faced: Faced,
    identity: npt.NDArray[np.int32],
    state: RasterizerState,
    target: Rect,
    depth: Floats | None,
    multisampled: SamplePattern | None = None,
) -> tuple[Spans, PlaneSource, PrimitiveInfo]:
    """The spans of filled triangles, and the planes of their inputs."""
    if state.conservative:
        edges = conservative_edges(faced.x, faced.y, target)
    else:
        edges = polygon_edges(faced.x, faced.y, state.bottom_edge_rule, target, faced.box)
    center = state.half_pixel_center and not multisampled
    spans = sampled_spans(edges, target, multisampled) if multisampled else spans_of(edges)
    corners, provoking, front = faced.corners, faced.provoking, faced.front
    if spans.count < len(provoking):  # many cover nothing: planes are not computed for those
        first = begins_of(spans.primitive)
        used = spans.primitive.take(first)
        spans.primitive = counted(len(used)).repeat(lengths_from(first, spans.count))
        corners, provoking, front = corners.take(used, axis=1), provoking[used], front[used]
        identity, depth = identity[used], None if depth is None else depth[:, used]
    source = PlaneSource(vertices, corners, provoking, center, depth=depth)
    return spans, source, PrimitiveInfo(front, identity)
