"""Geometry shaders: one lane per primitive and invocation; emissions become a vertex stream.

A geometry program runs all primitives of a chunk at once. It returns a list of emissions in program
order. Sorted by lane (stably) they are the vertices in drawing order; a new strip begins wherever
the lane changes and after every `EndPrimitive`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.lanes import Value

if TYPE_CHECKING:
    from gallette.drivers.common.program import BoundProgram, Emission, Outputs, Program

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]


class Corners:
    """`GeometryLanes` for the primitives `start..stop` of a batch, `invocations` lanes each."""

    __slots__ = ("_corners", "_identity", "_invocation", "_varying", "count")

    def __init__(
        self,
        varying: Callable[[int, int], Value],
        corners: Ints,
        identity: npt.NDArray[np.int32],
        invocations: int,
    ) -> None:
        """`corners[n, k]` are vertex numbers; `varying(slot, component)` has a value per vertex."""
        self.count = len(corners) * invocations
        self._varying = varying
        self._corners = np.repeat(corners, invocations, axis=0) if invocations > 1 else corners
        self._identity = np.repeat(identity, invocations) if invocations > 1 else identity
        self._invocation = np.tile(np.arange(invocations, dtype=np.int32), len(corners))

    def corner(self, slot: int, component: int, corner: int) -> Value:
        """A varying of one corner; zero if there is no such corner."""
        value = self._varying(slot, component)
        if corner >= self._corners.shape[1]:
            return np.zeros((), value.dtype)
        return value.take(self._corners[:, corner]) if value.ndim else value

    def corner_at(self, slot: int, component: int, index: Value, lanes: Array | None) -> Value:
        """A varying of a corner that differs between lanes; zero if there is no such corner."""
        return corner_at(self._varying(slot, component), self._corners, index, lanes)

    def system(self, name: str) -> Value:
        """A system value of the primitives: `primitive_id` or `invocation_id`."""
        return self._invocation if name == "invocation_id" else self._identity


def corner_at(value: Value, corners: Ints, index: Value, lanes: Array | None) -> Value:
    """Per lane, `value` of vertex number `corners[lane, index]`; zero for an index outside."""
    chosen = corners if lanes is None else corners[lanes]
    inside = (index >= 0) & (index < corners.shape[1])
    if not value.ndim:
        return np.where(np.broadcast_to(inside, len(chosen)), value, value.dtype.type(0))
    found: Array = value.take(chosen[np.arange(len(chosen)), np.where(inside, index, 0)])
    if not np.all(inside):
        found[~np.broadcast_to(inside, found.shape)] = 0
    return found


@lazy_dataclass()
class Expanded:
    """The vertices a geometry shader emitted, and the strips they form."""

    outputs: Outputs
    count: int
    start: Ints  # first vertex of each strip
    length: Ints
    lane: Ints  # of each vertex
    order: Ints | None = None  # where the values of each vertex are; None: in the same order

    @classmethod
    def of(cls, outputs: Outputs, lane: Ints, strip: Ints) -> Expanded:
        """A strip begins where the lane or the number of its strip changes."""
        begins = np.ones(len(lane), np.bool_)
        begins[1:] = (lane[1:] != lane[:-1]) | (strip[1:] != strip[:-1])
        start = np.flatnonzero(begins)
        length = np.diff(np.append(start, len(lane)))
        return cls(outputs, len(lane), start, length, lane)


def run_geometry(
    program: Program,
    bound: BoundProgram,
    varying: Callable[[int, int], Value],
    corners: Ints,
    identity: npt.NDArray[np.int32],
    invocations: int,
    limit: int,
) -> dict[int, Expanded]:
    """Run all primitives (`limit` is the shader's `max_vertices`); returns the vertices of each
    stream, always including the first stream.
    """

    def lanes(start: int, stop: int) -> Corners:
        return Corners(varying, corners[start:stop], identity[start:stop], invocations)

    made = bound.strips(lanes(0, len(corners))) if len(corners) else None
    if made is not None:
        return made
    step = max(1, program.facts.chunk_lanes // invocations)
    events: dict[int, list[Emission]] = {0: []}
    for start in range(0, len(corners), step):
        for stream, numbers, values in bound.geometry(lanes(start, start + step)):
            event = stream, numbers + start * invocations, values
            events.setdefault(stream, []).append(event)
    return {stream: expand(events[stream], program.places, limit) for stream in sorted(events)}


def expand(
    events: list[Emission], places: tuple[tuple[int, int, int], ...], limit: int
) -> Expanded:
    """Sort the emissions of a stream into vertices and strips."""
    lane = np.concatenate([numbers for _, numbers, _ in events] or [np.zeros(0, np.int64)])
    cut_mask = _cut_mask(events)
    order = np.argsort(lane, kind="stable")
    lane, is_cut = lane[order], cut_mask[order]
    cuts_before: Ints = np.cumsum(is_cut, dtype=np.int64)
    emits = np.flatnonzero(~is_cut)
    lane, strip = lane[emits], cuts_before[emits]
    rank = _rank(lane)
    if len(rank) and int(rank.max()) >= limit:
        kept = np.flatnonzero(rank < limit)
        emits, lane, strip = emits[kept], lane[kept], strip[kept]
    # Where in the concatenation of all emitted values each vertex is.
    position = np.cumsum(~cut_mask) - 1
    chosen = position[order[emits]]
    outputs: Outputs = {}
    for i, (slot, component, _) in enumerate(places):
        pieces = [values[i] for _, _, values in events if values is not None]
        joined = np.concatenate(pieces)[chosen] if pieces else np.zeros(0, np.float32)
        outputs.setdefault(slot, [None] * 4)[component] = joined
    return Expanded.of(outputs, lane, strip)


def _cut_mask(events: list[Emission]) -> npt.NDArray[np.bool_]:
    """Which of the emissions, in program order, end a primitive."""
    if not events:
        return np.zeros(0, np.bool_)
    return np.concatenate([np.full(len(n), v is None) for _, n, v in events])


def _rank(lane: Ints) -> Ints:
    """How many earlier entries of a sorted array are equal to each one."""
    if not len(lane):
        return lane
    first = np.ones(len(lane), np.bool_)
    first[1:] = lane[1:] != lane[:-1]
    starts = np.flatnonzero(first)
    return np.arange(len(lane)) - np.repeat(starts, np.diff(np.append(starts, len(lane))))
