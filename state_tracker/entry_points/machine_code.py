"""x86-64 machine code in executable memory, for the stubs of `state_tracker.stream`.

Available on Linux only: other systems have other calling conventions.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import platform
import struct
import sys
from collections.abc import Mapping

_EXECUTABLE = 1 | 4  # PROT_READ | PROT_EXEC


class Assembler:
    """One function: its instructions, and its jumps to labels."""

    def __init__(self) -> None:
        self._code = bytearray(b"\xf3\x0f\x1e\xfa")  # endbr64: called through a pointer
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []

    def raw(self, instructions: bytes) -> None:
        """Add instructions as they are."""
        self._code += instructions

    def label(self, name: str) -> None:
        """Define a label at the current position."""
        self._labels[name] = len(self._code)

    def branch(self, condition: bytes, label: str) -> None:
        """Jump to a label on a condition: the two bytes of a long conditional jump."""
        self._code += condition + bytes(4)
        self._jumps.append((len(self._code) - 4, label))

    def leave(self) -> None:
        """Return from the function."""
        self._code += b"\xc3"

    def point_at(self, address: int) -> None:
        """Load an address into RAX."""
        self._code += b"\x48\xb8" + struct.pack("<Q", address)  # mov rax, address

    def go_to(self, address: int) -> None:
        """Tail-call another function."""
        self.point_at(address)
        self._code += b"\xff\xe0"  # jmp rax

    def assembled(self) -> bytes:
        """The bytes, with resolved jumps."""
        for at, label in self._jumps:
            struct.pack_into("<i", self._code, at, self._labels[label] - (at + 4))
        return bytes(self._code)


@functools.cache
def possible() -> bool:
    """Whether this machine is supported, and memory can be made executable."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or not thread_function():
        return False
    return _executable(b"\xc3") != 0


def placed(functions: Mapping[str, bytes]) -> dict[str, int]:
    """Copy the functions to executable memory; returns their addresses."""
    offsets: dict[str, int] = {}
    code = bytearray()
    for name, instructions in functions.items():
        offsets[name] = len(code)
        code += instructions + b"\xcc" * (-len(instructions) % 16)
    base = _executable(bytes(code))
    return {name: base + offset for name, offset in offsets.items()}


def _executable(code: bytes) -> int:
    """The address of an executable, read-only copy; 0 if there can be none."""
    writable = mmap.PROT_READ | mmap.PROT_WRITE
    memory = mmap.mmap(-1, len(code), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, writable)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    size = -(-len(code) // mmap.PAGESIZE) * mmap.PAGESIZE
    protect = ctypes.CDLL(None).mprotect
    if protect(ctypes.c_void_p(address), ctypes.c_size_t(size), _EXECUTABLE):
        return 0
    _keep_for_ever(memory)
    return address


def _keep_for_ever(memory: object) -> None:
    """Never free this, not even when Python ends: a thread may be executing or reading it."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(memory))


@functools.cache
def thread_function() -> int:
    """The address of the C function that returns the current thread's identifier; 0 if there is
    none.
    """
    try:
        return ctypes.cast(ctypes.CDLL(None).pthread_self, ctypes.c_void_p).value or 0
    except (AttributeError, OSError, TypeError):  # Windows has no library without a name
        return 0
