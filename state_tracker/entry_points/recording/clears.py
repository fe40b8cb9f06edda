"""Clears that are noted, and what programs say around them: targets and masks, mostly as they are.

Whoever clears a part before a small picture is drawn names the framebuffer, its draw buffers and
masks each time. Of draw buffers and masks only what is so already is left out here; anything else
goes on to Python. Which framebuffer is drawn to is among the words of state. What glClear is to
clear to is in its record.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from gallette.state_tracker.entry_points.enums import GL

from .recorder import ABOVE, EQUAL, NOT_BELOW, NOT_EQUAL, NOT_POSITIVE, Recorder, disp
from .words import FRAMEBUFFER_WORDS, MOST_DRAW_BUFFERS, MOST_FRAMEBUFFERS, Word

__all__ = ["WRITERS"]

_NO_NUMBERS = 0xFF000000
"""Floats shifted by their sign, from there on: infinity, and what is no number."""

_ONE = 0x3FF0000000000000
"""The double 1.0: the positive ones below it are less."""


def _bind_framebuffer(code: Recorder) -> None:
    """EDI is the target, ESI the name."""
    code.raw(b"\x89\xf0")  # mov eax, esi
    code.if_argument_is(GL.FRAMEBUFFER, "both")
    code.if_argument_is(GL.DRAW_FRAMEBUFFER, "drawn to")
    code.jump("on")
    code.label("both")
    code.rax_and(Word.READ_FRAMEBUFFER)
    code.branch(NOT_EQUAL, "another")
    code.label("drawn to")
    code.rax_and(Word.FRAMEBUFFER)
    code.branch(NOT_EQUAL, "another")
    code.leave()
    code.label("another")
    code.raw(b"\x3d" + struct.pack("<I", MOST_FRAMEBUFFERS))  # cmp eax, ...
    code.on_if(NOT_BELOW)
    code.raw(b"\x4c\x8d\x1c\x80\x49\xc1\xe3\x03")  # lea r11, [rax + 4 rax]; shl r11, 3
    code.raw(b"\x4d\x03\x9a" + disp(Word.KNOWN_FRAMEBUFFERS))  # add r11, [r10 + ...]
    code.raw(b"\x49\x83\x3b\x00")  # cmp qword [r11], 0
    code.on_if(NOT_POSITIVE)
    code.note_rax(Word.FRAMEBUFFER)
    code.if_argument_is(GL.DRAW_FRAMEBUFFER, "not read")
    code.note_rax(Word.READ_FRAMEBUFFER)
    code.label("not read")
    code.raw(b"\x4c\x89\xde\x49\x8d\xba" + disp(Word.DRAW_BUFFERS))  # mov rsi, r11; lea rdi
    code.raw(b"\xb9" + struct.pack("<I", FRAMEBUFFER_WORDS) + b"\xf3\x48\xa5")  # rep movsq
    code.end()


def _draw_buffers(code: Recorder) -> None:
    """EDI is how many, RSI their address."""
    code.raw(b"\x89\xf8")  # mov eax, edi
    code.rax_and(Word.DRAW_BUFFERS)
    code.on_if(NOT_EQUAL)
    code.raw(b"\x48\x85\xf6")  # test rsi, rsi
    code.on_if(EQUAL)
    code.raw(b"\x57\x56\x51\x89\xc1")  # push rdi, rsi, rcx; mov ecx, eax
    code.raw(b"\x49\x8d\xba" + disp(Word.DRAW_BUFFER_0))  # lea rdi, [r10 + ...]
    code.raw(b"\xf3\xa7\x59\x5e\x5f")  # repe cmpsd; pop them again
    code.on_if(NOT_EQUAL)
    code.leave()


_IS_TRUE = {
    "dil": b"\x40\x80\xff\x01",
    "sil": b"\x40\x80\xfe\x01",
    "dl": b"\x80\xfa\x01",
    "cl": b"\x80\xf9\x01",
    "r8b": b"\x41\x80\xf8\x01",
}
"""cmp register, 1"""


def _flags(code: Recorder, *registers: str) -> None:
    """RAX is a bit for each register, the first is the lowest: is it other than 0?"""
    code.raw(b"\x31\xc0")  # xor eax, eax
    for register in reversed(registers):
        code.raw(_IS_TRUE[register] + b"\xf5\x11\xc0")  # cmc; adc eax, eax


def _color_mask(code: Recorder) -> None:
    """DIL, SIL, DL and CL are red, green, blue and alpha."""
    _flags(code, "dil", "sil", "dl", "cl")
    code.rax_and(Word.COLOR_MASK)
    code.on_if(NOT_EQUAL)
    code.leave()


def _color_mask_of_one(code: Recorder) -> None:
    """EDI is the draw buffer; SIL, DL, CL and R8B are red, green, blue and alpha."""
    code.raw(b"\x41\x89\xfb\x41\x83\xfb" + bytes([MOST_DRAW_BUFFERS]))  # mov r11d, edi; cmp
    code.on_if(NOT_BELOW)
    _flags(code, "sil", "dl", "cl", "r8b")
    code.raw(b"\x43\x3a\x84\x1a" + disp(Word.COLOR_MASKS))  # cmp al, [r10 + r11 + ...]
    code.on_if(NOT_EQUAL)
    code.leave()


def _depth_mask(code: Recorder) -> None:
    """DIL is whether depth is written."""
    _flags(code, "dil")
    code.rax_and(Word.DEPTH_MASK)
    code.on_if(NOT_EQUAL)
    code.leave()


def _clear_color(code: Recorder) -> None:
    """XMM0 to XMM3 are floats."""
    for number in range(4):
        code.raw(b"\x66\x0f\x7e" + bytes([0xC0 | number << 3]))  # movd eax, xmm
        code.raw(b"\x01\xc0\x3d" + struct.pack("<I", _NO_NUMBERS))  # add eax, eax; cmp eax, ...
        code.on_if(NOT_BELOW)
    for number in range(4):
        code.raw(b"\xf3\x41\x0f\x11" + bytes([0x82 | number << 3]))  # movss [r10 + ...], xmm
        code.raw(struct.pack("<i", 8 * Word.CLEAR_COLOR + 4 * number))
    code.end()


def _clear_depth(double: bool) -> Callable[[Recorder], None]:
    """XMM0 is a double, or a float."""

    def write(code: Recorder) -> None:
        if double:
            code.raw(b"\x66\x48\x0f\x7e\xc0")  # movq rax, xmm0
        else:
            code.raw(b"\xf3\x0f\x5a\xc8\x66\x48\x0f\x7e\xc8")  # cvtss2sd xmm1, xmm0; movq rax, xmm1
        code.raw(b"\x49\xbb" + struct.pack("<Q", _ONE) + b"\x4c\x39\xd8")  # mov r11; cmp rax, r11
        code.on_if(ABOVE)
        code.note_rax(Word.CLEAR_DEPTH)
        code.end()

    return write


def _clear_stencil(code: Recorder) -> None:
    """EDI is the number."""
    code.raw(b"\x89\xf8")  # mov eax, edi
    code.note_rax(Word.CLEAR_STENCIL)
    code.end()


def _clear(code: Recorder) -> None:
    """EDI is which buffers."""
    code.raw(b"\x85\xff")  # test edi, edi
    code.on_if(EQUAL)
    code.raw(b"\x41\x85\xba" + disp(Word.NOT_CLEARED))  # test [r10 + ...], edi
    code.on_if(NOT_EQUAL)
    code.begin_record("Clear")
    code.raw(b"\x89\xff\x49\x89\x7b\x08")  # mov edi, edi; mov [r11 + 8], rdi
    code.raw(b"\x49\x8d\xb2" + disp(Word.CLEAR_COLOR))  # lea rsi, [r10 + ...]
    code.raw(b"\x49\x8d\x7b\x10")  # lea rdi, [r11 + 16]
    code.raw(b"\xb9" + struct.pack("<I", 4) + b"\xf3\x48\xa5")  # mov ecx; rep movsq
    code.copy_state()
    code.end_record()


WRITERS: dict[str, Callable[[Recorder], None]] = {
    "BindFramebuffer": _bind_framebuffer,
    "DrawBuffers": _draw_buffers,
    "ColorMask": _color_mask,
    "ColorMaski": _color_mask_of_one,
    "DepthMask": _depth_mask,
    "ClearColor": _clear_color,
    "ClearDepth": _clear_depth(True),
    "ClearDepthf": _clear_depth(False),
    "ClearStencil": _clear_stencil,
    "Clear": _clear,
}
