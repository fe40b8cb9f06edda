"""Expressions and declarations that few shaders have, with values worked out by hand."""

from __future__ import annotations

import pytest

from tests.glsl.shaders import run

HEADER = """#version 450
#extension GL_ARB_gpu_shader_int64 : enable
uniform float one = 1.0; uniform int ione = 1; out vec4 color;
struct S { float f; float a[2]; };
struct D { S s; mat2 m; vec2 v[2]; };
const S fixed_s = S(4.0, float[2](5.0, 6.0));
void seti(out int x) { x = 7; }
void set2(out ivec2 x) { x = ivec2(3, -4); }
void setu(out uint x) { x = 9u; }
void setm(out mat2 m) { m = mat2(1, 2, 3, 4); }
void sets(out S s) { s = S(2.0, float[2](3.0, 4.0)); }
"""
V = "vec4 v = vec4(1, 2, 3, 4) * one; int i = ione; "
M = "mat2 m = mat2(1, 2, 3, 4) * one; "
COLUMNS = "color = vec4(m[0], m[1]);"

CASES = {
    # what an `out` parameter leaves is converted to the type of what it goes to
    "an int into a float": ("float y = one; seti(y); color = vec4(y + 0.5);", [7.5] * 4),
    "an int into a double": ("double y = one; seti(y); color = vec4(y);", [7] * 4),
    "an int into an uint": ("uint y = 1u; seti(y); color = vec4(y);", [7] * 4),
    "an unsigned into a component": (V + "setu(v[i]); color = v;", [1, 9, 3, 4]),
    "integers into floats": ("vec2 y; set2(y); color = vec4(y, y);", [3, -4, 3, -4]),
    "integers into components": (V + "set2(v.wy); color = v;", [1, -4, 3, 3]),
    "integers into doubles": ("dvec2 y; set2(y); color = vec4(y, y);", [3, -4, 3, -4]),
    "a matrix into doubles": (
        "dmat2 d; setm(d); d *= 0.5LF; color = vec4(d[0], d[1]);",
        [0.5, 1, 1.5, 2],
    ),
    "an exponent into a float": (
        "float e; float f = frexp(12.0 * one, e); color = vec4(f, e / 8.0, 0, 0);",
        [0.75, 0.5, 0, 0],
    ),
    "exponents into floats": (
        "vec2 e; vec2 f = frexp(vec2(12.0, 0.25) * one, e); color = vec4(f, e);",
        [0.75, 0.5, 4, -1],
    ),
    "an exponent into an element": (
        "float e[2] = float[](9.0, 9.0); frexp(6.0 * one, e[ione]); "
        "color = vec4(e[0], e[1], 0, 0);",
        [9, 3, 0, 0],
    ),
    "a structure": ("S s; sets(s); color = vec4(s.f, s.a[0], s.a[1], 0);", [2, 3, 4, 0]),
    # scalars beside matrices
    "a matrix negated": (M + "m = -m; " + COLUMNS, [-1, -2, -3, -4]),
    "a matrix in a sum with a scalar": (M + "m = m + 2.0; " + COLUMNS, [3, 4, 5, 6]),
    "a scalar times a matrix": (M + "m = 2.0 * m; " + COLUMNS, [2, 4, 6, 8]),
    "a scalar minus a matrix": (M + "m = 2.0 - m; " + COLUMNS, [1, 0, -1, -2]),
    "a scalar over a matrix": (M + "m = 12.0 / m; " + COLUMNS, [12, 6, 4, 3]),
    "a matrix over a scalar": (M + "m = m / 2.0; " + COLUMNS, [0.5, 1, 1.5, 2]),
    "a matrix stepped": (M + "mat2 n = m++; m += n--; " + COLUMNS, [3, 5, 7, 9]),
    "a row times a matrix": (
        M + "color = vec4(vec2(1, 10) * m, m * vec2(1, 10));",
        [21, 43, 31, 42],
    ),
    "a matrix times another": (
        M + "m = m * mat2(1, 10, 100, 1000); " + COLUMNS,
        [31, 42, 3100, 4200],
    ),
    "quotients of matrices": (M + "m /= mat2(1, 1, 2, 8); " + COLUMNS, [1, 2, 1.5, 0.5]),
    "matrices of three by two": (
        "mat3x2 p = mat3x2(1, 2, 3, 4, 5, 6) * one; mat2x3 q = transpose(p);"
        "color = vec4(q[0], (p * vec3(1, 10, 100)).y);",
        [1, 3, 5, 642],
    ),
    # shifts
    "a shift by 64-bit numbers": (
        "int64_t x = int64_t(ione) << int64_t(34); color = vec4(x >> 32, (x >> 33) - 1, 0, 0);",
        [4, 1, 0, 0],
    ),
    "an unsigned shift by signed numbers": (
        "uint64_t x = 0x8000000000000000ul * uint64_t(ione); "
        "color = vec4(x >> 60, x >> 62ul, 0, 0);",
        [8, 2, 0, 0],
    ),
    # structures that lie nowhere
    "a member of a constructed structure": (
        "color = vec4(S(one + 1.0, float[2](2.0, 3.0)).f, "
        "S(one, float[2](2.0, 3.0 * one)).a[1], S(one, float[2](4.0, 5.0)).a[ione], 0);",
        [2, 3, 5, 0],
    ),
    "a member of a member": (
        "color = vec4(D(S(one, float[2](2.0, 3.0)), mat2(4.0), "
        "vec2[2](vec2(5.0), vec2(6, 7))).s.a[ione], "
        "D(fixed_s, mat2(one), vec2[2](vec2(5.0), vec2(6, 7))).v[1].y, "
        "D(fixed_s, mat2(one + 1.0), vec2[2](vec2(5.0), vec2(6, 7))).m[ione][1], 0);",
        [3, 7, 2, 0],
    ),
    "a constant structure compared": (
        "S s = S(4.0 * one, float[2](5.0, 6.0)); S t = s; t.a[1] = 7.0;"
        "color = vec4(s == fixed_s, t == fixed_s, t != fixed_s, fixed_s.a[ione]);",
        [1, 0, 1, 6],
    ),
    "a component of what a function answers": (
        V + "color = vec4(vec3(one, 2.0, 3.0)[i], (v + 1.0)[i + 1], (v * 2.0).wzyx[i], 0);",
        [2, 4, 6, 0],
    ),
    # arrays without a size
    "a local array of elements that are named": (
        "float x[]; x[2] = 5.0; x[0] = one; color = vec4(x[0], x[2], x.length(), 0);",
        [1, 5, 3, 0],
    ),
    "one that gets its size later": (
        "float x[]; x[0] = 5.0; x[1] = one; float x[3]; x[2] = 7.0;"
        "color = vec4(x[0], x[ione], x[2], x.length());",
        [5, 1, 7, 3],
    ),
    "one that gets its size with its values": (
        "float x[]; x[0] = 5.0; float x[] = float[](one, 2.0, 3.0, 4.0);"
        "color = vec4(x[0], x[3], x.length(), 0);",
        [1, 4, 4, 0],
    ),
    "another of the same name inside": (
        "float x[]; x[0] = 5.0; { float x[2]; x[0] = one; } color = vec4(x[0], x.length(), 0, 0);",
        [5, 1, 0, 0],
    ),
    "arrays of arrays whose sizes are those of the values": (
        "float x[][] = {{one, 2.0}, {3.0, 4.0}, {5.0, 6.0}};"
        "float y[][] = float[][](float[](one, 2.0, 7.0)); "
        "color = vec4(x.length(), x[0].length(), x[2][ione], y.length() * 10 + y[0].length());",
        [3, 2, 6, 13],
    ),
    # constants
    "the first components of constants": (
        "const vec3 v = vec3(4, 5, 6); const mat2 m = mat2(7, 8, 9, 1);"
        "color = vec4(float(v), float(m), bool(v), int(m));",
        [4, 7, 1, 7],
    ),
    "the first components of others": (
        "vec3 v = vec3(4, 5, 6) * one; mat2 m = mat2(7, 8, 9, 1) * one;"
        "color = vec4(float(v), float(m), bool(m), int(v.zy));",
        [4, 7, 1, 6],
    ),
    "branches of different types": (
        "color = vec4(one > 0.0 ? 1 : 2.5, one < 0.0 ? 1.5 : 2, true ? 3 : 4.0, false ? 0.5 : 3u);",
        [1, 2, 3, 3],
    ),
    "a constant local that is not known": (
        "const float k = one + 1.0; const S s = S(k, float[2](k, k * k)); "
        "color = vec4(k, s.f, s.a[1], s.a[ione]);",
        [2, 2, 4, 4],
    ),
    # leaving loops through switches
    "a continue in a switch in a switch": (
        "float n = 0.0; for (int i = 0; i < 4; i++) { switch (i) { case 1: case 2: "
        "switch (i) { case 2: n += 100.0; continue; default: n += 10.0; } n += 1000.0; break; "
        "default: n += 1.0; } n += 0.25; } color = vec4(n);",
        [1112.75] * 4,
    ),
    "a continue in a block in a switch": (
        "float n = 0.0; for (int i = 0; i < 4; i++) { switch (i) { case 1: { { continue; } } "
        "case 2: if (one > 0.0) { n += 2.0; } else { continue; } default: n += 1.0; } n += 0.5; }"
        "color = vec4(n);",
        [6.5] * 4,
    ),
    "a switch without a default": (
        "float n = 0.0; for (int i = 0; i < 5; i++) switch (i * ione) "
        "{ case 1: n += 1.0; case 3: n += 10.0; break; case 4: n += 100.0; } color = vec4(n);",
        [121] * 4,
    ),
    "a default in the middle": (
        "float n = 0.0; for (int i = 0; i < 4; i++) switch (i * ione) "
        "{ case 1: n += 1.0; default: n += 10.0; case 3: n += 100.0; } color = vec4(n);",
        [431] * 4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_programs(name: str, optimize: bool) -> None:
    body, expected = CASES[name]
    assert run(f"{HEADER}void main() {{ {body} }}", optimize=optimize) == pytest.approx(expected)
