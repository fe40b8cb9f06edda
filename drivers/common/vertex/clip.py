"""Clipping of whole batches: Sutherland-Hodgman for polygons, two parameters for lines.

Planes are numbered right, left, top, bottom, near, far, then clip distances; polygons meet them in
that order. Only primitives with a vertex outside some plane come here, and every step is done for
all of them at once: polygons are rows of a padded array of vertex numbers, and one plane turns each
row into another, of at most one vertex more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.state import RasterizerState

from .masks import every, where
from .vertices import Floats, Ints, VertexSet

__all__ = ["ClipContext", "ClipPlanes", "EdgeMasks", "clip_codes", "clip_lines", "clip_polygons"]

Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint32]
EdgeMasks = npt.NDArray[np.uint8]

_XY = ((-1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 1.0), (0.0, -1.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0))
_NEAR = (0.0, 0.0, 1.0, 1.0)
_NEAR_HALF = (0.0, 0.0, 1.0, 0.0)
_FAR = (0.0, 0.0, -1.0, 1.0)


@dataclass(slots=True)
class ClipPlanes:
    """The planes in force: number -> signed distance of every vertex, made when first asked."""

    halfz: bool
    near: bool
    far: bool
    distances: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Clip distance planes: plane number -> (varying slot, component)."""

    @classmethod
    def of(cls, state: RasterizerState, distances: dict[int, tuple[int, int]]) -> ClipPlanes:
        clamp = state.depth_clamp
        near = state.depth_clip_near and not clamp
        return cls(state.clip_halfz, near, state.depth_clip_far and not clamp, distances)

    def numbers(self) -> list[int]:
        planes = [0, 1, 2, 3]
        if self.near:
            planes.append(4)
        if self.far:
            planes.append(5)
        return planes + sorted(self.distances)

    def distance(self, vertices: VertexSet, plane: int, which: Ints | slice) -> Array:
        """Signed distance of some vertices to one plane, negative outside."""
        if plane >= 6:
            value = vertices.component(*self.distances[plane])
            return value[which] if value.ndim else np.broadcast_to(value, _shape(which, vertices))
        along = vertices.clip[plane >> 1, which]
        if plane == 4 and self.halfz:
            return along
        w = vertices.clip[3, which]
        return np.asarray(w - along if plane in (0, 2, 5) else w + along)


def _shape(which: Ints | slice, vertices: VertexSet) -> tuple[int, ...]:
    return (vertices.count,) if isinstance(which, slice) else which.shape


def clip_codes(vertices: VertexSet, planes: ClipPlanes, sides: bool = True) -> Codes | None:
    """A bit per plane a vertex is outside of (NaN counts as outside); None if none is.

    Without `sides` only what is in front and behind, and what distances say, counts.
    """
    clip = vertices.clip
    which: Ints | slice = slice(None)
    if planes.near and planes.far and not planes.halfz and not planes.distances:
        extent = np.abs(clip[:3])
        furthest = np.maximum(extent[0], extent[1], out=extent[0])
        inside = np.maximum(furthest, extent[2], out=furthest) <= clip[3]
        if every(inside):
            return None
        which = where(~inside)  # mostly few
    codes: Codes | None = None
    for plane in planes.numbers():
        if plane < 4 and not sides:
            continue
        distance = planes.distance(vertices, plane, which)
        if distance.size and distance.min() >= 0:
            continue
        outside = ~(distance >= 0)
        if codes is None:
            codes = np.zeros(len(distance), np.uint32)
        codes |= outside.astype(np.uint32) << np.uint32(plane)
    if codes is None or isinstance(which, slice):
        return codes
    of_all = np.zeros(clip.shape[1], np.uint32)
    of_all[which] = codes
    return of_all


@dataclass(slots=True)
class ClipContext:
    """What clipping needs to make a vertex."""

    vertices: VertexSet
    planes: ClipPlanes
    flat: frozenset[int]
    linear: frozenset[int]
    outlined: bool = False  # polygons are drawn as lines or points


def clip_polygons(
    context: ClipContext, corners: Ints, provoking: Ints, codes: Codes, edges: EdgeMasks
) -> tuple[Ints, Ints, EdgeMasks]:
    """Clip triangles `corners[n, 3]`; returns the corners of the pieces and the row of each.

    Pieces of one polygon are a fan around its first vertex, in order. Flat varyings are read
    through the `provoking` vertices by whoever draws the result. Bit i of `edges` says that the
    edge from corner i to the next is one to draw an outline along; cuts and the fan's inner edges
    are not.
    """
    rows = np.arange(len(corners))
    polygons = corners
    counts = np.full(len(corners), corners.shape[1])
    real = ((edges[:, None] >> np.arange(corners.shape[1], dtype=np.uint8)) & 1).astype(np.bool_)
    for plane in context.planes.numbers():
        crossing = (codes & np.uint32(1 << plane)) != 0
        if crossing.any():
            polygons, counts, real = _clip_plane(
                context, plane, polygons, counts, crossing, provoking, real
            )
            keep = counts >= 3
            if not keep.all():
                polygons, counts, rows = polygons[keep], counts[keep], rows[keep]
                codes, provoking, real = codes[keep], provoking[keep], real[keep]
    return _fan(polygons, counts, rows, real)


