"""Block compression: the decoder of each format, and the assembly of blocks to an image.

A decoder maps blocks `[n, block bytes]` to texels `[n, block height, block width, 4]`, either uint8
codes (which are then normalised or decoded from sRGB) or float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import Format
from . import astc, bptc, etc, fxt1, s3tc
from .srgb import srgb8_to_linear

Array = npt.NDArray[Any]
Decoder = Callable[[npt.NDArray[np.uint8]], Array]

_DECODERS: dict[str, Decoder] = (
    s3tc.DECODERS | etc.DECODERS | bptc.DECODERS | fxt1.DECODERS | astc.DECODERS
)


def block_decoder(format: Format) -> Decoder:
    """The decoder of a compressed format."""
    return _DECODERS[format.codec]


def decode_blocks(format: Format, data: npt.NDArray[np.uint8]) -> Array:
    """Colours `[..., height, width, 4]` of blocks `[..., rows of blocks, row bytes]`."""
    *outer, rows, row_bytes = data.shape
    columns = row_bytes // format.block_bytes
    flat = np.ascontiguousarray(data).reshape(-1, format.block_bytes)
    decoded = block_decoder(format)(flat)
    height, width = format.block_height, format.block_width
    blocks = decoded.reshape(*outer, rows, columns, height, width, 4)
    image = np.moveaxis(blocks, -4, -3).reshape(*outer, rows * height, columns * width, 4)
    if image.dtype != np.uint8:
        return image
    normalised = np.divide(image, np.float32(255.0), dtype=np.float32)
    if format.is_srgb:
        normalised[..., :3] = srgb8_to_linear(image[..., :3])
    return normalised
