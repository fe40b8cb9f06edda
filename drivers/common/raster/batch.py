"""What is rasterized and where it goes: batches of primitives, the state they share, the polygons
that lines and points become, and sinks of fragments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.vertex.clip import ClipPlanes
from gallette.drivers.common.vertex.vertices import Floats, Ints, VertexSet
from gallette.pipe.enums import PolygonMode
from gallette.pipe.state import RasterizerState

from .interpolate import PlaneSource
from .lanes import PrimitiveInfo
from .samples import SamplePattern
from .setup import Edges, Rect
from .spans import Spans
from .triangles import DepthOffset
from .viewports import Viewports

Bools = npt.NDArray[np.bool_]
Rectangles = Callable[[PlaneSource, PrimitiveInfo], Ints]
"""Returns the rectangle of each primitive: first column and row, past the last ones, `[4, n]`."""


@lazy_dataclass()
class Batch:
    """Primitives of one size before clipping: vertex numbers, in drawing order."""

    corners: Ints  # [n, k]
    provoking: Ints
    identity: npt.NDArray[np.int32]  # gl_PrimitiveID
    edges: npt.NDArray[np.uint8] | None = None
    resets: Bools | None = None
    """lines, or edges of polygons, at which the stipple pattern restarts; None: all of them"""
    depth: Floats | None = None
    """`[k, n]` of the corners, if it is not their own (polygon offset)"""
    front: Bools | None = None
    """which are of front faces; None: all of them"""

    def take(self, which: Ints | slice) -> Batch:
        return Batch(
            self.corners[which],
            self.provoking[which],
            self.identity[which],
            None if self.edges is None else self.edges[which],
            None if self.resets is None else first_of_each(numbered(self.resets)[which]),
            None if self.depth is None else self.depth[:, which],
            None if self.front is None else self.front[which],
        )

    def facing(self) -> Bools:
        """Which primitives are of front faces."""
        return np.ones(len(self.corners), np.bool_) if self.front is None else self.front


def numbered(begun: Bools) -> Ints:
    """Number the groups of each row; true entries begin a group."""
    numbers: Ints = np.cumsum(begun, dtype=np.int64)
    return numbers


def first_of_each(groups: Ints) -> Bools:
    """Which elements begin a new group, among those that remain."""
    begun: Bools = np.diff(groups, prepend=-1) != 0
    return begun


@lazy_dataclass(frozen=True)
class RasterContext:
    """The state that all batches of draws with the same bound state share."""

    state: RasterizerState
    target: Rect
    counters: Counters
    planes: ClipPlanes
    flat: frozenset[int]
    linear: frozenset[int]
    offset: DepthOffset
    cull_distances: int = 0
    multisampled: SamplePattern | None = None
    smooth: SamplePattern | None = None  # how the coverage of smooth primitives is counted
    screen: Bools | None = None  # polygon stipple
    viewports: Viewports | None = None  # if shaders select the viewport

    @property
    def fills(self) -> bool:
        """Whether front and back faces are filled."""
        return self.state.fill_front is self.state.fill_back is PolygonMode.FILL

    def pattern(self, smooth: bool) -> SamplePattern | None:
        """The samples whose coverage counts, for smooth or other primitives."""
        if self.state.conservative:  # whole pixels, whatever their samples
            return None
        return self.multisampled or (self.smooth if smooth else None)


class Polygons(NamedTuple):
    """The polygons that lines or points cover, and the planes of their inputs."""

    edges: Edges
    source: PlaneSource
    info: PrimitiveInfo
    pattern: SamplePattern | None
    """the samples whose coverage counts"""


class FragmentSink:
    """Receives covered pixels: the part of a driver that shades, tests and writes them."""

    __slots__ = ()

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        """Fragments of some primitives, in drawing order; may be called for many batches."""
        raise NotImplementedError

    def fill(
        self, context: RasterContext, vertices: VertexSet, batch: Batch, inside: bool = False
    ) -> int:
        """Fill whole primitives, after clipping them if they are not `inside` of all planes;
        returns how many of the first ones are done. For others, `draw` is to be called.
        """
        return 0


class ScissorSink(FragmentSink):
    """Clips spans to the rectangle of their primitive."""

    __slots__ = ("_rectangles", "_sink")

    def __init__(self, sink: FragmentSink, rectangles: Rectangles) -> None:
        self._sink, self._rectangles = sink, rectangles

    def draw(self, spans: Spans, source: PlaneSource, info: PrimitiveInfo) -> None:
        of_primitives = self._rectangles(source, info)
        left, top, right, bottom = of_primitives.take(spans.primitive, axis=1)
        first = np.maximum(spans.x, left)
        length = np.minimum(spans.x + spans.length, right) - first
        kept = np.flatnonzero((length > 0) & (spans.y >= top) & (spans.y < bottom))
        if not len(kept):
            return
        bounds = spans.bounds
        if bounds is not None:
            bounds = np.clip(bounds, first, first + length)[:, :, kept]
        primitive, y = spans.primitive.take(kept), spans.y.take(kept)
        cut = Spans(primitive, y, first.take(kept), length.take(kept), bounds)
        self._sink.draw(cut, source, info)
