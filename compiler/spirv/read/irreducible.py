"""Gives loops with several entries a single header, which dispatches to the entries.

    A -> B, A -> C, B -> C, C -> B          # B and C are a loop without a header
    A -> way1 -> H, A -> way2 -> H, H -> B or C by a number, B -> way3 -> H, C -> way4 -> H

The `way`s are new blocks, one for each edge; the new header has a phi for the number of the entry,
and the phis of the entries, to which ways to other entries contribute their current value. New ids
are negative, which no id of a module is.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import types as t
from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.model import (
    Block,
    Constant,
    FunctionCode,
    SpvType,
    successors,
    targets,
)

_NUMBER = -1  # type id of an entry's number
_PHI, _BRANCH, _SWITCH = opcode("OpPhi"), opcode("OpBranch"), opcode("OpSwitch")


def add_header(d: Declarations, code: FunctionCode, entries: list[int]) -> None:
    """Give one header to a loop that is entered at several blocks."""
    code.redirected = True
    number = d.types[_NUMBER] = SpvType("int", t.UINT, id=_NUMBER)
    chosen = min(_NUMBER, *code.blocks) - 2  # ids of new constants are even, all others odd

    def new_block(end: Instruction) -> Block:
        label = min(_NUMBER, *code.blocks) - 2
        made = code.blocks[label] = Block(label, end=end)
        return made

    old = list(code.blocks.values())
    cases = [word for n, label in enumerate(entries) for word in (n, label)]
    choice = new_block(Instruction(_SWITCH, (chosen, entries[0], *cases[2:])))
    header = new_block(Instruction(_BRANCH, (choice.label,)))
    numbers: list[int] = []
    for n, entry in enumerate(entries):
        d.constants[-2 - 2 * n] = Constant(number, (n,))
        ways: dict[int, int] = {}
        for block in old:
            if entry in successors(block):
                way = new_block(Instruction(_BRANCH, (header.label,))).label
                ways[block.label] = way
                numbers += [-2 - 2 * n, way]
                _redirect(block, entry, way)
        phis, code.blocks[entry].phis = code.blocks[entry].phis, []
        header.phis.extend(_through(phi, ways) for phi in phis)
    header.phis.insert(0, Instruction(_PHI, (_NUMBER, chosen, *numbers)))


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
