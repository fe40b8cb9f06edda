"""A choice of two values needs no branch where the values are cheap."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.text.printer import print_shader
from tests.glsl.shaders import fragment

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
