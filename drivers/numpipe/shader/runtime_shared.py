"""Functions called by generated code for workgroup memory.

The memory of a chunk's workgroups is one array, one workgroup after the other. Loads use element
numbers that were computed before (see `translate_shared`); reads outside of a workgroup's memory
return zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.drivers.common.lanes import ComputeLanes
from gallette.drivers.common.storage import buffer_load

__all__ = ["SharedMemory", "shared", "shared_index", "shared_load"]

Array = npt.NDArray[Any]


@lazy_dataclass()
class SharedMemory:
    """The memory of a chunk's workgroups, passed instead of the resources.

    `base` is the start of each lane's workgroup; an offset past `size` is outside of every
    workgroup.
    """

    buffers: list[Any]
    base: Array
    size: int
    starts: dict[int, Array] = field(default_factory=dict)
    """`base` as an index of elements, by element size in bytes"""
    viewed: dict[int, Array] = field(default_factory=dict)
    """the memory viewed as elements, by element size in bytes"""

    def starts_of(self, size: int) -> Array:
        found = self.starts.get(size)
        if found is None:
            found = self.starts[size] = self.base.astype(np.intp) // size
        return found

    def elements(self, size: int) -> Array:
        found = self.viewed.get(size)
        if found is None:
            data = self.buffers[0]
            found = self.viewed[size] = data[: data.size // size * size].view(f"u{size}")
        return found

    def offsets(self, offset: Array) -> Array:
        """Byte offsets into the whole memory; those outside of a workgroup's become invalid."""
        inside = (offset >= 0) & (offset < self.size)
        if inside.all():
            return np.asarray(offset + self.base)
        return np.where(inside, offset + self.base, np.int32(-4))


def shared(lanes: ComputeLanes, chosen: Array | None, count: int) -> SharedMemory:
    """The workgroup memory for the lanes of a scope."""
    if chosen is not None:
        return SharedMemory([lanes.shared], lanes.shared_base[chosen], lanes.shared_size)
    view = lanes.shared_view
    if view is None:
        view = lanes.shared_view = SharedMemory(
            [lanes.shared], lanes.shared_base, lanes.shared_size
        )
    found: SharedMemory = view
    return found


def shared_index(
    lanes: ComputeLanes, chosen: Array | None, offset: Any, count: int, size: int
) -> tuple[Array, int, int]:
    """Each lane's element of `size` bytes, and the lowest and highest element of its workgroup."""
    starts = shared(lanes, chosen, count).starts_of(size)
    if np.ndim(offset) == 0:
        first = (int(offset) & 0xFFFFFFFF) // size
        return starts + first, first, first
    raw = offset.view(np.uint32) >> np.uint32(size.bit_length() - 1)
    if not count:
        return raw.astype(np.intp), 0, 0
    at = raw.astype(np.intp)
    at += starts
    return at, int(raw.min()), int(raw.max())


def shared_load(
    lanes: ComputeLanes,
    chosen: Array | None,
    place: tuple[Array, int, int],
    further: Any,
    count: int,
    size: int,
    n: int,
) -> list[Array]:
    """Load `n` consecutive elements per lane, as unsigned bits, `further` bytes after its
    element.
    """
    at, low, high = place
    first = int(further) // size
    whole = shared(lanes, None, count)
    if low + first >= 0 and (high + first + n) * size <= whole.size and whole.size % size == 0:
        # All are inside; this mode only avoids a copy.
        elements = whole.elements(size)
        if first < 0:
            at, first = at + first, 0
        return [elements[first + i :].take(at, mode="clip") for i in range(n)]
    memory = shared(lanes, chosen, count)
    element = (at - memory.starts_of(size) + first) & ((1 << 32) // size - 1)
    offset = (element * size).astype(np.uint32).view(np.int32)
    return buffer_load(lanes.shared, memory.offsets(offset), n, 8 * size)
