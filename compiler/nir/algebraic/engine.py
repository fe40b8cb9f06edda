"""The matcher and rewriter: finds a rule's search tree in SSA code and builds its replacement.

Rules are grouped by the opcode at their root. What can match at all is decided by the opcodes that
produce the sources: for each combination met, the short list of candidate rules is computed once
and remembered (`RuleSet.candidates`), so an instruction no rule speaks about costs one dictionary
look-up. Candidates are then matched in table order; the first that matches is applied.

Matching is swizzle-aware: at each step down, the swizzle with which the pattern's parent reads a
source is composed with that source's own, so a variable stands for certain components of a value.

The worklist runs to a fixed point: a rewrite puts the new instructions, the users of the result
(as far up as any rule looks down), and the remaining user of a value that lost a use back on the
list. Instructions left without use are removed at once, because `is_used_once` counts them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

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
from gallette.compiler.nir.algebraic.values import Number, raw_bits
from gallette.compiler.nir.ir.fold import evaluate
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu, Instr, LoadConst
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.surgery import remove_unused
from gallette.compiler.nir.ir.values import Def, Src

__all__ = ["Protection", "RuleSet", "rewrite", "rewrite_impl"]

Swizzle: TypeAlias = tuple[int, ...]
Binding: TypeAlias = "tuple[Def, Swizzle]"
Candidate: TypeAlias = "tuple[Rule, tuple[int, ...]]"

# No sensible table comes near this many rewrites per instruction; a cycle of rules must not hang.
_BUDGET = 64


class RuleSet:
    """Rules that are switched on together, indexed for matching."""

    def __init__(self, rules: Iterable[Rule]):
        self.rules = tuple(rules)
        self.by_op: dict[str, list[Rule]] = {}
        for rule in self.rules:
            self.by_op.setdefault(rule.root, []).append(rule)
        self.depth = max((depth(rule.text[0]) for rule in self.rules), default=1)
        """levels of operations that the deepest search tree has"""
        self._candidates: dict[tuple[Any, ...], tuple[Candidate, ...]] = {}
        self._asked_for: dict[str, frozenset[str]] = {}
        self._const_kinds: dict[tuple[str, int, tuple[int, ...]], str] = {}

    def _const_kind(self, op: str, bits: int, values: tuple[int, ...]) -> str:
        """What a constant looks like to an operation that reads it; other sources look like their
        opcode.

        A constant some rule for the operation asks for is named by its bits; others are `#`.
        """
        kind = self._const_kinds.get((op, bits, values))
        if kind is None:
            kind = f"#{bits}:{values[0]}"
            if len(set(values)) > 1 or kind not in self._constants(op):
                kind = "#"
            self._const_kinds[op, bits, values] = kind
        return kind

    def _constants(self, op: str) -> frozenset[str]:
        """The constants that rules for an operation ask for as sources of it."""
        found = self._asked_for.get(op)
        if found is None:
            kinds = [kind for rule in self.by_op.get(op, ()) for kind in _constants_read(rule)]
            found = self._asked_for[op] = frozenset().union(*kinds)
        return found

    def candidates(self, alu: Alu) -> tuple[Candidate, ...]:
        """The rules that may match, judged by opcode, sizes, and the kinds of the sources.

        With each come the ways to swap sources that are worth trying.
        """
        srcs = alu.srcs
        last = srcs[-1].value
        name = alu.op.name
        key: list[Any] = [name, alu.dest.bit_size, last.bit_size]
        for src in srcs:
            instr = src.value.instr
            if instr.__class__ is Alu:
                key.append(instr.op.name)
            elif instr.__class__ is LoadConst:
                values = instr.values
                read = tuple([values[c] for c in src.swizzle])
                key.append(self._const_kind(name, src.value.bit_size, read))
            else:
                key.append("")
        if len(srcs) == 2:
            key.append(srcs[0].value is last)
        elif len(srcs) == 3:
            first, middle = srcs[0].value, srcs[1].value
            key += (first is middle, first is last, middle is last)
        found = self._candidates.get(tuple(key))
        if found is None:
            found = self._candidates[tuple(key)] = self._found(alu, key[3 : len(srcs) + 3])
        return found

    def _found(self, alu: Alu, kinds: list[str]) -> tuple[Candidate, ...]:
        """`candidates` of what is met for the first time."""
        pairs = [
            (rule, _possible(rule, kinds, alu))
            for rule in self.by_op.get(alu.op.name, ())
            if _reads_such(rule, kinds) and rule.search.bit_size in (0, alu.dest.bit_size)
        ]
        return tuple(pair for pair in pairs if pair[1])


def _constants_read(rule: Rule) -> Iterator[frozenset[str]]:
    """The kinds of constants that stand directly below the root, told from the rule's text."""
    for item, type in zip(rule.text[0][1:], OPCODES[rule.root].input_types, strict=True):
        if isinstance(item, (bool, int, float)):
            yield _spellings(literal(item, type.base))


