"""From placed vertices to pixels: clipping, set-up, binning and the tile function.

A `Rasterization` holds the blocks of words that `draw` of `shader.plan_code` is called with. The
vertices are in the memory of a context (`plan_memory`), where the vertex shader of a plan writes
them, or `hold` copies them.
"""

from __future__ import annotations

import ctypes
import functools
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.draw.splitting import MOST_LANES
from gallette.drivers.common.output.engine import FragmentEngine
from gallette.drivers.common.raster.batch import Batch, RasterContext
from gallette.drivers.common.raster.lines import half_width, rectangle_width
from gallette.drivers.common.raster.primitives import clipped
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.vertex.clip import ClipPlanes
from gallette.drivers.common.vertex.vertices import INTEGERS, Ints, VertexSet
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.state import ViewportState

from .blocks import (
    WORTH_THREADS,
    SetupFunctions,
    area,
    begin_block,
    complete_block,
    grid,
    setup_functions,
)
from .llvm.engine import Function, compile_module, loads
from .plan_memory import MOST_TRIANGLES, ROOM, PlanMemory
from .shader.clip_code import FLAT, LINEAR, SMOOTH, clip_functions, clip_planes
from .shader.layout import ClipWords, DrawWords, StreamWords, TileWords
from .shader.plan_code import LARGE, LISTS, plan_text
from .shader.setup import LARGEST, TILE
from .tile_functions import TileFunction, has_code, shade, tile_function_for, touches_nothing

if TYPE_CHECKING:
    from .program import BoundJit

Array = npt.NDArray[Any]


class StandIn:
    """The addresses of vertices in a context's memory, in place of a set of vertices."""

    def __init__(self, memory: PlanMemory, rows: dict[tuple[int, int], int]) -> None:
        self.count = ROOM
        self.window = memory.window
        self.varyings: dict[int, Any] = {}
        self.memory, self._rows = memory, rows

    def component(self, slot: int, component: int) -> Array:
        """The row of a varying; the default value if no shader writes it."""
        row = self._rows.get((slot, component))
        if row is None:
            return self.memory.ones if component == 3 else self.memory.zeros
        return self.memory.row(row)


SIZE_OF_POINTS = int(VaryingSlot.PSIZ), 0


@functools.lru_cache(maxsize=64)
def draw_function(
    planes: tuple[int, ...], halfz: bool, first: bool, given: bool, corners: int, cache: Any
) -> Function:
    """The function `draw`."""
    worth = WORTH_THREADS // TILE**2, WORTH_THREADS
    code = compile_module(plan_text(planes, halfz, first, given, corners, worth), ("draw",), cache)
    return code.function("draw", ctypes.c_void_p)


def _kind(slot: int, context: RasterContext) -> int:
    """How clipping computes the values of new vertices."""
    if slot in context.flat or slot in INTEGERS:
        return FLAT
    return LINEAR if slot in context.linear else SMOOTH


def clip_rows(planes: ClipPlanes) -> dict[tuple[int, int], int]:
    """The rows of the position and of the clip distances in force, which clipping reads."""
    places = [(int(VaryingSlot.POS), i) for i in range(4)]
    places += [planes.distances[number] for number in sorted(planes.distances)]
    return {place: row for row, place in enumerate(places)}


def six_of(viewport: ViewportState) -> Array:
    """The numbers of a viewport, as words."""
    six = np.array((*viewport.scale, *viewport.translate), np.float32)
    return six.view(np.uint64)


