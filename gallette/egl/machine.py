"""The machine code in our shared libraries, for x86-64 and aarch64.

A library holds one *stub* per exported function: a jump through a slot of the library's table. A
slot starts out pointing back into its stub, whose second half hands the function's number to
`resolver`; that saves the caller's arguments, calls through the table's first word with the number
and jumps to the address it gets. Until Python is loaded, that first word points to `first`, which
runs `boot` once: find a Python interpreter in the process or load one, and run a line of Python
that puts its own function into the first word (`boot.py`). If that fails, functions return 0.

Data (the labels used here and defined by `elf.py`): `table` is resolve, zero, one, slots...;
`once` a pthread_once_t; `got_NAME` the address of a C function; `text_NAME` a string.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

IMPORTS = ("dlopen", "dlsym", "pthread_once", "write")
"""The C library's functions that the code calls."""

RTLD_NOW_GLOBAL = 0x102


@dataclass
class Code:
    """Machine code being built: labels, and references to labels inside and outside."""

    base: int  # the address of the first byte
    outside: Mapping[str, int]
    data: bytearray = field(default_factory=bytearray)
    labels: dict[str, int] = field(default_factory=dict)
    fixups: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def here(self) -> int:
        return self.base + len(self.data)

    def label(self, name: str) -> None:
        self.labels[name] = self.here

    def emit(self, *parts: bytes | int) -> None:
        """Append bytes, and numbers as 32-bit words."""
        for part in parts:
            self.data += part if isinstance(part, bytes) else struct.pack("<I", part)

    def refer(self, kind: str, label: str, *parts: bytes | int) -> None:
        """Append an instruction whose last four bytes (or only word) refer to `label`."""
        self.emit(*parts)
        self.fixups.append((len(self.data) - 4, kind, label))

    def finish(self) -> bytes:
        for at, kind, label in self.fixups:
            target = self.labels.get(label, self.outside.get(label, self.base))
            (word,) = struct.unpack_from("<I", self.data, at)
            word = _FIXUPS[kind](word, target, self.base + at)
            struct.pack_into("<I", self.data, at, word & 0xFFFFFFFF)
        return bytes(self.data)


_FIXUPS: dict[str, Callable[[int, int, int], int]] = {
    # x86-64: relative to the end of the instruction
    "rel32": lambda word, target, at: target - (at + 4),
    # aarch64: branches of 26 and 19 bits, pages of adrp, and the offset within a page
    "b26": lambda word, target, at: word | (target - at) >> 2 & 0x3FFFFFF,
    "b19": lambda word, target, at: word | ((target - at) >> 2 & 0x7FFFF) << 5,
    "adrp": lambda word, target, at: _adrp(word, (target >> 12) - (at >> 12)),
    "add12": lambda word, target, at: word | (target & 0xFFF) << 10,
    "ldr12": lambda word, target, at: word | (target >> 3 & 0x1FF) << 10,
}


def _adrp(word: int, pages: int) -> int:
    return word | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5


def assemble(architecture: str, base: int, outside: Mapping[str, int], functions: int) -> Code:
    """All code of a library with that many functions."""
    code = Code(base, outside)
    ARCHITECTURES[architecture](code, functions)
    return code


# -- x86-64 ----------------------------------------------------------------------------------------
# Arguments: rdi rsi rdx rcx r8 r9, xmm0..7, and al for variadic functions. The stack is a multiple
# of 16 before a call.

_SAVED = (b"\x50", b"\x57", b"\x56", b"\x52", b"\x51", b"\x41\x50", b"\x41\x51")
_RESTORED = (b"\x41\x59", b"\x41\x58", b"\x59", b"\x5a", b"\x5e", b"\x5f", b"\x58")


