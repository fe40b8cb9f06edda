"""The texels that a sampler view can read: one run of raw texels for all levels, and tables to
index it.

A texel's index is `base[level] + layer * layer_stride[level] + y * width[level] + x` for every
target, so one gather serves lanes with different mipmap levels. The tables are arrays by level
(counted from the view's first level); `x`, `y` and the third coordinate `z` (a slice, an array
layer or a cube face) have extents `width`, `height`, `depth`.

Compressed and other awkward formats are read through a copy in a plain format, which is remade only
after the resource was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import OutOfMemoryError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.memory.storage import MAX_RESOURCE_BYTES, level_offsets
from gallette.pipe.codecs import (
    EVERY_PLANE,
    block_decoder,
    pack,
    texel_layout,
    texels,
    unpack,
    unpack_depth,
    unpack_planes,
    unpack_stencil,
)
from gallette.pipe.enums import Swizzle, Target
from gallette.pipe.formats import FORMATS, Channel, Format
from gallette.pipe.resource import ResourceDesc, level_extent
from gallette.pipe.state import SamplerView

Array = npt.NDArray[Any]
Planes = list[Array]
Table = npt.NDArray[np.int32]

_TAIL = 32
"""Bytes after the last texel, as in a resource, because some filters read two texels at once."""

RGBA8 = FORMATS["R8G8B8A8_UNORM"]
_CONSTANT = {Swizzle.ZERO: "0", Swizzle.ONE: "1"}


def of_level(table: Table, level: Any) -> Table:
    """An entry of a table by level: one number, or one for each lane."""
    if isinstance(level, np.ndarray) and level.ndim:
        return table.take(level)  # faster than by indexing
    entry: Table = table[level, ...]
    return entry


class PayingCopy:
    """Something made of a resource's contents once more lanes have read them than there are texels;
    then making it pays. It is made at once if so many lanes have read the contents before these.
    """

    __slots__ = ("_before", "_key", "_make", "_resource", "_sampled", "_writes", "texels")

    def __init__(
        self, resource: HostResource, texels: int, key: Any, make: Callable[[], Any]
    ) -> None:
        self._resource, self.texels = resource, texels
        self._key, self._make = key, make
        self._writes, self._sampled, self._before = -1, 0, 0

    def get(self, lanes: int) -> Any:
        """What was made, if it exists or making it pays for `lanes` more; else None."""
        if self._writes != self._resource.writes:
            self._writes, self._before, self._sampled = self._resource.writes, self._sampled, 0
        self._sampled += lanes
        if max(self._sampled, self._before) < self.texels:
            return None
        return self._resource.derive(self._key, self._make)


@lazy_dataclass(frozen=True, eq=False)
class Image:
    """The texels of a view. `texels()` is called at every use, since copies may be remade."""

    target: Target
    format: Format  # of the gathered texels
    texels: Callable[[], Array]
    base: Table
    width: Table
    height: Table
    depth: Table
    layer_stride: Table
    pot: tuple[bool, bool, bool]  # per axis: are all extents powers of two
    swizzle: tuple[str | int, str | int, str | int, str | int]  # into decoded channels
    bytes8: tuple[str | int, ...] | None  # into the bytes of a word, where that decodes them
    stencil: bool = False
    decoded: PayingCopy | None = None
    """The texels as planes of components, for formats that take time to decode."""

    @property
    def levels(self) -> int:
        return len(self.width)

    @property
    def wanted(self) -> frozenset[int]:
        """The channels that its swizzle selects."""
        return _named(self.swizzle)

    @property
    def is_integer(self) -> bool:
        return self.stencil or self.format.is_pure_integer

    def row(self, level: Any, others: Sequence[Array], z: Any) -> Array:
        """The index at which a row of a level begins: `others` are y and perhaps a slice, otherwise
        `z` is a layer or face (None: the first).
        """
        y, z = (*others, z)[:2] if others else (None, z)
        at: Any = of_level(self.base, level)
        if z is not None:
            at = z * of_level(self.layer_stride, level) + at
        start: Array = at if y is None else y * of_level(self.width, level) + at
        return start

    def gather(self, index: Array) -> Planes:
        """Swizzled components of the texels at some indices; constant ones are 0-d."""
        # NumPy takes several times as long with other index types.
        index = index.astype(np.int64, copy=False)
        decoded = None if self.decoded is None else self.decoded.get(index.size)
        if decoded is not None:
            return self.select(
                [plane if plane.ndim == 0 else plane.take(index) for plane in decoded]
            )
        texels = self.texels()
        raw = texels.take(index, axis=0) if texels.ndim > 1 else texels.take(index)
        return self.select(_channels(self.format, self.stencil, raw, self.wanted))

    def select(self, planes: Planes) -> Planes:
        """Apply the view's swizzle to decoded components."""
        dtype = planes[0].dtype
        constants = {"0": np.zeros((), dtype), "1": np.ones((), dtype)}
        return [
            constants[source] if isinstance(source, str) else planes[source]
            for source in self.swizzle
        ]

    def zeros(self, lanes: int) -> Planes:
        """The result of a fetch outside the texture."""
        dtype = np.uint32 if self.stencil else self.format.rgba_dtype
        return [np.zeros(lanes, dtype) for _ in range(4)]


