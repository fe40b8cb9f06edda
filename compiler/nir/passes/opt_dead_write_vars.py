"""Stores that are overwritten before anybody looks go."""

from __future__ import annotations

from compiler.nir.alias import Overlap, compare, may_alias
from compiler.nir.cf import Block
from compiler.nir.instrs import Call, Deref, Instr, Intrinsic
from compiler.nir.pass_runner import nir_pass
from compiler.nir.shader import Access, Metadata, Mode, Shader

_MODES = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP | Mode.SHADER_OUT | Mode.SSBO | Mode.SHARED
_FENCES = frozenset({"barrier", "emit_vertex", "end_primitive", "discard", "discard_if"})


@nir_pass("opt_dead_write_vars", preserves=Metadata.CONTROL_FLOW)
def opt_dead_write_vars(shader: Shader, *, modes: int = int(_MODES)) -> bool:
    """Within a block, drop the components of a store that a later store overwrites unread.

    Before: `store_deref(&x, %1); store_deref(&x, %2)`; after: `store_deref(&x, %2)`.
    """
    progress = False
    for impl in shader.impls():
        for block in impl.blocks():
            progress |= _block(block, modes)
    return progress


def _block(block: Block, modes: int) -> bool:
    progress = False
    # Stores whose masked components nobody has read yet.
    pending: list[tuple[Intrinsic, Deref, int]] = []
    for instr in block.instrs():
        if not isinstance(instr, Intrinsic):
            if isinstance(instr, Call):
                pending.clear()
            continue
        if instr.info.name != "store_deref":
            pending = _after_read(instr, pending)
            continue
        deref = instr.deref
        if deref is None:
            pending.clear()
            continue
        mask = instr["write_mask"]
        kept: list[tuple[Intrinsic, Deref, int]] = []
        for store, target, unread in pending:
            dead = store["write_mask"] & unread & mask
            if not dead or compare(target, deref) is not Overlap.EQUAL:
                kept.append((store, target, unread))
                continue
            progress = True
            store["write_mask"] &= ~dead
            if store["write_mask"] == 0:
                store.remove()
            else:
                kept.append((store, target, unread & ~dead))
        pending = kept
        if deref.modes & modes and not instr["access"] & Access.VOLATILE:
            pending.append((instr, deref, mask))
    return progress


def _after_read(
    instr: Instr, pending: list[tuple[Intrinsic, Deref, int]]
) -> list[tuple[Intrinsic, Deref, int]]:
    """What is still unread behind `instr`."""
    assert isinstance(instr, Intrinsic)
    if instr.info.name in _FENCES:
        return []
    read: list[Deref] = []
    for src in instr.srcs:
        if isinstance(src.value.instr, Deref):
            read.append(src.value.instr)
    if not read:
        return pending
    return [p for p in pending if not any(may_alias(p[1], d) for d in read)]
