"""Which extensions llvmpipe lists and gallette does not: each with its reason, and no others.

`missing_extensions.txt` has a line per name. A name that is listed by now, or that llvmpipe does
not list, must leave the file; a missing name without a reason fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GLInterface, create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from tests.conftest import native_context
from tests.state_tracker.negative_suite import value

FILE = Path(__file__).parent / "missing_extensions.txt"


def reasons() -> dict[str, str]:
    rows = [line.split(" ", 1) for line in table_rows(FILE)]
    return {row[0]: row[1] for row in rows}


def listed(gl: object) -> set[str]:
    names = gl.get_string(GL.EXTENSIONS)  # type: ignore[attr-defined]
    if not names:  # a core profile has them one by one
        assert gl.get_error() == GL.INVALID_ENUM  # type: ignore[attr-defined]
        count = gl.get_integerv(GL.NUM_EXTENSIONS)[0]  # type: ignore[attr-defined]
        names = " ".join(
            gl.get_stringi(GL.EXTENSIONS, i)  # type: ignore[attr-defined]
            for i in range(count)
        )
    return {name.removeprefix("GL_") for name in names.split()}


# Whatever version is asked for, llvmpipe makes the newest of these, and so do we.
PROFILES = (("compat", (4, 3)), ("core", (4, 3)), ("es", (3, 1)), ("es", (1, 1)))


@pytest.mark.native
def test_every_missing_extension_has_a_reason() -> None:
    missing: set[str] = set()
    for profile, version in PROFILES:
        ours = Context(profile=profile, version=version)
        have = listed(ours)
        ours.release()
        native = native_context(profile=profile, version=version)
        with native:
            missing |= listed(native) - have
    known = set(reasons())
    assert sorted(missing - known) == []
    assert sorted(known - missing) == [], "listed by now: strike these from the file"


IMAGING = """
matrix_mode COLOR|enable HISTOGRAM|enable MINMAX|enable COLOR_TABLE|enable CONVOLUTION_1D
pixel_transferf POST_CONVOLUTION_RED_SCALE 1.0|get_integerv COLOR_MATRIX|hint CONVOLUTION_1D NICEST
color_table COLOR_TABLE RGBA8 4 RGBA UNSIGNED_BYTE ~64|histogram HISTOGRAM 16 RGBA8 0
minmax MINMAX RGBA8 0|convolution_filter2d CONVOLUTION_2D RGBA8 2 2 RGBA UNSIGNED_BYTE ~64
getn_minmax_arb MINMAX 0 RGBA UNSIGNED_BYTE 16 ~16|blend_color 0 0 0 0|blend_equation MIN
"""


def test_the_imaging_subset_is_absent(compat: GLInterface) -> None:
    """Not listed, and nothing of it there but what became core: as llvmpipe has it."""
    gl = compat
    assert "ARB_imaging" not in listed(gl)
    for call in IMAGING.strip().replace("\n", "|").split("|"):
        method, *words = call.split()
        getattr(gl, method)(*map(value, words))
        core = method.startswith("blend")
        expected = (
            GL.INVALID_OPERATION
            if "~" in call or method in ("histogram", "minmax")
            else (GL.NO_ERROR if core else GL.INVALID_ENUM)
        )
        assert gl.get_error() == expected, call
    if isinstance(gl, Context):
        assert gl.load_opengl_function("glColorTable") == 0


def test_shaders_include_named_strings() -> None:
    gl = Context(profile="core", version=(4, 3), size=(2, 2))
    texts = {
        "/lib/color.glsl": '#include "parts/red.glsl"\nvec4 all() { return vec4(red(), green); }',
        "/lib/parts/red.glsl": "float red() { return 1.0; }",
        "/other/green.glsl": "const vec3 green = vec3(1.0, 0.0, 1.0);",
    }
    for path, text in texts.items():
        gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, path, -1, text)
    assert gl.is_named_string_arb(-1, "/lib/../lib/./color.glsl")
    assert not gl.is_named_string_arb(-1, "/lib")
    assert gl.get_named_string_arb(-1, "/other/green.glsl") == texts["/other/green.glsl"]
    source = """#version 430
        #extension GL_ARB_shading_language_include : require
        #include <green.glsl>
        #include "/lib/color.glsl"
        out vec4 color; void main() { color = all(); }"""
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    gl.shader_source(shader, source)
    gl.compile_shader(shader)  # nobody says where green.glsl is
    assert not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]
    assert "green.glsl" in gl.get_shader_info_log(shader)
    gl.compile_shader_include_arb(shader, 2, ["/nowhere", "/other"], None)
    assert gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0], gl.get_shader_info_log(shader)
    gl.delete_named_string_arb(-1, "/other/green.glsl")
    gl.compile_shader_include_arb(shader, 1, ["/other"], None)
    assert not gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0]
    for call, error in (
        (lambda: gl.named_string_arb(GL.FLOAT, -1, "/a", -1, ""), GL.INVALID_VALUE),
        (lambda: gl.named_string_arb(GL.SHADER_INCLUDE_ARB, -1, "a", -1, ""), GL.INVALID_VALUE),
        (lambda: gl.delete_named_string_arb(-1, "/b"), GL.INVALID_OPERATION),
        (lambda: gl.get_named_stringiv_arb(-1, "/lib/color.glsl", GL.FLOAT), GL.INVALID_ENUM),
    ):
        call()
        assert gl.get_error() == error
    gl.release()


@pytest.mark.native
@pytest.mark.parametrize("profile", ["core", "compat"])
def test_desktop_contexts_list_the_extensions_of_es_that_native_gl_lists(profile: str) -> None:
    """OES_read_format is for the compatibility profile, others for OpenGL ES alone."""
    lists = []
    for create in (native_context, create_context):
        gl: GLInterface = create(profile=profile, version=(4, 5), size=(4, 4))
        names = [
            gl.get_stringi(GL.EXTENSIONS, i) for i in range(gl.get_integerv(GL.NUM_EXTENSIONS)[0])
        ]
        lists.append(sorted(name for name in names if name.startswith("GL_OES_")))
        gl.release()
    assert lists[0] == lists[1]
    assert lists[0]
