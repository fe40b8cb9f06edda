"""Whole pictures on jit and on numpipe: the same bits, whatever is bound."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

from gallette.drivers.jit import draw_plan, rasterization
from tests.jit.whole_pictures import (
    FRAGMENT,
    SIZE,
    VERTEX,
    picture,
    same,
    target,
    triangles,
)

W_OF_CORNERS = {
    # lower left, lower right, upper left of a triangle whose legs lie along the axes
    "everywhere the same": (2.0, 2.0, 2.0),
    "and nothing special": (1.0, 1.0, 1.0),
    "other along x": (1.0, 4.0, 1.0),
    "other along y": (1.0, 1.0, 4.0),
    "other along both": (1.0, 3.0, 4.0),
    "smaller along x": (4.0, 0.5, 4.0),
    "smaller along y": (4.0, 4.0, 0.5),
}


@pytest.mark.parametrize("corners", W_OF_CORNERS)
def test_perspective_along_either_axis(corners: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever divides once for a triangle whose w is the same everywhere must know that it is."""
    w = np.array(W_OF_CORNERS[corners])[:, None]
    place = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.5], [-1.0, 1.0, 0.25]])
    value = np.array([[0.0, 0.1, 0.2], [0.9, 0.3, 0.8], [0.4, 1.0, 0.6]])
    data = np.concatenate((place * w, w, value), axis=1).astype("f4").tobytes()
    wanted = []

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        vertices = [(context.buffer(data), "4f 3f", "position", "value")]
        context.vertex_array(program, vertices).render()
        wanted.append(bytes(frame.read(components=4)))
        return wanted[-1]

    same(draw, monkeypatch)
    found = np.frombuffer(wanted[0], np.uint8).reshape(SIZE[1], SIZE[0], 4)
    x, y = (np.array([20, 40, 9]) + 0.5) / SIZE[0], (np.array([9, 30, 50]) + 0.5) / SIZE[1]
    weights = np.stack((1 - x - y, x, y)) / w
    smooth = (value[:, :2].T @ weights) / weights.sum(axis=0) * 0.8 + 0.1
    smooth[0] = 1 - smooth[0]
    seen = found[[9, 30, 50], [20, 40, 9], :2].T / 255
    assert np.abs(seen - smooth).max() < 0.01


@pytest.mark.parametrize("extent", [0.6, 1.5, 4.0])
def test_triangles_of_few_pixels(extent: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set-up drops those that cover no pixel; some have corners and edges on pixels' centres."""
    rng = np.random.default_rng(5)
    count = 3000
    at = rng.uniform((0, 0), SIZE, (count, 1, 2)) + rng.uniform(-extent, extent, (count, 3, 2))
    at = np.where(rng.random((count, 1, 1)) < 0.5, np.round(at * 2) / 2, at)
    vertices = np.ones((count, 3, 7))
    vertices[..., :2] = at / SIZE * 2 - 1
    vertices[..., 2:] = rng.uniform(0, 1, (count, 3, 5))
    vertices[..., 3] = 1.0

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.BLEND)
        program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
        buffer = context.buffer(vertices.astype("f4").tobytes())
        context.vertex_array(program, [(buffer, "4f 3f", "position", "value")]).render()
        return bytes(frame.read(components=4))

    same(draw, monkeypatch)


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        context.enable(moderngl.BLEND)
        triangles(context, context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT))
        return bytes(frame.read(components=4))

    monkeypatch.setattr(draw_plan, "make_plan", lambda draw, mode: None)
    monkeypatch.setattr(rasterization, "WORTH_THREADS", 0)
    monkeypatch.setattr(rasterization, "thread_count", lambda: 1)
    alone = picture("jit", draw)
    monkeypatch.setattr(rasterization, "thread_count", lambda: 4)
    assert np.array_equal(picture("jit", draw), alone)
