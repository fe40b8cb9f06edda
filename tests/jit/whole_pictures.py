"""Whole pictures drawn by jit and by numpipe, to be compared bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import moderngl
import numpy as np
import numpy.typing as npt
import pytest

import gallette
from gallette.drivers.jit.rasterization import Rasterization

Array = npt.NDArray[Any]


SIZE = (101, 75)


Draw = Callable[[moderngl.Context], bytes]


VERTEX = """
#version 330
in vec4 position; in vec3 value; out vec3 v; flat out ivec2 number; noperspective out float line;
void main() {
    v = value; number = ivec2(gl_VertexID, gl_VertexID / 3); line = value.x;
    gl_Position = position;
}
"""


FRAGMENT = """
#version 330
in vec3 v; flat in ivec2 number; noperspective in float line; out vec4 o;
void main() {
    o = vec4(v.xy * 0.8 + 0.1, float(number.y & 7) / 7.0, line * 0.5 + 0.25);
    if (gl_FrontFacing) o.x = 1.0 - o.x;
}
"""


def picture(driver: str, draw: Draw) -> Array:
    gl = gallette.moderngl_context(driver, version=(4, 3))
    with moderngl.create_context(standalone=True, context=gl) as context:
        context.extra = gl
        return np.frombuffer(draw(context), np.uint8)


def refused(*_: object, **__: object) -> None:
    raise AssertionError("a shared unit was asked")


def same(
    draw: Draw,
    monkeypatch: pytest.MonkeyPatch,
    natively: bool = True,
    unasked: Sequence[tuple[type, str]] = (),
) -> None:
    """Both pictures are equal, machine code filled tiles (or did not) and called no method of
    `unasked`.
    """
    calls = []
    call = Rasterization._call
    monkeypatch.setattr(Rasterization, "_call", lambda *args: calls.append(1) or call(*args))
    with monkeypatch.context() as patched:
        for owner, method in unasked:
            patched.setattr(owner, method, refused)
        have = picture("jit", draw)
    assert bool(calls) is natively
    wanted = picture("numpipe", draw)
    assert len(np.unique(wanted)) > 4
    assert np.array_equal(have, wanted), np.abs(have.astype(int) - wanted).max()


def triangles(context: moderngl.Context, program: moderngl.Program, count: int = 120) -> None:
    rng = np.random.default_rng(7)
    w = rng.uniform(0.7, 1.6, (count * 3, 1))
    place = rng.uniform(-1.2, 1.2, (count * 3, 3)) * w
    vertices = np.concatenate((place, w, rng.uniform(0, 1, (count * 3, 3))), axis=1)
    buffer = context.buffer(vertices.astype("f4").tobytes())
    names = [("position", "4f"), ("value", "3f")]
    used = [n for n, _ in names if n in program]
    layout = " ".join(f if n in program else f"{f[0]}x4" for n, f in names)
    context.vertex_array(program, [(buffer, layout, *used)]).render()


def target(context: moderngl.Context, components: int = 4, dtype: str = "f1") -> Any:
    frame = context.framebuffer(
        [context.texture(SIZE, components, dtype=dtype)], context.depth_renderbuffer(SIZE)
    )
    frame.use()
    frame.clear(0.25, 0.5, 0.75, 1.0, depth=0.9)
    return frame
