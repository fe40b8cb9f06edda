"""Clipping and window positions in machine code, with the bits of `drivers.common.vertex.clip` and
`drivers.common.vertex.vertices.project`.

`clip` cuts one triangle after another by the planes it crosses and records each cut: between which
vertices, and at which parameter. It reads only positions. `extend` then computes the other values
of the new vertices, array by array. `place` makes window positions of clip positions, for draws
whose vertices stay in the driver's own memory (`drivers.jit.draw_plan`), and finds out whether
anything must be clipped.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.vertex.clip import FIRST_DISTANCE

from ..llvm.engine import Function, compile_module
from ..llvm.text import Builder, Var
from ..llvm.values import V
from .layout import ClipWords, PlaceWords, Plane


def placing_text(near: bool, far: bool, halfz: bool) -> str:
    """The module with `place`, for the enabled planes besides the four side planes."""
    b = Builder()
    (ctx,) = b.begin("place", [("ptr", "ctx")])
    rows = [b.load_at(ctx, PlaceWords.CLIP + i, "ptr") for i in range(4)]
    window = b.load_at(ctx, PlaceWords.WINDOW, "ptr")
    stride = b.load_at(ctx, PlaceWords.STRIDE, "i64")
    numbers = b.at(ctx, PlaceWords.SCALE, "i64")
    scale = [b.load_at(numbers, i, "float") for i in range(6)]
    outside = b.var("i1", 0, False)
    with b.loop(b.const("i64", 0), b.load_at(ctx, PlaceWords.COUNT, "i64")) as i:
        x, y, z, w = (b.load_at(row, i, "float") for row in rows)
        outside.set(outside.get() | ~_inside(b, (x, y, z, w), near, far, halfz))
        inverse = b.const("float", 1.0) / w
        for axis, value in enumerate((x, y, z)):
            placed = b.fma(value * inverse, scale[axis], scale[3 + axis])
            b.store(b.at(window, i + stride * axis, "float"), placed)
        b.store(b.at(window, i + stride * 3, "float"), inverse)
    b.store(b.at(ctx, PlaceWords.OUTSIDE, "i64"), outside.get().to("i64", False))
    b.end()
    return b.text()


def _inside(b: Builder, position: tuple[V, V, V, V], near: bool, far: bool, halfz: bool) -> V:
    """Whether positions are certainly inside of all planes; NaN and infinity are not."""
    x, y, z, w = position
    inside = (w - x >= 0.0) & (w + x >= 0.0) & (w - y >= 0.0) & (w + y >= 0.0)
    if near:
        inside = inside & ((z if halfz else z + w) >= 0.0)
    return inside & (w - z >= 0.0) if far else inside


SMOOTH, LINEAR, FLAT = range(3)
"""How a value of a new vertex is made: by t, by t in window space, or copied."""

_ROOM = 40  # corners of a polygon: three, and at most two more per plane
_CORNERS = _ROOM - 3


def clip_text() -> str:
    """The module with `clip` and `extend`; the enabled planes are arguments."""
    b = Builder()
    _Clip(b).run()
    _extend(b)
    return b.text()


def _word(b: Builder, ctx: V, index: int, t: str = "ptr") -> V:
    return b.load_at(ctx, index, t)


@lazy_dataclass()
class _Polygon:
    """A polygon that is being clipped: its corners in memory, and their number."""

    corners: V
    count: Var


class _Clip:
    def __init__(self, b: Builder) -> None:
        self.b = b

    def run(self) -> None:
        b = self.b
        (ctx,) = b.begin("clip", [("ptr", "ctx")])
        self.ctx = ctx
        self.places, self.room = (
            _word(b, ctx, ClipWords.PLACES),
            _word(b, ctx, ClipWords.ROOM, "i64"),
        )
        self.cuts = [_word(b, ctx, ClipWords.CUTS + i) for i in range(4)]
        given = _word(b, ctx, ClipWords.COUNT, "i64")
        planes = _word(b, ctx, ClipWords.PLANES)
        corners, codes = _word(b, ctx, ClipWords.CORNERS), _word(b, ctx, ClipWords.CODES)
        provoking = _word(b, ctx, ClipWords.PROVOKING)
        self.pieces, self.rows = _word(b, ctx, ClipWords.PIECES), _word(b, ctx, ClipWords.ROWS)
        self.given = given
        self.next, self.made = b.var("i64", 0, given), b.var("i64", 0, 0)
        self.stop = b.block()
        self.here = V(b, "ptr", 0, b.alloca("float", count=_ROOM))
        self.polygon = _Polygon(V(b, "ptr", 0, b.alloca("i64", count=_ROOM)), b.var("i64", 0, 0))
        self.other = _Polygon(V(b, "ptr", 0, b.alloca("i64", count=_ROOM)), b.var("i64", 0, 0))
        with b.loop(b.const("i64", 0), _word(b, ctx, ClipWords.TRIANGLES, "i64")) as row:
            for k in range(3):
                b.store(
                    b.at(self.polygon.corners, k, "i64"), b.load_at(corners, row * 3 + k, "i64")
                )
            self.polygon.count.set(3)
            code, owner = b.load_at(codes, row, "i32"), b.load_at(provoking, row, "i64")
            with b.loop(b.const("i64", 0), _word(b, ctx, ClipWords.PLANE_COUNT, "i64")) as number:
                plane = b.at(planes, number * Plane.SIZE, "i32")
                with b.when((code & b.load_at(plane, Plane.BIT, "i32")).ne(0)):
                    self._plane(plane, owner)
            self._fan(row)
        b.store(b.at(ctx, ClipWords.NEW_COUNT, "i64"), self.next.get())
        b.store(b.at(ctx, ClipWords.MADE, "i64"), self.made.get())
        b.place(self.stop)
        b.end()

    def _distance(self, plane: V, vertex: V) -> V:
        """A vertex's distance inside of a plane."""
        b = self.b

        def at(row: V | int) -> V:
            return b.load_at(self.places, self.room * row + vertex, "float")

        along = at(b.load_at(plane, Plane.ROW, "i32").to("i64"))
        along = along * b.load_at(plane, Plane.SIGN, "float")
        from_w = b.load_at(plane, Plane.FROM_W, "i32").ne(0)
        return b.select(from_w, at(3) + along, along)

    def _plane(self, plane: V, owner: V) -> None:
        b, polygon, other = self.b, self.polygon, self.other
        count = polygon.count.get()
        finite = b.var("i1", 0, b.const("i1", True))
        with b.loop(b.const("i64", 0), count) as k:
            far = self._distance(plane, b.load_at(polygon.corners, k, "i64"))
            b.store(b.at(self.here, k, "float"), far)
            finite.set(finite.get() & (b.math("fabs", far) < float("inf")))
        other.count.set(0)
        with b.when(finite.get()), b.loop(b.const("i64", 0), count) as k:
            following = b.select((k + 1).eq(count), b.const("i64", 0), k + 1)
            here, there = (b.load_at(self.here, i, "float") for i in (k, following))
            start, end = (b.load_at(polygon.corners, i, "i64") for i in (k, following))
            inside = here >= 0.0
            with b.when(inside):
                self._emit(start)
            with b.when(inside ^ (there >= 0.0)):
                self._emit(self._cut(here, there, start, end, owner))
        kept = other.count.get()
        polygon.count.set(b.select(kept < 3, b.const("i64", 0), kept))
        with b.loop(b.const("i64", 0), kept) as k:
            b.store(b.at(polygon.corners, k, "i64"), b.load_at(other.corners, k, "i64"))

    def _emit(self, vertex: V) -> None:
        b, count = self.b, self.other.count.get()
        b.store(b.at(self.other.corners, count, "i64"), vertex)
        self.other.count.set(count + 1)
        self._abandon_if(count >= _CORNERS)

    def _abandon_if(self, full: V) -> None:
        """Return without a result if there is no room; the caller then uses the shared code."""
        b = self.b
        with b.when(full):
            b.store(b.at(self.ctx, ClipWords.FULL, "i64"), b.const("i64", 1))
            b.jump(self.stop)
            b.reopen()

    def _cut(self, here: V, there: V, start: V, end: V, owner: V) -> V:
        """Create a vertex where an edge crosses the plane, measured from the end nearer to it."""
        b, new = self.b, self.next.get()
        self._abandon_if(new >= self.room)
        a, c = b.math("fabs", here), b.math("fabs", there)
        nearer = (c < a) | (c.eq(a) & (here < 0.0))
        near, far = b.select(nearer, there, here), b.select(nearer, here, there)
        t = near / (near - far)
        outside, inside = b.select(nearer, end, start), b.select(nearer, start, end)
        number = new - self.given
        b.store(b.at(self.cuts[0], number, "float"), t)
        for place, value in zip(self.cuts[1:], (outside, inside, owner), strict=True):
            b.store(b.at(place, number, "i64"), value)
        rows = _word(b, self.ctx, ClipWords.PLACE_COUNT, "i64")
        with b.loop(b.const("i64", 0), rows) as row:
            line = b.at(self.places, self.room * row, "float")
            value = _lerp(b, t, b.load_at(line, outside, "float"), b.load_at(line, inside, "float"))
            b.store(b.at(line, new, "float"), value)
        self.next.set(new + 1)
        return new

    def _fan(self, row: V) -> None:
        """Triangles around the polygon's first corner."""
        b, polygon = self.b, self.polygon
        first = b.load_at(polygon.corners, 0, "i64")
        with b.loop(b.const("i64", 1), polygon.count.get() - 1) as k:
            made = self.made.get()
            rest = (b.load_at(polygon.corners, k + i, "i64") for i in range(2))
            for place, corner in enumerate((first, *rest)):
                b.store(b.at(self.pieces, made * 3 + place, "i64"), corner)
            b.store(b.at(self.rows, made, "i64"), row)
            self.made.set(made + 1)


