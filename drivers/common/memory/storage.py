"""Storage of resources in host memory, for any driver that keeps its pixels in NumPy arrays.

`storage[level]` is a uint8 array `[plane][row of blocks][bytes of the row]`, so a buffer is
`[1][1][width]`. A plane is a layer, a cube face or a slice; a multisampled texture has one plane
per sample, `layer * samples + s`. Bytes are laid out as the format table says, without padding, so
that mapping a region is a slice. All levels of a resource share one allocation, at offsets that are
whole texels, so that code which gathers texels can index every level at once.
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError, OutOfMemoryError
from gallette.pipe.enums import Target
from gallette.pipe.resource import ResourceDesc, level_extent
from gallette.pipe.state import Box

Storage = npt.NDArray[np.uint8]

MAX_RESOURCE_BYTES = 1 << 31
"""The size limit of a resource, equal to llvmpipe's. Shaders count its texels and bytes with 32-bit
numbers, in machine code and in NumPy, so a resource also has fewer than this many texels.
"""

TAIL = 32  # spare zero bytes at the end, so that word and texel views can cover the last bytes
_MAP_ALIGNMENT = 64  # of addresses: what GL_MIN_MAP_BUFFER_ALIGNMENT promises at least


class ResourceError(GalletteError):
    """A resource that cannot be created, or a region that is not inside it."""


def level_bytes(desc: ResourceDesc, level: int) -> tuple[int, int, int]:
    """The shape of one level's storage: planes, rows of blocks, bytes per row."""
    if desc.target is Target.BUFFER:
        return 1, 1, desc.width
    width, height, depth = level_extent(desc, level)
    rows = desc.format.rows(height)
    return depth * max(1, desc.samples), rows, desc.format.row_bytes(width)


def _check(desc: ResourceDesc) -> None:
    sizes = (desc.width, desc.height, desc.depth, desc.array_size)
    if min(sizes) < 1 and not (desc.target is Target.BUFFER and desc.width == 0):
        raise ResourceError(f"a resource cannot have the size {'x'.join(map(str, sizes))}")
    if desc.target.is_cube and (desc.width != desc.height or desc.array_size % 6):
        raise ResourceError("a cube map has square faces, six to a cube")
    largest = max(desc.width, desc.height, desc.depth if desc.target is Target.TEXTURE_3D else 1)
    if not 0 <= desc.last_level < largest.bit_length() + (desc.target is Target.BUFFER):
        raise ResourceError(f"{desc.last_level + 1} levels are too many for {sizes}")
    if desc.samples > 1 and desc.last_level:
        raise ResourceError("a multisampled texture has one level")


def allocate(desc: ResourceDesc) -> list[Storage]:
    """Zeroed storage for every level.

    Raises `ResourceError` for an invalid description and `OutOfMemoryError` if there is no memory
    for it.
    """
    _check(desc)
    shapes = [level_bytes(desc, level) for level in range(desc.last_level + 1)]
    offsets = level_offsets(desc)
    total = offsets[-1]
    if total > MAX_RESOURCE_BYTES or total // desc.format.block_bytes >= MAX_RESOURCE_BYTES:
        raise OutOfMemoryError(
            f"out of memory: a {desc.target.value} resource of {total / 2**30:.1f} GiB "
            f"({desc.format.name}, {desc.width}x{desc.height}x{desc.depth}x{desc.array_size})"
        )
    if desc.memory:
        return [_shared(desc.memory, desc.width).reshape(1, 1, -1)]
    try:
        backing = zeroed_memory(total + TAIL)
    except MemoryError as error:
        raise OutOfMemoryError(f"out of memory: {total} bytes for {desc.format.name}") from error
    return [
        backing[at : at + math.prod(shape)].reshape(shape)
        for at, shape in zip(offsets, shapes, strict=False)
    ]


def zeroed_memory(size: int) -> Storage:
    """Zero bytes at an address that is a multiple of `_MAP_ALIGNMENT`.

    All memory of resources comes from here, except the application's own.
    """
    room = np.zeros(size + _MAP_ALIGNMENT, np.uint8)
    start = -room.__array_interface__["data"][0] % _MAP_ALIGNMENT
    # A separate array, because NumPy would make all of `room` the base of a slice's slices.
    return np.frombuffer(room.data[start : start + size], np.uint8)


