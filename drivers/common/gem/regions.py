"""Memory regions: the system's and the device's own, each a pool of frames.

System memory comes in frames of 4 KiB, the device's local memory in frames of 64 KiB. A frame has a
physical address; `read` finds the bytes behind one.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError

__all__ = ["KIB", "MIB", "GemError", "Pool", "Region"]

Bytes = npt.NDArray[np.uint8]
KIB = 1 << 10
MIB = 1 << 20


class GemError(GalletteError):
    """A request the manager refuses; `code` is the error number's name."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


class Region(enum.Enum):
    """A memory."""

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
        """Frames nobody has."""
        return self.frames - self._next + len(self._free)

    def take(self, count: int, data: Callable[[], Bytes]) -> list[int]:
        """Frames for an object's bytes, in order; the caller has looked that there are enough."""
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
        """Bytes at a physical address, within one frame; zeros where nothing lies."""
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
    """The next multiple."""
    return -(-size // step) * step
