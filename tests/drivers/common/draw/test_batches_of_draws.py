"""Which draws are executed together: rectangles, the order of batches, what is kept meanwhile."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.draw import grouping
from gallette.drivers.common.draw.grouping import Group, batches, rectangles, rows_covered
from gallette.drivers.common.draw.parts import Primitives
from gallette.pipe.enums import PolygonMode, Primitive

FILL = PolygonMode.FILL


def context(width: int = 64, height: int = 48, **state: Any) -> Any:
    modes = {"fill_front": FILL, "fill_back": FILL} | state
    target = SimpleNamespace(x0=0, y0=0, x1=width, y1=height)
    raster = SimpleNamespace(target=target, state=SimpleNamespace(**modes))
    engine = SimpleNamespace(finished=0)

    def finish() -> None:
        engine.finished += 1

    engine.finish = finish
    return SimpleNamespace(
        fixed=SimpleNamespace(raster=raster, engine=engine),
        fragment=SimpleNamespace(program=object()),
        witness=None,
    )


def primitives(x: Any, y: Any, corners: Any, identity: Any, w: Any = 1.0, **more: Any) -> Any:
    """Triangles of vertices that are there in the window."""
    count = len(x)
    window = np.array([x, y, [0.5] * count, [1.0] * count], np.float64)
    clip = np.ones((4, count), np.float64)
    clip[3] = w
    vertices: Any = SimpleNamespace(
        count=count, window=window, clip=clip, varyings=more.pop("varyings", {})
    )
    return Primitives(
        vertices,
        np.array(corners, np.int64),
        np.array(corners, np.int64)[:, 0],
        np.array(identity, np.int32),
        **more,
    )


def group(draws: int, found: Any, mode: Primitive = Primitive.TRIANGLES, **more: Any) -> Any:
    return Group(more.pop("draw", context()), mode, list(range(draws)), found, **more)


X = [10.5, 20.25, 12.0, -5.0, 100.0, 3.0]
Y = [5.0, 7.0, 6.5, 40.0, 47.999, 60.0]
CORNERS = [[0, 1, 2], [3, 4, 5]]
WHOLE = [0, 0, 63, 47]
RECTANGLES = [[10, 4, 20, 7], [0, 39, 63, 47]]


@pytest.mark.parametrize("starts", [None, np.array([0, 3], np.int64)])
def test_rectangles_hold_what_draws_may_touch(starts: Any) -> None:
    """A little more than their vertices: positions are snapped; never beyond the target."""
    shape = primitives(X, Y, CORNERS, [0, 1])
    assert rectangles(group(2, shape, starts=starts)).tolist() == RECTANGLES


@pytest.mark.parametrize("starts", [None, np.array([0, 3], np.int64)])
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("w", "x", "y", "known"),
    [
        (1e-6, 1.0, 1.0, False),
        (1.1e-6, 1.0, 1.0, True),
        (-1.0, 1.0, 1.0, False),
        (1.0, 1e6, 1.0, False),
        (1.0, -1e6, 1.0, False),
        (1.0, 9.9e5, 1.0, True),
        (1.0, 1.0, 1e6, False),
        (1.0, 1.0, np.nan, False),
    ],
)
def test_draws_with_a_vertex_that_is_nowhere_may_touch_everything(
    w: float, x: float, y: float, known: bool, place: int, starts: Any
) -> None:
    ws, xs, ys = [1.0] * 6, [*X], [*Y]
    ws[place], xs[place], ys[place] = w, x, y
    found = rectangles(group(2, primitives(xs, ys, CORNERS, [0, 1], ws), starts=starts)).tolist()
    assert found[1] == RECTANGLES[1]
    if known:
        low = [max(0, int(np.floor(min(v[:3]) - 1 / 128))) for v in (xs, ys)]
        high = [int(np.floor(max(v[:3]) + 1 / 128)) for v in (xs, ys)]
        assert found[0] == [*low, min(high[0], 63), min(high[1], 47)]
    else:
        assert found[0] == WHOLE


@pytest.mark.parametrize(
    ("mode", "state", "varyings", "inside"),
    [
        (Primitive.TRIANGLES, {}, (), True),
        (Primitive.TRIANGLE_STRIP, {}, (), True),
        (Primitive.TRIANGLE_FAN, {}, (), True),
        (Primitive.QUADS, {}, (), True),
        (Primitive.LINES, {}, (), False),
        (Primitive.POINTS, {}, (), False),
        (Primitive.TRIANGLES, {"fill_front": PolygonMode.LINE}, (), False),
        (Primitive.TRIANGLES, {"fill_back": PolygonMode.POINT}, (), False),
        (Primitive.TRIANGLES, {}, (VaryingSlot.VIEWPORT,), False),
    ],
)
def test_what_is_wider_than_its_vertices_may_touch_everything(
    mode: Primitive, state: Any, varyings: Any, inside: bool
) -> None:
    shape = primitives(X, Y, CORNERS, [0, 1], varyings=dict.fromkeys(varyings))
    found = rectangles(group(2, shape, mode, draw=context(**state))).tolist()
    assert found == (RECTANGLES if inside else [WHOLE] * 2)


@pytest.mark.parametrize("starts", [None, np.array([0, 3], np.int64)])
def test_depths_are_no_places(starts: Any) -> None:
    shape = primitives(X, Y, CORNERS, [0, 1])
    shape.vertices.window[2] = 1e7
    assert rectangles(group(2, shape, starts=starts)).tolist() == RECTANGLES


def test_nothing_may_touch_everything_of_a_target_without_pixels() -> None:
    assert rectangles(group(2, None)).tolist() == [WHOLE] * 2
    assert rectangles(group(1, None, draw=context(0, 0))).tolist() == [[0] * 4]
    shape = primitives(X, Y, CORNERS, [0, 1])
    assert rectangles(group(2, shape, draw=context(0, 0))).tolist() == [[0] * 4] * 2


def test_rows_are_counted_as_if_each_vertex_had_a_primitive() -> None:
    """Or primitive by primitive, where draws have not as many; never more than the target has."""
    assert rows_covered(group(2, None)) == 0
    shape = primitives(X, [5, 7, 6.5, 0, 60, 3], CORNERS, [0, 1])
    assert rows_covered(group(2, shape)) == 3 * (2 + 2) + 3 * 48
    assert rows_covered(group(2, shape, starts=np.array([0, 3]))) == (2 + 2) + 48


# -- in which order --------------------------------------------------------------------------------

A, B, C = (0, 0, 7, 7), (32, 32, 39, 39), (0, 32, 7, 39)
EVERYTHING = (0, 0, 63, 63)


def ordered(
    monkeypatch: pytest.MonkeyPatch, *draws: tuple[int, Any]
) -> list[tuple[int, list[int]]]:
    """The batches of draws of these groups in these rectangles: group and numbers of draws."""
    groups: list[Any] = []
    for number in range(max(number for number, _ in draws) + 1):
        mine = [k for k, (whose, _) in enumerate(draws) if whose == number]
        groups.append(Group(SimpleNamespace(number=number), Primitive.TRIANGLES, mine, None))  # type: ignore[arg-type]
    monkeypatch.setattr(
        grouping, "rectangles", lambda each: np.array([draws[k][1] for k in each.entries], np.int64)
    )
    return [
        (found.draw.number, [found.entries[row] for row in rows])  # type: ignore[attr-defined]
        for found, rows in batches(groups)
    ]


def test_draws_that_meet_nobody_are_one_batch_of_each_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert ordered(monkeypatch, (0, A), (1, B), (0, B), (1, A)) == [
        (0, [0]),
        (1, [1, 3]),
        (0, [2]),
    ]
    assert ordered(monkeypatch, (0, A), (1, B), (0, A), (1, B)) == [(0, [0, 2]), (1, [1, 3])]
    assert ordered(monkeypatch, (0, A), (1, B), (1, C)) == [(1, [1, 2]), (0, [0])]


def test_draws_over_one_another_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = [(k % 2, EVERYTHING) for k in range(6)]
    assert ordered(monkeypatch, *turns) == [(k % 2, [k]) for k in range(6)]
    runs = [(0, A), (0, A), (1, A), (1, A)]
    assert ordered(monkeypatch, *runs) == [(0, [0, 1]), (1, [2, 3])]
    both = [(0, A), (1, B), (0, EVERYTHING), (1, A), (0, C)]
    assert ordered(monkeypatch, *both) == [(0, [0]), (1, [1]), (0, [2, 4]), (1, [3])]


def test_draws_side_by_side_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares of an eighth of most draws tell: those of 16 pixels by 2, and of 8 by 1."""
    for size, gap in ((8, 0), (16, 0), (17, 1), (1, 0), (7, 0)):
        left, right = (0, 0, size - 1, 0), (size + gap, 0, 2 * size - 1 + gap, 0)
        found = ordered(monkeypatch, (0, left), (1, right), (0, right), (1, left))
        assert len(found) == 3
        apart = ordered(monkeypatch, (0, left), (1, right), (0, left), (1, right))
        assert apart == [(0, [0, 2]), (1, [1, 3])]


