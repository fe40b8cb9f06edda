"""Indices of draws. Draws with topologies or index types that Vulkan lacks become lists.

Quads, polygons and line loops are assembled by the shared code, which keeps the provoking vertex;
lists that restart are cut at the restart index. Any other restart index becomes the largest one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.vertex.assembly import Runs, assemble, cut_runs
from gallette.drivers.common.vertex.stream import indices_of
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo

from .batch import Batch
from .memory.resources import VulkanBuffer

if TYPE_CHECKING:
    from .context import VulkanContext

Indices = npt.NDArray[np.uint32]
CONVERTED = frozenset(
    {Primitive.QUADS, Primitive.QUAD_STRIP, Primitive.POLYGON, Primitive.LINE_LOOP}
)
_SIZES = {Primitive.POINTS: 1, Primitive.LINES: 2, Primitive.TRIANGLES: 3,
          Primitive.LINES_ADJACENCY: 4, Primitive.TRIANGLES_ADJACENCY: 6}  # fmt: skip
_LISTS = frozenset({Primitive.PATCHES, *_SIZES})
_TYPES = {1: 1000265000, 2: 0, 4: 1}  # VkIndexType by bytes
_ASSEMBLED = {1: Primitive.POINTS, 2: Primitive.LINES, 3: Primitive.TRIANGLES}


@lazy_dataclass()
class Indexed:
    """The indices of a draw: in the application's `buffer`, or converted to `data` of 32 bits."""

    mode: Primitive
    count: int
    bias: int
    first: int = 0
    restarts: bool = False
    buffer: VulkanBuffer | None = None
    at: tuple[int, int, int] = (0, 0, 1)
    """Of `buffer`: Vulkan's buffer, the offset and VkIndexType."""
    data: Indices | None = None

    def place(self, batch: Batch) -> tuple[int, int, int]:
        """Vulkan's buffer, the offset and VkIndexType. Converted indices are copied into memory of
        the batch that draws, which may not be the one that was current when they were converted.
        """
        if self.buffer is not None:
            batch.uses(self.buffer.gpu, write=False)
        return self.at if self.data is None else (*batch.upload(self.data.tobytes()), 1)


def _needs_conversion(info: DrawInfo) -> bool:
    """Whether the device cannot draw it as it is."""
    if info.mode in CONVERTED:
        return True
    if not info.index_size:
        return False
    size = info.index_size
    assert info.index_buffer is not None
    if info.index_offset % size:
        return True
    end = info.index_offset + (info.start + info.count) * size
    if end > info.index_buffer.desc.width:
        return True  # indices outside the buffer are zero, which the device may not do
    other = info.mode in _LISTS or info.restart_index != (1 << 8 * size) - 1
    return info.primitive_restart and other


def prepared(context: VulkanContext, info: DrawInfo) -> Indexed | None:
    """The indices that the device draws with, or None for a draw without."""
    buffer, size = info.index_buffer, info.index_size
    if not _needs_conversion(info):
        if not size:
            return None
        assert isinstance(buffer, VulkanBuffer)
        at = buffer.gpu.handle, buffer.gpu.offset + info.index_offset, _TYPES[size]
        restarts, bias = info.primitive_restart, info.index_bias
        return Indexed(info.mode, info.count, bias, info.start, restarts, buffer, at)
    if size:
        assert buffer is not None
        context.on_host(buffer)
        indices = indices_of(info).astype(np.uint32)
        bias = info.index_bias
    else:
        indices, bias = np.arange(info.start, info.start + info.count, dtype=np.uint32), 0
    if info.mode not in CONVERTED:
        return _widened(info, indices, bias)
    runs = Runs.whole(len(indices))
    if info.index_size and info.primitive_restart:
        kept, runs = cut_runs(indices, info.restart_index)
        indices = indices[kept]
    corners = assemble(info.mode, runs, context.bound.rasterizer.state.flatshade_first).corners
    chosen = indices[corners.reshape(-1)] if corners.size else indices[:0]
    return _converted(_ASSEMBLED[corners.shape[1]], chosen, bias)


def _widened(info: DrawInfo, indices: Indices, bias: int) -> Indexed:
    """Indices of 32 bits: strips restart at the largest value, lists are cut."""
    restarts = info.primitive_restart
    if restarts and info.mode in _LISTS:
        kept, runs = cut_runs(indices, info.restart_index)
        size = _SIZES.get(info.mode, info.vertices_per_patch)
        whole = [
            kept[start : start + length // size * size]
            for start, length in zip(runs.start.tolist(), runs.length.tolist(), strict=True)
        ]
        indices, restarts = indices[np.concatenate([kept[:0], *whole])], False
    elif restarts:
        indices = np.where(indices == info.restart_index, np.uint32(0xFFFFFFFF), indices)
    made = _converted(info.mode, indices, bias)
    made.restarts = restarts
    return made


def _converted(mode: Primitive, chosen: Indices, bias: int) -> Indexed:
    return Indexed(mode, len(chosen), bias, data=np.ascontiguousarray(chosen, np.uint32))
