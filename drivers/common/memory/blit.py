"""Blits: copies that scale, flip, convert formats and resolve samples.

Every destination pixel's centre is mapped into the source, `u = src.x + (x - dst.x) * ratio`; boxes
with negative sizes flip by themselves. Nearest blits move raw texels, and only decode them when the
formats differ or channels are masked; so do linear ones that do not scale. Other linear blits go
through a texture unit, so that they round exactly as sampling does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.texture import Unit, texture_unit
from gallette.pipe.codecs import (
    pack_depth,
    pack_planes,
    pack_stencil,
    texel_layout,
    unpack_depth,
    unpack_planes,
    unpack_stencil,
)
from gallette.pipe.enums import Filter, MipFilter, Target, Wrap
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.resource import level_extent
from gallette.pipe.state import BlitInfo, SamplerState, SamplerView

from .resource import HostResource

Array = npt.NDArray[Any]
_BYTE = FORMATS["R8_UNORM"]
_AT_ONCE = 1 << 16  # bytes

LINEAR_SAMPLER = SamplerState(
    Wrap.CLAMP_TO_EDGE,
    Wrap.CLAMP_TO_EDGE,
    Wrap.CLAMP_TO_EDGE,
    Filter.LINEAR,
    Filter.LINEAR,
    MipFilter.NONE,
)


@lazy_dataclass(frozen=True)
class Span:
    """Destination pixels `start..stop` along one axis, and the source coordinate of each."""

    start: int
    stop: int
    where: npt.NDArray[Any]

    @property
    def window(self) -> slice:
        return slice(self.start, self.stop)

    def texel(self, extent: int) -> npt.NDArray[np.intp]:
        """The nearest source texel of each pixel."""
        whole: Array = np.clip(np.floor(self.where), 0, extent - 1)
        return whole.astype(np.intp)


def _span(dst: tuple[int, int], src: tuple[int, int], low: int, high: int) -> Span:
    """Map destination (start, signed length) to source (start, signed length) within low..high."""
    start, length = dst
    first, last = sorted((start, start + length))
    first, last = max(first, low), max(max(first, low), min(last, high))
    ratio = src[1] / length if length else 0.0
    where = src[0] + (np.arange(first, last) + 0.5 - start) * ratio
    return Span(first, last, where)


def texel_grid(resource: HostResource, level: int, format: Format) -> Array:
    """A level as raw texels `[plane, y, x]` (or `[plane, y, x, words]`), a writable view."""
    word, count = texel_layout(format)
    view = resource.view(level, word)
    return view if count == 1 else view.reshape(*view.shape[:2], -1, count)


def spans(info: BlitInfo) -> tuple[Span, Span, Span]:
    """The destination's columns, rows and layers, clipped to both resources."""
    dst = info.dst
    width, height, layers = level_extent(dst.desc, info.dst_level)
    low_x, low_y, high_x, high_y = 0, 0, width, height
    if info.scissor is not None:
        s = info.scissor
        low_x, low_y = max(low_x, s.minx), max(low_y, s.miny)
        high_x, high_y = min(high_x, s.maxx), min(high_y, s.maxy)
    d, b = info.dst_box, info.src_box
    xs = _span((d.x, d.width), (b.x, b.width), low_x, high_x)
    ys = _span((d.y, d.height), (b.y, b.height), low_y, high_y)
    return xs, ys, _span((d.z, d.depth), (b.z, b.depth), 0, layers)


def blit(info: BlitInfo) -> None:
    """Execute one blit."""
    dst, src = info.dst, info.src
    assert isinstance(dst, HostResource) and isinstance(src, HostResource)
    xs, ys, zs = spans(info)
    if not (xs.where.size and ys.where.size and zs.where.size):
        return
    depth = level_extent(src.desc, info.src_level)[2]
    for z, source_z in zip(range(zs.start, zs.stop), zs.texel(depth), strict=True):
        _blit_plane(info, dst, src, xs, ys, z, int(source_z))
    dst.touch()


