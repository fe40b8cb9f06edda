"""Instruction selection, the core: values as regions, and the machine's restrictions on operands.

A component of an SSA value is a region, or an immediate. Moves, vectors and negations need no
instructions, only another way to read a region, so copy propagation happens during selection. The
restrictions: only the last source may be an immediate, and none of three; an operand spans at most
two registers, so SIMD16 code on 64-bit values is two SIMD8 instructions, one per half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gallette.compiler.nir.ir import Def, Shader
from gallette.drivers.machines.constants import ConstantSlot
from gallette.drivers.machines.isa.instruction import Message
from gallette.drivers.machines.isa.messages import pack
from gallette.drivers.machines.isa.types import TYPES, RegType
from gallette.drivers.machines.selection.arithmetic import ArithmeticSelector
from gallette.drivers.machines.simd.isa.instruction import (
    NULL,
    REG_BYTES,
    Instruction,
    Region,
    immediate,
)

from .code import FIRST_CONSTANT, Code

UD, D, F = TYPES["UD"], TYPES["D"], TYPES["F"]
FLAGS = (0, 1, 3)
_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor", "mulh", "mulx", "avg", "avgd", "addc"})
_MIRRORED = {"z": "z", "nz": "nz", "l": "g", "g": "l", "le": "ge", "ge": "le"}
MOST_CONSTANTS = 24 * 8
MOST_PUSHED = 20 * 8


class SelectorCore(ArithmeticSelector):
    """Makes instructions; the table of patterns chooses them."""

    machine = "simd"
    code: Code

    def __init__(self, shader: Shader, width: int, flat_colors: bool = False) -> None:
        super().__init__(shader, flat_colors)
        self.width = width
        self.code = Code(width)
        self.values: dict[Def, list[Region]] = {}
        self.slots: dict[tuple[ConstantSlot, int], int] = {}
        self.flags: dict[int, Region | None] = dict.fromkeys(FLAGS)  # the boolean in each
        self.next_flag = 0

    # -- registers ---------------------------------------------------------------------------------

    def component_bytes(self, bits: int) -> int:
        """The size of one component: whole registers."""
        bytes = self.width * (4 if bits == 1 else bits // 8)
        return max(REG_BYTES, bytes)

    def new(self, type: RegType, components: int = 1) -> Region:
        """A new virtual register for this many components."""
        size = self.component_bytes(type.size * 8) * components // REG_BYTES
        return Region("v", self.code.new(size), type)

    def scalar(self, type: RegType) -> Region:
        """A register for one value of all channels."""
        return Region("v", self.code.new(1), type, 0, 0)

    def parts(self, whole: Region, components: int) -> list[Region]:
        """The components of a register."""
        step = self.component_bytes(whole.type.size * 8)
        return [whole.plus(k * step) for k in range(components)]

    # -- values ------------------------------------------------------------------------------------

    def typed(self, region: Region, type: RegType) -> Region:
        if region.type is type:
            return region
        if region.file == "i":
            return immediate(region.bits, type)
        if region.modified:
            region = self.move(region)
        return region.retyped(type)

    def known(self, operand: Region) -> int | None:
        return operand.bits if operand.file == "i" else None

    def number(self, bits: int, type: RegType) -> Region:
        return immediate(bits, type)

    def as_bool(self, operand: Region) -> Region:
        return operand.retyped(D)

    def negated(self, region: Region, base: str = "") -> Region:
        if region.file == "i":
            size = region.type.size * 8
            if region.type.base == "float":
                return region._replace(bits=region.bits ^ 1 << size - 1)
            return region._replace(bits=-region.bits & (1 << size) - 1)
        return region._replace(neg=not region.neg)

    def absolute(self, region: Region, base: str = "") -> Region:
        if region.file == "i" and region.type.base == "float":
            return region._replace(bits=region.bits & (1 << region.type.size * 8 - 1) - 1)
        if region.file == "i":
            region = self.placed(region)
        return region._replace(abs=True, neg=False)

    def slot(self, entry: ConstantSlot, size: int = 4) -> int | None:
        """The constant register word that holds this value, if there is room."""
        found = self.slots.get((entry, size))
        if found is not None:
            return found
        limit = MOST_CONSTANTS if entry.block < 0 else MOST_PUSHED
        if len(self.code.constants) + 2 > limit:
            return None
        if size == 8 and len(self.code.constants) % 2:
            self.code.constants.append(ConstantSlot(-1, 0))
        found = self.slots[entry, size] = len(self.code.constants)
        self.code.constants.append(entry)
        if size == 8:
            high = entry.value >> 32 if entry.block < 0 else entry.value + 4
            low = entry.value & 0xFFFFFFFF if entry.block < 0 else entry.value
            self.code.constants[-1] = ConstantSlot(entry.block, low)
            self.code.constants.append(ConstantSlot(entry.block, high))
        return found

    def constant_region(self, slot: int, type: RegType) -> Region:
        return Region("g", FIRST_CONSTANT + slot // 8, type, slot % 8 * 4, 0)

    def placed(self, region: Region) -> Region:
        """An immediate as a scalar region."""
        if region.file != "i":
            return region
        size = region.type.size
        if size >= 4:
            found = self.slot(ConstantSlot(-1, region.bits), size)
            if found is not None:
                return self.constant_region(found, region.type)
        made = self.new(region.type)
        self.emit("mov", made, region)
        return made

    def move(self, region: Region) -> Region:
        """Copy a region, so that modifiers are applied."""
        made = self.new(region.type)
        self.emit("mov", made, region)
        return made

    # -- emission ----------------------------------------------------------------------------------

    def emit(self, name: str, dst: Region, *srcs: Region, **more: Any) -> Region:
        """Emit one instruction over all channels, or one per half."""
        operands = self.legal(name, list(srcs), more)
        fresh = more.pop("fresh", dst.stride == 1 or dst.file == "n")
        wide = any(self.spans(r) for r in (dst, *operands))
        if self.width == 16 and wide:
            for group in (0, 8):
                self.append(
                    Instruction(
                        name,
                        dst.at(group),
                        tuple(s.at(group) for s in operands),
                        width=8,
                        group=group,
                        fresh=fresh and not group,
                        **more,
                    )
                )
        else:
            more |= {"width": self.width, "fresh": fresh}
            self.append(Instruction(name, dst, tuple(operands), **more))
        return dst

    def spans(self, region: Region) -> bool:
        return region.file in "vg" and region.stride * region.type.size * 16 > 2 * REG_BYTES

    def legal(self, name: str, srcs: list[Region], more: dict[str, Any]) -> list[Region]:
        """Operands in a form that the encoding allows."""
        if len(srcs) == 3:
            return [self.placed(s) if not s.swizzle else self.move(s) for s in srcs]
        if len(srcs) == 2 and srcs[0].file == "i":
            if srcs[1].file != "i":
                extreme = name == "sel" and more.get("cond")
                if name in _COMMUTATIVE or extreme:
                    srcs.reverse()
                elif name == "cmp":
                    srcs.reverse()
                    more["cond"] = _MIRRORED[more["cond"]]
            if srcs[0].file == "i":
                srcs[0] = self.placed(srcs[0])
        if len(srcs) == 2 and srcs[1].file == "i" and srcs[1].type.size == 8:
            srcs[1] = self.placed(srcs[1])
        return srcs

    def send(
        self,
        unit: str,
        fields: dict[str, int],
        payload: Sequence[Region],
        dst: Region = NULL,
        results: int = 0,
        *,
        header: Region | None = None,
        pred: str = "",
        flag: int = 0,
        end: bool = False,
        no_mask: bool = False,
        note: str = "",
        width: int = 0,
        group: int = 0,
    ) -> None:
        """Send a message with its payload gathered into one register.

        `width` and `group` select one half of SIMD16 code.
        """
        width = width or self.width
        length = 0
        block = NULL
        if payload:
            bytes = [max(REG_BYTES, width * r.type.size) for r in payload]
            length = sum(bytes) // REG_BYTES
            block = Region("v", self.code.new(length), UD)
            at = 0
            for number, (region, size) in enumerate(zip(payload, bytes, strict=True)):
                target = block.retyped(region.type).plus(at)
                if width == self.width:
                    self.emit("mov", target, region, fresh=number == 0)
                else:
                    part = region.at(group)
                    self.append(
                        Instruction(
                            "mov", target, (part,), width=width, group=group, fresh=number == 0
                        )
                    )
                at += size
        message = Message(unit, pack(unit, **fields), length, results, header is not None, end)
        self.append(
            Instruction(
                "send",
                dst,
                (header if header is not None else NULL, block),
                width=width,
                group=group,
                message=message,
                pred=pred,
                flag=flag,
                no_mask=no_mask,
                note=note,
            )
        )

    def header(self, words: dict[int, int | Region]) -> Region:
        """A message header: the thread's, with some words replaced, written by all channels."""
        made = Region("v", self.code.new(1), UD)
        self.append(Instruction("mov", made, (Region("g"),), no_mask=True, note="header"))
        for word, value in words.items():
            src = immediate(value, UD) if isinstance(value, int) else value
            target = made._replace(offset=4 * word, stride=0)
            self.append(Instruction("mov", target, (src,), width=1, no_mask=True, fresh=False))
        return made

    # -- flags -------------------------------------------------------------------------------------

    def take_flag(self, holder: Region) -> int:
        """Allocate a flag for a comparison whose result is also in `holder`."""
        flag = FLAGS[self.next_flag]
        self.next_flag = (self.next_flag + 1) % len(FLAGS)
        self.flags[flag] = holder
        return flag

    def flag_of(self, region: Region) -> int:
        """The flag that has a boolean."""
        region = self.typed(region, D)
        for flag, holder in self.flags.items():
            if holder == region:
                return flag
        flag = self.take_flag(region)
        last = self.code.instrs[-1] if self.code.instrs else None
        if (
            last is not None
            and last.op.kind == "alu"
            and not last.cond
            and not last.pred
            and last.width == self.width
            and last.dst == region.retyped(last.dst.type)
            and last.dst.type.base != "float"
        ):
            last.cond, last.flag = "nz", flag
        else:
            self.emit("mov", NULL._replace(type=D), region, cond="nz", flag=flag)
        return flag