def _shared(address: int, size: int) -> Storage:
    """The application's own bytes, without spare bytes after them."""
    memory = memoryview((ctypes.c_uint8 * size).from_address(address)).cast("B")
    return np.frombuffer(memory, np.uint8)


@functools.lru_cache(maxsize=1024)
def level_offsets(desc: ResourceDesc) -> tuple[int, ...]:
    """The byte offset of each level in the allocation; the last entry is the total size."""
    align = math.lcm(16, desc.format.block_bytes)
    offsets = [0]
    for level in range(desc.last_level + 1):
        size = math.prod(level_bytes(desc, level))
        offsets.append(offsets[-1] + -(-size // align) * align)
    return tuple(offsets)


def box_window(desc: ResourceDesc, level: int, box: Box) -> tuple[slice, slice, slice]:
    """The slices of a level's storage that hold a box of texels (bytes, for a buffer).

    In a compressed format the box must begin on a block boundary and end on one or at the level's
    edge.
    """
    if not 0 <= level <= desc.last_level:
        raise ResourceError(f"level {level} of a resource with {desc.last_level + 1} levels")
    if desc.target is Target.BUFFER:
        if box.x < 0 or box.width < 0 or box.x + box.width > desc.width:
            raise ResourceError(
                f"bytes {box.x}..{box.x + box.width} of a buffer of {desc.width} bytes"
            )
        return slice(None), slice(None), slice(box.x, box.x + box.width)
    width, height, depth = level_extent(desc, level)
    planes = depth * max(1, desc.samples)
    inside = (
        0 <= box.x <= box.x + box.width <= width
        and 0 <= box.y <= box.y + box.height <= height
        and 0 <= box.z <= box.z + box.depth <= planes
    )
    if not inside:
        raise ResourceError(f"{box} is not inside level {level}, {width}x{height}x{planes}")
    format = desc.format
    right, bottom = box.x + box.width, box.y + box.height
    if format.block_width == format.block_height == 1:
        size = format.block_bytes
        return (
            slice(box.z, box.z + box.depth),
            slice(box.y, bottom),
            slice(box.x * size, right * size),
        )
    whole = (
        box.x % format.block_width == 0
        and box.y % format.block_height == 0
        and (right % format.block_width == 0 or right == width)
        and (bottom % format.block_height == 0 or bottom == height)
    )
    if not whole:
        raise ResourceError(f"{box} does not consist of whole blocks of {format.name}")
    left = box.x // format.block_width * format.block_bytes
    top = box.y // format.block_height
    return (
        slice(box.z, box.z + box.depth),
        slice(top, top + format.rows(box.height)),
        slice(left, left + format.row_bytes(box.width)),
    )


def copy_region(
    dst_desc: ResourceDesc,
    dst: Storage,
    dst_level: int,
    origin: tuple[int, int, int],
    src_desc: ResourceDesc,
    src: Storage,
    src_level: int,
    box: Box,
) -> None:
    """Copy blocks bit for bit from one level's storage to another's; they may overlap.

    The block sizes in bytes must be equal; blocks of a compressed format can be copied to texels of
    another one.
    """
    if dst_desc.format.block_bytes != src_desc.format.block_bytes and not (
        dst_desc.target is Target.BUFFER or src_desc.target is Target.BUFFER
    ):
        raise ResourceError(
            f"cannot copy {src_desc.format.name} to {dst_desc.format.name}: blocks differ in size"
        )
    source = src[box_window(src_desc, src_level, box)]
    depth, rows, row_bytes = source.shape
    x, y, z = origin
    format = dst_desc.format
    if dst_desc.target is Target.BUFFER:
        width, height = row_bytes, 1
    else:
        extent = level_extent(dst_desc, dst_level)
        width = _texels(row_bytes // format.block_bytes, format.block_width, x, extent[0])
        height = _texels(rows, format.block_height, y, extent[1])
    window = box_window(dst_desc, dst_level, Box(x, y, z, width, height, depth))
    target: npt.NDArray[Any] = dst[window]
    target[...] = source.copy() if np.may_share_memory(source, target) else source


def _texels(blocks: int, block: int, start: int, extent: int) -> int:
    """The extent in texels of a row of blocks; the last block may be cut by the level's edge."""
    cut = min(blocks * block, extent - start)
    return cut if -(-cut // block) == blocks else blocks * block
