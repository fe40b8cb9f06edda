"""NIR types as SPIR-V types.

A type with memory layout becomes a separate type, with strides and offsets as decorations; booleans
in memory are 32-bit integers, as in NIR's buffers.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.types import Base, Dim, Field, Type
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.grammar import value_of

_DIMS = {
    Dim.D1: "1D",
    Dim.D2: "2D",
    Dim.D3: "3D",
    Dim.CUBE: "Cube",
    Dim.RECT: "Rect",
    Dim.BUF: "Buffer",
    Dim.MS: "2D",
    Dim.EXTERNAL: "2D",
}
_NAMES = {
    "rgba32f": "Rgba32f",
    "rgba16f": "Rgba16f",
    "rg32f": "Rg32f",
    "rg16f": "Rg16f",
    "r11f_g11f_b10f": "R11fG11fB10f",
    "r32f": "R32f",
    "r16f": "R16f",
    "rgba16": "Rgba16",
    "rgb10_a2": "Rgb10A2",
    "rgba8": "Rgba8",
    "rg16": "Rg16",
    "rg8": "Rg8",
    "r16": "R16",
    "r8": "R8",
    "rgba16_snorm": "Rgba16Snorm",
    "rgba8_snorm": "Rgba8Snorm",
    "rg16_snorm": "Rg16Snorm",
    "rg8_snorm": "Rg8Snorm",
    "r16_snorm": "R16Snorm",
    "r8_snorm": "R8Snorm",
    "rgba32i": "Rgba32i",
    "rgba16i": "Rgba16i",
    "rgba8i": "Rgba8i",
    "rg32i": "Rg32i",
    "rg16i": "Rg16i",
    "rg8i": "Rg8i",
    "r32i": "R32i",
    "r16i": "R16i",
    "r8i": "R8i",
    "rgba32ui": "Rgba32ui",
    "rgba16ui": "Rgba16ui",
    "rgb10_a2ui": "Rgb10a2ui",
    "rgba8ui": "Rgba8ui",
    "rg32ui": "Rg32ui",
    "rg16ui": "Rg16ui",
    "rg8ui": "Rg8ui",
    "r32ui": "R32ui",
    "r16ui": "R16ui",
    "r8ui": "R8ui",
}
FORMATS = _NAMES
"""GLSL image formats and their names in SPIR-V."""

_BASIC_FORMATS = frozenset(
    [
        "Rgba32f",
        "Rgba16f",
        "R32f",
        "Rgba8",
        "Rgba8Snorm",
        "Rgba32i",
        "Rgba16i",
        "Rgba8i",
        "R32i",
        "Rgba32ui",
        "Rgba16ui",
        "Rgba8ui",
        "R32ui",
    ]
)


def scalar_kind(type: Type) -> str:
    """`f`, `u` or `b`: the kind of values of a type in code."""
    if type.is_boolean:
        return "b"
    return "f" if type.is_float else "u"


class Types:
    """The types of one module."""

    def __init__(self, b: ModuleBuilder) -> None:
        self.b = b
        self.explicit: dict[tuple[object, ...], int] = {}

    def value(self, kind: str, bits: int, components: int) -> int:
        """The type of a value in code."""
        b = self.b
        scalar = (
            b.bool_type()
            if kind == "b"
            else b.float_type(bits)
            if kind == "f"
            else b.int_type(bits)
        )
        if components > 4:
            b.capability("Vector16")
        return b.vector(scalar, components)

    def number(self, type: Type, in_memory: bool) -> int:
        """A scalar, vector or matrix."""
        b = self.b
        if type.is_boolean:
            scalar = b.int_type() if in_memory else b.bool_type()
        elif type.is_float:
            scalar = b.float_type(type.bit_size)
        else:
            scalar = b.int_type(type.bit_size, type.is_signed)
        column = b.vector(scalar, type.rows)
        return b.type("OpTypeMatrix", column, type.columns) if type.is_matrix else column

    def logical(self, type: Type, image_format: str = "") -> int:
        """A type without memory layout: locals, inputs and outputs, shared memory, handles."""
        b = self.b
        if type.element is not None:
            element = self.logical(type.element, image_format)
            if type.length == 0:
                return b.type("OpTypeRuntimeArray", element)
            return b.type("OpTypeArray", element, b.uint(type.length))
        if type.is_struct:
            return self._struct(("logical", type), type, False)
        if type.is_opaque:
            return self.handle(type, image_format)
        return self.number(type, False)

    def layout(self, type: Type) -> int:
        """A type in a buffer; the NIR type has strides and offsets."""
        b = self.b
        if type.element is not None:
            key = ("array", type)
            if key not in self.explicit:
                element = self.layout(type.element)
                if type.length:
                    id = b.type("OpTypeArray", element, b.uint(type.length), fresh=True)
                else:
                    id = b.type("OpTypeRuntimeArray", element, fresh=True)
                b.decorate(id, "ArrayStride", max(type.stride, 1))
                self.explicit[key] = id
            return self.explicit[key]
        if type.is_struct:
            return self._struct(("explicit", type), type, True)
        return self.number(type, True)

    def _struct(self, key: tuple[object, ...], type: Type, in_memory: bool) -> int:
        if key not in self.explicit:
            self.explicit[key] = self.members(type.name, type.fields, in_memory)
        return self.explicit[key]

    def members(self, name: str, fields: tuple[Field, ...], in_memory: bool) -> int:
        """A struct, decorated if it is in memory."""
        b = self.b
        form = self.layout if in_memory else self.logical
        id = b.type("OpTypeStruct", *[form(f.type) for f in fields], fresh=True)
        b.name(id, name)
        for i, f in enumerate(fields):
            b.member_name(id, i, f.name)
            if in_memory:
                b.decorate_member(id, i, "Offset", max(f.offset, 0))
                inner = f.type.without_array
                if inner.is_matrix:
                    b.decorate_member(id, i, "RowMajor" if inner.row_major else "ColMajor")
                    b.decorate_member(id, i, "MatrixStride", inner.stride)
        return id

    def handle(self, type: Type, image_format: str = "") -> int:
        image = self.image(type, image_format)
        if type.base is Base.SAMPLER:
            return self.b.type("OpTypeSampledImage", image)
        return image

    def image(self, type: Type, image_format: str = "") -> int:
        """The image of a sampler, texture or image type."""
        b, dim = self.b, type.dim
        assert dim is not None
        scalar = (
            b.float_type()
            if type.sampled is Base.FLOAT
            else b.int_type(32, type.sampled is Base.INT)
        )
        storage = type.is_image
        capability = {
            Dim.D1: ("Sampled1D", "Image1D"),
            Dim.BUF: ("SampledBuffer", "ImageBuffer"),
            Dim.RECT: ("SampledRect", "ImageRect"),
        }.get(dim)
        if capability is not None:
            b.capability(capability[storage])
        if dim is Dim.CUBE and type.is_arrayed:
            b.capability("ImageCubeArray" if storage else "SampledCubeArray")
        format = _NAMES.get(image_format, "Unknown")
        if storage and format not in _BASIC_FORMATS and format != "Unknown":
            b.capability("StorageImageExtendedFormats")
        if storage and dim is Dim.MS:
            b.capability("StorageImageMultisample", "ImageMSArray")
        return b.type(
            "OpTypeImage",
            scalar,
            value_of("Dim", _DIMS[dim]),
            int(type.is_shadow),
            int(type.is_arrayed),
            int(dim is Dim.MS),
            2 if storage else 1,
            value_of("ImageFormat", format),
        )
