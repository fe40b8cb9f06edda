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

from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.lines import line_ends, line_frame, line_sides, longer_line
from gallette.drivers.common.vertex.vertices import Floats, VertexSet
from gallette.pipe.state import RasterizerState

from .batch import Batch, Polygons
from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern, sample_pattern
from .setup import SUBPIXELS, Rect, conservative_edges, polygon_edges

CENTER = sample_pattern(1)
"""Where smooth lines are sampled."""


def lengthened(vertices: VertexSet, batch: Batch) -> tuple[VertexSet, Batch]:
    """Smooth lines with vertices of their own, which are half a pixel further out.

    So all values are interpolated between the ends of the rectangle, as on llvmpipe.
    """
    count = len(batch.corners)
    used = np.concatenate((batch.corners.T.reshape(-1), batch.provoking))
    made, window = vertices.take(used), vertices.window.take(used, 1)
    ends = window[:2, : 2 * count].reshape(2, 2, count)  # axis, end, line
    with np.errstate(all="ignore"):
        found = evaluate(longer_line(), [*ends[:, 0], *ends[:, 1]])
    ends[:, 0], ends[:, 1] = found[:2], found[2:]
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
        half = rectangle_width(state, pattern is CENTER)
        corners = rectangles(x, y, abs(half))
        if pattern is CENTER:
            w = vertices.window[3, batch.corners.T]
            frame = evaluate(line_frame(), [x[0], y[0], w[0], x[1], y[1], w[1]])
            info.lines = *frame, np.full(len(frame[0]), half, np.float32)
    else:
        corners = parallelograms(x, y, state, center)
    if state.conservative:
        edges = conservative_edges(corners[0], corners[1], target)
    else:
        edges = polygon_edges(corners[0], corners[1], state.bottom_edge_rule, target)
    source = PlaneSource(
        vertices, batch.corners.T, batch.provoking, center, bool(pattern), batch.depth
    )
    return Polygons(edges, source, info, pattern)


def rectangles(
    x: Floats, y: Floats, half: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Snapped corners `[4, n]` of rectangles of half this width around lines, ends included."""
    width = np.full(x.shape[1], half, np.float32)
    found = evaluate(line_sides(), [x[0], y[0], x[1], y[1], width])
    x0, y0, x1, y1, step_x, step_y = (each.astype(np.float64) for each in found)
    return (
        np.stack((x0 - step_x, x1 - step_x, x1 + step_x, x0 + step_x)),
        np.stack((y0 - step_y, y1 - step_y, y1 + step_y, y0 + step_y)),
    )


def rectangle_width(state: RasterizerState, smooth: bool) -> float:
    """Half the width of lines that are rectangles; of smooth ones, it is negative where rows are
    counted upwards.
    """
    half = (max(1.0, state.line_width) + smooth) / 2
    return -half if smooth and state.line_smooth_upwards else half


def half_width(state: RasterizerState) -> int:
    """Half the width of lines that are parallelograms, in 1/256 pixel."""
    return int(math.floor(max(1.0, state.line_width) + 0.5) * SUBPIXELS / 2)


def parallelograms(
    x: Floats, y: Floats, state: RasterizerState, center: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Snapped corners `[4, n]`, clockwise with y up."""
    half = half_width(state)
    with np.errstate(all="ignore"):
        found = evaluate(line_ends(0.5 if center else 0.0), [x[0], y[0], x[1], y[1]])
    low_u, low_v, high_u, high_v = (each.astype(np.float64) for each in found[:4])
    wide = found[4] != 0
    along, across = np.empty((4, len(wide))), np.empty((4, len(wide)))
    # Wide ones: lower left, upper left, upper right, lower right; the others in reverse.
    along[0], across[0] = low_u, low_v - half
    along[2], across[2] = high_u, high_v + half
    along[1], along[3] = np.where(wide, low_u, high_u), np.where(wide, high_u, low_u)
    before, behind = low_v + half, high_v - half
    across[1], across[3] = np.where(wide, before, behind), np.where(wide, behind, before)
    return np.where(wide, along, across), np.where(wide, across, along)
