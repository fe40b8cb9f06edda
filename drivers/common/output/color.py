"""One colour buffer of a draw: convert, blend, mask and store the shader's output.

A `ColorTarget` is made once per draw. `prepare` converts the shader's output of all lanes to texels
if nothing is blended; `write` then stores some lanes, reading the destination only if blending,
logic operations or a partial mask need it. A pixel may occur several times in one `write` unless
the key says that its fragments must be written one by one.

The arithmetic is that of `drivers.common.fixed.output`. Two cases have code of their own, which is
faster and computes the same: packing without blending, and `unorm8`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.output import ColorKey, merged, stored
from gallette.drivers.common.memory.resource import flat_texels
from gallette.pipe.codecs import pack_planes, unpack_planes
from gallette.pipe.formats import Format
from gallette.pipe.state import BlendState, Surface

from .unorm8 import Folded, byte_shifts, can_fold, fold, pack_bytes, to_bytes

Array = npt.NDArray[Any]
Outputs = Sequence[Array | None]

_DEFAULTS = tuple(np.asarray(v, np.float32) for v in (0.0, 0.0, 0.0, 1.0))


class Prepared:
    """The output of a draw for one buffer: whole texels, or colours to be blended."""

    __slots__ = ("colors", "folded", "texels")

    def __init__(
        self,
        texels: Array | None = None,
        colors: list[Array] | None = None,
        folded: Folded | None = None,
    ) -> None:
        self.texels = texels
        self.colors = colors or []  # the components of both
        self.folded = folded

    def repeated(self, times: npt.NDArray[np.int64]) -> Prepared:
        """The output of lanes of which each stands for so many."""
        if self.texels is not None:
            return Prepared(self.texels.repeat(times, axis=0))
        if self.folded is not None:
            return Prepared(folded=self.folded.repeated(times))
        return Prepared(colors=[c.repeat(times) if c.ndim else c for c in self.colors])


def _pick(value: Array, which: Any) -> Array:
    return value.take(which) if value.ndim else value


_WIDE = np.dtype(np.complex128)
"""A NumPy type of 16 bytes, which is scattered several times as fast as rows of four numbers."""


def _as_one(texels: Array) -> Array | None:
    """Texels of several words as one item each, if they have 16 bytes."""
    if texels.ndim == 1 or texels.shape[1] * texels.itemsize != _WIDE.itemsize:
        return None
    return texels.view(_WIDE)[:, 0]


def _words(texels: Array) -> list[Array]:
    return [texels] if texels.ndim == 1 else list(texels.T)


class ColorTarget:
    """A colour surface, flattened, with its blend state."""

    __slots__ = (
        "_reads",
        "_shifts",
        "_texels",
        "_wide",
        "constant",
        "key",
        "ordered",
        "plane",
        "resource",
        "state",
        "stride",
    )

    def __init__(
        self,
        surface: Surface,
        state: BlendState,
        index: int,
        constant: Sequence[float],
        sample: int = 0,
    ) -> None:
        self._texels, self.stride, self.plane = flat_texels(surface, sample)
        self._wide = _as_one(self._texels)
        self.resource = surface.resource
        self.state = state.target(index)
        self.key = ColorKey.of(surface.format, state, index)
        self.ordered, self._reads = self.key.ordered, self.key.reads
        self.constant = tuple(constant)
        self._shifts = byte_shifts(surface.format)

    @property
    def format(self) -> Format:
        return self.key.format

    @property
    def texels(self) -> Array:
        """The texels, flat; rows are `stride` texels apart."""
        return self._texels

    def prepare(self, outputs: Outputs, second: Outputs | None, count: int) -> Prepared:
        """Convert the shader's output of `count` lanes."""
        planes = [self._plane(outputs[i] if i < len(outputs) else None, i) for i in range(4)]
        key = self.key
        if key.blend is None:
            return Prepared(texels=self._packed(planes, count))
        other = [self._plane(value, i) for i, value in enumerate(second or (None,) * 4)]
        if self._shifts is not None and key.blends_bytes and can_fold(key.blend):
            constant = [to_bytes(np.asarray(c, np.float32)) for c in self.constant]
            return Prepared(folded=fold(key.blend, planes, constant, other, self._shifts, count))
        return Prepared(colors=[*planes, *other])

    def _plane(self, value: Any, component: int) -> Array:
        """A component in the type of the format; if the shader's type differs, which is undefined
        in OpenGL, its bits are reinterpreted.
        """
        plane = _DEFAULTS[component] if value is None else np.asarray(value)
        wanted = self.format.rgba_dtype
        if plane.dtype == wanted:
            return plane
        return plane.view(wanted) if plane.dtype.itemsize == 4 else plane.astype(wanted)

    def _packed(self, planes: list[Array], count: int) -> Array:
        if self._shifts is not None:
            texels = pack_bytes(planes, self._shifts)
        else:
            texels = pack_planes(self.format, planes)
            texels = texels if self._texels.ndim == 1 or texels.ndim == 2 else texels.reshape(1, -1)
        if texels.ndim < self._texels.ndim or not texels.ndim or len(texels) != count:
            texels = np.broadcast_to(texels, (count, *self._texels.shape[1:]))
        return texels

    def address(
        self, pixel: npt.NDArray[np.int64], width: int, plane: int
    ) -> npt.NDArray[np.int64]:
        """The texel indices in this surface of the framebuffer's pixels, which are numbered in rows
        of `width` pixels and layers of `plane` pixels.
        """
        if width == self.stride and plane == self.plane:
            return pixel
        layer, rest = np.divmod(pixel, plane)
        y, x = np.divmod(rest, width)
        address: npt.NDArray[np.int64] = layer * self.plane + y * self.stride + x
        return address

    def read(self, pixel: npt.NDArray[np.int64]) -> list[Array]:
        """The colours of some pixels; of helper lanes outside the surface, arbitrary ones."""
        planes = unpack_planes(self.format, self._texels.take(pixel, axis=0, mode="clip"))
        return [np.asarray(plane) for plane in planes]

    def write(self, pixel: npt.NDArray[np.int64], prepared: Prepared, which: Any = None) -> None:
        """Write lanes (those numbered `which`, or all) to their pixels."""
        source = self._source(pixel, prepared, which)
        if self._wide is None:
            self._texels[pixel] = source
        else:
            self._wide[pixel] = source.view(_WIDE)[:, 0]

    def _source(self, pixel: npt.NDArray[np.int64], prepared: Prepared, which: Any) -> Array:
        """The texels to store."""
        key = self.key
        if not self._reads:
            assert prepared.texels is not None
            return prepared.texels if which is None else prepared.texels.take(which, axis=0)
        current = self._texels.take(pixel, axis=0)
        if prepared.colors:
            picked = [c if which is None else _pick(c, which) for c in prepared.colors]
            given = [*picked, *(np.asarray(c, np.float32) for c in self.constant)]
            words = evaluate(stored(key), [*given, *_words(current)])
        else:
            if prepared.folded is not None:
                new = prepared.folded.over(current, which)
            else:
                assert prepared.texels is not None
                new = prepared.texels if which is None else prepared.texels.take(which, axis=0)
            if key.mask is None and key.logicop is None:
                return new
            words = evaluate(merged(key), [*_words(new), *_words(current)])
        if current.ndim == 1:
            return words[0]
        stacked = np.empty(current.shape, current.dtype)
        for number, word in enumerate(words):
            stacked[:, number] = word
        return stacked