def _lerp(b: Builder, t: V, outside: V, inside: V) -> V:
    return outside + t * (inside - outside)


def _extend(b: Builder) -> None:
    """Compute window positions of new vertices, then their values array by array."""
    (ctx,) = b.begin("extend", [("ptr", "ctx")])
    cuts = [_word(b, ctx, ClipWords.CUTS + i) for i in range(4)]
    screen = _word(b, ctx, ClipWords.SCREEN)
    first = _word(b, ctx, ClipWords.COUNT, "i64")
    new = _word(b, ctx, ClipWords.NEW_COUNT, "i64")
    amount = new - first
    clip, window = _word(b, ctx, ClipWords.PLACES), _word(b, ctx, ClipWords.WINDOW)
    room = _word(b, ctx, ClipWords.ROOM, "i64")
    stride = _word(b, ctx, ClipWords.STRIDE, "i64")
    scale = [b.load_at(b.at(ctx, ClipWords.SCALE, "i64"), i, "float") for i in range(6)]
    with b.loop(b.const("i64", 0), amount) as i:
        vertex = first + i
        inverse = 1.0 / b.load_at(clip, room * 3 + vertex, "float")
        b.store(b.at(window, stride * 3 + vertex, "float"), inverse)
        for axis in range(3):
            value = b.load_at(clip, room * axis + vertex, "float") * inverse
            value = value * scale[axis] + scale[3 + axis]
            b.store(b.at(window, stride * axis + vertex, "float"), value)
        b.store(b.at(screen, i, "float"), _along(b, window, stride, vertex, i, cuts))
    arrays, kinds = _word(b, ctx, ClipWords.ARRAYS), _word(b, ctx, ClipWords.KINDS)
    with b.loop(b.const("i64", 0), _word(b, ctx, ClipWords.ARRAY_COUNT, "i64")) as number:
        values, kind = b.load_at(arrays, number, "ptr"), b.load_at(kinds, number, "i64")
        with b.when(kind.eq(FLAT)), b.loop(b.const("i64", 0), amount) as i:
            own = b.load_at(values, b.load_at(cuts[3], i, "i64"), "i32")
            b.store(b.at(values, first + i, "i32"), own)
        with b.when(kind.ne(FLAT)), b.loop(b.const("i64", 0), amount) as i:
            t = b.load_at(b.select(kind.eq(LINEAR), screen, cuts[0]), i, "float")
            outside, inside = (
                b.load_at(values, b.load_at(cuts[k], i, "i64"), "float") for k in (1, 2)
            )
            b.store(b.at(values, first + i, "float"), _lerp(b, t, outside, inside))
    b.end()