@cache
def _named(swizzle: tuple[str | int, ...]) -> frozenset[int]:
    return frozenset(source for source in swizzle if not isinstance(source, str))


def _channels(
    format: Format, stencil: bool, raw: Array, wanted: frozenset[int] = EVERY_PLANE
) -> Planes:
    """Four components of raw texels, before any swizzle; those that are not wanted may be zero."""
    if not format.is_depth_stencil:
        return unpack_planes(format, raw, wanted)
    if stencil:
        value: Array = unpack_stencil(format, raw).astype(np.uint32)
    else:
        value = unpack_depth(format, raw)
    zero, one = value.dtype.type(0), value.dtype.type(1)
    return [value, np.asarray(zero), np.asarray(zero), np.asarray(one)]


def _swizzle(view: SamplerView) -> tuple[str | int, str | int, str | int, str | int]:
    r, g, b, a = (_CONSTANT.get(s, int(s)) for s in view.swizzle)
    return r, g, b, a


def image_of_view(view: SamplerView, *, as_bytes: bool = False) -> Image:
    """The tables of a view; `as_bytes` prefers a copy in bytes for packed filtering.

    They are cached on the resource, because one view may be sampled through many samplers.
    """
    resource = view.resource
    assert isinstance(resource, HostResource)
    if as_bytes:
        as_bytes = _plain_format(view.format, True) is not _plain_format(view.format, False)
    found: Image | None = resource.units.get((view, as_bytes))
    if found is None:
        resource.make_room_for_unit()
        if view.target is Target.BUFFER:
            found = _buffer_image(view, resource)
        else:
            found = _build(view, resource, as_bytes)
        resource.units[(view, as_bytes)] = found
    return found


def _build(view: SamplerView, resource: HostResource, as_bytes: bool) -> Image:
    format, run, offsets = _texels(view, resource, as_bytes)
    rows = [
        _level_row(resource, view, level) for level in range(view.first_level, view.last_level + 1)
    ]
    width, height, depth, stride, skip = (
        np.array(column, np.int32) for column in zip(*rows, strict=True)
    )
    starts = np.array(offsets[view.first_level : view.last_level + 1], np.int64)
    base = starts // format.block_bytes + skip
    pot = tuple(bool(((e & (e - 1)) == 0).all()) for e in (width, height, depth))
    swizzle = _swizzle(view)
    stencil = view.sample_stencil or (format.has_stencil and not format.has_depth)
    wanted = _named(swizzle)

    last = int(base[-1] + depth[-1] * stride[-1])

    def decode() -> Planes:
        return _channels(format, stencil, run()[:last], wanted)

    decoded = None
    if _takes_time(format) and not stencil:
        decoded = PayingCopy(resource, last, ("planes", format, last, wanted), decode)
    return Image(
        target=view.target,
        format=format,
        texels=run,
        base=base.astype(np.int32),
        width=width,
        height=height,
        depth=depth,
        layer_stride=stride,
        pot=(pot[0], pot[1], pot[2]),
        swizzle=swizzle,
        bytes8=_bytes8(format, swizzle),
        stencil=stencil,
        decoded=decoded,
    )


