"""The rewriter: applies rules over a worklist until none applies.

`Rewriter` visits the instructions of one function in source order. An instruction is visited after
its sources have been simplified, so one walk does nearly everything. Rules change code through the
rewriter alone (`insert`, `replace`, `read`, `erase`), which keeps the worklist: new instructions,
those with changed sources, those that lost a use, and all their users as far as a search tree
reaches are added and visited before the walk continues.

Candidate rules for an instruction come from its opcode's decision (`matching.decision`). An
instruction that no rule simplifies is looked up among known expressions (`expressions`), and
replaced by an equal one that dominates it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from functools import partial

from gallette.compiler.nir.algebraic.pattern import Rule
from gallette.compiler.nir.algebraic.position import position_values
from gallette.compiler.nir.ir.cf import Block, If, Loop, list_blocks, walk
from gallette.compiler.nir.ir.instrs import Alu, Instr, Intrinsic, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.order import BlockOrder
from gallette.compiler.nir.ir.queries import has_side_effects
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.rewrite.building import apply_match
from gallette.compiler.nir.rewrite.expressions import EXPRESSION_KEYS, expression_key
from gallette.compiler.nir.rewrite.matching import RuleSet, find_match
from gallette.compiler.nir.rewrite.structural import (
    EQUAL_EXPRESSIONS,
    OTHER_RULES,
    UNUSED,
    StructuralRule,
)

REWRITES = 64
"""changes per instruction: no sensible table comes near it, but a cycle of rules must not hang"""


class Protection:
    """The values that `gl_Position` depends on, to which rules that count uses must not apply.

    Exact ones do not apply, either: they keep the bits, but an inexact rule may match their result.
    The values are computed when the first such rule is about to apply, which is rare.
    """

    def __init__(self, find: Callable[[], set[Def]]):
        self._find = find
        self.values: set[Def] | None = None

    def __contains__(self, value: Def) -> bool:
        if self.values is None:
            self.values = self._find()
        return value in self.values

    def forget(self) -> bool:
        """Discard the values, to be recomputed on demand; returns whether they were known."""
        known, self.values = self.values is not None, None
        return known

    def inherit(self, old: Def, new: Iterable[Def]) -> None:
        """Protect the values that replace a protected value."""
        if self.values is not None and old in self.values:
            self.values.update(new)


def candidates(impl: FunctionImpl, rules: RuleSet) -> list[Alu]:
    """The operations of a function that rules of the tables may match."""
    found: list[Alu] = []
    index, decisions = rules.index, rules.decisions
    for block in list_blocks(impl.body):
        at = block.first
        while at is not None:
            if at.__class__ is Alu and at.op in index and decisions[at.op](at):
                found.append(at)
            at = at.next
    return found


class _EnoughError(Exception):
    """The maximum number of changes has been reached."""


class Rewriter:
    """One run of a set of rules over one function."""

    __slots__ = (
        "_again",
        "_applied",
        "_budget",
        "_current",
        "_extended",
        "_limit",
        "_loops",
        "_order",
        "_queued",
        "_shares",
        "_sweeps",
        "_table",
        "_unvisited",
        "count",
        "impl",
        "protected",
        "rules",
    )

    def __init__(
        self, impl: FunctionImpl, rules: RuleSet, *, careful: bool = False, limit: int = -1
    ):
        """`careful` keeps rules that count uses away from positions; `limit` ends the run after
        that many changes (-1: never), for finding a wrong rule.
        """
        self.impl = impl
        self.rules = rules
        self.protected = Protection(partial(position_values, impl)) if careful else None
        self.count = 0
        """number of changes so far"""
        self._applied = impl.shader.applied
        self._limit = limit
        self._budget = REWRITES * 16
        self._extended = False
        self._sweeps = UNUSED.name in rules.structural
        self._shares = EQUAL_EXPRESSIONS.name in rules.structural
        self._loops = len(impl.body) > 1 and any(n.__class__ is Loop for n in walk(impl.body))
        self._unvisited: set[Instr] = set()
        """instructions the walk has not reached, which need not be added to the worklist"""
        self._again: list[Instr] = []
        self._queued: set[Instr] = set()
        self._current: Instr | None = None
        """the instruction the walk visits for the first time"""
        self._table: dict[Hashable, list[Instr]] | None = None
        """visited instructions, by expression key; none dominates another with the same key"""
        self._order: BlockOrder | None = None

    # Changes by rules, and their consequences.

    def insert(self, new: Instr, before: Instr) -> None:
        """Insert a new instruction before another one."""
        new.insert_before(before)
        self.appeared(new)

    def appeared(self, new: Instr) -> None:
        """Process a new instruction that is already in its place."""
        self.revisit(new)
        for src in new.srcs:
            if len(src.value.uses) == 2:
                self.share_readers(src.value)

    def share_readers(self, value: Def) -> None:
        """Revisit the users of a value with one use that gets a second: they may be equal, and
        rules that require multiple uses may match.
        """
        if self._shares:
            for src in value.uses:
                if src.parent.__class__ is not If:
                    self.revisit(src.parent)  # type: ignore[arg-type]
        if self.rules.want_sharing:
            self.revisit_users(value)

    def replace(self, instr: Instr, value: Def) -> None:
        """Make every user read `value` instead, and erase the instruction."""
        dest = instr.result
        users, unvisited = dest.uses, self._unvisited
        if len(value.uses) == 1:
            self.share_readers(value)
        dest.rewrite_uses(value)
        if instr.srcs:
            self.erase(instr)
        else:
            instr.remove()
        for src in users:
            if src.parent not in unvisited:
                self.changed(src.parent)

    def read(self, src: Src, value: Def, swizzle: tuple[int, ...]) -> None:
        """Change the value and swizzle of a source."""
        old = src.value
        src.rewrite(value)
        src.swizzle = swizzle
        self.changed(src.parent)
        if len(value.uses) == 2:
            self.share_readers(value)
        if self._sweeps and not old.uses:
            self.erase(old.instr)
        elif len(old.uses) == 1:
            self.recount(old)

    def erase(self, instr: Instr) -> None:
        """Remove an instruction, then its operands as far as they become unused."""
        dead = [instr]
        while dead:
            at = dead.pop()
            if at.block is None or (at is not instr and has_side_effects(at)):
                continue
            srcs = at.srcs
            at.remove()
            for src in srcs:
                value = src.value
                if not value.uses:
                    dead.append(value.instr)
                elif len(value.uses) == 1:
                    self.recount(value)

    def changed(self, instr: Instr | If) -> None:
        """Revisit an instruction whose sources have changed, because rules may now match it or its
        users.
        """
        if instr.__class__ is If or instr in self._unvisited:
            return  # the walk will reach it, and its users, later
        self.revisit(instr)  # type: ignore[arg-type]
        if instr.__class__ is Alu:
            self.revisit_users(instr.dest)

    def recount(self, value: Def) -> None:
        """Revisit the user of a value that has a single use now, because rules that require that
        may match.
        """
        maker = value.instr
        if maker.__class__ is Alu and maker.op in self.rules.counted:
            self.revisit_users(value)

    def revisit_users(self, value: Def) -> None:
        """Visit users, their users and so on, as far as a search tree reaches."""
        level, unvisited = [value], self._unvisited
        for _ in range(self.rules.depth):
            above: list[Def] = []
            for value in level:
                for src in value.uses:
                    user = src.parent
                    if user not in unvisited and user.__class__ is Alu:
                        self.revisit(user)
                        above.append(user.dest)
            if not above:
                return
            level = above

    def revisit(self, instr: Instr) -> None:
        """Add an instruction to the worklist."""
        if instr not in self._queued and instr not in self._unvisited:
            self._queued.add(instr)
            self._again.append(instr)

    def applied(self, rule: Rule | StructuralRule, instr: Instr) -> None:
        """Record that a rule was applied to an instruction. If the instruction remains, other rules
        may match it.
        """
        if instr.block is not None:
            self.revisit(instr)
        self.note(rule)

    def note(self, rule: Rule | StructuralRule) -> None:
        """Count a change, and end the run at the limit."""
        self.count += 1
        if self._applied is not None:
            self._applied[rule.name, rule.reason] += 1
        if rule.__class__ is Rule:
            self._budget -= 1
            if not self._budget and not self._extended:
                # Instructions are counted only for the few functions that come near the first
                # limit.
                self._extended, self._budget = True, REWRITES * self.impl.count_instrs()
        if not self._budget or self.count == self._limit:
            raise _EnoughError

    # The worklist.

    def run(self, late: bool = False) -> bool:
        """Apply the rules until none applies; returns whether any did.

        `late` is for a few more rules on simplified code: only instructions these may match are
        visited, and those affected by their changes.
        """
        if self._limit:
            with suppress(_EnoughError):
                (self._run_late if late else self._run)()
        return self.count > 0

    def _run(self) -> None:
        if self._shares and len(self.impl.body) > 1:  # in one block, source order is dominance
            self.impl.require(Metadata.DOMINANCE)
        if self._sweeps and self._loops:
            self._sweep_cycles()
        seen = -1
        while seen < self.count:
            seen = self.count
            self._walk()
            if self._sweeps and self._loops:
                self._sweep_cycles()
                self._drain()
            if self.protected is None or not self.protected.forget():
                break  # else fewer values may contribute to the position now

    def _run_late(self) -> None:
        for alu in candidates(self.impl, self.rules):
            if alu.block is not None and self._apply(alu):
                self._drain()

    def _walk(self) -> None:
        """Visit every instruction in source order, and those on the worklist in between."""
        self._table = {}
        self._order = None
        waiting = self._listed()
        self._unvisited = set(waiting)
        self._again.clear()  # all are visited, in their turn
        self._queued.clear()
        unvisited, again, visit = self._unvisited.discard, self._again, self._visit
        table, shares = self._table, self._shares
        while waiting:
            instr = waiting.pop()
            unvisited(instr)
            if instr.block is None:
                continue
            self._current = instr
            if instr.__class__ is LoadConst and shares:  # a third of all instructions
                key = instr.values, instr.dest.bit_size
                equal = table.get(key)
                if equal is None:
                    table[key] = [instr]
                    continue
                self._share(key, equal, instr)
            else:
                visit(instr)
            if again:
                self._drain()
        self._current = None

    def _listed(self) -> list[Instr]:
        """Every instruction, the first one last; unused ones are removed."""
        found: list[Instr] = []
        for block in reversed(list_blocks(self.impl.body)):
            at = block.last
            while at is not None:
                instr, at = at, at.prev
                dest = instr.dest
                if (dest is None or not dest.uses) and self._sweeps and not has_side_effects(instr):
                    instr.remove()
                    self.note(UNUSED)
                else:
                    found.append(instr)
        return found

    def _drain(self) -> None:
        """Visit the instructions on the worklist, the newest first."""
        again, queued = self._again, self._queued
        self._current = None
        while again:
            instr = again.pop()
            queued.discard(instr)
            if instr.block is not None:
                self._visit(instr)

    def _visit(self, instr: Instr) -> None:
        """Apply the first rule that matches; if none does, look for an equal expression."""
        cls = instr.__class__
        if cls is Alu:
            if self._apply(instr):  # type: ignore[arg-type]
                return
        else:
            kind = instr.info.name if cls is Intrinsic else cls  # type: ignore[attr-defined]
            for rule in OTHER_RULES.get(kind, ()):
                if rule.name in self.rules.structural and rule.apply(self, instr):
                    self.applied(rule, instr)
                    return
        if self._shares and cls in EXPRESSION_KEYS:
            for src in instr.srcs:
                if len(src.value.uses) == 1:
                    return  # unused, so no equal instruction is needed
            key = EXPRESSION_KEYS[cls](instr)
            if key is not None:
                table = self._table
                if table is None:
                    table = self._table = self._tabulated()
                equal = table.get(key)
                if equal is None:
                    table[key] = [instr]
                else:
                    self._share(key, equal, instr)

    def _apply(self, alu: Alu) -> bool:
        """Apply the first arithmetic rule that matches."""
        for rule, ways in self.rules.decisions[alu.op](alu):
            if isinstance(rule, StructuralRule):
                made = rule.apply(self, alu)
            else:
                match = find_match(rule, ways, alu)  # type: ignore[arg-type]
                made = match is not None and apply_match(self, rule, match, alu)
            if made:
                self.applied(rule, alu)
                return True
        return False

    # Equal expressions.

    def _tabulated(self) -> dict[Hashable, list[Instr]]:
        """Results of earlier simplifications, by the key of the expression."""
        table: dict[Hashable, list[Instr]] = {}
        for block in list_blocks(self.impl.body):
            for instr in block.instrs():
                key = expression_key(instr)
                if key is not None:
                    table.setdefault(key, []).append(instr)
        return table

    def _share(self, key: Hashable, equal: list[Instr], instr: Instr) -> None:
        """Make users read an equal value of a dominating instruction."""
        for known in [*equal]:
            if known is instr:
                equal.remove(known)
            elif known.block is None or EXPRESSION_KEYS[known.__class__](known) != key:
                equal.remove(known)  # its sources have changed
            elif self._is_before(known, instr):
                self._merge(known, instr)
                return
            elif self._is_before(instr, known):
                equal.remove(known)
                self._merge(instr, known)
        equal.append(instr)

    def _is_before(self, one: Instr, other: Instr) -> bool:
        """Whether `one` dominates `other`."""
        here, there = one.block, other.block
        assert here is not None and there is not None
        if here is not there:
            return here.dominates(there)
        # The walk visits an instruction after all that precede it.
        if other is self._current:
            return True
        if self._order is None:
            self._order = BlockOrder()
        return self._order.comes_before(one, other)

    def _merge(self, kept: Instr, other: Instr) -> None:
        """Merge `other` into the equal instruction `kept`, which comes first."""
        if isinstance(kept, Alu) and isinstance(other, Alu):
            kept.exact |= other.exact
        if self.protected is not None:
            self.protected.inherit(other.result, [kept.result])
        self.replace(other, kept.result)
        self.note(EQUAL_EXPRESSIONS)

    # Cycles.

    def _sweep_cycles(self) -> None:
        """Remove instructions without an effect or such users, including phis that only use each
        other.
        """
        live: set[Instr] = set()
        everything: list[Instr] = []
        work: list[Instr] = []
        for node in walk(self.impl.body):
            if node.__class__ is Block:
                for instr in node.instrs():
                    everything.append(instr)
                    if instr.may_have_effects and has_side_effects(instr):
                        work.append(instr)
            elif node.__class__ is If:
                work.append(node.condition.value.instr)
        while work:
            instr = work.pop()
            if instr not in live:
                live.add(instr)
                work += [src.value.instr for src in instr.srcs]
        for instr in everything:
            if instr not in live and instr.block is not None:
                self.erase(instr)
                self.note(UNUSED)
