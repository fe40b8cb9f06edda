"""Arithmetic, atomics and reductions: the NIR opcode of each SPIR-V instruction, for reading and
writing.

`OPCODES` has the instruction that is written for an opcode, and read as that opcode; instructions
that are read but never written are in `ALSO_READ`, those on booleans in `ON_BOOLS`. Names without
`Op` are of GLSL.std.450. What takes several opcodes or instructions is a formula:
`read/instructions.txt`, `emit/formulas.txt`.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import IN_PROSE, Stage

MODELS = {
    **{stage: name.title().replace(" ", "") for stage, name in IN_PROSE.items()},
    Stage.COMPUTE: "GLCompute",
    Stage.KERNEL: "Kernel",
}
"""The execution model of each stage."""


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
UnpackDouble2x32:unpack_64_2x32 OpIsFinite:fisfinite OpIsNormal:fisnormal
""")
ON_BOOLS = _pairs("""
iand:OpLogicalAnd ior:OpLogicalOr ixor:OpLogicalNotEqual inot:OpLogicalNot ieq:OpLogicalEqual
ine:OpLogicalNotEqual
""")
CONVERSIONS = _pairs("""
f2i:OpConvertFToS f2u:OpConvertFToU i2f:OpConvertSToF u2f:OpConvertUToF f2f:OpFConvert
i2i:OpSConvert u2u:OpUConvert
""")
ATOMICS = _pairs("""
iadd:OpAtomicIAdd imin:OpAtomicSMin umin:OpAtomicUMin imax:OpAtomicSMax umax:OpAtomicUMax
iand:OpAtomicAnd ior:OpAtomicOr ixor:OpAtomicXor xchg:OpAtomicExchange
fadd:OpAtomicFAddEXT fmin:OpAtomicFMinEXT fmax:OpAtomicFMaxEXT
""")
REDUCTIONS = _pairs("""
iadd:IAdd fadd:FAdd imul:IMul fmul:FMul imin:SMin umin:UMin fmin:FMin imax:SMax umax:UMax fmax:FMax
iand:BitwiseAnd ior:BitwiseOr ixor:BitwiseXor
""")
"""what the names of a reduction's instructions end with"""
SCANS = _pairs("reduce:Reduce inclusive:InclusiveScan exclusive:ExclusiveScan")
