"""The tessellation stages of a draw: patches in, a new set of vertices and primitives out.

A lane of the control shader is an output vertex of a patch; a lane of the evaluation shader is a
point of a patch's domain. Patches with equal levels are subdivided once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.draw.emissions import corner_at
from gallette.drivers.common.lanes import Value
from gallette.drivers.common.program import Outputs
from gallette.drivers.common.vertex.tessellator import MAX_LEVEL, subdivide
from gallette.drivers.common.vertex.vertices import Ints, VertexSet
from gallette.drivers.common.work import LANE

from .splitting import Primitives, joined_outputs, lanes_at_once
from .state import DrawState

Array = npt.NDArray[Any]
_Varying = Callable[[int, int], Value]
_ZERO = np.zeros((), np.float32)


class Patches:
    """`ControlLanes`: every patch has `size` lanes, one for each vertex it outputs."""

    __slots__ = ("_corners", "_identity", "_varying", "_vertices", "count", "size")

    def __init__(
        self, varying: _Varying, corners: Ints, identity: npt.NDArray[np.int32], size: int
    ) -> None:
        self.count = len(corners) * size
        self.size = size
        self._varying = varying
        self._vertices = corners.shape[1]
        self._corners = np.repeat(corners, size, axis=0)
        self._identity = np.repeat(identity, size)

    def corner(self, slot: int, component: int, corner: int) -> Value:
        """A varying of one of the patch's vertices."""
        value = self._varying(slot, component)
        if corner >= self._vertices:
            return np.zeros((), value.dtype)
        return value.take(self._corners[:, corner]) if value.ndim else value

    def corner_at(self, slot: int, component: int, index: Value, lanes: Array | None) -> Value:
        """The values of an input for a vertex number that differs between lanes."""
        return corner_at(self._varying(slot, component), self._corners, index, lanes)

    def system(self, name: str) -> Value:
        """A system value: `primitive_id`, `invocation_id` or `patch_vertices_in`."""
        if name == "invocation_id":
            return np.arange(self.count, dtype=np.int32) % np.int32(self.size)
        if name == "patch_vertices_in":
            return np.asarray(self._vertices, np.int32)
        return self._identity


class DomainPoints:
    """`EvaluationLanes`: the domain points of many patches, patch after patch."""

    __slots__ = (
        "_coordinates",
        "_corners",
        "_identity",
        "_numbers",
        "_patch",
        "_patches",
        "_varying",
        "count",
    )

    def __init__(
        self,
        varying: _Varying,
        corners: Ints,
        patches: Outputs,
        identity: npt.NDArray[np.int32],
        patch: Ints,
        coordinates: npt.NDArray[np.float32],
    ) -> None:
        self.count = len(patch)
        self._varying = varying
        self._corners = corners
        self._patches = patches
        self._identity = identity
        self._patch = patch
        self._coordinates = coordinates
        self._numbers: dict[int, Ints] = {}  # of each point's corners

    def corner(self, slot: int, component: int, corner: int) -> Value:
        """A per-vertex value of the patch."""
        value = self._varying(slot, component)
        if corner >= self._corners.shape[1]:
            return np.zeros((), value.dtype)
        if not value.ndim:
            return value
        numbers = self._numbers.get(corner)
        if numbers is None:
            numbers = self._numbers[corner] = self._corners[:, corner].take(self._patch)
        return value.take(numbers)

    def corner_at(self, slot: int, component: int, index: Value, lanes: Array | None) -> Value:
        """The values of an input for a vertex number that differs between lanes."""
        patch = self._patch if lanes is None else self._patch[lanes]
        return corner_at(self._varying(slot, component), self._corners, index, patch)

    def patch(self, slot: int, component: int) -> Value:
        """A value of the patch as a whole."""
        row = self._patches.get(slot)
        value = None if row is None else row[component]
        if value is None:
            return _ZERO
        return value.take(self._patch) if value.ndim else value

    def system(self, name: str, component: int = 0) -> Value:
        """A system value: `tess_coord`, `primitive_id` or `patch_vertices_in`."""
        if name == "tess_coord":
            return np.ascontiguousarray(self._coordinates[:, component])
        if name == "patch_vertices_in":
            return np.asarray(self._corners.shape[1], np.int32)
        return self._identity.take(self._patch)


def _looked_up(outputs: Outputs) -> _Varying:
    def varying(slot: int, component: int) -> Value:
        row = outputs.get(slot)
        value = None if row is None else row[component]
        return _ZERO if value is None else value

    return varying


def _controlled(
    state: DrawState,
    vertices: VertexSet,
    corners: Ints,
    identity: npt.NDArray[np.int32],
    levels: tuple[float, ...],
) -> tuple[_Varying, Ints, Outputs]:
    """The inputs of the evaluation shader: (per-vertex values, corners, values of patches)."""
    program = state.programs.get(Stage.TESS_CTRL)
    if program is None:
        fixed = [np.asarray(level, np.float32) for level in levels]
        patch: Outputs = {
            VaryingSlot.TESS_LEVEL_OUTER: [*fixed[:4]],
            VaryingSlot.TESS_LEVEL_INNER: [*fixed[4:6], None, None],
        }
        return vertices.component, corners, patch
    size = max(1, state.fixed.selection.infos[Stage.TESS_CTRL].vertices_out)
    outputs, patches = program.control(Patches(vertices.component, corners, identity, size))
    count = len(corners)
    whole = {
        slot: [None if v is None else np.broadcast_to(v, count * size) for v in row]
        for slot, row in outputs.items()
    }
    return _looked_up(whole), np.arange(count * size).reshape(count, size), patches


