"""Selection of arithmetic for the execution unit: its table of patterns, and a few sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gallette.compiler.nir.ir import Alu
from gallette.drivers.machines.isa.types import TYPES, RegType, type_of
from gallette.drivers.machines.selection.patterns import Pattern, parts_wanted, pattern_table
from gallette.drivers.machines.simd.isa.instruction import Region, immediate
from gallette.drivers.machines.simd.isa.opcodes import CONDITIONS

from .selector import SelectorCore

UD, D, F, HF = (TYPES[n] for n in ("UD", "D", "F", "HF"))
_ONE = 0x3F800000

PATTERNS = pattern_table(__file__, "patterns.txt")

# Which channel of a quad is subtracted from which.
_DERIVATIVES = {
    "fddx": ((1, 1, 3, 3), (0, 0, 2, 2)),
    "fddx_coarse": ((1, 1, 1, 1), (0, 0, 0, 0)),
    "fddy": ((2, 3, 2, 3), (0, 1, 0, 1)),
    "fddy_coarse": ((2, 2, 2, 2), (0, 0, 0, 0)),
}


class AluSelector(SelectorCore):
    """Selects arithmetic for the execution unit."""

    patterns = PATTERNS
    uses_formulas = True

    def emit_pattern(self, pattern: Pattern, operands: Sequence[Region], type: RegType) -> Region:
        name, srcs = pattern.name, list(operands)
        if name == "truth":
            return self.truth(srcs[0], type)
        if name in ("and", "or", "xor", "not"):  # of truth values, too
            srcs = [self.typed(src, UD) for src in srcs] if type is D else srcs
            type = UD if type is D else type
        more: dict[str, Any] = {word: True for word in pattern.modifiers if word == "sat"}
        more["cond"] = next((word for word in pattern.modifiers if word in CONDITIONS), "")
        if name == "cmp":
            made = self.new(D)
            return self.emit(name, made, *srcs, flag=self.take_flag(made), **more)
        return self.emit(name, self.new(type), *srcs, **more)

    def bits_of(self, operand: Region) -> int:
        return operand.type.size * 8

    # -- small sequences ---------------------------------------------------------------------------

    def truth(self, mask: Region, type: RegType) -> Region:
        """A mask as 1 or 0 in a type."""
        mask = mask.retyped(UD) if mask.file != "i" else immediate(mask.bits, UD)
        if type.name == "F":
            made = self.new(UD)
            self.emit("and", made, mask, immediate(_ONE, UD))
            return made.retyped(F)
        made = self.new(UD)
        self.emit("and", made, mask, immediate(1, UD))
        if type.size == 4 and type.base != "float":
            return made.retyped(type)
        return self.emit("mov", self.new(type), made)

    def derivative(self, instr: Alu) -> list[Region]:
        """Select fddx, fddy and their variants."""
        (value,) = self.operands(instr)
        if value.file == "i" or value.stride == 0:
            return [immediate(0, value.type)]
        if value.modified:
            value = self.move(value)
        far, near = _DERIVATIVES[instr.op.name.removesuffix("_fine")]
        a = value._replace(swizzle=far)
        b = value._replace(swizzle=near, neg=True)
        return [self.emit("add", self.new(value.type), a, b)]

    def select(self, instr: Alu) -> list[Region]:
        """Select bcsel."""
        dest = instr.result
        type = D if dest.bit_size == 1 else type_of("uint", dest.bit_size)
        known = self.constant(instr.srcs[0])
        if known is not None:
            return [self.value(instr.srcs[1 if known else 2])]
        flag, sign = self.flag_of(self.value(instr.srcs[0])), "+"
        a, b = self.value(instr.srcs[1]), self.value(instr.srcs[2])
        floats = any(r.modified and r.type.base == "float" for r in (a, b))
        if floats and dest.bit_size != 1:
            type = type_of("float", dest.bit_size)
        a, b = self.typed(a, type), self.typed(b, type)
        if a.file == "i" and b.file != "i":
            a, b, sign = b, a, "-"
        return [self.emit("sel", self.new(type), a, b, pred=sign, flag=flag)]

    def choice(self, condition: Region, a: Region, b: Region) -> Region:
        flag = self.flag_of(condition)
        return self.emit("sel", self.new(a.type), a, self.typed(b, a.type), pred="+", flag=flag)

    # -- packing -----------------------------------------------------------------------------------

    def all_inputs(self, instr: Alu, type: RegType) -> list[Region]:
        """All source components in order."""
        found = []
        for src, size in zip(instr.srcs, instr.op.input_sizes, strict=True):
            found += [self.read(src, type, k) for k in range(max(1, size))]
        return found

    def join(self, whole: RegType, part: RegType, parts: list[Region]) -> Region:
        """Combine values into a wider one, the first in the lowest bits."""
        made = self.new(whole)
        ratio = whole.size // part.size
        for k, value in enumerate(parts):
            target = Region("v", made.nr, part, k * part.size, ratio)
            self.emit("mov", target, value, fresh=k == 0)
        return made

    def cut(self, value: Region, part: RegType, k: int) -> Region:
        """Part `k` of a wider value."""
        if value.file == "i":
            size = part.size * 8
            return immediate(value.bits >> k * size, part)
        stride = value.stride * (value.type.size // part.size)
        return value._replace(type=part, offset=value.offset + k * part.size, stride=stride)

    def pack(self, instr: Alu) -> list[Region]:
        """Select pack_64_2x32 and its variants."""
        whole, part = (type_of("uint", bits) for bits in _pack_sizes(instr.op.name))
        return [self.join(whole, part, self.all_inputs(instr, part))]

    def unpack(self, instr: Alu) -> list[Region]:
        """Select unpack_64_2x32 and its variants."""
        whole, part = (type_of("uint", bits) for bits in _pack_sizes(instr.op.name))
        value = self.read(instr.srcs[0], whole)
        parts = parts_wanted(instr)
        return [self.emit("mov", self.new(part), self.cut(value, part, k)) for k in parts]

    def pack_half(self, instr: Alu) -> list[Region]:
        """Select pack_half_2x16."""
        halves = [self.emit("mov", self.new(HF), x) for x in self.all_inputs(instr, F)]
        return [self.join(UD, HF, halves)]

    def unpack_half(self, instr: Alu) -> list[Region]:
        """Select unpack_half_2x16."""
        value = self.read(instr.srcs[0], UD)
        parts = parts_wanted(instr)
        return [self.emit("mov", self.new(F), self.cut(value, HF, k)) for k in parts]


def _pack_sizes(name: str) -> tuple[int, int]:
    """The two sizes in an opcode's name: 64 and 32 for `unpack_64_2x32_split_x`."""
    words = name.split("_")
    return int(words[1]), int(words[2].partition("x")[2])
