"""Double precision becomes integer code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import UINT64
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.operations import Build, lower_operations
from gallette.compiler.nir.run.pass_runner import nir_pass


def _quotient_bits(b: Builder, rest: Def, divisor: Def) -> Def:
    """63 bits of rest / divisor, where 1 <= rest / divisor < 2; the lowest is sticky."""
    one, zero = b.imm_int(1), b.imm_int(0, 64)
    names = ("quotient", "rest", "count")
    quotient_var, rest_var, count_var = (b.impl.add_local(f"divide_{n}", UINT64) for n in names)
    b.store_var(rest_var, rest)
    b.store_var(quotient_var, zero)
    b.store_var(count_var, b.imm_int(63, 64))
    b.push_loop()
    count = b.load_var(count_var)
    b.break_if(b.ieq(count, zero))
    r, q = b.load_var(rest_var), b.load_var(quotient_var)
    fits = b.uge(r, divisor)
    r = b.bcsel(fits, b.isub(r, divisor), r)
    b.store_var(quotient_var, b.ior(b.ishl(q, one), b.b2i64(fits)))
    b.store_var(rest_var, b.ishl(r, one))
    b.store_var(count_var, b.isub(count, b.imm_int(1, 64)))
    b.pop_loop()
    return b.ior(b.load_var(quotient_var), b.b2i64(b.ine(b.load_var(rest_var), zero)))


def _root_bits(b: Builder, value: Def) -> Def:
    """54 bits of the root of `value` (between 2^53 and 2^55), one by one, shifted left by nine; the
    lowest is sticky.
    """
    one, zero = b.imm_int(1), b.imm_int(0, 64)
    names = ("value", "root", "sum", "bit")
    value_var, root_var, sum_var, bit_var = (b.impl.add_local(f"sqrt_{n}", UINT64) for n in names)
    b.store_var(value_var, value)
    b.store_var(root_var, zero)
    b.store_var(sum_var, zero)
    b.store_var(bit_var, b.imm_int(1 << 53, 64))
    b.push_loop()
    bit = b.load_var(bit_var)
    b.break_if(b.ieq(bit, zero))
    rest, root, total = (b.load_var(var) for var in (value_var, root_var, sum_var))
    trial = b.iadd(total, bit)
    fits = b.uge(rest, trial)
    b.store_var(sum_var, b.bcsel(fits, b.iadd(trial, bit), total))
    rest = b.bcsel(fits, b.isub(rest, trial), rest)
    b.store_var(value_var, b.ishl(rest, one))
    b.store_var(root_var, b.bcsel(fits, b.iadd(root, bit), root))
    b.store_var(bit_var, b.ushr(bit, one))
    b.pop_loop()
    lost = b.b2i64(b.ine(b.load_var(value_var), zero))
    return b.ior(b.ishl(b.load_var(root_var), b.imm_int(9)), lost)


_FORMULAS = Formulas.beside(
    __file__, "softfloat.txt", {"quotient_bits": _quotient_bits, "root_bits": _root_bits}
)


@nir_pass("lower_doubles", preserves=Metadata.CONTROL_FLOW)
def lower_doubles(shader: Shader) -> bool:
    """For targets without 64-bit floats: compute on the bits (see `softfloat.txt`), exactly.

    Results are those of IEEE arithmetic, subnormals included; NaNs are quiet. Needs
    `lower_alu_to_scalar`; afterwards run `lower_int64` on a target without 64-bit integers, and
    `lower_vars_to_ssa` for the loops of division and square root.
    """
    return lower_operations(shader, _lowering)


def _lowering(instr: Alu) -> Build | None:
    """The code for `instr`, or None if it does not compute on doubles."""
    name = instr.op.name
    if instr.result.num_components != 1:
        return None
    if instr.result.bit_size != 64 and all(s.value.bit_size != 64 for s in instr.srcs):
        return None
    if name in _CONVERSIONS:
        return lambda b, srcs: _CONVERSIONS[name](b, srcs[0])
    return _FORMULAS.builder(name) if name in _FORMULAS else None


def _widened(b: Builder, x: Def) -> Def:
    if x.bit_size == 64:
        return x
    return _FORMULAS.build(b, "f2f64", [x if x.bit_size == 32 else b.f2f32(x)])


def _from_integer(signed: bool, b: Builder, x: Def) -> Def:
    if x.bit_size != 64:
        x = b.i2i64(x) if signed else b.u2u64(x)
    return _FORMULAS.build(b, "from_signed" if signed else "from_unsigned", [x])


def _to_integer(bits: int, signed: bool, b: Builder, x: Def) -> Def:
    whole = bits - 1 if signed else bits
    sizes = [b.imm_int(whole), b.imm_int((1 << whole) - 1, 64)]
    value = _FORMULAS.build(b, "to_signed" if signed else "to_unsigned", [_widened(b, x), *sizes])
    return value if bits == 64 else b.alu(f"u2u{bits}", value)


def _from_boolean(b: Builder, x: Def) -> Def:
    return b.bcsel(x, b.imm_float(1.0, 64), b.imm_int(0, 64))


_CONVERSIONS: dict[str, Callable[[Builder, Def], Def]] = {
    "f2f64": _widened,
    "i2f64": partial(_from_integer, True),
    "u2f64": partial(_from_integer, False),
    "b2f64": _from_boolean,
    **{f"f2i{n}": partial(_to_integer, n, True) for n in (8, 16, 32, 64)},
    **{f"f2u{n}": partial(_to_integer, n, False) for n in (8, 16, 32, 64)},
}
"""functions that depend on the size of their source or result"""
