"""The layout of uniforms: storage of the default block, and members of declared blocks."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.program import AtomicBuffer, Uniform
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.layout import (
    STD140,
    STD430,
    align,
    explicit_size,
    explicit_type,
    size_align,
)
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.types import Field, Type


@lazy_dataclass()
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

    def uniform(
        self,
        stages: frozenset[Stage],
        *,
        prefix: str = "",
        block: int = -1,
        location: int = -1,
        units: dict[Stage, int] | None = None,
        binding: int = -1,
        builtin: bool = False,
        is_handle: bool = False,
    ) -> Uniform:
        """The active uniform or buffer variable (OpenGL 4.6, 7.3.1.1); it has an offset unless the
        API stores its unit.
        """
        kind = self.type
        return Uniform(
            prefix + self.name,
            kind.plain,
            self.array_size,
            location,
            -1 if kind.is_opaque and block < 0 and not is_handle else self.offset,
            block,
            self.array_stride,
            kind.stride if kind.is_matrix else 0,
            kind.row_major,
            stages,
            units or {},
            binding,
            builtin,
            top_level_array_size=self.top_size,
            top_level_array_stride=self.top_stride,
            is_handle=is_handle,
        )


def counter(name: str, type: Type, binding: int, offset: int, stages: frozenset[Stage]) -> Uniform:
    """An active atomic counter or array of them (OpenGL 4.6, 7.7)."""
    return Uniform(
        f"{name}[0]" if type.is_array else name,
        t.ATOMIC_UINT,
        type.array_elements if type.is_array else 0,
        -1,
        offset,
        -1,
        4 if type.is_array else 0,
        0,
        False,
        stages,
        {},
        binding,
        atomic_buffer=binding,
    )


def counter_buffer(binding: int, indices: Sequence[int], uniforms: list[Uniform]) -> AtomicBuffer:
    """The buffer that holds the counters with these indices."""
    group = [uniforms[i] for i in indices]
    size = max(u.offset + 4 * max(1, u.array_size) for u in group)
    stages = frozenset(s for u in group for s in u.stages)
    return AtomicBuffer(binding, size, stages, tuple(indices))


def write_constant(data: bytearray, offset: int, type: Type, bits: Any) -> None:
    """Write a value in NIR's form of initialisers at an offset of a type with a layout."""
    if type.element is not None:
        for i, part in enumerate(bits):
            write_constant(data, offset + i * type.stride, type.element, part)
    elif type.is_struct:
        for member, part in zip(type.fields, bits, strict=True):
            write_constant(data, offset + member.offset, member.type, part)
    else:
        letter = "Q" if type.bit_size == 64 else "I"
        for i, column in enumerate(bits if type.is_matrix else (bits,)):
            struct.pack_into(f"<{len(column)}{letter}", data, offset + i * type.stride, *column)


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


def block_leaves(type_: Type, mode: Mode) -> Iterator[Leaf]:
    """Enumerate the leaves of a block. Of a member of a storage block that is an array of
    structures or arrays only the first element is one, which represents the others.
    """
    if mode is Mode.UBO:
        yield from leaves("", type_)
        return
    for field in type_.fields:
        element, offset = field.type.element, max(field.offset, 0)
        if element is None or not (element.is_array or element.is_struct):
            yield from leaves(field.name, field.type, offset)
            continue
        for leaf in leaves(f"{field.name}[0]", element, offset):
            leaf.top_size, leaf.top_stride = field.type.length, field.type.stride
            yield leaf


@lru_cache(maxsize=256)
def laid_out(plain: Type, places: tuple[tuple[int, int], ...]) -> tuple[Type, int]:
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
    whole = t.interface(plain.name, fields, plain.packing, plain.row_major)
    return whole, block_size(whole, offset)


def block_size(type_: Type, least: int = 1) -> int:
    """The size of a block with a layout: every implementation rounds it up to a vec4, even where
    the rule does not.
    """
    return align(max(least, explicit_size(type_), 1), 16)
