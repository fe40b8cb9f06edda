"""Stipple patterns: lines cut into dashes, polygons masked by a 32 by 32 pattern.

A line's pattern advances by one step per pixel along its longer axis (divided by the repeat
factor), and continues from line to line of a strip. A dash is a line whose ends are interpolated in
window space.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.vertices import Ints, VertexSet
from gallette.pipe.state import RasterizerState

Bools = npt.NDArray[np.bool_]


def polygon_screen(pattern: tuple[int, ...]) -> Bools:
    """The pattern as `[row, column]`: bit 31 of a row is its first column."""
    rows = np.array(pattern, np.uint32)[:, None]
    return np.asarray((rows >> np.arange(31, -1, -1, dtype=np.uint32)) & np.uint32(1), np.bool_)


def dashes(
    vertices: VertexSet,
    ends: Ints,
    provoking: Ints,
    resets: Bools,
    state: RasterizerState,
    flat: frozenset[int],
) -> tuple[Ints, Ints]:
    """Cut lines `ends[n, 2]` into dashes; returns their ends and the line each one is part of."""
    window = vertices.window[:2, ends]
    extent = np.abs(window[:, :, 0] - window[:, :, 1])
    length = np.where(np.isfinite(extent).all(axis=0), extent.max(axis=0), 0.0)
    steps = np.ceil(length).astype(np.int64)
    counter = _counters(steps, resets)
    line = np.repeat(np.arange(len(ends)), steps)
    step = np.arange(len(line)) - np.repeat(np.cumsum(steps) - steps, steps)
    bit = (counter[line] + step) // max(1, state.line_stipple_factor) & 0xF
    lit = (state.line_stipple_pattern >> bit) & 1 != 0
    first, last = step == 0, step == steps[line] - 1
    before, after = np.roll(lit, 1), np.roll(lit, -1)
    start = np.flatnonzero(lit & (first | ~before))
    stop = np.flatnonzero(lit & (last | ~after))
    row = line[start]
    t0 = (step[start] / length[row]).astype(np.float32)
    t1 = np.minimum((step[stop] + 1) / length[row], 1.0).astype(np.float32)
    t1[last[stop]] = 1.0
    new = ends[row].copy()
    for side, t, moved in ((0, t0, t0 > 0), (1, t1, t1 < 1)):
        which = np.flatnonzero(moved)
        if len(which):
            a, b = ends[row[which], 0], ends[row[which], 1]
            made = vertices.append_on_screen(t[which], a, b, provoking[row[which]], flat)
            new[which, side] = made + np.arange(len(which))
    return new, row


def _counters(steps: Ints, resets: Bools) -> Ints:
    """The step of the pattern at which each line begins."""
    before = np.cumsum(steps) - steps
    resets = resets.copy()
    resets[:1] = True
    begin = np.flatnonzero(resets)
    runs = np.diff(np.append(begin, len(steps)))
    return np.asarray(before - np.repeat(before[begin], runs))
