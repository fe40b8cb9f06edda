"""How many draws a batch may hold and how large they may be: the limit, and one more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import SHAPE, Canvas, moved_vertex, painted_fragment

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import queue
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

STRIP = Primitive.TRIANGLE_STRIP


@pytest.fixture
def target(canvas: Callable[..., Any]) -> Canvas:
    made: Canvas = canvas(64, 64)
    made.program(moved_vertex(), painted_fragment())
    made.vertices(SHAPE)
    made.context.flush()
    return made


def draw(target: Canvas, *counts: int, instances: int = 1, mode: Primitive = STRIP) -> None:
    context = target.context
    data = np.array([0.1, 0, 0, 0, 0.2, 0.3, 0.4, 1], np.float32)
    for count in counts:
        for stage in (Stage.VERTEX, Stage.FRAGMENT):
            context.set_constant_buffer(stage, 0, data.tobytes())
        context.draw_vbo(DrawInfo(mode, count=count, instance_count=instances))


def test_the_number_of_pending_draws_is_bounded(
    target: Canvas, executed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST", 5)
    draw(target, *[4] * 5)
    assert executed == []
    draw(target, 4)
    assert executed == [5]
    target.context.flush()
    target.context.flush()  # nothing waits any more
    assert executed == [5, 1]


@pytest.mark.parametrize(("lanes", "wait"), [(12, 3), (13, 4), (8, 2), (9, 3), (1, 1)])
def test_the_number_of_pending_vertices_is_bounded(
    lanes: int, wait: int, target: Canvas, executed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST_LANES", lanes)
    draw(target, *[4] * wait)
    assert executed == []
    draw(target, *[4] * wait)
    assert executed == [wait]


@pytest.mark.parametrize(("small", "waits"), [(8, True), (7, False)])
def test_large_draws_are_not_deferred(
    small: int,
    waits: bool,
    target: Canvas,
    executed: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of all instances together."""
    monkeypatch.setattr(queue, "SMALL", small)
    draw(target, 4)
    draw(target, 4, instances=2)
    assert executed == ([] if waits else [1])
    target.context.flush()
    assert executed == ([2] if waits else [1])


def test_draws_of_nothing_or_of_no_instances(target: Canvas, executed: list[Any]) -> None:
    draw(target, 4)
    draw(target, 4, instances=0)
    assert executed == [1]
    draw(target, 4)
    draw(target, 2, instances=2, mode=Primitive.TRIANGLES)  # no triangle
    draw(target, 3, instances=2, mode=Primitive.TRIANGLES)
    target.context.flush()
    assert executed == [1, 3]
