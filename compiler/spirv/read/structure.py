"""Control flow: from blocks and merge instructions to ifs and loops.

The function is walked from its first block; a stack of constructs determines what a branch is: the
end of an if (nothing to emit), an exit of a loop or switch (`break`), or a jump to a loop's
continue part (which is emitted there, followed by `continue`). A switch is a loop that runs once,
so that `break` works in it; leaving an outer loop from inside sets a flag that is tested after the
inner one.

Phis are variables, to which every branch stores its values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.cf import Loop
from gallette.compiler.nir.ir.instrs import Jump
from gallette.compiler.nir.ir.types import BOOL
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.model import Block
from gallette.compiler.spirv.read.pointers import RootPlace
from gallette.compiler.spirv.read.repair_ssa import repair_dominance

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

__all__ = ["Structure"]

MAX_DEPTH = 120
_CARRIED = frozenset(("bool", "int", "float", "vector", "matrix"))


@dataclass(slots=True)
class _Construct:
    """An if, switch or loop being emitted. `exits` are flags of jumps out of an outer loop."""

    kind: str
    merge: int
    header: int = 0
    back: int = 0
    next_case: int = 0
    fell: Variable | None = None
    reached: bool = False
    exits: dict[tuple[int, str], Variable] = field(default_factory=dict)
    carried: dict[int, RootPlace] = field(default_factory=dict)
    going_back: bool = False


class Structure:
    """Walks the blocks of one function."""

    def __init__(self, r: FunctionReader) -> None:
        self.r = r
        self.b = r.b
        self.blocks = r.code.blocks
        self.stack: list[_Construct] = []
        self.flagged = False
        self.entries: dict[int, int] = {}

    def run(self) -> None:
        self.flagged = self.r.code.redirected
        self.walk(self.r.code.first)
        if self.flagged:
            repair_dominance(self.r.impl)

    # Blocks.

    def walk(self, label: int, header: bool = False) -> None:
        """Emit blocks from `label` on until a branch leads to a known place.

        `header` says that the loop with `label` as its header has been begun.
        """
        seen: set[int] = set()
        while label:
            block = self.blocks.get(label)
            if block is None:
                raise SpirvError(f"a branch to %{label}, which is no block of the function")
            if label in seen:
                raise SpirvError(f"%{label} is part of a loop that has no header")
            seen.add(label)
            if not header and block.merge is not None and block.merge.name == "OpLoopMerge":
                label = self.loop(block)
                continue
            header = False
            self.r.block(block)
            label = self.end(block)

    def end(self, block: Block) -> int:
        """Emit the terminator; returns the next block (0: none)."""
        i = block.end
        assert i is not None
        name = i.name
        if name == "OpBranch":
            return self.branch(block, i.words[0])
        if name == "OpBranchConditional":
            return self.conditional(block, i)
        if name == "OpSwitch":
            return self.switch(block, i)
        b = self.b
        if name == "OpReturnValue":
            self.r.returned(i)
        if name in ("OpKill", "OpTerminateInvocation"):
            b.intrinsic("discard")
        # NIR continues after these; definitions on the other paths are repaired later.
        self.flagged |= name not in ("OpReturn", "OpReturnValue")
        if name in ("OpReturn", "OpReturnValue") and self.stack:
            b.jump("return")
        return 0

    def branch(self, source: Block, target: int) -> int:
        """Branch to `target`: 0 if a jump was emitted, else the label to continue with."""
        self.r.leave(source, target)
        return self.jump(target)

    def jump(self, target: int) -> int:
        for depth in range(len(self.stack) - 1, -1, -1):
            construct = self.stack[depth]
            if construct.kind == "if":
                if target == construct.merge:
                    construct.reached = True
                    return self._leave_ifs(depth, target)
            elif target == construct.merge:
                construct.reached = True
                self._jump_to(depth, "break")
                return 0
            elif construct.kind == "loop" and target == construct.header:
                self._jump_to(depth, "continue")
                return 0
            elif construct.kind == "loop" and target == construct.back:
                self._continue(depth, target)
                return 0
            elif construct.kind == "switch" and target == construct.next_case:
                assert construct.fell is not None
                self.b.store_var(construct.fell, self.b.imm_bool(True))
                return self._leave_ifs(depth, target)
        return target

    def _leave_ifs(self, depth: int, target: int) -> int:
        """Branch to the end of an if, which must be the innermost construct."""
        if depth != len(self.stack) - 1:
            raise SpirvError(f"control flow that is not structured leads to %{target}")
        return 0

    def _jump_to(self, depth: int, what: str) -> None:
        """Emit break or continue of the loop at `depth`, through all loops inside it."""
        construct = self.stack[depth]
        if what == "break" and construct.going_back:
            for id, place in construct.carried.items():
                if id in self.r.values:
                    place.store(self.b, self.r.values[id])
        inner = [c for c in self.stack[depth + 1 :] if c.kind != "if"]
        if not inner:
            self.b.jump(what)
            return
        self.flagged = True
        for construct in inner:
            key = (depth, what)
            if key not in construct.exits:
                construct.exits[key] = self.r.impl.add_local("leave", BOOL)
            self.b.store_var(construct.exits[key], self.b.imm_bool(True))
        self.b.jump("break")

    def _continue(self, depth: int, target: int) -> None:
        """Emit the loop's continue part here."""
        loop = self.stack[depth]
        inner = self.stack[depth + 1 :]
        if any(c.kind != "if" for c in inner):
            # Inside a switch, leave that first.
            self._jump_to(depth, "back")
            return
        self._back(loop, depth)

    def _back(self, loop: _Construct, depth: int) -> None:
        saved, self.stack = self.stack, self.stack[: depth + 1]
        target, loop.back = loop.back, 0
        loop.going_back = True
        for id in loop.carried:
            self.r.values.pop(id, None)
        self.walk(target)
        loop.back, loop.going_back = target, False
        self.stack = saved

    def _carry(self, loop: _Construct) -> None:
        """Values defined in a continue part that is emitted several times, if the loop
        ends there.
        """
        if not self.entries:
            for source in self.blocks.values():
                for label in set(successors(source)):
                    self.entries[label] = self.entries.get(label, 0) + 1
        if self.entries.get(loop.back, 0) < 2:
            return
        seen, work, ends = {loop.header, loop.merge}, [loop.back], False
        found: list[Block] = []
        while work:
            block = self.blocks.get(work.pop())
            if block is None or block.label in seen:
                continue
            seen.add(block.label)
            found.append(block)
            ends |= loop.merge in successors(block)
            work.extend(successors(block))
        if not ends:
            return
        for block in found:
            for i in (*block.phis, *block.code):
                info = i.info
                if info.has_type and info.has_result and self.r.type(i).kind in _CARRIED:
                    type = self.r.type(i)
                    var = self.r.impl.add_local(f"carried_{i.words[1]}", type.nir)
                    loop.carried[i.words[1]] = RootPlace(type, var)

    # Constructs.

    def push(self, construct: _Construct) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise SpirvError("control flow is nested too deeply")
        self.stack.append(construct)

    def conditional(self, block: Block, i: Instruction) -> int:
        condition = self.r.ssa(i.words[0])
        if condition.bit_size != 1:
            raise i.error("the condition is no boolean")
        then, other = i.words[1], i.words[2]
        if then == other:
            return self.branch(block, then)
        merged = block.merge is not None and block.merge.name == "OpSelectionMerge"
        if block.merge is not None and merged and block.merge.words[0]:
            return self.choice(block, condition, then, other, block.merge.words[0])
        then_leaves, other_leaves = self.leaves(then), self.leaves(other)
        b = self.b
        if then_leaves and other_leaves:
            b.push_if(condition)
            self.branch(block, then)
            b.push_else()
            self.branch(block, other)
            b.pop_if()
            return 0
        if then_leaves:
            b.push_if(condition)
            self.branch(block, then)
            b.pop_if()
            return self.branch(block, other)
        if other_leaves:
            b.push_if(b.inot(condition))
            self.branch(block, other)
            b.pop_if()
            return self.branch(block, then)
        merge = self.r.module.merge_of(self.r.code, block)
        return self.choice(block, condition, then, other, merge)

    def leaves(self, target: int) -> bool:
        """Whether a branch leaves the current code (to a loop's end, or the end of an if)."""
        for construct in reversed(self.stack):
            if target in (construct.merge, construct.next_case):
                return True
            if construct.kind == "loop" and target in (construct.header, construct.back):
                return True
        return False

    def choice(self, block: Block, condition: Def, then: int, other: int, merge: int) -> int:
        b = self.b
        construct = _Construct("if", merge)
        self.push(construct)
        b.push_if(condition)
        self.walk(self.branch(block, then))
        b.push_else()
        self.walk(self.branch(block, other))
        b.pop_if()
        self.stack.pop()
        return self.after(merge) if construct.reached else 0

    def after(self, merge: int) -> int:
        """Continue after a construct, unless an outer one ends at the same block."""
        return self.jump(merge) if self.leaves(merge) else merge

    def loop(self, block: Block) -> int:
        assert block.merge is not None
        merge, back = block.merge.words[:2]
        construct = _Construct("loop", merge, block.label, back)
        if back == block.label:
            construct.back = 0
        b = self.b
        self._carry(construct)
        node = b.push_loop()
        self.push(construct)
        self.walk(block.label, header=True)
        self.stack.pop()
        self._end_loop(node)
        b.pop_loop()
        for id, place in construct.carried.items():
            self.r.values[id] = place.load(b)
        self._leave_outer(construct)
        return self.after(merge) if construct.reached else 0

    def _end_loop(self, node: Loop) -> None:
        last = node.last.jump
        if isinstance(last, Jump) and last.type == "continue":
            last.remove()
            self.r.impl.invalidate()

    def _leave_outer(self, construct: _Construct) -> None:
        """After a loop or switch, test the flags of jumps to an outer loop."""
        b = self.b
        for (depth, what), flag in construct.exits.items():
            self._initialise(flag)
            b.push_if(b.load_var(flag))
            b.store_var(flag, b.imm_bool(False))
            outer = [c for c in self.stack[depth + 1 :] if c.kind != "if"]
            if outer:
                b.jump("break")
            elif what == "back":
                self._back(self.stack[depth], depth)
            else:
                b.jump(what)
            b.pop_if()

    def _initialise(self, flag: Variable) -> None:
        b = self.r.at_start()
        b.store_var(flag, b.imm_bool(False))

    def switch(self, block: Block, i: Instruction) -> int:
        merge = 0
        if block.merge is not None and block.merge.name == "OpSelectionMerge":
            merge = block.merge.words[0]
        if not merge:
            merge = self.r.module.merge_of(self.r.code, block)
        b, selector = self.b, self.r.ssa(i.words[0])
        wide = block.wide
        if wide != (selector.bit_size == 64):
            raise i.error("the selector is not what it was declared to be")
        default, rest = i.words[1], i.words[2:]
        size = 3 if wide else 2
        if len(rest) % size:
            raise i.error("literals and labels come in pairs")
        values: dict[int, list[int]] = {}
        for at in range(0, len(rest), size):
            literal = rest[at] | (rest[at + 1] << 32 if wide else 0)
            values.setdefault(rest[at + size - 1], []).append(literal)
        others = [
            literal for label, found in values.items() if label != default for literal in found
        ]
        values.setdefault(default, [])
        order = self._case_order([t for t in values if t != merge], merge)
        construct = _Construct("switch", merge)
        construct.fell = self.r.impl.add_local("fell", BOOL)
        b.store_var(construct.fell, b.imm_bool(False))
        conditions = {
            label: self._case(selector, values[label], others if label == default else None)
            for label in order
        }
        if merge in values:
            construct.reached = True
            self.r.leave(block, merge)
        b.push_loop()
        self.push(construct)
        for k, label in enumerate(order):
            construct.next_case = order[k + 1] if k + 1 < len(order) else 0
            fell = b.load_var(construct.fell)
            b.push_if(b.ior(conditions[label], fell))
            b.store_var(construct.fell, b.imm_bool(False))
            target = self.blocks.get(label)
            if target is not None and target.phis:
                b.push_if(b.inot(fell))
                self.r.leave(block, label)
                b.pop_if()
            self.walk(label)
            b.pop_if()
        b.jump("break")
        self.stack.pop()
        b.pop_loop()
        self._leave_outer(construct)
        return self.after(merge) if construct.reached else 0

    def _case(self, selector: Def, literals: list[int], others: list[int] | None) -> Def:
        b = self.b
        value = b.imm_bool(False)
        for literal in literals if others is None else others:
            same = b.ieq(selector, b.imm_int(literal, selector.bit_size))
            value = b.ior(value, same)
        return value if others is None else b.inot(value)

    def _case_order(self, targets: list[int], merge: int) -> list[int]:
        """Cases in an order in which control falls through forwards."""
        wanted = set(targets)
        falls: dict[int, set[int]] = {}
        for target in targets:
            seen, work = {target, merge}, [target]
            found: set[int] = set()
            while work:
                block = self.blocks.get(work.pop())
                if block is None:
                    continue
                for successor in successors(block):
                    if successor in wanted and successor != target:
                        found.add(successor)
                    elif successor not in seen:
                        seen.add(successor)
                        work.append(successor)
            falls[target] = found
        order: list[int] = []
        left = list(targets)
        while left:
            for target in left:
                # Next is a case that only placed cases fall into, preferring the successor of the
                # last case.
                before = [t for t in left if t != target and target in falls[t]]
                if not before:
                    break
            follower = [t for t in left if order and t in falls[order[-1]]]
            chosen = follower[0] if follower else target
            order.append(chosen)
            left.remove(chosen)
        return order


def targets(block: Block) -> tuple[int, ...]:
    """The indices of a terminator's words that are labels."""
    i = block.end
    if i is None:
        return ()
    if i.opcode == _SWITCH:
        # A literal has as many words as the selector.
        return (1, *range(4 if block.wide else 3, len(i.words), 3 if block.wide else 2))
    return _TARGETS.get(i.opcode, ())


def successors(block: Block) -> list[int]:
    """The labels of a terminator's targets."""
    i = block.end
    if i is None:
        return []
    words = i.words
    return [words[at] for at in targets(block)]


_SWITCH = opcode("OpSwitch")
_TARGETS = {opcode("OpBranch"): (0,), opcode("OpBranchConditional"): (1, 2)}
