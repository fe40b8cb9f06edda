"""Texture lookups and images by number."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Intrinsic, LoadConst, Tex
from gallette.compiler.nir.ir.types import Base, Dim
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.emit.textures import Textures
from gallette.compiler.spirv.emit.types import FORMATS
from gallette.compiler.spirv.emit.values import Value

from .code import DriverCode, handles
from .inputs import constant
from .program import Open

__all__ = ["emit_tex"]

_BASIC = """Rgba32f Rgba16f R32f Rgba8 Rgba8Snorm Rgba32i Rgba16i Rgba8i R32i Rgba32ui Rgba16ui
Rgba8ui R32ui"""
_BASIC_FORMATS = frozenset(_BASIC.split())


class DriverTextures(Textures):
    """Lookups whose texture is known. Coordinates of rectangles are divided by its size, and those
    of wrap modes that Vulkan does not have are mirrored or clamped."""

    def __init__(self, c: DriverCode, tex: Tex, number: int) -> None:
        super().__init__(c.memory)
        self.c = c
        scalar = {"f": "f", "i": "i", "u": "u"}.get(tex.dest_type[0], "u")
        if tex.op in ("txs", "query_levels", "texture_samples"):
            scalar = _known_scalar(c, number) or "f"
        what: Open = ("tex", number)
        shadow = tex.is_shadow and tex.op not in ("txs", "query_levels")
        known = c.interface.handles.get(what)
        self.image_type_id = c.interface.image_type(tex.dim, tex.is_array, scalar, shadow, False)
        if known is None or c.b.known.get(("sampled", number)) == self.image_type_id:
            c.b.known["sampled", number] = self.image_type_id
        else:  # looked up in another way before: a variable for each
            what = ("tex", number + 1000 * (self.image_type_id % 997 + 1))
        self.var, self.type = c.interface.handle(
            what, self.image_type_id, (tex.dim.value, tex.is_array, scalar, shadow), False
        )
        self.sampled = self.b.op("OpLoad", self.type, self.var)

    def image_of(self, sampled: int, type: object) -> int:
        if self.type == self.image_type_id:
            return sampled
        return self.b.op("OpImage", self.image_type_id, sampled)

    def coord(self, tex: Tex, count: int) -> Value:
        coord = super().coord(tex, count)
        parts = [self.values.swizzle(coord, (i,)).id for i in range(coord.components)]
        b, f32 = self.b, self.b.float_type()
        if tex.dim is Dim.RECT:
            b.capability("ImageQuery")
            two = self.values.type("u", 32, 2)
            size = b.op("OpImageQuerySizeLod", two, self.image_of(self.sampled, None), b.uint(0))
            floats = b.op("OpConvertUToF", self.values.type("f", 32, 2), size)
            for i in (0, 1):
                scale = b.op("OpCompositeExtract", f32, floats, i)
                parts[i] = b.op("OpFDiv", f32, parts[i], scale)
        folds = dict(self.c.options.folds).get(tex.sampler_index, ())
        if folds and tex.dim is not Dim.CUBE and tex.op != "lod" and tex.src("offset") is None:
            # Less than one by the least there is: one is a texel beyond the last.
            zero, one = (self.values.constant("f", 32, (bits,)).id for bits in (0, 0x3F7FFFFF))
            for i, fold in enumerate(folds[: tex.dim.coordinates]):
                if "mirror" in fold:
                    parts[i] = b.ext("FAbs", f32, parts[i])
                if "clamp" in fold:
                    parts[i] = b.ext("FClamp", f32, parts[i], zero, one)
        if len(parts) == 1:
            return Value(parts[0], "f", 32, 1)
        type = self.values.type("f", 32, len(parts))
        return Value(b.op("OpCompositeConstruct", type, *parts), "f", 32, len(parts))

    def query(self, tex: Tex, image: int, type: object) -> None:
        b = self.b
        if tex.op == "txs" and tex.dim is Dim.RECT:
            b.capability("ImageQuery")
            uint = self.values.type("u", 32, tex.result.num_components)
            self.values.set(tex.result, b.op("OpImageQuerySizeLod", uint, image, b.uint(0)), "u")
            return
        super().query(tex, image, type)  # type: ignore[arg-type]

    def fetch(self, tex: Tex, image: int, type: object) -> None:
        if tex.dim in (Dim.RECT, Dim.BUF) and tex.src("lod") is not None:
            tex.remove_src("lod")
        super().fetch(tex, image, type)  # type: ignore[arg-type]

    def offset(self, value: Def) -> dict[str, list[int]]:
        constant = value.instr
        if isinstance(constant, LoadConst):
            return {"ConstOffset": [self._signed(constant.values)]}
        return super().offset(value)

    def offsets(self, table: tuple[tuple[int, int], ...]) -> int:
        b = self.b
        parts = [self._signed((x & 0xFFFFFFFF, y & 0xFFFFFFFF)) for x, y in table]
        pair = b.vector(b.int_type(32, True), 2)
        return b.composite(b.type("OpTypeArray", pair, b.uint(len(parts))), parts)

    def _signed(self, words: tuple[int, ...]) -> int:
        """A constant of signed integers, because the device compares it with its limits."""
        b = self.b
        parts = [b.sint(word) for word in words]
        if len(parts) == 1:
            return parts[0]
        return b.composite(b.vector(b.int_type(32, True), len(parts)), parts)

    def lookup(self, tex: Tex, sampled: int, type: object) -> None:
        super().lookup(tex, sampled, type)  # type: ignore[arg-type]
        if tex.src("comparator") is not None and tex.op != "tg4":
            self._swizzled(tex)

    def _swizzled(self, tex: Tex) -> None:
        """A comparison's result, distributed by the view's swizzle."""
        chosen = dict(self.c.options.swizzles).get(tex.texture_index)
        n = tex.result.num_components
        if n == 1 and chosen is None:
            return
        value = self.values.swizzle(self.values.of[tex.result], (0,))
        ones = [self.values.constant("f", 32, (bits,)).id for bits in (0, 0x3F800000)]
        sources = [value.id, ones[0], ones[0], ones[1], ones[0], ones[1]]
        parts = [sources[s] for s in (chosen or (0, 0, 0, 3))[:n]]
        id = parts[0]
        if n > 1:
            id = self.b.op("OpCompositeConstruct", self.values.type("f", 32, n), *parts)
        self.values.set(tex.result, id, "f")


def _known_scalar(c: DriverCode, number: int) -> str:
    """The type of a texture's result in its other lookups in the shader."""
    from gallette.compiler.nir.ir.queries import textures_of

    for tex in textures_of(c.interface.shader.entry):
        if tex.texture_index == number and tex.op not in ("txs", "query_levels", "texture_samples"):
            return tex.dest_type[0] if tex.dest_type[0] in "fiu" else "u"
    return ""


