"""Index conversion: draws with topologies or index types that Vulkan lacks become lists.

Quads, polygons and line loops are assembled by the shared code, which keeps the provoking vertex;
so are draws whose restart index is not the largest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.vertex.assembly import Runs, assemble, cut_runs
from gallette.drivers.common.vertex.stream import indices_of
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.state import DrawInfo

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["Indexed", "needs_conversion", "prepared"]

Indices = npt.NDArray[np.uint32]
_CONVERTED = frozenset(
    {Primitive.QUADS, Primitive.QUAD_STRIP, Primitive.POLYGON, Primitive.LINE_LOOP}
)
_LISTS = frozenset(
    {
        Primitive.POINTS, Primitive.LINES, Primitive.TRIANGLES, Primitive.LINES_ADJACENCY,
        Primitive.TRIANGLES_ADJACENCY, Primitive.PATCHES,
    }
)  # fmt: skip
_SIZES = {Primitive.POINTS: 1, Primitive.LINES: 2, Primitive.TRIANGLES: 3,
          Primitive.LINES_ADJACENCY: 4, Primitive.TRIANGLES_ADJACENCY: 6}  # fmt: skip
_ASSEMBLED = {1: Primitive.POINTS, 2: Primitive.LINES, 3: Primitive.TRIANGLES}


@dataclass(slots=True)
class Indexed:
    """Indices of 32 bits in uniform memory."""

    mode: Primitive
    count: int
    bias: int
    at: tuple[int, int] = (0, 0)
    restarts: bool = False


def needs_conversion(context: VulkanContext, info: DrawInfo) -> bool:
    """Whether the device cannot draw it as it is."""
    if info.mode in _CONVERTED:
        return True
    if not info.index_size:
        return False
    device, size = context.device, info.index_size
    if size == 1 and not device.feature("indexTypeUint8"):
        return True
    assert info.index_buffer is not None
    if info.index_offset % size:
        return True
    end = info.index_offset + (info.start + info.count) * size
    if end > info.index_buffer.desc.width:
        return True  # indices outside the buffer are zero, which the device may not do
    if not info.primitive_restart:
        return False
    if info.restart_index != (1 << 8 * size) - 1:
        return True
    if info.mode is Primitive.PATCHES:
        return not device.feature("primitiveTopologyPatchListRestart")
    return info.mode in _LISTS and not device.feature("primitiveTopologyListRestart")


def prepared(context: VulkanContext, info: DrawInfo) -> Indexed:
    """The draw as lists, with its indices in the batch's memory."""
    raster = context.bound.rasterizer.state
    if info.index_size:
        assert info.index_buffer is not None
        context.on_host(info.index_buffer)
        indices = indices_of(info).astype(np.uint32)
        bias = info.index_bias
    else:
        indices, bias = np.arange(info.start, info.start + info.count, dtype=np.uint32), 0
    if info.mode not in _CONVERTED:
        return _widened(context, info, indices, bias)
    runs = Runs.whole(len(indices))
    if info.index_size and info.primitive_restart:
        kept, runs = cut_runs(indices, info.restart_index)
        indices = indices[kept]
    made = assemble(info.mode, runs, raster.flatshade_first)
    corners = made.corners
    outline = raster.fill_front is raster.fill_back is PolygonMode.LINE and not raster.cull_face
    if made.edges is not None and outline and corners.shape[1] == 3:
        real = [made.edges >> i & 1 == 1 for i in range(3)]
        pairs = [corners[mask][:, [i, (i + 1) % 3]] for i, mask in enumerate(real)]
        corners = np.concatenate(pairs)
    chosen = indices[corners.reshape(-1)] if corners.size else indices[:0]
    return _uploaded(context, _ASSEMBLED[corners.shape[1]], chosen, bias)


def _widened(context: VulkanContext, info: DrawInfo, indices: Indices, bias: int) -> Indexed:
    """Indices of 32 bits; the restart index becomes the largest value."""
    restarts = info.primitive_restart
    if restarts and info.mode in _LISTS:
        patches = info.mode is Primitive.PATCHES
        kind = "PatchListRestart" if patches else "ListRestart"
        if not context.device.feature(f"primitiveTopology{kind}"):
            kept, runs = cut_runs(indices, info.restart_index)
            size = info.vertices_per_patch if patches else _SIZES[info.mode]
            whole = [
                kept[start : start + length // size * size]
                for start, length in zip(runs.start.tolist(), runs.length.tolist(), strict=True)
            ]
            return _uploaded(context, info.mode, indices[np.concatenate(whole)], bias)
    if restarts:
        indices = np.where(indices == info.restart_index, np.uint32(0xFFFFFFFF), indices)
    made = _uploaded(context, info.mode, indices, bias)
    made.restarts = restarts
    return made


def _uploaded(context: VulkanContext, mode: Primitive, chosen: Indices, bias: int) -> Indexed:
    data = np.ascontiguousarray(chosen, np.uint32).view(np.uint8)
    if not data.size:
        return Indexed(mode, 0, bias)
    buffer, offset = context.stream.batch.upload(data)
    return Indexed(mode, len(chosen), bias, (buffer, offset))
