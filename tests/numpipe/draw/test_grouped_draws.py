"""Pending draws of different states change places only where the picture stays the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas
from test_merged_draws import OVER, SHAPE, moved_vertex, painted_fragment

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import execution, pixel_order, queue
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.pipe.enums import CompareFunc, CullFace, Primitive
from gallette.pipe.state import (
    BlendState,
    DrawInfo,
    ScissorState,
    VertexBuffer,
)


def random_draws(target: Canvas, seed: int, count: int, size: float) -> None:
    """Small shapes in random states: blending, depth, culling, scissor, vertices."""
    rng = np.random.default_rng(seed)
    context = target.context
    target.program(moved_vertex(), painted_fragment())
    target.vertices(SHAPE * [size, size, 1, 1])
    for _ in range(count):
        if rng.random() < 0.5:
            target.set_blend(BlendState((OVER,)) if rng.random() < 0.5 else BlendState())
        if rng.random() < 0.5:
            target.set_tests(
                depth_enabled=bool(rng.random() < 0.5),
                depth_func=CompareFunc.LEQUAL,
                depth_writemask=True,
            )
        if rng.random() < 0.3:
            target.set_rasterizer(
                cull_face=CullFace.BACK if rng.random() < 0.3 else CullFace.NONE,
                scissor=bool(rng.random() < 0.3),
            )
        if rng.random() < 0.2:
            context.set_scissor_states(
                0, [ScissorState(int(rng.integers(32)), int(rng.integers(32)), 48, 48)]
            )
        data = rng.uniform(-1, 0.8, 8).astype(np.float32)
        data[2], data[3] = rng.choice([0.1, 0.2, 0.3]), 0
        data[4:] = rng.random(4)
        for stage in (Stage.VERTEX, Stage.FRAGMENT):
            context.set_constant_buffer(stage, 0, data.tobytes())
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))


WAYS: dict[str, dict[tuple[Any, str], Any]] = {
    "in pixel order": {},
    "in pixel order, in portions": {(pixel_order, "AT_ONCE"): 1 << 10},
    "in order": {(pixel_order, "MOST_ROWS"): -1},
}


@pytest.mark.parametrize("size", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_draws_of_many_states_look_as_if_drawn_in_order(
    seed: int, size: float, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(small: int, worth: int) -> Any:
        monkeypatch.setattr(queue, "SMALL", small)
        monkeypatch.setattr(execution, "WORTH_MERGING", worth)
        target = canvas(64, 64, depth="Z24X8_UNORM")
        random_draws(target, seed, 80, size)
        return target.pixels()

    at_once = drawn(0, 1)
    assert len(np.unique(at_once.reshape(-1, 4), axis=0)) > 8
    for way, patches in WAYS.items():
        with monkeypatch.context() as patch:
            for (module, name), value in patches.items():
                patch.setattr(module, name, value)
            np.testing.assert_array_equal(drawn(512, 2), at_once, way)
            np.testing.assert_array_equal(drawn(512, 1 << 30), at_once, way)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_derived_from_contents_is_derived_again_after_draws(
    way: str, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    for (module, name), value in WAYS[way].items():
        monkeypatch.setattr(module, name, value)
    done: list[bool] = []
    draw_in_pixel_order = execution.draw_in_pixel_order

    def watched(*args: Any) -> bool:
        done.append(draw_in_pixel_order(*args))
        return done[-1]

    monkeypatch.setattr(execution, "draw_in_pixel_order", watched)
    target = canvas(64, 64, depth="Z24X8_UNORM")
    context = target.context
    kept: list[tuple[Any, Any]] = []
    for seed in range(3):
        random_draws(target, 10 * seed, 24, 1.0)
        context.flush()
        color, depth = target.pixels, target.depths
        for resource, read in ((target.colors[0], color), (target.depth, depth)):
            np.testing.assert_array_equal(resource.derive("kept", read), read())
        kept.append((color(), depth()))
    assert all((a != b).any() for one, two in pairwise(kept) for a, b in zip(one, two, strict=True))
    assert (True in done) is way.startswith("in pixel order")


def draw_in_turns(target: Canvas, places: list[tuple[float, float]]) -> None:
    """Small squares, every other one blended."""
    context = target.context
    target.program(moved_vertex(), painted_fragment())
    target.vertices(SHAPE * [0.2, 0.2, 1, 1])
    states = [BlendState((OVER,)), BlendState()]
    blends = [context.create_blend_state(state) for state in states]
    for number, place in enumerate(places):
        data = np.array([*place, 0, 0, 1, 0, 0, 1], np.float32)
        for stage in (Stage.VERTEX, Stage.FRAGMENT):
            context.set_constant_buffer(stage, 0, data.tobytes())
        context.bind_blend_state(blends[number % 2])
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    context.flush()
    context.bind_blend_state(None)


def test_overlapping_draws_take_a_round_per_alternation_at_a_pixel(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []
    run = FragmentEngine.run

    def counted(self: FragmentEngine, shader: Any, lanes: Any, *rest: Any) -> None:
        runs.append(lanes.count)
        run(self, shader, lanes, *rest)

    monkeypatch.setattr(FragmentEngine, "run", counted)
    draw_in_turns(canvas(128, 128), [(n / 20 - 0.9, 0.0) for n in range(32)])  # up to 4 at a pixel
    assert 2 < len(runs) <= 4 * 2


def test_pending_draws_keep_their_resources_until_the_flush(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    target = canvas(64, 64)
    context = target.context
    target.program(moved_vertex(), painted_fragment())
    data = np.array([0, 0, 0, 0, 0.4, 0, 0, 1], np.float32)
    for stage in (Stage.VERTEX, Stage.FRAGMENT):
        context.set_constant_buffer(stage, 0, data.tobytes())
    buffers = [target.buffer(SHAPE * [size, size, 1, 1]) for size in (0.5, 1.0, 1.5)]
    target.vertices(SHAPE)
    for buffer in buffers:
        context.set_vertex_buffers([VertexBuffer(buffer, 0, 16)])
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    assert [buffer.refcount for buffer in buffers] == [2, 2, 3]
    context.flush()
    assert [buffer.refcount for buffer in buffers] == [1, 1, 2]
    assert target.pixels().any()
