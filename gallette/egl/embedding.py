"""Programs that start Python themselves, after a library of ours has started it.

OBS and others embed Python for scripts. They call Py_Initialize, which does nothing once Python
runs, and go on to use Python: they expect the calling thread to hold Python's lock, as it does
after a start. So the functions that start Python become jumps to the one that takes the lock. On
x86-64 with Linux only.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import struct

from gallette.state_tracker.entry_points import machine_code

_STARTING = ("Py_Initialize", "Py_InitializeEx")
_JUMP = struct.Struct("<Bi")  # jmp rel32
_READ, _WRITE, _EXECUTE = 1, 2, 4


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def _overwrite(address: int, code: bytes) -> None:
    """Replace instructions, if the system permits it."""
    page = address & -mmap.PAGESIZE
    protect, size = ctypes.CDLL(None).mprotect, ctypes.c_size_t(address + len(code) - page)
    if not protect(ctypes.c_void_p(page), size, _READ | _WRITE | _EXECUTE):
        ctypes.memmove(address, code, len(code))
        protect(ctypes.c_void_p(page), size, _READ | _EXECUTE)


def take_lock_when_started_again() -> None:
    """Let threads that start Python hold its lock afterwards, until Python ends."""
    if not machine_code.possible():
        return
    target = _address("PyGILState_Ensure")
    for name in _STARTING:
        place = _address(name)
        distance = target - (place + _JUMP.size)
        if -(1 << 31) <= distance < 1 << 31:
            atexit.register(_overwrite, place, ctypes.string_at(place, _JUMP.size))
            _overwrite(place, _JUMP.pack(0xE9, distance))
