"""Reads of texels as they are stored: the second of a kind takes a shorter way."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.pixel_data import readback

SIDE = 16
Bytes = npt.NDArray[np.uint8]


def _context() -> Any:
    """A framebuffer with two pictures."""
    gl: Any = create_context("numpipe", profile="core", version=(4, 3))
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    for number, seed in enumerate((1, 2)):
        gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
        _picture(gl, seed, SIDE)
        texture = gl.get_integerv(GL.TEXTURE_BINDING_2D)[0]
        point = GL.COLOR_ATTACHMENT0 + number
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, point, GL.TEXTURE_2D, texture, 0)
    return gl


def _picture(gl: Any, seed: int, side: int) -> None:
    raw = np.random.default_rng(seed).integers(0, 256, side * side * 4, np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, side, side, 0, GL.RGBA, GL.UNSIGNED_BYTE, raw)


def _read(gl: Any, x: int = 3, y: int = 2, width: int = 5, height: int = 4, **how: int) -> Bytes:
    """Read at an address, as programs in C do; what is not written stays 7."""
    room = np.full(4096, 7, np.uint8)
    format, type = how.get("format", GL.RGBA), how.get("type", GL.UNSIGNED_BYTE)
    gl.read_pixels(x, y, width, height, format, type, room.ctypes.data)
    return room


CHANGES: dict[str, Callable[[Any], None]] = {
    "nothing": lambda gl: None,
    "another buffer": lambda gl: gl.read_buffer(GL.COLOR_ATTACHMENT1),
    "other texels": lambda gl: _picture(gl, 5, SIDE),
    "another size": lambda gl: _picture(gl, 5, 6),
    "a clear": lambda gl: gl.clear(GL.COLOR_BUFFER_BIT),
    "no buffer": lambda gl: gl.read_buffer(GL.NONE),
    "an attachment less": lambda gl: gl.framebuffer_texture2d(
        GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, 0, 0
    ),
    "rows apart": lambda gl: gl.pixel_storei(GL.PACK_ROW_LENGTH, 9),
    "rows skipped": lambda gl: gl.pixel_storei(GL.PACK_SKIP_ROWS, 2),
    "aligned": lambda gl: gl.pixel_storei(GL.PACK_ALIGNMENT, 8),
    "swapped": lambda gl: gl.pixel_storei(GL.PACK_SWAP_BYTES, 1),
    "another framebuffer": lambda gl: gl.bind_framebuffer(GL.FRAMEBUFFER, 0),
}

WAYS: dict[str, dict[str, int]] = {
    "the same": {},
    "elsewhere": {"x": 0, "y": 9},
    "beyond": {"x": 13, "y": -1},
    "nothing": {"width": 0},
    "negative": {"height": -1},
    "other channels": {"format": GL.BGRA},
    "another type": {"type": GL.UNSIGNED_SHORT_5_6_5},
    "integers": {"format": GL.RGBA_INTEGER},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_second_read(change: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for short in (True, False):
        gl = _context()
        with monkeypatch.context() as patched:
            if not short:
                patched.setattr(readback, "read_again", lambda *given: False)
            first = _read(gl)
            CHANGES[change](gl)
            found.append((first, _read(gl, **WAYS[way]), gl.get_error()))
        gl.release()
    (one, two, error), (one_, two_, error_) = found
    assert error == error_
    assert np.array_equal(one, one_)
    assert np.array_equal(two, two_)
    assert (one != 7).any()


def test_the_short_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    gl, taken, again = _context(), [], readback.read_again

    def counted(*given: Any) -> bool:
        taken.append(again(*given))
        return taken[-1]

    monkeypatch.setattr(readback, "read_again", counted)
    for _ in range(3):
        _read(gl)
    assert taken == [False, True, True]
    buffer = gl.gen_buffers(1)[0]
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, buffer)
    gl.buffer_data(GL.PIXEL_PACK_BUFFER, 256, None, GL.STREAM_READ)
    gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, 16)
    assert taken[-1] is False
    gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)
    memory = (ctypes.c_uint8 * 64)()
    gl.read_pixels(0, 0, 4, 4, GL.RGBA, GL.UNSIGNED_BYTE, memory)
    assert bytes(memory) == _read(gl, 0, 0, 4, 4)[:64].tobytes()
    gl.release()


@pytest.mark.parametrize(
    "internal",
    [
        *("R8", "RG8", "RGB8", "RGBA8", "SRGB8_ALPHA8", "RGBA8_SNORM"),
        *("RGB10", "RGB10_A2", "RGB565", "RGBA4", "RGB5_A1"),
    ],
)
def test_some_bytes_of_texels(internal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are what a conversion by way of numbers makes of them, the first time and after."""
    gl: Any = create_context("numpipe", profile="core", version=(4, 3))
    gl.bind_framebuffer(GL.FRAMEBUFFER, gl.gen_framebuffers(1)[0])
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    raw = np.random.default_rng(3).integers(0, 256, SIDE * SIDE * 4, np.uint8)
    kind = getattr(GL, internal)
    gl.tex_image2d(GL.TEXTURE_2D, 0, kind, SIDE, SIDE, 0, GL.RGBA, GL.UNSIGNED_BYTE, raw)
    texture = gl.get_integerv(GL.TEXTURE_BINDING_2D)[0]
    gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.TEXTURE_2D, texture, 0)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    formats = GL.RED, GL.GREEN, GL.BLUE, GL.RG, GL.RGB, GL.BGR, GL.RGBA, GL.BGRA
    short = [[_read(gl, format=format) for _ in range(2)] for format in formats]
    gl.read_buffer(GL.COLOR_ATTACHMENT0)
    monkeypatch.setattr(readback, "byte_order", lambda *args: None)
    monkeypatch.setattr(readback, "read_again", lambda *args: False)
    for format, both in zip(formats, short, strict=True):
        long = _read(gl, format=format)
        assert len(np.unique(long[:20])) > 1 or internal in ("R8", "RG8")
        for one in both:
            np.testing.assert_array_equal(one, long)
    gl.release()
