"""Image lookups with OpenCL's samplers, lowered to reads of single texels.

A sampler is a number, as in `OpConstantSampler` (`address << 2 | normalized << 1 | linear`), or an
argument of the same form. Constants fold, so that a constant sampler leaves only the code of its
own modes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.pointers import handle

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

ADDRESSING = ("none", "clamp_to_edge", "clamp", "repeat", "mirrored_repeat")
_FORMULAS = Formulas.beside(__file__, "kernel_images.txt")


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

    def built(self, name: str, *srcs: Def) -> Def:
        return _FORMULAS.build(self.b, name, srcs)

    def sample(self, mode: Def, given: Def, is_float: bool) -> Def:
        b, built = self.b, self.built
        parts = b.channels(given)[: self.n + self.layered]
        rest: list[Def] = []
        if self.layered:
            rest.append(built("layer" if is_float else "inside", parts.pop(), self.size[self.n]))
        pairs = list(zip(parts, self.size, strict=False))
        if not is_float:
            return self.load([*[built("place", x, mode, s) for x, s in pairs], *rest])
        texels = [built("texels", x, mode, size) for x, size in pairs]

        def nearest() -> Def:
            places = zip(texels, self.size, strict=False)
            return self.load([*[built("nearest", x, mode, s) for x, s in places], *rest])

        if self.dest != "float32":
            return nearest()
        b.push_if(built("is_linear", mode))
        smooth = self._linear(mode, texels, rest)
        b.push_else()
        near = nearest()
        b.pop_if()
        return b.if_phi(smooth, near)

    def _linear(self, mode: Def, texels: list[Def], rest: list[Def]) -> Def:
        b = self.b
        shifted = [b.fadd(x, b.imm_float(-0.5)) for x in texels]
        low = [b.ffloor(x) for x in shifted]
        part = [b.fadd(x, b.fneg(f)) for x, f in zip(shifted, low, strict=True)]
        ends: list[list[Def]] = []
        for f, size in zip(low, self.size, strict=False):
            at = b.f2i32(f)
            ends.append([self.built(name, at, mode, size) for name in ("place", "next_place")])

        def corner(axis: int, chosen: list[Def]) -> Def:
            if axis < 0:
                return self.load([*chosen, *rest])
            first, second = (corner(axis - 1, [end, *chosen]) for end in ends[axis])
            return self.built("blend", first, second, part[axis])

        return corner(self.n - 1, [])
