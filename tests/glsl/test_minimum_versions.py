"""Since which version a shader is taken: every small shader in every version of GLSL, and in the
one before with the extension that brings it, here and as the native GL has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.glsl.shaders import compiled
from tests.glsl.test_es_rules import STAGES

VERSIONS = (110, 120, 130, 140, 150, 330, 400, 410, 420, 430, 440, 450)
ES_VERSIONS = (100, 300, 310, 320)

PACK = "ARB_shading_language_420pack:130"
LAYOUTS = "ARB_enhanced_layouts:150"
OUTPUTS = "ARB_enhanced_layouts:330"
SEPARATE = "ARB_separate_shader_objects:150"
BLOCKS = "OES_shader_io_blocks:es310 EXT_shader_io_blocks:es310"
INTEGERS = "EXT_gpu_shader4:110"
AOA = "ARB_arrays_of_arrays:120"
GPU5 = "ARB_gpu_shader5:150"
ES_GPU5 = "EXT_gpu_shader5:es310 OES_gpu_shader5:es310"
GEOMETRY = "OES_geometry_shader:es310 EXT_geometry_shader:es310"

# (since, or from-to; extensions and a version they bring it to; behind a | what the native GL takes
# where it is more or less strict), stage, what stands in front of main, in main.
SINCE: tuple[tuple[str, str, str, str], ...] = (
    ("120 es300 | 110 es300", "fragment", "float[2] f() { float a[2]; return a; }", ""),
    ("120 es100", "fragment", "void f(out float a[2]) { a[0] = a[1] = 1.0; }", ""),
    ("120 es100", "fragment", "void f(inout float a[2]) { a[0] = a[1]; }", ""),
    ("110 es100", "fragment", "float f(in float a[2]) { return a[1]; }", ""),
    ("120 es300", "fragment", "", "float a[2]; int n = a.length();"),
    (f"420 {PACK}", "fragment", "", "vec3 v; int n = v.length();"),
    (f"420 {PACK}", "fragment", "", "mat3 m; int n = m.length();"),
    (f"420 {PACK}", "fragment", "", "float x = 1.0; vec3 y = x.xxx;"),
    ("110 es100", "fragment", "", "vec2 x = vec2(1.0); vec3 y = x.xxx;"),
    ("120 es100", "fragment", "", "mat3 a = mat3(1.0); mat2 b = mat2(a);"),
    ("120 es300", "fragment", "", "float a[2] = float[2](1.0, 2.0);"),
    ("120 es300", "fragment", "", "float[2](1.0, 2.0);"),
    ("120 es300", "fragment", "", "float a[2]; a[0] = a[1] = 1.0; float b[2] = a;"),
    ("120 es300", "fragment", "", "float a[2]; float b[2]; a[0] = a[1] = 1.0; b = a;"),
    ("120 es300", "fragment", "", "float a[2]; float b[2]; bool c = a == b;"),
    ("120 es300", "fragment", "", "float a[2]; float b[2]; bool c = a != b;"),
    ("120 es300", "fragment", "uniform bool u;", "float a[2]; float b[2]; (u ? a : b)[0];"),
    ("120 es300 | 110 es100", "fragment", "", "float[2] a;"),
    ("120 es300 | 110 es100", "fragment", "float[2] a;", ""),
    ("120 es300 | 110 es100", "fragment", "struct S { float[2] a; };", ""),
    *(
        (f"130 es300 {INTEGERS}", "fragment", "uniform int i;", f"int a = {text};")
        for text in ("~i", "i & 3", "i | 3", "i ^ 3", "i << 3", "i >> 3", "i % 3", "-1 % i")
    ),
    *(
        (f"130 es300 {INTEGERS}", "fragment", "", f"int a = 5; a {op}= 3;")
        for op in ("&", "|", "^", "<<", ">>", "%")
    ),
    ("130 es300", "fragment", "", "uint a = 1u;"),
    ("130 es300", "fragment", "", "uvec2 a;"),
    ("130 es300", "fragment", "", "switch (1) { case 0: break; default: break; }"),
    ("120 es300 | 110 es100", "fragment", "", "float a = 1.0f;"),
    ("400", "fragment", "", "double a = 1.0lf;"),
    ("400", "fragment", "", "double a = 1.0;"),
    ("120", "fragment", "", "float a = 1;"),
    (f"400 {GPU5}", "fragment", "", "uint a = 1;"),
    (f"420 {PACK}", "fragment", "", "vec2 a = { 1.0, 2.0 };"),
    (f"420 {PACK}", "fragment", "uniform float u;", "const float a = u;"),
    ("110 es100", "fragment", "", "const float a = 1.0;"),
    (f"430 es310 {AOA}", "fragment", "", "float a[2][3]; a[1][2] = 1.0;"),
    (f"430 es310 {AOA}", "fragment", "", "float[2] a[3]; a[1][0] = 1.0;"),
    (f"430 es310 {AOA}", "fragment", "struct S { float a[2][3]; };", ""),
    (f"430 es310 {AOA}", "fragment", "uniform float a[2][3];", "a[0][0];"),
    ("330 es300 ARB_explicit_attrib_location:130", "vertex", "layout(location = 1) in vec4 a;", ""),
    ("330 es300", "fragment", "layout(location = 1) out vec4 a;", ""),
    (f"410 es310 {SEPARATE}", "vertex", "layout(location = 1) out vec4 a;", ""),
    (f"410 es310 {SEPARATE}", "fragment", "layout(location = 1) in vec4 a;", ""),
    (
        "430 es310 ARB_explicit_uniform_location:330",
        "fragment",
        "layout(location = 1) uniform vec4 a;",
        "",
    ),
    ("420 es310 " + PACK, "fragment", "layout(binding = 1) uniform sampler2D a;", ""),
    ("420 es310", "fragment", "layout(binding = 1) uniform B { vec4 a; };", ""),
    ("140 es300 ARB_uniform_buffer_object:120", "fragment", "uniform B { vec4 a; };", ""),
    ("140 es300", "fragment", "layout(std140) uniform B { vec4 a; };", ""),
    ("140 es300", "fragment", "layout(std140, row_major) uniform B { mat4 a; };", ""),
    (
        "430 es310 ARB_shader_storage_buffer_object:150",
        "fragment",
        "buffer B { vec4 a; };",
        "",
    ),
    ("430 es310", "fragment", "layout(std430) buffer B { vec4 a; };", ""),
    (f"150 es320 {BLOCKS}", "fragment", "in B { vec4 a; } b;", ""),
    (f"150 es320 {BLOCKS}", "vertex", "out B { vec4 a; } b;", ""),
    (f"410 es320 {BLOCKS} | 150 es320", "fragment", "layout(location = 1) in B { vec4 a; } b;", ""),
    ("150 es300", "fragment", "struct S { float a; }; in S b;", ""),
    ("150 es310 | 150", "fragment", "struct S { float a[2]; }; in S b;", ""),
    ("150", "vertex", "in float a[2];", ""),
    ("130 es300", "vertex", "in int a;", ""),
    ("130 es300", "vertex", "in vec4 a;", ""),
    ("130 es300", "vertex", "out vec4 a;", ""),
    ("130 es300", "fragment", "in vec4 a;", ""),
    ("130 es300", "fragment", "flat in int a;", ""),
    ("130 es300", "fragment", "flat in vec4 a;", ""),
    ("130 es300", "fragment", "smooth in vec4 a;", ""),
    ("130", "fragment", "noperspective in vec4 a;", ""),
    ("130 es300", "fragment", "centroid in vec4 a;", ""),
    ("400 es320", "fragment", "sample in vec4 a;", ""),
    ("410", "vertex", "in dvec2 a;", ""),
    ("400 | 130 es300", "fragment", "flat in double a;", ""),
    ("130-410", "fragment", "invariant in vec4 a;", ""),
    ("130 es300", "vertex", "invariant out vec4 a;", ""),
    ("400 es320", "fragment", "", "precise float a = 1.0;"),
    ("130 es100", "fragment", "", "lowp float a = 1.0;"),
    ("130 es100", "fragment", "precision lowp float;", ""),
    ("110 | 110-110", "fragment", "struct S { struct T { float a; } t; };", ""),
    ("120", "fragment", "uniform float u = 1.0;", ""),
    ("420 es310", "fragment", "layout(std140) layout(row_major) uniform B { mat4 a; };", ""),
    ("140 es300", "fragment", "layout(std140, std140) uniform B { mat4 a; };", ""),
    (f"420 {PACK}", "fragment", "const float a = 1.0.x;", ""),
    ("440", "fragment", "layout(location = 1, location = 2) out vec4 a;", ""),
    (f"420 es310 {PACK}", "fragment", "in flat vec4 a;", ""),
    (f"420 es310 {PACK}", "fragment", "in centroid vec4 a;", ""),
    (f"440 {OUTPUTS}", "fragment", "layout(location = 2 - 1) out vec4 a;", ""),
    (f"440 {OUTPUTS}", "fragment", "const int n = 1; layout(location = n) out vec4 a;", ""),
    (
        "440 ARB_enhanced_layouts:410",
        "fragment",
        "layout(location = 1, component = 1) in float a;",
        "",
    ),
    ("420 es310", "fragment", "layout(std140) uniform B { layout(offset = 16) vec4 a; };", ""),
    (f"440 {LAYOUTS}", "fragment", "layout(std140, align = 16) uniform B { vec4 a; };", ""),
    (f"440 {LAYOUTS}", "vertex", "layout(xfb_offset = 0) out vec4 a;", ""),
    (f"440 {LAYOUTS}", "vertex", "layout(xfb_stride = 16) out;", ""),
    (
        f"400 es320 {GPU5} {ES_GPU5}",
        "fragment",
        "uniform sampler2D s[2]; uniform int i;",
        "texture(s[i], vec2(0.0));",
    ),
    (
        f"400 es320 {GPU5} {ES_GPU5}",
        "fragment",
        "uniform B { vec4 a; } b[2]; uniform int i;",
        "b[i].a;",
    ),
    ("150 es300", "fragment", "uniform B { vec4 a; } b[2];", "b[1].a;"),
    ("420 es310 | 140 es300", "fragment", "layout(early_fragment_tests) in;", ""),
    ("150 ARB_fragment_coord_conventions:130", "fragment", "ORIGIN in vec4 gl_FragCoord;", ""),
    ("420 ARB_conservative_depth:130", "fragment", "DEPTH out float gl_FragDepth;", ""),
    ("420 es310", "fragment", "layout(binding = 0) uniform atomic_uint a;", ""),
    ("420 es310", "fragment", "layout(r32f) uniform highp readonly image2D a;", ""),
    ("es320 KHR_blend_equation_advanced:es310", "fragment", "layout(BLEND) out;", ""),
    (
        "330 EXT_blend_func_extended:es300",
        "fragment",
        "layout(location = 0, index = 1) out vec4 a;",
        "",
    ),
    ("400", "fragment", "subroutine float F(float x); subroutine uniform F f;", ""),
    ("430 es310", "compute", "layout(local_size_x = 4) in;", ""),
    ("430 es310", "compute", "layout(local_size_x = 4) in; shared int a[4];", ""),
    (f"150 es320 {GEOMETRY}", "geometry", "layout(points) in; POINTS out;", ""),
    (f"400 es320 {GEOMETRY}", "geometry", "layout(points, invocations = 2) in; POINTS out;", ""),
    ("400", "geometry", "layout(points) in; POINTS out; layout(stream = 1) out vec4 a;", ""),
    ("400 es320", "tess_ctrl", "layout(vertices = 3) out;", ""),
    ("400 es320", "tess_ctrl", "layout(vertices = 3) out; patch out vec4 a;", ""),
    ("400 es320", "tess_eval", "layout(quads) in;", ""),
    ("130 es310 | es310", "vertex", "out highp vec4 gl_Position;", ""),
    ("130 es310 | es310", "vertex", "out highp float gl_PointSize;", ""),
    ("130", "vertex", "out float gl_ClipDistance[2];", ""),
    ("130", "fragment", "in float gl_ClipDistance[2];", ""),
)
SHORT = {
    "ORIGIN": "layout(origin_upper_left)",
    "DEPTH": "layout(depth_any)",
    "BLEND": "blend_support_all_equations",
    "POINTS": "layout(points, max_vertices = 1)",
}


def wanted(when: str, version: int, es: bool) -> bool:
    """Does a version fall into what is written as since when?"""
    for word in when.split():
        if ":" not in word and word.startswith("es") == es:
            low, _, high = word.removeprefix("es").partition("-")
            if int(low) <= version <= int(high or 999):
                return True
    return False


def source(version: str, row: tuple[str, str, str, str], extension: str = "") -> str:
    """The whole shader."""
    _, stage, before, inside = row
    es = version.startswith("es")
    number = version.removeprefix("es")
    head = f"#version {number}{' es' if es and number != '100' else ''}\n"
    head += f"#extension GL_{extension} : require\n" if extension else ""
    if es and stage == "fragment":
        head += "precision highp float; precision highp int;\n"
    for short, long in SHORT.items():
        before = before.replace(short, long)
    return f"{head}{before}\nvoid main() {{ {inside} }}\n"


def cases(native: bool = False) -> Iterator[tuple[str, str, str, bool]]:
    """What it is about, stage, shader, is it taken?"""
    for row in SINCE:
        since, stage, before, inside = row
        here, _, there = since.partition("|")
        when = there if native and there else here
        for es, versions in ((False, VERSIONS), (True, ES_VERSIONS)):
            for version in versions:
                name = f"{'es' if es else ''}{version}"
                text = source(name, row)
                yield f"{name}: {before} {inside}", stage, text, wanted(when, version, es)
        for word in here.split():
            extension, colon, name = word.partition(":")
            if colon:
                text = source(name, row, extension)
                yield f"{name} with {extension}: {before} {inside}", stage, text, True


def test_every_version_takes_what_it_has() -> None:
    wrong = []
    for about, stage, text, taken in cases():
        api = "es" if about.startswith("es") else "compat"
        result = compiled(Stage(stage), text, api, strict=True)
        if result.ok != taken:
            wrong.append(f"{about}: {result.info_log.splitlines()[:1]}")
    assert wrong == []


@pytest.mark.native
@pytest.mark.parametrize("api", ["compat", "es"])
def test_the_native_gl_takes_the_same(api: str) -> None:
    gl = native_context(profile=api, version=(3, 2) if api == "es" else (4, 5))
    shaders = {stage.value: gl.create_shader(kind) for stage, kind in STAGES.values()}
    wrong = []
    for about, stage, text, taken in cases(native=True):
        if about.startswith("es") == (api == "es"):
            gl.shader_source(shaders[stage], text)
            gl.compile_shader(shaders[stage])
            if bool(gl.get_shaderiv(shaders[stage], GL.COMPILE_STATUS)[0]) != taken:
                wrong.append(f"{about}: {gl.get_shader_info_log(shaders[stage])[:90]!r}")
    gl.release()
    assert wrong == []
