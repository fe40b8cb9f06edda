"""Selection of arithmetic: one row per NIR opcode, most of them equivalent to a machine opcode.

Opcodes the machine lacks become short sequences that compute the bits of the opcode's definition,
so that a picture does not depend on the driver.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import Alu
from gallette.drivers.common.machine.selection.arithmetic import Special
from gallette.drivers.simd.isa.instruction import NULL, Region, immediate
from gallette.drivers.simd.isa.types import TYPES, RegType, type_of

from .selector import SelectorCore

__all__ = ["COVERED", "AluSelector"]

UD, D, F, HF, UW, UB = (TYPES[n] for n in ("UD", "D", "F", "HF", "UW", "UB"))
_ONE = 0x3F800000

_DIRECT = {
    "fadd": "add", "fmul": "mul", "ffma": "mad", "flrp": "lrp", "ffract": "frc",
    "ffloor": "rndd", "fceil": "rndu", "ftrunc": "rndz", "fround_even": "rnde",
    "frcp": "math.inv", "fsqrt": "math.sqrt", "frsq": "math.rsq", "fexp2": "math.exp",
    "flog2": "math.log", "fsin": "math.sin", "fcos": "math.cos", "fpow": "math.pow",
    "fdiv": "math.fdiv", "fmod": "math.fmod", "frem": "math.frem", "ldexp": "math.ldexp",
    "frexp_sig": "math.frexps", "frexp_exp": "math.frexpe", "fquantize2f16": "math.quant",
    "f2f16_rtz": "math.f16z",
    "iadd": "add", "imul": "mul", "imul_high": "mulh", "umul_high": "mulh",
    "imul_2x32_64": "mulx", "umul_2x32_64": "mulx", "imul24": "mul24", "umul24": "mul24",
    "idiv": "math.idiv", "udiv": "math.udiv", "imod": "math.imod", "irem": "math.irem",
    "umod": "math.umod", "uadd_carry": "addc", "usub_borrow": "subb",
    "ihadd": "avgd", "uhadd": "avgd", "irhadd": "avg", "urhadd": "avg",
    "iand": "and", "ior": "or", "ixor": "xor", "inot": "not", "ishl": "shl", "ishr": "shr",
    "ushr": "shr", "urol": "rol", "uror": "ror", "bit_count": "cbit", "ufind_msb": "fbh",
    "ifind_msb": "fbs", "find_lsb": "fbl", "bitfield_reverse": "bfrev", "bfm": "bfm",
    "ubitfield_extract": "bfe", "ibitfield_extract": "bfe",
}  # fmt: skip
_COMPARES = {
    "flt": "l", "fge": "ge", "feq": "z", "fneu": "nz",
    "ilt": "l", "ige": "ge", "ieq": "z", "ine": "nz", "ult": "l", "uge": "ge",
}  # fmt: skip
_SETS = {"slt": "l", "sge": "ge", "seq": "z", "sne": "nz"}
_EXTREMES = {
    "fmin": "l", "imin": "l", "umin": "l", "fmax": "ge", "imax": "ge", "umax": "ge",
}  # fmt: skip
_SATURATING = {"uadd_sat": False, "iadd_sat": False, "usub_sat": True, "isub_sat": True}
# Which channel of a quad is subtracted from which.
_DERIVATIVES = {
    "fddx": ((1, 1, 3, 3), (0, 0, 2, 2)),
    "fddx_fine": ((1, 1, 3, 3), (0, 0, 2, 2)),
    "fddx_coarse": ((1, 1, 1, 1), (0, 0, 0, 0)),
    "fddy": ((2, 3, 2, 3), (0, 1, 0, 1)),
    "fddy_fine": ((2, 3, 2, 3), (0, 1, 0, 1)),
    "fddy_coarse": ((2, 2, 2, 2), (0, 0, 0, 0)),
}


class AluSelector(SelectorCore):
    """Adds arithmetic."""

    def scalar_alu(self, instr: Alu) -> Region:
        name, dest, out = instr.op.name, instr.result, instr.op.output_type
        srcs = self.operands(instr)
        type = type_of(out.base, out.bits or dest.bit_size)
        if name in ("iand", "ior", "ixor", "inot") and dest.bit_size == 1:
            srcs = [s.retyped(UD) if s.file != "i" else immediate(s.bits, UD) for s in srcs]
            type = UD
        return self.one(instr, name, type, srcs)

    def one(self, instr: Alu, name: str, type: RegType, srcs: list[Region]) -> Region:
        """Select an operation with a single machine opcode."""
        dest = instr.result
        if name in _COMPARES:
            made = self.new(D)
            flag = self.take_flag(dest)
            self.emit("cmp", made, *srcs, cond=_COMPARES[name], flag=flag)
            return made
        if name == "fneg" or name == "ineg":
            return self.negated(srcs[0])
        if name == "fabs" or name == "iabs":
            return self.absolute(srcs[0])
        if name == "fsub" or name == "isub":
            return self.emit("add", self.new(type), srcs[0], self.negated(srcs[1]))
        if name in _SATURATING:
            second = self.negated(srcs[1]) if _SATURATING[name] else srcs[1]
            if second.file == "i":
                second = self.placed(srcs[1])
                second = self.negated(second) if _SATURATING[name] else second
            return self.emit("add", self.new(type), self.placed(srcs[0]), second, sat=True)
        if name in _EXTREMES:
            return self.emit("sel", self.new(type), *srcs, cond=_EXTREMES[name])
        if name == "fsat":
            return self.emit("mov", self.new(type), srcs[0], sat=True)
        if name in _DIRECT:
            return self.emit(_DIRECT[name], self.new(type), *srcs)
        if name in _SETS:
            made = self.compare(_SETS[name], *srcs)
            return self.truth(made, type)
        if name[:2] in ("b2", "i2", "u2", "f2"):
            if name.startswith("b2"):
                return self.truth(srcs[0].retyped(UD), type)
            return self.emit("mov", self.new(type), srcs[0])
        if name in _DERIVATIVES:
            return self.derivative(name, type, srcs[0])
        raise self.fail(f"the operation {name!r}")

    # -- small sequences ---------------------------------------------------------------------------

    def compare(self, cond: str, a: Region, b: Region) -> Region:
        """A comparison as zeros or ones."""
        made = self.new(D)
        self.emit("cmp", made, a, b, cond=cond, flag=self.take_flag())
        return made

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

    def derivative(self, name: str, type: RegType, value: Region) -> Region:
        if value.file == "i" or value.stride == 0:
            return immediate(0, type)
        if value.modified:
            value = self.move(value)
        far, near = _DERIVATIVES[name]
        a = value._replace(swizzle=far)
        b = value._replace(swizzle=near, neg=True)
        return self.emit("add", self.new(type), a, b)

    def select(self, instr: Alu) -> list[Region]:
        """bcsel"""
        dest = instr.result
        type = D if dest.bit_size == 1 else type_of("uint", dest.bit_size)
        cond = self.condition(instr.srcs[0])
        if isinstance(cond, bool):
            return [self.value(instr.srcs[1 if cond else 2])]
        flag, sign = cond
        a, b = self.value(instr.srcs[1]), self.value(instr.srcs[2])
        floats = any(r.modified and r.type.base == "float" for r in (a, b))
        if floats and dest.bit_size != 1:
            type = type_of("float", dest.bit_size)
        a, b = self.typed(a, type), self.typed(b, type)
        if a.file == "i" and b.file != "i":
            a, b, sign = b, a, "-" if sign == "+" else "+"
        return [self.emit("sel", self.new(type), a, b, pred=sign, flag=flag)]

    def sign(self, instr: Alu) -> list[Region]:
        """fsign and isign: (x > 0) - (x < 0)"""
        base = "float" if instr.op.name == "fsign" else "int"
        type = type_of(base, instr.result.bit_size)
        x = self.read(instr.srcs[0], type)
        zero = immediate(0, type)
        above = self.truth(self.compare("g", x, zero), type)
        below = self.truth(self.compare("l", x, zero), type)
        return [self.emit("add", self.new(type), above, self.negated(below))]

    def is_number(self, instr: Alu) -> list[Region]:
        """fisfinite and fisnormal: the unit answers with a one"""
        type = type_of("float", instr.srcs[0].value.bit_size)
        x = self.read(instr.srcs[0], type)
        top = {2: 0x7BFF, 4: 0x7F7FFFFF, 8: 0x7FEFFFFFFFFFFFFF}[type.size]
        small = {2: 0x0400, 4: 0x00800000, 8: 0x0010000000000000}[type.size]
        magnitude = self.absolute(x)
        found = self.compare("le", magnitude, immediate(top, type))
        if instr.op.name == "fisnormal":
            big = self.compare("ge", magnitude, immediate(small, type))
            found = self.emit("and", self.new(UD), found.retyped(UD), big.retyped(UD)).retyped(D)
        return [found]

    def insert_bits(self, instr: Alu) -> list[Region]:
        """bitfield_insert"""
        base, insert = self.read(instr.srcs[0], UD), self.read(instr.srcs[1], UD)
        offset, bits = self.read(instr.srcs[2], UD), self.read(instr.srcs[3], D)
        ones = self.emit("bfm", self.new(UD), bits, immediate(0, D))
        flag = self.take_flag()
        null = NULL._replace(type=D)
        self.emit("cmp", null, bits, immediate(32, D), cond="ge", flag=flag)
        low = self.emit("sel", self.new(UD), ones, immediate(~0, UD), pred="-", flag=flag)
        mask = self.emit("shl", self.new(UD), low, offset)
        moved = self.emit("shl", self.new(UD), insert, offset)
        kept = self.emit("and", self.new(UD), base, self.emit("not", self.new(UD), mask))
        taken = self.emit("and", self.new(UD), moved, mask)
        return [self.emit("or", self.new(UD), kept, taken)]

    # -- packing -----------------------------------------------------------------------------------

    def all_inputs(self, instr: Alu, type: RegType) -> list[Region]:
        """All source components in order."""
        found = []
        for src, size in zip(instr.srcs, instr.op.input_sizes, strict=True):
            found += [self.read(src, type, k) for k in range(max(1, size))]
        return found

    def join(self, whole: RegType, part: RegType, parts: list[Region]) -> Region:
        """Combine values in a wider one, the first lowest."""
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
        """pack_64_2x32 and all like it"""
        whole, part = _pack_sizes(instr.op.name)
        types = type_of("uint", whole), type_of("uint", part)
        return [self.join(*types, self.all_inputs(instr, types[1]))]

    def unpack(self, instr: Alu) -> list[Region]:
        """unpack_64_2x32 and all like it"""
        name = instr.op.name
        whole, part = _pack_sizes(name)
        type = type_of("uint", part)
        value = self.read(instr.srcs[0], type_of("uint", whole))
        wanted = range(instr.result.num_components)
        if name.endswith(("_x", "_y")):
            wanted = range(1) if name.endswith("_x") else range(1, 2)
        return [self.emit("mov", self.new(type), self.cut(value, type, k)) for k in wanted]

    def pack_half(self, instr: Alu) -> list[Region]:
        """pack_half_2x16"""
        halves = [self.emit("mov", self.new(HF), x) for x in self.all_inputs(instr, F)]
        return [self.join(UD, HF, halves)]

    def unpack_half(self, instr: Alu) -> list[Region]:
        """unpack_half_2x16"""
        name = instr.op.name
        value = self.read(instr.srcs[0], UD)
        wanted = range(2)
        if name.endswith(("_x", "_y")):
            wanted = range(1) if name.endswith("_x") else range(1, 2)
        return [self.emit("mov", self.new(F), self.cut(value, HF, k)) for k in wanted]

    def pack_norm(self, instr: Alu) -> list[Region]:
        """pack_unorm_4x8 and its like"""
        signed, count, bits = _norm(instr.op.name)
        scale = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)
        mask = immediate(2**bits - 1, UD)
        packed: Region | None = None
        for k, x in enumerate(self.all_inputs(instr, F)[:count]):
            low = self.emit("sel", self.new(F), x, _float(-1.0 if signed else 0.0), cond="ge")
            clamped = self.emit("sel", self.new(F), low, _float(1.0), cond="l")
            scaled = self.emit("mul", self.new(F), clamped, _float(scale))
            whole = self.emit("mov", self.new(D), self.emit("rnde", self.new(F), scaled))
            part = self.emit("and", self.new(UD), whole.retyped(UD), mask)
            if k:
                part = self.emit("shl", self.new(UD), part, immediate(k * bits, UD))
            packed = part if packed is None else self.emit("or", self.new(UD), packed, part)
        assert packed is not None
        return [packed]

    def unpack_norm(self, instr: Alu) -> list[Region]:
        """unpack_unorm_4x8 and its like"""
        signed, count, bits = _norm(instr.op.name)
        scale = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)
        value = self.placed(self.read(instr.srcs[0], UD))
        found = []
        for k in range(count):
            type = D if signed else UD
            offset, size = immediate(k * bits, D), immediate(bits, D)
            part = self.emit("bfe", self.new(type), value.retyped(type), offset, size)
            number = self.emit("mov", self.new(F), part)
            number = self.emit("math.fdiv", self.new(F), number, _float(scale))
            if signed:
                number = self.emit("sel", self.new(F), number, _float(-1.0), cond="ge")
                number = self.emit("sel", self.new(F), number, _float(1.0), cond="l")
            found.append(number)
        return found


def _float(value: float) -> Region:
    import struct

    return immediate(int.from_bytes(struct.pack("<f", value), "little"), F)


def _pack_sizes(name: str) -> tuple[int, int]:
    """`unpack_64_2x32_split_x` is about 64 and 32 bits."""
    words = name.split("_")
    return int(words[1]), int(words[2].partition("x")[2])


def _norm(name: str) -> tuple[bool, int, int]:
    _, kind, size = name.split("_")
    count, _, bits = size.partition("x")
    return kind == "snorm", int(count), int(bits)


_S = AluSelector
_SPECIAL: dict[str, Special] = {
    "bcsel": _S.select,
    "fsign": _S.sign,
    "isign": _S.sign,
    "fisfinite": _S.is_number,
    "fisnormal": _S.is_number,
    "bitfield_insert": _S.insert_bits,
}
for _size in ("64_2x32", "64_4x16", "32_2x16", "32_4x8"):
    for _suffix in ("", "_split"):
        _SPECIAL[f"pack_{_size}{_suffix}"] = _S.pack
    for _suffix in ("", "_split_x", "_split_y"):
        _SPECIAL[f"unpack_{_size}{_suffix}"] = _S.unpack
for _suffix in ("", "_split"):
    _SPECIAL[f"pack_half_2x16{_suffix}"] = _S.pack_half
for _suffix in ("", "_split_x", "_split_y"):
    _SPECIAL[f"unpack_half_2x16{_suffix}"] = _S.unpack_half
for _size in ("2x16", "4x8"):
    for _kind in ("unorm", "snorm"):
        _SPECIAL[f"pack_{_kind}_{_size}"] = _S.pack_norm
        _SPECIAL[f"unpack_{_kind}_{_size}"] = _S.unpack_norm

AluSelector.special = _SPECIAL
COVERED = frozenset(_SPECIAL) | frozenset(_DIRECT) | frozenset(_COMPARES) | frozenset(_EXTREMES)