def _reads_such(rule: Rule, kinds: list[str]) -> bool:
    """Are there sources of the kinds a rule wants, in whatever order? (Told from its text: most
    rules that are asked for never match, and need not be compiled.)"""
    for item in rule.text[0][1:]:
        if isinstance(item, tuple):
            if next(operations(item)) not in kinds:
                return False
        elif not isinstance(item, str) and not any(kind[:1] == "#" for kind in kinds):
            return False
    return True


def _spellings(node: Const) -> frozenset[str]:
    """The kinds of constants (see `RuleSet._const_kind`) that a literal stands for."""
    return _spelled(repr(node.value), node.value, node.base)


@cache
def _spelled(text: str, value: Number, base: str) -> frozenset[str]:
    """`text` tells 1 from 1.0 and True, and 0.0 from -0.0."""
    sizes = (1, 8, 16, 32, 64) if base != "float" else (16, 32, 64)
    return frozenset(f"#{n}:{raw_bits(value, base, n)}" for n in sizes)


def _fits(node: Pattern, kind: str) -> bool:
    if isinstance(node, Expr):
        return node.name == kind
    if isinstance(node, Const):
        return kind in _spellings(node)
    return kind[:1] == "#" if node.is_const else True


def _same_where_wanted(rule: Rule, order: tuple[int, ...], alu: Alu) -> bool:
    """Are sources that the rule calls by one name one value, and of the size it asks for?"""
    bound: dict[int, Def] = {}
    for node, at in zip(rule.search.srcs, order, strict=True):
        if isinstance(node, Var):
            value = alu.srcs[at].value
            if bound.setdefault(node.index, value) is not value:
                return False
    return True


def _sizes_fit(rule: Rule, alu: Alu) -> bool:
    """Do sources of open size have the size the rule asks for? (They all have that of the last.)"""
    types = alu.op.input_types
    if types[-1].bits:
        return True
    size = alu.srcs[-1].value.bit_size
    return all(
        type.bits or node.bit_size in (0, size)
        for node, type in zip(rule.search.srcs, types, strict=True)
        if isinstance(node, Var)
    )


def _possible(rule: Rule, kinds: list[str], alu: Alu) -> tuple[int, ...]:
    """The masks of swapped sources with which a rule fits the kinds of the root's sources."""
    search = rule.search
    if not _sizes_fit(rule, alu):
        return ()
    straight = tuple(range(len(kinds)))
    orders = {False: straight}
    if search.flip:
        orders[True] = (1, 0, *straight[2:])
    fits = {
        swapped: all(map(_fits, search.srcs, [kinds[i] for i in order]))
        and _same_where_wanted(rule, order, alu)
        for swapped, order in orders.items()
    }
    if not any(fits.values()):
        return ()
    return tuple(mask for mask in _different_masks(rule) if fits[bool(mask & search.flip)])