def _level_table(patches: Outputs, slot: int, count: int, components: int) -> Array:
    row = patches.get(slot) or [None] * 4
    table = np.zeros((count, components), np.float32)
    for i in range(components):
        value = row[i]
        if value is not None:
            table[:, i] = value.view(np.float32) if value.ndim else value
    return table


def tessellated_primitives(
    state: DrawState, given: Primitives, levels: tuple[float, ...]
) -> Iterator[Primitives]:
    """Run both shaders and the tessellator, over as many patches at a time as memory allows."""
    selection = state.fixed.selection
    # A point is a corner of up to six triangles, of which there are twice as many.
    limit = lanes_at_once(selection.stages[Stage.TESS_EVAL].facts) // 2
    control = selection.infos.get(Stage.TESS_CTRL)
    size = max(1, given.corners.shape[1], control.vertices_out if control is not None else 0)
    for start in range(0, len(given.corners), max(1, limit // size)):
        some = slice(start, start + max(1, limit // size))
        corners, identity = given.corners[some], given.identity[some]
        count = len(corners)
        if control is not None:
            state.counters.hs_invocations += count
        varying, inputs, patches = _controlled(state, given.vertices, corners, identity, levels)
        table = np.concatenate(
            (
                _level_table(patches, VaryingSlot.TESS_LEVEL_OUTER, count, 4),
                _level_table(patches, VaryingSlot.TESS_LEVEL_INNER, count, 2),
            ),
            axis=1,
        )
        # No patch has more points than a square grid of its largest level.
        largest = np.clip(np.nan_to_num(table).max(axis=1), 1, MAX_LEVEL)
        points = ((np.ceil(largest) + 2) ** 2).astype(np.int64)
        state.work.spend(LANE * int(points.sum()))
        for first, last in _cuts(points, limit):
            which = np.arange(first, last)
            made = _evaluated(state, varying, inputs, patches, identity, which, table[first:last])
            if made is not None:
                yield made


def _cuts(sizes: Ints, limit: int) -> Iterator[tuple[int, int]]:
    """Ranges of items that have about `limit` in all (but at least one item)."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + limit, "right")))
        yield start, stop
        start = stop


def _evaluated(
    state: DrawState,
    varying: _Varying,
    inputs: Ints,
    patches: Outputs,
    identity: npt.NDArray[np.int32],
    numbers: Ints,
    table: Array,
) -> Primitives | None:
    """The subdivided patches of these numbers, whose levels are the rows of `table`."""
    selection = state.fixed.selection
    program, info = state.programs[Stage.TESS_EVAL], selection.infos[Stage.TESS_EVAL]
    points = _points(
        table.tobytes(),
        info.tess_primitive or "triangles",
        info.tess_spacing or "equal_spacing",
        info.tess_ccw,
        info.tess_point_mode,
    )
    total, patch, primitives = len(points.patch), points.patch, points.primitives
    state.counters.ds_invocations += total
    if not len(primitives):
        return None
    if numbers[0]:
        patch = patch + numbers[0]
    coordinates = points.coordinates
    step = selection.stages[Stage.TESS_EVAL].facts.chunk_lanes
    chunks = []
    for start in range(0, total, step):
        chunk = slice(start, start + step)
        lanes = DomainPoints(varying, inputs, patches, identity, patch[chunk], coordinates[chunk])
        chunks.append((program.evaluate(lanes), lanes.count))
    outputs = joined_outputs(chunks)
    new = VertexSet.from_outputs(
        total,
        {slot: list(values) for slot, values in outputs.items()},
        state.fixed.viewport,
        fused=False,
    )
    provoking = primitives[:, 0 if state.fixed.raster.state.flatshade_first else -1]
    return Primitives(new, primitives, provoking, identity[numbers].take(points.owner))


@lazy_dataclass()
class _Points:
    """The points that some patches are subdivided into, patch after patch."""

    patch: Ints  # of each point
    coordinates: npt.NDArray[np.float32]
    primitives: Ints  # the points of each
    owner: Ints  # and its patch


@functools.lru_cache(maxsize=4)  # of some megabytes each at most
def _points(table: bytes, primitive: str, spacing: str, ccw: bool, point_mode: bool) -> _Points:
    """Subdivide patches with these levels, six for each; kept, because most applications subdivide
    alike in every frame.
    """
    levels = np.frombuffer(table, np.float32).reshape(-1, 6)
    distinct, which = np.unique(levels, axis=0, return_inverse=True)
    which = which.reshape(-1)
    domains = [
        subdivide(primitive, tuple(row[:4]), tuple(row[4:]), spacing, ccw, point_mode)
        for row in distinct.tolist()
    ]
    sizes = np.array([0 if d is None else len(d.points) for d in domains], np.int64)[which]
    starts = np.cumsum(sizes) - sizes
    coordinates = np.zeros((int(sizes.sum()), 3), np.float32)
    owners, rows = [np.zeros(0, np.int64)], []
    for number, domain in enumerate(domains):
        if domain is None:
            continue
        mine = np.flatnonzero(which == number)
        places = starts[mine][:, None] + np.arange(len(domain.points))
        coordinates[places.reshape(-1)] = np.tile(domain.points, (len(mine), 1))
        some = starts[mine][:, None, None] + domain.primitives[None]
        owners.append(np.repeat(mine, len(domain.primitives)))
        rows.append(some.reshape(-1, domain.primitives.shape[1]))
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    primitives = np.concatenate(rows)[order] if rows else np.zeros((0, 3), np.int64)
    patch = np.repeat(np.arange(len(which)), sizes)
    found = _Points(patch, coordinates, primitives, owner[order])
    for array in (patch, coordinates, primitives, found.owner):
        array.flags.writeable = False
    return found
