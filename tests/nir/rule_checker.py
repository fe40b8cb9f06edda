"""Checks one algebraic rule by running both sides.

The search tree is built as a small shader, once as it is and once rewritten by the rule alone; the
reference interpreter runs both on the same lanes. An exact rule must agree bit for bit on random
and special values. An inexact rule is judged on ordinary numbers only: small multiples of 1/4, on
which comparisons must agree exactly, and random ones; what comes out may be off by `ULPS` units in
the last place of the largest number that occurs on the way.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gallette.compiler.nir.algebraic.pattern import Const, Expr, Pattern, Rule, Var
from gallette.compiler.nir.algebraic.values import raw_bits
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, Interpreter
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.opcodes import numpy_dtype
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.passes import rewrite_impl

ULPS = 64
LANES = 768
OUT = 4

SPECIAL_FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 0.25, 3.0, -7.5, 0.1, 255.0, 65504.0, 1e-3, 1.5, -2.5,
    float("inf"), float("-inf"), float("nan"), 1e-40, -1e-40, 3.4e38, -3.4e38, 16777217.0,
    2147483648.0, -2147483648.0, 4294967296.0, 6e-8, 0.9999999, 1.0000001,
]  # fmt: skip
SPECIAL_INTS = [
    0, 1, -1, 2, -2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255, 256, 0x7F, 0x80, 0xFF00, 0x7FFF,
    0x8000, 0x7FFFFFFF, -0x80000000, 0x7FFFFFFE, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000,
    0x3F800000, 100, -100,
]  # fmt: skip

# Values with a property, for variables with a predicate that looks at the producer.
PRODUCERS = {
    "is_integral": "ffloor",
    "is_zero_to_one": "fsat",
    "is_not_negative": "fabs",
    "is_a_number": "fsat",
}
BITWISE = {"iand", "ior", "ixor", "inot", "bcsel", "ieq", "ine", "mov"}


@dataclass(frozen=True)
class Waiver:
    """Why a rule is not held to the letter, and what it is held to instead.

    `inexact`: judged as if marked `~`. `ranges`: operands stay within (low, high).
    """

    reason: str
    inexact: bool = False
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)


_ASKED = "the driver has nothing better, and said so by asking for the lowering"
WAIVERS = {
    "fdiv lower_fdiv": Waiver(_ASKED, inexact=True),
    "fsqrt lower_fsqrt": Waiver(_ASKED, inexact=True),
    "fpow lower_fpow": Waiver(_ASKED, inexact=True),
    "ffma lower_ffma": Waiver(_ASKED, inexact=True),
    "ffloor lower_ffloor": Waiver(_ASKED + "; infinities become NaN", inexact=True),
    "ldexp lower_ldexp": Waiver(
        "scales in two steps, so exponents beyond ±252 are cut",
        ranges={"b": (-100, 100)},
        inexact=True,
    ),
    "ubitfield_extract lower_bitfield_extract": Waiver(
        "GLSL leaves fields that reach beyond the word undefined",
        ranges={"b": (0, 16), "c": (0, 16)},
    ),
    "ibitfield_extract lower_bitfield_extract": Waiver(
        "GLSL leaves fields that reach beyond the word undefined",
        ranges={"b": (0, 16), "c": (0, 16)},
    ),
    "bitfield_insert lower_bitfield_insert": Waiver(
        "GLSL leaves fields that reach beyond the word undefined",
        ranges={"c": (0, 16), "d": (0, 16)},
    ),
    "fpow fpow": Waiver(
        "GLSL leaves powers of negative numbers undefined", inexact=True, ranges={"a": (0.25, 3.0)}
    ),
}


def waiver_key(rule: Rule) -> str:
    """Root opcode, and the option or the first inner opcode: enough to name a rule."""
    for condition in rule.conditions:
        return f"{rule.search.name} {condition.removeprefix('!').removeprefix('options.')}"
    inner = [s.name for s in rule.search.srcs if isinstance(s, Expr)]
    return f"{rule.search.name} {inner[0]}" if inner else rule.search.name


class CannotBuildError(Exception):
    """No operands satisfy the rule's predicates at this size: the case does not exist."""


