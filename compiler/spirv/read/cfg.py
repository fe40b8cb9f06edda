"""The control-flow graph of a function: its order, its loops, its dominators.

A loop is a strongly connected component; its header is the one block of it that is entered from
outside. The loops inside it are components of it without the header. `irreducible` gives a header
to a component with several entries.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.irreducible import add_header
from gallette.compiler.spirv.read.model import FunctionCode, successors

MAX_DEPTH = 120
ENDS = ("OpKill", "OpTerminateInvocation", "OpUnreachable")
"""the terminators with which an invocation ends"""


class Graph:
    """The blocks that are reached from the first one.

    `order` is a reverse postorder, in which only branches to the headers of loops lead backwards;
    `number` is the place of a block in it. `bodies` are the blocks of each loop, by header, and
    `loops` is the header of the innermost loop around each block (0: none), `outer` that of the
    loop around each loop. `before` are the predecessors of a block but for those that lead
    backwards.
    """

    def __init__(self, d: Declarations, code: FunctionCode) -> None:
        self.code = code
        while entries := self._find_loops():
            add_header(d, code, entries)
        number = self.number = {label: n for n, label in enumerate(self.order)}
        self.before: dict[int, list[int]] = {label: [] for label in self.order}
        self.idom: dict[int, int] = {}
        for label in self.order:
            if before := self.before[label]:
                self.idom[label] = self._common_dominator(before)
                self._keep_in_loop(label, before)
            for following in self.next[label]:
                if number[following] > number[label]:
                    self.before[following].append(label)

    def _find_loops(self) -> list[int]:
        """Find all loops; returns the entries of one that has several."""
        self.next: dict[int, list[int]] = {}
        self._reach(self.code.first)
        work = [(part, 1) for part in self._components(self.next.keys())]
        self.order = self.finished[::-1]
        self.bodies: dict[int, set[int]] = {}
        self.loops = dict.fromkeys(self.order, 0)
        self.outer: dict[int, int] = {}
        sources: dict[int, set[int]] = {label: set() for label in self.order}
        for label in self.order:
            for following in self.next[label]:
                sources[following].add(label)
        while work:
            part, depth = work.pop()
            if depth > MAX_DEPTH:
                raise SpirvError("control flow is nested too deeply")
            header, *others = entries = sorted(at for at in part if not part >= sources[at])
            if others:
                return entries
            self.bodies[header] = set(part)
            self.outer[header] = self.loops[header]
            self.loops.update(dict.fromkeys(part, header))
            work += [(inner, depth + 1) for inner in self._components(part - {header})]
        return []

    def _keep_in_loop(self, label: int, before: list[int]) -> None:
        """Make a block part of the loop that it is entered from if an invocation ends there. Then a
        discard does not leave the loop, which helper invocations go on executing.
        """
        end = self.code.blocks[label].end
        if end is not None and end.name in ENDS and len(before) == 1:
            loop = self.loops[label] = self.loops[before[0]]
            while loop:
                self.bodies[loop].add(label)
                loop = self.outer[loop]

    def _reach(self, label: int) -> None:
        """Find the targets of every block that is reached."""
        work = [label]
        while work:
            label = work.pop()
            if label in self.next:
                continue
            block = self.code.blocks.get(label)
            if block is None:
                raise SpirvError(f"a branch to %{label}, which is no block of the function")
            self.next[label] = list(dict.fromkeys(successors(block)))
            work += self.next[label]
            if self.code.first in self.next[label]:
                raise SpirvError("a branch to the first block of the function")

    def _components(self, inside: AbstractSet[int]) -> list[frozenset[int]]:
        """Strongly connected components that are loops, among some blocks (Tarjan's algorithm).

        `finished` are the blocks in postorder afterwards.
        """
        number: dict[int, int] = {}
        low: dict[int, int] = {}  # the first block on the stack that is reached from each
        stack: list[int] = []
        found: list[frozenset[int]] = []
        self.finished: list[int] = []
        for root in inside:
            path = [] if root in number else [(root, iter(self.next[root]))]
            while path:
                label, rest = path[-1]
                if label not in number:
                    number[label] = low[label] = len(number)
                    stack.append(label)
                for following in rest:
                    if following in number:
                        low[label] = min(low[label], low[following])
                    elif following in inside:
                        path.append((following, iter(self.next[following])))
                        break
                else:
                    path.pop()
                    self.finished.append(label)
                    if low[label] == number[label]:
                        part = [stack.pop()]
                        while part[-1] != label:
                            part.append(stack.pop())
                        if len(part) > 1 or label in self.next[label]:
                            found.append(frozenset(part))
                        low.update(dict.fromkeys(part, len(self.next)))
                    if path:
                        parent = path[-1][0]
                        low[parent] = min(low[parent], low[label])
        return found

    def _common_dominator(self, labels: list[int]) -> int:
        number, found = self.number, labels[0]
        for label in labels[1:]:
            while label != found:
                if number[label] > number[found]:
                    label = self.idom[label]
                else:
                    found = self.idom[found]
        return found
