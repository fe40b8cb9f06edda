"""Census: what kinds of variables and of code does a shader have?

A pass may say what it looks for (`@nir_pass(..., looks_for=...)`); a sequence of passes leaves it
out for shaders that have none of it. Declarations are looked at first, which costs next to nothing;
the code is walked once, when the first pass asks for something that only the code can tell.
"""

from __future__ import annotations

from functools import lru_cache

from gallette.compiler.nir.ir.instrs import Call, Deref, Intrinsic, Jump
from gallette.compiler.nir.ir.modes import TEMPORARIES, Mode, Stage
from gallette.compiler.nir.ir.shader import Shader

STRUCT, WIDE, MEMORY, OPAQUE = "struct", "64 bits", "memory", "opaque"
COPIES, CASTS, CALLS, RETURNS = "copies", "casts", "calls", "returns"
COMPONENTS = "vector components"
_IN_CODE = frozenset((COPIES, CASTS, CALLS, RETURNS, COMPONENTS))


class Census:
    """What a shader has, found out as far as somebody asks."""

    __slots__ = ("code", "declared", "shader")

    def __init__(self, shader: Shader):
        self.shader = shader
        self.declared = _declared(shader)
        self.code: set[str] | None = None

    def has_none_of(self, words: frozenset[str]) -> bool:
        if not words.isdisjoint(self.declared):
            return False
        if words.isdisjoint(_IN_CODE):
            return True
        if self.code is None:
            self.code = _in_code(self.shader)
        return words.isdisjoint(self.code)


def _declared(shader: Shader) -> set[str]:
    """Modes of all variables; `struct`, `64 bits` or `opaque` for such types; and `memory`."""
    found: set[str] = set()
    modes = 0
    for var in shader.variables:
        modes |= int(var.mode)
        inner = var.type.without_array
        if inner.is_struct:
            found.update((STRUCT, WIDE, OPAQUE))
        elif inner.bit_size == 64:
            found.update((WIDE, OPAQUE))
        elif inner.is_opaque:
            found.add(OPAQUE)
    if len(shader.functions) > 1:
        found.add(CALLS)
    for impl in shader.impls():
        for var in impl.locals:
            modes |= _LOCAL
            if var.type.without_array.is_struct:
                found.add(STRUCT)
    if modes & _MEMORY or shader.stage in _REACHING:
        found.add(MEMORY)
    return found.union(_names(modes))


def _in_code(shader: Shader) -> set[str]:
    """Calls, returns, copies and casts, and indices into vectors."""
    found: set[str] = set()
    for impl in shader.impls():
        for block in impl.blocks():
            at = block.first
            while at is not None:
                if at.__class__ is Deref:
                    if at.form == "cast":
                        found.add(CASTS)
                    elif at.form == "array":
                        parent = at.parent
                        if parent is not None and parent.type.is_vector:
                            found.add(COMPONENTS)
                elif at.__class__ is Intrinsic:
                    if at.info.name == "copy_deref":
                        found.add(COPIES)
                elif at.__class__ is Call:
                    found.add(CALLS)
                elif at.__class__ is Jump and at.type == "return":
                    found.add(RETURNS)
                at = at.next
    return found


_REACHING = (Stage.TESS_CTRL, Stage.COMPUTE, Stage.KERNEL)
"""stages that write and read memory no variable stands for"""
_LOCAL = int(Mode.FUNCTION_TEMP)
_MEMORY = int(TEMPORARIES | Mode.SSBO | Mode.SHARED | Mode.GLOBAL)
"""What is written and read again; so are the outputs of a patch."""


@lru_cache(maxsize=256)
def _names(modes: int) -> frozenset[str]:
    return frozenset(mode.text for mode in Mode if mode is not Mode.ALL and modes & mode)
