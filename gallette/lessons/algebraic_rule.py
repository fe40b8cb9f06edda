"""Lesson: a rewrite rule, written, tried, and caught when it is wrong."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.compiler.nir.algebraic.pattern import (
    Const,
    Expr,
    Pattern,
    Var,
    compile_rule,
    rule_text,
)
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage, clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.passes import rewrite_impl
from gallette.compiler.nir.text.printer import print_shader
from gallette.lessons.page import Block, Code, Diff, Page, Prose, Table, lesson

__all__ = ["RULES", "Counterexample", "counterexample", "tree"]

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, -2.5, 16777216.0, 1e-40, 3e38,
          float("inf"), float("-inf"), float("nan")]  # fmt: skip
INTS = [0, 1, 2, 7, 31, 32, 255, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
OUT = 4

# (what one might think, the rule, what is to be learned from it)
RULES: tuple[tuple[str, tuple[Any, ...], str], ...] = (
    (
        "(a | b) & a is a",
        (("iand", ("ior", "a", "b"), "a"), "a"),
        "Integers have no rounding and no special values: this holds for all bits.",
    ),
    (
        "a + 0 is a",
        (("fadd", "a", 0.0), "a"),
        "Minus zero plus zero is plus zero. The sign of a zero is visible: one divided by it is an "
        "infinity of that sign. `fadd a, -0.0` would do.",
    ),
    (
        "a * 0 is 0",
        (("fmul", "a", 0.0), 0.0),
        "Infinity times zero is no number, and a negative number times zero is minus zero.",
    ),
    (
        "not (a < b) is a >= b",
        (("inot", ("flt", "a", "b")), ("fge", "a", "b")),
        "No comparison with a NaN holds, so `not` of one does. For integers the rule is right.",
    ),
    (
        "(a + b) - b is a",
        (("fsub", ("fadd", "a", "b"), "b"), "a"),
        "The sum is rounded. When `b` is much larger, nothing of `a` is left in it.",
    ),
    (
        "a * b + c in one step",
        (("fadd", ("fmul", "a", "b"), "c"), ("ffma", "a", "b", "c")),
        "One rounding instead of two: better, and different. Such a rule is marked inexact, "
        "`~fadd`, and stays away from what is `precise` or `invariant`.",
    ),
    (
        "a / 8 is a >> 3",
        (("idiv", "a", 8), ("ishr", "a", 3)),
        "Division of a negative number rounds towards zero, a shift towards minus infinity.",
    ),
)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Operands for which the two sides differ, and what each computes."""

    operands: dict[str, str]
    before: str
    after: str
    wrong: int
    tried: int


def tree(text: tuple[Any, ...]) -> tuple[Shader, list[tuple[str, str]]]:
    """A shader that computes the search side; its inputs: (name, "float" or "int")."""
    rule = compile_rule(text)
    b = Builder.shader_main(Stage.FRAGMENT, "rule")
    inputs: dict[str, tuple[Def, str]] = {}

    def value(node: Pattern, base: str) -> Def:
        if isinstance(node, Const):
            return b.imm_float(float(node.value)) if base == "float" else b.imm_int(int(node.value))
        if isinstance(node, Var):
            if node.name not in inputs:
                slot = 32 + len(inputs)
                load = b.intrinsic("load_input", [b.imm_int(0)], num_components=1, location=slot)
                inputs[node.name] = load, base
            return inputs[node.name][0]
        assert isinstance(node, Expr)
        types = node.op.input_types
        sides = [value(s, t.base) for s, t in zip(node.srcs, types, strict=True)]
        return b.alu(node.name, *sides)

    result = value(rule.search, "float")
    if result.bit_size == 1:  # a bool is shown as 0 or 1
        result = b.b2i32(result)
    b.intrinsic("store_output", [result, b.imm_int(0)], location=OUT, write_mask=1)
    return b.shader, [(name, base) for name, (_, base) in inputs.items()]


def rewritten(text: tuple[Any, ...]) -> tuple[Shader, Shader]:
    """The search side, and what the rule alone makes of it."""
    before, _ = tree(text)
    after = clone_shader(before)
    rewrite_impl(after.entry, RuleSet([compile_rule(text)]))
    return before, after


