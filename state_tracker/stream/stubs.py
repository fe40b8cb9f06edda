"""Machine code of the functions that C calls: each writes its command into the ring and returns.

The location of the arguments follows from the function's signature and the x86-64 System V calling
convention. A stub jumps to the ordinary pointer, with all arguments unchanged, if the calling
thread does not own the ring, if the ring is full, or if the pointed-at data does not have one of
the supported sizes.
"""

from __future__ import annotations

import ctypes
import struct
from enum import IntEnum

from gallette.state_tracker.entry_points import machine_code
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.machine_code import Assembler

from . import array_stubs
from .array_stubs import ArrayStubs
from .calls import (
    CALLS,
    COMMAND_BYTES,
    IN_LIST,
    MOST_DRAW_BUFFERS,
    NUMBERS,
    OF_CLIENTS,
    PAYLOAD,
    Call,
    Family,
    Role,
)

MOST_WRITTEN = 1 << 14
"""Limit on the bytes that a command may write to a buffer or a texture."""

_MOST_VALUES = 1 << 10
"""Limit on the values of a uniform array that a call sets, if it becomes a command."""

_LOWEST_ADDRESS = 1 << 22
"""Linux loads programs at this address or above it, so a smaller pointer to indices is an offset
into a buffer."""

_MOST_TEXELS = 1 << 12
"""Limit on the width and the height of a texture update that becomes a command."""

_ALONE = [call.number for call in CALLS if call.stands_alone]


class Word(IntEnum):
    """Words shared by stubs and Python."""

    # The thread whose calls become commands, 0 for none: of functions of `Role.OLD`, which only the
    # compatibility profile has, and of all others.
    THREAD = 0
    OLD_THREAD = 1
    PENDING = 2  # whether there is a command
    NEXT = 3  # the address of the next command
    END = 4  # from this address on there is no room
    WRITTEN = 5  # the address for the next buffer data
    WRITTEN_END = 6
    # From here on what was called last, -1 for nothing yet: of functions that stand alone the
    # argument, of capabilities whether they were enabled, and the array buffer.
    LAST = 7


_SWITCHES = [
    int(cap)
    for cap in (
        *(GL.BLEND, GL.DEPTH_TEST, GL.CULL_FACE, GL.STENCIL_TEST, GL.SCISSOR_TEST),
        *(GL.PROGRAM_POINT_SIZE, GL.RASTERIZER_DISCARD),
    )
]
"""Capabilities that programs toggle often, each with a word of its own after those of `Word`."""

_OFTEN_SET = (
    *(GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER),
    *(GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T, GL.TEXTURE_WRAP_R),
)
"""Parameters of textures and samplers whose calls become commands."""

_COLORS = GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR, GL.EMISSION, GL.AMBIENT_AND_DIFFUSE
"""Properties of materials that are colours."""

ARRAY_BUFFER = Word.LAST + len(_ALONE) + len(_SWITCHES)
"""The word that names the array buffer: 0 for none, -1 if that is unknown."""

PLAIN_ROWS = ARRAY_BUFFER + 1
"""The word that is 1 if rows of 4-byte texels lie in client memory without gaps between them."""

CLIENTS = PLAIN_ROWS + 1
"""The first word about client arrays."""

WORDS = CLIENTS + array_stubs.WORDS

_ABOVE, _NOT_ABOVE, _NOT_BELOW = b"\x0f\x87", b"\x0f\x86", b"\x0f\x83"
_NOT_GREATER = b"\x0f\x8e"  # of signed numbers
_NOT_EQUAL, _EQUAL, _ALWAYS = b"\x0f\x85", b"\x0f\x84", b"\xe9"

