"""Census: what kinds of variables and of code does a shader have?

Variables of its interface count where code points at them: a front end that has lowered what it
reads and writes leaves nothing to do about them.

A pass may say what it looks for (`@nir_pass(..., looks_for=...)`), and what it brings along that
was not there. A sequence of passes counts once and leaves out those that would find nothing.
"""

from __future__ import annotations

from functools import lru_cache

from gallette.compiler.nir.ir.cf import list_blocks
from gallette.compiler.nir.ir.instrs import Alu, Call, Deref, Intrinsic, Jump, LoadConst
from gallette.compiler.nir.ir.modes import TEMPORARIES, Mode, Stage
from gallette.compiler.nir.ir.shader import Shader

STRUCT, WIDE, MEMORY, OPAQUE = "struct", "64 bits", "memory", "opaque"
COPIES, CASTS, CALLS, RETURNS = "copies", "casts", "calls", "returns"
COMPONENTS, INITIAL, INVARIANT = "vector components", "initial values", "invariant"
DYNAMIC, PACKED = "indices that are computed", "packed varyings"


def census(shader: Shader, code: bool = True) -> frozenset[str]:
    """Words for all there is: names of modes, and those above.

    Without `code`: for whoever knows that there is none that they are about.
    """
    found: set[str] = set()
    modes = 0
    for var in shader.variables:
        modes |= var.mode & _ANYHOW
        inner = var.type.without_array
        if inner.is_struct:
            found.update((STRUCT, WIDE))
        elif inner.bit_size == 64:
            found.add(WIDE)
        if var.constant_initializer is not None:
            found.add(INITIAL)
        if var.invariant or var.precise:
            found.add(INVARIANT)
        if var.packed:
            found.add(PACKED)
    if len(shader.functions) > 1:
        found.add(CALLS)
    for impl in shader.impls():
        for var in impl.locals:
            modes |= _LOCAL
            if var.type.without_array.is_struct:
                found.add(STRUCT)
            if var.constant_initializer is not None:
                found.add(INITIAL)
            if var.invariant or var.precise:
                found.add(INVARIANT)
        for block in list_blocks(impl.body) if code else ():
            at = block.first
            while at is not None:
                kind = at.__class__
                if kind is Alu or kind is LoadConst:  # most are
                    pass
                elif at.__class__ is Deref:
                    modes |= at.modes
                    inner = at.type.without_array
                    if inner.is_opaque or inner.is_struct or inner.bit_size == 64:
                        found.add(OPAQUE)
                    if at.form == "cast":
                        found.add(CASTS)
                    elif at.form == "array":
                        parent = at.parent
                        if parent is not None and parent.type.is_vector:
                            found.add(COMPONENTS)
                        if at.srcs[1].value.instr.__class__ is not LoadConst:
                            found.add(DYNAMIC)
                elif at.__class__ is Intrinsic:
                    name = at.info.name
                    if name == "copy_deref":
                        found.add(COPIES)
                    elif name == "store_output" and at["invariant"]:
                        found.add(INVARIANT)
                elif at.__class__ is Call:
                    found.add(CALLS)
                elif at.__class__ is Jump and at.type == "return":
                    found.add(RETURNS)
                at = at.next
    if modes & _MEMORY or shader.stage in _REACHING:
        found.add(MEMORY)
    return _names(modes) | found


_REACHING = (Stage.TESS_CTRL, Stage.COMPUTE, Stage.KERNEL)
"""stages that write and read memory no variable stands for"""
_LOCAL = int(Mode.FUNCTION_TEMP)
_ANYHOW = int(TEMPORARIES | Mode.SHARED)
"""something is done about these even if nothing points at them"""
_MEMORY = int(TEMPORARIES | Mode.SSBO | Mode.SHARED | Mode.GLOBAL)
"""What is written and read again; so are the outputs of a patch."""


@lru_cache(maxsize=256)
def _names(modes: int) -> frozenset[str]:
    return frozenset(mode.text for mode in Mode if mode is not Mode.ALL and modes & mode)
