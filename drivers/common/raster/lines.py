"""Line rasterization: the diamond-exit rule for the ends, and the parallelogram between them.

A line of width w is a parallelogram w pixels high (for lines more horizontal than vertical) or
wide. A pixel at an end belongs to the line if the line leaves the diamond around the pixel's
centre. So each end is moved along the line to the next pixel border, outwards or inwards, wherever
the plain parallelogram would disagree with the rule.

Multisampled and smooth lines are rectangles instead. Smooth ones are larger by half a pixel on each
side; their coverage is computed in `drivers.common.fixed.lines`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.lines import line_frame
from gallette.drivers.common.vertex.vertices import Floats, VertexSet
from gallette.pipe.state import RasterizerState

from .batch import Batch, Polygons
from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern, sample_pattern
from .setup import SUBPIXELS, Rect, conservative_edges, polygon_edges, snap_away

__all__ = ["CENTER", "lengthened", "parallelograms", "rectangles", "set_up_lines"]

Bools = npt.NDArray[np.bool_]

_HALF = np.float32(0.5)

CENTER = sample_pattern(1)
"""Where smooth lines are sampled."""


@lazy_dataclass()
class _Major:
    """Lines in terms of their longer axis: `u` along it, `v` across."""

    u: Floats  # [2, n] start and end
    v: Floats
    du: Floats  # start minus end
    dv: Floats
    slope: Floats  # dv / du
    wide: Bools  # u is x


def lengthened(vertices: VertexSet, batch: Batch) -> tuple[VertexSet, Batch]:
    """Smooth lines with vertices of their own, which are half a pixel further out.

    So all values are interpolated between the ends of the rectangle, as on llvmpipe.
    """
    count = len(batch.corners)
    used = np.concatenate((batch.corners.T.reshape(-1), batch.provoking))
    made, window = vertices.take(used), vertices.window.take(used, 1)
    ends = window[:2, : 2 * count].reshape(2, 2, count)  # axis, end, line
    step = ends[:, 1] - ends[:, 0]
    with np.errstate(all="ignore"):
        step *= _HALF / np.sqrt(step[0] * step[0] + step[1] * step[1])
    ends[:, 0] -= step
    ends[:, 1] += step
    made.window = window
    numbers = np.arange(3 * count).reshape(3, count)
    return made, replace(batch, corners=numbers[:2].T, provoking=numbers[2])


def set_up_lines(
    vertices: VertexSet,
    batch: Batch,
    state: RasterizerState,
    target: Rect,
    pattern: SamplePattern | None = None,
) -> Polygons:
    """The polygons that lines cover."""
    x, y = vertices.window[0, batch.corners.T], vertices.window[1, batch.corners.T]
    dx, dy = x[0] - x[1], y[0] - y[1]
    length = dx * dx + dy * dy
    keep = np.isfinite(length) & (length > 0)
    if not keep.all():
        rows = np.flatnonzero(keep)
        batch, x, y, dx, dy = batch.take(rows), x[:, rows], y[:, rows], dx[rows], dy[rows]
    center = state.half_pixel_center and not pattern
    info = PrimitiveInfo(batch.facing(), batch.identity)
    if pattern:
        width = max(1.0, state.line_width) + (pattern is CENTER)
        corners = rectangles(x, y, dx, dy, width)
        if pattern is CENTER:
            w = vertices.window[3, batch.corners.T]
            frame = evaluate(line_frame(), [x[0], y[0], w[0], x[1], y[1], w[1]])
            half = -width / 2 if state.line_smooth_upwards else width / 2
            info.lines = *frame, np.full(len(frame[0]), half, np.float32)
    else:
        corners = parallelograms(x, y, dx, dy, state, center)
    if state.conservative:
        edges = conservative_edges(corners[0], corners[1], target)
    else:
        edges = polygon_edges(corners[0], corners[1], state.bottom_edge_rule, target)
    source = PlaneSource(
        vertices, batch.corners.T, batch.provoking, center, bool(pattern), batch.depth
    )
    return Polygons(edges, source, info, pattern)


def rectangles(
    x: Floats, y: Floats, dx: Floats, dy: Floats, width: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Snapped corners `[4, n]` of rectangles around lines, ends included."""
    half = np.float32(width * 0.5)
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
    u, v = np.where(wide, x, y), np.where(wide, y, x)
    du, dv = np.where(wide, dx, dy), np.where(wide, dy, dx)
    slope = np.asarray(dv / du, np.float32)
    # The rule for ends is applied with rows counted downwards, as windows have them elsewhere.
    turn_u = np.where(wide, np.float32(1), np.float32(-1))
    turn_v = -turn_u
    moved_u, moved_v = _moved_ends(
        _Major(u * turn_u, v * turn_v, du * turn_u, dv * turn_v, -slope, wide)
    )
    snapped_u, snapped_v = snap_away(moved_u * turn_u, center), snap_away(moved_v * turn_v, center)
    turned = du < 0  # the end has the smaller u
    low_u, high_u = np.where(turned, snapped_u, snapped_u[::-1])
    low_v, high_v = np.where(turned, snapped_v, snapped_v[::-1])
    along, across = np.empty((4, len(wide))), np.empty((4, len(wide)))
    # Wide ones: lower left, upper left, upper right, lower right; the others in reverse.
    along[0], across[0] = low_u, low_v - half
    along[2], across[2] = high_u, high_v + half
    along[1], along[3] = np.where(wide, low_u, high_u), np.where(wide, high_u, low_u)
    before, behind = low_v + half, high_v - half
    across[1], across[3] = np.where(wide, before, behind), np.where(wide, behind, before)
    return np.where(wide, along, across), np.where(wide, across, along)


def _fraction(value: Floats) -> Floats:
    return value - np.floor(value)


def _moved_ends(line: _Major) -> tuple[Floats, Floats]:
    """The ends, moved to pixel borders where the diamond-exit rule requires it."""
    u_at, v_at = _fraction(line.u), _fraction(line.v)
    along, across = u_at - _HALF, v_at - _HALF  # position inside the pixel, -0.5 .. 0.5
    # An end exactly between two rows belongs to the row that the line comes from.
    across[1] = np.where((across[1] == -_HALF) & (line.dv < 0), _HALF, across[1])
    inside = np.abs(along) + np.abs(across) < _HALF
    meets = v_at + along * line.slope  # where the pixel's centre column is crossed
    # Whether a point is on that side of its pixel's centre towards which the line runs. Points on
    # the centre line belong to the side that the axis prefers.
    sign = np.where(line.wide, np.float32(1), np.float32(-1))
    past = (along * sign >= 0) == (line.du * sign <= 0)
    sideways = (across * sign <= 0) == (line.dv * sign >= 0)
    crosses = (meets < 1) & (meets > 0)
    crosses[1] |= ~line.wide & (meets[1] == 0)
    draw_start = inside[0] | (~past[0] & (~sideways[0] | crosses[0]))
    draw_end = ~inside[1] & past[1] & (sideways[1] | crosses[1])
    falls = line.du >= 0
    plain_start = np.where(line.wide, (along[0] <= 0) != falls, (along[0] >= 0) == falls)
    plain_end = past[1] | (along[1] == 0)
    move = np.stack((plain_start != draw_start, plain_end != draw_end))
    border = np.where(line.du < 0, -_HALF, _HALF) - along
    offset: Floats = np.where(move, border, np.float32(0.0)).astype(np.float32)
    moved: tuple[Floats, Floats] = (line.u + offset, line.v + offset * line.slope)
    return moved
