"""The rewriter: applies rules to a fixed point, and builds what takes the place of what matched.

Which rules match where is `matching`'s business. The worklist runs to a fixed point: a rewrite puts
the new instructions, the users of the result (as far up as any rule looks down), and the remaining
user of a value that lost a use back on the list. Instructions left without use are removed at once,
because `is_used_once` counts them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from gallette.compiler.nir.algebraic.matching import (
    Binding,
    Candidate,
    Match,
    RuleSet,
    Swizzle,
    find_match,
)
from gallette.compiler.nir.algebraic.pattern import Const, Pattern, Rule, Var
from gallette.compiler.nir.algebraic.values import raw_bits
from gallette.compiler.nir.ir.cf import list_blocks
from gallette.compiler.nir.ir.fold import evaluated
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu, Instr, LoadConst
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.surgery import remove_unused
from gallette.compiler.nir.ir.values import Def, Src

__all__ = ["REWRITES", "Protection", "RuleSet", "rewrite", "rewrite_impl"]

REWRITES = 64
"""per instruction: no sensible table comes near, but a cycle of rules must not hang"""


class _Builder:
    """Builds one replacement in front of the instruction it replaces."""

    __slots__ = ("alu", "consts", "match", "new")

    def __init__(self, alu: Alu, match: Match):
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
    sizes = tuple([value.bit_size for value, _ in srcs])
    return evaluated(op, tuple(sources), sizes, bit_size)


class _Worklist:
    """Instructions still to be looked at, each at most once at a time."""

    def __init__(self, instrs: Iterable[Alu], rules: RuleSet):
        self.index = rules.index
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
        if instr not in self.waiting and isinstance(instr, Alu) and instr.op in self.index:
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

    def forget(self) -> bool:
        """Let the values be found again when they are asked for. Were they known?"""
        known, self.values = self.values is not None, None
        return known

    def inherit(self, old: Def, new: Iterable[Def]) -> None:
        """What replaces a protected value is protected."""
        if self.values is not None and old in self.values:
            self.values.update(new)


def rewrite_impl(impl: FunctionImpl, rules: RuleSet, protected: Protection | None = None) -> int:
    """Apply `rules` until none matches; returns the number of rewrites."""
    index = rules.index
    instrs: list[Alu] = []
    for block in list_blocks(impl.body):
        at = block.first
        while at is not None:
            if at.__class__ is Alu and at.op in index:
                instrs.append(at)
            at = at.next
    if not any(map(rules.candidates, instrs)):
        return 0
    budget = REWRITES * (len(instrs) + 16)
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
    for rule, ways in candidates:
        match = find_match(rule, ways, alu)
        if match is None or (
            protected is not None and rule.depends_on_use_counts and alu.dest in protected
        ):
            continue
        return _apply(rule, alu, match, protected, work)
    return []


def _apply(
    rule: Rule, alu: Alu, match: Match, protected: Protection | None, work: _Worklist | None
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
