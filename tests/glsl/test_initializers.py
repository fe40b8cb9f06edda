"""Initialisers of globals: which run, what they reach, in which order."""

from __future__ import annotations

import struct

import pytest

from gallette.compiler.nir.ir import Stage
from tests.glsl.shaders import link, run

CASES = {
    "calls a function that reads a uniform": (
        "float f() { return u; } float g = f();",
        "c = vec4(g);",
        [3] * 4,
    ),
    "calls through another function": (
        "float h() { return u + 1.0; } float f() { return h(); } float g = f();",
        "c = vec4(g);",
        [4] * 4,
    ),
    "reads a uniform nobody else reads": ("float g = u; float k = g;", "c = vec4(k);", [3] * 4),
    "of a variable nobody reads": ("float g = u;", "c = vec4(1.0);", [1] * 4),
    "has an effect although its variable is unused": (
        "float h = 1.0; float g = (h = u);",
        "c = vec4(h);",
        [3] * 4,
    ),
    "has an effect through a function": (
        "float h = 1.0; float f() { h += u; return 1.0; } float g = f(); float k = h;",
        "c = vec4(h, k, 0, 0);",
        [4, 4, 0, 0],
    ),
    "reads what an earlier one made": ("float a = u; float b = a * 2.0; float d = b + a;",
                                       "c = vec4(d);", [9] * 4),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_initialisers(name: str) -> None:
    declarations, body, expected = CASES[name]
    source = f"#version 430\nuniform float u; out vec4 c; {declarations} void main() {{ {body} }}"
    assert run(source, struct.pack("<4f", 3, 0, 0, 0)) == expected


def test_an_initialiser_of_another_shader_reaches_its_function() -> None:
    main = "#version 430\nfloat g; out vec4 c; void main() { c = vec4(g); }"
    other = "#version 430\nuniform float u; float f(); float g = f();"
    third = "#version 430\nuniform float u; float f() { return u; }"
    parts = [(Stage.FRAGMENT, x) for x in (main, other, third)]
    program = link(*parts)
    assert program.ok
    assert [u.name for u in program.uniforms] == ["u"]
    assert "is called but not defined" in link(*parts[:2]).info_log


def test_what_only_an_unused_initialiser_mentions_is_not_active() -> None:
    source = "#version 430\nuniform float u; float g = u; out vec4 c; void main() { c = vec4(1); }"
    assert not link((Stage.FRAGMENT, source)).uniforms
