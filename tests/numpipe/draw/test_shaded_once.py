"""What is the same within primitives is shaded once for each; bytes are blended four at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from draw_scene import OVER, color_fragment, position_vertex

from gallette.drivers.common.output import color, engine
from gallette.pipe.enums import BlendFactor, BlendFunc, Primitive
from gallette.pipe.state import BlendState, RenderTargetBlend

F = BlendFactor


def quads(count: int, seed: int, flat: bool) -> tuple[Any, Any]:
    """Rectangles as triangles with a colour each (or one per corner)."""
    random = np.random.default_rng(seed)
    shape = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 1]])
    place = random.uniform(-1, 0.6, (count, 1, 2)) + shape * random.uniform(0.1, 0.8, (count, 1, 2))
    positions = np.ones((count, 6, 4))
    positions[..., :2], positions[..., 2] = place, 0
    colors = random.random((count, 1 if flat else 6, 4)) * 1.2
    return positions.reshape(-1, 4), np.broadcast_to(colors, (count, 6, 4)).reshape(-1, 4)


@pytest.mark.parametrize("mode", ["smooth", "flat", "noperspective"])
@pytest.mark.parametrize("primitive", [Primitive.TRIANGLES, Primitive.POINTS])
@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("blend", [None, OVER, replace(OVER, rgb_src_factor=F.DST_COLOR)])
def test_once_per_primitive_or_per_fragment(
    mode: str,
    primitive: Primitive,
    smooth: bool,
    blend: RenderTargetBlend | None,
    canvas: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images, found = [], []
    alike = engine.FragmentEngine._alike
    for once in (True, False):

        def asked(*arguments: Any, once: bool = once) -> Any:
            found.append(alike(*arguments))
            return found[-1] if once else None

        monkeypatch.setattr(engine.FragmentEngine, "_alike", asked)
        target = canvas(64, 64)
        target.set_rasterizer(point_size=9.0, point_smooth=smooth)
        target.program(position_vertex(), color_fragment(mode))
        if blend is not None:
            target.set_blend(BlendState((blend,)))
        target.draw(primitive, *quads(60, 3, flat=True))
        images.append(target.pixels())
    covers = smooth and primitive is Primitive.POINTS
    assert all((lengths is None) == covers for lengths in found)
    assert len(np.unique(images[0].reshape(-1, 4), axis=0)) > 20
    np.testing.assert_array_equal(*images)


FACTORS = (F.ZERO, F.ONE, F.SRC_COLOR, F.INV_SRC_ALPHA, F.CONST_COLOR, F.INV_CONST_ALPHA)


@pytest.mark.parametrize("format", ["R8G8B8A8_UNORM", "B8G8R8A8_UNORM"])
def test_folded_blending_gives_the_same_bytes(
    format: str, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for ours, theirs in product(FACTORS, FACTORS):
        blend = RenderTargetBlend(
            True,
            rgb_func=BlendFunc.ADD,
            rgb_src_factor=ours,
            rgb_dst_factor=theirs,
            alpha_src_factor=theirs,
            alpha_dst_factor=ours,
            colormask=0b1011,
        )
        images = []
        for fold in (True, False):
            with monkeypatch.context() as patch:
                if not fold:
                    patch.setattr(color, "can_fold", lambda state: False)
                target = canvas(24, 24, colors=(format,))
                target.program(position_vertex(), color_fragment())
                target.context.set_blend_color((0.3, 0.6, 0.9, 0.4))
                target.set_blend(BlendState((blend,)))
                target.draw(Primitive.TRIANGLES, *quads(12, 5, flat=False))
                images.append(target.pixels())
        np.testing.assert_array_equal(*images, err_msg=f"{ours} {theirs}")


@pytest.mark.parametrize("mode", ["smooth", "flat"])
def test_what_stays_visible_is_shaded_some_rows_at_a_time(
    mode: str, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shaded: list[int] = []
    shade = engine.FragmentEngine._shade

    def counted(self: Any, shader: Any, lanes: Any, *rest: Any) -> None:
        shaded.append(lanes.count)
        shade(self, shader, lanes, *rest)

    monkeypatch.setattr(engine.FragmentEngine, "_shade", counted)
    images = []
    for deferring in (0, 1 << 30):
        monkeypatch.setattr(engine, "_WORTH_DEFERRING", deferring)
        monkeypatch.setattr(engine, "PIECE", 1 << 10 if not deferring else 1 << 17)
        target = canvas(64, 62, depth="Z24X8_UNORM")
        target.set_tests(depth_enabled=True, depth_writemask=True)
        target.program(position_vertex(), color_fragment(mode))
        positions, colors = quads(90, 6, flat=False)
        positions[:, 2] = np.repeat(np.random.default_rng(7).uniform(-1, 1, 90), 6)
        target.draw(Primitive.TRIANGLES, positions, colors)
        images.append(target.pixels())
        if not deferring:
            assert len(shaded) >= 3 and max(shaded) <= 1 << 10  # rows of less than 64 pixels
    np.testing.assert_array_equal(*images)