class Rasterization:
    """The blocks that primitives in one state are rasterized with."""

    def __init__(
        self,
        fragment: BoundJit,
        function: TileFunction,
        engine: FragmentEngine,
        context: RasterContext,
        rows: dict[tuple[int, int], int],
        memory: PlanMemory,
        viewport: ViewportState | None,
        given: bool = False,
    ) -> None:
        """`rows`: where the vertices' outputs are, those of `clip_rows` first. Without a
        `viewport`, nothing is clipped. `given`: vertices are in place, and tiles are shaded by
        `shade_tiles`.
        """
        self._keep: list[Any] = []
        self.memory, self.cache, self.work = memory, fragment.program.cache, fragment.resources.work
        self._fragment, self._function, self._rows = fragment, function, rows
        self._engine, self._context = engine, context
        self._room = 0
        self.left: int = 0  # given primitives, or parts of them, that were left by clipping
        self._tile_block()
        self._draw_block(viewport, given)

    def _tile_block(self) -> None:
        bound, function, memory = self._fragment, self._function, self.memory
        stand_in: Any = StandIn(memory, self._rows)
        block = begin_block(bound, function, self._context, stand_in, self._keep)
        complete_block(bound, function, block, self._engine, self._context, stand_in, self._keep)
        across, down = grid(self._context.target)
        self._starts = memory.starts(across * down + 1)
        block[TileWords.RECORDS] = memory.records_at
        block[TileWords.STARTS] = self._starts.ctypes.data
        block[TileWords.ACROSS] = across
        self._tiles = across * down
        block[TileWords.RESULTS] = memory.counters_at
        block[TileWords.NEXT] = memory.counters_at + 16
        self._block = block
        self._tile, self._tile_at = block.data, int(block.ctypes.data)
        self._counted = memory.counters.data
        self._tile_least = function.code.least.get(0, 0)

    def _clip_block(self, viewport: ViewportState | None, planes: tuple[int, ...]) -> Array:
        """The block of the clipping functions: new vertices follow those of the draw, in the same
        arrays.
        """
        memory, context = self.memory, self._context
        block = memory.clip_block.copy()
        if viewport is None:
            return block
        table = clip_planes(planes, context.planes.halfz)
        varyings = [
            (place, row) for place, row in self._rows.items() if place[0] != VaryingSlot.POS
        ]
        arrays = np.array([memory.row_at(row) for _, row in varyings], np.uint64)
        kinds = np.array([_kind(slot, context) for (slot, _), _ in varyings], np.int64)
        self._keep += [table, arrays, kinds]
        block[ClipWords.PLANES] = table.ctypes.data
        block[ClipWords.ARRAYS] = arrays.ctypes.data
        block[ClipWords.KINDS] = kinds.ctypes.data
        block[ClipWords.PLANE_COUNT] = len(table)
        block[ClipWords.PLACE_COUNT] = len(clip_rows(context.planes))
        block[ClipWords.ARRAY_COUNT] = len(arrays)
        block[ClipWords.SCALE : ClipWords.SCALE + 3] = six_of(viewport)
        return block

    def _draw_block(self, viewport: ViewportState | None, given: bool) -> None:
        """The block of the draw function, and the functions it calls."""
        memory, planes, cache = self.memory, self._context.planes, self.cache
        corners = self._function.key.kind.corners
        sides = corners > 1 or self._context.state.point_clip_sides
        numbers = tuple(plane for plane in planes.numbers() if plane > 3 or sides)
        if viewport is None:
            numbers = ()
        clip = self._clip_block(viewport, numbers)
        block = memory.draw_block.copy()
        functions = self._setup()
        cut, extend = clip_functions(cache)
        self._functions = [
            (DrawWords.CUT, cut),
            (DrawWords.EXTEND, extend),
            (DrawWords.SET_UP, functions.set_up),
            (DrawWords.BIN, functions.fill_lists),
            (DrawWords.FILL, self._function.call),
        ]
        first = self._context.state.flatshade_first
        self._whole = draw_function(numbers, planes.halfz, first, given, corners, cache)
        self._loads, self._quick = -1, list[Function]()
        block[DrawWords.CLIP] = clip.ctypes.data
        block[DrawWords.TILE] = self._tile_at
        block[DrawWords.TILES] = self._tiles
        self._keep += [clip, block]
        self._words, self._at = block.data, int(block.ctypes.data)

    def _setup(self) -> SetupFunctions:
        """The functions that set up the primitives; describes what they read besides positions."""
        key, state, tile = self._function.key, self._context.state, self._tile
        sizes = self._rows.get(SIZE_OF_POINTS) if state.point_size_per_vertex else None
        if key.kind.corners < 3:
            tile[TileWords.FRONT] = self.memory.fronts_at
            width = state.point_size
            if key.kind.corners == 2:
                width = rectangle_width(state, bool(key.kind.smooth))
            tile[TileWords.WIDTH] = int(np.float32(width).view(np.uint32))
            if key.kind.corners == 2 and not key.places:
                tile[TileWords.WIDTH] = half_width(state)
        if sizes is not None:
            tile[TileWords.SIZES] = self.memory.row_at(sizes)
        return setup_functions(key, state, sizes is not None, self.cache)

    def _point(self) -> None:
        """Update addresses of functions that were loaded or moved, and which of them are still
        quickly compiled.
        """
        self._loads = loads()
        for word, function in self._functions:
            self._words[word] = function.address
        self._quick = [function for _, function in self._functions if function.quick]

    def _point_at_lists(self) -> None:
        """Update the addresses of the tile lists, which may have moved or grown."""
        memory = self.memory
        self._room = self._words[DrawWords.ITEMS] = memory.room
        self._tile[TileWords.ITEMS] = memory.items_at

    # -- given primitives --------------------------------------------------------------------------

    def fill(self, vertices: VertexSet, batch: Batch) -> bool:
        """Clip and fill primitives; returns false, having done nothing, if there is no room or a
        coordinate is too large.
        """
        vertices, corners, provoking = _own(vertices, batch)
        self._hold(vertices)
        identity = np.ascontiguousarray(batch.identity)
        arrays = np.ascontiguousarray(corners), np.ascontiguousarray(provoking), identity
        words = np.zeros(StreamWords.SIZE, np.uint64)
        words[StreamWords.LANES], words[StreamWords.TRIANGLES] = vertices.count, len(corners)
        words[StreamWords.CORNERS : StreamWords.CORNERS + 3] = [a.ctypes.data for a in arrays]
        self._words[DrawWords.STREAM] = words.ctypes.data
        if batch.front is not None:
            front = np.ascontiguousarray(batch.front)
            self._tile[TileWords.FRONT] = front.ctypes.data
        if self._call() == LARGE:
            return False
        counters, effects = self._context.counters, self._function.key.effects
        self.left += self._words[DrawWords.LEFT]
        seen = self._words[DrawWords.SEEN]
        if seen:
            worth = self._tiles > 1 and not effects
            worth = worth and area(self.memory.records[:seen]) >= WORTH_THREADS
            self.shade_tiles(thread_count() if worth else 1)
            if effects:
                self._fragment.touch_images()
            counters.samples_passed += self._counted[0]
            counters.fs_invocations += self._counted[1]
            self.work.spend(FRAGMENT * self._counted[1])
        return True

    def _hold(self, vertices: VertexSet) -> None:
        """Copy vertices to the memory."""
        memory, count = self.memory, vertices.count
        memory.window[:, :count] = vertices.window
        for (slot, component), number in self._rows.items():
            row = memory.row(number)[:count]
            if slot == VaryingSlot.POS:
                row[...] = vertices.clip[component]
                continue
            value = vertices.component(slot, component)
            if value.dtype.itemsize != 4:
                value = value.astype(np.float32)
            row.view(value.dtype)[...] = value

    def shade_tiles(self, threads: int) -> None:
        """Shade the tiles; each thread needs a block and callbacks of its own."""
        shade(self._fragment, self._function, self._block, threads)

    # -- the call ----------------------------------------------------------------------------------

    def _call(self) -> int:
        """Make the call; returns the state in which it ended."""
        state = self._called()
        if state == LISTS:
            self.memory.make_room(self._words[DrawWords.TOUCHED])
            state = self._called()
        return state

    def _called(self) -> int:
        if self._room != self.memory.room:
            self._point_at_lists()
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


