"""OES_compressed_paletted_texture: a palette, then indices of 4 or 8 bits, all levels in one call.

`glCompressedTexImage2D` takes them with a negative level: 0 is one image, -3 is that and three
smaller ones. They are stored uncompressed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_value
from gallette.state_tracker.entry_points.memory import Pointer
from gallette.state_tracker.pixel_data.pixel_store import client_image
from gallette.state_tracker.pixel_data.pixels import PackState
from gallette.state_tracker.texturing.teximage import tex_image

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

# Bits of an index; format, type and bytes of an entry.
_ENTRIES = (
    ("RGB8", GL.RGB, GL.UNSIGNED_BYTE, 3),
    ("RGBA8", GL.RGBA, GL.UNSIGNED_BYTE, 4),
    ("R5_G6_B5", GL.RGB, GL.UNSIGNED_SHORT_5_6_5, 2),
    ("RGBA4", GL.RGBA, GL.UNSIGNED_SHORT_4_4_4_4, 2),
    ("RGB5_A1", GL.RGBA, GL.UNSIGNED_SHORT_5_5_5_1, 2),
)
PALETTES: dict[int, tuple[int, int, int, int]] = {
    getattr(GL, f"PALETTE{bits}_{name}_OES"): (bits, format, type, size)
    for bits in (4, 8)
    for name, format, type, size in _ENTRIES
}


def paletted_image(
    ctx: Context, target: int, level: int, kind: int, width: int, height: int, border: int,
    image_size: int, data: Pointer,
) -> None:  # fmt: skip
    """Implements glCompressedTexImage2D for one of `PALETTES`."""
    bits, format, type, entry = PALETTES[kind]
    if level > 0 or border or min(width, height) < 0:
        raise invalid_value("bad level or size of a paletted image")
    count = 1 - level
    sizes = [(max(width >> i, 1), max(height >> i, 1)) for i in range(count)]
    if not width or not height:
        sizes = [(width, height)]
    bytes_of = [-(-w * h * bits // 8) for w, h in sizes]
    palette_bytes = (1 << bits) * entry
    if image_size != palette_bytes + sum(bytes_of):
        raise invalid_value(f"{image_size} bytes are not the size of this paletted image")
    raw = client_image(ctx, data, image_size)
    if raw is None:
        raise invalid_value("a paletted image needs its palette")
    palette = raw[:palette_bytes].reshape(-1, entry)
    saved, ctx.unpack = ctx.unpack, PackState(alignment=1)
    bound = ctx.buffers.bound
    buffer, bound[GL.PIXEL_UNPACK_BUFFER] = bound[GL.PIXEL_UNPACK_BUFFER], None
    try:
        at = palette_bytes
        for i, ((w, h), size) in enumerate(zip(sizes, bytes_of, strict=True)):
            codes = raw[at : at + size]
            at += size
            if bits == 4:  # the high half is the first texel
                codes = np.stack([codes >> 4, codes & 15], axis=1).reshape(-1)
            texels = palette[codes[: w * h]].tobytes()
            tex_image(ctx, 2, target, i, format, (w, h, 1), 0, format, type, texels)
    finally:
        ctx.unpack, bound[GL.PIXEL_UNPACK_BUFFER] = saved, buffer
