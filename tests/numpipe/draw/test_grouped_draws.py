"""Draws of different states wait together and change places only where nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas
from test_merged_draws import OVER, SHAPE, moved_vertex, painted_fragment

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import grouping, queue
from gallette.pipe.enums import CompareFunc, CullFace, Primitive
from gallette.pipe.state import BlendState, DrawInfo, ScissorState, VertexBuffer


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


@pytest.mark.parametrize("rows", [0, 1 << 20])
@pytest.mark.parametrize("size", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_draws_of_many_states_look_as_if_drawn_in_order(
    seed: int, size: float, rows: int, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "_MOST_ROWS", rows)  # whether what is covered is kept
    images = []
    for small, worth in ((512, 2), (512, 1 << 30), (0, 1)):
        monkeypatch.setattr(queue, "SMALL", small)
        monkeypatch.setattr(queue, "WORTH_MERGING", worth)
        target = canvas(64, 64, depth="Z24X8_UNORM")
        random_draws(target, seed, 120, size)
        images.append(target.pixels())
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 8
    np.testing.assert_array_equal(images[0], images[2])
    np.testing.assert_array_equal(images[1], images[2])


def test_disjoint_draws_of_two_states_take_two_batches(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[list[int]] = []

    def watched(groups: Sequence[grouping.Group]) -> list[tuple[grouping.Group, list[int]]]:
        found = grouping.batches(groups)
        taken.extend(rows for _, rows in found)
        return found

    monkeypatch.setattr(queue, "batches", watched)
    target = canvas(128, 128)
    context = target.context
    target.program(moved_vertex(), painted_fragment())
    target.vertices(SHAPE * [0.2, 0.2, 1, 1])
    states = [BlendState((OVER,)), BlendState()]
    blends = [context.create_blend_state(state) for state in states]
    for number in range(32):
        data = np.array([number % 4 / 2 - 0.9, number // 4 / 4 - 0.9, 0, 0, 1, 0, 0, 1], np.float32)
        for stage in (Stage.VERTEX, Stage.FRAGMENT):
            context.set_constant_buffer(stage, 0, data.tobytes())
        context.bind_blend_state(blends[number % 2])
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    context.flush()
    assert taken == [list(range(16))] * 2
    context.bind_blend_state(None)


def test_what_waits_keeps_its_resources_and_no_longer(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "WORTH_MERGING", 2)
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
