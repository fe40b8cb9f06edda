"""MESA_ycbcr_texture: images of luma and chroma answer and look as on llvmpipe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.pipe.formats import FORMATS
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.texturing.ycbcr import rgb
from tests.conftest import native_context

Y, PLAIN, REV = GL.YCBCR_MESA, GL.UNSIGNED_SHORT_8_8_MESA, GL.UNSIGNED_SHORT_8_8_REV_MESA
WORDS = np.random.default_rng(1).integers(0, 65536, (8, 8)).astype(np.uint16)
TYPES = [pytest.param(PLAIN, id="8_8"), pytest.param(REV, id="8_8_rev")]


def bound(gl: Any, target: int = GL.TEXTURE_2D) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(target, name)
    return int(name)


def define(
    gl: Any, type: int = PLAIN, format: int = Y, kind: int = Y, width: int = 8, border: int = 0,
    target: int = GL.TEXTURE_2D,
) -> str:  # fmt: skip
    """Define an image and tell the error."""
    gl.tex_image2d(target, 0, kind, width, 8, border, format, type, WORDS)
    return str(GL.name_of(gl.get_error(), "error"))


@pytest.fixture
def both() -> Iterator[list[Any]]:
    contexts = [
        create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8)),
        native_context(profile="compat", version=(4, 5), size=(8, 8)),
    ]
    yield contexts
    for gl in contexts:
        gl.release()


def answers(gl: Any) -> dict[str, Any]:
    """Errors of what the extension allows and what it does not."""
    gl.make_current()
    bound(gl)
    found: dict[str, Any] = {
        "plain": define(gl),
        "reversed": define(gl, REV),
        "odd": define(gl, width=7),
        "border": define(gl, border=1),
        "bytes": define(gl, GL.UNSIGNED_BYTE),
        "shorts": define(gl, GL.UNSIGNED_SHORT),
        "from RGB": define(gl, GL.UNSIGNED_BYTE, GL.RGB),
        "RGB with its type": define(gl, PLAIN, GL.RGB),
        "into RGB": define(gl, PLAIN, Y, GL.RGB),
        "type alone": define(gl, PLAIN, GL.RGBA, GL.RGBA),
        "proxy": define(gl, target=GL.PROXY_TEXTURE_2D),
    }
    for target in ("TEXTURE_RECTANGLE", "TEXTURE_1D_ARRAY"):
        bound(gl, getattr(GL, target))
        found[target] = define(gl, target=getattr(GL, target))
    bound(gl, GL.TEXTURE_CUBE_MAP)
    found["cube"] = define(gl, target=GL.TEXTURE_CUBE_MAP_POSITIVE_X)
    bound(gl, GL.TEXTURE_3D)
    gl.tex_image3d(GL.TEXTURE_3D, 0, Y, 4, 4, 4, 0, Y, PLAIN, WORDS)
    found["3D"] = gl.get_error()
    name = bound(gl)
    define(gl)
    for pname in ("INTERNAL_FORMAT", "RED_SIZE", "RED_TYPE", "LUMINANCE_SIZE", "COMPRESSED"):
        query = getattr(GL, f"TEXTURE_{pname}")
        found[pname] = list(gl.get_tex_level_parameteriv(GL.TEXTURE_2D, 0, query))
    room = np.zeros(256, np.uint8)
    for format, type in ((GL.RGBA, GL.UNSIGNED_BYTE), (Y, GL.UNSIGNED_BYTE), (GL.RGB, PLAIN)):
        gl.get_tex_image(GL.TEXTURE_2D, 0, format, type, room)
        found["read", format, type] = gl.get_error()
    gl.read_pixels(0, 0, 4, 4, Y, PLAIN, room)
    found["read pixels"] = gl.get_error()
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, WORDS)
    found["part of RGBA"] = gl.get_error()
    gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 0, 0, 4, 4)
    found["copied part"] = gl.get_error()
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, name, 0)
    found["framebuffer"] = gl.check_framebuffer_status(GL.FRAMEBUFFER)
    gl.bind_framebuffer(GL.FRAMEBUFFER, 0)
    (renderbuffer,) = gl.gen_renderbuffers(1)
    gl.bind_renderbuffer(GL.RENDERBUFFER, renderbuffer)
    gl.renderbuffer_storage(GL.RENDERBUFFER, Y, 8, 8)
    found["renderbuffer"] = gl.get_error()
    gl.copy_tex_image2d(GL.TEXTURE_2D, 0, Y, 0, 0, 8, 8, 0)
    found["copied"] = gl.get_error()
    bound(gl)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, WORDS)
    gl.get_tex_image(GL.TEXTURE_2D, 0, Y, PLAIN, room)
    found["words of RGBA"] = gl.get_error()
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 2, 2, Y, PLAIN, WORDS)
    found["words into RGBA"] = gl.get_error()
    return found


@pytest.mark.native
def test_errors_are_the_native_gls(both: list[Any]) -> None:
    ours, theirs = map(answers, both)
    assert ours == theirs
    assert "GL_NO_ERROR" in ours.values() and "GL_INVALID_VALUE" in ours.values()


def picture(gl: Any, filter: int) -> Any:
    gl.enable(GL.TEXTURE_2D)
    gl.tex_envi(GL.TEXTURE_ENV, GL.TEXTURE_ENV_MODE, GL.REPLACE)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, filter)
    gl.begin(GL.QUADS)
    aside = 0.03 if filter == GL.LINEAR else 0.0
    for s, t in ((0, 0), (1, 0), (1, 1), (0, 1)):
        gl.tex_coord2f(s + aside, t + aside)
        gl.vertex2f(s * 2 - 1, t * 2 - 1)
    gl.end()
    out = np.zeros((8, 8, 4), np.uint8)
    gl.read_pixels(0, 0, 8, 8, GL.RGBA, GL.UNSIGNED_BYTE, out)
    return out.astype(int)


@pytest.mark.native
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("filter", [GL.NEAREST, GL.LINEAR])
def test_it_looks_as_on_the_native_gl(both: list[Any], type: int, filter: int) -> None:
    pictures = []
    for gl in both:
        gl.make_current()
        bound(gl)
        assert define(gl, type) == "GL_NO_ERROR"
        pictures.append(picture(gl, filter))
    assert np.ptp(pictures[0]) > 200
    assert abs(pictures[0] - pictures[1]).max() <= 1


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("width", [7, 8])
def test_words_come_back(type: int, width: int) -> None:
    gl = create_context("numpipe", profile="compat", version=(4, 5))
    bound(gl)
    gl.pixel_storei(GL.UNPACK_ROW_LENGTH, 8)
    assert define(gl, type, width=width) == "GL_NO_ERROR"
    for asked in (PLAIN, REV):
        out = np.zeros((8, width + width % 2), np.uint16)  # rows begin at multiples of four bytes
        gl.get_tex_image(GL.TEXTURE_2D, 0, Y, asked, out)
        wanted = WORDS if asked == type else WORDS.byteswap()
        assert (out[:, :width] == wanted[:, :width]).all()
    gl.release()


def test_a_part_changes_the_pairs_it_meets() -> None:
    """Replaced from column 1 to 3: columns 0 to 3 are shown anew, words of 1 to 3 are others."""
    gl = create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8))
    bound(gl)
    define(gl)
    part = WORDS[::-1, ::-1][:3, :3].copy()
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 2)
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 2, 3, 3, Y, PLAIN, part)
    wanted = WORDS.copy()
    wanted[2:5, 1:4] = part
    out = np.zeros((8, 8), np.uint16)
    gl.get_tex_image(GL.TEXTURE_2D, 0, Y, PLAIN, out)
    assert (out == wanted).all()
    seen = picture(gl, GL.NEAREST)
    bound(gl)
    gl.tex_image2d(GL.TEXTURE_2D, 0, Y, 8, 8, 0, Y, PLAIN, wanted)
    assert (picture(gl, GL.NEAREST) == seen).all()
    gl.release()


def test_other_ways_in_are_closed() -> None:
    gl = create_context("numpipe", profile="compat", version=(4, 5))
    name = bound(gl)
    define(gl)
    gl.clear_tex_image(name, 0, GL.RGBA, GL.UNSIGNED_BYTE, np.zeros(4, np.uint8))
    assert gl.get_error() == GL.INVALID_OPERATION
    other = bound(gl)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    for one, two in ((name, other), (other, name)):
        target = GL.TEXTURE_2D
        gl.copy_image_sub_data(one, target, 0, 0, 0, 0, two, target, 0, 0, 0, 0, 8, 8, 1)
        assert gl.get_error() == GL.INVALID_OPERATION
    gl.release()


@pytest.mark.parametrize("width", [1, 3])
def test_the_missing_half_of_a_pair_is_grey(width: int) -> None:
    """The last of an odd number of columns has Cb of its own, and a Cr that changes nothing."""
    luma, cb = 120, 90
    words = np.full((2, width), luma << 8 | 128, np.uint16)
    words[:, -1] = luma << 8 | cb
    shown = rgb(words, FORMATS["R8G8B8A8_UNORM"]).reshape(2, width, 4)[:, -1]
    grey = 1.164383 * (luma - 16)
    expected = [grey, grey - 0.391762 * (cb - 128), grey + 2.017232 * (cb - 128), 255]
    assert np.abs(shown - np.array(expected)).max() <= 0.51
