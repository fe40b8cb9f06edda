"""Opcode semantics: the same bits wherever a value lies, and the values the names promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.nir.ir.fold import evaluate
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode, numpy_dtype
from tests.cases import Case, each
from tests.checklists import step

COUNT = 1031  # odd, so that vector loops have a tail
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e-40, 3e38, -7.25, 255.0]


def lanes(base: str, bits: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    dtype = numpy_dtype(base, bits)
    if bits == 1:
        return rng.integers(0, 2, COUNT).astype(np.bool_)
    if base == "float":
        x = rng.uniform(-8.0, 8.0, COUNT)
        x[: COUNT // 3] *= 10.0 ** rng.uniform(-6, 4, COUNT // 3)
        x[rng.integers(0, COUNT, COUNT // 4)] = rng.choice(SPECIAL, COUNT // 4)
        with np.errstate(all="ignore"):
            return x.astype(dtype)
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, COUNT, dtype=dtype, endpoint=True)
    x[rng.integers(0, COUNT, COUNT // 4)] = rng.integers(0, 40, COUNT // 4)
    return x


def bit_sizes(op: Opcode) -> list[int]:
    unsized = [t for t in op.input_types if not t.bits]
    if not unsized:
        return [32]
    if op.name.startswith(("frexp", "ldexp", "fquantize")):
        return [32, 64]
    return [32, 64] if unsized[0].base == "float" else [8, 16, 32, 64]


PER_COMPONENT = [
    (op, bits)
    for op in OPCODES.values()
    if op.per_component and not op.is_derivative
    for bits in bit_sizes(op)
]


@pytest.mark.parametrize(("op", "bits"), PER_COMPONENT, ids=lambda v: getattr(v, "name", v))
def test_the_same_value_gives_the_same_bits_at_any_place_and_stride(op: Opcode, bits: int) -> None:
    args = [lanes(t.base, t.bits or bits, i) for i, t in enumerate(op.input_types)]

    def run(parts: list[Any]) -> np.ndarray[Any, Any]:
        with np.errstate(all="ignore"):
            return np.ascontiguousarray(op.semantics(*parts))

    whole = run(args)
    assert whole.dtype == op.output_type.dtype(bits)

    def same(got: np.ndarray[Any, Any], at: slice | np.ndarray[Any, Any]) -> None:
        want = whole[at]
        if whole.dtype.kind == "f":
            nan = np.isnan(want)
            assert np.array_equal(nan, np.isnan(got))
            want, got = np.where(nan, 0, want), np.where(nan, 0, got)
        assert want.tobytes() == got.astype(want.dtype).tobytes()

    spread = [np.repeat(a, 3)[1::3] for a in args]
    same(run(spread), slice(None))
    same(run([a[::-1] for a in args]), slice(None, None, -1))
    for start in range(0, 60, 5):
        same(run([a[start : start + 5] for a in args]), slice(start, start + 5))
    for i in range(0, COUNT, 29):
        same(run([a[i : i + 1] for a in args]), slice(i, i + 1))
        # Uniform values: NumPy scalars, and arrays without dimensions.
        same(run([a[i] for a in args]).reshape(1), slice(i, i + 1))
        same(run([np.array(a[i]) for a in args]).reshape(1), slice(i, i + 1))
    if len(args) > 1:
        # A uniform operand: one element, broadcast.
        fixed = [args[0], *[a[7:8] for a in args[1:]]]
        full = [args[0], *[np.full(COUNT, a[7]) for a in args[1:]]]
        assert run(fixed).tobytes() == run(full).tobytes() or np.isnan(run(full)).any()


def fold(name: str, *values: Any, bits: int = 32) -> Any:
    """Evaluate on Python numbers; the result likewise."""
    op = OPCODES[name]
    raw, sizes = [], []
    for v, t in zip(values, op.input_types, strict=True):
        dtype = t.dtype(bits)
        parts = np.atleast_1d(np.array(v, dtype=dtype))
        unsigned = numpy_dtype("uint", t.bits or bits)
        raw.append(tuple(int(x) for x in parts.view(unsigned)))
        sizes.append(t.bits or bits)
    out_bits = op.output_type.bits or bits
    out = evaluate(op, raw, sizes, out_bits)
    array = np.array(out, dtype=numpy_dtype("uint", out_bits)).view(op.output_type.dtype(out_bits))
    return array[0].item() if len(array) == 1 else array.tolist()


def value(text: str) -> Any:
    return eval(text, {"nan": float("nan")})


@each(Path(__file__).with_name("opcodes.txt"))
def test_an_opcode_computes_what_its_name_says(case: Case) -> None:
    name, _, operands = case.text.partition(" ")
    args, want = [value(text) for text in operands.split(";")], value(case.answer)
    got = fold(name, *args)
    if isinstance(want, list):
        assert got == pytest.approx(want, abs=1e-6)
    else:
        assert got == want


def test_ffma_rounds_once() -> None:
    a = np.float32(1.0 + 2.0**-23)
    product = fold("fmul", a, a)
    assert fold("fadd", product, -product) == 0.0
    assert fold("ffma", a, a, -product) == pytest.approx(2.0**-46)


def test_f2f16_rtz_never_rounds_away_from_zero() -> None:
    assert fold("f2f16_rtz", 65519.0) == 65504.0
    assert fold("f2f16", 65519.0) == 65504.0
    assert fold("f2f16_rtz", -1.0009) == -1.0
    assert fold("f2f16", -1.0009) == pytest.approx(-1.0009765625)


def test_64_bit_integers_multiply_high() -> None:
    top = 2**64 - 1
    assert fold("umul_high", top, top, bits=64) == top - 1
    assert fold("imul_high", -(2**63), -(2**63), bits=64) == 2**62


def test_every_row_is_documented_and_its_signature_reads_back() -> None:
    for op in OPCODES.values():
        assert op.doc, f"{op.name}: {step('compiler/nir', 'opcode', 'row')}"
        assert op.signature.count("->") == 1
        assert op.num_inputs == len(op.input_sizes)
