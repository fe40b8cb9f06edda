"""Binning: how a framebuffer is divided into tiles, and which primitives each tile draws.

Pass 1 runs the binning variant of the vertex shader and computes a range of bins for every
primitive from the window positions of its vertices. A primitive that crosses a clip plane is in all
bins, one that faces the culled way in none. The ranges are conservative, and a tile rasterizes
every primitive in its range.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.raster.batch import Batch, RasterContext
from gallette.drivers.common.raster.points import point_sizes
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.triangles import face_triangles
from gallette.drivers.common.vertex.clip import clip_codes
from gallette.drivers.common.vertex.vertices import VertexSet
from gallette.pipe.enums import CullFace, PolygonMode

_STEP = 32
_MARGIN = 2.0
"""Pixels a primitive may extend beyond its corners: by snapping, diamonds, whole pixels."""


@lazy_dataclass(frozen=True)
class Grid:
    """Tiles of a framebuffer, all of one size (those at the edges are cut off)."""

    width: int
    height: int
    tile_width: int
    tile_height: int

    @classmethod
    def of(cls, width: int, height: int, pixel_bytes: int, memory: int) -> Grid:
        """The fewest tiles that fit into `memory` bytes."""
        w, h = -(-width // _STEP) * _STEP, -(-height // _STEP) * _STEP
        while w * h * pixel_bytes > memory and (w > _STEP or h > _STEP):
            if w >= h:
                w = -(-w // (2 * _STEP)) * _STEP
            else:
                h = -(-h // (2 * _STEP)) * _STEP
        return cls(width, height, w, h)

    @property
    def columns(self) -> int:
        return -(-self.width // self.tile_width)

    @property
    def rows(self) -> int:
        return -(-self.height // self.tile_height)

    def rect(self, column: int, row: int) -> Rect:
        """The pixels of a tile."""
        x, y = column * self.tile_width, row * self.tile_height
        right, top = min(x + self.tile_width, self.width), min(y + self.tile_height, self.height)
        return Rect(x, y, right, top)


@lazy_dataclass()
class Ranges:
    """Per primitive, the first and last bin along both axes; none if last < first."""

    first_column: npt.NDArray[np.int16]
    last_column: npt.NDArray[np.int16]
    first_row: npt.NDArray[np.int16]
    last_row: npt.NDArray[np.int16]

    def visible(self, column: int, row: int) -> npt.NDArray[np.intp]:
        """The primitives a tile draws, in drawing order: its visibility stream."""
        inside = (self.first_column <= column) & (self.last_column >= column)
        inside &= (self.first_row <= row) & (self.last_row >= row)
        return np.flatnonzero(inside)

    @property
    def entries(self) -> int:
        """The total number of primitives in all bins."""
        columns = np.maximum(self.last_column - self.first_column + 1, 0).astype(np.int64)
        rows = np.maximum(self.last_row - self.first_row + 1, 0)
        return int((columns * rows).sum())


def ranges_of(context: RasterContext, vertices: VertexSet, batch: Batch, grid: Grid) -> Ranges:
    """Compute the bin ranges of primitives."""
    corners = batch.corners
    count, size = corners.shape
    window = vertices.window[:2]
    margin = _MARGIN + _reach(context, vertices, batch)
    with np.errstate(all="ignore"):
        at = window[:, corners]  # [axis, primitive, corner]
        low, high = at.min(axis=2) - margin, at.max(axis=2) + margin
    everywhere = ~np.isfinite(low).all(axis=0) | ~np.isfinite(high).all(axis=0)
    codes = clip_codes(vertices, context.planes, size > 1 or context.state.point_clip_sides)
    nowhere = np.zeros(count, np.bool_)
    if codes is not None:
        some = np.bitwise_or.reduce(codes[corners], axis=1)
        every = np.bitwise_and.reduce(codes[corners], axis=1)
        everywhere |= some != 0
        nowhere |= every != 0
    if context.state.line_stipple_enable:  # the pattern continues from line to line
        everywhere[:] = True
        nowhere[:] = False
    elif size == 3:
        nowhere |= _turned_away(context, vertices, batch) & ~everywhere
    found = []
    for axis, (step, bins) in enumerate(
        ((grid.tile_width, grid.columns), (grid.tile_height, grid.rows))
    ):
        first = np.where(everywhere, 0, np.floor(low[axis] / step))
        last = np.where(everywhere, bins, np.floor(high[axis] / step))
        last = np.where(nowhere, -1.0, last)
        found.append(np.clip(first, 0, bins).astype(np.int16))
        found.append(np.clip(last, -1, bins - 1).astype(np.int16))
    return Ranges(*found)


def _reach(context: RasterContext, vertices: VertexSet, batch: Batch) -> float:
    """How far primitives extend beyond their corners."""
    state, size = context.state, batch.corners.shape[1]
    reach = 0.0
    outlined = (state.fill_front, state.fill_back)
    if size == 2 or PolygonMode.LINE in outlined:
        reach = float(state.line_width) + state.line_smooth
    if size == 1 or PolygonMode.POINT in outlined:
        sizes = point_sizes(vertices, batch.corners.reshape(-1), state)
        reach = max(reach, float(np.nanmax(sizes, initial=1.0)))
    return reach


def _turned_away(
    context: RasterContext, vertices: VertexSet, batch: Batch
) -> npt.NDArray[np.bool_]:
    """Which filled triangles are culled by facing, or have no area."""
    state = context.state
    gone = np.zeros(len(batch.corners), np.bool_)
    filled = state.fill_front is state.fill_back is PolygonMode.FILL
    if not filled or state.cull_face == CullFace.NONE:
        return gone
    pattern = context.pattern(state.poly_smooth)
    faced = face_triangles(vertices, batch.corners, batch.provoking, state, pattern)
    gone[:] = True
    gone[faced.rows] = False
    return gone
