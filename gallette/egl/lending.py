"""Python's lock, lent by a thread that waits in the operating system while it holds it.

A Python program may call a C library that keeps the lock and waits for a thread of its own, which
draws: `QQuickWindow.grabWindow` of PySide6 does. That thread's OpenGL calls need the lock, and both
would wait for ever. A *watcher*, a thread in machine code that needs no lock, looks five times a
second whether the main thread waits for another one (`/proc`), and sends it a signal then. The
signal's handler releases the lock for some milliseconds, as the library should have done before it
waited, if the thread has it and was interrupted in that wait; nowhere else may it be released.

Linux on x86-64 only; elsewhere such a program waits for ever, unless it lets its library draw in
the main thread (`QSG_RENDER_LOOP=basic`).
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import struct
import sys
import threading

from gallette.state_tracker.entry_points import machine_code

__all__ = ["begin"]

_SIGNAL = signal.SIGURG if sys.platform != "win32" else 0  # programs ignore it by default
_STOP, _LENT, _RETURNED = range(3)
_WORDS = (ctypes.c_int64 * 3)()
_SELDOM, _OFTEN, _LOAN = 200_000, 2_000, 10_000
"""Microseconds between two looks, while the lock is being lent, and of a loan."""
_FUTEX, _SYSCALL, _EINTR = 202, b"\x0f\x05", -4
_REGISTERS = 40  # where a ucontext has them
_RAX, _RIP = _REGISTERS + 13 * 8, _REGISTERS + 16 * 8
_EQUAL, _NOT_EQUAL, _NEGATIVE, _ALWAYS = b"\x0f\x84", b"\x0f\x85", b"\x0f\x88", b"\xe9"
_begun: list[int] = []


class _Action(ctypes.Structure):
    """A struct sigaction."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_uint8 * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_SA_SIGINFO, _SA_ONSTACK, _SA_RESTART = 4, 0x08000000, 0x10000000


