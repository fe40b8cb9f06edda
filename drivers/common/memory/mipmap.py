"""Mipmap generation: each level is computed from the level above at half the size.

Filtering is linear at the new texels' centres, which for even extents is the mean of two texels per
axis. sRGB formats are averaged in linear light; integers take the nearest texel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.drivers.common.texture.unit import Unit
from gallette.pipe.codecs import can_encode, pack, pack_depth, pack_planes, unpack
from gallette.pipe.enums import Filter, Target
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource, level_extent
from gallette.pipe.state import BlitInfo, Box, SamplerView

from .blit import LINEAR_SAMPLER, blit, linear_unit, texel_grid
from .resource import HostResource

Array = npt.NDArray[Any]


def generate_mipmap(
    resource: Resource,
    format: Format,
    base_level: int,
    last_level: int,
    first_layer: int,
    last_layer: int,
) -> None:
    """Fill levels base+1..last of the layers."""
    assert isinstance(resource, HostResource)
    if format.is_compressed and not can_encode(format):
        raise GalletteError(f"cannot generate mipmaps of {format.name}")
    for level in range(base_level + 1, last_level + 1):
        if format.is_compressed:
            _halve_blocks(resource, format, level, first_layer, last_layer)
        elif format.is_pure_integer or (format.has_stencil and not format.has_depth):
            _nearest(resource, format, level, first_layer, last_layer)
        elif resource.desc.target is Target.TEXTURE_3D:
            _halve_volume(resource, format, level)
        else:
            for layer in range(first_layer, last_layer + 1):
                _halve(resource, format, level, layer)
        resource.touch()


def centres(extent: int, source_extent: int) -> npt.NDArray[np.float64]:
    """The positions of a level's texel centres in the level above, in its texels."""
    return np.asarray((np.arange(extent) + 0.5) * (source_extent / extent))


def _halve(resource: HostResource, format: Format, level: int, layer: int) -> None:
    width, height, _ = level_extent(resource.desc, level)
    above_width, above_height, _ = level_extent(resource.desc, level - 1)
    if format.is_unorm8 and _is_power(above_width) and _is_power(above_height):
        above = resource.level(level - 1)[layer].reshape(above_height, above_width, -1)
        resource.level(level)[layer] = _mean_bytes(above).reshape(height, -1)
        return
    unit = linear_unit(resource, level - 1, format, layer)
    target = texel_grid(resource, level, format)
    s, t = centres(width, above_width) / above_width, centres(height, above_height) / above_height
    with np.errstate(all="ignore"):
        for rows, texels in unit.grid(s, t):
            _store(format, target[layer, rows], unit.filter("tex").planes(texels))


def _is_power(extent: int) -> bool:
    return not extent & (extent - 1)


def _mean_bytes(above: Array) -> Array:
    """A level of bytes `[row, column, byte]` at half the size, where extents are powers of two.

    Linear filtering gives the same there: halves are rounded up, along rows first. The bytes of a
    texel are averaged together, as a word: a + b is 2 (a | b) - (a ^ b) in each of them.
    """
    count = above.shape[2]
    mean = above.view(f"u{count}")[:, :, 0] if count in (1, 2, 4) else above
    one, low_bits = mean.dtype.type(1), mean.dtype.type(0x7F7F_7F7F >> 32 - 8 * mean.itemsize)
    for axis in (1, 0):
        if mean.shape[axis] > 1:
            a, b = (mean[:, i::2] if axis else mean[i::2] for i in (0, 1))
            mean = (a | b) - ((a ^ b) >> one & low_bits)
    return np.ascontiguousarray(mean).view(np.uint8)


def _halve_volume(resource: HostResource, format: Format, level: int) -> None:
    width, height, depth = level_extent(resource.desc, level)
    above = level_extent(resource.desc, level - 1)
    view = SamplerView(resource, format, Target.TEXTURE_3D, level - 1, level - 1)
    unit = Unit(view, LINEAR_SAMPLER)
    shape = (height, width)
    s = np.broadcast_to(centres(width, above[0]) / above[0], shape)
    t = np.broadcast_to((centres(height, above[1]) / above[1])[:, None], shape)
    flat = [np.ascontiguousarray(c, np.float32).reshape(-1) for c in (s, t)]
    for z, r in enumerate(centres(depth, above[2]) / above[2]):
        with np.errstate(all="ignore"):
            found = unit.sample("tex", [*flat, np.asarray(r, np.float32)], width * height)
        planes = [np.broadcast_to(p, flat[0].shape).reshape(shape) for p in found]
        _store(format, texel_grid(resource, level, format)[z], planes)


def _halve_blocks(
    resource: HostResource, format: Format, level: int, first_layer: int, last_layer: int
) -> None:
    """Decode the level above, average, encode."""
    width, height, depth = level_extent(resource.desc, level)
    above = level_extent(resource.desc, level - 1)
    volume = resource.desc.target is Target.TEXTURE_3D
    first, last = (0, above[2] - 1) if volume else (first_layer, last_layer)
    image = unpack(format, resource.level(level - 1)[first : last + 1])
    image = image[:, : above[1], : above[0]]
    for axis, extent in ((1, height), (2, width)) + (((0, depth),) if volume else ()):
        image = _resampled(image, axis, extent)
    resource.level(level)[first : first + len(image)] = pack(format, image)


def _resampled(image: Array, axis: int, extent: int) -> Array:
    """Linearly filtered along an axis, at the centres of `extent` texels."""
    size = image.shape[axis]
    at = np.clip(centres(extent, size) - 0.5, 0, size - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    shape = [1] * image.ndim
    shape[axis] = extent
    part = (at - low).reshape(shape).astype(np.float32)
    mixed: Array = image.take(low, axis) * (1 - part) + image.take(high, axis) * part
    return mixed


def _store(format: Format, target: Array, planes: list[Array]) -> None:
    if format.has_depth:
        target[...] = pack_depth(format, np.ascontiguousarray(target), planes[0])
    else:
        shape = target.shape[:2]
        target[...] = pack_planes(format, [np.broadcast_to(p, shape) for p in planes])


def _nearest(
    resource: HostResource, format: Format, level: int, first_layer: int, last_layer: int
) -> None:
    def box(at: int) -> Box:
        width, height, depth = level_extent(resource.desc, at)
        if resource.desc.target is Target.TEXTURE_3D:
            return Box(0, 0, 0, width, height, depth)
        return Box(0, 0, first_layer, width, height, last_layer - first_layer + 1)

    blit(
        BlitInfo(
            resource, level, box(level), format, resource, level - 1, box(level - 1), format,
            mask="s" if format.has_stencil else "rgba", filter=Filter.NEAREST,
        )
    )  # fmt: skip
