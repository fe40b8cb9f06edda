"""A message's access to registers: its payload, its channels, its reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.isa.messages import LIVE_FLAG
from gallette.drivers.machines.simulator.threads import Threads, put

Array = npt.NDArray[Any]
Step: TypeAlias = Callable[[Threads], None]
"""Executes one instruction for all threads."""
MaskFor: TypeAlias = Callable[[Threads], "Array | None"]


@dataclass
class Port:
    """One message instruction, as its unit sees it."""

    fields: dict[str, int]
    payload: int  # first register of the payload
    dst: int  # first register of the answer; -1 if there is none
    result: int = 0  # registers of the answer
    halves: int = 1  # registers of a component
    half: slice = field(default_factory=lambda: slice(0, 1))  # of the active threads
    header: int = 0
    mask_for: MaskFor | None = None
    no_mask: bool = False

    def __getitem__(self, field: str) -> int:
        return self.fields[field]

    # -- payload -----------------------------------------------------------------------------------

    def value(self, m: Threads, k: int, dtype: Any = np.uint32) -> Array:
        """32-bit component `k` of the payload: `(half, thread, channel)`."""
        first = self.payload + k * self.halves
        found: Array = m.words[first : first + self.halves].view(dtype)
        return found

    def wide(self, m: Threads, first: int, size: int) -> Array:
        """The component of `size` bytes a channel that begins `first` registers into the payload.

        64 bits are two registers here, low words first.
        """
        start = self.payload + first
        if size == 8:
            low, high = (m.words[start + k : start + k + 1] for k in range(2))
            found: Array = low | high.astype(np.uint64) << np.uint64(32)
            return found
        words = m.words[start : start + self.halves]
        return words if size == 4 else words.astype(f"u{size}")

    def step_of(self, size: int) -> int:
        """Registers of a component with `size` bytes a channel."""
        return 2 if size == 8 else self.halves

    def word(self, m: Threads, k: int) -> Array:
        """Word `k` of the header, by thread."""
        found: Array = m.words[self.header, :, k]
        return found

    # -- channels ----------------------------------------------------------------------------------

    def channels(self, m: Threads, live: bool = False) -> Array | None:
        """The active channels (None: all), or the `live` ones only."""
        mask = self.mask_for(m) if self.mask_for is not None else None
        if live:
            alive = m.flags[LIVE_FLAG][self.half]
            return alive if mask is None else mask & alive
        return mask

    def lanes(self, m: Threads, live: bool = False) -> Array:
        """The active channels that were dispatched, as an array."""
        mask = self.channels(m, live)
        there = m.channels(m.launch.dispatched)[self.half]
        return there if mask is None else mask & there

    # -- results -----------------------------------------------------------------------------------

    def answer(self, m: Threads, k: int, value: Array, mask: Array | None) -> None:
        """Write component `k` of the reply: a scalar or `(half, thread, channel)` of 32 bits."""
        bits = value if value.dtype == np.uint32 else value.view(np.uint32)
        self.land(m, k * self.halves, self.halves, bits, mask)

    def land(self, m: Threads, first: int, count: int, bits: Array, mask: Array | None) -> None:
        """Write words to `count` registers, beginning `first` registers after the destination."""
        put(m.words[self.dst + first : self.dst + first + count], bits, mask)

    def answer_wide(
        self, m: Threads, first: int, value: Array, size: int, mask: Array | None
    ) -> None:
        """Write a component of another size, beginning `first` registers after the destination."""
        if size == 8:
            self.land(m, first, 1, value.astype(np.uint32), mask)
            self.land(m, first + 1, 1, (value >> np.uint64(32)).astype(np.uint32), mask)
        else:
            self.land(m, first, self.halves, value.astype(np.uint32, copy=False), mask)


def each(index: Array, bound: Sequence[Any], run: Callable[[Any, Array | slice], None]) -> None:
    """Call `run` once per distinct index, with the resource bound there and the lanes that use
    it.
    """
    first = int(index[0]) if index.size else 0
    if index.size and (index == first).all():
        run(bound[first] if 0 <= first < len(bound) else None, slice(None))
        return
    for at in np.unique(index).tolist():
        mine = np.flatnonzero(index == at)
        run(bound[at] if 0 <= at < len(bound) else None, mine)
