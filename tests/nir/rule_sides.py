"""Both sides of a rule on many operands at once, by the opcode table's own semantics.

`Sides` gives a rule's variables columns of raw bits, a lane for every combination of the values
they may have, and computes what the search and what the replacement makes of them. Two proofs are
built on it: integer rules on *every* operand of 8 bits (`exhausted`), and float rules on every
combination of special values (`special`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from rule_checker import SPECIAL_FLOATS, Places

from gallette.compiler.nir.algebraic.pattern import Const, Expr, Pattern, Rule, Var
from gallette.compiler.nir.algebraic.values import raw_bits
from gallette.compiler.nir.ir.opcodes import numpy_dtype

MOST_LANES = 1 << 25
COUNTS = np.array([*range(256), 1 << 31, (1 << 32) - 1, 0x12345678], np.uint32)
"""of an operand that has 32 bits whatever the others have: shift counts, which count modulo size"""

Bits = Callable[[Pattern], int]
Column = Any


class Unable(Exception):
    """Why a proof of this kind does not exist for a rule."""


def sizes_of(rule: Rule) -> Iterator[Bits]:
    """Every way to give the search pattern bit sizes, as a function from its nodes."""
    places = Places()
    places.visit(rule.search, places.new())
    classes = places.open_classes()
    for combo in itertools.product(*[places.choices(c) for c in classes]):
        chosen = dict(zip(classes, combo, strict=True))

        def bits(node: Pattern, chosen: dict[int, int] = chosen) -> int:
            root = places.find(places.of_node[id(node)])
            return places.fixed.get(root) or chosen[root]

        yield bits


def _ints(test: Callable[[Any], Any]) -> Callable[[Column], Any]:
    return lambda raw: test(raw.view(f"i{raw.dtype.itemsize}").astype(np.int64))


def _floats(test: Callable[[Any], Any]) -> Callable[[Column], Any]:
    def tested(raw: Column) -> Any:
        with np.errstate(invalid="ignore"):
            return test(raw.view(f"f{raw.dtype.itemsize}"))

    return tested


def _is_power(v: Any) -> Any:
    return (v != 0) & (v & (v - 1) == 0)


def _scales(raw: Column) -> Any:
    v = raw.view(f"f{raw.dtype.itemsize}").astype(np.float64)
    limit = {2: 14, 4: 126, 8: 1022}[raw.dtype.itemsize]
    fraction, exponent = np.frexp(v)
    return np.isfinite(v) & (np.abs(fraction) == 0.5) & (np.abs(exponent - 1) <= limit)


# What a predicate promises about a value, whatever it looks at to find out.
PROMISES: dict[str, Callable[[Column], Any]] = {
    **dict.fromkeys(
        ("is_used_once", "is_used_more_than_once", "is_not_const", "is_not_fneg"),
        lambda raw: np.ones(raw.shape, np.bool_),
    ),
    "is_pos_power_of_two": _ints(lambda v: (v > 0) & _is_power(v)),
    "is_neg_power_of_two": _ints(lambda v: (v < 0) & (v != -128) & _is_power(-v)),
    "is_unsigned_power_of_two": lambda raw: _is_power(raw),
    "is_shift_amount": _ints(lambda v: (v >= 0) & (v < 8)),
    "is_nan_const": _floats(np.isnan),
    "is_a_number": _floats(lambda v: ~np.isnan(v)),
    "is_integral": _floats(lambda v: ~np.isfinite(v) | (v == np.floor(v))),
    "is_zero_to_one": _floats(lambda v: (v >= 0) & (v <= 1) & ~np.signbit(v)),
    "is_not_negative": _floats(lambda v: np.isnan(v) | ~np.signbit(v)),
    "is_ge_zero_const": _floats(lambda v: v >= 0),
    "is_gt_zero_const": _floats(lambda v: v > 0),
    "is_lt_zero_const": _floats(lambda v: v < 0),
    "is_ge_one_const": _floats(lambda v: v >= 1),
    "is_gt_0_and_lt_1": _floats(lambda v: (v > 0) & (v < 1)),
    "is_finite_nonzero": _floats(lambda v: np.isfinite(v) & (v != 0)),
    "is_fp_power_of_two": _scales,
}


class Sides:
    """One rule at one choice of bit sizes."""

    def __init__(self, rule: Rule, bits: Bits) -> None:
        self.rule = rule
        self.bits = bits
        self.widths: dict[int, int] = {}
        self.variables: dict[int, list[Var]] = {}
        self._widths(rule.search, rule.search.op.output_size or 1)
        self.values: dict[int, list[Column]] = {}

    def _widths(self, node: Pattern, width: int) -> None:
        if isinstance(node, Var):
            self.widths[node.index] = max(width, self.widths.get(node.index, 1))
            self.variables.setdefault(node.index, []).append(node)
        elif isinstance(node, Expr):
            for sub, size in zip(node.srcs, node.op.input_sizes, strict=True):
                self._widths(sub, size or width)

    def fill(self, choices: Callable[[Var, int, int], Column]) -> int:
        """Give the variables all combinations; `choices(variable, bits, components in all)`."""
        slots = sum(self.widths.values())
        columns, places = [], []
        for index, nodes in self.variables.items():
            column = choices(nodes[0], self.bits(nodes[0]), slots)
            for name in {name for node in nodes for name in node.predicate_names}:
                if name not in PROMISES:
                    raise Unable(f"predicate {name}")
                if column.dtype != np.bool_:
                    column = column[PROMISES[name](column)]
            columns += [column] * self.widths[index]
            places += [index] * self.widths[index]
        lanes = math.prod(map(len, columns))
        if lanes > MOST_LANES:
            raise Unable(f"{lanes:,} combinations")
        self.values = {index: [] for index in self.variables}
        for index, grid in zip(places, np.meshgrid(*columns, indexing="ij"), strict=True):
            self.values[index].append(np.ascontiguousarray(grid.ravel()))
        return lanes

    def _size(self, size: Any) -> int:
        if isinstance(size, int):
            return size
        node = self.rule.search if size == "root" else self.variables[size[1]][0]
        return self.bits(node)

    def guarded(self) -> bool:
        """Do the sizes meet the rule's guards?"""
        return all(self._size(a) == self._size(b) for a, b in self.rule.size_guards)

    def search(self) -> list[Column]:
        return self._run(self.rule.search, self.rule.search.op.output_size or 1, True)

    def replacement(self) -> list[Column]:
        return self._run(self.rule.replace, self.rule.search.op.output_size or 1, False)

    def _run(self, node: Pattern, width: int, searching: bool) -> list[Column]:
        if isinstance(node, Var):
            known = self.values[node.index]
            picked = [known[c] for c in node.swizzle] if node.swizzle else known
            return (picked * width if len(picked) < width else picked)[:width]
        if isinstance(node, Const):
            n = self.bits(node) if searching else self._size(node.size)
            kind = numpy_dtype("uint", n)
            return [np.full(1, raw_bits(node.value, node.base, n), np.uint64).astype(kind)] * width
        op = node.op
        inner = op.output_size or width
        args: list[Any] = []
        for sub, size, kind in zip(node.srcs, op.input_sizes, op.input_types, strict=True):
            parts = [_typed(p, kind.base) for p in self._run(sub, size or inner, searching)]
            args.append(parts)
        if op.per_component:
            made = [op.semantics(*[parts[c] for parts in args]) for c in range(inner)]
        else:
            whole = [p if size > 1 else p[0] for p, size in zip(args, op.input_sizes, strict=True)]
            result = op.semantics(*whole)
            made = list(result) if op.output_size > 1 else [result]
        if len(made) < width:
            made = made[:1] * width
        return [_raw(np.ascontiguousarray(value)) for value in made[:width]]

    def differing(self, is_float: bool) -> str:
        """What the sides disagree about; nothing if they do not (a NaN is a NaN)."""
        with np.errstate(all="ignore"):
            pairs = list(zip(self.search(), self.replacement(), strict=True))
        for left, right in pairs:
            left, right = np.broadcast_arrays(left, right)
            same = left == right
            if is_float and left.dtype.itemsize > 1:
                kind = f"f{left.dtype.itemsize}"
                a, b = (np.isnan(np.ascontiguousarray(x).view(kind)) for x in (left, right))
                same = same | (a & b)
            if not same.all():
                lane = int(np.flatnonzero(~np.ravel(same))[0])
                read = {
                    nodes[0].name: [hex(int(c[lane])) for c in self.values[index]]
                    for index, nodes in self.variables.items()
                }
                return f"{read}: {np.ravel(left)[lane]:#x} and {np.ravel(right)[lane]:#x}"
        return ""


