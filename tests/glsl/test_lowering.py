"""What the lowering once got wrong: places, evaluation order, NaN, `precise`."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.ir import Alu, Shader, Stage
from gallette.compiler.nir.ir.instrs import LoadConst, Tex
from gallette.compiler.nir.ir.queries import instrs_of
from tests.glsl.shaders import compiled, link, run

HEADER = """#version 430
uniform float one = 1.0; uniform int ione = 1; out vec4 color;
struct S { float f; float a[2]; };
float chg(inout S s) { s.f += 10.0; s.a[1] += 10.0; return s.f; }
S chs(inout S s) { s.f += 10.0; return S(s.f, s.a); }
float bump(inout float x) { x += 5.0; return x; }
void set(out float x) { x = 9.0; }
struct T { S s; float x; };
struct U { float x; S s; S t; };
"""
V = "vec4 v = vec4(1, 2, 3, 4) * one; int i = ione; "
S = "S s = S(one, float[2](2.0, 3.0)); "

CASES = {
    # places
    "a dynamic component of a swizzle": (V + "v.zyx[i + 1] = 9.0; color = v;", [9, 2, 3, 4]),
    "stepping one": (V + "v.xy[i]++; color = v;", [1, 3, 3, 4]),
    "the old value of a step": (V + "float o = v.wz[i]--; color = vec4(v.xyz, o);", [1, 2, 2, 3]),
    "one as out argument": (V + "set(v.zyx[i]); color = v;", [1, 9, 3, 4]),
    "one as inout argument": (V + "bump(v.wzyx[i]); color = v;", [1, 2, 8, 4]),
    "compound assignment to one": (V + "v.zx[i] *= 7.0; color = v;", [7, 2, 3, 4]),
    "a swizzle of a swizzle": (V + "v.zyx.yx = vec2(8, 9); color = v;", [1, 8, 9, 4]),
    "a component of a swizzled swizzle": (V + "v.wzyx.xy[i] = 9.0; color = v;", [1, 2, 9, 4]),
    "a constant component of a swizzle": (V + "v.zyx[1] += 9.0; color = v;", [1, 11, 3, 4]),
    "a component's x": (V + "v[i].x = 9.0; v.zw[1].x = 8.0; color = v;", [1, 9, 3, 8]),
    "a scalar's x": ("float f = one; f.x += 2.0; f.x.x++; color = f.xxxx;", [4] * 4),
    "through a matrix": (
        V + "mat4 m = mat4(one); m[i].zw[i] = 5.0; m[2].yx[i - 1]++; color = m[1] + m[2];",
        [0, 2, 1, 5],
    ),
    "through arrays and structures": (
        V + "S s[2]; s[0].a[0] = s[1].a[1] = one; vec4 a[2]; a[0] = v; a[i].wz[i] = 6.0;"
        "s[i].a[i] += a[i].z; color = vec4(s[1].a[1], a[i].z, s[0].a[0], 0);",
        [7, 6, 1, 0],
    ),
    "as the result of a function": (
        V + "float w; modf(3.75 * one, v.yx[i]); color = v;",
        [3, 2, 3, 4],
    ),
    # a local is not loaded where it was stored, unless something has changed it
    "a component written in between": (
        "vec4 w; w = vec4(one); w += w; w.y = 9.0; vec4 u = w; w[ione + 1] = 8.0; color = u + w;",
        [4, 18, 10, 4],
    ),
    "a local that a function writes": (
        "float w; w = one; set(w); w = w + 1.0; bump(w); color = vec4(w, w, w, w - one);",
        [15, 15, 15, 14],
    ),
    "a local written in a branch": (
        "float w; w = one; if (one > 0.5) { w = 3.0; w += 1.0; } float u = w;"
        "for (int i = 0; i < 3; i++) { w += 1.0; if (i == ione) continue; w *= 2.0; }"
        "color = vec4(u, w, w, w);",
        [4, 24, 24, 24],
    ),
    # evaluation order
    "the left side of an assignment comes first": (
        "float a[3] = float[](0.0, 0.0, 0.0); int i = ione - 1; a[i++] = float(i) + 10.0;"
        "a[i++] += float(i); color = vec4(a[0], a[1], a[2], i);",
        [11, 2, 0, 2],
    ),
    "structure constructors read from the left": (
        S + "T t = T(s, chg(s)); color = vec4(t.s.f, t.s.a[1], t.x, s.f);",
        [1, 3, 11, 11],
    ),
    "and copies of copies": (
        S + "U u = U(bump(s.f), s, chs(s)); color = vec4(u.x, u.s.f, u.t.f, s.f);",
        [6, 6, 16, 16],
    ),
    "array constructors": (
        S + "S a[3] = S[](s, chs(s), s); color = vec4(a[0].f, a[1].f, a[2].f, a[0].a[1]);",
        [1, 11, 11, 3],
    ),
    "arrays of arrays": (
        "float a[2] = float[](one, 2.0); "
        "float b[2][2] = float[2][2](a, float[2](bump(a[0]), a[0]));"
        "color = vec4(b[0][0], b[0][1], b[1][0], b[1][1]);",
        [1, 2, 6, 6],
    ),
    "comparisons": (
        S + "bool same = s == chs(s); color = vec4(same, s.f, s != s, 0);",
        [0, 11, 0, 0],
    ),
    "comparisons of arrays": (
        "float a[2] = float[](one, 2.0); bool b = a == float[2](bump(a[0]), 2.0);"
        "color = vec4(b, a[0], a[1], 0);",
        [0, 6, 2, 0],
    ),
    "arguments": (
        S + "T t = T(s, 0.0); S u[2] = S[](t.s, chs(t.s)); color = vec4(u[0].f, u[1].f, t.s.f, 0);",
        [1, 11, 11, 0],
    ),
    "a side effect inside a sequence": (
        S + "T t = T(s, (chg(s), s.f + 1.0)); color = vec4(t.s.f, t.x, s.f, 0);",
        [1, 12, 11, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_programs(name: str) -> None:
    body, expected = CASES[name]
    assert run(f"{HEADER}void main() {{ {body} }}") == pytest.approx(expected)


# -- NaN ------------------------------------------------------------------------------------------

MAIN = "void main() {"
N = "float n = intBitsToFloat(ione * 0x7fc00000); "
NAN_CASES = {
    "equal(vec2(n), vec2(n)).x": 0,
    "notEqual(vec2(n), vec2(n)).x": 1,
    "not(lessThan(vec2(n), vec2(one))).x": 1,
    "not(lessThanEqual(vec2(n), vec2(one))).y": 1,
    "not(greaterThan(vec2(n), vec2(one))).x": 1,
    "not(greaterThanEqual(vec2(n), vec2(one))).y": 1,
    "not(equal(vec2(n), vec2(one))).x": 1,
    "not(notEqual(vec2(n), vec2(n))).x": 0,
    "any(equal(vec3(n), vec3(n)))": 0,
    "all(notEqual(vec3(n), vec3(n)))": 1,
    "!all(lessThan(vec2(n), vec2(one)))": 1,
    "!(n < one)": 1,
    "!(n >= one)": 1,
    "n == n": 0,
    "vec2(n) == vec2(n)": 0,
    "vec2(n) != vec2(n)": 1,
    "mat2(n) == mat2(n)": 0,
    "S(n, float[2](one, one)) == S(n, float[2](one, one))": 0,
    "isnan(n) && !isinf(n)": 1,
    "isnan(vec2(n, one)).x && !isnan(vec2(n, one)).y": 1,
}


@pytest.mark.parametrize("expression", NAN_CASES)
def test_comparisons_are_exact(expression: str) -> None:
    got = run(f"{HEADER}void main() {{ {N} color = vec4({expression}); }}")
    assert got[0] == NAN_CASES[expression]


def test_folded_comparisons_are_exact() -> None:
    for expression, expected in NAN_CASES.items():
        folded = expression.replace("one", "1.0")
        source = (
            f"const float n = intBitsToFloat(0x7fc00000); void main() {{ color = vec4({folded}); }}"
        )
        assert run(HEADER + source)[0] == expected, expression


def test_a_constant_may_be_nan() -> None:
    """NaN differs from NaN, but a constant does not differ from itself."""
    source = "#version 430\nconst float n = intBitsToFloat(0x7fc00000); uniform float u = n;"
    first = (Stage.FRAGMENT, source + "out vec4 c; void main() { c = vec4(n + u); }")
    assert link(first, (Stage.FRAGMENT, source + "void f() {}")).ok


# -- precise --------------------------------------------------------------------------------------

PRECISE = """#version 430
in vec4 a; in vec4 b; in vec4 c;
%s
void main() { %s }
"""


def products(source: str) -> list[bool]:
    """Which multiplications are exact."""
    shader = compiled(Stage.FRAGMENT, source)
    assert shader.ok, shader.info_log
    program = link_program([shader], LinkOptions(api="compat", separable=True))
    assert program.ok, program.info_log
    nir: Shader = program.shaders[Stage.FRAGMENT]
    found = [
        i.exact
        for i in instrs_of(nir.entry)
        if isinstance(i, Alu) and i.op.name in ("fmul", "ffma", "ffmaz")
    ]
    nir.unref()
    return found


PRECISE_CASES = {
    "an out parameter": (
        "out vec4 o; void f(precise out vec4 r) { vec4 t = a * b; r = t + c; }",
        "f(o);",
    ),
    "an inout parameter": (
        "out vec4 o; void f(precise inout vec4 r) { vec4 t = a * b; r += t; }",
        "o = c; f(o);",
    ),
    "a result": ("out vec4 o; precise vec4 f() { vec4 t = a * b; return t + c; }", "o = f();"),
    "a result through its prototype": (
        "out vec4 o; precise vec4 f(); vec4 f() { return a * b + c; }",
        "o = f();",
    ),
    "an argument": (
        "precise out vec4 o; void f(out vec4 r) { r = a * b + c; }",
        "f(o);",
    ),
    "a member of a precise structure": (
        "out vec4 o; struct S { vec4 v; };",
        "precise S s; s.v = a * b + c; o = s.v;",
    ),
    "a local": ("out vec4 o;", "precise vec4 t = a * b + c; o = t;"),
}


@pytest.mark.parametrize("name", PRECISE_CASES)
def test_precise(name: str) -> None:
    declarations, body = PRECISE_CASES[name]
    source = PRECISE % (declarations, body)
    found = products(source)
    assert found
    assert all(found)
    plain = products(source.replace("precise ", ""))
    assert plain
    assert not any(plain)


def test_exactness_ends_with_the_assignment() -> None:
    """A precise dynamic element of a compact array once left the rest of the shader exact."""
    source = """#version 430
    layout(vertices = 3) out; in vec4 v[]; uniform int i; patch out vec4 o;
    precise gl_TessLevelOuter;
    void main() { gl_TessLevelOuter[i] = v[0].x * v[1].x; o = v[0] * v[1]; }"""
    shader = compiled(Stage.TESS_CTRL, source)
    assert shader.ok, shader.info_log
    program = link_program([shader], LinkOptions(api="compat", separable=True))
    assert program.ok, program.info_log
    nir = program.shaders[Stage.TESS_CTRL]
    wide = [
        i
        for i in instrs_of(nir.entry)
        if isinstance(i, Alu) and i.op.name == "fmul" and not i.exact
    ]
    nir.unref()
    assert wide


COMPACT = {
    "assigned": "gl_TessLevelOuter[i] = 2.0;",
    "added to": "gl_TessLevelOuter[i] += 2.0;",
    "stepped": "gl_TessLevelOuter[i]++;",
    "an out argument": "set(gl_TessLevelInner[i]);",
    "an out argument of a built-in": "modf(v[0].x, gl_TessLevelOuter[i]);",
    "swizzled": "gl_TessLevelOuter[i].x = 2.0;",
    "of the output block": "gl_out[gl_InvocationID].gl_ClipDistance[i]--;",
}


@pytest.mark.parametrize("name", COMPACT)
def test_dynamic_elements_of_compact_arrays(name: str) -> None:
    source = f"""#version 430
    layout(vertices = 3) out; in vec4 v[]; uniform int i;
    out gl_PerVertex {{ vec4 gl_Position; float gl_ClipDistance[4]; }} gl_out[];
    void set(out float x) {{ x = 3.0; }}
    void main() {{ {COMPACT[name]} }}"""
    shader = compiled(Stage.TESS_CTRL, source)
    assert shader.ok, shader.info_log
    program = link_program([shader], LinkOptions(api="compat", separable=True))
    assert program.ok, program.info_log
    program.shaders[Stage.TESS_CTRL].unref()


UNCHANGED = {
    "a vector": ("vec4 x = c * 2.0; o = x + x.yxwz;", 0),
    "a matrix": ("mat2 m = mat2(c); o = vec4(m[0], m[i]);", 0),
    "in a loop": ("for (int k = 0; k < 3; k++) { float x = c.x * float(k); o += x; }", 1),
    "written again": ("vec4 x = c; x.y = 2.0; o = x;", 1),
    "an out argument": ("float x = c.x; modf(c.y, x); o = vec4(x);", 1),
    "precise": ("precise vec4 x = c * c + c; o = x;", 1),
    "an array": ("float x[2] = float[](c.x, c.y); o = vec4(x[i]);", 1),
    "jumped over": ("switch (i) { case 0: float x = c.x; case 1: o = vec4(x); }", 1),
}


@pytest.mark.parametrize("body", UNCHANGED)
def test_an_unmodified_local_is_a_value(body: str) -> None:
    """Expected: the locals with memory (of those that the source names)."""
    text, expected = UNCHANGED[body]
    source = "#version 430\nin vec4 c; flat in int i; out vec4 o;\nvoid main() { " + text + " }\n"
    program = link_program(
        [compiled(Stage.FRAGMENT, source)], LinkOptions(separable=True, optimize=False)
    )
    assert program.ok, program.info_log
    shader = program.shaders[Stage.FRAGMENT]
    named = [v for v in shader.entry.locals if v.name in ("x", "m", "k")]
    assert len(named) == expected, [v.name for v in shader.entry.locals]
    shader.unref()


# -- lookups --------------------------------------------------------------------------------------

UV, UVW = "vec2(1, 2)", "vec3(1, 2, 3)"
GRADIENTS, OFFSET = "vec2(4, 5), vec2(6, 7)", "ivec2(3, -4)"
BY_4 = "vec4(4, 8, 16, 4)"
LOOKUPS = {
    # a call -> the operation and what it is given
    f"texture(p, {UV})": ("tex", {"coord": [1, 2]}),
    f"texture(p, {UV}, 8.0)": ("txb", {"coord": [1, 2], "bias": [8]}),
    f"textureOffset(p, {UV}, {OFFSET})": ("tex", {"coord": [1, 2], "offset": [3, -4]}),
    f"textureOffset(p, {UV}, {OFFSET}, 8.0)": (
        "txb",
        {"coord": [1, 2], "offset": [3, -4], "bias": [8]},
    ),
    f"textureLod(p, {UV}, 8.0)": ("txl", {"coord": [1, 2], "lod": [8]}),
    f"textureLodOffset(p, {UV}, 8.0, {OFFSET})": (
        "txl",
        {"coord": [1, 2], "lod": [8], "offset": [3, -4]},
    ),
    f"textureGrad(p, {UV}, {GRADIENTS})": ("txd", {"coord": [1, 2], "ddx": [4, 5], "ddy": [6, 7]}),
    f"textureGradOffset(p, {UV}, {GRADIENTS}, {OFFSET})": (
        "txd",
        {"coord": [1, 2], "ddx": [4, 5], "ddy": [6, 7], "offset": [3, -4]},
    ),
    f"textureProj(p, {BY_4})": ("tex", {"coord": [1, 2]}),
    f"textureProj(p, {BY_4}.xyw, 8.0)": ("txb", {"coord": [1, 2], "bias": [8]}),
    f"textureProjLod(p, {BY_4}, 8.0)": ("txl", {"coord": [1, 2], "lod": [8]}),
    f"textureProjGradOffset(p, {BY_4}, {GRADIENTS}, {OFFSET})": (
        "txd",
        {"coord": [1, 2], "ddx": [4, 5], "ddy": [6, 7], "offset": [3, -4]},
    ),
    f"texture(a, {UVW})": ("tex", {"coord": [1, 2, 3]}),
    f"textureGrad(a, {UVW}, {GRADIENTS})": (
        "txd",
        {"coord": [1, 2, 3], "ddx": [4, 5], "ddy": [6, 7]},
    ),
    "textureGrad(c, vec3(1, 2, 3), vec3(4, 5, 6), vec3(7, 8, 9))": (
        "txd",
        {"coord": [1, 2, 3], "ddx": [4, 5, 6], "ddy": [7, 8, 9]},
    ),
    f"vec4(texture(ps, {UVW}))": ("tex", {"coord": [1, 2], "comparator": [3]}),
    f"vec4(textureProj(ps, {BY_4}))": ("tex", {"coord": [1, 2], "comparator": [4]}),
    f"vec4(textureGrad(ps, {UVW}, {GRADIENTS}))": (
        "txd",
        {"coord": [1, 2], "comparator": [3], "ddx": [4, 5], "ddy": [6, 7]},
    ),
    "vec4(texture(as, vec4(1, 2, 3, 4)))": ("tex", {"coord": [1, 2, 3], "comparator": [4]}),
    "vec4(texture(cs, vec4(1, 2, 3, 4), 8.0))": (
        "txb",
        {"coord": [1, 2, 3], "comparator": [4], "bias": [8]},
    ),
    "vec4(texture(cas, vec4(1, 2, 3, 4), 5.0))": (
        "tex",
        {"coord": [1, 2, 3, 4], "comparator": [5]},
    ),
    "texelFetch(p, ivec2(1, 2), 8)": ("txf", {"coord": [1, 2], "lod": [8]}),
    f"texelFetchOffset(p, ivec2(1, 2), 8, {OFFSET})": (
        "txf",
        {"coord": [1, 2], "lod": [8], "offset": [3, -4]},
    ),
    "texelFetch(m, ivec2(1, 2), 8)": ("txf_ms", {"coord": [1, 2], "ms_index": [8]}),
    "texelFetch(b, 8)": ("txf", {"coord": [8]}),
    f"textureGatherOffset(p, {UV}, {OFFSET}, 2)": ("tg4", {"coord": [1, 2], "offset": [3, -4]}),
    f"textureGatherOffset(ps, {UV}, 8.0, {OFFSET})": (
        "tg4",
        {"coord": [1, 2], "comparator": [8], "offset": [3, -4]},
    ),
    f"vec4(textureQueryLod(p, {UV}), 0, 0)": ("lod", {"coord": [1, 2]}),
    "vec4(textureSize(p, 8), 0, 0)": ("txs", {"lod": [8]}),
}
SAMPLERS = """
    uniform sampler2D p; uniform sampler2DArray a; uniform samplerCube c; uniform sampler2DMS m;
    uniform sampler2DShadow ps; uniform sampler2DArrayShadow as; uniform samplerCubeShadow cs;
    uniform samplerCubeArrayShadow cas; uniform samplerBuffer b;
"""


@pytest.mark.parametrize("lookup", LOOKUPS)
def test_what_a_lookup_is_given(lookup: str) -> None:
    """Each argument is the source it is meant to be; what is projected is divided before."""
    source = f"#version 450\n{SAMPLERS}out vec4 o;\nvoid main() {{ o = {lookup}; }}\n"
    program = link_program([compiled(Stage.FRAGMENT, source)], LinkOptions(separable=True))
    assert program.ok, program.info_log
    shader = program.shaders[Stage.FRAGMENT]
    (tex,) = [i for i in instrs_of(shader.entry) if isinstance(i, Tex)]
    given = {}
    for kind, src in zip(tex.src_kinds, tex.srcs, strict=True):
        if "deref" not in kind:
            constant = src.value.instr
            assert isinstance(constant, LoadConst), kind
            bits = np.array(constant.values, np.uint32)
            whole = kind in ("offset", "ms_index") or tex.op in ("txf", "txf_ms", "txs")
            given[kind] = bits.view(np.int32 if whole else np.float32).tolist()
    shader.unref()
    assert (tex.op, given) == LOOKUPS[lookup]
