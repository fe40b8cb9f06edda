"""Plans: draws by one native call for each part, with everything about them prepared.

A draw of a few triangles costs less than the Python code that leads to it. So a plan computes once
what follows from bound state: blocks of words with the addresses of vertices, targets and textures.
Memory for data between the stages is shared by all draws of a context (`plan_memory`). A draw then
stores its first vertex and its constants, and makes one call for each of its parts
(`splitting.assemblies`): `draw` of `shader.plan_code`, which calls the vertex shader, the viewport
transform, clipping, set-up, binning and the tile function.

A plan computes the same bits and counts as the shared stages. It leaves to these what it cannot
make: draws with other stages or call-outs, and parts from the first one on that is too large.
"""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.draw.snapshot import Plan
from gallette.drivers.common.draw.splitting import WORTHWHILE
from gallette.drivers.common.draw.state import DrawState
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.texture.unit import Unit
from gallette.drivers.common.threads import thread_count
from gallette.drivers.common.vertex.clip import ClipPlanes
from gallette.drivers.common.work import FRAGMENT
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import Primitive
from gallette.pipe.state import DrawInfo, FramebufferState, ViewportState

from .blocks import (
    describe_textures,
    texels_of,
)
from .calls import clock_of, raise_failure
from .command_lists import CommandLists
from .llvm.engine import Function, compile_module, loads
from .plan_inputs import Columns, columns_of
from .plan_memory import CONSTANTS, ROOM, PlanMemory, Stream, Streams, contents_of
from .program import BoundJit
from .rasterization import Rasterization, StandIn, clip_rows, draw_function, six_of
from .shader.clip_code import placing_text
from .shader.layout import DrawWords, PlaceWords, Words
from .shader.plan_code import LARGE, LISTS, STOPPED, THREADS
from .tile_functions import TileFunction, tile_function_for, touches_nothing

Array = npt.NDArray[Any]
Row = tuple[ConstantBuffer | None, ConstantBuffer | None]

_CORNERS = {
    Primitive.POINTS: 1,
    **dict.fromkeys((Primitive.LINES, Primitive.LINE_STRIP, Primitive.LINE_LOOP), 2),
    Primitive.TRIANGLES: 3,
    Primitive.TRIANGLE_STRIP: 3,
    Primitive.TRIANGLE_FAN: 3,
    Primitive.QUADS: 3,
    Primitive.QUAD_STRIP: 3,
    Primitive.POLYGON: 3,
}
"""The modes that have plans, and the corners of their primitives."""

_UNPLACED = (VaryingSlot.LAYER, VaryingSlot.VIEWPORT, VaryingSlot.EDGE)


@functools.lru_cache(maxsize=16)
def _place(near: bool, far: bool, halfz: bool, cache: Any) -> Function:
    code = compile_module(placing_text(near, far, halfz), ("place",), cache)
    return code.function("place", ctypes.c_void_p)


def begin_placing(cache: Any) -> None:
    """Start compiling the functions of most small draws in the background."""
    _place(True, True, False, cache)
    draw_function((0, 1, 2, 3, 4, 5), False, False, False, 3, cache)


def make_plan(draw: DrawState, mode: Primitive) -> DrawPlan | None:
    """A plan for draws in a state; None if they need the shared stages."""
    fixed, context = draw.fixed, draw.fixed.raster
    fragment = draw.fragment.program
    vertex, corners = draw.programs.get(Stage.VERTEX), _CORNERS.get(mode)
    if (
        corners is None
        or (corners == 2 and context.state.line_stipple_enable)
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
        or context.target.empty
        or touches_nothing(fixed.engine)
        or not isinstance(fixed.viewport, ViewportState)
    ):
        return None
    outputs = _outputs(vertex, context.planes)
    if outputs is None or not _constants_fit(vertex, vertex.program.chunk.least):
        return None
    memory = PlanMemory.of(fixed.engine.scratch, draw.counters)
    stand_in: Any = StandIn(memory, outputs)
    function = tile_function_for(fragment, fixed.engine, context, stand_in, corners)
    if (
        function is None
        or function.code.sites
        or vertex.program.chunk_function(((), ()))[1].deep
        or function.code.memory
        or not _constants_fit(fragment, function.code.least)
    ):
        return None
    columns = _columns_of(vertex, draw, memory)
    if columns is None:
        return None
    return DrawPlan(draw, mode, vertex, fragment, function, outputs, columns, memory)


