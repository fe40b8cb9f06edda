"""OpenGL ES contexts, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.entry_points.functions import DATA
from tests.conftest import native_context
from tests.state_tracker.conftest import IMPLEMENTATIONS
from tests.state_tracker.helpers import errors, pixels, program


@pytest.fixture(params=IMPLEMENTATIONS)
def es(request: pytest.FixtureRequest) -> Iterator[GLInterface]:
    """An ES 3.0 context with a default framebuffer of 64x64."""
    options = {"profile": "es", "version": (3, 0), "size": (64, 64)}
    if request.param == "native":
        context = native_context(**options)
    else:
        context = create_context(request.param, **options)  # type: ignore[arg-type]
    context.clear(GL.COLOR_BUFFER_BIT)
    yield context
    context.release()


def test_strings_say_es(es: GLInterface) -> None:
    assert es.get_string(GL.VERSION).startswith("OpenGL ES 3.")
    assert es.get_string(GL.SHADING_LANGUAGE_VERSION).startswith("OpenGL ES GLSL ES 3")


DESKTOP_ONLY = [
    ("pixel_storei", GL.UNPACK_SWAP_BYTES, 1),
    ("pixel_storei", GL.PACK_LSB_FIRST, 1),
    ("bind_texture", GL.TEXTURE_1D, 0),
    ("bind_texture", GL.TEXTURE_RECTANGLE, 0),
    ("tex_parameterf", GL.TEXTURE_1D_ARRAY, GL.TEXTURE_MIN_LOD, 0.0),
    ("tex_parameterf", GL.TEXTURE_2D, GL.TEXTURE_LOD_BIAS, 1.0),
    ("tex_parameteri", GL.TEXTURE_2D, GL.TEXTURE_WRAP_S, GL.MIRROR_CLAMP_EXT),
    ("tex_image2d", GL.PROXY_TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None),
    ("bind_buffer", GL.QUERY_BUFFER, 0),
    ("vertex_attrib_pointer", 0, 4, GL.DOUBLE, 0, 0, 0),
    ("vertex_attrib_pointer", 0, 3, GL.UNSIGNED_INT_10F_11F_11F_REV, 0, 0, 0),
    ("read_buffer", GL.FRONT),
]


@pytest.mark.parametrize("call", DESKTOP_ONLY, ids=lambda call: f"{call[0]} {call[1]:#x}")
def test_enumerators_es_does_not_have(es: GLInterface, call: tuple[Any, ...]) -> None:
    name, *args = call
    getattr(es, name)(*args)
    assert errors(es) == ["GL_INVALID_ENUM"]


@pytest.mark.parametrize(
    ("profile", "version", "property", "interface"),
    [
        ("es", (3, 2), ["GL_INVALID_ENUM"], ["GL_INVALID_ENUM"]),
        ("core", (4, 5), ["GL_INVALID_OPERATION"], []),
    ],
)
def test_es_has_no_subroutines(
    profile: str, version: tuple[int, int], property: list[str], interface: list[str]
) -> None:
    """Elsewhere they are a property of other interfaces than uniforms."""
    gl = create_context("numpipe", profile=profile, version=version)
    name = gl.create_program()
    gl.link_program(name)
    errors(gl)
    gl.get_program_interfaceiv(name, GL.UNIFORM, GL.MAX_NUM_COMPATIBLE_SUBROUTINES)
    assert errors(gl) == property
    gl.get_program_interfaceiv(name, GL.VERTEX_SUBROUTINE_UNIFORM, GL.ACTIVE_RESOURCES)
    assert errors(gl) == interface
    gl.release()


DEPTH_READS = [
    (GL.DEPTH_COMPONENT, GL.FLOAT),
    (GL.DEPTH_COMPONENT, GL.UNSIGNED_INT),
    (GL.DEPTH_COMPONENT, GL.UNSIGNED_BYTE),
    (GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8),
    (GL.DEPTH_STENCIL, GL.FLOAT_32_UNSIGNED_INT_24_8_REV),
    (GL.STENCIL_INDEX, GL.UNSIGNED_BYTE),
    (GL.STENCIL_INDEX, GL.UNSIGNED_INT),
]


@pytest.mark.parametrize(
    ("format", "expected"),
    [
        (GL.DEPTH24_STENCIL8, ["OPERATION", "", "ENUM", "", "OPERATION", "", "ENUM"]),
        (GL.DEPTH32F_STENCIL8, ["", "OPERATION", "ENUM", "OPERATION", "", "", "ENUM"]),
    ],
)
def test_depth_is_read_as_what_it_is(es: GLInterface, format: int, expected: list[str]) -> None:
    (buffer,), (framebuffer,) = es.gen_renderbuffers(1), es.gen_framebuffers(1)
    es.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    es.renderbuffer_storage(GL.RENDERBUFFER, format, 4, 4)
    es.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    es.framebuffer_renderbuffer(
        GL.FRAMEBUFFER, GL.DEPTH_STENCIL_ATTACHMENT, GL.RENDERBUFFER, buffer
    )
    found = []
    for pair in DEPTH_READS:
        es.read_pixels(0, 0, 1, 1, *pair)
        found.append("".join(errors(es)).removeprefix("GL_INVALID_"))
    assert found == expected


def test_an_es_context_has_its_own_queries_hints_and_extensions() -> None:
    gl = create_context("noop", profile="es", version=(3, 0))
    gl.hint(GL.GENERATE_MIPMAP_HINT, GL.NICEST)
    assert gl.get_error() == GL.NO_ERROR
    gl.get_integerv(GL.POLYGON_MODE)
    assert gl.get_error() == GL.INVALID_ENUM
    names = gl.get_string(GL.EXTENSIONS).split()
    assert "GL_OES_texture_npot" in names
    assert not [n for n in names if n.startswith("GL_ARB_")]
    gl.release()


CENTRES = [(1.06, 0.1), (-1.08, -0.3), (0.2, 1.05), (-1.05, -1.05), (1.5, 0.0), (0.5, -0.5)]


@pytest.mark.parametrize(
    "driver",
    ["numpipe", "jit", "simd", "tiler", pytest.param("native", marks=pytest.mark.native)],
)
def test_points_beside_the_view_show_what_of_them_is_inside(driver: str) -> None:
    """OpenGL clips the centres of points, OpenGL ES only against what is in front and behind."""
    seen = []
    for profile, version, head in (
        ("es", (3, 0), "#version 300 es\nprecision highp float;\n"),
        ("core", (3, 3), "#version 330\n"),
    ):
        options: dict[str, Any] = {"profile": profile, "version": version, "size": (32, 32)}
        gl = native_context(**options) if driver == "native" else create_context(driver, **options)
        vertex = "in vec2 p;\nvoid main() { gl_Position = vec4(p, 0, 1); gl_PointSize = 5.0; }"
        program(gl, head + vertex, head + "out vec4 c;\nvoid main() { c = vec4(1); }")
        if profile == "core":
            gl.enable(GL.PROGRAM_POINT_SIZE)
        (array,), (buffer,) = gl.gen_vertex_arrays(1), gl.gen_buffers(1)
        gl.bind_vertex_array(array)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        data = np.array(CENTRES, np.float32)
        gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
        gl.vertex_attrib_pointer(0, 2, GL.FLOAT, False, 0, None)
        gl.enable_vertex_attrib_array(0)
        gl.clear_color(0.0, 0.0, 0.0, 0.0)
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(GL.POINTS, 0, len(CENTRES))
        seen.append(int(np.count_nonzero(pixels(gl, 32, 32)[..., 0])))
        gl.release()
    assert seen == [54, 25]


def updates_of_images(gl: GLInterface) -> list[str]:
    """What glTexSubImage2D says to every client format and type, of images of every format."""
    rows = [
        line.split()
        for line in (DATA / "es_formats.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    pairs = sorted({(format, kind) for _, format, types, _ in rows for kind in types.split(",")})
    told = []
    for name, format, types, _ in rows:
        if "DEPTH" in name or "STENCIL" in name or name == "BGRA_EXT":
            continue  # llvmpipe takes any update of the last
        for own in types.split(","):
            if "FLOAT" in own and ("ALPHA" in name or "LUMINANCE" in name):
                continue  # llvmpipe takes none of these, whatever it is
            gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
            made = getattr(GL, name), 4, 4, 0, getattr(GL, format), getattr(GL, own)
            gl.tex_image2d(GL.TEXTURE_2D, 0, *made, None)
            if gl.get_error():
                continue
            for other, kind in pairs:
                given = getattr(GL, other), getattr(GL, kind)
                gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, *given, bytes(64))
                told.append(f"{name} of {own}: {other} {kind}: {gl.get_error():x}")
    return told


@pytest.mark.native
def test_updates_are_those_of_native_es() -> None:
    found = []
    for driver in ("numpipe", "native:llvmpipe"):
        with create_context(driver, profile="es", version=(3, 2)) as gl:
            found.append(updates_of_images(gl))
    ours, native = found
    assert len(ours) == len(native) > 5000
    wrong = [pair for pair in zip(ours, native, strict=True) if pair[0] != pair[1]]
    assert not wrong
