"""OpenGL ES 1.1 contexts: fixed function in small, on our GL and on the native one."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import implementation
from gallette.state_tracker.optional.es1.enums import es1_enums
from tests.conftest import native_context

SIZE = 32


def make(driver: str) -> GLInterface:
    options: dict[str, Any] = {"profile": "es", "version": (1, 1), "size": (SIZE, SIZE)}
    return native_context(**options) if driver == "native" else create_context(driver, **options)


def test_every_function_of_the_table_is_there() -> None:
    gl = create_context("numpipe", profile="es", version=(1, 1))
    core = [FUNCTIONS[n] for n in FUNCTIONS if FUNCTIONS[n].in_es((1, 1))]
    core = [f for f in core if f.extension is None]
    assert len(core) == 144  # of 145 in the header; the size of points is an extension's
    assert [f.name for f in core if implementation(f) is None] == []
    assert gl.load_opengl_function("glOrthox") and gl.load_opengl_function("glGenFramebuffersOES")
    assert not gl.load_opengl_function("glBegin") and not gl.load_opengl_function("glCreateShader")
    gl.release()


# Ours stores what it was given; formats that only one of the two has; ALPHA_SCALE is a name of
# texture environments, which a query takes for that of pixel transfer.
_OTHER = frozenset(
    (GL.ALPHA_SCALE, GL.STENCIL_VALUE_MASK, GL.STENCIL_WRITEMASK, GL.NUM_COMPRESSED_TEXTURE_FORMATS,
     GL.COMPRESSED_TEXTURE_FORMATS, GL.IMPLEMENTATION_COLOR_READ_FORMAT)
)  # fmt: skip


@pytest.mark.native
def test_every_query_answers_as_the_native_one() -> None:
    answers: list[dict[int, Any]] = []
    for driver in ("numpipe", "native"):
        gl = make(driver)
        with gl:
            found: dict[int, Any] = {}
            for pname in sorted(es1_enums()):
                if pname > 0x100 and pname not in _OTHER:
                    values = [round(v, 3) for v in gl.get_floatv(pname)]
                    wrong = gl.get_error()
                    enabled = gl.is_enabled(pname)
                    found[pname] = wrong or values, gl.get_error() or enabled
            answers.append(found)
        gl.release()
    ours, native = answers
    differ = {GL.name_of(p): (ours[p], native[p]) for p in ours if ours[p] != native[p]}
    assert differ == {}


@pytest.mark.native
def test_extensions_are_the_native_ones_but_for_images_of_others() -> None:
    gl, native = make("numpipe"), make("native")
    listed = set(gl.get_string(GL.EXTENSIONS).split())
    with native:
        theirs = set(native.get_string(GL.EXTENSIONS).split())
    assert listed <= theirs
    assert {n.removeprefix("GL_") for n in theirs - listed} == {"OES_EGL_image_external"}
    native.release()


@pytest.mark.parametrize("profile", ["core", "compat", "es"])
def test_functions_of_es1_are_missing_in_other_contexts(profile: str) -> None:
    gl = create_context("numpipe", profile=profile, version=(3, 2))
    for name in ("PointSizePointerOES", "DrawTexfOES", "QueryMatrixxOES"):
        assert gl.load_opengl_function(f"gl{name}") == 0
    gl.release()
