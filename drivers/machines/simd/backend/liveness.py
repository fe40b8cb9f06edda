"""Live ranges on a machine whose channels diverge: three answers to one question.

Which virtual registers may share a register? Plain liveness asks which values are needed on the
path of *one* channel: from a definition to its uses. A thread, however, executes all paths.
Channels that left a loop by `break` wait after it while the others iterate, and their values must
survive what the others execute meanwhile:

    do
      v = ...               ; needed after the loop
      (+f0) break           ; some channels leave and wait, with their v live
      h = header (nomask)   ; plain liveness: v is dead here, h may take its register
      t = send h ...        ; ... and all channels of v are overwritten
    while
    use v

Channels that executed `then` wait in the same way while `else` executes, as do those that executed
`cont`. The structure shows which values wait: `parked` of a block are the values that channels
outside may still need. Ordinary instructions write only their own channel; so two values of the
same layout may share a register even so. Instructions that ignore the mask, and values with a
different channel layout (64 or 16 bits, one half of SIMD16), may not.

* `naive`: plain liveness, which is wrong.
* `loop_extended`: a value needed after a construct, or at a loop's head, is live in all of it.
* `mask_aware`: like `loop_extended`, but only against values that write other channels, and not
  where all channels branch together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from gallette.drivers.machines.backend.code import Block
from gallette.drivers.machines.backend.liveness import Liveness
from gallette.drivers.machines.simd.isa.instruction import REG_BYTES, Instruction

if TYPE_CHECKING:
    from .code import Code

LiveRanges: TypeAlias = Literal["naive", "loop_extended", "mask_aware"]
Key = tuple[int, int]


class MaskedLiveness(Liveness[Instruction]):
    """Live ranges of a code, under its setting or another one."""

    def __init__(self, code: Code, ranges: LiveRanges | None = None) -> None:
        super().__init__(code)
        self.ranges = ranges or code.live_ranges
        if self.ranges != "naive":
            self._park(self.ranges == "mask_aware")
        keys, alike = layouts(code)
        everything = (1 << len(code.sizes)) - 1
        self.unlike = {nr: everything & ~alike.get(key, 0) for nr, key in keys.items()}

    def _park(self, together: bool) -> None:
        """The values that waiting channels need; `together` excludes branches at which channels do
        not diverge.
        """
        for first, last, waiting in _constructs(self.instrs, together):
            needed = 0
            for at in waiting:
                if at in self.blocks:
                    needed |= self.blocks[at].live_in
            for block in self.blocks.values():
                if first <= block.start <= last:
                    block.parked |= needed

    def against(self, block: Block, instr: Instruction, live: int) -> int:
        parked = block.parked
        if parked and self.ranges == "mask_aware":
            parked &= self.unlike[instr.dst.nr]
        return super().against(block, instr, live | parked)


def _constructs(
    instrs: list[Instruction], together: bool
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """The first and last instruction of a body, and where channels outside it wait."""
    stack: list[tuple[int, bool]] = []
    continues: list[bool] = []
    for at, instr in enumerate(instrs):
        name = instr.op.name
        if name in ("if", "do"):
            stack.append((at, instr.uniform))
            if name == "do":
                continues.append(False)
        elif name == "cont":
            continues[-1] = True
        elif name == "else":
            start, uniform = stack.pop()
            if not (together and uniform):
                yield start + 1, at, (at + 1,)
            stack.append((at, uniform))
        elif name == "endif":
            start, uniform = stack.pop()
            if not (together and uniform):
                yield start + 1, at - 1, (at,)
        elif name == "while":
            start, uniform = stack.pop()
            continued = continues.pop()
            if not (together and uniform and not continued):
                yield start + 1, at, (start + 1, at + 1)


def layout_key(instr: Instruction, width: int) -> Key | None:
    """How a write places its channels: bytes of a channel, and the position of channel 0.

    None for writes that ignore the mask, since they write all channels.
    """
    if instr.no_mask or instr.width == 1:
        return None
    size = instr.dst.type.size * instr.dst.stride
    component = max(REG_BYTES, width * size)
    return size, (instr.dst.offset - instr.group * size) % component


def layouts(code: Code) -> tuple[dict[int, Key | None], dict[Key | None, int]]:
    """The layout of each register, and by layout a mask of the registers that have it."""
    found: dict[int, Key | None] = {}
    for instr in code.instrs:
        if instr.dst.file == "v":
            nr, key = instr.dst.nr, layout_key(instr, code.width)
            if found.setdefault(nr, key) != key:
                found[nr] = None
    alike: dict[Key | None, int] = {}
    for nr, key in found.items():
        if key is not None:
            alike[key] = alike.get(key, 0) | 1 << nr
    return found, alike