# By size: code that loads RCX or a part of it, and that stores it.
_MOVES = (
    (8, b"\x48\x8b", b"\x49\x89"),
    (4, b"\x8b", b"\x41\x89"),
    (2, b"\x66\x8b", b"\x66\x41\x89"),
    (1, b"\x8a", b"\x41\x88"),
)
# For the integer registers, in order: code that reads each into RAX.
_UNSIGNED = (b"\x89\xf8", b"\x89\xf0", b"\x89\xd0", b"\x89\xc8", b"\x44\x89\xc0", b"\x44\x89\xc8")
_SIGNED = tuple(
    b"\x48\x63" + to if len(to) == 1 else to
    for to in (b"\xc7", b"\xc6", b"\xc2", b"\xc1", b"\x49\x63\xc0", b"\x49\x63\xc1")
)
_BYTE = tuple(
    b"\x40\x0f\xb6" + to if len(to) == 1 else to
    for to in (b"\xc7", b"\xc6", b"\xc2", b"\xc1", b"\x41\x0f\xb6\xc0", b"\x41\x0f\xb6\xc1")
)
_LONG = tuple(
    b"\x48\x89" + to if len(to) == 1 else to
    for to in (b"\xf8", b"\xf0", b"\xd0", b"\xc8", b"\x4c\x89\xc0", b"\x4c\x89\xc8")
)
_INTEGERS = {
    ctypes.c_uint32: _UNSIGNED,
    ctypes.c_int32: _SIGNED,
    ctypes.c_uint8: _BYTE,
    ctypes.c_ssize_t: _LONG,
    ctypes.c_void_p: _LONG,
}


