"""Plans: small draws by one native call, with everything about them prepared.

A draw of a few triangles costs less than the Python code that leads to it. So a plan computes once
what follows from bound state: blocks of words with the addresses of vertices, targets and textures.
Memory for data between the stages is shared by all draws of a context (`plan_memory`). A draw then
stores its first vertex and its constants, and makes one call: `draw` of `shader.plan_code`, which
calls the vertex shader, the viewport transform, clipping, set-up, binning and the tile function.

A plan computes the same bits and counts as the shared stages. It declines draws that it cannot make
(too many triangles, other stages, call-outs), which the shared stages then execute.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw.snapshot import Plan
from gallette.drivers.common.draw.splitting import are_plain, are_whole
from gallette.drivers.common.draw.state import DrawState
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.raster.primitives import RasterContext
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.vertex.vertices import INTEGERS
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo, ViewportState

from .blocks import (
    WORTH_THREADS,
    begin_block,
    complete_block,
    describe_textures,
    grid,
    setup_functions,
    texels_of,
)
from .calls import clock_of, raise_failure
from .command_lists import CommandLists
from .fill import TileFunction, shade, tile_function_for, touches_nothing
from .llvm.engine import Function, compile_module, loads
from .plan_inputs import Columns, columns_of
from .plan_memory import CONSTANTS, MOST_LANES, PlanMemory, Stream
from .program import BoundJit
from .shader.clip_code import FLAT, LINEAR, SMOOTH, clip_functions, clip_planes, placing_text
from .shader.layout import ClipWords, DrawWords, PlaceWords, TileWords, Words
from .shader.plan_code import LARGE, LISTS, STOPPED, THREADS, plan_text
from .shader.setup import TILE

__all__ = ["DrawPlan", "begin_placing", "make_plan"]

Array = npt.NDArray[Any]
Row = tuple[ConstantBuffer | None, ConstantBuffer | None]

_MODES = frozenset(
    {
        Primitive.TRIANGLES,
        Primitive.TRIANGLE_STRIP,
        Primitive.TRIANGLE_FAN,
        Primitive.QUADS,
        Primitive.QUAD_STRIP,
        Primitive.POLYGON,
    }
)
_UNPLACED = (VaryingSlot.LAYER, VaryingSlot.VIEWPORT, VaryingSlot.EDGE)


class _Vertices:
    """The addresses of shaded vertices, in place of the vertices, while a plan is made."""

    def __init__(self, memory: PlanMemory, outputs: dict[tuple[int, int], int]) -> None:
        self.count = MOST_LANES
        self.window = memory.window
        self.varyings: dict[int, Any] = {}
        self.memory, self._outputs = memory, outputs

    def component(self, slot: int, component: int) -> Array:
        """The row of a varying; the default value if the vertex shader does not write it."""
        row = self._outputs.get((slot, component))
        if row is None:
            return self.memory.ones if component == 3 else self.memory.zeros
        found: Array = self.memory.outputs[row]
        return found


@functools.lru_cache(maxsize=16)
def _place(near: bool, far: bool, halfz: bool, cache: Any) -> Function:
    code = compile_module(placing_text(near, far, halfz), ("place",), cache)
    return code.function("place", ctypes.c_void_p)


@functools.lru_cache(maxsize=32)
def _draw(planes: tuple[int, ...], halfz: bool, first: bool, cache: Any) -> Function:
    worth = WORTH_THREADS // TILE**2, WORTH_THREADS
    code = compile_module(plan_text(planes, halfz, first, worth), ("draw",), cache)
    return code.function("draw", ctypes.c_void_p)


def begin_placing(cache: Any) -> None:
    """Start compiling the functions of most small draws in the background."""
    _place(True, True, False, cache)
    _draw((0, 1, 2, 3, 4, 5), False, False, cache)


def make_plan(draw: DrawState, mode: Primitive) -> DrawPlan | None:
    """A plan for draws in a state; None if they need the shared stages."""
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
    memory = PlanMemory.of(fixed.engine.scratch, draw.counters)
    stand_in: Any = _Vertices(memory, outputs)
    function = tile_function_for(fragment, fixed.engine, context, stand_in)
    if (
        function is None
        or function.code.sites
        or vertex.program.chunk_function(((), ()))[1].deep
        or function.code.memory
        or function.key.effects
        or function.key.images
        or not _constants_fit(fragment, function.code.least)
    ):
        return None
    columns = columns_of(vertex.program.chunk.inputs, draw.elements, draw.buffers, memory)
    if columns is None:
        return None
    return DrawPlan(draw, mode, vertex, fragment, function, outputs, columns, memory, stand_in)


def _outputs(vertex: BoundJit) -> dict[tuple[int, int], int] | None:
    """The row of each output of a plain vertex shader: first those of the position."""
    chunk, facts = vertex.program.chunk, vertex.program.facts
    if chunk.sites or chunk.memory or chunk.effects or facts.textures or chunk.facts["images"]:
        return None
    places = [(slot, component) for (slot, component, _), _ in chunk.outputs]
    found: dict[tuple[int, int], int] = {(VaryingSlot.POS, i): i for i in range(4)}
    if not all(place in places for place in found) or len(places) > PlanMemory.ROWS:
        return None
    if any(kind != "i32" or slot in _UNPLACED for (slot, _, _), kind in chunk.outputs):
        return None
    for place in places:
        found.setdefault(place, len(found))
    return found


def _constants_fit(bound: BoundJit, least: dict[int, int]) -> bool:
    """Whether all blocks but the first are as large as the shader expects, because it reads them in
    place.
    """
    constants = bound.resources.constants
    if least.get(0, 0) > CONSTANTS:
        return False
    for number, wanted in least.items():
        given = constants[number] if number < len(constants) else None
        if number and wanted and (given is None or given.size < wanted):
            return False
    return True


def _kind(slot: int, context: RasterContext) -> int:
    """How clipping computes the values of new vertices."""
    if slot in context.flat or slot in INTEGERS:
        return FLAT
    return LINEAR if slot in context.linear else SMOOTH


def _six(viewport: ViewportState) -> Array:
    six = np.array((*viewport.scale, *viewport.translate), np.float32)
    return six.view(np.uint64)


class DrawPlan:
    """Everything known about draws in one state, and the blocks passed to their code."""

    def __init__(
        self,
        draw: DrawState,
        mode: Primitive,
        vertex: BoundJit,
        fragment: BoundJit,
        function: TileFunction,
        rows: dict[tuple[int, int], int],
        columns: Columns,
        memory: PlanMemory,
        stand_in: Any,
    ) -> None:
        fixed = draw.fixed
        self._keep: list[Any] = []
        self._draw, self._mode, self.memory = draw, mode, memory
        self._vertex, self._fragment, self._function = vertex, fragment, function
        self._rows, self._columns = rows, columns
        self._engine, self._context = fixed.engine, fixed.raster
        self.work, self.cache = draw.work, fragment.program.cache
        self.touched: list[Any] = fixed.engine.written
        self._first = fixed.raster.state.flatshade_first
        self._plain = are_plain(fixed.raster)
        self._info: DrawInfo | None = None  # of the draw made last
        self._start = 0  # where it began
        self._stream: Stream | None = None
        self._steady = False  # whether it has but to be given other constants
        self._size, self._room = -1, 0  # of its constants, and of the lists of tiles
        chunk, shade_vertices = vertex.program.chunk_function(((), ()))
        self._chunk_block(chunk)
        self._place_block(fixed.viewport)
        self._tile_block(stand_in)
        self._draw_block(fixed.viewport, shade_vertices)
        used = fragment.program.facts.textures
        self._units = [
            (unit, unit.view.resource)
            for number, unit in enumerate(fragment.resources.textures)
            if number in used and isinstance(unit, Unit)
        ]
        self._writes: list[int] = []
        self._runs: list[Array] = []
        self._refresh_textures()

    def _chunk_block(self, chunk: Any) -> None:
        block = self._vertex.block_for(chunk.least, self._keep)
        for number, address in enumerate(self._columns.addresses):
            block[Words.INPUTS + number] = address
        outputs = self.memory.outputs
        for number, ((slot, component, _), _) in enumerate(chunk.outputs):
            block[Words.OUTPUTS + number] = outputs[self._rows[slot, component]].ctypes.data
        block[Words.CONSTANTS] = self.memory.constants_at[0]
        self._chunk, self._chunk_at = block, int(block.ctypes.data)
        self._chunk_words = block.data
        self._chunk_least = chunk.least.get(0, 0)

    def _place_block(self, viewport: ViewportState) -> None:
        block = np.zeros(PlaceWords.SIZE, np.uint64)
        for axis in range(4):
            row = self.memory.outputs[self._rows[VaryingSlot.POS, axis]]
            block[PlaceWords.CLIP + axis] = row.ctypes.data
        block[PlaceWords.WINDOW] = self.memory.window.ctypes.data
        block[PlaceWords.STRIDE] = MOST_LANES
        block[PlaceWords.SCALE : PlaceWords.SCALE + 3] = _six(viewport)
        self._placing, self._place_at = block, int(block.ctypes.data)

    def _tile_block(self, stand_in: Any) -> None:
        bound, function, memory = self._fragment, self._function, self.memory
        block = begin_block(bound, function, self._context, stand_in, self._keep)
        complete_block(bound, function, block, self._engine, self._context, stand_in, self._keep)
        across, down = grid(self._context.target)
        self._starts = memory.starts(across * down + 1)
        block[TileWords.RECORDS] = memory.records.ctypes.data
        block[TileWords.STARTS] = self._starts.ctypes.data
        block[TileWords.ACROSS] = across
        self._tiles = across * down
        block[TileWords.RESULTS] = memory.counters.ctypes.data
        block[TileWords.NEXT] = memory.counters.ctypes.data + 16
        self._block = block
        self._tile, self._tile_at = block.data, int(block.ctypes.data)
        self._counted = memory.counters.data
        self._tile_least = function.code.least.get(0, 0)

    def _clip_block(self, viewport: ViewportState, planes: tuple[int, ...]) -> Array:
        """The block of the clipping functions: new vertices follow those of the draw, in the same
        arrays.
        """
        memory, context = self.memory, self._context
        block = np.zeros(ClipWords.SIZE, np.uint64)
        table = clip_planes(planes, context.planes.halfz)
        varyings = [
            (place, row) for place, row in self._rows.items() if place[0] != VaryingSlot.POS
        ]
        arrays = np.array([memory.outputs[row].ctypes.data for _, row in varyings], np.uint64)
        kinds = np.array([_kind(slot, context) for (slot, _), _ in varyings], np.int64)
        self._keep += [table, arrays, kinds]
        named: tuple[tuple[int, Array], ...] = (
            (ClipWords.PLACES, memory.outputs),
            (ClipWords.WINDOW, memory.window),
            (ClipWords.PLANES, table),
            (ClipWords.ARRAYS, arrays),
            (ClipWords.KINDS, kinds),
            *memory.cutting.items(),
        )
        for word, array in named:
            block[word] = array.ctypes.data
        block[ClipWords.ROOM] = block[ClipWords.STRIDE] = MOST_LANES
        block[ClipWords.PLANE_COUNT] = len(table)
        block[ClipWords.ARRAY_COUNT] = len(arrays)
        block[ClipWords.SCALE : ClipWords.SCALE + 3] = _six(viewport)
        return block

    def _draw_block(self, viewport: ViewportState, shade_vertices: Function) -> None:
        """The block of the draw function, and the functions it calls."""
        memory, planes, cache = self.memory, self._context.planes, self._fragment.program.cache
        numbers = tuple(planes.numbers())
        clip = self._clip_block(viewport, numbers)
        block = np.zeros(DrawWords.SIZE, np.uint64)
        setup, bin = setup_functions(self._engine, self._context, cache)
        cut, extend = clip_functions(cache)
        self._functions = [
            (DrawWords.SHADE, shade_vertices),
            (DrawWords.PLACING, _place(planes.near, planes.far, planes.halfz, cache)),
            (DrawWords.CUT, cut),
            (DrawWords.EXTEND, extend),
            (DrawWords.SET_UP, setup),
            (DrawWords.BIN, bin),
            (DrawWords.FILL, self._function.call),
        ]
        self._whole = _draw(numbers, planes.halfz, self._first, cache)
        self._loads, self._quick = -1, list[Function]()
        for word, address in (
            (DrawWords.COUNTERS, memory.counters.ctypes.data),
            (DrawWords.CHUNK, self._chunk_at),
            (DrawWords.PLACE, self._place_at),
            (DrawWords.CLIP, clip.ctypes.data),
            (DrawWords.TILE, self._tile_at),
            (DrawWords.CODES, memory.codes.ctypes.data),
            (DrawWords.KINDS, memory.kinds.ctypes.data),
            (DrawWords.TALLY, memory.tally.ctypes.data),
            *((DrawWords.MERGED + k, each.ctypes.data) for k, each in enumerate(memory.merged)),
        ):
            block[word] = address
        block[DrawWords.TILES] = self._tiles
        self._keep += [clip, self._chunk, self._placing, block]
        self._words, self._at = block.data, int(block.ctypes.data)

    def _point(self) -> None:
        """Update addresses of functions that were loaded or moved, and which of them are still
        quickly compiled.
        """
        self._loads = loads()
        for word, function in self._functions:
            self._words[word] = function.address
        self._quick = [function for _, function in self._functions if function.quick]

    # -- a draw ----------------------------------------------------------------------------------

    def draw(self, info: DrawInfo, row: Row) -> bool:
        """Make a draw with these constant blocks 0; returns false, having done nothing, if it
        cannot.
        """
        stream = self._described(info, info.start)
        return stream is not None and self._constants(row) and self._made(stream)

    def repeat(self, info: DrawInfo, data: bytes | bytearray, start: int) -> bool:
        """Draw from another vertex on, with one block for both stages; fast if nothing else
        differs.
        """
        stream = self._stream
        if info is not self._info or not self._steady or start != self._start:
            stream = self._described(info, start)
        size = self.memory.put(0, data)
        if stream is None or size < 0:
            return False
        if size != self._size:
            self._store_sizes(size, size, 0)
        return self._made(stream)

    def command_lists(self, series: Series, planned: Callable[[Any], Plan | None]) -> CommandLists:
        """The command lists that execute parts of a series."""
        return CommandLists(self, series, planned)

    def _described(self, info: DrawInfo, start: int) -> Stream | None:
        """Describe a draw's vertices in the block; returns None if that is impossible."""
        stream = self._stream
        if info is not self._info or info.index_size:
            self._info = None
            stream = self._stream_of(info)
            if stream is None:
                return None
            self._stream = stream
            self._words[DrawWords.STREAM] = stream.at
        assert stream is not None
        if not self._columns.begin(stream, info, start):
            return None
        self._start = start
        self._info, self._steady = info, self._columns.steady and not info.index_size
        return stream

    def _stream_of(self, info: DrawInfo) -> Stream | None:
        plain = self._plain
        if plain and self._mode is Primitive.QUADS:
            plain = are_whole(self._context, info)
        return self.memory.stream(info, self._mode, self._first, plain)

    def _made(self, stream: Stream) -> bool:
        """Execute the described draw; returns false, having done nothing, if it is too large."""
        if self._units:
            self._refresh_textures()
        if self._room != self.memory.room:
            self._point_at_lists()
        return self.ended(self._call(), stream)

    def ended(self, state: int, stream: Stream) -> bool:
        """Complete a draw whose machine code returned this state. False, without an effect, if the
        draw is too large for a plan.
        """
        if state:
            if state == LISTS:
                self.memory.make_room(self._words[DrawWords.TOUCHED])
                self._point_at_lists()
                state = self._call()
            if state == LARGE:
                return False
            if state == STOPPED:
                raise_failure(clock_of(self.work).failures)
        counted = self._counted
        if state == THREADS:
            self._shade_tiles(thread_count())
            counters = self._draw.counters
            counters.samples_passed += counted[0]
            counters.fs_invocations += counted[1]
        cost = stream.cost + FRAGMENT * counted[1]
        if cost > self.work.limit:
            self.work.begin()
            self.work.spend(cost)
        for resource in self.touched:
            resource.writes += 1
        return True

    def _shade_tiles(self, threads: int) -> None:
        """Shade the tiles; several threads need blocks and callbacks of their own."""
        if threads > 1:
            shade(self._fragment, self._function, self._block, threads)
        else:
            self._function.call(self._tile_at)
            raise_failure(clock_of(self.work).failures)

    # -- many draws in one call (see `runs`) -----------------------------------------------------

    def command(self, info: DrawInfo) -> tuple[Stream, tuple[int, ...]] | None:
        """The words of a draw's command, if draws differ only in constants and `start`; without the
        data that is copied.
        """
        columns, self._info = self._columns, None
        stream = self._stream_of(info)
        if stream is None or not columns.plain or not columns.begin(stream, info, info.start):
            return None
        start = stream.first if info.index_size else -1
        return stream, (self._whole.address, self._at, 0, 0, start, stream.at)

    def begin(self, info: DrawInfo, stream: Stream, size: int) -> None:
        """Prepare for a run of draws such as this one, with block 0 of this size."""
        self._info, words = None, self._words
        if self._loads != loads():
            self._point()
        if self._room != self.memory.room:
            self._point_at_lists()
        if self._units:
            self._refresh_textures()
        if size != self._size:
            self._store_sizes(size, size, 0)
        self._columns.begin(stream, info, info.start)
        words[DrawWords.START] = -1 & ((1 << 64) - 1)
        words[DrawWords.MOVES], words[DrawWords.MOVE_COUNT] = self._columns.moves()

    def end(self, seconds: float) -> None:
        """Record that the draws of a run were executed, and the time they took."""
        self._columns.forget()
        for resource in self.touched:
            resource.writes += 1
        if self._quick or self._whole.quick:
            several = [*self._quick, self._whole]
            for function in several:
                function.charge(seconds / len(several))

    @property
    def counters(self) -> Counters:
        """The counters of its context."""
        return self._draw.counters

    @property
    def least(self) -> int:
        """The number of vertices that its buffers hold."""
        return self._columns.least

    def rows(self, info: DrawInfo) -> bool:
        """Whether its vertices are not consecutive."""
        return info.instance_count > 1 or self._columns.divided

    def looked_at(self, info: DrawInfo) -> Iterator[Any]:
        """The resources whose contents are read before the draw."""
        if info.index_size:
            yield info.index_buffer
        yield from self._columns.looked_at()
        for _, resource in self._units:
            yield resource

    # -- one draw ----------------------------------------------------------------------------------

    def _point_at_lists(self) -> None:
        """Update the addresses of the tile lists, which may have moved or grown."""
        memory = self.memory
        self._room = self._words[DrawWords.ITEMS] = memory.room
        self._tile[TileWords.ITEMS] = memory.items_at

    def _call(self) -> int:
        """Make the call; returns the state in which it ended."""
        self.work.begin()
        if self._loads != loads():
            self._point()
        if not self._quick:
            self._whole(self._at)
        else:
            start = time.perf_counter()
            self._whole(self._at)
            share = (time.perf_counter() - start) / len(self._quick)
            for function in self._quick:
                function.charge(share)
        state: int = self._words[DrawWords.STATE]
        return state

    def _constants(self, row: Row) -> bool:
        """Copy blocks 0 to the memory that both shaders read; returns false if they are too
        large.
        """
        memory, (first, second) = self.memory, row
        size = more = memory.put_block(0, first)
        if second is not first:
            more = memory.put_block(1, second)
        self._store_sizes(size, more, int(second is not first))
        return size >= 0 and more >= 0

    def _store_sizes(self, first: int, second: int, place: int) -> None:
        """Store the sizes of blocks 0, and the address of the fragment shader's."""
        self._size = -1 if place else first
        self._chunk_words[Words.CONSTANTS + 1] = max(first, self._chunk_least)
        self._tile[Words.CONSTANTS] = self.memory.constants_at[place]
        self._tile[Words.CONSTANTS + 1] = max(second, self._tile_least)

    def _refresh_textures(self) -> None:
        """Update the addresses of data derived from textures whose contents have changed."""
        writes: list[int] = [resource.writes for _, resource in self._units]  # type: ignore[attr-defined]
        if writes == self._writes:
            return
        self._writes = writes
        runs = [run for unit, _ in self._units for run in texels_of(unit)]
        if len(runs) == len(self._runs) and all(map(operator.is_, runs, self._runs)):
            return
        self._runs = runs
        self._texels: list[Any] = []
        bound = self._fragment
        describe_textures(self._block, bound.resources, bound.program.facts.textures, self._texels)
