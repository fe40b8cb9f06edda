"""Values of LLVM IR as Python objects: a type, a number of lanes, and their name in the text.

A `V` with `w == 0` is a scalar, otherwise a vector of `w` lanes. Operators emit instructions into
the value's builder; if one side is a scalar (or a Python number) and the other a vector, the scalar
is repeated in all lanes. Floats and integers use the same operators: the type decides what is
emitted. Integers are signless in LLVM, so `<`, `>>` and `//` are the signed operations and the
unsigned ones have names (`ult`, `lshr`).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .text import Builder

FLOATS = {"half": 16, "float": 32, "double": 64}
_SIZES = {**FLOATS, "i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "i128": 128, "ptr": 64}


def bits_of(t: str) -> int:
    """Bits of an element type."""
    return _SIZES.get(t) or int(t[1:])


def type_text(t: str, w: int) -> str:
    """The LLVM type of `w` lanes of `t`."""
    return f"<{w} x {t}>" if w else t


def constant_text(t: str, value: float | int | bool) -> str:
    """A literal: floats by their bits, so that every value can be written."""
    if t == "ptr":
        return "null"
    if t == "i1":
        return "true" if value else "false"
    if t == "half":
        return f"0xH{struct.unpack('<H', struct.pack('<e', value))[0]:04X}"
    if t == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    if t in ("float", "double"):
        return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    bits = bits_of(t)
    whole = int(value) & ((1 << bits) - 1)
    return str(whole - (1 << bits) if whole >> (bits - 1) else whole)


class V:
    """One value."""

    __slots__ = ("b", "literal", "n", "t", "w")

    def __init__(self, b: Builder, t: str, w: int, n: str, literal: bool = False) -> None:
        self.b = b
        self.t = t
        self.w = w
        self.n = n
        self.literal = literal

    @property
    def type(self) -> str:
        return f"<{self.w} x {self.t}>" if self.w else self.t

    @property
    def is_float(self) -> bool:
        return self.t in FLOATS

    @property
    def bits(self) -> int:
        return bits_of(self.t)

    def __repr__(self) -> str:
        return f"{self.type} {self.n}"

    # -- arithmetic ----------------------------------------------------------------------------

    def __add__(self, other: Operand) -> V:
        return self.b.binary("fadd" if self.is_float else "add", self, other)

    def __radd__(self, other: Operand) -> V:
        return self.b.binary("fadd" if self.is_float else "add", self, other)

    def __sub__(self, other: Operand) -> V:
        return self.b.binary("fsub" if self.is_float else "sub", self, other)

    def __rsub__(self, other: Operand) -> V:
        return self.b.like(self, other) - self

    def __mul__(self, other: Operand) -> V:
        return self.b.binary("fmul" if self.is_float else "mul", self, other)

    def __rmul__(self, other: Operand) -> V:
        return self * other

    def __truediv__(self, other: Operand) -> V:
        return self.b.binary("fdiv", self, other)

    def __rtruediv__(self, other: Operand) -> V:
        return self.b.like(self, other) / self

    def __and__(self, other: Operand) -> V:
        return self.b.binary("and", self, other)

    def __or__(self, other: Operand) -> V:
        return self.b.binary("or", self, other)

    def __xor__(self, other: Operand) -> V:
        return self.b.binary("xor", self, other)

    def __lshift__(self, other: Operand) -> V:
        return self.b.binary("shl", self, other)

    def __rshift__(self, other: Operand) -> V:
        return self.b.binary("ashr", self, other)

    def lshr(self, other: Operand) -> V:
        """Shift right, filling with zeros."""
        return self.b.binary("lshr", self, other)

    def __invert__(self) -> V:
        return self ^ (True if self.t == "i1" else -1)

    def __neg__(self) -> V:
        if self.is_float:
            return self.b.emit(self.t, self.w, f"fneg {self.type} {self.n}")
        return self.b.like(self, 0) - self

    # -- comparison ----------------------------------------------------------------------------

    def __lt__(self, other: Operand) -> V:
        return self.b.compare("olt" if self.is_float else "slt", self, other)

    def __le__(self, other: Operand) -> V:
        return self.b.compare("ole" if self.is_float else "sle", self, other)

    def __gt__(self, other: Operand) -> V:
        return self.b.compare("ogt" if self.is_float else "sgt", self, other)

    def __ge__(self, other: Operand) -> V:
        return self.b.compare("oge" if self.is_float else "sge", self, other)

    def eq(self, other: Operand) -> V:
        """Equal; false for NaN."""
        return self.b.compare("oeq" if self.is_float else "eq", self, other)

    def ne(self, other: Operand) -> V:
        """Not equal; true for NaN."""
        return self.b.compare("une" if self.is_float else "ne", self, other)

    def ult(self, other: Operand) -> V:
        return self.b.compare("ult", self, other)

    def ule(self, other: Operand) -> V:
        return self.b.compare("ule", self, other)

    def ugt(self, other: Operand) -> V:
        return self.b.compare("ugt", self, other)

    def uge(self, other: Operand) -> V:
        return self.b.compare("uge", self, other)

    # -- other types ---------------------------------------------------------------------------

    def bitcast(self, t: str) -> V:
        """The bits as another type of the same size."""
        if t == self.t:
            return self
        if t == "float" and self.t == "i32" and self.literal and not self.w:
            value = struct.unpack("<f", struct.pack("<I", int(self.n) & 0xFFFFFFFF))[0]
            if value == value:  # NaNs have many encodings
                return self.b.const(t, value)
        return self.b.cast("bitcast", self, t)

    def as_int(self) -> V:
        """The bits as an integer."""
        return self.bitcast(f"i{self.bits}") if self.is_float else self

    def as_float(self) -> V:
        """The bits as a float."""
        return self if self.is_float else self.bitcast(_FLOAT_OF[self.t])

    def to(self, t: str, signed: bool = True) -> V:
        """The integer extended or truncated to another number of bits."""
        size, new = self.bits, bits_of(t)
        if size == new:
            return self
        if new < size:
            return self.b.cast("trunc", self, t)
        return self.b.cast("sext" if signed and self.t != "i1" else "zext", self, t)

    def to_float(self, t: str = "float", signed: bool = True) -> V:
        """The value of an integer as a float."""
        return self.b.cast("sitofp" if signed else "uitofp", self, t)

    def fp(self, t: str) -> V:
        """The float in another precision."""
        if t == self.t:
            return self
        return self.b.cast("fpext" if FLOATS[t] > FLOATS[self.t] else "fptrunc", self, t)


Operand = V | int | float | bool
_FLOAT_OF = {"i16": "half", "i32": "float", "i64": "double"}
