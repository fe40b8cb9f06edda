"""Code ready to run: 128-bit instructions decoded into blocks of steps, and the loop over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gallette.drivers.common.work import ShaderBudgetError
from gallette.drivers.simd.isa.assembly import line_of
from gallette.drivers.simd.isa.encoding import decode
from gallette.drivers.simd.isa.instruction import Instruction

from .alu import Step, alu_step
from .flow import Leave, leave
from .launch import Launch, Place
from .threads import DONE, Threads
from .units import send_step

__all__ = ["Executable", "MachineHangError"]


class MachineHangError(ShaderBudgetError):
    """The machine stopped making progress: where, with which channels and registers."""


@dataclass(slots=True)
class _Block:
    number: int
    steps: list[Step]
    leave: Leave | None
    start: int
    stop: int


@dataclass
class Executable:
    """A program in the machine's memory."""

    words: list[int]
    width: int
    constants: range  # registers that hold constants
    registers: int
    scratch: int = 0  # registers of scratch per thread, for spills
    private: int = 0  # bytes of memory per channel, for arrays
    has_barriers: bool = False
    patch_size: int = 1
    places: tuple[tuple[Place, int], ...] = ()  # of an emitted vertex's values, with their bits
    code: list[Instruction] = field(default_factory=list)
    block_count: int = 0

    def __post_init__(self) -> None:
        self.code = [decode(word) for word in self.words]
        self._blocks = _blocks(self.code, self.constants)
        self.block_count = len(self._blocks)

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First and one past the last instruction of every block."""
        return [(b.start, b.stop) for b in self._blocks.values()]

    def group_of(self, launch: Launch) -> Any:
        """The workgroup of every lane, counted from the launch's first."""
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
            raise MachineHangError(f"{error}\n{report(launch.root, launch.at)}") from error

    def run(self, m: Threads, at: int, until: int) -> None:
        """Execute from `at` on until the first channels are at `until` or behind it."""
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
            for step in block.steps:
                step(m)
            at = block.stop if block.leave is None else block.leave(m)


def _blocks(code: Sequence[Instruction], constants: range) -> dict[int, _Block]:
    """Straight runs of instructions: a branch ends one, a branch's target begins one."""
    starts = {0}
    for at, instr in enumerate(code):
        if instr.op.kind == "flow":
            starts.add(at + 1)
            starts.add(instr.target)
            if instr.op.name in ("else", "endif", "while"):
                starts.add(at)
    ordered = sorted(s for s in starts if 0 <= s < len(code))
    found: dict[int, _Block] = {}
    for number, start in enumerate(ordered):
        stop = ordered[number + 1] if number + 1 < len(ordered) else len(code)
        body = list(code[start:stop])
        end: Leave | None = None
        if body and body[-1].op.kind == "flow":
            end = leave(body.pop(), stop - 1)
        steps = [_step(instr, constants) for instr in body if instr.op.kind != "none"]
        found[start] = _Block(number, steps, end, start, stop)
    return found


def _step(instr: Instruction, constants: range) -> Step:
    return send_step(instr) if instr.message is not None else alu_step(instr, constants)


def report(m: Threads, at: int) -> str:
    """Program counter, mask and registers of the first thread that still runs."""
    code = m.launch.executable.code
    running = m.running().any(axis=(0, 2))
    thread = int(np.argmax(running)) if running.any() else 0
    mask = m.running()[:, thread].reshape(-1)
    bits = sum(1 << k for k, on in enumerate(mask.tolist()) if on)
    lines = [
        f"thread {thread} of {m.count}: pc {at}, execution mask {bits:#06x}",
        f"  {at:4}: {line_of(code[at])}" if at < len(code) else "",
    ]
    values: Any = m.words[:, thread]
    for nr, row in enumerate(values.tolist()):
        if any(row):
            lines.append(f"  g{nr:<3} " + " ".join(f"{word:08x}" for word in row))
    return "\n".join(lines)
