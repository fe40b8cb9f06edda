"""Extensions from before OpenGL 2 that programs still ask for, and small ones of OpenGL ES."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.context import Context

from .helpers import errors


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


# -- raster positions, draws, queries --------------------------------------------------------------


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


# -- OpenGL ES -------------------------------------------------------------------------------------


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