def _x86_64(code: Code, functions: int) -> None:
    emit, refer, label = code.emit, code.refer, code.label
    for index in range(functions):
        label(f"stub{index}")
        refer("rel32", f"slot{index}", b"\xff\x25\0\0\0\0")  # jmp *slot
        label(f"lazy{index}")
        emit(b"\x68", index)  # push index
        refer("rel32", "resolver", b"\xe9\0\0\0\0")  # jmp resolver
    label("resolver")
    emit(*_SAVED, b"\x48\x81\xec\x88\0\0\0")  # sub rsp, 0x88
    for i in range(8):
        emit(b"\x0f\x11", bytes((0x44 + 8 * i, 0x24, 16 * i)))  # movups [rsp+16i], xmm<i>
    emit(b"\x48\x8b\xbc\x24\xc0\0\0\0")  # mov rdi, [rsp+0xc0]: the index
    refer("rel32", "table", b"\xff\x15\0\0\0\0")  # call *table
    emit(b"\x49\x89\xc3")  # mov r11, rax
    for i in range(8):
        emit(b"\x0f\x10", bytes((0x44 + 8 * i, 0x24, 16 * i)))
    emit(b"\x48\x81\xc4\x88\0\0\0", *_RESTORED)
    emit(b"\x48\x83\xc4\x08", b"\x41\xff\xe3")  # add rsp, 8; jmp r11
    label("first")
    emit(b"\x57")  # push rdi
    refer("rel32", "once", b"\x48\x8d\x3d\0\0\0\0")  # lea rdi, once
    refer("rel32", "boot", b"\x48\x8d\x35\0\0\0\0")  # lea rsi, boot
    refer("rel32", "got_pthread_once", b"\xff\x15\0\0\0\0")
    emit(b"\x5f")  # pop rdi
    refer("rel32", "table", b"\x48\x8b\x05\0\0\0\0")  # mov rax, table
    refer("rel32", "first", b"\x48\x8d\x0d\0\0\0\0")  # lea rcx, first
    emit(b"\x48\x39\xc8\x74\x02\xff\xe0")  # cmp rax, rcx; je +2; jmp rax
    label("none")
    refer("rel32", "zero", b"\x48\x8d\x05\0\0\0\0")  # lea rax, zero
    emit(b"\xc3")
    label("zero")
    emit(b"\x31\xc0\xc3")  # xor eax, eax; ret
    label("one")
    emit(b"\xb8\x01\0\0\0\xc3")  # mov eax, 1; ret
    _x86_64_boot(code)


