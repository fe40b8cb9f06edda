"""Input primitives of the geometry and tessellation stages, with their adjacent vertices.

Primitive assembly yields what is drawn; primitives for these stages have more corners.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gallette.pipe.enums import Primitive

from .assembly import Part, Runs, assemble, assembled_units, placed
from .vertices import Ints

__all__ = ["input_corners", "input_units", "patch_corners", "patch_units"]

_Rule = tuple[int, int, Callable[[Ints], Ints]]
_WINDOWS: dict[Primitive, _Rule] = {
    # from one primitive to the next, corners of each, how many a run has
    Primitive.LINES_ADJACENCY: (4, 4, lambda n: n // 4),
    Primitive.LINE_STRIP_ADJACENCY: (1, 4, lambda n: n - 3),
    Primitive.TRIANGLES_ADJACENCY: (6, 6, lambda n: n // 6),
}


def input_units(mode: Primitive, runs: Runs) -> int:
    """How many input primitives a stream has."""
    if mode in _WINDOWS:
        return _units(runs, _WINDOWS[mode][2])
    if mode is Primitive.TRIANGLE_STRIP_ADJACENCY:
        return _units(runs, lambda n: (n - 4) // 2)
    return assembled_units(mode, runs)


def input_corners(
    mode: Primitive, runs: Runs, provoking_first: bool, part: Part | None = None
) -> Ints:
    """Stream positions of each input primitive's vertices, adjacent ones included."""
    if mode in _WINDOWS:
        return _windows(runs, _WINDOWS[mode], part)
    if mode is Primitive.TRIANGLE_STRIP_ADJACENCY:
        return _adjacency_strip(runs, part)
    return assemble(mode, runs, provoking_first, part=part).corners


def patch_units(runs: Runs, size: int) -> int:
    """How many patches a stream has."""
    return _units(runs, lambda n: n // size)


def patch_corners(runs: Runs, size: int, part: Part | None = None) -> Ints:
    """Stream positions of each patch's vertices."""
    return _windows(runs, (size, size, lambda n: n // size), part)


def _units(runs: Runs, count: Callable[[Ints], Ints]) -> int:
    return int(np.maximum(count(runs.length), 0).sum())


def _windows(runs: Runs, rule: _Rule, part: Part | None) -> Ints:
    step, width, count = rule
    k, run = placed(runs, np.maximum(count(runs.length), 0), part)
    first = runs.start[run] + step * k
    corners: Ints = first[:, None] + np.arange(width)
    return corners


def _adjacency_strip(runs: Runs, part: Part | None) -> Ints:
    """A strip with adjacency: every other vertex belongs to a neighbour; the ends are special."""
    counts = np.maximum((runs.length - 4) // 2, 0)
    k, run = placed(runs, counts, part)
    last = k == counts[run] - 1
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
    corners: Ints = np.stack(columns, axis=1) + np.broadcast_to(runs.start[run], len(k))[:, None]
    return corners
