"""The fragment shader's inputs for one chunk, computed when asked for (`FragmentLanes`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.errors import GalletteError
from drivers.numpipe.interfaces import Value

from .fragments import Fragments
from .interpolate import Plane, PlaneSource

__all__ = ["ChunkLanes", "PrimitiveInfo"]

Doubles = npt.NDArray[np.float64]
Floats = npt.NDArray[np.float32]


class PrimitiveInfo:
    """What else a fragment can know about its primitive (arrays by primitive number)."""

    __slots__ = ("front", "identity", "points", "sprite_upper_left")

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


class ChunkLanes:
    """One chunk of fragments of one kind of primitive."""

    __slots__ = (
        "_info",
        "_inverse",
        "_only",
        "_primitive",
        "_source",
        "_w",
        "_x",
        "_y",
        "alpha_ref",
        "count",
        "helper",
        "quads",
    )

    def __init__(
        self, source: PlaneSource, info: PrimitiveInfo, chunk: Fragments, alpha_ref: float = 0.0
    ) -> None:
        self.alpha_ref = alpha_ref
        self.count = chunk.count
        self.quads = chunk.covered is not None
        self.helper = None if chunk.covered is None else ~chunk.covered
        self._source = source
        self._info = info
        self._primitive = chunk.primitive
        first, last = int(chunk.primitive[0]), int(chunk.primitive[-1])
        only = first == last and (chunk.distinct or bool((chunk.primitive == first).all()))
        self._only = first if only else -1
        self._x = chunk.x
        self._y = chunk.y
        self._w: Value | None = None
        self._inverse: Value | None = None

    # -- varyings ------------------------------------------------------------------------------

    def smooth(
        self, slot: int, component: int, *, where: str = "pixel", perspective: bool = True
    ) -> Value:
        plane = self._source.plane(slot, component, perspective)
        value = self._at(plane, self._x, self._y)
        if perspective and not self._source.affine:
            value = value * self._perspective()
        return value

    def smooth_at(
        self, slot: int, component: int, dx: Value, dy: Value, *, perspective: bool = True
    ) -> Value:
        x, y = self._x + dx, self._y + dy
        value = self._at(self._source.plane(slot, component, perspective), x, y)
        if perspective and not self._source.affine:
            value = value / self._at(self._source.window_plane(3), x, y)
        return value

    def flat(self, slot: int, component: int) -> Value:
        return self._pick(self._source.flat(slot, component))

    def _pick(self, per_primitive: npt.NDArray[Any]) -> Value:
        """A per-primitive value for every lane."""
        if not per_primitive.ndim:
            return per_primitive
        if self._only >= 0:
            return per_primitive[self._only : self._only + 1].reshape(())
        return per_primitive.take(self._primitive)

    def _at(self, plane: Plane, x: Doubles, y: Doubles) -> Value:
        """Two fused multiply-adds, each rounded to float32."""
        if plane.dx is None or plane.dy is None:
            return np.asarray(self._pick(plane.a0), np.float32)
        value: Doubles = self._pick(plane.dx) * x
        value += self._pick(plane.a0)
        step = value.astype(np.float32)
        np.multiply(self._pick(plane.dy), y, out=value)
        value += step
        return value.astype(np.float32)

    def _perspective(self) -> Value:
        """The clip-space w: what varyings divided by w are multiplied with."""
        if self._w is None:
            self._w = np.float32(1.0) / self._inverse_w()
        return self._w

    def _inverse_w(self) -> Value:
        if self._inverse is None:
            self._inverse = self._at(self._source.window_plane(3), self._x, self._y)
        return self._inverse

    def depth(self) -> Value:
        """Window z of every lane."""
        return self._at(self._source.window_plane(2), self._x, self._y)

    # -- system values -------------------------------------------------------------------------

    def system(self, name: str, component: int = 0) -> Value:
        getter = _SYSTEM.get(name)
        if getter is None:
            raise GalletteError(f"numpipe's fragments have no {name}")
        return getter(self, component)

    def _frag_coord(self, component: int) -> Value:
        if component < 2:
            value = (self._x, self._y)[component] + (0.5 if self._source.pixel_center else 0.0)
            return value.astype(np.float32)
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
        along = (self._x, self._y)[component] + 0.5
        offset = (along - self._pick(points[component])) / self._pick(points[2])
        if component == 1 and self._info.sprite_upper_left:
            offset = -offset
        return (0.5 + offset).astype(np.float32)

    def _primitive_id(self, component: int) -> Value:
        return self._pick(self._info.identity)

    def _alpha_ref(self, component: int) -> Value:
        return np.asarray(self.alpha_ref, np.float32)

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
    "alpha_ref": ChunkLanes._alpha_ref,
    "helper_invocation": ChunkLanes._helper_invocation,
    "sample_id": _constant(np.int32(0)),
    "sample_pos": _constant(np.float32(0.5)),
    "sample_mask_in": _constant(np.int32(1)),
    "num_samples": _constant(np.int32(1)),
    "layer_id": _constant(np.int32(0)),
    "view_index": _constant(np.int32(0)),
    "viewport_index": _constant(np.int32(0)),
}