def _x86_64_boot(code: Code) -> None:
    emit, refer, label = code.emit, code.refer, code.label

    def find(name: str) -> None:
        """Emit rax = the Python function of that name, 0 if there is none."""
        emit(b"\x31\xff")  # xor edi, edi: RTLD_DEFAULT
        refer("rel32", f"text_{name}", b"\x48\x8d\x35\0\0\0\0")  # lea rsi, name
        refer("rel32", "got_dlsym", b"\xff\x15\0\0\0\0")

    label("boot")
    emit(b"\x53\x41\x54\x48\x83\xec\x08")  # push rbx; push r12; sub rsp, 8
    find("Py_IsInitialized")
    emit(b"\x48\x85\xc0")  # test rax, rax
    refer("rel32", "loaded", b"\x0f\x85\0\0\0\0")  # jnz
    refer("rel32", "text_libpython", b"\x48\x8d\x3d\0\0\0\0")  # lea rdi, libpython
    emit(b"\xbe", RTLD_NOW_GLOBAL)  # mov esi, flags
    refer("rel32", "got_dlopen", b"\xff\x15\0\0\0\0")
    emit(b"\x48\x85\xc0")
    refer("rel32", "failed", b"\x0f\x84\0\0\0\0")  # jz
    label("loaded")
    find("Py_IsInitialized")
    emit(b"\xff\xd0\x89\xc3\x85\xc0")  # call rax; mov ebx, eax; test eax, eax
    refer("rel32", "ensure", b"\x0f\x85\0\0\0\0")  # jnz
    find("PyInterpreterState_Main")  # there is one while Python ends
    emit(b"\xff\xd0\x48\x85\xc0")  # call rax; test rax, rax
    refer("rel32", "booted", b"\x0f\x85\0\0\0\0")  # jnz
    find("Py_SetProgramName")
    emit(b"\x48\x85\xc0\x74\x09")  # test rax, rax; jz over the next two
    refer("rel32", "text_program", b"\x48\x8d\x3d\0\0\0\0")  # lea rdi, program
    emit(b"\xff\xd0")  # call rax
    find("Py_InitializeEx")
    emit(b"\x31\xff\xff\xd0")  # xor edi, edi: no signal handlers; call rax
    refer("rel32", "run", b"\xe9\0\0\0\0")
    label("ensure")
    find("PyGILState_Ensure")
    emit(b"\xff\xd0\x41\x89\xc4")  # call rax; mov r12d, eax
    label("run")
    find("PyRun_SimpleStringFlags")
    refer("rel32", "text_python", b"\x48\x8d\x3d\0\0\0\0")  # lea rdi, python
    emit(b"\x31\xf6\xff\xd0")  # xor esi, esi; call rax
    emit(b"\x85\xdb")  # test ebx, ebx
    refer("rel32", "release", b"\x0f\x85\0\0\0\0")
    find("PyEval_SaveThread")
    emit(b"\xff\xd0")
    refer("rel32", "booted", b"\xe9\0\0\0\0")
    label("release")
    find("PyGILState_Release")
    emit(b"\x44\x89\xe7\xff\xd0")  # mov edi, r12d; call rax
    refer("rel32", "booted", b"\xe9\0\0\0\0")
    label("failed")
    emit(b"\xbf\x02\0\0\0")  # mov edi, 2
    refer("rel32", "text_failed", b"\x48\x8d\x35\0\0\0\0")  # lea rsi, message
    emit(b"\xba")  # mov edx, length
    emit(code.outside.get("length_failed", 0))
    refer("rel32", "got_write", b"\xff\x15\0\0\0\0")
    label("booted")
    emit(b"\x48\x83\xc4\x08\x41\x5c\x5b\xc3")  # add rsp, 8; pop r12; pop rbx; ret


# -- aarch64 ---------------------------------------------------------------------------------------
# Arguments: x0..x7, q0..q7, x8; x16 and x17 are free between caller and callee.


def _aarch64(code: Code, functions: int) -> None:
    emit, refer, label = code.emit, code.refer, code.label

    def load(register: int, name: str) -> None:
        """Emit register = the word at `name`."""
        refer("adrp", name, 0x90000000 | register)
        refer("ldr12", name, 0xF9400000 | register << 5 | register)

    def lea(register: int, name: str) -> None:
        refer("adrp", name, 0x90000000 | register)
        refer("add12", name, 0x91000000 | register << 5 | register)

    def call(name: str) -> None:
        load(16, name)
        emit(0xD63F0200)  # blr x16

    for index in range(functions):
        label(f"stub{index}")
        load(16, f"slot{index}")
        emit(0xD61F0200)  # br x16
        label(f"lazy{index}")
        emit(0x52800011 | (index & 0xFFFF) << 5)  # mov w17, index
        refer("b26", "resolver", 0x14000000)
    label("resolver")
    emit(0xA9B17BFD)  # stp x29, x30, [sp, -240]!
    for i in range(0, 8, 2):
        emit(0xA9000000 | (2 + i) << 15 | (i + 1) << 10 | 31 << 5 | i)  # stp x<i>, x<i+1>
    emit(0xF9002BE8)  # str x8, [sp, 80]
    for i in range(0, 8, 2):
        emit(0xAD000000 | (6 + i) << 15 | (i + 1) << 10 | 31 << 5 | i)  # stp q<i>, q<i+1>
    emit(0x2A1103E0)  # mov w0, w17
    call("table")
    emit(0xAA0003F0)  # mov x16, x0
    for i in range(0, 8, 2):
        emit(0xAD400000 | (6 + i) << 15 | (i + 1) << 10 | 31 << 5 | i)
        emit(0xA9400000 | (2 + i) << 15 | (i + 1) << 10 | 31 << 5 | i)
    emit(0xF9402BE8)  # ldr x8, [sp, 80]
    emit(0xA8CF7BFD, 0xD61F0200)  # ldp x29, x30, [sp], 240; br x16
    label("first")
    emit(0xA9BE7BFD, 0xF9000BE0)  # stp x29, x30, [sp, -32]!; str x0, [sp, 16]
    lea(0, "once")
    lea(1, "boot")
    call("got_pthread_once")
    emit(0xF9400BE0, 0xA8C27BFD)  # ldr x0, [sp, 16]; ldp x29, x30, [sp], 32
    load(16, "table")
    lea(17, "first")
    emit(0xEB11021F, 0x54000040, 0xD61F0200)  # cmp x16, x17; b.eq +2; br x16
    label("none")
    lea(0, "zero")
    emit(0xD65F03C0)  # ret
    label("zero")
    emit(0xD2800000, 0xD65F03C0)  # mov x0, 0; ret
    label("one")
    emit(0xD2800020, 0xD65F03C0)  # mov x0, 1; ret
    _aarch64_boot(code, lea, call)


