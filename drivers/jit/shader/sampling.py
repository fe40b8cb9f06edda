"""Texture sampling in machine code, specialised for the bound textures.

The arithmetic is that of `drivers.common.texture`: bytes with the simple wrap modes are filtered in
fixed point, two channels of a word at a time; everything else in float32. A texture's description
(`fill` writes it) has the addresses of its texels and of tables by level; every index is clamped
inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.filtering import layer
from gallette.pipe.enums import Filter, MipFilter, Target

from ..llvm.text import Builder
from ..llvm.values import V
from .floats import Floats, along
from .maths import unit
from .probes import probed
from .routines import inlined
from .texels import decode, gather_pair, gather_word
from .texture_keys import UNBOUNDED, Description, TexelsKey, TextureKey

__all__ = [
    "Lookup",
    "Sampler",
    "can_sample",
    "fetch",
    "fetch_at",
    "gather",
    "levels",
    "lod_query",
    "position",
    "sample",
    "size",
]


@dataclass(slots=True)
class Lookup:
    """The sources of a texture operation, in all lanes."""

    op: str
    coords: list[V]
    lod: V | None = None
    bias: V | None = None
    min_lod: V | None = None
    compare: V | None = None
    ddx: Sequence[V] = ()
    ddy: Sequence[V] = ()
    offset: Sequence[V] = ()
    component: int = 0  # the one that a gather reads
    sample: V | None = None


def can_sample(key: TextureKey, op: str) -> bool:
    """Whether there is code for this operation."""
    if op in ("txf", "txf_ms", "txs", "query_levels"):
        return not (op != "txs" and key.target.is_cube) or op == "query_levels"
    if key.target is Target.BUFFER:
        return False
    if op == "lod":
        return True
    if op == "tg4":
        return len(key.axes) == 2
    return op in ("tex", "txb", "txl", "txd")


AnyKey = TextureKey | TexelsKey
_FLAT = (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.BUFFER)


class Sampler:
    """Emits the code of one lookup."""

    def __init__(self, b: Builder, key: AnyKey, where: V, w: int) -> None:
        self.b = b
        self.key: Any = key
        self.where = where
        self.w = w
        self._tables: dict[int, V] = {}
        self._extents: dict[tuple[int, V | None], V] = {}
        self._rows: dict[tuple[V | None, ...], V] = {}
        self.axes = len(key.axes) if isinstance(key, TextureKey) else 0

    # -- the description -------------------------------------------------------------------------

    def word(self, index: int, t: str = "ptr") -> V:
        found = self._tables.get(index)
        if found is None:
            b, where = self.b, self.where
            t = "ptr" if t == "ptr" else "i64"
            found = b.once((index, t), where, lambda: b.load_at(where, index, t))
            self._tables[index] = found
        return found

    def number(self, word: int, place: int, t: str = "float") -> V:
        """One of the sampler's numbers, in all lanes."""
        b, at = self.b, 2 * word + place
        found = b.once((at, t), self.where, lambda: b.load_at(self.where, at, t))
        return b.spread(found, self.w)

    def table(self, index: int, level: V | None) -> V:
        """A number of a level (None: of the first) from a table."""
        b, base = self.b, self.word(index)
        if level is None:
            return b.once("first", base, lambda: b.load(base, "i32"))
        every = self.b.lanes("i1", [True] * self.w)
        return self.b.gather(self.b.at(base, level, "i32"), every, "i32")

    def extent(self, axis: int, level: V | None) -> V:
        """The extent of a level: half that of the level above, rounded down; layers are
        not halved.
        """
        found = self._extents.get((axis, level))
        if found is None:
            first = (Description.WIDTH, Description.HEIGHT, Description.DEPTH)[axis]
            found = self.table(first, None)
            if level is not None and (axis < 2 or self.key.target is Target.TEXTURE_3D):
                shifted = self.b.binary("lshr", self.b.spread(found, self.w), level)
                found = self.b.math("smax", shifted, 1)
            self._extents[axis, level] = found
        return found

    # -- addressing --------------------------------------------------------------------------------

    def place(self, coords: list[V]) -> tuple[list[V], V | None]:
        """The coordinates that are filtered, and the layer or cube face that is selected."""
        b, key = self.b, self.key
        if key.target.is_cube:
            face, s, t = inlined(b, addressing.project(), coords[:3])
            z = face
            if key.target is Target.TEXTURE_CUBE_ARRAY:
                cubes = b.binary("sdiv", self.extent(2, None), 6)
                z = z + self._layer(coords[3], cubes) * 6
            return [s, t], z
        if key.target.is_array:
            layer = self._layer(coords[self.axes], self.extent(2, None))
            return coords[: self.axes], layer
        return coords[: self.axes], None

    def _layer(self, coordinate: V, layers: V) -> V:
        return inlined(self.b, layer(), [coordinate, layers])[0]

    def index(self, x: V, y: V | None, z: V | None, level: V | None, packed: bool) -> V:
        """The index of a texel among all texels of the texture."""
        row = self._rows.get((y, z, level))
        if row is None:
            row = self.table(Description.PACKED_BASE if packed else Description.BASE, level)
            if y is not None:
                row = row + y * self.extent(0, level)
            if z is not None:
                row = row + z * self._layer_stride(level)
            self._rows[y, z, level] = row
        return x + row

    def _layer_stride(self, level: V | None) -> V:
        if level is None:
            return self.table(Description.STRIDE, None)
        return self.extent(0, level) * self.extent(1, level)  # multisampled textures have one level

    # -- filters ---------------------------------------------------------------------------------

    def filtered(self, look: Lookup, lod: V | None) -> list[V]:
        """Select magnification or minification per lane and run the filters."""
        b, key = self.b, self.key
        coords, z = self.place(look.coords)
        packed = key.packed is not None and (key.same_filters or look.op == "tex")
        kit: _Packed | Floats = _Packed(self) if packed else Floats(self, look.compare)
        offset = list(look.offset)
        if lod is None or key.same_filters:
            return kit.planes(self._levels(kit, key.min_filter, coords, z, offset, lod))
        near = kit.planes(self._level(kit, key.mag_filter, coords, z, offset, None))
        if key.mip is MipFilter.NONE:
            far = kit.planes(self._level(kit, key.min_filter, coords, z, offset, None))
        else:
            far = kit.planes(self._levels(kit, key.min_filter, coords, z, offset, lod))
        magnified = lod <= 0.0
        return [b.select(magnified, n, f) for n, f in zip(near, far, strict=True)]

    def _level(
        self,
        kit: _Packed | Floats,
        filter: Filter,
        coords: list[V],
        z: V | None,
        offset: list[V],
        level: V | None,
    ) -> list[V]:
        run = kit.linear if filter is Filter.LINEAR else kit.nearest
        return run(coords, z, offset, level)

    def _levels(
        self,
        kit: _Packed | Floats,
        filter: Filter,
        coords: list[V],
        z: V | None,
        offset: list[V],
        lod: V | None,
    ) -> list[V]:
        b, key = self.b, self.key
        if key.mip is MipFilter.NONE or lod is None:
            return self._level(kit, filter, coords, z, offset, None)
        last = self.word(Description.LEVELS, "i64").to("i32") - 1
        top = b.spread(last.to_float(), self.w)
        limited = b.math("minnum", b.math("maxnum", lod, 0.0), top)
        if key.mip is MipFilter.NEAREST:
            level = b.cast("fptosi", b.math("roundeven", limited), "i32")
            return self._level(kit, filter, coords, z, offset, level)
        whole = b.math("floor", limited)
        fraction = limited - whole
        level = b.cast("fptosi", whole, "i32")
        lower = self._level(kit, filter, coords, z, offset, level)
        above = b.math("smin", level + 1, b.spread(last, self.w))
        if isinstance(kit, Floats):  # infinities count even with zero weight
            return kit.mix(lower, self._level(kit, filter, coords, z, offset, above), fraction)
        mixed = [b.var(plane.t, plane.w, plane) for plane in lower]
        with b.when(b.any(fraction > 0.0)):
            upper = self._level(kit, filter, coords, z, offset, above)
            for variable, value in zip(mixed, kit.mix(lower, upper, fraction), strict=True):
                variable.set(value)
        return [variable.get() for variable in mixed]

    # -- level of detail -------------------------------------------------------------------------

    def lod(self, look: Lookup, derivatives: tuple[list[V], list[V]] | None) -> V | None:
        """The level of detail of each lane, biased and clamped; None if nothing depends on it."""
        b, key = self.b, self.key
        if not key.needs_lod:
            return None
        value = b.lanes("float", [0.0] * self.w)
        if look.op == "txl" and look.lod is not None:
            value = look.lod
        elif look.op == "txd":
            along = list(look.ddx), list(look.ddy)
            if key.target.is_cube:
                of_face = addressing.face_derivative()
                x, y = (inlined(b, of_face, [*look.coords[:3], *d]) for d in along)
                along = x, y
            value = self.of_derivatives(*along)
        elif derivatives is not None:
            value = self.of_derivatives(*derivatives)
        if look.bias is not None:
            value = value + look.bias
        if key.biased:
            value = value + self.number(Description.LODS, 0)
        low, high = self.lod_bounds()
        value = b.select(value < low, low, value)
        value = b.select(value > high, high, value)
        if look.min_lod is not None:
            value = b.select(value < look.min_lod, look.min_lod, value)
        return value

    def lod_bounds(self) -> tuple[V, V]:
        """The sampler's bounds of the level of detail: constants where it has the default ones."""
        if not self.key.bounded:
            return self.b.const("float", UNBOUNDED[0]), self.b.const("float", UNBOUNDED[1])
        return self.number(Description.LODS, 1), self.number(Description.LODS, 2)

    def of_derivatives(self, ddx: Sequence[V], ddy: Sequence[V]) -> V:
        """The level of detail from derivatives of coordinates."""
        b, squares = self.b, self.squared_lengths(ddx, ddy)
        rho = b.math("maxnum", squares[0], squares[1])
        return inlined(b, addressing.log2(), [rho])[0] * 0.5

    def squared_lengths(self, ddx: Sequence[V], ddy: Sequence[V]) -> tuple[V, V]:
        """The squared lengths of derivatives, in texels."""
        squares = []
        for derivatives in (ddx, ddy):
            total: V | None = None
            for axis in range(self.axes):
                d = derivatives[axis]
                if not self.key.axes[0].scaled:
                    d = d * self.extent(axis, None).to_float()
                square = d * d
                total = square + 0.0 if total is None else total + square
            assert total is not None
            squares.append(total)
        return squares[0], squares[1]