class _Stub(Assembler):
    """R10 is the address of the words, R11 that of the command."""

    def __init__(self, call: Call, words: int, pointer: int) -> None:
        super().__init__()
        self._call, self._words, self._pointer = call, words, pointer
        self._arrays = ArrayStubs(self, CLIENTS)

    def on_if(self, condition: bytes) -> None:
        """Jump to the Python path on a condition."""
        self.branch(condition, "on")

    def made(self) -> bytes:
        self._enter()
        if self._call.changes_arrays and self._call.name in OF_CLIENTS:
            self._set_clients()
        elif self._call.changes_arrays:
            self._arrays.only_without(self._call.name == "EnableVertexAttribArray")
        if self._call.name in ("Enable", "Disable"):
            self._leave_if_switched(self._call.name == "Enable")
        if self._call.name == "BindBuffer":
            self._leave_if_bound()
        if self._call.name == "PixelStorei":
            self._note_gaps()
        if self._call.group in (Family.TEXTURE_PARAMETER, Family.SAMPLER_PARAMETER):
            self._check_parameter()
        if self._call.stands_alone:
            self._unless_lists("alone")
            last = _at(Word.LAST + _ALONE.index(self._call.number))
            self.raw(_UNSIGNED[0] + b"\x49\x39\x82" + last)  # mov eax, edi; cmp [r10 + ...], rax
            self.branch(_EQUAL, "done")
            self.raw(b"\x49\x89\x82" + last)  # mov [r10 + ...], rax
            self.label("alone")
        if self._call.role is Role.DRAW and self._call.name in OF_CLIENTS:
            self._draw_from_clients()
        self._check()
        self._find_command()
        self.raw(b"\x49\xc7\x03" + struct.pack("<I", self._call.number))  # mov qword [r11]
        self._store_arguments()
        self._store_payload()
        self.label("stored command")
        self.raw(b"\x49\x81\xc3" + struct.pack("<I", COMMAND_BYTES))  # add r11, ...
        self.raw(b"\x4d\x89\x9a" + _at(Word.NEXT))  # mov [r10 + ...], r11
        self.raw(b"\x49\xc7\x82" + _at(Word.PENDING) + struct.pack("<I", 1))  # mov qword
        self.label("done")
        self.leave()
        self.label("on")
        self.go_to(self._pointer)
        return self.assembled()

    def _find_command(self) -> None:
        self.raw(b"\x4d\x8b\x9a" + _at(Word.NEXT))  # mov r11, [r10 + ...]
        self.raw(b"\x4d\x3b\x9a" + _at(Word.END))  # cmp r11, [r10 + ...]
        self.on_if(_NOT_BELOW)

    def _draw_from_clients(self) -> None:
        """Copy the client arrays of a draw, if there are any."""
        name, indexed = self._call.name, self._call.name == "DrawElements"
        self._arrays.check_draw(indexed)
        self._check_room()
        self._find_command()
        self._arrays.copy(OF_CLIENTS[name], indexed, _at(Word.WRITTEN))
        self.branch(_ALWAYS, "stored command")
        self.label("plain")

    def _set_clients(self) -> None:
        """Follow where client arrays are, if there are any."""
        name = self._call.name
        self._arrays.unless_any("plain")
        if name in array_stubs.FORMATS:
            self._arrays.pointed(name, _at(ARRAY_BUFFER))
        else:
            self._arrays.switched(name == "EnableClientState")
        self._find_command()
        self.raw(b"\x49\xc7\x03" + struct.pack("<I", OF_CLIENTS[name]))  # mov qword [r11]
        self._store_arguments()
        self.branch(_ALWAYS, "stored command")
        self.label("plain")

    def _enter(self) -> None:
        """Check that the calling thread owns the ring."""
        words = b"\x49\xba" + struct.pack("<Q", self._words)  # mov r10, ...
        thread = _at(Word.OLD_THREAD if self._call.role is Role.OLD else Word.THREAD)
        self.raw(words + b"\x49\x83\xba" + thread + b"\x00")  # cmp qword [r10 + ...], 0
        self.on_if(_EQUAL)
        # push rdi, rsi, rdx, rcx, r8, r9; sub rsp, 8: the stack is aligned
        self.raw(b"\x57\x56\x52\x51\x41\x50\x41\x51\x48\x83\xec\x08")
        self.point_at(machine_code.thread_function())
        self.raw(b"\xff\xd0\x48\x83\xc4\x08\x41\x59\x41\x58\x59\x5a\x5e\x5f")  # call; pop
        self.raw(words + b"\x49\x3b\x82" + thread)  # cmp rax, [r10 + ...]
        self.on_if(_NOT_EQUAL)

    def _unless_lists(self, label: str) -> None:
        """Jump if there may be display lists, which may set what was set last."""
        self.raw(b"\x49\x83\xba" + _at(Word.OLD_THREAD) + b"\x00")  # cmp qword [r10 + ...], 0
        self.branch(_NOT_EQUAL, label)

    def _leave_if_switched(self, on: bool) -> None:
        """Return early if a capability was already set that way."""
        self._unless_lists("write")
        for cap in _SWITCHES:
            self.raw(b"\x81\xff" + struct.pack("<I", cap))  # cmp edi, ...
            self.branch(_EQUAL, f"switch {cap}")
        self.branch(_ALWAYS, "write")
        for number, cap in enumerate(_SWITCHES, Word.LAST + len(_ALONE)):
            self.label(f"switch {cap}")
            self.raw(b"\x49\x83\xba" + _at(number) + bytes([on]))  # cmp qword [r10 + ...], ...
            self.branch(_EQUAL, "done")
            self.raw(b"\x49\xc7\x82" + _at(number) + struct.pack("<I", on))  # mov qword
            self.branch(_ALWAYS, "write")
        self.label("write")

    def _leave_if_bound(self) -> None:
        """Return early if this buffer is already bound for vertex arrays. Texels come from client
        memory only as long as no buffer of pixels is bound."""
        self.raw(b"\x81\xff" + struct.pack("<I", GL.PIXEL_UNPACK_BUFFER))  # cmp edi, ...
        self.branch(_NOT_EQUAL, "vertices")
        self.raw(b"\x49\xc7\x82" + _at(PLAIN_ROWS) + bytes(4))  # mov qword [r10 + ...], 0
        self.label("vertices")
        self.raw(b"\x81\xff" + struct.pack("<I", GL.ARRAY_BUFFER))  # cmp edi, ...
        self.branch(_NOT_EQUAL, "write")
        self.raw(_UNSIGNED[1] + b"\x49\x39\x82" + _at(ARRAY_BUFFER))  # mov eax, esi; cmp
        self.branch(_EQUAL, "done")
        self.raw(b"\x49\x89\x82" + _at(ARRAY_BUFFER))  # mov [r10 + ...], rax
        self.label("write")

    def _note_gaps(self) -> None:
        """Rows may have gaps from now on, unless an alignment is set, to what 4-byte texels always
        have.
        """
        self.raw(b"\x81\xff" + struct.pack("<I", GL.PACK_ALIGNMENT))  # cmp edi, ...
        self.branch(_EQUAL, "write")
        self.raw(b"\x81\xff" + struct.pack("<I", GL.UNPACK_ALIGNMENT))
        self.branch(_NOT_EQUAL, "gaps")
        self.raw(b"\x83\xfe\x04")  # cmp esi, 4
        self.branch(_NOT_ABOVE, "write")
        self.label("gaps")
        self.raw(b"\x49\xc7\x82" + _at(PLAIN_ROWS) + bytes(4))  # mov qword [r10 + ...], 0
        self.label("write")

    def _check_parameter(self) -> None:
        """Check that a parameter is one of those that programs set often. Each of them is stored by
        itself, and selects a sampler only.
        """
        for pname in _OFTEN_SET:
            self.raw(b"\x81\xfe" + struct.pack("<I", pname))  # cmp esi, ...
            self.branch(_EQUAL, "write")
        self.on_if(_ALWAYS)
        self.label("write")

    def _check_array(self) -> None:
        """Check that an array is one of the common ones, which are neighbours."""
        # lea eax, [rdi - GL_VERTEX_ARRAY]; cmp eax, ...
        self.raw(b"\x8d\x87" + struct.pack("<i", -GL.VERTEX_ARRAY))
        self.raw(b"\x83\xf8" + bytes([GL.TEXTURE_COORD_ARRAY - GL.VERTEX_ARRAY]))
        self.on_if(_ABOVE)

    def _check_property(self) -> None:
        """Check that a property of a material is a number or a colour."""
        for pname in (*_COLORS, GL.SHININESS):
            self.raw(b"\x81\xfe" + struct.pack("<I", pname))  # cmp esi, ...
            self.branch(_EQUAL, "property")
        self.on_if(_ALWAYS)
        self.label("property")

    def _check_texels(self) -> None:
        """Check that a part of a texture is given as RGBA bytes, and is small."""
        self.raw(b"\x49\x83\xba" + _at(PLAIN_ROWS) + b"\x01")  # cmp qword [r10 + ...], 1
        self.on_if(_NOT_EQUAL)
        for place, wanted in ((8, GL.RGBA), (16, GL.UNSIGNED_BYTE)):
            self.raw(b"\x8b\x44\x24" + bytes([place]))  # mov eax, [rsp + ...]
            self.raw(b"\x3d" + struct.pack("<I", wanted))  # cmp eax, ...
            self.on_if(_NOT_EQUAL)
        self.raw(b"\x45\x89\xcb\x44\x89\xc0")  # mov r11d, r9d; mov eax, r8d
        self.raw(b"\x41\x81\xfb" + struct.pack("<I", _MOST_TEXELS))  # cmp r11d, ...
        self.on_if(_ABOVE)
        self.raw(b"\x3d" + struct.pack("<I", _MOST_TEXELS))  # cmp eax, ...
        self.on_if(_ABOVE)
        self.raw(b"\x49\x0f\xaf\xc3\x48\xc1\xe0\x02")  # imul rax, r11; shl rax, 2
        self.on_if(_EQUAL)
        self._check_room()

    def _check_room(self) -> None:
        """Check that there is room for as many bytes as RAX says."""
        self.raw(b"\x48\x3d" + struct.pack("<I", MOST_WRITTEN))  # cmp rax, ...
        self.on_if(_ABOVE)
        self.raw(b"\x49\x03\x82" + _at(Word.WRITTEN))  # add rax, [r10 + ...]
        self.raw(b"\x49\x3b\x82" + _at(Word.WRITTEN_END))  # cmp rax, [r10 + ...]
        self.on_if(_ABOVE)

    def _check(self) -> None:
        """Check that the data behind a pointer can be copied."""
        call = self._call
        if call.name.endswith("ClientState"):
            self._check_array()
        if call.role is Role.DRAW:
            if call.name not in OF_CLIENTS:
                self._arrays.only_without(False)
            for number, param in enumerate(call.function.params):
                if param.stars:  # offsets into buffers are less, addresses of indices are more
                    self.raw(self._read(number, _LONG))
                    self.raw(b"\x48\x3d" + struct.pack("<I", _LOWEST_ADDRESS))  # cmp rax, ...
                    self.on_if(_NOT_BELOW)
        if call.points_into_buffer:
            self.raw(b"\x49\x83\xba" + _at(ARRAY_BUFFER) + b"\x00")  # cmp qword [r10 + ...], 0
            self.on_if(_NOT_GREATER)
        if not call.pointer:
            return
        if call.role is Role.UNIFORM:
            self.raw(b"\x83\xfe\x01")  # cmp esi, 1
            self.branch(_EQUAL, "one")
            self.raw(b"\x85\xf6")  # test esi, esi
            self.on_if(_EQUAL)
            self.raw(b"\x89\xf0\x3d" + struct.pack("<I", _MOST_VALUES))  # mov eax, esi; cmp
            self.on_if(_ABOVE)
            self.raw(b"\x69\xc0" + struct.pack("<I", call.payload))  # imul eax, eax, ...
            self._check_room()
            self.label("one")
            if call.kind[2] > 1:
                self.raw(b"\x84\xd2")  # test dl, dl: to transpose
                self.on_if(_NOT_EQUAL)
        elif call.role is Role.WRITE:
            self.raw(b"\x48\x85\xd2")  # test rdx, rdx
            self.on_if(_EQUAL)
            self.raw(b"\x48\x89\xd0")  # mov rax, rdx
            self._check_room()
        elif call.role is Role.TEXELS:
            self._check_texels()
        elif call.role is not Role.OLD:
            self.raw(b"\x85\xff")  # test edi, edi
            self.on_if(_EQUAL)
            self.raw(b"\x83\xff" + bytes([MOST_DRAW_BUFFERS]))  # cmp edi, ...
            self.on_if(_ABOVE)
        if call.name == "Materialfv":
            self._check_property()
        if call.role is Role.OLD and not call.points_at_payload:
            self.raw(b"\xb8" + struct.pack("<I", call.payload))  # mov eax, ...
            self._check_room()
        self.raw(self._read(len(call.function.params) - 1, _LONG))
        self.raw(b"\x48\x85\xc0")  # test rax, rax
        self.on_if(_EQUAL)

    def _store_arguments(self) -> None:
        if self._call.name == "Begin":
            self.raw(b"\x49\xc7\x43" + bytes([8 * IN_LIST]) + bytes(4))  # mov qword [r11 + ...], 0
        integer = real = 0
        for number, param in enumerate(self._call.function.params):
            place = 8 + 8 * number
            scalar = number >= self._call.words
            if scalar:  # of a uniform, in the payload; or the pointer at it
                place = PAYLOAD + 4 * (number - 1)
            store = b"\x41\x89\x43" if scalar else b"\x49\x89\x43"  # mov [r11 + ...], eax; rax
            if param.ctype is ctypes.c_float:
                self.raw(b"\x66\x0f\x7e" + bytes([0xC0 | real << 3]))  # movd eax, xmm
                real += 1
            elif param.ctype is ctypes.c_double:
                self.raw(b"\x66\x48\x0f\x7e" + bytes([0xC0 | real << 3]))  # movq rax, xmm
                real += 1
            else:
                self.raw(self._read(integer, _INTEGERS[param.ctype]))
                integer += 1
            if not (scalar and param.stars):
                self.raw(store + bytes([place]))

    @staticmethod
    def _read(integer: int, registers: tuple[bytes, ...]) -> bytes:
        """Code that reads an integer argument into RAX: from a register, or from the stack."""
        if integer < len(registers):
            return registers[integer]
        # mov eax or rax, [rsp + ...]
        wide = b"\x48" if registers is _LONG else b""
        return wide + b"\x8b\x44\x24" + bytes([8 * (integer - len(registers) + 1)])

    def _store_payload(self) -> None:
        call = self._call
        if not call.pointer:
            return
        last = len(call.function.params) - 1
        register = self._read(last, _LONG)
        self.raw(register)
        if call.role is Role.WRITE:
            self._store_beside(b"\x48\x89\xd1")  # mov rcx, rdx
            return
        if call.role is Role.OLD and not call.points_at_payload:
            self._store_beside(b"\xb9" + struct.pack("<I", call.payload))  # mov ecx, ...
            return
        if call.role is Role.TEXELS:
            # mov ecx, r8d; imul ecx, r9d; shl ecx, 2
            self._store_beside(b"\x44\x89\xc1\x41\x0f\xaf\xc9\xc1\xe1\x02")
            return
        if call.role is Role.UNIFORM:
            self.raw(b"\x83\xfe\x01")  # cmp esi, 1
            self.branch(_EQUAL, "one value")
            self._store_beside(b"\x69\xce" + struct.pack("<I", call.payload))  # imul ecx, esi, ...
            self.branch(_ALWAYS, "stored")
            self.label("one value")
        if call.payload:
            if call.name == "Materialfv":
                self.raw(b"\x81\xfe" + struct.pack("<I", GL.SHININESS))  # cmp esi, ...
                self.branch(_NOT_EQUAL, "color")
                self._copy(0, 4)
                self.branch(_ALWAYS, "stored")
                self.label("color")
            for place in range(0, call.payload, 8):
                self._copy(place, min(8, call.payload - place))
        else:
            self.raw(b"\x89\xf9\x31\xd2")  # mov ecx, edi; xor edx, edx
            for place in range(PAYLOAD, PAYLOAD + 4 * MOST_DRAW_BUFFERS, 8):
                self.raw(b"\x49\x89\x53" + bytes([place]))  # mov [r11 + ...], rdx
            self.raw(b"\x49\x8d\x7b" + bytes([PAYLOAD]))  # lea rdi, [r11 + ...]
            self.raw(b"\x48\x89\xc6\xf3\xa5")  # mov rsi, rax; rep movsd
        self.label("stored")

    def _copy(self, place: int, size: int) -> None:
        """Copy up to 8 bytes of the data at RAX, with the largest moves."""
        for each, load, store in _MOVES:
            while size >= each:
                self.raw(load + b"\x48" + bytes([place]))  # mov rcx, [rax + ...], or a part of it
                self.raw(store + b"\x4b" + bytes([PAYLOAD + place]))  # mov [r11 + ...], rcx
                place, size = place + each, size - each

    def _store_beside(self, size: bytes) -> None:
        """Copy the bytes at RAX beside the commands, and store where they are as the last argument;
        `size` is code that reads their number into RCX.
        """
        last = len(self._call.function.params) - 1
        self.raw(size + b"\x48\x89\xc6")  # mov rsi, rax
        self.raw(b"\x49\x8b\xba" + _at(Word.WRITTEN))  # mov rdi, [r10 + ...]
        self.raw(b"\x49\x89\x7b" + bytes([8 + 8 * last]) + b"\xf3\xa4")  # mov [r11 + ...], rdi
        self.raw(b"\x48\x83\xc7\x07\x48\x83\xe7\xf8")  # add rdi, 7; and rdi, -8
        self.raw(b"\x49\x89\xba" + _at(Word.WRITTEN))  # mov [r10 + ...], rdi


def _at(word: int) -> bytes:
    return struct.pack("<i", 8 * word)


def stub(name: str, words: int, pointer: int) -> bytes:
    """The code of a function, by its name without `gl`.

    `words` is the address of the shared words, `pointer` that of the fallback function.
    """
    return _Stub(CALLS[NUMBERS[name]], words, pointer).made()
