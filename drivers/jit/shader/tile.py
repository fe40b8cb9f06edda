"""Fragments of filled triangles: a stage whose lanes are a block of pixels, two rows high.

Lane `i` is in column `i % (w / 2)` of row `i / (w / 2)`, so that a row of lanes is contiguous in
memory. Varyings are planes per triangle (as in `drivers.common.raster.interpolate`: two fused
multiply-adds, x first); flat values, the facing and the primitive's number are scalars.
"""

from __future__ import annotations

import functools
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Intrinsic
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.fixed.lines import longer_line
from gallette.drivers.common.program import interpolation

from ..llvm.values import V
from .call_out import CallingStage
from .emitter import Emitter
from .intrinsics import load_slots, store_output
from .layout import Record, TileWords, Words
from .routines import inlined
from .tile_keys import TileKey

Plane = tuple[V, V, V]
"""Value at the origin and slopes along x and y, in all lanes."""


class TileStage(CallingStage):
    """Provides inputs from planes."""

    def __init__(self, key: TileKey) -> None:
        super().__init__(key.textures)
        self.key = key
        self.images = key.images
        self.flat_colors = key.flat_colors
        self.half = key.half
        self.positions = key.samples
        self.samples: list[V] = []  # with several samples: the lanes each covers
        self.seen: list[V] = []  # the samples that shaders see in gl_SampleMaskIn
        self.inputs: dict[tuple[int, int], int] = {}
        self.planes: dict[tuple[int, int, bool], Plane] = {}
        self.flats: dict[tuple[int, int], V] = {}
        self.values: dict[tuple[int, int, bool], V] = {}
        self.triangle: list[Any] = []  # where per-triangle values are computed
        self.shading: list[Any] = []  # and where remaining samples are known
        self.record: V | None = None
        self.corners: list[V] = []
        self.x: V | None = None  # positions of lanes: pixel centres, or a sample
        self.y: V | None = None
        self.sample: V | None = None  # the sample, if lanes are shaded per sample
        self._place: list[V] = []  # and its position in the pixel
        self._middle: list[V] = []
        self.covered: V | None = None
        self._slopes: tuple[V, V, V, V] | None = None
        self._ends: list[V] = []
        self._line: tuple[V, V, V] | None = None
        self._w: V | None = None
        self._centroid: tuple[V, V] | None = None

    def move_to_centres(self, x: V, y: V) -> None:
        """Set the lanes' positions to their pixels' centres."""
        self.x, self.y = self._middle = [x, y]

    def move_to_sample(self, sample: V, place: list[V]) -> None:
        """Set the lanes' positions to a sample at this place in the pixel."""
        self.sample, self._place = sample, place
        self.x, self.y = (at + (p - 0.5) for at, p in zip(self._middle, place, strict=True))

    # -- triangles -------------------------------------------------------------------------------

    def begin_triangle(self, e: Emitter, record: V) -> None:
        """Read the triangle's corners, and reserve a place for its other values."""
        b = e.b
        self.record = record
        self.corners = [
            b.load_at(record, Record.VERTEX + k, "i32").to("i64", False)
            for k in range(self.key.kind.corners)
        ]
        self.triangle = b.reserve()

    def window(self, e: Emitter, axis: int) -> list[V]:
        """Window x, y, z or 1/w of the corners; of smooth lines, those of longer ones."""
        if axis < 2 and self.key.kind.corners == 2 and self.key.kind.smooth:
            if not self._ends:
                (x0, x1), (y0, y1) = (self._at_corners(e, axis) for axis in range(2))
                self._ends = inlined(e.b, longer_line(), [x0, y0, x1, y1])
            return self._ends[axis::2]
        return self._at_corners(e, axis)

    def _at_corners(self, e: Emitter, axis: int) -> list[V]:
        base, count = e.word(TileWords.WINDOW, "ptr"), e.word(TileWords.VERTICES)
        return [e.b.load_at(base, corner + count * axis, "float") for corner in self.corners]

    def _weights(self, e: Emitter) -> tuple[V, V, V, V]:
        if self._slopes is None:
            x, y = self.window(e, 0), self.window(e, 1)
            dx01, dy01 = x[0] - x[1], y[0] - y[1]
            dx20, dy20 = x[2] - x[0], y[2] - y[0]
            inverse = 1.0 / (dx01 * dy20 - dx20 * dy01)
            self._slopes = dy20 * inverse, dy01 * inverse, dx01 * inverse, dx20 * inverse
        return self._slopes

    def _along_line(self, e: Emitter) -> tuple[V, V, V]:
        """The direction in which values vary along a line, and the divisor; rounded as in
        `raster.interpolate`.
        """
        if self._line is None:
            b = e.b
            (x0, x1), (y0, y1) = self.window(e, 0), self.window(e, 1)
            dx, dy = x0 - x1, y0 - y1
            inverse = 1.0 / (dx * dx + dy * dy)
            if not self.key.places:
                wide = b.math("fabs", dx) >= b.math("fabs", dy)
                slope = b.select(wide, dy, dx) / b.select(wide, dx, dy)
                longer = slope * slope + 1.0
                dx, dy = b.select(wide, dx, 0.0) * longer, b.select(wide, 0.0, dy) * longer
            self._line = dx, dy, inverse
        return self._line

    def plane(self, e: Emitter, slot: int, component: int, perspective: bool) -> Plane:
        """The plane of a varying (divided by w), or of window z (-1, 2) or 1/w (-1, 3)."""
        key = (slot, component, perspective)
        found = self.planes.get(key)
        if found is None:
            b = e.b
            with b.into(self.triangle):
                if slot < 0:
                    at = self.window(e, component)
                    if component == 2 and self.key.offset:
                        at = self._moved(e, at)
                else:
                    base = self.array(e, slot, component)
                    at = [b.load_at(base, corner, "float") for corner in self.corners]
                    if perspective:
                        inverse = self.window(e, 3)
                        at = [a * w for a, w in zip(at, inverse, strict=True)]
                if len(at) == 1:
                    zero = e.wide(b.const("float", 0.0))
                    found = e.wide(at[0]), zero, zero
                else:
                    dx, dy = self._slopes_of(e, at)
                    x0, y0 = (self.window(e, axis)[0] - self.half for axis in range(2))
                    a0 = at[0] - (dx * x0 + dy * y0)
                    found = e.wide(a0), e.wide(dx), e.wide(dy)
            self.planes[key] = found
        return found

    def _slopes_of(self, e: Emitter, at: list[V]) -> tuple[V, V]:
        """The slopes of a value along x and y, given its values at the corners."""
        if len(at) == 2:
            step, (along_x, along_y, inverse) = at[0] - at[1], self._along_line(e)
            return step * along_x * inverse, step * along_y * inverse
        dy20, dy01, dx01, dx20 = self._weights(e)
        d01, d20 = at[0] - at[1], at[2] - at[0]
        return d01 * dy20 - d20 * dy01, d20 * dx01 - d01 * dx20

    def _moved(self, e: Emitter, z: list[V]) -> list[V]:
        """Window z at the corners, moved by the polygon offset (see `raster.triangles`)."""
        b, key = e.b, self.key
        x, y = self.window(e, 0), self.window(e, 1)
        dx01, dy01 = x[0] - x[1], y[0] - y[1]
        dx20, dy20 = x[2] - x[0], y[2] - y[0]
        inverse = 1.0 / (dx01 * dy20 - dx20 * dy01)
        dz01, dz20 = z[0] - z[1], z[2] - z[0]
        slope_x = b.math("fabs", (dz01 * dy20 - dz20 * dy01) * inverse)
        slope_y = b.math("fabs", (dz20 * dx01 - dz01 * dx20) * inverse)
        slope = b.math("maxnum", slope_x, slope_y)
        slope = b.select(b.math("fabs", slope) < float("inf"), slope, 0.0)
        base = b.at(e.ctx, TileWords.OFFSET, "i64")
        bias, scale, limit = (b.load_at(base, i, "float") for i in range(3))
        if key.offset == "float":
            first, second, third = (b.math("fabs", value) for value in z)
            largest = b.math("maxnum", b.math("maxnum", first, second), third)
            power = (largest.as_int() & 0x7F800000).as_float()
            bias = power * 2.0**-23 * bias
        moved = bias + slope * scale
        if key.offset_clamp:
            beyond = moved > limit if key.offset_clamp > 0 else moved < limit
            moved = b.select(beyond, limit, moved)
        return [moved + value for value in z]

    def layer(self, e: Emitter) -> V:
        """The triangle's layer; the last layer if it does not exist."""
        last = e.word(TileWords.LAYERS, "i32") - 1
        layer = self.flat(e, VaryingSlot.LAYER, 0)
        return e.b.math("smax", e.b.math("smin", layer, last), 0)

    def array(self, e: Emitter, slot: int, component: int) -> V:
        """A varying's value by vertex."""
        number = self.inputs.setdefault((slot, component), len(self.inputs))
        return e.word(Words.INPUTS + number, "ptr")

    def at(self, e: Emitter, plane: Plane, x: V, y: V) -> V:
        a0, dx, dy = plane
        if self.key.kind.corners == 1:
            return a0
        return e.b.fma(dy, y, e.b.fma(dx, x, a0))

    # -- inputs ----------------------------------------------------------------------------------

    def smooth(self, e: Emitter, slot: int, component: int, perspective: bool) -> V:
        key = (slot, component, perspective)
        found = self.values.get(key)
        if found is None:
            plane = self.plane(e, slot, component, perspective)
            assert self.x is not None and self.y is not None
            with e.b.into(e.start):
                found = self.at(e, plane, self.x, self.y)
                if perspective:
                    found = found * self._perspective(e)
            self.values[key] = found
        return found

    def _perspective(self, e: Emitter) -> V:
        """Each lane's w, without a division if all corners of the triangle have the same w."""
        if self._w is None:
            b = e.b
            _, dx, dy = plane = self.plane(e, -1, 3, False)
            with b.into(self.triangle):
                at = b.extract(plane[0], 0)
                slopes = b.extract(dx, 0).as_int() | b.extract(dy, 0).as_int()
                slanted = (slopes & 0x7FFFFFFF).ne(0) | at.eq(0.0)
                same = e.wide(1.0 / at)
            with b.into(e.start):
                assert self.x is not None and self.y is not None
                found = b.var("float", e.w, same)
                with b.when(slanted):
                    found.set(1.0 / self.at(e, plane, self.x, self.y))
                self._w = found.get()
        return self._w

    def inverse_w(self, e: Emitter) -> V:
        return self.smooth(e, -1, 3, False)

    def depth(self, e: Emitter, sample: int | None = None) -> V:
        """Window z, at the pixel's centre or at a sample."""
        if sample is None:
            return self.smooth(e, -1, 2, False)
        return self.at(e, self.plane(e, -1, 2, False), *self._sample_place(sample))

    def _sample_place(self, sample: int) -> tuple[V, V]:
        dx, dy = (at / 256 - 0.5 for at in self.positions[sample])
        return self._middle[0] + dx, self._middle[1] + dy

    def _sample_places(self, e: Emitter, index: V) -> tuple[V, V]:
        """The position of the sample that each lane names."""
        x, y = self._sample_place(0)
        for sample in range(1, len(self.positions)):
            there, named = self._sample_place(sample), index.eq(sample)
            x, y = e.b.select(named, there[0], x), e.b.select(named, there[1], y)
        return x, y

    def _centroids(self, e: Emitter) -> tuple[V, V]:
        """The pixel's centre if all samples are covered (or none), else the first covered
        sample.
        """
        assert self.x is not None and self.y is not None
        if self._centroid is None:
            b = e.b
            every = some = self.samples[0]
            for covered in self.samples[1:]:
                every, some = every & covered, some | covered
            whole = every | ~some
            x, y = self.x, self.y
            for sample in reversed(range(len(self.samples))):
                there = self._sample_place(sample)
                x = b.select(self.samples[sample], there[0], x)
                y = b.select(self.samples[sample], there[1], y)
            self._centroid = b.select(whole, self.x, x), b.select(whole, self.y, y)
        return self._centroid

    def flat(self, e: Emitter, slot: int, component: int) -> V:
        found = self.flats.get((slot, component))
        if found is None:
            b = e.b
            base = self.array(e, slot, component)
            assert self.record is not None
            with b.into(self.triangle):
                vertex = b.load_at(self.record, Record.PROVOKING, "i32").to("i64", False)
                found = b.load_at(base, vertex, "i32")
            self.flats[slot, component] = found
        return found

    def load_input(self, e: Emitter, instr: Intrinsic) -> list[V]:
        mode, where, bary = "flat", "", None
        if instr.name == "load_interpolated_input":
            mode, where, bary = interpolation(instr, self.flat_colors)

        def load(slot: int, component: int) -> V:
            return self._one(e, mode, slot, component, where, bary)

        return load_slots(e, instr, instr["location"], load)

    def _one(
        self, e: Emitter, mode: str, slot: int, component: int, where: str, bary: Intrinsic | None
    ) -> V:
        if mode == "flat":
            return self.flat(e, slot, component)
        perspective = mode == "smooth"
        assert self.x is not None and self.y is not None
        if where == "at_offset" and bary is not None:
            dx, dy = (v.as_float() for v in e.values(bary.srcs[0]))
            x, y = self._middle[0] + dx, self._middle[1] + dy
        elif where == "at_sample" and bary is not None and self.positions:
            x, y = self._sample_places(e, e.wide(e.value(bary.srcs[0]).as_int()))
        elif where == "centroid" and self.samples and self.sample is None:
            with e.b.into(self.shading):
                x, y = self._centroids(e)
        else:
            return self.smooth(e, slot, component, perspective).as_int()
        value = self.at(e, self.plane(e, slot, component, perspective), x, y)
        if perspective:
            value = value / self.at(e, self.plane(e, -1, 3, False), x, y)
        return value.as_int()

    def system_value(self, e: Emitter, name: str, component: int) -> V:
        b = e.b
        assert self.x is not None and self.y is not None and self.record is not None
        if name == "frag_coord":
            if component < 2:
                return (self.x, self.y)[component] + self.half
            return self.depth(e) if component == 2 else self.inverse_w(e)
        if name == "front_face":
            return b.load_at(self.record, Record.FRONT, "i32").ne(0)
        if name == "primitive_id":
            return b.load_at(self.record, Record.IDENTITY, "i32")
        if name == "alpha_ref":
            return e.word(Words.ALPHA_REF, "i32")
        if self.sample is not None:
            if name == "sample_id":
                return self.sample
            if name == "sample_mask_in":
                return b.const("i32", 1) << self.sample
            if name == "sample_pos":
                return self._place[component] if component < 2 else b.const("float", 0.5)
        if name == "sample_mask_in" and self.samples:
            covered = [b.select(m, 1 << i, b.const("i32", 0)) for i, m in enumerate(self.seen)]
            return functools.reduce(lambda one, other: one | other, covered)
        if name == "layer_id" and self.key.layer:
            return self.flat(e, VaryingSlot.LAYER, 0)
        if name == "point_coord" and self.key.kind.corners == 1:
            return self._point_coord(e, component)
        if name in _CONSTANTS:
            return b.const("i32", _CONSTANTS[name])
        if name == "sample_pos":
            return b.const("float", 0.5)
        raise GalletteError(f"a fragment has no {name}")

    def _point_coord(self, e: Emitter, component: int) -> V:
        b = e.b
        assert self.x is not None and self.y is not None and self.record is not None
        if component > 1:
            return b.const("float", component - 2.0)
        with b.into(self.triangle):
            size = b.load_at(self.record, Record.WIDTH, "float").fp("double")
            middle, size = e.wide(self.window(e, component)[0].fp("double")), e.wide(size)
        along = (self.x, self.y)[component].fp("double") + self.half
        offset = (along - middle) / size
        found = 0.5 - offset if component and self.key.kind.falling else offset + 0.5
        return found.fp("float")

    def store_output(self, e: Emitter, instr: Intrinsic) -> None:
        store_output(e, instr, 1, instr["dual_source"])

    def helper(self, e: Emitter) -> V:
        assert self.covered is not None
        return ~self.covered

    def real(self, e: Emitter) -> V | None:
        return self.covered

    # -- quads -----------------------------------------------------------------------------------

    def derivative(self, e: Emitter, name: str, value: V) -> V:
        if not value.w:
            return value - value
        along_x, coarse = name.startswith("fddx"), name.endswith("coarse")
        half = e.w // 2
        low, high = [], []
        for lane in range(e.w):
            row, column = divmod(lane, half)
            if along_x:
                first = (0 if coarse else row * half) + (column & ~1)
                low.append(first)
                high.append(first + 1)
            else:
                first = column & ~1 if coarse else column
                low.append(first)
                high.append(first + half)
        return e.b.shuffle(value, high) - e.b.shuffle(value, low)

    # -- calls out -------------------------------------------------------------------------------

    def to_quads(self, e: Emitter, row: V) -> V:
        return e.b.shuffle(row, _quad_order(e.w)[0])

    def from_quads(self, e: Emitter, row: V) -> V:
        return e.b.shuffle(row, _quad_order(e.w)[1])


_CONSTANTS = {
    "point_coord": 0,
    "sample_id": 0,
    "sample_mask_in": 1,
    "layer_id": 0,
    "viewport_index": 0,
}


def _quad_order(w: int) -> tuple[list[int], list[int]]:
    """The permutation from rows to quads of lanes, and its inverse."""
    half = w // 2
    to_quads = [
        row * half + quad * 2 + column
        for quad in range(half // 2)
        for row in (0, 1)
        for column in (0, 1)
    ]
    back = [0] * w
    for place, lane in enumerate(to_quads):
        back[lane] = place
    return to_quads, back
