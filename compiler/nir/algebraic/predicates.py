"""Named conditions of rules on a variable or an inner instruction.

A predicate gets the matched value and the components that are read. It must be fast and must depend
only on facts whose changes the rewriter tracks. Use counts are special, since they depend on other
code: see `USE_COUNT_PREDICATES`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

from gallette.compiler.nir.algebraic.values import as_float, as_int
from gallette.compiler.nir.ir.instrs import Alu, Instr, LoadConst
from gallette.compiler.nir.ir.values import Def

Swizzle: TypeAlias = tuple[int, ...]
Predicate: TypeAlias = Callable[[Def, Swizzle], bool]
PREDICATES: dict[str, Predicate] = {}

# Whether these hold depends on other code: an inexact rule with one of them makes the result of an
# expression depend on other uses of its parts.
USE_COUNT_PREDICATES = frozenset({"is_used_once", "is_used_more_than_once"})

_DEPTH = 4  # how far the range predicates follow operands


def _predicate(function: Predicate) -> Predicate:
    PREDICATES[function.__name__] = function
    return function


def _ints(value: Def, swizzle: Swizzle) -> Iterator[int]:
    """Signed constant components; nothing if the value is not constant."""
    instr = value.instr
    if isinstance(instr, LoadConst):
        for c in swizzle:
            yield as_int(instr.values[c], value.bit_size)


def _floats(value: Def, swizzle: Swizzle) -> Iterator[float]:
    instr = value.instr
    if isinstance(instr, LoadConst) and value.bit_size >= 16:
        for c in swizzle:
            yield as_float(instr.values[c], value.bit_size)


def _all(results: Iterator[bool]) -> bool:
    """True if there is at least one result and all hold."""
    found = False
    for result in results:
        if not result:
            return False
        found = True
    return found


@_predicate
def is_used_once(value: Def, swizzle: Swizzle) -> bool:
    """Whether exactly one source reads the value."""
    return len(value.uses) == 1


@_predicate
def is_used_more_than_once(value: Def, swizzle: Swizzle) -> bool:
    """Whether at least two sources read the value."""
    return len(value.uses) > 1


@_predicate
def is_not_const(value: Def, swizzle: Swizzle) -> bool:
    """Whether the value is not a constant."""
    return not isinstance(value.instr, LoadConst)


@_predicate
def is_not_fneg(value: Def, swizzle: Swizzle) -> bool:
    """Whether the value is not the result of a float negation."""
    instr = value.instr
    return not (isinstance(instr, Alu) and instr.op.name == "fneg")


@_predicate
def is_pos_power_of_two(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a constant integer 1, 2, 4, ... (signed reading: the sign bit alone does not
    count).
    """
    return _all(v > 0 and v & (v - 1) == 0 for v in _ints(value, swizzle))


@_predicate
def is_neg_power_of_two(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a constant integer -1, -2, -4, ..., except the smallest one."""
    smallest = -(1 << (value.bit_size - 1))
    return _all(v < 0 and v != smallest and -v & (-v - 1) == 0 for v in _ints(value, swizzle))


@_predicate
def is_unsigned_power_of_two(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a constant with exactly one bit set."""
    mask = (1 << value.bit_size) - 1
    return _all((v & mask).bit_count() == 1 for v in _ints(value, swizzle))


@_predicate
def is_fp_power_of_two(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a finite constant ±2^n whose reciprocal is normal too: scaling by it never
    rounds.
    """
    limit = {16: 14, 32: 126, 64: 1022}.get(value.bit_size, 0)
    return _all(
        math.isfinite(v) and abs(math.frexp(v)[0]) == 0.5 and abs(math.frexp(v)[1] - 1) <= limit
        for v in _floats(value, swizzle)
    )


@_predicate
def is_finite_nonzero(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a finite float constant other than zero."""
    return _all(math.isfinite(v) and v != 0.0 for v in _floats(value, swizzle))


@_predicate
def is_nan_const(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a constant NaN."""
    return _all(math.isnan(v) for v in _floats(value, swizzle))


@_predicate
def is_ge_zero_const(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float constant that is zero (either sign) or greater."""
    return _all(v >= 0.0 for v in _floats(value, swizzle))


@_predicate
def is_gt_zero_const(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float constant greater than zero."""
    return _all(v > 0.0 for v in _floats(value, swizzle))


@_predicate
def is_lt_zero_const(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float constant less than zero."""
    return _all(v < 0.0 for v in _floats(value, swizzle))


@_predicate
def is_gt_0_and_lt_1(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float constant strictly between 0 and 1."""
    return _all(0.0 < v < 1.0 for v in _floats(value, swizzle))


@_predicate
def is_ge_one_const(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float constant of at least 1."""
    return _all(v >= 1.0 for v in _floats(value, swizzle))


@_predicate
def is_shift_amount(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a constant in [0, 7]: a shift that is in range at every bit size."""
    return _all(0 <= v < 8 for v in _ints(value, swizzle))


@_predicate
def is_zero_to_one(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is certainly within +0..1 and not NaN."""
    instr = value.instr
    if isinstance(instr, LoadConst):
        return _all(0.0 <= v <= 1.0 and math.copysign(1.0, v) > 0 for v in _floats(value, swizzle))
    return isinstance(instr, Alu) and "zero_to_one" in instr.op.properties


@_predicate
def is_integral(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float that certainly has no fraction (infinities and NaN pass)."""
    return _is_integral(value, swizzle, _DEPTH)


def _is_integral(value: Def, swizzle: Swizzle, depth: int) -> bool:
    instr: Instr = value.instr
    if isinstance(instr, LoadConst):
        return _all(not math.isfinite(v) or v == math.floor(v) for v in _floats(value, swizzle))
    if not isinstance(instr, Alu) or depth == 0:
        return False
    properties = instr.op.properties
    if "integral" in properties:
        return True
    if "keeps_integral" in properties:
        return all(
            _is_integral(s.value, tuple(s.swizzle[c] for c in swizzle), depth - 1)
            for s in instr.srcs
        )
    return False


@_predicate
def is_not_negative(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float that is certainly NaN, or has no sign bit and is therefore at least
    +0.
    """
    instr = value.instr
    if isinstance(instr, LoadConst):
        return _all(math.copysign(1.0, v) > 0 for v in _floats(value, swizzle))
    if not isinstance(instr, Alu):
        return False
    if instr.op.name == "fmul":  # a square
        a, b = instr.srcs
        return a.value is b.value and a.swizzle == b.swizzle
    return "not_negative" in instr.op.properties


@_predicate
def is_a_number(value: Def, swizzle: Swizzle) -> bool:
    """Whether it is a float that is certainly not NaN."""
    instr = value.instr
    if isinstance(instr, LoadConst):
        return _all(not math.isnan(v) for v in _floats(value, swizzle))
    return isinstance(instr, Alu) and not instr.op.properties.isdisjoint(
        ("zero_to_one", "a_number")
    )
