"""A part of a draw from its vertices to its pixels in one call (see `drivers.jit.draw_plan`).

`draw` calls the stages one after the other: the vertex shader, `place`, clipping of primitives
that are not inside of all planes, set-up, binning, the tile function. If it cannot continue,
it stores the reason in `DrawWords.STATE`; it has had no visible effect then. Where vertices are
given, it does what is between the vertex shader and the tile function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gallette.drivers.common.vertex.clip import FIRST_DISTANCE

from ..llvm.text import Builder
from ..llvm.values import V
from .layout import (
    ClipWords,
    DrawWords,
    PlaceWords,
    Record,
    StreamWords,
    TallyWords,
    TileWords,
    Words,
)

DONE: Final = 0
LARGE: Final = 1  # more than there is room for: it is to be drawn another way
LISTS: Final = 2  # longer lists of triangles are wanted
THREADS: Final = 3  # the tiles are worth being shaded by several threads: that is left to do
STOPPED: Final = 4  # a callback asked the code to stop

_DROPPED = -1
_BOXES = 1 << 12
"""Records whose boxes are looked at to tell how much work there is."""


def plan_text(
    planes: Sequence[int],
    halfz: bool,
    first: bool,
    given: bool,
    corners: int,
    worth: tuple[int, int],
) -> str:
    """The module with `draw`, for these enabled clip planes, whether the provoking vertex is the
    first one, whether vertices are `given`, the corners of a primitive, and the numbers of tiles
    and pixels from which threads pay.
    """
    b = Builder()
    _Draw(b, planes, halfz, first, given, corners, worth).run()
    return b.text()


class _Draw:
    def __init__(
        self,
        b: Builder,
        planes: Sequence[int],
        halfz: bool,
        first: bool,
        given: bool,
        corners: int,
        worth: tuple[int, int],
    ) -> None:
        self.b, self.corners = b, corners
        self.planes, self.halfz, self.first, self.worth = planes, halfz, first, worth
        self.given = given

    def run(self) -> None:
        b = self.b
        (self.ctx,) = b.begin("draw", [("ptr", "ctx")])
        self.leave = b.block()
        self.stream = self._own(DrawWords.STREAM)
        self.tile = self._own(DrawWords.TILE)
        self.triangles = b.load_at(self.stream, StreamWords.TRIANGLES, "i64")
        self._set(self.ctx, DrawWords.STATE, b.const("i64", DONE))
        self._set(self.ctx, DrawWords.SEEN, b.const("i64", 0))
        counted = self._own(DrawWords.COUNTERS)
        for k in range(4):
            self._set(counted, k, b.const("i64", 0))
        given = (StreamWords.CORNERS, StreamWords.PROVOKING, StreamWords.IDENTITY)
        for word, at in zip(_NAMED, given, strict=True):
            self._set(self.tile, word, b.load_at(self.stream, at, "ptr"))
        self._set(self.tile, TileWords.TRIANGLES, self.triangles)
        self.lanes = b.load_at(self.stream, StreamWords.LANES, "i64")
        if self.given and self.planes:
            self._cut()
        elif not self.given:
            self._vertices()
        self._set_up()
        if not self.given:
            self._shade()
        b.place(self.leave)
        if not self.given:
            self._count()
        b.end()

    def _count(self) -> None:
        """Add the draw's counts to the counters, unless the draw is to be executed another way."""
        b, state = self.b, self._own(DrawWords.STATE, "i64")
        with b.when(state.eq(DONE) | state.eq(THREADS)):
            tally, counted = self._own(DrawWords.TALLY), self._own(DrawWords.COUNTERS)
            for word, block, at in (
                (TallyWords.VERTICES, self.stream, StreamWords.VERTICES),
                (TallyWords.LANES, self.stream, StreamWords.LANES),
                (TallyWords.TRIANGLES, self.stream, StreamWords.TRIANGLES),
                (TallyWords.LEFT, self.ctx, DrawWords.LEFT),
                (TallyWords.PASSED, counted, 0),
                (TallyWords.SHADED, counted, 1),
            ):
                before = b.load_at(tally, word, "i64")
                self._set(tally, word, before + b.load_at(block, at, "i64"))

    # -- words -------------------------------------------------------------------------------------

    def _own(self, word: int, t: str = "ptr") -> V:
        return self.b.load_at(self.ctx, word, t)

    def _set(self, block: V, word: int, value: V) -> None:
        self.b.store(self.b.at(block, word, "i64"), value, 8)

    def _call(self, function: int, block: V) -> None:
        self.b.line(f"call void {self._own(function).n}(ptr {block.n})")

    def _leave_if(self, cond: V, state: int) -> None:
        b = self.b
        with b.when(cond):
            self._set(self.ctx, DrawWords.STATE, b.const("i64", state))
            b.jump(self.leave)
            b.reopen()

    # -- vertices ----------------------------------------------------------------------------------

    def _vertices(self) -> None:
        b = self.b
        chunk, place = self._own(DrawWords.CHUNK), self._own(DrawWords.PLACE)
        with b.when(self.triangles.ne(0)):
            self._set(chunk, Words.STATUS, b.const("i64", 0))
            self._set(chunk, Words.COUNT, self.lanes)
            self._call(DrawWords.SHADE, chunk)
            self._leave_if(b.load_at(chunk, Words.STATUS, "i64").ne(0), STOPPED)
            self._set(place, PlaceWords.COUNT, self.lanes)
            self._call(DrawWords.PLACING, place)
            if not self.planes:
                return
            if self.planes[-1] >= FIRST_DISTANCE:  # which `place` does not look at
                self._cut()
                return
            with b.when(b.load_at(place, PlaceWords.OUTSIDE, "i64").ne(0)):
                self._cut()

    def _cut(self) -> None:
        """The parts of triangles inside of all planes, in order."""
        b, clip = self.b, self._own(DrawWords.CLIP)
        with b.when(self._codes(clip).ne(0)):
            unclipped = b.load_at(self.stream, StreamWords.UNCLIPPED, "i64")
            self._leave_if(unclipped.ne(0), LARGE)
            if self.corners == 1:
                self._cut_points()
            elif self.corners == 2:
                self._cut_lines(clip)
            else:
                self._cut_some(clip)

    def _cut_some(self, clip: V) -> None:
        b = self.b
        needing, crossed = self._sort(clip)
        room = b.const("i64", DrawWords.MOST_PIECES)
        self._leave_if(needing + crossed * 2 > room, LARGE)
        self._set(clip, ClipWords.FULL, b.const("i64", 0))
        self._set(clip, ClipWords.COUNT, self.lanes)
        self._set(clip, ClipWords.NEW_COUNT, self.lanes)
        self._set(clip, ClipWords.MADE, b.const("i64", 0))
        self._set(clip, ClipWords.TRIANGLES, needing)
        with b.when(needing.ne(0)):
            self._call(DrawWords.CUT, clip)
            self._leave_if(b.load_at(clip, ClipWords.FULL, "i64").ne(0), LARGE)
            with b.when(b.load_at(clip, ClipWords.NEW_COUNT, "i64") > self.lanes):
                self._call(DrawWords.EXTEND, clip)
        self._merge(clip)

    def _codes(self, clip: V) -> V:
        """Store a bit for each plane that a vertex is outside of; a NaN counts as outside. Returns
        the bits of all vertices.
        """
        b, codes = self.b, self._own(DrawWords.CODES)
        places, room = (
            b.load_at(clip, ClipWords.PLACES, "ptr"),
            b.load_at(clip, ClipWords.ROOM, "i64"),
        )
        every = b.var("i32", 0, 0)
        with b.loop(b.const("i64", 0), self.lanes) as i:
            code = b.const("i32", 0)
            for plane, distance in self._distances(places, room, i).items():
                code = code | ((~(distance >= 0.0)).to("i32", False) << plane)
            b.store(b.at(codes, i, "i32"), code)
            every.set(every.get() | code)
        return every.get()

    def _distances(self, places: V, room: V, vertex: V) -> dict[int, V]:
        """A vertex's distance inside of each plane."""
        b = self.b
        own = [plane for plane in self.planes if plane >= FIRST_DISTANCE]
        x, y, z, w, *rest = (
            b.load_at(places, room * row + vertex, "float") for row in range(4 + len(own))
        )
        near = z if self.halfz else w + z
        found = {0: w - x, 1: w + x, 2: w - y, 3: w + y, 4: near, 5: w - z}
        found |= dict(zip(own, rest, strict=True))
        return {plane: found[plane] for plane in self.planes}

    def _cut_points(self) -> None:
        """The points inside of all planes, in order."""
        b, codes = self.b, self._own(DrawWords.CODES)
        given = [b.load_at(self.tile, word, "ptr") for word in _NAMED]
        merged = [self._own(DrawWords.MERGED + k) for k in range(3)]
        left = b.var("i64", 0, 0)
        with b.loop(b.const("i64", 0), self.triangles) as i:
            outside = b.load_at(codes, b.load_at(given[0], i, "i64"), "i32")
            with b.when(outside.eq(0)):
                for source, to, t in zip(given, merged, ("i64", "i64", "i32"), strict=True):
                    b.store(b.at(to, left.get(), t), b.load_at(source, i, t))
                left.set(left.get() + 1)
        self._leave_with(merged, left.get())

    def _leave_with(self, merged: Sequence[V], count: V) -> None:
        """Set up these primitives."""
        for word, array in zip(_NAMED, merged, strict=True):
            self._set(self.tile, word, array)
        self._set(self.tile, TileWords.TRIANGLES, count)

    def _cut_lines(self, clip: V) -> None:
        """The parts of lines inside of all planes, in order, as `vertex.clip.clip_lines` makes
        them: each end moves by the largest parameter at which the line enters a plane.
        """
        b, codes = self.b, self._own(DrawWords.CODES)
        places, room = (
            b.load_at(clip, ClipWords.PLACES, "ptr"),
            b.load_at(clip, ClipWords.ROOM, "i64"),
        )
        given = [b.load_at(self.tile, word, "ptr") for word in _NAMED]
        merged = [self._own(DrawWords.MERGED + k) for k in range(3)]
        left, new = b.var("i64", 0, 0), b.var("i64", 0, self.lanes)
        ends = [b.var("i64", 0, 0) for _ in range(2)]
        with b.loop(b.const("i64", 0), self.triangles) as i:
            v = [b.load_at(given[0], i * 2 + k, "i64") for k in range(2)]
            for end, vertex in zip(ends, v, strict=True):
                end.set(vertex)
            first, second = (b.load_at(codes, vertex, "i32") for vertex in v)
            alive = b.var("i1", 0, (first & second).eq(0))
            with b.when(alive.get() & (first | second).ne(0)):
                moved = [b.var("float", 0, 0.0) for _ in range(2)]
                of_ends = [self._distances(places, room, vertex) for vertex in v]
                for plane in self.planes:
                    pair = [distances[plane] for distances in of_ends]
                    finite = [b.math("fabs", each) < float("inf") for each in pair]
                    touched = ((first | second) & (1 << plane)).ne(0)
                    alive.set(alive.get() & (~touched | (finite[0] & finite[1])))
                    for k, t in enumerate(moved):
                        here, there = pair[k], pair[1 - k]
                        at = here / (here - there)
                        larger = touched & (here < 0.0) & (at > t.get())
                        t.set(b.select(larger, at, t.get()))
                alive.set(alive.get() & (moved[0].get() + moved[1].get() < 1.0))
                for k, t in enumerate(moved):
                    with b.when(alive.get() & (t.get() > 0.0)):
                        owner = b.load_at(given[1], i, "i64")
                        self._move(clip, t.get(), (v[k], v[1 - k], owner), new.get())
                        ends[k].set(new.get())
                        new.set(new.get() + 1)
            with b.when(alive.get()):
                to = left.get()
                for k, end in enumerate(ends):
                    b.store(b.at(merged[0], to * 2 + k, "i64"), end.get())
                b.store(b.at(merged[1], to, "i64"), b.load_at(given[1], i, "i64"))
                b.store(b.at(merged[2], to, "i32"), b.load_at(given[2], i, "i32"))
                left.set(to + 1)
        self._set(clip, ClipWords.COUNT, self.lanes)
        self._set(clip, ClipWords.NEW_COUNT, new.get())
        with b.when(new.get() > self.lanes):
            self._call(DrawWords.EXTEND, clip)
        self._leave_with(merged, left.get())

    def _move(self, clip: V, t: V, ends: tuple[V, V, V], new: V) -> None:
        """Create a vertex of a line, `t` of the way from the outer end to the inner one; the last
        vertex given is the provoking one.
        """
        b, number = self.b, new - self.lanes
        self._leave_if(number >= DrawWords.MOST_PIECES, LARGE)
        places, room = (
            b.load_at(clip, ClipWords.PLACES, "ptr"),
            b.load_at(clip, ClipWords.ROOM, "i64"),
        )
        cuts = [b.load_at(clip, ClipWords.CUTS + k, "ptr") for k in range(4)]
        b.store(b.at(cuts[0], number, "float"), t)
        for place, vertex in zip(cuts[1:], ends, strict=True):
            b.store(b.at(place, number, "i64"), vertex)
        for row in range(4):
            outside, inside = (b.load_at(places, room * row + v, "float") for v in ends[:2])
            value = outside + t * (inside - outside)
            b.store(b.at(places, room * row + new, "float"), value)

    def _sort(self, clip: V) -> tuple[V, V]:
        """List the triangles to be clipped; returns their number and that of the planes they
        cross.
        """
        b, codes, kinds = self.b, self._own(DrawWords.CODES), self._own(DrawWords.KINDS)
        corners, provoking, _ = (b.load_at(self.tile, word, "ptr") for word in _NAMED)
        cut_corners, cut_codes, cut_provoking = (
            b.load_at(clip, word, "ptr")
            for word in (ClipWords.CORNERS, ClipWords.CODES, ClipWords.PROVOKING)
        )
        needing, crossed = b.var("i64", 0, 0), b.var("i64", 0, 0)
        with b.loop(b.const("i64", 0), self.triangles) as i:
            v = [b.load_at(corners, i * 3 + k, "i64") for k in range(3)]
            first, second, third = (b.load_at(codes, corner, "i32") for corner in v)
            every, some = first & second & third, first | second | third
            kind = b.select(every.ne(0), b.const("i32", _DROPPED), some)
            b.store(b.at(kinds, i, "i32"), kind)
            with b.when(every.eq(0) & some.ne(0)):
                at = needing.get()
                for k in range(3):
                    b.store(b.at(cut_corners, at * 3 + k, "i64"), v[k])
                b.store(b.at(cut_codes, at, "i32"), some)
                b.store(b.at(cut_provoking, at, "i64"), b.load_at(provoking, i, "i64"))
                crossed.set(crossed.get() + b.math("ctpop", some).to("i64"))
                needing.set(at + 1)
        return needing.get(), crossed.get()

    def _merge(self, clip: V) -> None:
        """Merge whole triangles and pieces of clipped ones, in the order of the triangles."""
        b, kinds = self.b, self._own(DrawWords.KINDS)
        given = [b.load_at(self.tile, word, "ptr") for word in _NAMED]
        merged = [self._own(DrawWords.MERGED + k) for k in range(3)]
        pieces, rows = (b.load_at(clip, word, "ptr") for word in (ClipWords.PIECES, ClipWords.ROWS))
        made = b.load_at(clip, ClipWords.MADE, "i64")
        left, piece, row = (b.var("i64", 0, 0) for _ in range(3))

        def put(i: V, corners: V, at: V, order: Sequence[int]) -> None:
            to = left.get()
            for k, corner in enumerate(order):
                b.store(
                    b.at(merged[0], to * 3 + k, "i64"), b.load_at(corners, at * 3 + corner, "i64")
                )
            b.store(b.at(merged[1], to, "i64"), b.load_at(given[1], i, "i64"))
            b.store(b.at(merged[2], to, "i32"), b.load_at(given[2], i, "i32"))
            left.set(to + 1)

        with b.loop(b.const("i64", 0), self.triangles) as i:
            kind = b.load_at(kinds, i, "i32")
            with b.when(kind.eq(0)):
                put(i, given[0], i, (0, 1, 2))
            with b.when(kind.ne(0) & kind.ne(_DROPPED)):
                with b.forever() as done:
                    at, more, own = piece.get(), b.block(), b.block()
                    b.branch(at < made, more, done)
                    b.place(more)
                    b.branch(b.load_at(rows, at, "i64").eq(row.get()), own, done)
                    b.place(own)
                    put(i, pieces, at, (0, 1, 2) if self.first else (1, 2, 0))
                    piece.set(at + 1)
                row.set(row.get() + 1)
        self._leave_if(left.get() > DrawWords.MOST_TRIANGLES, LARGE)
        self._leave_with(merged, left.get())

    # -- triangles ---------------------------------------------------------------------------------

    def _set_up(self) -> None:
        b, tile = self.b, self.tile
        starts = b.load_at(tile, TileWords.STARTS, "ptr")
        tiles = self._own(DrawWords.TILES, "i64")
        with b.loop(b.const("i64", 0), tiles + 1) as i:
            b.store(b.at(starts, i, "i32"), b.const("i32", 0))
        self._set(tile, Words.STATUS, b.const("i64", 0))
        self._set(self.ctx, DrawWords.LEFT, b.load_at(tile, TileWords.TRIANGLES, "i64"))
        self._call(DrawWords.SET_UP, tile)
        self._leave_if(b.load_at(tile, Words.STATUS, "i64").ne(0), LARGE)
        self.left = b.load_at(tile, TileWords.TRIANGLES, "i64")
        self._set(self.ctx, DrawWords.SEEN, self.left)
        with b.when(self.left.eq(0)):
            b.jump(self.leave)
            b.reopen()
        total, first, end = b.var("i32", 0, 0), b.var("i64", 0, tiles), b.var("i64", 0, 0)
        with b.loop(b.const("i64", 0), tiles + 1) as i:  # behind each tile's list the next begins
            count = b.load_at(starts, i, "i32")
            some = count.ne(0)
            first.set(b.select(some, b.math("smin", first.get(), i - 1), first.get()))
            end.set(b.select(some, i, end.get()))
            total.set(total.get() + count)
            b.store(b.at(starts, i, "i32"), total.get())
        self._set(self._own(DrawWords.COUNTERS), 2, first.get())  # where the tile function begins
        self._set(tile, TileWords.TILES, end.get())
        self.touched = total.get().to("i64")
        self._set(self.ctx, DrawWords.TOUCHED, self.touched)
        self._leave_if(self.touched > self._own(DrawWords.ITEMS, "i64"), LISTS)
        self._call(DrawWords.BIN, tile)

    def _shade(self) -> None:
        b, tile = self.b, self.tile
        tiles, pixels = self.worth
        with b.when(self.touched >= tiles):
            self._leave_if(self._area() >= pixels, THREADS)
        self._call(DrawWords.FILL, tile)
        self._leave_if(b.load_at(tile, Words.STATUS, "i64").ne(0), STOPPED)

    def _area(self) -> V:
        """Pixels in the triangles' boxes (`blocks.area`)."""
        b = self.b
        records = b.load_at(self.tile, TileWords.RECORDS, "ptr")
        found = b.var("i64", 0, self.left * 64)
        with b.loop(b.const("i64", 0), b.math("smin", self.left, _BOXES)) as i:
            x0, y0, x1, y1 = (
                b.load_at(records, i * Record.SIZE + Record.BOUNDS + k, "i32") for k in range(4)
            )
            found.set(found.get() + (x1 - x0).to("i64") * (y1 - y0).to("i64"))
        return found.get()


_NAMED = (TileWords.CORNERS, TileWords.PROVOKING, TileWords.IDENTITY)
