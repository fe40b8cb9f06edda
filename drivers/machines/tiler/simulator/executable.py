"""Executable code of the tiler: 64-bit instructions as blocks of steps, waves of 64 channels.

A texture's reply may be late (`texture_writes="late"`): it arrives some instructions later, or when
an instruction with (sy) waits for it. A value written to the same register in between is
overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.machines.isa.messages import unpack
from gallette.drivers.machines.simulator import executable
from gallette.drivers.machines.simulator.executable import (
    Block,
    ExecutableFacts,
    Leave,
    first_waiting,
    loop_back_edge,
)
from gallette.drivers.machines.simulator.threads import DONE, Threads, put
from gallette.drivers.machines.simulator.units import unit_step
from gallette.drivers.machines.simulator.units.port import Port, Step
from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand
from gallette.drivers.machines.tiler.isa.table import ISA

from .alu import WAVE, alu_step, kill_step

Array = npt.NDArray[Any]
TextureWrites: TypeAlias = Literal["late", "in_order"]
LANDING = 24
"""Instructions after which a late answer arrives if none waits for it."""


@lazy_dataclass()
class _Answer:
    """The registers of a texture operation in flight."""

    first: int
    bits: Array
    mask: Array | None
    left: int = LANDING


@dataclass
class WavePort(Port):
    """A message of the tiler."""

    late: bool = False

    def value(self, m: Threads, k: int, dtype: Any = np.uint32) -> Array:
        if not self.fields.get("half"):
            return super().value(m, k, dtype)
        row = self.payload + k // 2
        halves = m.words[row : row + 1].view(np.float16)[:, :, k % 2 :: 2]
        found: Array = halves.astype(np.float32).view(dtype)
        return found

    def land(self, m: Threads, first: int, count: int, bits: Array, mask: Array | None) -> None:
        if not self.late:
            super().land(m, first, count, bits, mask)
            return
        shape = (count, m.count, WAVE)
        mask = None if mask is None else mask.copy()
        m.pending.append(_Answer(self.dst + first, np.array(np.broadcast_to(bits, shape)), mask))


class Executable(executable.Executable[Instruction]):
    """A program in the machine's memory."""

    isa = ISA
    width = channels = WAVE

    def __init__(
        self, words: list[int], facts: ExecutableFacts, texture_writes: TextureWrites = "late"
    ) -> None:
        self.texture_writes = texture_writes
        super().__init__(words, facts)

    def leave(self, instr: Instruction, at: int) -> Leave | None:
        return _leave(instr, at) if instr.op.kind == "flow" else None

    def steps(self, code: Sequence[Instruction]) -> list[Step]:
        steps: list[Step] = []
        for instr in code:
            if instr.sy and self.texture_writes == "late":
                steps.append(self.deliver_results)
            if instr.op.kind != "nop":
                steps.append(self._step(instr))
        return steps

    def _step(self, instr: Instruction) -> Step:
        if instr.op.kind == "kill":
            return kill_step(instr)
        message = instr.message
        if message is None:
            return alu_step(instr)
        port = WavePort(
            unpack(message.unit, message.desc),
            instr.srcs[0].nr,
            instr.dst.nr if instr.dst.file == "r" else -1,
            message.result,
            mask_for=_mask,
            late=message.unit == "sampler" and self.texture_writes == "late",
        )
        return unit_step(message.unit, port)

    # -- late results ------------------------------------------------------------------------------

    def execute(self, block: Block, m: Threads) -> None:
        for step in block.steps:
            if m.pending:
                _tick(m)
            step(m)

    def deliver_results(self, m: Threads) -> None:
        for answer in m.pending:
            _put(m, answer)
        m.pending.clear()

    def register_name(self, nr: int) -> str:
        return f"{ISA.operand_text(Operand('r', nr)):<6}"


def _mask(m: Threads) -> Array | None:
    return m.mask


def _put(m: Threads, answer: _Answer) -> None:
    put(m.words[answer.first : answer.first + len(answer.bits)], answer.bits, answer.mask)


def _tick(m: Threads) -> None:
    """Advance by an instruction: replies that have been in flight long enough arrive."""
    for answer in m.pending:
        answer.left -= 1
    while m.pending and m.pending[0].left < 0:
        _put(m, m.pending.pop(0))


# -- flow ------------------------------------------------------------------------------------------


def _leave(instr: Instruction, at: int) -> Leave:
    name, target = instr.op.name, instr.target
    if name == "end":

        def end(m: Threads) -> int:
            m.park(m.running(), DONE)
            return first_waiting(m, at + 1)

        return end
    if name == "jump":
        if target <= at:
            return lambda m: loop_back_edge(m, at, target)

        def jump(m: Threads) -> int:
            m.park(m.running(), target)
            return first_waiting(m, at + 1)

        return jump
    if target <= at:
        raise ValueError("a branch with a predicate goes forward")
    chosen = _dead_quads if name == "brdead" else _predicated

    def branch(m: Threads) -> int:
        m.park(chosen(m, instr), target)
        return first_waiting(m, at + 1)

    return branch


def _predicated(m: Threads, instr: Instruction) -> Array:
    value = m.flags[instr.pred]
    found: Array = m.running() & (~value if instr.inverse else value)
    return found


def _dead_quads(m: Threads, instr: Instruction) -> Array:
    mask = m.running()
    quads = (mask & m.flags[instr.pred]).reshape(-1, 4).any(axis=1)
    found: Array = mask & ~np.repeat(quads, 4).reshape(mask.shape)
    return found
