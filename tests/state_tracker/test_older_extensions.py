"""Extensions from before OpenGL 2 that programs still ask for, and small ones of OpenGL ES."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context
from tests.conftest import native_context

from .helpers import compiled, errors, pixels


def pixel(gl: GLInterface, x: int = 32, y: int = 32) -> list[int]:
    return list(gl.read_pixels(x, y, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))


def cover(gl: GLInterface) -> None:
    gl.rectf(-1.0, -1.0, 1.0, 1.0)


# -- NV_texture_env_combine4 -----------------------------------------------------------------------


@pytest.mark.parametrize("function", ["ADD", "ADD_SIGNED", "REPLACE", "INTERPOLATE"])
def test_four_operands_of_a_texture_environment(compat: GLInterface, function: str) -> None:
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    texel = bytes((204, 102, 51, 153))
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, texel)
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.COMBINE4_NV)
    assert gl.get_tex_enviv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE)[0] == GL.COMBINE4_NV
    if isinstance(gl, Context):  # llvmpipe begins with another pair
        assert gl.get_tex_enviv(GL.TEXTURE_ENV, GL.SOURCE3_RGB_NV)[0] == GL.ZERO
        assert gl.get_tex_enviv(GL.TEXTURE_ENV, GL.OPERAND3_RGB_NV)[0] == GL.ONE_MINUS_SRC_COLOR
    for kind, plain in (("RGB", "COLOR"), ("ALPHA", "ALPHA")):
        value = getattr(GL, f"SRC_{plain}")
        sources = (GL.TEXTURE, GL.PRIMARY_COLOR, GL.CONSTANT, GL.TEXTURE)
        gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, f"COMBINE_{kind}"), getattr(GL, function))
        for i, source in enumerate(sources):
            end = "_NV" if i == 3 else ""
            gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, f"SOURCE{i}_{kind}{end}"), source)
            gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, f"OPERAND{i}_{kind}{end}"), value)
    gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, [0.2, 0.4, 0.6, 0.8])
    gl.color4f(0.8, 0.6, 0.4, 0.2)
    cover(gl)
    assert errors(gl) == []
    t, primary = np.array([204, 102, 51, 153]) / 255, np.array([0.8, 0.6, 0.4, 0.2])
    constant = np.array([0.2, 0.4, 0.6, 0.8])
    products = t * primary + constant * t
    expected = {
        "ADD": products,
        "ADD_SIGNED": products - 0.5,
        "REPLACE": t,
        "INTERPOLATE": t * constant + primary * (1 - constant),
    }[function]
    assert np.abs(np.array(pixel(gl)) - np.clip(expected, 0, 1) * 255).max() <= 2


def test_zero_and_one_are_sources(compat: GLInterface) -> None:
    """ATI_texture_env_combine3 brought them."""
    gl = compat
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, bytes(4))
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.COMBINE)
    for kind, source in (("RGB", GL.ONE), ("ALPHA", GL.ZERO)):
        gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, f"COMBINE_{kind}"), GL.REPLACE)
        gl.tex_envi(GL.TEXTURE_ENV, getattr(GL, f"SOURCE0_{kind}"), source)
    cover(gl)
    assert errors(gl) == []
    assert pixel(gl) == [255, 255, 255, 0]


# -- stencil ---------------------------------------------------------------------------------------


def _faces(gl: GLInterface) -> tuple[int, int]:
    """Stencil values after a front-facing square on the left, a back-facing one on the right."""
    gl.clear(GL.STENCIL_BUFFER_BIT)
    gl.enable(GL.STENCIL_TEST)
    gl.rectf(-1.0, -1.0, 0.0, 1.0)
    gl.rectf(1.0, -1.0, 0.0, 1.0)
    left, right = (
        gl.read_pixels(x, 32, 1, 1, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)[0] for x in (16, 48)
    )
    return int(left), int(right)


def test_stencil_two_side(compat: GLInterface) -> None:
    gl = compat
    gl.stencil_op(GL.KEEP, GL.KEEP, GL.REPLACE)
    gl.stencil_func(GL.ALWAYS, 3, 0xFF)
    gl.active_stencil_face_ext(GL.BACK)
    assert gl.get_integerv(GL.ACTIVE_STENCIL_FACE_EXT)[0] == GL.BACK
    assert gl.get_integerv(GL.STENCIL_FUNC)[0] == GL.ALWAYS
    assert gl.get_integerv(GL.STENCIL_REF)[0] == 0
    gl.stencil_op(GL.KEEP, GL.KEEP, GL.REPLACE)
    gl.stencil_func(GL.ALWAYS, 7, 0xFF)
    assert gl.get_integerv(GL.STENCIL_REF)[0] == 7
    assert _faces(gl) == (3, 3)
    gl.enable(GL.STENCIL_TEST_TWO_SIDE_EXT)
    assert _faces(gl) == (3, 7)
    gl.push_attrib(GL.STENCIL_BUFFER_BIT)
    gl.active_stencil_face_ext(GL.FRONT)
    gl.disable(GL.STENCIL_TEST_TWO_SIDE_EXT)
    gl.pop_attrib()
    assert gl.get_integerv(GL.ACTIVE_STENCIL_FACE_EXT)[0] == GL.BACK
    assert gl.is_enabled(GL.STENCIL_TEST_TWO_SIDE_EXT)
    gl.active_stencil_face_ext(GL.FRONT_AND_BACK)
    assert errors(gl) == ["GL_INVALID_ENUM"]


def test_separate_stencil_by_its_first_names(compat: GLInterface) -> None:
    gl = compat
    gl.stencil_func_separate_ati(GL.ALWAYS, GL.NEVER, 5, 0xFF)
    gl.stencil_op_separate_ati(GL.FRONT, GL.KEEP, GL.KEEP, GL.REPLACE)
    gl.stencil_op_separate_ati(GL.BACK, GL.INVERT, GL.KEEP, GL.KEEP)
    assert _faces(gl) == (5, 255)
    gl.stencil_func_separate_ati(GL.ALWAYS, GL.FLOAT, 5, 0xFF)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    assert gl.get_integerv(GL.STENCIL_BACK_FUNC)[0] == GL.NEVER


# -- raster positions, draws, queries --------------------------------------------------------------


def test_raster_positions_outside_are_valid_on_request(compat: GLInterface) -> None:
    gl = compat
    gl.raster_pos2f(-1.5, 0.0)
    assert not gl.get_booleanv(GL.CURRENT_RASTER_POSITION_VALID)[0]
    gl.enable(GL.RASTER_POSITION_UNCLIPPED_IBM)
    gl.raster_pos2f(-1.5, 0.0)
    assert gl.get_booleanv(GL.CURRENT_RASTER_POSITION_VALID)[0]
    assert gl.get_floatv(GL.CURRENT_RASTER_POSITION)[:2] == [-16.0, 32.0]
    gl.draw_pixels(32, 1, GL.RED, GL.UNSIGNED_BYTE, bytes([255] * 32))
    assert pixel(gl, 15)[0] == 255
    assert pixel(gl, 16)[0] == 0
    assert errors(gl) == []


def test_draws_with_a_mode_each(compat: GLInterface) -> None:
    gl = compat
    corners = np.array([-1, -1, 0, -1, -1, 1, 0, 1, 0.515, -1, 0.515, 1], np.float32)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, corners)
    # Modes lie 8 bytes apart.
    modes = np.array([GL.TRIANGLE_STRIP, 0, GL.LINES], np.uint32)
    gl.multi_mode_draw_arrays_ibm(
        modes, np.array([0, 4], np.int32), np.array([4, 2], np.int32), 2, 8
    )
    assert pixel(gl, 16)[0] == pixel(gl, 48)[0] == 255
    assert pixel(gl, 40)[0] == 0
    gl.clear(GL.COLOR_BUFFER_BIT)
    indices = np.array([4, 5, 0, 1, 2], np.uint16)
    base = indices.ctypes.data
    gl.multi_mode_draw_elements_ibm(
        modes, np.array([3, 2], np.int32), GL.UNSIGNED_SHORT,
        np.array([base + 4, base], np.intp), 2, 8,
    )  # fmt: skip
    assert pixel(gl, 8)[0] == pixel(gl, 48)[0] == 255
    assert errors(gl) == []


def test_limits_of_exponents(compat: GLInterface) -> None:
    assert compat.get_integerv(GL.MAX_SHININESS_NV)[0] == 128
    assert compat.get_integerv(GL.MAX_SPOT_EXPONENT_NV)[0] == 128


@pytest.mark.parametrize("name", ["PACK_INVERT_MESA", "PACK_REVERSE_ROW_ORDER_ANGLE"])
def test_rows_are_read_upside_down(compat: GLInterface, name: str) -> None:
    gl = compat
    gl.raster_pos2f(-1.0, -1.0)
    gl.draw_pixels(1, 3, GL.RED, GL.UNSIGNED_BYTE, bytes([10, 0, 0, 0, 20, 0, 0, 0, 30]))
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    assert list(gl.read_pixels(0, 0, 1, 3, GL.RED, GL.UNSIGNED_BYTE)) == [10, 20, 30]
    gl.pixel_storei(getattr(GL, name), 1)
    if gl.get_error() == GL.NO_ERROR:  # llvmpipe knows one of the two here
        assert list(gl.read_pixels(0, 0, 1, 3, GL.RED, GL.UNSIGNED_BYTE)) == [30, 20, 10]
        assert errors(gl) == []
    else:
        assert not isinstance(gl, Context)


# -- resolves that scale ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [32, 13, 100])
def test_samples_are_resolved_while_the_picture_is_scaled(gl: GLInterface, size: int) -> None:
    fbos = []
    for samples, wide in ((4, 32), (0, size)):
        (buffer,), (fbo,) = gl.gen_renderbuffers(1), gl.gen_framebuffers(1)
        gl.bind_framebuffer(GL.FRAMEBUFFER, fbo)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, GL.RGBA8, wide, wide)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer)
        fbos.append(fbo)
    gl.bind_framebuffer(GL.FRAMEBUFFER, fbos[0])
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable(GL.SCISSOR_TEST)
    for x in range(0, 32, 8):
        gl.scissor(x, 0, 4, 32)
        gl.clear_color(x / 32, 1.0, 0.5, 1.0)
        gl.clear(GL.COLOR_BUFFER_BIT)
    gl.disable(GL.SCISSOR_TEST)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, fbos[1])
    areas = (0, 0, 32, 32, 0, 0, size, size)
    gl.blit_framebuffer(*areas, GL.COLOR_BUFFER_BIT, GL.SCALED_RESOLVE_NICEST_EXT)
    assert errors(gl) == []
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, fbos[1])
    row = pixels(gl, size, size)[size // 2]
    stripes = np.zeros((32, 4))
    for x in range(0, 32, 8):
        stripes[x : x + 4] = (x / 32 * 255, 255, 127.5, 255)
    at = np.clip((np.arange(size) + 0.5) * 32 / size - 0.5, 0, 31)
    low = np.floor(at).astype(int)
    part = (at - low)[:, None]
    expected = stripes[low] * (1 - part) + stripes[np.minimum(low + 1, 31)] * part
    assert np.abs(row - expected).max() <= 3
    # Wrong uses: a source of one sample, a target of several, depth.
    gl.blit_framebuffer(*areas, GL.COLOR_BUFFER_BIT, GL.SCALED_RESOLVE_NICEST_EXT)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


# -- OpenGL ES -------------------------------------------------------------------------------------

_ETC1 = bytes.fromhex("f0104a553c5aa50f")


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("native", marks=pytest.mark.native)])
def test_etc1_in_es(driver: str) -> None:
    make = native_context if driver == "native" else lambda **k: create_context("numpipe", **k)
    gl = make(profile="es", version=(3, 0), size=(4, 4))
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.compressed_tex_image2d(GL.TEXTURE_2D, 0, GL.ETC1_RGB8_OES, 4, 4, 0, 8, _ETC1)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.compressed_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, GL.ETC1_RGB8_OES, 8, _ETC1)
    assert errors(gl) == []
    name = gl.create_program()
    for kind, source in (
        (GL.VERTEX_SHADER, "in vec2 at; out vec2 place; void main() { place = at * 0.5 + 0.5;"
         " gl_Position = vec4(at, 0.0, 1.0); }"),
        (GL.FRAGMENT_SHADER, "precision mediump float; in vec2 place; uniform sampler2D image;"
         " out vec4 color; void main() { color = texture(image, place); }"),
    ):  # fmt: skip
        gl.attach_shader(name, compiled(gl, kind, "#version 300 es\n" + source))
    gl.link_program(name)
    gl.use_program(name)
    corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)
    (vbo,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ARRAY_BUFFER, vbo)
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    gl.enable_vertex_attrib_array(gl.get_attrib_location(name, "at"))
    gl.vertex_attrib_pointer(gl.get_attrib_location(name, "at"), 2, GL.FLOAT, False, 0, None)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    found = pixels(gl, 4, 4)[..., :3]
    gl.release()
    assert found.tolist() == _decoded().tolist()


def _decoded() -> np.ndarray:
    """The block by the format's rules: two halves of a base colour, moved by a table's steps."""
    word = int.from_bytes(_ETC1, "big")
    tables = ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))
    channels = [(word >> shift) & 0xFF for shift in (56, 48, 40)]
    bases = [[(c >> 4) * 17 for c in channels], [(c & 15) * 17 for c in channels]]
    codes, flip = ((word >> 37) & 7, (word >> 34) & 7), (word >> 32) & 1
    assert not (word >> 33) & 1
    out = np.zeros((4, 4, 3), np.uint8)
    for x in range(4):
        for y in range(4):
            half = (y if flip else x) // 2
            bit = 4 * x + y
            large, minus = (word >> bit) & 1, (word >> (16 + bit)) & 1
            step = tables[codes[half]][large] * (-1 if minus else 1)
            out[y, x] = np.clip(np.array(bases[half]) + step, 0, 255)
    return out


def test_noperspective_in_es() -> None:
    gl = create_context("numpipe", profile="es", version=(3, 1), size=(4, 4))
    source = """#version 310 es
        #extension GL_NV_shader_noperspective_interpolation : require
        precision mediump float; noperspective in vec2 place; out vec4 color;
        void main() { color = place.xyxy; }"""
    compiled(gl, GL.FRAGMENT_SHADER, source)
    gl.release()


def test_int64_by_amds_name() -> None:
    gl = create_context("numpipe", profile="core", version=(4, 3), size=(4, 4))
    source = """#version 430
        #extension GL_AMD_gpu_shader_int64 : require
        uniform int64_t given; out vec4 color;
        void main() {
            int64_t wide = abs(given) + 4294967296L;
            color = vec4(unpackInt2x32(wide), 0, 1) / 255.0;
        }"""
    compiled(gl, GL.FRAGMENT_SHADER, source)
    gl.release()


@pytest.mark.parametrize("stride", [4, 8, -4, -8])
def test_each_draw_has_the_mode_at_its_stride(stride: int) -> None:
    """Three draws, wherever their modes lie: none of the others is drawn."""
    gl: Any = create_context("numpipe", profile="compat", version=(2, 1), size=(8, 8))
    modes = np.full(7, GL.LINES, np.uint32)
    wanted = (GL.TRIANGLES, GL.TRIANGLE_STRIP, GL.QUADS)
    for i, mode in enumerate(wanted):
        modes[3 + i * stride // 4 - (stride // abs(stride)) * abs(stride) // 4] = mode
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.vertex_pointer(2, GL.FLOAT, 0, corners)
    seen = []
    for i in range(3):
        gl.clear(GL.COLOR_BUFFER_BIT)
        count = np.array([4 if k == i else 0 for k in range(3)], np.int32)
        where = modes.ctypes.data + 4 * (3 - (stride // abs(stride)) * abs(stride) // 4)
        gl.multi_mode_draw_arrays_ibm(where, np.zeros(3, np.int32), count, 3, stride)
        seen.append(np.frombuffer(gl.read_pixels(0, 0, 8, 8, GL.RED, GL.UNSIGNED_BYTE), np.uint8))
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.draw_arrays(wanted[i], 0, 4)
        plain = gl.read_pixels(0, 0, 8, 8, GL.RED, GL.UNSIGNED_BYTE)
        assert seen[-1].tobytes() == bytes(plain)
    assert len({tuple(s.tolist()) for s in seen}) == 3
    assert gl.get_error() == GL.NONE
    gl.release()


def test_modes_may_lie_below_their_pointer() -> None:
    """A negative stride walks down through memory; a Python array is refused."""
    gl = create_context("numpipe", profile="compat", version=(2, 1), size=(8, 8))
    modes = np.array([GL.TRIANGLES, 0, GL.POINTS], np.uint32)
    first, count = np.array([0, 0], np.int32), np.array([0, 0], np.int32)
    gl.multi_mode_draw_arrays_ibm(modes.ctypes.data + 8, first, count, 2, -8)
    assert gl.get_error() == GL.NONE
    gl.multi_mode_draw_arrays_ibm(modes, first, count, 2, -8)
    assert gl.get_error() == GL.INVALID_VALUE
    gl.release()