def _different_masks(rule: Rule) -> list[int]:
    """Ways to swap sources that give different search trees.

    Swapping `a` and `b` in `a * b + c` gives the same tree with the names exchanged, which
    matches the same code and builds the same value: not worth trying.
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
    """A search tree with swapped sources as text, variables numbered as they occur."""
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


class _Match:
    """One attempt: what the variables are bound to, and whether something exact was matched."""

    __slots__ = ("bindings", "exact", "flips")

    def __init__(self, num_vars: int, flips: int):
        self.flips = flips
        self.bindings: list[Binding | None] = [None] * num_vars
        self.exact = False

    def size(self, size: Any, alu: Alu) -> int:
        """What a size class of the rule is in this match."""
        if isinstance(size, int):
            return size
        if size == "root":
            return alu.dest.bit_size
        bound = self.bindings[size[1]]
        assert bound is not None
        value: Def = bound[0]
        return value.bit_size

    def expr(self, node: Expr, alu: Alu, swizzle: Swizzle) -> bool:
        """Does the tree of `alu`, read at components `swizzle`, look like `node`?"""
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
            picked = own[:size] if size else tuple([own[c] for c in swizzle])
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


def _match(rule: Rule, masks: tuple[int, ...], alu: Alu) -> _Match | None:
    if alu.exact and rule.inexact:
        return None
    swizzle = IDENTITY[alu.dest.num_components]
    for flips in masks:
        match = _Match(rule.num_vars, flips)
        if match.expr(rule.search, alu, swizzle):
            if rule.inexact and match.exact:
                return None
            for a, b in rule.size_guards:
                if match.size(a, alu) != match.size(b, alu):
                    return None
            return match
    return None


class _Builder:
    """Builds one replacement in front of the instruction it replaces."""

    __slots__ = ("alu", "consts", "match", "new")

    def __init__(self, alu: Alu, match: _Match):
        self.alu = alu
        self.match = match
        self.new: list[Alu] = []
        self.consts: list[LoadConst] = []

    def value(self, node: Pattern, num_components: int) -> Binding:
        """(value, swizzle) of a part of the replacement, `num_components` wide."""
        if isinstance(node, Var):
            bound = self.match.bindings[node.index]
            assert bound is not None
            value, swizzle = bound
            if node.swizzle:
                swizzle = tuple([swizzle[c] for c in node.swizzle])
            if len(swizzle) < num_components:  # one component stands for all
                swizzle = (swizzle * num_components)[:num_components]
            return value, swizzle[:num_components]
        size = self.match.size(node.size, self.alu)
        if isinstance(node, Const):
            const = LoadConst((raw_bits(node.value, node.base, size),), size)
            const.insert_before(self.alu)
            self.consts.append(const)
            return const.result, (0,) * num_components
        op = node.op
        width = op.output_size or num_components
        srcs = [
            self.value(sub, n or num_components)
            for sub, n in zip(node.srcs, op.input_sizes, strict=True)
        ]
        made: Instr
        if all(isinstance(value.instr, LoadConst) for value, _ in srcs):
            made = LoadConst(_folded(op, srcs, width, size), size)
            self.consts.append(made)
        else:
            made = Alu(op, srcs, width, size, self.match.exact)
            self.new.append(made)
        made.insert_before(self.alu)
        read = IDENTITY[num_components] if width >= num_components else (0,) * num_components
        return made.result, read


def _folded(op: Opcode, srcs: list[Binding], width: int, bit_size: int) -> tuple[int, ...]:
    """Constants are folded on the way: rules that move them about would not come to rest."""
    sources = []
    for value, swizzle in srcs:
        const = value.instr
        assert isinstance(const, LoadConst)
        sources.append(tuple([const.values[c] for c in swizzle]))
    return evaluate(op, sources, [value.bit_size for value, _ in srcs], bit_size)


class _Worklist:
    """Instructions still to be looked at, each at most once at a time."""

    def __init__(self, instrs: Iterable[Alu], rules: RuleSet):
        self.by_op = rules.by_op
        self.reach = rules.depth - 1
        self.queue = deque(instrs)
        self.waiting = set(self.queue)

    def __iter__(self) -> Iterator[Alu]:
        while self.queue:
            instr = self.queue.popleft()
            self.waiting.discard(instr)
            if instr.block is not None:
                yield instr

    def add(self, instr: Instr) -> None:
        if instr not in self.waiting and isinstance(instr, Alu) and instr.op.name in self.by_op:
            self.waiting.add(instr)
            self.queue.append(instr)

    def add_users(self, uses: Iterable[Src]) -> None:
        """Users, their users and so on, as far up as a search tree reaches down."""
        level = [src.parent for src in uses]
        for _ in range(self.reach):
            users: list[Alu] = []
            for parent in level:
                if isinstance(parent, Alu):
                    self.add(parent)
                    users.append(parent)
            if not users:
                return
            level = [src.parent for alu in users for src in alu.dest.uses]


def _substitute(alu: Alu, value: Def, swizzle: Swizzle, new: list[Alu]) -> None:
    """Let users of `alu` read `value` at `swizzle`."""
    dest = alu.result
    if len(swizzle) == value.num_components and swizzle == IDENTITY[value.num_components]:
        dest.rewrite_uses(value)
        return
    mov: Alu | None = None
    if dest.names:
        value.take_names(dest, swizzle)
    for src in list(dest.uses):
        if src.swizzle:  # a source of an Alu: compose
            src.swizzle = tuple([swizzle[c] for c in src.swizzle])
            src.rewrite(value)
            continue
        if mov is None:
            mov = Alu(OPCODES["mov"], [(value, swizzle)], len(swizzle), value.bit_size, alu.exact)
            mov.insert_before(alu)
            new.append(mov)
        src.rewrite(mov.result)


class Protection:
    """Values in which rules that depend on use counts must not fire.

    Not even exact ones: they keep the bits, but what they leave may match an inexact rule. The
    values are found when the first such rule is about to fire, which is seldom.
    """

    def __init__(self, find: Callable[[], set[Def]]):
        self._find = find
        self.values: set[Def] | None = None

    def __contains__(self, value: Def) -> bool:
        if self.values is None:
            self.values = self._find()
        return value in self.values

    def inherit(self, old: Def, new: Iterable[Def]) -> None:
        """What replaces a protected value is protected."""
        if self.values is not None and old in self.values:
            self.values.update(new)


def rewrite_impl(impl: FunctionImpl, rules: RuleSet, protected: Protection | None = None) -> int:
    """Apply `rules` until none matches; returns the number of rewrites."""
    by_op = rules.by_op
    instrs: list[Alu] = []
    for block in impl.blocks():
        at = block.first
        while at is not None:
            if isinstance(at, Alu) and at.op.name in by_op:
                instrs.append(at)
            at = at.next
    budget = _BUDGET * (len(instrs) + 16)
    work = _Worklist(instrs, rules)
    count = 0
    for alu in work:
        candidates = rules.candidates(alu)
        if candidates:
            rewrite(alu, candidates, protected, work)
            count += alu.block is None
        if count >= budget:
            break
    return count


def rewrite(
    alu: Alu,
    candidates: tuple[Candidate, ...],
    protected: Protection | None,
    work: _Worklist | None = None,
) -> list[Instr]:
    """Apply the first rule that matches, which removes `alu`; answers what was made for it."""
    for rule, masks in candidates:
        match = _match(rule, masks, alu)
        if match is None or (
            protected is not None and rule.depends_on_use_counts and alu.dest in protected
        ):
            continue
        return _apply(rule, alu, match, protected, work)
    return []


def _apply(
    rule: Rule, alu: Alu, match: _Match, protected: Protection | None, work: _Worklist | None
) -> list[Instr]:
    builder = _Builder(alu, match)
    value, swizzle = builder.value(rule.replace, alu.dest.num_components)
    users = list(alu.dest.uses)
    _substitute(alu, value, swizzle, builder.new)
    for const in builder.consts:  # folded into another one
        if not const.dest.uses:
            const.remove()
    if protected is not None:
        protected.inherit(alu.dest, [instr.result for instr in builder.new])
    lost = remove_unused(alu)
    if work is not None:
        for instr in builder.new:
            work.add(instr)
        work.add_users(users)
        work.add(value.instr)
        for operand in lost:
            if len(operand.uses) == 1:  # `is_used_once` may hold now
                work.add_users(operand.uses)
            work.add(operand.instr)
    return [*builder.consts, *builder.new]
