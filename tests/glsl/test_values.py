"""What shaders compute: lowered, optimised, and run by the reference interpreter."""

import math

import pytest

from gallette.compiler.glsl import CompileOptions
from gallette.compiler.glsl.builtins.limits import CONSTANTS
from tests.glsl.shaders import evaluate, fragment, run

CASES = [
    ("vec4(one + 1.0, one - 3.0, one * 0.5, one / 4.0)", [2, -2, 0.5, 0.25]),
    ("vec4(7 / (ione * 2), 7 % (ione * 4), ione << 3, -16 >> ione)", [3, 3, 8, -8]),
    ("vec4((6 & 3) * ione, 6 | ione, 6 ^ ione, ~ione)", [2, 7, 7, -2]),
    ("vec4(one < 2.0, one >= 2.0, one == 1.0, one != 1.0)", [1, 0, 1, 0]),
    (
        "vec4(one > 0.0 && one < 0.5, one > 0.0 || one < 0.5, one > 0.0 ^^ true, !(one > 2.0))",
        [0, 1, 0, 1],
    ),
    ("vec4(one, 2, 3, 4).wzyx", [4, 3, 2, 1]),
    ("mat4(one) * vec4(1, 2, 3, 4)", [1, 2, 3, 4]),
    ("vec4(mat2(1, 2, 3, 4) * vec2(one, 1.0), vec2(one, 1.0) * mat2(1, 2, 3, 4))", [4, 6, 3, 7]),
    ("vec4(mat2x3(1, 2, 3, 4, 5, 6) * vec2(one), 0)", [5, 7, 9, 0]),
    ("vec4((mat2(1, 2, 3, 4) * mat2(one))[1], transpose(mat2(1, 2, 3, 4 * one))[0])", [3, 4, 1, 3]),
    (
        "vec4(determinant(mat3(2, 0, 0, 0, 3, 0, 0, 0, one)), inverse(mat2(2, 0, 0, one *"
        " 4.0))[1], 0)",
        [6, 0, 0.25, 0],
    ),
    (
        "vec4(min(one, 2.0), max(one, 2.0), clamp(one * 5.0, 0.0, 3.0), mix(one, 3.0, 0.5))",
        [1, 2, 3, 2],
    ),
    (
        "vec4(step(0.5, one), smoothstep(0.0, 2.0, one), fract(one + 0.25), mod(-one, 3.0))",
        [1, 0.5, 0.25, 2],
    ),
    (
        "vec4(floor(-1.5 * one), ceil(1.2 * one), trunc(-1.7 * one), roundEven(2.5 * one))",
        [-2, 2, -1, 2],
    ),
    (
        "vec4(length(vec2(3.0, 4.0) * one), distance(vec2(one), vec2(1.0, 3.0)),"
        " dot(vec3(one), vec3(2.0)),"
        " normalize(vec2(0.0, one * 7.0)).y)",
        [5, 2, 6, 1],
    ),
    ("vec4(cross(vec3(one, 0, 0), vec3(0, 1, 0)), 0)", [0, 0, 1, 0]),
    (
        "vec4(reflect(vec2(one, -1.0), vec2(0.0, 1.0)), faceforward(vec2(one), vec2(1.0),"
        " vec2(1.0)))",
        [1, 1, -1, -1],
    ),
    (
        "vec4(bitCount(7 * ione), findLSB(8 * ione), findMSB(9 * ione),"
        " bitfieldExtract(0x30 * ione, 4, 4))",
        [3, 3, 3, 3],
    ),
    ("unpackUnorm4x8(packUnorm4x8(vec4(one, 0.0, 0.2, 0.4)))", [1, 0, 0.2, 0.4]),
    (
        "vec4(unpackHalf2x16(packHalf2x16(vec2(one * 0.5, -2.0))),"
        " uintBitsToFloat(0x40400000u), 0)",
        [0.5, -2, 3, 0],
    ),
    (
        "vec4(any(lessThan(vec2(one), vec2(2, 0))), all(equal(ivec2(ione), ivec2(1))),"
        " not(bvec2(one > 2.0)))",
        [1, 1, 1, 1],
    ),
    ("vec4(double(one) / 4.0lf, float(dvec2(one).y), double(3) > double(one), 0)", [0.25, 1, 1, 0]),
    ("vec4(uint(one) - 2u > 5u, int(one * -2.7), float(3u), bool(one))", [1, -2, 3, 1]),
]


