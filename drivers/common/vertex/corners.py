"""Whole input primitives of the geometry and tessellation stages: adjacent vertices included.

What primitive assembly makes is what is drawn; what these stages are given has more corners.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gallette.pipe.enums import Primitive

from .assembly import Runs, assemble
from .vertices import Ints

__all__ = ["input_corners", "patch_corners"]


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


def _windows(runs: Runs, step: int, width: int, count: Callable[[Ints], Ints]) -> Ints:
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