class _Packed:
    """Filters bytes in words: even and odd channels of a word with one multiplication each."""

    def __init__(self, sampler: Sampler) -> None:
        self.s = sampler
        packed = sampler.key.packed
        assert packed is not None
        self._size = sampler.key.packed_bits // 8
        used = {byte for byte in packed if not isinstance(byte, str)}
        self.parities = [p for p in (0, 1) if used & {p, p + 2}]

    def _words(self, x: V, y: V | None, z: V | None, level: V | None) -> list[V]:
        s, b = self.s, self.s.b
        index = b.spread(s.index(x, y, z, level, True), s.w)
        return self._split(gather_word(b, s.word(Description.PACKED), index, self._size))

    def _two(
        self, x0: V, x1: V, y: V | None, z: V | None, level: V | None
    ) -> tuple[list[V], list[V]]:
        """Two texels of a row."""
        s, b = self.s, self.s.b
        at = [b.spread(s.index(x, y, z, level, True), s.w) for x in (x0, x1)]
        low, high = gather_pair(b, s.word(Description.PACKED), at[0], at[1], self._size)
        return self._split(low), self._split(high)

    def _split(self, word: V) -> list[V]:
        return [(word.lshr(8) if p else word) & 0x00FF00FF for p in self.parities]

    def nearest(self, coords: list[V], z: V | None, offset: list[V], level: V | None) -> list[V]:
        s = self.s
        at = [tap for (tap,) in along(s, addressing.nearest_fixed, coords, level, offset)]
        return self._words(at[0], at[1] if len(at) > 1 else None, at[2] if len(at) > 2 else z,
                           level)  # fmt: skip

    def linear(self, coords: list[V], z: V | None, offset: list[V], level: V | None) -> list[V]:
        s = self.s
        taps = along(s, addressing.linear_fixed, coords, level, offset)
        x0, x1, wx = taps[0]

        def row(y: V | None, z: V | None) -> list[V]:
            return self._lerp(*self._two(x0, x1, y, z, level), wx)

        if len(taps) == 1:
            return row(None, z)
        y0, y1, wy = taps[1]

        def layer(z: V | None) -> list[V]:
            return self._lerp(row(y0, z), row(y1, z), wy)

        if len(taps) == 2:
            return layer(z)
        z0, z1, wz = taps[2]
        return self._lerp(layer(z0), layer(z1), wz)

    def _lerp(self, low: list[V], high: list[V], weight: V) -> list[V]:
        """Interpolate two channels of a word at a time, in 16 bits each, which no product or sum
        exceeds.
        """
        b, w = self.s.b, weight.w
        both = b.regroup(weight | (weight << 16), "i16", 2 * w)
        rest = 256 - both
        mixed = []
        for a, c in zip(low, high, strict=True):
            first, second = (b.regroup(v, "i16", 2 * w) for v in (a, c))
            mixed.append(b.regroup((first * rest + second * both + 128).lshr(8), "i32", w))
        return mixed

    def mix(self, low: list[V], high: list[V], fraction: V) -> list[V]:
        return self._lerp(low, high, self.s.b.cast("fptoui", fraction * 256.0, "i32"))

    def planes(self, words: list[V]) -> list[V]:
        s, b = self.s, self.s.b
        parts = dict(zip(self.parities, words, strict=True))
        assert s.key.packed is not None
        found = []
        for source in s.key.packed:
            if isinstance(source, str):
                found.append(b.spread(b.const("float", float(source)), s.w))
                continue
            word = parts[source & 1]
            code = word & 255 if source < 2 else word.lshr(16)
            found.append(unit(b, code.to_float(), 255))
        return found


