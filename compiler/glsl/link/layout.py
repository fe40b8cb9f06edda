"""The layout of uniforms: storage of the default block, and members of declared blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.layout import (
    STD140,
    STD430,
    align,
    explicit_size,
    explicit_type,
    size_align,
)
from gallette.compiler.nir.ir.types import Field, Type

__all__ = ["Leaf", "block_layout", "buffer_leaves", "leaves", "opaque_paths", "sized_block"]


@dataclass(slots=True)
class Leaf:
    """One enumerable part of a uniform: a basic type or an array of one."""

    name: str
    type: Type
    """basic type with its layout"""
    array_size: int
    array_stride: int
    offset: int
    fields: tuple[int, ...]
    """indices of struct members on the path"""
    flat: int
    """number of this leaf among those with equal `fields` (the flattened array indices)"""
    top_size: int = 1
    top_stride: int = 0


def leaves(name: str, type_: Type, offset: int = 0) -> Iterator[Leaf]:
    """Enumerate the leaves of a variable with explicit layout, as GL does."""
    if type_.is_numeric:
        yield Leaf(name, type_, 0, 0, offset, (), 0)
        return
    stack_typed: list[tuple[str, Type, int, tuple[int, ...], int]] = [(name, type_, offset, (), 0)]
    while stack_typed:
        label, kind, at, fields, flat = stack_typed.pop()
        if kind.is_struct:
            for i in range(len(kind.fields) - 1, -1, -1):
                f = kind.fields[i]
                inner = f"{label}.{f.name}" if label else f.name
                where = at + max(f.offset, 0)
                stack_typed.append((inner, f.type, where, (*fields, i), flat))
            continue
        element = kind.element
        if element is not None and (element.is_array or element.is_struct):
            for i in range(kind.length - 1, -1, -1):
                where = at + i * kind.stride
                stack_typed.append(
                    (f"{label}[{i}]", element, where, fields, flat * kind.length + i)
                )
            continue
        if element is not None:
            yield Leaf(
                f"{label}[0]", element, kind.length, kind.stride, at, fields, flat * kind.length
            )
        else:
            yield Leaf(label, kind, 0, 0, at, fields, flat)


def opaque_paths(type_: Type, name: str) -> list[tuple[tuple[int, ...], Type, str]]:
    """The opaque leaves: (member path, type in all array dimensions on the way, label)."""
    found: list[tuple[tuple[int, ...], Type, str]] = []
    stack: list[tuple[Type, tuple[int, ...], list[int], str]] = [(type_, (), [], name)]
    while stack:
        kind, fields, dims, label = stack.pop()
        while kind.element is not None:
            dims = [*dims, kind.length]
            kind = kind.element
        if kind.is_struct:
            for i in range(len(kind.fields) - 1, -1, -1):
                f = kind.fields[i]
                stack.append((f.type, (*fields, i), dims, f"{label}.{f.name}"))
        elif kind.is_opaque:
            full: Type = kind
            for length in reversed(dims):
                full = t.array(full, length)
            found.append((fields, full, label))
    return found


def buffer_leaves(type_: Type) -> Iterator[Leaf]:
    """Enumerate the leaves of a storage block; of a member that is an array of structures or arrays
    only the first element, which represents the others.
    """
    for field in type_.fields:
        element, offset = field.type.element, max(field.offset, 0)
        if element is None or not (element.is_array or element.is_struct):
            yield from leaves(field.name, field.type, offset)
            continue
        for leaf in leaves(f"{field.name}[0]", element, offset):
            leaf.top_size, leaf.top_stride = field.type.length, field.type.stride
            yield leaf


def sized_block(block: hir.Block) -> Type:
    """The block's type with its implicitly sized members sized."""
    fields: list[Field] = []
    last = len(block.type.fields) - 1
    for i, f in enumerate(block.type.fields):
        type_ = f.type
        if type_.is_unsized_array and type_.element is not None:
            highest = block.member_quals[i].max_index
            if block.members:
                highest = max(highest, block.members[i].max_index)
                type_ = block.members[i].type
            runtime = block.quals.storage == "buffer" and i == last
            if type_.is_unsized_array and not runtime and type_.element is not None:
                type_ = t.array(type_.element, max(1, highest + 1))
        fields.append(f if type_ is f.type else replace(f, type=type_))
    return t.interface(block.type.name, fields, block.type.packing, block.type.row_major)


def block_layout(block: hir.Block) -> tuple[Type, int]:
    """The block's type with every offset and stride, and its size in bytes."""
    block_align = block.quals.layout.get("align", 1)
    places = [
        (q.layout.get("offset", -1), q.layout.get("align", block_align)) for q in block.member_quals
    ]
    return _laid_out(sized_block(block), tuple(places))


@lru_cache(maxsize=256)
def _laid_out(plain: Type, places: tuple[tuple[int, int], ...]) -> tuple[Type, int]:
    """The layout of a type; `places` are offset (-1: after the previous member) and minimal
    alignment.
    """
    rule = STD430 if plain.packing == "std430" else STD140
    offset = 0
    fields: list[Field] = []
    for f, (start, least) in zip(plain.fields, places, strict=True):
        row_major = plain.row_major if f.row_major is None else f.row_major
        size, alignment = size_align(f.type, rule, row_major)
        start = align(offset if start < 0 else start, max(alignment, least))
        fields.append(replace(f, type=explicit_type(f.type, rule, row_major), offset=start))
        offset = start + size
    laid_out = t.interface(plain.name, fields, plain.packing, plain.row_major)
    # Every implementation rounds the size up to a vec4, even where the rule does not.
    return laid_out, align(max(offset, explicit_size(laid_out), 1), 16)
