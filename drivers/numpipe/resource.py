"""numpipe's storage: every mipmap level is one contiguous array of bytes.

`storage[level]` is a uint8 array `[layer or z][row of blocks][bytes of the row]`, so a buffer is
`[1][1][width]`. A multisampled texture keeps one whole plane per sample: plane
`layer * samples + s` holds sample `s` of a layer. Bytes are laid out exactly as the format table
says, without padding, so that mapping a region is a slice and a typed look at a level is a `view`.

Everybody who writes into a resource calls `touch()` afterwards (transfers do so themselves): what
is derived from the contents, such as the texture room's converted copies, carries the count it saw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.errors import GalletteError
from pipe.enums import MapFlags, Target
from pipe.resource import Resource, ResourceDesc, ResourceLedger, Transfer, level_extent
from pipe.state import Box

__all__ = [
    "MAX_RESOURCE_BYTES",
    "NumpipeResource",
    "ResourceError",
    "Storage",
    "create_resource",
    "level_bytes",
    "transfer_map",
    "transfer_unmap",
]

Storage = npt.NDArray[np.uint8]

MAX_RESOURCE_BYTES = 1 << 32
"""The largest resource: far above every cap, far below what would drown the machine in zeroes."""

_TAIL = 16  # spare zero bytes after a buffer, so that aligned word views can cover its last bytes


class ResourceError(GalletteError):
    """A resource that cannot be made, or a region that is not inside it."""


class NumpipeResource(Resource):
    """A resource whose `storage` is a list of byte arrays, one per level."""

    __slots__ = ("_views", "writes")

    storage: list[Storage]

    def __init__(
        self, desc: ResourceDesc, destroy: Callable[[Resource], None], storage: list[Storage]
    ):
        super().__init__(desc, destroy, storage)
        self.writes = 0
        self._views: dict[tuple[int, np.dtype[Any]], npt.NDArray[Any]] = {}

    def touch(self) -> None:
        """The contents changed: whatever was derived from them is stale."""
        self.writes += 1

    @property
    def samples(self) -> int:
        """Planes per layer: 1 unless multisampled."""
        return max(1, self.desc.samples)

    def level(self, level: int) -> Storage:
        """The bytes of a level: `[plane][block row][row bytes]`."""
        return self.storage[level]

    def view(self, level: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A level seen as elements of `dtype`: `[plane][block row][element]`, writable, cached."""
        key = (level, np.dtype(dtype))
        found = self._views.get(key)
        if found is None:
            found = self._views[key] = self.storage[level].view(key[1])
        return found

    def bytes_at(self, offset: int, size: int) -> Storage:
        """A buffer's bytes from `offset`, fewer than `size` if the buffer ends before; a view."""
        data: Storage = self.storage[0][0, 0]
        offset = max(0, offset)
        return data[offset : offset + max(0, size)]

    def words(self) -> npt.NDArray[np.uint32]:
        """A whole buffer as 32-bit words; a last partial word reads as if followed by zeroes."""
        found = self._views.get((-1, np.dtype(np.uint32)))
        if found is None:
            data = self.storage[0][0, 0]
            base = data.base
            assert base is not None
            count = -(-data.size // 4)
            found = base.reshape(-1)[: count * 4].view(np.uint32)
            self._views[(-1, np.dtype(np.uint32))] = found
        return found


def level_bytes(desc: ResourceDesc, level: int) -> tuple[int, int, int]:
    """The shape of one level's storage: planes, rows of blocks, bytes per row."""
    if desc.target is Target.BUFFER:
        return 1, 1, desc.width
    width, height, depth = level_extent(desc, level)
    rows = desc.format.rows(height)
    return depth * max(1, desc.samples), rows, desc.format.row_bytes(width)


def create_resource(desc: ResourceDesc, ledger: ResourceLedger) -> NumpipeResource:
    """A zeroed resource with one reference, entered in the screen's ledger."""
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
    shapes = [level_bytes(desc, level) for level in range(desc.last_level + 1)]
    total = sum(planes * rows * row for planes, rows, row in shapes)
    if total > MAX_RESOURCE_BYTES:
        raise ResourceError(
            f"out of memory: a {desc.target.value} resource of {total / 2**30:.1f} GiB "
            f"({desc.format.name}, {'x'.join(map(str, sizes))})"
        )

    def destroy(resource: Resource) -> None:
        ledger.remove(resource)
        resource.storage = []

    try:
        storage = [_zeroed(shape) for shape in shapes]
    except MemoryError as error:
        raise ResourceError(f"out of memory: {total} bytes for {desc.format.name}") from error
    resource = NumpipeResource(desc, destroy, storage)
    ledger.add(resource)
    return resource


def _zeroed(shape: tuple[int, int, int]) -> Storage:
    """Zeroed bytes of that shape, followed by spare ones (see `_TAIL`)."""
    size = shape[0] * shape[1] * shape[2]
    spare = _TAIL + -size % _TAIL
    return np.zeros(size + spare, np.uint8)[:size].reshape(shape)


def transfer_map(resource: NumpipeResource, level: int, flags: MapFlags, box: Box) -> Transfer:
    """Map a region without copying: `data[z, row, byte]` is a window into the storage.

    Of a compressed format the box is in texels and must start on a block; its data is rows of
    blocks. A multisampled resource is mapped by planes: z counts `layer * samples + sample`.
    """
    desc = resource.desc
    if not 0 <= level <= desc.last_level:
        raise ResourceError(f"level {level} of a resource with {desc.last_level + 1} levels")
    data = resource.storage[level]
    if desc.target is Target.BUFFER:
        if box.x < 0 or box.width < 0 or box.x + box.width > desc.width:
            raise ResourceError(
                f"bytes {box.x}..{box.x + box.width} of a buffer of {desc.width} bytes"
            )
        window = data[:, :, box.x : box.x + box.width]
    else:
        window = data[_window(desc, level, box)]
    if flags & MapFlags.WRITE:
        resource.touch()
    return Transfer(resource, level, box, flags, window)


def _window(desc: ResourceDesc, level: int, box: Box) -> tuple[slice, slice, slice]:
    """The slices of a level's storage that hold a box of texels."""
    width, height, _ = level_extent(desc, level)
    planes = level_bytes(desc, level)[0]
    inside = (
        0 <= box.x <= box.x + box.width <= width
        and 0 <= box.y <= box.y + box.height <= height
        and 0 <= box.z <= box.z + box.depth <= planes
    )
    if not inside:
        raise ResourceError(f"{box} is not inside level {level}, {width}x{height}x{planes}")
    format = desc.format
    if box.x % format.block_width or box.y % format.block_height:
        raise ResourceError(f"{box} does not start on a block of {format.name}")
    left = box.x // format.block_width
    top = box.y // format.block_height
    return (
        slice(box.z, box.z + box.depth),
        slice(top, top + format.rows(box.height)),
        slice(left * format.block_bytes, left * format.block_bytes + format.row_bytes(box.width)),
    )


def transfer_unmap(transfer: Transfer) -> None:
    """End a transfer; what was written counts from now on."""
    if transfer.flags & MapFlags.WRITE:
        resource = transfer.resource
        assert isinstance(resource, NumpipeResource)
        resource.touch()
