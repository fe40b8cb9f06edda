"""What is taken although the version of GLSL does not have it: with a warning, or not if strict."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.glsl.laxities import LAXITIES
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL, create_context
from tests.conftest import native_context

ANSWERS = {
    "float suffix": "the suffix 'f' needs GLSL 1.20, not GLSL 1.10",
    "unsigned suffix": "unsigned literals need GLSL 1.30, not GLSL 1.20",
    "global in and out": "global 'in' variables need GLSL 1.30",
    "several outputs": "output 'a' needs a location: there are several outputs",
    "texture functions": "'texture2D' is a function of GLSL ES 1.00",
}


@pytest.mark.parametrize("name", LAXITIES)
def test_a_laxity_is_a_warning_and_in_strict_languages_an_error(name: str) -> None:
    laxity = LAXITIES[name]
    for strict, kind in ((False, "warning"), (True, "error")):
        options = CompileOptions(api="compat", strict=strict)
        made = compile_shader(Stage(laxity.stage), laxity.example, options)
        assert made.ok != strict
        assert [(d.severity, d.message) for d in made.diagnostics] == [(kind, ANSWERS[name])]


def test_the_flag_makes_contexts_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    laxity = LAXITIES["float suffix"]
    for flags, wanted in (("", 1), ("glsl:strict", 0)):
        monkeypatch.setenv("GALLETTE_DEBUG", flags)
        gl = create_context("numpipe", profile="compat", version=(4, 5))
        assert accepted(gl, laxity.stage, laxity.example) == wanted
        gl.release()


def accepted(gl: Any, stage: str, text: str) -> int:
    shader = gl.create_shader(getattr(GL, f"{stage.upper()}_SHADER"))
    gl.shader_source(shader, text)
    gl.compile_shader(shader)
    return int(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0])


@pytest.mark.native
@pytest.mark.parametrize("name", LAXITIES)
def test_native_gl_accepts_it_too(name: str) -> None:
    gl = native_context(profile="compat", version=(4, 5))
    assert accepted(gl, LAXITIES[name].stage, LAXITIES[name].example)
    gl.release()
