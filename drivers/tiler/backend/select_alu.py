"""Selection of arithmetic: one row per NIR opcode, most of them equivalent to a machine opcode.

Most opcodes the machine lacks have been lowered in NIR (see `lower`); the others become short
sequences here.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.nir.ir import Alu
from gallette.drivers.common.machine.selection.arithmetic import Special
from gallette.drivers.common.machine.types import TYPES
from gallette.drivers.tiler.isa.instruction import Operand, immediate

from .selector import Pair, SelectorCore, Value

__all__ = ["COVERED", "AluSelector"]

UD, D, F = TYPES["UD"], TYPES["D"], TYPES["F"]
_SIGN = 0x80000000

_DIRECT = {
    "fadd": "add.f", "fmul": "mul.f", "fmin": "min.f", "fmax": "max.f", "ffma": "mad.f",
    "ffloor": "floor.f", "fceil": "ceil.f", "ftrunc": "trunc.f", "fround_even": "rndne.f",
    "frcp": "rcp", "frcp_8bit": "rcp8", "frsq": "rsq", "fexp2": "exp2", "flog2": "log2",
    "fsin": "sin", "fcos": "cos",
    "iadd": "add.u", "isub": "sub.u", "imin": "min.s", "imax": "max.s", "umin": "min.u",
    "umax": "max.u", "iand": "and.b", "ior": "or.b", "ixor": "xor.b", "ishl": "shl.b",
    "ushr": "shr.b", "ishr": "ashr.b", "umul24": "mul.u24", "imul24": "mul.s24",
    "bit_count": "cbits.b", "ufind_msb": "msb.b", "bitfield_reverse": "bfrev.b",
    "f2i32": "cov.fs", "f2u32": "cov.fu", "i2f32": "cov.sf", "u2f32": "cov.uf", "b2f32": "cov.uf",
}  # fmt: skip
_COMPARES = {
    "flt": "f.lt", "fge": "f.ge", "feq": "f.eq", "fneu": "f.ne", "ilt": "s.lt", "ige": "s.ge",
    "ieq": "u.eq", "ine": "u.ne", "ult": "u.lt", "uge": "u.ge",
}  # fmt: skip
_DERIVATIVES = {
    "fddx": "dsx", "fddx_fine": "dsx", "fddx_coarse": "dsx.c",
    "fddy": "dsy", "fddy_fine": "dsy", "fddy_coarse": "dsy.c",
}  # fmt: skip


class AluSelector(SelectorCore):
    """Adds arithmetic."""

    def scalar_alu(self, instr: Alu) -> Any:
        name = instr.op.name
        wide = instr.result.bit_size == 64 or any(s.value.bit_size == 64 for s in instr.srcs)
        if wide or name not in _DIRECT:
            return self.other(instr, name)
        return self.emit(_DIRECT[name], *self.operands(instr))

    def other(self, instr: Alu, name: str) -> Value:
        """Select an opcode that is not one instruction."""
        bits = instr.result.bit_size
        if bits == 64 or any(s.value.bit_size == 64 for s in instr.srcs):
            return self.long(instr, name)
        srcs: list[Operand] = self.operands(instr)
        first = srcs[0]
        if name in _COMPARES:
            return self.emit(f"cmps.{_COMPARES[name]}", *srcs)
        if name == "fneg":
            if first.file == "i":
                return immediate(first.bits ^ _SIGN)
            return first._replace(neg=not first.neg)
        if name == "fabs":
            if first.file == "i":
                return immediate(first.bits & ~_SIGN)
            return first._replace(abs=True, neg=False)
        if name == "fsub":
            return self.emit("add.f", first, self.negative(srcs[1]))
        if name == "fsat":
            return self.emit("absneg.f", first, sat=True)
        if name == "ineg":
            if first.file == "i":
                return immediate(-first.bits)
            return self.emit("absneg.s", first._replace(neg=True))
        if name == "iabs":
            if first.file == "i":
                return immediate(-first.bits if first.bits & _SIGN else first.bits)
            return self.emit("absneg.s", first._replace(abs=True))
        if name == "imul":
            return self.product(*srcs)
        if name == "inot":
            return self.emit("xor.b" if bits == 1 else "not.b", *srcs, *self.ones(bits))
        if name in ("b2i32", "b2i16", "b2i8"):
            return first
        if name in _DERIVATIVES:
            if first.file in "ic":
                return immediate(0)
            return self.emit(_DERIVATIVES[name], first)
        raise self.fail(f"the operation {name!r}")

    @staticmethod
    def negative(operand: Operand) -> Operand:
        if operand.file == "i":
            return immediate(operand.bits ^ _SIGN)
        return operand._replace(neg=not operand.neg)

    @staticmethod
    def ones(bits: int) -> list[Operand]:
        return [immediate(1)] if bits == 1 else []

    def select(self, instr: Alu) -> list[Any]:
        """bcsel"""
        condition = self.value(instr.srcs[0])
        a, b = self.value(instr.srcs[1]), self.value(instr.srcs[2])
        known = self.known(condition)
        if known is not None:
            return [a if known else b]
        return [self.choice(condition, a, b)]

    # -- 64 bits -----------------------------------------------------------------------------------

    def long(self, instr: Alu, name: str) -> Value:
        """Widening and narrowing; `lower_int64` and `lower_doubles` have lowered the rest."""
        value = self.value(instr.srcs[0])
        if name in ("u2u64", "b2i64"):
            return Pair(value, immediate(0))
        if name == "i2i64":
            value = self.signed(value, instr.srcs[0].value.bit_size)
            return Pair(value, self.emit("ashr.b", value, immediate(31)))
        raise self.fail(f"the 64-bit operation {name!r}")

    def pack_64(self, instr: Alu) -> list[Any]:
        if len(instr.srcs) == 2:
            parts = [self.read(src, UD) for src in instr.srcs]
        else:
            parts = [self.read(instr.srcs[0], UD, k) for k in range(2)]
        return [Pair(*parts)]

    def unpack_64(self, instr: Alu) -> list[Any]:
        pair = self.value(instr.srcs[0])
        if instr.op.name.endswith("_x"):
            return [pair.low]
        return [pair.high] if instr.op.name.endswith("_y") else [pair.low, pair.high]

    # -- 16 and 8 bits -----------------------------------------------------------------------------

    def pack_half(self, instr: Alu) -> list[Any]:
        """Two halves of a register: pack_half_2x16_split"""
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
        """fquantize2f16: values below the smallest normal half become zero"""
        x = self.read(instr.srcs[0], F)
        half = self.new()._replace(half=True)
        self.put("cov.fh", half, x)
        rounded = self.emit("cov.hf", half)
        small = self.emit("cmps.f.lt", x._replace(abs=True, neg=False), immediate(0x38800000))
        zero = self.emit("and.b", self.typed(x, UD), immediate(_SIGN))  # type: ignore[arg-type]
        return [self.emit("sel.b", zero, small, rounded)]

    def narrow(self, instr: Alu) -> list[Any]:
        """Small integers are kept zero-extended."""
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
        """pack_32_2x16 and pack_32_4x8"""
        sources = [(src, k) for src in instr.srcs for k in range(src.num_components)]
        bits = 32 // len(sources)
        whole = self.read(sources[0][0], UD, sources[0][1])
        for n, (src, k) in enumerate(sources[1:], 1):
            part = self.emit("shl.b", self.read(src, UD, k), immediate(n * bits))
            whole = self.emit("or.b", whole, part)
        return [whole]

    def unpack_small(self, instr: Alu) -> list[Any]:
        value = self.read(instr.srcs[0], UD)
        bits, name = instr.result.bit_size, instr.op.name
        wanted = range(instr.result.num_components)
        if name.endswith(("_x", "_y")):
            wanted = range(1) if name.endswith("_x") else range(1, 2)
        found = []
        for k in wanted:
            part = self.emit("shr.b", value, immediate(k * bits)) if k else value
            found.append(self.emit("and.b", part, immediate((1 << bits) - 1)))
        return found


_S = AluSelector
_SPECIAL: dict[str, Special] = {
    "bcsel": _S.select,
    "pack_64_2x32": _S.pack_64,
    "pack_64_2x32_split": _S.pack_64,
    "unpack_64_2x32": _S.unpack_64,
    "unpack_64_2x32_split_x": _S.unpack_64,
    "unpack_64_2x32_split_y": _S.unpack_64,
    "pack_half_2x16_split": _S.pack_half,
    "unpack_half_2x16_split_x": _S.unpack_half,
    "unpack_half_2x16_split_y": _S.unpack_half,
    "fquantize2f16": _S.quantize,
}
for _bits in (8, 16, 32):
    for _kind in ("i2i", "u2u"):
        _SPECIAL[f"{_kind}{_bits}"] = _S.narrow
for _size in ("32_2x16", "32_4x8"):
    for _suffix in ("", "_split"):
        _SPECIAL[f"pack_{_size}{_suffix}"] = _S.pack_small
    for _suffix in ("", "_split_x", "_split_y"):
        _SPECIAL[f"unpack_{_size}{_suffix}"] = _S.unpack_small

AluSelector.special = _SPECIAL
COVERED = frozenset(_SPECIAL) | frozenset(_DIRECT) | frozenset(_COMPARES) | frozenset(_DERIVATIVES)
