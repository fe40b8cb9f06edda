"""The machine code of calls that are noted without Python (see `recording` for what and why).

Each function looks whether the calling thread's context has its calls recorded now. Then it checks
its arguments, as far as Python would do more with them than to note them, and notes them; whatever
else there is goes on to Python, which finds the arguments as they were.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping

from . import clears
from .recorder import ABOVE, EQUAL, NEGATIVE, NOT_BELOW, NOT_EQUAL, NOT_POSITIVE, Recorder, disp
from .words import (
    BOUND,
    BOXES,
    CAPABILITIES,
    DRAWS,
    MOST_ARRAYS,
    MOST_BUFFERS,
    MOST_POINTS,
    MOST_PROGRAMS,
    MOST_QUERIES,
    MOST_TEXTURES,
    MOST_WRITTEN,
    PROGRAM_WORDS,
    SAMPLES_PASSED,
    TEXTURE_2D,
    TEXTURE_UNIT_0,
    UNIFORM_BUFFER,
    UNIFORM_UNIT,
    UNITS,
    Word,
    uniform_kind,
)

__all__ = ["NAMES", "code"]

_LAST_MODE = 6  # triangle fans


def _switched(value: int) -> Callable[[Recorder], None]:
    """glEnable, glDisable: EDI is the capability."""

    def write(code: Recorder) -> None:
        for cap, (word, _) in CAPABILITIES.items():
            code.if_argument_is(cap, f"capability {word}")
        code.jump("on")
        for word, recorded in CAPABILITIES.values():
            code.label(f"capability {word}")
            if recorded:
                code.raw(b"\x49\xc7\x82" + disp(word) + struct.pack("<I", value))  # mov
                code.end()
            else:  # this one changes too much: only what is so already is left out
                code.raw(b"\x49\x83\xba" + disp(word) + bytes([value]))  # cmp
                code.on_if(NOT_EQUAL)
                code.leave()

    return write


def _use_program(code: Recorder) -> None:
    """EDI is its name."""
    code.raw(b"\x89\xf8")  # mov eax, edi
    code.rax_and(Word.PROGRAM)
    code.branch(NOT_EQUAL, "another")
    code.leave()
    code.label("another")
    code.raw(b"\x3d" + struct.pack("<I", MOST_PROGRAMS))  # cmp eax, ...
    code.on_if(NOT_BELOW)
    code.raw(b"\x48\x89\xc6\x48\xc1\xe6\x05")  # mov rsi, rax; shl rsi, 5
    code.raw(b"\x49\x03\xb2" + disp(Word.KNOWN_PROGRAMS))  # add rsi, [r10 + ...]
    code.raw(b"\x48\x83\x7e\x10\x00")  # cmp qword [rsi + 16], 0: the address of its uniforms
    code.on_if(EQUAL)
    code.note_rax(Word.PROGRAM)
    code.raw(b"\x49\x8d\xba" + disp(Word.PLACES))  # lea rdi, [r10 + ...]
    code.raw(b"\xb9" + struct.pack("<I", PROGRAM_WORDS) + b"\xf3\x48\xa5")  # mov ecx; rep movsq
    code.end()


def _bind_vertex_array(code: Recorder) -> None:
    code.raw(b"\x89\xf8\x3d" + struct.pack("<I", MOST_ARRAYS))  # mov eax, edi; cmp eax, ...
    code.on_if(NOT_BELOW)
    code.on_unless_known(Word.KNOWN_ARRAYS)
    code.note_rax(Word.ARRAY)
    code.end()


def _active_texture(code: Recorder) -> None:
    code.raw(b"\x8d\x87" + struct.pack("<i", -TEXTURE_UNIT_0))  # lea eax, [rdi - ...]
    code.raw(b"\x3d" + struct.pack("<I", UNITS))  # cmp eax, ...
    code.on_if(NOT_BELOW)
    code.note_rax(Word.ACTIVE)
    code.end()


def _bind_texture(code: Recorder) -> None:
    """EDI is the target, ESI the name."""
    code.raw(b"\x81\xff" + struct.pack("<I", TEXTURE_2D))  # cmp edi, ...
    code.on_if(NOT_EQUAL)
    code.raw(b"\x89\xf0\x3d" + struct.pack("<I", MOST_TEXTURES))  # mov eax, esi; cmp eax, ...
    code.on_if(NOT_BELOW)
    code.on_unless_known(Word.KNOWN_TEXTURES)
    code.raw(b"\x49\x8b\x8a" + disp(Word.ACTIVE))  # mov rcx, [r10 + ...]
    code.raw(b"\x48\x81\xf9" + struct.pack("<I", UNITS))  # cmp rcx, ...
    code.on_if(NOT_BELOW)
    code.raw(b"\x49\x89\x84\xca" + disp(Word.UNIT_0))  # mov [r10 + 8 rcx + ...], rax
    code.end()


def _uniform(kind: int, is_matrix: bool) -> Callable[[Recorder], None]:
    """EDI is the location, ESI the count, then (of matrices: DL, to transpose) the address."""

    def write(code: Recorder) -> None:
        code.raw(b"\x83\xfe\x01")  # cmp esi, 1
        code.on_if(NOT_EQUAL)
        if is_matrix:
            code.raw(b"\x84\xd2")  # test dl, dl
            code.on_if(NOT_EQUAL)
        code.raw(b"\x48\x85\xc9" if is_matrix else b"\x48\x85\xd2")  # test rcx, rcx; rdx, rdx
        code.on_if(EQUAL)
        code.raw(b"\x89\xf8")  # mov eax, edi
        code.rax_and(Word.LOCATIONS)
        code.on_if(NOT_BELOW)
        code.raw(b"\x48\xc1\xe0\x04\x49\x03\x82" + disp(Word.PLACES))  # shl rax, 4; add rax, ...
        code.raw(b"\x81\x38" + struct.pack("<I", kind))  # cmp dword [rax], ...
        code.on_if(NOT_EQUAL)
        code.raw(b"\x48\x89\xce" if is_matrix else b"\x48\x89\xd6")  # mov rsi, rcx; rsi, rdx
        code.raw(b"\x8b\x48\x04\x48\x8b\x78\x08")  # mov ecx, [rax + 4]; mov rdi, [rax + 8]
        code.raw(b"\xf3\xa4")  # rep movsb
        code.end()

    return write


def _scalars(letter: str, count: int) -> Callable[[Recorder], None]:
    """EDI is the location; then the numbers, one by one: in registers of their own if floats."""

    def write(code: Recorder) -> None:
        code.raw(b"\x89\xf8")  # mov eax, edi
        code.rax_and(Word.LOCATIONS)
        code.on_if(NOT_BELOW)
        code.raw(b"\x48\xc1\xe0\x04\x49\x03\x82" + disp(Word.PLACES))  # shl rax, 4; add rax, ...
        code.raw(b"\x81\x38" + struct.pack("<I", uniform_kind(letter, count, 1)))  # cmp dword [rax]
        code.on_if(NOT_EQUAL)
        code.raw(b"\x48\x8b\x78\x08")  # mov rdi, [rax + 8]
        for number in range(count):
            store = _STORE_FLOATS if letter == "f" else _STORE_INTEGERS
            code.raw(store[number])
        code.end()

    return write


_STORE_FLOATS = [b"\xf3\x0f\x11" + bytes([0x47 | k << 3, 4 * k]) for k in range(4)]
"""movss [rdi + 4 k], xmm k"""

_STORE_INTEGERS = [b"\x89\x77\x00", b"\x89\x57\x04", b"\x89\x4f\x08", b"\x44\x89\x47\x0c"]
"""mov [rdi + 4 k], and ESI, EDX, ECX, R8D"""


def _box(word: int) -> Callable[[Recorder], None]:
    """EDI and ESI are x and y, EDX and ECX width and height."""

    def write(code: Recorder) -> None:
        for test in (b"\x85\xd2", b"\x85\xc9"):  # test edx, edx; test ecx, ecx
            code.raw(test)
            code.on_if(NEGATIVE)
        code.raw(b"\x89\xf8\x48\xc1\xe6\x20\x48\x09\xf0")  # mov eax, edi; shl rsi, 32; or rax, rsi
        code.note_rax(word)
        code.raw(b"\x89\xd0\x48\xc1\xe1\x20\x48\x09\xc8")  # the same with edx and rcx
        code.note_rax(word + 1)
        code.end()

    return write


def _targets(code: Recorder) -> Iterator[int]:
    """One piece of code for each target of buffers in EDI: what its word is."""
    for target in BOUND:
        code.if_argument_is(target, f"target {target}")
    code.jump("on")
    for target, word in BOUND.items():
        code.label(f"target {target}")
        yield word


def _bind_buffer(code: Recorder) -> None:
    """EDI is the target, ESI the name."""
    for word in _targets(code):
        code.raw(b"\x89\xf0\x3d" + struct.pack("<I", MOST_BUFFERS))  # mov eax, esi; cmp eax, ...
        code.on_if(NOT_BELOW)
        code.raw(b"\x48\xc1\xe0\x03\x49\x03\x82" + disp(Word.KNOWN_BUFFERS))  # shl rax, 3; add
        code.raw(b"\x48\x83\x38\x00")  # cmp qword [rax], 0
        code.on_if(EQUAL)
        code.raw(b"\x89\xf0")  # mov eax, esi
        code.note_rax(word)
        code.end()


def _bind_point(ranged: bool) -> Callable[[Recorder], None]:
    """EDI is the target, ESI the binding point, EDX the name; RCX the offset, R8 the size."""

    def write(code: Recorder) -> None:
        code.raw(b"\x81\xff" + struct.pack("<I", UNIFORM_BUFFER))  # cmp edi, ...
        code.on_if(NOT_EQUAL)
        code.raw(b"\x83\xfe" + bytes([MOST_POINTS]))  # cmp esi, ...
        code.on_if(NOT_BELOW)
        code.raw(b"\x81\xfa" + struct.pack("<I", MOST_BUFFERS))  # cmp edx, ...
        code.on_if(NOT_BELOW)
        code.raw(b"\x89\xd0\x49\x89\xc3\x49\xc1\xe3\x03")  # mov eax, edx; mov r11, rax; shl r11, 3
        code.raw(b"\x4d\x03\x9a" + disp(Word.KNOWN_BUFFERS))  # add r11, [r10 + ...]
        code.raw(b"\x49\x83\x3b\x00")  # cmp qword [r11], 0
        code.on_if(EQUAL)
        if ranged:
            code.raw(b"\x48\x85\xc9")  # test rcx, rcx
            code.on_if(NEGATIVE)
            code.raw(b"\xf7\xc1" + struct.pack("<I", UNIFORM_UNIT - 1))  # test ecx, ...
            code.on_if(NOT_EQUAL)
            code.raw(b"\x4d\x85\xc0")  # test r8, r8
            code.on_if(NOT_POSITIVE)
            code.raw(b"\x49\x81\xf8" + struct.pack("<I", (1 << 31) - 1))  # cmp r8, ...
            code.on_if(ABOVE)
        code.note_rax(Word.UNIFORM_BUFFER)
        code.raw(b"\x41\x89\xf3\x49\xc1\xe3\x04")  # mov r11d, esi; shl r11, 4
        if ranged:
            code.raw(b"\x49\xc1\xe0\x20\x4c\x09\xc0")  # shl r8, 32; or rax, r8
        else:
            code.raw(b"\x31\xc9")  # xor ecx, ecx
        code.raw(b"\x4b\x89\x84\x1a" + disp(Word.POINT_0))  # mov [r10 + r11 + ...], rax
        code.raw(b"\x4b\x89\x8c\x1a" + disp(Word.POINT_0 + 1))  # mov [r10 + r11 + ...], rcx
        code.end()

    return write


def _buffer_sub_data(code: Recorder) -> None:
    """EDI is the target, RSI the offset, RDX the size, RCX the address."""
    for word in _targets(code):
        code.raw(b"\x49\x8b\x82" + disp(word))  # mov rax, [r10 + ...]
        code.jump("bound")
    code.label("bound")
    code.raw(b"\x48\x85\xf6")  # test rsi, rsi
    code.on_if(NEGATIVE)
    code.raw(b"\x48\x85\xd2")  # test rdx, rdx
    code.on_if(EQUAL)
    code.raw(b"\x48\x81\xfa" + struct.pack("<I", MOST_WRITTEN))  # cmp rdx, ...
    code.on_if(ABOVE)
    code.raw(b"\x48\x85\xc9")  # test rcx, rcx
    code.on_if(EQUAL)
    code.raw(b"\x49\x89\xc3\x49\xc1\xe3\x03")  # mov r11, rax; shl r11, 3
    code.raw(b"\x4d\x03\x9a" + disp(Word.KNOWN_BUFFERS))  # add r11, [r10 + ...]
    code.raw(b"\x4c\x8d\x0c\x16\x4d\x3b\x0b")  # lea r9, [rsi + rdx]; cmp r9, [r11]
    code.on_if(NOT_BELOW)
    code.raw(b"\x4d\x8b\x8a" + disp(Word.COPY_NEXT))  # mov r9, [r10 + ...]
    code.raw(b"\x4d\x8d\x1c\x11\x4d\x3b\x9a" + disp(Word.COPY_END))  # lea r11, [r9 + rdx]; cmp
    code.on_if(ABOVE)
    code.begin_record("BufferSubData")
    code.raw(b"\x49\x89\x43\x08\x49\x89\x73\x10")  # mov [r11 + 8], rax; [r11 + 16], rsi
    code.raw(b"\x49\x89\x53\x18\x4d\x89\x4b\x20")  # and rdx, r9
    code.raw(
        b"\x48\x89\xce\x4c\x89\xcf\x48\x89\xd1\xf3\xa4"
    )  # mov rsi, rcx; rdi, r9; rcx, rdx; rep
    code.raw(b"\x48\x83\xc7\x07\x48\x83\xe7\xf8")  # add rdi, 7; and rdi, -8
    code.raw(b"\x49\x89\xba" + disp(Word.COPY_NEXT))  # mov [r10 + ...], rdi
    code.end_record()


def _begin_query(code: Recorder) -> None:
    """EDI is the target, ESI the name."""
    code.raw(b"\x81\xff" + struct.pack("<I", SAMPLES_PASSED))  # cmp edi, ...
    code.on_if(NOT_EQUAL)
    code.raw(b"\x49\x83\xba" + disp(Word.QUERY) + b"\x00")  # cmp qword [r10 + ...], 0
    code.on_if(NOT_EQUAL)
    code.raw(b"\x89\xf0\x3d" + struct.pack("<I", MOST_QUERIES))  # mov eax, esi; cmp eax, ...
    code.on_if(NOT_BELOW)
    code.on_unless_known(Word.KNOWN_QUERIES)
    code.begin_record("BeginQuery")
    code.raw(b"\x49\x89\x43\x08")  # mov [r11 + 8], rax
    code.note_rax(Word.QUERY)
    code.end_record()


def _end_query(code: Recorder) -> None:
    """EDI is the target."""
    code.raw(b"\x81\xff" + struct.pack("<I", SAMPLES_PASSED))  # cmp edi, ...
    code.on_if(NOT_EQUAL)
    code.raw(b"\x49\x83\xba" + disp(Word.QUERY) + b"\x00")  # cmp qword [r10 + ...], 0
    code.on_if(NOT_POSITIVE)
    code.begin_record("EndQuery")
    code.raw(b"\x49\xc7\x82" + disp(Word.QUERY) + bytes(4))  # mov qword [r10 + ...], 0
    code.end_record()


def _draw(name: str, indexed: bool, instanced: bool) -> Callable[[Recorder], None]:
    """EDI is the mode. Arrays: ESI first, EDX count, ECX instances; elements: ESI count, EDX type,
    RCX offset, R8D instances."""

    def write(code: Recorder) -> None:
        code.raw(b"\x83\xff" + bytes([_LAST_MODE]))  # cmp edi, ...
        code.on_if(ABOVE)
        code.raw(b"\x85\xf6")  # test esi, esi
        code.on_if(NOT_POSITIVE if indexed else NEGATIVE)
        if indexed:
            code.raw(b"\x48\x81\xf9" + struct.pack("<I", 1 << 16))  # cmp rcx, ...: an offset
            code.on_if(NOT_BELOW)
        else:
            code.raw(b"\x85\xd2")  # test edx, edx
            code.on_if(NOT_POSITIVE)
        if instanced:
            code.raw(b"\x45\x85\xc0" if indexed else b"\x85\xc9")  # test r8d, r8d; ecx, ecx
            code.on_if(NOT_POSITIVE)
        code.begin_record(name)
        code.raw(b"\x89\xff\x49\x89\x7b\x08")  # mov edi, edi; mov [r11 + 8], rdi
        code.raw(b"\x89\xf6\x49\x89\x73\x10")  # the same with rsi
        code.raw(b"\x89\xd2\x49\x89\x53\x18")  # and rdx
        used = indexed or instanced
        code.raw((b"\x89\xc9" if used else b"\x31\xc9") + b"\x49\x89\x4b\x20")  # and rcx, or 0
        used = indexed and instanced
        code.raw((b"\x45\x89\xc0" if used else b"\x45\x31\xc0") + b"\x4d\x89\x43\x28")  # and r8
        code.copy_state()
        code.raw(b"\x49\x8b\xb2" + disp(Word.DATA))  # mov rsi, [r10 + ...]
        code.raw(b"\x49\x8b\x8a" + disp(Word.SIZE) + b"\xf3\xa4")  # mov rcx; rep movsb
        code.end_record()

    return write


def _writers() -> dict[str, Callable[[Recorder], None]]:
    found: dict[str, Callable[[Recorder], None]] = {
        "Enable": _switched(1),
        "Disable": _switched(0),
        "UseProgram": _use_program,
        "BindVertexArray": _bind_vertex_array,
        "ActiveTexture": _active_texture,
        "BindTexture": _bind_texture,
        "BindBuffer": _bind_buffer,
        "BindBufferBase": _bind_point(False),
        "BindBufferRange": _bind_point(True),
        "BufferSubData": _buffer_sub_data,
        "BeginQuery": _begin_query,
        "EndQuery": _end_query,
        **clears.WRITERS,
        **{name: _box(word) for name, word in BOXES.items()},
    }
    for suffix in ("f", "i", "ui"):
        for rows in (1, 2, 3, 4):
            letter = suffix[0] if suffix != "ui" else "I"
            found[f"Uniform{rows}{suffix}v"] = _uniform(uniform_kind(letter, rows, 1), False)
            found[f"Uniform{rows}{suffix}"] = _scalars(letter, rows)
    for columns in (2, 3, 4):
        for rows in (2, 3, 4):
            shape = str(columns) if columns == rows else f"{columns}x{rows}"
            found[f"UniformMatrix{shape}fv"] = _uniform(uniform_kind("f", rows, columns), True)
    for name in DRAWS:
        found[name] = _draw(name, "Elements" in name, "Instanced" in name)
    return found


_WRITERS: Mapping[str, Callable[[Recorder], None]] = _writers()
NAMES = frozenset(_WRITERS)
"""The functions (without `gl`) whose calls are noted."""


def code(name: str, base: int, pointer: int) -> bytes:
    """A function that notes what it is called with, or goes on to `pointer`."""
    made = Recorder(base)
    made.begin()
    _WRITERS[name](made)
    return made.finished(pointer)
