"""Loads, stores and atomics on a buffer's bytes, with one byte offset per lane.

`data` is the bound range (a uint8 view of any length) or None when nothing is bound. An element
that is not completely inside reads as zero and is not written. Offsets are multiples of the
element's size, as the layout rules of shaders guarantee; others are rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import by_lane

from .atomics import apply_atomic, compare_and_swap

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]


def _elements(data: Bytes | None, bits: int) -> Array:
    """The range as unsigned elements of `bits`, a view; a last partial one is left out."""
    size = bits // 8
    if data is None:
        return np.zeros(0, f"u{size}")
    whole = data[: data.size // size * size]
    return whole.view(f"u{size}")


def _locate(elements: Array, offset: Array, first: int, bits: int) -> tuple[Array, Array]:
    """Element indices and which of them are inside; `offset` counts as unsigned."""
    at = np.asarray(offset).astype(np.uint32, copy=False).astype(np.int64)
    index = at // (bits // 8) + first
    return index, index < elements.size


def buffer_load(data: Bytes | None, offset: Array, components: int, bits: int = 32) -> list[Array]:
    """Consecutive elements from each lane's byte offset, as unsigned bits by component."""
    elements = _elements(data, bits)
    offset = np.asarray(offset)
    if offset.itemsize == 4 and offset.size:
        # Everything inside: one pass for the largest offset, one for the indices.
        raw = offset.view(np.uint32)
        shift = np.uint32((bits // 8).bit_length() - 1)
        if (int(raw.max()) >> int(shift)) + components <= elements.size:
            index = np.right_shift(raw, shift, dtype=np.uint32).astype(np.intp)
            return [elements[i:].take(index, mode="clip") for i in range(components)]
    index, inside = _locate(elements, offset, 0, bits)
    loaded = []
    for i in range(components):
        if i:
            index += 1
            inside = index < elements.size
        if elements.size == 0 or not inside.any():
            loaded.append(np.zeros(index.shape, elements.dtype))
            continue
        values = elements.take(index, mode="clip")
        loaded.append(values if inside.all() else np.where(inside, values, values.dtype.type(0)))
    return loaded


def buffer_load_same(
    data: Bytes | None, offset: int, components: int, bits: int, lanes: int
) -> list[Array]:
    """Load where all lanes have the same offset, as unsigned bits by component."""
    elements = _elements(data, bits)
    first = (offset & 0xFFFFFFFF) // (bits // 8)
    found = elements[first : first + components].tolist()
    loaded = []
    for i in range(components):
        values = np.empty(lanes, elements.dtype)
        values.fill(found[i] if i < len(found) else 0)
        loaded.append(values)
    return loaded


def buffer_store(
    data: Bytes | None,
    offset: Array,
    values: Sequence[Array | None],
    lanes: int,
    active: npt.NDArray[np.bool_] | None = None,
    bits: int = 32,
) -> None:
    """Write consecutive elements (None: skip that one) for the active lanes."""
    elements = _elements(data, bits)
    stored = [i for i, value in enumerate(values) if value is not None]
    at = by_lane(offset, lanes)
    if len(stored) == 1 and active is None:
        where, inside = _locate(elements, at, stored[0], bits)
        bits_ = by_lane(_bits(np.asarray(values[stored[0]]), elements.dtype), lanes)
        if inside.all():
            elements[where] = bits_
        else:
            elements[where[inside]] = bits_[inside]
        return
    index = np.empty((lanes, len(stored)), np.int64)
    source = np.empty((lanes, len(stored)), elements.dtype)
    for column, i in enumerate(stored):
        index[:, column], _ = _locate(elements, at, i, bits)
        source[:, column] = _bits(np.asarray(values[i]), elements.dtype)
    inside = index < elements.size
    if active is not None:
        inside &= active[:, None]
    elements[index[inside]] = source[inside]  # in lane order: the last one wins


def _bits(value: Array, dtype: np.dtype[Any]) -> Array:
    """A value as unsigned bits of the element's size."""
    return value.view(dtype) if value.dtype.itemsize == dtype.itemsize else value.astype(dtype)


def buffer_atomic(
    op: str,
    data: Bytes | None,
    offset: Array,
    value: Array,
    lanes: int,
    active: npt.NDArray[np.bool_] | None = None,
    compare: Array | None = None,
    bits: int = 32,
) -> Array:
    """An atomic on one element per active lane; returns the old bits (zero if it is outside)."""
    elements = _elements(data, bits)
    index, inside = _locate(elements, by_lane(offset, lanes), 0, bits)
    if active is not None:
        inside = inside & active
    result = np.zeros(lanes, elements.dtype)
    where = index[inside]
    operand = np.ascontiguousarray(by_lane(value, lanes)[inside]).view(elements.dtype)
    if compare is None:
        result[inside] = apply_atomic(op, elements, where, operand)
    else:
        expected = np.ascontiguousarray(by_lane(compare, lanes)[inside]).view(elements.dtype)
        result[inside] = compare_and_swap(elements, where, expected, operand)
    return result
