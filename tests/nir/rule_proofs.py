"""Proofs of exact algebraic rules, and the reference page that says how each was proven.

Integer rules become statements about bit vectors that an SMT solver decides, at every bit size they
match (8, 16, 32, 64, and 1 for booleans); besides, both sides are computed for *every* operand of 8
bits. Float rules are evaluated on every combination of special values (both zeros, infinities, NaN,
denormals, halfway cases), and on all 65,536 half-precision numbers where they have one variable
(`rule_sides.py`). `python tests/nir/rule_proofs.py` writes the page, in some minutes.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import z3  # type: ignore[import-untyped]
from rule_checker import WAIVERS, waiver_key
from rule_sides import Sides, exhausted, sizes_of, special

from gallette.compiler.nir.algebraic.pattern import Const, Expr, Pattern, Rule, Var, rule_text
from gallette.compiler.nir.algebraic.rules import all_rules
from gallette.compiler.nir.algebraic.values import raw_bits

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rule_proofs.md"
TIMEOUT_MS = 1500
PAGE_TIMEOUT_MS = 8000


class NotSpokenError(Exception):
    """An operation or a predicate the solver's language has no word for (here)."""


def operations(node: Pattern) -> Iterator[Any]:
    if isinstance(node, Expr):
        yield node.op
        for sub in node.srcs:
            yield from operations(sub)


def is_integer_rule(rule: Rule) -> bool:
    ops = [*operations(rule.search), *operations(rule.replace)]
    return all(t.base != "float" for op in ops for t in (*op.input_types, op.output_type))


# The solver's words.


def _flag(condition: Any) -> Any:
    return z3.If(condition, z3.BitVecVal(1, 1), z3.BitVecVal(0, 1))


def _amount(count: Any, size: int) -> Any:
    """A 32-bit shift count as a number of `size` bits, of which only the low bits matter."""
    fitted = z3.ZeroExt(size - 32, count) if size > 32 else z3.Extract(size - 1, 0, count)
    return fitted & (size - 1)


def _resize(value: Any, bits: int, is_signed: bool) -> Any:
    size = value.size()
    if bits <= size:
        return z3.Extract(bits - 1, 0, value)
    return (z3.SignExt if is_signed else z3.ZeroExt)(bits - size, value)


def _count_bits(x: Any) -> Any:
    small = [z3.ZeroExt(7, z3.Extract(i, i, x)) for i in range(x.size())]
    return z3.ZeroExt(24, sum(small, z3.BitVecVal(0, 8)))


def _first(x: Any, order: Any) -> Any:
    """Number of the first set bit in `order`, -1 if there is none."""
    found = z3.BitVecVal(-1, 32)
    for i in reversed(list(order)):
        found = z3.If(z3.Extract(i, i, x) == 1, z3.BitVecVal(i, 32), found)
    return found


def _high(a: Any, b: Any, is_signed: bool) -> Any:
    n = a.size()
    wide = z3.SignExt if is_signed else z3.ZeroExt
    return z3.Extract(2 * n - 1, n, wide(n, a) * wide(n, b))


def _average(is_signed: bool, up: int) -> Callable[..., Any]:
    def average(a: Any, b: Any) -> Any:
        wide = z3.SignExt if is_signed else z3.ZeroExt
        total = wide(1, a) + wide(1, b) + up
        return z3.Extract(a.size(), 1, total)

    return average


