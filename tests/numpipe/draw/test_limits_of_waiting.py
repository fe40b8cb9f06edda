"""How many draws wait, how large they and clears between them may be: exactly so many, one more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas
from test_merged_draws import SHAPE, moved_vertex, painted_fragment

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import queue
from gallette.drivers.common.draw.execution import Execution
from gallette.drivers.common.memory.clear import ClearValues
from gallette.pipe.enums import ClearFlags, Primitive
from gallette.pipe.state import DrawInfo, ScissorState

STRIP = Primitive.TRIANGLE_STRIP


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """How many draws, and clears between them, were executed at a time."""
    found: list[tuple[int, int]] = []
    run, alone = Execution.run, Execution.alone

    def watched(self: Any, draws: Any, clears: Any, targets: Any) -> None:
        found.append((len(draws), len(clears)))
        before = len(found)
        run(self, draws, clears, targets)
        del found[before:]  # parts of them

    def by_itself(self: Any, entry: Any) -> None:
        found.append((1, 0))
        alone(self, entry)

    monkeypatch.setattr(Execution, "run", watched)
    monkeypatch.setattr(Execution, "alone", by_itself)
    return found


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


def clear(target: Canvas, width: int, height: int = 1) -> None:
    framebuffer, scissor = target.framebuffer, ScissorState(2, 2, 2 + width, 2 + height)
    values = ClearValues((0.5, 0.25, 1.0, 1.0), 1.0, 0)
    waits = target.context._queue.clear(framebuffer, ClearFlags.COLOR, values, scissor)
    if not waits:
        target.context.flush()


def test_so_many_draws_wait(
    target: Canvas, executed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST", 5)
    draw(target, *[4] * 5)
    assert executed == []
    draw(target, 4)
    assert executed == [(5, 0)]
    target.context.flush()
    target.context.flush()  # nothing waits any more
    assert executed == [(5, 0), (1, 0)]


@pytest.mark.parametrize(("lanes", "wait"), [(12, 3), (13, 4), (8, 2), (9, 3), (1, 1)])
def test_so_many_vertices_wait(
    lanes: int, wait: int, target: Canvas, executed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST_LANES", lanes)
    draw(target, *[4] * wait)
    assert executed == []
    draw(target, *[4] * wait)
    assert executed == [(wait, 0)]


@pytest.mark.parametrize(("small", "waits"), [(8, True), (7, False)])
def test_so_large_draws_wait(
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
    assert executed == ([] if waits else [(1, 0)])
    target.context.flush()
    assert executed == ([(2, 0)] if waits else [(1, 0)])


def test_draws_of_nothing_or_of_no_instances(target: Canvas, executed: list[Any]) -> None:
    draw(target, 4)
    draw(target, 4, instances=0)
    assert executed == [(1, 0)]
    draw(target, 4)
    draw(target, 2, instances=2, mode=Primitive.TRIANGLES)  # no triangle
    assert executed == [(1, 0)] * 2
    draw(target, 4)
    draw(target, 3, instances=2, mode=Primitive.TRIANGLES)
    target.context.flush()
    assert executed == [(1, 0), (1, 0), (2, 0)]


@pytest.mark.parametrize(("pixels", "wait"), [((9, 1), True), ((3, 3), True), ((5, 2), False)])
def test_so_large_clears_wait(
    pixels: tuple[int, int],
    wait: bool,
    target: Canvas,
    executed: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue, "LARGEST", 9)
    draw(target, 4)
    clear(target, *pixels)
    assert executed == ([] if wait else [(1, 0)])
    draw(target, 4)
    target.context.flush()
    assert executed == ([(2, 1)] if wait else [(1, 0)] * 2)


def test_so_many_pixels_of_clears_wait(
    target: Canvas, executed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST_CLEARED", 20)
    draw(target, 4)
    clear(target, 10)
    clear(target, 10)
    clear(target, 0)  # of nothing: it is done
    assert executed == []
    clear(target, 1)
    assert executed == [(1, 2)]
    draw(target, 4)  # those that were done count no more
    clear(target, 10)
    clear(target, 10)
    assert executed == [(1, 2)]


def test_so_many_clears_wait(
    target: Canvas, executed: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "MOST", 2)
    draw(target, 4)
    clear(target, 1)
    clear(target, 1)
    assert executed == []
    clear(target, 1)
    assert executed == [(1, 2)]


def test_a_clear_behind_nothing_does_not_wait(target: Canvas) -> None:
    values = ClearValues((0.0,) * 4, 1.0, 0)
    waiting = target.context._queue
    scissor = ScissorState(0, 0, 1, 1)
    assert not waiting.clear(target.framebuffer, ClearFlags.COLOR, values, scissor)
    draw(target, 4)
    assert waiting.clear(target.framebuffer, ClearFlags.COLOR, values, scissor)
