"""ARB_shading_language_include: which names there are, and what is said of others."""

from __future__ import annotations

import pytest

from gallette.state_tracker import GL, GLInterface, create_context

from .helpers import errors

GOOD = ("/path", "/valid path", "/a/b.glsl", "/a+b*c%d(e)[f]{g}", "/a/./b", "/..")
BAD = (
    *("path", "", "/", "/path/", "/path//to", "//path", "/path/to\tthere", "/path$/to"),
    *('/path/"to"', "/path/<to>", "/a@b", "/a\\b", "/\u00e9"),
)


@pytest.fixture
def gl() -> GLInterface:
    return create_context("numpipe", profile="compat", version=(4, 5))


@pytest.mark.parametrize("name", GOOD)
def test_names_of_texts(gl: GLInterface, name: str) -> None:
    gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, name, -1, "float one = 1.0;")
    assert gl.is_named_string_arb(-1, name)
    assert gl.get_named_string_arb(-1, name) == "float one = 1.0;"
    gl.delete_named_string_arb(-1, name)
    assert errors(gl) == [] and not gl.is_named_string_arb(-1, name)
    gl.delete_named_string_arb(-1, name)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.release()


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_name(gl: GLInterface, name: str) -> None:
    shader = gl.create_shader(GL.VERTEX_SHADER)
    calls = [
        lambda: gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, name, -1, "x"),
        lambda: gl.delete_named_string_arb(-1, name),
        lambda: gl.get_named_string_arb(-1, name),
        lambda: gl.get_named_stringiv_arb(-1, name, GL.NAMED_STRING_LENGTH_ARB),
    ]
    if name != "/":  # which is a folder
        calls.append(lambda: gl.compile_shader_include_arb(shader, 1, [name], None))
    for call in calls:
        call()
        assert errors(gl) == ["GL_INVALID_VALUE"]
    assert not gl.is_named_string_arb(-1, name)
    gl.release()


def test_kinds_and_shaders_that_are_none(gl: GLInterface) -> None:
    gl.named_string_arb(GL.INVALID_OPERATION, -1, "/path", -1, "x")
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.compile_shader_include_arb(77, 0, None, None)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.release()
