"""Functions called by generated code for storage buffers, images and atomics.

Every function takes the resources, the index (a scalar, or by lane), the address components and the
number of lanes; writes take the mask of lanes that write (None: all). With an index that differs
between lanes, buffers or images are processed one at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import ShaderResources, by_lane
from gallette.drivers.common.storage import (
    buffer_atomic,
    buffer_load,
    buffer_load_same,
    buffer_store,
)

from .runtime_shared import SharedMemory

__all__ = [
    "image_atomic",
    "image_load",
    "image_samples",
    "image_size",
    "image_store",
    "ssbo_atomic",
    "ssbo_load",
    "ssbo_size",
    "ssbo_store",
    "writers",
]

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Memory: TypeAlias = "ShaderResources | SharedMemory"


def writers(
    live: Mask | None, alive: Mask | None, helper: Mask | None, lanes: Array | None, count: int
) -> Mask | None:
    """Which of the scope's lanes may write, None for all; `alive`, `helper` are by chunk lane."""
    mask = live
    for chunk, wanted in ((alive, True), (helper, False)):
        if chunk is None:
            continue
        part = chunk if lanes is None else chunk[lanes]
        part = part if wanted else ~part
        mask = part if mask is None else mask & part
    return mask


def _offset(state: Memory, address: tuple[Any, ...], count: int) -> Array:
    """Byte offsets by lane."""
    offset = by_lane(address[0], count)
    if not isinstance(state, SharedMemory):
        return offset
    return state.offsets(offset)


def _bound(bindings: Sequence[Any], index: int) -> Any:
    return bindings[index] if 0 <= index < len(bindings) else None


def _each(
    bindings: Sequence[Any],
    index: Any,
    active: Mask | None,
    run: Callable[[Any, Mask | None], None],
) -> None:
    """Call `run` once per distinct index, with the binding and the lanes that use it."""
    if np.ndim(index) == 0:
        run(_bound(bindings, int(index)), active)
        return
    for at in np.unique(index):
        mine = index == at
        run(_bound(bindings, int(at)), mine if active is None else mine & active)


def _put(whole: Array, mine: Mask | None, part: Array) -> None:
    whole[...] = part if mine is None else np.where(mine, part, whole)


# -- buffers -----------------------------------------------------------------------------------


def ssbo_load(
    state: Memory, index: Any, address: tuple[Any, ...], count: int, kind: Any, n: int
) -> list[Array]:
    """Load `n` consecutive elements per lane, as unsigned bits."""
    bits = np.dtype(kind).itemsize * 8
    if not isinstance(state, SharedMemory) and np.ndim(address[0]) == 0 == np.ndim(index):
        return buffer_load_same(_bound(state.buffers, int(index)), int(address[0]), n, bits, count)
    offset = _offset(state, address, count)
    if np.ndim(index) == 0:
        return buffer_load(_bound(state.buffers, int(index)), offset, n, bits)
    loaded = [np.zeros(count, kind) for _ in range(n)]

    def run(data: Any, mine: Mask | None) -> None:
        assert mine is not None
        parts = buffer_load(data, offset[mine], n, bits)
        for whole, part in zip(loaded, parts, strict=True):
            whole[mine] = part

    _each(state.buffers, index, None, run)
    return loaded


def ssbo_store(
    state: Memory,
    index: Any,
    address: tuple[Any, ...],
    count: int,
    kind: Any,
    active: Mask | None,
    values: tuple[Any, ...],
) -> None:
    """Write the components that are not None."""
    bits = np.dtype(kind).itemsize * 8

    def run(data: Any, mine: Mask | None) -> None:
        buffer_store(data, _offset(state, address, count), values, count, mine, bits)

    _each(state.buffers, index, active, run)


