"""The table of GL functions and what is derived from it."""

from __future__ import annotations

import ctypes
import re

import pytest

from gallette.state_tracker import create_context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Kind, method_name
from gallette.state_tracker.entry_points.registry import implementation, implementations


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("GenBuffers", "gen_buffers"),
        ("TexImage2D", "tex_image2d"),
        ("TexImage2DMultisample", "tex_image2d_multisample"),
        ("UniformMatrix4fv", "uniform_matrix4fv"),
        ("GetIntegeri_v", "get_integeri_v"),
        ("DrawElementsInstancedBaseVertex", "draw_elements_instanced_base_vertex"),
        ("BindBufferARB", "bind_buffer_arb"),
        ("VertexAttribI4ui", "vertex_attrib_i4ui"),
        ("VertexAttrib4Nub", "vertex_attrib4nub"),
    ],
)
def test_python_names_follow_from_c_names(name: str, method: str) -> None:
    assert method_name(name) == method
    assert FUNCTIONS.method(method) is FUNCTIONS[name]


def test_every_line_of_the_table_parses_and_method_names_are_unique() -> None:
    methods = [FUNCTIONS[name].method for name in FUNCTIONS]
    assert len(set(methods)) == len(methods) > 1500
    for name in FUNCTIONS:
        function = FUNCTIONS[name]
        assert len(function.argtypes) == len(function.params)
        assert function.restype is None or function.restype is not ctypes.c_char


def test_signatures_are_readable() -> None:
    assert str(FUNCTIONS["GenBuffers"]) == "glGenBuffers(sizei n, uint* buffers[n])"
    assert str(FUNCTIONS["MapBuffer"]) == "glMapBuffer(enum target, enum access) -> void*"


def test_output_parameters_may_be_left_out() -> None:
    info_log = FUNCTIONS["GetShaderInfoLog"]
    assert [p.kind for p in info_log.params] == [
        Kind.VALUE,
        Kind.CAPACITY,
        Kind.WRITTEN,
        Kind.OUT_STRING,
    ]
    assert info_log.required == 1


def test_availability_by_version_and_profile() -> None:
    assert FUNCTIONS["GenVertexArrays"].available("core", (3, 0))
    assert not FUNCTIONS["GenVertexArrays"].available("core", (2, 1))
    assert FUNCTIONS["Begin"].available("compat", (3, 3))
    assert not FUNCTIONS["Begin"].available("core", (3, 3))
    assert FUNCTIONS["BindVertexArray"].available("es", (3, 0))
    assert not FUNCTIONS["BindVertexArray"].available("es", (2, 0))
    timed = FUNCTIONS["GetQueryObjecti64vEXT"]
    assert timed.available("core", (3, 3), frozenset({"GL_EXT_timer_query"}))
    assert not timed.available("core", (3, 3))


def test_extension_functions_alias_core_ones_of_the_same_type() -> None:
    assert FUNCTIONS.alias(FUNCTIONS["BindBufferARB"]) is FUNCTIONS["BindBuffer"]
    assert FUNCTIONS.alias(FUNCTIONS["CreateShaderObjectARB"]) is None


def test_all_of_opengl_3_3_core_is_implemented() -> None:
    done = implementations()
    missing = [
        name
        for name in FUNCTIONS
        if FUNCTIONS[name].available("core", (3, 3)) and FUNCTIONS[name].method not in done
    ]
    assert missing == []


def test_enums_by_name_and_value() -> None:
    assert GL.TRIANGLES == 4
    assert GL._2D == 0x0600
    assert GL.name_of(4, "primitive") == "GL_TRIANGLES"
    assert GL.name_of(0x0502) == "GL_INVALID_OPERATION"
    assert GL.name_of(0x12345678) == "0x12345678"
    assert GL.value_of("GL_RGBA8") == GL.RGBA8
    with pytest.raises(AttributeError, match="OpenGL has no enum GL_TRIANGLEZ"):
        _ = GL.TRIANGLEZ


# Old functions under an extension's name that means something else in OpenGL ES.
_DESKTOP_ONLY = {"UseShaderProgramEXT", "ActiveProgramEXT", "CreateShaderProgramEXT"}
# The imaging subset is optional (ARB_imaging, not listed); images of EGL come with gallette.egl.
_IMAGING = "ColorTable|ColorSubTable|Histogram|Minmax|Convolution|Separable"
_OPTIONAL = re.compile(
    r".*(ColorTable|ColorSubTable|Histogram|Minmax|Convolution|Separable).*|EGL.*"
)


@pytest.mark.parametrize(
    ("profile", "version"), [("core", (4, 6)), ("compat", (4, 6)), ("es", (3, 2))]
)
def test_what_is_advertised_has_every_function(profile: str, version: tuple[int, int]) -> None:
    context = create_context("numpipe", profile=profile, version=version)
    listed = {context.get_stringi(GL.EXTENSIONS, i) for i in range(len(context.limits.extensions))}
    assert listed == set(context.limits.extensions)
    missing = [
        name
        for name in FUNCTIONS
        if implementation(FUNCTIONS[name]) is None
        and (
            FUNCTIONS[name].extension in listed
            or FUNCTIONS[name].available(profile, context.limits.version)
        )
        and name not in _DESKTOP_ONLY
        and not _OPTIONAL.fullmatch(name)
    ]
    context.release()
    assert missing == []


def test_other_names_of_a_function_are_the_function() -> None:
    assert FUNCTIONS.alias(FUNCTIONS["DiscardFramebufferEXT"]) is FUNCTIONS["InvalidateFramebuffer"]
    assert FUNCTIONS["BindVertexArrayAPPLE"].params == FUNCTIONS["BindVertexArray"].params