# -- primitives of other stages --------------------------------------------------------------------


def fill(
    bound: BoundJit,
    engine: FragmentEngine,
    context: RasterContext,
    vertices: VertexSet,
    batch: Batch,
    inside: bool,
) -> int:
    """Fill primitives, after clipping them if they are not `inside` of all planes; returns how many
    of the first ones are done. The others need the shared code.
    """
    count, corners = len(batch.corners), batch.corners.shape[1]
    if context.target.empty or batch.depth is not None:
        return 0
    if corners == 2 and not inside and context.state.line_stipple_enable:
        return 0  # clipped lines are cut into dashes
    if touches_nothing(engine):
        if not has_code(bound, engine, context, corners):
            return 0
        if not inside:
            context.counters.clipper_out += len(clipped(context, vertices, batch).corners)
        return count
    function = tile_function_for(bound, engine, context, vertices, corners)
    if function is None:
        return 0
    memory = PlanMemory.of(engine.scratch, context.counters)
    rows = clip_rows(context.planes)
    for place in function.code.inputs:
        rows.setdefault(place, len(rows))
    sizes = vertices.varyings.get(VaryingSlot.PSIZ)
    if corners == 1 and sizes is not None and sizes[0] is not None:
        rows.setdefault(SIZE_OF_POINTS, len(rows))

    def made(viewport: ViewportState | None) -> Rasterization:
        return Rasterization(bound, function, engine, context, rows, memory, viewport, given=True)

    own = vertices.viewport
    clips = made(own) if isinstance(own, ViewportState) and not inside else None
    rest: Rasterization | None = None
    most = MOST_LANES // _CORNERS
    step = MOST_TRIANGLES if vertices.count <= MOST_LANES else most
    done = count
    for start in range(0, count, step):
        part = batch.take(slice(start, start + step)) if count > step else batch
        if clips is not None and clips.fill(vertices, part):
            continue
        if not inside:
            part = clipped(context, vertices, part)
        if _is_too_large(vertices, part):
            done = start
            break
        rest = rest or made(None)
        for first in range(0, len(part.corners), most):
            rest.fill(vertices, part.take(slice(first, first + most)))
    if not inside:
        context.counters.clipper_out += sum(each.left for each in (clips, rest) if each)
    return done


