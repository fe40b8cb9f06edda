"""What each function that notes its calls begins with, ends with and may do (see `code`).

R10 holds the address of the words, R11 that of the next record.
"""

from __future__ import annotations

import struct

from gallette.state_tracker.entry_points.machine_code import Assembler, thread_function

from .words import COPIED, FIRST_STATE, HEADER, RECORDS, Word

__all__ = [
    "ABOVE",
    "EQUAL",
    "NEGATIVE",
    "NOT_BELOW",
    "NOT_EQUAL",
    "NOT_POSITIVE",
    "Recorder",
    "disp",
]

ABOVE, NOT_BELOW, NOT_EQUAL, EQUAL = b"\x0f\x87", b"\x0f\x83", b"\x0f\x85", b"\x0f\x84"
NEGATIVE, NOT_POSITIVE = b"\x0f\x88", b"\x0f\x8e"  # of signed numbers, as the next


class Recorder(Assembler):
    """One function: every check that fails jumps to "on"."""

    def __init__(self, base: int) -> None:
        super().__init__()
        self._base = base

    def raw(self, instructions: bytes) -> None:
        self._code += instructions

    def on_if(self, condition: bytes) -> None:
        """Go on to Python."""
        self._branch(condition, "on")

    def branch(self, condition: bytes, label: str) -> None:
        """Go on there."""
        self._branch(condition, label)

    def begin(self) -> None:
        """Is this thread recorded? R10 is the address of the words from here on."""
        self._words()
        self.raw(b"\x49\x83\x3a\x00")  # cmp qword [r10], 0
        self.on_if(EQUAL)
        self.raw(b"\x57\x56\x52\x51\x41\x50")  # push rdi, rsi, rdx, rcx, r8: the stack is aligned
        self._point_at(thread_function())
        self.raw(b"\xff\xd0\x41\x58\x59\x5a\x5e\x5f")  # call rax; pop them again
        self._words()
        self.raw(b"\x49\x3b\x02")  # cmp rax, [r10]
        self.on_if(NOT_EQUAL)

    def _words(self) -> None:
        self.raw(b"\x49\xba" + struct.pack("<Q", self._base))  # mov r10, base

    def rax_and(self, word: int) -> None:
        """Compare RAX with a word."""
        self.raw(b"\x49\x3b\x82" + disp(word))  # cmp rax, [r10 + ...]

    def note_rax(self, word: int) -> None:
        self.raw(b"\x49\x89\x82" + disp(word))  # mov [r10 + ...], rax

    def on_unless_known(self, table: int) -> None:
        """Does the byte of number RAX in the table that a word points to say so?"""
        self.raw(b"\x4d\x8b\x9a" + disp(table))  # mov r11, [r10 + ...]
        self.raw(b"\x41\x80\x3c\x03\x00")  # cmp byte [r11 + rax], 0
        self.on_if(EQUAL)

    def begin_record(self, name: str) -> None:
        """R11 is the address of a record of that function, if there is room."""
        self.raw(b"\x4d\x8b\x9a" + disp(Word.NEXT))  # mov r11, [r10 + ...]
        self.raw(b"\x4d\x3b\x9a" + disp(Word.END))  # cmp r11, [r10 + ...]
        self.on_if(NOT_BELOW)
        self.raw(b"\x49\xc7\x03" + struct.pack("<I", RECORDS.index(name)))  # mov qword [r11]

    def copy_state(self) -> None:
        """The words of state go behind the record's header; RDI is the address behind them."""
        self.raw(b"\x49\x8d\xb2" + disp(FIRST_STATE))  # lea rsi, [r10 + ...]
        self.raw(b"\x49\x8d\x7b" + bytes([8 * HEADER]))  # lea rdi, [r11 + ...]
        self.raw(b"\xb9" + struct.pack("<I", COPIED) + b"\xf3\x48\xa5")  # mov ecx; rep movsq

    def end_record(self) -> None:
        """It is complete."""
        self.raw(b"\x4d\x03\x9a" + disp(Word.STRIDE))  # add r11, [r10 + ...]
        self.raw(b"\x4d\x89\x9a" + disp(Word.NEXT))  # mov [r10 + ...], r11
        self.end()

    def end(self) -> None:
        """Something is pending."""
        self.raw(b"\x49\xc7\x82" + disp(Word.PENDING) + struct.pack("<I", 1))
        self.leave()

    def finished(self, pointer: int) -> bytes:
        self.label("on")
        self.go_to(pointer)
        return self.assembled()


def disp(word: int) -> bytes:
    return struct.pack("<i", 8 * word)
