"""Texels of four 8-bit channels: packing, and blending with source and factors computed once.

Where the factors do not depend on the destination, a pixel becomes `added + factor x destination`,
clamped to 255. Operands are *words*: four 16-bit channels in 64 bits, ordered as the bytes of a
texel, so that one gather selects lanes and one operation covers all channels. A single word may
stand for all lanes. Multiplication rounds as in `fixed.blending`, so the bytes are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import minmax
from gallette.drivers.common.fixed.blending import DIRECT, INVERSE
from gallette.pipe.enums import BlendFactor, BlendFunc
from gallette.pipe.formats import Format
from gallette.pipe.state import RenderTargetBlend

Array = npt.NDArray[Any]

_MAGIC = np.float32(1 << 23)
_MAGIC_BITS = int(_MAGIC.view(np.uint32))


def to_bytes(plane: Array) -> Array:
    """Clamp to 0..1 and round to 8 bits, held in uint16."""
    value = minmax.saturated(plane) * np.float32(255.0)
    value += _MAGIC
    return value.view(np.uint32).astype(np.uint16)  # the lowest bits: see pack_bytes


def byte_shifts(format: Format) -> tuple[int, ...] | None:
    """The shifts of R, G, B, A in a 32-bit texel of four 8-bit normalised channels, or None."""
    if format.block_bytes != 4 or not format.is_unorm8:
        return None
    positions = {c.name: c.shift for c in format.channels}
    if set(positions) != {"R", "G", "B", "A"}:
        return None
    return tuple(positions[name] for name in "RGBA")


def pack_bytes(planes: list[Array], shifts: tuple[int, ...]) -> Array:
    """Texels of four 8-bit channels: clamp, scale, round, combine.

    Adding 2**23 to a float32 leaves its rounded value in the lowest bits; the upper bits contribute
    equally to every lane's sum and are subtracted at the end.
    """
    constant = 0
    word: Array | None = None
    for plane, shift in zip(planes, shifts, strict=True):
        if plane.ndim and plane[0] == plane[-1] and (plane == plane[0]).all():
            plane = plane[:1].reshape(())  # a constant value, as in clears and flat colours
        if plane.ndim:
            value = minmax.saturated(plane) * np.float32(255.0)
            value += _MAGIC
            bits = value.view(np.uint32)
            if shift:
                bits <<= np.uint32(shift)
            constant += _MAGIC_BITS << shift
            word = bits if word is None else np.add(word, bits, out=word)
        else:
            constant -= int(to_bytes(plane)) << shift
    offset = np.uint32(constant & 0xFFFFFFFF)
    if word is None:
        return np.asarray(np.uint32(-constant & 0xFFFFFFFF))
    word -= offset
    return word


Planes = Sequence[Array]
Words = npt.NDArray[np.uint64]

_F = BlendFactor
_OF_THE_DESTINATION = frozenset(
    {_F.DST_COLOR, _F.DST_ALPHA, _F.INV_DST_COLOR, _F.INV_DST_ALPHA, _F.SRC_ALPHA_SATURATE}
)
_FULL = np.uint16(255)
_EIGHT, _HALF = np.uint16(8), np.uint16(128)
_EACH = 0x0001_0001_0001_0001
_ALL_FULL, _NOTHING = np.array(255 * _EACH, np.uint64), np.array(0, np.uint64)


def can_fold(state: RenderTargetBlend) -> bool:
    """Whether the equation is a sum whose factors do not depend on the destination."""
    factors = {
        state.rgb_src_factor,
        state.rgb_dst_factor,
        state.alpha_src_factor,
        state.alpha_dst_factor,
    }
    return (
        state.rgb_func is state.alpha_func is BlendFunc.ADD
        and not factors & _OF_THE_DESTINATION
        and sys.byteorder == "little"
    )


@lazy_dataclass(frozen=True)
class Folded:
    """The words that lanes add, and the factor of the destination (None: 1)."""

    added: Words  # [n]
    factor: Words | None

    def repeated(self, times: npt.NDArray[np.int64]) -> Folded:
        """The words of lanes of which each stands for so many."""
        factor = None if self.factor is None else self.factor.repeat(times)
        return Folded(self.added.repeat(times), factor)

    def over(self, current: Array, which: Any) -> Array:
        """The blended texels of some lanes (or all), given the stored contents."""
        added, factor = self.added, self.factor
        if which is not None:
            added = added.take(which)
            factor = None if factor is None else factor.take(which)
        mixed = current.view(np.uint8).astype(np.uint16)
        if factor is not None:
            _weaken(mixed, factor.view(np.uint16))
        mixed += added.view(np.uint16)
        minmax.minimum(mixed, _FULL, mixed)
        return mixed.astype(np.uint8).view(current.dtype)


def _weaken(channels: Array, factor: Array) -> None:
    """Multiply by 0 to 255 as factors 0 to 1, rounded as in llvmpipe."""
    channels *= factor
    channels += channels >> _EIGHT
    channels += _HALF
    channels >>= _EIGHT


def fold(
    state: RenderTargetBlend,
    source: Planes,
    constant: Planes,
    second: Planes,
    shifts: Sequence[int],
    count: int,
) -> Folded:
    """Fold the source of `count` lanes; `shifts` say where R, G, B, A are in a texel.

    `constant` is in bytes, `source` and `second` as the shader wrote them.
    """
    factors = _Factors(source, constant, second, tuple(shifts))
    weight = factors.both(state.rgb_src_factor, state.alpha_src_factor)
    kept = factors.both(state.rgb_dst_factor, state.alpha_dst_factor)
    added = _each_lane(factors.colors(0), count)
    if weight is not None:
        if added is kept or added is weight:
            added = added.copy()
        _weaken(added.view(np.uint16), _each_lane(weight, count).view(np.uint16))
    return Folded(added, None if kept is None else _each_lane(kept, count))


def _each_lane(words: Words, count: int) -> Words:
    """A word for every lane."""
    return words if words.ndim else np.full(count, words)


class _Factors:
    """Colours in words, and the factors computed from them."""

    def __init__(
        self, source: Planes, constant: Planes, second: Planes, shifts: tuple[int, ...]
    ) -> None:
        self._planes = {0: source, 3: second}
        self._constant = constant
        self._shifts = shifts
        self._alpha_bits = np.array(0xFFFF << 2 * shifts[3], np.uint64)
        self._colors: dict[int, Words] = {}

    def colors(self, number: int) -> Words:
        """A colour, numbered as in `blend.DIRECT`: the source, the constant, the second source."""
        found = self._colors.get(number)
        if found is None:
            found = self._colors[number] = self._in_words(number)
        return found

    def _in_words(self, number: int) -> Words:
        if number == 2:
            pairs = zip(self._constant, self._shifts, strict=True)
            return np.array(sum(int(value) << 2 * shift for value, shift in pairs), np.uint64)
        texels = np.asarray(pack_bytes(list(self._planes[number]), self._shifts))
        bytes = np.ascontiguousarray(texels).reshape(-1).view(np.uint8)
        return bytes.astype(np.uint16).view(np.uint64).reshape(texels.shape)

    def both(self, rgb: BlendFactor, alpha: BlendFactor) -> Words | None:
        """The factors of all channels; None stands for 1."""
        one = self._weights(rgb)
        if rgb is alpha:
            return one
        other = self._weights(alpha)
        if one is other is None:
            return None
        color, opacity = (_ALL_FULL if each is None else each for each in (one, other))
        return (color & ~self._alpha_bits) | (opacity & self._alpha_bits)

    def _weights(self, factor: BlendFactor) -> Words | None:
        if factor is _F.ONE:
            return None
        if factor is _F.ZERO:
            return _NOTHING
        base = INVERSE.get(factor)
        number, alpha = DIRECT[factor if base is None else base]
        words = self.colors(number)
        if alpha:
            words = words >> np.uint64(2 * self._shifts[3])
            if self._shifts[3] != 24:
                words = words & np.uint64(0xFFFF)
            words = words * np.uint64(_EACH)
        return words if base is None else _ALL_FULL - words
