"""Depth and stencil inside raw texels: each is read separately, and written without changing the
other's bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..formats import Channel, Format

Array = npt.NDArray[Any]


def _channel(format: Format, name: str) -> Channel:
    return next(channel for channel in format.channels if channel.name == name)


def _bits(channel: Channel, texels: Array) -> Array:
    word = texels.dtype.type
    if channel.bits == texels.dtype.itemsize * 8:
        return texels
    bits: Array = texels >> word(channel.shift) if channel.shift else texels
    return bits & word((1 << channel.bits) - 1)  # type: ignore[no-any-return]


def _replaced(channel: Channel, texels: Array, bits: Array) -> Array:
    """Texels with one channel's bits replaced."""
    word = texels.dtype.type
    if channel.bits == texels.dtype.itemsize * 8:
        return bits.astype(texels.dtype)
    keep = word(~(((1 << channel.bits) - 1) << channel.shift) & ((1 << texels.itemsize * 8) - 1))
    replaced: Array = (texels & keep) | (bits.astype(texels.dtype) << word(channel.shift))
    return replaced


def unpack_depth(format: Format, texels: Array) -> npt.NDArray[np.float32]:
    """Depth values of raw texels."""
    channel = _channel(format, "Z")
    bits = _bits(channel, texels)
    if channel.type == "FLOAT":
        return np.ascontiguousarray(bits.astype(np.uint32, copy=False)).view(np.float32)
    scale = 1.0 / ((1 << channel.bits) - 1)
    return (bits * scale).astype(np.float32)


def depth_bits(format: Format, depth: Array) -> npt.NDArray[np.uint32]:
    """The code of a depth value, as compared by a depth test: clamped, rounded to nearest."""
    channel = _channel(format, "Z")
    value = np.ascontiguousarray(depth, np.float32)
    if channel.type == "FLOAT":
        return value.view(np.uint32)
    top = float((1 << channel.bits) - 1)
    exact = np.fmin(np.fmax(value, np.float32(0.0)), np.float32(1.0)).astype(np.float64)
    return np.rint(exact * top).astype(np.uint32)


def pack_depth(format: Format, texels: Array, depth: Array) -> Array:
    """Raw texels with new depth values, stencil kept."""
    return _replaced(_channel(format, "Z"), texels, depth_bits(format, depth))


def unpack_stencil(format: Format, texels: Array) -> npt.NDArray[np.uint8]:
    """Stencil values of raw texels."""
    return _bits(_channel(format, "S"), texels).astype(np.uint8)


def pack_stencil(format: Format, texels: Array, stencil: Array) -> Array:
    """Raw texels with new stencil values, depth kept."""
    bits = np.asarray(stencil) & 0xFF
    return _replaced(_channel(format, "S"), texels, bits)
