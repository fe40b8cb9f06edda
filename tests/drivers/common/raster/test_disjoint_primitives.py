"""Primitives by levels: those of one share no pixel, and those that meet keep their order."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import moderngl
import numpy as np
import pytest

import gallette
from gallette.drivers.common.output import engine
from gallette.drivers.common.raster import disjoint_primitives
from gallette.drivers.common.raster.fragments import expand_pixels
from gallette.drivers.common.raster.spans import Spans

WIDTH, HEIGHT = 64, 48
Shape = Callable[[random.Random], list[tuple[int, int, int]]]


def box(chance: random.Random) -> list[tuple[int, int, int]]:
    x, y = chance.randrange(WIDTH - 9), chance.randrange(HEIGHT - 9)
    wide, high = chance.randint(1, 9), chance.randint(1, 9)
    return [(row, x, wide) for row in range(y, y + high)]


def sliver(chance: random.Random) -> list[tuple[int, int, int]]:
    """With rows that have no pixels between others."""
    rows = [(y, x + y % 3, n) for y, x, n in box(chance)]
    return [row for k, row in enumerate(rows) if not k or chance.random() < 0.7]


def halves(chance: random.Random) -> list[list[tuple[int, int, int]]]:
    """A rectangle cut along its diagonal; sometimes the halves share a pixel."""
    rows = box(chance)
    first, second = [], []
    for k, (y, x, wide) in enumerate(rows):
        cut = min(wide, k * wide // len(rows) + 1)
        more = chance.random() < 0.05
        if cut + more:
            first.append((y, x, min(wide, cut + more)))
        if wide - cut:
            second.append((y, x + cut, wide - cut))
    return [part for part in (first, second) if part]


def random_spans(chance: random.Random, count: int) -> Spans:
    shapes: list[list[tuple[int, int, int]]] = []
    while len(shapes) < count:
        kind = chance.random()
        if kind < 0.5:
            shapes += halves(chance)
        else:
            shapes.append(box(chance) if kind < 0.8 else sliver(chance))
    rows = [(number, *row) for number, shape in enumerate(shapes) for row in shape]
    primitive, y, x, length = np.array(rows, np.int64).T.copy()
    return Spans(primitive * 3 + 5, y, x, length)


@pytest.mark.parametrize("seed", range(40))
def test_levels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disjoint_primitives, "_MANY_ENOUGH", 0)
    chance = random.Random(seed)
    spans = random_spans(chance, chance.choice((2, 5, 30, 200)))
    levels = disjoint_primitives.disjoint_levels(spans)
    assert levels is not None
    drawn: dict[int, list[int]] = {}
    for level in levels:
        lanes = expand_pixels(level, WIDTH)
        assert len(np.unique(lanes.pixel)) == lanes.count
        for pixel, primitive in zip(lanes.pixel.tolist(), lanes.primitive.tolist(), strict=True):
            drawn.setdefault(pixel, []).append(primitive)
    assert all(each == sorted(each) for each in drawn.values())
    every = expand_pixels(spans, WIDTH)
    assert sum(map(len, drawn.values())) == every.count
    deepest = max(map(len, drawn.values()))
    assert deepest <= len(levels) <= 4 * deepest + 8


def levels_of(*shapes: list[tuple[int, int, int]]) -> list[list[int]] | None:
    """Which of these shapes, of rows (y, x, length), are in each level."""
    rows = np.array([(n, *row) for n, shape in enumerate(shapes) for row in shape], np.int64)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(disjoint_primitives, "_MANY_ENOUGH", 0)
        found = disjoint_primitives.disjoint_levels(Spans(*rows.T.copy()))
    return found and [sorted(set(level.primitive.tolist())) for level in found]


def diagonal(x: int, y: int, size: int = 4) -> list[list[tuple[int, int, int]]]:
    """The two halves of a square."""
    upper = [(y + k, x, k + 1) for k in range(size)]
    return [upper, [(y + k, x + k + 1, size - k - 1) for k in range(size - 1)]]


def test_halves_of_rectangles_are_one() -> None:
    """So that rectangles that are apart take a single level."""
    squares = [half for x in (0, 10, 4) for half in diagonal(x, 3)]
    assert levels_of(*squares) == [[0, 1, 2, 3, 4, 5]]
    upper, lower = diagonal(0, 0)
    for other in (upper, lower):  # halves share no pixel with each other, others with both
        assert levels_of(upper, lower, other) == [[0, 1], [2]]
        assert levels_of(other, upper, lower) in ([[0, 1], [2]], [[0], [1, 2]])
    longer = [(y, x - 1, n + 1) for y, x, n in lower]
    assert levels_of(upper, longer) == [[0], [1]]
    broken = [row for row in upper if row[0] != 1]  # whose rows are not known by their number
    assert levels_of(broken, lower) == [[0], [1]] == levels_of(upper, lower[:1] + lower[2:])
    assert levels_of(upper, lower, lower, upper) == [[0, 1], [2, 3]]


@pytest.mark.parametrize("at", [9, 32765, 65533])
def test_boxes_that_touch_do_not_overlap(at: int) -> None:
    """Wherever that is: limits can be set to more than drivers have by themselves."""

    def square(x: int, y: int) -> list[tuple[int, int, int]]:
        return [(y + k, x, 5) for k in range(5)]

    for x, y in ((5, 0), (-5, 0), (0, 5), (0, -5), (5, 5)):
        assert levels_of(square(at, at), square(at + x, at + y)) == [[0, 1]]
    for x, y in ((4, 0), (-4, 0), (0, 4), (0, -4), (4, 4), (0, 0)):
        assert levels_of(square(at, at), square(at + x, at + y)) == [[0], [1]]
    stairs = [square(3 * k, 3 * k) for k in range(6)]
    assert levels_of(*stairs) == [[k] for k in range(6)]
    assert levels_of(*stairs[::2], *stairs[1::2]) == [[0, 1, 2], [3, 4, 5]]


def test_levels_that_do_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = random_spans(random.Random(1), 30)
    assert disjoint_primitives.disjoint_levels(spans) is None
    only = spans.take(spans.primitive == 5)
    assert disjoint_primitives.disjoint_levels(only) is None and not disjoint_primitives.are_large(
        only
    )
    assert not disjoint_primitives.are_large(spans)
    spans.length = spans.length * 50
    large = Spans(spans.primitive, spans.y, spans.x, spans.length)
    assert disjoint_primitives.are_large(large)
    high = Spans(spans.primitive, spans.y, spans.x, np.full(spans.count, 7))
    monkeypatch.setattr(disjoint_primitives, "_LARGE_ENOUGH", 1)
    assert not disjoint_primitives.are_large(high) and not disjoint_primitives.are_large(
        spans.take(slice(0, 0))
    )
    high.length += 1
    assert disjoint_primitives.are_large(Spans(high.primitive, high.y, high.x, high.length))


@pytest.mark.parametrize("limit", [1, 100, 10**6])
@pytest.mark.parametrize("most", [1, 7, 512])
def test_windows(most: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disjoint_primitives, "MOST", most)
    spans = random_spans(random.Random(2), 60)
    found = list(disjoint_primitives.windows(spans, limit))
    for name in ("primitive", "y", "x", "length"):
        joined = np.concatenate([getattr(window, name) for window in found])
        assert joined.tolist() == getattr(spans, name).tolist()
    for window, following in itertools.pairwise(found):
        assert window.primitive[-1] != following.primitive[0]
        sizes = np.bincount(window.primitive, window.length)
        assert np.count_nonzero(sizes) <= most
        assert window.fragments - sizes[window.primitive[-1]] <= limit


VERTEX = """
#version 330
in vec3 position; in vec4 paint; out vec4 c; out vec2 at;
void main() { gl_Position = vec4(position, 1.0); c = paint; at = position.xy; }
"""
FRAGMENT = """
#version 330
in vec4 c; in vec2 at; out vec4 color;
void main() {
    if (c.b > 0.8 && fract(at.x * 20.0) > 0.7) discard;
    color = vec4(c.rg, c.b * abs(dFdx(at.x)) * 90.0, c.a);
}
"""


def picture(kind: str, seed: int) -> tuple[bytes, bytes]:
    """Random triangles and rectangles, blended, some through a depth or stencil test."""
    random_ = np.random.default_rng(seed)
    corners = []
    for _ in range(150):
        x, y, z = random_.uniform(-1, 1, 3)
        if random_.random() < 0.5:
            w, h = random_.uniform(0.05, 0.6, 2)
            four = np.array([[x, y], [x + w, y], [x, y + h], [x + w, y + h]])
            shape = four[[0, 1, 2, 2, 1, 3]]
        else:
            shape = random_.uniform(-0.4, 0.4, (3, 2)) + np.array([x, y])
        paint = random_.uniform(0, 1, 4)
        corners += [[*corner, z, *paint] for corner in shape]
    window = gallette.moderngl_context("numpipe")
    with moderngl.create_context(standalone=True, context=window) as gl:
        color = gl.texture((150, 130), 4)
        depth = gl.depth_texture((150, 130))
        gl.framebuffer([color], depth).use()
        gl.clear(0.2, 0.3, 0.4, 0.5)
        program = gl.program(VERTEX, FRAGMENT)
        data = gl.buffer(np.array(corners, np.float32).tobytes())
        array = gl.vertex_array(program, [(data, "3f 4f", "position", "paint")])
        gl.enable(gl.BLEND)
        if kind == "depth":
            gl.enable(gl.DEPTH_TEST)
        array.render()
        return color.read(), depth.read()


@pytest.mark.parametrize("kind", ["blended", "depth"])
@pytest.mark.parametrize("seed", range(4))
def test_the_result_is_independent_of_levels(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    levels = disjoint_primitives.disjoint_levels

    def counted(spans: Spans) -> list[Spans] | None:
        found = levels(spans)
        taken.append(len(found or ()))
        return found

    monkeypatch.setattr(engine, "are_large", lambda spans: True)
    monkeypatch.setattr(engine, "disjoint_levels", counted)
    monkeypatch.setattr(engine, "_COMPARED", 10_000)
    monkeypatch.setattr(disjoint_primitives, "_MANY_ENOUGH", 50)
    found = picture(kind, seed)
    assert taken and max(taken) > 2
    monkeypatch.setattr(engine, "are_large", lambda spans: False)
    assert picture(kind, seed) == found
