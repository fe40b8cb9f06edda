"""The matcher: selects the rules that may match an operation, and matches a rule's search tree.

There is one decision per opcode (`decision`): the instructions that define the sources determine
which rules may match; for each combination the short list is computed once and cached, so an
instruction without candidate rules costs one dictionary lookup. Each candidate comes with the
`Way`s to swap sources that are useful, and each way with a few fast checks of deeper nodes, which
reject most candidates that do not match. The others are matched in table order; the first match is
applied.

Matching is swizzle-aware: at each level, the swizzle with which the pattern's parent reads a source
is composed with that source's own, so a variable stands for certain components of a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from gallette.compiler.nir.algebraic.pattern import (
    Const,
    Expr,
    Pattern,
    Rule,
    Var,
    depth,
    literal,
    operations,
)
from gallette.compiler.nir.algebraic.predicates import Predicate
from gallette.compiler.nir.algebraic.values import Number, raw_bits
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu, Instr, LoadConst, Undef
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.rewrite.structural import (
    StructuralRule,
    copy_to_users,
    fold_constants,
    read_through_copy,
    use_undefined,
)

Swizzle: TypeAlias = tuple[int, ...]
Binding: TypeAlias = "tuple[Def, Swizzle]"
Candidate: TypeAlias = "tuple[Rule, tuple[Way, ...]] | tuple[StructuralRule, None]"
Decision: TypeAlias = Callable[[Alu], tuple[Candidate, ...]]


class Way(NamedTuple):
    """One assignment of an instruction's operands to a rule's search tree, with some operands
    swapped.

    The other fields are fast checks. All sources for which the tree has operations are defined by
    those opcodes.
    """

    swapped: int
    """the bits (`Expr.flip`) of the operations that read their first two sources swapped"""
    made_by: tuple[tuple[int, int, Opcode], ...]
    """(i, j, op): source j of the instruction that defines source i must be defined by op"""
    same: tuple[tuple[int, int, int, int], ...]
    """(i, j, k, l): source j of the instruction that defines source i (-1: source i itself) is the
    same value as source l of the one that defines source k
    """
    asks: tuple[tuple[int, int, Predicate], ...]
    """(i, size, predicate): holds for the components of source i that are read (size 0: all)"""


def decision(op: Opcode, rules: Sequence[Rule], structural: frozenset[str]) -> Decision:
    """A function that selects the rules which may match an operation of this opcode.

    It looks at sizes and at the definition of each source, which is the opcode that defines it, the
    bits of a constant that some rule has, `#` for any other constant, `?` if it is undefined.
    Results are cached per combination. Rules of the tables come with the ways to swap sources that
    are useful.
    """
    asked = _constants_of_rules(rules)
    known: dict[tuple[Any, ...], tuple[Candidate, ...]] = {}

    def kind(src: Src, maker: Instr) -> str:
        if maker.__class__ is LoadConst:
            return asked.get((src.value.bit_size, _the_bits(maker, src.swizzle)), "#")
        return "?" if maker.__class__ is Undef else ""

    def of_one(alu: Alu) -> tuple[Candidate, ...]:
        src = alu.srcs[0]
        maker = src.value.instr
        first = maker.op.name if maker.__class__ is Alu else kind(src, maker)
        key = first, alu.dest.bit_size, src.value.bit_size
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(_decide(op, rules, structural, alu, key[:1]))
        return found

    def of_two(alu: Alu) -> tuple[Candidate, ...]:
        one, two = alu.srcs
        value = two.value
        maker = one.value.instr
        first = maker.op.name if maker.__class__ is Alu else kind(one, maker)
        maker = value.instr
        second = maker.op.name if maker.__class__ is Alu else kind(two, maker)
        key = first, second, alu.dest.bit_size, value.bit_size, one.value is value
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(_decide(op, rules, structural, alu, key[:2]))
        return found

    def of_many(alu: Alu) -> tuple[Candidate, ...]:
        srcs = alu.srcs
        makers = [src.value.instr for src in srcs]
        kinds = tuple(
            [
                maker.op.name if maker.__class__ is Alu else kind(src, maker)
                for src, maker in zip(srcs, makers, strict=True)
            ]
        )
        last = srcs[-1].value
        key: tuple[Any, ...] = (kinds, alu.dest.bit_size, last.bit_size)
        if len(srcs) == 3:
            first, middle = srcs[0].value, srcs[1].value
            key += (first is middle, first is last, middle is last)
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(_decide(op, rules, structural, alu, kinds))
        return found

    return of_two if op.num_inputs == 2 else of_one if op.num_inputs == 1 else of_many


def _constants_of_rules(rules: Sequence[Rule]) -> dict[tuple[int, int], str]:
    """The constants that some rule has as a source, by size and bits."""
    kinds = frozenset().union(*[kinds for rule in rules for kinds in _constants_read(rule)])
    parts = [(kind, kind[1:].partition(":")) for kind in kinds]
    return {(int(size), int(bits)): kind for kind, (size, _, bits) in parts}


def _decide(
    op: Opcode,
    rules: Sequence[Rule],
    structural: frozenset[str],
    alu: Alu,
    kinds: tuple[str, ...],
) -> Iterator[Candidate]:
    """The rules that may match an operation with such definitions of its sources."""
    if all(kind[:1] == "#" for kind in kinds) and fold_constants.name in structural:
        yield fold_constants, None
        return  # a constant cannot be simplified
    for rule, may_match in (
        (copy_to_users, op.is_copy),
        (read_through_copy, not _COPIES.isdisjoint(kinds)),
        (use_undefined, "?" in kinds),
    ):
        if may_match and rule.name in structural:
            yield rule, None
    for pattern in rules:
        if not _reads_such(pattern, kinds):
            continue
        if pattern.search.bit_size in (0, alu.dest.bit_size):
            ways = _possible(pattern, kinds, alu)
            if ways:
                yield pattern, ways


_COPIES = frozenset(op.name for op in OPCODES.values() if op.is_copy)


class RuleSet:
    """Rules that are enabled together: those of the tables, and structural ones by name."""

    def __init__(self, rules: Iterable[Rule], structural: Iterable[str] = ()):
        self.rules = tuple(rules)
        self.structural = frozenset(structural)
        by_op: dict[str, list[Rule]] = {}
        for rule in self.rules:
            by_op.setdefault(rule.root, []).append(rule)
        self.index = frozenset(OPCODES[name] for name in by_op)
        """the opcodes at the root of table rules"""
        self.decisions = _Decisions(by_op, self.structural)
        words = {word for rule in self.rules for word in rule.counted}
        names = [word.lstrip("~").partition("(")[0].partition("@")[0] for word in words]
        self.counted = frozenset([OPCODES[name] for name in names if name in OPCODES])
        """the opcodes that rules match below their root only if the result has a single use"""
        self.want_sharing = any("is_used_more_than_once" in word for word in words)
        """whether a rule requires multiple uses"""
        self.depth = max((depth(rule.text[0]) for rule in self.rules), default=1) - 1
        """the number of levels below the root in the deepest search tree"""


class _Decisions(dict[Opcode, Decision]):
    """The decision for each opcode, computed on first use."""

    def __init__(self, rules: dict[str, list[Rule]], structural: frozenset[str]):
        self._rules = rules
        self._structural = structural

    def __missing__(self, op: Opcode) -> Decision:
        made = self[op] = decision(op, self._rules.get(op.name, ()), self._structural)
        return made


def _the_bits(const: LoadConst, swizzle: Swizzle) -> int:
    """The bits of a constant whose components are all equal (of those that are read); else -1."""
    values = const.values
    bits = values[swizzle[0]]
    if len(values) > 1:
        for c in swizzle:
            if values[c] != bits:
                return -1
    return bits


def _constants_read(rule: Rule) -> Iterator[frozenset[str]]:
    """The kinds of constants directly below the root, from the rule's tuple."""
    for item, type in zip(rule.text[0][1:], OPCODES[rule.root].input_types, strict=True):
        if isinstance(item, (bool, int, float)):
            yield _spellings(literal(item, type.base))


