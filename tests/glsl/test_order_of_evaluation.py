"""Operands are read from left to right: what a later one changes, an earlier one has not seen."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.text.printer import print_shader
from tests.glsl.shaders import fragment, run

DECLARED = """
struct S { float x; float y[2]; };
float change(inout S s) { s.x = 50.0; s.y[1] = 60.0; return 1.0; }
float change2(inout float a[2]) { a[0] = 70.0; return 2.0; }
float two(float a[2], float b) { return a[0] + b; }
float three(float a[2], float b, float c) { return a[0] + b + c; }
float last(float b, float a[2], float c) { return a[0] + b + c; }
float of(S s, float b) { return s.x + s.y[1] + b; }
float of2(S s, float b, S t, float c) { return s.x + t.x + b + c; }
float pair(float a[2], float b[2]) { return a[0] * 10.0 + b[0]; }
"""
START = """
float a[2]; a[0] = one + 4.0; a[1] = one;
S s; s.x = one + 1.0; s.y[0] = one; s.y[1] = one + 2.0;
vec4 v = vec4(one, one + 1.0, one + 2.0, one + 3.0); mat2 m = mat2(one, 2.0, 3.0, 4.0);
float f = one; int i = int(one);
"""

# An expression, and its value by hand: a = {5, 1}, s = {2, {1, 3}}, v = (1, 2, 3, 4), f = i = 1.
VALUES = {
    "two(a, a[0] = 9.0)": 14.0,
    "two(a, change2(a))": 7.0,
    "three(a, a[0] = 9.0, 1.0)": 15.0,
    "three(a, 1.0, a[0] = 9.0)": 15.0,
    "three(a, change2(a), a[0])": 77.0,
    "last(a[0] = 9.0, a, 1.0)": 19.0,
    "last(1.0, a, a[0] = 9.0)": 15.0,
    "of(s, change(s))": 6.0,
    "of(s, s.x = 9.0)": 14.0,
    "of2(s, 1.0, s, change(s))": 6.0,
    "of2(s, change(s), s, 0.0)": 53.0,
    "pair(a, a)": 55.0,
    "two(a, a[0]++)": 10.0,
    "two(a, ++a[0])": 11.0,
    "f + (f = 3.0)": 4.0,
    "f++ + f++": 3.0,
    "f * 10.0 + f++ * 100.0 + f": 112.0,
    "vec2(f, f = 5.0).x": 1.0,
    "vec2(f = 5.0, f).y": 5.0,
    "vec3(v.x, v.x = 7.0, v.x).z": 7.0,
    "v.x + (v = vec4(9.0)).y": 10.0,
    "v[i] + float(i = 3)": 5.0,
    "v[i++] * 10.0 + v[i]": 23.0,
    "m[0].y + (m = mat2(0.0))[0].x": 2.0,
    "(s.x = 4.0) * 10.0 + s.x": 44.0,
    "s.y[i] + s.y[--i]": 4.0,
    "(a == float[2](5.0, 1.0) && (a[0] = 3.0) > 0.0) ? a[0] : 0.0": 3.0,
    "((a[0] = 6.0) > 0.0 ? a[0] : 1.0) + a[0]": 12.0,
    "(a = float[2](8.0, 8.0))[1] + a[0]": 16.0,
    "float(a == (a = float[2](8.0, 8.0)))": 0.0,
    "float(s == (s = S(8.0, float[2](8.0, 8.0))))": 0.0,
    "float[3](a[0], a[0] = 2.0, a[0])[0]": 5.0,
    "float[3](a[0], a[0] = 2.0, a[0])[2]": 2.0,
    "S(f, float[2](f = 4.0, f)).x": 1.0,
    "S(f = 4.0, float[2](f, f)).y[1]": 4.0,
    "dot(v.xy, (v.xy = vec2(0.0)) + vec2(1.0))": 3.0,
    "max(f, f = 0.5)": 1.0,
    "(f = 2.0, f + 1.0)": 3.0,
    "(f += 2.0) + (f *= 2.0)": 9.0,
    "(i += 2, i <<= 1, float(i))": 6.0,
}


@pytest.mark.parametrize("expression", VALUES)
def test_operands_are_read_from_left_to_right(expression: str) -> None:
    source = f"#version 450\nuniform float one = 1.0;\nout vec4 color;\n{DECLARED}"
    source += f"void main() {{ {START} color = vec4({expression}); }}"
    for optimize in (False, True):
        assert run(source, optimize=optimize)[0] == VALUES[expression]


CHEAP = """abs(x) sign(x) floor(x) ceil(x) fract(x) min(x,y) max(x,y) clamp(x,y,y) mix(x,y,y)
step(x,y) mod(x,y) dot(v,v) length(v) sqrt(x) radians(x) degrees(x) float(any(lessThan(v,v)))
float(all(lessThanEqual(v,v))) float(any(greaterThan(v,v))) float(any(greaterThanEqual(v,v)))
float(any(equal(v,v))) float(all(not(notEqual(v,v)))) float(floatBitsToInt(x))
float(floatBitsToUint(x)) intBitsToFloat(int(x)) uintBitsToFloat(uint(x))"""
DEAR = ("sin(x)", "pow(x,y)", "exp(x)", "atan(x,y)", "f(x)", "texture(s,v)", "normalize(v)")


@pytest.mark.parametrize(
    ("call", "branches"), [*((c, 0) for c in CHEAP.split()), *((c, 1) for c in DEAR)]
)
def test_what_is_cheap_is_computed_without_a_branch(call: str, branches: int) -> None:
    """And what is dear only where it is chosen."""
    part = ".x" if call.startswith(("tex", "norm")) else ""
    source = f"""#version 450
    in float x, y; in vec2 v; uniform sampler2D s; out vec4 color;
    float f(float a) {{ return a; }}
    void main() {{ color = vec4(x > y ? {call}{part} : 2.0); }}"""
    program = link_program([fragment(source)], LinkOptions(api="compat", optimize=False))
    (nir,) = program.shaders.values()
    assert print_shader(nir).count("if %") == branches
    nir.unref()
