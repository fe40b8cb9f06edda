"""Control flow: from blocks and branches to ifs and loops.

A block stands inside what dominates it: in an arm of the branch to it, or, if several branches lead
to it, after the dominating block's arms, where control arrives that leaves the arms. If it leaves
them for several blocks, each is in an if, with a flag that every branch to the block sets.

       B            B; if (c) { C; if (d) { f = true } else { D } } else { f = true }
      / \\           if (f) { F }
     C   \\          G
    / \\   |
   D   \\--F         # both F and G are dominated by B alone
   \\---G-/

What stands in a loop is part of it; the blocks that a loop's blocks dominate besides stand after
it. A branch out of the innermost loop is `break`, one to its header `continue`.

Phis are variables, to which every branch stores its values.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import cf
from gallette.compiler.nir.ir.instrs import Instr
from gallette.compiler.nir.ir.types import BOOL
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.cfg import MAX_DEPTH, Graph
from gallette.compiler.spirv.read.model import Block
from gallette.compiler.spirv.read.repair_ssa import repair_dominance

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

_KILLED = 0
"""stands for a block where control arrives after a discard"""
_Cursor: TypeAlias = "tuple[cf.Block, Instr | None]"


class Structure:
    """Emits the blocks of one function."""

    def __init__(self, r: FunctionReader) -> None:
        self.r = r
        self.b = r.b
        self.blocks = r.code.blocks
        self.graph = Graph(r.d, r.code)
        self.loop = 0
        """the header of the innermost loop around the block being emitted"""
        self.exits: set[int] = set()
        """targets of branches out of that loop"""
        self.after_block: dict[int, list[int]] = {}
        self.after_loop: dict[int, list[int]] = {}
        self.placed: set[int] = set()
        """the blocks of both tables; others are emitted at the branch to them"""
        self.starts: dict[int, _Cursor] = {}
        """by block, where its flag is reset"""
        self.ways: dict[int, list[_Cursor]] = {}
        """by block, where its flag is set"""
        self.flags: dict[int, Variable] = {}
        self.damaged = r.code.redirected
        """whether paths were added on which definitions do not dominate their uses"""

    def run(self) -> None:
        self._place()
        self.region(self.r.code.first)
        if self.damaged:
            repair_dominance(self.r.impl)

    def _place(self) -> None:
        """Fill the tables of blocks that stand after others."""
        graph, merges = self.graph, self._merges()
        for label in graph.order[1:]:
            place = merges.get(label, graph.idom[label])
            left, loop = 0, graph.loops[place]
            while loop and label not in graph.bodies[loop]:
                left, loop = loop, graph.outer[loop]
            if left:
                self.after_loop.setdefault(left, []).append(label)
            elif label in merges or len(graph.before[label]) > 1:
                self.after_block.setdefault(place, []).append(label)
            else:
                continue
            self.placed.add(label)

    def _merges(self) -> dict[int, int]:
        """Merge blocks that stand after their branch however few paths lead to them, because all
        others return, discard, or leave or repeat the loop around the branch: then helper
        invocations execute the code after `if (c) discard;`, and of ifs one after another that
        return none is inside the other.
        """
        graph, found = self.graph, {}
        left = MAX_DEPTH * len(graph.order)  # deeper code is refused anyway
        for label in graph.order:
            instr = self.blocks[label].merge
            if instr is None or instr.name != "OpSelectionMerge" or left < 0:
                continue
            merge, between = instr.words[0], {label}
            work = sorted(map(graph.number.__getitem__, graph.next[label]))
            while work:
                at = graph.order[heappop(work)]
                if at == merge or at in between or self._jumps(at, graph.loops[label]):
                    continue
                if not between.issuperset(graph.before[at]):
                    break
                between.add(at)
                left -= 1
                for following in graph.next[at]:
                    heappush(work, graph.number[following])
            else:
                if between.issuperset(graph.before.get(merge, (0,))):
                    found[merge] = label
        return found

    def _jumps(self, target: int, loop: int) -> bool:
        """Whether a branch in a loop (0: in none) to a block leaves or repeats the loop."""
        return loop != 0 and (target == loop or target not in self.graph.bodies[loop])

    # Emission. Each method returns the blocks for which control leaves what it emitted, by the end.

    def region(self, label: int, begun: bool = False) -> set[int]:
        """Emit a block and what it dominates; `begun` is true for the header in a loop's body."""
        b = self.b
        if len(b.stack) > MAX_DEPTH:
            raise SpirvError("control flow is nested too deeply")
        todo, leaving = [label], {label}
        while todo:
            at = todo.pop(0)
            leaving.discard(at)
            if leaving - {_KILLED}:
                b.push_if(b.load_var(self.flag(at)))
                leaving |= self.region(at)
                b.pop_if()
                continue
            if at in self.graph.bodies and not begun:
                new, after = self.whole_loop(at), self.after_loop
            else:
                new, after = self.block(self.blocks[at]), self.after_block
            begun = False
            leaving = new
            todo[:0] = [*(new - self.placed - {_KILLED}), *after.get(at, ())]
        return leaving

    def block(self, block: Block) -> set[int]:
        self.r.block(block)
        self._start(self.after_block.get(block.label, ()))
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
        if name in ("OpReturn", "OpReturnValue"):
            if b.stack:
                b.jump("return")
            return set()
        if name != "OpUnreachable":
            b.intrinsic("discard")
        self.damaged = True
        return {_KILLED}

    def branch(self, source: Block, target: int) -> set[int]:
        """Branch to `target` by a jump, or by leaving all ifs up to the place of the block."""
        self.r.leave(source, target)
        jumps = self._jumps(target, self.loop)
        if (jumps and target != self.loop) or target in self.placed:
            if target in self.flags:
                self.b.store_var(self.flags[target], self.b.imm_bool(True))
            else:
                self.ways.setdefault(target, []).append(self.b.cursor)
        if jumps:
            self._jump(target)
        return set() if jumps else {target}

    def arm(self, source: Block, target: int) -> set[int]:
        """Branch from an arm, where blocks that have no other place are emitted."""
        leaving = self.branch(source, target)
        return self.region(target) if leaving - self.placed else leaving

    def conditional(self, block: Block, i: Instruction) -> set[int]:
        b = self.b
        condition = self.r.ssa(i.words[0])
        if condition.bit_size != 1:
            raise i.error("the condition is no boolean")
        then, other = i.words[1], i.words[2]
        if then == other:
            return self.branch(block, then)
        if self._jumps(other, self.loop) and not self._jumps(then, self.loop):
            condition, then, other = b.inot(condition), other, then
        b.push_if(condition)
        leaving = self.arm(block, then)
        if leaving:
            b.push_else()
            leaving |= self.arm(block, other)
            b.pop_if()
            return leaving
        b.pop_if()
        return self.branch(block, other)

    def switch(self, block: Block, i: Instruction) -> set[int]:
        b, selector = self.b, self.r.ssa(i.words[0])
        wide = block.wide
        if wide != (selector.bit_size == 64):
            raise i.error("the selector is not what it was declared to be")
        default, rest = i.words[1], i.words[2:]
        size = 3 if wide else 2
        if len(rest) % size:
            raise i.error("literals and labels come in pairs")
        conditions: dict[int, Def] = {}
        others = b.imm_bool(False)
        for at in range(0, len(rest), size):
            literal = rest[at] | (rest[at + 1] << 32 if wide else 0)
            same = b.ieq(selector, b.imm_int(literal, selector.bit_size))
            target = rest[at + size - 1]
            if target != default:
                others = b.ior(others, same)
                conditions[target] = (
                    b.ior(conditions[target], same) if target in conditions else same
                )
        conditions[default] = b.inot(others)
        leaving: set[int] = set()
        for target, condition in conditions.items():
            b.push_if(condition)
            leaving |= self.arm(block, target)
            b.pop_if()
        return leaving

    def whole_loop(self, header: int) -> set[int]:
        b = self.b
        self._start(self.after_loop.get(header, ()))
        outside = self.loop, self.exits
        self.loop, self.exits = header, set()
        node = b.push_loop()
        self._start((header,))
        leaving = self.region(header, begun=True)
        last = node.last.jump
        if leaving:  # by a discard, after which the loop need not end
            b.jump("break")
        elif last is not None and last.type == "continue":
            last.remove()
        b.pop_loop()
        exits = sorted(self.exits, key=self.graph.number.__getitem__)
        self.loop, self.exits = outside
        self.damaged |= len(exits) + len(leaving) > 1
        for target in exits:
            if not self._jumps(target, self.loop):
                leaving.add(target)
            elif len(exits) == 1:
                self._jump(target)
            else:
                b.push_if(b.load_var(self.flag(target)))
                self._jump(target)
                b.pop_if()
        return leaving

    def _jump(self, target: int) -> None:
        if target == self.loop:
            self.b.jump("continue")
        else:
            self.exits.add(target)
            self.b.jump("break")

    # Flags, which few of the placed blocks need. What sets one is inserted when it is first read.

    def _start(self, labels: Iterable[int]) -> None:
        for label in labels:
            if label in self.flags:  # of a loop's header, whose flag also chose to enter the loop
                self.b.store_var(self.flags[label], self.b.imm_bool(False))
            self.starts[label] = self.b.cursor

    def flag(self, label: int) -> Variable:
        """The variable that is true if a branch to a block was the last one."""
        var = self.flags.get(label)
        if var is None:
            var = self.flags[label] = self.r.impl.add_local("reached", BOOL)
            b = Builder(self.r.impl)
            for b.cursor in self.ways.get(label, ()):
                b.store_var(var, b.imm_bool(True))
            b.cursor = self.starts[label]
            b.store_var(var, b.imm_bool(False))
        return var
