"""What each language accepts and refuses, as one table."""

import itertools

import pytest

from gallette.compiler.glsl.typenames import TYPE_NAMES
from gallette.compiler.link.limits import Limits
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.glsl.shaders import compiled, errors

"""Constructors of handles and from handles: do they exist where GL_ARB_bindless_texture does?"""


def test_core_contexts_refuse_the_compatibility_profile() -> None:
    source = "#version 150 compatibility\nvoid main() {}"
    assert compiled(Stage.VERTEX, source, "compat").ok
    assert not compiled(Stage.VERTEX, source, "core").ok


def test_a_version_limit_is_respected() -> None:
    result = compiled(Stage.VERTEX, "#version 430\nvoid main() {}", version_limit=330)
    assert "GLSL 4.30 is not supported" in result.info_log


REDECLARED = {
    "vertex": """out vec4 gl_FrontColor; out vec4 gl_BackColor; out vec4 gl_FrontSecondaryColor;
        out vec4 gl_BackSecondaryColor; out vec4 gl_ClipVertex; out float gl_FogFragCoord;
        out float gl_ClipDistance[3]; out float gl_CullDistance[2]; out vec4 gl_TexCoord[4];
        out vec4 gl_Position; out float gl_PointSize; out int gl_Layer; out int gl_ViewportIndex""",
    "fragment": """in vec4 gl_Color; in vec4 gl_SecondaryColor; in float gl_FogFragCoord;
        in vec4 gl_FragCoord; out float gl_FragDepth; in vec4 gl_TexCoord[4];
        in float gl_ClipDistance[3]; in float gl_CullDistance[2]; out int gl_SampleMask[1];
        in int gl_SampleMaskIn[1]; in int gl_Layer; in int gl_ViewportIndex;
        in int gl_PrimitiveID; flat in vec4 gl_Color;
        noperspective in vec4 gl_SecondaryColor""",
}


@pytest.mark.parametrize(
    ("stage", "declaration"),
    [(stage, d.strip()) for stage, text in REDECLARED.items() for d in text.split(";")],
)
def test_what_is_built_in_is_declared_again(stage: str, declaration: str) -> None:
    extensions = ["GL_ARB_shader_viewport_layer_array", "GL_ARB_cull_distance"]
    head = "".join(f"#extension {name} : enable\n" for name in extensions)
    source = f"#version 450 compatibility\n{head}{declaration};\nvoid main() {{}}\n"
    assert errors(source, Stage(stage)) == []
    other = "in mat3 gl_" + declaration.split("gl_")[1].split("[")[0]
    assert errors(source.replace(declaration, other), Stage(stage)) != []


IMAGES_AND_SAMPLERS = [n for n in TYPE_NAMES if "sampler" in n or "image" in n]
WITH_EXTENSIONS = {
    "110": "EXT_gpu_shader4 EXT_texture_array ARB_texture_rectangle",
    "130": "EXT_texture_array ARB_texture_rectangle ARB_texture_multisample "
    "ARB_texture_cube_map_array",
    "150": "ARB_texture_cube_map_array ARB_shader_image_load_store",
    "300 es": "",
    "310 es": "OES_texture_buffer EXT_texture_buffer OES_texture_cube_map_array "
    "EXT_texture_cube_map_array OES_texture_storage_multisample_2d_array",
    **dict.fromkeys(("120", "140", "330", "400", "420", "320 es"), ""),
}


@pytest.mark.native
@pytest.mark.parametrize("version", WITH_EXTENSIONS)
def test_samplers_and_images_are_types_where_they_are_on_native_gl(version: str) -> None:
    """Alone, and with each extension that brings some."""
    es = version.endswith("es")
    api, offered = ("es", (3, 2)) if es else ("compat", (4, 5))
    gl = native_context(profile=api, version=offered)
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    for extension in ("", *WITH_EXTENSIONS[version].split()):
        head = f"#version {version}\n"
        head += f"#extension GL_{extension} : require\n" if extension else ""
        ours, native = set(), set()
        for name in IMAGES_AND_SAMPLERS:
            text = f"uniform {'highp ' if es else ''}{name} u; void main() {{}}"
            if "image" in name:
                format = {"ii": "r32i", "ui": "r32ui"}.get(name[:2], "r32f")
                text = f"layout({format}) readonly {text}"
            text = head + text
            if compiled(Stage.FRAGMENT, text, api).ok:
                ours.add(name)
            gl.shader_source(shader, text)
            gl.compile_shader(shader)
            if gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]:
                native.add(name)
        assert ours == native, extension
        assert "sampler2D" in ours
    gl.release()


def test_a_workgroup_is_limited_along_each_axis_and_in_all() -> None:
    limits = Limits(max_compute_work_group_size=(8, 6, 4), max_compute_work_group_invocations=32)

    def found(size: tuple[int, int, int]) -> list[str]:
        given = ", ".join(f"local_size_{axis} = {n}" for axis, n in zip("xyz", size, strict=True))
        source = f"#version 430\nlayout({given}) in; void main() {{}}"
        result = compiled(Stage.COMPUTE, source, limits=limits)
        return [d.message for d in result.diagnostics]

    for size in ((8, 1, 4), (1, 6, 4)):
        assert found(size) == []
    for size, limit in (((9, 1, 1), 8), ((1, 7, 1), 6), ((1, 1, 5), 4)):
        assert found(size) == [f"the workgroup size exceeds the limit of {limit}"]
    assert found((8, 5, 1)) == ["the workgroup has too many invocations"]


