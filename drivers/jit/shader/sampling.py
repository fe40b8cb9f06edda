"""Texture sampling in machine code, specialised for the bound textures.

Lookups are those of `drivers.common.texture.sampling`, over values of LLVM: bytes with the simple
wrap modes are filtered in fixed point, two channels of a word at a time; everything else in
float32. A texture's description (`fill` writes it) has the addresses of its texels and of tables by
level; every index is clamped inside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gallette.drivers.common.fixed import addressing
from gallette.drivers.common.fixed.filtering import unpacked
from gallette.drivers.common.fixed.levels import weighted_texel
from gallette.drivers.common.fixed.routine import Routine
from gallette.drivers.common.texture.sampling import LevelFilter, Lookup, Place, Sampling
from gallette.pipe.enums import Target

from ..llvm.text import Builder
from ..llvm.values import V
from .floats import Floats
from .routines import inlined
from .texels import decode, gather_pair, gather_word
from .texture_keys import UNBOUNDED, Description, TexelsKey, TextureKey


def can_sample(key: TextureKey, op: str) -> bool:
    """Whether there is code for this operation."""
    if op in ("txf", "txf_ms", "txs", "query_levels"):
        return not (op != "txs" and key.target.is_cube) or op == "query_levels"
    if key.target is Target.BUFFER:
        return False
    if op == "lod":
        return True
    if op == "tg4":
        return len(key.how.axes) == 2
    return op in ("tex", "txb", "txl", "txd")


AnyKey = TextureKey | TexelsKey
_FLAT = (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.BUFFER)


class Texture:
    """Reads a texture's description."""

    def __init__(self, b: Builder, key: AnyKey, where: V, w: int) -> None:
        self.b = b
        self.key: Any = key
        self.where = where
        self.w = w
        self._tables: dict[int, V] = {}
        self._extents: dict[tuple[int, V | None], V] = {}
        self._rows: dict[tuple[V | None, ...], V] = {}

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

    def index(self, x: V, others: Sequence[V], z: V | None, level: V | None, packed: bool) -> V:
        """The index of a texel among all texels of the texture: `others` are y and perhaps a slice,
        otherwise `z` is a layer or face.
        """
        y, z = (*others, z)[:2] if others else (None, z)
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


class Sampler(Texture, Sampling[V]):
    """Emits the code of one lookup; `derivative` is that of the shader's stage."""

    def __init__(
        self,
        b: Builder,
        key: TextureKey,
        where: V,
        w: int,
        derivative: Callable[[str, V], V] | None = None,
    ) -> None:
        super().__init__(b, key, where, w)
        self.how = key.how
        self._derivative = derivative

    def run(self, routine: Routine, arguments: Sequence[V | None]) -> list[V]:
        return [
            v.as_float() if kind == "float" else v.as_int()
            for v, kind in zip(inlined(self.b, routine, arguments), routine.kinds, strict=True)
        ]

    def const(self, value: float) -> V:
        return self.b.lanes("float", [value] * self.w)

    def level_count(self) -> V:
        return self.word(Description.LEVELS, "i64").to("i32")

    def lod_numbers(self) -> tuple[V | None, V, V]:
        """The least and greatest level of detail are constants where the sampler has the default
        ones.
        """
        b, key = self.b, self.key
        bias = self.number(Description.LODS, 0) if key.biased else None
        if not key.bounded:
            return bias, b.const("float", UNBOUNDED[0]), b.const("float", UNBOUNDED[1])
        return bias, self.number(Description.LODS, 1), self.number(Description.LODS, 2)

    def differences(self, coords: Sequence[V]) -> tuple[list[V], list[V]]:
        """Equal in the lanes of a quad; but for cube maps, since lanes may be on different
        faces.
        """
        derivative, kind = self._derivative, "" if self.how.target.is_cube else "_coarse"
        assert derivative is not None
        ddx, ddy = ([derivative(f"fdd{axis}{kind}", c) for c in coords] for axis in "xy")
        return ddx, ddy

    def filter(self, op: str) -> LevelFilter[V]:
        packed = self.key.packed is not None and self.how.takes_bytes(op)
        return _Packed(self) if packed else Floats(self)

    def at_level(self, place: Place[V], level: V) -> Place[V]:
        return Place(place.coords, place.offset, place.z, place.compare, level)

    def magnified_or_minified(
        self,
        place: Place[V],
        lod: V,
        magnified: Callable[[Place[V]], list[V]],
        minified: Callable[[Place[V], V], list[V]],
    ) -> list[V]:
        near, far = magnified(place), minified(place, lod)
        is_near = lod <= 0.0
        return [self.b.select(is_near, n, f) for n, f in zip(near, far, strict=True)]

    def where_weighted(
        self, place: Place[V], weight: V, lower: list[V], mixed: Callable[[V], list[V]]
    ) -> list[V]:
        b = self.b
        found = [b.var(part.t, part.w, part) for part in lower]
        with b.when(b.any(weight > 0.0)):
            for variable, part in zip(found, mixed(weight), strict=True):
                variable.set(part)
        return [
            part if part.literal else variable.get()
            for part, variable in zip(lower, found, strict=True)
        ]

    def weighted(self, place: Place[V], ellipse: list[V]) -> list[V]:
        b, w = self.b, self.w
        zero = b.lanes("float", [0.0] * w)
        *total, weights = [b.var("float", w, zero) for _ in range(5)]
        number = b.var("float", 0, 0.0)
        given = [*ellipse, *(self.extent(axis, place.level) for axis in range(2))]
        count = b.spread(ellipse[3], w)
        with b.forever() as done:
            here = b.spread(number.get(), w)
            left = count > here
            more = b.block()
            b.branch(b.any(left), more, done)
            b.place(more)
            # A new sampler, because values cached by this one are not available after the loop.
            inner = Sampler(b, self.key, self.where, w)
            *at, weight = inner.run(weighted_texel(), [here, *given])
            inside = left & (weight > 0.0)
            with b.when(b.any(inside)):
                texel = Place(at, place.offset, place.z, place.compare, place.level)
                found = Floats(inner).nearest(texel)
                for sum_, plane in zip(total, found, strict=True):
                    sum_.update(inside, sum_.get() + weight * plane)
                weights.update(inside, weights.get() + weight)
            number.set(number.get() + 1.0)
        return [sum_.get() / weights.get() for sum_ in total]