def _aarch64_boot(code: Code, lea: Callable[[int, str], None], call: Callable[[str], None]) -> None:
    emit, refer, label = code.emit, code.refer, code.label
    blr_x0 = 0xD63F0000

    def find(name: str) -> None:
        emit(0xD2800000)  # mov x0, 0
        lea(1, f"text_{name}")
        call("got_dlsym")

    label("boot")
    emit(0xA9BE7BFD, 0xA90153F3)  # stp x29, x30, [sp, -32]!; stp x19, x20, [sp, 16]
    find("Py_IsInitialized")
    refer("b19", "loaded", 0xB5000000)  # cbnz x0
    lea(0, "text_libpython")
    emit(0x52800001 | RTLD_NOW_GLOBAL << 5)  # mov w1, flags
    call("got_dlopen")
    refer("b19", "failed", 0xB4000000)  # cbz x0
    label("loaded")
    find("Py_IsInitialized")
    emit(blr_x0, 0x2A0003F3)  # mov w19, w0
    refer("b19", "ensure", 0x35000000)  # cbnz w0
    find("PyInterpreterState_Main")
    emit(blr_x0)
    refer("b19", "booted", 0xB5000000)  # cbnz x0
    find("Py_SetProgramName")
    refer("b19", "named", 0xB4000000)
    emit(0xAA0003F4)  # mov x20, x0
    lea(0, "text_program")
    emit(0xD63F0280)  # blr x20
    label("named")
    find("Py_InitializeEx")
    emit(0xAA0003F4, 0x52800000, 0xD63F0280)  # mov x20, x0; mov w0, 0; blr x20
    refer("b26", "run", 0x14000000)
    label("ensure")
    find("PyGILState_Ensure")
    emit(blr_x0, 0x2A0003F4)  # mov w20, w0
    label("run")
    find("PyRun_SimpleStringFlags")
    emit(0xAA0003E8)  # mov x8, x0
    lea(0, "text_python")
    emit(0xD2800001, 0xD63F0100)  # mov x1, 0; blr x8
    refer("b19", "release", 0x35000013)  # cbnz w19
    find("PyEval_SaveThread")
    emit(blr_x0)
    refer("b26", "booted", 0x14000000)
    label("release")
    find("PyGILState_Release")
    emit(0xAA0003E8, 0x2A1403E0, 0xD63F0100)  # mov x8, x0; mov w0, w20; blr x8
    refer("b26", "booted", 0x14000000)
    label("failed")
    emit(0x52800040)  # mov w0, 2
    lea(1, "text_failed")
    emit(0x52800002 | (code.outside.get("length_failed", 0) & 0xFFFF) << 5)  # mov w2, length
    call("got_write")
    label("booted")
    emit(0xA94153F3, 0xA8C27BFD, 0xD65F03C0)  # ldp x19, x20; ldp x29, x30, [sp], 32; ret


ARCHITECTURES = {"x86_64": _x86_64, "aarch64": _aarch64}
