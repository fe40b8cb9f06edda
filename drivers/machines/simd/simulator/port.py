"""The ports of `send` instructions: components of 16 and 64 bits are packed in registers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.isa.messages import unpack
from gallette.drivers.machines.simd.isa.instruction import REG_BYTES, Instruction
from gallette.drivers.machines.simulator.threads import Threads, put
from gallette.drivers.machines.simulator.units import unit_step
from gallette.drivers.machines.simulator.units.port import Port, Step

from .alu import mask_of

Array = npt.NDArray[Any]


def send_step(instr: Instruction) -> Step:
    """The step that executes a message."""
    message = instr.message
    assert message is not None
    halves = max(1, instr.width // 8)
    port = SendPort(
        unpack(message.unit, message.desc),
        instr.srcs[1].nr,
        instr.dst.nr + instr.dst.offset // REG_BYTES if instr.dst.file == "g" else -1,
        message.result,
        halves,
        slice(instr.group // 8, instr.group // 8 + halves),
        instr.srcs[0].nr,
        mask_of(instr) if instr.width >= 8 else None,
        instr.no_mask,
    )
    return unit_step(message.unit, port)


class SendPort(Port):
    """A `send`, whose channels are bytes of a register."""

    def step_of(self, size: int) -> int:
        return max(1, self.halves * 8 * size // REG_BYTES)

    def wide(self, m: Threads, first: int, size: int) -> Array:
        if size == 4:
            return m.words[self.payload + first : self.payload + first + self.halves]
        registers = self.step_of(size)
        start = self.payload + first
        rows = np.ascontiguousarray(m.words[start : start + registers].transpose(1, 0, 2))
        flat = rows.reshape(m.count, -1).view(f"u{size}")[:, : self.halves * 8]
        return flat.reshape(m.count, self.halves, 8).transpose(1, 0, 2)

    def answer_wide(
        self, m: Threads, first: int, value: Array, size: int, mask: Array | None
    ) -> None:
        if size == 4:
            self.land(m, first, self.halves, value, mask)
            return
        registers = self.step_of(size)
        start = self.dst + first
        shape = (self.halves, m.count, 8)
        by_thread = np.broadcast_to(value, shape).transpose(1, 0, 2).reshape(m.count, -1)
        rows = np.ascontiguousarray(m.words[start : start + registers].transpose(1, 0, 2))
        flat = rows.reshape(m.count, -1).view(f"u{size}")
        if mask is not None:
            mask = np.broadcast_to(mask, shape).transpose(1, 0, 2).reshape(m.count, -1)
        put(flat[:, : by_thread.shape[1]], by_thread, mask)
        back = flat.view(np.uint32).reshape(m.count, registers, 8)
        m.words[start : start + registers] = back.transpose(1, 0, 2)
