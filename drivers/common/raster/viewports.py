"""Several viewports: each primitive is transformed by the viewport of its provoking vertex.

A draw whose last vertex stage writes gl_ViewportIndex has a `Viewports` table in its raster
context; other draws never reach this code. If all primitives of a batch name one viewport, it
replaces the first. Otherwise every primitive gets its own copies of vertices, projected by its own
viewport, so that clipping and setup are unchanged; its scissor and depth range are applied to its
spans (`batch.ScissorSink`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.vertex.vertices import Ints, OwnViewports, VertexSet
from gallette.pipe.state import FramebufferState, ScissorState, ViewportState

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .setup import Rect

Floats = npt.NDArray[np.float32]


def depth_range(viewport: ViewportState, halfz: bool) -> tuple[float, float]:
    """The nearest and farthest depth of a viewport, in ascending order."""
    scale, translate = viewport.scale[2], viewport.translate[2]
    near = translate if halfz else translate - scale
    return min(near, translate + scale), max(near, translate + scale)


@lazy_dataclass(frozen=True, eq=False)
class Viewports:
    """Viewports, scissor rectangles and (with depth clamping) depth ranges, by index."""

    states: tuple[ViewportState, ...]
    rects: tuple[Rect, ...]
    ranges: Floats | None  # [near or far, viewport]

    @classmethod
    def of(
        cls,
        states: Sequence[ViewportState],
        scissors: Sequence[ScissorState] | None,
        framebuffer: FramebufferState,
        clamps: bool,
        halfz: bool,
    ) -> Viewports:
        """From bound state; a viewport without an enabled scissor covers the whole target."""
        rects = []
        for index in range(len(states)):
            cut = scissors[index] if scissors is not None and index < len(scissors) else None
            rects.append(Rect.of(framebuffer, cut))
        ranges = None
        if clamps:
            ranges = np.array([depth_range(state, halfz) for state in states], np.float32).T
        return cls(tuple(states), tuple(rects), ranges)

    def indices(self, vertices: VertexSet, provoking: Ints) -> Ints:
        """The viewport of each primitive; the first if the index is out of range."""
        value = np.asarray(vertices.component(VaryingSlot.VIEWPORT, 0)).view(np.int32)
        index = value[provoking] if value.ndim else np.broadcast_to(value, len(provoking))
        return np.where((index >= 0) & (index < len(self.states)), index, 0).astype(np.int64)

    def around(self, used: Ints) -> Rect:
        """The bounding rectangle of all viewports in use."""
        rects = [self.rects[i] for i in np.unique(used).tolist()]
        rects = [rect for rect in rects if not rect.empty] or rects[:1]
        return Rect(
            min(r.x0 for r in rects),
            min(r.y0 for r in rects),
            max(r.x1 for r in rects),
            max(r.y1 for r in rects),
        )

    def rectangles(self, source: PlaneSource, info: PrimitiveInfo) -> Ints:
        """The rectangle of each primitive (see `ScissorSink`); also sets the source's depth
        ranges.
        """
        index = self.indices(source.vertices, source.provoking)
        if self.ranges is not None:
            source.depth_range = self.ranges[0][index], self.ranges[1][index]
        rects = np.array([(r.x0, r.y0, r.x1, r.y1) for r in self.rects], np.int64).T
        return rects.take(index, axis=1)


def reprojected(vertices: VertexSet, viewport: ViewportState) -> VertexSet:
    """The vertices transformed by another viewport."""
    varyings = {slot: list(values) for slot, values in vertices.varyings.items()}
    return VertexSet(vertices.count, vertices.clip, varyings, viewport, vertices.fused)


def own_vertices(
    vertices: VertexSet, corners: Ints, provoking: Ints, index: Ints, viewports: Viewports
) -> tuple[VertexSet, Ints, Ints]:
    """Vertices that no two primitives share, projected by their primitive's viewport `index`.

    Returns them, the new corners and the new provoking vertices: one more of each primitive,
    because the provoking vertex of a quad's half need not be a corner of it.
    """
    count, size = corners.shape
    old = np.concatenate((corners.reshape(-1), provoking))
    owner = np.concatenate((np.repeat(index, size), index))
    made = vertices.take(old)
    made.varyings[VaryingSlot.VIEWPORT] = [owner.astype(np.int32), None, None, None]
    scale = np.array([state.scale for state in viewports.states], np.float32).T
    translate = np.array([state.translate for state in viewports.states], np.float32).T
    made.viewport = OwnViewports(scale[:, owner], translate[:, owner])
    numbers = np.arange(count * size).reshape(count, size)
    return made, numbers, count * size + np.arange(count)
