"""Instruction selection, the core: values as operands, and the machine's restrictions on operands.

A component of an SSA value is an operand: a register, a constant, an immediate; with 64 bits a pair
of them. Signs of floats are modifiers of the operand. A boolean is 1 or 0. The restrictions: an
instruction of two sources has ten bits for an immediate, one of three none, and at most one source
is a constant; a message's payload is in consecutive registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gallette.compiler.nir.ir import Shader
from gallette.drivers.machines.constants import ConstantSlot
from gallette.drivers.machines.isa.instruction import Message
from gallette.drivers.machines.isa.messages import PARAMS, Place, pack
from gallette.drivers.machines.isa.types import TYPES, RegType
from gallette.drivers.machines.selection.arithmetic import ArithmeticSelector
from gallette.drivers.machines.tiler.isa.instruction import NONE, Instruction, Operand, immediate
from gallette.drivers.machines.tiler.isa.opcodes import MNEMONICS
from gallette.drivers.machines.tiler.isa.table import ISA, LIMITS

from .code import Code

UD, D, F, UQ = TYPES["UD"], TYPES["D"], TYPES["F"], TYPES["UQ"]
MOST_UNIFORMS = LIMITS["c"] - 96
P0 = Operand("p", 0)


class Pair(NamedTuple):
    """A component of 64 bits."""

    low: Operand
    high: Operand


Value = Operand | Pair


class SelectorCore(ArithmeticSelector):
    """Makes instructions; the table of patterns chooses them."""

    machine = "tiler"
    code: Code

    def __init__(self, shader: Shader, flat_colors: bool = False) -> None:
        super().__init__(shader, flat_colors)
        self.code = Code()
        self.slots: dict[ConstantSlot, int] = {}

    # -- registers and constants -------------------------------------------------------------------

    def new(self) -> Operand:
        """A new virtual register."""
        return Operand("v", self.code.new(1))

    def slot(self, entry: ConstantSlot) -> Operand | None:
        """The constant register that holds this value, if there is room."""
        found = self.slots.get(entry)
        if found is None:
            limit = LIMITS["c"] if entry.block < 0 else MOST_UNIFORMS
            if len(self.code.constants) >= limit:
                return None
            found = self.slots[entry] = len(self.code.constants)
            self.code.constants.append(entry)
        return Operand("c", found)

    def uniform(self, block: int, offset: int, type: RegType) -> Value | None:
        low = self.slot(ConstantSlot(block, offset))
        if type.size != 8 or low is None:
            return low
        high = self.slot(ConstantSlot(block, offset + 4))
        return None if high is None else Pair(low, high)

    # -- values ------------------------------------------------------------------------------------

    def typed(self, operand: Value, type: RegType) -> Value:
        """An operand as another type; modifiers apply to floats only, so for integers they are
        resolved.
        """
        if isinstance(operand, Pair) or not operand.modified or type.base == "float":
            return operand
        return self.emit("absneg.f", operand)

    def known(self, operand: Value) -> int | None:
        if isinstance(operand, Pair):
            low, high = self.known(operand.low), self.known(operand.high)
            return None if low is None or high is None else high << 32 | low
        return operand.bits if operand.file == "i" else None

    def number(self, bits: int, type: RegType) -> Value:
        if type.size == 8:
            return Pair(immediate(bits), immediate(bits >> 32))
        return immediate(bits)

    def as_bool(self, operand: Value) -> Operand:
        """A boolean that may be all ones as 1 or 0."""
        assert isinstance(operand, Operand)
        return self.emit("and.b", operand, immediate(1))

    # -- emission ----------------------------------------------------------------------------------

    def emit(self, name: str, *srcs: Operand, **more: Any) -> Operand:
        """Emit an instruction into a new register."""
        return self.put(name, self.new(), *srcs, **more)

    def put(self, name: str, dst: Operand, *srcs: Operand, **more: Any) -> Operand:
        """Emit an instruction into `dst`."""
        instr = Instruction(name, dst, **more)
        instr.srcs = self.legal(instr, list(srcs))
        self.append(instr)
        return dst

    def legal(self, instr: Instruction, srcs: list[Operand]) -> tuple[Operand, ...]:
        """Operands that the encoding allows; others are moved into registers or become
        constants.
        """
        once = ISA.formats[instr.op.format].once
        taken = False
        for k, src in enumerate(srcs):
            if ISA.refusal(instr.op, f"src{k}", src):
                if src.file == "i":
                    src = self.placed(src)
                elif src.abs:
                    src = self.emit("absneg.f", src)
            if ISA.refusal(instr.op, f"src{k}", src) or (taken and src.file in once):
                src = self.put("mov", self.new(), src.plain)._replace(neg=src.neg, abs=src.abs)
            taken |= src.file in once
            srcs[k] = src
        return tuple(srcs)

    def bits_of(self, operand: Value) -> int:
        return 64 if isinstance(operand, Pair) else 32

    def placed(self, src: Operand) -> Operand:
        """An immediate as a constant, or in a register when all constants are taken."""
        if src.file != "i":
            return src
        found = self.slot(ConstantSlot(-1, src.bits))
        return found if found is not None else self.put("mov", self.new(), src)

    def copy(self, dst: Operand, src: Operand, fresh: bool = True) -> None:
        """Copy the bits of an operand, with modifiers applied."""
        if src.half and not dst.half:
            self.put("cov.hf", dst, src, fresh=fresh)
        elif src.modified:
            self.put("absneg.f", dst, src, fresh=fresh)
        else:
            self.put("mov", dst, src, fresh=fresh)

    # -- messages ----------------------------------------------------------------------------------

    def send(
        self,
        unit: str,
        fields: dict[str, int],
        payload: Sequence[Value],
        result: int = 0,
        note: str = "",
    ) -> Operand:
        """Send a message with its payload gathered into one virtual register."""
        words: list[Operand] = []
        for item in payload:
            words += [item.low, item.high] if isinstance(item, Pair) else [item]
        source = Operand("v", 0)
        if words:
            source = Operand("v", self.code.new(len(words)))
            for k, word in enumerate(words):
                self.copy(source._replace(offset=k), word, fresh=k == 0)
        dst = Operand("v", self.code.new(result)) if result else NONE
        if len(words) > 15 or result > 8:
            raise self.fail(f"a message of {len(words)} words that returns {result}")
        message = Message(unit, pack(unit, **fields), len(words), result)
        name = MNEMONICS.get(unit, unit)
        srcs = (source,) if words else (Operand("r"),)
        self.append(Instruction(name, dst, srcs, message=message, note=note))
        return dst

    def send_for_reply(
        self,
        unit: str,
        fields: dict[str, int],
        payload: Sequence[Value],
        type: RegType,
        count: int,
        note: str = "",
    ) -> list[Any]:
        wide = type.size == 8
        first = self.send(unit, fields, payload, count * (2 if wide else 1), note)
        if wide:
            parts = [first._replace(offset=k) for k in range(2 * count)]
            return [Pair(low, high) for low, high in zip(parts[::2], parts[1::2], strict=True)]
        return [first._replace(offset=k) for k in range(count)]

    def send_message(
        self, unit: str, fields: dict[str, int], payload: Sequence[Value], note: str = ""
    ) -> None:
        self.send(unit, fields, payload, 0, note)

    def sample(
        self,
        op: str,
        fields: dict[str, int],
        payload: list[Any],
        offsets: list[tuple[int, ...]],
        count: int,
    ) -> list[Any]:
        """Sample with texel offsets as parameters; four offsets are four gathers."""
        if not offsets:
            return self.send_for_reply("sampler", fields, payload, UD, count, op)
        number = PARAMS.index("offset")
        behind = sum(
            1
            for k in (PARAMS.index("ms_index"), PARAMS.index("min_lod"))
            if fields["params"] >> k & 1
        )
        at = len(payload) - behind
        found: list[Any] = []
        for offset in offsets:
            more = [immediate(v) for v in offset]
            some = {**fields, "params": fields["params"] | 1 << number, "extent": len(offset) - 1}
            if fields["params"] >> PARAMS.index("ddx") & 1:
                some["extent"] = fields["extent"]
            carried = [*payload[:at], *more, *payload[at:]]
            found.append(self.send_for_reply("sampler", some, carried, UD, count, op))
        if len(offsets) == 1:
            return list(found[0])
        return [texel[3] for texel in found]

    def choice(self, condition: Operand, a: Value, b: Value) -> Value:
        """a where the condition holds, else b; 32 bits beside a pair serve both of its halves."""
        if isinstance(a, Pair):
            other = b if isinstance(b, Pair) else Pair(b, b)
            low = self.emit("sel.b", a.low, condition, other.low)
            return Pair(low, self.emit("sel.b", a.high, condition, other.high))
        assert isinstance(b, Operand)
        return self.emit("sel.b", self.typed(a, UD), condition, self.typed(b, UD))  # type: ignore[arg-type]

    # -- fragments ---------------------------------------------------------------------------------

    def result(self, place: Place) -> Operand:
        return self.new()

    def assign(self, target: Value, value: Value) -> None:
        if isinstance(target, Pair):
            assert isinstance(value, Pair)
            self.copy(target.low, value.low)
            self.copy(target.high, value.high)
        else:
            assert isinstance(value, Operand)
            self.copy(target, value)

    def discard_where(self, condition: Operand | None) -> None:
        if condition is None:
            condition = self.put("mov", self.new(), immediate(1))
        self.put("cmps.u.ne", P0, condition, immediate(0))
        self.append(Instruction("kill"))
