"""The state of threads that run together: registers, flags, and each channel's program counter.

The register file of all threads is one array: `words[register, thread, channel]`. Where a thread
has more channels than a register, a value takes two registers, `words[r : r + 2]`: both halves of
every thread, contiguous, so that one NumPy call executes an instruction for all of them.
Per-channel state has the shape `(half, thread, channel)` for the same reason.

A waiting channel records the instruction where it continues (`pc`). The lowest `pc` of a thread's
channels is the thread's, and the lowest of all threads is the set's; threads without a channel
there do not execute.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.work import ShaderBudgetError

if TYPE_CHECKING:
    from .launch import Launch

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
RUNNING, DONE = -1, 1 << 30
FLAGS = 4


class Threads:
    """A set of threads and their state."""

    __slots__ = (
        "_all_threads",
        "active",
        "count",
        "d",
        "f",
        "flags",
        "halves",
        "index",
        "launch",
        "mask",
        "pc",
        "pending",
        "thread_mask",
        "total",
        "u",
        "waiting",
        "words",
    )

    def __init__(
        self, launch: Launch, words: Array, flags: list[Mask], pc: Array, index: Array | None
    ) -> None:
        """`index` are the threads' numbers in the launch; None for all of them."""
        self.launch = launch
        self.words = words
        self.u = words
        self.f: Array = words.view(np.float32)
        self.d: Array = words.view(np.int32)
        self.flags = flags
        self.pc = pc
        self.index = index
        self.pending: list[Any] = []  # results still in flight, for machines that deliver them late
        self.halves, self.count = pc.shape[0], pc.shape[1]
        self.mask: Mask | None = None
        self.thread_mask: Mask | None = None
        self.look()

    def look(self) -> None:
        """Compute the active mask from `pc`."""
        running = self.pc == RUNNING
        self.waiting = {int(at) for at in np.unique(self.pc)} - {RUNNING, DONE}
        self.total = int(np.count_nonzero(self.pc != DONE))
        self.run(running)

    def run(self, mask: Mask) -> None:
        """Make these channels the active ones."""
        self.active = int(np.count_nonzero(mask))
        if self.active == self.total:
            self.mask = self.thread_mask = None
            self._all_threads = True
        else:
            self.mask = mask
            self.thread_mask = None
            self._all_threads = False

    def running(self) -> Mask:
        """The active channels, as an array whatever `mask` is."""
        return self.pc == RUNNING if self.mask is None else self.mask

    def threads(self) -> Mask | None:
        """The threads with an active channel; None for all."""
        if self._all_threads:
            return None
        if self.thread_mask is None:
            assert self.mask is not None
            found: Mask = np.asarray(self.mask.any(axis=(0, 2)))
            if found.all():
                self._all_threads = True
                return None
            self.thread_mask = found
        return self.thread_mask

    def thread_count(self) -> int:
        """The number of threads with an active channel."""
        mask = self.threads()
        return self.count if mask is None else int(np.count_nonzero(mask))

    # -- control flow ------------------------------------------------------------------------------

    def park(self, channels: Mask, at: int) -> None:
        """Make these active channels wait at `at`; the others continue."""
        gone = int(np.count_nonzero(channels))
        if not gone:
            return
        mask = self.running()
        self.pc[channels] = at
        if at == DONE:
            self.total -= gone
        else:
            self.waiting.add(at)
        self.run(mask & ~channels)

    def arrive(self, at: int) -> None:
        """Activate the channels that wait at this instruction."""
        if at in self.waiting:
            self.waiting.discard(at)
            self.pc[self.pc == at] = RUNNING
            self.run(self.pc == RUNNING)

    # -- subsets -----------------------------------------------------------------------------------

    def take(self, chosen: Array) -> Threads:
        """Copy some threads, to run them without the rest."""
        index = chosen if self.index is None else self.index[chosen]
        return Threads(
            self.launch,
            self.words.take(chosen, axis=1),
            [flag.take(chosen, axis=1) for flag in self.flags],
            self.pc.take(chosen, axis=1),
            index,
        )

    def put(self, chosen: Array, part: Threads) -> None:
        """Write the state of a subset of threads back."""
        self.words[:, chosen] = part.words
        for mine, other in zip(self.flags, part.flags, strict=True):
            mine[:, chosen] = other
        self.pc[:, chosen] = part.pc
        self.look()

    # -- lanes -------------------------------------------------------------------------------------

    def channels(self, values: Array) -> Array:
        """A value of the launch for these threads: `(half, thread, channel)`."""
        if self.index is None or not values.ndim:
            return values
        return values.take(self.index, axis=1)


def put(target: Array, value: Any, mask: Array | None) -> None:
    """Write the channels in a mask (None: all)."""
    if mask is None:
        target[...] = value
    else:
        np.copyto(target, value, where=mask)


def lane_order(values: Array) -> Array:
    """`(half, thread, channel)` as lanes: the channels of thread 0, of thread 1, ..."""
    if values.shape[0] == 1:
        return values.reshape(-1)
    return values.transpose(1, 0, 2).reshape(-1)


def from_lanes(values: Array, halves: int, channels: int) -> Array:
    """The inverse of `lane_order`, for whole threads with `channels` to a half."""
    if halves == 1:
        return values.reshape(1, -1, channels)
    return np.ascontiguousarray(values.reshape(-1, halves, channels).transpose(1, 0, 2))


class MachineHangError(ShaderBudgetError):
    """The machine made no progress; the message shows the program counter, the channels and
    registers.
    """
