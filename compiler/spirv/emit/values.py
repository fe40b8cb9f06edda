"""Values in the code being emitted.

NIR's values are bits; SPIR-V's have types. A value has one of three kinds (`f` float, `u` unsigned
integer, `b` boolean), that of the instruction that defines it, and is cast where a user needs
another kind.
"""

from __future__ import annotations

from typing import NamedTuple

from gallette.compiler.nir.ir.bits import float_bits
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.types import Types
from gallette.compiler.spirv.module import SpirvError


class Value(NamedTuple):
    """An id and its type."""

    id: int
    kind: str
    bits: int
    components: int


class Values:
    """The ids of NIR's definitions in the module, and helpers that create values."""

    def __init__(self, b: ModuleBuilder, types: Types) -> None:
        self.b = b
        self.types = types
        self.of: dict[Def, Value] = {}

    def type(self, kind: str, bits: int, components: int = 1) -> int:
        return self.types.value(kind, bits, components)

    def set(self, dest: Def, id: int, kind: str) -> None:
        self.of[dest] = Value(id, kind, dest.bit_size, dest.num_components)

    def get(self, value: Def, kind: str = "") -> Value:
        """The value, cast to `kind` if one is given."""
        found = self.of.get(value)
        if found is None:
            raise SpirvError("a value is used before it is defined")
        return self.cast(found, kind) if kind and kind != found.kind else found

    def cast(self, v: Value, kind: str) -> Value:
        b = self.b
        type = self.type(kind, v.bits, v.components)
        if "b" in (v.kind, kind):
            raise SpirvError(f"a {v.kind} value cannot be read as {kind}")
        return Value(b.op("OpBitcast", type, v.id), kind, v.bits, v.components)

    def swizzle(self, v: Value, swizzle: tuple[int, ...]) -> Value:
        """The selected components."""
        b, n = self.b, len(swizzle)
        if swizzle == tuple(range(v.components)):
            return v
        type = self.type(v.kind, v.bits, n)
        if n == 1:
            id = b.op("OpCompositeExtract", type, v.id, swizzle[0]) if v.components > 1 else v.id
        elif v.components == 1:
            id = b.op("OpCompositeConstruct", type, *[v.id] * n)
        else:
            id = b.op("OpVectorShuffle", type, v.id, v.id, *swizzle)
        return Value(id, v.kind, v.bits, n)

    def constant(self, kind: str, bits: int, raw: tuple[int, ...]) -> Value:
        """A constant from raw bits."""
        b = self.b
        scalar = self.type(kind, bits)
        if kind == "b":
            parts = [b.truth(bool(x)) for x in raw]
        else:
            parts = [b.constant(scalar, x, bits) for x in raw]
        n = len(raw)
        id = parts[0] if n == 1 else b.composite(self.type(kind, bits, n), parts)
        return Value(id, kind, bits, n)

    def number(self, v: Value, value: float) -> int:
        """A constant of the same type as `v`, repeated in every component."""
        raw = float_bits(value, v.bits) if v.kind == "f" else int(value) & (1 << v.bits) - 1
        return self.constant(v.kind, v.bits, (raw,) * v.components).id
