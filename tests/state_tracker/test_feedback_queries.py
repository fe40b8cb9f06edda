"""Program interface queries about transform feedback: varyings, and the buffers they go to."""

from __future__ import annotations

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import compiled, errors

VERTEX = """#version 430
#extension GL_ARB_enhanced_layouts : require
layout(xfb_buffer = 1) out;
layout(xfb_offset = 0) out float a; layout(xfb_offset = 4) out float b[2];
layout(xfb_buffer = 3, xfb_stride = 40) out;
layout(xfb_offset = 0, xfb_buffer = 3) out float c; layout(xfb_offset = 4) out vec4 d;
void main() { gl_Position = d = vec4(0.0); a = b[0] = b[1] = c = 1.0; }"""


def asked(gl: GLInterface, name: int) -> list[object]:
    buffers, varyings = GL.TRANSFORM_FEEDBACK_BUFFER, GL.TRANSFORM_FEEDBACK_VARYING
    found: list[object] = []
    for pname in (GL.ACTIVE_RESOURCES, GL.MAX_NUM_ACTIVE_VARIABLES):
        found.append(gl.get_program_interfaceiv(name, buffers, pname)[0])
    properties = (
        GL.BUFFER_BINDING, GL.NUM_ACTIVE_VARIABLES, GL.TRANSFORM_FEEDBACK_BUFFER_STRIDE,
        GL.ACTIVE_VARIABLES,
    )  # fmt: skip
    for index in range(2):
        for pname in properties:
            found.append(_of(gl, name, buffers, index, pname))
    for index in range(4):
        found.append(gl.get_program_resource_name(name, varyings, index))
        for pname in (GL.OFFSET, GL.TRANSFORM_FEEDBACK_BUFFER_INDEX, GL.ARRAY_SIZE):
            found.append(_of(gl, name, varyings, index, pname))
    assert errors(gl) == []
    gl.get_program_resource_name(name, buffers, 0)
    found.append(errors(gl))
    gl.get_program_interfaceiv(name, buffers, GL.MAX_NAME_LENGTH)
    found.append(errors(gl))
    gl.get_program_resource_index(name, buffers, "a")
    found.append(errors(gl))
    return found


def _of(gl: GLInterface, name: int, interface: int, index: int, pname: int) -> list[int]:
    values = [-7] * 4
    count = 2 if pname == GL.ACTIVE_VARIABLES else 1
    values = gl.get_program_resourceiv(name, interface, index, 1, [pname])
    return list(values[:count])


@pytest.mark.native
def test_feedback_buffers_are_resources() -> None:
    answers = []
    for gl in (
        create_context("numpipe", version=(4, 3), size=(4, 4)),
        native_context(profile="core", version=(4, 3), size=(4, 4)),
    ):
        name = gl.create_program()
        gl.attach_shader(name, compiled(gl, GL.VERTEX_SHADER, VERTEX))
        gl.link_program(name)
        assert gl.get_programiv(name, GL.LINK_STATUS)[0], gl.get_program_info_log(name)
        answers.append(asked(gl, name))
        gl.delete_program(name)
        gl.release()
    assert answers[0] == answers[1]
    assert answers[0][:6] == [2, 2, [1], [2], [12], [0, 1]]
