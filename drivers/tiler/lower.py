"""Lowers operations for which the machine has no instruction.

Quotients and square roots start from the reciprocals of the special function unit and are corrected
by the residue, which a fused multiply-add computes exactly: they are correctly rounded except for
denormals. Integers are divided by a fixed-point reciprocal and two corrections.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Alu, Def, LoadConst, Shader
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassLog, nir_pass, run_passes

__all__ = ["ALGEBRAIC", "lowered_for_tiler", "tiler_lower_alu"]

ALGEBRAIC = AlgebraicOptions(
    fuse_fsub=False,
    lower_fpow=True,
    lower_fmod=True,
    lower_frem=True,
    lower_flrp=True,
    lower_ffract=True,
    lower_fsign=True,
    lower_isign=True,
    lower_ldexp=True,
    lower_fdot=True,
    lower_fdph=True,
    lower_fsum=True,
    lower_vector_compare=True,
    lower_slt=True,
    lower_bitfield_extract=True,
    lower_rotate=True,
    lower_sat_arithmetic=True,
    lower_hadd=True,
    lower_carry=True,
    lower_find_lsb=True,
    lower_pack_half=True,
)
"""Operations that algebraic rules lower."""


def lowered_for_tiler(
    shader: Shader,
    options: OptimizeOptions,
    log: PassLog | None = None,
    *,
    only_reciprocal: bool = False,
) -> None:
    """Optimise a shader, and lower everything that the machine lacks.

    `only_reciprocal`: the special function unit has eight bits of 1/x, and no other function.
    """
    options = replace(options, algebraic=ALGEBRAIC)
    optimize(shader, options, log)
    run_passes(shader, ["lower_doubles", "lower_int64", "lower_vars_to_ssa"], log)
    optimize(shader, options, log)
    run_passes(shader, ["tiler_lower_alu"], log)
    if only_reciprocal:
        run_passes(shader, [("lower_special_functions", _FEW), "tiler_lower_alu"], log)
    run_passes(shader, ["copy_prop", "constant_folding", "cse", "dce"], log)


_FEW = {"has": "frcp_8bit+frsq_8bit", "steps": 2}
_INFINITY = 0x7F800000
_Lowering: TypeAlias = "Callable[[Builder, list[Def], Alu], Def]"


@nir_pass("tiler_lower_alu", preserves=Metadata.CONTROL_FLOW)
def tiler_lower_alu(shader: Shader) -> bool:
    """Take apart what is left of divisions, square roots, products' upper halves and packing.

    Before: `32 %2 = fsqrt %0`; after: `frsq`, `fmul`, two `ffma` and a selection. Needs
    `lower_alu_to_scalar`, `lower_doubles` and `lower_int64`.
    """
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            lower = _LOWERINGS.get(instr.op.name) if isinstance(instr, Alu) else None
            if lower is None:
                continue
            assert isinstance(instr, Alu)
            b = Builder(impl).at_before(instr)
            instr.replace_by(lower(b, _components(b, instr), instr))
            progress = True
    return progress


def _components(b: Builder, instr: Alu) -> list[Def]:
    """All components of all sources."""
    found = []
    for src, size in zip(instr.srcs, instr.op.input_sizes, strict=True):
        found += [b.channel(src.value, src.swizzle[k]) for k in range(max(1, size))]
    return found


def _is_one(value: Def) -> bool:
    maker = value.instr
    return isinstance(maker, LoadConst) and maker.values == (0x3F800000,)


# -- floats ----------------------------------------------------------------------------------------


def _finite(b: Builder, x: Def) -> Def:
    return b.flt(b.fabs(x), b.imm_int(_INFINITY))


def _quotient(b: Builder, a: Def, d: Def) -> Def:
    inverse = b.frcp(d)
    if _is_one(a):
        return inverse
    first = b.fmul(a, inverse)
    left = b.ffma(b.fneg(first), d, a)
    return b.bcsel(_finite(b, left), b.ffma(left, inverse, first), first)


def _square_root(b: Builder, x: Def) -> Def:
    inverse = b.frsq(x)
    first = b.fmul(x, inverse)
    left = b.ffma(b.fneg(first), first, x)
    better = b.ffma(b.fmul(left, b.imm_float(0.5)), inverse, first)
    itself = b.ior(b.feq(x, b.imm_float(0.0)), b.feq(x, b.imm_int(_INFINITY)))
    return b.bcsel(itself, x, better)


def _root_guess(b: Builder, x: Def) -> Def:
    """Eight bits of 1 / sqrt(x): halve the exponent, then one Newton step."""
    first = b.isub(b.imm_int(0x5F3759DF), b.ushr(x, b.imm_int(1)))
    square = b.fmul(b.fmul(first, first), b.fmul(x, b.imm_float(-0.5)))
    better = b.fmul(first, b.fadd(square, b.imm_float(1.5)))
    better = b.bcsel(b.flt(x, b.imm_float(0.0)), b.imm_int(0x7FC00000), better)
    better = b.bcsel(b.feq(x, b.imm_int(_INFINITY)), b.imm_float(0.0), better)
    return b.bcsel(b.feq(x, b.imm_float(0.0)), b.ior(x, b.imm_int(_INFINITY)), better)


def _normal(b: Builder, x: Def) -> Def:
    return b.iand(_finite(b, x), b.fge(b.fabs(x), b.imm_int(0x00800000)))


def _scaled(b: Builder, x: Def) -> tuple[Def, Def, Def]:
    """A normal number, what was added to its exponent, and whether x has an exponent at all."""
    small = b.flt(b.fabs(x), b.imm_int(0x00800000))
    value = b.bcsel(small, b.fmul(x, b.imm_float(16777216.0)), x)
    shift = b.bcsel(small, b.imm_int(24), b.imm_int(0))
    return value, shift, b.iand(b.fneu(x, b.imm_float(0.0)), _finite(b, x))


def _significand(b: Builder, x: Def) -> Def:
    value, _, some = _scaled(b, x)
    bits = b.ior(b.iand(value, b.imm_int(0x807FFFFF)), b.imm_int(0x3F000000))
    return b.bcsel(some, bits, x)


def _exponent(b: Builder, x: Def) -> Def:
    value, shift, some = _scaled(b, x)
    biased = b.iand(b.ushr(value, b.imm_int(23)), b.imm_int(0xFF))
    return b.bcsel(some, b.isub(biased, b.iadd(shift, b.imm_int(126))), b.imm_int(0))


# -- integers --------------------------------------------------------------------------------------


def _high_unsigned(b: Builder, x: Def, y: Def) -> Def:
    """The upper half of a product, from four products of 16 bits."""
    low, sixteen = b.imm_int(0xFFFF), b.imm_int(16)
    xl, xh = b.iand(x, low), b.ushr(x, sixteen)
    yl, yh = b.iand(y, low), b.ushr(y, sixteen)
    cross, other = b.umul24(xl, yh), b.umul24(xh, yl)
    middle = b.iadd(
        b.ushr(b.umul24(xl, yl), sixteen), b.iadd(b.iand(cross, low), b.iand(other, low))
    )
    high = b.iadd(b.umul24(xh, yh), b.iadd(b.ushr(cross, sixteen), b.ushr(other, sixteen)))
    return b.iadd(high, b.ushr(middle, sixteen))


def _high_signed(b: Builder, x: Def, y: Def) -> Def:
    sign = b.imm_int(31)
    high = b.isub(_high_unsigned(b, x, y), b.iand(b.ishr(x, sign), y))
    return b.isub(high, b.iand(b.ishr(y, sign), x))


def _divided(b: Builder, n: Def, d: Def) -> tuple[Def, Def]:
    """Unsigned quotient and remainder; both 0 if the divisor is 0."""
    one, zero = b.imm_int(1), b.imm_int(0)
    scaled = b.fmul(b.frcp(b.u2f32(d)), b.imm_float(4294966784.0))
    inverse = b.f2u32(scaled)
    wrong = b.imul(b.ineg(d), inverse)
    inverse = b.iadd(inverse, _high_unsigned(b, inverse, wrong))
    quotient = _high_unsigned(b, n, inverse)
    rest = b.isub(n, b.imul(quotient, d))
    for _ in range(2):
        more = b.uge(rest, d)
        quotient = b.bcsel(more, b.iadd(quotient, one), quotient)
        rest = b.bcsel(more, b.isub(rest, d), rest)
    nothing = b.ieq(d, zero)
    return b.bcsel(nothing, zero, quotient), b.bcsel(nothing, zero, rest)


def _signed_quotient(b: Builder, n: Def, d: Def) -> Def:
    quotient, _ = _divided(b, b.iabs(n), b.iabs(d))
    return b.bcsel(b.ilt(b.ixor(n, d), b.imm_int(0)), b.ineg(quotient), quotient)


def _remainder(b: Builder, n: Def, d: Def) -> Def:
    """The remainder with the sign of n."""
    _, rest = _divided(b, b.iabs(n), b.iabs(d))
    return b.bcsel(b.ilt(n, b.imm_int(0)), b.ineg(rest), rest)


def _modulo(b: Builder, n: Def, d: Def) -> Def:
    """The remainder with the sign of d."""
    zero = b.imm_int(0)
    rest = _remainder(b, n, d)
    other = b.iand(b.ine(rest, zero), b.ilt(b.ixor(rest, d), zero))
    return b.bcsel(other, b.iadd(rest, d), rest)


def _saturating(b: Builder, s: list[Def], minus: bool) -> Def:
    x, y = s
    sign, zero = b.imm_int(31), b.imm_int(0)
    result = b.isub(x, y) if minus else b.iadd(x, y)
    third = b.ixor(x, y) if minus else b.ixor(y, result)
    over = b.ilt(b.iand(b.ixor(x, result), third), zero)
    return b.bcsel(over, b.ixor(b.ishr(x, sign), b.imm_int(0x7FFFFFFF)), result)


def _ones(b: Builder, bits: Def, offset: Def) -> Def:
    one = b.imm_int(1)
    return b.ishl(b.isub(b.ishl(one, bits), one), offset)


def _inserted(b: Builder, s: list[Def]) -> Def:
    base, insert, offset, bits = s
    one = b.imm_int(1)
    some = b.isub(b.ishl(one, bits), one)
    ones = b.bcsel(b.ige(bits, b.imm_int(32)), b.imm_int(0xFFFFFFFF), some)
    mask = b.ishl(ones, offset)
    kept = b.iand(base, b.inot(mask))
    return b.ior(kept, b.iand(b.ishl(insert, offset), mask))


# -- packing ---------------------------------------------------------------------------------------


def _packed(signed: bool, bits: int) -> _Lowering:
    scale = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)

    def lower(b: Builder, s: list[Def], instr: Alu) -> Def:
        whole: Def | None = None
        for k, x in enumerate(s):
            low = b.fmax(x, b.imm_float(-1.0 if signed else 0.0))
            clamped = b.fmin(low, b.imm_float(1.0))
            number = b.f2i32(b.fround_even(b.fmul(clamped, b.imm_float(scale))))
            part = b.iand(number, b.imm_int((1 << bits) - 1))
            part = b.ishl(part, b.imm_int(k * bits)) if k else part
            whole = part if whole is None else b.ior(whole, part)
        assert whole is not None
        return whole

    return lower


def _unpacked(signed: bool, bits: int) -> _Lowering:
    scale = float(2 ** (bits - 1) - 1 if signed else 2**bits - 1)

    def lower(b: Builder, s: list[Def], instr: Alu) -> Def:
        found = []
        for k in range(32 // bits):
            up = b.ishl(s[0], b.imm_int(32 - bits * (k + 1)))
            count = b.imm_int(32 - bits)
            number = b.i2f32(b.ishr(up, count)) if signed else b.u2f32(b.ushr(up, count))
            value = _quotient(b, number, b.imm_float(scale))
            if signed:
                value = b.fmin(b.fmax(value, b.imm_float(-1.0)), b.imm_float(1.0))
            found.append(value)
        return b.vec(found)

    return lower


_LOWERINGS: dict[str, _Lowering] = {
    "fdiv": lambda b, s, _: _quotient(b, *s),
    "fsqrt": lambda b, s, _: _square_root(b, *s),
    "frsq_8bit": lambda b, s, _: _root_guess(b, *s),
    "fisfinite": lambda b, s, _: _finite(b, *s),
    "fisnormal": lambda b, s, _: _normal(b, *s),
    "frexp_sig": lambda b, s, _: _significand(b, *s),
    "frexp_exp": lambda b, s, _: _exponent(b, *s),
    "umul_high": lambda b, s, _: _high_unsigned(b, *s),
    "imul_high": lambda b, s, _: _high_signed(b, *s),
    "umul_2x32_64": lambda b, s, _: b.pack_64_2x32_split(b.imul(*s), _high_unsigned(b, *s)),
    "imul_2x32_64": lambda b, s, _: b.pack_64_2x32_split(b.imul(*s), _high_signed(b, *s)),
    "udiv": lambda b, s, _: _divided(b, *s)[0],
    "umod": lambda b, s, _: _divided(b, *s)[1],
    "idiv": lambda b, s, _: _signed_quotient(b, *s),
    "irem": lambda b, s, _: _remainder(b, *s),
    "imod": lambda b, s, _: _modulo(b, *s),
    "iadd_sat": lambda b, s, _: _saturating(b, s, False),
    "isub_sat": lambda b, s, _: _saturating(b, s, True),
    "ifind_msb": lambda b, s, _: b.ufind_msb(b.ixor(s[0], b.ishr(s[0], b.imm_int(31)))),
    "bfm": lambda b, s, _: _ones(b, *s),
    "bitfield_insert": lambda b, s, _: _inserted(b, s),
}
for _kind in ("unorm", "snorm"):
    for _count, _bits in ((2, 16), (4, 8)):
        _LOWERINGS[f"pack_{_kind}_{_count}x{_bits}"] = _packed(_kind == "snorm", _bits)
        _LOWERINGS[f"unpack_{_kind}_{_count}x{_bits}"] = _unpacked(_kind == "snorm", _bits)
