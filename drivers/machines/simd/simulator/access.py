"""Regions of the register file as NumPy arrays: functions that read and write one operand.

A value of a SIMD8 or SIMD16 instruction has the shape `(1 or 2, threads, 8)`, of a scalar one `(1,
threads, 1)`. Aligned 32-bit regions, nearly all of them, are views; others (16 and 64 bits,
strides, parts of registers) are read through the bytes of their registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.simd.isa.instruction import REG_BYTES, Region
from gallette.drivers.machines.simulator.threads import Threads, put

Array = npt.NDArray[Any]
Reader: TypeAlias = Callable[[Threads], Any]
Writer: TypeAlias = Callable[[Threads, Any, "Array | None"], None]


def is_plain(region: Region, width: int) -> bool:
    """Whether the region is whole registers of 32-bit channels, so that a view suffices."""
    return (
        region.file == "g"
        and region.type.size == 4
        and region.stride == 1
        and region.offset % REG_BYTES == 0
        and width >= 8
    )


def _first(region: Region) -> int:
    return region.nr + region.offset // REG_BYTES


def reader(src: Region, width: int, constants: range) -> Reader:
    """A function that returns a source's value, with modifiers applied."""
    plain = _unmodified(src, width, constants)
    if src.file == "i" or not src.modified:
        return plain
    return _modified(src, plain)


def _modified(src: Region, plain: Reader) -> Reader:
    index = None
    if src.swizzle:
        index = np.array([(c & 4) + src.swizzle[c & 3] for c in range(8)])
    absolute, negative = src.abs, src.neg

    def read(m: Threads) -> Any:
        value = plain(m)
        if index is not None and value.ndim and value.shape[-1] == 8:
            value = value.take(index, axis=2)
        if absolute:
            value = np.absolute(value)
        return np.negative(value) if negative else value

    return read


def _unmodified(src: Region, width: int, constants: range) -> Reader:
    dtype = src.type.dtype
    if src.file == "i":
        size = src.type.size
        fixed = np.array([src.bits], f"u{size}").view(dtype)[0]
        if src.abs:
            fixed = np.absolute(fixed)
        if src.neg:
            fixed = np.negative(fixed)
        return lambda m: fixed
    nr = _first(src)
    if src.stride == 0 and nr in constants and nr + (src.end(1) - 1) // REG_BYTES in constants:
        name = src.type.name
        at = ((nr - constants.start) * REG_BYTES + src.offset % REG_BYTES) // src.type.size
        return lambda m: m.launch.constants[name][at]
    if src.type.size == 4 and src.stride == 0:
        column = src.offset % REG_BYTES // 4
        if dtype == np.float32:
            return lambda m: m.f[nr, :, column][None, :, None]
        if dtype == np.int32:
            return lambda m: m.d[nr, :, column][None, :, None]
        return lambda m: m.u[nr, :, column][None, :, None]
    if is_plain(src, width):
        stop = nr + width // 8
        if dtype == np.float32:
            return lambda m: m.f[nr:stop]
        if dtype == np.int32:
            return lambda m: m.d[nr:stop]
        return lambda m: m.u[nr:stop]
    return _general(src, width)


def _elements(region: Region, width: int) -> tuple[int, int, Array]:
    """First and one past the last register, and the numbers of elements relative to the first."""
    size = region.type.size
    nr, offset = _first(region), region.offset % REG_BYTES
    numbers = offset // size + np.arange(width) * region.stride
    last = (int(numbers[-1]) * size) // REG_BYTES
    return nr, nr + last + 1, numbers


def _general(src: Region, width: int) -> Reader:
    start, stop, numbers = _elements(src, width)
    dtype = src.type.dtype

    def read(m: Threads) -> Any:
        rows = np.ascontiguousarray(m.words[start:stop].transpose(1, 0, 2))
        values = rows.reshape(m.count, -1).view(dtype)[:, numbers]
        if width < 8:
            return values[None]
        return values.reshape(m.count, -1, 8).transpose(1, 0, 2)

    return read


def writer(dst: Region, width: int) -> Writer:
    """A function that writes a value under a mask (None: everything)."""
    if dst.file == "n":
        return lambda m, value, mask: None
    nr, dtype = _first(dst), dst.type.dtype
    if is_plain(dst, width):
        stop = nr + width // 8

        def write(m: Threads, value: Any, mask: Array | None) -> None:
            if value.dtype != dtype:
                value = value.view(dtype)
            put(m.words[nr:stop].view(dtype), value, mask)

        return write
    return _general_writer(dst, width)


def _general_writer(dst: Region, width: int) -> Writer:
    start, stop, numbers = _elements(dst, width)
    dtype = dst.type.dtype

    def write(m: Threads, value: Any, mask: Array | None) -> None:
        if value.dtype != dtype:
            value = value.view(dtype)
        shape = (max(1, width // 8), m.count, min(width, 8))
        by_thread = np.broadcast_to(value, shape).transpose(1, 0, 2).reshape(m.count, width)
        rows = np.ascontiguousarray(m.words[start:stop].transpose(1, 0, 2))
        flat = rows.reshape(m.count, -1).view(dtype)
        if mask is None:
            flat[:, numbers] = by_thread
        else:
            chosen = np.broadcast_to(mask, shape).transpose(1, 0, 2).reshape(m.count, width)
            flat[:, numbers] = np.where(chosen, by_thread, flat[:, numbers])
        back = flat.view(np.uint32).reshape(m.count, stop - start, 8)
        m.words[start:stop] = back.transpose(1, 0, 2)

    return write
