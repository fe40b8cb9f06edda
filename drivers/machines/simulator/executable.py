"""Executable code: instructions decoded into blocks of steps, and the loop that runs them.

A machine defines how an instruction is decoded, executed and printed, and how a block ends. All
threads of a launch run together, at the program counter of their first channels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.work import ShaderBudgetError
from gallette.drivers.machines.isa.instruction import Instruction
from gallette.drivers.machines.isa.messages import Place
from gallette.drivers.machines.isa.table import Isa

from .launch import Launch
from .threads import DONE, RUNNING, MachineHangError, Threads
from .units.port import Step

Instr = TypeVar("Instr", bound=Instruction)
Leave: TypeAlias = Callable[[Threads], int]
"""Executes a branch; returns the number of the next instruction."""


def first_waiting(m: Threads, next: int) -> int:
    """The instruction to continue at: `next` if any channel is active there, else the lowest
    program counter of the channels that wait.
    """
    if m.active:
        return next
    return min(m.waiting, default=DONE)


@lazy_dataclass()
class Block:
    """A basic block."""

    number: int
    steps: list[Step]
    leave: Leave | None
    start: int
    stop: int


@lazy_dataclass(frozen=True, kw_only=True)
class ExecutableFacts:
    """Facts about a program that a launch needs, besides its instructions."""

    registers: int
    scratch: int = 0  # scratch registers per thread, for spills
    private: int = 0  # bytes of memory per channel, for arrays
    has_barriers: bool = False
    patch_size: int = 1
    places: tuple[tuple[Place, int], ...] = ()  # outputs of an emitted vertex, with their bit sizes


class Executable(ABC, Generic[Instr]):
    """A program in a machine's memory."""

    isa: ClassVar[Isa[Any]]
    width = 8  # channels of a thread
    channels = 8  # channels of a register

    def __init__(self, words: list[int], facts: ExecutableFacts) -> None:
        self.words = words
        self.facts = facts
        self.registers, self.scratch, self.private = facts.registers, facts.scratch, facts.private
        self.has_barriers, self.patch_size = facts.has_barriers, facts.patch_size
        self.places = facts.places
        self.code: list[Instr] = [self.isa.decode(word) for word in words]
        self._blocks = self._cut(self.code)
        self.block_count = len(self._blocks)

    # -- machine-dependent parts -------------------------------------------------------------------

    @abstractmethod
    def leave(self, instr: Instr, at: int) -> Leave | None:
        """The function that executes the branch ending a block; None if the block falls through."""

    @abstractmethod
    def steps(self, code: Sequence[Instr]) -> list[Step]:
        """The steps of a basic block."""

    @abstractmethod
    def register_name(self, nr: int) -> str:
        """A register's name."""

    def prepare(self, words: npt.NDArray[np.uint32], constants: npt.NDArray[Any]) -> None:
        """Set the initial contents of registers."""

    def deliver_results(self, m: Threads) -> None:
        """Deliver results that are still in flight to the threads' registers."""

    def execute(self, block: Block, m: Threads) -> None:
        """Run the steps of a block."""
        for step in block.steps:
            step(m)

    # -- running -----------------------------------------------------------------------------------

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First and one past the last instruction of every block."""
        return [(b.start, b.stop) for b in self._blocks.values()]

    def group_of(self, launch: Launch) -> Any:
        """The workgroup of every lane, numbered from the launch's first."""
        axes = [np.asarray(launch.lanes.system("workgroup_id", axis)) for axis in range(3)]
        places = np.stack([np.broadcast_to(axis, launch.count) for axis in axes])
        changes = np.any(places[:, 1:] != places[:, :-1], axis=0)
        return np.concatenate([[0], np.cumsum(changes)])

    def start(self, launch: Launch) -> None:
        """Run a launch to its end."""
        try:
            with np.errstate(all="ignore"):
                self.run(launch.root, 0, DONE)
        except MachineHangError:
            raise
        except ShaderBudgetError as error:
            text = f"{error}\n{self.report(launch.root, launch.at)}"
            raise MachineHangError(text) from error

    def run(self, m: Threads, at: int, until: int) -> None:
        """Execute from `at` until the first channels reach `until` or an instruction after it."""
        blocks, launch = self._blocks, m.launch
        visits = launch.visits
        while at < until:
            if at in m.waiting:
                m.arrive(at)
            block = blocks.get(at)
            if block is None:
                return
            launch.at = at
            visits[block.number] += m.thread_count()
            self.execute(block, m)
            at = block.stop if block.leave is None else block.leave(m)

    def _cut(self, code: Sequence[Instr]) -> dict[int, Block]:
        """Straight runs of instructions: a branch ends one, a branch's target begins one."""
        branches = [(at, instr) for at, instr in enumerate(code) if instr.op.kind == "flow"]
        starts = {0, *(at + 1 for at, _ in branches), *(instr.target for _, instr in branches)}
        ordered = sorted(start for start in starts if start < len(code))
        found: dict[int, Block] = {}
        for number, start in enumerate(ordered):
            stop = ordered[number + 1] if number + 1 < len(ordered) else len(code)
            end = self.leave(code[stop - 1], stop - 1) if stop > start else None
            body = code[start : stop - (end is not None)]
            found[start] = Block(number, self.steps(body), end, start, stop)
        return found

    def report(self, m: Threads, at: int) -> str:
        """Program counter, mask and registers of the first thread that is still running."""
        running = m.running().any(axis=(0, 2))
        thread = int(np.argmax(running)) if running.any() else 0
        mask = m.running()[:, thread].reshape(-1)
        bits = sum(1 << k for k, on in enumerate(mask.tolist()) if on)
        digits = max(4, len(mask) // 4)
        lines = [
            f"thread {thread} of {m.count}: pc {at}, execution mask {bits:#0{digits + 2}x}",
            f"  {at:4}: {self.isa.line(self.code[at])}" if at < len(self.code) else "",
        ]
        values: Any = m.words[:, thread]
        for nr, row in enumerate(values.tolist()):
            if any(row):
                lines.append(f"  {self.register_name(nr)} " + " ".join(f"{w:08x}" for w in row[:8]))
        return "\n".join(lines)


_LEAST = 64
"""With fewer threads than this, copying the remaining ones costs more than it saves."""

_INSTRUCTION = 4096
"""The cost of an instruction besides its lanes, in the units of `work`: a Python call or two."""


def loop_back_edge(m: Threads, at: int, target: int) -> int:
    """Move the active channels from `at` back to `target`; returns the next instruction."""
    if not m.active:
        return first_waiting(m, at + 1)
    m.launch.resources.work.spend((at - target + 1) * _INSTRUCTION + m.active)
    if m.count >= _LEAST and m.waiting and not m.launch.executable.has_barriers:
        busy = m.threads()
        if busy is not None and int(np.count_nonzero(busy)) * 2 <= m.count:
            _separately(m, np.flatnonzero(busy), target)
            return first_waiting(m, at + 1)
    return target


def _separately(m: Threads, chosen: npt.NDArray[Any], target: int) -> None:
    """Run the few threads that are still in the loop without the many that have left it."""
    executable = m.launch.executable
    executable.deliver_results(m)
    part = m.take(chosen)
    executable.run(part, target, min(m.waiting))
    executable.deliver_results(part)
    assert not (part.pc == RUNNING).any()
    m.put(chosen, part)
