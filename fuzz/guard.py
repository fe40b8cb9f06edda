"""Memory beside pages that may not be touched: machine code that leaves it ends the process."""

from __future__ import annotations

import ctypes
import mmap
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory import storage

_ALIGNMENT = 16  # what machine code may rely on
_NONE = 0  # PROT_NONE


def fenced(size: int, alignment: int = 1, at_start: bool = False) -> tuple[mmap.mmap, int]:
    """Zeroed pages between two that may not be touched, and where in them `size` bytes start.

    These bytes end where the second such page begins, or begin where the first one ends.
    """
    page = mmap.PAGESIZE
    body = max(-(-size // page), 1) * page
    try:
        area = mmap.mmap(-1, body + 2 * page, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"{size} bytes") from error
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    address = ctypes.addressof(ctypes.c_char.from_buffer(area))
    for fence in (0, page + body):
        if protect(address + fence, page, _NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
    return area, page if at_start else page + (body - size) // alignment * alignment


class Guard:
    """Fences the memory of resources, at its end and at its start alternately.

    The other bytes of its pages, and the spare bytes at the end of resources, must be zero when it
    is freed; `wrong` says which allocations were written outside.
    """

    def __init__(self) -> None:
        self.count = 0
        self.wrong: list[str] = []

    def install(self) -> None:
        """All resources have such memory from now on."""
        storage.zeroed_memory = self.zeroed

    def zeroed(self, size: int) -> npt.NDArray[np.uint8]:
        """Zero bytes beside a page that may not be touched."""
        self.count += 1
        area, start = fenced(size, _ALIGNMENT, at_start=self.count % 2 == 0)
        memory = np.frombuffer(memoryview(area)[start : start + size], np.uint8)
        first, last = mmap.PAGESIZE, len(area) - mmap.PAGESIZE
        spare = (first, start), (start + size - storage.TAIL, last)
        weakref.finalize(memory, self._look, area, size, spare)
        return memory

    def _look(self, area: Any, size: int, spare: tuple[tuple[int, int], ...]) -> None:
        """Is everything beside the allocation as it was?"""
        for (start, stop), where in zip(spare, ("before", "after"), strict=True):
            written = bytes(area[start:stop]).strip(b"\0")
            if written:
                self.wrong.append(
                    f"{size - storage.TAIL} bytes were written {where} their end: {written[:32]!r}"
                )