def _outputs(vertex: BoundJit, planes: ClipPlanes) -> dict[tuple[int, int], int] | None:
    """The row of each output of a plain vertex shader: first those of the position and of the
    clip distances that are enabled.
    """
    chunk, facts = vertex.program.chunk, vertex.program.facts
    if chunk.sites or chunk.memory or chunk.effects or facts.textures or chunk.facts["images"]:
        return None
    places = [(slot, component) for (slot, component, _), _ in chunk.outputs]
    found = clip_rows(planes)
    if not all(place in places for place in found):
        return None
    if any(kind != "i32" or slot in _UNPLACED for (slot, _, _), kind in chunk.outputs):
        return None
    for place in places:
        found.setdefault(place, len(found))
    return found


def _columns_of(vertex: BoundJit, draw: DrawState, memory: PlanMemory) -> Columns | None:
    inputs, clip_planes = vertex.program.chunk.inputs, vertex.resources.clip_planes
    return columns_of(inputs, draw.elements, draw.buffers, clip_planes, memory)


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


class DrawPlan(Rasterization):
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
    ) -> None:
        fixed = draw.fixed
        viewport = fixed.viewport
        assert isinstance(viewport, ViewportState)
        super().__init__(fragment, function, fixed.engine, fixed.raster, rows, memory, viewport)
        self._draw, self._mode = draw, mode
        self._vertex, self._columns = vertex, columns
        self.touched: list[Any] = fixed.engine.written
        self._info: DrawInfo | None = None  # of the draw made last
        self._start = 0  # where it began
        self._streams: Streams = ()
        self._contents: object = None  # of its indices
        self._steady = False  # whether it has but to be given other constants
        self.moves = 0  # how often it got other vertex buffers and textures
        self._begun: tuple[DrawInfo, Stream] | None = None  # the run made last, if nothing since
        self._size = -1  # of its constants
        chunk, shade_vertices = vertex.program.chunk_function(((), ()))
        self._chunk_block(chunk)
        self._point_at_inputs()
        self._place_block(viewport)
        planes = fixed.raster.planes
        placing = _place(planes.near, planes.far, planes.halfz, self.cache)
        self._functions += [(DrawWords.SHADE, shade_vertices), (DrawWords.PLACING, placing)]
        self._words[DrawWords.CHUNK] = self._chunk_at
        self._words[DrawWords.PLACE] = self._place_at
        self._use_textures(fragment)

    def _chunk_block(self, chunk: Any) -> None:
        block = self._vertex.block_for(chunk.least, self._keep)
        for number, ((slot, component, _), _) in enumerate(chunk.outputs):
            block[Words.OUTPUTS + number] = self.memory.row_at(self._rows[slot, component])
        block[Words.CONSTANTS] = self.memory.constants_at[0]
        self._chunk, self._chunk_at = block, int(block.ctypes.data)
        self._chunk_words = block.data
        self._chunk_least = chunk.least.get(0, 0)

    def _point_at_inputs(self) -> None:
        for number, address in enumerate(self._columns.addresses):
            self._chunk_words[Words.INPUTS + number] = address

    def moved(self, draw: DrawState) -> DrawPlan | None:
        """This plan, from now on for a state with other vertex buffers or textures; None if it
        cannot be.
        """
        old, fragment, columns = self._draw, draw.fragment.program, self._columns
        if draw.fixed is not old.fixed or not isinstance(fragment, BoundJit):
            return None
        if fragment.texture_keys != self._fragment.texture_keys:
            return None
        if draw.buffers is not old.buffers:
            found = _columns_of(self._vertex, draw, self.memory)
            if found is None:
                return None
            columns = found
        self._end_run()
        self._draw, self._columns, self._info = draw, columns, None
        self._steady = False
        self.moves += 1
        self.memory.moved += 1
        self._point_at_inputs()
        self._use_textures(fragment)
        return self

    def _use_textures(self, fragment: BoundJit) -> None:
        """Describe the textures of this program, which is the plan's own but for its textures."""
        self._fragment = fragment
        used = fragment.program.facts.textures
        self._units = [
            (unit, unit.view.resource)
            for number, unit in enumerate(fragment.resources.textures)
            if number in used and isinstance(unit, Unit)
        ]
        self._writes: list[int] = []
        self._runs: list[Array] = []
        self._refresh_textures()

    def _place_block(self, viewport: ViewportState) -> None:
        block = np.zeros(PlaceWords.SIZE, np.uint64)
        for axis in range(4):
            block[PlaceWords.CLIP + axis] = self.memory.row_at(self._rows[VaryingSlot.POS, axis])
        block[PlaceWords.WINDOW] = self.memory.window_at
        block[PlaceWords.STRIDE] = ROOM
        block[PlaceWords.SCALE : PlaceWords.SCALE + 3] = six_of(viewport)
        self._placing, self._place_at = block, int(block.ctypes.data)

    # -- a draw ----------------------------------------------------------------------------------

    def draw(self, info: DrawInfo, row: Row) -> int | None:
        """Make a draw with these constant blocks 0, part by part; returns the number of the first
        part that it cannot make, if there is one.
        """
        streams = self._streams_of(info)
        if not streams or not self._constants(row):
            return 0
        for number, stream in enumerate(streams):
            if not self._drawn(stream, info, info.start):
                return number
        return None

    def _drawn(self, stream: Stream | None, info: DrawInfo, start: int) -> bool:
        """Make a part of a draw; if vertices are clipped, with the triangles there are then."""
        if stream is None or not self._described(stream, info, start):
            return False
        if self._made(stream):
            return True
        return self._drawn(stream.clipped, info, start)

    def repeat(self, info: DrawInfo, data: bytes | bytearray, start: int) -> bool:
        """Draw from another vertex on, with one block for both stages; fast if nothing else
        differs.
        """
        if info is not self._info or not self._steady or start != self._start:
            streams = self._streams_of(info)
            if len(streams) != 1 or not self._described(streams[0], info, start):
                return False
        size = self.memory.put(0, data)
        if size < 0:
            return False
        if size != self._size:
            self._store_sizes(size, size, 0)
        stream = self._streams[0]
        assert stream is not None
        return self._made(stream) or self._drawn(stream.clipped, info, start)

    def command_lists(
        self, series: Series, target: FramebufferState, planned: Callable[[Any], Plan | None]
    ) -> CommandLists:
        """The command lists that execute parts of a series."""
        return CommandLists(self, series, target, planned)

    def _streams_of(self, info: DrawInfo) -> Streams:
        """The parts of a draw; none if that is to be shortened (`splitting.without_excess`)."""
        self._steady = False
        self._end_run()
        contents = contents_of(info) if info.index_size else None
        if info is not self._info or (info.index_size and contents != self._contents):
            self._info = None
            if (
                not info.index_size
                and info.count >= WORTHWHILE
                and info.start + info.count > self.least
            ):
                return ()
            self._streams = self.memory.streams(self._draw, info, self._mode)
            self._info, self._contents = info, contents
        return self._streams

    def _described(self, stream: Stream | None, info: DrawInfo, start: int) -> bool:
        """Describe the vertices of a part in the block; returns false if that is impossible."""
        if stream is None or not self._columns.begin(stream, info, start):
            return False
        self._words[DrawWords.STREAM] = stream.at
        self._start = start
        alone = len(self._streams) == 1 and stream is self._streams[0]
        self._steady = alone and self._columns.steady and not info.index_size
        return True

    def _made(self, stream: Stream) -> bool:
        """Execute the described draw; returns false, having done nothing, if it is too large."""
        if self._units:
            self._refresh_textures()
        return self.ended(self._call(), stream)

    def ended(self, state: int, stream: Stream) -> bool:
        """Complete a draw whose machine code returned this state. False, without an effect, if the
        draw is too large for a plan.
        """
        if state:
            if state == LISTS:  # of a draw in a run
                state = self._call()
            if state == LARGE:
                return False
            if state == STOPPED:
                raise_failure(clock_of(self.work).failures)
        counted = self._counted
        effects = self._function.key.effects
        if state == THREADS:
            self.shade_tiles(1 if effects else thread_count())
            counters = self._draw.counters
            counters.samples_passed += counted[0]
            counters.fs_invocations += counted[1]
        cost = stream.cost + FRAGMENT * counted[1]
        if cost > self.work.limit:
            self.work.begin()
            self.work.spend(cost)
        for resource in self.touched:
            resource.writes += 1
        if effects:
            self._fragment.touch_images()
        return True

    def _call(self) -> int:
        self.work.begin()
        return super()._call()

    # -- many draws in one call (see `runs`) -----------------------------------------------------

    def command(self, info: DrawInfo) -> tuple[Stream, tuple[int, ...]] | None:
        """The words of a draw's command, if draws differ only in constants and `start`; without the
        data that is copied.
        """
        columns, streams, self._info = self._columns, self._streams_of(info), None
        if self._function.key.effects:
            return None
        stream = streams[0] if len(streams) == 1 else None
        if stream is None or not columns.plain or not columns.begin(stream, info, info.start):
            return None
        start = stream.first if info.index_size else -1
        address = self._whole.address
        return stream, (address, self._at, 0, 0, start, stream.at, info.start_instance)

    def begin(self, info: DrawInfo, stream: Stream, size: int) -> None:
        """Prepare for a run of draws such as this one, with block 0 of this size."""
        words, begun = self._words, self._begun
        if begun is not None and begun[0] is info and begun[1] is stream:
            steady = self._loads == loads() and self._room == self.memory.room
            if steady and size == self._size and self._columns.refresh():
                if self._units:
                    self._refresh_textures()
                return
        self._info = None
        self._end_run()
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
        self._begun = info, stream

    def _end_run(self) -> None:
        """Forget the vertices that machine code has moved to."""
        if self._begun is not None:
            self._begun = None
            self.memory.ended += 1
            self._columns.forget()

    def charge(self, seconds: float) -> None:
        """Charge a run's functions for the time its draws took."""
        several = [*self._quick, self._whole]
        for function in several:
            function.charge(seconds / len(several))

    @property
    def is_quick(self) -> bool:
        """Whether others may replace its functions."""
        return bool(self._quick) or self._whole.quick

    @property
    def reads_in_place(self) -> bool:
        """Whether its draws read no data that is converted before."""
        return not self._units and self._columns.in_place

    @property
    def counters(self) -> Counters:
        """The counters of its context."""
        return self._draw.counters

    @property
    def least(self) -> int:
        """The number of vertices that its buffers hold."""
        return self._columns.least

    @property
    def least_instances(self) -> int:
        """The number of instances that its buffers hold."""
        return self._columns.least_instances

    def looked_at(self, info: DrawInfo) -> Iterator[Any]:
        """The resources whose contents are read before the draw."""
        if info.index_size:
            yield info.index_buffer
        yield from self._columns.looked_at()
        for _, resource in self._units:
            yield resource

    # -- one draw ----------------------------------------------------------------------------------

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