def _blit_plane(
    info: BlitInfo,
    dst: HostResource,
    src: HostResource,
    xs: Span,
    ys: Span,
    z: int,
    source_z: int,
) -> None:
    """Blit one layer or slice."""
    to = texel_grid(dst, info.dst_level, info.dst_format)
    source = texel_grid(src, info.src_level, info.src_format)
    width, height, _ = level_extent(src.desc, info.src_level)
    columns, rows = xs.texel(width), ys.texel(height)
    resolve = src.samples > 1 and dst.samples == 1
    filtered = info.filter is Filter.LINEAR and not _same_size(info)
    linear = filtered and src.samples == 1 and not _is_integer(info.src_format)
    for sample in range(dst.samples):
        target = to[z * dst.samples + sample, ys.window, xs.window]
        if linear and not set(info.mask) & {"z", "s"}:
            _filter(info, target, src, source_z, xs, ys)
            continue
        from_sample = min(sample, src.samples - 1)
        texels = _pick(source[source_z * src.samples + from_sample], rows, columns)
        if resolve and info.src_format.is_color and not _is_integer(info.src_format):
            if filtered:
                planes = _resolved_linear(info, source, source_z, src, xs, ys)
            elif info.src_format is info.dst_format and _is_all_bytes(info):
                chosen = source[source_z * src.samples :][: src.samples]
                target[...] = _mean_of_bytes([_pick(plane, rows, columns) for plane in chosen])
                continue
            else:
                planes = _resolved(info, source, source_z, src, rows, columns)
            _write_color(info, target, planes)
        elif info.src_format is info.dst_format and writes_everything(info):
            target[...] = texels
        elif info.src_format.is_color:
            _write_color(info, target, unpack_planes(info.src_format, texels))
        else:
            _write_depth_stencil(info, target, texels)


