"""MESA_ycbcr_texture: images of luma and chroma, stored unconverted and sampled as RGB.

A texel is a 16-bit word: luma in one byte, chroma in the other, Cb in even columns and Cr in odd
ones; two neighbours share both. Drivers do not support this: they are given RGB colours by ITU-R
BT.601, and the words are stored in addition, for reading them back or replacing one of two
neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe import codecs
from gallette.pipe.formats import Format
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.texturing.texture_formats import InternalFormat

Words = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]

_TYPES = (GL.UNSIGNED_SHORT_8_8_MESA, GL.UNSIGNED_SHORT_8_8_REV_MESA)
_TARGETS = (GL.TEXTURE_2D, GL.TEXTURE_RECTANGLE)


def is_words(format: int, type: int) -> bool:
    """Whether format and type of client pixels are luma and chroma.

    Raises a GL error if only one of them is.
    """
    if format == GL.YCBCR_MESA:
        if type not in _TYPES:
            raise invalid_operation(f"luma and chroma do not come as {GL.name_of(type)}")
        return True
    if type in _TYPES:
        raise invalid_enum(type, "pixel type")
    return False


def check_words(info: InternalFormat, target: int, border: int, format: int, type: int) -> bool:
    """Whether glTexImage defines an image of luma and chroma (GL_MESA_ycbcr_texture).

    Raises the GL error of an invalid combination of format, target and border.
    """
    words = is_words(format, type)
    if words and not info.is_ycbcr:
        raise invalid_operation(f"GL_{info.name} is not filled with luma and chroma")
    if not info.is_ycbcr:
        return False
    if not words:
        raise invalid_operation("an image of luma and chroma is filled with nothing else")
    if target not in _TARGETS:
        raise invalid_enum(target, "target of an image of luma and chroma")
    if border:
        raise invalid_value("images of luma and chroma have no border")
    return True


def _ordered(words: Words, type: int) -> Words:
    """Swap bytes between `type`'s order and luma in the high byte."""
    return words if type == GL.UNSIGNED_SHORT_8_8_MESA else words.byteswap()


def store_words(
    kept: Words | None, at: tuple[int, int], whole: tuple[int, int], client: Bytes, type: int
) -> tuple[Words, int, int]:
    """Store client pixels `[height, width, 2]` at a place; returns the words and the changed
    columns.

    If one of a pair is replaced, its neighbour's colours change, too.
    """
    x, y = at
    height, width = client.shape[:2]
    words = np.zeros(whole[::-1], np.uint16) if kept is None else kept
    words[y : y + height, x : x + width] = _ordered(client.view("<u2")[..., 0], type)
    return words, x - x % 2, min(x + width + (x + width) % 2, whole[0])


def read_words(kept: Words | None, type: int) -> Bytes:
    """All words of an image as client pixels `[1, height, width, 2]`."""
    if kept is None:
        raise invalid_operation("no luma and chroma were given to this image")
    return np.ascontiguousarray(_ordered(kept, type)[None, :, :, None]).view(np.uint8)


_LUMA, _CR_TO_R, _CR_TO_G, _CB_TO_G, _CB_TO_B = 1.164383, 1.596027, 0.812968, 0.391762, 2.017232


def rgb(words: Words, format: Format) -> Bytes:
    """Convert words `[height, width]` from an even column on to rows of a pipe format."""
    height, width = words.shape
    chroma = np.full((height, width + width % 2), 128, np.float64)  # for a pair's missing half
    chroma[:, :width] = words & 0xFF
    cb = np.repeat(chroma[:, 0::2], 2, axis=1)[:, :width] - 128
    cr = np.repeat(chroma[:, 1::2], 2, axis=1)[:, :width] - 128
    luma = _LUMA * ((words >> 8) - np.float64(16))
    colors: npt.NDArray[Any] = np.empty((height, width, 4), np.float32)
    colors[..., 0] = luma + _CR_TO_R * cr
    colors[..., 1] = luma - _CR_TO_G * cr - _CB_TO_G * cb
    colors[..., 2] = luma + _CB_TO_B * cb
    colors[..., 3] = 255
    return codecs.pack(format, np.clip(colors, 0, 255) / np.float32(255))
