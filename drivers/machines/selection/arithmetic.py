"""Selection of arithmetic: vectors need no instructions, a machine's table of patterns covers the
rest.

An opcode without a pattern may be a formula of opcodes that have one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir import Alu
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.drivers.machines.isa.types import RegType, type_of

from .core import Operand
from .flow import FlowSelector
from .memory import MemorySelector
from .patterns import Leaf, Pattern

FORMULAS = Formulas.beside(__file__, "formulas.txt")


class ArithmeticSelector(MemorySelector, FlowSelector):
    """Selects arithmetic. Copies and vectors only rename components; everything else is looked up
    in the table.
    """

    patterns: ClassVar[Mapping[str, Pattern]]
    uses_formulas = False  # else they have been applied to the shader

    def alu(self, instr: Alu) -> None:
        op, dest = instr.op, instr.result
        pattern = self.pattern(op, dest.bit_size)
        if op.name == "mov":
            src = instr.srcs[0]
            self.values[dest] = [self.value(src, k) for k in range(dest.num_components)]
        elif op.is_vec:
            self.values[dest] = [self.value(src) for src in instr.srcs]
        elif pattern is not None and pattern.method:
            self.values[dest] = getattr(self, pattern.method)(instr)
        elif pattern is not None and dest.num_components == 1:
            self.values[dest] = [self.made(op, pattern, self.operands(instr), dest.bit_size)]
        elif self.uses_formulas and op.name in FORMULAS:
            self.values[dest] = self.formula(instr)
        else:
            kind = "vector operation" if dest.num_components != 1 else "operation"
            raise self.fail(f"the {kind} {op.name!r}")

    def pattern(self, op: Opcode, bits: int) -> Pattern | None:
        return self.patterns.get(f"{op.name}@{bits}") or self.patterns.get(op.name)

    def operands(self, instr: Alu) -> list[Any]:
        """The sources as operands, in the types that the operation reads."""
        return [
            self.read(src, type_of(t.base, t.bits or src.value.bit_size))
            for src, t in zip(instr.srcs, instr.op.input_types, strict=True)
        ]

    def made(self, op: Opcode, pattern: Pattern, srcs: Sequence[Operand], bits: int) -> Operand:
        """The instructions of a pattern; `bits` is the size of the result."""
        out = op.output_type
        type = type_of(out.base, out.bits or bits)
        operands = []
        for given in pattern.operands:
            if isinstance(given, Pattern):
                operands.append(self.made(op, given, srcs, bits))
                continue
            operands.append(self.leaf(op, given, srcs, type))
        return self.emit_pattern(pattern, operands, type) if pattern.name else operands[0]

    def leaf(self, op: Opcode, given: Leaf, srcs: Sequence[Operand], type: RegType) -> Operand:
        if given.which < 0:
            return self.number(given.number, type)
        operand, base = srcs[given.which], op.input_types[given.which].base
        if given.placed:
            operand = self.placed(operand)
        if given.absolute:
            operand = self.absolute(operand, base)
        return self.negated(operand, base) if given.negative else operand

    @abstractmethod
    def emit_pattern(self, pattern: Pattern, operands: Sequence[Operand], type: RegType) -> Operand:
        """Emit one instruction with a result of this type."""

    @abstractmethod
    def negated(self, operand: Operand, base: str) -> Operand:
        """The negative of a number (`base`: float, int or uint)."""

    @abstractmethod
    def absolute(self, operand: Operand, base: str) -> Operand:
        """A number without its sign."""

    @abstractmethod
    def placed(self, operand: Operand) -> Operand:
        """An operand that is not an immediate."""

    # -- formulas ----------------------------------------------------------------------------------

    def formula(self, instr: Alu) -> list[Operand]:
        """An opcode without an instruction, as a formula of opcodes that have one."""
        given: list[Any] = []
        for src, type, size in zip(
            instr.srcs, instr.op.input_types, instr.op.input_sizes, strict=True
        ):
            wanted = type_of(type.base, type.bits or src.value.bit_size)
            parts = [self.read(src, wanted, k) for k in range(max(1, size))]
            given.append(parts if size > 1 else parts[0])
        found = FORMULAS.make(_Maker(self), instr.op.name, given)
        return found if isinstance(found, list) else [found]

    def apply(self, name: str, *srcs: Operand) -> Operand:
        op = OPCODES[name]
        sizes = [
            self.bits_of(src) for src, t in zip(srcs, op.input_types, strict=True) if not t.bits
        ]
        bits = sizes[-1] if sizes else 32
        typed = [
            self.typed(src, type_of(t.base, t.bits or bits))
            for src, t in zip(srcs, op.input_types, strict=True)
        ]
        if op.name == "bcsel":
            return self.choice(*typed)
        pattern = self.pattern(op, bits)
        assert pattern is not None, op.name
        return self.made(op, pattern, typed, bits)

    @abstractmethod
    def bits_of(self, operand: Operand) -> int:
        """The size of a number in bits."""


class _Maker:
    """Builds formulas over operands (`nir.builder.formulas.Maker`); vectors are lists."""

    def __init__(self, selector: ArithmeticSelector) -> None:
        self.selector = selector

    def alu(self, name: str, srcs: Sequence[Any]) -> Any:
        return list(srcs) if OPCODES[name].is_vec else self.selector.apply(name, *srcs)

    def number(self, value: float, base: str, bits: int) -> Operand:
        if base != "float":
            return self.selector.number(int(value), type_of(base, bits))
        found = np.array(value, f"f{bits // 8}").view(f"u{bits // 8}")
        return self.selector.number(int(found), type_of(base, bits))

    def swizzle(self, value: Any, components: str) -> Any:
        found = [value["xyzw".index(c)] for c in components]
        return found[0] if len(found) == 1 else found

    def size(self, value: Any) -> int:
        return self.selector.bits_of(value[0] if isinstance(value, list) else value)

    def routine(self, name: str, srcs: Sequence[Any]) -> Any:
        raise NotImplementedError(name)
