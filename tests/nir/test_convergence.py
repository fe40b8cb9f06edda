"""Rules that undo each other would go on until a budget ends them: what is applied is counted.

Every rule's search tree is built as a shader, as it stands and with each of its variables (and all
but each) bound to a constant, which other rules fold and move about; so is a tree whose parts all
have another reader, for rules that ask whether something is used once; so are trees of two rules,
one in the place of a variable of the other. Then they are optimised, with nothing switched on and
with everything.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from rule_checker import CannotBuildError, Case, cases

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.algebraic.pattern import Rule, compile_rule
from gallette.compiler.nir.algebraic.rules import all_rules
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.rewrite import passes, rewriter
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.rewriter import Rewriter
from gallette.compiler.nir.rewrite.structural import STRUCTURAL_RULES
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.text.parser import parse

RULES = all_rules()
UNDO_EACH_OTHER = {"lower_fsqrt", "lower_ffloor", "fuse_ffma", "fuse_flrp"}
"""a driver that lacks one has the other"""
EVERYTHING = AlgebraicOptions(
    **{name: True for name in AlgebraicOptions.names() if name not in UNDO_EACH_OTHER}  # type: ignore[arg-type]
)
AT_MOST = {"default": 8, "everything": 16}
"""applications for one tree: there are few operations in it, and each is touched a few times"""


class RestlessError(Exception):
    """More was applied than can be."""


class Applied:
    """Counts what the rewriter applies of the tables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.rules: Counter[str] = Counter()
        self.limit = 1 << 30
        self._note = Rewriter.note
        monkeypatch.setattr(Rewriter, "note", lambda rw, rule: self.note(rw, rule))

    def note(self, rewriter: Rewriter, rule: Any) -> None:
        if isinstance(rule, Rule):
            self.rules[str(rule)] += 1
            if self.rules.total() > self.limit:
                raise RestlessError
        self._note(rewriter, rule)

    def by(self, shader: Shader, options: OptimizeOptions, limit: int) -> str:
        """The rules that go on and on; "" if they come to rest."""
        self.rules.clear()
        self.limit = limit
        try:
            optimize(shader, options)
        except RestlessError:
            often = [f"{count} x {rule}" for rule, count in self.rules.most_common(3)]
            return "; ".join(often)
        return ""


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> Applied:
    monkeypatch.setenv("GALLETTE_DEBUG", "")  # valid or not is asked elsewhere, for long
    return Applied(monkeypatch)


PRODUCTS = """
shader fragment
var shader_out int o (location=FRAG.DATA0)
function main () entry
impl main {
    block b0:
        32 %zero = load_const (0x00000000)
        32 %x = @load_input (%zero) (location=VARYING.VAR0)
        32 %five = load_const (0x00000005)
        32 %one = load_const (0x00000001)
        32 %s = iadd %x, %one
        32 %r = imul %s, %five
        @store_output (%r, %zero) (write_mask=x, location=FRAG.DATA0)
}
"""


def test_the_count_finds_rules_that_undo_each_other(applied: Applied) -> None:
    there = compile_rule((("imul", "a", "b"), ("iand", "a", "b")))
    back = compile_rule((("iand", "a", "b"), ("imul", "a", "b")))
    applied.limit = 20
    with pytest.raises(RestlessError):
        passes.rewrite_impl(parse(PRODUCTS).entry, RuleSet([there, back]))


def test_products_are_not_taken_apart_and_put_together_for_ever(applied: Applied) -> None:
    optimize(parse(PRODUCTS), OptimizeOptions())
    assert 1 <= applied.rules.total() <= 4


