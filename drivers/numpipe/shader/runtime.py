"""Functions called by generated code: everything that is more than one NumPy operation.

Index arrays select lanes; `None` instead of one means all lanes in order. Row arrays are per-lane
memory: `rows x lanes`, addressed by the lane's number in the whole chunk.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.raster.fragments import lanes_of_quads

__all__ = [
    "clock",
    "derivative",
    "emit_vertex",
    "fetched",
    "fill",
    "full",
    "helpers",
    "idle",
    "kill",
    "lanes_of",
    "own_load",
    "patch_of",
    "peer_load",
    "pick_block",
    "plane",
    "row_element",
    "row_load",
    "row_store",
    "rows_of",
    "sample",
    "scalar_row_load",
    "scalar_row_store",
    "slot_select",
    "spread",
    "sub",
    "ubo_any",
    "ubo_from",
    "ubo_lanes",
    "ubo_places",
    "ubo_scalar",
    "uniform",
    "viewed",
]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = "npt.NDArray[np.intp] | None"
Step: TypeAlias = tuple[int, int]  # rows per element, number of elements


def lanes_of(mask: Array, quads: bool) -> Array:
    """The lanes where `mask` holds; with `quads`, all lanes of every quad where any does."""
    if not quads:
        return np.flatnonzero(mask)
    # Four lanes at a time, since masks are bytes.
    return lanes_of_quads(np.flatnonzero(np.ascontiguousarray(mask).view(np.uint32)))


def sub(ids: Index, index: Index) -> Index:
    """Lane numbers of a selection within another selection."""
    if ids is None:
        return index
    return ids if index is None else ids[index]


def full(value: Array, count: int) -> Array:
    """A value as a new contiguous array of lanes, whatever its shape."""
    if value.ndim == 0:
        return np.full(count, value)
    return value if value.flags.c_contiguous else value.copy()


def spread(value: Array, count: int, lanes: Index) -> Array:
    """Values of the selected lanes among all lanes; zero for the others."""
    if lanes is None or value.ndim == 0:
        return full(value, count)
    among = np.zeros(count, value.dtype)
    among[lanes] = value
    return among


def fetched(value: Array, count: int, lanes: Index, dtype: Any) -> Array:
    """An input for the selected lanes, contiguous, viewed as `dtype`."""
    if value.dtype != dtype:
        value = value.view(dtype)
    if value.ndim == 0:
        return np.full(count if lanes is None else lanes.size, value)
    if lanes is not None:
        return value.take(lanes)
    return value if value.flags.c_contiguous else value.copy()


def uniform(value: Any, dtype: Any) -> Any:
    """A value that is equal for all lanes, as a scalar."""
    scalar = np.asarray(value).reshape(-1)[0]
    return scalar if scalar.dtype == dtype else scalar.view(dtype)


def clock() -> tuple[np.uint32, np.uint32]:
    """A monotonic time in nanoseconds: its low and its high word."""
    high, low = divmod(time.perf_counter_ns(), 1 << 32)
    return np.uint32(low), np.uint32(high & 0xFFFFFFFF)


def fill(count: int, value: Any, dtype: Any) -> Array:
    """Lanes that all hold one value."""
    lanes = np.empty(count, dtype)
    lanes.fill(value)
    return lanes


def helpers(helper: Array | None, alive: Array | None, count: int) -> Array:
    """Lanes that write nothing: helpers from the start, and those demoted since."""
    mask = np.zeros(count, np.bool_) if helper is None else helper
    return mask if alive is None else np.logical_or(mask, np.logical_not(alive))


def idle(live: Array, alive: Array | None, lanes: Array | None) -> bool:
    """Whether all lanes that still run a loop are discarded, so that the loop may end.

    `lanes` are the numbers of these lanes in the chunk.
    """
    if alive is None:
        return False
    return not np.logical_and(live, alive if lanes is None else alive.take(lanes)).any()


def plane(planes: Sequence[Sequence[float]], index: int, component: int) -> Any:
    """One coefficient of a user clip plane; zero if it is not set."""
    return np.float32(planes[index][component] if index < len(planes) else 0.0)


def kill(alive: Array | None, cond: Any, count: int, lanes: Index, live: Array | None) -> Array:
    """Remove the lanes where `cond` holds from `alive`."""
    if alive is None:
        alive = np.ones(count, np.bool_)
    if live is not None:
        cond = np.logical_and(cond, live)
    if lanes is None:
        left: Array = np.greater(alive, cond)
        return left
    dead = lanes[cond.nonzero()[0]] if cond.ndim else lanes[: lanes.size if cond else 0]
    alive[dead] = False
    return alive


# -- uniform buffers ---------------------------------------------------------------------------


def ubo_scalar(view: Array, offset: Any, extra: int) -> Any:
    """One element at a dynamic byte offset; zero outside."""
    at = (int(offset) + extra) // view.itemsize
    return view[at] if offset >= 0 and at < view.size else view.dtype.type(0)


def ubo_lanes(view: Array, offset: Array, extra: int) -> Array:
    """One element per lane at byte offsets; zero outside."""
    if view.size == 0 or not offset.size:
        return np.zeros(offset.shape, view.dtype)
    first, beside = divmod(extra, view.itemsize)
    low, high = int(offset.min()), int(offset.max()) + extra
    if not beside and first >= 0 <= low and high // view.itemsize < view.size:
        shift = view.itemsize.bit_length() - 1
        at = (offset >> offset.dtype.type(shift)).astype(np.int64)
        found: Array = view[first:].take(at)
        return found
    at = (offset.astype(np.int64) + extra) // view.itemsize
    inside = (offset >= 0) & (at < view.size)
    values: Array = view.take(at, mode="clip")
    if not inside.all():
        values[~inside] = 0
    return values


Places = tuple[Array, Array, int, int]


def ubo_places(offset: Array, size: int) -> Places:
    """The element numbers of byte offsets, for several loads (`ubo_from`)."""
    if not offset.size:
        return offset, offset, 0, 0
    at = (offset >> offset.dtype.type(size.bit_length() - 1)).astype(np.int64)
    return offset, at, int(offset.min()), int(offset.max())


def ubo_from(view: Array, places: Places, extra: int) -> Array:
    """One element per lane at offsets that `ubo_places` has converted; zero outside."""
    offset, at, low, high = places
    first, beside = divmod(extra, view.itemsize)
    if beside or not first >= 0 <= low or not (high + extra) // view.itemsize < view.size:
        return ubo_lanes(view, offset, extra)
    found: Array = view[first:].take(at)
    return found


Rows = tuple[Array, Array, int, int]


def rows_of(lanes: Any, stride: int, size: int) -> Rows:
    """The first element of the row of each lane's primitive (0-d if all lanes have one); also the
    rows' numbers, the stride, and the first element of the last row.
    """
    numbers = lanes.system("primitive_id").view(np.int32)
    last = int(numbers.max()) if numbers.size else 0
    places = np.multiply(numbers, stride // size, dtype=np.int64)
    return places, numbers, stride, last * stride


def row_element(view: Array, rows: Rows, extra: int) -> Array:
    """The element at a byte offset in each lane's row; zero outside of the view."""
    places, numbers, stride, last = rows
    first, beside = divmod(extra, view.itemsize)
    if beside or stride % view.itemsize or last >= 1 << 31 or last + extra >= view.nbytes:
        offsets = np.multiply(np.atleast_1d(numbers), stride, dtype=np.int32)
        return ubo_lanes(view, offsets, extra).reshape(numbers.shape)
    return np.asarray(view[first:].take(places))


