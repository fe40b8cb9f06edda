"""Memory of resources beside pages that may not be touched.

Each allocation ends where such a page begins or begins where one ends, alternately: machine code
that leaves it ends the process. The bytes between the allocation and the other end of its own
pages, and the spare bytes at the end of resources, must be zero when it is freed.
"""

from __future__ import annotations

import ctypes
import mmap
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.memory import storage

__all__ = ["Guard"]

_ALIGNMENT = 16  # what machine code may rely on
_NONE = 0  # PROT_NONE


class Guard:
    """The allocator; `wrong` says which allocations were written outside."""

    def __init__(self) -> None:
        self.count = 0
        self.wrong: list[str] = []
        self._mprotect = ctypes.CDLL(None, use_errno=True).mprotect
        self._mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)

    def install(self) -> None:
        """All resources have such memory from now on."""
        storage.zeroed_memory = self.zeroed

    def zeroed(self, size: int) -> npt.NDArray[np.uint8]:
        """Zero bytes beside a page that may not be touched."""
        self.count += 1
        pages = max(-(-size // mmap.PAGESIZE), 1) * mmap.PAGESIZE
        try:
            area = mmap.mmap(-1, pages + mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError as error:
            raise MemoryError(f"{size} bytes") from error
        address = ctypes.addressof(ctypes.c_char.from_buffer(area))
        if self.count % 2:
            start, forbidden = (pages - size) // _ALIGNMENT * _ALIGNMENT, pages
        else:
            start, forbidden = mmap.PAGESIZE, 0
        if self._mprotect(address + forbidden, mmap.PAGESIZE, _NONE):
            raise OSError(ctypes.get_errno(), "mprotect")
        memory = np.frombuffer(memoryview(area)[start : start + size], np.uint8)
        last = forbidden or pages + mmap.PAGESIZE
        spare = (0 if forbidden else mmap.PAGESIZE, start), (start + size - storage.TAIL, last)
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
