"""Passes before register allocation: compute values directly in message payloads, remove
dead ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Forwarding", "reader_counts"]


class Operand(Protocol):
    """A register, an immediate or the like; virtual registers are in the file `v`."""

    @property
    def file(self) -> str: ...
    @property
    def nr(self) -> int: ...
    @property
    def offset(self) -> int: ...


class Instruction(Protocol):
    """What forwarding must know about a machine's instruction."""

    dst: Any
    fresh: bool  # the destination's old contents are not read
    message: Any

    @property
    def srcs(self) -> Sequence[Operand]: ...


Instr = TypeVar("Instr", bound=Instruction)


def reader_counts(instrs: Iterable[Instruction]) -> dict[int, int]:
    """How often each virtual register is read."""
    found: dict[int, int] = {}
    for instr in instrs:
        for src in instr.srcs:
            if src.file == "v":
                found[src.nr] = found.get(src.nr, 0) + 1
    return found


class Forwarding(Generic[Instr]):
    """Computes a value that is only copied into a payload directly in the payload.

    add v1, a, b                  add v9+2, a, b
    mov v9+2, v1         =>
    send ... v9                   send ... v9

    A machine defines which instructions are copies, which instruction may write the copy's
    destination, and how. `near` limits how long before the message a payload may be written,
    since it is live from then on.
    """

    def __init__(
        self,
        near: int,
        is_copy: Callable[[Instr], bool],
        may_write: Callable[[Instr, Instr], bool],
        retarget: Callable[[Instr, Instr], None],
    ) -> None:
        self.near, self.is_copy = near, is_copy
        self.may_write, self.retarget = may_write, retarget

    def run(self, instrs: list[Instr], block_of: Sequence[int]) -> list[Instr]:
        """The instructions without copies that have become redundant."""
        moved = self._moved(instrs, block_of)
        if not moved:
            return instrs
        touched = {instrs[at].dst.nr for at in moved}
        kept = [instr for at, instr in enumerate(instrs) if at not in moved]
        seen: set[int] = set()
        for instr in kept:
            if instr.dst.file == "v" and instr.dst.nr in touched:
                instr.fresh = instr.dst.nr not in seen
                seen.add(instr.dst.nr)
        return kept

    def _moved(self, instrs: list[Instr], block_of: Sequence[int]) -> set[int]:
        """The copies whose sources are now computed in their destination."""
        writers: dict[int, list[int]] = {}
        readers: dict[int, list[int]] = {}
        for at, instr in enumerate(instrs):
            if instr.dst.file == "v":
                writers.setdefault(instr.dst.nr, []).append(at)
            for src in instr.srcs:
                if src.file == "v":
                    readers.setdefault(src.nr, []).append(at)
        moved: set[int] = set()
        for at, copy in enumerate(instrs):
            if not self.is_copy(copy):
                continue
            src, dst = copy.srcs[0], copy.dst
            made = writers.get(src.nr, [])
            if len(made) != 1 or len(readers[src.nr]) != 1 or src.offset or dst.nr == src.nr:
                continue
            maker, block = instrs[made[0]], block_of[at]
            fits = (
                block_of[made[0]] == block
                and at - self.near <= made[0] < at
                and maker.message is None
                and self.may_write(maker, copy)
                and not any(s.file == "v" and s.nr == dst.nr for s in maker.srcs)
            )
            # Only payloads that are built and sent in this block, so nothing else reads them in
            # between.
            local = all(block_of[k] == block and k >= at for k in readers.get(dst.nr, [])) and all(
                block_of[k] == block for k in writers[dst.nr]
            )
            if fits and local:
                self.retarget(maker, copy)
                moved.add(at)
                writers[dst.nr].append(made[0])
                writers[dst.nr].remove(at)
        return moved
