"""64-bit arithmetic on 32-bit pieces agrees bit for bit with the opcodes' own semantics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import run_pass

LANES = 240
INTEGERS = [0, 1, 2, 3, 31, 32, 33, 63, 64, -1, -2, 1 << 31, 1 << 32, (1 << 63) - 1, -(1 << 63)]


def one_operation(name: str, widths: list[int]) -> Shader:
    """out = op(in...), every 64-bit value carried as two 32-bit components."""
    op = OPCODES[name]
    b = Builder.shader_main(Stage.VERTEX, name)
    zero = b.imm_int(0)
    args = []
    for i, bits in enumerate(widths):
        n = 2 if bits == 64 else 1
        raw = b.intrinsic("load_input", [zero], num_components=n, location=VaryingSlot(32 + i))
        if bits == 64:
            args.append(b.pack_64_2x32_split(b.channel(raw, 0), b.channel(raw, 1)))
        elif bits == 1:
            args.append(b.ine(raw, zero))
        elif bits == 16:
            args.append(b.u2u16(raw))
        else:
            args.append(raw)
    result = b.alu(op, *args)
    if result.bit_size == 64:
        result = b.vec([b.unpack_64_2x32_split_x(result), b.unpack_64_2x32_split_y(result)])
    elif result.bit_size == 1:
        result = b.b2i32(result)
    elif result.bit_size < 32:
        result = b.u2u32(result)
    mask = (1 << result.num_components) - 1
    b.intrinsic("store_output", [result, zero], write_mask=mask, location=VaryingSlot.VAR0)
    return b.shader


def environment(values: list[np.ndarray[Any, Any]], widths: list[int]) -> Environment:
    inputs: dict[tuple[int, int], Any] = {}
    for i, (v, bits) in enumerate(zip(values, widths, strict=True)):
        if bits == 64:
            pair = v.view(np.uint32).reshape(-1, 2)
            inputs[32 + i, 0], inputs[32 + i, 1] = pair[:, 0], pair[:, 1]
        else:
            inputs[32 + i, 0] = v
    return Environment(LANES, inputs=inputs)


def run(shader: Shader, env: Environment) -> dict[tuple[int, int], Any]:
    return {
        k: np.asarray(v).copy() for k, v in interpret(shader, env, budget=10**7).outputs.items()
    }


def computes_on_64_bits(shader: Shader, allowed: frozenset[str]) -> list[str]:
    found = []
    for block in shader.entry.blocks():
        for instr in block.instrs():
            if isinstance(instr, Alu) and not instr.op.name.startswith(("pack", "unpack", "mov")):
                sizes = [s.value.bit_size for s in instr.srcs] + [instr.result.bit_size]
                if 64 in sizes and instr.op.name not in allowed:
                    found.append(instr.op.name)
    return found


def check(name: str, widths: list[int], values: list[np.ndarray[Any, Any]], *passes: str) -> None:
    shader = one_operation(name, widths)
    env = environment(values, widths)
    want = run(shader, env)
    for lowering in passes:
        run_pass(shader, lowering)
        run_pass(shader, "lower_vars_to_ssa")
        validate(shader, lowering)
    assert computes_on_64_bits(shader, frozenset()) == []
    got = run(shader, environment(values, widths))
    for key, expected in want.items():
        bad = np.flatnonzero(got[key] != expected)
        assert bad.size == 0, f"{name}: lane {bad[0]} of {[v[bad[0]] for v in values]}"


def integers(seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    values = rng.integers(-(2**63), 2**63 - 1, LANES, dtype=np.int64, endpoint=True)
    values >>= rng.integers(0, 63, LANES)
    values[rng.integers(0, LANES, LANES // 2)] = rng.choice(INTEGERS, LANES // 2)
    return values


BINARY = """iadd isub iadd_sat isub_sat uadd_sat usub_sat imul idiv udiv imod irem umod imin imax
    umin umax imul_high umul_high iand ior ixor ieq ine ilt ige ult uge"""
UNARY = "ineg iabs isign inot bit_count ufind_msb ifind_msb find_lsb i2i32 u2u32 i2i16 u2u8"


@pytest.mark.parametrize("name", BINARY.split())
def test_binary_integer_operations(name: str) -> None:
    check(name, [64, 64], [integers(1), integers(2)], "lower_int64")


@pytest.mark.parametrize("name", UNARY.split())
def test_unary_integer_operations(name: str) -> None:
    check(name, [64], [integers(3)], "lower_int64")


@pytest.mark.parametrize("name", ["ishl", "ishr", "ushr"])
def test_shifts(name: str) -> None:
    check(name, [64, 32], [integers(4), np.arange(LANES, dtype=np.int32)], "lower_int64")


@pytest.mark.parametrize(("name", "bits"), [("i2i64", 32), ("u2u64", 32), ("b2i64", 1)])
def test_conversions_to_64_bits(name: str, bits: int) -> None:
    values = integers(5).astype(np.int32)
    check(name, [bits], [values & 1 if bits == 1 else values], "lower_int64")


def test_selection() -> None:
    flags = np.arange(LANES, dtype=np.int32) & 1
    check("bcsel", [1, 64, 64], [flags, integers(6), integers(7)], "lower_int64")


def doubles(seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    values = rng.uniform(-10.0, 10.0, LANES)
    values[: LANES // 3] = rng.integers(0, 2**64, LANES // 3, dtype=np.uint64).view(np.float64)
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -1.5, np.inf, -np.inf, np.nan, 5e-324, -2e-310]
    special += [1.7976931348623157e308, 2.2250738585072014e-308, 4503599627370497.5, 2.0**63, 3e9]
    values[rng.integers(0, LANES, LANES // 2)] = rng.choice(special, LANES // 2)
    return values


def check_double(name: str, widths: list[int], values: list[np.ndarray[Any, Any]]) -> None:
    """Like `check`, with all NaNs alike."""
    shader = one_operation(name, widths)
    want = run(shader, environment(values, widths))
    for lowering in ("lower_doubles", "lower_vars_to_ssa", "lower_int64", "lower_vars_to_ssa"):
        run_pass(shader, lowering)
        validate(shader, lowering)
    assert computes_on_64_bits(shader, frozenset()) == []
    got = run(shader, environment(values, widths))
    op = OPCODES[name]
    bits = op.output_type.dtype(64)
    size = 2 if bits.itemsize == 8 else 1

    def joined(outputs: dict[tuple[int, int], Any]) -> np.ndarray[Any, Any]:
        parts = [outputs[32, c].astype(np.uint32) for c in range(size)]
        raw = np.stack(parts, 1).copy()
        return raw.view(np.uint64 if size == 2 else np.uint32)[:, 0]

    a, b = joined(want), joined(got)
    if bits.kind == "f":
        fa, fb = a.view(bits), b.view(bits)
        same = (a == b) | (np.isnan(fa) & np.isnan(fb))
    else:
        same = a == b
    bad = np.flatnonzero(~same)
    at = bad[0] if bad.size else 0
    assert not bad.size, f"{name}{[v[at] for v in values]}: {a[at]:#x} became {b[at]:#x}"


DOUBLE_BINARY = """fadd fsub fmul fdiv fmin fmax flt fge feq fneu fmod frem"""
DOUBLE_UNARY = """fneg fabs fsat fsign frcp fsqrt frsq ftrunc ffloor fceil ffract fround_even
    frexp_sig frexp_exp f2f32 f2i32 f2u32 f2i64 f2u64 f2i16"""


@pytest.mark.parametrize("name", DOUBLE_BINARY.split())
def test_binary_operations_on_doubles(name: str) -> None:
    check_double(name, [64, 64], [doubles(1), doubles(11)])


def test_sums_that_cancel_and_carry() -> None:
    a = doubles(20)
    with np.errstate(all="ignore"):
        check_double("fadd", [64, 64], [a, -a * (1.0 + 2.0**-50)])
        check_double("fadd", [64, 64], [a, np.nextafter(-a, np.inf)])
        check_double("fsub", [64, 64], [a, a * 2.0**-53])


@pytest.mark.parametrize("name", DOUBLE_UNARY.split())
def test_unary_operations_on_doubles(name: str) -> None:
    check_double(name, [64], [doubles(30)])


@pytest.mark.parametrize(("name", "bits"), [("i2f64", 64), ("u2f64", 64), ("i2f64", 32)])
def test_integers_to_doubles(name: str, bits: int) -> None:
    values = integers(40) if bits == 64 else integers(40).astype(np.int32)
    check_double(name, [bits], [values])


@pytest.mark.parametrize("name", ["i2f32", "u2f32", "i2f16", "u2f16"])
def test_integers_to_narrow_floats_round_once(name: str) -> None:
    """Around every tie of the target's precision, at every magnitude."""
    values = integers(46)
    ties = [(1 << e) + (1 << max(e - 24, 0)) + d for e in range(1, 63) for d in (-1, 0, 1)]
    count = min(len(ties), LANES // 2)
    values[:count] = np.array(ties[::-1][:count], dtype=values.dtype)
    check(name, [64], [values], "lower_int64")


@pytest.mark.parametrize("name", ["f2i64", "f2u64"])
@pytest.mark.parametrize("bits", [32, 16])
def test_narrow_floats_to_wide_integers(name: str, bits: int) -> None:
    with np.errstate(all="ignore"):
        values = doubles(47).astype(np.float32 if bits == 32 else np.float16)
    raw = values.view(np.uint32 if bits == 32 else np.uint16).astype(np.int64)
    check_double(name, [bits], [raw])


def test_singles_to_doubles() -> None:
    with np.errstate(all="ignore"):
        singles = doubles(41).astype(np.float32)
    singles[:8] = [1e-45, -1e-40, 1.5, np.inf, -np.inf, np.nan, 0.0, -0.0]
    check_double("f2f64", [32], [singles.view(np.uint32).astype(np.int64)])


def test_scaling_and_mixing_doubles() -> None:
    exponents = np.arange(-LANES // 2, LANES // 2, dtype=np.int32) * 40
    check_double("ldexp", [64, 32], [doubles(42), exponents])
    check_double("flrp", [64, 64, 64], [doubles(43), doubles(44), doubles(45)])