def emit_tex(c: DriverCode, tex: Tex) -> None:
    """Write a lookup."""
    textures = DriverTextures(c, tex, tex.texture_index)
    textures.lookup(tex, textures.sampled, None)


# Images.


def _image(c: DriverCode, instr: Intrinsic, number: int) -> tuple[int, int, str, bool]:
    """The variable, its type, the type of its texels, and whether the format is unknown."""
    dim = Dim(instr["dim"])
    name = instr["format"] if instr["format"] != "none" else ""
    format = FORMATS.get(name, "")
    scalar = "u" if name.endswith("ui") else "i" if name.endswith("i") else "f"
    if not name:
        told = instr.indices.get("dest_type") or instr.indices.get("src_type") or "float32"
        scalar = str(told)[0]
    if format and format not in _BASIC_FORMATS:
        c.b.capability("StorageImageExtendedFormats")
    type = c.interface.image_type(dim, instr["is_array"], scalar, False, True, format)
    var, type = c.interface.handle(
        ("img", number), type, (dim.value, instr["is_array"], scalar, False), True
    )
    return var, type, scalar, not format


@handles(
    "image_load", "image_store", "image_size", "image_samples", "image_atomic", "image_atomic_swap"
)
def _image_access(c: DriverCode, instr: Intrinsic) -> None:
    var, type, scalar, unknown = _image(c, instr, constant(instr, 0))
    c.interface.writes_memory |= not instr.name.endswith(("load", "size", "samples"))
    shape = Dim(instr["dim"]), bool(instr["is_array"])
    sampled = {"f": Base.FLOAT, "i": Base.INT}.get(scalar, Base.UINT)
    c.textures.image_access(instr, var, type, shape, sampled, unknown)