WORDS = "bool int uint float"
CONVERTED = {
    "110": "bool int float",
    "120": "bool int float",
    "130": WORDS,
    "330": WORDS,
    "330 ARB_gpu_shader5": WORDS,
    "400": f"{WORDS} double",
    "400 ARB_gpu_shader_int64": f"{WORDS} double int64_t uint64_t",
}
"""A version of GLSL, perhaps an extension, and the scalar types there are."""


def head_of(language: str) -> str:
    version, _, extension = language.partition(" ")
    enabled = f"#extension GL_{extension} : require\n" if extension else ""
    return f"#version {version}\n{enabled}"


def overloaded(way: str, given: str, one: str, two: str) -> str:
    """Right if the second function is called: the first one gives back nothing."""
    functions = f"void f({way} {one} x) {{}} bool f({way} {two} x) {{ return true; }}"
    return f"{functions}\nvoid main() {{ {given} v; bool called = f(v); }}"


@pytest.mark.native
@pytest.mark.parametrize("language", CONVERTED)
def test_conversions_and_overloads_are_chosen_as_on_native_gl(language: str) -> None:
    bases = CONVERTED[language].split()
    texts = [f"void main() {{ {a} x; {b} y = x; }}" for a in bases for b in bases]
    if "int64_t" not in bases:  # native GL does not convert to them, nor from them, for a call
        texts += [
            overloaded(way, given, one, two)
            for way in ("in", "out")
            for given in bases
            for one in bases
            for two in bases
            if given not in (one, two) and one != two
        ]
    gl = native_context(profile="compat", version=(4, 5))
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    for text in texts:
        text = head_of(language) + text
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        native = bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0])
        assert compiled(Stage.FRAGMENT, text).ok == native, text
    gl.release()


@pytest.mark.native
@pytest.mark.parametrize("way", ["in", "out", "inout"])
@pytest.mark.parametrize("other", ["double", "uint"])
def test_an_overload_is_better_somewhere_and_worse_nowhere_as_on_native_gl(
    way: str, other: str
) -> None:
    """For the first argument float is better than double: is that function called? than uint not:
    is there one that can be called?
    """
    result, end = ("void", "") if other == "double" else ("bool", " return true; ")
    bases = CONVERTED["400"].split()
    gl = native_context(profile="compat", version=(4, 5))
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    called = 0
    for given, one, two in itertools.product(bases, repeat=3):
        functions = (
            f"{result} f({other} a, {way} {one} b) {{{end}}}\n"
            f"bool f(float a, {way} {two} b) {{ return true; }}\n"
        )
        text = f"{head_of('400')}{functions}void main() {{ {given} v; bool called = f(1, v); }}"
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        native = bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0])
        assert compiled(Stage.FRAGMENT, text).ok == native, text
        called += native
    gl.release()
    assert 0 < called < 125


def shapes(base: str) -> dict[object, str]:
    """The scalar, vectors and matrices of a base type, by their shapes."""
    scalar = {"i": "int", "u": "uint", "": "float", "d": "double"}[base]
    found: dict[object, str] = {1: scalar} | {n: f"{base}vec{n}" for n in (2, 3, 4)}
    if base in ("", "d"):
        found |= {(c, r): f"{base}mat{c}x{r}" for c in (2, 3, 4) for r in (2, 3, 4)}
    return found


@pytest.mark.parametrize(("source", "target"), [("i", "u"), ("u", ""), ("i", "d"), ("", "d")])
def test_what_is_converted_keeps_its_shape(source: str, target: str) -> None:
    others = {"S": "struct S { float a; };", "float[1]": "", "double[2]": ""}
    for shape, given in shapes(source).items():
        for kept, wanted in shapes(target).items():
            text = f"{head_of('400')}void main() {{ {given} x; {wanted} y = x; }}"
            assert compiled(Stage.FRAGMENT, text).ok == (shape == kept), text
        for other, declared in others.items():
            for pair in (f"{given} x; {other} y = x;", f"{other} x; {given} y = x;"):
                text = f"{head_of('400')}{declared}\nvoid main() {{ {pair} }}"
                assert not compiled(Stage.FRAGMENT, text).ok, text


BETTER = {
    "int": {("int64_t", other) for other in ("uint", "uint64_t", "float", "double")},
    "uint": {("uint64_t", other) for other in ("float", "double")},
}
"""Conversions to more bits of the same kind win over all others (GL_ARB_gpu_shader_int64)."""


@pytest.mark.parametrize(
    ("given", "others"),
    {
        "int": ("uint", "int64_t", "uint64_t", "float", "double"),
        "uint": ("uint64_t", "float", "double"),
        "int64_t": ("uint64_t", "double"),
    }.items(),
)
def test_more_bits_of_the_same_kind_are_the_best_conversion(
    given: str, others: tuple[str, ...]
) -> None:
    better = BETTER.get(given, set()) | {("float", "double")}
    for one in others:
        for two in others:
            if one != two:
                text = head_of("400 ARB_gpu_shader_int64") + overloaded("in", given, one, two)
                assert (errors(text) == []) == ((two, one) in better), (one, two)
