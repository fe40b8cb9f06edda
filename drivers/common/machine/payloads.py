"""Values made where a message wants them, and what nobody reads dropped: before allocation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Forwarding", "reader_counts"]


class Operand(Protocol):
    """A register, an immediate or the like; the file of virtual registers is `v`."""

    @property
    def file(self) -> str: ...
    @property
    def nr(self) -> int: ...
    @property
    def offset(self) -> int: ...


class Instruction(Protocol):
    """What forwarding must know of a machine's instruction."""

    dst: Any
    fresh: bool  # nothing of what its destination held is kept
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
    """A value made only to be copied into a payload is made there.

    add v1, a, b                  add v9+2, a, b
    mov v9+2, v1         =>
    send ... v9                   send ... v9

    A machine says what a copy is, which instruction may write in place of which copy, and how.
    `near`: a payload is not begun earlier than this before it is sent, since it would fill
    registers till then.
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
        """The instructions without the copies that have become needless."""
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
        """Copies whose values are made in their place from now on."""
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
            # Only registers gathered and sent in this block: nobody looks at them meanwhile.
            local = all(block_of[k] == block and k >= at for k in readers.get(dst.nr, [])) and all(
                block_of[k] == block for k in writers[dst.nr]
            )
            if fits and local:
                self.retarget(maker, copy)
                moved.add(at)
                writers[dst.nr].append(made[0])
                writers[dst.nr].remove(at)
        return moved
