"""glPixelStore, legal (format, type) pairs, and reading or writing client images.

"Client" memory is the caller's, or the buffer bound to GL_PIXEL_UNPACK_BUFFER or PIXEL_PACK_BUFFER,
in which case the pointer is an offset.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    buffer_offset,
    read_bytes,
    write_bytes,
    wrote_in_place,
)
from gallette.state_tracker.pixel_data.pixels import (
    COMPONENTS,
    INTEGER_FORMATS,
    PACKED_TYPES,
    PLAIN_TYPES,
    ImageLayout,
    PackState,
    image_layout,
    pixel_bytes,
)

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Bytes = npt.NDArray[np.uint8]

_LEGACY = frozenset(
    (
        GL.LUMINANCE,
        GL.LUMINANCE_ALPHA,
        GL.INTENSITY,
        GL.COLOR_INDEX,
        GL.ALPHA,
        GL.ALPHA_INTEGER,
        GL.LUMINANCE_INTEGER_EXT,
        GL.LUMINANCE_ALPHA_INTEGER_EXT,
        GL.ABGR_EXT,
    )
)
_NO_PIXELS = frozenset((GL.DOUBLE, GL.FIXED))  # types of vertex attributes only
_FLOAT_TYPES = frozenset((GL.FLOAT, GL.HALF_FLOAT))
_THREE = frozenset(
    (
        GL.UNSIGNED_BYTE_3_3_2,
        GL.UNSIGNED_BYTE_2_3_3_REV,
        GL.UNSIGNED_SHORT_5_6_5,
        GL.UNSIGNED_SHORT_5_6_5_REV,
        GL.UNSIGNED_INT_10F_11F_11F_REV,
        GL.UNSIGNED_INT_5_9_9_9_REV,
    )
)
_DEPTH_STENCIL = frozenset((GL.UNSIGNED_INT_24_8, GL.FLOAT_32_UNSIGNED_INT_24_8_REV))


def check_pair(ctx: Context, format: int, type: int) -> None:
    """INVALID_ENUM for unknown names, INVALID_OPERATION for pairs that cannot be combined."""
    if format == GL.YCBCR_MESA and ctx.profile != "es":
        raise invalid_operation("luma and chroma belong to images of their own format")
    if format not in COMPONENTS or (format in _LEGACY and ctx.is_core):
        raise invalid_enum(format, "pixel format")
    if type in _NO_PIXELS or (type not in PLAIN_TYPES and type not in PACKED_TYPES):
        raise invalid_enum(type, "pixel type")
    if type in _DEPTH_STENCIL or format == GL.DEPTH_STENCIL:
        if not (type in _DEPTH_STENCIL and format == GL.DEPTH_STENCIL):
            if format == GL.DEPTH_STENCIL and (ctx.profile != "es" or type not in PACKED_TYPES):
                raise invalid_enum(type, "type of a depth-stencil image")
            raise invalid_operation("depth-stencil formats and types go together only")
        return
    if type in PACKED_TYPES:
        allowed = (GL.RGB, GL.RGB_INTEGER) if type in _THREE else (
            GL.RGBA, GL.BGRA, GL.RGBA_INTEGER, GL.BGRA_INTEGER, GL.ABGR_EXT,
        )  # fmt: skip
        special = (GL.UNSIGNED_INT_10F_11F_11F_REV, GL.UNSIGNED_INT_5_9_9_9_REV)
        if format not in allowed or (type in special and format != GL.RGB):
            raise invalid_operation(f"{GL.name_of(type)} does not hold {GL.name_of(format)}")
    if format in INTEGER_FORMATS and type in _FLOAT_TYPES:
        if ctx.profile == "es":
            raise invalid_operation(f"{GL.name_of(type)} does not hold {GL.name_of(format)}")
        raise invalid_enum(type, "type of integer pixels")


def item_bytes(type: int) -> int:
    """The size of the element to which byte order and alignment apply."""
    if type == GL.FLOAT_32_UNSIGNED_INT_24_8_REV:  # a pair of 32-bit words
        return 4
    if type in (GL.UNSIGNED_SHORT_8_8_MESA, GL.UNSIGNED_SHORT_8_8_REV_MESA):
        return 2
    return int((PACKED_TYPES[type].word if type in PACKED_TYPES else PLAIN_TYPES[type])[1])


def client_image(ctx: Context, pointer: Pointer, size: int) -> Bytes | None:
    """`size` raw bytes of client memory or the unpack buffer; None for a null pointer."""
    buffer = ctx.buffers.bound[GL.PIXEL_UNPACK_BUFFER]
    if buffer is None:
        return None if pointer is None or size == 0 else read_bytes(pointer, size)
    if buffer.blocked:
        raise invalid_operation("the pixel unpack buffer is mapped")
    offset = buffer_offset(pointer)
    if offset < 0 or offset + size > buffer.size:
        raise invalid_operation("the image is outside the pixel unpack buffer")
    return np.frombuffer(buffer.read(offset, size), np.uint8)


def _boxed(raw: Bytes, layout: ImageLayout, extent: tuple[int, int, int], pixel: int) -> Bytes:
    """The pixels `[depth, height, width, pixel]` inside raw client bytes, as a view."""
    width, height, depth = extent
    # Strides to rows or images that do not exist are arbitrary.
    image, row = layout.image_stride * (depth > 1), layout.row_stride * (height > 1)
    strides = (image, row, pixel, 1)
    return np.lib.stride_tricks.as_strided(
        raw[layout.start :], (depth, height, width, pixel), strides, writeable=raw.flags.writeable
    )


def _swapped(pixels: Bytes, item: int) -> Bytes:
    shape = pixels.shape
    items = pixels.reshape(*shape[:-1], shape[-1] // item, item)[..., ::-1]
    return np.ascontiguousarray(items).reshape(shape)


def read_client(
    ctx: Context,
    format: int,
    type: int,
    pointer: Pointer,
    extent: tuple[int, int, int],
    dimensions: int = 3,
) -> Bytes | None:
    """Client pixels as `[depth, height, width, pixel bytes]`, None if no data was given."""
    buffer = ctx.buffers.bound[GL.PIXEL_UNPACK_BUFFER]
    pixel, item = pixel_bytes(format, type), item_bytes(type)
    if buffer is None and pointer is None:
        return None
    if 0 in extent:
        return None
    state = ctx.unpack
    if dimensions < 3 and (state.image_height or state.skip_images):
        state = dataclasses.replace(state, image_height=0, skip_images=0)
    if buffer is not None and buffer_offset(pointer) % item:
        raise invalid_operation("the offset is not a multiple of the element size")
    layout = image_layout(state, *extent, pixel, item)
    raw = client_image(ctx, pointer, layout.end)
    if raw is None:
        return None
    pixels = np.ascontiguousarray(_boxed(raw, layout, extent, pixel))
    return _swapped(pixels, item) if state.swap_bytes and item > 1 else pixels


def write_client(
    ctx: Context,
    format: int,
    type: int,
    pointer: Any,
    pixels: Bytes,
    dimensions: int = 2,
    room: int | None = None,
) -> bytes | None:
    """Store pixels `[depth, height, width, pixel bytes]` in the caller's layout.

    Returns the bytes if the caller omitted the pointer (and no pack buffer is bound).
    """
    depth, height, width, pixel = pixels.shape
    item, state = item_bytes(type), ctx.pack
    if dimensions < 3 and (state.image_height or state.skip_images):
        state = dataclasses.replace(state, image_height=0, skip_images=0)
    if state.swap_bytes and item > 1:
        pixels = _swapped(pixels, item)
    if state.invert:
        pixels = pixels[:, ::-1]
    layout = image_layout(state, width, height, depth, pixel, item)
    return write_laid_out(ctx, layout, pointer, pixels, item, room)


def write_laid_out(
    ctx: Context, layout: ImageLayout, pointer: Any, pixels: Bytes, item: int, room: int | None
) -> bytes | None:
    """Store pixels (or blocks) `[depth, height, width, bytes]` in a given layout."""
    depth, height, width, pixel = pixels.shape
    if room is not None and layout.end > room:
        raise invalid_operation(f"{room} bytes are too few for this image")
    buffer = ctx.buffers.bound[GL.PIXEL_PACK_BUFFER]
    if buffer is not None and pointer is OMITTED:
        pointer = None
    if buffer is None and pointer is None:
        return None
    offset = 0
    if buffer is not None:
        offset = buffer_offset(pointer)
        if buffer.blocked:
            raise invalid_operation("the pixel pack buffer is mapped")
        if offset < 0 or offset % item or offset + layout.end > buffer.size:
            raise invalid_operation("the image is outside the pixel pack buffer")
    if layout.end == 0:
        return b"" if pointer is OMITTED else None
    tight = layout.start == 0 and layout.row_stride == layout.row_bytes
    if tight and (depth == 1 or layout.image_stride == height * layout.row_stride):
        raw = np.ascontiguousarray(pixels).reshape(-1)
    else:
        raw = present(pointer, buffer, offset, layout.end)
        _boxed(raw, layout, (width, height, depth), pixel)[...] = pixels
        if buffer is None and type(pointer) is int:
            wrote_in_place(pointer, raw)
            return None
    if pointer is OMITTED:
        return raw.tobytes()
    if buffer is not None:
        buffer.write(offset, raw)
    else:
        write_bytes(pointer, raw)
    return None


def present(pointer: Any, buffer: Any, offset: int, size: int) -> Bytes:
    """The current contents of a read-back's destination: rows are written into it, and the gaps
    between them are kept. It is the memory itself if C passed it, otherwise a copy.
    """
    if pointer is OMITTED:
        return np.zeros(size, np.uint8)
    if buffer is not None:
        return np.frombuffer(buffer.read(offset, size), np.uint8).copy()
    found = read_bytes(pointer, size)
    return found if type(pointer) is int else found.copy()


# -- compressed images -----------------------------------------------------------------------------


def block_layout(state: PackState, dimensions: int, blocks: tuple[int, ...]) -> ImageLayout:
    """The layout of blocks in memory; `blocks`: across, down and deep, and the bytes of one.

    Skips and lengths apply as far as the application gives the block size.
    """
    *counts, size = blocks
    told = state.compressed_block
    plain = PackState(alignment=1)
    if not (state.compressed_block_size and told[0]):
        return image_layout(plain, counts[0], counts[1], counts[2], size, 1)
    wide, high, deep = (bool(t) and n <= dimensions for t, n in zip(told, (1, 2, 3), strict=True))
    high, deep = high and wide, deep and high and wide
    skips = (state.skip_pixels, state.skip_rows if high else 0, state.skip_images if deep else 0)
    if any(skip % block for skip, block in zip(skips, told, strict=True) if skip):
        raise invalid_operation("what is skipped are no whole blocks")
    plain = dataclasses.replace(
        plain,
        row_length=-(-state.row_length // told[0]),
        image_height=-(-state.image_height // told[1]) if high else 0,
        skip_pixels=skips[0] // told[0],
        skip_rows=skips[1] // told[1] if high else 0,
        skip_images=skips[2] // told[2] if deep else 0,
    )
    return image_layout(plain, counts[0], counts[1], counts[2], size, 1)


def read_blocks(
    ctx: Context,
    pointer: Pointer,
    dimensions: int,
    extent: tuple[int, int, int],
    blocks: tuple[int, ...],
) -> Bytes | None:
    """A client's compressed image as `[depth, rows of blocks, bytes]`, None for a null pointer."""
    state = ctx.unpack
    layout = block_layout(state, dimensions, blocks)
    told = state.compressed_block
    if state.compressed_block_size and all(told[:dimensions]):
        counts = [-(-n // t) for n, t in zip(extent[:dimensions], told, strict=False)]
        if math.prod(counts) * state.compressed_block_size != math.prod(blocks):
            raise invalid_value("GL_UNPACK_COMPRESSED_BLOCK_* make another size of this image")
    raw = client_image(ctx, pointer, layout.end)
    if raw is None:
        return None
    found = _boxed(raw, layout, (blocks[0], blocks[1], blocks[2]), blocks[3])
    return np.ascontiguousarray(found).reshape(blocks[2], blocks[1], blocks[0] * blocks[3])