# -- the operations ------------------------------------------------------------------------------


def sample(
    b: Builder,
    key: TextureKey,
    where: V,
    w: int,
    look: Lookup,
    derivatives: tuple[list[V], list[V]] | None,
) -> list[V]:
    """Emit `tex`, `txb`, `txl` or `txd`."""
    sampler = Sampler(b, key, where, w)
    along = (look.ddx, look.ddy) if look.op == "txd" else derivatives
    if key.probes and along is not None:
        return probed(sampler, look, *along)
    return sampler.filtered(look, sampler.lod(look, derivatives))


def lod_query(
    b: Builder, key: TextureKey, where: V, w: int, derivatives: tuple[list[V], list[V]]
) -> list[V]:
    """The level that would be sampled, and the level of detail before clamping."""
    s = Sampler(b, key, where, w)
    raw = s.of_derivatives(*derivatives) + s.number(Description.LODS, 0)
    low, high = s.lod_bounds()
    level = b.select(raw < low, low, raw)
    level = b.select(level > high, high, level)
    last = (s.word(Description.LEVELS, "i64").to("i32") - 1).to_float()
    level = b.math("minnum", b.math("maxnum", level, 0.0), b.spread(last, w))
    if key.mip is MipFilter.NEAREST:
        level = b.math("roundeven", level)
    elif key.mip is MipFilter.NONE:
        level = b.lanes("float", [0.0] * w)
    return [level, raw]


