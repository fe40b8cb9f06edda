"""Selection: a lowered shader becomes flat code of the tiler, control flow included.

A branch is a comparison into p0.x and a jump. Operations that the machine lacks have been lowered
in NIR before (see `lower`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gallette.compiler.nir.ir import Alu, If, Loop, Shader, Src
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.machines.isa.messages import LIVE_FLAG
from gallette.drivers.machines.isa.types import TYPES, RegType, type_of
from gallette.drivers.machines.selection.flow import is_empty, only_jumps
from gallette.drivers.machines.selection.patterns import Pattern, parts_wanted, pattern_table
from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand, immediate
from gallette.drivers.machines.tiler.isa.opcodes import LABEL

from .code import Code
from .selector import P0, Pair, SelectorCore, Value

UD, F = TYPES["UD"], TYPES["F"]
_SIGN = 0x80000000
_WHOLE = frozenset({FragResult.DEPTH, FragResult.STENCIL, FragResult.SAMPLE_MASK})

PATTERNS = pattern_table(__file__, "patterns.txt")


class Selector(SelectorCore):
    """Selects a whole shader."""

    patterns = PATTERNS

    def __init__(
        self, shader: Shader, flat_colors: bool = False, half_colors: bool = False
    ) -> None:
        super().__init__(shader, flat_colors)
        self.half_colors = half_colors
        self.loops: list[tuple[int, int]] = []  # labels: after the loop, its end

    def run(self) -> Code:
        """The code of the shader."""
        self.body(self.shader.entry.body)
        if self.stage == "fragment":
            self.finish_fragment()
        self.append(Instruction("end"))
        self.code.private = self.private
        return self.code

    def write_target(self, fields: dict[str, int], values: list[Operand]) -> None:
        if self.half_colors and fields["slot"] not in _WHOLE:
            fields, values = {**fields, "half": 1}, self.halved(values)
        super().write_target(fields, values)

    def halved(self, values: list[Operand]) -> list[Operand]:
        """Values as half registers, two per register."""
        packed = [self.new() for _ in range(0, len(values), 2)]
        for k, value in enumerate(values):
            dst = packed[k // 2]._replace(half=True, offset=k % 2)
            self.put("cov.fh", dst, value, fresh=k % 2 == 0)
        return packed

    # -- control flow ------------------------------------------------------------------------------

    def place(self, label: int) -> None:
        self.append(Instruction(LABEL, target=label))

    def go(self, name: str, label: int, *, inverse: bool = False, pred: int = 0) -> None:
        self.append(Instruction(name, target=label, inverse=inverse, pred=pred))

    def jump(self, type: str) -> None:
        self.go("jump", self.loops[-1][type == "continue"])

    def predicate(self, src: Src) -> None:
        """A condition in p0.x, written by the comparison itself if that was the last
        instruction.
        """
        value = self.value(src)
        last = self.code.instrs[-1] if self.code.instrs else None
        if (
            last is not None
            and last.op.kind == "compare"
            and last.dst == value
            and len(src.value.uses) == 1
        ):
            last.dst = P0
            return
        if value.file != "v":
            value = self.put("mov", self.new(), value)
        self.put("cmps.u.ne", P0, value, immediate(0))

    def branch(self, node: If) -> None:
        self.predicate(node.condition)
        for body, other, inverse in (
            (node.then_body, node.else_body, False),
            (node.else_body, node.then_body, True),
        ):
            jump = only_jumps(body, other)
            if jump is not None:
                self.go("br", self.loops[-1][jump == "continue"], inverse=inverse)
                return
        otherwise = self.code.label()
        self.go("br", otherwise, inverse=True)
        self.depth += 1
        self.body(node.then_body)
        if is_empty(node.else_body):
            self.place(otherwise)
        else:
            end = self.code.label()
            if self.code.instrs[-1].op.name != "jump":
                self.go("jump", end)
            self.place(otherwise)
            self.body(node.else_body)
            self.place(end)
        self.depth -= 1

    def loop(self, node: Loop) -> None:
        head, end, behind = (self.code.label() for _ in range(3))
        self.loops.append((behind, end))
        self.place(head)
        self.depth += 1
        self.body(node.body)
        self.depth -= 1
        self.place(end)
        if self.may_discard:  # pixels that write nothing must not keep a loop running
            self.go("brdead", behind, pred=LIVE_FLAG)
        self.go("jump", head)
        self.place(behind)
        self.loops.pop()

    # -- values ------------------------------------------------------------------------------------

    def register(self, bits: int) -> Value:
        return Pair(self.new(), self.new()) if bits == 64 else self.new()

    def bits(self, value: int, size: int) -> Value:
        return self.number(value, type_of("uint", size))

    # -- arithmetic --------------------------------------------------------------------------------

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
