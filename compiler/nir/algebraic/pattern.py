"""The rule language: tuples in, pattern trees out.

A rule is `(search, replace, *conditions)`:

* an operation is a tuple `("op", source, ...)`. `"~op"` marks it inexact: the rule then never
  applies to an instruction marked exact. `"op@32"` requires a bit size. `"op(is_used_once)"` adds a
  predicate on the inner result; several are separated by commas.
* a variable is a string: `"a"` matches anything, `"#a"` a constant, `"a@32"` a bit size,
  `"a(is_not_const)"` values that satisfy a predicate. The second occurrence of a name in the search
  must be the same value with the same swizzle. In the replacement `"a.x"` selects a component.
* a number or a boolean is a constant; `0.0` and `-0.0` are different, as bits are compared. In the
  search each component must match.
* a condition is `"options.name"` or `"!options.name"`, a field of `AlgebraicOptions`.

Bit sizes of the replacement follow from the opcodes' types; see `_SizeClasses`. Where it needs two
sizes to be equal that the search leaves open, the rule gets a guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any, TypeAlias

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.algebraic.options import RuleGroup
from gallette.compiler.nir.algebraic.predicates import PREDICATES, USE_COUNT_PREDICATES, Predicate
from gallette.compiler.nir.algebraic.values import Number
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode

_OP = re.compile(r"(~?)(\w+?)(?:@(\d+))?(?:\(([\w,]+)\))?$")
_VAR = re.compile(r"(#?)([a-z]\w*?)(?:@(\d+))?(?:\(([\w,]+)\))?(?:\.([xyzw]+))?$")


class RuleError(Exception):
    """A malformed rule: a bug in the table, reported with the rule."""


@lazy_dataclass(eq=False)
class Var:
    """A variable: slot `index` of the match state."""

    name: str
    index: int
    is_const: bool
    bit_size: int
    predicates: tuple[Predicate, ...]
    predicate_names: tuple[str, ...]
    swizzle: tuple[int, ...]
    size: Any = 0


@lazy_dataclass(eq=False)
class Const:
    """A literal; `base` is the base type of its operand."""

    value: Number
    base: str
    size: Any = 0


@lazy_dataclass(eq=False)
class Expr:
    """An operation. `flip` is its bit in the mask of swapped sources, or 0."""

    op: Opcode
    name: str
    inexact: bool
    bit_size: int
    predicates: tuple[Predicate, ...]
    predicate_names: tuple[str, ...]
    srcs: tuple[Pattern, ...]
    flip: int = 0
    size: Any = 0


Pattern: TypeAlias = "Var | Const | Expr"


class Rule:
    """A rule of the table; `text` is its tuple.

    The attributes below are computed when one of them is first read: shaders need a small part of
    the table, and other questions are answered from the tuple.
    """

    search: Expr
    replace: Pattern
    num_vars: int
    flips: int
    inexact: bool
    var_names: tuple[str, ...]
    size_guards: tuple[tuple[Any, Any], ...]

    def __init__(self, text: tuple[Any, ...], number: int = 0, group: RuleGroup | None = None):
        self.text = text
        self.number = number
        self.group = group
        self.conditions: tuple[str, ...] = tuple(text[2:])

    def __getattr__(self, name: str) -> Any:
        if name not in Rule.__annotations__:
            raise AttributeError(name)
        _compile(self)
        return self.__dict__[name]

    @cached_property
    def name(self) -> str:
        """Its group and search opcodes, with a number if the group has several alike."""
        what = _spelled_out(self.text[0])
        if self.group is None:
            return what
        alike = [t for t in self.group.rules if _spelled_out(t[0]) == what]
        place = next(i for i, text in enumerate(alike) if text is self.text)
        return f"{self.group.name}/{what}" + (f".{place + 1}" if len(alike) > 1 else "")

    @property
    def reason(self) -> str:
        """The reason for the rule, in one line."""
        return self.group.reason if self.group is not None else "A rule that stands alone."

    @cached_property
    def root(self) -> str:
        """The opcode of the outermost operation."""
        return next(operations(self.text[0]))

    @cached_property
    def depends_on_use_counts(self) -> bool:
        """Whether the rule counts uses."""
        return bool(self.counted)

    @cached_property
    def counted(self) -> frozenset[str]:
        """The operations and variables, as spelled, whose uses it counts."""
        return frozenset(
            word
            for word in _words(self.text[0])
            if "(" in word and _predicates_of(word) & USE_COUNT_PREDICATES
        )

    def __str__(self) -> str:
        return rule_text(self.text)


def _spelled_out(item: Any) -> str:
    """The operations and literals of a search tree, from the outside in."""
    if isinstance(item, tuple):
        return "_".join([next(operations(item)), *filter(None, map(_spelled_out, item[1:]))])
    return "" if isinstance(item, str) else repr(item)


def _words(item: Any) -> Iterator[str]:
    """The operations and variables of a tree, as spelled."""
    if isinstance(item, str):
        yield item
    elif isinstance(item, tuple):
        for part in item:
            yield from _words(part)


def _predicates_of(word: str) -> frozenset[str]:
    _, _, rest = word.partition("(")
    return frozenset(rest.partition(")")[0].split(","))


def operations(item: Any) -> Iterator[str]:
    """The opcodes of a tree's tuple, from the outside in."""
    if isinstance(item, tuple):
        groups = _parsed(_OP, item[0])
        if groups is not None:
            yield groups[1]
        for part in item[1:]:
            yield from operations(part)


