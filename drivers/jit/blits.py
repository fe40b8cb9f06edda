"""Blits and mipmaps in machine code, with the same bits as the shared NumPy code.

`move` executes blits of colours that keep their size (between formats, resolves) or are filtered in
8 bits; `halve` makes mipmap levels of 8-bit formats. Both return false for anything else.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.addressing import Axis
from gallette.drivers.common.memory.blit import Span, spans, writes_everything
from gallette.drivers.common.memory.mipmap import centres
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.texture.wrap import linear_fixed
from gallette.pipe.enums import Filter, Target, Wrap
from gallette.pipe.formats import Format
from gallette.pipe.resource import level_extent
from gallette.pipe.state import BlitInfo

from .llvm.engine import Function, compile_module
from .shader.blit_code import MoveWords, convert_text, filter_text
from .shader.tile_keys import can_store

__all__ = ["halve", "move"]

Array = npt.NDArray[Any]
_AXIS = Axis(Wrap.CLAMP_TO_EDGE, False, False)
_FLAT = (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)


@functools.lru_cache(maxsize=64)
def _convert(source: Format, target: Format, samples: int, cache: Any) -> Function:
    code = compile_module(convert_text(source, target, samples), ("convert",), cache)
    return code.function("convert", ctypes.c_void_p)


@functools.lru_cache(maxsize=8)
def _filter(size: int, cache: Any) -> Function:
    code = compile_module(filter_text(size), ("filter",), cache)
    return code.function("filter", ctypes.c_void_p)


def move(info: BlitInfo, cache: Any) -> bool:
    """Execute a blit; returns false, having done nothing, if there is no code for it."""
    dst, src = info.dst, info.src
    assert isinstance(dst, HostResource) and isinstance(src, HostResource)
    if dst.samples > 1 or dst is src or not info.dst_format.is_color or set(info.mask) & {"z", "s"}:
        return False
    if not _converts(info.src_format, info.dst_format) or not writes_everything(info):
        return False
    xs, ys, zs = spans(info)
    if not (xs.where.size and ys.where.size and zs.where.size):
        return True
    straight = _is_straight(info, xs, ys)
    if src.samples == 1 and info.filter is Filter.LINEAR:
        if info.src_format is not info.dst_format or not _has_filter(info.src_format):
            return False
        work = _filtered
    elif straight and (src.samples > 1 or info.src_format is not info.dst_format):
        work = _converted
    else:
        return False
    depth = level_extent(src.desc, info.src_level)[2]
    for z, source in zip(range(zs.start, zs.stop), zs.texel(depth).tolist(), strict=True):
        work(info, dst, src, xs, ys, z, source, cache)
    dst.touch()
    return True


def halve(resource: HostResource, format: Format, level: int, layer: int, cache: Any) -> bool:
    """Compute a layer of a level from the level above; returns false, having done nothing, if there
    is no code for it.
    """
    if not _has_filter(format) or resource.desc.target is Target.TEXTURE_3D or resource.samples > 1:
        return False
    width, height, _ = level_extent(resource.desc, level)
    above = level_extent(resource.desc, level - 1)
    source, target = resource.level(level - 1)[layer], resource.level(level)[layer]
    xs, ys = centres(width, above[0]), centres(height, above[1])
    _run_filter(format, source, target, (0, 0), xs, ys, above[:2], cache)
    return True


def _converts(source: Format, target: Format) -> bool:
    """Whether there is code for this conversion; from floats to other floats NaNs would differ."""
    if not (_is_plain(source) and _is_plain(target)):
        return False
    return source is target or all(c.type != "FLOAT" for c in source.channels)


def _is_plain(format: Format) -> bool:
    """Whether texels are decoded and encoded as 32-bit numbers."""
    if format.is_compressed or format.is_pure_integer or not format.is_color:
        return False
    most = {"FLOAT": 32, "UNORM": 16, "SNORM": 16}
    fits = all(c.bits <= most.get(c.type, 0) or c.name == "X" for c in format.channels)
    return fits and can_store(format) and format.block_bytes <= 8


def _has_filter(format: Format) -> bool:
    """Whether `filter` can scale texels: bytes without padding, in words."""
    padded = any(c.name == "X" for c in format.channels)
    return format.is_unorm8 and not padded and format.block_bytes in (1, 2, 4)


def _is_straight(info: BlitInfo, xs: Span, ys: Span) -> bool:
    """Whether pixels are the source's texels in order, all of them inside."""
    width, height, _ = level_extent(info.src.desc, info.src_level)
    for span, extent in ((xs, width), (ys, height)):
        first = float(span.where[0])
        if first % 1 != 0.5 or first < 0 or first + span.where.size - 0.5 > extent:
            return False
        if (np.diff(span.where) != 1).any():
            return False
    return True


def _converted(info: BlitInfo, dst: HostResource, src: HostResource, xs: Span, ys: Span, z: int,
               source_z: int, cache: Any) -> None:  # fmt: skip
    """Convert a rectangle to another format, or resolve its samples."""
    source = src.level(info.src_level)[source_z * src.samples :]
    target = dst.level(info.dst_level)[z]
    x, y = int(xs.where[0]), int(ys.where[0])
    block = _block(source[0], target, (xs.start, ys.start), info.dst_format)
    block[MoveWords.SOURCE] += np.uint64(y * source.strides[1] + x * info.src_format.block_bytes)
    block[MoveWords.SOURCE_PLANE] = source.strides[0]
    block[MoveWords.WIDTH], block[MoveWords.HEIGHT] = xs.where.size, ys.where.size
    _convert(info.src_format, info.dst_format, src.samples, cache)(int(block.ctypes.data))


def _filtered(info: BlitInfo, dst: HostResource, src: HostResource, xs: Span, ys: Span, z: int,
              source_z: int, cache: Any) -> None:  # fmt: skip
    """Scale a rectangle."""
    extent = level_extent(src.desc, info.src_level)[:2]
    source, target = src.level(info.src_level)[source_z], dst.level(info.dst_level)[z]
    at = xs.start, ys.start
    _run_filter(info.dst_format, source, target, at, xs.where, ys.where, extent, cache)


def _run_filter(
    format: Format,
    source: Array,
    target: Array,
    at: tuple[int, int],
    xs: Array,
    ys: Array,
    extent: tuple[int, int],
    cache: Any,
) -> None:
    block = _block(source, target, at, format)
    block[MoveWords.WIDTH], block[MoveWords.HEIGHT] = xs.size, ys.size
    keep = []
    for word, where, size in (
        (MoveWords.COLUMNS, xs, extent[0]),
        (MoveWords.ROWS, ys, extent[1]),
    ):
        found = linear_fixed(_AXIS, (where / size).astype(np.float32), np.int32(size), 0)
        tables = [np.ascontiguousarray(table, np.int32) for table in found]
        keep.append(tables)
        block[word : word + 3] = [table.ctypes.data for table in tables]
    _filter(format.block_bytes, cache)(int(block.ctypes.data))


def _block(source: Array, target: Array, at: tuple[int, int], format: Format) -> Array:
    """The addresses of texels in planes `[row, byte]`, the target's from a pixel on."""
    block = np.zeros(MoveWords.SIZE, np.uint64)
    block[MoveWords.SOURCE], block[MoveWords.SOURCE_ROW] = source.ctypes.data, source.strides[0]
    x, y = at
    block[MoveWords.TARGET] = target.ctypes.data + y * target.strides[0] + x * format.block_bytes
    block[MoveWords.TARGET_ROW] = target.strides[0]
    return block
