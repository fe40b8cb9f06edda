"""Images that a stage before fragments writes: lookups of the same texture see it afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gallette
from gallette.state_tracker import GL
from tests.state_tracker.helpers import errors, program

HEAD = "#version 430\n"
CORNERS = """
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
"""
STORES = "layout(rgba8, binding = 0) writeonly uniform image2D image;\nuniform vec4 color;\n"
STORE = "imageStore(image, ivec2(0), color);"
LOOKS = f"""{HEAD}layout(binding = 0) uniform sampler2D picture; out vec4 result;
void main() {{ result = texelFetch(picture, ivec2(0), 0); }}"""
PLAIN = f"{HEAD}void main() {{ {CORNERS} }}"
BLACK = f"{HEAD}out vec4 result; void main() {{ result = vec4(0.0); }}"
WRITERS = {
    "vertex": (f"{HEAD}{STORES}void main() {{ {CORNERS} {STORE} }}", BLACK),
    "fragment": (PLAIN, f"{HEAD}{STORES}out vec4 c; void main() {{ c = vec4(0.0); {STORE} }}"),
}


def seen(gl: Any, looks: int) -> list[int]:
    gl.use_program(looks)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = bytes(gl.read_pixels(2, 2, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))
    return np.frombuffer(raw, np.uint8).tolist()


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
def test_earlier_lookups_are_repeated_after_a_write(driver: str, writer: str) -> None:
    gl: Any = gallette.create_context(driver, version=(4, 3), size=(8, 8))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 1, 1)
    blue = np.array([0, 0, 255, 255], np.uint8)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, blue)
    gl.bind_image_texture(0, texture, 0, 0, 0, GL.WRITE_ONLY, GL.RGBA8)
    looks, writes = program(gl, PLAIN, LOOKS), program(gl, *WRITERS[writer])
    assert seen(gl, looks) == blue.tolist()
    for color in ((1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)):
        gl.use_program(writes)
        gl.uniform4f(gl.get_uniform_location(writes, "color"), *color)
        gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
        gl.memory_barrier(GL.TEXTURE_FETCH_BARRIER_BIT)
        assert seen(gl, looks) == [round(255 * part) for part in color]
    assert errors(gl) == []
    gl.release()