def _along(b: Builder, window: V, stride: V, vertex: V, i: V, cuts: list[V]) -> V:
    """The parameter of a cut between its ends in window space, along the longer axis."""
    outside, inside = (b.load_at(cuts[k], i, "i64") for k in (1, 2))
    places = [
        [b.load_at(window, stride * axis + at, "float") for axis in range(2)]
        for at in (vertex, outside, inside)
    ]
    spans = [end - start for start, end in zip(places[1], places[2], strict=True)]
    upright = b.math("fabs", spans[1]) > b.math("fabs", spans[0])
    here, start, span = (
        b.select(upright, pair[1], pair[0]) for pair in (places[0], places[1], spans)
    )
    along = (here - start) / span
    finite = b.math("fabs", along) < float("inf")
    return b.select(finite, along, b.load_at(cuts[0], i, "float"))


Array = npt.NDArray[Any]


@functools.lru_cache(maxsize=4)
def clip_functions(cache: Any) -> tuple[Function, Function]:
    """The functions `clip` and `extend`."""
    code = compile_module(clip_text(), ("clip", "extend"), cache)
    return code.function("clip", ctypes.c_void_p), code.function("extend", ctypes.c_void_p)


@functools.lru_cache(maxsize=64)
def clip_planes(numbers: tuple[int, ...], halfz: bool) -> Array:
    """A `Plane` for each number: distances are w - x, w + x, w - y, w + y, z + w (or z),
    w - z, then clip distances, which are rows of their own after the position's.
    """
    table = np.zeros((len(numbers), Plane.SIZE), np.int32)
    distances = [plane for plane in numbers if plane >= FIRST_DISTANCE]
    for row, plane in enumerate(numbers):
        own = plane in distances
        minus = plane in (0, 2, 5)
        table[row, Plane.BIT] = 1 << plane
        table[row, Plane.ROW] = 4 + distances.index(plane) if own else plane // 2
        table[row, Plane.SIGN] = np.float32(-1.0 if minus else 1.0).view(np.int32)
        table[row, Plane.FROM_W] = not (own or (plane == 4 and halfz))
    return table
