"""The fixed-function tessellator: from levels to the points of the domain and their primitives.

`subdivide` works on one patch's levels and is cached, because most patches of a draw have equal
levels. Coordinates are (u, v) for quads and isolines and barycentric (u, v, w) for triangles. What
the specification leaves open (the diagonals of squares, the order of triangles and their corners,
the places of the shorter segments) is as in llvmpipe.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass

Coordinates = npt.NDArray[np.float32]
Connections = npt.NDArray[np.int64]
_Point = tuple[int, int, int]

_ONE = 1 << 16
"""Positions are fixed-point numbers with this denominator, and each product is rounded to it."""

MAX_LEVEL = 64


@lazy_dataclass(frozen=True)
class Domain:
    """A subdivided patch: `points[n, 3]` and primitives as rows of point numbers."""

    points: Coordinates
    primitives: Connections


def _round(level: float, spacing: str) -> tuple[int, float]:
    """The number of segments and the clamped level; a NaN level is the smallest."""
    if spacing == "fractional_even_spacing":
        level = min(max(2.0, level), float(MAX_LEVEL))
        return 2 * math.ceil(level / 2), level
    if spacing == "fractional_odd_spacing":
        level = min(max(1.0, level), MAX_LEVEL - 1.0)
        return 2 * math.ceil((level - 1) / 2) + 1, level
    level = min(max(1.0, level), float(MAX_LEVEL))
    return math.ceil(level), level


_HALF_POINTS = 32


def _appearance() -> list[int]:
    """The order in which points appear on half an edge as its level grows, by position: each in the
    largest gap, which is the order of a binary tree of all positions.
    """

    def below(number: int) -> list[int]:
        if number > _HALF_POINTS:
            return []
        return [*below(2 * number), number, *below(2 * number + 1)]

    return [0, *below(1)]


_APPEARANCE = _appearance()


def _edge(segments: int, level: float, spacing: str) -> list[int]:
    """Positions along an edge; a fractional level has two shorter segments, those that appeared
    last.
    """
    step = round(_ONE / segments)
    half = [k * step for k in range(segments // 2 + 1)]
    if spacing != "equal_spacing" and segments > 2 and level != segments:
        newest = segments // 2 - 1
        split = sum(number < newest for number in _APPEARANCE[: _APPEARANCE.index(newest)])
        held = [k if k <= split else k - 1 for k in range(len(half))]
        longer = round(_ONE / (segments - 2))
        part = math.ceil((level - (segments - 2)) * _ONE / 2)
        half = [
            (number * longer * (_ONE - part) + at * part + _ONE // 2) >> 16
            for number, at in zip(held, half, strict=True)
        ]
    if segments % 2 == 0:
        half[-1] = _ONE // 2
    return [*half, *(_ONE - at for at in reversed(half[: segments + 1 - len(half)]))]


@functools.cache
def _merged(outer: int, inner: int) -> str:
    """The order of steps along two chains of segments: a step of the outer one (`o`) or the inner
    one (`i`), and `m` for an outer one in the middle. The second half mirrors the first.
    """
    first = ""
    for number in _APPEARANCE:
        if 0 < number <= inner // 2:
            first += "i"
        if number < outer // 2:
            first += "o"
    middle = ("i" if inner % 2 else "") + ("m" if outer % 2 else "")
    return first + middle + first[::-1]


class _Mesh:
    """Points and triangles (counter-clockwise) of a patch during subdivision."""

    def __init__(self) -> None:
        self.points: list[_Point] = []
        self.triangles: list[tuple[int, int, int]] = []

    def point(self, u: int, v: int, w: int = 0) -> int:
        self.points.append((u, v, w))
        return len(self.points) - 1

    def triangle(self, a: int, b: int, c: int) -> None:
        self.triangles.append((a, b, c))

    def stitch(self, outer: list[int], inner: list[int]) -> None:
        """Add triangles between two chains of points that run the same way, of any lengths."""
        i = j = 0
        for step in _merged(len(outer) - 1, len(inner) - 1):
            if step == "i":
                self.triangle(inner[j], outer[i], inner[j + 1])
                j += 1
                continue
            if step == "m":
                self.triangle(inner[j], outer[i], outer[i + 1])
            else:
                self.triangle(outer[i], outer[i + 1], inner[j])
            i += 1

    def ring(self, outer: list[int], inner: list[int]) -> None:
        """Add triangles between two chains of which the outer one has two segments more: a triangle
        at each end, and squares whose diagonals flip in the middle.
        """
        self.triangle(outer[0], outer[1], inner[0])
        squares = len(inner) - 1
        for k in range(squares):
            a, b, c, d = outer[k + 1], outer[k + 2], inner[k], inner[k + 1]
            if 2 * k < squares:
                self.triangle(a, d, c)
                self.triangle(a, b, d)
            else:
                self.triangle(c, a, b)
                self.triangle(c, b, d)
        self.triangle(outer[-2], outer[-1], inner[-1])

    def strip(self, one: list[int], other: list[int]) -> None:
        """Add squares between two chains of equal length."""
        for k in range(len(one) - 1):
            self.triangle(one[k], other[k], other[k + 1])
            self.triangle(one[k], other[k + 1], one[k + 1])

    def turned_strip(self, one: list[int], other: list[int]) -> None:
        """Add squares between two chains of odd length, with the other diagonals except in the
        middle.
        """
        squares = len(one) - 1
        for k in range(squares):
            a, b, c, d = one[k], one[k + 1], other[k], other[k + 1]
            if k == squares // 2:
                self.triangle(a, d, c)
                self.triangle(a, b, d)
            else:
                self.triangle(a, b, c)
                self.triangle(c, b, d)

    def finish(self, ccw: bool, point_mode: bool) -> Domain:
        points = np.array(self.points, np.float32).reshape(-1, 3) / np.float32(_ONE)
        if point_mode:
            return Domain(points, np.arange(len(points))[:, None])
        corners = np.array(self.triangles, np.int64).reshape(-1, 3)
        if not ccw:
            corners = corners[:, [0, 2, 1]]
        return Domain(points, corners)


@functools.lru_cache(maxsize=64)  # the largest take 300 KiB each
def subdivide(
    domain: str,
    outer: tuple[float, ...],
    inner: tuple[float, ...],
    spacing: str,
    ccw: bool,
    point_mode: bool,
) -> Domain | None:
    """One patch with these levels; None if it is discarded (an outer level of zero)."""
    used = {"triangles": 3, "quads": 4, "isolines": 2}[domain]
    if any(not level > 0 for level in outer[:used]):
        return None
    if domain == "isolines":
        return _isolines(outer, spacing, point_mode)
    mesh = _Mesh()
    if domain == "quads":
        _quads(mesh, outer, inner, spacing)
    else:
        _triangles(mesh, outer, inner[0], spacing)
    return mesh.finish(ccw, point_mode)


def _isolines(outer: tuple[float, ...], spacing: str, point_mode: bool) -> Domain:
    lines, _ = _round(outer[0], "equal_spacing")
    segments, level = _round(outer[1], spacing)
    along = np.array(_edge(segments, level, spacing), np.float32) / np.float32(_ONE)
    rows = np.array(_edge(lines, lines, "equal_spacing")[:-1], np.float32) / np.float32(_ONE)
    points = np.zeros((lines * len(along), 3), np.float32)
    points[:, 0] = np.tile(along, lines)
    points[:, 1] = np.repeat(rows, len(along))
    if point_mode:
        return Domain(points, np.arange(len(points))[:, None])
    starts = np.arange(lines)[:, None] * len(along) + np.arange(segments)
    first = starts.reshape(-1)
    return Domain(points, np.stack((first, first + 1), axis=1))


def _inner_level(level: float, spacing: str, alone: bool) -> tuple[int, float]:
    """An inner level of one counts as slightly more, unless all levels are one."""
    segments, clamped = _round(level, spacing)
    if segments == 1 and not alone:
        segments, clamped = _round(1.0 + 1e-6, spacing)
    return segments, clamped


def _quads(mesh: _Mesh, outer: tuple[float, ...], inner: tuple[float, ...], spacing: str) -> None:
    edges = [_round(level, spacing) for level in outer[:4]]
    alone = all(n == 1 for n, _ in edges) and all(_round(x, spacing)[0] == 1 for x in inner[:2])
    if alone:
        a, b, c, d = (mesh.point(u, v) for u, v in ((0, 0), (_ONE, 0), (_ONE, _ONE), (0, _ONE)))
        mesh.triangle(a, b, d)
        mesh.triangle(b, c, d)
        return
    (m, level_u), (n, level_v) = (_inner_level(x, spacing, False) for x in inner[:2])
    us, vs = _edge(m, level_u, spacing), _edge(n, level_v, spacing)
    sides = [_edge(count, level, spacing) for count, level in edges]
    around = _closed(
        [
            [mesh.point(0, at) for at in reversed(sides[0][1:])],
            [mesh.point(at, 0) for at in sides[1][:-1]],
            [mesh.point(_ONE, at) for at in sides[2][:-1]],
            [mesh.point(at, _ONE) for at in reversed(sides[3][1:])],
        ]
    )
    for k in range(1, min(m, n) // 2 + 1):
        within = _sides(mesh, us[k : m - k + 1], vs[k : n - k + 1])
        for one, other in zip(around, within, strict=True):
            (mesh.stitch if k == 1 else mesh.ring)(one, other)
        around = within
    left, bottom, right, top = around
    if len(bottom) == 2 and len(left) % 2 == 0:
        mesh.turned_strip(left, right[::-1])
    elif len(bottom) == 2:
        mesh.strip(right[::-1], left)
    elif len(left) == 2:
        mesh.strip(top[::-1], bottom)


def _sides(mesh: _Mesh, us: list[int], vs: list[int]) -> list[list[int]]:
    """The sides of a rectangle, from corner to corner: left, bottom, right, top."""
    if len(us) == 1:
        left = [mesh.point(us[0], v) for v in reversed(vs)]
        return [left, left[-1:], left[::-1], left[:1]]
    if len(vs) == 1:
        bottom = [mesh.point(u, vs[0]) for u in us]
        return [bottom[:1], bottom, bottom[-1:], bottom[::-1]]
    return _closed(
        [
            [mesh.point(us[0], v) for v in reversed(vs[1:])],
            [mesh.point(u, vs[0]) for u in us[:-1]],
            [mesh.point(us[-1], v) for v in vs[:-1]],
            [mesh.point(u, vs[-1]) for u in reversed(us[1:])],
        ]
    )


def _closed(chains: list[list[int]]) -> list[list[int]]:
    """Each chain with the first point of the next one appended."""
    corners = [chain[0] for chain in chains]
    return [[*chain, corners[(k + 1) % len(chains)]] for k, chain in enumerate(chains)]


_TWO_THIRDS = 2 * _ONE // 3


def _chains(mesh: _Mesh, apart: int, along: Sequence[list[int]]) -> list[list[int]]:
    """The three sides of a ring, `apart` from those of the patch: from v to w, to u, and back.

    `along` are the positions of one coordinate; the third coordinate is the rest.
    """
    one, two, three = along
    return _closed(
        [
            [mesh.point(apart, v, _ONE - apart - v) for v in reversed(one[1:])],
            [mesh.point(u, apart, _ONE - apart - u) for u in two[:-1]],
            [mesh.point(u, _ONE - apart - u, apart) for u in reversed(three[1:])],
        ]
    )


def _triangles(mesh: _Mesh, outer: tuple[float, ...], inner: float, spacing: str) -> None:
    # Outer level 0 is the side u = 0 (from v to w), 1 is v = 0, 2 is w = 0.
    edges = [_round(level, spacing) for level in outer[:3]]
    segments, level = _round(inner, spacing)
    ring = _chains(mesh, 0, [_edge(n, x, spacing) for n, x in edges])
    if segments == 1 and all(n == 1 for n, _ in edges):
        mesh.triangle(*(chain[0] for chain in ring))
        return
    segments, level = _inner_level(inner, spacing, False)
    along = _edge(segments, level, spacing)
    for k in range(1, segments // 2 + 1):
        apart = (along[k] * _TWO_THIRDS + _ONE // 2) >> 16
        steps = [at - (apart + 1) // 2 for at in along[k : segments - k + 1]]
        if len(steps) > 1:
            following = _chains(mesh, apart, [steps] * 3)
        else:
            following = [[mesh.point(steps[0], apart, _ONE - apart - steps[0])]] * 3
        for a, b in zip(ring, following, strict=True):
            (mesh.stitch if k == 1 else mesh.ring)(a, b)
        ring = following
        if segments - 2 * k == 1:
            mesh.triangle(*(chain[0] for chain in ring))