def gather(b: Builder, key: TextureKey, where: V, w: int, look: Lookup) -> list[V]:
    """Emit `tg4`: one component of the four texels a linear filter would use."""
    sampler = Sampler(b, key, where, w)
    coords, z = sampler.place(look.coords)
    kit = Floats(sampler, look.compare)
    return kit.gathered(coords, z, list(look.offset), look.component)


def fetch(b: Builder, key: TextureKey, where: V, w: int, look: Lookup) -> list[V]:
    """One texel by integer coordinates; zero outside."""
    at = list(look.coords)
    moving = 1 if key.target in _FLAT else 3 if key.target is Target.TEXTURE_3D else 2
    for i in range(min(len(at), moving)):
        if i < len(look.offset):
            at[i] = at[i] + look.offset[i]
    return fetch_at(b, key, where, w, at, look.lod, look.sample)


def fetch_at(
    b: Builder,
    key: AnyKey,
    where: V,
    w: int,
    at: list[V],
    lod: V | None = None,
    sample: V | None = None,
) -> list[V]:
    """Fetch from a texture or an image."""
    s = Sampler(b, key, where, w)
    index, inside = position(s, at, lod)
    if sample is not None:  # samples are planes of a layer
        plane = s.extent(0, None) * s.extent(1, None)
        skipped = sample * plane
        few = b.binary("sdiv", s.table(Description.STRIDE, None), b.math("smax", plane, 1))
        index, inside = index + skipped, inside & sample.ult(few)
    index = b.select(inside, index, b.const("i32", 0))
    planes = decode(b, key.image, s.word(Description.TEXELS), index, False)
    zero = b.const("i32", 0)
    return [b.select(inside, p, zero.bitcast("float") if p.is_float else zero) for p in planes]


