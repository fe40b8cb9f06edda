"""Resources in host memory (see `storage`), with typed views and a counter of writes.

`storage[level]` is a uint8 array `[plane][row of blocks][bytes of the row]`; a buffer is
`[1][1][width]`, and sample `s` of a multisampled layer is plane `layer * samples + s`.

All code that writes into a resource calls `touch()` afterwards (transfers do so themselves),
because data derived from the contents, such as converted copies of textures, is valid for one value
of the counter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.pipe.codecs import texel_layout
from gallette.pipe.enums import MapFlags
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger, Transfer
from gallette.pipe.state import Box, Surface

from .storage import (
    Storage,
    allocate,
    box_window,
)
from .storage import copy_region as copy_storage

_MOST_UNITS = 256
_WRITE, _PERSISTENT = int(MapFlags.WRITE), int(MapFlags.PERSISTENT)


class HostResource(Resource):
    """A resource whose `storage` is a list of byte arrays, one per level."""

    __slots__ = ("_memory", "_views", "derived", "live", "units", "writes")

    storage: list[Storage]

    def __init__(
        self, desc: ResourceDesc, destroy: Callable[[Resource], None], storage: list[Storage]
    ):
        super().__init__(desc, destroy, storage)
        self.writes = 0
        self.live = False  # persistently mapped or imported: contents change without a call
        self.derived: dict[Any, tuple[int, Any]] = {}  # see `derive`
        self.units: dict[Any, Any] = {}  # texture and image units that read this resource
        self._views: dict[tuple[int, np.dtype[Any]], npt.NDArray[Any]] = {}
        self._memory: memoryview | None = None

    def touch(self) -> None:
        """Count a write, so that data derived from the contents is recomputed."""
        self.writes += 1

    def derive(self, key: Any, make: Callable[[], Any]) -> Any:
        """Data computed from the contents, recomputed if they have changed."""
        found = self.derived.get(key)
        if found is None or found[0] != self.writes:
            found = self.derived[key] = (self.writes, make())
        return found[1]

    def make_room_for_unit(self) -> None:
        """Bound the cached units, since a program may create a new sampler or view per frame."""
        if len(self.units) >= _MOST_UNITS:
            self.units.clear()

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
        """A view of a buffer's bytes from `offset`, fewer than `size` if the buffer ends before."""
        data: Storage = self.storage[0][0, 0]
        offset = max(0, offset)
        return data[offset : offset + max(0, size)]

    @property
    def memory(self) -> memoryview:
        """A buffer's bytes as a memoryview, which is written twice as fast as an array for a few
        bytes.
        """
        if self._memory is None:
            self._memory = self.storage[0][0, 0].data
        return self._memory

    def words(self) -> npt.NDArray[np.uint32]:
        """A whole buffer as 32-bit words; a last partial word is padded with zeros."""
        key = (-1, np.dtype(np.uint32))
        found = self._views.get(key)
        if found is None:
            size = self.storage[0].shape[-1]
            found = self._views[key] = self.backing()[: -(-size // 4) * 4].view(np.uint32)
        return found

    def backing(self) -> Storage:
        """The allocation that holds all levels (see `storage.level_offsets`)."""
        base = self.storage[0].base
        assert isinstance(base, np.ndarray)
        return base

    def texels(self, word: np.dtype[Any], count: int) -> npt.NDArray[Any]:
        """All levels as one array of raw texels of `count` words, for gathering by flat index."""
        key = (-count - 1, word)
        found = self._views.get(key)
        if found is None:
            data = self.backing()
            found = data[: data.size // (word.itemsize * count) * word.itemsize * count].view(word)
            if count > 1:
                found = found.reshape(-1, count)
            self._views[key] = found
        return found


def create_resource(desc: ResourceDesc, ledger: ResourceLedger) -> HostResource:
    """A zeroed resource with one reference, entered in the screen's ledger."""

    def destroy(resource: Resource) -> None:
        assert isinstance(resource, HostResource)
        ledger.remove(resource)
        resource.storage, resource._memory = [], None
        resource.derived.clear()
        resource.units.clear()
        resource._views.clear()

    resource = HostResource(desc, destroy, allocate(desc))
    resource.live = bool(desc.memory)  # the application may write at any time
    ledger.add(resource)
    return resource


def transfer_map(resource: HostResource, level: int, flags: MapFlags, box: Box) -> Transfer:
    """Map a region without copying: `data[z, row, byte]` is a window into the storage.

    Of a compressed format the box is in texels and covers whole blocks; its data is rows of blocks.
    A multisampled resource is mapped by planes: z counts `layer * samples + sample`.
    """
    window = box_window(resource.desc, level, box)
    wanted = int(flags)  # integers are much faster than flags here
    if wanted & _WRITE:
        resource.touch()
        resource.live |= bool(wanted & _PERSISTENT)
    return Transfer(resource, level, box, flags, resource.storage[level][window])


def write_texels(resource: HostResource, level: int, box: Box, data: bytes) -> None:
    """Write texels, as they are stored, to a box of a level."""
    window = resource.storage[level][box_window(resource.desc, level, box)]
    window[...] = np.frombuffer(data, np.uint8).reshape(window.shape)
    resource.touch()


def transfer_unmap(transfer: Transfer) -> None:
    """End a transfer and count its write."""
    if int(transfer.flags) & _WRITE:
        resource = transfer.resource
        assert isinstance(resource, HostResource)
        resource.touch()


def copy_region(
    dst: Resource,
    dst_level: int,
    dst_x: int,
    dst_y: int,
    dst_z: int,
    src: Resource,
    src_level: int,
    src_box: Box,
) -> None:
    """Copy blocks bit for bit; of multisampled resources, all samples."""
    assert isinstance(dst, HostResource) and isinstance(src, HostResource)
    if src.samples > 1 or dst.samples > 1:
        z, depth = src_box.z * src.samples, src_box.depth * src.samples
        src_box = Box(src_box.x, src_box.y, z, src_box.width, src_box.height, depth)
        dst_z *= dst.samples
    origin = (dst_x, dst_y, dst_z)
    to, source = dst.storage[dst_level], src.storage[src_level]
    copy_storage(dst.desc, to, dst_level, origin, src.desc, source, src_level, src_box)
    dst.touch()


def surface_texels(surface: Surface) -> npt.NDArray[Any]:
    """A surface's memory as a view of raw texels `[plane, y, x]` (or `[plane, y, x, words]`)."""
    resource = surface.resource
    assert isinstance(resource, HostResource)
    word, count = texel_layout(surface.format)
    texels = resource.view(surface.level, word)
    samples = resource.samples
    texels = texels[surface.first_layer * samples : (surface.last_layer + 1) * samples]
    return texels if count == 1 else texels.reshape(*texels.shape[:2], -1, count)


def flat_texels(surface: Surface, sample: int) -> tuple[npt.NDArray[Any], int, int]:
    """One sample of all layers of a surface as flat texels, for fragments to write.

    Also returns the distance in texels between a pixel and the one above, and between layers, since
    the planes of the other samples lie between them.
    """
    texels = surface_texels(surface)
    resource = surface.resource
    assert isinstance(resource, HostResource)
    height, width = texels.shape[1:3]
    flat = texels[sample:].reshape(-1, *texels.shape[3:])
    return flat, width, width * height * resource.samples
