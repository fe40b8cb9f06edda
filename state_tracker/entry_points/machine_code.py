"""A few instructions of x86-64 in memory that may be executed, for `shortcuts` and `recording`.

What is assembled here is called from C with one or two 32-bit numbers (in EDI and ESI, as the
System V convention has it). It compares words in memory and either returns or goes on to another
function, which finds everything as it was. Offered on Linux alone: other systems have other
conventions.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import platform
import struct
import sys
from collections.abc import Mapping

__all__ = ["Assembler", "placed", "possible", "thread_function"]

_WRITABLE = mmap.PROT_READ | mmap.PROT_WRITE
_EXECUTABLE = 1 | 4  # PROT_READ | PROT_EXEC
_JUMP, _JUMP_IF_EQUAL, _JUMP_UNLESS = b"\xe9", b"\x0f\x84", b"\x0f\x85"
_kept: list[mmap.mmap] = []  # machine code stays: somebody may be in it


class Assembler:
    """One function: its instructions, and the places that jump to labels."""

    def __init__(self) -> None:
        self._code = bytearray(b"\xf3\x0f\x1e\xfa")  # endbr64: called through a pointer
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []

    def label(self, name: str) -> None:
        """What follows can be jumped to."""
        self._labels[name] = len(self._code)

    def jump(self, label: str) -> None:
        """Go on there."""
        self._branch(_JUMP, label)

    def if_argument_is(self, value: int, label: str) -> None:
        """Jump if the function was called with this number."""
        self._code += b"\x81\xff" + struct.pack("<I", value)  # cmp edi, value
        self._branch(_JUMP_IF_EQUAL, label)

    def unless_argument(self, address: int, label: str) -> None:
        """Jump unless the 64-bit word there is what the function was called with."""
        self._point_at(address)
        self._code += b"\x89\xf9\x48\x39\x08"  # mov ecx, edi; cmp [rax], rcx
        self._branch(_JUMP_UNLESS, label)

    def unless_second_argument(self, address: int, label: str) -> None:
        """The same for what comes behind that."""
        self._point_at(address)
        self._code += b"\x89\xf1\x48\x39\x08"  # mov ecx, esi; cmp [rax], rcx
        self._branch(_JUMP_UNLESS, label)

    def unless_number(self, address: int, value: int, label: str) -> None:
        """Jump unless the word there is a small number."""
        self._point_at(address)
        self._code += b"\x48\x83\x38" + struct.pack("b", value)  # cmp qword [rax], value
        self._branch(_JUMP_UNLESS, label)

    def unless_thread(self, address: int, label: str) -> None:
        """Jump unless the word there is the calling thread's identifier."""
        self._code += b"\x57\x56"  # push rdi; push rsi
        self._point_at(address)
        self._code += b"\xff\x30"  # push [rax]: the stack is aligned
        self._point_at(thread_function())
        self._code += b"\xff\xd0\x59\x5e\x5f\x48\x39\xc8"  # call rax; pop rcx, rsi, rdi; cmp
        self._branch(_JUMP_UNLESS, label)

    def leave(self) -> None:
        """Return."""
        self._code += b"\xc3"

    def go_to(self, address: int) -> None:
        """Be another function from here on."""
        self._point_at(address)
        self._code += b"\xff\xe0"  # jmp rax

    def assembled(self) -> bytes:
        """The bytes, with jumps that know how far."""
        for at, label in self._jumps:
            struct.pack_into("<i", self._code, at, self._labels[label] - (at + 4))
        return bytes(self._code)

    def _point_at(self, address: int) -> None:
        self._code += b"\x48\xb8" + struct.pack("<Q", address)  # mov rax, address

    def _branch(self, instruction: bytes, label: str) -> None:
        self._code += instruction + bytes(4)
        self._jumps.append((len(self._code) - 4, label))


@functools.cache
def possible() -> bool:
    """Is this such a machine, and may memory here be made executable?"""
    if sys.platform != "linux" or platform.machine() != "x86_64" or not thread_function():
        return False
    return _executable(b"\xc3") != 0


def placed(functions: Mapping[str, bytes]) -> dict[str, int]:
    """The functions in executable memory: where each begins."""
    offsets: dict[str, int] = {}
    code = bytearray()
    for name, instructions in functions.items():
        offsets[name] = len(code)
        code += instructions + b"\xcc" * (-len(instructions) % 16)
    base = _executable(bytes(code))
    return {name: base + offset for name, offset in offsets.items()}


def _executable(code: bytes) -> int:
    """The address of a copy that may be executed, and written no more; 0 if there can be none."""
    memory = mmap.mmap(-1, len(code), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, _WRITABLE)
    memory.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    size = -(-len(code) // mmap.PAGESIZE) * mmap.PAGESIZE
    protect = ctypes.CDLL(None).mprotect
    if protect(ctypes.c_void_p(address), ctypes.c_size_t(size), _EXECUTABLE):
        return 0
    _kept.append(memory)
    return address


@functools.cache
def thread_function() -> int:
    """The address of the function that tells C which thread it is in; 0 if there is none."""
    try:
        return ctypes.cast(ctypes.CDLL(None).pthread_self, ctypes.c_void_p).value or 0
    except (AttributeError, OSError):
        return 0