def counterexample(text: tuple[Any, ...]) -> Counterexample | None:
    """Both sides on every combination of special values; the first that differs."""
    before, after = rewritten(text)
    _, inputs = tree(text)
    choices = [FLOATS if base == "float" else INTS for _, base in inputs]
    lanes = np.array(list(itertools.product(*choices)))
    env = Environment(len(lanes))
    columns = []
    for i, (_, base) in enumerate(inputs):
        dtype = np.float32 if base == "float" else np.uint32
        columns.append(lanes[:, i].astype(np.float64).astype(dtype))
        env.inputs[32 + i, 0] = columns[-1].view(np.uint32)
    with np.errstate(all="ignore"):
        one, two = (interpret(s, env).outputs[OUT, 0].astype(np.uint32) for s in (before, after))
    is_float = compile_rule(text).search.op.output_type.base == "float"
    same = one == two
    if is_float:
        same |= np.isnan(one.view(np.float32)) & np.isnan(two.view(np.float32))
    before.unref()
    after.unref()
    if same.all():
        return None
    # An example of ordinary numbers is more to the point than one of infinities.
    with np.errstate(all="ignore"):
        odd = sum((~np.isfinite(c.view(np.float32)) for c in columns if c.dtype == np.float32), 0)
    odd = odd + (~np.isfinite(one.view(np.float32)) if is_float else 0)
    at = int(np.flatnonzero(~same)[np.argmin(np.broadcast_to(odd, same.shape)[~same])])
    operands = {
        name: _shown(column[at : at + 1].view(np.uint32), base == "float")
        for (name, base), column in zip(inputs, columns, strict=True)
    }
    return Counterexample(
        operands,
        _shown(one[at : at + 1], is_float),
        _shown(two[at : at + 1], is_float),
        int((~same).sum()),
        len(lanes),
    )


def _shown(bits: Any, is_float: bool) -> str:
    if is_float:
        return f"{bits.view(np.float32)[0]} (0x{int(bits[0]):08x})"
    return str(int(bits.view(np.int32)[0]))


@lesson("algebraic_rule", "Writing an algebraic rule", chapter="Doing it yourself", place=20)
def run(page: Page, driver: str) -> None:
    """Two small trees, and a claim that they are the same number. Is it true for every number?

    Write rules, see what they do to a shader, and see the wrong ones caught by evaluating both
    sides.
    """
    page.section(
        "A rule is a tuple",
        """The optimiser's knowledge of arithmetic is a table. Each entry has a tree to look for,
        a tree to put in its place, and perhaps a condition. A name stands for any value, and the
        same name twice for the same value; operations that commute are tried both ways round. The
        engine matches, checks the predicates, builds the new tree and keeps the use lists
        right.""",
    )
    good = RULES[0]
    page.add(Code(rule_text(good[1]), "python", good[0]))
    before, after = rewritten(good[1])
    page.add(Diff(print_shader(before), print_shader(after), "a shader before and after the rule"))
    before.unref()
    after.unref()
    page.section(
        "Is it true?",
        """Every rule is a claim about all numbers, and floating-point numbers are not real
        numbers: zeros have signs, infinities and NaN take part, and every result is rounded. So
        no rule is believed. Both sides are built as shaders, and the reference interpreter runs
        them on every combination of awkward operands.""",
    )
    states: list[tuple[str, list[Block]]] = []
    rows: list[tuple[str, ...]] = []
    for claim, rule, moral in RULES:
        page.progress(claim)
        found = counterexample(rule)
        blocks: list[Block] = [Code(rule_text(rule), "python")]
        if found is None:
            blocks.append(Prose("Holds for every combination that was tried."))
            rows.append((claim, "holds", ""))
        else:
            operands = ", ".join(f"{n} = {v}" for n, v in found.operands.items())
            facts: list[tuple[str, ...]] = [
                ("operands", operands),
                ("the tree looked for", found.before),
                ("the tree put in its place", found.after),
                ("combinations that differ", f"{found.wrong} of {found.tried}"),
            ]
            blocks.append(Table(("caught", ""), facts))
            rows.append((claim, "WRONG", f"{found.wrong} of {found.tried}"))
        blocks.append(Prose(moral))
        states.append((claim, blocks))
    page.flip("claims: which are true?", *states)
    page.add(Table(("claim", "verdict", "combinations that differ"), rows))
    page.section(
        "Inexact on purpose",
        """A shader may be rounded differently from what is written unless it says `precise` or
        `invariant`, and a fused multiply-add is worth having. `~` in front of the operation marks
        such a rule. What an inexact rule may not do is depend on something that differs between
        two variants of the same program: a predicate such as `is_used_once` counts users, and the
        users of a position are not the same in a depth-only variant. That is another lesson.""",
    )
    page.ask(
        "`fmul(a, 1.0)` is `a`: is that true for every number?",
        """Yes: for both zeros, infinities, and the smallest numbers (as long as the machine does
        not flush them to zero, which would be a rounding of its own). For NaN the bits may
        differ, and no shader may rely on those.""",
    )
    page.ask(
        "Why is `a - a` not zero?",
        "Infinity minus infinity is NaN, and NaN minus NaN is NaN. For integers it is zero.",
    )
    page.ask(
        "A rule needs that its operand is not negative. How does it say so?",
        """With a predicate on the variable, `a(is_not_negative)`, which looks at how the value
        was made: an absolute value, a square, a saturated value.""",
    )
    page.tries(
        (
            "python -m pytest tests/nir/test_algebraic_rules.py",
            "every rule of the table is tried like this, at every bit size, constants included",
        ),
        (
            "python tests/nir/rule_proofs.py",
            "and the exact ones are proven, with an SMT solver or by exhaustion",
        ),
        ("gallette shader-db --help", "counts what a rule wins over a corpus of shaders"),
    )
