"""Lines: the diamond-exit rule for their ends, and the parallelogram that is filled.

A line of width w is a parallelogram w pixels high (for lines more horizontal than vertical) or
wide. A pixel at an end belongs to it if the line leaves the diamond around the pixel's centre. So
each end is moved along the line to the next pixel border, outwards or inwards, wherever the plain
parallelogram would answer differently from the rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet
from gallette.pipe.state import RasterizerState

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern, sampled_spans
from .setup import SUBPIXELS, Rect, conservative_edges, polygon_edges, snap_away
from .spans import Spans, spans_of

__all__ = ["parallelograms", "rasterize_lines", "rectangles"]

Bools = npt.NDArray[np.bool_]

_HALF = np.float32(0.5)


@dataclass(slots=True)
class _Major:
    """Lines seen along their longer axis: `u` grows along it, `v` across."""

    u: Floats  # [2, n] start and end
    v: Floats
    du: Floats  # start minus end
    dv: Floats
    slope: Floats  # dv / du


def rasterize_lines(
    vertices: VertexSet,
    ends: Ints,
    provoking: Ints,
    identity: npt.NDArray[np.int32],
    state: RasterizerState,
    target: Rect,
    depth: Floats | None,
    front: Bools | None = None,
    multisampled: SamplePattern | None = None,
) -> tuple[Spans, PlaneSource, PrimitiveInfo]:
    """The spans of lines `ends[n, 2]`, and where their fragments get their values."""
    columns = ends.T
    x, y = vertices.window[0, columns], vertices.window[1, columns]
    dx, dy = x[0] - x[1], y[0] - y[1]
    length = dx * dx + dy * dy
    keep = np.isfinite(length) & (length > 0)
    if not keep.all():
        rows = np.flatnonzero(keep)
        columns, x, y, dx, dy = columns[:, rows], x[:, rows], y[:, rows], dx[rows], dy[rows]
        provoking, identity = provoking[rows], identity[rows]
        depth = None if depth is None else depth[:, rows]
        front = None if front is None else front[rows]
    center = state.half_pixel_center and not multisampled
    if multisampled:
        corners = rectangles(x, y, dx, dy, state)
    else:
        corners = parallelograms(x, y, dx, dy, state, center)
    if state.conservative:
        edges = conservative_edges(corners[0], corners[1], target)
    else:
        edges = polygon_edges(corners[0], corners[1], state.bottom_edge_rule, target)
    source = PlaneSource(vertices, columns, provoking, center, bool(multisampled), depth)
    if front is None:
        front = np.ones(len(provoking), np.bool_)
    spans = sampled_spans(edges, target, multisampled) if multisampled else spans_of(edges)
    return spans, source, PrimitiveInfo(front, identity)


def rectangles(
    x: Floats, y: Floats, dx: Floats, dy: Floats, state: RasterizerState
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Snapped corners `[4, n]` of lines whose samples count: around them, ends included."""
    half = np.float32(max(1.0, state.line_width) * 0.5)
    scale = np.asarray(half / np.sqrt(dx * dx + dy * dy), np.float32)
    across_x, across_y = snap_away(-dy * scale, False), snap_away(dx * scale, False)
    at_x, at_y = snap_away(x, False), snap_away(y, False)
    return (
        np.stack((at_x[0] - across_x, at_x[1] - across_x, at_x[1] + across_x, at_x[0] + across_x)),
        np.stack((at_y[0] - across_y, at_y[1] - across_y, at_y[1] + across_y, at_y[0] + across_y)),
    )


def parallelograms(
    x: Floats, y: Floats, dx: Floats, dy: Floats, state: RasterizerState, center: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Snapped corners `[4, n]`, clockwise with y up."""
    half = math.floor(max(1.0, state.line_width) + 0.5) * SUBPIXELS / 2
    wide = np.abs(dx) >= np.abs(dy)
    out_x = np.empty((4, len(dx)))
    out_y = np.empty((4, len(dx)))
    for horizontal in (True, False):
        which = np.flatnonzero(wide == horizontal)
        if not len(which):
            continue
        u, v = (x, y) if horizontal else (y, x)
        du, dv = (dx, dy) if horizontal else (dy, dx)
        slope = dv[which] / du[which]
        major = _Major(u[:, which], v[:, which], du[which], dv[which], slope)
        moved_u, moved_v = _moved_ends(major, horizontal)
        snapped_u = snap_away(moved_u, center)
        snapped_v = snap_away(moved_v, center)
        first = np.where(major.du < 0, 0, 1)  # the end with the smaller u
        lanes = np.arange(len(which))
        low_u, high_u = snapped_u[first, lanes], snapped_u[1 - first, lanes]
        low_v, high_v = snapped_v[first, lanes], snapped_v[1 - first, lanes]
        if horizontal:  # clockwise: lower left, upper left, upper right, lower right
            out_x[:, which] = (low_u, low_u, high_u, high_u)
            out_y[:, which] = (low_v - half, low_v + half, high_v + half, high_v - half)
        else:
            out_y[:, which] = (low_u, high_u, high_u, low_u)
            out_x[:, which] = (low_v - half, high_v - half, high_v + half, low_v + half)
    return out_x, out_y


def _fraction(value: Floats) -> Floats:
    return value - np.floor(value)


def _ahead(inside: Floats, delta: Floats, horizontal: bool) -> Bools:
    """Is a point on that side of its pixel's centre towards which the line runs?

    `delta` is start minus end. Points on the centre line go with the side that the axis prefers.
    """
    if horizontal:
        return np.asarray((inside >= 0) == (delta <= 0))
    return np.asarray((inside <= 0) == (delta >= 0))


def _moved_ends(line: _Major, horizontal: bool) -> tuple[Floats, Floats]:
    """The ends, moved to pixel borders where the diamond-exit rule asks for it."""
    along = _fraction(line.u) - _HALF  # position inside the pixel, -0.5 .. 0.5
    across = _fraction(line.v) - _HALF
    # An end exactly between two rows counts for the one the line comes from.
    across[1] = np.where((across[1] == -_HALF) & (line.dv < 0), _HALF, across[1])
    inside = np.abs(along) + np.abs(across) < _HALF
    meets = _fraction(line.v) + along * line.slope  # where the pixel's centre column is crossed
    past = _ahead(along, line.du, horizontal)
    sideways = _ahead(across, line.dv, not horizontal)
    crosses = (meets < 1) & (meets > 0)
    if not horizontal:
        crosses[1] = (meets[1] < 1) & (meets[1] >= 0)
    draw_start = inside[0] | (~past[0] & (~sideways[0] | crosses[0]))
    draw_end = ~inside[1] & past[1] & (sideways[1] | crosses[1])
    if horizontal:
        plain_start = ~_ahead(along[0], line.du, False)
    else:
        plain_start = (along[0] >= 0) == (line.du >= 0)
    plain_end = past[1] | (along[1] == 0)
    move = np.stack((plain_start != draw_start, plain_end != draw_end))
    border = np.where(line.du < 0, -_HALF, _HALF) - along
    offset: Floats = np.where(move, border, np.float32(0.0)).astype(np.float32)
    moved: tuple[Floats, Floats] = (line.u + offset, line.v + offset * line.slope)
    return moved
