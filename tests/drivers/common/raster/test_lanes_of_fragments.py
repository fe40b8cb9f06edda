"""Fragments made of spans, pixel by pixel: lanes, quads, pieces, owners, scissors, viewports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.raster.batch import FragmentSink, ScissorSink
from gallette.drivers.common.raster.fragments import (
    Fragments,
    expand_pixels,
    expand_quads,
    expand_samples,
    owned_pixels,
    owned_quads,
    pieces,
    sample_quads,
)
from gallette.drivers.common.raster.interpolate import PlaneSource
from gallette.drivers.common.raster.lanes import ChunkLanes, PrimitiveInfo
from gallette.drivers.common.raster.samples import sample_pattern
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.spans import Spans
from gallette.drivers.common.raster.viewports import (
    Viewports,
    depth_range,
    own_vertices,
    reprojected,
)
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.state import FramebufferState, ScissorState, ViewportState

STRIDE = 20
Run = tuple[int, int, int, int]  # primitive, row, column, length


def spans(*runs: Run, bounds: Any = None) -> Spans:
    primitive, y, x, length = np.array(runs, np.int64).reshape(-1, 4).T
    return Spans(primitive, y, x, length, bounds)


def runs_of(found: Spans) -> list[Run]:
    arrays = found.primitive, found.y, found.x, found.length
    return list(zip(*(each.tolist() for each in arrays), strict=True))


RUNS: list[Run] = [(0, 2, 3, 4), (0, 3, 2, 1), (0, 4, 5, 2), (2, 3, 7, 3), (2, 5, 0, 1)]


def pixels(runs: list[Run]) -> list[tuple[int, int, int]]:
    """Primitive, x and y, in order."""
    return [(p, x + k, y) for p, y, x, length in runs for k in range(length)]


@pytest.mark.parametrize("runs", [RUNS, RUNS[:3], RUNS[3:4]])
def test_a_lane_for_each_pixel(runs: list[Run]) -> None:
    lanes = expand_pixels(spans(*runs), STRIDE)
    places = zip(lanes.primitive.tolist(), lanes.x.tolist(), lanes.y.tolist(), strict=True)
    assert [*places] == pixels(runs)
    assert lanes.pixel.tolist() == [y * STRIDE + x for _, x, y in pixels(runs)]
    assert lanes.covered is None
    assert lanes.of_one is (len({run[0] for run in runs}) == 1)


@pytest.mark.parametrize("runs", [RUNS, RUNS[:3], RUNS[3:4], RUNS[1:2]])
def test_four_lanes_for_each_quad(runs: list[Run]) -> None:
    lanes = expand_quads(spans(*runs), STRIDE)
    assert lanes.covered is not None and lanes.count % 4 == 0
    found = []
    for first in range(0, lanes.count, 4):
        x, y = int(lanes.x[first]), int(lanes.y[first])
        assert x % 2 == y % 2 == 0
        assert lanes.x[first : first + 4].tolist() == [x, x + 1, x, x + 1]
        assert lanes.y[first : first + 4].tolist() == [y, y, y + 1, y + 1]
        assert len(set(lanes.primitive[first : first + 4].tolist())) == 1
        assert lanes.covered[first : first + 4].any() or lanes.count > 4
        found.append((int(lanes.primitive[first]), x, y))
    assert len(set(found)) == len(found)
    assert lanes.pixel.tolist() == (lanes.y * STRIDE + lanes.x).tolist()
    real = np.flatnonzero(lanes.covered).tolist()
    places = [(int(lanes.primitive[k]), int(lanes.x[k]), int(lanes.y[k])) for k in real]
    assert sorted(places) == sorted(pixels(runs))


def sampled() -> Spans:
    """Two samples: one covers columns 3 to 5, the other 4 to 6; in the row below 8 and nothing."""
    low, high = [[3, 8], [4, 9]], [[6, 9], [7, 0]]
    return spans((0, 2, 3, 4), (1, 3, 8, 1), bounds=np.array([low, high], np.int64))


def test_lanes_with_samples() -> None:
    lanes = expand_samples(sampled(), STRIDE)
    assert lanes.samples is not None
    assert lanes.samples.tolist() == [1, 3, 3, 2, 1]
    assert lanes.x.tolist() == [3.5, 4.5, 5.5, 6.5, 8.5]
    assert lanes.y.tolist() == [2.5] * 4 + [3.5]
    none = spans((0, 2, 3, 2), (1, 3, 8, 1), bounds=np.array([[[4, 8]], [[5, 9]]], np.int64))
    some = expand_samples(none, STRIDE)
    assert (some.pixel.tolist(), some.primitive.tolist()) == ([44, 68], [0, 1])


def test_lanes_with_samples_in_quads() -> None:
    lanes = expand_samples(sampled(), STRIDE)
    lanes.seen = np.array([5, 6, 7, 8, 9], np.uint16)
    quads = sample_quads(lanes, STRIDE)
    assert quads.covered is not None and quads.samples is not None and quads.seen is not None
    assert quads.x[::4].tolist() == [2.5, 4.5, 6.5, 8.5] and quads.y[::4].tolist() == [2.5] * 4
    assert quads.x[:4].tolist() == [2.5, 3.5, 2.5, 3.5]
    assert quads.y[:4].tolist() == [2.5, 2.5, 3.5, 3.5]
    assert quads.pixel[:4].tolist() == [42, 43, 62, 63]
    assert quads.primitive[::4].tolist() == [0, 0, 0, 1]
    assert quads.samples.tolist() == [0, 1, 0, 0, 3, 3, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0]
    assert quads.seen.tolist() == [0, 5, 0, 0, 6, 7, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0]
    assert quads.covered.tolist() == (quads.samples != 0).tolist()
    lanes.seen = None
    assert sample_quads(lanes, STRIDE).seen is None


def test_lanes_that_pass_are_kept() -> None:
    lanes = expand_pixels(spans(*RUNS), STRIDE)
    assert lanes.keep(np.ones(11, np.bool_)).pixel is lanes.pixel
    mask = np.arange(11) % 3 == 0
    assert lanes.keep(mask).pixel.tolist() == lanes.pixel[mask].tolist()
    quads = expand_quads(spans((0, 0, 0, 4), (0, 1, 2, 2)), STRIDE)
    passing = np.ones(8, np.bool_)
    passing[:4] = False
    kept = quads.keep(passing)
    assert kept.covered is not None
    assert (kept.x.tolist(), kept.covered.tolist()) == ([2, 3, 2, 3], [True] * 4)
    passing[6] = False
    kept = quads.keep(passing)
    assert kept.covered is not None and kept.covered.tolist() == [True, True, False, True]
    passing[:] = False
    passing[[1, 3, 4]] = True  # 3 was a helper
    kept = quads.keep(passing)
    assert kept.covered is not None
    assert kept.covered.tolist() == [False, True, False, False, True, False, False, False]
    assert kept.pixel is quads.pixel and quads.covered is not None and quads.covered.sum() == 6


def test_spans_without_a_common_pixel_have_distinct_lanes() -> None:
    """Where spans are long; nothing is said about others."""
    apart: list[Run] = [(0, 2, 3, 16), (1, 3, 2, 9), (0, 3, 11, 9)]
    for runs, distinct in (
        (apart, True),
        (apart[::-1], True),
        ([*apart, (2, 2, 18, 9)], False),
        (RUNS, False),
    ):
        lanes = expand_pixels(spans(*runs), STRIDE)
        which = np.array([2, 0, 9])
        parts = [lanes.take(slice(4, 30)), lanes.take(which), lanes.keep(lanes.pixel % 3 == 0)]
        assert [each.distinct for each in (lanes, *parts)] == [distinct] * 4
        assert expand_quads(spans(*runs), STRIDE).distinct == distinct


@pytest.mark.parametrize("start, stop", [(0, 11), (0, 4), (2, 7), (5, 6), (4, 99)])
def test_some_lanes_of_spans_keep_their_places(start: int, stop: int) -> None:
    some = expand_pixels(spans(*RUNS), STRIDE).take(slice(start, stop))
    assert some.rows is not None
    assert list(zip(some.primitive, some.x, some.y, strict=True)) == pixels(RUNS)[start:stop]
    assert some.rows.primitive.repeat(some.rows.length).tolist() == some.primitive.tolist()
    assert some.rows.row.repeat(some.rows.length).tolist() == some.y.tolist()


TURNED = {  # x and y of the corners of triangles: in what their slopes vanish
    "x and y": ([[2, 5, 2], [3, 9, 3]], [[1, 1, 8], [2, 2, 7]]),
    "a turned one": ([[2, 5, 3], [3, 9, 3]], [[1, 2, 8], [2, 2, 7]]),
    "the other way": ([[5, 2, 5], [9, 3, 9]], [[8, 8, 1], [7, 7, 2]]),
}


@pytest.mark.parametrize("edges", TURNED)
@pytest.mark.parametrize("values", ["x", "y", "both", "negative zeros"])
@pytest.mark.parametrize("length", [1, 30])
def test_values_between_corners_are_rounded_twice(edges: str, values: str, length: int) -> None:
    """Each step of `f32(f32(a0 + dx x) + dy y)`, whether slopes are zero or rows are long."""
    x, y = (np.array(side, np.float32) for side in TURNED[edges])
    made: Any = {
        "x": 0.1 * x - 0.7,
        "y": -0.3 * y + 0.1,
        "both": 0.1 * x * y,
        "negative zeros": np.where(x == x[:, :1], -0.0, 1),
    }[values]
    window = np.stack((x.reshape(-1), y.reshape(-1), np.zeros(6), np.ones(6))).astype(np.float32)
    found = made.astype(np.float32).reshape(-1)
    vertices: Any = SimpleNamespace(window=window, component=lambda slot, component: found)
    corners = np.arange(6).reshape(2, 3).T
    source = PlaneSource(vertices, corners, corners[0])
    chunk = expand_pixels(spans(*[(k % 2, k, k % 7, length) for k in range(40)]), 100)
    at = found.take(corners)
    dx, dy = source._slopes(at)
    x0, y0 = source._anchor()
    a0 = at[0] - (dx * x0 + dy * y0)
    wide = [each.take(chunk.primitive).astype(np.float64) for each in (a0, dx, dy)]
    step = (wide[1] * chunk.x + wide[0]).astype(np.float32)
    expected = (wide[2] * chunk.y + step).astype(np.float32)
    info = PrimitiveInfo(np.ones(2, np.bool_), np.arange(2, dtype=np.int32))
    for lanes, part in ((chunk, slice(None)), (chunk.take(slice(3, 37)), slice(3, 37))):
        got = np.broadcast_to(ChunkLanes(source, info, lanes).smooth(32, 0), lanes.count)
        assert got.tobytes() == expected[part].tobytes()


@pytest.mark.parametrize("length", [1, 20])
def test_values_of_primitives_reach_their_lanes_in_runs_or_one_by_one(length: int) -> None:
    """Spans of primitives that take turns, in quads, too, and some of their lanes."""
    runs = [(k % 5, k % 9, 3 * k, length) for k in range(1200)]
    info = PrimitiveInfo(np.arange(5) % 2 > 0, np.arange(5, dtype=np.int32) * 7)
    source: Any = None
    for lanes in (expand_pixels(spans(*runs), 9999), expand_quads(spans(*runs), 9999)):
        for chunk in (lanes, lanes.take(slice(4, 1000)), lanes.take(slice(0, 40))):
            found = np.broadcast_to(
                ChunkLanes(source, info, chunk).system("primitive_id"), chunk.count
            )
            assert found.tolist() == (chunk.primitive * 7).tolist()


PARTS = "pixel", "x", "y", "primitive", "covered", "samples", "seen"


def test_lanes_are_narrowed_for_every_holder() -> None:
    for covered in (None, np.arange(8) % 3 > 0):
        base: Any = np.arange(8)
        samples = base.astype(np.uint16)
        owner = base // 4
        lanes = Fragments(base, base + 0.5, base + 1.5, owner, covered, samples, samples + 9)
        passing = base > 4
        kept, pixel = lanes.keep(passing), lanes.pixel
        lanes.narrow(passing)
        for each in PARTS:
            np.testing.assert_array_equal(getattr(lanes, each), getattr(kept, each))
        assert lanes.count < 8 and pixel.tolist() == list(range(8))
        which = np.array([2, 0])
        expected = lanes.take(which)
        lanes.become(which)
        for each in PARTS:
            np.testing.assert_array_equal(getattr(lanes, each), getattr(expected, each))


def test_lanes_are_taken_with_all_they_are() -> None:
    base: Any = np.arange(6)
    lanes = Fragments(
        base, base + 0.5, base + 1.5, base * 2, base > 2,
        base.astype(np.uint16) + 1, base.astype(np.uint16) + 2,
    )  # fmt: skip
    for which in (np.array([4, 1]), slice(1, 5, 3)):
        numbers = base[which]
        found = lanes.take(which)
        assert found.covered is not None and found.samples is not None and found.seen is not None
        assert found.pixel.tolist() == numbers.tolist()
        assert found.x.tolist() == (numbers + 0.5).tolist()
        assert found.y.tolist() == (numbers + 1.5).tolist()
        assert found.primitive.tolist() == (numbers * 2).tolist()
        assert found.covered.tolist() == (numbers > 2).tolist()
        assert found.samples.tolist() == (numbers + 1).tolist()
        assert found.seen.tolist() == (numbers + 2).tolist()
    one = Fragments(base, base + 0.5, base + 0.5, np.broadcast_to(np.int64(7), 6))
    for which in (np.array([4, 1]), slice(1, 5, 3)):
        assert one.take(which).primitive.tolist() == [7, 7] and one.take(which).of_one


def test_lanes_without_places_are_taken_with_their_samples() -> None:
    lanes = expand_pixels(spans(*RUNS), STRIDE)
    lanes.samples = np.arange(lanes.count, dtype=np.uint16) + 1
    lanes.seen = lanes.samples + 1
    for which in (np.arange(3, 6), slice(3, 6)):
        found = lanes.take(which)
        assert found.samples is not None and found.seen is not None
        assert found.samples.tolist() == [4, 5, 6] and found.seen.tolist() == [5, 6, 7]


WIDE = 16384
FAR: list[Run] = [
    (0, 0, 0, 3), (0, 1, WIDE - 2, 2), (1, WIDE - 1, 0, 2), (3, WIDE - 1, WIDE - 1, 1),
    (3, 12345, 6789, 4),
]  # fmt: skip


@pytest.mark.parametrize("stride", [WIDE, WIDE - 1, 11111, 3])
def test_places_are_worked_out_late(stride: int) -> None:
    """Whether all lanes of the runs are there then, or some of them."""
    runs = [(p, y, min(x, stride - n), n) for p, y, x, n in FAR if n <= stride]
    wanted = np.array(pixels(runs))
    which = np.array([1, 2, 5, len(wanted) - 1, 0])
    ways: list[tuple[Any, Any]] = [
        (lambda lanes: lanes, slice(None)),
        (lambda lanes: lanes.take(which), which),
        (lambda lanes: lanes.take(which).take(np.array([3, 1])), which[[3, 1]]),
        (lambda lanes: lanes.take(slice(1, 6)), slice(1, 6)),
        (lambda lanes: lanes.take(slice(1, 6)).take(slice(2, 4)), slice(3, 5)),
        (lambda lanes: lanes.keep(np.isin(np.arange(lanes.count), which)), np.sort(which)),
    ]
    for way, rows in ways:
        for early in (False, True):
            lanes = expand_pixels(spans(*runs), stride)
            if early:
                assert lanes.y.dtype == np.float64
            found = way(lanes)
            placed = list(zip(found.primitive, found.x, found.y, strict=True))
            assert placed == [tuple(row) for row in wanted[rows].tolist()]
            assert (found.y * stride + found.x).tolist() == found.pixel.tolist()
            moved = way(expand_pixels(spans(*runs), stride))
            moved.renumber(moved.pixel - 77)
            assert moved.x.tolist() == found.x.tolist() and moved.y.tolist() == found.y.tolist()
            assert moved.pixel.tolist() == (found.pixel - 77).tolist()


# -- pieces ----------------------------------------------------------------------------------------


def cut(limit: int, *lengths: int, primitives: Any = None) -> list[list[int]]:
    owners = range(len(lengths)) if primitives is None else primitives
    given = spans(*[(p, 0, 0, length) for p, length in zip(owners, lengths, strict=True)])
    return [piece.length.tolist() for piece in pieces(given, limit)]


def test_pieces_have_about_so_many_fragments() -> None:
    assert cut(10) == []
    assert cut(10, 5, 5, 5) == [[5, 5, 5]]  # half more than that
    assert cut(10, 5, 5, 6) == [[5, 5], [6]]
    assert cut(10, 5, 6, 5) == [[5, 6], [5]]
    assert cut(10, 40, 1) == [[40], [1]]
    assert cut(10, 4, 4, 4, 4, 4, 4, 4, 4) == [[4] * 3, [4] * 2, [4] * 3]


# -- owners ----------------------------------------------------------------------------------------

OWNERS = np.array([[0, 1, 2, 2], [1, 1, 2, 3], [0, 0, 0, 0], [0, 0, 0, 4]], np.int32)


def test_owned_pixels() -> None:
    lanes = owned_pixels(OWNERS, 10, 6, STRIDE)
    assert lanes.primitive.tolist() == [0, 1, 1, 0, 0, 1, 2, 3]
    assert lanes.x.tolist() == [11, 12, 13, 10, 11, 12, 13, 13]
    assert lanes.y.tolist() == [6, 6, 6, 7, 7, 7, 7, 9]
    assert lanes.pixel.tolist() == (lanes.y * STRIDE + lanes.x).tolist()


def test_owned_quads() -> None:
    lanes = owned_quads(OWNERS, 10, 6, STRIDE)
    assert lanes.covered is not None
    assert lanes.pixel.tolist() == (lanes.y * STRIDE + lanes.x).tolist()
    quads = {}
    for first in range(0, lanes.count, 4):
        x, y = lanes.x[first], lanes.y[first]
        assert lanes.x[first : first + 4].tolist() == [x, x + 1, x, x + 1]
        assert lanes.y[first : first + 4].tolist() == [y, y, y + 1, y + 1]
        covered = lanes.covered[first : first + 4].tolist()
        quads[lanes.primitive[first], x, y] = [int(each) for each in covered]
        assert lanes.primitive[first : first + 4].tolist() == [lanes.primitive[first]] * 4
    assert quads == {
        (0, 10, 6): [0, 1, 1, 1],
        (1, 12, 6): [1, 1, 1, 0],
        (2, 12, 6): [0, 0, 0, 1],
        (3, 12, 8): [0, 0, 0, 1],
    }
    assert lanes.count == 16


# -- scissors and viewports ------------------------------------------------------------------------


class Sink(FragmentSink):
    """What comes through."""

    def __init__(self) -> None:
        self.found: list[Spans] = []

    def draw(self, found: Spans, source: Any, info: Any) -> None:
        self.found.append(found)


CUT_RUNS: list[Run] = [(0, 1, 0, 9), (0, 2, 0, 9), (1, 4, 3, 2), (1, 5, 3, 2), (0, 3, 6, 3)]
LEFT: list[Run] = [(0, 2, 2, 4), (1, 4, 4, 1)]
RECTANGLES = [[4, 4, 9, 5], [2, 2, 6, 4]]  # of primitives 1 and 0; the last exclusive
EDGES = np.array([[[0, 3, 3, 3, 6]], [[9, 5, 5, 5, 9]]], np.int64)


@pytest.mark.parametrize("bounds", [None, EDGES])
def test_spans_are_cut_by_the_rectangles_of_primitives(bounds: Any) -> None:
    sink = Sink()
    cutting = ScissorSink(sink, lambda source, info: np.array(RECTANGLES[::-1], np.int64).T)
    source: Any = None
    info: Any = None
    cutting.draw(spans(*CUT_RUNS, bounds=bounds), source, info)
    (found,) = sink.found
    assert runs_of(found) == LEFT
    if bounds is None:
        assert found.bounds is None
    else:
        assert found.bounds is not None and found.bounds.tolist() == [[[3, 4]], [[5, 5]]]
    cutting.draw(spans((0, 4, 2, 4), (0, 1, 2, 4), (0, 2, 6, 1), (0, 2, 0, 2)), source, info)
    assert len(sink.found) == 1  # nothing is left


@pytest.mark.parametrize("clamps", [False, True])
def test_spans_are_cut_by_the_scissors_of_viewports(clamps: bool) -> None:
    states = [ViewportState((1, 1, 0.25), (0, 0, 0.5)), ViewportState((1, 1, -0.5), (0, 0, 0.5))]
    scissors = [ScissorState(*each) for each in RECTANGLES]
    viewports = Viewports.of(states, scissors, FramebufferState(8, 32), clamps, False)
    assert viewports.rects == (Rect(4, 4, 8, 5), Rect(2, 2, 6, 4))
    value = np.array([1, 0, 2, -1], np.int32)
    vertices: Any = SimpleNamespace(component=lambda slot, component: value)
    provoking = np.array([0, 3], np.int64)
    assert viewports.indices(vertices, np.arange(4)).tolist() == [1, 0, 0, 0]
    source: Any = SimpleNamespace(vertices=vertices, provoking=provoking, depth_range=None)
    sink = Sink()
    cutting = ScissorSink(sink, viewports.rectangles)
    info: Any = None
    cutting.draw(spans(*CUT_RUNS), source, info)
    assert runs_of(sink.found[0]) == LEFT and sink.found[0].bounds is None
    cutting.draw(spans(*CUT_RUNS, bounds=EDGES), source, info)
    found = sink.found[1].bounds
    assert found is not None and found.tolist() == [[[3, 4]], [[5, 5]]]
    cutting.draw(spans((0, 4, 2, 4), (0, 1, 2, 4), (0, 2, 6, 1), (0, 2, 0, 2)), source, info)
    assert len(sink.found) == 2
    if clamps:
        assert [each.tolist() for each in source.depth_range] == [[0, 0.25], [1, 0.75]]
    else:
        assert source.depth_range is None
    scalar: Any = SimpleNamespace(component=lambda slot, component: np.int32(1))
    assert viewports.indices(scalar, provoking).tolist() == [1, 1]


def test_viewports_without_scissors_reach_everywhere() -> None:
    states = [ViewportState((1, 1, 1), (0, 0, 0))] * 3
    whole = Rect(0, 0, 8, 32)
    framebuffer = FramebufferState(8, 32)
    assert Viewports.of(states, None, framebuffer, False, False).rects == (whole,) * 3
    some = Viewports.of(
        states, [ScissorState(3, 3, 3, 9), ScissorState(1, 2, 4, 5)], framebuffer, False, False
    )
    assert some.rects == (Rect(3, 3, 3, 9), Rect(1, 2, 4, 5), whole)
    assert some.around(np.array([1, 1])) == Rect(1, 2, 4, 5)
    assert some.around(np.array([1, 0])) == Rect(1, 2, 4, 5)  # the other one is empty
    assert some.around(np.array([0])) == Rect(3, 3, 3, 9)
    assert some.around(np.array([2, 1])) == whole
    assert some.ranges is None


def test_primitives_get_vertices_of_their_own_in_their_viewports() -> None:
    """The corners of each, then the provoking vertex of each."""
    states = [ViewportState((1, 2, 3), (0, 0, 0)), ViewportState((10, 20, 30), (1, 1, 1))]
    viewports = Viewports.of(states, None, FramebufferState(8, 32), False, False)
    clip = np.arange(4, dtype=np.float32)[None] + np.array([[0], [4], [8], [0]], np.float32)
    clip[3] = 1
    varyings: Any = {40: [np.arange(4) * 10, None, np.array(7), None]}
    shared = VertexSet(4, clip, varyings, states[0])
    corners, provoking = np.array([[0, 1, 2], [1, 2, 3]]), np.array([3, 1])
    made, numbers, first = own_vertices(shared, corners, provoking, np.array([1, 0]), viewports)
    old = [0, 1, 2, 1, 2, 3, 3, 1]
    scales = [10, 10, 10, 1, 1, 1, 10, 1]
    assert numbers.tolist() == [[0, 1, 2], [3, 4, 5]] and first.tolist() == [6, 7]
    assert made.count == 8 and made.clip[1].tolist() == [4 + k for k in old]
    shifts = [1 if scale == 10 else 0 for scale in scales]
    for axis, per in enumerate((1, 2, 3)):
        wanted = [
            (4 * axis + k) * per * scale + shift
            for k, scale, shift in zip(old, scales, shifts, strict=True)
        ]
        assert made.window[axis].tolist() == wanted
    assert made.component(40, 0).tolist() == [10 * k for k in old]
    assert made.component(40, 2) == 7 and made.component(40, 1) == 0
    assert made.component(VaryingSlot.VIEWPORT, 0).tolist() == [1, 1, 1, 0, 0, 0, 1, 0]
    again = reprojected(shared, states[1])
    assert again.window[0].tolist() == [10 * k + 1 for k in range(4)]
    assert again.clip is shared.clip and again.varyings[40] is not shared.varyings[40]
    assert again.component(40, 0).tolist() == [0, 10, 20, 30]


def test_depth_ranges() -> None:
    state = ViewportState((1, 1, 0.25), (0, 0, 0.5))
    assert depth_range(state, False) == (0.25, 0.75)
    assert depth_range(state, True) == (0.5, 0.75)
    turned = ViewportState((1, 1, -0.25), (0, 0, 0.5))
    assert depth_range(turned, False) == (0.25, 0.75)
    assert depth_range(turned, True) == (0.25, 0.5)


# -- sample patterns -------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_the_centroid_is_the_first_covered_sample_unless_all_or_none_are(count: int) -> None:
    pattern = sample_pattern(count)
    assert pattern.every == (1 << count) - 1 and pattern.count == count
    for mask in range(1 << count):
        wanted = np.zeros(2)
        if 0 < mask < pattern.every:
            first = next(k for k in range(count) if mask >> k & 1)
            wanted = pattern.positions[first] - 0.5
        assert pattern.centroids[:, mask].tolist() == wanted.tolist()


def test_patterns_of_other_counts_and_of_given_places() -> None:
    assert sample_pattern(3).positions.tolist() == [[0.5, 0.5]] * 3
    assert sample_pattern(2, ((0.25, 0.5), (1.0, 0.0))).positions.tolist() == [[0.25, 0.5], [1, 0]]
    assert sample_pattern(16).count == 16