def pick_block(blocks: Sequence[Array], index: Any) -> Array:
    """The block with a dynamic (uniform) index; an empty one if it is out of range."""
    at = int(index)
    return blocks[at] if 0 <= at < len(blocks) else blocks[0][:0]


def ubo_any(
    blocks: Sequence[Array], index: Array, offset: Any, extra: int, count: int, dtype: Any
) -> Array:
    """Load where both block and offset differ between lanes."""
    result = np.zeros(count, dtype)
    offset = np.broadcast_to(offset, count)
    for at in np.unique(index):
        if 0 <= at < len(blocks):
            lanes = (index == at).nonzero()[0]
            result[lanes] = ubo_lanes(blocks[int(at)], offset[lanes], extra)
    return result


# -- row arrays --------------------------------------------------------------------------------


def row_of(base: int, steps: Sequence[Step], indices: Sequence[Any], rows: int) -> Any:
    """The row that a chain of indices selects; `rows` (one past the end) if any index is out of
    range.
    """
    row: Any = np.int64(base)
    bad: Any = False
    for (stride, length), index in zip(steps, indices, strict=True):
        wide = index.astype(np.int64)
        row = row + wide * stride
        bad = bad | (wide < 0) | (wide >= length)
    return np.where(bad | (row < 0) | (row > rows), rows, row)


