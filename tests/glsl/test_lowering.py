"""What statements become in NIR: exact operations, locals, lookups."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.glsl import LinkOptions, link_program
from gallette.compiler.nir.ir import Alu, Shader, Stage
from gallette.compiler.nir.ir.instrs import LoadConst, Tex
from gallette.compiler.nir.ir.queries import instrs_of
from tests.glsl.shaders import compiled, link


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
