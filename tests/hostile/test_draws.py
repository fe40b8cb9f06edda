"""Draws with numbers at the edges of what calls and commands in buffers can say."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface
from tests.hostile.programs import linked, storage, words

TOLD = """layout(std430, binding = 0) buffer Told { int told[]; };
void main() {
    told[0] = gl_BaseInstance; told[1] = gl_BaseVertex; told[2] = gl_VertexID;
    gl_Position = vec4(0.0, 0.0, 0.0, 1.0);
}"""
PLAIN = "out vec4 color; void main() { color = vec4(1.0, 0.5, 0.25, 1.0); }"
EVERYWHERE = """
void main() { gl_Position = vec4(ivec2(gl_VertexID & 1, gl_VertexID >> 1) * 4 - 1, 0, 1); }"""


def indirect(gl: GLInterface, *command: int) -> None:
    """A buffer of a command, bound."""
    (name,) = gl.create_buffers(1)
    gl.named_buffer_data(name, 4 * len(command), np.array(command, np.uint32), GL.STATIC_DRAW)
    gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, name)


@pytest.mark.parametrize("base", [0, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
def test_instances_begin_anywhere(gl: GLInterface, base: int) -> None:
    told = storage(gl, 0, 16)
    linked(gl, VERTEX=TOLD, FRAGMENT=PLAIN)
    gl.draw_arrays_instanced_base_instance(GL.POINTS, 5, 1, 1, base)
    assert words(gl, told, 1) == [base]
    assert gl.get_error() == GL.NO_ERROR


@pytest.mark.parametrize("first", [0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE])
def test_vertices_of_a_command_begin_anywhere(gl: GLInterface, first: int) -> None:
    told = storage(gl, 0, 16)
    linked(gl, VERTEX=TOLD, FRAGMENT=PLAIN)
    indirect(gl, 1, 1, first, 0)
    gl.draw_arrays_indirect(GL.POINTS, 0)
    assert words(gl, told, 3) == [0, 0, first]
    assert gl.get_error() == GL.NO_ERROR


def test_commands_name_no_indices_in_other_memory(gl: GLInterface) -> None:
    linked(gl, VERTEX=EVERYWHERE, FRAGMENT=PLAIN)
    indirect(gl, 3, 1, 0x10000000, 0, 0)
    gl.draw_elements_indirect(GL.TRIANGLES, GL.UNSIGNED_INT, 0)
    assert gl.get_error() == GL.INVALID_OPERATION


@pytest.mark.parametrize("domain", ["triangles", "quads"])
@pytest.mark.parametrize("level", ["nan", "inf", "-inf", "-3.0", "1e30"])
def test_inner_levels_that_mean_nothing(gl: GLInterface, level: str, domain: str) -> None:
    evaluation = f"layout({domain}) in; void main() {{ gl_Position = vec4(gl_TessCoord, 1.0); }}"
    linked(gl, VERTEX=EVERYWHERE, TESS_EVALUATION=evaluation, FRAGMENT=PLAIN)
    gl.patch_parameteri(GL.PATCH_VERTICES, 3)
    gl.patch_parameterfv(GL.PATCH_DEFAULT_INNER_LEVEL, np.full(2, float(level), np.float32))
    gl.draw_arrays(GL.PATCHES, 0, 3)
    assert bytes(gl.read_pixels(20, 18, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))[0] == 255
    assert gl.get_error() == GL.NO_ERROR


@pytest.mark.parametrize("samples", [0, 4])
def test_integers_written_to_colours(gl: GLInterface, samples: int) -> None:
    """Which ones is undefined."""
    (fbo,), (buffer,) = gl.create_framebuffers(1), gl.create_renderbuffers(1)
    gl.named_renderbuffer_storage_multisample(buffer, samples, GL.RGBA8, 32, 32)
    gl.named_framebuffer_renderbuffer(fbo, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    linked(
        gl,
        VERTEX=EVERYWHERE,
        FRAGMENT="out ivec3 color; void main() { color = ivec3(gl_FragCoord.x, 2, -1); }",
    )
    for blends in (gl.disable, gl.enable):
        blends(GL.BLEND)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
        gl.finish()
    assert gl.get_error() == GL.NO_ERROR
