"""Coverage is identical to llvmpipe's; but for depth offsets, so is every value, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from draw_scene import position_vertex
from native_primitives import EXTENT, NOTHING

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.pipe.enums import CompareFunc, PolygonMode, Primitive
from tests.reference import missing

FLOAT_TARGET = "R32G32B32A32_FLOAT"
Scene = dict[str, Any]


def recording_fragment(interpolation: str) -> Shader:
    """Colour buffer 0 gets the varying, buffer 1 the fragment's coordinates."""
    b = Builder.shader_main(Stage.FRAGMENT, f"recording_{interpolation}")
    zero = b.imm_int(0)
    slot = VaryingSlot.VAR0
    if interpolation == "flat":
        value = b.intrinsic("load_input", [zero], num_components=4, location=slot)
    else:
        bary = b.intrinsic("load_barycentric_pixel", [], interp=interpolation)
        value = b.intrinsic(
            "load_interpolated_input", [bary, zero], num_components=4, location=slot
        )
    b.intrinsic("store_output", [value, zero], location=FragResult.DATA0, write_mask=15)
    coord = b.load_system_value("frag_coord", 4)
    b.intrinsic("store_output", [coord, zero], location=FragResult.DATA1, write_mask=15)
    return b.shader


def sized_vertex(size: float) -> Shader:
    """The plain vertex shader, with a point size."""
    shader = position_vertex()
    b = Builder(shader.entry, shader.entry.body[-1])
    zero = b.imm_int(0)
    value = b.imm_float(size)
    b.intrinsic("store_output", [value, zero], location=VaryingSlot.PSIZ, write_mask=1)
    return shader


def scenes(
    count: int,
    vertices: int,
    mode: Primitive,
    low: float = 0.0,
    high: float = EXTENT,
    grid: int = 0,
    w: tuple[float, float] = (1.0, 1.0),
    z: tuple[float, float] = (-1.0, 1.0),
    **options: Any,
) -> list[Scene]:
    """Random primitives with corners between `low` and `high` pixels, maybe on a grid."""
    rng = np.random.default_rng(count * 31 + vertices + grid)
    made = []
    for _ in range(count):
        place = rng.random((vertices, 2)) * (high - low) + low
        if grid:
            place = np.rint(place * grid) / grid
        ndc = place / (EXTENT / 2) - 1
        weight = rng.uniform(*w, (vertices, 1))
        height = rng.uniform(*z, (vertices, 1))
        positions = np.concatenate((ndc * weight, height * weight, weight), axis=1)
        colors = rng.random((vertices, 4)).astype(np.float32)
        made.append(
            {"positions": positions.astype("f4"), "colors": colors, "mode": int(mode), **options}
        )
    return made


def render_here(canvas: Callable[..., Any], scene: Scene) -> tuple[npt.NDArray[Any], ...]:
    target = canvas(EXTENT, EXTENT, colors=(FLOAT_TARGET, FLOAT_TARGET), depth="Z24X8_UNORM")
    for index in range(2):
        surface = target.framebuffer.cbufs[index]
        target.context.clear_render_target(surface, (NOTHING,) * 4, _everything())
    target.program(
        sized_vertex(scene.get("size", 1.0)),
        recording_fragment(scene.get("interpolation", "smooth")),
    )
    offset = scene.get("offset", (0.0, 0.0))
    line = scene.get("polygon_mode") == "line"
    target.set_rasterizer(
        line_width=scene.get("line_width", 1.0),
        point_size_per_vertex=True,
        fill_front=PolygonMode.LINE if line else PolygonMode.FILL,
        fill_back=PolygonMode.LINE if line else PolygonMode.FILL,
        offset_tri=offset != (0.0, 0.0),
        offset_line=offset != (0.0, 0.0),
        offset_scale=offset[0],
        offset_units=offset[1],
    )
    target.set_tests(depth_enabled=True, depth_func=CompareFunc.ALWAYS)
    target.draw(Primitive(scene["mode"]), scene["positions"], scene["colors"])
    return target.image(0), target.image(1), target.depths()