def _takes_time(format: Format) -> bool:
    """Whether decoding a texel takes longer than reading its components as floats."""
    return not format.is_pure_integer and not all(
        c.type == "FLOAT" and c.bits == 32 for c in format.channels
    )


def _level_row(
    resource: HostResource, view: SamplerView, level: int
) -> tuple[int, int, int, int, int]:
    """Width, height, depth, texels per layer and texels before the view's first layer."""
    width, height, depth = level_extent(resource.desc, level)
    stride = width * height * resource.samples
    first = 0
    if view.target is not Target.TEXTURE_3D:
        first, last = view.first_layer, view.last_layer
        depth = max(1, min(last, depth - 1) - first + 1)
    return width, height, depth, stride, first * stride


def _bytes8(
    format: Format, swizzle: tuple[str | int, str | int, str | int, str | int]
) -> tuple[str | int, ...] | None:
    """For unsigned normalised bytes in one word: the byte (or constant) of each component."""
    simple = (
        format.is_array
        and not format.is_srgb
        and format.is_color
        and texel_layout(format)[1] == 1
        and all(c.bits == 8 and c.type == "UNORM" for c in format.channels)
    )
    if not simple:
        return None
    return tuple(s if isinstance(s, str) else format.swizzle[s] for s in swizzle)


def _texels(
    view: SamplerView, resource: HostResource, as_bytes: bool
) -> tuple[Format, Callable[[], Array], Sequence[int]]:
    """The format, the run of texels, and each level's offset in it (in that format's bytes)."""
    format = view.format
    plain = _plain_format(format, as_bytes)
    if plain is format:
        word, count = texel_layout(format)
        return format, lambda: resource.texels(word, count), level_offsets(resource.desc)
    sizes = [
        _converted_bytes(resource.desc, plain, level) for level in range(len(resource.storage))
    ]
    offsets = [0]
    for size in sizes:
        offsets.append(offsets[-1] + size)
    if offsets[-1] > MAX_RESOURCE_BYTES:  # a compressed texture has as many texel indices
        raise OutOfMemoryError(
            f"out of memory: the texels of a texture in {format.name} take "
            f"{offsets[-1] / 2**30:.1f} GiB as {plain.name}"
        )
    word, count = texel_layout(plain)

    def make() -> Array:
        if format.is_compressed and plain.block_bytes == 4:
            parts = _decoded_levels(resource, format)
        else:
            parts = [_convert(resource, format, plain, level) for level in range(len(sizes))]
        parts.append(np.zeros(_TAIL, np.uint8))
        run = np.concatenate(parts).view(word)
        return run if count == 1 else run.reshape(-1, count)

    def converted() -> Array:
        run: Array = resource.derive(("texels", format, plain), make)
        return run

    return plain, converted, offsets


def fits_bytes(format: Format) -> bool:
    """Unsigned normalised colours of at most 8 bits, not on the sRGB curve."""
    if format.is_compressed:
        return not format.is_srgb and _plain_format(format, False) is RGBA8
    small = all(c.type == "UNORM" and c.bits <= 8 for c in format.channels)
    return small and format.is_color and not format.is_srgb


