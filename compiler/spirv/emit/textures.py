"""Texture lookups and images."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Deref, Intrinsic, LoadConst, Tex
from gallette.compiler.nir.ir.types import INT, UINT, VEC4, Base, Dim, Type, image_coordinates, vec
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.emit.memory import Memory
from gallette.compiler.spirv.emit.types import scalar_kind
from gallette.compiler.spirv.emit.values import Value
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import SpirvError

_OPERANDS = ("Bias", "Lod", "Grad", "ConstOffset", "Offset", "ConstOffsets", "Sample", "MinLod")


class Textures:
    """Emits instructions on textures and images."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.values = memory.values
        self.types = memory.types
        self.b = memory.b

    # Textures.

    def tex(self, tex: Tex) -> None:
        src = tex.src("texture_deref")
        if src is None:
            raise SpirvError("a texture lookup by number has no variable")
        deref = src.value.instr
        assert isinstance(deref, Deref)
        pointer, type, _ = self.memory.pointer(deref)
        self.lookup(tex, self.b.op("OpLoad", self.types.handle(type), pointer), type)

    def lookup(self, tex: Tex, sampled: int, type: Type) -> None:
        """Write the lookup in a texture that has been loaded."""
        if tex.op in ("txf", "txf_ms"):
            self.fetch(tex, self.image_of(sampled, type), type)
        elif tex.op in ("txs", "query_levels", "texture_samples"):
            self.query(tex, self.image_of(sampled, type), type)
        elif tex.op == "lod":
            self.b.capability("ImageQuery")
            coord = self.coord(tex, tex.dim.coordinates)
            id = self.b.op("OpImageQueryLod", self.values.type("f", 32, 2), sampled, coord.id)
            self.values.set(tex.result, id, "f")
        else:
            self.sample(tex, sampled, type)

    def image_of(self, sampled: int, type: Type) -> int:
        if type.base is not Base.SAMPLER:
            return sampled
        return self.b.op("OpImage", self.types.image(type), sampled)

    def value(self, tex: Tex, kind: str, cast: str) -> Value | None:
        src = tex.src(kind)
        return None if src is None else self.values.get(src.value, cast)

    def coord(self, tex: Tex, count: int) -> Value:
        found = self.value(tex, "coord", "f")
        assert found is not None
        coord = self.values.swizzle(found, tuple(range(min(count, found.components))))
        projector = self.value(tex, "projector", "f")
        if projector is not None:
            n = coord.components
            spread = self.values.swizzle(projector, (0,) * n)
            type = self.values.type("f", 32, n)
            id = self.b.op("OpFDiv", type, coord.id, spread.id)
            coord = Value(id, "f", 32, n)
        return coord

    def operands(self, tex: Tex, lod_kind: str) -> list[int]:
        """The image operands at the end of a lookup."""
        found: dict[str, list[int]] = {}
        for kind, name, cast in (
            ("bias", "Bias", "f"),
            ("lod", "Lod", lod_kind),
            ("ms_index", "Sample", "u"),
            ("min_lod", "MinLod", "f"),
        ):
            v = self.value(tex, kind, cast)
            if v is not None:
                found[name] = [v.id]
        dx, dy = self.value(tex, "ddx", "f"), self.value(tex, "ddy", "f")
        if dx is not None and dy is not None:
            found["Grad"] = [dx.id, dy.id]
        offset = tex.src("offset")
        if offset is not None:
            found.update(self.offset(offset.value))
        if tex.tg4_offsets:
            self.b.capability("ImageGatherExtended")
            found["ConstOffsets"] = [self.offsets(tex.tg4_offsets)]
        if "MinLod" in found:
            self.b.capability("MinLod")
        if not found:
            return []
        mask, words = 0, []
        for name in _OPERANDS:
            if name in found:
                mask |= value_of("ImageOperands", name)
                words += found[name]
        return [mask, *words]

    def offset(self, value: Def) -> dict[str, list[int]]:
        constant = value.instr
        if isinstance(constant, LoadConst):
            return {"ConstOffset": [self._signed(constant.values)]}
        self.b.capability("ImageGatherExtended")
        return {"Offset": [self.values.get(value, "u").id]}

    def offsets(self, table: tuple[tuple[int, int], ...]) -> int:
        b = self.b
        pair = b.vector(b.int_type(32, True), 2)
        array = b.type("OpTypeArray", pair, b.uint(len(table)))
        return b.composite(array, [self._signed(texels) for texels in table])

    def _signed(self, numbers: tuple[int, ...]) -> int:
        """A constant of signed integers: devices compare offsets with their limits."""
        b, parts = self.b, [self.b.sint(number) for number in numbers]
        whole = b.vector(b.int_type(32, True), len(parts))
        return parts[0] if len(parts) == 1 else b.composite(whole, parts)

    def texel(self, tex: Tex) -> tuple[int, str]:
        """The result type of a lookup in SPIR-V, and the kind of its components."""
        t = vec(_base(tex.dest_type), 4)
        return self.types.number(t, True), scalar_kind(t)

    def deliver(self, tex: Tex, id: int, signed: bool, kind: str) -> None:
        """Convert a lookup's four components to the value of NIR."""
        n = tex.result.num_components
        v = Value(id, kind, 32, 4)
        if signed:
            v = Value(self.b.op("OpBitcast", self.values.type("u", 32, 4), id), "u", 32, 4)
        v = self.values.swizzle(v, tuple(range(n)))
        self.values.set(tex.result, v.id, v.kind)

    def sample(self, tex: Tex, sampled: int, type: Type) -> None:
        b = self.b
        coord = self.coord(tex, tex.dim.coordinates + tex.is_array)
        operands = self.operands(tex, "f")
        texel, kind = self.texel(tex)
        signed = tex.dest_type.startswith("int")
        reference = self.value(tex, "comparator", "f")
        if reference is not None:
            projector = self.value(tex, "projector", "f")
            if projector is not None:
                id = b.op("OpFDiv", b.float_type(), reference.id, projector.id)
                reference = Value(id, "f", 32, 1)
        if tex.op == "tg4":
            if reference is not None:
                id = b.op("OpImageDrefGather", texel, sampled, coord.id, reference.id, *operands)
            else:
                component = b.uint(tex.component)
                id = b.op("OpImageGather", texel, sampled, coord.id, component, *operands)
            self.deliver(tex, id, signed, kind)
            return
        lod = "Explicit" if tex.op in ("txl", "txd") else "Implicit"
        if reference is None:
            id = b.op(f"OpImageSample{lod}Lod", texel, sampled, coord.id, *operands)
            self.deliver(tex, id, signed, kind)
            return
        id = b.op(
            f"OpImageSampleDref{lod}Lod", b.float_type(), sampled, coord.id, reference.id, *operands
        )
        n = tex.result.num_components
        v = self.values.swizzle(Value(id, "f", 32, 1), (0,) * n)
        self.values.set(tex.result, v.id, "f")

    def fetch(self, tex: Tex, image: int, type: Type) -> None:
        found = self.value(tex, "coord", "u")
        assert found is not None
        count = tex.dim.coordinates + tex.is_array
        coord = self.values.swizzle(found, tuple(range(min(count, found.components))))
        texel, kind = self.texel(tex)
        operands = self.operands(tex, "u")
        id = self.b.op("OpImageFetch", texel, image, coord.id, *operands)
        self.deliver(tex, id, tex.dest_type.startswith("int"), kind)

    def query(self, tex: Tex, image: int, type: Type) -> None:
        b = self.b
        b.capability("ImageQuery")
        uint = self.values.type("u", 32, tex.result.num_components)
        if tex.op == "query_levels":
            id = b.op("OpImageQueryLevels", uint, image)
        elif tex.op == "texture_samples":
            id = b.op("OpImageQuerySamples", uint, image)
        elif tex.dim in (Dim.RECT, Dim.BUF, Dim.MS):
            id = b.op("OpImageQuerySize", uint, image)
        else:
            lod = self.value(tex, "lod", "u")
            level = b.uint(0) if lod is None else lod.id
            id = b.op("OpImageQuerySizeLod", uint, image, level)
        self.values.set(tex.result, id, "u")

    # Images.

    def image(self, instr: Intrinsic) -> None:
        deref = instr.deref
        assert deref is not None
        pointer, type, place = self.memory.pointer(deref)
        assert type.dim is not None and type.sampled is not None
        self.image_access(
            instr, pointer, self.memory.handle(type, place), (type.dim, type.is_arrayed),
            type.sampled, not self.memory.interface.root(deref).image_format,
        )  # fmt: skip

    def image_access(
        self, instr: Intrinsic, pointer: int, handle: int, shape: tuple[Dim, bool], sampled: Base,
        unknown: bool,
    ) -> None:  # fmt: skip
        """Access the image that a pointer leads to: of a type (`handle`) and shape, with texels of
        a `sampled` type in a format that may be unknown.
        """
        b, what = self.b, instr.name.removeprefix("image_").removeprefix("deref_")
        multisampled, count = shape[0] is Dim.MS, image_coordinates(shape[0].value, shape[1])
        if what in ("atomic", "atomic_swap"):
            self.image_atomic(instr, pointer, sampled, count, multisampled)
            return
        image = b.op("OpLoad", handle, pointer)
        if what in ("size", "samples"):
            b.capability("ImageQuery")
            uint = self.values.type("u", 32, instr.result.num_components)
            name = "OpImageQuerySize" if what == "size" else "OpImageQuerySamples"
            self.values.set(instr.result, b.op(name, uint, image), "u")
            return
        coord = self.values.swizzle(self.values.get(instr.srcs[1].value, "u"), tuple(range(count)))
        sample = []
        if multisampled:
            index = self.values.get(instr.srcs[2].value, "u").id
            sample = [value_of("ImageOperands", "Sample"), index]
        t = VEC4 if sampled is Base.FLOAT else vec(sampled, 4)
        texel, kind = self.types.number(t, True), scalar_kind(t)
        if what == "load":
            if unknown:
                b.capability("StorageImageReadWithoutFormat")
            id = b.op("OpImageRead", texel, image, coord.id, *sample)
            v = Value(id, kind, 32, 4)
            if t.is_signed:
                v = Value(b.op("OpBitcast", self.values.type("u", 32, 4), id), "u", 32, 4)
            v = self.values.swizzle(v, tuple(range(instr.result.num_components)))
            self.values.set(instr.result, v.id, v.kind)
            return
        if unknown:
            b.capability("StorageImageWriteWithoutFormat")
        value = self.values.get(instr.srcs[3].value, kind)
        id = value.id
        if t.is_signed:
            id = b.op("OpBitcast", self.types.number(vec(sampled, value.components), True), id)
        b.do("OpImageWrite", image, coord.id, id, *sample)

    def image_atomic(
        self, instr: Intrinsic, pointer: int, sampled: Base, count: int, multisampled: bool
    ) -> None:
        b = self.b
        coord = self.values.swizzle(self.values.get(instr.srcs[1].value, "u"), tuple(range(count)))
        t = {Base.FLOAT: VEC4.scalar_type, Base.INT: INT}.get(sampled, UINT)
        texel = b.pointer("Image", self.types.number(t, True))
        sample = self.values.get(instr.srcs[2].value, "u").id if multisampled else b.uint(0)
        at = b.op("OpImageTexelPointer", texel, pointer, coord.id, sample)
        srcs = [s.value for s in instr.srcs[3:]]
        id, kind = self.memory.atomic_at(at, t, instr["atomic_op"], srcs, "device")
        self.values.set(instr.result, id, kind)


def _base(dest_type: str) -> Base:
    if dest_type.startswith("float"):
        return Base.FLOAT
    return Base.INT if dest_type.startswith("int") else Base.UINT
