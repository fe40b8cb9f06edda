"""Draws that differ only in their constants are merged; the picture stays the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.draw import execution
from gallette.pipe.enums import BlendFactor, ClearFlags, Primitive, QueryType
from gallette.pipe.state import BlendState, DrawInfo, RenderTargetBlend

SHAPE = np.array([[0, 0, 0, 1], [0.5, 0, 0, 1], [0, 0.5, 0, 1], [0.5, 0.4, 0, 1]], np.float32)


def constant(b: Builder, offset: int) -> Any:
    return b.intrinsic("load_ubo", [b.imm_int(0), b.imm_int(offset)], num_components=4)


def moved_vertex() -> Shader:
    """The position plus constant 0."""
    b = Builder.shader_main(Stage.VERTEX, "moved")
    zero = b.imm_int(0)
    place = b.intrinsic("load_input", [zero], num_components=4, base=0, location=0)
    moved = b.fadd(place, constant(b, 0))
    b.intrinsic("store_output", [moved, zero], location=VaryingSlot.POS, write_mask=15)
    return b.shader


def painted_fragment() -> Shader:
    """Constant 1 is the colour, unless its red is above a half: then constant 0 is."""
    b = Builder.shader_main(Stage.FRAGMENT, "painted")
    color = constant(b, 16)
    chosen = b.bcsel(b.flt(b.imm_float(0.5), b.channel(color, 0)), constant(b, 0), color)
    b.intrinsic("store_output", [chosen, b.imm_int(0)], location=FragResult.COLOR, write_mask=15)
    return b.shader


def scatter(target: Canvas, seed: int, count: int = 60) -> None:
    rng = np.random.default_rng(seed)
    context = target.context
    for _ in range(count):
        data = rng.uniform(-1, 0.5, 8).astype(np.float32)
        data[3] = 0
        data[4:] = rng.random(4)
        for stage in (Stage.VERTEX, Stage.FRAGMENT):
            context.set_constant_buffer(stage, 0, data.tobytes())
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))


OVER = RenderTargetBlend(
    True, rgb_src_factor=BlendFactor.SRC_ALPHA, rgb_dst_factor=BlendFactor.INV_SRC_ALPHA
)


@pytest.mark.parametrize("blended", [False, True])
def test_merged_draws_look_like_single_ones(
    blended: bool, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    images = []
    for worth in (2, 1 << 30):
        monkeypatch.setattr(execution, "WORTH_MERGING", worth)
        target = canvas(64, 64, depth="Z24X8_UNORM")
        target.program(moved_vertex(), painted_fragment())
        target.vertices(SHAPE)
        if blended:
            target.set_blend(BlendState((OVER,)))
        target.set_tests(depth_enabled=not blended)
        scatter(target, seed=4)
        images.append(target.pixels())
        reasons = [event.key for event in target.context.variant_log]
        assert any("merged" in key for key in reasons) == (worth == 2)
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 20
    np.testing.assert_array_equal(images[0], images[1])


def test_state_changes_and_observers_flush_the_batch(canvas: Callable[..., Any]) -> None:
    target = canvas(64, 64)
    context = target.context
    target.program(moved_vertex(), painted_fragment())
    target.vertices(SHAPE)
    counter = context.create_query(QueryType.PRIMITIVES_GENERATED)
    context.begin_query(counter)
    scatter(target, seed=1, count=30)
    context.end_query(counter)
    assert context.get_query_result(counter, True) == 60
    first = target.pixels()
    assert first.any()
    scatter(target, seed=2, count=3)
    context.clear(ClearFlags.COLOR, (0.0,) * 4, 1.0, 0)
    assert not target.pixels().any()
    scatter(target, seed=2, count=3)
    target.set_rasterizer(scissor=True)  # an empty scissor rectangle
    scatter(target, seed=3, count=3)
    second = target.pixels()
    target.set_rasterizer(scissor=False)
    context.clear(ClearFlags.COLOR, (0.0,) * 4, 1.0, 0)
    scatter(target, seed=2, count=3)
    np.testing.assert_array_equal(target.pixels(), second)


@pytest.mark.parametrize("stage", [Stage.VERTEX, Stage.FRAGMENT])
@pytest.mark.parametrize("count", [1, 3])
def test_constants_in_a_buffer_that_is_written_afterwards(
    stage: Stage, count: int, canvas: Callable[..., Any]
) -> None:
    """Draws that wait read block 0 from a buffer: they see what was there when they were made."""
    target = canvas(64, 64)
    context = target.context
    target.program(moved_vertex(), painted_fragment())
    target.vertices(SHAPE)
    left, right = (-1, -1, 0, 0, 0, 1, 0, 1), (0.5, 0.5, 0, 0, 0, 0, 1, 1)
    data = np.array(left, np.float32)
    buffer = target.buffer(data)
    for each in (Stage.VERTEX, Stage.FRAGMENT):
        context.set_constant_buffer(each, 0, data.tobytes())
    context.set_constant_buffer(stage, 0, buffer=buffer, size=32)
    for _ in range(count):
        context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    context.buffer_subdata(buffer, 0, np.array(right, np.float32).tobytes())
    first = target.pixels().copy()
    assert first[4, 4].tolist() == [0, 255, 0, 255]
    assert not first[40:, 40:].any()
    context.draw_vbo(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))
    moved, painted = stage is Stage.VERTEX, stage is Stage.FRAGMENT
    at = 52 if moved else 4
    assert target.pixels()[at, at].tolist() == ([0, 0, 255, 255] if painted else [0, 255, 0, 255])