@dataclass
class Places:
    """Bit-size classes of a search pattern: every source and result belongs to one."""

    parent: list[int] = field(default_factory=list)
    fixed: dict[int, int] = field(default_factory=dict)
    bases: dict[int, set[str]] = field(default_factory=dict)
    ops: dict[int, set[str]] = field(default_factory=dict)
    of_node: dict[int, int] = field(default_factory=dict)
    of_var: dict[int, int] = field(default_factory=dict)

    def new(self, bits: int = 0) -> int:
        n = len(self.parent)
        self.parent.append(n)
        self.bases[n], self.ops[n] = set(), set()
        if bits:
            self.fixed[n] = bits
        return n

    def find(self, i: int) -> int:
        while self.parent[i] != i:
            i = self.parent[i]
        return i

    def join(self, i: int, j: int) -> None:
        i, j = self.find(i), self.find(j)
        if i != j:
            self.parent[i] = j
            self.bases[j] |= self.bases.pop(i)
            self.ops[j] |= self.ops.pop(i)
            if i in self.fixed:
                self.fixed[j] = self.fixed.pop(i)

    def visit(self, node: Pattern, place: int) -> None:
        self.of_node[id(node)] = place
        if isinstance(node, Var):
            self.join(self.of_var.setdefault(node.index, self.new()), place)
            if node.bit_size:
                self.join(self.new(node.bit_size), place)
        elif isinstance(node, Expr):
            op = node.op
            if node.bit_size:
                self.join(self.new(node.bit_size), place)
            free = self.new()
            types = [*op.input_types, op.output_type]
            places = [self.new(t.bits) if t.bits else free for t in types]
            for t, p in zip(types, places, strict=True):
                self.bases[self.find(p)].add(t.base)
                self.ops[self.find(p)].add(op.name)
            self.join(places[-1], place)
            for sub, p in zip(node.srcs, places[:-1], strict=True):
                self.visit(sub, p)

    def open_classes(self) -> list[int]:
        roots = {self.find(i) for i in range(len(self.parent))}
        return sorted(r for r in roots if r not in self.fixed and self.ops[r])

    def choices(self, root: int) -> list[int]:
        if "float" in self.bases[root]:
            return [32, 64, 16]
        sizes = [32, 64, 16, 8]
        if self.ops[root] <= BITWISE:
            sizes.append(1)
        return sizes


