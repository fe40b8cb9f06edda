"""Declarations few shaders have: all are taken, here as by the native GL, or both refuse them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.state_tracker import GL
from tests.cases import Case, each, sections
from tests.conftest import native_context
from tests.glsl.shaders import run
from tests.glsl.test_link_rules import KINDS

FILE = Path(__file__).with_name("accepted.txt")
MAIN = "void main() {}"
END = "void main() { gl_Position = vec4(0.0); }"


@each(FILE)
def test_they_are_taken(case: Case) -> None:
    options = CompileOptions(api=case.options["api"])
    shader = compile_shader(Stage(case.options["stage"]), case.source, options)
    assert shader.ok, shader.info_log


@pytest.mark.native
@pytest.mark.parametrize(
    "section", [k for k, v in sections(FILE).items() if "ours" not in v.options]
)
def test_the_native_gl_takes_them_too(section: str) -> None:
    options = sections(FILE)[section].options
    profile = options["api"]
    gl = native_context(profile=profile, version=(3, 2) if profile == "es" else (4, 5))
    refused = []
    for case in sections(FILE)[section].cases:
        shader = gl.create_shader(KINDS[options["stage"]])
        gl.shader_source(shader, case.source)
        gl.compile_shader(shader)
        if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
            refused.append((case.source, gl.get_shader_info_log(shader)))
    gl.release()
    assert refused == []


def test_sizes_that_come_later_are_those_of_the_variable() -> None:
    for stage, text, wanted in (
        ("tess_ctrl", "out vec4 v[]; layout(vertices = 3) out; " + MAIN, t.array(t.VEC4, 3)),
        ("geometry", "in vec4 v[]; layout(triangles) in; layout(points, max_vertices = 1) out; "
         + MAIN, t.array(t.VEC4, 3)),
        ("vertex", "float v[]; float v[]; float v[5]; " + END, t.array(t.FLOAT, 5)),
    ):  # fmt: skip
        head = "#version 410 compatibility\n"
        shader = compile_shader(Stage(stage), head + text, CompileOptions(api="compat"))
        assert shader.ok and shader.tree is not None, shader.info_log
        (var,) = [v for v in shader.tree.globals if v.name == "v"]
        assert var.type is wanted


def test_functions_of_one_name_with_a_built_in_one() -> None:
    """In GLSL ES 1.00 both are there; on the desktop one's own hide those of that name."""
    text = "float sin(float a, float b) { return a + b; } "
    shader = compile_shader(
        Stage.FRAGMENT,
        f"#version 100\nprecision mediump float; {text}"
        "void main() { gl_FragColor = vec4(sin(0.0), sin(1.0, 2.0), cos(0.0), 0.5); }",
        CompileOptions(api="es"),
    )
    assert shader.ok, shader.info_log
    own = "#version 330\nfloat sin(float a) { return a * 3.0; } float cos(int a) { return 7.0; } "
    body = "uniform float one = 1.0; out vec4 c; "
    body += "void main() { c = vec4(sin(one), cos(1), tan(one * 0.0), 0.0); }"
    assert run(own + body) == [3.0, 7.0, 0.0, 0.0]
