"""The lesson: a rewrite rule, written, tried, and caught when it is wrong."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.algebraic.pattern import (
    Const,
    Expr,
    Pattern,
    Var,
    compile_rule,
)
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import Stage, clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.passes import rewrite_impl

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, -0.3, -2.5, 16777216.0, 1e-40, 3e38,
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


@lazy_dataclass(frozen=True)
class Counterexample:
    """Operands for which the two sides differ, and what each computes."""

    operands: dict[str, str]
    before: str
    after: str
    wrong: int
    tried: int


def tree(text: tuple[Any, ...]) -> tuple[Shader, list[tuple[str, str]]]:
    """A shader that computes the search side, and its inputs: (name, "float" or "int")."""
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
    """The search side, and the result of applying the rule alone."""
    before, _ = tree(text)
    after = clone_shader(before)
    rewrite_impl(after.entry, RuleSet([compile_rule(text)]))
    return before, after


def counterexample(text: tuple[Any, ...]) -> Counterexample | None:
    """The first combination of special values for which the two sides differ."""
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
    at = _plainest(columns, one, two, ~same, is_float)
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


def _plainest(columns: list[Any], one: Any, two: Any, differ: Any, is_float: bool) -> int:
    """The lane that shows the problem best: ordinary numbers whose results are far apart."""
    with np.errstate(all="ignore"):
        odd = np.zeros(len(one))
        for column in columns:
            if column.dtype == np.float32:
                odd += ~np.isfinite(column)
        apart = np.zeros(len(one))
        if is_float:
            a, b = (x.view(np.float32).astype(np.float64) for x in (one, two))
            odd += ~np.isfinite(a) | ~np.isfinite(b)
            apart = np.nan_to_num(np.abs(a - b) / np.maximum(np.abs(a), np.abs(b)))
        badness = odd - np.minimum(apart, 1)
    return int(np.flatnonzero(differ)[np.argmin(badness[differ])])


def _shown(bits: Any, is_float: bool) -> str:
    if is_float:
        return f"{bits.view(np.float32)[0]} (0x{int(bits[0]):08x})"
    return str(int(bits.view(np.int32)[0]))