@dataclass
class Case:
    """One way to build a rule's search tree: bit sizes, width, swapped sources, constants."""

    rule: Rule
    sizes: dict[int, int]
    places: Places
    width: int
    flips: int
    rng: random.Random
    moderate: bool
    builder: Builder = field(init=False)
    bound: dict[int, tuple[Def, tuple[int, ...]]] = field(default_factory=dict)
    inputs: list[tuple[int, int, str]] = field(default_factory=list)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    limits: dict[int, tuple[float, float]] = field(default_factory=dict)
    constants: frozenset[int] = frozenset()
    """variables that stand for constants although the rule does not ask for any"""
    inner: dict[int, Case] = field(default_factory=dict)
    """variables that stand for another rule's search tree"""

    def bits(self, node: Pattern) -> int:
        root = self.places.find(self.places.of_node[id(node)])
        return self.places.fixed.get(root) or self.sizes[root]

    def base(self, node: Pattern) -> str:
        bases = self.places.bases[self.places.find(self.places.of_node[id(node)])]
        return "float" if "float" in bases else "int"

    def build(self) -> Shader:
        self.builder = b = Builder.shader_main(Stage.FRAGMENT, str(self.rule))
        root = self.rule.search
        value, _ = self.value(root, root.op.output_size or self.width)
        zero = b.imm_int(0)
        mask = (1 << value.num_components) - 1
        b.intrinsic("store_output", [value, zero], location=OUT, write_mask=mask)
        return b.shader

    def value(self, node: Pattern, width: int) -> tuple[Def, tuple[int, ...]]:
        identity = tuple(range(width))
        if isinstance(node, Var):
            if node.index not in self.bound:
                self.bound[node.index] = self.operand(node, width)
            return self.bound[node.index]
        if isinstance(node, Const):
            bits = raw_bits(node.value, node.base, self.bits(node))
            return self.builder.const([bits] * width, self.bits(node)), identity
        op = node.op
        inner = op.output_size or width
        srcs = [
            self.value(sub, size or inner)
            for sub, size in zip(node.srcs, op.input_sizes, strict=True)
        ]
        if node.flip & self.flips:
            srcs[0], srcs[1] = srcs[1], srcs[0]
        alu = Alu(op, srcs, inner, self.bits(node))
        self.builder.insert(alu)
        return alu.result, identity

    def operand(self, node: Var, width: int) -> tuple[Def, tuple[int, ...]]:
        bits, base, b = self.bits(node), self.base(node), self.builder
        if node.is_const or node.index in self.constants:
            return self.constant(node, width, bits, base), tuple(range(width))
        if node.index in self.inner:
            value = self.tree_of(self.inner[node.index], width, bits)
        else:
            slot = 32 + len(self.inputs)
            self.inputs.append((slot, bits, base))
            if node.name in self.ranges:
                self.limits[slot] = self.ranges[node.name]
            value = b.intrinsic(
                "load_input",
                [b.imm_int(0)],
                num_components=max(width, 1),
                bit_size=bits,
                location=slot,
            )
        for name in node.predicate_names:
            if name in PRODUCERS:
                value = b.alu(PRODUCERS[name], value)
        if "is_used_more_than_once" in node.predicate_names:
            b.mov(value), b.mov(value)
        swizzle = tuple(reversed(range(width)))
        for predicate in node.predicates:
            if not predicate(value, swizzle):
                raise CannotBuildError(node.name)
        return value, swizzle

    def tree_of(self, other: Case, width: int, bits: int) -> Def:
        """Another case's search tree, of this size, as a part of ours."""
        root = other.rule.search
        if other.bits(root) != bits or (root.op.output_size or width) != width:
            raise CannotBuildError(str(other.rule))
        other.builder, other.bound, other.inputs = self.builder, {}, self.inputs
        return other.value(root, width)[0]

    def constant(self, node: Var, width: int, bits: int, base: str) -> Def:
        for _ in range(300):
            raws = [self.pick(bits, base) for _ in range(width)]
            if self.rng.random() < 0.5:
                raws = raws[:1] * width
            value = LoadConst(tuple(raws), bits)
            swizzle = tuple(range(width))
            assert value.dest is not None
            if all(p(value.dest, swizzle) for p in node.predicates):
                self.builder.insert(value)
                return value.dest
        raise CannotBuildError(node.name)

    def pick(self, bits: int, base: str) -> int:
        if bits == 1:
            return self.rng.randrange(2)
        if base == "float":
            if self.moderate:
                return raw_bits(
                    self.rng.choice([-1.0, 1.0]) * self.rng.randrange(1, 9) / 4, "float", bits
                )
            return raw_bits(self.rng.choice(SPECIAL_FLOATS), "float", bits)
        if self.rng.random() < 0.5:
            return (
                raw_bits(1 << self.rng.randrange(bits), "int", bits) * self.rng.choice([1, 1])
                if self.rng.random() < 0.5
                else raw_bits(-(1 << self.rng.randrange(bits)), "int", bits)
            )
        return raw_bits(self.rng.choice(SPECIAL_INTS), "int", bits)

    def environment(self, width: int, grid: bool) -> Environment:
        env = Environment(LANES)
        gen = np.random.default_rng(self.rng.randrange(1 << 30))
        components = max(width, 4)
        for slot, bits, base in self.inputs:
            for c in range(components):
                column = self.column(gen, bits, base, grid)
                if slot in self.limits:
                    column = self.limited(gen, bits, base, *self.limits[slot])
                env.inputs[slot, c] = column
        return env

    def limited(
        self, gen: np.random.Generator, bits: int, base: str, low: float, high: float
    ) -> Any:
        values = gen.uniform(low, high, LANES)
        typed = values.astype(numpy_dtype(base, bits))
        return typed.view(numpy_dtype("uint", bits)).astype(np.uint64)

    def column(self, gen: np.random.Generator, bits: int, base: str, grid: bool) -> Any:
        if bits == 1:
            return gen.random(LANES) < 0.5
        unsigned = numpy_dtype("uint", bits)
        if base == "float":
            dtype = numpy_dtype("float", bits)
            if self.moderate:
                values = gen.integers(-12, 13, LANES) / 4 if grid else gen.uniform(-3, 3, LANES)
                return values.astype(dtype).view(unsigned).astype(np.uint64)
            with np.errstate(all="ignore"):
                special = np.array(SPECIAL_FLOATS)[gen.integers(0, len(SPECIAL_FLOATS), LANES)]
                wide = gen.standard_normal(LANES) * np.exp2(gen.integers(-20, 20, LANES))
                values = np.where(gen.random(LANES) < 0.7, special, wide).astype(dtype)
            return values.view(unsigned).astype(np.uint64)
        if self.moderate:
            return gen.integers(0, 100, LANES).astype(np.uint64)
        special_ints = np.array([v & ((1 << bits) - 1) for v in SPECIAL_INTS], dtype=np.uint64)
        some = special_ints[gen.integers(0, len(special_ints), LANES)]
        drawn = gen.integers(0, 1 << min(bits, 63), LANES).astype(np.uint64)
        return np.where(gen.random(LANES) < 0.6, some, drawn)


def cases(rule: Rule, seed: int = 0) -> list[Case]:
    """The ways a rule is tried: every combination of open bit sizes, plus a two-wide one."""
    places = Places()
    places.visit(rule.search, places.new())
    classes = places.open_classes()
    found = []
    combos = list(itertools.product(*[places.choices(c) for c in classes])) or [()]
    for number, combo in enumerate(combos[:12]):
        sizes = dict(zip(classes, combo, strict=True))
        widths = [1, 2] if number == 0 and rule.search.op.per_component else [1]
        for width in widths:
            for attempt in range(3 if _has_constants(rule.search) else 1):
                rng = random.Random(f"{rule} {combo} {width} {attempt} {seed}")
                flips = rng.randrange(1 << rule.flips) if attempt or width > 1 else 0
                found.append(Case(rule, sizes, places, width, flips, rng, rule.inexact))
    return found


