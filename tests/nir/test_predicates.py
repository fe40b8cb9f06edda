"""Conditions of rules: of constants each says what its words say, of values only what holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_checker import SPECIAL_FLOATS

from gallette.compiler.nir.algebraic.predicates import PREDICATES
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.bits import float_bits
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode, numpy_dtype
from gallette.compiler.nir.ir.values import Def

# -- constants ------------------------------------------------------------------------------------

INTEGERS: dict[str, Callable[[int], set[int]]] = {
    # by bits: the integers it holds for, read with a sign
    "is_pos_power_of_two": lambda bits: {1 << n for n in range(bits - 1)},
    "is_neg_power_of_two": lambda bits: {-(1 << n) for n in range(bits - 1)},
    "is_unsigned_power_of_two": lambda bits: {1 << n for n in range(bits - 1)} | {-1 << bits - 1},
    "is_shift_amount": lambda bits: set(range(8)),
}
FLOATS: dict[str, Callable[[float], bool]] = {
    "is_finite_nonzero": lambda v: math.isfinite(v) and v != 0,
    "is_nan_const": math.isnan,
    "is_ge_zero_const": lambda v: v >= 0,
    "is_gt_zero_const": lambda v: v > 0,
    "is_lt_zero_const": lambda v: v < 0,
    "is_gt_0_and_lt_1": lambda v: v > 0 and v < 1,
    "is_ge_one_const": lambda v: v >= 1,
    "is_zero_to_one": lambda v: str(v) == "0.0" or 0 < v <= 1,
    "is_integral": lambda v: not math.isfinite(v) or math.fmod(v, 1) == 0,
    "is_not_negative": lambda v: math.copysign(1, v) == 1,
    "is_a_number": lambda v: not math.isnan(v),
}
SCALES = {16: 14, 32: 126, 64: 1022}
"""the largest power of two that is normal, and so is its reciprocal"""


def constant(raws: list[int], bits: int) -> Def:
    return LoadConst(tuple(raw & ((1 << bits) - 1) for raw in raws), bits).result


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("name", INTEGERS)
def test_of_integers_it_holds_for_those_and_no_others(name: str, bits: int) -> None:
    beside = {s * (1 << n) + d for n in range(bits - 1) for s in (1, -1) for d in (-1, 0, 1)}
    tried = sorted(beside | {-1 << bits - 1} | set(range(-128, 128)))
    found = {v for v in tried if PREDICATES[name](constant([v], bits), (0,))}
    assert found == INTEGERS[name](bits)


def floats(bits: int) -> list[float]:
    """Special values, powers of two to the end of the range, and the neighbours of some."""
    kind = numpy_dtype("float", bits).type
    near = [kind(v) for v in (0, 1, -1, 2)]
    with np.errstate(all="ignore"):
        beside = [np.nextafter(v, kind(end)) for v in near for end in (-8, 8)]
        powers = [kind(2.0**n) for n in range(-SCALES[bits] - 1, SCALES[bits] + 2) if n < 1024]
        given = [*map(kind, SPECIAL_FLOATS), *near, *beside, *powers, *(-v for v in powers)]
    return [float(v) for v in given]


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("name", FLOATS)
def test_of_floats_it_holds_for_those_and_no_others(name: str, bits: int) -> None:
    wrong = [
        v
        for v in floats(bits)
        if PREDICATES[name](constant([float_bits(v, bits)], bits), (0,)) != FLOATS[name](v)
    ]
    assert wrong == []


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_powers_of_two_scale_both_ways(bits: int) -> None:
    limit = SCALES[bits]
    wanted = {s * 2.0**n for n in range(-limit, limit + 1) for s in (1, -1)}
    holds = PREDICATES["is_fp_power_of_two"]
    found = {v for v in floats(bits) if holds(constant([float_bits(v, bits)], bits), (0,))}
    assert found == wanted


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "is_fp_power_of_two"])
def test_of_several_components_those_that_are_read_count(name: str) -> None:
    """Each predicate holds for one of these and not for another."""
    if name in INTEGERS:
        raws = [1, 3, -1, 100, -128]
    else:
        raws = [float_bits(v, 32) for v in (0.5, 1.0, 2.5, -1.0, -0.0, math.nan)]
    holds = PREDICATES[name]
    good = [raw for raw in raws if holds(constant([raw], 32), (0,))]
    bad = [raw for raw in raws if raw not in good]
    assert good and bad
    for yes in good:
        for no in bad:
            value = constant([yes, no, yes], 32)
            read = {(0,): True, (1,): False, (0, 2): True, (2, 0, 1): False, (1, 1): False}
            assert {swizzle: holds(value, swizzle) for swizzle in read} == read


@pytest.mark.parametrize("name", [*FLOATS, "is_fp_power_of_two"])
def test_eight_bits_are_no_float(name: str) -> None:
    assert not any(PREDICATES[name](constant([raw], 8), (0,)) for raw in (0, 1, 0x3C, 0x7F))


# -- results of operations ------------------------------------------------------------------------

HOLDS: dict[str, Callable[[Any], Any]] = {
    # what an array of floats is promised to be
    "is_zero_to_one": lambda v: (v >= 0) & (v <= 1) & ~np.signbit(v),
    "is_integral": lambda v: ~np.isfinite(v) | (v == np.floor(v)),
    "is_not_negative": lambda v: np.isnan(v) | ~np.signbit(v),
    "is_a_number": lambda v: ~np.isnan(v),
}
FLOAT_OPS = [
    op
    for op in OPCODES.values()
    if op.output_type.base == "float" and op.per_component and not op.is_derivative
]


def operands(op: Opcode) -> list[Any]:
    """Every pair of special values; integers say every byte four times. A third goes along."""
    columns = []
    for type in op.input_types:
        dtype = type.dtype(32)
        if type.base == "bool":
            column = np.array([False, True])
        elif type.base == "float":
            with np.errstate(all="ignore"):
                column = np.array([*SPECIAL_FLOATS, 7.0, -0.75], np.float64).astype(dtype)
        else:
            column = (np.arange(256) * 0x01010101).astype(np.uint32).view(dtype)
        columns.append(column)
    grid = np.meshgrid(*columns[:2], indexing="ij")
    made = [np.ravel(g) for g in grid]
    return made + [np.resize(column, made[0].size) for column in columns[2:]]


def computed(op: Opcode, args: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.asarray(op.semantics(*args))


def result_of(op: Opcode, source: str = "") -> Def:
    """An instruction of values nothing is known of, or that an operation made of such."""
    b = Builder.shader_main(Stage.FRAGMENT, op.name)
    srcs = []
    for type in op.input_types:
        value = b.intrinsic(
            "load_input", [b.imm_int(0)], num_components=1, bit_size=type.bits or 32, location=40
        )
        if source and type.base == "float":
            value = b.alu(source, value)
        srcs.append((value, (0,)))
    alu = Alu(op, srcs, 1, op.output_type.bits or 32)
    b.insert(alu)
    return alu.result


def judged(name: str, source: str = "") -> tuple[set[str], set[str], set[str]]:
    """Operations of whose results it is said and holds, is said and wrong, holds and is not said.

    `source` makes the operands.
    """
    right, wrong, missed = set(), set(), set()
    for op in FLOAT_OPS:
        args = operands(op)
        if source:
            kinds = [type.base for type in op.input_types]
            make = OPCODES[source]
            args = [
                computed(make, [a]) if k == "float" else a for a, k in zip(args, kinds, strict=True)
            ]
        with np.errstate(invalid="ignore"):
            holds = bool(HOLDS[name](computed(op, args)).all())
        said = PREDICATES[name](result_of(op, source), (0,))
        if said:
            (right if holds else wrong).add(op.name)
        elif holds:
            missed.add(op.name)
    return right, wrong, missed


COMPARED = {"slt", "sge", "seq", "sne"}
"""become conversions of booleans before a rule could ask"""
MISSED = {
    "is_zero_to_one": COMPARED,
    "is_integral": COMPARED,
    "is_not_negative": COMPARED | {"fsat", "ffract", "fpow"},
    "is_a_number": COMPARED | {"fsign"},
}
"""what holds and is not said, which costs an instruction now and then"""


@pytest.mark.parametrize("name", HOLDS)
def test_what_is_said_of_a_result_holds(name: str) -> None:
    right, wrong, missed = judged(name)
    assert right and not wrong
    assert missed == MISSED[name]


def test_what_keeps_integers_is_found_through_operands() -> None:
    alone, _, _ = judged("is_integral")
    right, wrong, _ = judged("is_integral", "ffloor")
    assert not wrong and alone < right
    assert right - alone == {"fneg", "fabs", "fsat", "fadd", "fmul", "fmin", "fmax"}


def test_a_chain_is_followed_a_few_steps_and_no_further() -> None:
    """An answer must be quick: nobody walks through a whole shader for one rule."""
    b = Builder.shader_main(Stage.FRAGMENT, "chain")
    value = b.alu(
        "ffloor", b.intrinsic("load_input", [b.imm_int(0)], num_components=1, location=40)
    )
    holds = PREDICATES["is_integral"]
    said = []
    for _ in range(2000):
        said.append(holds(value, (0,)))
        value = b.alu("fabs", value)
    assert all(said[:3]) and not any(said[20:])


@pytest.mark.parametrize(
    ("one", "other", "square"),
    [((0,), (0,), True), ((0, 1), (0, 1), True), ((0,), (1,), False), ((0, 1), (1, 0), False)],
)
def test_a_square_has_no_sign(one: tuple[int, ...], other: tuple[int, ...], square: bool) -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "square")
    pair, stranger = (
        b.intrinsic("load_input", [b.imm_int(0)], num_components=2, location=slot)
        for slot in (40, 41)
    )
    for left, right, known in ((pair, pair, square), (pair, stranger, False)):
        alu = Alu(OPCODES["fmul"], [(left, one), (right, other)], len(one), 32)
        b.insert(alu)
        assert PREDICATES["is_not_negative"](alu.result, tuple(range(len(one)))) == known


@pytest.mark.parametrize(
    "name", ["is_zero_to_one", "is_integral", "is_not_negative", "is_a_number"]
)
def test_of_an_input_nothing_is_known(name: str) -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "input")
    value = b.intrinsic("load_input", [b.imm_int(0)], num_components=1, location=40)
    assert not PREDICATES[name](value, (0,))


def test_uses_are_counted_and_signs_and_constants_seen() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "uses")
    value = b.intrinsic("load_input", [b.imm_int(0)], num_components=1, location=40)
    for uses in range(4):
        assert PREDICATES["is_used_once"](value, (0,)) == (uses == 1)
        assert PREDICATES["is_used_more_than_once"](value, (0,)) == (uses > 1)
        b.mov(value)
    made = {"fneg": b.fneg(value), "ineg": b.alu("ineg", value), "const": b.imm_float(-1.0)}
    for kind, of in {**made, "input": value}.items():
        assert PREDICATES["is_not_fneg"](of, (0,)) == (kind != "fneg")
        assert PREDICATES["is_not_const"](of, (0,)) == (kind != "const")


def test_every_predicate_is_tested_here() -> None:
    uses = {"is_used_once", "is_used_more_than_once", "is_not_const", "is_not_fneg"}
    assert set(PREDICATES) == {*INTEGERS, *FLOATS, *HOLDS, *uses, "is_fp_power_of_two"}
