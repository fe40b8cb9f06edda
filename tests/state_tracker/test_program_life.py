"""What a program tells at each step of its life: made, attached, linked, changed, failed, again.

Whatever is asked of it, our GL and the native one answer alike.
"""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

pytestmark = pytest.mark.native

_VERTEX = """#version 300 es
in vec4 p; out vec4 v; uniform vec4 u; void main() { gl_Position = p + u; v = p; }
"""
_FRAGMENT = """#version 300 es
precision mediump float; in vec4 v; out vec4 c; layout(std140) uniform B { vec4 q; };
void main() { c = v + q; }
"""
_UNFIT = """#version 300 es
precision mediump float; in vec3 v; out vec4 c; void main() { c = v.xyzz; }
"""
_NUMBERS = """
LINK_STATUS VALIDATE_STATUS ACTIVE_UNIFORMS ACTIVE_ATTRIBUTES ACTIVE_UNIFORM_BLOCKS
ACTIVE_UNIFORM_MAX_LENGTH ATTACHED_SHADERS
"""
_QUESTIONS: list[tuple[str, tuple[Any, ...]]] = [
    ("get_uniform_location", ("u",)),
    ("get_attrib_location", ("p",)),
    ("get_frag_data_location", ("c",)),
    ("get_active_attrib", (0,)),
    ("get_active_uniform", (7,)),
    ("get_uniform_block_index", ("B",)),
    ("get_active_uniform_blockiv", (0, GL.UNIFORM_BLOCK_DATA_SIZE)),
    ("get_transform_feedback_varying", (0,)),
    ("get_transform_feedback_varying", (1,)),
    ("get_program_interfaceiv", (GL.UNIFORM, GL.ACTIVE_RESOURCES)),
    ("get_program_interfaceiv", (GL.TRANSFORM_FEEDBACK_VARYING, GL.ACTIVE_RESOURCES)),
    ("get_program_resource_index", (GL.PROGRAM_INPUT, "p")),
    ("get_program_resource_location", (GL.UNIFORM, "u")),
    ("get_uniformfv", (0,)),
    ("uniform_block_binding", (0, 1)),
    ("validate_program", ()),
]


def _shader(gl: GLInterface, kind: int, text: str) -> int:
    shader = gl.create_shader(kind)
    gl.shader_source(shader, text)
    gl.compile_shader(shader)
    assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
    return int(shader)


def _asked(gl: GLInterface, program: int, step: str) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for name in _NUMBERS.split():
        found[step, name] = gl.get_programiv(program, getattr(GL, name)), gl.get_error()
    for method, arguments in _QUESTIONS:
        answer = getattr(gl, method)(program, *arguments)
        code = gl.get_error()
        found[step, method, arguments] = None if code else answer, GL.name_of(code, "error")
    gl.use_program(program)
    found[step, "use"] = GL.name_of(gl.get_error(), "error")
    return found


def _life(gl: GLInterface) -> dict[Any, Any]:
    vertex = _shader(gl, GL.VERTEX_SHADER, _VERTEX)
    fragment = _shader(gl, GL.FRAGMENT_SHADER, _FRAGMENT)
    program = gl.create_program()
    found = _asked(gl, program, "made")
    gl.attach_shader(program, vertex)
    gl.attach_shader(program, fragment)
    gl.transform_feedback_varyings(program, 1, ["v"], GL.INTERLEAVED_ATTRIBS)
    found |= _asked(gl, program, "attached")
    gl.link_program(program)
    found |= _asked(gl, program, "linked")
    gl.transform_feedback_varyings(program, 2, ["v", "gl_Position"], GL.SEPARATE_ATTRIBS)
    gl.bind_attrib_location(program, 5, "p")
    found |= _asked(gl, program, "changed")
    gl.detach_shader(program, fragment)
    gl.attach_shader(program, _shader(gl, GL.FRAGMENT_SHADER, _UNFIT))
    gl.link_program(program)
    found |= _asked(gl, program, "failed")
    other = gl.create_program()
    for shader in (vertex, fragment):
        gl.attach_shader(other, shader)
    gl.link_program(other)
    return found | _asked(gl, other, "again")


def test_queries_of_a_program_agree_with_the_native_gl() -> None:
    options = {"profile": "es", "version": (3, 2)}
    ours = create_context("numpipe", **options)  # type: ignore[arg-type]
    mine = _life(ours)
    ours.release()
    native = native_context(**options)
    theirs = _life(native)
    native.release()
    assert len(mine) == 6 * 24
    assert {k: (v, theirs[k]) for k, v in mine.items() if v != theirs[k]} == {}


def test_what_is_in_use_draws_on_after_a_link_that_failed() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 2), size=(4, 4))
    program = gl.create_program()
    text = "#version 300 es\nvoid main() { gl_PointSize = 9.0; gl_Position = vec4(0, 0, 0, 1); }"
    gl.attach_shader(program, _shader(gl, GL.VERTEX_SHADER, text))
    text = "#version 300 es\nprecision mediump float; out vec4 c; void main() { c = vec4(1.0); }"
    fragment = _shader(gl, GL.FRAGMENT_SHADER, text)
    gl.attach_shader(program, fragment)
    gl.link_program(program)
    gl.use_program(program)
    gl.detach_shader(program, fragment)
    gl.attach_shader(program, _shader(gl, GL.FRAGMENT_SHADER, _UNFIT))
    gl.link_program(program)
    assert not gl.get_programiv(program, GL.LINK_STATUS)[0]
    gl.draw_arrays(GL.POINTS, 0, 1)
    assert gl.get_error() == GL.NO_ERROR
    assert list(gl.read_pixels(1, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == [255] * 4
    gl.release()


@pytest.mark.parametrize(
    "parts",
    [[f"{_VERTEX}\0"], [f"{_VERTEX}\0\0 and more"], [_VERTEX[:20], f"{_VERTEX[20:]}\0", "more"],
     ["\0", _VERTEX], [f"{_VERTEX[:-4]}\0", _VERTEX[-4:]]],
    ids=["one", "more", "parts", "none", "cut"],
)  # fmt: skip
def test_a_text_ends_where_c_says(parts: list[str]) -> None:
    """Programs count the byte that ends a text in its length."""
    answers = []
    texts = [part.encode() for part in parts]
    pointers = (ctypes.c_char_p * len(texts))(*texts)
    lengths = (ctypes.c_int * len(texts))(*map(len, texts))
    options: dict[str, Any] = {"profile": "es", "version": (3, 0)}
    for make in (create_context, native_context):
        gl = make(**options)
        shader = gl.create_shader(GL.VERTEX_SHADER)
        gl.shader_source(shader, len(texts), ctypes.addressof(pointers), lengths)
        gl.compile_shader(shader)
        names = GL.COMPILE_STATUS, GL.SHADER_SOURCE_LENGTH
        asked = [gl.get_shaderiv(shader, name)[0] for name in names]
        answers.append((asked, gl.get_shader_source(shader)))
        gl.release()
    assert answers[0] == answers[1]
