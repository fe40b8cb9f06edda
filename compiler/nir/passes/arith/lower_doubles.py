"""Double precision becomes integer code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.passes.arith import softfloat as sf
from gallette.compiler.nir.run.pass_runner import nir_pass

_Lowering: TypeAlias = "Callable[[Builder, list[Def]], Def]"

_ONE = 0x3FF << 52


@nir_pass("lower_doubles", preserves=Metadata.CONTROL_FLOW)
def lower_doubles(shader: Shader) -> bool:
    """For targets without 64-bit floats: compute on the bits (see `softfloat`), exactly.

    Results are those of IEEE arithmetic, subnormals included; NaNs are quiet. Needs
    `lower_alu_to_scalar`; `lower_int64` comes next on a target without 64-bit integers, and
    `lower_vars_to_ssa` for the loops of division and square root.
    """
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if not isinstance(instr, Alu) or instr.result.num_components != 1:
                continue
            wide = instr.result.bit_size == 64 or any(s.value.bit_size == 64 for s in instr.srcs)
            lower = _LOWERINGS.get(instr.op.name) if wide else None
            if lower is None:
                continue
            b = Builder(impl).at_before(instr)
            srcs = [b.channel(s.value, s.swizzle[0]) for s in instr.srcs]
            instr.replace_by(lower(b, srcs))
            progress = True
    return progress


def _one(function: Callable[[Builder, Def], Def]) -> _Lowering:
    return lambda b, s: function(b, s[0])


def _two(function: Callable[[Builder, Def, Def], Def]) -> _Lowering:
    return lambda b, s: function(b, s[0], s[1])


def _saturate(b: Builder, x: Def) -> Def:
    low = sf.extremum(b, x, sf.imm(b, 0), False)
    return sf.extremum(b, low, sf.imm(b, _ONE), True)


def _sign(b: Builder, x: Def) -> Def:
    nothing = b.ior(sf.is_zero(b, x), sf.is_nan(b, x))
    return b.bcsel(nothing, sf.imm(b, 0), b.ior(sf.sign_of(b, x), sf.imm(b, _ONE)))


def _remainder(rounded: Callable[[Builder, Def], Def]) -> Callable[[Builder, Def, Def], Def]:
    def lower(b: Builder, x: Def, y: Def) -> Def:
        return sf.subtract(b, x, sf.multiply(b, y, rounded(b, sf.divide(b, x, y))))

    return lower


def _mix(b: Builder, srcs: list[Def]) -> Def:
    x, y, t = srcs
    rest = sf.subtract(b, sf.imm(b, _ONE), t)
    return sf.add(b, sf.multiply(b, x, rest), sf.multiply(b, y, t))


def _from_integer(is_signed: bool) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        x = srcs[0]
        if x.bit_size != 64:
            x = b.i2i64(x) if is_signed else b.u2u64(x)
        return sf.from_integer(b, x, is_signed)

    return lower


def _to_integer(bits: int, is_signed: bool) -> _Lowering:
    def lower(b: Builder, srcs: list[Def]) -> Def:
        value = sf.to_integer(b, _widen(b, srcs[0]), bits, is_signed)
        return value if bits == 64 else b.alu(f"u2u{bits}", value)

    return lower


def _widen(b: Builder, x: Def) -> Def:
    return sf.from_single(b, x if x.bit_size == 32 else b.f2f32(x)) if x.bit_size != 64 else x


_LOWERINGS: dict[str, _Lowering] = {
    "fadd": _two(sf.add),
    "fsub": _two(sf.subtract),
    "fmul": _two(sf.multiply),
    "fdiv": _two(sf.divide),
    "ffma": lambda b, s: sf.add(b, sf.multiply(b, s[0], s[1]), s[2]),
    "fneg": _one(sf.negate),
    "fabs": _one(sf.magnitude),
    "fsat": _one(_saturate),
    "fsign": _one(_sign),
    "frcp": _one(lambda b, x: sf.divide(b, sf.imm(b, _ONE), x)),
    "fsqrt": _one(sf.square_root),
    "frsq": _one(lambda b, x: sf.divide(b, sf.imm(b, _ONE), sf.square_root(b, x))),
    "fmin": _two(lambda b, x, y: sf.extremum(b, x, y, True)),
    "fmax": _two(lambda b, x, y: sf.extremum(b, x, y, False)),
    "flt": _two(sf.less),
    "fge": _two(lambda b, x, y: b.ior(sf.less(b, y, x), sf.equal(b, x, y))),
    "feq": _two(sf.equal),
    "fneu": _two(lambda b, x, y: b.inot(sf.equal(b, x, y))),
    "ftrunc": _one(sf.truncate),
    "ffloor": _one(sf.floor),
    "fceil": _one(lambda b, x: sf.floor(b, x, up=True)),
    "ffract": _one(lambda b, x: sf.subtract(b, x, sf.floor(b, x))),
    "fround_even": _one(sf.round_even),
    "fmod": _two(_remainder(sf.floor)),
    "frem": _two(_remainder(sf.truncate)),
    "flrp": _mix,
    "ldexp": _two(sf.scale),
    "frexp_sig": _one(lambda b, x: sf.fraction_and_exponent(b, x)[0]),
    "frexp_exp": _one(lambda b, x: sf.fraction_and_exponent(b, x)[1]),
    "f2f64": _one(_widen),
    "f2f32": _one(sf.to_single),
    "i2f64": _from_integer(True),
    "u2f64": _from_integer(False),
    "b2f64": lambda b, s: b.bcsel(s[0], sf.imm(b, _ONE), sf.imm(b, 0)),
    **{f"f2i{n}": _to_integer(n, True) for n in (8, 16, 32, 64)},
    **{f"f2u{n}": _to_integer(n, False) for n in (8, 16, 32, 64)},
}