def row_load(
    array: Array, base: int, steps: Sequence[Step], indices: Sequence[Any], lanes: Index, count: int
) -> Array:
    """Load per lane; zero outside the array."""
    rows = len(array)
    row = row_of(base, steps, indices, rows)
    if row.ndim == 0:
        at = int(row)
        if at >= rows:
            return np.zeros(count, array.dtype)
        one: Array = array[at]
        return one.copy() if lanes is None else one.take(lanes)
    at = np.minimum(row, rows - 1)
    values: Array = array[at, np.arange(count) if lanes is None else lanes]
    outside = row >= rows
    if outside.any():
        values[outside] = 0
    return values


def row_store(
    array: Array,
    base: int,
    steps: Sequence[Step],
    indices: Sequence[Any],
    value: Any,
    lanes: Index,
    live: Array | None,
) -> None:
    """Store per lane, for live lanes inside the array."""
    rows = len(array)
    row = row_of(base, steps, indices, rows)
    if row.ndim == 0:
        if int(row) >= rows:
            return
        if lanes is None and live is None:
            array[int(row)] = value
            return
        chosen = _live_lanes(lanes, live)
        array[int(row), sub(lanes, chosen)] = value if value.ndim == 0 else value[chosen]
        return
    ok = row < rows
    if live is not None:
        ok = ok & live
    chosen = ok.nonzero()[0]
    where = chosen if lanes is None else lanes[chosen]
    array[row[chosen], where] = value if value.ndim == 0 else value[chosen]


def _live_lanes(lanes: Index, live: Array | None) -> Any:
    if live is not None:
        return live.nonzero()[0]
    return slice(None) if lanes is not None else None


def scalar_row_load(array: Array, base: int, steps: Sequence[Step], indices: Sequence[Any]) -> Any:
    """Load from an array that all lanes share, with one row number, or one per lane."""
    rows = len(array)
    row = row_of(base, steps, indices, rows)
    if row.ndim == 0:
        return array[int(row)] if row < rows else array.dtype.type(0)
    values = array.take(row, mode="clip")
    outside = row >= rows
    if outside.any():
        values[outside] = 0
    return values


def scalar_row_store(
    array: Array, base: int, steps: Sequence[Step], indices: Sequence[Any], value: Any
) -> None:
    """Store into an array that all lanes share."""
    row = row_of(base, steps, indices, len(array))
    if row < len(array):
        array[int(row)] = value


def viewed(value: Array, dtype: Any) -> Array:
    """The bits of a value viewed as another dtype."""
    return value if value.dtype == dtype else value.view(dtype)


def patch_of(size: int, count: int, lanes: Index) -> Array:
    """The patch of each lane, `size` lanes sharing one."""
    return (np.arange(count) if lanes is None else lanes) // size


def own_load(array: Array, size: int, count: int, lanes: Index) -> Array:
    """Load an output: the lane's own, or that of its patch."""
    row: Array = array[0]
    return row.take(patch_of(size, count, lanes))


def peer_load(array: Array, index: Any, size: int, count: int, lanes: Index) -> Array:
    """Load an output of invocation `index` of the lane's patch; zero if it does not exist."""
    inside = (index >= 0) & (index < size)
    place = patch_of(size, count, lanes) * size + np.where(inside, index, 0)
    values: Array = array[0].take(place)
    if not np.all(inside):
        values[~np.broadcast_to(inside, values.shape)] = 0
    return values


def slot_select(slots: Sequence[Any], offset: Any, count: int) -> Array:
    """Select one of consecutive input slots per lane; zero out of range."""
    first = full(slots[0], count)
    if offset.ndim == 0:
        at = int(offset)
        return full(slots[at], count) if 0 <= at < len(slots) else np.zeros_like(first)
    table = np.stack([full(s, count) for s in slots])
    return scalar_free_take(table, offset, count)


def scalar_free_take(table: Array, offset: Array, count: int) -> Array:
    inside = (offset >= 0) & (offset < len(table))
    values: Array = table[np.where(inside, offset, 0), np.arange(count)]
    values[~inside] = 0
    return values


