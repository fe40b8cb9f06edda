"""Block compression: the registry of decoders, and the assembly of blocks to an image.

A decoder maps blocks `[n, block bytes]` to texels `[n, block height, block width, 4]`, either uint8
codes (which are then normalised or decoded from sRGB) or float32 values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import Format
from .srgb import srgb8_to_linear

__all__ = ["BLOCK_DECODERS", "block_codec", "block_decoder", "decode_blocks"]

Array = npt.NDArray[Any]
Decoder = Callable[[npt.NDArray[np.uint8]], Array]

BLOCK_DECODERS: dict[str, Decoder] = {}


def block_codec(name: str) -> Callable[[Decoder], Decoder]:
    """Register a decoder under the codec name the format table uses."""

    def register(decoder: Decoder) -> Decoder:
        assert name not in BLOCK_DECODERS, name
        BLOCK_DECODERS[name] = decoder
        return decoder

    return register


def block_decoder(format: Format) -> Decoder:
    """The decoder of a compressed format."""
    from . import astc, bptc, etc, fxt1, s3tc  # noqa: F401  (they fill the registry)

    return BLOCK_DECODERS[format.codec]


def decode_blocks(format: Format, data: npt.NDArray[np.uint8]) -> Array:
    """Colours `[..., height, width, 4]` of blocks `[..., rows of blocks, row bytes]`."""
    *outer, rows, row_bytes = data.shape
    columns = row_bytes // format.block_bytes
    flat = np.ascontiguousarray(data).reshape(-1, format.block_bytes)
    decoded = block_decoder(format)(flat)
    if decoded.dtype == np.uint8:
        coded = decoded
        decoded = np.divide(coded, np.float32(255.0), dtype=np.float32)
        if format.is_srgb:
            decoded[..., :3] = srgb8_to_linear(coded[..., :3])
    height, width = format.block_height, format.block_width
    image = decoded.reshape(*outer, rows, columns, height, width, 4)
    image = np.moveaxis(image, -4, -3)
    return image.reshape(*outer, rows * height, columns * width, 4)
