"""The function that shades tiles: for each triangle of a tile and each block, from coverage to
memory.

A call takes tiles until none is left (several threads call it at once); inside a tile, triangles
are processed in drawing order, which is all that blending needs. Each block goes through coverage
by edge functions, early tests, the shader, late tests, colours.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic, Shader
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.fixed.depth import DepthKey, depth_code, tested
from gallette.drivers.common.fixed.formats import layout
from gallette.drivers.common.fixed.lines import line_coverage, line_frame
from gallette.drivers.common.fixed.output import ColorKey, stored
from gallette.drivers.jit.llvm.codegen import machine
from gallette.pipe.enums import CompareFunc

from ..llvm.text import Builder, Var
from ..llvm.values import V
from . import alu_vectors as _alu_vectors  # noqa: F401 - fills the table of opcodes
from . import storage as _storage  # noqa: F401 - and this one of intrinsics
from .emitter import Emitter
from .flow import emit_body, weight
from .layout import Record, TileWords, Words
from .locals import declare_locals
from .routines import inlined
from .setup import TILE
from .tile import TileStage
from .tile_keys import TileKey


@lazy_dataclass()
class TileCode:
    """The module of a tile function, and what its caller must provide."""

    text: str
    w: int
    memory: int  # bytes each thread has to provide (`Words.LOCALS`)
    inputs: list[tuple[int, int]]
    least: dict[int, int]
    sites: list[Any]
    effects: bool


def emit_tiles(shader: Shader | None, key: TileKey, explains: bool = False) -> TileCode:
    """The module whose function `tiles` shades; without a shader it only tests."""
    return _Tiles(shader, key, explains).run()


_RECORDS = 16  # the work of this many records is charged at once
_RECORD = 256
"""The work units of a triangle in a tile, besides the fragments it covers there."""
_MOST = 1 << 30  # units counted at once


@lazy_dataclass()
class _Edge:
    """An edge's function: its value for every sample at the tile's corner, and its increments."""

    corners: list[V]
    dx: V
    dy: V
    offsets: V  # of a block's pixels relative to its first
    least: V  # a lower bound in the first block, for all samples
    most: V


class _Tiles:
    def __init__(self, shader: Shader | None, key: TileKey, explains: bool) -> None:
        self.explains = explains
        self.shader = shader
        self.key = key
        self.b = Builder()
        self.w = machine().lanes
        self.half = self.w // 2
        self.stage = TileStage(key)
        self._units = 8 + (0 if shader is None else weight(shader.entry.body, self.w))
        self._shift = self.w.bit_length() - 1  # from pixels to blocks
        self.share: V | None = None  # the part of each pixel that a smooth primitive covers
        self.passed: Var | None = None
        self.shaded: Var | None = None
        self.counted: Var | None = None  # shaded fragments whose work is charged

    def run(self) -> TileCode:
        b = self.b
        (ctx,) = b.begin("tiles", [("ptr", "ctx")])
        stop = b.block()
        with b.in_entry():
            self.across = b.load_at(ctx, TileWords.ACROSS, "i64").to("i32")
            self.tiles = b.load_at(ctx, TileWords.TILES, "i64").to("i32")
            self.next = b.load_at(ctx, TileWords.NEXT, "ptr")
            self.starts = b.load_at(ctx, TileWords.STARTS, "ptr")
            self.items = b.load_at(ctx, TileWords.ITEMS, "ptr")
            self.records = b.load_at(ctx, TileWords.RECORDS, "ptr")
        self.passed, self.shaded = b.var("i64", 0, 0), b.var("i64", 0, 0)
        self.counted = b.var("i64", 0, 0)
        placeholder = b.lanes("i1", [True] * self.w)
        self.e = Emitter(b, _nothing(self.shader), self.stage, ctx, self.w, placeholder, "", stop)
        self.e.explains = self.explains
        with b.forever() as done:
            tile = b.emit("i32", 0, f"atomicrmw add ptr {self.next.n}, i32 1 monotonic")
            go = b.block()
            abandoned = b.load_at(ctx, Words.STATUS, "i64").ne(0)
            b.branch((tile < self.tiles) & ~abandoned, go, done)
            b.place(go)
            self._tile(tile)
        results = b.load_at(ctx, TileWords.RESULTS, "ptr")
        for k, counter in enumerate((self.passed, self.shaded)):
            value = counter.get()
            where = b.at(results, k, "i64")
            b.emit("i64", 0, f"atomicrmw add ptr {where.n}, i64 {value.n} monotonic")
        b.place(stop)
        self.e.keep_budget()
        b.end()
        return TileCode(
            b.text(),
            self.w,
            self.e.memory,
            list(self.stage.inputs),
            self.e.least,
            self.stage.sites,
            self.e.effects,
        )

    def _tile(self, tile: V) -> None:
        b = self.b
        row, column = b.binary("sdiv", tile, self.across), b.binary("srem", tile, self.across)
        x0, y0 = column * TILE, row * TILE
        wide = tile.to("i64")
        before = b.select(tile.eq(0), b.const("i64", 0), wide - 1)
        first = b.load_at(self.starts, before, "i32")
        first = b.select(tile.eq(0), b.const("i32", 0), first)
        last = b.load_at(self.starts, wide, "i32")
        with b.loop(first, last) as item:
            number = b.load_at(self.items, item.to("i64"), "i32")
            record = b.at(self.records, number.to("i64") * Record.SIZE, "i32")
            self._triangle(record, x0, y0)
            with b.when((item & (_RECORDS - 1)).eq(0)):
                self._spend()

    def _spend(self) -> None:
        """Charge the work of the fragments shaded since the last time, and of some records.

        Doing so for each record costs scenes with many large triangles two percent of their time.
        """
        assert self.shaded is not None and self.counted is not None
        b, shaded = self.b, self.shaded.get()
        blocks = (shaded - self.counted.get()).lshr(self._shift)
        self.counted.set(shaded)
        units = b.math("smin", blocks * self._units, b.const("i64", _MOST)) + _RECORDS * _RECORD
        self.e.spend(units.to("i32"))

    def _triangle(self, record: V, tile_x: V, tile_y: V) -> None:
        b, half = self.b, self.half
        bounds = [b.load_at(record, Record.BOUNDS + k, "i32") for k in range(4)]
        x0, y0 = b.math("smax", bounds[0], tile_x), b.math("smax", bounds[1], tile_y)
        x1 = b.math("smin", bounds[2], tile_x + TILE)
        y1 = b.math("smin", bounds[3], tile_y + TILE)
        columns = b.lanes("i32", [i % half for i in range(self.w)])
        rows = b.lanes("i32", [i // half for i in range(self.w)])
        edges = [self._edge(record, k, tile_x, tile_y) for k in range(self.key.edges)]
        self.stage.begin_triangle(self.e, record)
        # Long thin primitives are in the lists of many tiles that they do not touch.
        down, right = TILE - 2, TILE - half
        reach = [
            e.most + b.math("smax", e.dx * down, 0) + b.math("smax", e.dy * -right, 0)
            for e in edges
        ]
        first = y0 & -2
        y1 = b.select(_inside(b, reach), y1, first)
        start_x = x0 & -half
        with b.loop(first, y1, 2) as y:
            from_top = y - tile_y
            at_row = [[corner + edge.dx * from_top for corner in edge.corners] for edge in edges]
            least = [edge.least + edge.dx * from_top for edge in edges]
            most = [edge.most + edge.dx * from_top for edge in edges]
            whole_row = (y >= y0) & (y + 2 <= y1)
            with b.loop(start_x, x1, half) as x:
                from_left = x - tile_x
                steps = [edge.dy * from_left for edge in edges]
                # If an edge is negative in the whole block, nothing of it is covered.
                skip = b.block()
                whole = whole_row & (x >= x0) & (x + half <= x1)
                seen = b.block()
                highest = [at - step for at, step in zip(most, steps, strict=True)]
                b.branch(_inside(b, highest), seen, skip)
                b.place(seen)
                lowest = [at - step for at, step in zip(least, steps, strict=True)]
                whole = _inside(b, lowest) & whole
                lane_x, lane_y = columns + x, rows + y
                covered = [b.var("i1", self.w, True) for _ in self.key.places or (None,)]
                with b.when(~whole):
                    moved = [edge.offsets - step for edge, step in zip(edges, steps, strict=True)]
                    inside = (lane_x - x0).ult(x1 - x0) & (lane_y - y0).ult(y1 - y0)
                    for sample, mask in enumerate(covered):
                        values = [
                            own + bases[sample] for own, bases in zip(moved, at_row, strict=True)
                        ]
                        mask.set(_inside(b, values) & inside)
                masks = self._wanted([mask.get() for mask in covered])
                if self.key.kind.round:
                    masks = self._in_circle(record, lane_x, lane_y, masks)
                some = b.block()
                b.branch(b.any(_either(masks)), some, skip)
                b.place(some)
                self._block(record, x, y, lane_x, lane_y, masks)
                b.place(skip)

    def _edge(self, record: V, k: int, tile_x: V, tile_y: V) -> _Edge:
        b, half = self.b, self.half
        columns = b.lanes("i32", [i % half for i in range(self.w)])
        rows = b.lanes("i32", [i // half for i in range(self.w)])
        dx = b.load_at(record, Record.DX + k, "i32")
        dy = b.load_at(record, Record.DY + k, "i32")
        corners = self._corners(record, k, dx, dy, tile_x, tile_y)
        across = dy * (1 - half)
        least = b.math("smin", dx, 0) + b.math("smin", across, 0)
        most = b.math("smax", dx, 0) + b.math("smax", across, 0)
        low, high = corners[0], corners[0]
        for corner in corners[1:]:
            low, high = b.math("smin", low, corner), b.math("smax", high, corner)
        return _Edge(corners, dx, dy, rows * dx - columns * dy, low + least, high + most)

    def _corners(self, record: V, k: int, dx: V, dy: V, tile_x: V, tile_y: V) -> list[V]:
        """An edge's function at the tile's corner, for every sample; inside the target nothing
        overflows.
        """
        b = self.b
        c = b.load(b.at(record, Record.C + 2 * k, "i32"), "i64", align=4)
        wide_dx, wide_dy = dx.to("i64"), dy.to("i64")
        across = wide_dx * tile_y.to("i64") - wide_dy * tile_x.to("i64")
        found = []
        for sample in self.key.places or (None,):
            at = c if sample is None else (c + wide_dx * sample[1] - wide_dy * sample[0]) >> 8
            limit = 1 << 30
            found.append(b.math("smin", b.math("smax", at + across, -limit), limit).to("i32"))
        return found

    def _wanted(self, masks: list[V]) -> list[V]:
        """The samples that the bound sample mask enables."""
        if not self.key.samples:
            return masks
        bits = self.e.word(TileWords.SAMPLES).to("i32")
        return [mask & (bits & (1 << i)).ne(0) for i, mask in enumerate(masks)]

    def _in_circle(self, record: V, lane_x: V, lane_y: V, masks: list[V]) -> list[V]:
        """The samples of a point's square that are inside the circle in it."""
        b, kept = self.b, []
        radius = b.load_at(record, Record.WIDTH, "float").fp("double") * 0.5
        squared = b.spread(radius * radius, self.w)
        (at_x,), (at_y,) = (self.stage.window(self.e, axis) for axis in range(2))
        middle = [b.spread(v.fp("double"), self.w) for v in (at_x, at_y)]
        lanes = [lane_x.to_float("double"), lane_y.to_float("double")]
        for mask, place in zip(masks, self.key.places, strict=True):
            x, y = (at + p / 256 - m for at, p, m in zip(lanes, place, middle, strict=True))
            kept.append(mask & (x * x + y * y <= squared))
        return kept

    def _of_line(self, record: V) -> V:
        """The part of each pixel that a smooth line covers."""
        b, stage = self.b, self.stage
        with b.into(stage.triangle):
            (x0, x1), (y0, y1), (w0, w1) = (stage.window(self.e, axis) for axis in (0, 1, 3))
            frame = inlined(b, line_frame(), [x0, y0, w0, x1, y1, w1])
            line = [self.e.wide(v) for v in (*frame, b.load_at(record, Record.WIDTH, "float"))]
        return inlined(b, line_coverage(), [stage.x, stage.y, *line])[0]

    # -- a block ---------------------------------------------------------------------------------

    def _block(self, record: V, x: V, y: V, lane_x: V, lane_y: V, masks: list[V]) -> None:
        """Process pixels of two rows, with the lanes that each sample covers."""
        b, key, stage = self.b, self.key, self.stage
        half = 0.5 if key.places else 0.0  # these are relative to the corner
        stage.move_to_centres(lane_x.to_float() + half, lane_y.to_float() + half)
        leave = b.block()
        e = self.e
        e.mask = e.entry_mask = b.lanes("i1", [True] * self.w)
        e.leave = leave
        e.start = b.reserve()
        if key.kind.smooth and key.kind.corners == 2:
            self.share = self._of_line(record)
        elif key.kind.smooth:
            count = functools.reduce(
                lambda n, mask: n + mask.to("i32", False), masks[1:], masks[0].to("i32", False)
            )
            self.share, masks = count.to_float() * (1.0 / len(masks)), [_either(masks)]
        stage.seen = masks
        if key.tests_first:
            masks = self._test(record, x, y, masks, None)
            if self.shader is not None and self.shader.info.post_depth_coverage:
                stage.seen = masks
        stage.covered = covered = _either(masks)
        stage.samples = masks if key.samples else []
        if self.shader is None:
            b.place(leave)
            return
        shading = b.block()
        wanted = covered
        if self._fails_early():
            wanted = _either(self._tested_all(record, x, y, masks, None, False))
        b.branch(b.any(wanted), shading, leave)
        b.place(shading)
        e.shader = self.shader
        if key.per_sample:
            self._one_by_one(record, x, y, masks)
        else:
            stage.shading = b.reserve()
            self._shade(record, x, y, masks)
        b.place(leave)

    def _one_by_one(self, record: V, x: V, y: V, masks: list[V]) -> None:
        """Shade the lanes of each sample, at its position."""
        b, e, stage = self.b, self.e, self.stage
        t = f"i{self.w}"
        bits = V(b, "ptr", 0, b.alloca(t, 0, len(masks)))
        for number, mask in enumerate(masks):
            b.store(b.at(bits, number, t), b.bitmask(mask))
        places = [
            b.table("float", [place[axis] / 256 for place in self.key.samples]) for axis in range(2)
        ]
        with b.loop(b.const("i64", 0), b.const("i64", len(masks))) as sample:
            leave, shading = b.block(), b.block()
            left = b.load_at(bits, sample, t)
            b.branch(left.ne(0), shading, leave)
            b.place(shading)
            stage.move_to_sample(sample.to("i32"), [b.load_at(p, sample, "float") for p in places])
            e.leave, e.start = leave, b.reserve()
            stage.covered = b.mask_of(left)
            self._shade(record, x, y, [stage.covered], [sample])
            b.place(leave)

    def _shade(
        self, record: V, x: V, y: V, masks: list[V], samples: Sequence[V] | None = None
    ) -> None:
        """Shade the lanes of these samples (None: of all), and write those that remain."""
        b, key, e = self.b, self.key, self.e
        assert self.shader is not None
        self._count(self.shaded, _either(masks))
        if _discards(self.shader):
            e.alive = b.var("i1", self.w, b.const("i1", True))
        declare_locals(e)
        emit_body(e)
        e.mask = e.entry_mask
        with b.into(e.start):
            for variable in e.outputs.values():
                variable.set(b.const(variable.t, 0))
        numbers: Sequence[int | V] = samples or range(len(masks))
        masks = self._left(masks, numbers)
        if not key.tests_first:
            depth = e.outputs.get((FragResult.DEPTH, 0, 0))
            z = None if depth is None else depth.get().as_float()
            masks = self._test(record, x, y, masks, z, numbers)
        for number, color in enumerate(key.colors):
            if color is not None:
                self._color(number, color, x, y, masks, numbers)

    def _fails_early(self) -> bool:
        """Whether fragments that fail the depth test before shading have no effect.

        Then a block in which all fail need not be shaded, even if the shader may discard those that
        pass. A shader that writes memory must run for failing fragments, too.
        """
        key, shader = self.key.depth, self.shader
        return (
            not self.key.tests_first
            and not self.key.effects
            and key is not None
            and key.func not in (None, CompareFunc.ALWAYS)
            and key.stencil is None
            and shader is not None
            and not _writes_depth(shader)
        )

    def _left(self, masks: list[V], samples: Sequence[int | V]) -> list[V]:
        """The lanes that the shader did not discard, neither directly nor by its sample mask or
        alpha.
        """
        b, e, key = self.b, self.e, self.key
        if e.alive is not None:
            alive = e.alive.get()
            masks = [mask & alive for mask in masks]
        written = e.outputs.get((FragResult.SAMPLE_MASK, 0, 0))
        if written is not None and key.samples:  # it has no effect with a single sample
            bits = written.get()
            masks = [
                mask & (bits.lshr(_narrow(sample)) & 1).ne(0)
                for sample, mask in zip(samples, masks, strict=True)
            ]
        if key.alpha_to_coverage:
            values = self._values(FragResult.DATA0, 0)
            if values is not None:
                alpha = b.math("minnum", b.math("maxnum", values[3].as_float(), 0.0), 1.0)
                count = b.math("floor", alpha * float(len(key.samples)) + 0.5)
                masks = [
                    mask & (count > (float(s) if isinstance(s, int) else s.to_float()))
                    for s, mask in zip(samples, masks, strict=True)
                ]
        return masks

    def _count(self, counter: Var | None, mask: V) -> None:
        assert counter is not None
        counter.set(counter.get() + self.b.math("ctpop", self.b.bitmask(mask)).to("i64", False))

    # -- memory ----------------------------------------------------------------------------------

    def _place(self, first: int, x: V, y: V, step: int, layers: int) -> tuple[V, V]:
        """The addresses of a block's two rows in a buffer; `layers` is the distance between its
        layers.
        """
        b, e = self.b, self.e
        base, stride = e.word(first, "ptr"), e.word(first + 1)
        if self.key.layered:
            base = b.at(base, self.stage.layer(e).to("i64") * e.word(layers), "i8")
        top = y.to("i64") * stride + x.to("i64")
        row = b.at(base, top * (step // 8), "i8")
        return row, b.at(row, stride * (step // 8), "i8")

    def _halves(self, mask: V) -> tuple[V, V]:
        lanes = range(self.half)
        return (
            self.b.shuffle(mask, list(lanes)),
            self.b.shuffle(mask, [i + self.half for i in lanes]),
        )

    def _load(self, rows: tuple[V, V], mask: V, t: str) -> V:
        b = self.b
        top, bottom = (
            b.masked_load(row, part, t) for row, part in zip(rows, self._halves(mask), strict=True)
        )
        return b.shuffle(top, list(range(self.w)), bottom)

    def _by_word(self, mask: V) -> V:
        """A row's mask, repeated for the four words of a texel."""
        return self.b.shuffle(mask, [i // 4 for i in range(4 * self.half)])

    def _load_words(self, rows: tuple[V, V], mask: V, size: int, count: int) -> list[V]:
        """The words of each lane's texel."""
        if count == 1:
            return [self._load(rows, mask, f"i{size}")]
        b, half = self.b, self.half
        top, bottom = (
            b.masked_load(row, self._by_word(part), "i32")
            for row, part in zip(rows, self._halves(mask), strict=True)
        )
        firsts = [4 * i for i in range(2 * half)]
        return [b.shuffle(top, [at + word for at in firsts], bottom) for word in range(4)]

    def _store_words(self, rows: tuple[V, V], mask: V, words: list[V]) -> None:
        b, half, w = self.b, self.half, self.w
        words = [b.spread(word, w) for word in words]
        if len(words) == 1:
            self._store(rows, mask, words[0])
            return
        low, high = (b.shuffle(words[k], list(range(2 * w)), words[k + 1]) for k in (0, 2))
        for number, (row, part) in enumerate(zip(rows, self._halves(mask), strict=True)):
            first = number * half
            order = [word * w + first + i for i in range(half) for word in range(4)]
            b.masked_store(row, self._by_word(part), b.shuffle(low, order, high))

    def _store(self, rows: tuple[V, V], mask: V, value: V) -> None:
        values = self._halves(value)
        for row, part, half in zip(rows, self._halves(mask), values, strict=True):
            self.b.masked_store(row, part, half)

    def _test(
        self,
        record: V,
        x: V,
        y: V,
        masks: list[V],
        z: V | None,
        samples: Sequence[int | V] | None = None,
    ) -> list[V]:
        """Run the depth and stencil tests; returns the remaining masks."""
        masks = self._tested_all(record, x, y, masks, z, True, samples)
        if self.key.counting:
            for mask in masks:
                self._count(self.passed, mask)
        return masks

    def _tested_all(
        self,
        record: V,
        x: V,
        y: V,
        masks: list[V],
        z: V | None,
        writing: bool,
        samples: Sequence[int | V] | None = None,
    ) -> list[V]:
        """The lanes of these samples (None: of all) that pass."""
        key = self.key.depth
        if key is None or (key.func is None and key.stencil is None):
            return masks
        rows = self._place(TileWords.DEPTH, x, y, key.step, TileWords.DEPTH_LAYER)
        found = []
        for sample, mask in zip(samples or range(len(masks)), masks, strict=True):
            plane = self._plane(rows, TileWords.DEPTH_PLANE, sample)
            found.append(self._tested(key, record, plane, mask, z, sample, writing))
        return found

    def _plane(self, rows: tuple[V, V], word: int, sample: int | V) -> tuple[V, V]:
        """The addresses of the rows in a sample's plane; `word` holds the distance
        between planes.
        """
        if isinstance(sample, int) and not sample:
            return rows
        step = self.e.word(word) * sample
        return self.b.at(rows[0], step, "i8"), self.b.at(rows[1], step, "i8")

    def _tested(
        self,
        key: DepthKey,
        record: V,
        rows: tuple[V, V],
        mask: V,
        z: V | None,
        sample: int | V,
        writing: bool,
    ) -> V:
        b, e = self.b, self.e
        t = f"i{key.word}"
        words = self._load(rows, mask, t)
        codes = None
        if key.func is not None:
            depth = z
            if depth is None:
                away = None  # relative to the lanes' pixels
                if isinstance(sample, int) and self.key.samples:
                    away = sample
                depth = self.stage.depth(e, away)
            if self.key.clamp:
                limits = [
                    e.word(TileWords.NEAR + 0, "i64").lshr(32 * k).to("i32").bitcast("float")
                    for k in range(2)
                ]
                depth = b.math("minnum", b.math("maxnum", depth, limits[0]), limits[1])
            codes = inlined(b, depth_code(key.bits, key.is_float), [depth])[0].as_int()
        front = b.load_at(record, Record.FRONT, "i32").ne(0)
        wide = words if key.word >= 32 else words.to("i32", False)
        faces = e.word(TileWords.FACES)
        given = [mask, wide, codes, front, faces.to("i32"), faces.lshr(32).to("i32")]
        passing, new, changed = inlined(b, tested(key), given)
        if writing and key.writes:
            self._store(rows, changed, b.spread(new if key.word >= 32 else new.to(t), self.w))
        return b.spread(passing, self.w)

    def _color(
        self,
        number: int,
        key: ColorKey,
        x: V,
        y: V,
        masks: list[V],
        samples: Sequence[int | V],
    ) -> None:
        b, e = self.b, self.e
        slot = FragResult.DATA0 + number
        color = self._values(slot, 0)
        if color is None:
            return
        second = self._values(slot, 1) or _missing(self.b, self.w)
        if self.key.alpha_to_one and not key.format.is_pure_integer:
            opaque = _missing(self.b, self.w)[3]
            color, second = [*color[:3], opaque], [*second[:3], opaque]
        if self.share is not None and not key.format.is_pure_integer:
            color = [*color[:3], (color[3].as_float() * self.share).as_int()]
        bits = key.format.block_bytes * 8
        rows = self._place(
            TileWords.COLORS + 2 * number, x, y, bits, TileWords.COLOR_LAYERS + number
        )
        constant = [
            e.word(TileWords.BLEND + 2 * number + k // 2).lshr(32 * (k % 2)).to("i32")
            for k in range(4)
        ]
        size, count = layout(key.format)
        words: list[V] = []
        for sample, mask in zip(samples, masks, strict=True):
            plane = self._plane(rows, TileWords.COLOR_PLANES + number, sample)
            if key.reads or not words:
                there = self._load_words(plane, mask, size, count) if key.reads else [None] * count
                words = inlined(b, stored(key), [*color, *second, *constant, *there])
            self._store_words(plane, mask, words)

    def _values(self, slot: int, table: int) -> list[V] | None:
        """The shader's output for a colour buffer; 0, 0, 0, 1 where it writes nothing."""
        e = self.e
        for source in (slot, FragResult.COLOR):
            if any((source, i, table) in e.outputs for i in range(4)):
                missing = _missing(self.b, self.w)
                return [
                    e.outputs[source, i, table].get() if (source, i, table) in e.outputs else other
                    for i, other in enumerate(missing)
                ]
        return None


def _narrow(sample: int | V) -> int | V:
    """A sample's number in 32 bits."""
    return sample if isinstance(sample, int) else sample.to("i32")


def _inside(b: Builder, edges: Sequence[V]) -> V:
    """Whether no edge function is negative."""
    return _either(edges) >= 0 if edges else b.const("i1", True)


def _either(values: Sequence[V]) -> V:
    """The union of bit masks."""
    return functools.reduce(lambda one, other: one | other, values)


def _missing(b: Builder, w: int) -> list[V]:
    return [b.spread(b.const("float", v), w).as_int() for v in (0.0, 0.0, 0.0, 1.0)]


def _nothing(shader: Shader | None) -> Any:
    return shader


def _writes_depth(shader: Shader) -> bool:
    return any(
        isinstance(instr, Intrinsic)
        and instr.name == "store_output"
        and instr["location"] == FragResult.DEPTH
        for block in shader.entry.blocks()
        for instr in block.instrs()
    )


def _discards(shader: Shader) -> bool:
    return any(
        isinstance(instr, Intrinsic) and instr.name.startswith(("discard", "demote"))
        for block in shader.entry.blocks()
        for instr in block.instrs()
    )
