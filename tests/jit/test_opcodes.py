"""Every opcode of the table in machine code, beside what the table says it computes.

Exact opcodes give the same bits; those that are polynomials here and NumPy's own there are compared
with float64, within a bound in units of the last place.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode, numpy_dtype
from gallette.drivers.jit.llvm.engine import compile_module, machine
from gallette.drivers.jit.llvm.text import Builder
from gallette.drivers.jit.llvm.values import V
from gallette.drivers.jit.shader import alu_vectors  # noqa: F401 - it fills the table
from gallette.drivers.jit.shader.alu import EMITTERS, emit_alu, llvm_type
from gallette.drivers.jit.shader.maths import unit
from tests.checklists import step

Array = npt.NDArray[Any]
LANES = 64
DERIVATIVES = {name for name, op in OPCODES.items() if op.is_derivative}
ULPS = {"fexp2": 2, "flog2": 2, "fsin": 2, "fcos": 2, "fpow": 64}
ULPS |= {"fsin_reduced": 2, "fcos_reduced": 2}
"""Bounds against float64; fpow's is that of exp2(y log2(x)) for results up to 2**64."""


def memory_type(t: str) -> str:
    return "i8" if t == "i1" else t


def cases(op: Opcode, bits: int, rng: np.random.Generator) -> list[list[Array]]:
    """Per source, its components: ordinary values and every awkward one."""
    sources = []
    for type, size in zip(op.input_types, op.input_sizes, strict=True):
        dtype = numpy_dtype(type.base, type.bits or bits)
        sources.append([values(dtype, rng) for _ in range(max(1, size))])
    return sources


