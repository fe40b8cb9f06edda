"""Clipping of whole batches: Sutherland-Hodgman for polygons, a parameter range for lines.

Planes are numbered right, left, top, bottom, near, far, then clip distances, and polygons are
clipped in that order. Only primitives with a vertex outside some plane are clipped, and every step
processes all of them at once: the corners of polygons are concatenated, and clipping by one plane
replaces each corner by none, one or two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.pipe.state import RasterizerState

from .masks import ends_of, every, some, where
from .vertices import Floats, Ints, VertexSet

Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]
Codes = npt.NDArray[np.uint32]
EdgeMasks = npt.NDArray[np.uint8]

_ABOVE, _BELOW = (np.array([[1], [4], [32]], np.uint32), np.array([[2], [8], [16]], np.uint32))
_FRONT_AND_BEHIND = np.uint32(16 | 32)
FIRST_DISTANCE = 6
"""The number of the first plane that is a clip distance."""


@lazy_dataclass()
class ClipPlanes:
    """The enabled planes: number -> signed distance of every vertex, computed when first read."""

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
        if plane >= FIRST_DISTANCE:
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
    """A bit per plane a vertex is outside of (NaN counts as outside); None if no vertex is.

    Without `sides` only the near and far planes and clip distances count.
    """
    clip = vertices.clip
    if planes.near and planes.far and not planes.halfz and not planes.distances:
        extent = np.abs(clip[:3])
        furthest = np.maximum(extent[0], extent[1], out=extent[0])
        inside = np.maximum(furthest, extent[2], out=furthest) <= clip[3]
        if every(inside):
            return None
        which = where(~inside)  # usually few
        some_codes = _codes_of_box(clip.take(which, axis=1), sides)
        if not some(some_codes):
            return None
        of_all = np.zeros(clip.shape[1], np.uint32)
        of_all[which] = some_codes
        return of_all
    codes: Codes | None = None
    for plane in planes.numbers():
        if plane < 4 and not sides:
            continue
        distance = planes.distance(vertices, plane, slice(None))
        if distance.size and distance.min() >= 0:
            continue
        outside = ~(distance >= 0)
        if codes is None:
            codes = np.zeros(len(distance), np.uint32)
        codes |= outside.astype(np.uint32) << np.uint32(plane)
    return codes


def _codes_of_box(clip: Floats, sides: bool) -> Codes:
    """The bits of the six planes -w <= x, y, z <= w, or of near and far only."""
    along, w = clip[:3], clip[3]
    below, above = w + along >= 0, w - along >= 0
    bits = _BELOW * ~below
    bits |= _ABOVE * ~above
    codes: Codes = np.bitwise_or.reduce(bits, axis=0)
    return codes if sides else codes & _FRONT_AND_BEHIND


@lazy_dataclass()
class ClipContext:
    """The data from which clipping creates vertices."""

    vertices: VertexSet
    planes: ClipPlanes
    flat: frozenset[int]
    linear: frozenset[int]


@lazy_dataclass()
class _Polygons:
    """Polygons with concatenated corners: arrays by corner, and arrays by polygon."""

    corners: Ints
    real: Bools | None  # whether the edge from each corner is real
    counts: Ints  # corners of each, three at least
    rows: Ints  # each polygon's index in the input
    codes: Codes
    provoking: Ints

    def keep(self, kept: Bools) -> None:
        """Keep some of the polygons."""
        corners = kept.repeat(self.counts)
        self.corners = self.corners.compress(corners)
        self.real = None if self.real is None else self.real.compress(corners)
        self.counts, self.rows = self.counts.compress(kept), self.rows.compress(kept)
        self.codes, self.provoking = self.codes.compress(kept), self.provoking.compress(kept)


def clip_polygons(
    context: ClipContext, corners: Ints, provoking: Ints, codes: Codes, edges: EdgeMasks | None
) -> tuple[Ints, Ints, EdgeMasks | None]:
    """Clip triangles `corners[n, 3]`; returns the corners of the pieces and the input row of each.

    Pieces of one polygon are a fan around its first vertex, in order. Flat varyings are read from
    the `provoking` vertices when the result is drawn. Bit i of `edges` says that the edge from
    corner i to the next belongs to the outline; cuts and the fan's inner edges do not. With None no
    outline is drawn.
    """
    count, size = corners.shape
    real = None
    if edges is not None:
        marks = (edges[:, None] >> np.arange(size, dtype=np.uint8)) & np.uint8(1)
        real = marks.astype(np.bool_).reshape(-1)
    found = _Polygons(
        corners.reshape(-1),
        real,
        np.full(count, size),
        np.arange(count),
        codes,
        provoking,
    )
    while some(found.codes):
        _clip_once(context, found)
    return _fan(found)


def _clip_once(context: ClipContext, found: _Polygons) -> None:
    """Clip every polygon by the next plane that it crosses.

    A vertex on the plane is inside, but an edge to a vertex outside is cut all the same: the cut
    has the same position, but is projected differently (see `vertices.project`).
    """
    codes = found.codes
    crossing = codes != 0
    found.codes = codes & (codes - np.uint32(1))
    planes = codes ^ found.codes  # the lowest bit of each
    corners, counts, real = found.corners, found.counts, found.real
    owner = np.arange(len(counts)).repeat(counts)
    last = ends_of(counts)
    following = np.arange(1, len(corners) + 1)
    following[last - 1] = last - counts
    here = _distances(context, planes, owner, corners)
    inside = here >= 0
    crossed = inside != inside.take(following)
    bad = ~np.isfinite(here)
    if not every(crossing):
        touched = crossing.take(owner)
        crossed &= touched
        bad &= touched
        inside |= ~touched
    at = where(crossed)
    after = following.take(at)
    first = _cut(
        context,
        here.take(at),
        here.take(after),
        corners.take(at),
        corners.take(after),
        found.provoking.take(owner.take(at)),
    )
    new = np.arange(first, first + len(at))
    if some(bad):
        good = (np.bincount(owner, bad, len(counts)) == 0).take(owner)
        inside &= good
        crossed &= good
        kept = good.take(at)
        at, new = at.compress(kept), new.compress(kept)
    # Each corner emits itself if inside, then the cut of the edge that starts there.
    emitted = np.add(inside, crossed, dtype=np.int64)
    ends = ends_of(emitted)
    out = np.empty(int(ends[-1]), np.int64)
    stay = where(inside)
    stayed, cut = (ends - emitted).take(stay), ends.take(at)
    cut -= 1
    out[stayed], out[cut] = corners.take(stay), new
    found.corners = out
    if real is not None:
        # A vertex keeps the flag of its edge, and so does a cut where the polygon comes back in.
        # Where it goes out, the edge along the plane is drawn only for planes that the application
        # enabled.
        found.real = marks = np.empty(len(out), np.bool_)
        marks[stayed] = real.take(stay)
        of_distances = (planes >= np.uint32(1 << FIRST_DISTANCE)).take(owner.take(at))
        marks[cut] = np.where(inside.take(at), of_distances, real.take(at))
    found.counts = np.add.reduceat(emitted, last - counts)
    enough = found.counts >= 3
    if not every(enough):
        found.keep(enough)


def _distances(context: ClipContext, planes: Codes, owner: Ints, corners: Ints) -> Array:
    """The distance of each corner to its polygon's plane (given as a bit; 0: no plane)."""
    bits = int(np.bitwise_or.reduce(planes))
    if not bits & (bits - 1):
        return context.planes.distance(context.vertices, bits.bit_length() - 1, corners)
    of_corners = planes.take(owner)
    here = np.zeros(len(corners), np.float32)
    while bits:
        plane = bits & -bits
        at = where(of_corners == np.uint32(plane))
        number = plane.bit_length() - 1
        here[at] = context.planes.distance(context.vertices, number, corners.take(at))
        bits ^= plane
    return here


