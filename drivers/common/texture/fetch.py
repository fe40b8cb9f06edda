"""Texel fetches with integer coordinates, and texture sizes: no filtering, no wrapping.

Texels outside the texture, and of levels that do not exist, read as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import by_lane
from gallette.pipe.enums import Target

from .image import Image, Planes

Array = npt.NDArray[Any]
I32 = np.int32

_ROWS = (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.BUFFER)


def _position(
    image: Image, coords: Sequence[Array], offset: Sequence[Array | int | None]
) -> tuple[Array, Array | int, Array | int]:
    """x, y and layer-or-slice of integer coordinates."""
    at: list[Any] = [np.asarray(c).astype(I32, copy=False) for c in coords]
    flat = image.target in _ROWS
    moving = 1 if flat else 3 if image.target is Target.TEXTURE_3D else 2
    for i, moved in enumerate(offset[: min(len(at), moving)]):
        if moved is not None:
            at[i] = at[i] + moved
    if flat:
        return at[0], 0, at[1] if image.target.is_array and len(at) > 1 else 0
    return at[0], at[1] if len(at) > 1 else 0, at[2] if len(at) > 2 else 0


def locate(
    image: Image,
    coords: Sequence[Array],
    lod: Array | None,
    offset: Sequence[Array | int | None],
    sample: Array | None = None,
) -> tuple[Array, Array]:
    """The index of each lane's texel, and which lanes are inside the texture."""
    x, y, z = _position(image, coords, offset)
    if sample is None and np.ndim(z) == 0 and (lod is None or np.ndim(lod) == 0):
        x = np.asarray(x, I32)
        return _in_a_plane(image, x, y, int(z), 0 if lod is None else int(lod))
    level: Any = 0 if lod is None else np.asarray(lod).astype(I32, copy=False)
    known: Any = True
    if lod is not None:
        known = (level >= 0) & (level < image.levels)
        level = np.minimum(np.maximum(level, 0), image.levels - 1)
    width, height, depth = image.width[level], image.height[level], image.depth[level]
    inside = known & (x >= 0) & (x < width)
    inside &= (y >= 0) & (np.asarray(y) < height) & (np.asarray(z) >= 0) & (np.asarray(z) < depth)
    index = image.base[level] + z * image.layer_stride[level] + y * width + x
    if sample is not None:
        plane = width * height
        there = (sample >= 0) & (sample < image.layer_stride[level] // np.maximum(plane, I32(1)))
        inside &= there
        index = index + np.where(there, sample, I32(0)) * plane
    return index, inside


def _in_a_plane(image: Image, x: Array, y: Array | int, z: int, level: int) -> tuple[Array, Array]:
    """Texel indices for one layer of one level, the case of nearly every program."""
    if not 0 <= level < image.levels or not 0 <= z < int(image.depth[level]):
        return np.zeros(x.shape, I32), np.zeros(x.shape, np.bool_)
    width, height = I32(image.width[level]), int(image.height[level])
    start = int(image.base[level]) + z * int(image.layer_stride[level])
    inside = x.view(np.uint32) < np.uint32(width)  # negative ones become large
    if np.ndim(y):
        y = np.asarray(y, I32)
        inside = inside & (y.view(np.uint32) < np.uint32(height))
        index = y * width + x
    elif 0 <= y < height:
        index = x + int(y) * width
    else:
        return np.zeros(x.shape, I32), np.zeros(x.shape, np.bool_)
    if start:
        index = index + start
    return index, inside


def fetch(
    image: Image,
    coords: Sequence[Array],
    lod: Array | None,
    offset: Sequence[Array | int | None],
    sample: Array | None = None,
) -> Planes:
    """The texels at integer coordinates of a level (and sample)."""
    index, inside = locate(image, coords, lod, offset, sample)
    lanes = coords[0].shape[0]
    inside = by_lane(inside, lanes)
    if not inside.any():
        return image.zeros(lanes)
    everywhere = bool(inside.all())
    index = by_lane(index, lanes) if everywhere else np.where(inside, index, 0)
    planes = image.gather(index)
    if everywhere:
        return planes
    return [np.where(inside, p, p.dtype.type(0)) for p in planes]


def size_of(image: Image, lod: Array | None) -> list[Array]:
    """Extents of a level, as many as the target has; zero for a level that does not exist."""
    level = np.asarray(0 if lod is None else lod).astype(I32, copy=False)
    known = (level >= 0) & (level < image.levels)
    safe = np.minimum(np.maximum(level, 0), image.levels - 1)
    extents = [image.width[safe]]
    target = image.target
    if target not in _ROWS:
        extents.append(image.height[safe])
    if target is Target.TEXTURE_3D:
        extents.append(image.depth[safe])
    elif target.is_array:
        per_layer = 6 if target.is_cube else 1
        extents.append(image.depth[safe] // per_layer)
    return [np.where(known, e, I32(0)).astype(I32) for e in extents]