def values(dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    if dtype == np.bool_:
        return rng.random(LANES) < 0.5
    if dtype.kind == "f":
        special = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan]
        special += [1e-40, 65520.0, -0.49999997, 2147483648.0, -2147483648.0, 3.4e38, 1e-8, 255.5]
        ordinary = rng.uniform(-8, 8, LANES // 2)
        with np.errstate(all="ignore"):
            picked = rng.choice(special, LANES - ordinary.size)
            return rng.permutation(np.concatenate((picked, ordinary))).astype(dtype)
    info = np.iinfo(dtype)
    special_ints = np.array([0, 1, 2, 3, 31, 32, 33, 63, 255, 100], np.int64)
    picked = rng.choice(special_ints, LANES // 2).astype(dtype)
    edge = np.array([info.min, info.max, info.max - 1, info.max // 2], dtype)
    wide = rng.integers(info.min, info.max, LANES // 4, dtype, endpoint=True)
    rest = np.concatenate((picked, wide, rng.choice(edge, LANES - picked.size - wide.size)))
    negated = np.where(rng.random(LANES) < 0.3, -rest.astype(np.int64), rest.astype(np.int64))
    return rng.permutation(negated.astype(dtype))


Case = tuple[int, list[list[Array]], int]
"""Bits, sources and how many lanes at a time (0: one at a time, as scalars)."""


def run_native(op: Opcode, given: list[Case]) -> list[list[Array]]:
    """The opcode over all lanes of each case, with functions of one module."""
    b = Builder()
    for number, case in enumerate(given):
        emit(b, f"case{number}", op, *case)
    names = tuple(f"case{number}" for number in range(len(given)))
    code = compile_module(b.text(), names, None)
    found = []
    for name, (bits, sources, _) in zip(names, given, strict=True):
        dtype = numpy_dtype(op.output_type.base, op.output_type.bits or bits)
        kind = np.uint8 if dtype == np.bool_ else dtype
        outputs = [np.zeros(LANES, kind) for _ in range(max(1, op.output_size))]
        kept = [
            np.ascontiguousarray(a.astype(np.uint8) if a.dtype == np.bool_ else a)
            for source in sources
            for a in source
        ]
        passed = [*kept, *outputs]
        code.function(name, *[ctypes.c_void_p] * len(passed))(*[a.ctypes.data for a in passed])
        found.append([o.astype(np.bool_) if dtype == np.bool_ else o for o in outputs])
    return found


def emit(b: Builder, name: str, op: Opcode, bits: int, sources: list[list[Array]], w: int) -> None:
    count = sum(map(len, sources)) + max(1, op.output_size)
    out_type = llvm_type(op.output_type.base, op.output_type.bits or bits)
    pointers = b.begin(name, [("ptr", f"p{i}") for i in range(count)])
    with b.loop(b.const("i64", 0), b.const("i64", LANES), w or 1) as i:
        flat = iter(pointers)
        args: list[Any] = []
        for source, type, size in zip(sources, op.input_types, op.input_sizes, strict=True):
            t = llvm_type(type.base, type.bits or bits)
            loaded: list[V] = []
            for _ in source:
                value = b.load_at(next(flat), i, memory_type(t), w)
                loaded.append(value.ne(0) if t == "i1" else value)
            args.append(loaded if size > 1 else loaded[0])
        result = emit_alu(b, op.name, args)
        for value in result if isinstance(result, list) else [result]:
            stored = value.to("i8") if value.t == "i1" else value
            assert value.bits == (bits_of_type(out_type)), op.name
            b.store(b.at(next(flat), i, memory_type(out_type)), b.spread(stored, w))
    b.end()


def bits_of_type(t: str) -> int:
    return {"i1": 1, "half": 16, "float": 32, "double": 64}.get(t) or int(t[1:])


def expected(op: Opcode, sources: list[list[Array]]) -> list[Array]:
    args = [s if size > 1 else s[0] for s, size in zip(sources, op.input_sizes, strict=True)]
    with np.errstate(all="ignore"):
        result = op.semantics(*args)
    return list(result) if isinstance(result, tuple) else [result]


def sizes(op: Opcode) -> list[int]:
    """Bit sizes to try for the unsized types of a row."""
    if all(t.bits for t in (*op.input_types, op.output_type)):
        return [0]
    floats = any(t.base == "float" and not t.bits for t in (*op.input_types, op.output_type))
    return [16, 32, 64] if floats else [8, 16, 32, 64]


def test_every_opcode_has_an_emitter() -> None:
    """Derivatives depend on how lanes lie in quads, so the stage's own code emits them."""
    missing = set(OPCODES) - set(EMITTERS)
    assert missing == DERIVATIVES, step("compiler/nir", "opcode", "jit")
    assert not set(EMITTERS) - set(OPCODES)


@pytest.mark.parametrize("name", sorted(set(OPCODES) - DERIVATIVES))
def test_machine_code_computes_what_the_table_says(name: str) -> None:
    op = OPCODES[name]
    given: list[Case] = []
    for bits in sizes(op):
        sources = cases(op, bits, np.random.default_rng([bits, len(name), *name.encode()]))
        given += [(bits, sources, w) for w in (0, machine().lanes)]
    for (bits, sources, w), have in zip(given, run_native(op, given), strict=True):
        for one, other in zip(have, expected(op, sources), strict=True):
            check(op, bits, sources, one, np.asarray(other), w)


def check(
    op: Opcode, bits: int, sources: list[list[Array]], have: Array, wanted: Array, w: int
) -> None:
    assert have.dtype == wanted.dtype
    same = have == wanted
    if have.dtype.kind == "f":
        same = have.view(f"u{have.itemsize}") == wanted.view(f"u{have.itemsize}")
        same |= np.isnan(have) & np.isnan(wanted)
        if op.name in ULPS:
            same |= within(op, sources, have, wanted)
        if op.name == "ffma":  # the table rounds twice, through float64
            with np.errstate(all="ignore"):
                same |= np.abs(have - wanted) <= np.spacing(np.abs(wanted))
    bad = np.flatnonzero(~same)
    shown = [(s[0][bad[0]], s[0].dtype) for s in sources] if bad.size else []
    assert not bad.size, f"{bits} bits, {w} lanes: {shown} gives {have[bad[0]]}, {wanted[bad[0]]}"


def within(op: Opcode, sources: list[list[Array]], have: Array, wanted: Array) -> Array:
    """Close enough to the function's value in float64."""
    wide = [s[0].astype(np.float64) for s in sources]
    with np.errstate(all="ignore"):
        truth = op.semantics(*wide)
        step = np.spacing(np.abs(truth).astype(have.dtype)).astype(np.float64)
        error = np.abs(have.astype(np.float64) - truth)
        finite = np.isfinite(have) & np.isfinite(wanted)
        near_one = error <= 2.0**-22 if op.name == "flog2" else np.zeros(have.shape, np.bool_)
        if op.name in ("fsin", "fcos"):  # huge angles: any value of the function
            huge = np.abs(wide[0]) > 2.0**40
            finite &= np.abs(have) <= 1
            error[huge] = 0
        result: Array = finite & ((error <= ULPS[op.name] * step) | near_one)
    return result


@pytest.mark.parametrize("name", ["fsin", "fcos", "fexp2", "flog2"])
def test_bounds_hold_over_the_whole_range(name: str) -> None:
    """Many ordinary values, and those next to multiples of a quarter turn."""
    global LANES
    rng = np.random.default_rng(5)
    op = OPCODES[name]
    quarters = (np.arange(-400, 400) * (np.pi / 2)).astype(np.float32)
    near = np.nextafter(quarters, np.float32(0))
    ranges = {
        "fexp2": rng.uniform(-126, 127, 4096),
        "flog2": np.exp2(rng.uniform(-126, 127, 4096)),
    }
    spread = rng.uniform(-1, 1, 2496) * 10.0 ** rng.uniform(-3, 4.5, 2496)
    array = ranges.get(name, np.concatenate((quarters, near, spread))).astype(np.float32)
    before, LANES = LANES, array.size // 64 * 64
    try:
        sources = [[array[:LANES]]]
        ((have,),) = run_native(op, [(32, sources, machine().lanes)])
    finally:
        LANES = before
    check(op, 32, sources, have, np.asarray(expected(op, sources)[0]), machine().lanes)


@pytest.mark.parametrize("bits", [1, 2, 4, 5, 6, 8, 10, 11, 16])
def test_codes_become_fractions_as_if_divided(bits: int) -> None:
    top = (1 << bits) - 1
    codes = np.arange(max(64, top + 1), dtype=np.float32)
    b = Builder()
    source, target, count = b.begin("main", [("ptr", "a"), ("ptr", "b"), ("i64", "n")])
    w = machine().lanes
    with b.loop(b.const("i64", 0), count, w) as i:
        b.store(b.at(target, i, "float"), unit(b, b.load_at(source, i, "float", w), top))
    b.end()
    function = compile_module(b.text(), ("main",), None).function(
        "main", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
    )
    found = np.zeros_like(codes)
    function(codes.ctypes.data, found.ctypes.data, codes.size)
    wanted = codes / np.float32(top)
    assert np.array_equal(found[: top + 1], wanted[: top + 1])
