"""The few instructions of aarch64 that our libraries are made of, executed.

Where a machine of another kind runs the tests, what was assembled for aarch64 is run here. Memory
is one array; functions of C are Python functions at addresses beyond it, and use up every register
that a callee may.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

SP = ZERO = 31
LINK = 30
_WORD, _LOW = (1 << 64) - 1, (1 << 32) - 1
_BEYOND = 1 << 32


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


class Machine:
    """Registers, memory, and functions outside."""

    def __init__(self, size: int) -> None:
        self.memory = bytearray(size)
        self.x = [0x1000 + i for i in range(31)] + [size - 64]  # the last is the stack's
        self.q = [0x2000 + i for i in range(32)]
        self.memory[-64:] = bytes(range(64))  # of the caller
        self.pc = 0
        self.equal = False
        self._functions: list[Callable[[], int]] = []
        self._calls: list[tuple[int, list[int]]] = []  # where they return to, and what is kept

    def function(self, answer: Callable[[], int]) -> int:
        """The address of what answers in the first register."""
        self._functions.append(answer)
        return _BEYOND + 16 * (len(self._functions) - 1)

    def word(self, address: int) -> int:
        return int(struct.unpack_from("<Q", self.memory, address)[0])

    def put(self, address: int, *words: int) -> None:
        struct.pack_into(f"<{len(words)}Q", self.memory, address, *words)

    def call(self, address: int) -> int:
        """Until it returns."""
        before, self.pc = self.pc, address
        depth = len(self._calls)
        self._called(_BEYOND - 16)
        for _ in range(10_000):
            if self.pc >= _BEYOND:
                self._outside()
            else:
                self._step(struct.unpack_from("<I", self.memory, self.pc)[0])
            while self._calls and self.pc == self._calls[-1][0]:
                assert self._kept() == self._calls.pop()[1], hex(self.pc)
            if len(self._calls) == depth:
                break
        assert len(self._calls) == depth, "it does not return"
        assert self.memory[-64:] == bytes(range(64))
        self.pc = before
        return self.x[0]

    def _kept(self) -> list[int]:
        """What a function has to leave as it was."""
        return [*self.x[18:30], self.x[SP], *self.q[8:16]]

    def _called(self, back: int) -> None:
        assert self.x[SP] % 16 == 0
        self.x[LINK] = back
        self._calls.append((back, self._kept()))

    def _outside(self) -> None:
        back = self.x[LINK]
        answer = self._functions[(self.pc - _BEYOND) // 16]()
        self.x[:18] = [0xDEAD0000 + i for i in range(18)]
        self.q[:8] = [0xDEAD00000000 + i for i in range(8)]
        self.x[0], self.pc = answer & _WORD, back

    def _set(self, register: int, value: int, wide: bool = True) -> None:
        if register != ZERO:
            self.x[register] = value & (_WORD if wide else _LOW)

    def _get(self, register: int) -> int:
        return 0 if register == ZERO else self.x[register]

    def _step(self, code: int) -> None:
        wide, d, n, m = bool(code >> 31), code & 31, code >> 5 & 31, code >> 16 & 31
        following = self.pc + 4
        if code & 0x9F000000 == 0x90000000:  # adrp
            pages = _signed((code >> 5 & 0x7FFFF) << 2 | code >> 29 & 3, 21)
            self.x[d] = (self.pc & ~0xFFF) + (pages << 12)
        elif code & 0xFFC00000 == 0x91000000:  # add d, n, constant
            self.x[d] = self.x[n] + (code >> 10 & 0xFFF)
        elif code & 0xFF800000 in (0xF9000000, 0xF9400000):  # str, ldr d, [n, constant]
            at = self.x[n] + 8 * (code >> 10 & 0xFFF)
            if code & 0x400000:
                self._set(d, self.word(at))
            else:
                self.put(at, self._get(d))
        elif code & 0xFA000000 == 0xA8000000:  # stp, ldp of general or vector registers
            self._pair(code, d, code >> 10 & 31, n)
        elif code & 0xFF9FFC1F == 0xD61F0000:  # br, blr, ret n
            following = self.x[n]
            if code >> 21 & 3 == 1:
                self._called(self.pc + 4)
        elif code & 0x7FE00000 == 0x52800000:  # mov d, constant
            self._set(d, code >> 5 & 0xFFFF, wide)
        elif code & 0x7FE0FC00 == 0x2A000000:  # orr d, n, m
            self._set(d, self._get(n) | self._get(m), wide)
        elif code & 0xFFE0FC1F == 0xEB00001F:  # cmp n, m
            self.equal = self._get(n) == self._get(m)
        elif code & 0xFC000000 == 0x14000000:  # b
            following = self.pc + 4 * _signed(code & 0x3FFFFFF, 26)
        elif code & 0x7E000000 == 0x34000000:  # cbz, cbnz d
            value = self._get(d) & (_WORD if wide else _LOW)
            if (value != 0) == bool(code >> 24 & 1):
                following = self.pc + 4 * _signed(code >> 5 & 0x7FFFF, 19)
        elif code & 0xFF00001F == 0x54000000:  # b.eq
            if self.equal:
                following = self.pc + 4 * _signed(code >> 5 & 0x7FFFF, 19)
        else:
            raise AssertionError(f"unknown instruction {code:08x} at {self.pc:x}")
        self.pc = following

    def _pair(self, code: int, first: int, second: int, base: int) -> None:
        vector, loads, how = code >> 26 & 1, code >> 22 & 1, code >> 23 & 3
        assert code >> 30 == 2 and how, hex(code)  # 1: after, 2: beside, 3: before
        assert first != second
        size = 16 if vector else 8
        offset = size * _signed(code >> 15 & 0x7F, 7)
        assert base != SP or self.x[SP] % 16 == 0
        at = self.x[base] + (offset if how != 1 else 0)
        assert base != SP or at >= self.x[SP] + min(offset, 0), "below the stack"
        for i, register in enumerate((first, second)):
            here = slice(at + size * i, at + size * (i + 1))
            held = self.q if vector else self.x
            if loads:
                held[register] = int.from_bytes(self.memory[here], "little")
            else:
                self.memory[here] = held[register].to_bytes(size, "little")
        if how != 2:
            self.x[base] += offset