def depth(item: Any) -> int:
    """The number of levels of operations in a tree's tuple."""
    return 1 + max(map(depth, item[1:]), default=0) if isinstance(item, tuple) else 0


def rule_text(text: tuple[Any, ...]) -> str:
    """The tuple as spelled in the table, with strings in double quotes."""
    parts: list[str] = []
    for item in text:
        if isinstance(item, tuple):
            parts.append(rule_text(item))
        elif isinstance(item, str):
            parts.append(f'"{item}"')
        else:
            parts.append(repr(item))
    return f"({', '.join(parts)})"


@cache
def _parsed(pattern: re.Pattern[str], text: str) -> tuple[str, ...] | None:
    """The groups of a match; the same few strings occur in hundreds of rules."""
    match = pattern.match(text)
    return match.groups() if match is not None else None


def literal(value: Number, base: str) -> Const:
    """A constant where the opcode's type is `base`."""
    # Operations on bits (`bcsel`, `iand`) are typed uint, but accept floats.
    return Const(value, "float" if isinstance(value, float) else base)


class _Compiler:
    """Compiles the two tuples of one rule to trees."""

    def __init__(self, text: tuple[Any, ...]):
        self.text = text
        self.names: dict[str, int] = {}
        self.flips = 0

    def error(self, message: str) -> RuleError:
        return RuleError(f"{message} in {rule_text(self.text)}")

    def predicates(self, text: str | None) -> tuple[tuple[Predicate, ...], tuple[str, ...]]:
        if not text:
            return (), ()
        names = tuple(text.split(","))
        for name in names:
            if name not in PREDICATES:
                raise self.error(f"unknown predicate {name!r}")
        return tuple(PREDICATES[n] for n in names), names

    def expr(self, item: tuple[Any, ...], searching: bool) -> Expr:
        groups = _parsed(_OP, item[0])
        if groups is None:
            raise self.error(f"malformed operation {item[0]!r}")
        mark, name, size, conditions = groups
        op = OPCODES.get(name)
        if op is None:
            raise self.error(f"unknown opcode {name!r}")
        if len(item) - 1 != op.num_inputs:
            raise self.error(f"{name} takes {op.num_inputs} sources")
        predicates, names = self.predicates(conditions)
        flip = 0
        if searching and op.commutative and item[1] != item[2]:
            flip = 1 << self.flips
            self.flips += 1
        srcs = tuple(
            self.pattern(sub, searching, op.input_types[i].base) for i, sub in enumerate(item[1:])
        )
        return Expr(op, name, mark == "~", int(size or 0), predicates, names, srcs, flip)

    def pattern(self, item: Any, searching: bool, base: str) -> Pattern:
        if isinstance(item, tuple):
            return self.expr(item, searching)
        if isinstance(item, str):
            return self.var(item, searching)
        if isinstance(item, (bool, int, float)):
            return literal(item, base)
        raise self.error(f"what is {item!r}?")

    def var(self, item: str, searching: bool) -> Var:
        groups = _parsed(_VAR, item)
        if groups is None:
            raise self.error(f"malformed variable {item!r}")
        constant, name, size, conditions, swizzle = groups
        if name not in self.names:
            if not searching:
                raise self.error(f"variable {name!r} is not bound by the search")
            self.names[name] = len(self.names)
        if swizzle and searching:
            raise self.error("a swizzle is for replacements")
        predicates, names = self.predicates(conditions)
        picked = tuple(["xyzw".index(c) for c in swizzle]) if swizzle else ()
        return Var(
            name, self.names[name], bool(constant), int(size or 0), predicates, names, picked
        )


