"""Whatever the engine does at once must equal drawing the primitives one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from draw_scene import Canvas, color_fragment, position_vertex

from gallette.drivers.common.output import engine, order
from gallette.drivers.common.raster import triangles
from gallette.pipe.enums import (
    BlendFactor,
    BlendFunc,
    ClearFlags,
    CompareFunc,
    LogicOp,
    Primitive,
    StencilOp,
)
from gallette.pipe.state import BlendState, DrawInfo, RenderTargetBlend, ScissorState, StencilState

OVER = RenderTargetBlend(
    True,
    rgb_src_factor=BlendFactor.SRC_ALPHA,
    rgb_dst_factor=BlendFactor.INV_SRC_ALPHA,
    alpha_src_factor=BlendFactor.ONE,
    alpha_dst_factor=BlendFactor.INV_SRC_ALPHA,
)
ADD_HALF = RenderTargetBlend(
    True, rgb_src_factor=BlendFactor.CONST_COLOR, rgb_dst_factor=BlendFactor.ONE
)
COUNTING = StencilState(
    True,
    CompareFunc.LEQUAL,
    fail_op=StencilOp.INCR_WRAP,
    zfail_op=StencilOp.DECR,
    zpass_op=StencilOp.INCR,
)
BACK = StencilState(
    True,
    CompareFunc.NOTEQUAL,
    fail_op=StencilOp.INVERT,
    zfail_op=StencilOp.REPLACE,
    zpass_op=StencilOp.DECR_WRAP,
    writemask=0x0F,
    valuemask=0x3F,
)
DEPTH_FUNCS = list(CompareFunc)


def soup(seed: int, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping triangles, some of the same depth, in all sizes."""
    rng = np.random.default_rng(seed)
    center = rng.uniform(-1, 1, (count, 1, 2))
    place = center + rng.uniform(-0.8, 0.8, (count, 3, 2))
    height = np.repeat(rng.integers(-3, 4, (count, 1, 1)) / 4, 3, axis=1)
    height[::3] = rng.uniform(-1, 1, (len(height[::3]), 3, 1))
    positions = np.concatenate((place, height, np.ones_like(height)), axis=2)
    return positions.reshape(-1, 4), rng.random((count * 3, 4))


def run(canvas: Canvas, together: bool, setup: Callable[[Canvas], None], seed: int) -> Any:
    setup(canvas)
    positions, colors = soup(seed)
    if together:
        canvas.draw(Primitive.TRIANGLES, positions, colors)
    else:
        canvas.vertices(positions, colors)
        for start in range(0, len(positions), 3):
            canvas.context.draw_vbo(DrawInfo(Primitive.TRIANGLES, start=start, count=3))
    return canvas.pixels(), canvas.mapped_depth()


def depth(func: CompareFunc, write: bool = True, **more: Any) -> dict[str, Any]:
    return {"depth_enabled": True, "depth_func": func, "depth_writemask": write, **more}


SETUPS: dict[str, Callable[[Canvas], None]] = {
    "plain": lambda c: c.set_tests(),
    "blend": lambda c: c.set_blend(BlendState((OVER,))),
    "logic op": lambda c: c.set_blend(BlendState(logicop_enable=True, logicop=LogicOp.XOR)),
    "masked": lambda c: c.set_blend(BlendState((RenderTargetBlend(colormask=0b0101),))),
    "blend and depth": lambda c: (
        c.set_blend(BlendState((ADD_HALF,))),
        c.context.set_blend_color((0.25, 0.5, 0.125, 1.0)),
        c.set_tests(**depth(CompareFunc.LESS)),
    )[0],
    "discard": lambda c: (
        c.program(position_vertex(), color_fragment(discard_below=0.5)),
        c.set_tests(**depth(CompareFunc.LEQUAL)),
    )[0],
    "shader depth": lambda c: (
        c.program(position_vertex(), color_fragment(depth=True)),
        c.set_tests(**depth(CompareFunc.LESS)),
    )[0],
    "stencil": lambda c: (
        c.context.set_stencil_ref(1, 2),
        c.set_tests(**depth(CompareFunc.LESS, stencil=(COUNTING, BACK))),
    )[0],
    "stencil without depth": lambda c: c.set_tests(stencil=(COUNTING, StencilState())),
    "depth only": lambda c: (
        c.program(position_vertex(), None),
        c.set_tests(**depth(CompareFunc.LESS)),
    )[0],
}
for each in DEPTH_FUNCS:
    SETUPS[f"depth {each.name}"] = lambda c, f=each: c.set_tests(**depth(f))  # type: ignore[misc]
    SETUPS[f"depth {each.name}, no write"] = lambda c, f=each: c.set_tests(**depth(f, False))  # type: ignore[misc]


