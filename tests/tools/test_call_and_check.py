"""`call` and `check` in shader_tests: arguments, values kept and compared, and what is refused."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text

HEAD = """[require]
GL >= 4.5
SIZE 8 8
[vertex shader passthrough]
[fragment shader]
#version 450
layout(location = 3) uniform vec2 u;
out vec4 color;
void main() { color = vec4(u, 0.0, 1.0); }
[test]
"""


def outcome(commands: str, driver: str = "numpipe") -> Any:
    return run_test(parse_text(HEAD + textwrap.dedent(commands), "t.shader_test"), driver)


SESSION = """
    call glCreateBuffers 2 -> a b
    call glNamedBufferData $a 8 float(1, 2.5) GL_STATIC_DRAW
    check glGetNamedBufferSubData $a 4 4 = float(2.5)
    call glMapNamedBuffer $a GL_READ_WRITE -> memory
    store memory $memory float(7)
    check memory $memory = float(7 2.5)
    check glUnmapNamedBuffer $a = GL_TRUE
    check glGetNamedBufferSubData $a 0 8 = float(7 2.5)
    check glIsBuffer $b = 1
    check glIsBuffer 77 = 0
    call glObjectLabel GL_BUFFER $a -1 "a label"
    check glGetObjectLabel GL_BUFFER $a = "a label"
    call glUniform2fv 3 1 (0 1)
    check glGetUniformfv $program 3 = 0 1
    check glGetProgramiv $program GL_LINK_STATUS != 0
    check glGetIntegerv GL_MAX_TEXTURE_SIZE >= 1024
    call glClearColor 0.5 0 0 0x3f800000
    call glClear GL_COLOR_BUFFER_BIT|GL_DEPTH_BUFFER_BIT
    check glReadPixels 0 0 1 1 GL_RGBA GL_FLOAT ~ float(0.5 0 0 1)
    call glCreateShaderProgramv GL_FRAGMENT_SHADER 1 source(fragment) -> separate
    check glGetProgramiv $separate GL_LINK_STATUS = 1
    call glEnable GL_TRIANGLES
    check glGetError = GL_INVALID_ENUM
    draw rect -1 -1 2 2
    probe all rgba 0 1 0 1
"""


def test_calls_are_read_by_the_table_of_functions() -> None:
    result = outcome(SESSION)
    assert (result.result, result.messages) == ("pass", [])


@pytest.mark.native
def test_calls_mean_the_same_on_native(native: str) -> None:
    result = outcome(SESSION, native)
    assert (result.result, result.messages) == ("pass", [])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check glIsBuffer 77 = 1", "observed 0"),
        ("check glGetFloatv GL_LINE_WIDTH = 1.01", "observed 1"),
        ("check glGetIntegerv GL_VIEWPORT = 0 0 8 8 8", "observed 0 0 8 8"),
        ("check glGetFloatv GL_LINE_WIDTH ~ 1.1", "observed 1"),
        ("check glGetIntegerv GL_MAX_TEXTURE_SIZE <= 1", "observed 16384"),
        (
            "check glReadPixels 0 0 1 1 GL_RGBA GL_UNSIGNED_BYTE = ubyte(1 0 0 0)",
            "observed 0 0 0 0",
        ),
    ],
)
def test_a_wrong_value_fails_and_the_test_continues(line: str, message: str) -> None:
    result = outcome(f"{line}\ncheck glIsBuffer 78 = 1\n")
    assert result.result == "fail"
    assert result.messages == [
        f"t.shader_test:11: {line}: {message}",
        "t.shader_test:12: check glIsBuffer 78 = 1: observed 0",
    ]


@pytest.mark.parametrize(
    ("line", "message", "under"),
    [
        ("call glIsBufer 1", "no function 'glIsBufer'; did you mean 'glIsBuffer'?", "glIsBufer"),
        ("call glIsBuffer", "expected more arguments: glIsBuffer(uint buffer) -> boolean", ""),
        ("call glIsBuffer 1 2", "unexpected '2'", "2"),
        ("call glIsBuffer one", "expected an integer, not 'one'", "one"),
        ("call glIsBuffer $one", "nothing has been kept as 'one'", "$one"),
        ("call glEnable GL_NO_SUCH", "unknown GL enum 'GL_NO_SUCH'", "GL_NO_SUCH"),
        ("call glBufferData GL_ARRAY_BUFFER 4 floot(1) 0", "'floot' is no type", "floot"),
        ("call glUniform1fv 3 1 (1", "expected ')'", ""),
        ("call glIsBuffer %", "unexpected '%'", "%"),
        ("check glIsBuffer 1", "expected a comparison", ""),
        ("check glIsBuffer 1 =", "expected values to compare with", ""),
        ("call glIsBuffer 1 -> a b", "2 names for 1 values", ""),
        ("call glShaderSource 1 1 source(geometry) null", "no geometry shader", "geometry"),
    ],
)
def test_a_malformed_call_is_refused_with_its_place(line: str, message: str, under: str) -> None:
    result = outcome(line + "\n")
    assert result.result == "fail"
    first, text, carets = result.reason.split("\n")
    assert message in first and text == f"  {line}"
    if under:
        assert text[carets.index("^") : len(carets.rstrip())] == under


def test_every_function_the_bundled_tests_call_is_in_the_table() -> None:
    from gallette.piglit_subset.suite import find_tests
    from gallette.state_tracker.entry_points.functions import FUNCTIONS

    called = {
        line.split()[1]
        for _, path in find_tests([])
        for line in path.read_text().splitlines()
        if line.startswith(("call gl", "check gl"))
    }
    assert len(called) > 200
    assert {name for name in called if name[2:] not in FUNCTIONS} == set()
