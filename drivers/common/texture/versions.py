"""A texture of which several versions are looked at at once: by pages that versions share.

A version differs from the next one in a few pages of texels, those that were written between. So
all pages that there are lie one behind the other, and a table says where those of each version are.
`PagedTexels` answers to `take` like a run of texels (see `image`) in which whole versions follow
each other, `VersionedUnit` samples the version that a lane's draw was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.codecs import texel_layout
from gallette.pipe.enums import Target
from gallette.pipe.state import SamplerState, SamplerView

from .anisotropic import is_anisotropic
from .cube import Projection
from .floats import Place
from .image import Image, has_plain_texels
from .minmax import reduces
from .packed import PackedFilter
from .unit import Unit

__all__ = ["PagedTexels", "VersionedUnit", "may_have_versions"]

Array = npt.NDArray[Any]
Table = npt.NDArray[np.int64]


def may_have_versions(view: SamplerView, sampler: SamplerState | None) -> bool:
    """Can a `VersionedUnit` stand for the texture unit of this view and sampler?"""
    resource, format = view.resource, view.format
    assert isinstance(resource, HostResource)
    desc = resource.desc
    size = format.block_bytes
    return (
        view.target is Target.TEXTURE_2D
        and desc.target is Target.TEXTURE_2D
        and desc.samples <= 1
        and not resource.live
        and has_plain_texels(format)
        and size == desc.format.block_bytes
        and not size & (size - 1)
        and (sampler is None or not (reduces(sampler) or is_anisotropic(view, sampler)))
    )


class PagedTexels:
    """Texels by index, as of one run: of version 0, then of version 1, and so on."""

    __slots__ = ("_mask", "_shift", "_starts", "_texels", "ndim")

    def __init__(self, texels: Array, starts: Table, shift: int) -> None:
        """`starts`: where the pages of the run begin in `texels`, which have `1 << shift` each."""
        self._texels, self._starts = texels, starts
        self._shift, self._mask = shift, (1 << shift) - 1
        self.ndim = texels.ndim

    def take(self, index: Array, axis: int | None = None) -> Array:
        """The texels at some indices."""
        where = self._starts.take(index >> self._shift)
        where += index & self._mask
        return self._texels.take(where, axis=axis)

    def __len__(self) -> int:
        return len(self._starts) << self._shift


class VersionedUnit(Unit):
    """A texture unit that is told a lane's draw behind the coordinates."""

    def __init__(
        self,
        view: SamplerView,
        sampler: SamplerState | None,
        pages: Array,
        starts: Table,
        which: Table,
    ) -> None:
        """`pages`: their bytes `[page][byte]`, `starts`: for each version, where its pages begin
        among all texels, `which`: the version that each draw sees.
        """
        super().__init__(view, sampler or SamplerState())
        self._which = which
        word, count = texel_layout(view.format)
        texels: Array = pages.reshape(-1).view(word)
        if count > 1:
            texels = texels.reshape(-1, count)
        shift = (pages.shape[1] // view.format.block_bytes).bit_length() - 1
        run: Any = PagedTexels(texels, starts.reshape(-1), shift)
        versions, span = len(starts), starts.shape[1] << shift
        self.image = self._of_versions(self.image, run, versions, span)
        self.floats = self.filter_class(view, self.image, self.sampler)
        if self.packed is not None:
            image = self._of_versions(self.packed.image, run, versions, span)
            self.packed = PackedFilter(view, image, self.sampler, padded=False)

    @staticmethod
    def _of_versions(image: Image, run: Any, versions: int, span: int) -> Image:
        """The tables of a view with a version as its layer."""
        return replace(
            image,
            texels=lambda: run,
            depth=np.full_like(image.depth, versions),
            layer_stride=np.full_like(image.layer_stride, span),
            decoded=None,
        )

    def reading(self, wanted: int) -> Unit:
        """All of it: there is a unit of this kind for every few draws."""
        return self

    def sample(self, op: str, coords: Sequence[Array], lanes: int, **more: Any) -> list[Array]:
        if len(coords) > self.axes:
            *place, draw = coords
            coords = (*place, self._which.take(np.asarray(draw).astype(np.int64)))
        return super().sample(op, coords, lanes, **more)

    def _place(
        self, coords: list[Array], offset: Sequence[Array | int], compare: Array | None
    ) -> tuple[Place, Projection | None]:
        version = coords[self.axes] if len(coords) > self.axes else 0
        return Place(coords[: self.axes], version, 0, offset, compare), None