def _divided(by: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda a, b: z3.If(b == 0, z3.BitVecVal(0, a.size()), by(a, b))


def _saturating(wide: Any, is_signed: bool, subtract: bool) -> Callable[..., Any]:
    def saturate(a: Any, b: Any) -> Any:
        n = a.size()
        x, y = wide(2, a), wide(2, b)
        exact = x - y if subtract else x + y
        low = z3.BitVecVal(-(1 << (n - 1)) if is_signed else 0, n + 2)
        high = z3.BitVecVal((1 << (n - 1)) - 1 if is_signed else (1 << n) - 1, n + 2)
        clamped = z3.If(exact < low, low, z3.If(exact > high, high, exact))
        return z3.Extract(n - 1, 0, clamped)

    return saturate


def _rotate(left: bool) -> Callable[..., Any]:
    def rotate(x: Any, count: Any) -> Any:
        amount = _amount(count, x.size())
        return z3.RotateLeft(x, amount) if left else z3.RotateRight(x, amount)

    return rotate


WORDS: dict[str, Callable[..., Any]] = {
    "mov": lambda a: a,
    "iadd": lambda a, b: a + b,
    "isub": lambda a, b: a - b,
    "imul": lambda a, b: a * b,
    "ineg": lambda a: -a,
    "iabs": lambda a: z3.If(a < 0, -a, a),
    "isign": lambda a: z3.If(
        a < 0, z3.BitVecVal(-1, a.size()), z3.If(a == 0, z3.BitVecVal(0, a.size()), 1)
    ),
    "idiv": _divided(lambda a, b: a / b),
    "udiv": _divided(z3.UDiv),
    "imod": _divided(lambda a, b: a % b),
    "irem": _divided(z3.SRem),
    "umod": _divided(z3.URem),
    "imin": lambda a, b: z3.If(a < b, a, b),
    "imax": lambda a, b: z3.If(a > b, a, b),
    "umin": lambda a, b: z3.If(z3.ULT(a, b), a, b),
    "umax": lambda a, b: z3.If(z3.UGT(a, b), a, b),
    "imul_high": lambda a, b: _high(a, b, True),
    "umul_high": lambda a, b: _high(a, b, False),
    "imul_2x32_64": lambda a, b: z3.SignExt(32, a) * z3.SignExt(32, b),
    "umul_2x32_64": lambda a, b: z3.ZeroExt(32, a) * z3.ZeroExt(32, b),
    "uadd_carry": lambda a, b: z3.If(
        z3.ULT(a + b, a), z3.BitVecVal(1, a.size()), z3.BitVecVal(0, a.size())
    ),
    "usub_borrow": lambda a, b: z3.If(
        z3.ULT(a, b), z3.BitVecVal(1, a.size()), z3.BitVecVal(0, a.size())
    ),
    "uadd_sat": _saturating(z3.ZeroExt, False, False),
    "usub_sat": _saturating(z3.ZeroExt, False, True),
    "iadd_sat": _saturating(z3.SignExt, True, False),
    "isub_sat": _saturating(z3.SignExt, True, True),
    "ihadd": _average(True, 0),
    "uhadd": _average(False, 0),
    "irhadd": _average(True, 1),
    "urhadd": _average(False, 1),
    "iand": lambda a, b: a & b,
    "ior": lambda a, b: a | b,
    "ixor": lambda a, b: a ^ b,
    "inot": lambda a: ~a,
    "ishl": lambda a, b: a << _amount(b, a.size()),
    "ishr": lambda a, b: a >> _amount(b, a.size()),
    "ushr": lambda a, b: z3.LShR(a, _amount(b, a.size())),
    "urol": _rotate(True),
    "uror": _rotate(False),
    "bcsel": lambda c, a, b: z3.If(c == 1, a, b),
    "ieq": lambda a, b: _flag(a == b),
    "ine": lambda a, b: _flag(a != b),
    "ilt": lambda a, b: _flag(a < b),
    "ige": lambda a, b: _flag(a >= b),
    "ult": lambda a, b: _flag(z3.ULT(a, b)),
    "uge": lambda a, b: _flag(z3.UGE(a, b)),
    "bit_count": _count_bits,
    "find_lsb": lambda x: _first(x, range(x.size())),
    "ufind_msb": lambda x: _first(x, reversed(range(x.size()))),
    "bitfield_reverse": lambda x: z3.Concat(*[z3.Extract(i, i, x) for i in range(x.size())]),
    **{f"i2i{n}": lambda a, n=n: _resize(a, n, True) for n in (8, 16, 32, 64)},
    **{f"u2u{n}": lambda a, n=n: _resize(a, n, False) for n in (8, 16, 32, 64)},
    **{f"b2i{n}": lambda a, n=n: z3.ZeroExt(n - 1, a) for n in (8, 16, 32, 64)},
    **{
        f"pack_{w}_2x{n}_split": lambda low, high: z3.Concat(high, low)
        for w, n in ((64, 32), (32, 16))
    },
    **{
        f"unpack_{w}_2x{n}_split_x": lambda x, n=n: z3.Extract(n - 1, 0, x)
        for w, n in ((64, 32), (32, 16))
    },
    **{
        f"unpack_{w}_2x{n}_split_y": lambda x, n=n: z3.Extract(2 * n - 1, n, x)
        for w, n in ((64, 32), (32, 16))
    },
}


def _power(x: Any) -> Any:
    return z3.And(x != 0, x & (x - 1) == 0)


ASSUMPTIONS: dict[str, Callable[[Any], Any]] = {
    "is_used_once": lambda x: True,
    "is_used_more_than_once": lambda x: True,
    "is_not_const": lambda x: True,
    "is_pos_power_of_two": lambda x: z3.And(x > 0, _power(x)),
    "is_neg_power_of_two": lambda x: z3.And(x < 0, -x != x, _power(-x)),
    "is_unsigned_power_of_two": _power,
    "is_shift_amount": lambda x: z3.And(x >= 0, x < 8),
}


def _bits_of(value: Any, first: Any, count: Any) -> Any:
    """`count` bits of a 32-bit number from bit `first` on (both as the opcodes take them)."""
    return z3.LShR(value, first & 31) & _low_mask(count)


def _low_mask(count: Any) -> Any:
    return z3.If(count >= 32, z3.BitVecVal(-1, 32), (z3.BitVecVal(1, 32) << (count & 31)) - 1)


def _signed_bits(value: Any, first: Any, count: Any) -> Any:
    up = (32 - count) & 31
    return z3.If(count == 0, z3.BitVecVal(0, 32), (_bits_of(value, first, count) << up) >> up)


def _inserted(base: Any, insert: Any, first: Any, count: Any) -> Any:
    mask = _low_mask(count) << (first & 31)
    return (base & ~mask) | ((insert << (first & 31)) & mask)


def _split(x: Any, size: int) -> list[Any]:
    return [z3.Extract(i + size - 1, i, x) for i in range(0, x.size(), size)]


WORDS |= {
    "ubitfield_extract": _bits_of,
    "ibitfield_extract": _signed_bits,
    "bitfield_insert": _inserted,
    "bfm": lambda count, first: _low_mask(count & 31) << (first & 31),
    "umul24": lambda a, b: z3.LShR(a << 8, 8) * z3.LShR(b << 8, 8),
    "imul24": lambda a, b: ((a << 8) >> 8) * ((b << 8) >> 8),
}
# Of whole vectors: lists of components in, a list out.
VECTOR_WORDS: dict[str, Callable[..., list[Any]]] = {
    **{
        f"pack_{w}_{w // n}x{n}": lambda v: [z3.Concat(*reversed(v))]
        for w, n in ((64, 32), (64, 16), (32, 16), (32, 8))
    },
    **{
        f"unpack_{w}_{w // n}x{n}": lambda v, n=n: _split(v[0], n)
        for w, n in ((64, 32), (64, 16), (32, 16), (32, 8))
    },
    **{f"vec{n}": lambda *parts: [part[0] for part in parts] for n in (2, 3, 4)},
    **{
        f"ball_iequal{n}": lambda a, b: [
            _flag(z3.And(*[x == y for x, y in zip(a, b, strict=True)]))
        ]
        for n in (2, 3, 4)
    },
    **{
        f"bany_inequal{n}": lambda a, b: [
            _flag(z3.Or(*[x != y for x, y in zip(a, b, strict=True)]))
        ]
        for n in (2, 3, 4)
    },
}
# A constant with one of these properties has so few values that each is a proof of its own, and a
# far easier one.
FEW: dict[str, Callable[[int], list[int]]] = {
    "is_pos_power_of_two": lambda n: [1 << i for i in range(n - 1)],
    "is_neg_power_of_two": lambda n: [-1 << i for i in range(n - 1)],
    "is_unsigned_power_of_two": lambda n: [1 << i for i in range(n)],
    "is_shift_amount": lambda n: list(range(8)),
}


class _Statement:
    """A rule at one choice of bit sizes, as two lists of bit vectors that should be equal."""

    def __init__(self, rule: Rule, sides: Sides, few: dict[int, int]) -> None:
        self.rule, self.sides, self.few = rule, sides, few
        self.variables: dict[int, list[Any]] = {}
        self.assumed: list[Any] = []
        width = rule.search.op.output_size or 1
        self.left = self.value(rule.search, 0, True, width)
        self.right = self.value(rule.replace, self.resolve(rule.replace.size), False, width)

    def resolve(self, size: Any) -> int:
        if isinstance(size, int):
            return size
        return int(self.left[0].size() if size == "root" else self.variables[size[1]][0].size())

    def variable(self, node: Var, searching: bool) -> list[Any]:
        n = self.sides.bits(node) if searching else 0
        if node.index not in self.variables:
            count = self.sides.widths[node.index]
            if node.index in self.few:
                found = [z3.BitVecVal(self.few[node.index], n)] * count
            else:
                found = [z3.BitVec(f"{node.name}{c}", n) for c in range(count)]
            self.variables[node.index] = found
        known = self.variables[node.index]
        for name in node.predicate_names if searching else ():
            if name not in ASSUMPTIONS:
                raise NotSpokenError(f"predicate {name}")
            self.assumed += [ASSUMPTIONS[name](x) for x in known]
        return [known[c] for c in node.swizzle] if node.swizzle else known

    def value(self, node: Pattern, size: int, searching: bool, width: int) -> list[Any]:
        if isinstance(node, Var):
            known = self.variable(node, searching)
            return (known * width if len(known) < width else known)[:width]
        if isinstance(node, Const):
            n = self.sides.bits(node) if searching else size
            return [z3.BitVecVal(raw_bits(node.value, node.base, n), n)] * width
        op = node.op
        inner = op.output_size or width
        args = []
        for sub, count in zip(node.srcs, op.input_sizes, strict=True):
            given = 0 if searching or isinstance(sub, Var) else self.resolve(sub.size)
            args.append(self.value(sub, given, searching, count or inner))
        if op.name in VECTOR_WORDS:
            made = VECTOR_WORDS[op.name](*args)
        elif op.name in WORDS and op.per_component:
            made = [WORDS[op.name](*[a[c] for a in args]) for c in range(inner)]
        else:
            raise NotSpokenError(f"opcode {op.name}")
        return (made * width if len(made) < width else made)[:width]

    def decided(self, timeout_ms: int) -> tuple[str, str]:
        """ "proven", "wrong" with a counterexample, or "open"."""
        solver = z3.Solver()
        solver.set("timeout", timeout_ms)
        pairs = zip(self.left, self.right, strict=True)
        solver.add(*self.assumed, z3.Or(*[a != b for a, b in pairs]))
        answer = solver.check()
        if answer == z3.sat:
            return "wrong", f"{solver.model()} at {self.left[0].size()} bits"
        return ("proven", "") if answer == z3.unsat else ("open", "")


def _cases(sides: Sides) -> list[dict[int, int]]:
    """Values of the variables that can have only a few, in all combinations."""
    few: dict[int, list[int]] = {}
    for index, nodes in sides.variables.items():
        for name in nodes[0].predicate_names:
            if name in FEW:
                few[index] = FEW[name](sides.bits(nodes[0]))
    combos = itertools.product(*few.values())
    return [dict(zip(few, combo, strict=True)) for combo in combos]


def prove_integer(rule: Rule, timeout_ms: int = TIMEOUT_MS) -> tuple[str, str]:
    """("proven", sizes), ("wrong", counterexample) or ("open", reason)."""
    done: set[int] = set()
    late: set[int] = set()
    for bits in sizes_of(rule):
        sides = Sides(rule, bits)
        if not sides.guarded():
            continue
        wide = max((bits(n[0]) for n in sides.variables.values()), default=bits(rule.search))
        try:
            for few in _cases(sides):
                answer, detail = _Statement(rule, sides, few).decided(timeout_ms)
                if answer == "wrong":
                    return answer, detail
                if answer == "open":
                    late.add(wide)
                    break
        except NotSpokenError as error:
            return "open", str(error)
        done.add(wide)
    sizes = "/".join(map(str, sorted(done - late)))
    if late:
        missing = "/".join(map(str, sorted(late)))
        return "open", f"no answer in time at {missing}, proven at {sizes or 'none'}"
    return ("proven", sizes) if done else ("open", "no sizes")


# Division by what is no constant is more than a solver can do at 64 bits. These hold for numbers of
# any size, and the way they wrap is the same at any size.
ARGUMENTS = {
    '("umod", "a", "a")': "a number leaves no remainder when divided by itself",
    '("imod", "a", "a")': "a number leaves no remainder when divided by itself",
    '("irem", "a", "a")': "a number leaves no remainder when divided by itself",
    '("irem", 0, "a")': "zero leaves no remainder",
    '("umod", ("umod", "a", "b"), "b")': "a remainder is below the divisor, so it is its own",
    '("imod", ("imod", "a", "b"), "b")': "a remainder is below the divisor, so it is its own",
    '("irem", ("irem", "a", "b"), "b")': "a remainder is below the divisor, so it is its own",
}


def verdict(rule: Rule, timeout_ms: int = TIMEOUT_MS) -> tuple[str, str, str]:
    """(how: solver, values, argument or run; answer; detail)."""
    waiver = WAIVERS.get(waiver_key(rule))
    if rule.inexact:
        return "run", "inexact", "within 64 units in the last place on ordinary numbers"
    if waiver is not None:
        return "run", "waived", waiver.reason
    if not is_integer_rule(rule):
        return ("values", *special(rule))
    answer, detail = prove_integer(rule, timeout_ms)
    every, lanes = exhausted(rule)
    if "wrong" in (answer, every):
        return "solver", "wrong", detail if answer == "wrong" else lanes
    ending = f"; all 8-bit operands ({lanes})" if every == "proven" else f"; {lanes}"
    argument = ARGUMENTS.get(rule_text(rule.text[0]))
    if answer == "open" and every == "proven" and argument is not None:
        return "argument", "proven", f"{argument}; {detail}{ending}"
    return "solver", answer, detail + ending


def fired_on_the_corpus() -> Counter[str]:
    """How often each rule fires while the bundled tests are linked."""
    from gallette.commands.shader_db import programs
    from gallette.compiler.nir.rewrite.rewriter import Rewriter
    from gallette.piglit_subset.suite import BUNDLED

    fired: Counter[str] = Counter()
    note = Rewriter.note

    def counting(self: Rewriter, rule: Any) -> None:
        if isinstance(rule, Rule):
            fired[str(rule)] += 1
        note(self, rule)

    Rewriter.note = counting  # type: ignore[method-assign]
    try:
        for _, shaders in programs([BUNDLED]):
            for shader in shaders.values():
                shader.unref()
    finally:
        Rewriter.note = note  # type: ignore[method-assign]
    return fired


def page() -> str:
    fired = fired_on_the_corpus()
    rows, counts = [], Counter[str]()
    for rule in all_rules():
        how, answer, detail = verdict(rule, PAGE_TIMEOUT_MS)
        label = {"proven": f"{how}: {detail}"}.get(answer, f"{answer}: {detail}")
        counts[f"{answer} ({how})"] += 1
        text = str(rule).replace("|", "\\|")
        rows.append(f"| `{text}` | {label} | {fired[str(rule)] or ''} |")
    summary = "\n".join(f"- {name}: {n}" for name, n in sorted(counts.items()))
    return (
        "<!-- generated by tests/nir/rule_proofs.py -->\n"
        "# How each algebraic rule was proven\n\n"
        "*solver*: an SMT solver finds no counterexample at these bit sizes, and where operands\n"
        "may have 8 bits, both sides agree on all of them. *argument*: the same, but the solver\n"
        "ran out of time at some size; why the rule holds there is said. *values*: both sides\n"
        "agree bit for bit on all combinations of special values (a NaN is a NaN). What is open\n"
        "or waived says why. Every rule, also an open one, is run on both sides by\n"
        "`tests/nir/test_algebraic_rules.py`. The last column counts how often a rule fires while\n"
        "the bundled tests are linked: "
        f"{sum(n > 0 for n in fired.values())} of them do.\n\n{summary}\n\n"
        "| rule | proof | fires |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE, file=sys.stderr)
