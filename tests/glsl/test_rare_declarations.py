"""Declarations few shaders have: all are taken, here as by the native GL, or both refuse them."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir import types as t
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.glsl.shaders import run
from tests.glsl.test_link_rules import KINDS

MAIN = "void main() {}"
END = "void main() { gl_Position = vec4(0.0); }"
CASES = {
    # (api, stage, version): texts, each with its main
    ("compat", "vertex", "330 compatibility"): [
        "float a[]; float a[]; float a[3]; void main() { gl_Position = vec4(a[1]); }",
        "float a[]; float a[]; void main() { gl_Position = vec4(a[1]); }",
        "struct S { float x; }; void main() { S; S s; s.x = 1.0; gl_Position = vec4(s.x); }",
        "struct S { float x; }; void main() { S[2] s; s[1].x = 1.0; gl_Position = vec4(s[1].x); }",
        "invariant gl_Position; invariant centroid varying vec4 v; " + END,
    ],
    ("core", "vertex", "450"): [
        "void main() { float a[2] = {1.0, 2.0,}; gl_Position = vec4(a[1]); }",
        "void main() { vec2 a[] = {{1.0, 2.0,}, {3.0, 4.0}}; gl_Position = vec4(a[1], a[0]); }",
        "out B { layout(location = 1, component = 2) vec2 a; }; "
        "void main() { a = vec2(1.0); gl_Position = vec4(0.0); }",
        "out B { layout(location = 1) vec2 a; layout(location = 1, component = 3) float b; }; "
        "void main() { a = vec2(b = 1.0); gl_Position = vec4(0.0); }",
        "struct { int x; } a; void main() { a.x = 1; gl_Position = vec4(a.x); }",
        "uniform struct S { float x; } a, b[2]; void main() { gl_Position = vec4(a.x + b[1].x); }",
        "const int n = 2, m = n * 2; float a[m]; void main() { gl_Position = vec4(a[3]); }",
        "layout(location = 1) layout(location = 2) in vec4 v; void main() { gl_Position = v; }",
        "in layout(location = 1) vec4 v; void main() { gl_Position = v; }",
        "void f(in float, out int, inout vec2[2]); " + END,
        "void f(const in float x, const float y) {} " + END,
        ";;; " + END + ";",
    ],
    ("core", "fragment", "430"): [
        "buffer B { shared float x; }; void main() { x = 1.0; }",
        "layout(rgba8) coherent volatile restrict writeonly uniform image2D i; " + MAIN,
        "layout(std430, binding = 2) readonly buffer B { int n; float x[]; } b[2]; "
        "out float c; void main() { c = b[1].x[b[1].n] + float(b[0].x.length()); }",
        "layout(depth_greater) out float gl_FragDepth; void main() { gl_FragDepth = 1.0; }",
        "layout(early_fragment_tests) in; " + MAIN,
        "layout(binding = 1, offset = 4) uniform atomic_uint a; "
        "layout(binding = 1) uniform atomic_uint b; "
        "out uint c; void main() { c = atomicCounter(a) + atomicCounter(b); }",
    ],
    ("core", "tess_ctrl", "410"): [
        "out vec4 v[]; layout(vertices = 3) out; void main() { v[gl_InvocationID] = vec4(1.0); }",
        "layout(vertices = 3) out; out vec4 v[3]; void main() { v[gl_InvocationID] = vec4(1.0); }",
        "layout(vertices = 3) out; out B { vec4 x; } b[]; patch out vec4 p; "
        "void main() { b[gl_InvocationID].x = p = vec4(float(b.length())); }",
        "in vec4 w[]; layout(vertices = 2) out; out vec4 v[]; "
        "void main() { v[gl_InvocationID] = w[w.length() - 1]; }",
    ],
    ("core", "geometry", "410"): [
        "in vec4 v[]; layout(triangles) in; layout(points, max_vertices = 3) out; "
        "void main() { gl_Position = v[2] + vec4(v.length()); EmitVertex(); }",
        "layout(lines, invocations = 4) in; layout(line_strip, max_vertices = 2) out; "
        "void main() { gl_Position = vec4(gl_InvocationID); EmitVertex(); EndPrimitive(); }",
    ],
    ("es", "fragment", "100"): [
        "precision mediump float; float sin(float a, float b) { return a + b; } "
        "void main() { gl_FragColor = vec4(sin(1.0), sin(1.0, 2.0), 0.0, 0.0); }",
        "precision mediump float; invariant varying vec4 v; void main() { gl_FragColor = v; }",
        "highp float f() { return 1.0; } void main() { gl_FragColor = vec4(f()); }",
    ],
    ("es", "vertex", "310 es"): [
        "layout(location = 3) in vec4 v; void main() { gl_Position = v; }",
        "layout(location = 3) uniform vec4 v[2]; void main() { gl_Position = v[1]; }",
        "out highp vec4 v; centroid out vec2 w; flat out ivec2 k; " + END,
    ],
}  # fmt: skip
TEXTS = [(*key, text) for key, texts in CASES.items() for text in texts]


@pytest.mark.parametrize(("api", "stage", "version", "text"), TEXTS)
def test_they_are_taken(api: str, stage: str, version: str, text: str) -> None:
    source = f"#version {version}\n{text}"
    shader = compile_shader(Stage(stage), source, CompileOptions(api=api))
    assert shader.ok, shader.info_log


@pytest.mark.native
def test_the_native_gl_takes_them_too() -> None:
    refused = []
    for (api, stage, version), texts in CASES.items():
        gl = native_context(profile=api, version=(3, 2) if api == "es" else (4, 5))
        for text in texts:
            shader = gl.create_shader(KINDS[stage])
            gl.shader_source(shader, f"#version {version}\n{text}")
            gl.compile_shader(shader)
            if not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
                refused.append((text, gl.get_shader_info_log(shader)))
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
