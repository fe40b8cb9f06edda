"""OpenGL ES 1.1 contexts: fixed function in small, on our GL and on the native one."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import implementation
from gallette.state_tracker.optional.es1.enums import es1_enums
from tests.conftest import native_context
from tests.state_tracker.conftest import IMPLEMENTATIONS

ONE = 1 << 16
SIZE = 32


def make(driver: str) -> GLInterface:
    options: dict[str, Any] = {"profile": "es", "version": (1, 1), "size": (SIZE, SIZE)}
    return native_context(**options) if driver == "native" else create_context(driver, **options)


@pytest.fixture(params=IMPLEMENTATIONS)
def es1(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    context = make(request.param)
    context.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    yield context
    context.release()


def image(gl: GLInterface) -> np.ndarray[Any, np.dtype[np.uint8]]:
    raw = bytearray(SIZE * SIZE * 4)
    gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE, raw)
    return np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE, 4)


def square(gl: GLInterface) -> None:
    corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.int32) * ONE
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FIXED, 0, corners)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


def checkered(gl: GLInterface) -> int:
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_parameterx(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameterx(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    texels = bytes([255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 255, 255])
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    return int(texture)


def test_the_version_is_that_of_a_common_profile(es1: GLInterface) -> None:
    assert es1.get_string(GL.VERSION).startswith("OpenGL ES-CM 1.1 ")
    es1.get_string(GL.SHADING_LANGUAGE_VERSION)
    assert es1.get_error() == GL.INVALID_ENUM


def test_every_function_of_the_table_is_there() -> None:
    gl = create_context("numpipe", profile="es", version=(1, 1))
    core = [FUNCTIONS[n] for n in FUNCTIONS if FUNCTIONS[n].in_es((1, 1))]
    core = [f for f in core if f.extension is None]
    assert len(core) == 144  # of 145 in the header; the size of points is an extension's
    assert [f.name for f in core if implementation(f) is None] == []
    assert gl.load_opengl_function("glOrthox") and gl.load_opengl_function("glGenFramebuffersOES")
    assert not gl.load_opengl_function("glBegin") and not gl.load_opengl_function("glCreateShader")
    gl.release()


def test_matrices_and_colours_in_fixed_point(es1: GLInterface) -> None:
    gl = es1
    gl.load_identity()
    gl.translatex(ONE // 2, 0, 0)
    gl.scalex(ONE // 2, ONE // 2, ONE)
    gl.color4x(ONE, ONE // 2, 0, ONE)
    square(gl)
    assert gl.get_fixedv(GL.CURRENT_COLOR)[:2] == [ONE, ONE // 2]
    assert gl.get_error() == GL.NO_ERROR
    seen = image(gl)
    assert seen[16, 24].tolist() in ([255, 127, 0, 255], [255, 128, 0, 255])
    assert seen[16, 4].tolist()[:3] == [0, 0, 0]


def test_rectangles_of_textures(es1: GLInterface) -> None:
    gl = es1
    checkered(gl)
    gl.enable(GL.TEXTURE_2D)
    gl.tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_CROP_RECT_OES, [0, 0, 2, 2])
    gl.translatef(5.0, 0.0, 0.0)  # has no say
    gl.draw_texi_oes(8, 4, 0, 16, 8)
    assert gl.get_error() == GL.NO_ERROR
    seen = image(gl)
    assert seen[5, 9].tolist() == [255, 0, 0, 255]
    assert seen[5, 22].tolist() == [0, 255, 0, 255]
    assert seen[10, 22].tolist() == [255, 255, 255, 255]
    assert seen[5, 25].tolist()[:3] == [0, 0, 0]
    gl.draw_texi_oes(0, 0, 0, 0, 8)
    assert gl.get_error() == GL.INVALID_VALUE
    assert gl.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_CROP_RECT_OES) == [0, 0, 2, 2]


def test_points_of_sizes_of_their_own(es1: GLInterface) -> None:
    gl = es1
    places = np.array([-0.5, -0.5, 0.5, 0.5], np.float32)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, places)
    gl.enable_client_state(GL.POINT_SIZE_ARRAY_OES)
    gl.point_size_pointer_oes(GL.FLOAT, 0, np.array([2.0, 8.0], np.float32))
    gl.draw_arrays(GL.POINTS, 0, 2)
    assert gl.get_error() == GL.NO_ERROR
    lit = image(gl)[..., 0] > 0
    assert int(lit[:16, :16].sum()) == 4
    assert int(lit[16:, 16:].sum()) == 64


def test_palettes_with_all_their_levels(es1: GLInterface) -> None:
    gl = es1
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    palette = b"".join(struct.pack("BBB", 16 * i, 0, 255 - 16 * i) for i in range(16))
    data = palette + bytes([0x01, 0x23]) + bytes([0xF0])
    kind = GL.PALETTE4_RGB8_OES
    gl.compressed_tex_image2d(GL.TEXTURE_2D, -1, kind, 2, 2, 0, len(data), data)
    assert gl.get_error() == GL.NO_ERROR
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    gl.tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_CROP_RECT_OES, [0, 0, 2, 2])
    gl.enable(GL.TEXTURE_2D)
    gl.draw_texf_oes(0.0, 0.0, 0.0, 32.0, 32.0)
    seen = image(gl)
    corners = [seen[y, x, 0] for y, x in ((4, 4), (4, 28), (28, 4), (28, 28))]
    assert corners == [0, 16, 32, 48]
    gl.compressed_tex_image2d(GL.TEXTURE_2D, 0, kind, 2, 2, 0, 49, data)
    assert gl.get_error() == GL.INVALID_VALUE


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
