"""Memory regions: system memory and the device's local memory, each a pool of frames.

A frame of system memory has 4 KiB, a frame of local memory 64 KiB. A frame has a physical address,
by which `read` finds its bytes.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError

Bytes = npt.NDArray[np.uint8]
KIB = 1 << 10
MIB = 1 << 20


class GemError(GalletteError):
    """A request the manager refuses; `code` is the error number's name."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class Region(enum.Enum):
    """One memory region."""

    SYSTEM = "system"
    LOCAL = "local"

    @property
    def page(self) -> int:
        """Bytes of a frame, which is also the size of its page-table entries."""
        return 4 * KIB if self is Region.SYSTEM else 64 * KIB


class Pool:
    """The frames of one region."""

    def __init__(self, region: Region, size: int) -> None:
        self.region = region
        self.frames = size // region.page
        self._free: list[int] = []
        self._next = 0
        self._owners: dict[int, tuple[Callable[[], Bytes], int]] = {}

    @property
    def available(self) -> int:
        """The number of free frames."""
        return self.frames - self._next + len(self._free)

    def take(self, count: int, data: Callable[[], Bytes]) -> list[int]:
        """Take frames for an object's bytes, in order; the caller has checked that enough
        are free.
        """
        if count > self.available:
            raise GemError("ENOMEM", f"{self.region.value} memory has no {count} frames left")
        found = []
        for number in range(count):
            frame = self._free.pop() if self._free else self._next
            self._next = max(self._next, frame + 1)
            self._owners[frame] = (data, number * self.region.page)
            found.append(frame)
        return found

    def give_back(self, frames: list[int]) -> None:
        for frame in frames:
            del self._owners[frame]
        self._free += reversed(frames)

    def read(self, address: int, size: int) -> Bytes:
        """Read bytes at a physical address, within one frame; addresses without a frame read as
        zeros.
        """
        frame, offset = divmod(address, self.region.page)
        owner = self._owners.get(frame)
        if owner is None:
            return np.zeros(size, np.uint8)
        data, start = owner
        found = data()[start + offset : start + offset + size]
        if found.size < size:
            found = np.concatenate([found, np.zeros(size - found.size, np.uint8)])
        return found

    def write(self, address: int, values: Bytes) -> None:
        frame, offset = divmod(address, self.region.page)
        owner = self._owners.get(frame)
        if owner is not None:
            data, start = owner
            target = data()[start + offset : start + offset + values.size]
            target[:] = values[: target.size]


def rounded(size: int, step: int) -> int:
    """`size` rounded up to a multiple of `step`."""
    return -(-size // step) * step
