"""Small draws of several states on jit: the picture is that of numpipe, one after the other."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.drivers.common import threads
from gallette.drivers.common.draw import queue

Array = npt.NDArray[Any]
SIZE = (150, 139)

VERTEX = """
#version 330
in vec2 position; uniform vec4 place; out vec2 uv;
void main() {
    uv = position * 0.5 + 0.5;
    gl_Position = vec4(position * place.w + place.xy, place.z, 1.0);
}
"""
TEXTURED = """
#version 330
uniform sampler2D image; uniform vec4 tint; in vec2 uv; out vec4 o;
void main() { o = texture(image, uv) * tint; }
"""
DISCARDING = """
#version 330
uniform vec4 tint; in vec2 uv; out vec4 o;
void main() {
    if (fract(uv.x * 4.0) < 0.3) discard;
    o = vec4(tint.xyz, 0.5); gl_FragDepth = gl_FragCoord.z * 0.5 + tint.w * 0.25;
}
"""


def drawn(driver: str, mode: int = moderngl.TRIANGLE_STRIP, samples: int = 0) -> Array:
    """Many small squares: other states, textures, arrays and programs before each."""
    window = gallette.moderngl_context(driver)
    with moderngl.create_context(standalone=True, context=window) as ctx:
        rng = np.random.default_rng(5)
        programs = [ctx.program(VERTEX, source) for source in (TEXTURED, DISCARDING)]
        square = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], "f4")
        buffers = [ctx.buffer((square * scale).astype("f4").tobytes()) for scale in (1, 0.6, 1.3)]
        arrays = [[ctx.vertex_array(p, [(b, "2f", "position")]) for b in buffers] for p in programs]
        pictures = rng.integers(0, 256, (4, 8, 8, 4), dtype=np.uint8)
        textures = [ctx.texture((8, 8), 4, each.tobytes()) for each in pictures]
        textures[1].filter = ctx.NEAREST, ctx.NEAREST
        target = ctx.framebuffer(
            [ctx.texture(SIZE, 4) if not samples else ctx.renderbuffer(SIZE, 4, samples)],
            ctx.depth_renderbuffer(SIZE, samples),
        )
        target.use()
        target.clear(0.2, 0.3, 0.4, 1.0)
        ctx.finish()
        state = window.pipe_framebuffer
        attached = [surface.resource for surface in (*state.cbufs, state.zsbuf)]
        before = [resource.writes for resource in attached]
        for _ in range(100):
            kind = int(rng.random() < 0.3)
            flags = (ctx.BLEND, ctx.DEPTH_TEST, ctx.CULL_FACE)
            ctx.enable_only(sum(flag for flag in flags if rng.random() < 0.4))
            target.scissor = (20, 10, 90, 110) if rng.random() < 0.2 else None
            textures[int(rng.integers(4))].use()
            programs[kind]["place"].value = (*rng.uniform(-1, 1, 2), rng.uniform(-0.9, 0.9), 0.2)
            programs[kind]["tint"].value = tuple(rng.random(4))
            arrays[kind][int(rng.integers(3))].render(mode)
        ctx.finish()
        for resource, writes in zip(attached, before, strict=True):
            assert resource.writes > writes, "what is kept of contents would be old"
        if samples:
            plain = ctx.framebuffer([ctx.texture(SIZE, 4)])
            ctx.copy_framebuffer(plain, target)
            target = plain
        return np.frombuffer(target.read(components=4), np.uint8)


@pytest.mark.parametrize("samples", [0, 4])
def test_each_pixel_has_its_draws_in_order(samples: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "thread_count", lambda count=count: count)
        found.append(drawn("jit", samples=samples))
    monkeypatch.setattr(queue, "SMALL", 0)  # without plans
    wanted = drawn("jit" if samples else "numpipe", samples=samples)
    assert len(np.unique(wanted)) > 100
    assert [np.array_equal(have, wanted) for have in found] == [True, True]


def test_points_have_their_order_too(monkeypatch: pytest.MonkeyPatch) -> None:
    have = drawn("jit", moderngl.POINTS)
    monkeypatch.setattr(queue, "SMALL", 0)
    assert np.array_equal(have, drawn("numpipe", moderngl.POINTS))


WITHOUT_PLANS = {
    "points": (moderngl.POINTS, 0, False),
    "lines of several samples": (moderngl.LINES, 4, False),
    "edges of triangles": (moderngl.TRIANGLE_STRIP, 0, True),
}


@pytest.mark.parametrize("which", WITHOUT_PLANS)
def test_pending_draws_without_a_plan_read_textures_of_their_own(which: str) -> None:
    mode, samples, edges = WITHOUT_PLANS[which]

    def picture(driver: str, together: bool) -> Array:
        window = gallette.moderngl_context(driver)
        with moderngl.create_context(standalone=True, context=window) as ctx:
            program = ctx.program(VERTEX, TEXTURED)
            rng = np.random.default_rng(6)
            texels = rng.integers(0, 256, (3, 8, 8, 4), dtype=np.uint8)
            textures = [ctx.texture((8, 8), 4, each.tobytes()) for each in texels]
            array = ctx.vertex_array(
                program, [(ctx.buffer(rng.random(24, "f4")), "2f", "position")]
            )
            target = ctx.framebuffer([ctx.renderbuffer(SIZE, 4, samples)])
            target.use()
            ctx.wireframe = edges
            program["tint"].value = (1, 1, 1, 1)
            for number in range(60):
                textures[number % 3].use()
                program["place"].value = (*rng.uniform(-1, 1, 3), 0.5)
                array.render(mode)
                if not together:
                    ctx.finish()
            plain = ctx.framebuffer([ctx.texture(SIZE, 4)])
            ctx.copy_framebuffer(plain, target)
            return np.frombuffer(plain.read(components=4), np.uint8)

    wanted = picture("jit", False)
    assert len(np.unique(wanted)) > 50
    for driver in ("jit", "numpipe"):
        assert np.array_equal(picture(driver, True), wanted)