def emit_vertex(
    events: list[Any],
    stream: int,
    rows: Sequence[Array] | None,
    count: int,
    lanes: Index,
    live: Array | None,
) -> None:
    """Record that these lanes emit a vertex (with copies of the outputs) or end a primitive."""
    if live is not None:
        lanes = sub(lanes, live.nonzero()[0])
    if lanes is None:
        numbers = np.arange(count)
        values = None if rows is None else [row[0].copy() for row in rows]
    else:
        numbers = lanes
        values = None if rows is None else [row[0].take(lanes) for row in rows]
    events.append((stream, numbers, values))


def derivative(x: Array, step: int, coarse: bool) -> Array:
    """Difference between neighbours of each quad: `step` 1 along x, 2 along y."""
    if coarse:
        return (x[step::4] - x[::4]).repeat(4)
    result = np.empty_like(x)
    first = ((0, 2),) if step == 1 else ((0, 4), (1, 4))  # within each pair, and from pair to pair
    for start, stride in first:
        difference = x[start + step :: stride] - x[start::stride]
        result[start::stride] = difference
        result[start + step :: stride] = difference
    return result


# -- textures ----------------------------------------------------------------------------------

_UNBOUND = (0, 0, 0, 1)
_LANE_KEYS = ("lod", "bias", "compare", "sample_index", "min_lod")


def sample(
    textures: Sequence[Any],
    index: Any,
    op: str,
    coords: Sequence[Any],
    count: int,
    dtype: Any,
    wanted: int = 15,
    kept: tuple[_Kept, Sequence[int | None]] | None = None,
    **more: Any,
) -> Sequence[Array]:
    """Run one texture operation for all lanes; `index` may differ between lanes.

    `wanted` is a mask of the texel components that the shader reads; `kept` is what lookups keep of
    coordinates, and the numbers of these.
    """
    if getattr(index, "ndim", 0):
        return _sample_each(textures, index, op, coords, count, dtype, more)
    at = int(index)
    unit = textures[at] if 0 <= at < len(textures) else None
    if unit is None:
        return [np.full(count, v, dtype) for v in _UNBOUND]
    if wanted != 15:
        unit = unit.reading(wanted)
    alike = not any(map(np.ndim, (*coords, *_numbers(more))))
    wide = coords if alike else [full(c, count) for c in coords]
    if kept is not None and not alike:
        more["kept"] = _kept_of(*kept, coords)
    values: Sequence[Array] = unit.sample(op, wide, count, **more)
    if alike:  # one lookup serves all lanes
        values = [full(np.asarray(value), count) for value in values]
    if values[0].dtype != dtype and values[0].dtype.itemsize == np.dtype(dtype).itemsize:
        return [value.view(dtype) for value in values]  # reinterpret texels of another type
    return values


_Kept = dict[int, tuple[Array, dict[Any, Any]]]


def _kept_of(
    kept: _Kept, numbers: Sequence[int | None], coords: Sequence[Array]
) -> list[dict[Any, Any] | None]:
    """What was computed of these coordinates, whose arrays are not overwritten. A loop makes other
    arrays.
    """
    found: list[dict[Any, Any] | None] = []
    for number, array in zip(numbers, coords, strict=True):
        if number is None:
            found.append(None)
            continue
        if number not in kept or kept[number][0] is not array:
            kept[number] = array, {}
        found.append(kept[number][1])
    return found


def _numbers(more: dict[str, Any]) -> Iterator[Any]:
    """Arguments other than coordinates that may differ between lanes."""
    for value in more.values():
        yield from value if isinstance(value, list | tuple) else (value,)


def _sample_each(
    textures: Sequence[Any],
    index: Array,
    op: str,
    coords: Sequence[Any],
    count: int,
    dtype: Any,
    more: dict[str, Any],
) -> Sequence[Array]:
    """Sample once per texture that a lane uses; derivatives come from whole quads."""
    results = [np.full(count, v, dtype) for v in _UNBOUND]
    wide = [full(c, count) for c in coords]
    quads = bool(more.get("quads"))
    for at in np.unique(index):
        mine = index == at
        lanes = lanes_of(mine, quads)
        part: dict[str, Any] = {}
        for key, value in more.items():
            if isinstance(value, list):
                part[key] = [v if v.ndim == 0 else v[lanes] for v in value]
            elif key in _LANE_KEYS and np.ndim(value):
                part[key] = value[lanes]
            else:
                part[key] = value
        values = sample(textures, at, op, [c[lanes] for c in wide], lanes.size, dtype, **part)
        chosen = mine[lanes]
        for result, value in zip(results, values, strict=False):
            result[lanes[chosen]] = full(value, lanes.size)[chosen]
    return results
