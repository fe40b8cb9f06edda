"""Points, lines and smooth primitives that machine code fills: the same bits as those of the shared
rasterizer.
"""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest

import gallette
from gallette.drivers.common.draw import pipeline
from gallette.drivers.common.output.engine import FragmentRun
from gallette.drivers.common.raster import primitives
from gallette.drivers.jit import draw_plan
from tests.jit.whole_pictures import refused

VERTEX = """#version 330
in vec4 place; in vec3 value; in float size;
out vec3 smoothly; noperspective out vec3 straight; flat out vec3 one; centroid out vec3 centre;
void main() {
    smoothly = straight = one = centre = value;
    gl_PointSize = size;
    gl_Position = place;
}
"""
FRAGMENT = """#version 330
in vec3 smoothly; noperspective in vec3 straight; flat in vec3 one; centroid in vec3 centre;
out vec4 color;
void main() {
    vec3 mean = smoothly * 0.4 + straight * 0.3 + one * 0.1 + centre * 0.2;
    color = vec4(mean + vec3(gl_PointCoord * 0.2, gl_FragCoord.w * 0.1),
                 gl_FragCoord.z * 0.5 + float(gl_PrimitiveID & 3) / 6.0);
}
"""
POINT_SMOOTH, LINE_SMOOTH, POLYGON_SMOOTH, PROGRAM_POINT_SIZE = 0x0B10, 0x0B20, 0x0B41, 0x8642
STATES = [
    (moderngl.POINTS, 1.0, None),
    (moderngl.POINTS, 5.3, None),
    (moderngl.POINTS, 1.0, PROGRAM_POINT_SIZE),
    (moderngl.POINTS, 9.4, POINT_SMOOTH),
    (moderngl.LINES, 1.0, None),
    (moderngl.LINE_STRIP, 3.5, None),
    (moderngl.LINE_LOOP, 7.0, None),
    (moderngl.LINES, 2.5, LINE_SMOOTH),
    (moderngl.TRIANGLES, 1.0, POLYGON_SMOOTH),
]


def drawn(driver: str, state: tuple[int, float, int | None], samples: int) -> list[Any]:
    """Pictures and the numbers of samples that passed."""
    ctx = moderngl.create_context(
        standalone=True, context=gallette.moderngl_context(driver, profile="compat")
    )
    program = ctx.program(VERTEX, FRAGMENT)
    return [one_picture(ctx, program, state, samples, seed) for seed in range(4)]


def one_picture(
    ctx: moderngl.Context,
    program: moderngl.Program,
    state: tuple[int, float, int | None],
    samples: int,
    seed: int,
) -> tuple[bytes, int]:
    mode, width, enabled = state
    random = np.random.default_rng(seed)
    count = 120
    w = random.uniform(0.3, 3, (count, 1)) if seed % 2 else np.ones((count, 1))
    xy = random.uniform(-1.2, 1.2, (count, 2))
    if seed % 3 == 0:  # on the borders and centres of pixels
        xy = np.round(xy * 32) / 32
    z = random.uniform(-1.1, 1.1, (count, 1))
    columns = [xy * w, z * w, w, random.random((count, 3)), random.uniform(0, 20, (count, 1))]
    data = ctx.buffer(np.concatenate(columns, 1).astype(np.float32).tobytes())
    names = "place", "value", "size"
    array = ctx.vertex_array(program, [(data, "4f 3f 1f", *names)])
    size = 101, 97
    target = ctx.framebuffer(
        [ctx.renderbuffer(size, 4, samples=samples)], ctx.depth_renderbuffer(size, samples=samples)
    )
    target.use()
    target.clear(0.1, 0.2, 0.3, 0.4, depth=1.0)
    ctx.enable_only(moderngl.DEPTH_TEST if seed % 2 else moderngl.BLEND)
    if enabled is not None:
        ctx.enable_direct(enabled)
    ctx.point_size = ctx.line_width = width
    query = ctx.query(samples=True)
    with query:
        array.render(mode)
    single = ctx.framebuffer([ctx.renderbuffer(size, 4)])
    ctx.copy_framebuffer(single, target)
    return single.read(components=4), query.samples


@pytest.mark.parametrize("plans", [True, False])
@pytest.mark.parametrize("samples", [0, 4])
@pytest.mark.parametrize("state", STATES)
def test_jit_draws_what_numpipe_draws(
    state: tuple[int, float, int | None],
    samples: int,
    plans: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Machine code draws all of it, by plans or from vertices of the shared stages."""
    wanted = drawn("numpipe", state, samples)
    assert min(passed for _, passed in wanted) > 40
    if plans:
        monkeypatch.setattr(pipeline, "rasterize", refused)
    else:
        monkeypatch.setattr(draw_plan, "make_plan", lambda draw, mode: None)
        monkeypatch.setattr(FragmentRun, "draw", refused)
    found = drawn("jit", state, samples)
    assert [one == other for one, other in zip(found, wanted, strict=True)] == [True] * 4


FACES = """#version 330
flat in vec3 one;
out vec4 color;
void main() { color = vec4(one.xy, gl_FrontFacing, 1.0); }
"""


def lines_between_pixels(driver: str, mode: int, width: float, wireframe: bool) -> list[bytes]:
    """Lines in all directions whose ends are on the centres, borders and corners of pixels."""
    ctx = moderngl.create_context(
        standalone=True, context=gallette.moderngl_context(driver, profile="compat")
    )
    program, size = ctx.program(VERTEX, FACES), 32
    target = ctx.framebuffer([ctx.renderbuffer((size, size), 4)])
    target.use()
    ctx.line_width, ctx.wireframe = width, wireframe
    found = []
    for seed, steps in enumerate((1, 2, 4, 8)):  # of a pixel
        random = np.random.default_rng(seed)
        count = 90
        columns = np.zeros((count, 8), np.float32)
        columns[:, :2] = random.integers(-size * steps, size * steps, (count, 2)) / (size * steps)
        columns[:, 3], columns[:, 4:7] = 1, random.random((count, 3))
        data = ctx.buffer(columns.tobytes())
        target.clear()
        ctx.vertex_array(program, [(data, "4f 3f 4x", "place", "value")]).render(mode)
        found.append(target.read(components=4))
    return found


@pytest.mark.parametrize("width", [1.0, 4.0])
@pytest.mark.parametrize("wireframe", [False, True])
def test_ends_of_lines_are_those_of_the_shared_rasterizer(
    width: float, wireframe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machine code sets them up."""
    mode = moderngl.TRIANGLES if wireframe else moderngl.LINES
    wanted = lines_between_pixels("numpipe", mode, width, wireframe)
    monkeypatch.delattr(primitives, "set_up_lines")
    assert lines_between_pixels("jit", mode, width, wireframe) == wanted
    assert len(set(wanted)) == 4
