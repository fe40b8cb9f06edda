"""Where a message meets the registers: its payload, its channels, its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.simd.isa.instruction import Instruction
from gallette.drivers.simd.isa.types import REG_BYTES
from gallette.drivers.simd.machine.alu import mask_of
from gallette.drivers.simd.machine.launch import LIVE_FLAG
from gallette.drivers.simd.machine.threads import Threads

__all__ = ["Port", "each"]

Array = npt.NDArray[Any]


class Port:
    """One `send` instruction, as its unit sees it."""

    def __init__(self, instr: Instruction, fields: dict[str, int]) -> None:
        self.fields = fields
        self.width = instr.width
        self.halves = max(1, instr.width // 8)
        self.half = slice(instr.group // 8, instr.group // 8 + self.halves)
        self.header = instr.srcs[0].nr
        self.payload = instr.srcs[1].nr
        self.dst = instr.dst.nr + instr.dst.offset // REG_BYTES if instr.dst.file == "g" else -1
        message = instr.message
        assert message is not None
        self.end = message.end
        self.result = message.result
        self.mask_for = mask_of(instr) if instr.width >= 8 else None
        self.no_mask = instr.no_mask

    def __getitem__(self, field: str) -> int:
        return self.fields[field]

    # -- payload -----------------------------------------------------------------------------------

    def value(self, m: Threads, k: int, dtype: Any = np.uint32) -> Array:
        """32-bit component `k` of the payload: `(half, thread, channel)`."""
        first = self.payload + k * self.halves
        found: Array = m.words[first : first + self.halves].view(dtype)
        return found

    def wide(self, m: Threads, first: int, size: int) -> Array:
        """The component that begins `first` registers into the payload, `size` bytes a channel."""
        if size == 4:
            return m.words[self.payload + first : self.payload + first + self.halves]
        registers = self.halves * 8 * size // REG_BYTES or 1
        start = self.payload + first
        rows = np.ascontiguousarray(m.words[start : start + registers].transpose(1, 0, 2))
        flat = rows.reshape(m.count, -1).view(f"u{size}")[:, : self.halves * 8]
        return flat.reshape(m.count, self.halves, 8).transpose(1, 0, 2)

    def step_of(self, size: int) -> int:
        """Registers that a component of `size` bytes a channel takes."""
        return max(1, self.halves * 8 * size // REG_BYTES)

    def word(self, m: Threads, k: int) -> Array:
        """Word `k` of the header, by thread."""
        found: Array = m.words[self.header, :, k]
        return found

    # -- channels ----------------------------------------------------------------------------------

    def channels(self, m: Threads, live: bool = False) -> Array | None:
        """Channels that take part (None: all there are registers for); `live` ones only."""
        mask = self.mask_for(m) if self.mask_for is not None else None
        if live:
            alive = m.flags[LIVE_FLAG][self.half]
            return alive if mask is None else mask & alive
        return mask

    def lanes(self, m: Threads, live: bool = False) -> Array:
        """Channels that take part and were dispatched, as an array."""
        mask = self.channels(m, live)
        there = m.channels(m.launch.dispatched)[self.half]
        return there if mask is None else mask & there

    # -- answers -----------------------------------------------------------------------------------

    def answer(self, m: Threads, k: int, value: Array, mask: Array | None) -> None:
        """Component `k` of the answer: a scalar or `(half, thread, channel)` of 32 bits."""
        first = self.dst + k * self.halves
        target = m.words[first : first + self.halves]
        bits = value if value.dtype == np.uint32 else value.view(np.uint32)
        if mask is None:
            target[...] = bits
        else:
            np.copyto(target, bits, where=mask)

    def answer_wide(
        self, m: Threads, first: int, value: Array, size: int, mask: Array | None
    ) -> None:
        """The same `first` registers into the destination for other sizes."""
        if size == 4:
            target = m.words[self.dst + first : self.dst + first + self.halves]
            if mask is None:
                target[...] = value
            else:
                np.copyto(target, value, where=mask)
            return
        registers = self.step_of(size)
        start = self.dst + first
        shape = (self.halves, m.count, 8)
        by_thread = np.broadcast_to(value, shape).transpose(1, 0, 2).reshape(m.count, -1)
        rows = np.ascontiguousarray(m.words[start : start + registers].transpose(1, 0, 2))
        flat = rows.reshape(m.count, -1).view(f"u{size}")
        part = flat[:, : by_thread.shape[1]]
        if mask is None:
            part[...] = by_thread
        else:
            chosen = np.broadcast_to(mask, shape).transpose(1, 0, 2).reshape(m.count, -1)
            np.copyto(part, by_thread, where=chosen)
        back = flat.view(np.uint32).reshape(m.count, registers, 8)
        m.words[start : start + registers] = back.transpose(1, 0, 2)


def each(index: Array, bound: Sequence[Any], run: Callable[[Any, Array | slice], None]) -> None:
    """Call `run` per distinct index with what is bound there and the lanes that name it."""
    first = int(index[0]) if index.size else 0
    if index.size and (index == first).all():
        run(bound[first] if 0 <= first < len(bound) else None, slice(None))
        return
    for at in np.unique(index).tolist():
        mine = np.flatnonzero(index == at)
        run(bound[at] if 0 <= at < len(bound) else None, mine)
