"""Atomic operations of many lanes at once, with the results of executing them one after the other.

Lanes are sorted by address. Within the run of lanes that share one, an associative operation is a
prefix scan (with log2 of the longest run steps); an exchange passes each lane its predecessor's
value; other operations go rank by rank: first every address's first lane, then every second, and so
on. A compare and swap with many lanes at one address is executed from one success to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Combine = Callable[[Array, Array], Array]

_SIGNED = {"imin": np.minimum, "imax": np.maximum}
_FLOAT = {"fmin": np.fmin, "fmax": np.fmax}
_UNSIGNED: dict[str, Combine] = {
    "iadd": np.add,
    "umin": np.minimum,
    "umax": np.maximum,
    "iand": np.bitwise_and,
    "ior": np.bitwise_or,
    "ixor": np.bitwise_xor,
}


def _inc_wrap(old: Array, limit: Array) -> Array:
    up: Array = old + old.dtype.type(1)
    return np.where(old >= limit, old.dtype.type(0), up)


def _dec_wrap(old: Array, limit: Array) -> Array:
    down: Array = old - old.dtype.type(1)
    return np.where((old == 0) | (old > limit), limit, down)


# Runs this short go rank by rank; up to this many successes are followed one by one.
_SHORT, _CHANGES = 4, 32

_ORDERED: dict[str, Combine] = {"inc_wrap": _inc_wrap, "dec_wrap": _dec_wrap}


class _Runs:
    """Lanes grouped by address, in lane order within each group."""

    __slots__ = ("address", "first", "last", "order", "rank")

    def __init__(self, address: npt.NDArray[np.intp]) -> None:
        self.order = np.argsort(address, kind="stable")
        self.address = address[self.order]
        starts = np.ones(address.size, np.bool_)
        starts[1:] = self.address[1:] != self.address[:-1]
        self.first = np.flatnonzero(starts)
        self.last = np.append(self.first[1:], address.size) - 1
        lengths = self.last - self.first + 1
        self.rank = np.arange(address.size) - np.repeat(self.first, lengths)

    def unsorted(self, values: Array) -> Array:
        """Values in sorted order back in lane order."""
        result = np.empty_like(values)
        result[self.order] = values
        return result


def apply_atomic(op: str, memory: Array, address: npt.NDArray[np.intp], data: Array) -> Array:
    """Apply `memory[address] = op(memory[address], data)` lane by lane; returns the old values.

    `memory` is an unsigned array, `data` unsigned bits of the same width; addresses are inside.
    """
    if address.size == 0:
        return np.zeros(0, memory.dtype)
    bits = memory.dtype.itemsize
    if op in _SIGNED or op in _FLOAT or op == "fadd":
        kind = "i" if op in _SIGNED else "f"
        typed = memory.view(f"{kind}{bits}")
        old = _apply(op, typed, address, data.view(f"{kind}{bits}"))
        result: Array = old.view(memory.dtype)
        return result
    return _apply(op, memory, address, data)


def _apply(op: str, memory: Array, address: npt.NDArray[np.intp], data: Array) -> Array:
    runs = _Runs(address)
    values = data[runs.order]
    if op == "xchg":
        old = np.empty_like(values)
        old[1:] = values[:-1]
        old[runs.first] = memory[runs.address[runs.first]]
        memory[runs.address[runs.last]] = values[runs.last]
        return runs.unsorted(old)
    combine: Combine | None = _UNSIGNED.get(op) or _SIGNED.get(op) or _FLOAT.get(op)
    if combine is None:
        ordered = np.add if op == "fadd" else _ORDERED[op]
        return _by_rank(runs, memory, lambda old, lanes: ordered(old, values[lanes]), values.dtype)
    scanned = _scan(combine, values, runs.rank)
    initial = memory[runs.address]
    old = initial.copy()
    later = np.flatnonzero(runs.rank)
    old[later] = combine(initial[later], scanned[later - 1])
    ends = runs.last
    memory[runs.address[ends]] = combine(initial[ends], scanned[ends])
    return runs.unsorted(old)


def _scan(combine: Combine, values: Array, rank: Array) -> Array:
    """Inclusive prefix combination within runs."""
    scanned = values
    step, longest = 1, int(rank.max()) + 1
    while step < longest:
        lanes = np.flatnonzero(rank >= step)
        updated = scanned.copy()
        updated[lanes] = combine(scanned[lanes - step], scanned[lanes])
        scanned = updated
        step *= 2
    return scanned


def _by_rank(
    runs: _Runs, memory: Array, combine: Callable[[Array, Array], Array], dtype: np.dtype[Any]
) -> Array:
    """One step per position in the runs, all runs at once."""
    old = np.empty(runs.rank.size, dtype)
    order = np.argsort(runs.rank, kind="stable")
    bounds = np.append(0, np.cumsum(np.bincount(runs.rank)))
    for start, stop in pairwise(bounds.tolist()):
        lanes = order[start:stop]
        at = runs.address[lanes]
        old[lanes] = memory[at]
        memory[at] = combine(old[lanes], lanes)
    return runs.unsorted(old)


def compare_and_swap(
    memory: Array, address: npt.NDArray[np.intp], compare: Array, data: Array
) -> Array:
    """Store `data` where memory equals `compare`, lane by lane; returns the old values."""
    if address.size == 0:
        return np.zeros(0, memory.dtype)
    runs = _Runs(address)
    expected, values = compare[runs.order], data[runs.order]
    old = np.empty_like(values)
    rest = np.arange(old.size)
    if int(runs.rank.max()) >= _SHORT:
        rest = _swap_by_change(runs, memory, expected, values, old)
    if rest.size:
        later = _Runs(runs.address[rest])

        def swap(before: Array, lanes: Array) -> Array:
            lane = rest[later.order[lanes]]
            return np.where(before == expected[lane], values[lane], before)

        old[rest] = _by_rank(later, memory, swap, memory.dtype)
    return runs.unsorted(old)


def _swap_by_change(
    runs: _Runs, memory: Array, expected: Array, values: Array, old: Array
) -> npt.NDArray[np.intp]:
    """Execute the successes of each address one by one; fills `old`, returns the remaining lanes.

    A lock that all lanes try to take changes once, however many lanes there are. After some
    successes the caller executes the rest another way: where every lane succeeds, this would
    compare all lanes for each.
    """
    lanes = np.arange(old.size)
    lengths = runs.last - runs.first + 1
    run = np.repeat(np.arange(lengths.size), lengths)
    current = memory[runs.address[runs.first]]
    able = expected != values  # the other lanes leave memory unchanged
    for _ in range(_CHANGES):
        old[lanes] = current[run[lanes]]
        hits = lanes[able[lanes] & (expected[lanes] == old[lanes])]
        if not hits.size:
            lanes = hits
            break
        which, first = np.unique(run[hits], return_index=True)
        current[which] = values[hits[first]]
        behind = np.full(lengths.size, old.size, np.intp)  # where nothing matches, the run is done
        behind[which] = hits[first]
        lanes = lanes[lanes > behind[run[lanes]]]
    memory[runs.address[runs.first]] = current
    return lanes
