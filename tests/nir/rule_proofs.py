"""Proofs of exact algebraic rules, and the reference page that says how each was proven.

Integer rules become statements about bit vectors that an SMT solver decides, at every bit size they
match (8, 16, 32, 64, and 1 for booleans). Float rules are evaluated on every combination of special
values (both zeros, infinities, NaN, denormals, halfway cases), and on all 65,536 half-precision
numbers where they have one variable. `python tests/nir/rule_proofs.py` writes the page.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import z3  # type: ignore[import-untyped]
from rule_checker import SPECIAL_FLOATS, WAIVERS, Places, waiver_key

from gallette.compiler.nir.algebraic.pattern import Const, Expr, Pattern, Rule, Var
from gallette.compiler.nir.algebraic.rules import all_rules
from gallette.compiler.nir.algebraic.values import raw_bits
from gallette.compiler.nir.ir.opcodes import numpy_dtype

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rule_proofs.md"
TIMEOUT_MS = 1500


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


def sizes_of(rule: Rule) -> Iterator[Callable[[Pattern], int]]:
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
    return sum((z3.ZeroExt(31, z3.Extract(i, i, x)) for i in range(x.size())), z3.BitVecVal(0, 32))


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


def prove_integer(rule: Rule) -> tuple[str, str]:
    """("proven", sizes), ("wrong", counterexample) or ("open", reason)."""
    done: list[int] = []
    for bits in sizes_of(rule):
        variables: dict[int, Any] = {}
        assumed: list[Any] = []

        def value(
            node: Pattern,
            size: int,
            searching: bool,
            variables: dict[int, Any] = variables,
            assumed: list[Any] = assumed,
            bits: Any = bits,
        ) -> Any:
            if isinstance(node, Var):
                if node.swizzle:
                    raise NotSpokenError("picks components of a vector")
                if node.index not in variables:
                    variables[node.index] = z3.BitVec(node.name, bits(node))
                known = variables[node.index]
                for name in node.predicate_names if searching else ():
                    if name not in ASSUMPTIONS:
                        raise NotSpokenError(f"predicate {name}")
                    assumed.append(ASSUMPTIONS[name](known))
                return known
            if isinstance(node, Const):
                n = bits(node) if searching else size
                return z3.BitVecVal(raw_bits(node.value, node.base, n), n)
            word = WORDS.get(node.name)
            if word is None:
                raise NotSpokenError(f"opcode {node.name}")

            def size_of(sub: Pattern) -> int:
                if searching or isinstance(sub, Var):
                    return 0
                given: Any = sub.size
                if given == "root":
                    return int(bits(rule.search))
                return int(given if isinstance(given, int) else variables[given[1]].size())

            return word(*[value(sub, size_of(sub), searching) for sub in node.srcs])

        try:
            left = value(rule.search, 0, True)

            def resolve(size: Any, variables: dict[int, Any] = variables, left: Any = left) -> int:
                if isinstance(size, int):
                    return size
                return int(left.size() if size == "root" else variables[size[1]].size())

            if any(resolve(a) != resolve(b) for a, b in rule.size_guards):
                continue
            right = value(rule.replace, resolve(rule.replace.size), False)
        except NotSpokenError as error:
            return "open", str(error)
        solver = z3.Solver()
        solver.set("timeout", TIMEOUT_MS)
        solver.add(*assumed, left != right)
        answer = solver.check()
        if answer == z3.sat:
            return "wrong", f"{solver.model()} at {left.size()} bits"
        if answer != z3.unsat:
            sizes = "/".join(map(str, sorted(set(done)))) or "no size"
            return "open", f"the solver gives up in time; proven at {sizes}"
        done.append(max(v.size() for v in variables.values()) if variables else left.size())
    return ("proven", "/".join(map(str, sorted(set(done))))) if done else ("open", "no sizes")


def prove_float(rule: Rule) -> tuple[str, str]:
    """Both sides on all combinations of special values."""
    ops = [*operations(rule.search), *operations(rule.replace)]
    if any(not op.per_component for op in ops):
        return "open", "works on vectors: checked by running both sides"
    tried = []
    for bits in sizes_of(rule):
        variables: list[Var] = []
        stack: list[Pattern] = [rule.search]
        while stack:
            node = stack.pop()
            if isinstance(node, Var):
                if node.predicate_names and set(node.predicate_names) - set(ASSUMPTIONS):
                    names = ", ".join(node.predicate_names)
                    return "open", f"predicate {names}: checked by running"
                if node.index not in {v.index for v in variables}:
                    variables.append(node)
            elif isinstance(node, Expr):
                stack.extend(node.srcs)
        if len(variables) > 3:
            return "open", "more than three variables: checked by running"
        columns = []
        for var in variables:
            n = bits(var)
            if n == 1:
                columns.append(np.array([False, True]))
            elif n == 16 and len(variables) == 1:
                columns.append(np.arange(1 << 16, dtype=np.uint16))
            else:
                with np.errstate(all="ignore"):
                    special = np.array(SPECIAL_FLOATS).astype(numpy_dtype("float", n))
                columns.append(special.view(numpy_dtype("uint", n)))
        grids = [g.ravel() for g in np.meshgrid(*columns)] if columns else []
        values = {var.index: grid for var, grid in zip(variables, grids, strict=True)}

        def run(
            node: Pattern, size: int, searching: bool, values: Any = values, bits: Any = bits
        ) -> Any:
            if isinstance(node, Var):
                return values[node.index]
            if isinstance(node, Const):
                n = bits(node) if searching else size
                kind = numpy_dtype("uint", n) if n > 1 else np.dtype(np.bool_)
                return np.full(1, raw_bits(node.value, node.base, n), np.uint64).astype(kind)

            def size_of(sub: Pattern) -> int:
                given: Any = sub.size
                if searching or isinstance(sub, Var):
                    return 0
                if given == "root":
                    return int(bits(rule.search))
                if isinstance(given, int):
                    return given
                array = values[given[1]]
                return 1 if array.dtype == np.bool_ else array.dtype.itemsize * 8

            args = []
            for sub, kind in zip(node.srcs, node.op.input_types, strict=True):
                raw = np.ascontiguousarray(run(sub, size_of(sub), searching))
                args.append(
                    raw if raw.dtype == np.bool_ else raw.view(
                        numpy_dtype(kind.base, raw.dtype.itemsize * 8)
                    )
                )  # fmt: skip
            result = np.ascontiguousarray(node.op.semantics(*args))
            if result.dtype == np.bool_:
                return result
            return result.view(numpy_dtype("uint", result.dtype.itemsize * 8))

        guards = rule.size_guards
        if any(_size(rule, bits, values, a) != _size(rule, bits, values, b) for a, b in guards):
            continue
        with np.errstate(all="ignore"):
            left = run(rule.search, 0, True)
            size = _size(rule, bits, values, rule.replace.size) if rule.replace.size else 0
            right = run(rule.replace, size, False)
        left, right = np.broadcast_arrays(left, right)
        same = left == right
        if rule.search.op.output_type.base == "float" or left.dtype != np.bool_:
            n = left.dtype.itemsize * 8
            if n >= 16 and left.dtype != np.bool_:
                kind = numpy_dtype("float", n)
                nans = [np.isnan(np.ascontiguousarray(x).view(kind)) for x in (left, right)]
                same = same | (nans[0] & nans[1])
        if not same.all():
            lane = int(np.flatnonzero(~np.ravel(same))[0])
            return "wrong", f"lane {lane}: {np.ravel(left)[lane]:#x} and {np.ravel(right)[lane]:#x}"
        widths = [1 if g.dtype == np.bool_ else g.dtype.itemsize * 8 for g in grids]
        tried.append(max(widths, default=32))
    return "proven", "special values at " + "/".join(map(str, sorted(set(tried))))


def _size(rule: Rule, bits: Any, values: Any, size: Any) -> int:
    if isinstance(size, int):
        return size
    if size == "root":
        return int(bits(rule.search))
    array = values[size[1]]
    return 1 if array.dtype == np.bool_ else array.dtype.itemsize * 8


def verdict(rule: Rule) -> tuple[str, str, str]:
    """(how: solver, values or run; answer; detail)."""
    waiver = WAIVERS.get(waiver_key(rule))
    if rule.inexact:
        return "run", "inexact", "within 64 units in the last place on ordinary numbers"
    if waiver is not None:
        return "run", "waived", waiver.reason
    if is_integer_rule(rule):
        return ("solver", *prove_integer(rule))
    try:
        return ("values", *prove_float(rule))
    except (KeyError, TypeError, ValueError) as error:
        return "values", "open", f"checked by running ({type(error).__name__})"


def fired_on_the_corpus() -> Counter[str]:
    """How often each rule fires while the bundled tests are linked."""
    from gallette.commands.shader_db import programs
    from gallette.compiler.nir.algebraic import engine

    fired: Counter[str] = Counter()
    apply = engine._apply

    def counting(rule: Rule, *rest: Any) -> None:
        fired[str(rule)] += 1
        apply(rule, *rest)

    engine._apply = counting  # type: ignore[assignment]
    try:
        for _, shaders in programs([Path(__file__).parents[2] / "piglit_subset" / "tests"]):
            for shader in shaders.values():
                shader.unref()
    finally:
        engine._apply = apply
    return fired


def page() -> str:
    fired = fired_on_the_corpus()
    rows, counts = [], Counter[str]()
    for rule in all_rules():
        how, answer, detail = verdict(rule)
        label = {"proven": f"{how}: {detail}"}.get(answer, f"{answer}: {detail}")
        counts[f"{answer} ({how})"] += 1
        text = str(rule).replace("|", "\\|")
        rows.append(f"| `{text}` | {label} | {fired[str(rule)] or ''} |")
    summary = "\n".join(f"- {name}: {n}" for name, n in sorted(counts.items()))
    return (
        "<!-- generated by tests/nir/rule_proofs.py -->\n"
        "# How each algebraic rule was proven\n\n"
        "*solver*: an SMT solver finds no counterexample at these bit sizes. *values*: both sides "
        "agree bit for bit on\nall combinations of special values (a NaN is a NaN). What is open "
        "or waived says why. Every rule, also an\nopen one, is run on both sides by "
        "`tests/nir/test_algebraic_rules.py`. The last column counts how often a rule\nfires while "
        f"the bundled tests are linked.\n\n{summary}\n\n"
        "| rule | proof | fires |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE, file=sys.stderr)
