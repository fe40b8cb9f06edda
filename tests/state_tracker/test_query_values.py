"""Values that queries answer: colours with and without clamping, sizes of renderbuffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


GIVEN = np.array([2.0, -1.0, 0.25, 7.0], np.float32)
CLAMPED = [1.0, 0.0, 0.25, 1.0]


COLORS = {
    "border": (lambda gl: gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, GIVEN),
               lambda gl: gl.get_tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR)),
    "environment": (lambda gl: gl.tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR, GIVEN),
                    lambda gl: gl.get_tex_envfv(GL.TEXTURE_ENV, GL.TEXTURE_ENV_COLOR)),
    "clear": (lambda gl: gl.clear_color(*GIVEN.tolist()),
              lambda gl: gl.get_floatv(GL.COLOR_CLEAR_VALUE)),
    "blend": (lambda gl: gl.blend_color(*GIVEN.tolist()),
              lambda gl: gl.get_floatv(GL.BLEND_COLOR)),
    "fog": (lambda gl: gl.fogfv(GL.FOG_COLOR, GIVEN), lambda gl: gl.get_floatv(GL.FOG_COLOR)),
}  # fmt: skip


@pytest.mark.parametrize("what", COLORS)
def test_colour_queries_are_clamped_where_fragments_are(gl: Any, what: str) -> None:
    """ARB_color_buffer_float: queries clamp as CLAMP_FRAGMENT_COLOR says, the value is kept."""
    give, ask = COLORS[what]
    give(gl)
    for clamp, wanted in ((GL.TRUE, CLAMPED), (GL.FALSE, GIVEN.tolist()),
                          (GL.FIXED_ONLY, CLAMPED), (GL.FALSE, GIVEN.tolist())):  # fmt: skip
        gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, clamp)
        assert list(ask(gl)) == wanted, clamp
    assert errors(gl) == []


def test_integers_of_border_colours_stay_as_they_are(gl: Any) -> None:
    texture = gl.gen_textures(1)[0]
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, GL.TRUE)
    name = GL.TEXTURE_BORDER_COLOR
    gl.tex_parameter_iiv(GL.TEXTURE_2D, name, np.array([-5, 7, 1 << 20, 0], np.int32))
    assert list(gl.get_tex_parameter_iiv(GL.TEXTURE_2D, name)) == [-5, 7, 1 << 20, 0]
    assert list(gl.get_texture_parameter_iiv(texture, name)) == [-5, 7, 1 << 20, 0]
    gl.tex_parameter_iuiv(GL.TEXTURE_2D, name, np.array([5, 7, 1 << 31, 0], np.uint32))
    found = [int(v) & 0xFFFFFFFF for v in gl.get_tex_parameter_iuiv(GL.TEXTURE_2D, name)]
    assert found == [5, 7, 1 << 31, 0]
    gl.tex_parameteriv(GL.TEXTURE_2D, name, np.array([2**31 - 1, 0, 0, 2**31 - 1], np.int32))
    assert list(gl.get_tex_parameterfv(GL.TEXTURE_2D, name)) == [1, 0, 0, 1]


SIZES = {
    # format: bits of red, green, blue, alpha, depth, stencil
    "RGBA8": (8, 8, 8, 8, 0, 0), "RGB8": (8, 8, 8, 0, 0, 0), "RG8": (8, 8, 0, 0, 0, 0),
    "R8": (8, 0, 0, 0, 0, 0), "RGB565": (5, 6, 5, 0, 0, 0), "RGBA4": (4, 4, 4, 4, 0, 0),
    "RGB5_A1": (5, 5, 5, 1, 0, 0), "RGB10_A2": (10, 10, 10, 2, 0, 0),
    "RGBA16": (16, 16, 16, 16, 0, 0), "RG16F": (16, 16, 0, 0, 0, 0), "R32F": (32, 0, 0, 0, 0, 0),
    "RGBA32UI": (32, 32, 32, 32, 0, 0), "RG8I": (8, 8, 0, 0, 0, 0),
    "R11F_G11F_B10F": (11, 11, 10, 0, 0, 0), "SRGB8_ALPHA8": (8, 8, 8, 8, 0, 0),
    "DEPTH_COMPONENT16": (0, 0, 0, 0, 16, 0), "DEPTH_COMPONENT32F": (0, 0, 0, 0, 32, 0),
    "DEPTH24_STENCIL8": (0, 0, 0, 0, 24, 8), "DEPTH32F_STENCIL8": (0, 0, 0, 0, 32, 8),
    "STENCIL_INDEX8": (0, 0, 0, 0, 0, 8),
}  # fmt: skip
PARTS = ("RED", "GREEN", "BLUE", "ALPHA", "DEPTH", "STENCIL")


@pytest.mark.parametrize("format", SIZES)
def test_renderbuffers_return_their_sizes(gl: Any, format: str) -> None:
    """At least as many bits as the format's name says (exactly so where there is such a format);
    none of what it lacks."""
    buffer = gl.gen_renderbuffers(3)[1]
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)

    def told(name: str) -> int:
        number = getattr(GL, f"RENDERBUFFER_{name}")
        found = gl.get_renderbuffer_parameteriv(GL.RENDERBUFFER, number)
        assert list(gl.get_named_renderbuffer_parameteriv(buffer, number)) == list(found)
        return int(np.ravel(found)[0])

    before = ["WIDTH", "HEIGHT", "SAMPLES", *(f"{part}_SIZE" for part in PARTS)]
    assert [told(name) for name in before] == [0] * 9
    assert told("INTERNAL_FORMAT") in (GL.RGBA, GL.RGBA4)
    samples = 4 if format in ("RGBA8", "DEPTH24_STENCIL8") else 0
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, getattr(GL, format), 5, 3)
    assert errors(gl) == []
    assert (told("WIDTH"), told("HEIGHT"), told("SAMPLES")) == (5, 3, samples)
    assert told("INTERNAL_FORMAT") == getattr(GL, format)
    found = tuple(told(f"{part}_SIZE") for part in PARTS)
    wanted = SIZES[format]
    assert [bool(f) for f in found] == [bool(w) for w in wanted]
    assert all(f >= w for f, w in zip(found, wanted, strict=True))
    if format not in ("RGBA4", "RGB5_A1", "RGB565"):
        assert found == wanted
    gl.get_renderbuffer_parameteriv(GL.RENDERBUFFER, GL.TEXTURE_2D)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.get_renderbuffer_parameteriv(GL.TEXTURE_2D, GL.RENDERBUFFER_WIDTH)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.get_named_renderbuffer_parameteriv(99, GL.RENDERBUFFER_WIDTH)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_levels_that_are_not_there_are_no_attachments(gl: Any) -> None:
    """Incomplete until the level has an image; its size is that of the level."""
    texture, frame = gl.gen_textures(1)[0], gl.gen_framebuffers(1)[0]
    gl.bind_texture(GL.TEXTURE_2D_ARRAY, texture)
    gl.bind_framebuffer(GL.FRAMEBUFFER, frame)
    place = GL.COLOR_ATTACHMENT0
    gl.framebuffer_texture(GL.FRAMEBUFFER, place, texture, 1)
    incomplete = GL.FRAMEBUFFER_INCOMPLETE_ATTACHMENT
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == incomplete
    gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA8, 8, 4, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == incomplete
    gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 1, GL.RGBA8, 4, 2, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    gl.tex_parameteri(GL.TEXTURE_2D_ARRAY, GL.TEXTURE_MAX_LEVEL, 1)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT)  # all layers
    room = np.zeros(4 * 2 * 3 * 4, np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D_ARRAY, 1, GL.RGBA, GL.UNSIGNED_BYTE, room)
    assert room.tolist() == [51, 102, 153, 204] * 24
    gl.framebuffer_texture_layer(GL.FRAMEBUFFER, place, texture, 1, 3)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == incomplete
    gl.framebuffer_texture_layer(GL.FRAMEBUFFER, place, texture, 1, 2)
    assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    assert errors(gl) == []
