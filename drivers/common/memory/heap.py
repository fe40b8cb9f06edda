"""Keep freed memory: arrays come and go by the hundred, and fresh pages are expensive.

The C library returns large freed blocks to the system at once, so that every temporary array above
128 KiB costs a page fault per 4 KiB, more than the arithmetic done on it. glibc can be told to keep
such blocks for the next array; on other C libraries nothing happens.
"""

from __future__ import annotations

import ctypes
from functools import cache

__all__ = ["keep_freed_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's parameters, from malloc.h
_LARGEST_MMAP_THRESHOLD = 32 << 20
_KEPT = 512 << 20


@cache
def keep_freed_memory() -> bool:
    """Tell the C library, once per process; false if it cannot be told."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library, or Windows
        return False
    kept = mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    return bool(kept and mallopt(_TRIM_THRESHOLD, _KEPT))
