"""Pixel codecs: from bytes to colours and back, for every format of the table, vectorised.

Two levels, both derived from `gallette.pipe.formats`:

* **texels**: `texels(format, data)` views bytes as one raw item per pixel: an unsigned word when
  the pixel has 1, 2, 4 or 8 bytes, else a short row of words. Indexing and gathering raw texels is
  cheap; `unpack_planes` converts gathered texels to four component arrays, `pack_planes` back.
* **bytes**: `unpack(format, data)` and `pack(format, rgba)` for whole images, `[..., 4]`.

Colours are float32, or int32 / uint32 for pure integer formats (`format.rgba_dtype`). Depth and
stencil have their own functions, because they share words: each `pack_` keeps the bits of the
other.
"""

from __future__ import annotations

from .blocks import block_decoder, decode_blocks
from .depth import pack_depth, pack_stencil, unpack_depth, unpack_stencil
from .encode import block_codes, can_encode, encode_blocks
from .image import clear_texel, pack, texel_bytes, texels, unpack
from .plain import EVERY_PLANE, pack_planes, texel_layout, unorm_scale, unpack_planes
from .srgb import linear_to_srgb8, srgb8_to_linear

__all__ = [
    "EVERY_PLANE",
    "block_codes",
    "block_decoder",
    "can_encode",
    "clear_texel",
    "decode_blocks",
    "encode_blocks",
    "linear_to_srgb8",
    "pack",
    "pack_depth",
    "pack_planes",
    "pack_stencil",
    "srgb8_to_linear",
    "texel_bytes",
    "texel_layout",
    "texels",
    "unorm_scale",
    "unpack",
    "unpack_depth",
    "unpack_planes",
    "unpack_stencil",
]