def _function(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


class _Code(machine_code.Assembler):
    def call(self, name: str) -> None:
        """Call a function of the C library or of Python."""
        self.point_at(_function(name))
        self.raw(b"\xff\xd0")  # call rax

    def word(self, number: int) -> None:
        """Point RCX at a shared word."""
        at = ctypes.addressof(_WORDS) + 8 * number
        self.raw(b"\x48\xb9" + struct.pack("<Q", at))  # mov rcx, at

    def count(self, number: int) -> None:
        self.word(number)
        self.raw(b"\xf0\x48\xff\x01")  # lock inc qword [rcx]


def _handler() -> bytes:
    """`(signal, information, context)`: lend the lock if the context is a wait with it."""
    code = _Code()
    code.raw(b"\x53\x41\x54\x48\x83\xec\x08")  # push rbx; push r12; sub rsp, 8
    code.word(_STOP)
    code.raw(b"\x48\x83\x39\x00")  # cmp qword [rcx], 0
    code.branch(_NOT_EQUAL, "out")
    code.raw(b"\x48\x8b\x82" + struct.pack("<i", _RAX))  # mov rax, [rdx + RAX]
    code.raw(b"\x48\x8b\x8a" + struct.pack("<i", _RIP))  # mov rcx, [rdx + RIP]
    code.raw(b"\x48\x3d" + struct.pack("<i", _FUTEX))  # cmp rax, ...: it will be called again
    code.branch(_EQUAL, "again")
    code.raw(b"\x48\x3d" + struct.pack("<i", _EINTR))  # cmp rax, ...: it was interrupted
    code.branch(_NOT_EQUAL, "out")
    code.raw(b"\x66\x81\x79\xfe" + _SYSCALL)  # cmp word [rcx - 2], ...
    code.branch(_NOT_EQUAL, "out")
    code.branch(_ALWAYS, "waits")
    code.label("again")
    code.raw(b"\x66\x81\x39" + _SYSCALL)  # cmp word [rcx], ...
    code.branch(_NOT_EQUAL, "out")
    code.label("waits")
    code.call("PyGILState_Check")
    code.raw(b"\x85\xc0")  # test eax, eax
    code.branch(_EQUAL, "out")
    code.count(_LENT)
    code.call("__errno_location")
    code.raw(b"\x44\x8b\x20")  # mov r12d, [rax]
    code.call("PyEval_SaveThread")
    code.raw(b"\x48\x89\xc3")  # mov rbx, rax
    code.raw(b"\xbf" + struct.pack("<I", _LOAN))  # mov edi, ...
    code.call("usleep")
    code.raw(b"\x48\x89\xdf")  # mov rdi, rbx
    code.call("PyEval_RestoreThread")
    code.call("__errno_location")
    code.raw(b"\x44\x89\x20")  # mov [rax], r12d
    code.count(_RETURNED)
    code.label("out")
    code.raw(b"\x48\x83\xc4\x08\x41\x5c\x5b")  # add rsp, 8; pop r12; pop rbx
    code.leave()
    return code.assembled()


def _watcher(thread: int, path: int) -> bytes:
    """The thread that looks at `path`, and sends a signal to `thread` while that waits."""
    code = _Code()
    code.raw(b"\x53\x41\x54\x48\x83\xec\x18")  # push rbx; push r12; sub rsp, 24
    code.raw(b"\x45\x31\xe4")  # xor r12d, r12d: loans that were seen
    code.label("look")
    code.raw(b"\xbf" + struct.pack("<I", _SELDOM))  # mov edi, ...
    code.word(_LENT)
    code.raw(b"\x48\x8b\x19\x4c\x39\xe3")  # mov rbx, [rcx]; cmp rbx, r12
    code.branch(_EQUAL, "sleep")
    code.raw(b"\xbf" + struct.pack("<I", _OFTEN))  # mov edi, ...
    code.label("sleep")
    code.raw(b"\x49\x89\xdc")  # mov r12, rbx
    code.call("usleep")
    code.word(_STOP)
    code.raw(b"\x48\x83\x39\x00")  # cmp qword [rcx], 0
    code.branch(_NOT_EQUAL, "out")
    code.word(_LENT)
    code.raw(b"\x48\x8b\x19")  # mov rbx, [rcx]
    code.word(_RETURNED)
    code.raw(b"\x48\x3b\x19")  # cmp rbx, [rcx]
    code.branch(_NOT_EQUAL, "lending")
    code.raw(b"\x48\xbf" + struct.pack("<Q", path) + b"\x31\xf6\x31\xc0")  # mov rdi, path; esi, eax
    code.raw(b"\x48\xba" + struct.pack("<Q", _function("open")) + b"\xff\xd2")  # call open
    code.raw(b"\x85\xc0\x89\xc3")  # test eax, eax; mov ebx, eax
    code.branch(_NEGATIVE, "out")
    code.raw(b"\xc7\x04\x24\0\0\0\0")  # mov dword [rsp], 0
    code.raw(b"\x89\xdf\x48\x89\xe6\xba\x04\0\0\0")  # mov edi, ebx; rsi, rsp; edx, 4
    code.call("read")
    code.raw(b"\x89\xdf")  # mov edi, ebx
    code.call("close")
    code.raw(b"\x81\x3c\x24" + b"%d " % _FUTEX)  # cmp dword [rsp], ...
    code.branch(_NOT_EQUAL, "look")
    code.raw(b"\x48\xbf" + struct.pack("<Q", thread))  # mov rdi, thread
    code.raw(b"\xbe" + struct.pack("<I", _SIGNAL))  # mov esi, ...
    code.call("pthread_kill")
    code.branch(_ALWAYS, "look")
    code.label("lending")
    code.raw(b"\x4d\x31\xe4")  # xor r12, r12: look often
    code.branch(_ALWAYS, "look")
    code.label("out")
    code.raw(b"\x48\x83\xc4\x18\x41\x5c\x5b\x31\xc0")  # add rsp, 24; pop r12; pop rbx; xor eax, eax
    code.leave()
    return code.assembled()


def begin() -> None:
    """Watch the main thread of this process, if Python was there before gallette."""
    if _begun or not sys.orig_argv or not machine_code.possible():
        return
    main = threading.main_thread()
    path = f"/proc/self/task/{main.native_id}/syscall"
    if not os.access(path, os.R_OK) or signal.getsignal(_SIGNAL) is not signal.SIG_DFL:
        return
    _begun.append(main.native_id or 0)
    machine_code.keep_for_ever(_WORDS)
    os.register_at_fork(after_in_child=_start)
    atexit.register(_stop)
    handler = machine_code.placed({"handler": _handler()})["handler"]
    flags = _SA_SIGINFO | _SA_ONSTACK | _SA_RESTART
    action = _Action(handler=handler, flags=flags)
    if ctypes.pythonapi.sigaction(int(_SIGNAL), ctypes.byref(action), None) == 0:
        _start()


def _start() -> None:
    """Start the watcher: in a child process, too, where only the calling thread goes on."""
    main = threading.main_thread()
    path = ctypes.create_string_buffer(b"/proc/self/task/%d/syscall" % (main.native_id or 0))
    machine_code.keep_for_ever(path)
    _WORDS[:] = [0, 0, 0]
    code = _watcher(main.ident or 0, ctypes.addressof(path))
    watcher = machine_code.placed({"watcher": code})["watcher"]
    made = ctypes.c_ulong()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        failed = ctypes.pythonapi.pthread_create(
            ctypes.byref(made), None, ctypes.c_void_p(watcher), None
        )
        if not failed:
            ctypes.pythonapi.pthread_detach(made)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop() -> None:
    _WORDS[_STOP] = 1
