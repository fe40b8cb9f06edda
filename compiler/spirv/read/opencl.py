"""OpenCL.std: the built-in functions of OpenCL C."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.glsl.lower.math import FORMULAS
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.extended import math, math_results
from gallette.compiler.spirv.read.kernel_pointers import cast, deref_at, element
from gallette.compiler.spirv.read.printing import printf

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


# One NIR opcode each.
_OPCODES = _pairs("""
fabs:fabs fma:ffma mad:ffma fmax:fmax fmin:fmin floor:ffloor ceil:fceil trunc:ftrunc
rint:fround_even sqrt:fsqrt rsqrt:frsq exp2:fexp2 log2:flog2 sin:fsin cos:fcos
pow:fpow powr:fpow fmod:frem mix:flrp sign:fsign fmax_common:fmax fmin_common:fmin
divide:fdiv recip:frcp ldexp:ldexp
s_abs:iabs s_max:imax s_min:imin u_max:umax u_min:umin s_mul_hi:imul_high u_mul_hi:umul_high
s_add_sat:iadd_sat u_add_sat:uadd_sat s_sub_sat:isub_sat u_sub_sat:usub_sat
s_hadd:ihadd u_hadd:uhadd s_rhadd:irhadd u_rhadd:urhadd rotate:urol popcount:bit_count
s_mul24:imul24 u_mul24:umul24 u_abs:mov
""")
# Functions that GLSL has, too.
_GLSL = _pairs("""
tan:tan asin:asin acos:acos atan:atan atan2:atan sinh:sinh cosh:cosh tanh:tanh asinh:asinh
acosh:acosh atanh:atanh exp:exp log:log radians:radians degrees:degrees step:step
smoothstep:smoothstep cross:cross distance:distance length:length normalize:normalize
""")
# A few opcodes, by the name of the formula.
_FORMULAS = _pairs("""
fclamp:clamp s_clamp:clamp u_clamp:clamp s_mad24:mad_wrap u_mad24:mad_wrap s_mad_hi:mad_hi
u_mad_hi:mad_hi s_mad_sat:mad_sat u_mad_sat:u_mad_sat s_abs_diff:absoluteDifference
u_abs_diff:absoluteDifference round:round_away exp10:exp10 log10:log10 hypot:hypot clz:clz ctz:ctz
copysign:copysign bitselect:bitselect sinpi:sinpi cospi:cospi maxmag:maxmag minmag:minmag fdim:fdim
expm1:expm1 log1p:log1p cbrt:cbrt pown:pown rootn:rootn ilogb:ilogb logb:logb remainder:remainder
nextafter:nextafter
""")
_PRECISIONS = ("native_", "half_", "fast_")
"""variants that may be less exact, but are the same here"""
_NEAREST = 0  # FPRoundingMode RTE
_Handler = Callable[["FunctionReader", Instruction, str], "Def | None"]
_SPECIAL = FunctionTable[str, _Handler]()
"""by name: a function of the reader and the instruction, whose arguments begin at word 4"""
_does = _SPECIAL.entry


def opencl_std(r: FunctionReader, i: Instruction) -> None:
    """Translate an extended instruction."""
    w = i.words
    op = grammar().extended["OpenCL.std"].by_opcode.get(w[3])
    if op is None:
        raise i.error(f"OpenCL.std has no instruction {w[3]}")
    name = op.name
    for prefix in _PRECISIONS:
        name = name.removeprefix(prefix)
    value: Def | None
    if name in _GLSL:
        r.values[w[1]] = math(r, _GLSL[name], r.type(i).nir, w[4:])
        return
    if name in _SPECIAL:
        value = _SPECIAL[name](r, i, name)
    elif name in _OPCODES:
        value = r.b.alu(_OPCODES[name], *[r.ssa(a) for a in w[4:]])
    elif name in _FORMULAS:
        args = [r.ssa(a) for a in w[4:]]
        if name == "s_mad_sat" and args[0].bit_size == 64:
            raise i.error("mad_sat of 64 bits is not supported")
        kind = "i" if name[:2] == "s_" else "u" if name[:2] == "u_" else "f"
        value = FORMULAS.build(r.b, _FORMULAS[name], args, kind)
    else:
        raise i.error(f"OpenCL.std's {op.name} is not supported")
    if value is not None:
        bits = r.type(i).nir.bit_size
        if name == "popcount" and value.bit_size != bits:
            value = r.b.alu(f"u2u{bits}", value)
        r.values[w[1]] = value


@_does("printf")
def _printf(r: FunctionReader, i: Instruction, name: str) -> None:
    printf(r, i)


@_does("select")
def _select(r: FunctionReader, i: Instruction, name: str) -> Def:
    """OpenCL's select: for vectors by the sign bit of each component, for scalars by zero."""
    b, (x, y, c) = r.b, [r.ssa(a) for a in i.words[4:]]
    zero = b.imm_int(0, c.bit_size)
    chosen = b.ine(c, zero) if c.num_components == 1 else b.ilt(c, zero)
    return b.bcsel(chosen, y, x)


