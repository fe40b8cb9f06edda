"""A draw in parts: a limited number of vertices and primitives at a time, whatever counts it has.

Most draws are one part. A larger one is cut between instances or, if one instance is too large,
between primitives; vertices that several parts share are shaded in each. So the memory of a draw is
bounded, and its budget (see `work`) and Ctrl-C are checked between parts.

A draw may also name far more vertices than its buffers hold. Vertices past the end of all arrays
are equal, so triangles of them have no area: these are only counted, so that they take no time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import COLOR_SLOTS
from gallette.drivers.common.lanes import VertexLanes
from gallette.drivers.common.program import BoundProgram, Outputs, ProgramFacts
from gallette.drivers.common.raster.batch import RasterContext
from gallette.drivers.common.vertex.assembly import (
    Part,
    Runs,
    assemble,
    assembled_units,
    input_corners,
    input_units,
    patch_corners,
    patch_units,
    polygon_numbers,
)
from gallette.drivers.common.vertex.clip import clip_codes
from gallette.drivers.common.vertex.fetch import FetchedVertices, GatheredVertices, VertexSource
from gallette.drivers.common.vertex.stream import IndexStream, vertex_stream
from gallette.drivers.common.vertex.vertices import Ints, OwnViewports, VertexSet
from gallette.pipe.enums import PolygonMode, Primitive
from gallette.pipe.state import DrawInfo, ViewportState

from .state import DrawState

Bools = npt.NDArray[np.bool_]

WORTHWHILE = 1 << 14
"""Vertices past the end of arrays from which on a draw is shortened."""

_TRIANGLES = {
    Primitive.TRIANGLES: 3,
    Primitive.TRIANGLE_STRIP: 1,
    Primitive.TRIANGLE_FAN: 1,
}
"""Vertices per triangle, apart from the first two of a strip or a fan."""


def without_excess(draw: DrawState, info: DrawInfo) -> DrawInfo:
    """The draw without triangles whose vertices are all past the end; they are only counted."""
    step = _TRIANGLES.get(info.mode)
    if step is None or info.count < WORTHWHILE or not _depends_on_area_alone(draw, info):
        return info
    held = max(0, _vertices_held(draw) - info.start)
    count = -(-(held + 2) // step) * step
    excess = info.count - count
    if excess < WORTHWHILE:
        return info
    triangles, counters = excess // step * info.instance_count, draw.counters
    counters.ia_vertices += excess * info.instance_count
    counters.vs_invocations += excess * info.instance_count
    counters.ia_primitives += triangles
    counters.clipper_in += triangles
    counters.streams[0].generated += triangles
    return replace(info, count=count)


def _depends_on_area_alone(draw: DrawState, info: DrawInfo) -> bool:
    """Whether the draw's result is independent of triangles without area and of vertex numbers."""
    stages, raster = draw.fixed.selection.stages, draw.fixed.raster.state
    facts = stages[Stage.VERTEX].facts
    return (
        len(stages) == 1
        and not info.index_size
        and draw.gathered is None
        and not any(target is not None for target in draw.targets)
        and raster.fill_front is raster.fill_back is PolygonMode.FILL
        and not raster.conservative
        and not facts.has_side_effects
        and not any(name.startswith("vertex_id") for name in facts.system_values)
    )


