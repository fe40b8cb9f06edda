"""OpenGL ES contexts, on our GL and on the native one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.enables import CAPABILITIES
from gallette.state_tracker.entry_points.functions import DATA
from tests.conftest import native_context
from tests.state_tracker.conftest import IMPLEMENTATIONS
from tests.state_tracker.helpers import compiled, errors, pixels, program

VERTEX = """attribute vec2 position;
varying vec2 uv;
void main() { uv = position * 0.5 + 0.5; gl_Position = vec4(position, 0.0, 1.0); }
"""
FRAGMENT = """precision mediump float;
varying vec2 uv;
uniform sampler2D image;
void main() { gl_FragColor = texture2D(image, uv); }
"""


VERTEX_300 = """#version 300 es
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }
"""


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


def test_client_arrays_and_es_2_shaders_draw_a_luminance_texture(es: GLInterface) -> None:
    name = program(es, VERTEX, FRAGMENT)
    (texture,) = es.gen_textures(1)
    es.bind_texture(GL.TEXTURE_2D, texture)
    es.tex_image2d(
        GL.TEXTURE_2D, 0, GL.LUMINANCE, 2, 2, 0, GL.LUMINANCE, GL.UNSIGNED_BYTE,
        bytes([10, 20, 0, 0, 30, 40]),
    )  # fmt: skip
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        es.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    data = np.array([-1, -1, 1, -1, -1, 1, 1, 1], np.float32)
    location = es.get_attrib_location(name, "position")
    es.enable_vertex_attrib_array(location)
    es.vertex_attrib_pointer(location, 2, GL.FLOAT, 0, 0, data)
    es.draw_elements(GL.TRIANGLE_STRIP, 4, GL.UNSIGNED_BYTE, bytes([0, 1, 2, 3]))
    assert errors(es) == []
    image = pixels(es)
    assert image[5, 5].tolist() == [10, 10, 10, 255]
    assert image[60, 60].tolist() == [40, 40, 40, 255]


POINT_VERTEX = """#version 100
void main() { gl_Position = vec4(0.0, 0.0, 0.0, 1.0); gl_PointSize = 16.0; }
"""
POINT_FRAGMENT = """#version 100
precision mediump float;
void main() { gl_FragColor = vec4(gl_PointCoord, 1.0, 1.0); }
"""


def test_points_have_the_size_shaders_write(es: GLInterface) -> None:
    """Desktop GL has a switch for this; ES does not."""
    program(es, POINT_VERTEX, POINT_FRAGMENT)
    es.draw_arrays(GL.POINTS, 0, 1)
    image = pixels(es)
    blue = np.argwhere(image[..., 2] == 255)
    assert (blue.min(axis=0).tolist(), blue.max(axis=0).tolist()) == ([24, 24], [39, 39])
    assert len(blue) == 256
    assert np.abs(image[24, 39, :2].astype(int) - (247, 247)).max() <= 1


CUBE_FRAGMENT = """#version 300 es
precision mediump float;
uniform samplerCube image;
out vec4 color;
void main() { color = texture(image, vec3(1.0, 0.999, 0.0)); }
"""


def test_cubes_have_no_seams(es: GLInterface) -> None:
    """Behind the edge of a face the neighbour is filtered, in every ES 3 context."""
    program(es, VERTEX_300, CUBE_FRAGMENT)
    (texture,) = es.gen_textures(1)
    es.bind_texture(GL.TEXTURE_CUBE_MAP, texture)
    for face in range(6):
        texels = bytes([200 if face == 0 else 100, 0, 0, 255])
        target = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
        es.tex_image2d(target, 0, GL.RGBA, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        es.tex_parameteri(GL.TEXTURE_CUBE_MAP, pname, GL.LINEAR)
    es.draw_arrays(GL.TRIANGLES, 0, 3)
    assert errors(es) == []
    assert abs(int(pixels(es)[5, 5, 0]) - 150) <= 2


def test_matrices_are_made_of_matrices_in_es_1_shaders(es: GLInterface) -> None:
    source = "mat3 m = mat3(mat4(vec4(0.2), vec4(0.4), vec4(0.6), vec4(0.8)));"
    fragment = POINT_FRAGMENT.replace("void main() {", f"void main() {{ {source}")
    program(es, POINT_VERTEX, fragment.replace("vec4(gl_PointCoord, 1.0, 1.0)", "vec4(m[1], 1.0)"))
    es.draw_arrays(GL.POINTS, 0, 1)
    assert pixels(es)[32, 32].tolist() == [102, 102, 102, 255]


@pytest.mark.native
def test_switches_are_those_of_native_es() -> None:
    """Every capability of the table, asked for and set."""
    told: list[list[tuple[str, int]]] = []
    for driver in ("numpipe", "native:llvmpipe"):
        gl = create_context(driver, profile="es", version=(3, 2))
        told.append([])
        for cap in CAPABILITIES:
            for call in (gl.is_enabled, gl.enable):
                call(cap)
                told[-1].append((GL.name_of(cap), gl.get_error()))
        gl.release()
    assert told[0] == told[1]
    assert {code for _, code in told[0]} == {GL.NO_ERROR, GL.INVALID_ENUM}


def test_indirect_draws_need_a_vertex_array_object(es: GLInterface) -> None:
    program(es, POINT_VERTEX, POINT_FRAGMENT)
    (commands,), (array,) = es.gen_buffers(1), es.gen_vertex_arrays(1)
    es.bind_buffer(GL.DRAW_INDIRECT_BUFFER, commands)
    words = np.array([1, 1, 0, 0], np.uint32)
    es.buffer_data(GL.DRAW_INDIRECT_BUFFER, words.nbytes, words, GL.STATIC_DRAW)
    for name, told in ((0, ["GL_INVALID_OPERATION"]), (array, [])):
        es.bind_vertex_array(name)
        es.draw_arrays_indirect(GL.POINTS, 0)
        assert errors(es) == told
    assert (pixels(es)[..., 2] == 255).sum() == 256


def test_odd_points_lie_where_quads_would(es: GLInterface) -> None:
    """A tie at pixel centres: points are sprites in ES, whatever else they are elsewhere."""
    program(es, POINT_VERTEX.replace("16.0", "5.0"), POINT_FRAGMENT)
    es.draw_arrays(GL.POINTS, 0, 1)
    blue = np.argwhere(pixels(es)[..., 2] == 255)
    assert (blue.min(axis=0).tolist(), blue.max(axis=0).tolist()) == ([29, 29], [33, 33])


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


def test_what_es_left_out_is_an_error(es: GLInterface) -> None:
    es.draw_arrays(GL.QUADS, 0, 4)
    assert errors(es) == ["GL_INVALID_ENUM"]
    es.enable(GL.ALPHA_TEST)
    assert errors(es) == ["GL_INVALID_ENUM"]


def test_srgb_attachments_are_always_encoded() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 0), size=(8, 8))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.SRGB8_ALPHA8, 4, 4)
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.clear_color(0.5, 0.5, 0.5, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    assert list(gl.read_pixels(0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == [188, 188, 188, 255]
    gl.release()


def test_shared_is_a_layout_in_es() -> None:
    gl = create_context("noop", profile="es", version=(3, 0))
    shader = gl.create_shader(GL.FRAGMENT_SHADER)
    gl.shader_source(
        shader,
        "#version 300 es\nprecision highp float;\nlayout(shared) uniform B { vec4 a; };\n"
        "out vec4 c;\nvoid main() { c = a; }\n",
    )
    gl.compile_shader(shader)
    assert gl.get_shader_info_log(shader) == ""
    gl.release()


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


@pytest.mark.parametrize("call", ["uniform1i", "uniform1iv", "program_uniform1i"])
@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_the_unit_of_an_image_is_part_of_the_shader(driver: str, call: str) -> None:
    options: dict[str, Any] = {"profile": "es", "version": (3, 1), "size": (4, 4)}
    gl = native_context(**options) if driver == "native" else create_context("numpipe", **options)
    name = gl.create_program()
    text = """#version 310 es
        layout(local_size_x = 1) in; layout(rgba8, binding = 1) writeonly uniform highp image2D i;
        void main() { imageStore(i, ivec2(0), vec4(1)); }"""
    gl.attach_shader(name, compiled(gl, GL.COMPUTE_SHADER, text))
    gl.link_program(name)
    gl.use_program(name)
    place = gl.get_uniform_location(name, "i")
    given = {"uniform1i": (place, 1), "uniform1iv": (place, 1, [1])}
    getattr(gl, call)(*given.get(call, (name, place, 1)))
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.release()
