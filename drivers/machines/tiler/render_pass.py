"""A render pass: draws to one framebuffer, recorded, then binned, then executed tile by tile.

Pass 1 runs every draw's vertex shader in its binning variant, and puts each primitive into its
bins. Pass 2 goes from tile to tile: fill tile memory, draw the tile's primitives with the full
shaders, resolve samples, write back attachments that are still needed. Vertices that several tiles
need are shaded for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.draw.pipeline import batch_of
from gallette.drivers.common.draw.splitting import Primitives, parts
from gallette.drivers.common.draw.state import DrawState, fragment_engine
from gallette.drivers.common.lanes import Value
from gallette.drivers.common.output.engine import FragmentEngine, FragmentRun
from gallette.drivers.common.output.hierarchical_depth import DepthBlocks
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.program import BoundProgram
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.raster.primitives import rasterize
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.vertex.fetch import FetchedVertices
from gallette.drivers.common.vertex.stream import submitted
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.drivers.common.work import LANE, PRIMITIVE
from gallette.pipe.resource import Resource
from gallette.pipe.state import BlitInfo, DrawInfo, FramebufferState

from .bins import Grid, Ranges, ranges_of
from .hierarchical_depth import CoarseSink
from .resolve import Resolve, resolve_of
from .tiles import Clear, TileMemory, in_tile

Ints = npt.NDArray[np.intp]


@lazy_dataclass()
class TileReport:
    """The costs of one tile."""

    rect: Rect
    primitives: int = 0
    vertices: int = 0
    shaded: int = 0  # fragments
    hidden: int = 0  # fragments dropped by hierarchical depth
    loaded: int = 0  # bytes
    stored: int = 0
    resolved: int = 0  # bytes resolved from samples and stored
    spared: int = 0  # bytes not stored, since they were invalidated

    @property
    def overdraw(self) -> float:
        """Fragments shaded per pixel."""
        return self.shaded / max(1, (self.rect.x1 - self.rect.x0) * (self.rect.y1 - self.rect.y0))

    @property
    def moved(self) -> int:
        """Bytes between the tile and memory."""
        return self.loaded + self.stored + self.resolved


@lazy_dataclass()
class PassReport:
    """What a render pass did, tile by tile."""

    grid: Grid
    draws: int = 0
    primitives: int = 0
    entries: int = 0  # of all bins
    binned_vertices: int = 0
    cleared: bool = False
    tiles: list[TileReport] = field(default_factory=list)

    @property
    def moved(self) -> int:
        """Bytes between tile memory and memory."""
        return sum(tile.moved for tile in self.tiles)


@lazy_dataclass()
class _Draw:
    """A recorded draw."""

    state: DrawState
    info: DrawInfo
    merged: bool
    binning: BoundProgram
    engine: FragmentEngine  # on tile memory
    parts: list[tuple[Primitives, Ranges]] = field(default_factory=list)


class SelectedVertices:
    """`VertexLanes` for some of the vertices of a source."""

    def __init__(self, source: FetchedVertices, which: Ints) -> None:
        self._source = source
        self._which = which
        self.count = len(which)

    def _chosen(self, value: Value) -> Value:
        return value.take(self._which) if value.ndim else value

    def attribute(self, index: int, component: int) -> Value:
        return self._chosen(self._source.attribute(index, component))

    def attribute64(self, index: int, component: int) -> Value:
        return self._chosen(self._source.attribute64(index, component))

    def system(self, name: str) -> Value:
        return self._chosen(np.asarray(self._source.system(name)))


class RenderPass:
    """Draws to one framebuffer that will be executed together."""

    def __init__(self, framebuffer: FramebufferState, grid: Grid, scratch: Scratch) -> None:
        self.framebuffer = framebuffer
        self.memory = TileMemory(framebuffer, grid)
        self.clears: list[Clear] = []
        self.draws: list[_Draw] = []
        self.resolves: list[Resolve] = []  # after the draws; the pass takes no draws after them
        self._undefined: set[int] = set()  # attachments whose contents are invalidated
        self.report = PassReport(grid)
        self._scratch = scratch
        self._held: dict[int, Resource] = {}
        self._engines: dict[int, tuple[Any, FragmentEngine]] = {}
        for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
            if surface is not None:
                self._hold(surface.resource)

    def _hold(self, resource: Resource) -> None:
        if id(resource) not in self._held:
            self._held[id(resource)] = resource.ref()

    def names(self, resource: Resource) -> bool:
        """Whether the pass reads or writes a resource."""
        return id(resource) in self._held

    # -- recording ---------------------------------------------------------------------------------

    def record(
        self,
        state: DrawState,
        bound: Bound,
        info: DrawInfo,
        merged: bool,
        binning: BoundProgram,
        resources: Iterator[Resource],
    ) -> None:
        """Record a draw, with references to its resources, until the pass is executed."""
        assert not self.resolves
        self._undefined.clear()  # drawn contents are defined again
        for resource in resources:
            self._hold(resource)
        if info.index_buffer is not None:
            self._hold(info.index_buffer)
        found = self._engines.get(id(state.fixed))
        if found is None:
            tile = in_tile(self.framebuffer, self.memory.tile)
            engine = fragment_engine(
                replace(bound, framebuffer=tile),
                state.fixed.selection,
                self._scratch,
                state.counters,
                state.work,
            )
            found = self._engines[id(state.fixed)] = (state.fixed, engine)
        self.draws.append(_Draw(state, info, merged, binning, found[1]))

    def resolve(self, info: BlitInfo) -> bool:
        """Record a blit to be executed in the tiles; returns false if that is impossible."""
        found = None
        if not self.names(info.dst):
            found = resolve_of(info, self.framebuffer, self.memory.tile)
        if found is None:
            return False
        self._hold(info.dst)
        self.resolves.append(found)
        return True

    def forget(self, resource: Resource) -> None:
        """Invalidate an attachment's contents, so that they need not be stored."""
        self._undefined.add(id(resource))

    # -- execution ---------------------------------------------------------------------------------

    def execute(self) -> None:
        """Execute both passes."""
        report, grid = self.report, self.report.grid
        report.draws = len(self.draws)
        report.cleared = bool(self.clears)
        with np.errstate(all="ignore"):
            for draw in self.draws:
                self._bin(draw)
            for row in range(grid.rows):
                for column in range(grid.columns):
                    self._tile(column, row)

    def release(self) -> None:
        """Release all references."""
        self.memory.destroy()
        for resource in self._held.values():
            resource.unref()
        self._held.clear()
        self.draws.clear()

    def _bin(self, draw: _Draw) -> None:
        """Execute pass 1 of a draw."""
        state, info = draw.state, draw.info
        state.work.begin()
        lanes = info.count * info.instance_count
        state.work.spend(LANE * lanes)
        counters = state.counters
        counters.ia_vertices += submitted(info) * info.instance_count
        binning = replace(state, programs={Stage.VERTEX: draw.binning})
        raster = state.fixed.raster
        for part in parts(binning, info, draw.merged):
            counters.ia_primitives += len(part.corners)
            counters.streams[0].generated += len(part.corners)
            self.report.binned_vertices += part.vertices.count
            self.report.primitives += len(part.corners)
            if not len(part.corners):
                continue
            state.work.spend(PRIMITIVE * len(part.corners))
            batch = batch_of(state, info.mode, part)
            ranges = ranges_of(raster, part.vertices, batch, self.report.grid)
            self.report.entries += ranges.entries
            counters.clipper_in += len(part.corners)
            counters.clipper_out += int((ranges.last_row >= 0).sum())
            draw.parts.append((part, ranges))

    def _tile(self, column: int, row: int) -> None:
        """Execute pass 2 of a tile."""
        rect = self.report.grid.rect(column, row)
        tile = TileReport(rect)
        self.report.tiles.append(tile)
        tile.loaded = self.memory.load(rect, self.clears)
        blocks = self._blocks(rect)
        for draw in self.draws:
            before = draw.state.counters.fs_invocations
            for part, ranges in draw.parts:
                which = ranges.visible(column, row)
                if len(which):
                    self._draw(draw, part, which, tile, blocks)
            tile.shaded += draw.state.counters.fs_invocations - before
        tile.hidden = 0 if blocks is None else blocks.hidden
        tile.resolved = sum(resolve.run(rect) for resolve in self.resolves)
        tile.stored, tile.spared = self.memory.store(rect, self._undefined)

    def _blocks(self, rect: Rect) -> DepthBlocks | None:
        """Depth ranges of the blocks of tile memory, if the pass has a depth attachment."""
        for draw in self.draws:
            depth = draw.engine.state.depth
            if depth is not None:
                return DepthBlocks(depth, self.report.grid.tile_width, rect.x0, rect.y0)
        return None

    def _draw(
        self,
        draw: _Draw,
        part: Primitives,
        which: Ints,
        tile: TileReport,
        blocks: DepthBlocks | None,
    ) -> None:
        """Draw a tile's primitives of a recorded draw."""
        state, fixed, rect = draw.state, draw.state.fixed, tile.rect
        target = fixed.raster.target
        inside = Rect(
            max(rect.x0, target.x0),
            max(rect.y0, target.y0),
            min(rect.x1, target.x1),
            min(rect.y1, target.y1),
        )
        if inside.empty or draw.engine.idle:
            return
        state.work.begin()
        some = self._shaded(draw, part, which)
        tile.primitives += len(which)
        tile.vertices += some.vertices.count
        raster = replace(fixed.raster, target=inside, counters=Counters())
        draw.engine.origin = rect.y0 * self.report.grid.tile_width + rect.x0
        batch = batch_of(state, draw.info.mode, some)
        sink = CoarseSink(FragmentRun(draw.engine, state.fragment), blocks)
        rasterize(raster, sink, some.vertices, batch)

    def _shaded(self, draw: _Draw, part: Primitives, which: Ints) -> Primitives:
        """Primitives with all varyings of their vertices, shaded again."""
        state, source = draw.state, part.source
        assert source is not None
        corners, provoking = part.corners[which], part.provoking[which]
        used, numbers = np.unique(
            np.concatenate((corners.reshape(-1), provoking)), return_inverse=True
        )
        numbers = numbers.reshape(-1)
        lanes = FetchedVertices(source, state.elements, state.buffers, 0, source.lanes)
        chosen = SelectedVertices(lanes, used)
        state.work.spend(LANE * len(used))
        outputs = state.programs[Stage.VERTEX].vertex(chosen)
        state.counters.vs_invocations += len(used)
        vertices = VertexSet.from_outputs(
            len(used),
            {slot: list(values) for slot, values in outputs.items()},
            state.fixed.viewport,
        )
        size = corners.shape[1]
        return Primitives(
            vertices,
            numbers[: corners.size].reshape(-1, size),
            numbers[corners.size :],
            part.identity[which],
            None if part.edges is None else part.edges[which],
        )