def _reads_such(rule: Rule, kinds: Sequence[str]) -> bool:
    """Whether sources of the kinds in a rule exist, in any order. (This uses the rule's tuple,
    because most candidate rules never match, and need not be compiled.)
    """
    for item in rule.text[0][1:]:
        if isinstance(item, tuple):
            if next(operations(item)) not in kinds:
                return False
        elif not isinstance(item, str) and not any(kind[:1] == "#" for kind in kinds):
            return False
    return True


def _spellings(node: Const) -> frozenset[str]:
    """The kinds of constants (see `decision`) that a literal matches."""
    return _spelled(repr(node.value), node.value, node.base)


@cache
def _spelled(text: str, value: Number, base: str) -> frozenset[str]:
    """The key of a literal, whose text distinguishes 1 from 1.0 and True, and 0.0 from -0.0."""
    sizes = (1, 8, 16, 32, 64) if base != "float" else (16, 32, 64)
    return frozenset(f"#{n}:{raw_bits(value, base, n)}" for n in sizes)


def _fits(node: Pattern, kind: str) -> bool:
    if isinstance(node, Expr):
        return node.name == kind
    if isinstance(node, Const):
        return kind in _spellings(node)
    return kind[:1] == "#" if node.is_const else True


def _same_names_match(rule: Rule, order: tuple[int, ...], alu: Alu) -> bool:
    """Whether sources with the same name in the rule are one value, with the size it requires."""
    bound: dict[int, Def] = {}
    for node, at in zip(rule.search.srcs, order, strict=True):
        if isinstance(node, Var):
            value = alu.srcs[at].value
            if bound.setdefault(node.index, value) is not value:
                return False
    return True