def _typed(raw: Column, base: str) -> Column:
    if raw.dtype == np.bool_:
        return raw
    return raw.view(numpy_dtype(base, raw.dtype.itemsize * 8))


def _raw(value: Column) -> Column:
    if value.dtype == np.bool_:
        return value
    return value.view(numpy_dtype("uint", value.dtype.itemsize * 8))


def exhausted(rule: Rule) -> tuple[str, str]:
    """Every operand of 8 bits (of 1 where it is a boolean): "proven", "wrong" or "open"."""
    done, reason = 0, "no operand may have 8 bits"
    for bits in sizes_of(rule):
        sides = Sides(rule, bits)
        given = {bits(nodes[0]) for nodes in sides.variables.values()}
        if not given <= {1, 8, 32} or (given and not given & {1, 8}) or not sides.guarded():
            continue
        if any(bits(n) == 32 and not _is_count(rule.search, n.index) for n in _all(sides)):
            continue
        try:
            done += sides.fill(_every_value)
        except Unable as error:
            reason = str(error)
            continue
        wrong = sides.differing(False)
        if wrong:
            return "wrong", wrong
    return ("proven", f"{done:,} lanes") if done else ("open", reason)


def _all(sides: Sides) -> Iterator[Var]:
    for nodes in sides.variables.values():
        yield from nodes


