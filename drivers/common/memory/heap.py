"""Keeps freed memory in the process, because arrays are allocated often and fresh pages are
expensive.

The C library returns large freed blocks to the system at once, so that every temporary array above
128 KiB costs a page fault per 4 KiB, which takes longer than the arithmetic on it. glibc has a
setting that keeps such blocks for the next array; other C libraries are left as they are.
"""

from __future__ import annotations

import ctypes
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's parameters, from malloc.h
_LARGEST_MMAP_THRESHOLD = 32 << 20
_KEPT = 512 << 20


@cache
def keep_freed_memory() -> bool:
    """Change the C library's setting, once per process; false if it has no such setting."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # not glibc, or Windows
        return False
    kept = mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
    return bool(kept and mallopt(_TRIM_THRESHOLD, _KEPT))
