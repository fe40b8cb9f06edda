"""Fragments that read and write images and buffers: in tiles, and as numpipe does it."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

from gallette.drivers.common.storage.images import ImageUnit
from tests.jit.whole_pictures import SIZE, VERTEX, same, target, triangles

DECLARED = """#version 430
EARLY
layout(binding = 0, rgba8) uniform image2D seen;
layout(binding = 1, r32ui) uniform uimage2D count;
layout(binding = 0) uniform atomic_uint total;
layout(std430, binding = 0) buffer Memory { uint sums[64]; uint last[]; };
in vec3 v; flat in ivec2 number; out vec4 o;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    o = vec4(v, 1.0);
    BODY
}"""

BODIES = {
    "image": "imageStore(seen, at, vec4(v.yzx, imageLoad(seen, at).w));",
    "image atomics": "o.x = float(imageAtomicAdd(count, at, 3u) & 7u) / 7.0;",
    "image sizes": "imageStore(seen, imageSize(seen) - 1 - at, vec4(v, imageLoad(count, at).x));",
    "buffer": f"last[at.y * {SIZE[0]} + at.x] = uint(number.y + last.length());",
    "buffer atomics": "atomicAdd(sums[number.y & 63], 1u); atomicMax(last[at.x], uint(at.y));",
    "counter": "atomicCounterIncrement(total);",
    "discarded": "if (v.x < 0.5) discard; atomicAdd(sums[at.y & 63], 1u);",
    "discarded later": "atomicAdd(sums[at.y & 63], 1u); if (v.x < 0.5) discard;",
    "divergent": "if (v.x < 0.5) imageStore(seen, at, vec4(v, 1.0)); else sums[at.x & 63] = 5u;",
    "derivatives": "imageStore(seen, at, abs(dFdx(v).xyzx) * 30.0);",
    "depth": "gl_FragDepth = v.x; atomicAdd(sums[at.y & 63], 1u);",
}


@pytest.mark.parametrize("body", BODIES)
def test_memory_of_fragments(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(body, False, None, monkeypatch)


@pytest.mark.parametrize("body", ["image", "discarded", "discarded later", "depth"])
def test_early_tests(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come before whatever a fragment writes, be it discarded then or without its depth."""
    _check(body, True, None, monkeypatch)


@pytest.mark.parametrize("func", ["==", "!=", "0"])
def test_fragments_that_may_fail(func: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They write all the same."""
    _check("discarded later", False, func, monkeypatch)


@pytest.mark.parametrize("body", ["image", "buffer atomics", "discarded later", "counter"])
def test_samples(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(body, False, "<", monkeypatch, 4)


def _check(
    body: str, early: bool, func: str | None, monkeypatch: pytest.MonkeyPatch, samples: int = 0
) -> None:
    def draw(context: moderngl.Context) -> bytes:
        rng = np.random.default_rng(4)
        image = context.texture(SIZE, 4, rng.integers(0, 256, SIZE[0] * SIZE[1] * 4, "u1"))
        count = context.texture(SIZE, 1, np.zeros(SIZE, "u4"), dtype="u4")
        image.bind_to_image(0)
        count.bind_to_image(1)
        memory = context.buffer(np.zeros(64 + SIZE[0] * SIZE[1], "u4"))
        memory.bind_to_storage_buffer(0)
        total = context.buffer(np.zeros(4, "u4"))
        context.extra.bind_buffer_base(0x92C0, 0, total.glo)
        frame = target(context)
        text = DECLARED.replace("BODY", BODIES[body])
        text = text.replace("EARLY", "layout(early_fragment_tests) in;" if early else "")
        vertex = VERTEX.replace("#version 330", "#version 430")
        program = context.program(vertex_shader=vertex, fragment_shader=text)
        if samples:
            several = context.framebuffer(
                [context.texture(SIZE, 4, samples=samples)],
                context.depth_renderbuffer(SIZE, samples=samples),
            )
            several.use()
            several.clear(depth=0.7)
        context.enable(moderngl.DEPTH_TEST)
        if func is not None:
            context.depth_func = func
        triangles(context, program, 60)
        if samples:
            context.copy_framebuffer(frame, several)
        found = [frame.read(components=4), image.read(), count.read(), memory.read(), total.read()]
        return b"".join(found)

    same(draw, monkeypatch, unasked=[(ImageUnit, name) for name in ("load", "store", "atomic")])


def test_a_texture_that_was_written_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is derived from an image's texels is made anew."""
    store = """#version 430
        layout(binding = 0, rgba8) uniform image2D seen; in vec3 v; out vec4 o;
        void main() { ivec2 at = ivec2(v.xy * 16.0);
            imageStore(seen, at, vec4(at.yx, 5, 16) / 16.0); o = vec4(v, 1.0); }"""
    look = """#version 430
        uniform sampler2D t; in vec3 v; out vec4 o; void main() { o = texture(t, v.xy); }"""
    vertex = VERTEX.replace("#version 330", "#version 430")

    def draw(context: moderngl.Context) -> bytes:
        frame = target(context)
        texture = context.texture((16, 16), 4, bytes(range(256)) * 4)
        texture.use(0)
        texture.bind_to_image(0)
        programs = [context.program(vertex_shader=vertex, fragment_shader=f) for f in (look, store)]
        found = b""
        for which in (0, 1, 0):
            triangles(context, programs[which], 20)
            context.memory_barrier()
            found += frame.read(components=4)
        return found

    same(draw, monkeypatch)