class _Packed(LevelFilter[V]):
    """Filters bytes in words: even and odd channels of a word with one multiplication each."""

    nearest_tap = staticmethod(addressing.nearest_fixed)
    linear_taps = staticmethod(addressing.linear_fixed)

    def __init__(self, sampler: Sampler) -> None:
        super().__init__(sampler)
        self.s = sampler
        self._size = sampler.key.packed_bits // 8
        used = {byte for byte in sampler.key.packed if not isinstance(byte, str)}
        self.parities = [p for p in (0, 1) if used & {p, p + 2}]

    def row(self, place: Place[V], columns: Sequence[Any], others: Sequence[Any]) -> list[list[V]]:
        s, b = self.s, self.s.b
        rest = [i for i, _ in others]
        at = [b.spread(s.index(x, rest, place.z, place.level, True), s.w) for x, _ in columns]
        texels = s.word(Description.PACKED)
        if len(at) == 2:
            words = gather_pair(b, texels, at[0], at[1], self._size)
            return [self._split(word) for word in words]
        return [self._split(gather_word(b, texels, at[0], self._size))]

    def _split(self, word: V) -> list[V]:
        return [(word.lshr(8) if p else word) & 0x00FF00FF for p in self.parities]

    def mix(self, low: list[V], high: list[V], weight: V) -> list[V]:
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

    def mix_levels(self, low: list[V], high: list[V], weight: V) -> list[V]:
        return self.mix(low, high, self.s.b.cast("fptoui", weight * 256.0, "i32"))

    def planes(self, texel: list[V]) -> list[V]:
        words = dict(zip(self.parities, texel, strict=True))
        found = self.s.run(unpacked(self.s.key.packed), [words.get(0), words.get(1)])
        return [self.s.b.spread(part, self.s.w) for part in found]


# -- the operations ------------------------------------------------------------------------------


def gather(b: Builder, key: TextureKey, where: V, w: int, look: Lookup[V]) -> list[V]:
    """Emit `tg4`: one component of the four texels a linear filter would use."""
    sampler = Sampler(b, key, where, w)
    return sampler.gathered(look, Floats(sampler))


def fetch(b: Builder, key: TextureKey, where: V, w: int, look: Lookup[V]) -> list[V]:
    """One texel by integer coordinates; zero outside."""
    at = list(look.coords)
    moving = 1 if key.target in _FLAT else 3 if key.target is Target.TEXTURE_3D else 2
    for i, offset in enumerate(look.offset[: min(len(at), moving)]):
        if offset is not None:
            at[i] = at[i] + offset
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
    s = Texture(b, key, where, w)
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


def position(s: Texture, at: list[V], lod: V | None = None) -> tuple[V, V]:
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
    return s.index(x, [] if y is None else [y], z, level, False), inside


def size(b: Builder, key: AnyKey, where: V, w: int, lod: V | None) -> list[V]:
    """Extents of a level; zero for one that does not exist."""
    s = Texture(b, key, where, w)
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
    s = Texture(b, key, where, w)
    return [b.spread(s.word(Description.LEVELS, "i64").to("i32"), w)]