def _sizes_fit(rule: Rule, alu: Alu) -> bool:
    """Whether sources of open size have the size the rule requires. (All have the size of the last
    one.)
    """
    types = alu.op.input_types
    if types[-1].bits:
        return True
    size = alu.srcs[-1].value.bit_size
    return all(
        type.bits or node.bit_size in (0, size)
        for node, type in zip(rule.search.srcs, types, strict=True)
        if isinstance(node, Var)
    )


def _possible(rule: Rule, kinds: Sequence[str], alu: Alu) -> tuple[Way, ...]:
    """The ways in which a rule fits the definitions of the root's sources."""
    search = rule.search
    if not _sizes_fit(rule, alu):
        return ()
    straight = tuple(range(len(kinds)))
    orders = {False: straight}
    if search.flip:
        orders[True] = (1, 0, *straight[2:])
    fits = {
        swapped: all(map(_fits, search.srcs, [kinds[i] for i in order]))
        and _same_names_match(rule, order, alu)
        for swapped, order in orders.items()
    }
    if not any(fits.values()):
        return ()
    return tuple(way for way in _ways(rule) if fits[bool(way.swapped & search.flip)])


def _ways(rule: Rule) -> tuple[Way, ...]:
    """All different ways of a rule, computed on first use."""
    found: tuple[Way, ...] | None = rule.__dict__.get("ways")
    if found is None:
        found = rule.__dict__["ways"] = tuple([_way(rule, m) for m in _different_masks(rule)])
    return found


def _in_order(node: Expr, mask: int) -> list[tuple[int, Pattern]]:
    """The sources of an operation, each with its index in the instruction."""
    order = [1, 0, *range(2, len(node.srcs))] if node.flip & mask else range(len(node.srcs))
    return list(zip(order, node.srcs, strict=True))


def _way(rule: Rule, mask: int) -> Way:
    made_by: list[tuple[int, int, Opcode]] = []
    same: list[tuple[int, int, int, int]] = []
    asks: list[tuple[int, int, Predicate]] = []
    places: dict[int, tuple[int, int]] = {}
    sources = _in_order(rule.search, mask)
    for i, node in sources:
        if not isinstance(node, Const):
            size = rule.search.op.input_sizes[i]
            asks += [(i, size, predicate) for predicate in node.predicates]
        if isinstance(node, Var):
            places.setdefault(node.index, (i, -1))
    for i, node in sources:
        if not isinstance(node, Expr):
            continue
        for j, inner in _in_order(node, mask):
            if isinstance(inner, Expr):
                made_by.append((i, j, inner.op))
            elif isinstance(inner, Var):
                first = places.setdefault(inner.index, (i, j))
                if first != (i, j):
                    same.append((*first, i, j))
    return Way(mask, tuple(made_by), tuple(same), tuple(asks))


def _different_masks(rule: Rule) -> list[int]:
    """The ways to swap sources that give different search trees.

    Swapping `a` and `b` in `a * b + c` gives an equal tree with the names exchanged, which matches
    equal code and builds an equal value.
    """
    seen: set[str] = set()
    masks = []
    for mask in range(1 << rule.flips):
        shape = _shape(rule.search, mask, {})
        if shape not in seen:
            seen.add(shape)
            masks.append(mask)
    return masks


