"""Users of copies read the original."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import If
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("copy_prop", preserves=Metadata.CONTROL_FLOW)
def copy_prop(shader: Shader) -> bool:
    """Look through `mov` and `vecN`: swizzles of ALU users absorb them.

    Before: `%2 = mov %1.yx; %3 = fadd %2.xx, %2`; after: `%3 = fadd %1.yy, %1.yx`. The copies stay
    for `dce` to remove.
    """
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if isinstance(instr, Alu) and instr.op.is_copy:
                progress |= see_through(instr)
    return progress


def see_through(copy: Alu) -> bool:
    """Let the users of a copy read what it copies, where they can."""
    progress = False
    dest = copy.result
    whole = _whole_value(copy)
    for src in list(dest.uses):
        user = src.parent
        if isinstance(user, Alu):
            progress |= absorb(copy, src)
        elif whole is not None and (isinstance(user, If) or not src.swizzle):
            src.rewrite(whole)
            progress = True
    return progress


def _whole_value(copy: Alu) -> Def | None:
    """The value that `copy` merely repeats, component for component."""
    n = copy.result.num_components
    first = copy.srcs[0]
    if first.value.num_components != n:
        return None
    if not copy.op.is_vec:
        return first.value if first.swizzle == IDENTITY[n] else None
    for i, src in enumerate(copy.srcs):
        if src.value is not first.value or src.swizzle[0] != i:
            return None
    return first.value


def absorb(copy: Alu, src: Src) -> bool:
    """Fold a copy into the swizzle of an ALU source that reads it."""
    if not copy.op.is_vec:
        inner = copy.srcs[0]
        swizzle = tuple([inner.swizzle[c] for c in src.swizzle])
        src.rewrite(inner.value)
        src.swizzle = swizzle
        return True
    chosen = [copy.srcs[c] for c in src.swizzle]
    value = chosen[0].value
    for part in chosen:
        if part.value is not value:
            return False
    src.rewrite(value)
    src.swizzle = tuple([part.swizzle[0] for part in chosen])
    return True
