"""Points: how large, where, and what belongs to those that are left."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.raster.batch import Batch
from gallette.drivers.common.raster.points import (
    point_extent,
    point_sizes,
    rasterized_size,
    set_up_points,
)
from gallette.drivers.common.raster.samples import STANDARD, SamplePattern, sampled_spans
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.spans import spans_of
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.state import RasterizerState, ViewportState

VIEWPORT = ViewportState((8.0, 8.0, 0.5), (8.0, 8.0, 0.5))
TARGET = Rect(0, 0, 16, 16)
PATTERN = SamplePattern(np.asarray(STANDARD[1], np.float32))
WAYS = {
    "plain": (RasterizerState(half_pixel_center=True), None),
    "squares": (RasterizerState(half_pixel_center=True, point_quad_rasterization=True), None),
    "conservative": (RasterizerState(half_pixel_center=True, conservative=True), None),
    "samples": (RasterizerState(multisample=True), PATTERN),
}


def at(*places: tuple[float, float]) -> VertexSet:
    """Vertices at places of the window."""
    clip = np.zeros((4, len(places)), np.float32)
    clip[:2] = np.asarray(places, np.float32).T / 8 - 1
    clip[3] = 1
    return VertexSet(len(places), clip, {}, VIEWPORT)


def first(count: int) -> Batch:
    """A batch of the first vertices."""
    numbers = np.arange(count)
    return Batch(numbers[:, None], numbers, numbers.astype(np.int32))


@pytest.mark.parametrize("way", WAYS)
def test_invalid_points_are_dropped_with_their_attributes(way: str) -> None:
    state, pattern = WAYS[way]
    vertices = at((2.5, 3.5), (1.5e6, 3.5), (12.5, 3.5), (np.nan, 1.0), (5.5, 9.5))
    which = np.array([4, 1, 0, 3, 2])
    info_of = np.arange(5, dtype=np.int32) + 10
    depth = np.linspace(0.1, 0.5, 5, dtype=np.float32)[None, :]
    front = np.array([False, True, True, True, False])
    with np.errstate(all="ignore"):  # as all drawing does
        edges, source, info, _ = set_up_points(
            vertices,
            Batch(which[:, None], which + 20, info_of, depth=depth, front=front),
            state,
            TARGET,
            pattern,
        )
        spans = sampled_spans(edges, TARGET, pattern) if pattern else spans_of(edges)
    assert source.corners.tolist() == [[4, 0, 2]]
    assert source.provoking.tolist() == [24, 20, 22]
    assert source.depth is not None
    assert source.depth.tolist() == depth[:, [0, 2, 4]].tolist()
    assert source.pixel_center == (pattern is None)
    assert info.identity.tolist() == [10, 12, 14]
    assert info.front.tolist() == [False, True, False]
    x, y, size = info.points or ((), (), ())
    assert (list(x), list(y), list(size)) == ([5.5, 2.5, 12.5], [9.5, 3.5, 3.5], [1, 1, 1])
    runs = zip(spans.primitive, spans.x, spans.y, strict=True)
    pixels = {tuple(map(int, run)) for run in runs}
    assert pixels >= {(0, 5, 9), (1, 2, 3), (2, 12, 3)}


@pytest.mark.parametrize("way", WAYS)
def test_without_depths_and_sides_of_their_own_points_face_the_eye(way: str) -> None:
    state, pattern = WAYS[way]
    for place, count in (((4.5, 4.5), 2), ((1e9, 4.5), 1)):
        with np.errstate(all="ignore"):
            _, source, info, _ = set_up_points(
                at((9.5, 4.5), place), first(2), state, TARGET, pattern
            )
        assert source.depth is None
        assert info.front.tolist() == [True] * count


@pytest.mark.parametrize(("size", "samples"), [(1.0, 4), (2.0, 16), (3.0, 36), (2.5, 24)])
def test_points_cover_samples_in_a_square_of_their_size(size: float, samples: int) -> None:
    state = RasterizerState(multisample=True, point_size=size)
    center = 8.0 if size == 2 else 8.5
    with np.errstate(all="ignore"):
        edges, *_ = set_up_points(at((center, center)), first(1), state, TARGET, PATTERN)
        spans = sampled_spans(edges, TARGET, PATTERN)
    assert spans.bounds is not None
    assert int((spans.bounds[1] - spans.bounds[0]).clip(0).sum()) == samples


def test_points_are_round_unless_samples_give_their_coverage() -> None:
    for smooth, multisample in ((True, True), (True, False), (False, True), (False, False)):
        state = RasterizerState(point_smooth=smooth, multisample=multisample)
        with np.errstate(all="ignore"):
            _, _, info, _ = set_up_points(at((8.5, 8.5)), first(1), state, TARGET, PATTERN)
        assert info.round == (smooth and not multisample)


def test_points_end_where_the_target_does() -> None:
    state = RasterizerState(half_pixel_center=True, point_size=7.0)
    target = Rect(2, 3, 9, 8)
    edges, *_ = set_up_points(at((2.5, 3.5), (8.5, 7.5)), first(2), state, target)
    spans = spans_of(edges)
    runs = zip(spans.primitive, spans.y, spans.x, spans.length, strict=True)
    assert sorted(tuple(map(int, run)) for run in runs) == [
        *((0, y, 2, 4) for y in (3, 4, 5, 6)),
        *((1, y, 5, 4) for y in (4, 5, 6, 7)),
    ]


def test_sizes_are_whole_sub_pixels_between_a_pixel_and_the_largest() -> None:
    sizes = np.array([0.0, 0.4, 1.0, 1.0015, 4.5, 255.0, 300.0, np.nan], np.float32)
    assert rasterized_size(sizes).tolist() == [1, 1, 1, 1, 4.5, 255, 255, 1]


def test_the_shader_says_the_size_where_it_may() -> None:
    some = np.array([1, 0])
    vertices = at((1, 1), (2, 2))
    wanted = RasterizerState(point_size=3.0, point_size_per_vertex=True)
    assert point_sizes(vertices, some, wanted).tolist() == [3, 3]
    vertices.varyings[VaryingSlot.PSIZ] = [np.array([5, 6], np.float32), None, None, None]
    assert point_sizes(vertices, some, wanted).tolist() == [6, 5]
    vertices.varyings[VaryingSlot.PSIZ] = [np.float32(7).reshape(()), None, None, None]
    assert point_sizes(vertices, some, wanted).tolist() == [7, 7]
    assert point_sizes(vertices, some, RasterizerState(point_size=3.0)).tolist() == [3, 3]


# Size, then centre -> first pixel and the one past the last: of whole pixels, and as a square.
EXTENTS = [
    (1.0, 4.5, (4, 5), (4, 5)),
    (1.0, 4.99, (4, 5), (4, 5)),
    (1.0, 5.0, (5, 6), (4, 5)),
    (2.0, 4.4, (3, 5), (3, 5)),
    (2.0, 4.6, (4, 6), (4, 6)),
    (2.5, 4.5, (4, 6), (3, 6)),
    (3.0, 4.5, (3, 6), (3, 6)),
    (3.5, 4.4, (3, 6), (3, 6)),
    (4.0, 4.5, (3, 7), (2, 6)),
]


@pytest.mark.parametrize(("size", "center", "whole", "square"), EXTENTS)
def test_extents(
    size: float, center: float, whole: tuple[int, int], square: tuple[int, int]
) -> None:
    for quads, expected in ((False, whole), (True, square)):
        state = RasterizerState(half_pixel_center=True, point_quad_rasterization=quads)
        found = point_extent(np.float32([center]), np.float32([size]), state)
        assert tuple(int(f[0]) for f in found) == expected, quads