@pytest.mark.parametrize("seed", range(6))
def test_any_draws_that_meet_keep_their_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    draws = []
    for _ in range(40):
        x, y = rng.integers(0, 56, 2).tolist()
        width, height = rng.integers(0, 9, 2).tolist()
        draws.append((int(rng.integers(3)), (x, y, x + width, y + height)))
    found = ordered(monkeypatch, *draws)
    when = {draw: (turn, draw) for turn, (_, rows) in enumerate(found) for draw in rows}
    assert sorted(when) == list(range(40))
    assert all(rows == sorted(rows) for _, rows in found)
    assert all(draws[draw][0] == number for number, rows in found for draw in rows)
    assert len(found) < 40
    for one, other in itertools.combinations(range(40), 2):
        a, b = draws[one][1], draws[other][1]
        if a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]:
            assert when[one] < when[other]


def test_tiles_are_wider_where_there_would_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw of 16 by 16 pixels has 9 by 9 squares of two, with those at its edges."""
    boxes = np.array([[16, 0, 31, 15]], np.int64)
    monkeypatch.setattr(grouping, "rectangles", lambda group: boxes)
    one: Any = SimpleNamespace(entries=[0])
    monkeypatch.setattr(grouping, "_MANY_TILES", 81)
    assert grouping._tiles([one]) == [[[8, 0, 15, 7]]]
    monkeypatch.setattr(grouping, "_MANY_TILES", 80)
    assert grouping._tiles([one]) == [[[1, 0, 1, 0]]]


# -- parts of groups -------------------------------------------------------------------------------


def three() -> Any:
    """Two triangles, one and one of three draws."""
    corners = [[0, 1, 2], [1, 2, 3], [4, 5, 6], [7, 8, 9]]
    edges = np.array([1, 2, 4, 7], np.uint8)
    return primitives(range(10), range(10), corners, [0, 0, 1, 2], edges=edges)


def test_a_part_has_the_primitives_of_its_draws() -> None:
    whole = three()
    mine = group(3, whole)
    assert mine.part([0, 1, 2]) is whole
    assert group(3, None).part([1]) is None
    part = mine.part([0, 2])
    assert part.corners.tolist() == [[0, 1, 2], [1, 2, 3], [7, 8, 9]]
    assert part.provoking.tolist() == [0, 1, 7]
    assert part.identity.tolist() == [0, 0, 2]
    assert part.edges.tolist() == [1, 2, 7]
    assert part.vertices is whole.vertices
    whole.edges = None
    assert mine.part([1]).edges is None
    assert mine.part([1]).identity.tolist() == [1]


class _Calls:
    """What was asked of the rasterizer and of the engine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rasterized = 0
        self.run: list[Any] = []
        self.drawn: list[list[int]] = []
        monkeypatch.setattr(grouping, "rasterize_part", self._rasterize)
        monkeypatch.setattr(grouping, "run_part", lambda *args: self.run.append(args))
        monkeypatch.setattr(grouping, "FragmentRun", lambda engine, shader: self)

    def _rasterize(self, draw: Any, mode: Any, found: Any, kept: Any) -> None:
        self.rasterized += 1
        spans = SimpleNamespace(primitive=np.array([0, 1, 2, 2, 3], np.int64))
        spans.take = lambda chosen: chosen.tolist()
        kept.draw(spans, "source", SimpleNamespace(identity=found.identity))

    def draw(self, spans: Any, source: Any, info: Any) -> None:
        assert source == "source"
        self.drawn.append(spans)


