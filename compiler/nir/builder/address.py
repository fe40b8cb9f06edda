"""From derefs to byte offsets, for memory whose types carry their layout."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import component_bytes, explicit_type
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def


class Address:
    """A byte offset being computed: a constant part, a dynamic part, and the type at the offset."""

    __slots__ = ("b", "constant", "dynamic", "type")

    def __init__(self, b: Builder, type: Type, constant: int = 0):
        self.b = b
        self.type = type
        self.constant = constant
        self.dynamic: Def | None = None

    def step(self, deref: Deref) -> None:
        """Follow one deref of the chain."""
        if deref.form == "struct":
            member = self.type.fields[deref.field]
            self.constant += member.offset
            self.type = member.type
        else:
            self.add_index(deref.srcs[1].value, self._enter_elements())

    def _enter_elements(self) -> int:
        """Make the type of its elements (or columns, components) the current type; returns their
        stride.
        """
        t = self.type
        if t.element is not None:
            self.type = t.element
            return t.stride
        if t.is_matrix:
            self.type = t.column_type
            return component_bytes(t) if t.row_major else t.stride
        self.type = t.scalar_type
        return t.stride or component_bytes(t)

    def add_index(self, index: Def, stride: int) -> None:
        constant = const_int(index)
        if constant is not None:
            self.constant += constant * stride
            return
        b = self.b
        scaled = index if stride == 1 else b.imul(index, b.imm_int(stride, index.bit_size))
        self.dynamic = scaled if self.dynamic is None else b.iadd(self.dynamic, scaled)

    def offset(self, extra: int = 0) -> Def:
        """The offset as a value."""
        constant = self.b.imm_int(self.constant + extra)
        return constant if self.dynamic is None else self.b.iadd(self.dynamic, constant)


def explicit_root(type: Type, rule: str) -> Type:
    """The root type with layout, computed by `rule` unless it has one."""
    inner = type.without_array
    if type.is_array and type.stride == 0 and type.length != 0:
        return explicit_type(type, rule)
    if inner.is_matrix and inner.stride == 0:
        return explicit_type(type, rule)
    if inner.is_struct and any(f.offset < 0 for f in inner.fields):
        return explicit_type(type, rule)
    return type
