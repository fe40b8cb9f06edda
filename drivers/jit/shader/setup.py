"""Setup and binning of primitives in machine code, equal for all shaders.

`setup` snaps triangles to 1/256 pixel, culls them and turns them clockwise, or makes the polygons
that lines and points cover. It writes a `Record` of exact edge functions for each that can cover a
pixel, and counts how many fall into each tile. `bin` then writes each tile's list, in drawing
order.

The edge functions are those of `drivers.common.raster.setup`, divided by 256: a whole number that
is not negative where `a x + b y + c > 0` there. With several samples per pixel these bits are kept,
and positions are relative to the pixels' corners.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from gallette.drivers.common.fixed.lines import line_ends, line_sides, longer_line
from gallette.drivers.common.fixed.points import point_pixels, point_size, point_square
from gallette.drivers.common.raster.points import FARTHEST

from ..llvm.text import Builder
from ..llvm.values import V
from .layout import Record, TileWords, Words
from .routines import inlined

TILE = 64
LARGEST = 1 << 22
"""Snapped coordinates are smaller (16384 pixels), so that edges fit 32 bits inside a tile."""


class SetupKey(NamedTuple):
    """The primitives and the state that set-up depends on; by default those of most draws."""

    corners: int = 3
    half: float = 0.5  # from a pixel's corner to its centre
    bottom: bool = True  # pixels on bottom edges belong to a primitive
    sampled: bool = False  # there are several samples per pixel, or the coverage is computed
    # Of triangles:
    first: bool = False  # the provoking vertex is the first one
    front_ccw: bool = True
    cull_front: bool = False
    cull_back: bool = False
    # Of sampled lines:
    smooth: bool = False
    # Of points that are not sampled:
    squares: bool = False  # of exactly their size
    # Of all points:
    sized: bool = False  # vertices have sizes


def setup_text(key: SetupKey) -> str:
    """The module with `setup` and `bin`."""
    b = Builder()
    {3: _triangles, 2: _lines, 1: _points}[key.corners](b, key)
    _bin(b)
    return b.text()


def _word(b: Builder, ctx: V, index: int, t: str = "ptr") -> V:
    value = b.load_at(ctx, index, "ptr" if t == "ptr" else "i64")
    return value.to(t) if t not in ("ptr", "i64") else value


class _Primitives:
    """A function over the primitives of a draw that writes records of the visible ones."""

    def __init__(self, b: Builder, corners: int) -> None:
        (ctx,) = b.begin("setup", [("ptr", "ctx")])
        self._b, self._ctx, self._size = b, ctx, corners
        self._corners, self._provoking = (
            self.word(TileWords.CORNERS),
            self.word(TileWords.PROVOKING),
        )
        self._identity, self._window = self.word(TileWords.IDENTITY), self.word(TileWords.WINDOW)
        self._records, self._starts = self.word(TileWords.RECORDS), self.word(TileWords.STARTS)
        self._vertices = self.word(TileWords.VERTICES, "i64")
        self._across = self.word(TileWords.ACROSS, "i32")
        self.target = [self.word(TileWords.TARGET + i, "i32") for i in range(4)]
        self._kept = b.var("i64", 0, 0)

    def word(self, index: int, t: str = "ptr") -> V:
        return _word(self._b, self._ctx, index, t)

    def refuse(self) -> None:
        """The caller draws all primitives another way."""
        self._b.store(self._b.at(self._ctx, Words.STATUS, "i64"), self._b.const("i64", 2))

    @contextmanager
    def each(self) -> Iterator[tuple[V, list[V], list[list[V]]]]:
        """The number of each, its vertices, and their x and y in the window. Ends the function."""
        b, window = self._b, self._window
        with b.loop(b.const("i64", 0), self.word(TileWords.TRIANGLES, "i64")) as i:
            v = [b.load_at(self._corners, i * self._size + k, "i64") for k in range(self._size)]
            yield (
                i,
                v,
                [
                    [b.load_at(window, n + axis * self._vertices, "float") for n in v]
                    for axis in range(2)
                ],
            )
        b.store(b.at(self._ctx, TileWords.TRIANGLES, "i64"), self._kept.get())
        b.end()

    def keep(
        self,
        i: V,
        v: list[V],
        edges: list[tuple[V, V, V]],
        bounds: list[V],
        front: V | None = None,
        width: V | None = None,
    ) -> None:
        """Write the record of a primitive, and count it in the tiles that its box touches. Lines
        and points are of front faces if the caller said so.
        """
        b, number = self._b, self._kept.get()
        if front is None:
            front = b.load_at(self.word(TileWords.FRONT), i, "i8")
        record = b.at(self._records, number * Record.SIZE, "i32")
        for k, vertex in enumerate(v):
            b.store(b.at(record, Record.VERTEX + k, "i32"), vertex.to("i32"))
        for k, (dx, dy, least) in enumerate(edges):
            b.store(b.at(record, Record.DX + k, "i32"), dx)
            b.store(b.at(record, Record.DY + k, "i32"), dy)
            b.store(b.at(record, Record.C + 2 * k, "i32"), least, 4)
        b.store(b.at(record, Record.FRONT, "i32"), front.to("i32", False))
        for k, bound in enumerate(bounds):
            b.store(b.at(record, Record.BOUNDS + k, "i32"), bound)
        provoking = b.load_at(self._provoking, i, "i64").to("i32")
        b.store(b.at(record, Record.PROVOKING, "i32"), provoking)
        b.store(b.at(record, Record.IDENTITY, "i32"), b.load_at(self._identity, i, "i32"))
        if width is not None:
            b.store(b.at(record, Record.WIDTH, "float"), width)
        _count_tiles(b, bounds, self._across, self._starts)
        self._kept.set(number + 1)


def _triangles(b: Builder, key: SetupKey) -> None:
    triangles, sampled = _Primitives(b, 3), key.sampled
    with triangles.each() as (i, v, window):
        x, y = ([_snap(b, value, key.half) for value in values] for values in window)
        after = b.block()
        inside, outside = b.block(), b.block()
        b.branch(_all_below(b, (*x, *y), LARGEST), inside, outside)
        b.place(outside)
        # Skip triangles with NaN or infinity; let the caller draw too large ones another way.
        with b.when(_all_below(b, (*x, *y), float("inf"))):
            triangles.refuse()
        b.jump(after)
        b.place(inside)
        xi, yi = ([b.cast("fptosi", value, "i32") for value in values] for values in (x, y))
        wide_x, wide_y = [a.to("i64") for a in xi], [a.to("i64") for a in yi]
        area = (wide_x[0] - wide_x[1]) * (wide_y[2] - wide_y[0])
        area = area - (wide_x[2] - wide_x[0]) * (wide_y[0] - wide_y[1])
        clockwise = area > 0
        front = clockwise ^ key.front_ccw
        keep = area.ne(0)
        if key.cull_front:
            keep = keep & ~front
        if key.cull_back:
            keep = keep & front
        go = b.block()
        b.branch(keep, go, after)
        b.place(go)
        # A counter-clockwise triangle swaps two corners other than the provoking one.
        p, q = (1, 2) if key.first else (0, 1)
        for row in (xi, yi, v):
            row[p], row[q] = (
                b.select(clockwise, row[p], row[q]),
                b.select(clockwise, row[q], row[p]),
            )
        bounds = _bounds(b, xi, yi, triangles.target, sampled)
        visible = (bounds[0] < bounds[2]) & (bounds[1] < bounds[3])
        edges = _edges(xi, yi, key)
        if not sampled:
            visible = visible & _covers(b, bounds, edges)
        store = b.block()
        b.branch(visible, store, after)
        b.place(store)
        triangles.keep(i, v, edges, bounds, front)
        b.place(after)


def _lines(b: Builder, key: SetupKey) -> None:
    lines = _Primitives(b, 2)
    given = lines.word(TileWords.WIDTH, "i32")
    with lines.each() as (i, v, (x, y)):
        if key.smooth:
            x[0], y[0], x[1], y[1] = inlined(b, longer_line(), [x[0], y[0], x[1], y[1]])
        dx, dy = x[0] - x[1], y[0] - y[1]
        length = dx * dx + dy * dy
        after = b.block()
        _go_on(b, (length > 0.0) & (length < float("inf")), after)
        line = [x[0], y[0], x[1], y[1]]
        width = given.as_float() if key.sampled else given
        corners = (_rectangle if key.sampled else _parallelogram)(b, lines, line, width, key, after)
        bounds = _bounds(b, *corners, lines.target, key.sampled)
        _go_on(b, (bounds[0] < bounds[2]) & (bounds[1] < bounds[3]), after)
        lines.keep(i, v, _edges(*corners, key), bounds, width=width if key.smooth else None)
        b.place(after)


def _rectangle(
    b: Builder, lines: _Primitives, line: list[V], half: V, key: SetupKey, after: str
) -> tuple[list[V], list[V]]:
    """The corners of the rectangle around a line, or `after` if they are too far away."""
    found = inlined(b, line_sides(), [*line, b.math("fabs", half)])
    _in_range(b, lines, [value.as_float() for value in found], after)
    x0, y0, x1, y1, dx, dy = (b.cast("fptosi", value.as_float(), "i32") for value in found)
    return [x0 - dx, x1 - dx, x1 + dx, x0 + dx], [y0 - dy, y1 - dy, y1 + dy, y0 + dy]


def _parallelogram(
    b: Builder, lines: _Primitives, line: list[V], half: V, key: SetupKey, after: str
) -> tuple[list[V], list[V]]:
    """The corners of the parallelogram that a line covers, or `after` if they are too far away."""
    *found, wide = inlined(b, line_ends(key.half), line)
    ends = [value.as_float() for value in found]
    _in_range(b, lines, ends, after)
    low_u, low_v, high_u, high_v = (b.cast("fptosi", value, "i32") for value in ends)
    wide = wide.ne(0)
    along = [low_u, b.select(wide, low_u, high_u), high_u, b.select(wide, high_u, low_u)]
    before, behind = low_v + half, high_v - half
    over = b.select(wide, before, behind), b.select(wide, behind, before)
    beside = [low_v - half, over[0], high_v + half, over[1]]
    pairs = list(zip(along, beside, strict=True))
    return [b.select(wide, u, v) for u, v in pairs], [b.select(wide, v, u) for u, v in pairs]


def _points(b: Builder, key: SetupKey) -> None:
    points = _Primitives(b, 1)
    given = points.word(TileWords.WIDTH, "i32").as_float()
    sizes = points.word(TileWords.SIZES)
    with points.each() as (i, v, window):
        (x,), (y,) = window
        after = b.block()
        _go_on(b, _all_below(b, (x, y), FARTHEST), after)
        own = b.load_at(sizes, v[0], "float") if key.sized else given
        (size,) = (value.as_float() for value in inlined(b, point_size(), [own]))
        edges: list[tuple[V, V, V]] = []
        if key.sampled:
            square = point_square(key.half)
            (left, right), (low, high) = (inlined(b, square, [at, size]) for at in (x, y))
            corners = [left, left, right, right], [low, high, high, low]
            edges, bounds = _edges(*corners, key), _bounds(b, *corners, points.target, True)
        else:
            if key.squares:
                square = point_square(key.half)
                sides = [inlined(b, square, [at, size]) for at in (x, y)]
                box = [[(side + 255) >> 8 for side in pair] for pair in sides]
            else:
                box = [inlined(b, point_pixels(), [at, size]) for at in (x, y)]
            bounds = _clamped(b, box, points.target)
        _go_on(b, (bounds[0] < bounds[2]) & (bounds[1] < bounds[3]), after)
        points.keep(i, v, edges, bounds, width=size)
        b.place(after)


def _go_on(b: Builder, cond: V, after: str) -> None:
    """Continue if a condition holds, else with the block `after`."""
    go = b.block()
    b.branch(cond, go, after)
    b.place(go)


def _in_range(b: Builder, lines: _Primitives, places: list[V], after: str) -> None:
    """Let the caller draw lines with too large coordinates another way."""
    inside, outside = b.block(), b.block()
    b.branch(_all_below(b, places, LARGEST), inside, outside)
    b.place(outside)
    lines.refuse()
    b.jump(after)
    b.place(inside)


def _all_below(b: Builder, values: Sequence[V], bound: float) -> V:
    """Whether all magnitudes are smaller."""
    found = b.const("i1", True)
    for value in values:
        found = found & (b.math("fabs", value) < float(bound))
    return found


def _edges(x: list[V], y: list[V], key: SetupKey) -> list[tuple[V, V, V]]:
    """The edges of a convex polygon with these corners, clockwise."""
    found = []
    for k in range(len(x)):
        after = (k + 1) % len(x)
        dx, dy = x[k] - x[after], y[k] - y[after]
        c = dy.to("i64") * x[k].to("i64") - dx.to("i64") * y[k].to("i64")
        flat = (dx > 0) if key.bottom else (dx < 0)
        c = c + ((dy < 0) | (dy.eq(0) & flat)).to("i64", False)
        found.append((dx, dy, c - 1 if key.sampled else (c - 1) >> 8))
    return found


def _snap(b: Builder, value: V, half: float) -> V:
    return b.math("roundeven", (value - half) * 256.0)


def _bounds(b: Builder, x: list[V], y: list[V], target: list[V], sampled: bool) -> list[V]:
    """First and past-the-last column and row, inside the target.

    A pixel counts if its only sample, at integer coordinates, may be covered; with several samples,
    if any place in it may be.
    """
    found = []
    for values in (x, y):
        low = high = values[0]
        for value in values[1:]:
            low, high = b.math("smin", low, value), b.math("smax", high, value)
        found.append(((low if sampled else low + 255) >> 8, (high >> 8) + 1))
    return _clamped(b, found, target)


def _clamped(b: Builder, box: Sequence[Sequence[V]], target: list[V]) -> list[V]:
    """First and past-the-last column and row that are inside the target."""
    first = [b.math("smax", side[0], target[axis]) for axis, side in enumerate(box)]
    past = [b.math("smin", side[1], target[axis + 2]) for axis, side in enumerate(box)]
    return [*first, *past]


def _covers(b: Builder, bounds: list[V], edges: list[tuple[V, V, V]]) -> V:
    """False for a triangle that certainly covers no pixel: its box has one or two pixels, which are
    outside of an edge. Of triangles that small, which meshes seen from afar consist of, every other
    one is.
    """
    x0, y0, x1, y1 = (bound.to("i64") for bound in bounds)
    larger = (x1 - x0) * (y1 - y0) > 2
    outside = []
    for x, y in ((x0, y0), (x1 - 1, y1 - 1)):
        first, second, third = (
            least + dx.to("i64") * y - dy.to("i64") * x for dx, dy, least in edges
        )
        outside.append((first | second | third) < 0)
    return larger | ~(outside[0] & outside[1])


@contextmanager
def _tiles(b: Builder, bounds: list[V], across: V) -> Iterator[V]:
    """The numbers of the tiles that a box touches."""
    shift = TILE.bit_length() - 1
    with (
        b.loop(bounds[1] >> shift, ((bounds[3] - 1) >> shift) + 1) as row,
        b.loop(bounds[0] >> shift, ((bounds[2] - 1) >> shift) + 1) as column,
    ):
        yield row * across + column


def _count_tiles(b: Builder, bounds: list[V], across: V, starts: V) -> None:
    """Count a primitive in the tiles that its box touches."""
    with _tiles(b, bounds, across) as tile:
        cell = b.at(starts, tile.to("i64") + 1, "i32")
        b.store(cell, b.load(cell, "i32") + 1)


@contextmanager
def _boxes(b: Builder, ctx: V) -> Iterator[tuple[V, list[V]]]:
    """The number and the box of each record."""
    records = _word(b, ctx, TileWords.RECORDS)
    with b.loop(b.const("i64", 0), _word(b, ctx, TileWords.TRIANGLES, "i64")) as i:
        record = b.at(records, i * Record.SIZE, "i32")
        yield i, [b.load_at(record, Record.BOUNDS + k, "i32") for k in range(4)]


def _bin(b: Builder) -> None:
    """Write the lists; `STARTS` holds the ends of the parts written so far."""
    (ctx,) = b.begin("bin", [("ptr", "ctx")])
    starts, items = _word(b, ctx, TileWords.STARTS), _word(b, ctx, TileWords.ITEMS)
    across = _word(b, ctx, TileWords.ACROSS, "i32")
    with _boxes(b, ctx) as (i, bounds), _tiles(b, bounds, across) as tile:
        cell = b.at(starts, tile.to("i64"), "i32")
        place = b.load(cell, "i32")
        b.store(b.at(items, place.to("i64"), "i32"), i.to("i32"))
        b.store(cell, place + 1)
    b.end()