@_does("s_upsample", "u_upsample")
def _upsample(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, high, low = r.b, r.ssa(i.words[4]), r.ssa(i.words[5])
    bits = 2 * high.bit_size
    wide = b.ishl(b.alu(f"u2u{bits}", high), b.imm_int(high.bit_size))
    return b.ior(wide, b.alu(f"u2u{bits}", low))


@_does("nan")
def _nan(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, code = r.b, r.ssa(i.words[4])
    quiet = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}[code.bit_size]
    low = b.imm_int((quiet & -quiet) - 1, code.bit_size)
    return b.ior(b.iand(code, low), b.imm_int(quiet, code.bit_size))


# Vectors.


@_does("shuffle", "shuffle2")
def _shuffle(r: FunctionReader, i: Instruction, name: str) -> Def:
    """Shuffle by the low bits of each component of the mask; the number of parts is a
    power of two.
    """
    b, mask = r.b, r.ssa(i.words[-1])
    parts = [part for word in i.words[4:-1] for part in b.channels(r.ssa(word))]
    found = []
    for at in b.channels(mask):
        low = b.iand(at, b.imm_int(len(parts) - 1, at.bit_size))
        value = parts[0]
        for k, part in enumerate(parts[1:], 1):
            value = b.bcsel(b.ieq(low, b.imm_int(k, at.bit_size)), part, value)
        found.append(value)
    return b.vec(found)


# Memory.


def _run(r: FunctionReader, id: int, offset: Def, n: int, stride: int) -> list[Deref]:
    """A run of `n` consecutive elements from `stride * offset` on, at a pointer to a scalar."""
    b, place = r.b, r.place(id)
    parent = deref_at(r, place)
    if parent.form not in ("cast", "ptr_as_array"):
        parent = cast(b, parent.result, Mode(parent.modes), place.type)
    wide = offset if offset.bit_size == 64 else b.u2u64(offset)
    first = b.imul(wide, b.imm_int(stride, 64))
    return [element(b, parent, b.iadd(first, b.imm_int(k, 64))) for k in range(n)]


@_does("vloadn", "vload_half", "vload_halfn", "vloada_halfn")
def _load(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, words, nir = r.b, i.words, r.type(i).nir
    n = nir.components
    stride = 4 if name == "vloada_halfn" and n == 3 else n
    loaded = b.vec([b.load_deref(d) for d in _run(r, words[5], r.ssa(words[4]), n, stride)])
    return loaded if name == "vloadn" else b.alu(f"f2f{nir.bit_size}", loaded)


@_does(
    "vstoren", "vstore_half", "vstore_half_r", "vstore_halfn", "vstore_halfn_r",
    "vstorea_halfn", "vstorea_halfn_r",
)  # fmt: skip
def _store(r: FunctionReader, i: Instruction, name: str) -> None:
    b, words = r.b, i.words
    value = r.ssa(words[4])
    if name.endswith("_r") and words[7] != _NEAREST:
        raise i.error("only rounding to the nearest is supported")
    if name != "vstoren":
        value = b.f2f16(value)
    n = value.num_components
    stride = 4 if name.startswith("vstorea") and n == 3 else n
    places = _run(r, words[6], r.ssa(words[5]), n, stride)
    for place, part in zip(places, b.channels(value), strict=True):
        b.store_deref(place, part)


@_does("fract")
def _fract(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, x = r.b, r.ssa(i.words[4])
    whole = b.ffloor(x)
    r.place(i.words[5]).store(b, whole)
    below = {16: 1 - 2**-11, 32: 1 - 2**-24, 64: 1 - 2**-53}[x.bit_size]
    return b.fmin(b.fsub(x, whole), b.imm_float(below, x.bit_size))


@_does("modf", "frexp")
def _taken_apart(r: FunctionReader, i: Instruction, name: str) -> Def:
    first, second = math_results(r, name, r.type(i).nir, i.words[4:5])
    r.place(i.words[5]).store(r.b, second)
    return first  # type: ignore[no-any-return]


@_does("sincos")
def _sincos(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, x = r.b, r.ssa(i.words[4])
    r.place(i.words[5]).store(b, b.fcos(x))
    return b.fsin(x)


@_does("prefetch")
def _prefetch(r: FunctionReader, i: Instruction, name: str) -> None:
    """Do nothing, because there is no cache to fill."""
