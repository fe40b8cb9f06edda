"""Draws of different states wait together and change places only where nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas
from test_merged_draws import OVER, SHAPE, moved_vertex, painted_fragment

from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.draw import dealing, execution, grouping, queue
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.pipe.enums import ClearFlags, CompareFunc, CullFace, Primitive
from gallette.pipe.state import (
    BlendState,
    DrawInfo,
    RasterizerState,
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
    "dealt": {},
    "dealt in portions": {(dealing, "AT_ONCE"): 1 << 10},
    "dealt, covering what they cover apart": {(execution, "companies"): lambda found: None},
    "in batches": {(dealing, "MOST_ROWS"): -1},
    "in batches, rasterized again": {(dealing, "MOST_ROWS"): -1, (grouping, "_MOST_ROWS"): 0},
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


@pytest.mark.parametrize("clears", [0, 3])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_kept_of_contents_is_made_anew_behind_draws(
    way: str, clears: int, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However they are made, and with clears of a corner between them."""
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    for (module, name), value in WAYS[way].items():
        monkeypatch.setattr(module, name, value)
    dealt: list[tuple[bool, int]] = []
    deal = execution.deal

    def watched(*args: Any, **options: Any) -> bool:
        done = deal(*args, **options)
        dealt.append((done, len(options.get("clears", ()))))
        return done

    monkeypatch.setattr(execution, "deal", watched)
    target = canvas(64, 64, depth="Z24X8_UNORM")
    context = target.context
    rasterizer = target.rasterizer
    kept: list[tuple[Any, Any]] = []
    for seed in range(3):
        for part in range(clears + 1):
            if part:
                context.set_scissor_states(0, [ScissorState(0, 0, 9 * part, 9)])
                target.set_rasterizer(scissor=True)
                context.clear(ClearFlags.COLOR, (0.1 * part, 0.3 * seed, 1.0, 1.0), 1.0, 0)
                target.rasterizer = rasterizer
                target.set_rasterizer()
            random_draws(target, 10 * seed + part, 24 // (clears + 1), 1.0)
        context.flush()
        color, depth = target.pixels, target.depths
        for resource, read in ((target.colors[0], color), (target.depth, depth)):
            np.testing.assert_array_equal(resource.derive("kept", read), read())
        kept.append((color(), depth()))
    assert all((a != b).any() for one, two in pairwise(kept) for a, b in zip(one, two, strict=True))
    assert ((True, clears) in dealt) is way.startswith("dealt")


def test_disjoint_draws_of_two_states_take_two_batches(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[list[int]] = []
    monkeypatch.setattr(dealing, "MOST_ROWS", -1)

    def watched(groups: Sequence[grouping.Group]) -> list[tuple[grouping.Group, list[int]]]:
        found = grouping.batches(groups)
        taken.extend(rows for _, rows in found)
        return found

    monkeypatch.setattr(execution, "batches", watched)
    draw_in_turns(canvas(128, 128), [(n % 4 / 2 - 0.9, n // 4 / 4 - 0.9) for n in range(32)])
    assert taken == [list(range(16))] * 2


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


def test_draws_close_together_share_a_batch_unless_there_are_many_tiles(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fine tiles tell that they do not meet; coarse ones leave it open, which changes no pixel."""
    taken: list[int] = []
    monkeypatch.setattr(dealing, "MOST_ROWS", -1)

    def watched(groups: Sequence[grouping.Group]) -> list[tuple[grouping.Group, list[int]]]:
        found = grouping.batches(groups)
        taken.append(len(found))
        return found

    monkeypatch.setattr(execution, "batches", watched)
    pictures = []
    for most in (1 << 22, 0):
        monkeypatch.setattr(grouping, "_MANY_TILES", most)
        target = canvas(128, 128)
        draw_in_turns(target, [(n % 7 / 8 + 0.1, n // 7 / 8 + 0.1) for n in range(49)])
        pictures.append(target.pixels())
    assert taken[0] == 2 < taken[1]
    assert (pictures[0] == pictures[1]).all() and pictures[0].any()


@pytest.mark.parametrize("again", [False, True])
def test_batches_of_some_draws_change_contents_too(
    again: bool, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no state has all of its draws at once, whether what they cover is kept or not."""
    monkeypatch.setattr(dealing, "MOST_ROWS", -1)
    monkeypatch.setattr(grouping, "_MOST_ROWS", 0 if again else 1 << 20)
    some: list[bool] = []

    def watched(groups: Sequence[grouping.Group]) -> list[tuple[grouping.Group, list[int]]]:
        found = grouping.batches(groups)
        some.extend(len(rows) < len(group.entries) for group, rows in found)
        return found

    monkeypatch.setattr(execution, "batches", watched)
    target = canvas(64, 64)
    kept = [target.pixels()]
    for turn in range(3):
        draw_in_turns(target, [(n / 50 - 0.6, turn / 2 - 0.7) for n in range(32)])
        resource = target.colors[0]
        kept.append(resource.derive("kept", target.pixels))
        np.testing.assert_array_equal(kept[-1], target.pixels())
    assert all((a != b).any() for a, b in pairwise(kept))
    assert some and all(some)


@pytest.mark.parametrize("together", [True, False])
def test_what_draws_cover_is_found_once_for_all_that_become_of_it(
    together: bool, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But not where the rasterizer is told something else."""
    covered: list[int] = []
    rasterize_part = dealing.rasterize_part

    def counted(draw: Any, mode: Any, part: Any, sink: Any) -> None:
        covered.append(len(part.corners))
        rasterize_part(draw, mode, part, sink)

    monkeypatch.setattr(dealing, "rasterize_part", counted)
    target = canvas(128, 128)
    context = target.context
    if not together:
        bind = context.bind_blend_state
        kinds = [RasterizerState(), RasterizerState(cull_face=CullFace.BACK)]
        handles = [context.create_rasterizer_state(kind) for kind in kinds]

        def bind_both(handle: Any) -> None:
            context.bind_rasterizer_state(handles[handle is None or handle.state == BlendState()])
            bind(handle)

        monkeypatch.setattr(context, "bind_blend_state", bind_both)
    draw_in_turns(target, [(n / 20 - 0.9, 0.0) for n in range(32)])
    assert len(covered) == (1 if together else 2)
    assert sum(covered) == 64


def test_a_chain_of_draws_that_overlap_takes_a_round_per_turn_at_a_pixel(
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


def test_what_waits_keeps_its_resources_and_no_longer(
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