def _has_constants(node: Pattern) -> bool:
    if isinstance(node, Var):
        return node.is_const
    return isinstance(node, Expr) and any(_has_constants(s) for s in node.srcs)


def check_case(case: Case, inexact: bool) -> str:
    """ "" if the case holds, else what is wrong."""
    before = case.build()
    after = clone_shader(before)
    fired = rewrite_impl(after.entry, RuleSet([case.rule]))
    where = f"sizes {sorted(case.sizes.values())} width {case.width} flips {case.flips}"
    if not fired and case.rule.size_guards:
        raise CannotBuildError(where)  # these sizes are not for this rule
    if not fired:
        return f"did not match its own search ({where})"
    validate(after, str(case.rule))
    for grid in (True, False) if inexact else (False,):
        env = case.environment(max(case.width, 4), grid)
        first, second = Interpreter(before, env), Interpreter(after, env)
        a, b = first.run(), second.run()
        problem = _compare(case, first, second, a.outputs, b.outputs, inexact, grid)
        if problem:
            return f"{problem} ({where})\n{_dump(before)}{_dump(after)}"
    return ""


def _dump(shader: Shader) -> str:
    from gallette.compiler.nir.text.printer import print_shader

    return print_shader(shader)


def _compare(
    case: Case, first: Interpreter, second: Interpreter, a: Any, b: Any, inexact: bool, grid: bool
) -> str:
    is_float = "float" in case.base(case.rule.search)
    bits = case.bits(case.rule.search)
    scale = np.zeros(LANES)
    if inexact and is_float and bits > 1:
        scale = np.maximum(_largest(first, bits), _largest(second, bits))
    for key in sorted(a):
        x, y = a[key], b[key]
        if is_float and bits > 1:
            dtype = numpy_dtype("float", bits)
            fx, fy = x.view(dtype), y.view(dtype)
            same = (x == y) | (np.isnan(fx) & np.isnan(fy))
            if inexact:
                with np.errstate(all="ignore"):
                    bound = ULPS * np.finfo(dtype).eps * np.maximum(scale, np.abs(fx))
                    same |= np.abs(fx.astype(np.float64) - fy) <= bound
                    unjudged = ~np.isfinite(fx) | ~np.isfinite(fy)
                if unjudged.mean() > 0.9:
                    return "nothing but infinities and NaNs to judge by"
                same |= unjudged
        else:
            if inexact and not grid:
                continue
            same = x == y
        if not same.all():
            lane = int(np.flatnonzero(~same)[0])
            ins = {
                f"{s}.{c}": _typed(first.env.inputs[s, c], n, base)[lane]
                for s, n, base in case.inputs
                for c in range(max(case.width, 1))
            }
            got = _typed(x, bits, "float" if is_float else "int")[lane]
            new = _typed(y, bits, "float" if is_float else "int")[lane]
            return f"{key}: {got!r} became {new!r} for inputs {ins}, {int((~same).sum())} lanes"
    return ""


def _typed(column: Any, bits: int, base: str) -> Any:
    array = np.asarray(column)
    if bits == 1:
        return array.astype(bool)
    return array.astype(numpy_dtype("uint", bits)).view(numpy_dtype(base, bits))


def _largest(run: Interpreter, bits: int) -> Any:
    """Per lane, the largest magnitude of any float on the way."""
    out = np.zeros(LANES)
    for value, raw in run.values.items():
        if value.bit_size == bits and raw.dtype != np.bool_:
            with np.errstate(all="ignore"):
                wide = np.abs(raw.view(numpy_dtype("float", bits)).astype(np.float64))
            wide = np.where(np.isfinite(wide), wide, 0.0)
            out = np.maximum(out, wide.max(axis=0))
    return out


def check_rule(rule: Rule, waiver: Waiver | None = None) -> list[str]:
    """Everything wrong with a rule; at least one case must have been possible."""
    judged_inexact = rule.inexact or (waiver is not None and waiver.inexact)
    problems, built = [], 0
    for case in cases(rule):
        case.moderate = judged_inexact
        case.ranges = waiver.ranges if waiver is not None else {}
        try:
            problem = check_case(case, judged_inexact)
        except CannotBuildError:
            continue
        built += 1
        if problem:
            problems.append(problem)
    if not built:
        problems.append("no operands satisfy the predicates")
    return problems
