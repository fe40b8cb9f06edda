"""Packing of shader output into texels of four 8-bit channels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import minmax
from gallette.pipe.formats import Format

__all__ = ["byte_shifts", "pack_bytes", "to_bytes"]

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
