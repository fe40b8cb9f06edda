"""OpenCL.std: functions of several instructions, and those that read and write memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import Instruction, SpirvError

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

__all__ = ["COMPOSED", "IN_MEMORY"]

Composed = Callable[..., Def]
COMPOSED: dict[str, Composed] = {}
"""by name: a function of the builder and the arguments"""
InMemory = Callable[["FunctionReader", Instruction, str], "Def | None"]
IN_MEMORY: dict[str, InMemory] = {}
"""by name: a function of the reader and the instruction, whose arguments are words 4 and on"""
_NEAREST = 0  # FPRoundingMode RTE


def _composed(*names: str) -> Callable[[Composed], Composed]:
    def register(function: Composed) -> Composed:
        COMPOSED.update(dict.fromkeys(names, function))
        return function

    return register


def _in_memory(*names: str) -> Callable[[InMemory], InMemory]:
    def register(function: InMemory) -> InMemory:
        IN_MEMORY.update(dict.fromkeys(names, function))
        return function

    return register


def _number(b: Builder, value: float, like: Def) -> Def:
    return b.imm_float(value, like.bit_size)


# Integers.


@_composed("ctz")
def _ctz(b: Builder, x: Def) -> Def:
    bits = x.bit_size
    found = b.find_lsb(x)
    if found.bit_size != bits:
        found = b.alu(f"u2u{bits}", found)
    return b.bcsel(b.ieq(x, b.imm_int(0, bits)), b.imm_int(bits, bits), found)


@_composed("s_mad_hi")
def _mad_hi(b: Builder, x: Def, y: Def, z: Def) -> Def:
    return b.iadd(b.imul_high(x, y), z)


@_composed("u_mad_hi")
def _unsigned_mad_hi(b: Builder, x: Def, y: Def, z: Def) -> Def:
    return b.iadd(b.umul_high(x, y), z)


@_composed("s_mad_sat")
def _mad_sat(b: Builder, x: Def, y: Def, z: Def) -> Def:
    bits = x.bit_size
    if bits == 64:
        raise SpirvError("mad_sat of 64 bits is not supported")
    wide = b.iadd(b.imul(b.i2i64(x), b.i2i64(y)), b.i2i64(z))
    least, most = b.imm_int(-(1 << bits - 1), 64), b.imm_int((1 << bits - 1) - 1, 64)
    return b.alu(f"i2i{bits}", b.imin(b.imax(wide, least), most))


@_composed("u_mad_sat")
def _unsigned_mad_sat(b: Builder, x: Def, y: Def, z: Def) -> Def:
    low = b.imul(x, y)
    total = b.iadd(low, z)
    zero = b.imm_int(0, x.bit_size)
    over = b.ior(b.ine(b.umul_high(x, y), zero), b.ult(total, low))
    return b.bcsel(over, b.imm_int(-1, x.bit_size), total)


@_composed("s_abs_diff")
def _abs_diff(b: Builder, x: Def, y: Def) -> Def:
    return b.bcsel(b.ilt(x, y), b.isub(y, x), b.isub(x, y))


@_composed("u_abs_diff")
def _unsigned_abs_diff(b: Builder, x: Def, y: Def) -> Def:
    return b.bcsel(b.ult(x, y), b.isub(y, x), b.isub(x, y))


@_composed("s_upsample", "u_upsample")
def _upsample(b: Builder, high: Def, low: Def) -> Def:
    bits = 2 * high.bit_size
    wide = b.ishl(b.alu(f"u2u{bits}", high), b.imm_int(high.bit_size))
    return b.ior(wide, b.alu(f"u2u{bits}", low))


@_composed("bitselect")
def _bitselect(b: Builder, x: Def, y: Def, mask: Def) -> Def:
    return b.ior(b.iand(x, b.inot(mask)), b.iand(y, mask))


# Floats.


def _scaled(name: str) -> Composed:
    """A function of angles in half turns."""
    return lambda b, x: b.alu(name, b.fmul(x, _number(b, math.pi, x)))


COMPOSED["sinpi"] = _scaled("fsin")
COMPOSED["cospi"] = _scaled("fcos")


def _by_size(b: Builder, x: Def, y: Def, larger: bool) -> Def:
    less, more = b.flt(b.fabs(x), b.fabs(y)), b.flt(b.fabs(y), b.fabs(x))
    if larger:
        return b.bcsel(more, x, b.bcsel(less, y, b.fmax(x, y)))
    return b.bcsel(less, x, b.bcsel(more, y, b.fmin(x, y)))


COMPOSED["maxmag"] = lambda b, x, y: _by_size(b, x, y, True)
COMPOSED["minmag"] = lambda b, x, y: _by_size(b, x, y, False)


@_composed("fdim")
def _fdim(b: Builder, x: Def, y: Def) -> Def:
    return b.bcsel(b.fge(y, x), _number(b, 0.0, x), b.fsub(x, y))


def _exp(b: Builder, x: Def) -> Def:
    return b.fexp2(b.fmul(x, _number(b, math.log2(math.e), x)))


def _log(b: Builder, x: Def) -> Def:
    return b.fmul(b.flog2(x), _number(b, math.log(2), x))


@_composed("expm1")
def _expm1(b: Builder, x: Def) -> Def:
    """What rounding takes from the exponential, its logarithm shows, and so it divides out."""
    one = _number(b, 1.0, x)
    with b.exactly():
        power = _exp(b, x)
        less = b.fsub(power, one)
        near = b.fdiv(b.fmul(less, x), _log(b, power))
        large = b.fge(b.fabs(x), one)
        return b.bcsel(b.feq(power, one), x, b.bcsel(large, less, near))


@_composed("log1p")
def _log1p(b: Builder, x: Def) -> Def:
    one = _number(b, 1.0, x)
    with b.exactly():
        sum_ = b.fadd(x, one)
        rest = b.fsub(sum_, one)
        near = b.fdiv(b.fmul(_log(b, sum_), x), rest)
        large = b.fge(b.fabs(x), one)
        return b.bcsel(b.feq(sum_, one), x, b.bcsel(large, _log(b, sum_), near))


@_composed("cbrt")
def _cbrt(b: Builder, x: Def) -> Def:
    size = b.fexp2(b.fmul(b.flog2(b.fabs(x)), _number(b, 1 / 3, x)))
    return b.bcsel(b.flt(x, _number(b, 0.0, x)), b.fneg(size), size)


def _signed_power(b: Builder, x: Def, exponent: Def, n: Def) -> Def:
    """|x| to some power, with x's sign where n is odd."""
    size = b.fpow(b.fabs(x), exponent)
    odd = b.ine(b.iand(n, b.imm_int(1, n.bit_size)), b.imm_int(0, n.bit_size))
    return b.bcsel(b.iand(odd, b.flt(x, _number(b, 0.0, x))), b.fneg(size), size)


