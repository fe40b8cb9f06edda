"""GL misuse sets the error the specification names and changes nothing, like the native GL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gallette.compiler.errors import MisuseError
from gallette.state_tracker import GL, GLInterface, create_context
from tests.state_tracker.helpers import compiled, errors, program, quad

E, V, OP = "GL_INVALID_ENUM", "GL_INVALID_VALUE", "GL_INVALID_OPERATION"
F = "GL_INVALID_FRAMEBUFFER_OPERATION"

CASES: list[tuple[str, Callable[[Any], Any], str]] = [
    ("enable nonsense", lambda gl: gl.enable(0x1234), E),
    ("disable nonsense", lambda gl: gl.disable(GL.TRIANGLES), E),
    ("is_enabled nonsense", lambda gl: gl.is_enabled(0x1234), E),
    ("get nonsense", lambda gl: gl.get_integerv(0x1234), E),
    ("viewport negative", lambda gl: gl.viewport(0, 0, -1, 4), V),
    ("scissor negative", lambda gl: gl.scissor(0, 0, 4, -1), V),
    ("clear unknown bits", lambda gl: gl.clear(0x8), V),
    ("depth func", lambda gl: gl.depth_func(GL.ZERO), E),
    ("blend func", lambda gl: gl.blend_func(GL.LESS, GL.ONE), E),
    ("blend equation", lambda gl: gl.blend_equation(GL.ONE), E),
    ("cull face", lambda gl: gl.cull_face(GL.CW), E),
    ("front face", lambda gl: gl.front_face(GL.FRONT), E),
    ("polygon mode mode", lambda gl: gl.polygon_mode(GL.FRONT_AND_BACK, GL.LINES), E),
    ("line width", lambda gl: gl.line_width(0.0), V),
    ("point size", lambda gl: gl.point_size(-1.0), V),
    ("stencil func", lambda gl: gl.stencil_func(GL.KEEP, 0, 0), E),
    ("stencil op", lambda gl: gl.stencil_op(GL.KEEP, GL.KEEP, GL.LESS), E),
    ("stencil face", lambda gl: gl.stencil_mask_separate(GL.LESS, 1), E),
    ("logic op", lambda gl: gl.logic_op(GL.LESS), E),
    ("hint target", lambda gl: gl.hint(GL.FOG, GL.NICEST), E),
    ("pixel store", lambda gl: gl.pixel_storei(GL.PACK_ALIGNMENT, 3), V),
    ("pixel store name", lambda gl: gl.pixel_storei(GL.LESS, 1), E),
    ("active texture", lambda gl: gl.active_texture(GL.TEXTURE0 + 5000), E),
    ("bind texture target", lambda gl: gl.bind_texture(GL.ARRAY_BUFFER, 0), E),
    ("tex parameter", lambda gl: gl.tex_parameteri(GL.TEXTURE_2D, GL.LESS, 0), E),
    (
        "tex parameter value",
        lambda gl: gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_WRAP_S, GL.LESS),
        E,
    ),
    ("tex base level", lambda gl: gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_BASE_LEVEL, -1), V),
    ("create shader", lambda gl: gl.create_shader(GL.TRIANGLES), E),
    ("compile nothing", lambda gl: gl.compile_shader(999), V),
    ("use nothing", lambda gl: gl.use_program(999), V),
    ("link nothing", lambda gl: gl.link_program(999), V),
    ("uniform without program", lambda gl: gl.uniform1f(0, 1.0), OP),
    ("draw nonsense", lambda gl: gl.draw_arrays(0x40, 0, 3), E),
    ("draw quads in core", lambda gl: gl.draw_arrays(GL.QUADS, 0, 4), E),
    ("draw negative", lambda gl: gl.draw_arrays(GL.TRIANGLES, 0, -1), V),
    ("draw index type", lambda gl: gl.draw_elements(GL.TRIANGLES, 3, GL.FLOAT, None), E),
    ("attribute index", lambda gl: gl.enable_vertex_attrib_array(99), V),
    ("query target", lambda gl: gl.begin_query(GL.TRIANGLES, 1), E),
    ("end query", lambda gl: gl.end_query(GL.SAMPLES_PASSED), OP),
    ("bind framebuffer", lambda gl: gl.bind_framebuffer(GL.TEXTURE_2D, 0), E),
    ("framebuffer name", lambda gl: gl.bind_framebuffer(GL.FRAMEBUFFER, 77), OP),
    ("read buffer", lambda gl: gl.read_buffer(GL.COLOR_ATTACHMENT0), OP),
    ("draw buffer", lambda gl: gl.draw_buffer(GL.COLOR_ATTACHMENT3), OP),
    ("draw buffer nonsense", lambda gl: gl.draw_buffer(GL.TRIANGLES), E),
    (
        "renderbuffer storage",
        lambda gl: gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 4, 4),
        OP,
    ),
    ("string", lambda gl: gl.get_string(GL.TRIANGLES), E),
    ("string index", lambda gl: gl.get_stringi(GL.EXTENSIONS, 100_000), V),
    ("sync", lambda gl: gl.fence_sync(GL.TRIANGLES, 0), E),
    ("mipmap target", lambda gl: gl.generate_mipmap(GL.TEXTURE_RECTANGLE), E),
    ("feedback end", lambda gl: gl.end_transform_feedback(), OP),
    ("conditional end", lambda gl: gl.end_conditional_render(), OP),
    ("sampler", lambda gl: gl.sampler_parameteri(5, GL.TEXTURE_WRAP_S, GL.REPEAT), OP),
    ("provoking", lambda gl: gl.provoking_vertex(GL.TRIANGLES), E),
    ("clear buffer", lambda gl: gl.clear_bufferfv(GL.TRIANGLES, 0, [0.0] * 4), E),
    ("clear buffer index", lambda gl: gl.clear_bufferfv(GL.COLOR, 99, [0.0] * 4), V),
    ("enable indexed", lambda gl: gl.enablei(GL.BLEND, 99), V),
    (
        "tex image format",
        lambda gl: gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.LESS, GL.UNSIGNED_BYTE, None
        ),
        E,
    ),
    (
        "tex image internal format",
        lambda gl: gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.LESS, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None
        ),
        V,
    ),
    (
        "tex image negative",
        lambda gl: gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8, -4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None
        ),
        V,
    ),
    (
        "tex image integer mix",
        lambda gl: gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8UI, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None
        ),
        OP,
    ),
    (
        "tex image packed mismatch",
        lambda gl: gl.tex_image2d(
            GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_SHORT_5_6_5, None
        ),
        OP,
    ),
    (
        "tex sub image without image",
        lambda gl: gl.tex_sub_image2d(
            GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4)
        ),
        OP,
    ),
    (
        "tex storage unsized",
        lambda gl: gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA, 4, 4),
        E,
    ),
    (
        "read pixels format",
        lambda gl: gl.read_pixels(0, 0, 1, 1, GL.LESS, GL.UNSIGNED_BYTE, bytearray(4)),
        E,
    ),
    (
        "read pixels negative",
        lambda gl: gl.read_pixels(0, 0, -1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytearray(4)),
        V,
    ),
    (
        "blit filter",
        lambda gl: gl.blit_framebuffer(0, 0, 1, 1, 0, 0, 1, 1, GL.DEPTH_BUFFER_BIT, GL.LINEAR),
        OP,
    ),
    (
        "attach to default",
        lambda gl: gl.framebuffer_renderbuffer(
            GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, 0
        ),
        OP,
    ),
]


@pytest.mark.parametrize(("call", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_misuse_sets_the_right_error(
    gl: GLInterface, call: Callable[[Any], Any], expected: str
) -> None:
    vao = gl.gen_vertex_arrays(1)[0]
    gl.bind_vertex_array(vao)
    assert errors(gl) == []
    call(gl)
    assert errors(gl) == [expected]


def test_drawing_into_an_incomplete_framebuffer(gl: GLInterface) -> None:
    quad(gl, program(gl))
    (fbo,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert errors(gl) == [F]
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert errors(gl) == [F]
    gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, bytearray(4))
    assert errors(gl) == [F]


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
    ours: GLInterface, capsys: pytest.CaptureFixture[str]
) -> None:
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
    name = ours.create_program()
    ours.attach_shader(name, compiled(ours, GL.COMPUTE_SHADER, kernel))
    ours.link_program(name)
    ours.use_program(name)
    ours.uniform1i(ours.get_uniform_location(name, "stop"), 1)
    through_pointer(ours, "glDispatchCompute", "III", 1, 1, 1)
    assert errors(ours) == ["GL_CONTEXT_LOST"]
    assert "more work than its budget" in capsys.readouterr().err


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
