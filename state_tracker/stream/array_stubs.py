"""Machine code that follows the client arrays of fixed function, and copies them for draws.

The words of an array say where it is. Python writes them after a draw (`Stream.has_drawn`). Then
the stubs keep them up to date, until another call may have changed them.
"""

from __future__ import annotations

import struct

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.machine_code import Assembler

from .calls import CLIENT_ARRAYS, COPY, FORMAT, VERTICES

ARRAYS = (GL.VERTEX_ARRAY, GL.NORMAL_ARRAY, GL.COLOR_ARRAY, GL.TEXTURE_COORD_ARRAY)
TRACKED = 1 << CLIENT_ARRAYS
NONE = 2 << CLIENT_ARRAYS
"""The word of client arrays has a bit for each enabled array, and `TRACKED`. It is 0 as long as
there are none, `NONE` if none is enabled in the default vertex array, which alone may have some,
and -1 if what is enabled is unknown, or cannot be copied.
"""
WORDS = 1 + 4 * CLIENT_ARRAYS
"""The first word; then of each array the address, the stride, the bytes of a vertex, the format."""

REVERSED = 0x80
"""The bit beside the size in a format that says that colours are in the order of GL_BGRA."""

_COMMON = {GL.FLOAT: 4}
_NUMBERS = {GL.FLOAT: 4, GL.DOUBLE: 8, GL.SHORT: 2, GL.INT: 4}
FORMATS: dict[str, tuple[int, int, int, dict[int, int]]] = {
    "VertexPointer": (0, 2, 4, _NUMBERS),
    "NormalPointer": (1, 3, 3, _COMMON),
    "ColorPointer": (2, 3, 4, _COMMON | {GL.UNSIGNED_BYTE: 1}),
    "TexCoordPointer": (3, 1, 4, _NUMBERS),
}
"""By function: the array, its least and largest size, and the bytes of types that are copied."""

_MOST_STRIDE, _MOST_FIRST, _MOST_VERTICES, _MOST_INDICES = 2048, 1 << 24, 1 << 12, 1 << 13
_LAST_MODE = GL.POLYGON
_INDEX_TYPES = ((GL.UNSIGNED_BYTE, 1), (GL.UNSIGNED_SHORT, 2), (GL.UNSIGNED_INT, 4))
_LESS, _ABOVE, _BELOW = b"\x0f\x8c", b"\x0f\x87", b"\x0f\x82"
_EQUAL, _NOT_EQUAL, _ALWAYS = b"\x0f\x84", b"\x0f\x85", b"\xe9"
_LARGEST = {
    1: b"\x42\x0f\xb6\x04\x19",  # movzx eax, byte [rcx + r11]
    2: b"\x42\x0f\xb7\x04\x59",  # movzx eax, word [rcx + 2 * r11]
    4: b"\x42\x8b\x04\x99",  # mov eax, [rcx + 4 * r11]
}