class _SizeClasses:
    """Finds equal bit sizes in a replacement, by union-find over its nodes.

    A class resolves to a number (the opcode's type is sized), to `("var", index)`, or to `"root"`,
    the size of the replaced result. The result is stored as `size` of every node.
    """

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.answer: dict[int, Any] = {}
        self.tokens: list[tuple[Any, int]] = []

    def new(self, answer: Any = None) -> int:
        place = len(self.parent)
        self.parent.append(place)
        if answer:
            self.answer[place] = answer
            self.tokens.append((answer, place))
        return place

    def find(self, i: int) -> int:
        while self.parent[i] != i:
            i = self.parent[i]
        return i

    def join(self, i: int, j: int) -> None:
        i, j = self.find(i), self.find(j)
        if i == j:
            return
        a, b = self.answer.get(i), self.answer.get(j)
        self.parent[i] = j
        best = a if isinstance(a, int) or b is None else b
        if best is not None:
            self.answer[j] = best

    def assign(self, root: Pattern) -> list[tuple[Pattern, int]]:
        nodes: list[tuple[Pattern, int]] = []
        self._visit(root, self.new("root"), nodes)
        return nodes

    def _visit(self, node: Pattern, place: int, nodes: list[tuple[Pattern, int]]) -> None:
        nodes.append((node, place))
        if isinstance(node, Var):
            self.join(self.new(("var", node.index)), place)
        elif isinstance(node, Expr):
            if node.bit_size:
                self.join(self.new(node.bit_size), place)
            free = self.new()
            out = node.op.output_type.bits
            self.join(self.new(out) if out else free, place)
            for sub, kind in zip(node.srcs, node.op.input_types, strict=True):
                self._visit(sub, self.new(kind.bits) if kind.bits else free, nodes)


def compile_rule(text: tuple[Any, ...], number: int = 0) -> Rule:
    """Check a rule's tuple and compile it to pattern trees now."""
    rule = Rule(text, number)
    _compile(rule)
    return rule


def _compile(rule: Rule) -> None:
    """Compute the attributes of a rule."""
    text = rule.text
    compiler = _Compiler(text)
    if len(text) < 2 or not isinstance(text[0], tuple):
        raise compiler.error("a rule is (search, replace, *conditions)")
    search = compiler.expr(text[0], True)
    replace = compiler.pattern(text[1], False, search.op.output_type.base)
    for condition in text[2:]:
        if not re.match(r"!?options\.\w+$", condition):
            raise compiler.error(f"malformed condition {condition!r}")
    known, classes = _SizeClasses(), _SizeClasses()
    known.assign(search)
    for node, place in classes.assign(replace):
        node.size = classes.answer.get(classes.find(place))
        if node.size is None:
            raise compiler.error("the bit size of a part of the replacement is open")
    rule.search, rule.replace = search, replace
    rule.num_vars, rule.flips = len(compiler.names), compiler.flips
    rule.inexact = _is_inexact(search)
    rule.var_names = tuple(compiler.names)
    rule.size_guards = _guards(known, classes)


def _guards(search: _SizeClasses, replace: _SizeClasses) -> tuple[tuple[Any, Any], ...]:
    """Pairs of sizes (of a variable, of the root, or a number) that must be equal for the
    replacement.
    """
    known: dict[Any, Any] = {}
    for token, place in search.tokens:
        root = search.find(place)
        known.setdefault(token, token if isinstance(token, int) else search.answer.get(root))
    wanted: dict[int, Any] = {}
    guards = []
    for token, place in replace.tokens:
        root = replace.find(place)
        mine = known.get(token, token)
        other = wanted.setdefault(root, mine)
        if other != mine:
            guards.append((other, mine))
    return tuple(guards)


def _is_inexact(node: Pattern) -> bool:
    """Whether any part of a search pattern is marked inexact."""
    return isinstance(node, Expr) and (node.inexact or any(map(_is_inexact, node.srcs)))