def _everything() -> Any:
    from gallette.pipe.state import ScissorState

    return ScissorState(0, 0, EXTENT, EXTENT)


T, L, P = Primitive.TRIANGLES, Primitive.LINES, Primitive.POINTS
EXACT: dict[str, list[Scene]] = {
    "triangles": scenes(12, 3, T),
    "triangles on half pixels": scenes(16, 3, T, grid=2),
    "triangles on quarter pixels": scenes(16, 3, T, high=12, grid=4),
    "triangles in perspective": scenes(12, 3, T, w=(0.5, 4)),
    "triangles, flat": scenes(8, 3, T, interpolation="flat"),
    "triangles, noperspective": scenes(8, 3, T, w=(0.5, 4), interpolation="noperspective"),
    "strips": scenes(6, 7, Primitive.TRIANGLE_STRIP),
    "strips, flat": scenes(6, 7, Primitive.TRIANGLE_STRIP, interpolation="flat"),
    "fans": scenes(6, 7, Primitive.TRIANGLE_FAN),
    "fans, flat": scenes(6, 7, Primitive.TRIANGLE_FAN, interpolation="flat"),
    "triangles across the border": scenes(16, 3, T, -8, 72),
    "huge triangles": scenes(16, 3, T, -200, 300),
    "triangles across the border in perspective": scenes(16, 3, T, -8, 72, w=(0.5, 4)),
    "triangles across the depth range": scenes(12, 3, T, z=(-2, 2)),
    "triangles behind the eye": scenes(16, 3, T, w=(-1, 4)),
    "points": scenes(12, 3, P),
    "points of size 4.5 on half pixels": scenes(12, 2, P, -2, 66, grid=2, size=4.5),
    "tiny points": scenes(8, 8, P, size=0.5),
    "lines": scenes(24, 2, L),
    "short lines": scenes(32, 2, L, 30, 34),
    "lines on pixels": scenes(32, 2, L, 10, 30, grid=1),
    # Ends on borders of diamonds are as in windows of llvmpipe (test_lines_from_centers.py), which
    # differ from its framebuffer objects: those count rows the other way.
    "lines across the border": scenes(16, 2, L, -20, 84),
    "lines in perspective": scenes(12, 2, L, w=(0.5, 3)),
    "wide lines": scenes(12, 2, L, line_width=3.0),
    "line strips": scenes(8, 5, Primitive.LINE_STRIP),
    "line loops": scenes(8, 5, Primitive.LINE_LOOP),
    "wireframe": scenes(8, 6, T, polygon_mode="line"),
    "wireframe strip": scenes(8, 6, Primitive.TRIANGLE_STRIP, polygon_mode="line"),
}
CLOSE: dict[str, list[Scene]] = {
    "depth offset": scenes(12, 3, T, z=(-0.5, 0.5), offset=(1.5, 4.0)),
}


@pytest.mark.native
@pytest.mark.parametrize("name", [*EXACT, *CLOSE])
def test_primitives_are_those_of_llvmpipe(
    name: str, canvas: Callable[..., Any], natively: Callable[..., Any]
) -> None:
    wanted = EXACT.get(name) or CLOSE[name]
    reference = natively(wanted)
    if reference is None:
        missing("the picture could not be drawn")
    for scene, native in zip(wanted, reference, strict=True):
        here = render_here(canvas, scene)
        covered, covered_here = native[1][..., 0] != NOTHING, here[1][..., 0] != NOTHING
        np.testing.assert_array_equal(covered_here, covered)
        if name in EXACT:
            for image, other in zip(here, native, strict=True):
                np.testing.assert_array_equal(image, other)
        else:
            for image, other in zip(here, native, strict=True):
                np.testing.assert_allclose(image, other, rtol=0, atol=4e-6)