@_composed("pown")
def _pown(b: Builder, x: Def, n: Def) -> Def:
    power = _signed_power(b, x, b.alu(f"i2f{x.bit_size}", n), n)
    return b.bcsel(b.ieq(n, b.imm_int(0, n.bit_size)), _number(b, 1.0, x), power)


@_composed("rootn")
def _rootn(b: Builder, x: Def, n: Def) -> Def:
    return _signed_power(b, x, b.frcp(b.alu(f"i2f{x.bit_size}", n)), n)


@_composed("ilogb")
def _ilogb(b: Builder, x: Def) -> Def:
    return b.isub(b.frexp_exp(x), b.imm_int(1))


@_composed("logb")
def _logb(b: Builder, x: Def) -> Def:
    return b.alu(f"i2f{x.bit_size}", _ilogb(b, x))


@_composed("remainder")
def _remainder(b: Builder, x: Def, y: Def) -> Def:
    return b.fsub(x, b.fmul(y, b.fround_even(b.fdiv(x, y))))


@_composed("nan")
def _nan(b: Builder, code: Def) -> Def:
    quiet = {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}[code.bit_size]
    low = b.imm_int((quiet & -quiet) - 1, code.bit_size)
    return b.ior(b.iand(code, low), b.imm_int(quiet, code.bit_size))


