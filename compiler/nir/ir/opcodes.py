"""The opcode table: every arithmetic operation, declared once.

A row gives the name, the types of sources and result, what it computes (a NumPy ufunc or a function
from `semantics`), algebraic properties and one line of documentation. Builder methods, folding, the
interpreter, drivers' code generators, the validator and the reference page are derived from it.

**Signatures** are strings such as `float float -> float`. A type without a number takes any bit
size (the same for all unsized types of the row); `bool` is one bit. A type followed by `.N` has
exactly N components; without it the operation is applied per component.

**Properties**: `commutative`, `associative`, `derivative`, `conversion`, `vec`, `selection`; costs
`free` and `costly`; what is known of the result: `integral` (no fraction), `keeps_integral` (none
if no source has one), `zero_to_one`, `not_negative` (no sign bit), `a_number` (no NaN).

**Calling `semantics`**: a source without `.N` (or with `.1`) is one array; a source with `.N`,
N > 1, is a sequence of N arrays. The result is one array, or a tuple of N arrays for a result with
`.N`, N > 1. An opcode is `per_component` when nothing in its row has `.N`; then every component is
computed by the same call on its own arrays, and `isinstance(op.semantics, np.ufunc)` tells whether
`out=` is available. Sources broadcast. Derivatives want lanes in quads along the last axis.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import semantics as sem


@lazy_dataclass(frozen=True)
class AluType:
    """Type of a source or result: `base` is float, int, uint or bool; `bits` 0 means any size."""

    base: str
    bits: int

    def __str__(self) -> str:
        return f"{self.base}{self.bits or ''}"

    def dtype(self, bits: int = 0) -> np.dtype[Any]:
        """The NumPy dtype, for an unsized type at `bits`."""
        return numpy_dtype(self.base, self.bits or bits)


@cache
def numpy_dtype(base: str, bits: int) -> np.dtype[Any]:
    """dtype of an ALU type; every type of one bit is a boolean."""
    return np.dtype(np.bool_) if bits == 1 else np.dtype(f"{base}{bits}")


@cache
def alu_type(text: str) -> AluType:
    """Parse `float`, `int32`, `bool`..."""
    m = re.fullmatch(r"(float|int|uint|bool)(\d*)", text)
    if m is None:
        raise ValueError(f"not an ALU type: {text!r}")
    bits = int(m[2] or (1 if m[1] == "bool" else 0))
    return AluType(m[1], bits)


@lazy_dataclass(frozen=True, eq=False)
class Opcode:
    """One row of the table. `input_sizes`/`output_size` are component counts, 0 meaning per
    component.
    """

    name: str
    input_types: tuple[AluType, ...]
    input_sizes: tuple[int, ...]
    output_type: AluType
    output_size: int
    semantics: Callable[..., Any]
    properties: frozenset[str]
    doc: str
    num_inputs: int
    per_component: bool
    commutative: bool
    is_derivative: bool
    is_vec: bool
    is_copy: bool
    """moves components: `mov` and the vectors"""
    sized_by: int
    """the first source of open size; the result has its size, unless its type is sized"""

    @property
    def is_conversion(self) -> bool:
        return "conversion" in self.properties

    @property
    def is_free(self) -> bool:
        """Whether it costs nothing where it is read: a modifier or a selection of components."""
        return "free" in self.properties

    @property
    def is_costly(self) -> bool:
        return "costly" in self.properties

    @property
    def signature(self) -> str:
        def one(type: AluType, size: int) -> str:
            return f"{type}.{size}" if size else str(type)

        args = " ".join(one(t, s) for t, s in zip(self.input_types, self.input_sizes, strict=True))
        return f"{args} -> {one(self.output_type, self.output_size)}"

    def __repr__(self) -> str:
        return f"<opcode {self.name}>"


OPCODES: dict[str, Opcode] = {}


def _row(
    name: str, signature: str, semantics: Callable[..., Any], properties: str = "", doc: str = ""
) -> None:
    left, right = signature.split("->")
    types: list[AluType] = []
    sizes: list[int] = []
    for part in [*left.split(), right.strip()]:
        text, _, size = part.partition(".")
        types.append(alu_type(text))
        sizes.append(int(size or 0))
    props = frozenset(properties.split())
    OPCODES[name] = Opcode(
        name,
        tuple(types[:-1]),
        tuple(sizes[:-1]),
        types[-1],
        sizes[-1],
        semantics,
        props,
        doc,
        len(types) - 1,
        not any(sizes),
        "commutative" in props,
        "derivative" in props,
        "vec" in props,
        "vec" in props or name == "mov",
        next((i for i, type in enumerate(types[:-1]) if not type.bits), 0),
    )


_F1, _F2, _F3 = "float -> float", "float float -> float", "float float float -> float"
_I1, _I2 = "int -> int", "int int -> int"
_U1, _U2 = "uint -> uint", "uint uint -> uint"
_C, _CA = "commutative", "commutative associative"

_row("mov", _U1, sem.mov, "free keeps_integral", "Copy; with a swizzle, choose components.")

# Float arithmetic.
_row("fneg", _F1, np.negative, "free keeps_integral", "-x")
_row("fabs", _F1, np.absolute, "free keeps_integral not_negative", "|x|")
_row("fsat", _F1, sem.fsat, "keeps_integral zero_to_one", "x clamped to 0..1; NaN becomes 0")
_row("fsign", _F1, sem.fsign, "integral", "-1, 0 or 1 by the sign of x; NaN becomes 0")
_row("frcp", _F1, sem.frcp, "", "1/x")
_row("frsq", _F1, sem.frsq, "costly", "1/sqrt(x)")
_row("fsqrt", _F1, np.sqrt, "costly", "square root")
_row("fexp2", _F1, sem.fexp2, "costly not_negative", "2 to the power x")
_row("flog2", _F1, sem.flog2, "costly", "logarithm to base 2")
_row("fsin", _F1, sem.fsin, "costly", "sine of an angle in radians")
_row("fcos", _F1, sem.fcos, "costly", "cosine of an angle in radians")
# Instructions of small machines (`compiler.nir.lower`).
_F1_32 = "float32 -> float32"
_row("frcp_8bit", _F1_32, sem.frcp_8bit, "", "1/x, of which eight bits are right")
_row("frsq_8bit", _F1_32, sem.frsq_8bit, "", "1/sqrt(x), of which eight bits are right")
_row(
    "fsin_reduced",
    _F1_32,
    sem.of_half_a_turn(sem.fsin),
    "costly",
    "sine of an angle between -pi and pi; NaN beyond 3.15",
)
_row(
    "fcos_reduced",
    _F1_32,
    sem.of_half_a_turn(sem.fcos),
    "costly",
    "cosine of an angle between -pi and pi; NaN beyond 3.15",
)
_row("ftrunc", _F1, np.trunc, "integral", "round towards zero")
_row("fceil", _F1, np.ceil, "integral", "round up")
_row("ffloor", _F1, np.floor, "integral", "round down")
_row("ffract", _F1, sem.ffract, "", "x - floor(x)")
_row("fround_even", _F1, np.rint, "integral", "round to nearest, ties to even")
_row("fquantize2f16", _F1, sem.fquantize2f16, "", "round to the precision of a 16-bit float")
_row("frexp_sig", _F1, sem.frexp_sig, "", "significand of x, in 0.5..1")
_row("frexp_exp", "float -> int32", sem.frexp_exp, "", "exponent of x")
_row("fisfinite", "float -> bool", np.isfinite, "", "neither infinite nor NaN")
_row("fisnormal", "float -> bool", sem.fisnormal, "", "finite, not zero, not denormal")
_row("fadd", _F2, np.add, f"{_C} keeps_integral", "a + b")
_row("fsub", _F2, np.subtract, "", "a - b")
_row("fmul", _F2, np.multiply, f"{_C} keeps_integral", "a * b")
_row("fdiv", _F2, np.divide, "", "a / b")
_row("fmod", _F2, sem.fmod, "", "a - b * floor(a / b)")
_row("frem", _F2, sem.frem, "", "a - b * trunc(a / b)")
_row("fpow", _F2, sem.fpow, "costly", "a to the power b, as exp2(b * log2(a))")
_row("fmin", _F2, sem.fmin, f"{_C} keeps_integral", "the smaller; a NaN loses; a zero is +0")
_row("fmax", _F2, sem.fmax, f"{_C} keeps_integral", "the larger; a NaN loses; a zero is +0")
_row("ffma", _F3, sem.ffma, "commutative", "a * b + c with the product unrounded")
_row("flrp", _F3, sem.flrp, "", "a * (1 - c) + b * c")
_row("ldexp", "float int32 -> float", sem.ldexp, "", "a * 2 to the power b")
for _n in (2, 3, 4):
    _row(f"fdot{_n}", f"float.{_n} float.{_n} -> float.1", sem.fdot, _C, "dot product")
for _n in (2, 3, 4):
    _row(f"fsum{_n}", f"float.{_n} -> float.1", sem.fsum, "", "sum of the components")
_row("fdph", "float.3 float.4 -> float.1", sem.fdph, "", "dot product with (a, 1)")

# Derivatives: lanes in quads.
for _axis, _fine, _coarse in (
    ("x", sem.fddx, sem.fddx_coarse),
    ("y", sem.fddy, sem.fddy_coarse),
):
    _row(f"fdd{_axis}", _F1, _fine, "derivative", f"derivative along {_axis}")
    _row(f"fdd{_axis}_fine", _F1, _fine, "derivative", f"derivative along {_axis} per row/column")
    _row(f"fdd{_axis}_coarse", _F1, _coarse, "derivative", f"derivative along {_axis} per quad")

# Comparison and selection.
_row("flt", "float float -> bool", np.less, "", "a < b")
_row("fge", "float float -> bool", np.greater_equal, "", "a >= b")
_row("feq", "float float -> bool", np.equal, _C, "a == b; false for NaN")
_row("fneu", "float float -> bool", np.not_equal, _C, "a != b; true for NaN")
_row("ilt", "int int -> bool", np.less, "", "a < b, signed")
_row("ige", "int int -> bool", np.greater_equal, "", "a >= b, signed")
_row("ieq", "int int -> bool", np.equal, _C, "a == b")
_row("ine", "int int -> bool", np.not_equal, _C, "a != b")
_row("ult", "uint uint -> bool", np.less, "", "a < b, unsigned")
_row("uge", "uint uint -> bool", np.greater_equal, "", "a >= b, unsigned")
_row("slt", _F2, sem.set_if(np.less), "", "1.0 if a < b else 0.0")
_row("sge", _F2, sem.set_if(np.greater_equal), "", "1.0 if a >= b else 0.0")
_row("seq", _F2, sem.set_if(np.equal), _C, "1.0 if a == b else 0.0")
_row("sne", _F2, sem.set_if(np.not_equal), _C, "1.0 if a != b else 0.0")
_row("bcsel", "bool uint uint -> uint", sem.bcsel, "selection", "b if a else c")
for _n in (2, 3, 4):
    for _prefix, _type, _eq, _ne in (
        ("f", "float", "fequal", "fnequal"),
        ("i", "int", "iequal", "inequal"),
    ):
        _row(
            f"ball_{_eq}{_n}",
            f"{_type}.{_n} {_type}.{_n} -> bool.1",
            sem.all_of(np.equal),
            _C,
            "all components equal",
        )
        _row(
            f"bany_{_ne}{_n}",
            f"{_type}.{_n} {_type}.{_n} -> bool.1",
            sem.any_of(np.not_equal),
            _C,
            "any component differs",
        )

# Integer arithmetic; everything wraps.
_row("iadd", _I2, np.add, _CA, "a + b")
_row("isub", _I2, np.subtract, "", "a - b")
_row("imul", _I2, np.multiply, _CA, "a * b")
_row("ineg", _I1, np.negative, "", "-x")
_row("iabs", _I1, np.absolute, "", "|x|; the smallest integer stays itself")
_row("isign", _I1, sem.isign, "", "-1, 0 or 1")
_row("idiv", _I2, sem.idiv, "costly", "a / b towards zero; 0 if b is 0")
_row("udiv", _U2, np.floor_divide, "costly", "a / b; 0 if b is 0")
_row("imod", _I2, np.remainder, "costly", "remainder with the sign of b; 0 if b is 0")
_row("irem", _I2, np.fmod, "costly", "remainder with the sign of a; 0 if b is 0")
_row("umod", _U2, np.remainder, "costly", "remainder; 0 if b is 0")
_row("imin", _I2, np.minimum, _CA, "the smaller, signed")
_row("imax", _I2, np.maximum, _CA, "the larger, signed")
_row("umin", _U2, np.minimum, _CA, "the smaller, unsigned")
_row("umax", _U2, np.maximum, _CA, "the larger, unsigned")
_row("imul_high", _I2, sem.mul_high, _C, "upper half of the signed product")
_row("umul_high", _U2, sem.mul_high, _C, "upper half of the unsigned product")
_row("imul_2x32_64", "int32 int32 -> int64", sem.mul_2x32_64, _C, "full signed product")
_row("umul_2x32_64", "uint32 uint32 -> uint64", sem.mul_2x32_64, _C, "full unsigned product")
_row("imul24", "int32 int32 -> int32", sem.mul24, _C, "product of sign-extended 24-bit values")
_row("umul24", "uint32 uint32 -> uint32", sem.mul24, _C, "product of 24-bit values")
_row("uadd_carry", _U2, sem.uadd_carry, _C, "1 if a + b overflows")
_row("usub_borrow", _U2, sem.usub_borrow, "", "1 if a < b")
_row("uadd_sat", _U2, sem.uadd_sat, _C, "a + b, saturating")
_row("usub_sat", _U2, sem.usub_sat, "", "a - b, saturating")
_row("iadd_sat", _I2, sem.iadd_sat, _C, "a + b, saturating")
_row("isub_sat", _I2, sem.isub_sat, "", "a - b, saturating")
_row("ihadd", _I2, sem.hadd, _C, "average rounded down")
_row("uhadd", _U2, sem.hadd, _C, "average rounded down, unsigned")
_row("irhadd", _I2, sem.rhadd, _C, "average rounded up")
_row("urhadd", _U2, sem.rhadd, _C, "average rounded up, unsigned")

# Bits. On one-bit values these are the boolean operations.
_row("iand", _U2, np.bitwise_and, _CA, "bitwise and")
_row("ior", _U2, np.bitwise_or, _CA, "bitwise or")
_row("ixor", _U2, np.bitwise_xor, _CA, "bitwise exclusive or")
_row("inot", _U1, np.invert, "free", "bitwise complement")
_row("ishl", "int uint32 -> int", sem.ishl, "", "shift left; only the low bits of the count")
_row("ishr", "int uint32 -> int", sem.shr, "", "shift right, copying the sign")
_row("ushr", "uint uint32 -> uint", sem.shr, "", "shift right, filling with zeros")
_row("urol", "uint uint32 -> uint", sem.rotate_left, "", "rotate left")
_row("uror", "uint uint32 -> uint", sem.rotate_right, "", "rotate right")
_row("bit_count", "uint -> uint32", sem.bit_count, "", "number of set bits")
_row("ufind_msb", "uint -> int32", sem.ufind_msb, "", "highest set bit, -1 if none")
_row("ifind_msb", "int -> int32", sem.ifind_msb, "", "highest bit unlike the sign, -1 if none")
_row("find_lsb", "int -> int32", sem.find_lsb, "", "lowest set bit, -1 if none")
_row("bitfield_reverse", "uint32 -> uint32", sem.bitfield_reverse, "", "bits in reverse order")
_row(
    "ubitfield_extract",
    "uint32 int32 int32 -> uint32",
    sem.ubitfield_extract,
    "",
    "c bits of a from bit b, zero-extended",
)
_row(
    "ibitfield_extract",
    "int32 int32 int32 -> int32",
    sem.ibitfield_extract,
    "",
    "c bits of a from bit b, sign-extended",
)
_row(
    "bitfield_insert",
    "uint32 uint32 int32 int32 -> uint32",
    sem.bitfield_insert,
    "",
    "a with d bits from bit c on replaced by b",
)
_row("bfm", "int32 int32 -> uint32", sem.bfm, "", "a ones starting at bit b")

# Conversions.
for _bits in (16, 32, 64):
    _float = numpy_dtype("float", _bits).type
    _row(f"f2f{_bits}", f"float -> float{_bits}", sem.to(_float), "conversion", "change precision")
    _exactly, _unsigned = (
        "conversion integral a_number",
        "conversion integral a_number not_negative",
    )
    _row(f"i2f{_bits}", f"int -> float{_bits}", sem.to(_float), _exactly, "signed to float")
    _row(f"u2f{_bits}", f"uint -> float{_bits}", sem.to(_float), _unsigned, "unsigned to float")
    _row(
        f"b2f{_bits}",
        f"bool -> float{_bits}",
        sem.to(_float),
        f"{_unsigned} zero_to_one",
        "1.0 if true",
    )
for _bits in (8, 16, 32, 64):
    _int, _uint = numpy_dtype("int", _bits).type, numpy_dtype("uint", _bits).type
    _row(
        f"f2i{_bits}",
        f"float -> int{_bits}",
        sem.f2int(_int),
        "conversion",
        "towards zero, saturating; NaN becomes 0",
    )
    _row(
        f"f2u{_bits}",
        f"float -> uint{_bits}",
        sem.f2int(_uint),
        "conversion",
        "towards zero, saturating; NaN becomes 0",
    )
    _row(f"i2i{_bits}", f"int -> int{_bits}", sem.to(_int), "conversion", "extend sign or cut")
    _row(f"u2u{_bits}", f"uint -> uint{_bits}", sem.to(_uint), "conversion", "extend with 0 or cut")
    _row(f"b2i{_bits}", f"bool -> int{_bits}", sem.to(_int), "conversion", "1 if true")
_row("f2f16_rtne", "float -> float16", sem.to(np.float16), "conversion", "round to nearest even")
_row("f2f16_rtz", "float -> float16", sem.f2f16_rtz, "conversion", "round towards zero")

# Packing.
_row("pack_half_2x16", "float32.2 -> uint32.1", sem.pack_half_2x16, "", "two 16-bit floats")
_row(
    "pack_half_2x16_split",
    "float32 float32 -> uint32",
    sem.pack_half_2x16_split,
    "",
    "two 16-bit floats, a low",
)
_row("unpack_half_2x16", "uint32.1 -> float32.2", sem.unpack_half_2x16, "", "two 16-bit floats")
_row("unpack_half_2x16_split_x", "uint32 -> float32", sem.unpack_half_x, "", "low 16-bit float")
_row("unpack_half_2x16_split_y", "uint32 -> float32", sem.unpack_half_y, "", "high 16-bit float")
for _sign, _is_signed in (("unorm", False), ("snorm", True)):
    for _count, _bits in ((2, 16), (4, 8)):
        _row(
            f"pack_{_sign}_{_count}x{_bits}",
            f"float32.{_count} -> uint32.1",
            sem.pack_norm(_bits, _is_signed),
            "",
            "normalised floats to integers",
        )
        _row(
            f"unpack_{_sign}_{_count}x{_bits}",
            f"uint32.1 -> float32.{_count}",
            sem.unpack_norm(_bits, _is_signed),
            "",
            "integers to normalised floats",
        )
for _whole, _count, _bits in ((64, 2, 32), (64, 4, 16), (32, 2, 16), (32, 4, 8)):
    _name = f"{_whole}_{_count}x{_bits}"
    _big = numpy_dtype("uint", _whole).type
    _small = numpy_dtype("uint", _bits).type
    _row(
        f"pack_{_name}",
        f"uint{_bits}.{_count} -> uint{_whole}.1",
        sem.pack_bits(_big, _bits),
        "",
        "join integers, the first lowest",
    )
    _row(
        f"unpack_{_name}",
        f"uint{_whole}.1 -> uint{_bits}.{_count}",
        sem.unpack_bits(_small, _bits, _count),
        "",
        "cut an integer into pieces, the lowest first",
    )
    if _count == 2:
        _row(
            f"pack_{_name}_split",
            f"uint{_bits} uint{_bits} -> uint{_whole}",
            sem.pack_split(_big, _bits),
            "",
            "join two integers, a low",
        )
        for _half, _shift in (("x", 0), ("y", _bits)):
            _row(
                f"unpack_{_name}_split_{_half}",
                f"uint{_whole} -> uint{_bits}",
                sem.unpack_part(_small, _shift),
                "",
                f"the {'low' if _half == 'x' else 'high'} half",
            )
for _n in (2, 3, 4, 5, 8, 16):
    _row(
        f"vec{_n}",
        "uint.1 " * _n + f"-> uint.{_n}",
        sem.vec,
        "vec free" if _n <= 4 else "vec",
        "a vector of its sources",
    )
