"""Blending and masks belong to draw buffers, whichever of them are in use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import compiled, errors, quad

SIZE = 8
VERTEX = (
    "#version 330\nin vec2 position;\nvoid main() { gl_Position = vec4(position, 0.0, 1.0); }\n"
)
FRAGMENT = """#version 330
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
void main() { first = vec4(0.25); second = vec4(0.5); }
"""


def two_targets(gl: Any) -> None:
    """A framebuffer of two cleared colour buffers, a program for both, a rectangle."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for i in range(2):
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, SIZE, SIZE)
        gl.framebuffer_renderbuffer(
            GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0 + i, GL.RENDERBUFFER, buffer
        )
    gl.draw_buffers(2, np.array([GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1], np.uint32))
    gl.clear_color(0.25, 0.25, 0.25, 0.25)
    gl.clear(GL.COLOR_BUFFER_BIT)
    program = gl.create_program()
    for kind, source in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, FRAGMENT)):
        gl.attach_shader(program, compiled(gl, kind, source))
    gl.link_program(program)
    gl.use_program(program)
    gl.viewport(0, 0, SIZE, SIZE)
    quad(gl, program)


def color(gl: Any, index: int) -> int:
    gl.read_buffer(GL.COLOR_ATTACHMENT0 + index)
    return int(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)[0])


@pytest.mark.parametrize("side", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_the_second_buffer_keeps_its_blending_when_the_first_is_none(side: str) -> None:
    options = {"profile": "core", "version": (3, 3)}
    gl: Any = (
        native_context(**options) if side == "native" else create_context("numpipe", **options)
    )
    two_targets(gl)
    gl.enablei(GL.BLEND, 1)
    gl.blend_func(GL.ONE, GL.ONE)
    gl.draw_buffers(2, np.array([GL.NONE, GL.COLOR_ATTACHMENT1], np.uint32))
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert (color(gl, 0), color(gl, 1)) == (64, 192)
    gl.draw_buffers(2, np.array([GL.COLOR_ATTACHMENT0, GL.COLOR_ATTACHMENT1], np.uint32))
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert (color(gl, 0), color(gl, 1)) == (64, 255)
    gl.release()


@pytest.mark.parametrize("side", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_two_source_colours_are_for_one_buffer_only(side: str) -> None:
    options = {"profile": "core", "version": (3, 3)}
    gl: Any = (
        native_context(**options) if side == "native" else create_context("numpipe", **options)
    )
    two_targets(gl)
    gl.enable(GL.BLEND)
    gl.blend_func(GL.ONE, GL.SRC1_COLOR)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    assert (color(gl, 0), color(gl, 1)) == (64, 64)
    gl.blend_func(GL.ONE, GL.ONE)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert errors(gl) == []
    assert (color(gl, 0), color(gl, 1)) == (128, 192)
    gl.release()