@pytest.mark.parametrize("piece", [500, 1 << 17])
@pytest.mark.parametrize("name", list(SETUPS))
def test_a_batch_equals_its_primitives_one_by_one(
    name: str, piece: int, canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "PIECE", piece)
    monkeypatch.setattr(engine, "_WORTH_DEFERRING", piece)
    images = []
    for together in (True, False):
        target = canvas(64, 64, depth="Z24_UNORM_S8_UINT")
        target.context.clear_depth_stencil(
            target.framebuffer.zsbuf, ClearFlags.DEPTH, 0.6, 0, _everything(target)
        )
        images.append(run(target, together, SETUPS[name], seed=len(name)))
    np.testing.assert_array_equal(images[0][1], images[1][1])
    np.testing.assert_array_equal(images[0][0], images[1][0])


@pytest.mark.parametrize(("apart", "lows"), [(0, 60), (1, 60), (1, 20), (3, 20)])
def test_many_layers_are_ranked_by_sorting(apart: int, lows: int) -> None:
    """Some pixels are whole powers of two apart."""
    rng = np.random.default_rng(5)
    each = np.arange(60)
    pixels = rng.integers(0, 60000, lows)[each % lows] + (each // 20 * apart << 16)
    pixel = pixels[rng.integers(0, 60, 3000)]
    who = np.zeros(500000, np.int64)
    seen: dict[int, int] = {}
    total = count = 0
    for layer in order.layers(pixel, who):
        assert layer is not None
        assert len(set(pixel[layer].tolist())) == len(layer)
        for number in layer.tolist():
            at = int(pixel[number])
            assert seen.get(at, -1) < number
            seen[at] = number
        total, count = total + len(layer), count + 1
    assert total == len(pixel)
    assert count == np.bincount(pixel).max()


def _everything(canvas: Canvas) -> ScissorState:
    return ScissorState(0, 0, canvas.width, canvas.height)


def test_blending_functions_are_all_reachable(canvas: Callable[..., Any]) -> None:
    """A sanity check of every function with simple factors, against arithmetic by hand."""
    wanted = {
        BlendFunc.ADD: 0.75,
        BlendFunc.SUBTRACT: 0.25,
        BlendFunc.REVERSE_SUBTRACT: 0.0,
        BlendFunc.MIN: 0.25,
        BlendFunc.MAX: 0.5,
    }
    for func, value in wanted.items():
        target = canvas(8, 8, colors=("R32G32B32A32_FLOAT",))
        flags = ClearFlags.COLOR
        target.context.clear(flags, (0.25, 0.25, 0.25, 0.25), 1.0, 0)
        one = BlendFactor.ONE
        state = RenderTargetBlend(True, func, one, one, func, one, one)
        target.set_blend(BlendState((state,)))
        square = [[-1, -1, 0, 1], [3, -1, 0, 1], [-1, 3, 0, 1]]
        target.draw(Primitive.TRIANGLES, square, [0.5, 0.5, 0.5, 0.5])
        expected = value if func is not BlendFunc.REVERSE_SUBTRACT else -0.25
        np.testing.assert_allclose(target.image(), expected)


def test_many_rows_are_rasterized_in_parts(
    canvas: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    images = []
    for most in (100, 1 << 19):
        monkeypatch.setattr(triangles, "MOST_ROWS", most)
        target = canvas(64, 64, depth="Z24_UNORM_S8_UINT")
        target.set_rasterizer(offset_tri=True, offset_scale=0.5)
        images.append(run(target, True, SETUPS["depth LESS"], seed=7)[0])
    np.testing.assert_array_equal(images[0], images[1])
