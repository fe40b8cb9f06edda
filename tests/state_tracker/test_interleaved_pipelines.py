"""Pipelines in turn: what is bound while one is in use that does not read it waits for the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from tests.state_tracker.helpers import errors

HEAD = "#version 430\n"
VERTEX = f"""{HEAD}
out gl_PerVertex {{ vec4 gl_Position; }};
void main() {{
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
}}"""
PLAIN = f"{HEAD} out vec4 result; void main() {{ result = vec4(1.0); }}"
READERS = {
    "storage": "layout(std430, binding = 0) readonly buffer B { vec4 color; };",
    "block": "layout(std140, binding = 0) uniform B { vec4 color; };",
    "image": "layout(rgba32f, binding = 0) readonly uniform image2D I;\n"
    "#define color imageLoad(I, ivec2(0))",
    "texture": "layout(binding = 0) uniform sampler2D T;\n#define color texelFetch(T, ivec2(0), 0)",
    "counter": "layout(binding = 0, offset = 0) uniform atomic_uint C;\n"
    "#define color vec4(float(atomicCounter(C)) / 4.0, 0.0, 0.0, 1.0)",
}
FIRST, SECOND = (0.25, 0.5, 0.75, 1.0), (1.0, 0.0, 0.5, 1.0)


def pipeline(gl: GLInterface, fragment: str) -> int:
    (name,) = gl.gen_program_pipelines(1)
    for kind, bit, source in (
        (GL.VERTEX_SHADER, GL.VERTEX_SHADER_BIT, VERTEX),
        (GL.FRAGMENT_SHADER, GL.FRAGMENT_SHADER_BIT, fragment),
    ):
        program = gl.create_shader_programv(kind, 1, [source])
        assert gl.get_programiv(program, GL.LINK_STATUS)[0], gl.get_program_info_log(program)
        gl.use_program_stages(name, bit, program)
    return int(name)


def buffer(gl: GLInterface, target: int, color: tuple[float, ...]) -> Callable[[], None]:
    """Makes a buffer; what is answered binds it."""
    (name,) = gl.gen_buffers(1)
    data = np.array(color, np.float32)
    if target == GL.ATOMIC_COUNTER_BUFFER:
        data = np.array([color[0] * 4] * 4, np.uint32)
    gl.bind_buffer(target, name)
    gl.buffer_data(target, 16, data, GL.STATIC_DRAW)
    return lambda: gl.bind_buffer_base(target, 0, name)


def picture(gl: GLInterface, image: bool, color: tuple[float, ...]) -> Callable[[], None]:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA32F, 1, 1)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.FLOAT, np.array(color, np.float32))
    gl.bind_texture(GL.TEXTURE_2D, 0)
    if image:
        return lambda: gl.bind_image_texture(0, name, 0, 0, 0, GL.READ_ONLY, GL.RGBA32F)
    return lambda: gl.bind_texture(GL.TEXTURE_2D, name)


def colors(gl: GLInterface, reader: str) -> list[Callable[[], None]]:
    targets = {
        "storage": GL.SHADER_STORAGE_BUFFER,
        "block": GL.UNIFORM_BUFFER,
        "counter": GL.ATOMIC_COUNTER_BUFFER,
    }
    if reader in targets:
        return [buffer(gl, targets[reader], color) for color in (FIRST, SECOND)]
    return [picture(gl, reader == "image", color) for color in (FIRST, SECOND)]


def drawn(gl: GLInterface, name: int) -> list[float]:
    gl.bind_program_pipeline(name)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    raw = bytes(gl.read_pixels(8, 8, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))
    assert errors(gl) == []
    found: list[float] = (np.frombuffer(raw, np.uint8) / 255).tolist()
    return found


@pytest.mark.parametrize("reader", READERS)
def test_what_was_bound_beside_another_pipeline_is_read(gl: GLInterface, reader: str) -> None:
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    source = f"{HEAD}{READERS[reader]}\nout vec4 result; void main() {{ result = color; }}"
    reads, plain = pipeline(gl, source), pipeline(gl, PLAIN)
    first, second = colors(gl, reader)

    def expected(color: tuple[float, ...]) -> list[float]:
        return [color[0], 0.0, 0.0, 1.0] if reader == "counter" else list(color)

    first()
    assert drawn(gl, plain) == [1.0] * 4  # before the other has ever been drawn with
    assert drawn(gl, reads) == pytest.approx(expected(FIRST), abs=0.003)
    assert drawn(gl, plain) == [1.0] * 4
    second()
    assert drawn(gl, plain) == [1.0] * 4
    assert drawn(gl, reads) == pytest.approx(expected(SECOND), abs=0.003)
    first()
    assert drawn(gl, reads) == pytest.approx(expected(FIRST), abs=0.003)


@pytest.mark.parametrize("reader", READERS)
def test_a_stage_that_comes_into_a_pipeline_finds_it(gl: GLInterface, reader: str) -> None:
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    source = f"{HEAD}{READERS[reader]}\nout vec4 result; void main() {{ result = color; }}"
    name = pipeline(gl, PLAIN)
    program = gl.create_shader_programv(GL.FRAGMENT_SHADER, 1, [source])
    first, _ = colors(gl, reader)
    first()
    assert drawn(gl, name) == [1.0] * 4
    gl.use_program_stages(name, GL.FRAGMENT_SHADER_BIT, program)
    assert drawn(gl, name)[0] == pytest.approx(FIRST[0], abs=0.003)