def position(s: Sampler, at: list[V], lod: V | None = None) -> tuple[V, V]:
    """The index of each lane's texel, and the lanes that are inside."""
    b = s.b
    flat = s.key.target in _FLAT
    x = at[0]
    y = None if flat or len(at) < 2 else at[1]
    z = at[1] if flat and len(at) > 1 else at[2] if len(at) > 2 and not flat else None
    inside = b.lanes("i1", [True] * s.w)
    level = None
    if lod is not None:
        count = s.word(Description.LEVELS, "i64").to("i32")
        inside = lod.ult(count)
        level = b.select(inside, lod, b.const("i32", 0))
    inside = inside & x.ult(s.extent(0, level))
    if y is not None:
        inside = inside & y.ult(s.extent(1, level))
    if z is not None:
        inside = inside & z.ult(s.extent(2, level))
    return s.index(x, y, z, level, False), inside


def size(b: Builder, key: AnyKey, where: V, w: int, lod: V | None) -> list[V]:
    """Extents of a level; zero for one that does not exist."""
    s = Sampler(b, key, where, w)
    wide = b.lanes("i32", [0] * w) if lod is None else lod
    count = s.word(Description.LEVELS, "i64").to("i32")
    known = wide.ult(count)
    level = b.select(known, wide, b.const("i32", 0))
    found = [s.extent(0, level)]
    if key.target not in _FLAT:
        found.append(s.extent(1, level))
    if key.target is Target.TEXTURE_3D:
        found.append(s.extent(2, level))
    elif key.target.is_array:
        layers = s.extent(2, level)
        found.append(b.binary("sdiv", layers, 6) if key.target.is_cube else layers)
    return [b.select(known, e, b.const("i32", 0)) for e in found]


def levels(b: Builder, key: TextureKey, where: V, w: int) -> list[V]:
    """The number of levels."""
    s = Sampler(b, key, where, w)
    return [b.spread(s.word(Description.LEVELS, "i64").to("i32"), w)]
