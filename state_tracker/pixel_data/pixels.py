"""Client pixel data: (format, type) pairs, and the layout of images in client memory.

A pair such as `GL_BGRA` + `GL_UNSIGNED_INT_8_8_8_8_REV` describes pixels in the caller's memory;
pixel-store state (alignment, row length, skips) gives the beginning of each row.
"""

from __future__ import annotations

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.enums import GL

# The channels of each client format, in memory order. Letters as in `gallette.pipe.formats`.
COMPONENTS: dict[int, str] = {
    GL.RED: "R",
    GL.GREEN: "G",
    GL.BLUE: "B",
    GL.ALPHA: "A",
    GL.RG: "RG",
    GL.RGB: "RGB",
    GL.BGR: "BGR",
    GL.RGBA: "RGBA",
    GL.BGRA: "BGRA",
    GL.ABGR_EXT: "ABGR",
    GL.LUMINANCE: "L",
    GL.LUMINANCE_ALPHA: "LA",
    GL.INTENSITY: "I",
    GL.RED_INTEGER: "R",
    GL.GREEN_INTEGER: "G",
    GL.BLUE_INTEGER: "B",
    GL.ALPHA_INTEGER: "A",
    GL.RG_INTEGER: "RG",
    GL.RGB_INTEGER: "RGB",
    GL.BGR_INTEGER: "BGR",
    GL.RGBA_INTEGER: "RGBA",
    GL.BGRA_INTEGER: "BGRA",
    GL.LUMINANCE_INTEGER_EXT: "L",
    GL.LUMINANCE_ALPHA_INTEGER_EXT: "LA",
    GL.DEPTH_COMPONENT: "Z",
    GL.STENCIL_INDEX: "S",
    GL.DEPTH_STENCIL: "ZS",
    GL.COLOR_INDEX: "C",
}

INTEGER_FORMATS = frozenset(value for value in COMPONENTS if "_INTEGER" in GL.name_of(value))

# One value per component: NumPy type, and whether it is read as a fraction of its range.
PLAIN_TYPES: dict[int, str] = {
    GL.UNSIGNED_BYTE: "u1",
    GL.BYTE: "i1",
    GL.UNSIGNED_SHORT: "u2",
    GL.SHORT: "i2",
    GL.UNSIGNED_INT: "u4",
    GL.INT: "i4",
    GL.HALF_FLOAT: "f2",
    GL.FLOAT: "f4",
    GL.DOUBLE: "f8",
    GL.FIXED: "i4",
}


@lazy_dataclass(frozen=True)
class Packed:
    """All components in one word: their `bits` in order; with `low_first` the first is
    the lowest.
    """

    word: str
    bits: tuple[int, ...]
    low_first: bool

    @property
    def shifts(self) -> tuple[int, ...]:
        order = self.bits if self.low_first else self.bits[::-1]
        shifts, position = [], 0
        for width in order:
            shifts.append(position)
            position += width
        return tuple(shifts if self.low_first else shifts[::-1])


PACKED_TYPES: dict[int, Packed] = {
    GL.UNSIGNED_BYTE_3_3_2: Packed("u1", (3, 3, 2), False),
    GL.UNSIGNED_BYTE_2_3_3_REV: Packed("u1", (3, 3, 2), True),
    GL.UNSIGNED_SHORT_5_6_5: Packed("u2", (5, 6, 5), False),
    GL.UNSIGNED_SHORT_5_6_5_REV: Packed("u2", (5, 6, 5), True),
    GL.UNSIGNED_SHORT_4_4_4_4: Packed("u2", (4, 4, 4, 4), False),
    GL.UNSIGNED_SHORT_4_4_4_4_REV: Packed("u2", (4, 4, 4, 4), True),
    GL.UNSIGNED_SHORT_5_5_5_1: Packed("u2", (5, 5, 5, 1), False),
    GL.UNSIGNED_SHORT_1_5_5_5_REV: Packed("u2", (5, 5, 5, 1), True),
    GL.UNSIGNED_INT_8_8_8_8: Packed("u4", (8, 8, 8, 8), False),
    GL.UNSIGNED_INT_8_8_8_8_REV: Packed("u4", (8, 8, 8, 8), True),
    GL.UNSIGNED_INT_10_10_10_2: Packed("u4", (10, 10, 10, 2), False),
    GL.UNSIGNED_INT_2_10_10_10_REV: Packed("u4", (10, 10, 10, 2), True),
    GL.UNSIGNED_INT_24_8: Packed("u4", (24, 8), False),
    GL.UNSIGNED_INT_10F_11F_11F_REV: Packed("u4", (11, 11, 10), True),
    GL.UNSIGNED_INT_5_9_9_9_REV: Packed("u4", (9, 9, 9, 5), True),
    GL.FLOAT_32_UNSIGNED_INT_24_8_REV: Packed("u8", (32, 8, 24), True),
}

_TYPE_SIZES: dict[int, int] = {t: int(name[1]) for t, name in PLAIN_TYPES.items()}


def pixel_bytes(format: int, type: int) -> int:
    """The size of one pixel in bytes; KeyError for a format or type GL does not have."""
    if format == GL.YCBCR_MESA:
        return 2
    packed = PACKED_TYPES.get(type)
    if packed is not None:
        return int(packed.word[1])
    return len(COMPONENTS[format]) * _TYPE_SIZES[type]


@lazy_dataclass(frozen=True)
class PackState:
    """GL_PACK_* or GL_UNPACK_*: the layout of images in client memory or a pixel buffer."""

    alignment: int = 4
    row_length: int = 0
    skip_rows: int = 0
    skip_pixels: int = 0
    image_height: int = 0
    skip_images: int = 0
    swap_bytes: bool = False
    lsb_first: bool = False
    invert: bool = False  # the last row first (packing only)
    compressed_block_width: int = 0
    compressed_block_height: int = 0
    compressed_block_depth: int = 0
    compressed_block_size: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether rows of 4-byte texels lie without gaps between them."""
        skips = self.row_length or self.skip_rows or self.skip_pixels
        return self.alignment <= 4 and not skips

    @property
    def compressed_block(self) -> tuple[int, int, int]:
        """The declared width, height and depth of a block, in texels."""
        return (
            self.compressed_block_width,
            self.compressed_block_height,
            self.compressed_block_depth,
        )


@lazy_dataclass(frozen=True)
class ImageLayout:
    """Byte counts: offset of the first pixel, row stride, image stride, row size, the end."""

    start: int
    row_stride: int
    image_stride: int
    row_bytes: int
    end: int


def image_layout(
    state: PackState, width: int, height: int, depth: int, pixel: int, item: int = 0
) -> ImageLayout:
    """The layout of a box of pixels; `item` is the element size (alignment never splits
    elements).
    """
    length = state.row_length or width
    rows = state.image_height or height
    stride = length * pixel
    if not item or item < state.alignment:
        stride = -(-stride // state.alignment) * state.alignment
    image = stride * rows
    start = state.skip_images * image + state.skip_rows * stride + state.skip_pixels * pixel
    end = start
    if width and height and depth:
        end = start + (depth - 1) * image + (height - 1) * stride + width * pixel
    return ImageLayout(start, stride, image, width * pixel, end)


def image_size(
    state: PackState, width: int, height: int, depth: int, format: int, type: int
) -> int:
    """The size of an image in client memory, from its first byte to the end of its last row."""
    item = int(PACKED_TYPES[type].word[1]) if type in PACKED_TYPES else _TYPE_SIZES[type]
    return image_layout(state, width, height, depth, pixel_bytes(format, type), item).end
