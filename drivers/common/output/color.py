"""One colour buffer of a draw: convert, blend, mask and store the shader's output.

A `ColorTarget` is made once per draw. `prepare` converts the shader's output of all lanes to
texels, or to clamped source colours if blending is enabled; `write` then stores some lanes, reading
the destination only if blending, logic operations or a partial mask need it. A pixel may occur
several times in one `write` unless `ordered` says that its fragments must be written one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.memory.clear import flat_texels
from gallette.pipe.codecs import pack_planes, texel_layout, unpack_planes
from gallette.pipe.enums import LogicOp
from gallette.pipe.formats import Format
from gallette.pipe.state import BlendState, RenderTargetBlend, Surface

from .advanced import blend_advanced
from .blend import BYTES, FLOATS, blend, logic_op, needs_destination
from .blend_unorm8 import Folded, can_fold, fold
from .packed_bytes import byte_shifts, is_bytes, pack_bytes, to_bytes

__all__ = ["ColorTarget", "Prepared"]

Array = npt.NDArray[Any]
Outputs = Sequence[Array | None]

_DEFAULTS = tuple(np.asarray(v, np.float32) for v in (0.0, 0.0, 0.0, 1.0))


class Prepared:
    """The output of a draw for one buffer: whole texels, or planes to be blended."""

    __slots__ = ("folded", "planes", "second", "texels")

    def __init__(
        self,
        texels: Array | None = None,
        planes: list[Array] | None = None,
        second: list[Array] | None = None,
        folded: Folded | None = None,
    ) -> None:
        self.folded = folded
        self.texels = texels
        self.planes = planes or []
        self.second = second or []


def _pick(value: Array, which: Any) -> Array:
    return value.take(which) if value.ndim else value


def _channel_bits(format: Format, colormask: int) -> int | None:
    """The bits of a texel that a write mask covers; None if it covers all."""
    enabled = 0
    letters = {"R": 1, "G": 2, "B": 4, "A": 8, "L": 1, "I": 1}
    everything = True
    for channel in format.channels:
        mask = letters.get(channel.name, 0)
        if mask & colormask:
            enabled |= ((1 << channel.bits) - 1) << channel.shift
        elif mask:
            everything = False
    return None if everything else enabled


_WIDE = np.dtype(np.complex128)
"""A NumPy type of 16 bytes, which is scattered several times as fast as rows of four numbers."""


def _as_one(texels: Array) -> Array | None:
    """Texels of several words as one item each, if they have 16 bytes."""
    if texels.ndim == 1 or texels.shape[1] * texels.itemsize != _WIDE.itemsize:
        return None
    return texels.view(_WIDE)[:, 0]


class ColorTarget:
    """A colour surface, flattened, with its blend state."""

    __slots__ = (
        "_byte_planes",
        "_clamp",
        "_constant",
        "_folds",
        "_format",
        "_mask",
        "_shifts",
        "_state",
        "_texels",
        "_wide",
        "blends",
        "constant",
        "logicop",
        "ordered",
        "plane",
        "resource",
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
        self._format = surface.format
        self.resource = surface.resource
        target: RenderTargetBlend = state.target(index)
        self._state = target
        integer = surface.format.is_pure_integer
        normalized = surface.format.is_normalized
        self.logicop: LogicOp | None = None
        if state.logicop_enable and not surface.format.is_float and not surface.format.is_srgb:
            self.logicop = None if state.logicop is LogicOp.COPY else state.logicop
            self.blends = False
        else:
            self.blends = target.blend_enable and not integer and not state.logicop_enable
        self.ordered = (self.blends and needs_destination(target)) or self.logicop is not None
        self._mask = self._make_mask(target.colormask)
        advanced = self.blends and target.rgb_func.is_advanced
        self._byte_planes = self.blends and is_bytes(surface.format) and not advanced
        low = -1.0 if any(c.type == "SNORM" for c in surface.format.channels) else 0.0
        self._clamp = low if normalized else None
        self.constant = tuple(constant)
        self._constant = self._make_constant(constant)
        self._shifts = byte_shifts(surface.format)
        self._folds = self._byte_planes and self._shifts is not None and can_fold(target)

    def _make_mask(self, colormask: int) -> Array | None:
        bits = _channel_bits(self._format, colormask)
        if bits is None:
            return None
        word, count = texel_layout(self._format)
        size = word.itemsize * 8
        words = [(bits >> (i * size)) & ((1 << size) - 1) for i in range(count)]
        return np.array(words if count > 1 else words[0], word)

    def _make_constant(self, constant: Sequence[float]) -> list[Array]:
        planes = [np.asarray(c, np.float32) for c in constant]
        if self._byte_planes:
            return [to_bytes(p) for p in planes]
        return [self._clamped(p) for p in planes]

    @property
    def format(self) -> Format:
        return self._format

    @property
    def state(self) -> RenderTargetBlend:
        """The blend state of this buffer."""
        return self._state

    @property
    def texels(self) -> Array:
        """The texels, flat; rows are `stride` texels apart."""
        return self._texels

    @property
    def kept_bits(self) -> int | None:
        """The bits of a texel that may change; None for all."""
        return _channel_bits(self._format, self._state.colormask)

    @property
    def disabled(self) -> bool:
        """Whether the write mask disables all channels."""
        return self._mask is not None and not self._mask.any()

    def _clamped(self, plane: Array) -> Array:
        if self._clamp is None:
            return plane
        return minmax.between(plane, self._clamp, 1.0)

    def prepare(self, outputs: Outputs, second: Outputs | None, count: int) -> Prepared:
        """Convert the shader's output of `count` lanes."""
        planes = [self._plane(outputs[i] if i < len(outputs) else None, i) for i in range(4)]
        if not self.blends:
            return Prepared(texels=self._packed(planes, count))
        other = [self._plane(value, i) for i, value in enumerate(second or (None,) * 4)]
        if self._folds:
            assert self._shifts is not None
            folded = fold(self._state, planes, self._constant, other, self._shifts, count)
            return Prepared(folded=folded)
        if self._byte_planes:
            planes, other = [to_bytes(p) for p in planes], [to_bytes(p) for p in other]
            return Prepared(planes=planes, second=other)
        return Prepared(
            planes=[self._clamped(p) for p in planes], second=[self._clamped(p) for p in other]
        )

    def _plane(self, value: Any, component: int) -> Array:
        """A component in the type of the format; if the shader's type differs, which is undefined
        in OpenGL, its bits are reinterpreted.
        """
        plane = _DEFAULTS[component] if value is None else np.asarray(value)
        wanted = self._format.rgba_dtype
        if plane.dtype == wanted:
            return plane
        return plane.view(wanted) if plane.dtype.itemsize == 4 else plane.astype(wanted)

    def _packed(self, planes: list[Array], count: int) -> Array:
        if self._shifts is not None:
            texels = pack_bytes(planes, self._shifts)
        else:
            texels = pack_planes(self._format, planes)
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
        planes = unpack_planes(self._format, self._texels.take(pixel, axis=0, mode="clip"))
        return [np.asarray(plane) for plane in planes]

    def write(self, pixel: npt.NDArray[np.int64], prepared: Prepared, which: Any = None) -> None:
        """Write lanes (those numbered `which`, or all) to their pixels."""
        if prepared.texels is not None:
            source = prepared.texels if which is None else prepared.texels.take(which, axis=0)
        else:
            source = self._blended(pixel, prepared, which)
        if self.logicop is not None:
            source = logic_op(self.logicop, source, self._texels[pixel])
        if self._mask is not None:
            source = (source & self._mask) | (self._texels[pixel] & ~self._mask)
        if self._wide is None:
            self._texels[pixel] = source
        else:
            self._wide[pixel] = source.view(_WIDE)[:, 0]

    def _blended(self, pixel: npt.NDArray[np.int64], prepared: Prepared, which: Any) -> Array:
        if prepared.folded is not None:
            return prepared.folded.over(self._texels.take(pixel), which)
        planes, second = prepared.planes, prepared.second
        if which is not None:
            planes = [_pick(p, which) for p in planes]
            second = [_pick(p, which) for p in second]
        current = self._texels.take(pixel, axis=0)
        if self._byte_planes:
            return self._blend_bytes(current, planes, second)
        destination = unpack_planes(self._format, current)
        if self._state.rgb_func.is_advanced:
            result = blend_advanced(self._state.rgb_func, planes, destination)
        else:
            result = blend(self._state, planes, destination, self._constant, second, FLOATS)
        texels = pack_planes(self._format, result)
        return np.broadcast_to(texels, current.shape)

    def _blend_bytes(self, current: Array, planes: list[Array], second: list[Array]) -> Array:
        channels = self._format.channels
        raw = current.view(np.uint8).reshape(len(current), len(channels))
        swizzle = self._format.swizzle
        destination = [
            raw[:, s].astype(np.uint16) if isinstance(s, int) else np.uint16(255 * (s == "1"))
            for s in swizzle
        ]
        result = blend(
            self._state,
            planes,
            [np.asarray(d) for d in destination],
            self._constant,
            second,
            BYTES,
        )
        out = np.empty_like(raw)
        source = {"R": 0, "G": 1, "B": 2, "A": 3, "L": 0, "I": 0}
        for i, channel in enumerate(channels):
            out[:, i] = result[source[channel.name]] if channel.name in source else 255
        return out.view(current.dtype).reshape(current.shape)