def _plain_format(format: Format, as_bytes: bool) -> Format:
    """The format texels are gathered in: the view's own unless that is slow or impossible."""
    if format.is_compressed:
        if not all(c.type == "UNORM" and c.bits == 8 for c in format.channels):
            return FORMATS["R32G32B32A32_FLOAT"]
        return FORMATS["R8G8B8A8_SRGB"] if format.is_srgb else RGBA8
    words = format.is_array and texel_layout(format)[1] == 1
    return RGBA8 if as_bytes and fits_bytes(format) and not words else format


def _converted_bytes(desc: ResourceDesc, plain: Format, level: int) -> int:
    width, height, depth = level_extent(desc, level)
    return width * height * depth * max(1, desc.samples) * plain.block_bytes


def _convert(
    resource: HostResource, format: Format, plain: Format, level: int
) -> npt.NDArray[np.uint8]:
    """The bytes of one level in the plain format."""
    width, height, _ = level_extent(resource.desc, level)
    data = resource.storage[level]
    if format.is_compressed:
        return pack(plain, unpack(format, data)[:, :height, :width]).reshape(-1)
    codes = np.full((data.shape[0], height, width, 4), 255, np.uint8)
    raw = texels(format, data)
    for i, source in enumerate(format.swizzle):
        if isinstance(source, int):
            codes[..., i] = _byte(format.channels[source], raw)
        elif source == "0":
            codes[..., i] = 0
    return codes.reshape(-1)


def _byte(channel: Channel, raw: Array) -> Array:
    """A channel of up to 8 bits as a byte: its bits, repeated until the byte is full."""
    if raw.ndim == 4:
        byte: Array = raw[..., channel.shift // 8]
        return byte
    bits = channel.bits
    code: Array = (raw >> raw.dtype.type(channel.shift)).astype(np.uint32)
    code &= np.uint32((1 << bits) - 1)
    repeated: Array = np.zeros_like(code)
    for shift in range(8 - bits, -bits, -bits):
        repeated |= code << np.uint32(shift) if shift >= 0 else code >> np.uint32(-shift)
    return repeated


def _decoded_levels(resource: HostResource, format: Format) -> list[npt.NDArray[np.uint8]]:
    """The bytes of each level of a compressed texture as 8-bit codes, still on their sRGB curve.

    The blocks of all levels are decoded together: small levels take what a call takes.
    """
    high, wide, size = format.block_height, format.block_width, format.block_bytes
    blocks = [np.ascontiguousarray(data).reshape(-1, size) for data in resource.storage]
    texels = block_decoder(format)(np.concatenate(blocks))
    if texels.dtype != np.uint8:
        texels = np.rint(texels * np.float32(255.0)).astype(np.uint8)
    levels, first = [], 0
    for level, (data, own) in enumerate(zip(resource.storage, blocks, strict=True)):
        planes, rows, row_bytes = data.shape
        image = texels[first : first + len(own)].reshape(
            planes, rows, row_bytes // size, high, wide, 4
        )
        width, height, _ = level_extent(resource.desc, level)
        image = image.swapaxes(2, 3).reshape(planes, rows * high, -1, 4)
        levels.append(np.ascontiguousarray(image[:, :height, :width]).reshape(-1))
        first += len(own)
    return levels


def _buffer_image(view: SamplerView, resource: HostResource) -> Image:
    """A buffer texture: one row of texels in a buffer."""
    format = view.format
    word, count = texel_layout(format)
    start = view.buffer_offset
    size = view.buffer_size or resource.desc.width - start
    size = max(0, min(size, resource.desc.width - start)) // format.block_bytes
    one = np.ones(1, np.int32)

    def window() -> Array:
        data = resource.storage[0][0, 0, start : start + size * format.block_bytes]
        if start % word.itemsize:
            data = data.copy()
        run = data.view(word)
        return run if count == 1 else run.reshape(-1, count)

    return Image(
        target=view.target,
        format=format,
        texels=window,
        base=np.zeros(1, np.int32),
        width=np.array([size], np.int32),
        height=one,
        depth=one,
        layer_stride=one * size,
        pot=(False, True, True),
        swizzle=_swizzle(view),
        bytes8=None,
    )
