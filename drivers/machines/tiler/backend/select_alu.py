"""Selection of arithmetic for the tiler: its table of patterns, and a few sequences.

Operations that the machine lacks have been lowered in NIR before (see `lower`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gallette.compiler.nir.ir import Alu
from gallette.drivers.machines.isa.types import TYPES, RegType
from gallette.drivers.machines.selection.patterns import Pattern, parts_wanted, pattern_table
from gallette.drivers.machines.tiler.isa.instruction import Operand, immediate

from .selector import Pair, SelectorCore, Value

__all__ = ["PATTERNS", "AluSelector"]

UD, D, F = TYPES["UD"], TYPES["D"], TYPES["F"]
_SIGN = 0x80000000

PATTERNS = pattern_table(__file__, "patterns.txt")


class AluSelector(SelectorCore):
    """Selects arithmetic for the tiler."""

    patterns = PATTERNS

    def emit_pattern(self, pattern: Pattern, operands: Sequence[Value], type: RegType) -> Operand:
        if any(isinstance(operand, Pair) for operand in operands) or type.size == 8:
            raise self.fail(f"the 64-bit operation {self.note!r}")
        return self.emit(pattern.name, *operands, sat="sat" in pattern.modifiers)  # type: ignore[arg-type]

    def negated(self, operand: Operand, base: str) -> Operand:
        if operand.file == "i":
            return immediate(operand.bits ^ _SIGN if base == "float" else -operand.bits)
        return operand._replace(neg=not operand.neg)

    def absolute(self, operand: Operand, base: str) -> Operand:
        if operand.file == "i" and base == "float":
            return immediate(operand.bits & ~_SIGN)
        if operand.file == "i":
            return immediate(-operand.bits if operand.bits & _SIGN else operand.bits)
        return operand._replace(abs=True, neg=False)

    def derivative(self, instr: Alu) -> list[Operand]:
        """Select fddx, fddy and their variants."""
        (value,) = self.operands(instr)
        if value.file in "ic":
            return [immediate(0)]
        name = f"ds{instr.op.name[3]}" + ".c" * instr.op.name.endswith("_coarse")
        return [self.emit(name, value)]

    def select(self, instr: Alu) -> list[Any]:
        """Select bcsel."""
        condition = self.value(instr.srcs[0])
        a, b = self.value(instr.srcs[1]), self.value(instr.srcs[2])
        known = self.known(condition)
        if known is not None:
            return [a if known else b]
        return [self.choice(condition, a, b)]

    # -- 64 bits -----------------------------------------------------------------------------------

    def widen(self, instr: Alu) -> list[Value]:
        """Select u2u64 and similar conversions; `lower_int64` and `lower_doubles` have lowered the
        rest.
        """
        value = self.value(instr.srcs[0])
        if instr.op.name != "i2i64":
            return [Pair(value, immediate(0))]
        value = self.signed(value, instr.srcs[0].value.bit_size)
        return [Pair(value, self.emit("ashr.b", value, immediate(31)))]

    def pack_64(self, instr: Alu) -> list[Any]:
        if len(instr.srcs) == 2:
            parts = [self.read(src, UD) for src in instr.srcs]
        else:
            parts = [self.read(instr.srcs[0], UD, k) for k in range(2)]
        return [Pair(*parts)]

    def unpack_64(self, instr: Alu) -> list[Any]:
        pair = self.value(instr.srcs[0])
        return [pair[k] for k in parts_wanted(instr)]

    # -- 16 and 8 bits -----------------------------------------------------------------------------

    def pack_half(self, instr: Alu) -> list[Any]:
        """Select pack_half_2x16_split, as two halves of a register."""
        made = self.new()
        for k, src in enumerate(instr.srcs):
            half = made._replace(half=True, offset=k)
            self.put("cov.fh", half, self.read(src, F), fresh=k == 0)
        return [made]

    def unpack_half(self, instr: Alu) -> list[Any]:
        src = self.read(instr.srcs[0], UD)
        if src.file != "v":
            src = self.put("mov", self.new(), src)
        k = int(instr.op.name.endswith("_y"))
        return [self.emit("cov.hf", src._replace(half=True, offset=2 * src.offset + k))]

    def quantize(self, instr: Alu) -> list[Any]:
        """Select fquantize2f16: values below the smallest normal half become zero."""
        x = self.read(instr.srcs[0], F)
        half = self.new()._replace(half=True)
        self.put("cov.fh", half, x)
        rounded = self.emit("cov.hf", half)
        small = self.emit("cmps.f.lt", x._replace(abs=True, neg=False), immediate(0x38800000))
        zero = self.emit("and.b", self.typed(x, UD), immediate(_SIGN))  # type: ignore[arg-type]
        return [self.emit("sel.b", zero, small, rounded)]

    def narrow(self, instr: Alu) -> list[Any]:
        """A small integer, zero-extended to 32 bits."""
        value = self.value(instr.srcs[0])
        if isinstance(value, Pair):
            value = value.low
        bits = instr.result.bit_size
        name = instr.op.name
        given = instr.srcs[0].value.bit_size
        if given < bits and name.startswith("i2"):
            value = self.signed(value, given)
        if (bits < 32 and bits < given) or (bits < 32 and name.startswith("i2")):
            value = self.emit("and.b", value, immediate((1 << bits) - 1))
        return [value]

    def signed(self, value: Any, bits: int) -> Any:
        """Sign-extend a number of `bits` bits."""
        if bits == 32:
            return value
        up = immediate(32 - bits)
        return self.emit("ashr.b", self.emit("shl.b", value, up), up)

    def pack_small(self, instr: Alu) -> list[Any]:
        """Select pack_32_2x16 and pack_32_4x8."""
        sources = [(src, k) for src in instr.srcs for k in range(src.num_components)]
        bits = 32 // len(sources)
        whole = self.read(sources[0][0], UD, sources[0][1])
        for n, (src, k) in enumerate(sources[1:], 1):
            part = self.emit("shl.b", self.read(src, UD, k), immediate(n * bits))
            whole = self.emit("or.b", whole, part)
        return [whole]

    def unpack_small(self, instr: Alu) -> list[Any]:
        value = self.read(instr.srcs[0], UD)
        bits = instr.result.bit_size
        found = []
        for k in parts_wanted(instr):
            part = self.emit("shr.b", value, immediate(k * bits)) if k else value
            found.append(self.emit("and.b", part, immediate((1 << bits) - 1)))
        return found