def _is_count(node: Pattern, index: int) -> bool:
    """Is the variable read as a shift count, and as nothing else?"""
    reads: list[bool] = []

    def visit(at: Pattern) -> None:
        if isinstance(at, Expr):
            for i, sub in enumerate(at.srcs):
                if isinstance(sub, Var) and sub.index == index:
                    reads.append(i == 1 and at.name in _SHIFTS)
                visit(sub)

    visit(node)
    return bool(reads) and all(reads)


_SHIFTS = frozenset(("ishl", "ishr", "ushr", "urol", "uror"))


def _every_value(var: Var, bits: int, slots: int) -> Column:
    if bits == 1:
        return np.array([False, True])
    return np.arange(256, dtype=np.uint8) if bits == 8 else COUNTS


# In the order in which they are left out where combinations would be too many.
_SPECIAL = [
    *(0.0, -0.0, 1.0, math.nan, math.inf, -1.5, 1e-40, -math.inf, 0.1, -1e-40, 16777217.0, 3.4e38),
    *SPECIAL_FLOATS,
]


def special(rule: Rule) -> tuple[str, str]:
    """All combinations of special values, and every half-precision number where it is one."""
    tried: set[int] = set()
    for bits in sizes_of(rule):
        sides = Sides(rule, bits)
        if not sides.guarded():
            continue
        try:
            lanes = sides.fill(_special_values)
        except Unable as error:
            return "open", str(error)
        if not lanes:
            continue
        wrong = sides.differing(True)
        if wrong:
            return "wrong", wrong
        tried.add(max((bits(n) for n in _all(sides)), default=bits(rule.search)))
    if not tried:
        return "open", "no special value is a match"
    return "proven", "special values at " + "/".join(map(str, sorted(tried)))


def _special_values(var: Var, bits: int, slots: int) -> Column:
    if bits == 1:
        return np.array([False, True])
    if slots == 1 and bits == 16:
        return np.arange(1 << 16, dtype=np.uint16)
    most = max(3, int(float(1 << 20) ** (1 / slots)))
    with np.errstate(all="ignore"):
        numbers = np.array(list(dict.fromkeys(map(repr, _SPECIAL))))[: max(most, 3)]
        values = numbers.astype(np.float64)
    if bits == 8:
        return np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        if any(name in _CONSTANTS for name in var.predicate_names):
            values = np.array([*values, 0.5, 2.0, 0.75, -2.0, 4.0, 1.0, 3.0])
        return values.astype(numpy_dtype("float", bits)).view(numpy_dtype("uint", bits))


_CONSTANTS = frozenset(PROMISES) - {"is_used_once", "is_used_more_than_once", "is_not_const"}
