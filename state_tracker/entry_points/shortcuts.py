"""Calls that change nothing, answered before Python hears of them.

Programs say again and again what is so already: glUseProgram of the program in use, glEnable of
what is on. To come from C to Python and back takes longer than all the rest of such a call. So,
where LLVM is loaded anyway (by the driver `jit`), C is given a few instructions in front of the
pointer: they look at `WORDS`, what the calling thread's context was told last, and go on to Python
only if that was something else.

`WORDS` belongs to one thread at a time. One of `NAMES` notes there what it has done
(`note`); any other call that is not known to leave these things alone (`leaves_alone`) clears it,
and so does another context that becomes current.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import re
import sys
from _thread import get_ident
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["NAMES", "WORDS", "compiled", "forget", "leaves_alone", "note", "possible"]

WORDS = (ctypes.c_int64 * 16)()
"""The identifier of a thread (0: of none), then a word for each thing; -1 where nobody knows."""

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
NAMES = (*_SLOTS, *_SWITCHED)
"""The functions (without `gl`) that note what they have done; each has one argument."""

_LEAVE_ALONE = re.compile(
    r"Uniform.*|Draw(Arrays|Elements|RangeElements).*|Bind(Texture|Sampler|Buffer).*|Clear"
    r"|Clear(Color|Depthf?|Stencil)|Viewport|Scissor|Depth(Func|Mask)|ColorMask|Blend(Func|Equation).*"
    r"|CullFace|FrontFace|PolygonOffset|BufferSubData|ReadPixels|Flush|Finish|Get.*|Is[A-Z].*"
)
_kept: list[Any] = []  # machine code stays: somebody may be in it


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
    thread = get_ident()
    if WORDS[0] != thread:
        context = current()
        if context is None or not context.may_shorten:
            return
        WORDS[0] = 0  # whoever looks meanwhile sees that these words are not his
        for number in range(1, len(WORDS)):
            WORDS[number] = -1
        WORDS[0] = thread
    WORDS[slot] = _SWITCHED.get(name, value)


def _stays_so(context: Context | None) -> bool:
    """Would it change nothing to use the program in use once more?"""
    executable = None if context is None else context.programs.executable
    return executable is None or not executable.linked.subroutine_uniforms


def possible(name: str) -> bool:
    """Can there be a shortcut for a function? Elsewhere than on x86-64, what one thread writes
    another may see in another order; and no module is loaded for this alone.
    """
    noted = name in NAMES
    return noted and "llvmlite" in sys.modules and platform.machine() == "x86_64" and _self() != 0


@functools.cache
def _self() -> int:
    """The address of the function that tells C which thread it is in; 0 if there is none."""
    try:
        return ctypes.cast(ctypes.CDLL(None).pthread_self, ctypes.c_void_p).value or 0
    except (AttributeError, OSError):
        return 0


def _text(name: str, pointer: int, own: int) -> str:
    """The module: look at the word first, then at whose it is, so that it was that thread's."""
    base = ctypes.addressof(WORDS)

    def look(slot: int, label: str, wanted: str) -> list[str]:
        return [
            f"{label}:",
            f"%v.{label} = load atomic i64, ptr inttoptr (i64 {base + 8 * slot} to ptr) acquire, "
            "align 8",
            f"%s.{label} = icmp eq i64 %v.{label}, {wanted}",
            f"br i1 %s.{label}, label %mine, label %on",
        ]

    lines = [f"define void @short{name}(i32 %a) {{", "entry:", "%wide = zext i32 %a to i64"]
    if name in _SLOTS:
        lines += ["br label %only", *look(_SLOTS[name], "only", "%wide")]
    else:
        cases = " ".join(f"i32 {cap}, label %c{slot}" for cap, slot in _CAPABILITIES.items())
        lines.append(f"switch i32 %a, label %on [{cases}]")
        for slot in _CAPABILITIES.values():
            lines += look(slot, f"c{slot}", str(_SWITCHED[name]))
    return "\n".join(
        (
            *lines,
            "mine:",
            f"%o = load atomic i64, ptr inttoptr (i64 {base} to ptr) acquire, align 8",
            f"%t = call i64 inttoptr (i64 {own} to ptr)()",
            "%m = icmp eq i64 %o, %t",
            "br i1 %m, label %nothing, label %on",
            "nothing:",
            "ret void",
            "on:",
            f"call void inttoptr (i64 {pointer} to ptr)(i32 %a)",
            "ret void",
            "}",
        )
    )


def compiled(pointers: Mapping[str, int]) -> dict[str, int]:
    """The addresses C is given in place of these functions' pointers."""
    import llvmlite.binding as llvm

    if not _kept:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_default_triple()
        _kept.append(llvm.create_lljit_compiler(target.create_target_machine(opt=1, jit=True)))
    text = "\n".join(_text(name, pointer, _self()) for name, pointer in pointers.items())
    library = llvm.JITLibraryBuilder().add_ir(text)
    for name in pointers:
        library.export_symbol(f"short{name}")
    tracker = library.link(_kept[0], f"shortcuts{len(_kept)}")
    _kept.append(tracker)
    return {name: int(tracker[f"short{name}"]) for name in pointers}
