"""Primitive setup: from window vertices to edge functions and interpolation planes.

Positions are snapped to 1/256 of a pixel; edge functions are whole numbers and evaluated in
float64, which holds them exactly (they stay far below 2**53), so coverage has no rounding at all.
A primitive is a convex polygon: a sample is inside where, for every edge, `a x + b y + c > 0` with
x and y in whole pixels. Samples exactly on an edge belong to the primitive on one side only, which
`c` already accounts for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.vertex.vertices import Floats, Ints
from gallette.pipe.state import FramebufferState, ScissorState

Doubles = npt.NDArray[np.float64]

Box = tuple[Doubles, Doubles, Doubles, Doubles]
"""Per primitive: first and last column, first and last row."""

SUBPIXELS = 256.0
FAR = 2.0**60  # larger than any difference of corners
_FOLLOWING = {k: np.arange(1, k + 1) % k for k in (3, 4)}


@lazy_dataclass(frozen=True)
class Rect:
    """The pixels that may be drawn: framebuffer and scissor; maximum exclusive."""

    x0: int
    y0: int
    x1: int
    y1: int

    @classmethod
    def of(cls, framebuffer: FramebufferState, scissor: ScissorState | None) -> Rect:
        """The framebuffer, intersected with a scissor if there is one."""
        whole = cls(0, 0, framebuffer.width, framebuffer.height)
        if scissor is None:
            return whole
        return cls(
            max(whole.x0, scissor.minx),
            max(whole.y0, scissor.miny),
            min(whole.x1, scissor.maxx),
            min(whole.y1, scissor.maxy),
        )

    @property
    def empty(self) -> bool:
        return self.x1 <= self.x0 or self.y1 <= self.y0


@lazy_dataclass()
class Edges:
    """Convex primitives: `a x + b y + c > 0` per edge (first axis), and the rows they may touch."""

    a: Doubles
    b: Doubles
    c: Doubles
    x0: Ints  # first and past-the-last column and row, clamped to the target
    x1: Ints
    y0: Ints
    y1: Ints

    def take(self, which: Any) -> Edges:
        """Select primitives."""
        return Edges(
            self.a[:, which],
            self.b[:, which],
            self.c[:, which],
            self.x0[which],
            self.x1[which],
            self.y0[which],
            self.y1[which],
        )

    @property
    def count(self) -> int:
        return len(self.x0)


def snap(window: Floats, pixel_center: bool) -> Doubles:
    """Window coordinates in 1/256 pixel, relative to pixel centres, rounded to nearest even."""
    shifted = window - np.float32(0.5 if pixel_center else 0.0)
    shifted *= np.float32(SUBPIXELS)
    snapped: Doubles = np.rint(shifted, out=shifted).astype(np.float64)
    return snapped


def triangle_area(x: Doubles, y: Doubles) -> Doubles:
    """Twice the signed area of triangles `[3, n]`: positive when clockwise with y up."""
    area: Doubles = (x[0] - x[1]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[0] - y[1])
    return area


def conservative_edges(x: Doubles, y: Doubles, target: Rect) -> Edges:
    """Edges of the polygons moved outwards by half a pixel, so that every pixel they touch is
    inside.

    At a sharp corner the moved edges reach far beyond the polygon; the box of the polygon, moved
    outwards as well, bounds them.
    """
    edges = polygon_edges(x, y, True, target)
    half = (np.abs(edges.a) + np.abs(edges.b)) / 2
    following = _FOLLOWING[len(x)]
    dx, dy = x - x[following], y - y[following]
    edges.c = dy * x - dx * y + half  # pixels that only touch an edge are outside
    low, high = -0.5, 0.5
    inverse = 1.0 / SUBPIXELS

    def first(values: Doubles) -> Doubles:
        return np.asarray(np.floor(values.min(axis=0) * inverse + low) + 1)

    def past(values: Doubles) -> Doubles:
        return np.asarray(np.ceil(values.max(axis=0) * inverse + high))

    edges.x0 = np.maximum(first(x), target.x0).astype(np.int64)
    edges.y0 = np.maximum(first(y), target.y0).astype(np.int64)
    edges.x1 = np.minimum(past(x), target.x1).astype(np.int64)
    edges.y1 = np.minimum(past(y), target.y1).astype(np.int64)
    return edges


def polygon_edges(
    x: Doubles, y: Doubles, bottom_edge_rule: bool, target: Rect, box: Box | None = None
) -> Edges:
    """Edges of convex polygons given by snapped corners `[k, n]`, clockwise with y up."""
    dx, dy = _to_following(x), _to_following(y)
    c = dy * x
    c -= dx * y
    # Top-left rule: descending edges are inside, of level ones those that run one way.
    mostly = dy * (FAR if bottom_edge_rule else -FAR)
    c += dx > mostly if bottom_edge_rule else dx < mostly
    a = dy
    a *= -SUBPIXELS
    b = dx
    b *= SUBPIXELS
    left, right, top, bottom = box or box_of(x, y)
    x0 = minmax.maximum(left, target.x0).astype(np.int64)
    x1 = minmax.minimum(right + 1, target.x1).astype(np.int64)
    y0 = minmax.maximum(top, target.y0).astype(np.int64)
    y1 = minmax.minimum(bottom + 1, target.y1).astype(np.int64)
    return Edges(a, b, c, x0, x1, y0, y1)


def _to_following(corners: Doubles) -> Doubles:
    """The difference from the next corner to each."""
    step = np.empty_like(corners)
    np.subtract(corners[:-1], corners[1:], out=step[:-1])
    np.subtract(corners[-1], corners[0], out=step[-1])
    return step


def least(corners: Doubles) -> Doubles:
    """The least value at the corners of each primitive."""
    found: Doubles = np.minimum(corners[0], corners[1])
    for more in corners[2:]:
        np.minimum(found, more, out=found)
    return found


def greatest(corners: Doubles) -> Doubles:
    """The greatest value at the corners of each primitive."""
    found: Doubles = np.maximum(corners[0], corners[1])
    for more in corners[2:]:
        np.maximum(found, more, out=found)
    return found


def box_of(x: Doubles, y: Doubles) -> Box:
    """The pixels whose centres are inside the bounding box of the corners."""
    return (*_whole_between(x), *_whole_between(y))


def _whole_between(corners: Doubles) -> tuple[Doubles, Doubles]:
    """The first and last whole pixel between corners; the last may precede the first."""
    first, last = least(corners), greatest(corners)
    first *= 1.0 / SUBPIXELS
    last *= 1.0 / SUBPIXELS
    return np.ceil(first, out=first), np.floor(last, out=last)
