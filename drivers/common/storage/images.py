"""Images: one level of a texture (or a buffer range) read and written with integer coordinates.

Coordinates are those of the shader's image type: `x`, `x y`, `x y z`, the layer or face last. If
the shader gives no layer, it is the view's first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import by_lane
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.texture.fetch import fetch, locate, size_of
from gallette.drivers.common.texture.image import Image, Planes, image_of_view
from gallette.pipe.codecs import pack_planes
from gallette.pipe.enums import Target
from gallette.pipe.state import ImageView, SamplerView

from .atomics import apply_atomic, compare_and_swap

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def image_unit(view: ImageView) -> ImageUnit:
    """The unit of an image view, cached on the resource."""
    resource = view.resource
    assert isinstance(resource, HostResource)
    unit: ImageUnit | None = resource.units.get(view)
    if unit is None:
        resource.make_room_for_unit()
        unit = resource.units[view] = ImageUnit(view)
    return unit


class ImageUnit:
    """One image as shaders use it."""

    def __init__(self, view: ImageView) -> None:
        resource = view.resource
        assert isinstance(resource, HostResource)
        self.view = view
        self.resource = resource
        self.samples = resource.samples
        target = resource.desc.target
        if target is Target.TEXTURE_3D:
            target = Target.TEXTURE_2D_ARRAY  # slices are layers here
        self.image: Image = image_of_view(
            SamplerView(
                resource,
                view.format,
                target,
                view.level,
                view.level,
                view.first_layer,
                view.last_layer,
                buffer_offset=view.buffer_offset,
                buffer_size=view.buffer_size,
            )
        )

    def _coords(self, coords: Sequence[Array], lanes: int) -> list[Array]:
        return [by_lane(c, lanes).astype(np.int32, copy=False) for c in coords]

    def load(self, coords: Sequence[Array], lanes: int, sample: Array | None = None) -> Planes:
        """Four components; zero outside the image, or if it may not be read."""
        if not self.view.readable:
            return self.image.zeros(lanes)
        return fetch(self.image, self._coords(coords, lanes), None, (), sample)

    def _index(
        self, coords: Sequence[Array], lanes: int, sample: Array | None, active: Mask | None
    ) -> tuple[npt.NDArray[np.intp], Mask]:
        """Texel indices of the lanes that touch a texel, and which those are."""
        index, inside = locate(self.image, self._coords(coords, lanes), None, (), sample)
        inside = by_lane(inside, lanes)
        if active is not None:
            inside = inside & active
        if not self.view.writable:
            inside = np.zeros(lanes, np.bool_)
        return by_lane(index, lanes)[inside].astype(np.intp), inside

    def store(
        self,
        coords: Sequence[Array],
        values: Sequence[Array],
        lanes: int,
        active: Mask | None = None,
        sample: Array | None = None,
    ) -> None:
        """Write whole texels for the active lanes."""
        index, inside = self._index(coords, lanes, sample, active)
        if not index.size:
            return
        dtype = self.image.format.rgba_dtype
        planes = [by_lane(v, lanes)[inside] for v in values]
        planes = [p.view(dtype) if p.dtype.itemsize == 4 else p.astype(dtype) for p in planes]
        planes += [np.zeros(index.size, dtype)] * (4 - len(planes))
        self.image.texels()[index] = pack_planes(self.image.format, planes)
        self.resource.touch()

    def atomic(
        self,
        op: str,
        coords: Sequence[Array],
        value: Array,
        lanes: int,
        active: Mask | None = None,
        compare: Array | None = None,
        sample: Array | None = None,
    ) -> Array:
        """An atomic on one-word texels; returns the old bits (zero outside the image).

        An application may bind an image of any format; texels of other sizes are left unchanged.
        """
        index, inside = self._index(coords, lanes, sample, active)
        result = np.zeros(lanes, np.uint32)
        if not index.size or self.image.format.block_bytes != result.itemsize:
            return result
        texels = self.image.texels().view(result.dtype).reshape(-1)

        def operand(given: Array) -> Array:
            lane_values = by_lane(given, lanes)[inside]
            bits: Array = np.ascontiguousarray(lane_values).view(texels.dtype)
            return bits

        if compare is None:
            result[inside] = apply_atomic(op, texels, index, operand(value))
        else:
            swapped = compare_and_swap(texels, index, operand(compare), operand(value))
            result[inside] = swapped
        self.resource.touch()
        return result

    def size(self) -> list[Array]:
        """Extents, as many as the resource's target has."""
        return size_of(self.image, None)
