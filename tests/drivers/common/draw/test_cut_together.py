"""Draws that are cut at the edges of the view, together with others that are not."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest

import gallette
from gallette.drivers.common.draw import execution, queue

VERTEX = """
#version 330
in vec2 position; uniform vec2 offset; out vec2 at;
void main() { gl_Position = vec4(position + offset, 0.1, 1.0); at = position; }
"""
FRAGMENT = """
#version 330
in vec2 at; uniform sampler2D image; out vec4 color;
void main() { color = texture(image, at) * vec4(fract(at * 3.0), 1.0, 0.5); }
"""
CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [-1, 1], [1, -1], [1, 1]], np.float32) * 0.4
PLACES = (0.0, 0.0), (0.8, 0.1), (-0.9, -0.9), (0.1, 0.1), (0.2, 1.1), (0.7, 0.0)


def picture(blended: bool, textures: int) -> bytes:
    window = gallette.moderngl_context("numpipe")
    with moderngl.create_context(standalone=True, context=window) as gl:
        frame = gl.framebuffer([gl.texture((40, 30), 4)])
        frame.use()
        frame.clear(0.1, 0.2, 0.3, 1.0)
        if blended:
            gl.enable(gl.BLEND)
        random = np.random.default_rng(1)
        pixels = random.integers(0, 256, (2, 8, 8, 4), np.uint8)
        images = [gl.texture((8, 8), 4, image.tobytes()) for image in pixels]
        program = gl.program(VERTEX, FRAGMENT)
        array = gl.vertex_array(program, [(gl.buffer(CORNERS.tobytes()), "2f", "position")])
        for number, place in enumerate(PLACES * 2):
            images[number % textures].use()
            program["offset"] = place
            array.render(moderngl.TRIANGLES, vertices=3 if number % 3 else 6)
        return frame.read(components=4)


@pytest.mark.parametrize("textures", [1, 2])
@pytest.mark.parametrize("blended", [False, True])
def test_nobody_can_tell(blended: bool, textures: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "WORTH_MERGING", 2)
    found = picture(blended, textures)
    monkeypatch.setattr(queue, "SMALL", 0)  # one draw after the other
    assert picture(blended, textures) == found
    assert len(np.unique(np.frombuffer(found, np.uint32))) > 50
