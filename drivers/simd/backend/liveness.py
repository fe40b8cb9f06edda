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
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gallette.drivers.common.machine.colouring import bits_of
from gallette.drivers.simd.isa.instruction import Instruction
from gallette.drivers.simd.isa.types import REG_BYTES

from .code import Code, set_targets

__all__ = ["BlockRange", "LiveRanges", "Liveness", "layout_key", "layouts"]

LiveRanges: TypeAlias = Literal["naive", "loop_extended", "mask_aware"]
Key = tuple[int, int]


@dataclass(slots=True)
class BlockRange:
    """A basic block, and the values live around it (bit masks of registers)."""

    start: int
    stop: int
    next: list[int] = field(default_factory=list)
    uses: int = 0
    kills: int = 0
    live_in: int = 0
    live_out: int = 0
    parked: int = 0


class Liveness:
    """Live ranges of code under one of the three settings."""

    def __init__(self, code: Code, ranges: LiveRanges) -> None:
        self.code = code
        self.ranges = ranges
        set_targets(code.instrs)
        self.blocks = _blocks(code.instrs)
        self._solve()
        if ranges != "naive":
            self._park(ranges == "mask_aware")
        self.key, alike = layouts(code)
        everything = (1 << len(code.sizes)) - 1
        self.unlike = {nr: everything & ~alike.get(key, 0) for nr, key in self.key.items()}

    def _solve(self) -> None:
        instrs = self.code.instrs
        for block in self.blocks.values():
            uses = kills = 0
            for instr in instrs[block.start : block.stop]:
                for src in instr.srcs:
                    if src.file == "v" and not kills >> src.nr & 1:
                        uses |= 1 << src.nr
                if instr.dst.file == "v" and instr.fresh and not _predicated(instr):
                    kills |= 1 << instr.dst.nr
            block.uses, block.kills = uses, kills
        order = sorted(self.blocks.values(), key=lambda b: -b.start)
        changed = True
        while changed:
            changed = False
            for block in order:
                out = 0
                for at in block.next:
                    out |= self.blocks[at].live_in
                live = block.uses | out & ~block.kills
                if out != block.live_out or live != block.live_in:
                    block.live_out, block.live_in = out, live
                    changed = True

    def _park(self, together: bool) -> None:
        """Find the values that waiting channels need; `together` excludes branches that are
        uniform.
        """
        instrs = self.code.instrs
        for first, last, waiting in _constructs(instrs, together):
            needed = 0
            for at in waiting:
                if at in self.blocks:
                    needed |= self.blocks[at].live_in
            for block in self.blocks.values():
                if first <= block.start <= last:
                    block.parked |= needed

    def against(self, block: BlockRange, instr: Instruction, live: int) -> int:
        """Everything that the destination of `instr` must not share a register with."""
        nr = instr.dst.nr
        found = live
        if block.parked:
            if self.ranges == "mask_aware":
                found |= block.parked & self.unlike[nr]
            else:
                found |= block.parked
        if instr.message is not None:  # the answer may arrive while the payload is still read
            for src in instr.srcs:
                if src.file == "v":
                    found |= 1 << src.nr
        return found & ~(1 << nr)

    def backwards(self, block: BlockRange) -> Iterator[tuple[Instruction, int]]:
        """Instructions of a block from its end, each with the values live after it."""
        live = block.live_out
        for instr in reversed(self.code.instrs[block.start : block.stop]):
            yield instr, live
            if instr.dst.file == "v" and instr.fresh and not _predicated(instr):
                live &= ~(1 << instr.dst.nr)
            for src in instr.srcs:
                if src.file == "v":
                    live |= 1 << src.nr

    def pressure(self) -> int:
        """The maximum number of live registers."""
        sizes, most = self.code.sizes, 0
        for block in self.blocks.values():
            for _, live in self.backwards(block):
                most = max(most, sum(sizes[nr] for nr in bits_of(live)))
        return most


def _predicated(instr: Instruction) -> bool:
    return bool(instr.pred) and instr.op.kind != "select"


def _blocks(instrs: list[Instruction]) -> dict[int, BlockRange]:
    starts = {0}
    for at, instr in enumerate(instrs):
        if instr.op.kind == "flow":
            starts.add(at + 1)
            if instr.op.name in ("else", "endif", "while"):
                starts.add(at)
            if instr.op.name not in ("endif", "do"):
                starts.add(instr.target)
    ordered = sorted(at for at in starts if at <= len(instrs))
    found: dict[int, BlockRange] = {}
    for number, start in enumerate(ordered):
        stop = ordered[number + 1] if number + 1 < len(ordered) else len(instrs)
        if start == stop and start != len(instrs):
            continue
        block = found[start] = BlockRange(start, stop)
        last = instrs[stop - 1] if stop > start else None
        name = last.op.name if last is not None and last.op.kind == "flow" else ""
        if last is None:
            continue
        falls = name not in ("else", "while", "halt") and not (
            name in ("break", "cont") and not last.pred
        )
        if falls and stop < len(instrs):
            block.next.append(stop)
        if name in ("if", "else", "while", "break", "cont") and last.pred != "!":
            block.next.append(last.target)
    return found


def _constructs(
    instrs: list[Instruction], together: bool
) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """First and last instruction of a body, and where channels outside it wait."""
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
    """Where a write puts its channels: bytes of a channel, and the position of channel 0.

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
