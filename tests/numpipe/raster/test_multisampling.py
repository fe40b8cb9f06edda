"""Multisampled targets: coverage, tests and colours per sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas, color_fragment, position_vertex
from native_primitives import EXTENT
from test_merged_draws import OVER
from test_primitives_like_llvmpipe import Scene, scenes, sized_vertex

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.output import multisample
from gallette.drivers.common.raster.samples import sample_pattern
from gallette.pipe.enums import Primitive, QueryType
from gallette.pipe.state import BlendState
from tests.reference import missing

FLOAT_TARGET = "R32G32B32A32_FLOAT"
T, P = Primitive.TRIANGLES, Primitive.POINTS
EVERYWHERE = [[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]
SCENES: dict[str, list[Scene]] = {
    "triangles": scenes(8, 3, T, samples=4),
    "layers of triangles": scenes(4, 24, T, -8, 72, samples=4),
    "triangles in perspective": scenes(6, 9, T, w=(0.5, 3), samples=4),
    "points": scenes(4, 8, P, size=5.3, samples=4),
}


def canvas_of(canvas: Callable[..., Any], size: int = EXTENT) -> Canvas:
    target: Canvas = canvas(size, size, (FLOAT_TARGET,), "Z24X8_UNORM", samples=4)
    target.set_rasterizer(multisample=True, point_size_per_vertex=True)
    return target


@pytest.mark.native
@pytest.mark.parametrize("name", list(SCENES))
def test_resolved_images_are_those_of_llvmpipe(
    name: str, canvas: Callable[..., Any], natively: Callable[..., Any]
) -> None:
    reference = natively(SCENES[name])
    if reference is None:
        missing("the picture could not be drawn")
    for scene, native in zip(SCENES[name], reference, strict=True):
        target = canvas_of(canvas)
        target.set_tests(depth_enabled=True)
        target.program(sized_vertex(scene.get("size", 1.0)), color_fragment())
        target.draw(Primitive(scene["mode"]), scene["positions"], scene["colors"])
        np.testing.assert_array_equal(target.resolved(), native[0])


def edge_at(x: float) -> list[list[float]]:
    """A triangle that covers everything left of x (in pixels of an 8-pixel canvas)."""
    right = x / 4 - 1
    return [[right, -9, 0, 1], [right, 9, 0, 1], [-99, 0, 0, 1]]


def test_samples_are_covered_one_by_one(canvas: Callable[..., Any]) -> None:
    for x in (3.0, 3.2, 3.5, 3.7, 3.95):
        target = canvas_of(canvas, 8)
        target.draw(T, edge_at(x))
        covered = np.mean(sample_pattern(4).positions[:, 0] < x - 3)
        row = target.resolved()[4, :, 0]
        np.testing.assert_array_equal(row, [1, 1, 1, covered, 0, 0, 0, 0])


@pytest.mark.parametrize("upright", [False, True])
def test_samples_on_an_edge_belong_to_one_side(upright: bool, canvas: Callable[..., Any]) -> None:
    """Edges along rows and columns, through each of the samples."""
    for at in 3 + sample_pattern(4).positions[:, 0 if upright else 1]:
        covered = []
        for far in (-99, 99):
            corners = [[-99, at / 4 - 1], [99, at / 4 - 1], [0, far]]
            target = canvas_of(canvas, 8)
            target.draw(T, [[*(c[::-1] if upright else c), 0, 1] for c in corners])
            red = target.resolved()[..., 0]
            covered.append(red[4] if upright else red[:, 4])
        before, behind = covered
        np.testing.assert_array_equal(before + behind, np.ones(8))
        assert (before[:3] == 1).all() and not before[4:].any()
        inside = np.count_nonzero(sample_pattern(4).positions[:, 0 if upright else 1] < at - 3)
        assert before[3] * 4 in (inside, inside + 1)


def test_without_multisampling_all_samples_go_together(canvas: Callable[..., Any]) -> None:
    target = canvas_of(canvas, 8)
    target.set_rasterizer(multisample=False)
    target.draw(T, edge_at(3.6))
    np.testing.assert_array_equal(target.resolved()[4, :, 0], [1, 1, 1, 1, 0, 0, 0, 0])


def test_sample_mask_and_alpha_to_coverage(canvas: Callable[..., Any]) -> None:
    target = canvas_of(canvas, 8)
    target.context.set_sample_mask(0b0101)
    target.draw(T, EVERYWHERE)
    assert (target.resolved() == 0.5).all()
    target.context.set_sample_mask(0xFFFFFFFF)
    target = canvas_of(canvas, 8)
    target.set_blend(BlendState(alpha_to_coverage=True))
    target.draw(T, EVERYWHERE, (1.0, 1.0, 1.0, 0.75))
    assert (target.resolved()[..., 0] == 0.75).all()


def test_occlusion_counts_samples(canvas: Callable[..., Any]) -> None:
    target = canvas_of(canvas, 8)
    context = target.context
    query = context.create_query(QueryType.OCCLUSION_COUNTER)
    context.begin_query(query)
    target.draw(T, edge_at(3.5))
    context.end_query(query)
    assert context.get_query_result(query, True) == 8 * (3 * 4 + 2)


def sample_fragment() -> Shader:
    """The colour is the number of the sample."""
    b = Builder.shader_main(Stage.FRAGMENT, "sample")
    number = b.i2f32(b.load_system_value("sample_id"))
    color = b.vec([number, b.imm_float(0.0), b.imm_float(0.0), b.imm_float(1.0)])
    b.intrinsic("store_output", [color, b.imm_int(0)], location=FragResult.COLOR, write_mask=15)
    return b.shader


def test_a_shader_that_reads_the_sample_id_runs_per_sample(canvas: Callable[..., Any]) -> None:
    target = canvas_of(canvas, 8)
    target.program(position_vertex(), sample_fragment())
    target.draw(T, EVERYWHERE)
    assert (target.resolved()[..., 0] == 1.5).all()


SETUPS: dict[str, tuple[bool, Callable[[Canvas], Any]]] = {
    "plain": (True, lambda c: None),
    "some samples": (True, lambda c: c.context.set_sample_mask(0b0110)),
    "no multisampling": (True, lambda c: c.set_rasterizer(multisample=False)),
    "every sample": (True, lambda c: c.program(position_vertex(), sample_fragment())),
    "blended": (False, lambda c: c.set_blend(BlendState((OVER,)))),
    "depth": (False, lambda c: c.set_tests(depth_enabled=True, depth_writemask=True)),
    "coverage": (False, lambda c: c.set_blend(BlendState(alpha_to_coverage=True))),
    "discard": (False, lambda c: c.program(position_vertex(), color_fragment(discard_below=0.5))),
}


@pytest.mark.parametrize("name", list(SETUPS))
def test_only_the_last_fragment_of_a_sample_is_shaded(
    name: str, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(8)
    positions = np.ones((120, 3, 4))
    positions[..., :3] = rng.uniform(-1.3, 1.3, (120, 3, 3))
    colors = rng.random((120, 3, 4))
    backwards, setup = SETUPS[name]
    found = []
    for piece in (1 << 17, 300):
        monkeypatch.setattr(multisample, "PIECE", piece)
        target = canvas_of(canvas, 40)
        setup(target)
        query = target.context.create_query(QueryType.PIPELINE_STATISTICS)
        target.context.begin_query(query)
        target.draw(T, positions.reshape(-1, 4), colors.reshape(-1, 4))
        target.context.end_query(query)
        shaded = target.context.get_query_result(query, True)["ps_invocations"]
        found.append((target.resolved(), shaded))
    assert len(np.unique(found[0][0].reshape(-1, 4), axis=0)) > (
        4 if name == "every sample" else 40
    )
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert (found[1][1] < 0.7 * found[0][1]) is backwards
