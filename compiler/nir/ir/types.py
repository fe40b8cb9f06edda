"""Types: interned, immutable descriptions of values and variables.

Structurally equal types are the same object, so `a is b` compares types and a type can be a
dictionary key. Create them with the constructors (`scalar`, `vec`, `mat`, `array`, `struct`, ...)
or use the constants (`VEC4`, `MAT4`, ...). `str(t)` is the GLSL spelling.

A type may have a memory layout: arrays and matrices a byte `stride`, struct fields an `offset`.
`gallette.compiler.nir.ir.layout.explicit_type` derives such a type from a plain one.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass


class Base(enum.Enum):
    """The kind of a type; the value is the GLSL keyword of the scalar, if there is one."""

    FLOAT = "float"
    FLOAT16 = "float16_t"
    DOUBLE = "double"
    INT = "int"
    UINT = "uint"
    INT8 = "int8_t"
    UINT8 = "uint8_t"
    INT16 = "int16_t"
    UINT16 = "uint16_t"
    INT64 = "int64_t"
    UINT64 = "uint64_t"
    BOOL = "bool"
    SAMPLER = "sampler"
    TEXTURE = "texture"
    IMAGE = "image"
    ATOMIC_UINT = "atomic_uint"
    STRUCT = "struct"
    INTERFACE = "interface"
    ARRAY = "array"
    VOID = "void"
    SUBROUTINE = "subroutine"
    ERROR = "error"

    # Members are compared by identity; Enum's hash is a Python call per lookup.
    __hash__ = object.__hash__


class Dim(enum.Enum):
    """The shape of a texture; the value is its spelling inside `sampler...`."""

    D1 = "1D"
    D2 = "2D"
    D3 = "3D"
    CUBE = "Cube"
    RECT = "2DRect"
    BUF = "Buffer"
    MS = "2DMS"
    EXTERNAL = "ExternalOES"

    __hash__ = object.__hash__

    @property
    def coordinates(self) -> int:
        """Number of coordinates without the array layer."""
        return _DIM_COORDS[self]


def image_coordinates(dim: str, is_array: bool) -> int:
    """The number of coordinates of such an image, including the layer or cube face.

    `dim` is the value of a `Dim`, as in the index `dim` of image intrinsics.
    """
    shape = Dim(dim)
    return shape.coordinates + (is_array and shape is not Dim.CUBE)


_DIM_COORDS = {
    Dim.D1: 1,
    Dim.D2: 2,
    Dim.D3: 3,
    Dim.CUBE: 3,
    Dim.RECT: 2,
    Dim.BUF: 1,
    Dim.MS: 2,
    Dim.EXTERNAL: 2,
}

_BITS = {
    Base.FLOAT: 32,
    Base.FLOAT16: 16,
    Base.DOUBLE: 64,
    Base.INT: 32,
    Base.UINT: 32,
    Base.INT8: 8,
    Base.UINT8: 8,
    Base.INT16: 16,
    Base.UINT16: 16,
    Base.INT64: 64,
    Base.UINT64: 64,
    Base.BOOL: 1,
    Base.SAMPLER: 32,
    Base.TEXTURE: 32,
    Base.IMAGE: 32,
    Base.ATOMIC_UINT: 32,
    Base.SUBROUTINE: 32,
}

_VEC_PREFIX = {
    Base.FLOAT: "vec",
    Base.FLOAT16: "f16vec",
    Base.DOUBLE: "dvec",
    Base.INT: "ivec",
    Base.UINT: "uvec",
    Base.INT8: "i8vec",
    Base.UINT8: "u8vec",
    Base.INT16: "i16vec",
    Base.UINT16: "u16vec",
    Base.INT64: "i64vec",
    Base.UINT64: "u64vec",
    Base.BOOL: "bvec",
}

_NUMERIC = frozenset(_VEC_PREFIX)
_FLOATS = frozenset({Base.FLOAT, Base.FLOAT16, Base.DOUBLE})
_SIGNED = frozenset({Base.INT, Base.INT8, Base.INT16, Base.INT64})
_UNSIGNED = frozenset({Base.UINT, Base.UINT8, Base.UINT16, Base.UINT64})
_HANDLES = frozenset({Base.SAMPLER, Base.TEXTURE, Base.IMAGE, Base.ATOMIC_UINT, Base.SUBROUTINE})


@lazy_dataclass(frozen=True)
class Field:
    """A member of a struct or interface block, with its qualifiers."""

    name: str
    type: Type
    offset: int = -1
    row_major: bool | None = None


class Type:
    """One interned type; never construct it directly."""

    __slots__ = (
        "base",
        "bit_size",
        "column_type",
        "columns",
        "components",
        "depth",
        "dim",
        "element",
        "fields",
        "holds_opaque",
        "is_aggregate",
        "is_array",
        "is_arrayed",
        "is_boolean",
        "is_double",
        "is_float",
        "is_image",
        "is_integer",
        "is_interface",
        "is_matrix",
        "is_numeric",
        "is_opaque",
        "is_sampler",
        "is_scalar",
        "is_shadow",
        "is_signed",
        "is_struct",
        "is_unsigned",
        "is_unsized_array",
        "is_vector",
        "is_vector_or_scalar",
        "leaf_count",
        "length",
        "name",
        "packing",
        "row_major",
        "rows",
        "sampled",
        "scalar_count",
        "stride",
        "without_array",
    )

    def __init__(self, key: tuple[Any, ...]):
        base: Base = key[0]
        self.base = base
        self.name = ""
        self.columns = self.rows = self.components = 0
        self.element: Type | None = None
        self.length = 0
        self.fields: tuple[Field, ...] = ()
        self.dim: Dim | None = None
        self.is_shadow = self.is_arrayed = False
        self.sampled = Base.VOID
        self.stride = 0
        self.row_major = False
        self.packing = ""
        self.bit_size = _BITS.get(base, 0)
        if base in _NUMERIC:
            _, self.columns, self.rows, self.stride, self.row_major = key
            self.components = self.columns * self.rows
        elif base is Base.ARRAY:
            _, self.element, self.length, self.stride = key
        elif base in (Base.STRUCT, Base.INTERFACE):
            _, self.name, self.fields, self.packing, self.row_major = key
            self.length = len(self.fields)
        elif base in (Base.SAMPLER, Base.TEXTURE, Base.IMAGE):
            _, self.dim, self.is_shadow, self.is_arrayed, self.sampled = key
            self.columns = self.rows = self.components = 1
        elif base in _HANDLES:
            self.columns = self.rows = self.components = 1
            if len(key) > 1:
                self.name = key[1]
        numeric = base in _NUMERIC
        self.is_scalar = numeric and self.components == 1
        self.is_vector = numeric and self.columns == 1 and self.rows > 1
        self.is_matrix = numeric and self.columns > 1
        self.is_array = base is Base.ARRAY
        self.is_struct = base is Base.STRUCT or base is Base.INTERFACE
        self.is_sampler = base is Base.SAMPLER or base is Base.TEXTURE
        self.is_image = base is Base.IMAGE
        self.is_numeric = numeric
        """a scalar, vector or matrix of numbers or booleans"""
        self.is_vector_or_scalar = numeric and self.columns == 1
        self.is_float = base in _FLOATS
        self.is_signed = base in _SIGNED
        self.is_unsigned = base in _UNSIGNED
        self.is_integer = self.is_signed or self.is_unsigned
        self.is_boolean = base is Base.BOOL
        self.is_double = base is Base.DOUBLE
        self.is_interface = base is Base.INTERFACE
        self.is_opaque = base in _HANDLES
        """a handle without a memory representation"""
        self.is_unsized_array = self.is_array and self.length == 0
        self.is_aggregate = self.is_array or self.is_struct
        self.holds_opaque: bool = self.is_opaque or _any_opaque(self)
        parts = [self.element] if self.element is not None else [f.type for f in self.fields]
        self.depth: int = 1 + max([p.depth for p in parts], default=0)
        """nesting depth of arrays and structures, including this one"""
        self.leaf_count: int = sum([p.leaf_count for p in parts]) if parts else 1
        """number of nested types that are neither array nor structure; elements of an array count
        once
        """
        self.scalar_count: int = sum([p.scalar_count for p in parts]) if parts else self.components
        """number of scalars in a value of this type; an unsized array counts as one element"""
        if self.element is not None:
            self.scalar_count *= max(1, self.length)
        self.column_type: Type = self
        """the vector type of one matrix column (of a vector or scalar: itself)"""
        if self.is_matrix:
            self.column_type = vec(base, self.rows, self.stride if self.row_major else 0)
        self.without_array: Type = self if self.element is None else self.element.without_array

    def __copy__(self) -> Type:
        return self

    def __deepcopy__(self, memo: object) -> Type:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_intern, (_KEYS[self],))

    @property
    def scalar_type(self) -> Type:
        return scalar(self.base)

    @property
    def plain(self) -> Type:
        """The numeric type without memory layout."""
        if self.base in _NUMERIC and (self.stride or self.row_major):
            return _intern((self.base, self.columns, self.rows, 0, False))
        return self

    @property
    def array_elements(self) -> int:
        """Product of all array lengths (1 for a type without arrays)."""
        t, n = self, 1
        while t.element is not None:
            n *= t.length
            t = t.element
        return n

    def field_index(self, name: str) -> int:
        """Index of the member called `name`, or -1."""
        return _field_indices(self).get(name, -1)

    def indexed(self) -> Type:
        """The type of `x[i]`: array element, matrix column, or vector component."""
        if self.element is not None:
            return self.element
        if self.is_matrix:
            return self.column_type
        return scalar(self.base)

    def indexed_length(self) -> int:
        """Number of elements `x[i]` may address: array length, columns, or components."""
        if self.is_array:
            return self.length
        return self.columns if self.is_matrix else self.rows

    def contains(self, bases: frozenset[Base]) -> bool:
        """Whether any leaf of this type has one of `bases`."""
        return any(leaf.base in bases for leaf in self.leaves())

    @property
    def has_handle(self) -> bool:
        """Whether it contains a sampler or an image, which may be given as a handle of
        two words.
        """
        return self.is_sampler or self.is_image

    def contains_opaque(self) -> bool:
        return self.holds_opaque

    def leaves(self) -> Iterator[Type]:
        """Every non-aggregate type inside, array elements once."""
        stack = [self]
        while stack:
            t = stack.pop()
            if t.element is not None:
                stack.append(t.element)
            elif t.is_struct:
                stack.extend(f.type for f in reversed(t.fields))
            else:
                yield t

    def slots(self, vertex_input: bool = False) -> int:
        """Number of four-component slots as an input or output.

        A 64-bit vector of three or four components fills two slots, except as a vertex input,
        where GL counts it once.
        """
        if self.element is not None:
            return self.length * self.element.slots(vertex_input)
        if self.is_struct:
            return sum(f.type.slots(vertex_input) for f in self.fields)
        if self.base in _NUMERIC:
            wide = self.bit_size == 64 and self.rows > 2 and not vertex_input
            return self.columns * (2 if wide else 1)
        return 1 if self.base in _HANDLES else 0

    @property
    def words(self) -> int:
        """Number of 32-bit components as a packed varying."""
        if self.element is not None:
            return self.length * self.element.words
        if self.is_struct:
            return sum(f.type.words for f in self.fields)
        if self.has_handle:
            return HANDLE.components
        return self.components * (2 if self.bit_size == 64 else 1)

    def __str__(self) -> str:
        if self.element is not None:
            dims = ""
            t: Type = self
            while t.element is not None:
                dims += f"[{t.length}]" if t.length else "[]"
                t = t.element
            return f"{t}{dims}"
        if self.is_matrix:
            prefix = {Base.FLOAT: "mat", Base.DOUBLE: "dmat", Base.FLOAT16: "f16mat"}[self.base]
            if self.columns == self.rows:
                return f"{prefix}{self.columns}"
            return f"{prefix}{self.columns}x{self.rows}"
        if self.is_vector:
            return f"{_VEC_PREFIX[self.base]}{self.rows}"
        if self.is_struct:
            return self.name
        if self.dim is not None:
            kind = {Base.SAMPLER: "sampler", Base.TEXTURE: "texture", Base.IMAGE: "image"}
            letters = {Base.INT: "i", Base.UINT: "u", Base.INT64: "i64", Base.UINT64: "u64"}
            p = letters.get(self.sampled, "")
            array_part = "Array" if self.is_arrayed else ""
            shadow = "Shadow" if self.is_shadow else ""
            return f"{p}{kind[self.base]}{self.dim.value}{array_part}{shadow}"
        return self.name or self.base.value

    def __repr__(self) -> str:
        return f"<type {self}>"


@functools.lru_cache(maxsize=256)
def _field_indices(type: Type) -> dict[str, int]:
    """The indices of members by name; for a repeated name, the first."""
    return {field.name: i for i, field in reversed([*enumerate(type.fields)])}


def _any_opaque(aggregate: Type) -> bool:
    parts = [f.type for f in aggregate.fields]
    if aggregate.element is not None:
        parts.append(aggregate.element)
    return any(part.holds_opaque for part in parts)


_INTERNED: dict[tuple[Any, ...], Type] = {}
_KEYS: dict[Type, tuple[Any, ...]] = {}


def _intern(key: tuple[Any, ...]) -> Type:
    t = _INTERNED.get(key)
    if t is None:
        made = Type(key)
        _KEYS[made] = key  # before another thread can find it
        t = _INTERNED.setdefault(key, made)
        if t is not made:
            del _KEYS[made]
    return t


def scalar(base: Base) -> Type:
    return _intern((base, 1, 1, 0, False)) if base in _NUMERIC else _intern((base,))


def vec(base: Base, n: int, stride: int = 0) -> Type:
    """A vector of `n` components; `stride` when components are not adjacent in memory."""
    return _intern((base, 1, n, stride, False))


def mat(base: Base, columns: int, rows: int, stride: int = 0, row_major: bool = False) -> Type:
    """A matrix of `columns` x `rows`; `stride` bytes between columns (rows if row-major)."""
    return _intern((base, columns, rows, stride, row_major))


def array(element: Type, length: int, stride: int = 0) -> Type:
    """An array of `length` elements (0: unsized), `stride` bytes apart (0: no layout yet)."""
    return _intern((Base.ARRAY, element, length, stride))


def struct(name: str, fields: Sequence[Field], packing: str = "") -> Type:
    return _intern((Base.STRUCT, name, tuple(fields), packing, False))


def interface(
    name: str, fields: Sequence[Field], packing: str = "std140", row_major: bool = False
) -> Type:
    """An interface block; `packing` is std140, std430, shared or packed."""
    return _intern((Base.INTERFACE, name, tuple(fields), packing, row_major))


def sampler(
    dim: Dim, shadow: bool = False, is_array: bool = False, base: Base = Base.FLOAT
) -> Type:
    """A combined texture and sampler whose texels read as `base`."""
    return _intern((Base.SAMPLER, dim, shadow, is_array, base))


def texture(dim: Dim, is_array: bool = False, base: Base = Base.FLOAT) -> Type:
    return _intern((Base.TEXTURE, dim, False, is_array, base))


def image(dim: Dim, is_array: bool = False, base: Base = Base.FLOAT) -> Type:
    return _intern((Base.IMAGE, dim, False, is_array, base))


def subroutine(name: str) -> Type:
    return _intern((Base.SUBROUTINE, name))


@functools.cache
def stored_type(type: Type) -> Type:
    """`type` as stored in memory, with samplers and images as handles."""
    if type.element is not None:
        return array(stored_type(type.element), type.length, type.stride)
    if type.is_struct:
        if not any(leaf.has_handle for leaf in type.leaves()):
            return type
        fields = [replace(f, type=stored_type(f.type)) for f in type.fields]
        return _intern((type.base, type.name, tuple(fields), type.packing, type.row_major))
    return HANDLE if type.has_handle else type


VOID = scalar(Base.VOID)
ERROR = scalar(Base.ERROR)
ATOMIC_UINT = scalar(Base.ATOMIC_UINT)
FLOAT, VEC2, VEC3, VEC4 = (vec(Base.FLOAT, n) for n in (1, 2, 3, 4))
FLOAT16, F16VEC2, F16VEC3, F16VEC4 = (vec(Base.FLOAT16, n) for n in (1, 2, 3, 4))
DOUBLE, DVEC2, DVEC3, DVEC4 = (vec(Base.DOUBLE, n) for n in (1, 2, 3, 4))
INT, IVEC2, IVEC3, IVEC4 = (vec(Base.INT, n) for n in (1, 2, 3, 4))
UINT, UVEC2, UVEC3, UVEC4 = (vec(Base.UINT, n) for n in (1, 2, 3, 4))
HANDLE = UVEC2  # of a texture or image without a unit: 64 bits, low word first
INT64, I64VEC2, I64VEC3, I64VEC4 = (vec(Base.INT64, n) for n in (1, 2, 3, 4))
UINT64, U64VEC2, U64VEC3, U64VEC4 = (vec(Base.UINT64, n) for n in (1, 2, 3, 4))
BOOL, BVEC2, BVEC3, BVEC4 = (vec(Base.BOOL, n) for n in (1, 2, 3, 4))
MAT2, MAT2X3, MAT2X4 = (mat(Base.FLOAT, 2, r) for r in (2, 3, 4))
MAT3X2, MAT3, MAT3X4 = (mat(Base.FLOAT, 3, r) for r in (2, 3, 4))
MAT4X2, MAT4X3, MAT4 = (mat(Base.FLOAT, 4, r) for r in (2, 3, 4))
DMAT2, DMAT2X3, DMAT2X4 = (mat(Base.DOUBLE, 2, r) for r in (2, 3, 4))
DMAT3X2, DMAT3, DMAT3X4 = (mat(Base.DOUBLE, 3, r) for r in (2, 3, 4))
DMAT4X2, DMAT4X3, DMAT4 = (mat(Base.DOUBLE, 4, r) for r in (2, 3, 4))