@_composed("nextafter")
def _nextafter(b: Builder, x: Def, y: Def) -> Def:
    bits = x.bit_size
    one, zero = b.imm_int(1, bits), _number(b, 0.0, x)
    with b.exactly():
        away = b.ieq(b.flt(x, y), b.flt(zero, x))
        stepped = b.bcsel(away, b.iadd(x, one), b.isub(x, one))
        least = b.ior(b.iand(y, b.imm_int(1 << bits - 1, bits)), one)
        moved = b.bcsel(b.feq(x, zero), least, stepped)
        unordered = b.ior(b.fneu(x, x), b.fneu(y, y))
        return b.bcsel(unordered, b.fadd(x, y), b.bcsel(b.feq(x, y), y, moved))


# Vectors.


@_composed("shuffle")
def _shuffle(b: Builder, x: Def, mask: Def) -> Def:
    return _chosen(b, b.channels(x), mask)


@_composed("shuffle2")
def _shuffle2(b: Builder, x: Def, y: Def, mask: Def) -> Def:
    return _chosen(b, [*b.channels(x), *b.channels(y)], mask)


def _chosen(b: Builder, parts: list[Def], mask: Def) -> Def:
    """By the low bits of each component of the mask; the number of parts is a power of two."""
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
    """`n` elements from `stride * offset` on, behind a pointer to a scalar."""
    from gallette.compiler.spirv.read.kernels import cast, deref_at, element

    b, place = r.b, r.place(id)
    parent = deref_at(r, place)
    if parent.form not in ("cast", "ptr_as_array"):
        parent = cast(b, parent.result, Mode(parent.modes), place.type)
    wide = offset if offset.bit_size == 64 else b.u2u64(offset)
    first = b.imul(wide, b.imm_int(stride, 64))
    return [element(b, parent, b.iadd(first, b.imm_int(k, 64))) for k in range(n)]


@_in_memory("vloadn", "vload_half", "vload_halfn", "vloada_halfn")
def _load(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, words, nir = r.b, i.words, r.type(i).nir
    n = nir.components
    stride = 4 if name == "vloada_halfn" and n == 3 else n
    loaded = b.vec([b.load_deref(d) for d in _run(r, words[5], r.ssa(words[4]), n, stride)])
    return loaded if name == "vloadn" else b.alu(f"f2f{nir.bit_size}", loaded)


@_in_memory(
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


@_in_memory("fract")
def _fract(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, x = r.b, r.ssa(i.words[4])
    whole = b.ffloor(x)
    r.place(i.words[5]).store(b, whole)
    below = {16: 1 - 2**-11, 32: 1 - 2**-24, 64: 1 - 2**-53}[x.bit_size]
    return b.fmin(b.fsub(x, whole), _number(b, below, x))


@_in_memory("modf")
def _modf(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, x = r.b, r.ssa(i.words[4])
    whole = b.ftrunc(x)
    r.place(i.words[5]).store(b, whole)
    return b.fsub(x, whole)


@_in_memory("frexp")
def _frexp(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, x = r.b, r.ssa(i.words[4])
    r.place(i.words[5]).store(b, b.frexp_exp(x))
    return b.frexp_sig(x)


@_in_memory("sincos")
def _sincos(r: FunctionReader, i: Instruction, name: str) -> Def:
    b, x = r.b, r.ssa(i.words[4])
    r.place(i.words[5]).store(b, b.fcos(x))
    return b.fsin(x)


@_in_memory("prefetch")
def _prefetch(r: FunctionReader, i: Instruction, name: str) -> None:
    """There is nothing to fetch before."""
