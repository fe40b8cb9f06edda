"""A draw that ends in an error may have written: derived facts of its attachments are dropped."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

import gallette
from gallette.drivers.common.output.engine import FragmentEngine

VERTEX = """
#version 330
in vec2 position; out vec2 uv;
void main() { uv = position * 0.5 + 0.5; gl_Position = vec4(position, 0.0, 1.0); }
"""
PAINTED = """
#version 330
uniform vec4 tint; out vec4 color;
void main() { color = tint; }
"""
SAMPLED = """
#version 330
uniform sampler2D image; in vec2 uv; out vec4 color;
void main() { color = texture(image, uv); }
"""
SIZE = 64, 64  # so large that copies for sampling are kept
COVERING = np.array([[-1, -1], [3, -1], [-1, 3]], np.float32)


@pytest.mark.parametrize("draws", [1, 8])
def test_pictures_of_failed_draws_are_sampled_as_they_are(
    draws: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = gallette.moderngl_context("numpipe")
    with moderngl.create_context(standalone=True, context=window) as gl:
        picture, seen = gl.texture(SIZE, 4), gl.texture(SIZE, 4)
        picture.filter = gl.LINEAR, gl.LINEAR
        into, beside = gl.framebuffer([picture]), gl.framebuffer([seen])
        corners = gl.buffer(COVERING.tobytes())
        paint, show = (gl.program(VERTEX, fragment) for fragment in (PAINTED, SAMPLED))
        painting = gl.vertex_array(paint, [(corners, "2f", "position")])
        showing = gl.vertex_array(show, [(corners, "2f", "position")])

        def looked_at() -> bytes:
            beside.use()
            picture.use()
            showing.render()
            return bytes(seen.read())

        into.clear(0, 0, 1, 1)
        for _ in range(3):  # what is kept of it is so from the second time on
            assert looked_at() == picture.read()

        def fail(engine: FragmentEngine) -> None:
            raise MemoryError

        into.use()
        with monkeypatch.context() as patched:
            patched.setattr(FragmentEngine, "finish", fail)
            for _ in range(draws):
                paint["tint"] = 1, 0, 0, 1
                painting.render()
            gl.finish()
            assert gl.error == "GL_OUT_OF_MEMORY"
        assert picture.read()[:4] == b"\xff\0\0\xff"
        assert looked_at() == picture.read()
