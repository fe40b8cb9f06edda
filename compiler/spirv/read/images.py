"""Texture lookups, fetches, queries, and images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.types import Base, Dim
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.grammar import grammar, value_of
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.arithmetic import does
from gallette.compiler.spirv.read.kernel_images import sample
from gallette.compiler.spirv.read.model import SpvType
from gallette.compiler.spirv.read.pointers import Handle, Texel, handle

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

_RESULT = {Base.FLOAT: "float32", Base.INT: "int32", Base.UINT: "uint32"}


def image_type(h: Handle) -> SpvType:
    return h.type.inner if h.type.kind == "sampled_image" else h.type


def operands(r: FunctionReader, i: Instruction, at: int) -> dict[str, list[int]]:
    """Image operands by name, with their ids."""
    if at >= len(i.words):
        return {}
    members = grammar().enums["ImageOperands"].split(i.words[at])
    if members is None:
        raise i.error(f"{i.words[at]:#x} is no set of image operands")
    out: dict[str, list[int]] = {}
    at += 1
    for member in members:
        count = len(member.parameters)
        if at + count > len(i.words):
            raise i.error(f"image operand {member.name} is cut off")
        out[member.name] = list(i.words[at : at + count])
        at += count
    return out


class _Lookup:
    """A texture instruction being built."""

    def __init__(self, r: FunctionReader, i: Instruction, h: Handle) -> None:
        self.r, self.i, self.h = r, i, h
        self.image = image_type(h)
        nir = self.image.nir
        assert nir.dim is not None
        self.dim = nir.dim
        self.arrayed = nir.is_arrayed
        if h.texture is None:
            raise i.error("a sampler alone has no texels")
        self.srcs: list[tuple[str, Def]] = [("texture_deref", h.texture.result)]
        if h.sampler is not None:
            self.srcs.append(("sampler_deref", h.sampler.result))
        self.offsets: tuple[tuple[int, int], ...] = ()

    def add(self, kind: str, value: Def) -> None:
        self.srcs.append((kind, value))

    def sampler(self) -> None:
        if self.h.sampler is None:
            raise self.i.error("this lookup needs a sampler")

    def coord(self, id: int, count: int = 0) -> Def:
        value = self.r.ssa(id)
        count = count or self.dim.coordinates + self.arrayed
        if value.num_components < count:
            raise self.i.error(f"{value.num_components} coordinates, expected {count}")
        return self.r.b.trim(value, count)

    def take(self, found: dict[str, list[int]]) -> None:
        """Add the image operands that are sources."""
        r = self.r
        for name, kind in (
            ("Bias", "bias"),
            ("Lod", "lod"),
            ("Sample", "ms_index"),
            ("MinLod", "min_lod"),
            ("ConstOffset", "offset"),
            ("Offset", "offset"),
        ):
            if name in found:
                self.add(kind, r.ssa(found[name][0]))
        if "Grad" in found:
            self.add("ddx", r.ssa(found["Grad"][0]))
            self.add("ddy", r.ssa(found["Grad"][1]))
        if "ConstOffsets" in found:
            constant = r.d.constant(found["ConstOffsets"][0], self.i)
            table = [_signed(pair) for pair in constant.data]
            self.offsets = tuple(table)

    def emit(self, op: str, components: int, dest: str, coords: int = 0, component: int = 0) -> Def:
        nir = self.image.nir
        shadow = any(kind == "comparator" for kind, _ in self.srcs)
        return self.r.b.tex(
            op,
            self.srcs,
            self.dim,
            num_components=components,
            dest_type=dest,
            is_array=self.arrayed,
            is_shadow=shadow or nir.is_shadow,
            coord_components=coords,
            component=component,
            tg4_offsets=self.offsets,
        )


def _signed(pair: tuple[int, ...]) -> tuple[int, int]:
    x, y = (v - (1 << 32) if v >> 31 else v for v in pair[:2])
    return x, y


_SAMPLES = [
    f"OpImageSample{proj}{dref}{lod}Lod"
    for proj in ("", "Proj")
    for dref in ("", "Dref")
    for lod in ("Implicit", "Explicit")
]


@does(*_SAMPLES)
def _sample(r: FunctionReader, i: Instruction) -> None:
    if r.stage is Stage.KERNEL:
        sample(r, i)
        return
    b, w, name = r.b, i.words, i.name
    x = _Lookup(r, i, handle(r, w[2], i))
    x.sampler()
    n = x.dim.coordinates + x.arrayed
    projected, dref = "Proj" in name, "Dref" in name
    coord = r.ssa(w[3])
    comparator = r.ssa(w[4]) if dref else None
    if projected:
        if coord.num_components <= n:
            raise i.error("a projective lookup needs one more coordinate")
        inverse = b.frcp(b.channel(coord, n))
        coord = b.fmul(b.trim(coord, n), inverse)
        if comparator is not None:
            comparator = b.fmul(comparator, inverse)
        x.add("coord", coord)
    else:
        x.add("coord", x.coord(w[3]))
    if comparator is not None:
        x.add("comparator", comparator)
    found = operands(r, i, 5 if dref else 4)
    x.take(found)
    op = "txb" if "Bias" in found else "tex"
    if "Explicit" in name:
        op = "txd" if "Grad" in found else "txl"
        if op == "txl" and "Lod" not in found:
            raise i.error("a lookup at an explicit level needs Lod or Grad")
    elif r.stage not in (Stage.FRAGMENT, Stage.COMPUTE):
        # Without derivatives, level 0 is used.
        op = "txl"
        x.srcs = [s for s in x.srcs if s[0] != "bias"]
        x.add("lod", b.imm_float(0.0))
    r.values[w[1]] = x.emit(op, 1 if dref else 4, _RESULT[x.image.nir.sampled])


@does("OpImageGather", "OpImageDrefGather")
def _gather(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    x = _Lookup(r, i, handle(r, w[2], i))
    x.sampler()
    x.add("coord", x.coord(w[3]))
    component = 0
    if i.name == "OpImageGather":
        component = r.d.integer(w[4], i) & 3
    else:
        x.add("comparator", r.ssa(w[4]))
    x.take(operands(r, i, 5))
    r.values[w[1]] = x.emit("tg4", 4, _RESULT[x.image.nir.sampled], component=component)


@does("OpImageFetch")
def _fetch(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    h = handle(r, w[2], i)
    x = _Lookup(r, i, Handle(h.type, h.texture))
    x.add("coord", x.coord(w[3]))
    found = operands(r, i, 4)
    x.take(found)
    op = "txf_ms" if x.dim is Dim.MS else "txf"
    if op == "txf" and "Lod" not in found and x.dim not in (Dim.RECT, Dim.BUF):
        x.add("lod", r.b.imm_int(0))
    r.values[w[1]] = x.emit(op, 4, _RESULT[x.image.nir.sampled])


@does("OpSampledImage")
def _combine(r: FunctionReader, i: Instruction) -> None:
    image = handle(r, i.words[2], i)
    if r.stage is Stage.KERNEL:
        r.values[i.words[1]] = Handle(r.type(i), image.texture, mode=r.ssa(i.words[3]))
        return
    sampler = handle(r, i.words[3], i)
    r.values[i.words[1]] = Handle(r.type(i), image.texture, sampler.sampler)


@does("OpImage")
def _image(r: FunctionReader, i: Instruction) -> None:
    h = handle(r, i.words[2], i)
    r.values[i.words[1]] = Handle(image_type(h), h.texture)


@does("OpImageQuerySizeLod", "OpImageQuerySize", "OpImageQueryLevels", "OpImageQuerySamples")
@does("OpImageQueryLod")
def _query(r: FunctionReader, i: Instruction) -> None:
    b, w = r.b, i.words
    h = handle(r, w[2], i)
    image = image_type(h)
    n = max(r.type(i).nir.components, 1)
    if image.nir.is_image:
        assert h.texture is not None
        name = "samples" if i.name == "OpImageQuerySamples" else "size"
        srcs = [h.texture.result] + ([b.imm_int(0)] if name == "size" else [])
        value = b.intrinsic(
            f"image_deref_{name}",
            srcs,
            num_components=n,
            is_array=image.nir.is_arrayed,
            dim=image.nir.dim.value if image.nir.dim else "2D",
        )
        r.values[w[1]] = value
        return
    x = _Lookup(r, i, h)
    if i.name == "OpImageQueryLod":
        x.sampler()
        x.add("coord", x.coord(w[3], x.dim.coordinates))
        r.values[w[1]] = x.emit("lod", 2, "float32", coords=x.dim.coordinates)
        return
    x = _Lookup(r, i, Handle(h.type, h.texture))
    op = {"OpImageQueryLevels": "query_levels", "OpImageQuerySamples": "texture_samples"}.get(
        i.name, "txs"
    )
    if i.name == "OpImageQuerySizeLod":
        x.add("lod", r.ssa(w[3]))
    r.values[w[1]] = x.emit(op, n, "int32")


# Images that are read and written.


def _coordinates(r: FunctionReader, id: int) -> Def:
    return r.b.pad(r.ssa(id), 4)


@does("OpImageRead", "OpImageWrite")
def _access(r: FunctionReader, i: Instruction) -> None:
    b, w = r.b, i.words
    reading = i.name == "OpImageRead"
    h = handle(r, w[2] if reading else w[0], i)
    image = image_type(h)
    nir = image.nir
    if h.texture is None or nir.dim is None or not nir.is_image:
        raise i.error("expected an image that can be read and written")
    found = operands(r, i, 4 if reading else 3)
    sample = r.ssa(found["Sample"][0]) if "Sample" in found else b.imm_int(0)
    coord = _coordinates(r, w[3] if reading else w[1])
    dest = _RESULT[nir.sampled]
    if r.stage is Stage.KERNEL:
        # The type of an image does not give its component type; that of the texel does.
        texel = r.type(i).nir if reading else r.type_of(w[2])
        dest = "float32" if texel is None or texel.is_float else "uint32"
    dim, arrayed = nir.dim.value, nir.is_arrayed
    if reading:
        n = max(r.type(i).nir.components, 1)
        r.values[w[1]] = b.intrinsic(
            "image_deref_load",
            [h.texture.result, coord, sample],
            num_components=n,
            dest_type=dest,
            dim=dim,
            is_array=arrayed,
        )
        return
    value = b.pad(r.ssa(w[2]), 4)
    b.intrinsic(
        "image_deref_store",
        [h.texture.result, coord, sample, value],
        src_type=dest,
        dim=dim,
        is_array=arrayed,
    )


@does("OpImageTexelPointer")
def _texel(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    place = r.place(w[2])
    h = place.load(r.b)
    if not isinstance(h, Handle):
        raise i.error(f"%{w[2]} points to no image")
    pointee = r.type(i).inner
    r.values[w[1]] = Texel(pointee, h, _coordinates(r, w[3]), r.ssa(w[4]))


assert value_of("ImageOperands", "Sample")
