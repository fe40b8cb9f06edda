"""Calls that change nothing, answered before Python hears of them.

Programs say again and again what is so already: glUseProgram of the program in use, glEnable of
what is on. To come from C to Python and back takes longer than all the rest of such a call. So
C is given a few instructions in front of the pointer (`machine_code`): they look at `WORDS`, what
the calling thread's context was told last, and go on to Python only if that was something else.

`WORDS` belongs to one thread at a time. One of `NAMES` notes there what it has done
(`note`); any other call that is not known to leave these things alone (`leaves_alone`) clears it,
and so does another context that becomes current.
"""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from _thread import get_ident
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points import machine_code
from gallette.state_tracker.entry_points.enums import GL

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["NAMES", "WORDS", "compiled", "forget", "leaves_alone", "note", "note_bound", "possible"]

WORDS = (ctypes.c_int64 * 16)()
"""The identifier of a thread (0: of none), then a word for each thing; -1 where nobody knows."""

_noting = threading.Lock()

_SLOTS = {"UseProgram": 1, "BindVertexArray": 2, "ActiveTexture": 3}
_CAPABILITIES = {
    int(cap): 4 + i
    for i, cap in enumerate(
        (
            GL.BLEND,
            GL.DEPTH_TEST,
            GL.CULL_FACE,
            GL.STENCIL_TEST,
            GL.SCISSOR_TEST,
            GL.RASTERIZER_DISCARD,
            GL.PROGRAM_POINT_SIZE,
        )
    )
}
_SWITCHED = {"Enable": 1, "Disable": 0}
_BOUND = {"BindBuffer": (int(GL.ARRAY_BUFFER), 4 + len(_CAPABILITIES))}
"""Of two arguments: the first one that is looked at, and the slot of the second."""

NAMES = (*_SLOTS, *_SWITCHED, *_BOUND)
"""The functions (without `gl`) that note what they have done."""

_LEAVE_ALONE = re.compile(
    r"Uniform.*|Draw(Arrays|Elements|RangeElements).*|Bind(Texture|Sampler|Buffer).*|Clear"
    r"|Clear(Color|Depthf?|Stencil)|Viewport|Scissor|Depth(Func|Mask)|ColorMaski?|ClampColor|Blend(Func|Equation).*"
    r"|CullFace|FrontFace|PolygonOffset|BufferSubData|ReadPixels|Flush|Finish|Get.*|Is[A-Z].*"
    r"|TexSubImage[123]D|PixelStore[if]|TexParameter[if]v?|GenerateMipmap|(Begin|End)Query"
    r"|BindFramebuffer|BlitFramebuffer|DrawBuffers?|ReadBuffer|BufferData|MapBufferRange|UnmapBuffer"
    r"|LineWidth|PointSize|PolygonMode|PrimitiveRestartIndex|Stencil(Func|Op|Mask).*"
)


@functools.cache
def leaves_alone(name: str) -> bool:
    """Does a function (named without `gl`) change nothing of what the words say, or note it?"""
    return name in NAMES or _LEAVE_ALONE.fullmatch(name) is not None


def forget() -> None:
    """Something may have changed."""
    WORDS[0] = 0


def note(current: Callable[[], Context | None], name: str, value: int) -> None:
    """A function has done what it was asked for by C; to ask again would change nothing.

    `current` tells the thread's context.
    """
    slot = _SLOTS.get(name) or _CAPABILITIES.get(value)
    if slot is None or (slot == _SLOTS["UseProgram"] and not _stays_so(current())):
        return
    _put(current, slot, _SWITCHED.get(name, value))


def note_bound(current: Callable[[], Context | None], name: str, target: int, value: int) -> None:
    """The same for a function of two arguments."""
    wanted, slot = _BOUND[name]
    if target == wanted:
        _put(current, slot, value)


def _put(current: Callable[[], Context | None], slot: int, value: int) -> None:
    """From now on a word says so."""
    thread = get_ident()
    with _noting:
        if WORDS[0] != thread:
            context = current()
            if context is None or not context.may_shorten:
                return
            WORDS[0] = 0  # whoever looks meanwhile sees that these words are not his
            for number in range(1, len(WORDS)):
                WORDS[number] = -1
            WORDS[0] = thread
        WORDS[slot] = value


def _stays_so(context: Context | None) -> bool:
    """Would it change nothing to use the program in use once more?"""
    executable = None if context is None else context.programs.executable
    return executable is None or not executable.linked.subroutine_uniforms


def possible(name: str) -> bool:
    """Can there be a shortcut for a function? Elsewhere than on x86-64, what one thread writes
    another may see in another order; and only where memory may hold code.
    """
    return name in NAMES and machine_code.possible()


def _code(name: str, pointer: int) -> bytes:
    """Look at the word first, then at whose it is, so that it was that thread's."""
    base = ctypes.addressof(WORDS)
    code = machine_code.Assembler()
    if name in _SLOTS:
        code.unless_argument(base + 8 * _SLOTS[name], "on")
    elif name in _BOUND:
        target, slot = _BOUND[name]
        code.if_argument_is(target, "looked at")
        code.jump("on")
        code.label("looked at")
        code.unless_second_argument(base + 8 * slot, "on")
    else:
        for cap, slot in _CAPABILITIES.items():
            code.if_argument_is(cap, f"slot {slot}")
        code.jump("on")
        for slot in _CAPABILITIES.values():
            code.label(f"slot {slot}")
            code.unless_number(base + 8 * slot, _SWITCHED[name], "on")
            code.jump("mine")
        code.label("mine")
    code.unless_thread(base, "on")
    code.leave()
    code.label("on")
    code.go_to(pointer)
    return code.assembled()


def compiled(pointers: Mapping[str, int]) -> dict[str, int]:
    """The addresses C is given in place of these functions' pointers."""
    return machine_code.placed({name: _code(name, found) for name, found in pointers.items()})