def test_simplifying_by_rules_that_undo_each_other_ends(
    applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are 64 rewrites for each of 16 instructions, then for each there is."""
    there = compile_rule((("imul", "a", "b"), ("iand", "a", "b")))
    back = compile_rule((("iand", "a", "b"), ("imul", "a", "b")))
    rules = RuleSet([there, back], STRUCTURAL_RULES)
    monkeypatch.setattr(passes, "rule_set", lambda *choice: rules)
    shader = parse(PRODUCTS)
    applied.limit = 64 * (16 + shader.entry.count_instrs())
    assert passes.simplify(shader)
    assert applied.rules.total() == applied.limit


@pytest.mark.parametrize("products", range(14, 30))
def test_simplifying_ends_when_all_is_simple_however_much_there_is(
    products: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Around the first limit; what is behind it is as simple as what is before it."""
    steps = ["imul", "iand", "ior", "ixor"]
    rules = RuleSet(
        [compile_rule(((one, "a", "b"), (next, "a", "b"))) for one, next in pairwise(steps)],
        STRUCTURAL_RULES,
    )
    monkeypatch.setattr(passes, "rule_set", lambda *choice: rules)
    monkeypatch.setattr(rewriter, "REWRITES", 4)
    b = Builder.shader_main(Stage.FRAGMENT, "products")
    zero = b.imm_int(0)
    read = b.intrinsic("load_input", [zero], num_components=1)
    value = read
    for _ in range(products):
        value = b.alu("imul", value, read)
    b.intrinsic("store_output", [value, zero], write_mask=1)
    passes.simplify(b.shader)
    made = [instr.op.name for instr in instrs_of(b.impl) if isinstance(instr, Alu)]
    assert made == ["ixor"] * products


def bindings(rule: Rule) -> Iterator[frozenset[int]]:
    """Which variables are constants: none, each, all but each."""
    every = range(rule.num_vars)
    seen = {frozenset[int]()}
    yield frozenset()
    for chosen in every:
        for some in (frozenset({chosen}), frozenset(every) - {chosen}):
            if some not in seen:
                seen.add(some)
                yield some


@cache
def every_case() -> list[Case]:
    return [case for rule in RULES for case in cases(rule)]


def built(case: Case, constants: frozenset[int]) -> Shader | None:
    """The case's tree with some variables bound to constants; None if the rule forbids them."""
    case = copy.copy(case)
    case.constants, case.bound, case.inputs = constants, {}, []
    try:
        shader: Shader = case.build()
        return shader
    except CannotBuildError:
        return None


def read_twice(shader: Shader) -> Shader:
    """Everything that is computed is written as well."""
    b = Builder(shader.entry)
    slot = 8
    for instr in list(instrs_of(shader.entry)):
        if isinstance(instr, Alu):
            value = instr.dest
            b.intrinsic(
                "store_output",
                [value, b.imm_int(0)],
                location=slot,
                write_mask=(1 << value.num_components) - 1,
            )
            slot += 1
    return shader


@pytest.mark.parametrize("options", ["default", "everything"])
@pytest.mark.parametrize("first", range(0, len(RULES), 60))
def test_every_search_tree_terminates_soon(first: int, options: str, applied: Applied) -> None:
    algebraic = AlgebraicOptions() if options == "default" else EVERYTHING
    chosen = OptimizeOptions(algebraic=algebraic, inexact_used_once="always")
    restless = []
    for rule in RULES[first : first + 60]:
        case = cases(rule)[0]
        for constants in bindings(rule):
            for shared in (False, True):
                shader = built(case, constants)
                if shader is None:
                    continue
                if shared:
                    read_twice(shader)
                problem = applied.by(shader, chosen, AT_MOST[options])
                if problem:
                    names = "".join(rule.var_names[i] for i in sorted(constants)) or "nothing"
                    restless.append(f"{rule} ({names} constant, shared {shared}): {problem}")
    assert not restless, "\n".join(restless)


@pytest.mark.parametrize("options", ["default", "everything"])
@pytest.mark.parametrize("seed", range(4))
def test_trees_of_two_rules_terminate_soon(seed: int, options: str, applied: Applied) -> None:
    algebraic = AlgebraicOptions() if options == "default" else EVERYTHING
    chosen = OptimizeOptions(algebraic=algebraic, inexact_used_once="always")
    rng = random.Random(f"two rules {seed}")
    restless, count = [], 0
    while count < 500:
        outer, inner = (copy.copy(rng.choice(every_case())) for _ in range(2))
        if not outer.rule.num_vars:
            continue
        place = rng.randrange(outer.rule.num_vars)
        outer.inner = {place: inner}
        for case in (outer, inner):
            case.rng = rng
            case.flips = rng.randrange(1 << case.rule.flips)
            some = [i for i in range(case.rule.num_vars) if rng.random() < 0.25]
            case.constants = frozenset(some) - {place if case is outer else -1}
        shader = built(outer, outer.constants)
        if shader is None:
            continue
        count += 1
        problem = applied.by(shader, chosen, 2 * AT_MOST[options])
        if problem:
            restless.append(f"{inner.rule} in {outer.rule}: {problem}")
    assert not restless, "\n".join(restless)