def ssbo_atomic(
    state: Memory,
    index: Any,
    address: tuple[Any, ...],
    count: int,
    kind: Any,
    active: Mask | None,
    op: str,
    values: tuple[Any, ...],
    swap: bool,
) -> Array:
    """Execute an atomic on one element per lane; returns the old bits."""
    bits = np.dtype(kind).itemsize * 8
    old = np.zeros(count, kind)
    compare = values[1] if swap else None

    def run(data: Any, mine: Mask | None) -> None:
        offset = _offset(state, address, count)
        _put(old, mine, buffer_atomic(op, data, offset, values[0], count, mine, compare, bits))

    _each(state.buffers, index, active, run)
    return old


def ssbo_size(
    state: ShaderResources, index: Any, address: tuple[Any, ...], count: int, kind: Any, n: int
) -> list[Array]:
    """The size of the bound range in bytes."""
    sizes = [0 if b is None else b.size for b in state.buffers]
    table = np.array([*sizes, 0], kind)
    at = np.asarray(index)
    safe = np.where((at >= 0) & (at < len(sizes)), at, len(sizes))
    return [by_lane(table[safe], count).copy()]


# -- images ------------------------------------------------------------------------------------


def _coords(address: tuple[Any, ...], sample: bool) -> tuple[tuple[Any, ...], Any]:
    return (address[:-1], address[-1]) if sample else (address, None)


def _of_images(
    state: ShaderResources, index: Any, count: int, n: int, read: Callable[[Any], Sequence[Any]]
) -> list[Array]:
    """What is read of each lane's image, as bits; zero where none is bound, and for components that
    the image lacks.
    """
    found = [np.zeros(count, np.uint32) for _ in range(n)]

    def run(unit: Any, mine: Mask | None) -> None:
        for whole, part in zip(found, () if unit is None else read(unit), strict=False):
            _put(whole, mine, by_lane(part, count).view(np.uint32))

    _each(state.images, index, None, run)
    return found


def image_load(
    state: ShaderResources,
    index: Any,
    address: tuple[Any, ...],
    count: int,
    kind: Any,
    n: int,
    sample: bool = False,
) -> list[Array]:
    """Texel components per lane, as bits."""
    coords, at_sample = _coords(address, sample)
    return _of_images(state, index, count, n, lambda unit: unit.load(coords, count, at_sample))


def image_store(
    state: ShaderResources,
    index: Any,
    address: tuple[Any, ...],
    count: int,
    kind: Any,
    active: Mask | None,
    values: tuple[Any, ...],
    sample: bool = False,
) -> None:
    """Write texels."""
    coords, at_sample = _coords(address, sample)

    def run(unit: Any, mine: Mask | None) -> None:
        if unit is not None:
            unit.store(coords, values, count, mine, at_sample)

    _each(state.images, index, active, run)


def image_atomic(
    state: ShaderResources,
    index: Any,
    address: tuple[Any, ...],
    count: int,
    kind: Any,
    active: Mask | None,
    op: str,
    values: tuple[Any, ...],
    swap: bool,
    sample: bool = False,
) -> Array:
    """Execute an atomic on one texel per lane; returns the old bits."""
    coords, at_sample = _coords(address, sample)
    old = np.zeros(count, np.uint32)
    compare = values[1] if swap else None

    def run(unit: Any, mine: Mask | None) -> None:
        if unit is not None:
            found = unit.atomic(op, coords, values[0], count, mine, compare, at_sample)
            _put(old, mine, found)

    _each(state.images, index, active, run)
    return old


def image_size(
    state: ShaderResources, index: Any, address: tuple[Any, ...], count: int, kind: Any, n: int
) -> list[Array]:
    """Extents, zero for missing dimensions or if no image is bound."""
    return _of_images(state, index, count, n, lambda unit: unit.size())


def image_samples(
    state: ShaderResources, index: Any, address: tuple[Any, ...], count: int, kind: Any, n: int
) -> list[Array]:
    """Samples per texel."""
    return _of_images(state, index, count, n, lambda unit: [np.uint32(unit.samples)])