_CORNERS = 4
"""Vertices that a triangle may have: the provoking vertex of a piece need not be a corner."""


def _own(vertices: VertexSet, batch: Batch) -> tuple[VertexSet, Ints, Ints]:
    """The vertices of some primitives, their corners and provoking vertices; all vertices if they
    are not too many.
    """
    if vertices.count <= MOST_LANES:
        return vertices, batch.corners, batch.provoking
    every = np.concatenate((batch.corners, batch.provoking[:, None]), axis=1)
    used, numbers = np.unique(every, return_inverse=True)
    numbers = numbers.reshape(every.shape)
    varyings = {
        slot: [value if value is None or not value.ndim else value[used] for value in values]
        for slot, values in vertices.varyings.items()
    }
    viewport = vertices.viewport
    viewport = viewport if isinstance(viewport, ViewportState) else viewport.take(used)
    made = VertexSet(len(used), vertices.clip[:, used], varyings, viewport, vertices.fused)
    made.window = vertices.window[:, used]
    return made, numbers[:, :-1], numbers[:, -1]


def _is_too_large(vertices: VertexSet, batch: Batch) -> bool:
    """Whether a corner is out of the range of set-up."""
    corners = batch.corners.shape[1]
    if corners == 1:
        return False
    at = np.abs(vertices.window[:2].take(batch.corners, axis=1)) * 256
    limit = LARGEST if corners == 3 else LARGEST - 256  # lines may begin up to a pixel earlier
    return bool(((at >= limit) & (at < np.inf)).any())
