"""GL misuse sets the error the specification names and changes nothing, like the native GL."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.compiler.errors import MisuseError
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, linked, program

E, OP = "GL_INVALID_ENUM", "GL_INVALID_OPERATION"


def test_errors_reach_debug_output(ours: GLInterface) -> None:
    ours.enable(GL.DEBUG_OUTPUT)
    messages: list[str] = []
    ours.debug_message_callback(lambda *m: messages.append(m[5].decode()), None)
    ours.depth_func(GL.ZERO)
    assert messages == [
        "GL_INVALID_ENUM in glDepthFunc: GL_NONE is not a valid value of GL_DEPTH_FUNC here"
    ]


def test_an_exception_inside_a_c_callback_becomes_a_gl_error(
    ours: GLInterface, capsys: pytest.CaptureFixture[str]
) -> None:
    import ctypes

    address = ours.load_opengl_function("glBufferData")
    call = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint)
    ours.draw_arrays = None
    broken = ours.load_opengl_function("glDrawArrays")
    draw = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_int, ctypes.c_int)(broken)
    draw(GL.TRIANGLES, 0, 3)
    call(address)(GL.ARRAY_BUFFER, 4, None, GL.STATIC_DRAW)
    assert errors(ours) == [OP]
    assert "bug in glDrawArrays" in capsys.readouterr().err


DRAWS: list[tuple[str, tuple[Any, ...]]] = [
    ("draw_arrays", (0, 3)),
    ("draw_arrays", (0, 0)),
    ("draw_elements", (3, GL.UNSIGNED_INT, 0)),
    ("draw_arrays_instanced", (0, 3, 2)),
    ("draw_range_elements", (0, 2, 3, GL.UNSIGNED_INT, 0)),
    ("multi_draw_arrays", ([0], [3], 1)),
    ("multi_draw_arrays", ([], [], 0)),
    ("multi_draw_elements", ([3], GL.UNSIGNED_INT, [0], 1)),
    ("multi_draw_elements", ([], GL.UNSIGNED_INT, [], 0)),
]


@pytest.mark.parametrize(("name", "args"), DRAWS)
def test_core_profiles_need_a_vertex_array(
    name: str, args: tuple[Any, ...], ours: GLInterface
) -> None:
    made = program(ours)
    for used in (0, made):  # with nothing to draw with, too
        ours.use_program(used)
        ours.bind_vertex_array(0)
        getattr(ours, name)(GL.TRIANGLES, *args)
        assert errors(ours) == [OP]
        getattr(ours, name)(99, *args)
        assert errors(ours) == [E]
        ours.bind_vertex_array(ours.gen_vertex_arrays(1)[0])
        ours.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, ours.gen_buffers(1)[0])
        getattr(ours, name)(GL.TRIANGLES, *args)
        assert errors(ours) == []


def through_pointer(gl: GLInterface, name: str, types: str, *args: object) -> None:
    """Call a function as C does; each letter is the code of an argument's type."""
    import ctypes

    kinds = {"I": ctypes.c_uint, "i": ctypes.c_int, "n": ctypes.c_ssize_t, "P": ctypes.c_void_p}
    prototype = ctypes.CFUNCTYPE(None, *[kinds[each] for each in types])
    prototype(gl.load_opengl_function(name))(*args)


def test_memory_that_is_not_there_is_an_error_for_c_programs_too(ours: GLInterface) -> None:
    ours.bind_buffer(GL.ARRAY_BUFFER, ours.gen_buffers(1)[0])
    through_pointer(ours, "glBufferData", "InPI", GL.ARRAY_BUFFER, 1 << 55, None, GL.STATIC_DRAW)
    assert errors(ours) == ["GL_OUT_OF_MEMORY"]


def test_a_runaway_shader_resets_the_context_for_c_programs_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ours = Context("numpipe", version=(4, 3), size=(4, 4), budget=1 << 20)
    kernel = """#version 430
    layout(local_size_x = 64) in;
    layout(std430, binding = 0) buffer Out { uint value[]; };
    uniform int stop;
    void main() {
        int i = 0;
        while (i != stop) i = (i + 2) & 1023;
        value[0] = uint(i);
    }
    """
    name = linked(ours, compute=kernel)
    ours.uniform1i(ours.get_uniform_location(name, "stop"), 1)
    through_pointer(ours, "glDispatchCompute", "III", 1, 1, 1)
    assert errors(ours) == ["GL_CONTEXT_LOST"]
    assert "more work than its budget" in capsys.readouterr().err
    ours.release()


def test_a_strict_context_raises_what_others_record() -> None:
    gl = create_context("noop", strict=True)
    with pytest.raises(MisuseError, match="GL_INVALID_ENUM in glEnable: 0x1234 is not a valid"):
        gl.enable(0x1234)
    assert errors(gl) == [E]
    gl.enable(GL.BLEND)
    gl.release()


def test_asking_for_errors_inside_begin_is_one(compat: GLInterface) -> None:
    compat.begin(GL.TRIANGLES)
    assert compat.get_error() == GL.NO_ERROR
    compat.end()
    assert errors(compat) == [OP]


@pytest.mark.parametrize("offset", [0, 16, 4096])
def test_no_commands_may_stand_where_the_indirect_buffer_ends(offset: int) -> None:
    gl = create_context("numpipe", version=(4, 3), size=(4, 4))
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.DRAW_INDIRECT_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.DRAW_INDIRECT_BUFFER, 16, bytes(16), GL.STATIC_DRAW)
    gl.multi_draw_arrays_indirect(GL.TRIANGLES, offset, 0, 0)
    assert gl.get_error() == GL.NO_ERROR
    gl.multi_draw_arrays_indirect(GL.TRIANGLES, offset, 1, 0)
    assert gl.get_error() == (GL.INVALID_OPERATION if offset else GL.NO_ERROR)
    gl.release()
