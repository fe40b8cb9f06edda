"""OpenCL.std: the built-in functions of OpenCL C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.extended import math
from gallette.compiler.spirv.read.opencl_more import COMPOSED, IN_MEMORY

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

__all__ = ["opencl_std"]

# One NIR opcode each.
_TABLE = """
fabs:fabs fma:ffma mad:ffma fmax:fmax fmin:fmin floor:ffloor ceil:fceil trunc:ftrunc
rint:fround_even
sqrt:fsqrt native_sqrt:fsqrt half_sqrt:fsqrt rsqrt:frsq native_rsqrt:frsq half_rsqrt:frsq
exp2:fexp2 native_exp2:fexp2 half_exp2:fexp2 log2:flog2 native_log2:flog2 half_log2:flog2
sin:fsin native_sin:fsin half_sin:fsin cos:fcos native_cos:fcos half_cos:fcos
pow:fpow powr:fpow native_powr:fpow half_powr:fpow fmod:frem mix:flrp sign:fsign
fmax_common:fmax fmin_common:fmin native_divide:fdiv half_divide:fdiv native_recip:frcp
half_recip:frcp ldexp:ldexp
s_abs:iabs s_max:imax s_min:imin u_max:umax u_min:umin s_mul_hi:imul_high u_mul_hi:umul_high
s_add_sat:iadd_sat u_add_sat:uadd_sat s_sub_sat:isub_sat u_sub_sat:usub_sat
s_hadd:ihadd u_hadd:uhadd s_rhadd:irhadd u_rhadd:urhadd rotate:urol popcount:bit_count
s_mul24:imul24 u_mul24:umul24
"""
_OPCODES = dict(pair.split(":") for pair in _TABLE.split())
# As GLSL has them.
_GLSL = {
    "tan": "tan",
    "native_tan": "tan",
    "half_tan": "tan",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "exp": "exp",
    "native_exp": "exp",
    "half_exp": "exp",
    "log": "log",
    "native_log": "log",
    "half_log": "log",
    "radians": "radians",
    "degrees": "degrees",
    "step": "step",
    "smoothstep": "smoothstep",
    "cross": "cross",
    "distance": "distance",
    "length": "length",
    "normalize": "normalize",
    "fast_distance": "distance",
    "fast_length": "length",
    "fast_normalize": "normalize",
}
Special = Callable[["FunctionReader", list[Def]], Def]


def _limit(prefix: str) -> Special:
    def clamp(r: FunctionReader, args: list[Def]) -> Def:
        b = r.b
        return b.alu(f"{prefix}min", b.alu(f"{prefix}max", args[0], args[1]), args[2])

    return clamp


def _mad(r: FunctionReader, args: list[Def]) -> Def:
    return r.b.iadd(r.b.imul(args[0], args[1]), args[2])


def _round(r: FunctionReader, args: list[Def]) -> Def:
    """Halves away from zero."""
    b, x = r.b, args[0]
    size = b.ffloor(b.fadd(b.fabs(x), b.imm_float(0.5, x.bit_size)))
    return b.bcsel(b.flt(x, b.imm_float(0.0, x.bit_size)), b.fneg(size), size)


def _exp10(r: FunctionReader, args: list[Def]) -> Def:
    return r.b.fexp2(r.b.fmul(args[0], r.b.imm_float(3.321928094887362, args[0].bit_size)))


def _log10(r: FunctionReader, args: list[Def]) -> Def:
    return r.b.fmul(r.b.flog2(args[0]), r.b.imm_float(0.30102999566398, args[0].bit_size))


def _hypot(r: FunctionReader, args: list[Def]) -> Def:
    b = r.b
    return b.fsqrt(b.fadd(b.fmul(args[0], args[0]), b.fmul(args[1], args[1])))


def _select(r: FunctionReader, args: list[Def]) -> Def:
    """OpenCL's select: the sign bit of each component for vectors, not zero for scalars."""
    b, (x, y, c) = r.b, args
    zero = b.imm_int(0, c.bit_size)
    chosen = b.ine(c, zero) if c.num_components == 1 else b.ilt(c, zero)
    return b.bcsel(chosen, y, x)


def _clz(r: FunctionReader, args: list[Def]) -> Def:
    b, x = r.b, args[0]
    found = b.isub(b.imm_int(x.bit_size - 1), b.ufind_msb(x))
    return found if x.bit_size == 32 else b.alu(f"u2u{x.bit_size}", found)


def _copysign(r: FunctionReader, args: list[Def]) -> Def:
    b, (x, y) = r.b, args
    sign = 1 << x.bit_size - 1
    high = b.iand(y, b.imm_int(sign, x.bit_size))
    return b.ior(b.iand(x, b.imm_int(sign - 1, x.bit_size)), high)


_SPECIAL: dict[str, Special] = {
    "fclamp": _limit("f"),
    "s_clamp": _limit("i"),
    "u_clamp": _limit("u"),
    "s_mad24": _mad,
    "u_mad24": _mad,
    "round": _round,
    "exp10": _exp10,
    "native_exp10": _exp10,
    "log10": _log10,
    "native_log10": _log10,
    "hypot": _hypot,
    "select": _select,
    "clz": _clz,
    "copysign": _copysign,
    "u_abs": lambda r, args: args[0],
}


def opencl_std(r: FunctionReader, i: Instruction) -> None:
    """One extended instruction."""
    w = i.words
    op = grammar().extended["OpenCL.std"].by_opcode.get(w[3])
    if op is None:
        raise i.error(f"OpenCL.std has no instruction {w[3]}")
    args = w[4:]
    if op.name == "printf":
        from gallette.compiler.spirv.read.printing import printf

        printf(r, i)
        return
    if op.name in _GLSL:
        r.values[w[1]] = math(r, _GLSL[op.name], r.type(i).nir, args)
        return
    if op.name in IN_MEMORY:
        loaded = IN_MEMORY[op.name](r, i, op.name)
        if loaded is not None:
            r.values[w[1]] = loaded
        return
    values = [r.ssa(a) for a in args]
    if op.name in _OPCODES:
        value = r.b.alu(_OPCODES[op.name], *values)
    elif op.name in _SPECIAL:
        value = _SPECIAL[op.name](r, values)
    elif op.name in COMPOSED:
        value = COMPOSED[op.name](r.b, *values)
    else:
        raise i.error(f"OpenCL.std's {op.name} is not supported")
    bits = r.type(i).nir.bit_size
    if op.name == "popcount" and value.bit_size != bits:
        value = r.b.alu(f"u2u{bits}", value)
    r.values[w[1]] = value