@pytest.mark.parametrize(("expression", "expected"), CASES)
def test_expressions(expression: str, expected: list[float]) -> None:
    text = expression
    assert evaluate(text) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("x", [-0.99, -0.6, -0.5, -0.2, 0.0, 0.3, 0.5, 0.7, 1.0])
def test_inverse_trigonometry_is_close(x: float) -> None:
    got = evaluate(
        f"vec4(asin({x} * one), acos({x} * one), atan({x} * one), atan({x} * one, -0.5))"
    )
    wanted = [math.asin(x), math.acos(x), math.atan(x), math.atan2(x, -0.5)]
    if x == 0.0:
        wanted[3] = math.pi
    assert got == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("x", [-3.0, -0.5, 0.0, 0.25, 2.0])
def test_hyperbolic_functions_are_close(x: float) -> None:
    got = evaluate(f"vec4(sinh({x} * one), cosh({x} * one), tanh({x} * one), asinh({x} * one))")
    wanted = [math.sinh(x), math.cosh(x), math.tanh(x), math.asinh(x)]
    assert got == pytest.approx(wanted, rel=2e-6, abs=1e-6)


PROGRAMS = {
    "loops with continue and break": (
        "float s = 0.0; for (int i = 0; i < 10 * ione; i++) { if (i == 2) continue; if (i"
        " == 5) break;"
        " s += float(i); } color = vec4(s);",
        [8, 8, 8, 8],
    ),
    "do while runs once": (
        "float s = 0.0; do { s += one; } while (s < 0.5); color = vec4(s);",
        [1] * 4,
    ),
    "while with a declaration": (
        "int n = 3 * ione; float s = 0.0; while (bool go = n > 0) { n--; s += float(go);"
        " } color = vec4(s);",
        [3] * 4,
    ),
    "switch falls through": (
        "vec4 r = vec4(0.0); switch (ione) { case 0: r.x = 1.0; case 1: r.y = 1.0; case"
        " 2: r.z = 1.0; break;"
        " default: r.w = 1.0; } color = r;",
        [0, 1, 1, 0],
    ),
    "default in the middle": (
        "vec4 r = vec4(0.0); switch (ione + 6) { case 0: r.x = 1.0; break; default: r.y ="
        " 1.0; case 3:"
        " r.z = 1.0; } color = r;",
        [0, 1, 1, 0],
    ),
    "continue inside a switch": (
        "float s = 0.0; for (int i = 0; i < 4; i++) { switch (i * ione) { case 1:"
        " continue; case 2: s += 10.0;"
        " break; default: s += 1.0; } s += 100.0; } color = vec4(s);",
        [312] * 4,
    ),
    "short circuits skip side effects": (
        "float n = 0.0; bool a = one < 0.0 && (n += 1.0) > 0.0; bool b = one > 0.0 || (n"
        " += 1.0) > 0.0;"
        " color = vec4(n, a, b, 0);",
        [0, 0, 1, 0],
    ),
    "selection skips the other side": (
        "float n = 0.0; float x = one > 0.0 ? 5.0 : (n += 1.0); color = vec4(n, x, 0, 0);",
        [0, 5, 0, 0],
    ),
    "increments": (
        "int i = ione; int a = i++ + ++i; vec2 v = vec2(one); v.y--; color = vec4(i, a, v--);",
        [3, 4, 1, 0],
    ),
    "compound assignment through a swizzle": (
        "vec4 v = vec4(1, 2, 3, 4) * one; v.zx += v.yw; color = v;",
        [5, 2, 5, 4],
    ),
    "dynamic indexing": (
        "float a[4] = float[](1.0, 2.0, 3.0, 4.0); a[ione + 1] = 9.0; mat2 m = mat2(one);"
        " m[ione][0] = 7.0;"
        " vec3 v = vec3(one); v[ione] = 5.0; color = vec4(a[ione * 2], m[1][0], v.y, a[3]);",
        [9, 7, 5, 4],
    ),
    "structures are values": (
        "S a = S(one, vec2(2.0), float[2](3.0, 4.0)); S b = a; b.p[1] = 8.0; b.v.x = 6.0;"
        " color = vec4(a.p[1], b.p[1], a == b, b.v.x);",
        [4, 8, 0, 6],
    ),
    "out and inout arguments": (
        "vec4 v = vec4(1, 2, 3, 4); float r = change(v.y, v.wz); color = vec4(v.y, v.w, v.z, r);",
        [30, 4, 5, 2],
    ),
    "arguments are copied": (
        "float a = one; color = vec4(twice(a), a, twice(a) + a, 0);",
        [2, 1, 3, 0],
    ),
    "early returns": (
        "color = vec4(classify(-one), classify(0.0), classify(one), classify(one * 20.0));",
        [-1, 0, 1, 2],
    ),
    "overloads": (
        "color = vec4(kind(ione), kind(one), kind(vec2(one)), kind(uint(ione)));",
        [1, 2, 3, 4],
    ),
    "global initialisers run first": ("color = vec4(start, start2, 0, 0);", [2, 3, 0, 0]),
    "constant arrays": ("color = vec4(table[ione], table[0], table.length(), 0);", [20, 10, 3, 0]),
    "modf and frexp": (
        "float w; float f = modf(2.75 * one, w); int e; float g = frexp(8.0 * one, e);"
        " color = vec4(f, w, g, e);",
        [0.75, 2, 0.5, 4],
    ),
    "carries": (
        "uint c; uint s = uaddCarry(0xffffffffu, uint(ione), c); uint h, l;"
        " umulExtended(0x10000u * uint(ione),"
        " 0x10000u, h, l); color = vec4(s, c, h, l);",
        [0, 1, 1, 0],
    ),
    "nothing is given as void": (
        "color = vec4(twice(unit(void)), unit(void) + one, unit(), 0);",
        [2, 2, 1, 0],
    ),
    "the comma gives its last": (
        "float a; float b = (a = one, a + 4.0); color = vec4(b);",
        [5] * 4,
    ),
    "a preprocessor in the middle": ("color = vec4(TWICE(one + 1.0));", [4] * 4),
}
DECLARATIONS = """
#define TWICE(x) (2.0 * (x))
struct S { float f; vec2 v; float p[2]; };
const float table[3] = float[](10.0, 20.0, 30.0);
float start = one * 2.0;
float start2 = start + 1.0;
float change(inout float a, out vec2 b) { float old = a; a = 30.0; b = vec2(4.0, 5.0); return old; }
float twice(float a) { a *= 2.0; return a; }
float classify(float x) {
    if (x < 0.0) return -1.0;
    for (int i = 0; i < 3; i++) { if (x > 10.0) return 2.0; if (x == 0.0) return 0.0; }
    return 1.0;
}
float unit(void) { return one; }
float kind(int a) { return 1.0; }
float kind(float a) { return 2.0; }
float kind(vec2 a) { return 3.0; }
float kind(uint a) { return 4.0; }
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    body, expected = PROGRAMS[name]
    source = f"""#version 420
    uniform float one = 1.0; uniform int ione = 1; out vec4 color;
    {DECLARATIONS}
    void main() {{ {body} }}
    """
    assert run(source) == pytest.approx(expected, abs=1e-6)


def test_constant_folding_agrees_with_the_machine() -> None:
    for expression, expected in CASES:
        folded = expression.replace("ione", "1").replace("one", "1.0")
        source = f"#version 450\nout vec4 color; void main() {{ color = {folded}; }}"
        assert run(source) == pytest.approx(expected, abs=2e-6), expression


@pytest.mark.parametrize(("size", "place"), [(n, i) for n in (2, 3, 4) for i in range(n)])
def test_every_component_has_its_say(size: int, place: int) -> None:
    """One component of a vector differs from zero, whichever it is."""
    vector = ", ".join("one" if i == place else "0.0" for i in range(size))
    given, zero = f"vec{size}({vector})", f"vec{size}(0.0)"
    found = evaluate(
        f"vec4(any(bvec{size}({given})), all(not(bvec{size}({given}))), {given} == {zero}, "
        f"dot({given}, {given}))"
    )
    assert found == [1, 0, 0, 1]


def test_every_constant_is_its_limit() -> None:
    """In a language version that has it."""
    limits = CompileOptions().limits
    seen = 0
    for name, (field, _) in CONSTANTS.items():
        value = getattr(limits, field)
        expression = f"vec4({name}, 0)" if isinstance(value, tuple) else f"vec4({name})"
        source = (
            f"#version 460 compatibility\nout vec4 color; void main() {{ color = {expression}; }}"
        )
        if not fragment(source).ok:
            continue
        expected = [*value, 0] if isinstance(value, tuple) else [value] * 4
        assert run(source) == expected, name
        seen += 1
    assert seen > 60
