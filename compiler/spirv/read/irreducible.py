"""Gives loops with several entries a single header, which dispatches to the entries.

    A -> B, A -> C, B -> C, C -> B          # B and C are a loop without a header
    A -> way1 -> H, A -> way2 -> H, H -> B or C by a number, B -> way3 -> H, C -> way4 -> H

The `way`s are new blocks, one for each edge; the new header has a phi for the number of the entry,
and the phis of the entries, to which ways to other entries contribute their current value. New ids
are negative, which no id of a module is.
"""

from __future__ import annotations

from collections.abc import Iterable

from gallette.compiler.nir.ir import types as t
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.model import Block, Constant, FunctionCode, SpvType
from gallette.compiler.spirv.read.structure import successors, targets

__all__ = ["make_reducible"]

_NUMBER = -1  # type id of an entry's number
_PHI, _BRANCH, _SWITCH = opcode("OpPhi"), opcode("OpBranch"), opcode("OpSwitch")


def make_reducible(d: Declarations, code: FunctionCode) -> None:
    """Give every loop one header, where it has none."""
    maker = _Maker(d, code)
    work = [(frozenset(_reached(code)), 0)]
    while work:
        inside, header = work.pop()
        for part in _components(code, inside, header):
            entries = _entries(code, part, _reached(code))
            if len(entries) == 1:
                work.append((part, entries[0]))
                continue
            header, made = maker.dispatch(entries)
            work.append((part | made, header))
    for block in code.blocks.values():
        block.merge = None  # the module's merge instruction does not apply to the new loop


def _components(code: FunctionCode, inside: Iterable[int], without: int) -> list[frozenset[int]]:
    """Strongly connected components that are loops, among some blocks (Tarjan's algorithm)."""
    left = {label for label in inside if label != without}
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found: list[frozenset[int]] = []
    for root in sorted(left):
        if root in number:
            continue
        path = [(root, iter(successors(code.blocks[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        waiting.add(root)
        while path:
            label, rest = path[-1]
            for following in rest:
                if following not in left:
                    continue
                if following not in number:
                    number[following] = low[following] = len(number)
                    stack.append(following)
                    waiting.add(following)
                    path.append((following, iter(successors(code.blocks[following]))))
                    break
                if following in waiting:
                    low[label] = min(low[label], number[following])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[label])
                if low[label] == number[label]:
                    part = frozenset(stack[stack.index(label) :])
                    del stack[-len(part) :]
                    waiting -= part
                    if len(part) > 1 or label in successors(code.blocks[label]):
                        found.append(part)
    return found


def _entries(code: FunctionCode, part: frozenset[int], reached: set[int]) -> list[int]:
    """The blocks of a loop that are entered from outside."""
    found = {code.first} & part
    for label in reached - part:
        found.update(part.intersection(successors(code.blocks[label])))
    return [label for label in code.blocks if label in found]


def _reached(code: FunctionCode) -> set[int]:
    seen: set[int] = set()
    work = [code.first]
    while work:
        label = work.pop()
        if label in code.blocks and label not in seen:
            seen.add(label)
            work.extend(successors(code.blocks[label]))
    return seen


class _Maker:
    """Creates blocks and ids of a function."""

    def __init__(self, d: Declarations, code: FunctionCode) -> None:
        self.code = code
        self.constants = d.constants
        self.number = SpvType("int", t.UINT, id=_NUMBER)
        d.types[_NUMBER] = self.number
        self.made = 0

    def id(self) -> int:
        self.made += 1
        return -1 - 2 * self.made

    def constant(self, n: int) -> int:
        id = -2 - 2 * n
        self.constants[id] = Constant(self.number, (n,))
        return id

    def block(self, end: Instruction) -> Block:
        block = Block(self.id(), end=end)
        self.code.blocks[block.label] = block
        return block

    def dispatch(self, entries: list[int]) -> tuple[int, set[int]]:
        """Create a header for a loop with several entries; returns the new blocks of the loop,
        header first.
        """
        code = self.code
        chosen = self.id()
        cases = [word for n, label in enumerate(entries) for word in (n, label)]
        choice = self.block(Instruction(_SWITCH, (chosen, entries[0], *cases[2:])))
        header = self.block(Instruction(_BRANCH, (choice.label,)))
        numbers: list[int] = []
        ways: set[int] = set()
        for n, entry in enumerate(entries):
            made: dict[int, int] = {}
            for block in list(code.blocks.values()):
                if block is choice or entry not in successors(block):
                    continue
                way = self.block(Instruction(_BRANCH, (header.label,)))
                made[block.label] = way.label
                numbers += [self.constant(n), way.label]
                _redirect(block, entry, way.label)
            ways.update(made.values())
            phis, code.blocks[entry].phis = code.blocks[entry].phis, []
            header.phis.extend(_through(phi, made) for phi in phis)
        header.phis.insert(0, Instruction(_PHI, (_NUMBER, chosen, *numbers)))
        return header.label, ways | {choice.label, header.label}


def _redirect(block: Block, old: int, new: int) -> None:
    """Make a block's terminator branch to `new` instead of `old`."""
    end = block.end
    assert end is not None
    words = list(end.words)
    for at in targets(block):
        if words[at] == old:
            words[at] = new
    block.end = Instruction(end.opcode, tuple(words), end.offset)


def _through(phi: Instruction, ways: dict[int, int]) -> Instruction:
    """The phi, with its predecessors replaced by the new blocks."""
    words = list(phi.words[:2])
    for value, parent in zip(phi.words[2::2], phi.words[3::2], strict=False):
        if parent in ways:
            words += [value, ways[parent]]
    return Instruction(phi.opcode, tuple(words), phi.offset)
