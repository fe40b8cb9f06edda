"""Arithmetic: the NIR opcode of each SPIR-V instruction, for reading and writing.

`OPCODES` has the instruction that is written for an opcode, and read as that opcode; instructions
that are read but never written are in `ALSO_READ`, those on booleans in `ON_BOOLS`, those with
reversed sources in `SWAPPED`. Names without `Op` are of GLSL.std.450.
"""

from __future__ import annotations

__all__ = ["ALSO_READ", "CONVERSIONS", "FORMULAS", "ON_BOOLS", "OPCODES", "ORDERED", "SWAPPED"]


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


OPCODES = _pairs("""
fneg:OpFNegate fabs:FAbs fsign:FSign frsq:InverseSqrt fsqrt:Sqrt fexp2:Exp2 flog2:Log2 fsin:Sin
fcos:Cos ftrunc:Trunc fceil:Ceil ffloor:Floor ffract:Fract fround_even:RoundEven
fquantize2f16:OpQuantizeToF16 fadd:OpFAdd fsub:OpFSub fmul:OpFMul fdiv:OpFDiv fmod:OpFMod
frem:OpFRem fpow:Pow fmin:NMin fmax:NMax ffma:Fma flrp:FMix ldexp:Ldexp
fdot2:OpDot fdot3:OpDot fdot4:OpDot
fddx:OpDPdx fddy:OpDPdy fddx_fine:OpDPdxFine fddy_fine:OpDPdyFine fddx_coarse:OpDPdxCoarse
fddy_coarse:OpDPdyCoarse
flt:OpFOrdLessThan fge:OpFOrdGreaterThanEqual feq:OpFOrdEqual fneu:OpFUnordNotEqual
ilt:OpSLessThan ige:OpSGreaterThanEqual ieq:OpIEqual ine:OpINotEqual ult:OpULessThan
uge:OpUGreaterThanEqual
iadd:OpIAdd isub:OpISub imul:OpIMul ineg:OpSNegate iabs:SAbs isign:SSign idiv:OpSDiv udiv:OpUDiv
imod:OpSMod irem:OpSRem umod:OpUMod imin:SMin imax:SMax umin:UMin umax:UMax
iand:OpBitwiseAnd ior:OpBitwiseOr ixor:OpBitwiseXor inot:OpNot
ishl:OpShiftLeftLogical ishr:OpShiftRightArithmetic ushr:OpShiftRightLogical
ufind_msb:FindUMsb ifind_msb:FindSMsb find_lsb:FindILsb bitfield_reverse:OpBitReverse
bit_count:OpBitCount ubitfield_extract:OpBitFieldUExtract ibitfield_extract:OpBitFieldSExtract
bitfield_insert:OpBitFieldInsert
pack_half_2x16:PackHalf2x16 unpack_half_2x16:UnpackHalf2x16
pack_unorm_2x16:PackUnorm2x16 pack_unorm_4x8:PackUnorm4x8
pack_snorm_2x16:PackSnorm2x16 pack_snorm_4x8:PackSnorm4x8
unpack_unorm_2x16:UnpackUnorm2x16 unpack_unorm_4x8:UnpackUnorm4x8
unpack_snorm_2x16:UnpackSnorm2x16 unpack_snorm_4x8:UnpackSnorm4x8
""")
ALSO_READ = _pairs("""
OpLogicalAnd:iand OpLogicalOr:ior OpLogicalNot:inot OpLogicalEqual:ieq OpLogicalNotEqual:ine
FMin:fmin FMax:fmax Round:fround_even PackDouble2x32:pack_64_2x32
UnpackDouble2x32:unpack_64_2x32
""")
ON_BOOLS = _pairs("""
iand:OpLogicalAnd ior:OpLogicalOr ixor:OpLogicalNotEqual inot:OpLogicalNot ieq:OpLogicalEqual
ine:OpLogicalNotEqual
""")
SWAPPED = _pairs("""
OpSGreaterThan:ilt OpSLessThanEqual:ige OpUGreaterThan:ult OpULessThanEqual:uge
""")
# Comparisons of floats: the opcode where the operands are ordered, and whether they are swapped.
ORDERED = {
    "Equal": ("feq", False),
    "NotEqual": ("fneu", False),
    "LessThan": ("flt", False),
    "GreaterThan": ("flt", True),
    "LessThanEqual": ("fge", True),
    "GreaterThanEqual": ("fge", False),
}
CONVERSIONS = _pairs("""
f2i:OpConvertFToS f2u:OpConvertFToU i2f:OpConvertSToF u2f:OpConvertUToF f2f:OpFConvert
i2i:OpSConvert u2u:OpUConvert
""")
# Opcodes without a SPIR-V instruction, as formulas (nir/builder/formulas.py). `all` and `any` are
# OpAll and OpAny.
FORMULAS = """
slt(a, b): bcsel(flt(a, b), 1.0, 0.0)
sge(a, b): bcsel(fge(a, b), 1.0, 0.0)
seq(a, b): bcsel(feq(a, b), 1.0, 0.0)
sne(a, b): bcsel(fneu(a, b), 1.0, 0.0)
frcp(a): fdiv(1.0, a)
fisfinite(a): flt(fabs(a), inf)
fisnormal(a): size = fabs(a); iand(flt(size, inf), fge(size, smallest_normal))
fsum2(a): fadd(a.x, a.y)
fsum3(a): fadd(fadd(a.x, a.y), a.z)
fsum4(a): fadd(fadd(fadd(a.x, a.y), a.z), a.w)
fdph(a, b): fadd(fdot3(a, b.xyz), b.w)
ball_fequal(a, b): all(feq(a, b))
ball_iequal(a, b): all(ieq(a, b))
bany_fnequal(a, b): any(fneu(a, b))
bany_inequal(a, b): any(ine(a, b))
imul_2x32_64(a, b): imul(i2i64(a), i2i64(b))
umul_2x32_64(a, b): imul(u2u64(a), u2u64(b))
imul24(a, b): imul(ibitfield_extract(a, 0, 24), ibitfield_extract(b, 0, 24))
umul24(a, b): imul(ubitfield_extract(a, 0, 24), ubitfield_extract(b, 0, 24))
urol(a, b): ior(ishl(a, b), ushr(a, isub(0, b)))
uror(a, b): ior(ushr(a, b), ishl(a, isub(0, b)))
bfm(a, b): ishl(isub(ishl(1, a), 1), b)
ihadd(a, b): iadd(iand(a, b), ishr(ixor(a, b), 1))
uhadd(a, b): iadd(iand(a, b), ushr(ixor(a, b), 1))
irhadd(a, b): isub(ior(a, b), ishr(ixor(a, b), 1))
urhadd(a, b): isub(ior(a, b), ushr(ixor(a, b), 1))
uadd_sat(a, b): total = iadd(a, b); bcsel(ult(total, a), -1, total)
usub_sat(a, b): bcsel(ult(a, b), 0, isub(a, b))
iadd_sat(a, b): total = iadd(a, b);
    over = ilt(iand(inot(ixor(a, b)), ixor(a, total)), 0);
    limit = ixor(ishr(a, bits - 1), (1 << (bits - 1)) - 1);
    bcsel(over, limit, total)
isub_sat(a, b): total = isub(a, b);
    over = ilt(iand(ixor(a, b), ixor(a, total)), 0);
    limit = ixor(ishr(a, bits - 1), (1 << (bits - 1)) - 1);
    bcsel(over, limit, total)
pack_half_2x16_split(a, b): pack_half_2x16(pair(a, b))
unpack_half_2x16_split_x(a): unpack_half_2x16(a).x
unpack_half_2x16_split_y(a): unpack_half_2x16(a).y
pack_64_2x32_split(a, b): pack_64_2x32(pair(a, b))
pack_32_2x16_split(a, b): pack_32_2x16(pair(a, b))
unpack_64_2x32_split_x(a): unpack_64_2x32(a).x
unpack_64_2x32_split_y(a): unpack_64_2x32(a).y
unpack_32_2x16_split_x(a): unpack_32_2x16(a).x
unpack_32_2x16_split_y(a): unpack_32_2x16(a).y
"""