class ArrayStubs:
    """Adds instructions to a stub: R10 is the address of the words, of which number `at` is the
    first about arrays. A jump to "on" calls Python, with all arguments unchanged.
    """

    def __init__(self, code: Assembler, at: int) -> None:
        self._code, self._at = code, at

    def _if(self, condition: bytes, label: str = "on") -> None:
        self._code.branch(condition, label)

    def _word(self, array: int = -1, part: int = 3) -> bytes:
        return struct.pack("<i", 8 * (self._at + 4 * array + 1 + part))

    def _compare(self, number: int = 0) -> None:
        self._code.raw(b"\x49\x83\xba" + self._word() + bytes([number]))  # cmp qword [r10 + ...]

    def _unless(self, array: int, label: str) -> None:
        """Jump unless an array is enabled."""
        self._test(1 << array)
        self._if(_EQUAL, label)

    def unless_any(self, label: str) -> None:
        """Jump if there are no client arrays."""
        self._compare()
        self._if(_EQUAL, label)

    def only_without(self, enables: bool) -> None:
        """Call Python if client arrays are enabled, or this call may enable one."""
        if enables:
            self._compare()
        else:
            self._test(TRACKED)
        self._if(_NOT_EQUAL)

    def _test(self, bit: int) -> None:
        self._code.raw(b"\x41\xf6\x82" + self._word() + bytes([bit]))  # test byte [r10 + ...], ...

    def _only_tracked(self) -> None:
        """Call Python unless the enabled arrays are known."""
        self._compare()
        self._if(_LESS)
        self._test(TRACKED)
        self._if(_EQUAL)

    def switched(self, on: bool) -> None:
        """Code of glEnableClientState and glDisableClientState."""
        raw = self._code.raw
        self._only_tracked()
        for array, name in enumerate(ARRAYS):
            raw(b"\x81\xff" + struct.pack("<I", name))  # cmp edi, ...
            self._if(_EQUAL, f"array {array}")
        self._if(_ALWAYS)
        for array in range(CLIENT_ARRAYS):
            self._code.label(f"array {array}")
            # or qword [r10 + ...], ...; and
            change = b"\x8a" + self._word() + bytes([1 << array])
            if not on:
                change = b"\xa2" + self._word() + bytes([0xFF ^ 1 << array])
            raw(b"\x49\x83" + change)
            self._if(_ALWAYS, "switched")
        self._code.label("switched")

    def pointed(self, name: str, array_buffer: bytes) -> None:
        """Code of glVertexPointer and others; `array_buffer`: the offset of the word that names the
        array buffer.
        """
        raw = self._code.raw
        array, least, most, types = FORMATS[name]
        self._only_tracked()
        raw(b"\x49\x83\xba" + array_buffer + b"\x00")  # cmp qword [r10 + ...], 0
        self._if(_NOT_EQUAL)
        if name == "NormalPointer":  # which has no size
            # mov eax, 3; mov r8d, edi; mov r9d, esi; mov r11, rdx
            raw(b"\xb8\x03\x00\x00\x00\x41\x89\xf8\x41\x89\xf1\x49\x89\xd3")
        else:
            # mov eax, edi; mov r8d, esi; mov r9d, edx; mov r11, rcx
            raw(b"\x89\xf8\x41\x89\xf0\x41\x89\xd1\x49\x89\xcb")
        if name == "ColorPointer":
            raw(b"\x3d" + struct.pack("<I", GL.BGRA))  # cmp eax, ...
            self._if(_NOT_EQUAL, "sized")
            raw(b"\x41\x81\xf8" + struct.pack("<I", GL.UNSIGNED_BYTE))  # cmp r8d, ...
            self._if(_NOT_EQUAL)
            raw(b"\xb8" + struct.pack("<I", REVERSED | 4))  # mov eax, ...
            self._if(_ALWAYS, "checked")
            self._code.label("sized")
        raw(b"\x83\xf8" + bytes([least]))  # cmp eax, ...
        self._if(_BELOW)
        raw(b"\x83\xf8" + bytes([most]))
        self._if(_ABOVE)
        self._code.label("checked")
        raw(b"\x41\x81\xf9" + struct.pack("<I", _MOST_STRIDE))  # cmp r9d, ...
        self._if(_ABOVE)
        raw(b"\x4d\x85\xdb")  # test r11, r11
        self._if(_EQUAL)
        raw(b"\x4d\x89\x9a" + self._word(array, 0))  # mov [r10 + ...], r11
        # mov r11d, r8d; shl r11d, 8; or r11d, eax; mov [r10 + ...], r11
        raw(b"\x45\x89\xc3\x41\xc1\xe3\x08\x41\x09\xc3\x4d\x89\x9a" + self._word(array, 3))
        raw(b"\x83\xe0\x07")  # and eax, 7
        for kind, size in types.items():
            raw(b"\x41\xbb" + struct.pack("<I", size))  # mov r11d, ...
            raw(b"\x41\x81\xf8" + struct.pack("<I", kind))  # cmp r8d, ...
            self._if(_EQUAL, "typed")
        self._if(_ALWAYS)
        self._code.label("typed")
        raw(b"\x41\x0f\xaf\xc3\x49\x89\x82" + self._word(array, 2))  # imul eax, r11d; mov
        # test r9d, r9d; cmove r9d, eax; mov [r10 + ...], r9
        raw(b"\x45\x85\xc9\x44\x0f\x44\xc8\x4d\x89\x8a" + self._word(array, 1))

    def check_draw(self, indexed: bool) -> None:
        """Find out whether the arrays of a draw can be copied: their bytes into RAX, their vertices
        into R8. Jumps to "plain" if there are no client arrays.
        """
        raw = self._code.raw
        self.unless_any("plain")
        self._compare(NONE)
        self._if(_EQUAL, "plain")
        self._only_tracked()
        self._unless(0, "on")
        raw(b"\x83\xff" + bytes([_LAST_MODE]))  # cmp edi, ...
        self._if(_ABOVE)
        if indexed:
            raw(b"\x83\xff" + bytes([GL.QUADS]))  # which are cut in another way then
            self._if(_EQUAL)
            self._find_largest_index()
        else:
            raw(b"\x81\xfe" + struct.pack("<I", _MOST_FIRST))  # cmp esi, ...
            self._if(_ABOVE)
            raw(b"\x41\x89\xd0\x45\x31\xdb")  # mov r8d, edx; xor r11d, r11d
        raw(b"\x45\x85\xc0")  # test r8d, r8d
        self._if(_EQUAL)
        raw(b"\x41\x81\xf8" + struct.pack("<I", _MOST_VERTICES))  # cmp r8d, ...
        self._if(_ABOVE)
        for array in range(CLIENT_ARRAYS):
            self._unless(array, f"counted {array}")
            raw(b"\x49\x83\xba" + self._word(array, 0) + b"\x00")  # cmp qword [r10 + ...], 0
            self._if(_EQUAL)
            self._bytes_of(array)
            raw(b"\x48\x83\xc0\x07\x49\x01\xc3")  # add rax, 7; add r11, rax
            self._code.label(f"counted {array}")
        raw(b"\x4c\x89\xd8")  # mov rax, r11

    def _bytes_of(self, array: int) -> None:
        """Read into RAX how many bytes of an array R8 vertices have."""
        # lea rax, [r8 - 1]; imul rax, [r10 + ...]; add rax, [r10 + ...]
        stride, size = self._word(array, 1), self._word(array, 2)
        self._code.raw(b"\x49\x8d\x40\xff\x49\x0f\xaf\x82" + stride + b"\x49\x03\x82" + size)

    def _find_largest_index(self) -> None:
        """Read the vertices up to the largest index into R8, and the bytes of indices into R11."""
        raw = self._code.raw
        # lea eax, [rsi - 1]; cmp eax, ...
        raw(b"\x8d\x46\xff\x3d" + struct.pack("<I", _MOST_INDICES - 1))
        self._if(_ABOVE)
        raw(b"\x48\x85\xc9")  # test rcx, rcx
        self._if(_EQUAL)
        raw(b"\x45\x31\xc0\x45\x31\xdb")  # xor r8d, r8d; xor r11d, r11d
        for kind, size in _INDEX_TYPES:
            raw(b"\x81\xfa" + struct.pack("<I", kind))  # cmp edx, ...
            self._if(_EQUAL, f"index {size}")
        self._if(_ALWAYS)
        for _, size in _INDEX_TYPES:
            self._code.label(f"index {size}")
            raw(_LARGEST[size])
            raw(b"\x44\x39\xc0\x44\x0f\x47\xc0")  # cmp eax, r8d; cmova r8d, eax
            raw(b"\x41\xff\xc3\x41\x39\xf3")  # inc r11d; cmp r11d, esi
            self._if(_BELOW, f"index {size}")
            raw(b"\x49\xc1\xe3" + bytes([size >> 1]))  # shl r11, ...
            self._if(_ALWAYS, "indexed")
        self._code.label("indexed")
        raw(b"\x41\x81\xf8" + struct.pack("<I", _MOST_VERTICES))  # cmp r8d, ...
        self._if(_ABOVE)
        raw(b"\x41\xff\xc0\x49\x83\xc3\x07")  # inc r8d; add r11, 7

    def copy(self, number: int, indexed: bool, written: bytes) -> None:
        """Write the command at R11, and copy the arrays beside the commands, to the address in the
        word at `written`.
        """
        raw = self._code.raw
        raw(b"\x49\xc7\x03" + struct.pack("<I", number))  # mov qword [r11], ...
        raw(b"\x89\xf8\x49\x89\x43\x08")  # mov eax, edi; mov [r11 + 8], rax
        raw(b"\x89\xf0\x49\x89\x43\x10")  # mov eax, esi; mov [r11 + 16], rax
        raw(b"\x89\xd0\x49\x89\x43\x18")  # mov eax, edx; mov [r11 + 24], rax
        raw(b"\x4d\x89\x43" + bytes([8 * VERTICES]))  # mov [r11 + ...], r8
        raw(b"\x49\x8b\xba" + written)  # mov rdi, [r10 + ...]
        if indexed:
            raw(b"\x49\x89\xc9\x89\xf0")  # mov r9, rcx; mov eax, esi
            # lea ecx, [rdx - GL_UNSIGNED_BYTE]; shr ecx, 1; shl eax, cl; mov ecx, eax
            raw(b"\x8d\x8a" + struct.pack("<i", -GL.UNSIGNED_BYTE) + b"\xd1\xe9\xd3\xe0\x89\xc1")
            raw(b"\x4c\x89\xce\x49\x89\x7b\x20")  # mov rsi, r9; mov [r11 + 32], rdi
            self._copy_bytes()
            raw(b"\x45\x31\xc9")  # xor r9d, r9d
        else:
            raw(b"\x41\x89\xf1")  # mov r9d, esi
        for array in range(CLIENT_ARRAYS):
            place = bytes([8 * (COPY + array)])
            raw(b"\x49\xc7\x43" + place + bytes(4))  # mov qword [r11 + ...], 0
            self._unless(array, f"copied {array}")
            stride = self._word(array, 1)
            # mov rax, r9; imul rax, [r10 + ...]; add rax, [r10 + ...]; mov rsi, rax
            raw(b"\x4c\x89\xc8\x49\x0f\xaf\x82" + stride + b"\x49\x03\x82" + self._word(array, 0))
            raw(b"\x48\x89\xc6")
            self._bytes_of(array)
            raw(b"\x48\x89\xc1\x49\x89\x7b" + place)  # mov rcx, rax; mov [r11 + ...], rdi
            self._copy_bytes()
            # mov rax, [r10 + ...]; shl rax, 32; or rax, [r10 + ...]; mov [r11 + ...], rax
            raw(b"\x49\x8b\x82" + stride + b"\x48\xc1\xe0\x20\x49\x0b\x82" + self._word(array, 3))
            raw(b"\x49\x89\x43" + bytes([8 * (FORMAT + array)]))
            self._code.label(f"copied {array}")
        raw(b"\x49\x89\xba" + written)  # mov [r10 + ...], rdi

    def _copy_bytes(self) -> None:
        """Copy RCX bytes from RSI to RDI, which is aligned then."""
        self._code.raw(b"\xf3\xa4\x48\x83\xc7\x07\x48\x83\xe7\xf8")  # rep movsb; add rdi, 7; and
