"""Memory layout: the places of a type's members in a buffer.

There are four rules. `std140` rounds array elements and structs up to 16 bytes, `std430` does not,
`opencl` is std430 in which three components are as large as four (OpenCL C), and `scalar` packs
everything to component alignment (used for scratch and shared memory). Booleans take 32 bits in
memory. `explicit_type` stores the layout in the type itself (strides of arrays and matrices,
offsets of fields), so that address lowering does not depend on a rule.
"""

from __future__ import annotations

from dataclasses import replace

from gallette.compiler.nir.ir.types import Field, Type, array, interface, mat, struct, vec

STD140 = "std140"
STD430 = "std430"
SCALAR = "scalar"
OPENCL = "opencl"
RULES = (STD140, STD430, SCALAR, OPENCL)


def align(value: int, alignment: int) -> int:
    """`value` rounded up to a multiple of `alignment`."""
    return (value + alignment - 1) // alignment * alignment


def component_bytes(type: Type) -> int:
    """Bytes of one component in memory."""
    return 4 if type.bit_size == 1 else type.bit_size // 8


def _vector(components: int, size: int, rule: str) -> tuple[int, int]:
    if rule == SCALAR:
        return components * size, size
    if rule == OPENCL and components == 3:
        return 4 * size, 4 * size
    return components * size, size * (4 if components == 3 else components)


def matrix_stride(type: Type, rule: str = STD140, row_major: bool = False) -> int:
    """Bytes between the columns (rows if `row_major`) of a matrix."""
    length = type.columns if row_major else type.rows
    size, alignment = _vector(length, component_bytes(type), rule)
    if rule == STD140:
        alignment = max(alignment, 16)
    return align(size, alignment)


def size_align(type: Type, rule: str = STD140, row_major: bool = False) -> tuple[int, int]:
    """Size and alignment in bytes of a variable of `type` under `rule`.

    An unsized array counts as one without elements.
    """
    if type.is_matrix:
        major = type.columns if row_major else type.rows
        count = type.rows if row_major else type.columns
        stride = matrix_stride(type, rule, row_major)
        alignment = _vector(major, component_bytes(type), rule)[1]
        if rule == STD140:
            alignment = max(alignment, 16)
        return stride * count, alignment
    if type.element is not None:
        stride, alignment = _array_stride(type, rule, row_major)
        return stride * type.length, alignment
    if type.is_struct:
        offset, alignment = 0, 16 if rule == STD140 else 1
        for field in type.fields:
            size, a = size_align(field.type, rule, _field_major(field, row_major))
            offset = align(max(offset, field.offset), a) + size
            alignment = max(alignment, a)
        return align(offset, alignment), alignment
    if type.is_opaque:
        return 8, 8
    return _vector(type.components, component_bytes(type), rule)


def _field_major(field: Field, inherited: bool) -> bool:
    return inherited if field.row_major is None else field.row_major


def _array_stride(type: Type, rule: str, row_major: bool) -> tuple[int, int]:
    assert type.element is not None
    size, alignment = size_align(type.element, rule, row_major)
    if rule == STD140:
        alignment = max(alignment, 16)
    return align(size, alignment), alignment


def array_stride(type: Type, rule: str = STD140, row_major: bool = False) -> int:
    """Bytes between the elements of array `type`."""
    return _array_stride(type, rule, row_major)[0]


def field_offsets(type: Type, rule: str = STD140, row_major: bool = False) -> list[int]:
    """Byte offset of each member of struct or interface `type`."""
    offsets, offset = [], 0
    for field in type.fields:
        size, alignment = size_align(field.type, rule, _field_major(field, row_major))
        offset = align(max(offset, field.offset), alignment)
        offsets.append(offset)
        offset += size
    return offsets


def explicit_type(type: Type, rule: str = STD140, row_major: bool = False) -> Type:
    """`type` with every stride, offset and matrix order written into it."""
    if type.is_matrix:
        stride = matrix_stride(type, rule, row_major)
        return mat(type.base, type.columns, type.rows, stride, row_major)
    if type.element is not None:
        element = explicit_type(type.element, rule, row_major)
        return array(element, type.length, array_stride(type, rule, row_major))
    if type.is_struct:
        fields = tuple(
            replace(f, type=explicit_type(f.type, rule, _field_major(f, row_major)), offset=offset)
            for f, offset in zip(type.fields, field_offsets(type, rule, row_major), strict=True)
        )
        if type.is_interface:
            return interface(type.name, fields, type.packing, type.row_major)
        return struct(type.name, fields, type.packing)
    return type


def explicit_size(type: Type) -> int:
    """Bytes from the first to past the last byte of a type with layout."""
    if type.is_matrix:
        count = type.rows if type.row_major else type.columns
        inner = type.columns if type.row_major else type.rows
        return type.stride * (count - 1) + inner * component_bytes(type)
    if type.element is not None:
        return type.stride * max(type.length - 1, 0) + (
            explicit_size(type.element) if type.length else 0
        )
    if type.is_struct:
        return max((f.offset + explicit_size(f.type) for f in type.fields), default=0)
    return type.components * component_bytes(type)


def bare_type(type: Type) -> Type:
    """`type` without any memory layout."""
    if type.element is not None:
        return array(bare_type(type.element), type.length)
    if type.is_struct:
        fields = tuple(replace(f, type=bare_type(f.type), offset=-1) for f in type.fields)
        if type.is_interface:
            return interface(type.name, fields, type.packing, type.row_major)
        return struct(type.name, fields, type.packing)
    if type.is_matrix:
        return mat(type.base, type.columns, type.rows)
    return vec(type.base, type.rows) if type.is_vector else type