def _shape(node: Pattern, mask: int, names: dict[int, int]) -> str:
    """A search tree with swapped sources as text, with variables numbered in order of
    occurrence.
    """
    if isinstance(node, Const):
        return repr(node.value)
    if isinstance(node, Var):
        number = names.setdefault(node.index, len(names))
        return f"{number}{node.is_const}{node.bit_size}{node.predicate_names}"
    srcs = list(node.srcs)
    if node.flip & mask:
        srcs[0], srcs[1] = srcs[1], srcs[0]
    parts = ",".join([_shape(sub, mask, names) for sub in srcs])
    return f"{node.name}{node.bit_size}{node.predicate_names}({parts})"


class Match:
    """One attempt: bindings of the variables, and whether an exact instruction was matched."""

    __slots__ = ("bindings", "exact", "flips")

    def __init__(self, num_vars: int, flips: int):
        self.flips = flips
        self.bindings: list[Binding | None] = [None] * num_vars
        self.exact = False

    def size(self, size: Any, alu: Alu) -> int:
        """The bit size of a size class of the rule in this match."""
        if isinstance(size, int):
            return size
        if size == "root":
            return alu.dest.bit_size
        bound = self.bindings[size[1]]
        assert bound is not None
        value: Def = bound[0]
        return value.bit_size

    def expr(self, node: Expr, alu: Alu, swizzle: Swizzle) -> bool:
        """Whether the tree of `alu`, read at components `swizzle`, matches `node`."""
        dest = alu.dest
        assert dest is not None
        if node.bit_size and dest.bit_size != node.bit_size:
            return False
        for predicate in node.predicates:
            if not predicate(dest, swizzle):
                return False
        op = alu.op
        if op.output_size and swizzle != IDENTITY[op.output_size]:
            return False
        if alu.exact:
            self.exact = True
        srcs = alu.srcs
        flipped = self.flips & node.flip
        sizes = op.input_sizes
        for i, sub in enumerate(node.srcs):
            at = 1 - i if flipped and i < 2 else i
            src = srcs[at]
            size = sizes[at]
            own = src.swizzle
            if size:
                picked = own[:size]
            elif swizzle is IDENTITY[len(own)]:
                picked = own
            else:
                picked = tuple([own[c] for c in swizzle])
            if not self.node(sub, src.value, picked, op, at):
                return False
        return True

    def node(self, node: Pattern, value: Def, swizzle: Swizzle, op: Opcode, at: int) -> bool:
        if isinstance(node, Var):
            bound = self.bindings[node.index]
            if bound is not None:
                return bound[0] is value and bound[1] == swizzle
            if node.is_const and not isinstance(value.instr, LoadConst):
                return False
            if node.bit_size and value.bit_size != node.bit_size:
                return False
            for predicate in node.predicates:
                if not predicate(value, swizzle):
                    return False
            self.bindings[node.index] = (value, swizzle)
            return True
        instr = value.instr
        if isinstance(node, Expr):
            return (
                isinstance(instr, Alu) and instr.op is node.op and self.expr(node, instr, swizzle)
            )
        if not isinstance(instr, LoadConst):
            return False
        wanted = raw_bits(node.value, node.base, value.bit_size)
        values = instr.values
        return all(values[c] == wanted for c in swizzle)


def find_match(rule: Rule, ways: tuple[Way, ...], alu: Alu) -> Match | None:
    """The first match of a rule with an operation for which it is a candidate, or None."""
    if alu.exact and rule.inexact:
        return None
    srcs = alu.srcs
    for swapped, made_by, same, asks in ways:
        # The fast checks, cheapest first.
        for i, j, op in made_by:
            maker = srcs[i].value.instr.srcs[j].value.instr
            if maker.__class__ is not Alu or maker.op is not op:
                break
        else:
            for i, j, k, m in same:
                one = srcs[i].value
                if j >= 0:
                    one = one.instr.srcs[j].value
                if one is not srcs[k].value.instr.srcs[m].value:
                    break
            else:
                for i, size, predicate in asks:
                    src = srcs[i]
                    if not predicate(src.value, src.swizzle[:size] if size else src.swizzle):
                        break
                else:
                    match = Match(rule.num_vars, swapped)
                    if match.expr(rule.search, alu, IDENTITY[alu.dest.num_components]):
                        return match if _is_allowed(rule, match, alu) else None
    return None


def _is_allowed(rule: Rule, match: Match, alu: Alu) -> bool:
    """Whether the match passes the checks that need the whole match."""
    if rule.inexact and match.exact:
        return False
    return all(match.size(a, alu) == match.size(b, alu) for a, b in rule.size_guards)
