"""Image lookups with OpenCL's samplers, lowered to reads of single texels.

A sampler is a number, as in `OpConstantSampler` (`address << 2 | normalized << 1 | linear`), or an
argument of the same form. Constants fold, so that a constant sampler leaves only the code of its
own modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.pointers import handle

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

__all__ = ["ADDRESSING", "sample"]

ADDRESSING = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")
_EDGE, _BORDER, _REPEAT, _MIRROR = 1, 2, 3, 4


def sample(r: FunctionReader, i: Instruction) -> None:
    """Implements `OpImageSampleExplicitLod`: coordinates are in texels or normalised."""
    w, b = i.words, r.b
    h = handle(r, w[2], i)
    if i.name != "OpImageSampleExplicitLod" or h.mode is None or h.texture is None:
        raise i.error("kernels look images up with a sampler and an explicit level")
    nir = h.type.inner.nir
    assert nir.dim is not None
    n, layered = nir.dim.coordinates, nir.is_arrayed
    given = r.ssa(w[3])
    if given.num_components < n + layered:
        raise i.error(f"{given.num_components} coordinates, expected {n + layered}")
    texel = r.type(i).nir
    look = _Image(b, h.texture.result, n, layered, nir.dim.value, texel.is_float)
    coordinates = r.type_of(w[3])
    is_float = coordinates is not None and coordinates.is_float
    r.values[w[1]] = look.sample(h.mode, given, is_float)


class _Image:
    def __init__(
        self, b: Builder, image: Def, n: int, layered: bool, dim: str, is_float: bool
    ) -> None:
        self.b, self.image, self.n, self.layered, self.dim = b, image, n, layered, dim
        self.dest = "float32" if is_float else "uint32"
        size = b.intrinsic(
            "image_deref_size",
            [image, b.imm_int(0)],
            num_components=n + layered,
            is_array=layered,
            dim=dim,
        )
        self.size = b.channels(size)

    def load(self, at: list[Def]) -> Def:
        b = self.b
        return b.intrinsic(
            "image_deref_load",
            [self.image, b.pad(b.vec(at), 4), b.imm_int(0)],
            num_components=4,
            dest_type=self.dest,
            dim=self.dim,
            is_array=self.layered,
        )

    def sample(self, mode: Def, given: Def, is_float: bool) -> Def:
        b = self.b
        address = b.ushr(mode, b.imm_int(2))
        parts = b.channels(given)[: self.n + self.layered]
        layer = self._layer(parts.pop(), is_float) if self.layered else None
        if not is_float:
            at = [self.place(address, x, s) for x, s in zip(parts, self.size, strict=False)]
            return self.load([*at, *([layer] if layer is not None else [])])
        places = [self.texels(mode, address, x, s) for x, s in zip(parts, self.size, strict=False)]
        rest = [layer] if layer is not None else []
        linear = b.ine(b.iand(mode, b.imm_int(1)), b.imm_int(0))
        if self.dest != "float32":
            return self.load(
                [
                    *(self.whole(address, x, s) for x, s in zip(places, self.size, strict=False)),
                    *rest,
                ]
            )
        b.push_if(linear)
        smooth = self._linear(address, places, rest)
        b.push_else()
        near = self.load(
            [*(self.whole(address, x, s) for x, s in zip(places, self.size, strict=False)), *rest]
        )
        b.pop_if()
        return b.if_phi(smooth, near)

    def _layer(self, x: Def, is_float: bool) -> Def:
        b = self.b
        whole = b.f2i32(b.fround_even(x)) if is_float else x
        last = b.iadd(self.size[self.n], b.imm_int(-1))
        return b.imax(b.imin(whole, last), b.imm_int(0))

    def texels(self, mode: Def, address: Def, x: Def, size: Def) -> Def:
        """A float coordinate in texels, repeated or mirrored as the sampler says."""
        b = self.b
        extent = b.i2f32(size)
        normalized = b.ine(b.iand(mode, b.imm_int(2)), b.imm_int(0))
        repeated = b.ffract(x)
        pairs = b.fmul(b.fround_even(b.fmul(x, b.imm_float(0.5))), b.imm_float(2.0))
        mirrored = b.fabs(b.fadd(x, b.fneg(pairs)))
        wrapped = b.bcsel(b.ieq(address, b.imm_int(_REPEAT)), repeated, x)
        wrapped = b.bcsel(b.ieq(address, b.imm_int(_MIRROR)), mirrored, wrapped)
        return b.bcsel(normalized, b.fmul(wrapped, extent), x)

    def whole(self, address: Def, x: Def, size: Def) -> Def:
        return self.place(address, self.b.f2i32(self.b.ffloor(x)), size)

    def place(self, address: Def, at: Def, size: Def) -> Def:
        """A texel index, clamped inside; with a border it may be outside and read zero."""
        b = self.b
        last = b.iadd(size, b.imm_int(-1))
        around = b.bcsel(b.ilt(at, b.imm_int(0)), b.iadd(at, size), at)
        around = b.bcsel(b.ilt(last, around), b.iadd(around, b.ineg(size)), around)
        at = b.bcsel(b.ieq(address, b.imm_int(_REPEAT)), around, at)
        inside = b.imax(b.imin(at, last), b.imm_int(0))
        outside = b.imax(b.imin(at, size), b.imm_int(-1))
        return b.bcsel(b.ieq(address, b.imm_int(_BORDER)), outside, inside)

    def _linear(self, address: Def, places: list[Def], rest: list[Def]) -> Def:
        b = self.b
        half = b.imm_float(-0.5)
        shifted = [b.fadd(x, half) for x in places]
        low = [b.ffloor(x) for x in shifted]
        part = [b.fadd(x, b.fneg(f)) for x, f in zip(shifted, low, strict=True)]
        ends: list[tuple[Def, Def]] = []
        for f, s in zip(low, self.size, strict=False):
            at = b.f2i32(f)
            ends.append(
                (self.place(address, at, s), self.place(address, b.iadd(at, b.imm_int(1)), s))
            )

        def corner(axis: int, chosen: list[Def]) -> Def:
            if axis < 0:
                return self.load([*chosen, *rest])
            first, second = (corner(axis - 1, [end, *chosen]) for end in ends[axis])
            return b.fadd(first, b.fmul(b.fadd(second, b.fneg(first)), part[axis]))

        return corner(self.n - 1, [])
