"""Small draws by a handful of native calls: everything about them is made ready beforehand.

A draw of a few triangles costs less than the Python that leads to it. So what follows from bound
state is worked out once (`direct`): blocks of words in which vertices, targets and textures are
named already, and memory for what passes between the stages, which all draws of a context share.
A draw then fills in where its vertices begin and its constants, and calls the vertex shader,
`place`, set-up, binning and the tile function one after the other.

It does what the shared way does, bit for bit, and counts the same; what it has no way for
(triangles to be clipped, other stages, call-outs) it leaves alone: nothing is done then.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw.state import DrawState
from gallette.drivers.common.raster.primitives import Batch, clipped
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import FRAGMENT, LANE, PRIMITIVE
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo, ViewportState

from .blocks import (
    WORTH_THREADS,
    area,
    begin_block,
    complete_block,
    describe_textures,
    grid,
    setup_functions,
)
from .direct_inputs import Columns, columns_of
from .direct_memory import CONSTANTS, MOST_LANES, MOST_TRIANGLES, DirectMemory, Stream
from .fill import TileFunction, shade, tile_function_for, touches_nothing
from .llvm.engine import compile_module
from .program import BoundJit, budget_error
from .shader.layout import PlaceWords, TileWords, Words
from .shader.placing import placing_text
from .shader.setup import TILE

__all__ = ["Direct", "begin_placing", "direct"]

Array = npt.NDArray[Any]
Row = tuple[ConstantBuffer | None, ConstantBuffer | None]

_MODES = (Primitive.TRIANGLES, Primitive.TRIANGLE_STRIP, Primitive.TRIANGLE_FAN)
_WORTH_TILES = WORTH_THREADS // TILE**2
_UNPLACED = (VaryingSlot.LAYER, VaryingSlot.VIEWPORT, VaryingSlot.EDGE)


class _Vertices:
    """What stands for the shaded vertices while a plan is made: where they will lie."""

    def __init__(self, memory: DirectMemory, outputs: dict[tuple[int, int], int]) -> None:
        self.count = MOST_LANES
        self.window = memory.window
        self.varyings: dict[int, Any] = {}
        self._memory, self._outputs = memory, outputs

    def component(self, slot: int, component: int) -> Array:
        """The row of a varying; of what nobody writes, its default."""
        row = self._outputs.get((slot, component))
        if row is None:
            return self._memory.ones if component == 3 else self._memory.zeros
        found: Array = self._memory.outputs[row]
        return found


@functools.lru_cache(maxsize=16)
def _place(near: bool, far: bool, halfz: bool, cache: Any) -> Any:
    code = compile_module(placing_text(near, far, halfz), ("place",), cache)
    return code.function("place", ctypes.c_void_p)


def begin_placing(cache: Any) -> None:
    """Have the function made that most small draws need; nobody waits for it here."""
    _place(True, True, False, cache)


def direct(draw: DrawState, mode: Primitive) -> Direct | None:
    """A plan for draws in a state; None if they have to go another way."""
    fixed, context = draw.fixed, draw.fixed.raster
    fragment = draw.fragment.program
    vertex = draw.programs.get(Stage.VERTEX)
    if (
        mode not in _MODES
        or len(draw.programs) != 1
        or not isinstance(vertex, BoundJit)
        or not isinstance(fragment, BoundJit)
        or draw.fragment.several is not None
        or draw.witness is not None
        or draw.recorder is not None
        or draw.gathered is not None
        or any(target is not None for target in draw.targets)
        or context.state.rasterizer_discard
        or context.viewports is not None
        or context.cull_distances
        or context.planes.distances
        or context.target.empty
        or touches_nothing(fixed.engine)
        or not isinstance(fixed.viewport, ViewportState)
    ):
        return None
    outputs = _outputs(vertex)
    if outputs is None or not _constants_fit(vertex, vertex.program.chunk.least):
        return None
    memory = DirectMemory.of(fixed.engine.scratch)
    stand_in: Any = _Vertices(memory, outputs)
    function = tile_function_for(fragment, fixed.engine, context, stand_in)
    if (
        function is None
        or function.code.sites
        or function.code.effects
        or not _constants_fit(fragment, function.code.least)
    ):
        return None
    columns = columns_of(vertex.program.chunk.inputs, draw.elements, draw.buffers, memory)
    if columns is None:
        return None
    return Direct(draw, mode, vertex, fragment, function, outputs, columns, memory, stand_in)


def _outputs(vertex: BoundJit) -> dict[tuple[int, int], int] | None:
    """The row of each output of a plain vertex shader."""
    chunk, facts = vertex.program.chunk, vertex.program.facts
    if chunk.sites or chunk.effects or facts.textures or chunk.facts["images"]:
        return None
    found: dict[tuple[int, int], int] = {}
    for number, ((slot, component, _), kind) in enumerate(chunk.outputs):
        if kind != "i32" or slot in _UNPLACED:
            return None
        found[slot, component] = number
    placed = all((VaryingSlot.POS, i) in found for i in range(4))
    return found if placed and len(chunk.outputs) <= DirectMemory.ROWS else None


def _constants_fit(bound: BoundJit, least: dict[int, int]) -> bool:
    """All blocks but the first are as large as the shader thinks: they are read where they are."""
    constants = bound.resources.constants
    if least.get(0, 0) > CONSTANTS:
        return False
    for number, wanted in least.items():
        given = constants[number] if number < len(constants) else None
        if number and wanted and (given is None or given.size < wanted):
            return False
    return True


class Direct:
    """All there is to know about draws in one state, and the blocks they are called with."""

    def __init__(
        self,
        draw: DrawState,
        mode: Primitive,
        vertex: BoundJit,
        fragment: BoundJit,
        function: TileFunction,
        rows: dict[tuple[int, int], int],
        columns: Columns,
        memory: DirectMemory,
        stand_in: Any,
    ) -> None:
        fixed = draw.fixed
        self._keep: list[Any] = []
        self._draw, self._mode, self._memory = draw, mode, memory
        self._vertex, self._fragment, self._function = vertex, fragment, function
        self._rows, self._columns = rows, columns
        self._engine, self._context = fixed.engine, fixed.raster
        self._first = fixed.raster.state.flatshade_first
        chunk, self._shade_vertices = vertex.program.chunk_function(((), ()))
        cache = fragment.program.cache
        self._setup, self._bin, _ = setup_functions(fixed.engine, fixed.raster, cache)
        planes = fixed.raster.planes
        self._place = _place(planes.near, planes.far, planes.halfz, cache)
        self._chunk_block(chunk)
        self._place_block(fixed.viewport)
        self._tile_block(stand_in)
        used = fragment.program.facts.textures
        self._units = [
            (unit, unit.view.resource)
            for number, unit in enumerate(fragment.resources.textures)
            if number in used and isinstance(unit, Unit)
        ]
        self._writes = [resource.writes for _, resource in self._units]  # type: ignore[attr-defined]

    def _chunk_block(self, chunk: Any) -> None:
        block = self._vertex.block_for(chunk.least, self._keep)
        for number, address in enumerate(self._columns.addresses):
            block[Words.INPUTS + number] = address
        outputs = self._memory.outputs
        for number in range(len(chunk.outputs)):
            block[Words.OUTPUTS + number] = outputs[number].ctypes.data
        self._chunk, self._chunk_at = block.data, int(block.ctypes.data)
        self._chunk_least = chunk.least.get(0, 0)

    def _place_block(self, viewport: ViewportState) -> None:
        block = np.zeros(PlaceWords.SIZE, np.uint64)
        for axis in range(4):
            row = self._memory.outputs[self._rows[VaryingSlot.POS, axis]]
            block[PlaceWords.CLIP + axis] = row.ctypes.data
        block[PlaceWords.WINDOW] = self._memory.window.ctypes.data
        block[PlaceWords.STRIDE] = MOST_LANES
        six = np.array((*viewport.scale, *viewport.translate), np.float32)
        block[PlaceWords.SCALE : PlaceWords.SCALE + 3] = six.view(np.uint64)
        self._placing, self._place_at = block.data, int(block.ctypes.data)

    def _tile_block(self, stand_in: Any) -> None:
        bound, function, memory = self._fragment, self._function, self._memory
        block = begin_block(bound, function, self._context, stand_in, self._keep)
        complete_block(bound, function, block, self._engine, self._context, stand_in, self._keep)
        across, down = grid([self._context.target])
        self._starts = memory.starts(across * down + 1)
        block[TileWords.RECORDS] = memory.records.ctypes.data
        block[TileWords.STARTS] = self._starts.ctypes.data
        block[TileWords.ACROSS] = across
        block[TileWords.TILES] = self._tiles = across * down
        block[TileWords.RESULTS] = memory.counters.ctypes.data
        block[TileWords.NEXT] = memory.counters.ctypes.data + 16
        self._block = block
        self._tile, self._tile_at = block.data, int(block.ctypes.data)
        self._tile_least = function.code.least.get(0, 0)

    # -- a draw ----------------------------------------------------------------------------------

    def draw(self, info: DrawInfo, row: Row) -> bool:
        """Make a draw with these constant blocks 0; false, and nothing is done, if it cannot."""
        memory = self._memory
        stream = memory.stream(info, self._mode, self._first)
        if stream is None or not self._columns.begin(stream, info):
            return False
        if not self._constants(row):
            return False
        if not stream.triangles or not self._vertices(stream):
            addresses = stream.corners_at, stream.provoking_at, stream.identity_at
            return self._triangles(stream, stream.triangles, addresses)
        with np.errstate(all="ignore"):
            return self._cut(stream)

    def _constants(self, row: Row) -> bool:
        """Copy blocks 0 to where both shaders read them; false if they are too large."""
        memory, (first, second) = self._memory, row
        size = memory.put_constants(0, first)
        self._chunk[Words.CONSTANTS] = memory.constants_at[0]
        self._chunk[Words.CONSTANTS + 1] = max(size, self._chunk_least)
        place = 0
        if second is not first:
            place = 1
            more = memory.put_constants(1, second)
            size = -1 if size < 0 else more
        self._tile[Words.CONSTANTS] = memory.constants_at[place]
        self._tile[Words.CONSTANTS + 1] = max(size, self._tile_least)
        return size >= 0

    def _vertices(self, stream: Stream) -> bool:
        """Shade the vertices and find their places; true if something may have to be clipped."""
        lanes, words = stream.lanes, self._chunk
        words[Words.STATUS] = 0
        words[Words.BUDGET] = self._vertex.program.budget
        words[Words.COUNT] = lanes
        self._shade_vertices(self._chunk_at)
        if words[Words.STATUS]:
            raise budget_error(self._vertex.program.budget)
        self._placing[PlaceWords.COUNT] = lanes
        self._place(self._place_at)
        return bool(self._placing[PlaceWords.OUTSIDE])

    def _cut(self, stream: Stream) -> bool:
        """Clip the triangles, and go on with what is left of them."""
        memory, lanes, rows = self._memory, stream.lanes, self._rows
        varyings: dict[int, list[Array | None]] = {}
        for (slot, component), row in rows.items():
            varyings.setdefault(slot, [None] * 4)[component] = memory.outputs[row, :lanes]
        clip = np.stack([memory.outputs[rows[VaryingSlot.POS, i], :lanes] for i in range(4)])
        viewport = self._draw.fixed.viewport
        vertices = VertexSet.placed(clip, memory.window[:, :lanes], varyings, viewport)
        given = Batch(*stream.keep[0])
        left = clipped(self._context, vertices, given, self._fragment.cut)
        count = len(left.corners)
        if vertices.count > MOST_LANES or count > MOST_TRIANGLES:
            return False
        if vertices.count > lanes:
            memory.window[:, lanes : vertices.count] = vertices.window[:, lanes:]
            for (slot, component), row in rows.items():
                values = vertices.varyings[slot][component]
                assert values is not None
                memory.outputs[row, lanes : vertices.count] = values[lanes:]
        arrays = [np.ascontiguousarray(a) for a in (left.corners, left.provoking, left.identity)]
        addresses = [int(each.ctypes.data) for each in arrays]
        return self._triangles(stream, count, addresses)

    def _triangles(self, stream: Stream, triangles: int, addresses: Sequence[int]) -> bool:
        """Set up, deal out and shade triangles: corners, provoking vertices and identities."""
        words, memory, starts = self._tile, self._memory, self._starts
        words[Words.STATUS] = 0
        words[TileWords.CORNERS], words[TileWords.PROVOKING] = addresses[:2]
        words[TileWords.IDENTITY] = addresses[2]
        words[TileWords.TRIANGLES] = triangles
        starts.fill(0)
        self._setup(self._tile_at)
        if words[Words.STATUS]:  # too large
            return False
        self._count(stream, triangles)
        count = words[TileWords.TRIANGLES]
        if count:
            self._refresh_textures()
            np.cumsum(starts, out=starts)
            touched = int(starts[-1])  # tiles, by all triangles
            words[TileWords.ITEMS] = memory.items(touched)
            self._bin(self._tile_at)
            self._fragments(count, touched)
        self._engine.finish()
        return True

    def _fragments(self, count: int, touched: int) -> None:
        words, counted = self._tile, self._memory.counters
        counted.fill(0)
        words[Words.BUDGET] = self._fragment.program.budget
        if touched >= _WORTH_TILES and area(self._memory.records, count) >= WORTH_THREADS:
            shade(self._fragment, self._function, self._block, thread_count())
        else:
            self._function.call(self._tile_at)
            if words[Words.STATUS]:
                raise budget_error(self._fragment.program.budget)
        passed, shaded = counted[:2].tolist()
        counters = self._draw.counters
        counters.samples_passed += passed
        counters.fs_invocations += shaded
        self._draw.work.spend(FRAGMENT * shaded)

    def _count(self, stream: Stream, left: int) -> None:
        counters, work, triangles = self._draw.counters, self._draw.work, stream.triangles
        work.begin()
        work.spend(LANE * stream.vertices + PRIMITIVE * triangles)
        counters.ia_vertices += stream.vertices
        counters.ia_primitives += triangles
        counters.vs_invocations += stream.lanes
        counters.streams[0].generated += triangles
        counters.clipper_in += triangles
        counters.clipper_out += left

    def _refresh_textures(self) -> None:
        """What is derived from a texture's contents is elsewhere once they have changed."""
        writes: list[int] = [resource.writes for _, resource in self._units]  # type: ignore[attr-defined]
        if writes != self._writes:
            self._writes = writes
            self._texels: list[Any] = []
            bound = self._fragment
            describe_textures(
                self._block, bound.resources, bound.program.facts.textures, self._texels
            )
