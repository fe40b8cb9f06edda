"""Initialisers of globals: which run, what they reach, in which order."""

from __future__ import annotations

from gallette.compiler.nir.ir import Stage
from tests.glsl.shaders import link


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