def _cut(
    context: ClipContext, a: Floats, b: Floats, start: Ints, end: Ints, provoking: Ints
) -> int:
    """Create the vertices where edges cross the plane, measured from the end nearer to it.

    `a` and `b` are the distances of the edges' ends.
    """
    far, near = np.abs(a), np.abs(b)
    nearer = near < far
    exact = near == far
    if some(exact):
        nearer |= exact & (a < 0)  # with equal distances, from the inner end
    near_distance = np.where(nearer, b, a)
    far_distance = np.where(nearer, a, b)
    t = near_distance / (near_distance - far_distance)
    return context.vertices.append(
        t.astype(np.float32, copy=False),
        np.where(nearer, end, start),
        np.where(nearer, start, end),
        provoking,
        context.flat,
        context.linear,
    )


def _fan(found: _Polygons) -> tuple[Ints, Ints, EdgeMasks | None]:
    """Triangles (first, i - 1, i) of every polygon, polygon by polygon."""
    counts, vertices, real = found.counts, found.corners, found.real
    if not len(counts):
        none = None if real is None else np.zeros(0, np.uint8)
        return np.zeros((0, 3), np.int64), np.zeros(0, np.int64), none
    triangles = counts - 2
    ends = ends_of(triangles)
    owner = np.arange(len(counts)).repeat(triangles)
    within = np.arange(len(owner))
    within -= (ends - triangles).take(owner)
    first = (ends_of(counts) - counts).take(owner)
    second = first + within
    second += 1
    third = second + 1
    corners = np.empty((len(owner), 3), np.int64)
    corners[:, 0] = vertices.take(first)
    corners[:, 1], corners[:, 2] = vertices.take(second), vertices.take(third)
    if real is None:
        return corners, found.rows.take(owner), None
    edges = real.take(second).view(np.uint8) << np.uint8(1)
    edges |= (real.take(first) & (within == 0)).view(np.uint8)
    closing = real.take(third) & (within + 3 == counts.take(owner))
    edges |= closing.view(np.uint8) << np.uint8(2)
    return corners, found.rows.take(owner), edges


def clip_lines(
    context: ClipContext, ends: Ints, provoking: Ints, codes: Codes
) -> tuple[Ints, Bools]:
    """Clip lines `ends[n, 2]`; returns new ends and which lines remain."""
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
