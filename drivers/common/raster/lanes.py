"""The fragment shader's inputs for one chunk of lanes, computed when read (`FragmentLanes`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.lanes import HELD_DEPTH, Value

from .fragments import Fragments, runs_of
from .interpolate import Plane, PlaneSource, moved_values, values_at
from .samples import MASK, SamplePattern

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

_LONG_RUN, _MANY = 8, 512
"""Lanes of a primitive, and of a chunk, from which NumPy repeats the values of primitives faster
than it takes one for each lane.
"""


class PrimitiveInfo:
    """The other per-primitive inputs of fragments (arrays by primitive number)."""

    __slots__ = ("front", "identity", "lines", "points", "round", "screen", "sprite_upper_left")

    def __init__(
        self,
        front: npt.NDArray[np.bool_],
        identity: npt.NDArray[np.int32],
        points: tuple[Floats, Floats, Floats] | None = None,
        sprite_upper_left: bool = True,
    ) -> None:
        self.front = front
        self.identity = identity
        self.points = points  # window x, window y, size
        self.sprite_upper_left = sprite_upper_left
        self.round = False  # points are circles
        self.lines: tuple[Floats, ...] | None = None  # smooth ones: their frames and half widths
        self.screen: npt.NDArray[np.bool_] | None = None  # fragments it masks out do not exist


class ChunkLanes:
    """One chunk of fragments of one kind of primitive."""

    __slots__ = (
        "_centroid",
        "_chunk",
        "_framebuffer",
        "_held",
        "_info",
        "_inverse",
        "_only",
        "_pattern",
        "_pixel",
        "_place",
        "_primitive",
        "_rows",
        "_runs",
        "_sample",
        "_samples",
        "_seen",
        "_source",
        "_w",
        "count",
        "helper",
        "quads",
    )

    def __init__(
        self,
        source: PlaneSource,
        info: PrimitiveInfo,
        chunk: Fragments,
        sample: int | None = None,
        framebuffer: Callable[[int, Ints, int], list[Value]] | None = None,
        pattern: SamplePattern | None = None,
    ) -> None:
        """`sample` moves all lanes from the pixel's centre to that sample of the pattern.

        `framebuffer` returns the contents of a colour buffer at some pixels.
        """
        self._pattern = pattern
        self._pixel = chunk.pixel
        self._framebuffer = framebuffer
        self._held: dict[int, list[Value]] = {}
        self.count = chunk.count
        self.quads = chunk.covered is not None
        self.helper = None if chunk.covered is None else ~chunk.covered
        self._source = source
        self._info = info
        self._primitive = chunk.primitive
        first, last = int(chunk.primitive[0]), int(chunk.primitive[-1])
        only = first == last and (chunk.of_one or bool((chunk.primitive == first).all()))
        self._only = first if only else -1
        self._rows = chunk.rows
        self._runs: tuple[Ints, Ints] | None = None
        self._chunk = chunk
        self._place: tuple[Doubles, Doubles] | None = None
        self._sample = sample
        self._samples = None if pattern is None else chunk.samples
        self._seen = chunk.seen
        self._centroid: tuple[Doubles, Doubles] | None = None
        if sample is not None:
            assert pattern is not None
            position = pattern.positions[sample]
            self._place = chunk.x + (position[0] - 0.5), chunk.y + (position[1] - 0.5)
        self._w: Value | None = None
        self._inverse: Value | None = None

    @property
    def _x(self) -> Doubles:
        return self._chunk.x if self._place is None else self._place[0]

    @property
    def _y(self) -> Doubles:
        return self._chunk.y if self._place is None else self._place[1]

    # -- varyings ------------------------------------------------------------------------------

    def smooth(
        self, slot: int, component: int, *, where: str = "pixel", perspective: bool = True
    ) -> Value:
        plane = self._source.plane(slot, component, perspective)
        perspective = perspective and not self._source.affine
        if where == "centroid" and self._samples is not None and self._sample is None:
            x, y = self._centroids(self._samples)
            value = self._at(plane, x, y)
            if perspective:
                value = value / self._at(self._source.window_plane(3), x, y)
            return value
        value = self._here(plane)
        if perspective:
            value = value * self._perspective()
        return value

    def _centroids(self, samples: npt.NDArray[MASK]) -> tuple[Doubles, Doubles]:
        """The pixel's centre where all samples are covered (or none), else a covered sample."""
        if self._centroid is None:
            assert self._pattern is not None
            offset = self._pattern.centroids[:, samples]
            self._centroid = self._x + offset[0], self._y + offset[1]
        return self._centroid

    def smooth_at(
        self, slot: int, component: int, dx: Value, dy: Value, *, perspective: bool = True
    ) -> Value:
        x, y = self._chunk.x + dx, self._chunk.y + dy
        value = self._at(self._source.plane(slot, component, perspective), x, y)
        if perspective and not self._source.affine:
            value = value / self._at(self._source.window_plane(3), x, y)
        return value

    def smooth_at_sample(
        self, slot: int, component: int, index: Value, *, perspective: bool = True
    ) -> Value:
        dx: Value = np.zeros((), np.float64)
        dy = dx
        if self._pattern is not None and not self._source.pixel_center:
            which = np.clip(index, 0, self._pattern.count - 1)
            dx, dy = (self._pattern.positions[which, axis] - 0.5 for axis in range(2))
        return self.smooth_at(slot, component, dx, dy, perspective=perspective)

    def flat(self, slot: int, component: int) -> Value:
        return self._pick(self._source.flat(slot, component))

    def _pick(self, per_primitive: npt.NDArray[Any]) -> Value:
        """A per-primitive value gathered for every lane."""
        if not per_primitive.ndim:
            return per_primitive
        if self._only >= 0:
            return per_primitive[self._only : self._only + 1].reshape(())
        if self.count < _MANY:
            return per_primitive.take(self._primitive)
        if self._runs is None:
            self._runs = runs_of(self._primitive, self._rows, self.quads)
        primitive, length = self._runs
        if len(primitive) * _LONG_RUN > self.count:
            return per_primitive.take(self._primitive)
        return per_primitive.take(primitive).repeat(length)

    def _at(self, plane: Plane, x: Doubles, y: Doubles) -> Value:
        """A plane's value at places of the lanes."""
        return values_at(self._of_lanes(plane), x, y)

    def _of_lanes(self, plane: Plane) -> Plane:
        dx, dy = (None if slope is None else self._pick(slope) for slope in plane[1:])
        return Plane(self._pick(plane.a0), dx, dy)

    def _here(self, plane: Plane) -> Value:
        """A plane's value at the lanes. Along long spans, what depends on the row alone is computed
        once for each.
        """
        rows, (a0, dx, dy) = self._rows, plane
        if dy is None or rows is None or len(rows.length) * _LONG_RUN > self.count:
            return values_at(
                self._of_lanes(plane),
                None if dx is None else self._x,
                None if dy is None else self._y,
            )
        if dx is None:
            plane = Plane(a0.take(rows.primitive), None, dy.take(rows.primitive))
            return values_at(plane, None, rows.row).repeat(rows.length)
        moved = dy.take(rows.primitive) * rows.row
        plane = Plane(self._pick(a0), self._pick(dx), None)
        return moved_values(plane, self._x, moved.repeat(rows.length))

    def _perspective(self) -> Value:
        """The clip-space w, with which varyings divided by w are multiplied."""
        if self._w is None:
            self._w = np.float32(1.0) / self._inverse_w()
        return self._w

    def _inverse_w(self) -> Value:
        if self._inverse is None:
            self._inverse = self._here(self._source.window_plane(3))
        return self._inverse

    def depth(self) -> Value:
        """Window z of every lane."""
        return self._here(self._source.window_plane(2))

    # -- system values -------------------------------------------------------------------------

    def system(self, name: str, component: int = 0) -> Value:
        getter = _SYSTEM.get(name)
        if getter is None:
            raise GalletteError(f"a fragment has no {name}")
        return getter(self, component)

    def _frag_coord(self, component: int) -> Value:
        if component < 2:
            # Multisampled lanes are relative to the pixel's centre, others to the first centre.
            value = (self._x, self._y)[component] + (0.5 if self._source.pixel_center else 0.0)
            return np.asarray(value, np.float32)
        if component == 2:
            return self.depth()
        return self._inverse_w()

    def _front_face(self, component: int) -> Value:
        return self._pick(self._info.front)

    def _point_coord(self, component: int) -> Value:
        points = self._info.points
        if points is None:
            return np.zeros((), np.float32)
        if component > 1:
            return np.asarray(component - 2, np.float32)
        along = (self._x, self._y)[component] + (0.5 if self._source.pixel_center else 0.0)
        offset = (along - self._pick(points[component])) / self._pick(points[2])
        if component == 1 and self._info.sprite_upper_left:
            offset = -offset
        return (0.5 + offset).astype(np.float32)

    def _primitive_id(self, component: int) -> Value:
        return self._pick(self._info.identity)

    def _sample_id(self, component: int) -> Value:
        return np.asarray(self._sample or 0, np.int32)

    def _sample_pos(self, component: int) -> Value:
        if self._sample is None or self._pattern is None:
            return np.asarray(0.5, np.float32)
        return np.asarray(self._pattern.positions[self._sample, component], np.float32)

    def _sample_mask_in(self, component: int) -> Value:
        # Without multisampling the pixel has one sample, whatever the target has.
        if self._samples is None or self._source.pixel_center:
            return np.asarray(1, np.int32)
        if self._sample is not None:
            return np.asarray(1 << self._sample, np.int32)
        return (self._samples if self._seen is None else self._seen).astype(np.int32)

    def _layer_id(self, component: int) -> Value:
        if VaryingSlot.LAYER not in self._source.vertices.varyings:
            return np.zeros((), np.int32)
        return self.flat(VaryingSlot.LAYER, 0).view(np.int32)

    def _viewport_index(self, component: int) -> Value:
        if VaryingSlot.VIEWPORT not in self._source.vertices.varyings:
            return np.zeros((), np.int32)
        return self.flat(VaryingSlot.VIEWPORT, 0).view(np.int32)

    def _output(self, component: int) -> Value:
        """The stored contents of a colour buffer; zero if there is none."""
        index, component = divmod(component, 4)
        found = self._held.get(index)
        if found is None:
            assert self._framebuffer is not None
            found = self._framebuffer(index, self._pixel, self._sample or 0)
            self._held[index] = found
        return found[component]

    def _last_depth(self, component: int) -> Value:
        return self._output(4 * HELD_DEPTH)

    def _last_stencil(self, component: int) -> Value:
        return self._output(4 * HELD_DEPTH + 1)

    def _helper_invocation(self, component: int) -> Value:
        return np.zeros((), np.bool_) if self.helper is None else self.helper


def _constant(value: Any) -> Callable[[ChunkLanes, int], Value]:
    fixed = np.asarray(value)

    def get(lanes: ChunkLanes, component: int) -> Value:
        return fixed

    return get


_SYSTEM: dict[str, Callable[[ChunkLanes, int], Value]] = {
    "frag_coord": ChunkLanes._frag_coord,
    "front_face": ChunkLanes._front_face,
    "point_coord": ChunkLanes._point_coord,
    "primitive_id": ChunkLanes._primitive_id,
    "helper_invocation": ChunkLanes._helper_invocation,
    "sample_id": ChunkLanes._sample_id,
    "sample_pos": ChunkLanes._sample_pos,
    "sample_mask_in": ChunkLanes._sample_mask_in,
    "output": ChunkLanes._output,
    "last_depth": ChunkLanes._last_depth,
    "last_stencil": ChunkLanes._last_stencil,
    "layer_id": ChunkLanes._layer_id,
    "view_index": _constant(np.int32(0)),
    "viewport_index": ChunkLanes._viewport_index,
}