def _vertices_held(draw: DrawState) -> int:
    """One past the last vertex that lies in some array."""
    most = 0
    for element in draw.elements:
        slot = element.buffer_index
        buffer = draw.buffers[slot] if slot < len(draw.buffers) else None
        if buffer is None or element.instance_divisor or not buffer.stride:
            continue  # every vertex reads the same value
        first = buffer.offset + element.src_offset
        most = max(most, -(-(buffer.buffer.desc.width - first) // buffer.stride))
    return most


MOST_LANES = 3 << 15
"""Vertices a part has at most; fewer, if they have many outputs."""

_PART_BYTES = 1 << 24
LEAST_LANES = 1 << 16

_FEW = 1 << 10
"""Up to so many primitives their numbers are kept."""


@lazy_dataclass()
class Primitives:
    """Primitives between two stages: vertices, and the corners of each primitive."""

    vertices: VertexSet
    corners: Ints  # [n, k]
    provoking: Ints
    identity: npt.NDArray[np.int32]
    edges: npt.NDArray[np.uint8] | None = None
    stream: int = 0
    source: VertexSource | None = None  # what the vertices were shaded from


def lanes_at_once(facts: ProgramFacts) -> int:
    """How many vertices with a program's outputs are kept at a time."""
    components = sum(mask.bit_count() for mask in facts.outputs.values())
    return min(MOST_LANES, max(LEAST_LANES, _PART_BYTES // (4 * components + 64)))


@lazy_dataclass()
class Assembly:
    """A part of a draw before its vertices are shaded."""

    source: VertexSource
    assembler: _Assembler
    make: Callable[[Bools], tuple[Ints, Ints, npt.NDArray[np.int32], _Edges]]
    """Returns corners, provoking vertices, identities and real edges, given which instances are
    `plain`."""


def parts(draw: DrawState, info: DrawInfo, merged: bool, done: int = 0) -> Iterator[Primitives]:
    """The assembled primitives of a draw, with their shaded vertices; without the first parts, if
    some are `done`.
    """
    for part in itertools.islice(assemblies(draw, info, merged), done, None):
        source = part.source
        vertices = _shade(draw, source)
        plain = part.assembler.plain(vertices, np.full(source.instances, source.count), [info])
        yield Primitives(vertices, *part.make(plain), source=source)


def assemblies(draw: DrawState, info: DrawInfo, merged: bool = False) -> Iterator[Assembly]:
    """The parts of a draw."""
    instances = info.instance_count
    if info.count * instances <= LEAST_LANES:
        yield from _instances(draw, info, 0, merged)
        return
    limit = lanes_at_once(draw.fixed.selection.stages[Stage.VERTEX].facts)
    if info.count * instances <= limit:
        yield from _instances(draw, info, 0, merged)
    elif info.count <= limit:
        step = _evenly(instances, max(1, limit // info.count))
        for first in range(0, instances, step):
            some = replace(info, instance_count=min(step, instances - first))
            yield from _instances(draw, some, first, merged)
    else:
        for instance in range(instances):
            yield from _one_instance(draw, info, instance, merged, limit)


def _evenly(count: int, most: int) -> int:
    """The number of items to take at a time: equal shares of at most `most`, because a small
    remainder costs as many calls.
    """
    return -(-count // -(-count // most)) if count else most


# -- whole instances -------------------------------------------------------------------------------


def _instances(draw: DrawState, info: DrawInfo, first: int, merged: bool) -> Iterator[Assembly]:
    """All primitives of some instances, beginning with the one numbered `first`."""
    stream, runs, source = vertex_stream(info)
    if not len(stream) or not source.count:
        return
    source.first_instance, source.merged = first, merged
    if draw.firsts is not None:
        if source.instances > 1:
            source.firsts = draw.firsts[first : first + source.instances]
        else:
            source.first = int(draw.firsts[first])
    assembler = _Assembler(draw, info, runs)

    def of_stream(plain: bool) -> _Made:
        corners, provoking, edges = assembler.make(plain)
        if info.index_size:  # otherwise the stream counts
            corners, provoking = stream.take(corners), stream.take(provoking)
        return corners, provoking, edges

    def make(plain: Bools) -> tuple[Ints, Ints, npt.NDArray[np.int32], _Edges]:
        corners, provoking, edges = of_stream(bool(plain[0]))
        instances, count = source.instances, len(corners)
        if instances == 1:
            identity = np.full(count, first, np.int32) if merged else assembler.numbers(count)
            return corners, provoking, identity, edges
        shift = np.arange(0, instances * source.count, source.count)
        corners = corners + shift[:, None, None]
        provoking = provoking + shift[:, None]
        edges = None if edges is None else np.tile(edges, (instances, 1))
        others = (plain != plain[0]).nonzero()[0]
        if len(others):
            made = of_stream(not plain[0])
            corners[others] = made[0] + shift[others, None, None]
            provoking[others] = made[1] + shift[others, None]
            if edges is not None and made[2] is not None:
                edges[others] = made[2]
        if merged:
            identity = np.arange(first, first + instances, dtype=np.int32).repeat(count)
        else:
            identity = np.tile(assembler.numbers(count), instances)
        edges = None if edges is None else edges.reshape(-1)
        return corners.reshape(-1, corners.shape[2]), provoking.reshape(-1), identity, edges

    yield Assembly(source, assembler, make)


def _numbers(count: int, pieces: int) -> npt.NDArray[np.int32]:
    """The numbers of primitives that are split into this many pieces; read-only."""
    if count <= _FEW:
        return _few_numbers(count, pieces)
    return np.arange(count, dtype=np.int32) // np.int32(pieces)


@lru_cache(maxsize=256)
def _few_numbers(count: int, pieces: int) -> npt.NDArray[np.int32]:
    numbers: npt.NDArray[np.int32] = np.arange(count, dtype=np.int32) // np.int32(pieces)
    numbers.flags.writeable = False
    return numbers


# -- several draws, one after the other ------------------------------------------------------------

LISTS = {Primitive.TRIANGLES: 3, Primitive.LINES: 2}
"""Modes whose primitives share no vertices, and how many each has: draws can follow one another."""

CALL_VALUES = frozenset({"base_vertex", "draw_id"})
"""What vertices know of their draw's call."""


@lazy_dataclass(frozen=True)
class _Piece:
    """One of several draws: its stream of lanes, the runs in that, and vertices after the lanes."""

    stream: Ints
    runs: Runs
    ids: Ints
    numbers: Ints | None  # of the instances the lanes are in, if there are several


def end_to_end(draw: DrawState, infos: Sequence[DrawInfo]) -> tuple[Primitives, Ints]:
    """The primitives of several draws, and where the vertices of each begin.

    The identity of a primitive is the number of its draw, as for draws that are merged to
    instances.
    """
    known: dict[int, _Piece] = {}
    pieces = []
    for info in infos:
        piece = known.get(id(info))
        if piece is None:
            piece = known[id(info)] = _piece_of(info)
        pieces.append(piece)
    sizes = np.array([len(p.ids) for p in pieces])
    lengths = np.array([len(p.stream) for p in pieces])
    starts = np.cumsum(sizes) - sizes
    count, draws = int(sizes.sum()), np.arange(len(infos)).repeat(sizes)
    ids = np.concatenate([p.ids for p in pieces])
    source = VertexSource(0, count, ids, 1, infos[0].start_instance, 0, 0, merged=True, draws=draws)
    bases = np.array([info.start_instance for info in infos])
    if (bases != bases[0]).any():
        source.bases = bases.repeat(sizes)
    if source.bases is not None or any(info.instance_count > 1 for info in infos):
        source.numbers = np.concatenate(
            [np.zeros(len(p.ids), np.int64) if p.numbers is None else p.numbers for p in pieces]
        )
    vertices = _shade(draw, source)
    stream = np.concatenate([p.stream for p in pieces]) + starts.repeat(lengths)
    if infos[0].mode in LISTS:  # primitives of a list do not share vertices
        runs = Runs.whole(len(stream))
    else:
        before = np.cumsum(lengths) - lengths
        counts = [len(p.runs.start) for p in pieces]
        runs = Runs(
            np.concatenate([p.runs.start for p in pieces]) + before.repeat(counts),
            np.concatenate([p.runs.length for p in pieces]),
        )
    instances = np.array([info.instance_count for info in infos])
    each = (sizes // instances).repeat(instances)
    assembler = _Assembler(draw, infos[0], runs)
    plain = assembler.plain(vertices, each, infos)
    positions, provoking, edges = assembler.make(bool(plain[0]))
    others = (plain != plain[0]).repeat(each)[stream[positions[:, 0]]]
    if others.any():
        made = assembler.make(not plain[0])
        positions = np.where(others[:, None], made[0], positions)
        provoking = np.where(others, made[1], provoking)
        if edges is not None and made[2] is not None:
            edges = np.where(others, made[2], edges)
    corners = stream[positions]
    identity = draws.take(corners[:, 0]).astype(np.int32)
    found = Primitives(vertices, corners, stream[provoking], identity, edges, source=source)
    return found, starts


def _piece_of(info: DrawInfo) -> _Piece:
    """A draw as a piece, instance by instance. A list has whole primitives only."""
    size = LISTS.get(info.mode)
    if size is not None:
        info = replace(info, count=info.count // size * size, primitive_restart=False)
    stream, runs, source = vertex_stream(info)
    ids = source.ids
    if ids is None:
        ids = np.arange(source.first, source.first + source.count)
    many, length = info.instance_count, len(stream)
    if many == 1:
        return _Piece(stream, runs, ids, None)
    numbers = np.arange(many)
    stream = np.tile(stream, many) + (numbers * len(ids)).repeat(length)
    shift = (numbers * length).repeat(len(runs.start))
    runs = Runs(np.tile(runs.start, many) + shift, np.tile(runs.length, many))
    numbers, ids = numbers.repeat(len(ids)), np.tile(ids, many)
    return _Piece(stream, runs, ids, numbers)


# -- some primitives of an instance ----------------------------------------------------------------


def _one_instance(
    draw: DrawState, info: DrawInfo, instance: int, merged: bool, limit: int
) -> Iterator[Assembly]:
    """The primitives of one instance, with at most `limit` corners at a time."""
    stream = IndexStream(info)
    assembler = _Assembler(draw, info, stream.runs)
    if info.index_size:  # corners share vertices
        limit += limit // 3
    step = _evenly(assembler.units, max(1, limit // assembler.width))
    for start in range(0, assembler.units, step):
        yield _share(
            assembler, stream, (start, min(start + step, assembler.units)), instance, merged
        )


def _share(
    assembler: _Assembler, stream: IndexStream, part: Part, instance: int, merged: bool
) -> Assembly:
    """The primitives of an instance from one number to another."""
    cut = assembler.make(False, part)
    source, lane_of = stream.source(cut[0], instance)

    def make(plain: Bools) -> tuple[Ints, Ints, npt.NDArray[np.int32], _Edges]:
        positions, provoking, edges = assembler.make(True, part) if plain[0] else cut
        count = len(positions)
        if merged:
            identity = np.full(count, instance, np.int32)
        else:
            identity = assembler.numbers(count, part)
        return lane_of(positions), lane_of(provoking), identity, edges

    return Assembly(source, assembler, make)


_Edges = npt.NDArray[np.uint8] | None
_Made = tuple[Ints, Ints, _Edges]


class _Assembler:
    """How the stream of a draw becomes primitives: positions of corners and provoking vertices."""

    def __init__(self, draw: DrawState, info: DrawInfo, runs: Runs) -> None:
        stages = draw.fixed.selection.stages
        self._raster: RasterContext = draw.fixed.raster
        self._first = self._raster.state.flatshade_first
        self._mode, self._runs, self._size = info.mode, runs, info.vertices_per_patch
        self._patches = info.mode is Primitive.PATCHES
        self._whole = not self._patches and Stage.GEOMETRY in stages

    @property
    def units(self) -> int:
        """How many numbers the primitives take; the two halves of a quad share one."""
        if self._patches:
            return patch_units(self._runs, self._size)
        if self._whole:
            return input_units(self._mode, self._runs)
        return assembled_units(self._mode, self._runs)

    @property
    def width(self) -> int:
        """About how many vertices a primitive needs."""
        return self._size if self._patches else 6

    def numbers(self, count: int, part: Part | None = None) -> npt.NDArray[np.int32]:
        """The numbers of the primitives, read-only: triangles of a quad or polygon share one."""
        if self._mode is Primitive.POLYGON and not self._whole:
            return polygon_numbers(self._runs, count, part)
        quads = self._mode in (Primitive.QUADS, Primitive.QUAD_STRIP) and not self._whole
        made = _numbers(count, 2 if quads else 1)
        return made + np.int32(part[0]) if part is not None else made

    def plain(self, vertices: VertexSet, sizes: Ints, infos: Sequence[DrawInfo]) -> Bools:
        """Of each instance, which has so many vertices and may be a draw of its own: whether it
        consists of plain quads. `infos`: their calls.
        """
        if self._whole or not are_plain(self._raster):
            return np.zeros(len(sizes), np.bool_)
        if self._mode is not Primitive.QUADS:
            return np.ones(len(sizes), np.bool_)
        whole = np.array([are_whole(self._raster, info) for info in infos])
        if len(infos) == 1:
            whole = whole.repeat(len(sizes))
        elif len(whole) < len(sizes):
            whole = whole.repeat([info.instance_count for info in infos])
        codes = clip_codes(vertices, self._raster.planes) if whole.any() else None
        if codes is not None:
            instance = np.arange(len(sizes)).repeat(sizes)
            whole &= np.bincount(instance[codes != 0], minlength=len(sizes)) == 0
        return np.asarray(whole)

    def make(self, plain: bool, part: Part | None = None) -> _Made:
        """The corners, provoking vertices and real edges; quads may be `plain`."""
        if self._patches:
            corners = patch_corners(self._runs, self._size, part)
            return corners, corners[:, 0], None
        if self._whole:
            corners = input_corners(self._mode, self._runs, self._first, part)
            return corners, corners[:, 0], None
        made = assemble(self._mode, self._runs, self._first, plain, part)
        return made.corners, made.provoking, made.edges


def are_plain(raster: RasterContext) -> bool:
    """Whether quads need only be filled, without outlines, offset or stipple."""
    state = raster.state
    return (
        state.fill_front is PolygonMode.FILL
        and state.fill_back is PolygonMode.FILL
        and not (state.offset_point or state.offset_line or state.offset_tri)
        and not (state.poly_stipple_enable or state.light_twoside)
    )


def are_whole(raster: RasterContext, info: DrawInfo) -> bool:
    """Whether Mesa takes plain single quads as rectangles, if no vertex of the draw is clipped."""
    indexed = info.index_size or info.in_list
    flat = raster.flat - COLOR_SLOTS if raster.state.even_colors else raster.flat
    return not (indexed or flat or raster.state.flatshade_first)


# -- the vertex shader -----------------------------------------------------------------------------


def _shade(draw: DrawState, source: VertexSource) -> VertexSet:
    """Run the vertex shader once per unique vertex and instance."""
    draw.counters.vs_invocations += source.lanes
    return _set_of(draw, source, _outputs(draw, draw.programs[Stage.VERTEX], source))


def _outputs(draw: DrawState, program: BoundProgram, source: VertexSource) -> Outputs:
    """The outputs of a vertex program for some vertices, computed in chunks."""
    lanes = source.lanes
    fetched = _fetching(draw, source)
    size = draw.fixed.selection.stages[Stage.VERTEX].facts.chunk_lanes
    if lanes <= size + size // 4:
        return program.vertex(fetched(0, lanes))
    pieces = []
    for start in range(0, lanes, size):
        stop = min(start + size, lanes)
        pieces.append((program.vertex(fetched(start, stop)), stop - start))
    return joined_outputs(pieces)


def _set_of(draw: DrawState, source: VertexSource, outputs: Outputs) -> VertexSet:
    """Shaded vertices, each with the viewport of its draw."""
    viewport: ViewportState | OwnViewports = draw.fixed.viewport
    if draw.viewports is not None:
        draws = source.draws
        if draws is None:
            draws = np.arange(source.first_instance, source.first_instance + source.instances)
            draws = draws.repeat(source.count)
        viewport = draw.viewports.take(draws)
    own = {slot: list(values) for slot, values in outputs.items()}
    return VertexSet.from_outputs(source.lanes, own, viewport)


def _fetching(draw: DrawState, source: VertexSource) -> Callable[[int, int], VertexLanes]:
    """A function that fetches the vertices of the lanes from `start` to `stop`."""
    elements, gathered = draw.elements, draw.gathered
    if gathered is None:
        return lambda start, stop: FetchedVertices(source, elements, draw.buffers, start, stop)
    known: dict[int, npt.NDArray[Any]] = {}
    return lambda start, stop: GatheredVertices(source, elements, gathered, known, start, stop)


def joined_outputs(pieces: list[tuple[Outputs, int]]) -> Outputs:
    """The outputs of several chunks, with the given numbers of lanes, concatenated."""
    if len(pieces) == 1:
        return pieces[0][0]
    joined: Outputs = {}
    for slot, components in pieces[0][0].items():
        values: list[npt.NDArray[Any] | None] = []
        for i in range(len(components)):
            found = [(outputs[slot][i], count) for outputs, count in pieces]
            if any(piece is None for piece, _ in found):
                values.append(None)
                continue
            values.append(
                np.concatenate([p if p is not None and p.ndim else np.full(n, p) for p, n in found])
            )
        joined[slot] = values
    return joined