def test_what_draws_cover_is_found_once_for_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, mine = _Calls(monkeypatch), group(3, three())
    mine.starts = np.array([0, 4, 7])
    mine.execute([0])
    mine.execute([1, 2])
    assert calls.rasterized == 1 and calls.run == []
    assert calls.drawn == [[0, 1], [2, 3, 4]]
    assert mine.draw.fixed.engine.finished == 2
    group(3, None).execute([0])
    assert calls.rasterized == 1 and calls.run == []


def test_a_batch_of_all_is_rasterized_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, mine = _Calls(monkeypatch), group(3, three())
    mine.execute([0, 1, 2])
    assert calls.rasterized == 0
    assert calls.run == [(mine.draw, Primitive.TRIANGLES, mine.primitives)]
    assert mine.keeping is False and mine.covered is None


@pytest.mark.parametrize("why", ["too many rows", "code of its own", "a witness"])
def test_what_is_not_kept_is_rasterized_batch_by_batch(
    why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, mine = _Calls(monkeypatch), group(3, three())
    mine.starts = np.array([0, 4, 7])
    rows = rows_covered(mine)
    assert rows == 4 * 4
    monkeypatch.setattr(grouping, "_MOST_ROWS", rows - (why == "too many rows"))
    if why == "code of its own":
        mine.draw.fragment.program = SimpleNamespace(fill=None)
    elif why == "a witness":
        mine.draw.witness = object()
    mine.execute([0])
    mine.execute([1, 2])
    assert calls.rasterized == 0
    assert [args[2].identity.tolist() for args in calls.run] == [[0, 0], [1, 2]]


def test_exactly_so_many_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, mine = _Calls(monkeypatch), group(3, three())
    mine.starts = np.array([0, 4, 7])
    monkeypatch.setattr(grouping, "_MOST_ROWS", 16)
    mine.execute([0])
    assert calls.rasterized == 1


def test_engines_are_those_of_portions_if_there_are_any() -> None:
    mine = group(3, three())
    assert mine.engines == [mine.draw.fixed.engine]
    engines: list[Any] = [object(), object()]
    mine.portions = [grouping.Portion(engine, None) for engine in engines]  # type: ignore[arg-type]
    assert mine.engines == engines