def _pick(plane: Array, rows: Array, columns: Array) -> Array:
    """Gather texels at rows and columns, with slices where the blit does not scale."""
    if _steps_by_one(rows) and _steps_by_one(columns):
        block: Array = plane[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        return block.copy()
    picked: Array = plane[rows[:, None], columns[None, :]]
    return picked


def _steps_by_one(indices: Array) -> bool:
    return bool(indices[-1] - indices[0] + 1 == indices.size and (np.diff(indices) == 1).all())


def _is_integer(format: Format) -> bool:
    return format.is_pure_integer or (not format.has_depth and format.has_stencil)


def writes_everything(info: BlitInfo) -> bool:
    """Whether the mask covers every channel of the destination."""
    names = {c.name.lower() for c in info.dst_format.channels} - {"x"}
    return {"r" if name in "li" else name for name in names} <= set(info.mask)


def _resolved(
    info: BlitInfo,
    source: Array,
    z: int,
    src: HostResource,
    rows: Array,
    columns: Array,
) -> list[Array]:
    """The mean of all samples."""
    total: list[Any] = [0.0] * 4
    with np.errstate(all="ignore"):  # samples may be infinite
        for sample in range(src.samples):
            texels = _pick(source[z * src.samples + sample], rows, columns)
            planes = unpack_planes(info.src_format, texels)
            total = [t + p for t, p in zip(total, planes, strict=True)]
        return [np.asarray(t / np.float32(src.samples), np.float32) for t in total]


def _is_all_bytes(info: BlitInfo) -> bool:
    return info.dst_format.is_unorm8 and writes_everything(info)


def _mean_of_bytes(samples: Sequence[Array]) -> Array:
    """The mean of texels made of normalised bytes: of all channels at once, as of one, a few rows
    at a time, so that they remain in the cache.
    """
    mean = np.empty_like(samples[0])
    rows = max(1, _AT_ONCE // max(1, mean[:1].nbytes))
    nothing = np.zeros((), np.float32)
    for start in range(0, len(mean), rows):
        some = slice(start, start + rows)
        total = np.zeros((), np.float32)
        for texels in samples:
            total = total + unpack_planes(_BYTE, texels[some].view(np.uint8))[0]
        total /= np.float32(len(samples))
        mean[some].view(np.uint8)[...] = pack_planes(_BYTE, [total, nothing, nothing, nothing])
    return mean


def _same_size(info: BlitInfo) -> bool:
    d, s = info.dst_box, info.src_box
    return abs(d.width) == abs(s.width) and abs(d.height) == abs(s.height)


def _resolved_linear(
    info: BlitInfo, source: Array, z: int, src: HostResource, xs: Span, ys: Span
) -> list[Array]:
    """The mean of all samples, filtered linearly, for a resolve that scales."""
    width, height, _ = level_extent(src.desc, info.src_level)
    x0, x1, along = _neighbours(xs.where, width)
    y0, y1, up = _neighbours(ys.where, height)
    rows, columns = np.unique([y0, y1]), np.unique([x0, x1])
    left, right = np.searchsorted(columns, x0), np.searchsorted(columns, x1)
    below, above = np.searchsorted(rows, y0), np.searchsorted(rows, y1)
    found = []
    for plane in _resolved(info, source, z, src, rows, columns):
        whole = np.broadcast_to(plane, (len(rows), len(columns)))
        across = whole[:, left] + (whole[:, right] - whole[:, left]) * along
        found.append(across[below] + (across[above] - across[below]) * up[:, None])
    return found


def _neighbours(where: Array, extent: int) -> tuple[Array, Array, Array]:
    """The two texels around each coordinate along an axis, and the distance from the first."""
    low = np.floor(where - 0.5)
    first = np.clip(low, 0, extent - 1).astype(np.intp)
    second = np.clip(low + 1, 0, extent - 1).astype(np.intp)
    return first, second, (where - 0.5 - low).astype(np.float32)


def _filter(info: BlitInfo, target: Array, src: HostResource, z: int, xs: Span, ys: Span) -> None:
    """Filter one layer linearly. Bytes that stay bytes are stored as they are filtered."""
    width, height, _ = level_extent(src.desc, info.src_level)
    unit = linear_unit(src, info.src_level, info.src_format, z)
    packed = unit.packed if writes_everything(info) else None
    with np.errstate(all="ignore"):
        for rows, texels in unit.grid(xs.where / width, ys.where / height):
            if packed is not None and packed.image.format is info.dst_format:
                target[rows] = packed.stored(texels)
            else:
                _write_color(info, target[rows], unit.filter("tex").planes(texels))


def linear_unit(resource: HostResource, level: int, format: Format, z: int) -> Unit:
    """Filters one layer linearly."""
    view = SamplerView(resource, format, Target.TEXTURE_2D, level, level, z, z)
    return texture_unit(view, LINEAR_SAMPLER)


def _write_color(info: BlitInfo, target: Array, planes: list[Array]) -> None:
    """Convert components to the destination and store the masked ones."""
    format = info.dst_format
    if format.is_pure_integer and planes[0].dtype != format.rgba_dtype:
        planes = [_between_integers(p, format) for p in planes]
    if not writes_everything(info):
        old = unpack_planes(format, np.ascontiguousarray(target))
        planes = [
            new if letter in info.mask else kept
            for letter, new, kept in zip("rgba", planes, old, strict=True)
        ]
    shape = target.shape[:2]
    packed = pack_planes(format, [np.broadcast_to(p, shape) for p in planes])
    target[...] = packed.reshape(target.shape)


def _between_integers(plane: Array, format: Format) -> Array:
    """Convert signed to unsigned integers or back, clamped."""
    if format.rgba_dtype == np.uint32:
        return np.maximum(plane, 0).astype(np.uint32)
    return np.minimum(plane, 0x7FFFFFFF).astype(np.int32)


def _write_depth_stencil(info: BlitInfo, target: Array, texels: Array) -> None:
    """Store depth, stencil or both, keeping what the mask leaves out."""
    raw = np.ascontiguousarray(target)
    if "z" in info.mask and info.src_format.has_depth and info.dst_format.has_depth:
        raw = pack_depth(info.dst_format, raw, unpack_depth(info.src_format, texels))
    if "s" in info.mask and info.src_format.has_stencil and info.dst_format.has_stencil:
        raw = pack_stencil(info.dst_format, raw, unpack_stencil(info.src_format, texels))
    target[...] = raw
