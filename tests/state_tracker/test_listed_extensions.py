"""Smaller extensions that llvmpipe lists: each does what it does there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.glsl import CompileOptions, compile_shader
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from tests.conftest import native_context
from tests.state_tracker.helpers import linked

from .helpers import compiled, errors

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def pixel(gl: GLInterface, x: int = 32, y: int = 32) -> list[int]:
    return list(gl.read_pixels(x, y, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))


# -- ARB_compressed_texture_pixel_storage ----------------------------------------------------------

DXT5 = GL.COMPRESSED_RGBA_S3TC_DXT5_EXT
BLOCK = {"COMPRESSED_BLOCK_WIDTH": 4, "COMPRESSED_BLOCK_SIZE": 16}
HIGH = {**BLOCK, "COMPRESSED_BLOCK_HEIGHT": 4}
LAYOUTS: dict[str, dict[str, int]] = {
    "no block is told": {"SKIP_PIXELS": 8, "ROW_LENGTH": 32},
    "rows cannot be skipped": {"SKIP_PIXELS": 8, "ROW_LENGTH": 32, "SKIP_ROWS": 4, **BLOCK},
    "a part": {"SKIP_PIXELS": 8, "ROW_LENGTH": 30, "SKIP_ROWS": 4, "IMAGE_HEIGHT": 40, **HIGH},
    "layers": {
        "SKIP_PIXELS": 4, "ROW_LENGTH": 24, "SKIP_IMAGES": 1, "IMAGE_HEIGHT": 24,
        "COMPRESSED_BLOCK_DEPTH": 1, **HIGH,
    },
}  # fmt: skip


def store(gl: GLInterface, way: str, layout: dict[str, int]) -> None:
    for name, value in layout.items():
        pname = getattr(GL, f"{way}_{name}")
        gl.pixel_storei(pname, value)
        assert gl.get_integerv(pname)[0] == value


def blocks(gl: GLInterface, target: int) -> Bytes:
    """The bytes of an image, and of what lies around where it is put."""
    room = np.full(8192, 7, np.uint8)
    gl.get_compressed_tex_image(target, 0, room.ctypes.data)
    return room


def define(gl: GLInterface) -> None:
    data = np.random.default_rng(1).integers(0, 256, 4096, dtype=np.uint8)
    for target, texture in zip((GL.TEXTURE_2D, GL.TEXTURE_2D_ARRAY), gl.gen_textures(2),
                               strict=True):  # fmt: skip
        gl.bind_texture(target, texture)
        if target == GL.TEXTURE_2D:
            gl.compressed_tex_image2d(target, 0, DXT5, 16, 12, 0, 192, data)
        else:
            gl.compressed_tex_image3d(target, 0, DXT5, 16, 12, 2, 0, 384, data)
    gl.compressed_tex_sub_image2d(GL.TEXTURE_2D, 0, 4, 4, 8, 8, DXT5, 64, data)


def laid_out(gl: GLInterface, way: str, layout: dict[str, int]) -> list[Bytes]:
    if way == "PACK":
        define(gl)
    store(gl, way, layout)
    if way == "UNPACK":
        define(gl)
    found = [blocks(gl, target) for target in (GL.TEXTURE_2D, GL.TEXTURE_2D_ARRAY)]
    assert errors(gl) == []
    return found


@pytest.mark.native
@pytest.mark.parametrize("way", ["UNPACK", "PACK"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_parts_of_compressed_images(way: str, name: str) -> None:
    ours = create_context("numpipe", profile="compat", version=(4, 3))
    found = laid_out(ours, way, LAYOUTS[name])
    ours.release()
    with native_context(profile="compat", version=(4, 3)) as native:
        expected = laid_out(native, way, LAYOUTS[name])
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()
    assert any((one != 7).any() for one in found)


def test_only_whole_blocks_are_skipped(compat: GLInterface) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    store(gl, "UNPACK", {"SKIP_PIXELS": 6, "ROW_LENGTH": 32, **HIGH})
    gl.compressed_tex_image2d(GL.TEXTURE_2D, 0, DXT5, 16, 12, 0, 192, bytes(4096))
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.pixel_storei(GL.UNPACK_COMPRESSED_BLOCK_DEPTH, -1)
    assert errors(gl) == ["GL_INVALID_VALUE"]


def test_blocks_can_have_the_reported_size() -> None:
    gl = create_context("numpipe", profile="compat")  # llvmpipe does not look
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    store(gl, "UNPACK", {**HIGH, "COMPRESSED_BLOCK_WIDTH": 8})
    gl.compressed_tex_image2d(GL.TEXTURE_2D, 0, DXT5, 16, 12, 0, 192, bytes(192))
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.release()


# -- ARB_texture_filter_minmax (what it draws is in settings.txt) ----------------------------------


def reduced(gl: GLInterface, internal: str, format: str, texels: bytes, mode: str) -> float:
    """The red that linear filtering between two texels finds."""
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, internal), 2, 1, 0, getattr(GL, format),
                   GL.UNSIGNED_BYTE, texels)  # fmt: skip
    for pname, value in (
        ("MIN_FILTER", GL.LINEAR), ("MAG_FILTER", GL.LINEAR), ("WRAP_S", GL.CLAMP_TO_EDGE),
        ("REDUCTION_MODE_ARB", getattr(GL, mode)),
    ):  # fmt: skip
        gl.tex_parameteri(GL.TEXTURE_2D, getattr(GL, f"TEXTURE_{pname}"), value)
    assert gl.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_REDUCTION_MODE_ARB)[0] == getattr(
        GL, mode
    )
    kind = "u" if format.endswith("INTEGER") else ""
    program = gl.create_program()
    gl.attach_shader(
        program,
        compiled(gl, GL.FRAGMENT_SHADER, f"""#version 130
            uniform {kind}sampler2D image;
            void main() {{ gl_FragColor = vec4(texture(image, vec2(0.4, 0.5))) / {255 if kind
                else 1}.0; }}"""),
    )  # fmt: skip
    gl.link_program(program)
    gl.use_program(program)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    gl.use_program(0)
    assert errors(gl) == []
    return float(pixel(gl)[0])


@pytest.mark.parametrize(("mode", "expected"), [("MIN", 40), ("MAX", 200)])
def test_the_smallest_and_the_largest_texel(compat: GLInterface, mode: str, expected: int) -> None:
    assert reduced(compat, "R8", "RED", bytes((200, 40)), mode) == expected
    if "gallette" in compat.get_string(GL.VERSION):  # integers have a smallest, too
        assert reduced(compat, "R8UI", "RED_INTEGER", bytes((200, 40)), mode) == expected
    compat.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_REDUCTION_MODE_ARB, GL.LINEAR)
    assert errors(compat) == ["GL_INVALID_ENUM"]


@pytest.mark.parametrize("mode", ["MIN", "MAX"])
def test_probes_of_anisotropic_filters_are_reduced(mode: str) -> None:
    """A row of black and white texels, seen from the side: some probe finds either."""
    gl = create_context("numpipe", profile="compat", size=(64, 64))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    rows = np.zeros((64, 64, 4), np.uint8)
    rows[::2] = 255
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 64, 64, 0, GL.RGBA, GL.UNSIGNED_BYTE, rows)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
    gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_MAX_ANISOTROPY, 16.0)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_REDUCTION_MODE_ARB, getattr(GL, mode))
    gl.enable(GL.TEXTURE_2D)
    gl.begin(GL.TRIANGLE_STRIP)
    for x, y in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        gl.tex_coord2f(x * 0.5, y * 8.0)
        gl.vertex2f(x, y)
    gl.end()
    assert pixel(gl)[0] == {"MIN": 0, "MAX": 255}[mode]
    gl.release()


# -- ARB_shader_clock ------------------------------------------------------------------------------


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_shaders_see_time_pass(driver: str) -> None:
    gl = create_context(driver, profile="compat", version=(4, 3), size=(4, 4))
    program = gl.create_program()
    gl.attach_shader(
        program,
        compiled(gl, GL.FRAGMENT_SHADER, """#version 430
            #extension GL_ARB_shader_clock : require
            #extension GL_ARB_gpu_shader_int64 : require
            out vec4 color;
            void main() {
                uvec2 words = clock2x32ARB();
                uint64_t first = clockARB(), then = first;
                float sum = 0.0;
                for (int i = 0; i < int(gl_FragCoord.x) + 50; i++) sum += sin(float(i));
                if (sum != 9.0) then = clockARB();
                color = vec4(packUint2x32(words) <= first, then > first, words.x != 0u, 1.0);
            }"""),
    )  # fmt: skip
    gl.link_program(program)
    gl.use_program(program)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    assert list(gl.read_pixels(0, 0, 4, 1, GL.RGBA, GL.UNSIGNED_BYTE)) == [255] * 16
    gl.use_program(0)
    gl.release()


# -- ARB_post_depth_coverage -----------------------------------------------------------------------

POST = "#extension GL_ARB_post_depth_coverage : require\nlayout(post_depth_coverage) in;"
SLOPE = """#version 430
uniform vec2 depth;
void main() {
    vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(at, gl_VertexID == 1 ? depth.x : depth.y, 1);
}"""


def coverage(gl: GLInterface, layout: str) -> Bytes:
    """gl_SampleMaskIn of a plane that a slope of depths cuts, as red in four samples."""
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    targets = gl.gen_framebuffers(2)
    for target, samples in zip(targets, (4, 0), strict=True):
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        for format, place in (
            (GL.RGBA8, GL.COLOR_ATTACHMENT0), (GL.DEPTH_COMPONENT24, GL.DEPTH_ATTACHMENT),
        ):  # fmt: skip
            (buffer,) = gl.gen_renderbuffers(1)
            gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
            gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, format, 4, 4)
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, place, GL.RENDERBUFFER, buffer)
    gl.bind_framebuffer(GL.FRAMEBUFFER, targets[0])
    gl.viewport(0, 0, 4, 4)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.enable(GL.DEPTH_TEST)
    for red, depth in (("0.0", (2.3, -0.9)), ("float(gl_SampleMaskIn[0]) / 15.0", (0.0, 0.0))):
        fragment = f"#version 430\n{layout}\nout vec4 color; void main() {{ color = vec4({red}); }}"
        program = linked(gl, vertex=SLOPE, fragment=fragment)
        gl.uniform2f(gl.get_uniform_location(program, "depth"), *depth)
        gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.use_program(0)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, targets[0])
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, targets[1])
    gl.blit_framebuffer(0, 0, 4, 4, 0, 0, 4, 4, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    gl.bind_framebuffer(GL.FRAMEBUFFER, targets[1])
    assert errors(gl) == []
    return np.frombuffer(gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)


@pytest.mark.native
@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd"])
@pytest.mark.parametrize(
    "layout", ["", "layout(early_fragment_tests) in;", POST], ids=["late", "early", "post"]
)
def test_sample_masks_before_and_after_the_depth_test(driver: str, layout: str) -> None:
    """The mask is what the primitive covers, whenever tests happen, unless a shader says so."""
    ours = create_context(driver, version=(4, 3))
    found = coverage(ours, layout)
    ours.release()
    with native_context(profile="core", version=(4, 3)) as native:
        expected = coverage(native, layout)
    assert found.tolist() == expected.tolist()
    partial = {60, 128, 140} if layout == POST else {76, 128, 191}  # resolved
    assert set(found[::4].tolist()) == {0, 255} | partial


# -- NV_half_float ---------------------------------------------------------------------------------


def halves(*values: float) -> list[int]:
    return [int(v) for v in np.array(values, np.float16).view(np.uint16)]


@pytest.mark.parametrize("recorded", [False, True], ids=["at once", "in a list"])
def test_attributes_in_half_floats(compat: GLInterface, recorded: bool) -> None:
    gl = compat
    if recorded:
        gl.new_list(1, GL.COMPILE)
    gl.color4h_nv(*halves(0.5, 0.25, 1.0, 1.0))
    gl.begin(GL.TRIANGLE_STRIP)
    for x, y in ((-1, -1), (1, -1), (-1, 1)):
        gl.vertex2h_nv(*halves(x, y))
    gl.vertex3hv_nv(np.array(halves(1, 1, 0), np.uint16))
    gl.end()
    gl.multi_tex_coord3h_nv(GL.TEXTURE1, *halves(1.5, -2.0, 0.125))
    gl.secondary_color3hv_nv(np.array(halves(0.5, 0.75, 1.0), np.uint16))
    gl.normal3h_nv(*halves(0.0, 0.5, -1.0))
    gl.fog_coordh_nv(*halves(7.5))
    own = isinstance(gl, Context)  # Mesa's attributes are those of NV_vertex_program here
    if own:
        gl.vertex_attribs2hv_nv(3, 2, np.array(halves(1.0, 2.0, 3.0, 4.0), np.uint16))
    if recorded:
        gl.end_list()
        gl.color3f(0.0, 0.0, 0.0)
        gl.call_list(1)
    assert errors(gl) == []
    assert np.abs(np.array(pixel(gl)) - (128, 64, 255, 255)).max() <= 1
    gl.active_texture(GL.TEXTURE1)
    assert gl.get_floatv(GL.CURRENT_TEXTURE_COORDS) == [1.5, -2.0, 0.125, 1.0]
    assert gl.get_floatv(GL.CURRENT_SECONDARY_COLOR)[:3] == [0.5, 0.75, 1.0]
    assert gl.get_floatv(GL.CURRENT_NORMAL) == [0.0, 0.5, -1.0]
    assert gl.get_floatv(GL.CURRENT_FOG_COORD) == [7.5]
    for index, value in ((3, [1.0, 2.0]), (4, [3.0, 4.0])) if own else ():
        assert gl.get_vertex_attribfv(index, GL.CURRENT_VERTEX_ATTRIB) == [*value, 0.0, 1.0]


# -- NV_copy_depth_to_color ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "expected"),
    [("RGBA", [0x40, 0x20, 0x10, 0x42]), ("BGRA", [0x10, 0x20, 0x40, 0x42])],
)
def test_depth_as_color(compat: GLInterface, type: str, expected: list[int]) -> None:
    """No transfer of depths or colours changes the bits."""
    gl = compat
    gl.clear_depth(0x402010 / 0xFFFFFF)
    gl.clear_stencil(0x42)
    gl.clear(GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    gl.pixel_transferf(GL.DEPTH_SCALE, 0.5)
    gl.pixel_transferf(GL.GREEN_SCALE, 0.5)
    gl.window_pos2i(0, 0)
    gl.copy_pixels(0, 0, 64, 64, getattr(GL, f"DEPTH_STENCIL_TO_{type}_NV"))
    gl.pixel_transferf(GL.GREEN_SCALE, 1.0)
    assert errors(gl) == []
    assert pixel(gl) == expected


# -- NV_ES1_1_compatibility ------------------------------------------------------------------------


def test_functions_of_es_1_1_on_the_desktop(compat: GLInterface) -> None:
    gl = compat
    gl.orthof(0.0, 2.0, 0.0, 2.0, -1.0, 1.0)
    gl.translatex(0x10000, 0, 0)
    gl.clear_colorx(0x8000, 0x10000, 0, 0x10000)
    gl.color4x(0x10000, 0, 0x8000, 0x10000)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.rectf(0.0, 0.0, 1.0, 2.0)
    assert errors(gl) == []
    assert np.abs(np.array(pixel(gl, 16)) - (128, 255, 0, 255)).max() <= 1
    assert np.abs(np.array(pixel(gl, 48)) - (255, 0, 128, 255)).max() <= 1
    assert gl.get_fixedv(GL.CURRENT_COLOR) == [0x10000, 0, 0x8000, 0x10000]


# -- EXT_texture_sRGB_R8, EXT_texture_sRGB_RG8, MESA_bgra ------------------------------------------


@pytest.mark.parametrize(("name", "format"), [("SR8_EXT", "RED"), ("SRG8_EXT", "RG")])
def test_srgb_of_one_and_two_channels(compat: GLInterface, name: str, format: str) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, name), 1, 1, 0, getattr(GL, format),
                   GL.UNSIGNED_BYTE, bytes((128, 64)))  # fmt: skip
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.REPLACE)
    gl.rectf(-1.0, -1.0, 1.0, 1.0)
    assert errors(gl) == []
    expected = (55, 13 if format == "RG" else 0)
    assert np.abs(np.array(pixel(gl)[:2]) - expected).max() <= 1


@pytest.mark.native
def test_bytes_from_blue_to_red_in_es() -> None:
    def found(gl: GLInterface) -> list[list[str]]:
        rows = []
        for internal in ("RGBA", "RGBA8", "SRGB8_ALPHA8", "RGB", "RGB8", "BGRA_EXT", "RG8"):
            for format in ("BGRA_EXT", "BGR_EXT"):
                (texture,) = gl.gen_textures(1)
                gl.bind_texture(GL.TEXTURE_2D, texture)
                gl.tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, internal), 2, 2, 0,
                               getattr(GL, format), GL.UNSIGNED_BYTE, bytes(range(16)))  # fmt: skip
                rows.append(errors(gl))
                gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, getattr(GL, format),
                                   GL.UNSIGNED_BYTE, bytes(range(16)))  # fmt: skip
                rows[-1] += errors(gl)
        return rows

    ours = create_context("numpipe", profile="es", version=(3, 1))
    mine = found(ours)
    ours.release()
    with native_context(profile="es", version=(3, 1)) as native:
        assert mine == found(native)


def test_the_android_extension_pack_brings_its_parts() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 1))
    compiled(gl, GL.GEOMETRY_SHADER, """#version 310 es
        #extension GL_ANDROID_extension_pack_es31a : require
        layout(triangles) in; layout(triangle_strip, max_vertices = 3) out;
        void main() { EmitVertex(); }""")  # fmt: skip
    compiled(gl, GL.FRAGMENT_SHADER, """#version 310 es
        #extension GL_ANDROID_extension_pack_es31a : require
        precision highp float;
        precision highp samplerCubeArray;
        uniform samplerCubeArray cubes; layout(blend_support_multiply) out; out vec4 color;
        sample in vec4 varying_color;
        void main() { color = texture(cubes, vec4(gl_SampleID)) + varying_color; }""")  # fmt: skip
    for limit, least in (
        ("FRAGMENT_ATOMIC_COUNTER_BUFFERS", 1), ("FRAGMENT_ATOMIC_COUNTERS", 8),
        ("FRAGMENT_IMAGE_UNIFORMS", 4), ("FRAGMENT_SHADER_STORAGE_BLOCKS", 4),
    ):  # fmt: skip
        assert gl.get_integerv(getattr(GL, f"MAX_{limit}"))[0] >= least
    gl.release()


def test_external_images_are_unknown_to_desktop_gl() -> None:
    gl: Any = create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8))
    external = GL.TEXTURE_EXTERNAL_OES
    for call in (
        lambda: gl.bind_texture(external, gl.gen_textures(1)[0]),
        lambda: gl.create_textures(external, 1),
        lambda: gl.get_internalformativ(external, GL.RGBA8, GL.SAMPLES, 1),
    ):
        call()
        assert gl.get_error() == GL.INVALID_ENUM
    gl.release()


PACK = "ANDROID_extension_pack_es31a"
PARTS_OF_THE_PACK = [
    ("geometry", "layout(points) in; layout(points, max_vertices = 1) out;", "EmitVertex();"),
    ("tess_ctrl", "layout(vertices = 1) out;", "gl_TessLevelOuter[0] = 1.0;"),
    ("tess_eval", "layout(triangles) in;", "gl_Position = vec4(gl_TessCoord, 1.0);"),
    ("tess_ctrl", "layout(vertices = 1) out;", "gl_BoundingBoxEXT[0] = vec4(0.0);"),
    ("vertex", "out B { vec4 v; } b;", "b.v = vec4(1.0);"),
    ("vertex", "", "precise float x = 1.0; gl_Position = vec4(x);"),
    ("vertex", "uniform vec3 u;", "gl_Position = vec4(fma(u, u, u), 1.0);"),
    ("fragment", "uniform sampler2D u[2]; uniform int i;", "c = texture(u[i], vec2(0.0));"),
    ("fragment", "uniform highp samplerBuffer u;", "c = texelFetch(u, 0);"),
    ("fragment", "uniform highp samplerCubeArray u;", "c = texture(u, vec4(0.0));"),
    ("fragment", "layout(blend_support_screen) out;", ""),
    ("fragment", "", "c = vec4(gl_SampleID);"),
    ("fragment", "sample in vec4 v;", "c = v;"),
    ("fragment", "in vec4 v;", "c = interpolateAtSample(v, 0);"),
    (
        "fragment",
        "layout(r32i) uniform highp iimage2D u;",
        "c = vec4(imageAtomicAdd(u, ivec2(0), 1));",
    ),
    ("fragment", "uniform highp sampler2DMSArray u;", "c = texelFetch(u, ivec3(0), 0);"),
]


@pytest.mark.parametrize(("stage", "declared", "body"), PARTS_OF_THE_PACK)
def test_the_android_extension_pack_is_needed_for_its_parts(
    stage: str, declared: str, body: str
) -> None:
    out = "precision highp float; " + ("out vec4 c;" if stage == "fragment" else "")
    code = f"{out} {declared} void main() {{ {body} }}"
    options = CompileOptions(api="es")
    alone = compile_shader(Stage(stage), f"#version 310 es\n{code}", options)
    packed = f"#version 310 es\n#extension GL_{PACK} : require\n{code}"
    found = compile_shader(Stage(stage), packed, options)
    assert found.ok, found.info_log
    assert not alone.ok