def _clip_plane(
    context: ClipContext,
    plane: int,
    polygons: Ints,
    counts: Ints,
    crossing: Bools,
    provoking: Ints,
    real: Bools,
) -> tuple[Ints, Ints, Bools]:
    """Cut the `crossing` rows by one plane; `real` marks the edges that start at each slot."""
    where = np.flatnonzero(crossing)
    inlist, n = polygons[where], counts[where]
    width = inlist.shape[1]
    slots = np.arange(width)
    used = slots < n[:, None]
    following = slots + 1
    following = np.where(following == n[:, None], 0, np.minimum(following, width - 1))
    following += np.arange(0, inlist.size, width)[:, None]
    ahead = inlist.ravel().take(following)
    here = context.planes.distance(context.vertices, plane, inlist)
    there = here.ravel().take(following)
    bad = (used & ~np.isfinite(here)).any(axis=1)
    within = here >= 0
    inside = within & used
    crossed = used & (within != (there >= 0))
    if not context.outlined:
        # A vertex on the plane is its own cut: one more would make a piece without area. Only its
        # edges are to be seen: of a polygon that touches the plane from outside they are all.
        crossed &= (here != 0) & (there != 0)
    row, slot = np.nonzero(crossed)
    first_new = _cut(context, here, there, inlist, ahead, provoking[where], row, slot)
    # Each slot emits itself if inside, then the cut of the edge it starts.
    emitted = inside.astype(np.intp) + crossed
    ends = np.cumsum(emitted, axis=1)
    totals = ends[:, -1]
    out = np.zeros((len(where), max(width, int(totals.max(initial=0)))), np.int64)
    starts = ends - emitted
    r, s = np.nonzero(inside)
    out[r, starts[r, s]] = inlist[r, s]
    out[row, ends[row, slot] - 1] = first_new + np.arange(len(row))
    totals[bad] = 0
    # A vertex keeps the edge it starts, and so does a cut where the polygon comes back in. Where it
    # leaves, the edge along the plane is drawn only if the application asked for that plane.
    marks = np.zeros(out.shape, np.bool_)
    drawn, leaving = real[where], inside[row, slot]
    marks[r, starts[r, s]] = drawn[r, s]
    marks[row, ends[row, slot] - 1] = np.where(leaving, plane >= 6, drawn[row, slot])
    counts = counts.copy()
    counts[where] = totals
    return _widened(polygons, where, out), counts, _widened(real, where, marks)


def _widened(rows: Array, where: Ints, new: Array) -> Array:
    """A copy of rows, some of them replaced by others that may be longer."""
    wide = np.zeros((len(rows), new.shape[1]), rows.dtype)
    wide[:, : rows.shape[1]] = rows
    wide[where] = new
    return wide


def _cut(
    context: ClipContext,
    here: Floats,
    there: Floats,
    inlist: Ints,
    ahead: Ints,
    provoking: Ints,
    row: Ints,
    slot: Ints,
) -> int:
    """Make the vertices where edges cross the plane, measured from the end nearer to it."""
    a, b = here[row, slot], there[row, slot]
    start, end = inlist[row, slot], ahead[row, slot]
    nearer = np.abs(b) < np.abs(a)
    exact = np.abs(b) == np.abs(a)
    nearer |= exact & (a < 0)  # of equal distances the inner end counts
    near_distance = np.where(nearer, b, a)
    far_distance = np.where(nearer, a, b)
    t = near_distance / (near_distance - far_distance)
    return context.vertices.append(
        t.astype(np.float32, copy=False),
        np.where(nearer, end, start),
        np.where(nearer, start, end),
        provoking[row],
        context.flat,
        context.linear,
    )


def _fan(polygons: Ints, counts: Ints, rows: Ints, real: Bools) -> tuple[Ints, Ints, EdgeMasks]:
    """Triangles (first, i - 1, i) of every polygon, polygon by polygon."""
    triangles = np.maximum(counts - 2, 0)
    owner = np.repeat(np.arange(len(polygons)), triangles)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(triangles) - triangles, triangles)
    if not len(owner):
        return np.zeros((0, 3), np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint8)
    corners = np.stack(
        (polygons[owner, 0], polygons[owner, within + 1], polygons[owner, within + 2]), axis=1
    )
    leaving = real[owner, 0] & (within == 0)
    closing = real[owner, within + 2] & (within + 3 == counts[owner])
    edges = leaving | (real[owner, within + 1] << np.uint8(1)) | (closing << np.uint8(2))
    return corners, rows[owner], edges.astype(np.uint8)


def clip_lines(
    context: ClipContext, ends: Ints, provoking: Ints, codes: Codes
) -> tuple[Ints, Bools]:
    """Clip lines `ends[n, 2]`; returns new ends and which lines are left."""
    vertices = context.vertices
    t0 = np.zeros(len(ends), np.float32)
    t1 = np.zeros(len(ends), np.float32)
    alive = np.ones(len(ends), np.bool_)
    for plane in context.planes.numbers():
        touched = (codes & np.uint32(1 << plane)) != 0
        if not touched.any():
            continue
        d0 = context.planes.distance(vertices, plane, ends[:, 0])
        d1 = context.planes.distance(vertices, plane, ends[:, 1])
        alive &= ~touched | (np.isfinite(d0) & np.isfinite(d1))
        t1 = np.where(touched & (d1 < 0), np.maximum(t1, d1 / (d1 - d0)), t1)
        t0 = np.where(touched & (d0 < 0), np.maximum(t0, d0 / (d0 - d1)), t0)
        alive &= ~(t0 + t1 >= 1)
    new = ends.copy()
    for side, t in ((0, t0), (1, t1)):
        cut = np.flatnonzero(alive & (codes != 0) & (t > 0))
        if len(cut):
            parameter = t[cut].astype(np.float32, copy=False)
            first = vertices.append(
                parameter,
                ends[cut, side],
                ends[cut, 1 - side],
                provoking[cut],
                context.flat,
                context.linear,
            )
            new[cut, side] = first + np.arange(len(cut))
    return new, alive
