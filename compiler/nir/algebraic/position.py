"""Finds the values on which `gl_Position` depends.

With `inexact_used_once="not_position"`, rules that count uses do not apply to these values, because
the position of a vertex must not depend on other uses of its computation.

It is a backward walk over data: from stores to the position output through sources, from phis to
the conditions that select their sources, and from loads of temporaries to all stores to the same
variable. It is conservative, which costs only a few rewrites.
"""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, If, Loop, blocks_in
from gallette.compiler.nir.ir.instrs import Deref, Instr, Intrinsic, Phi
from gallette.compiler.nir.ir.modes import TEMPORARIES, Mode
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.ir.variables import Variable

_STORES = ("store_deref", "copy_deref")


def position_values(impl: FunctionImpl) -> set[Def]:
    """Every value of `impl` on which the position output depends."""
    stores: dict[Variable | None, list[Intrinsic]] = {}
    marked: set[Def] = set()
    work: list[Def] = []
    for block in impl.blocks():
        for instr in block.instrs():
            if not isinstance(instr, Intrinsic):
                continue
            if instr.name in _STORES:
                deref = instr.deref
                var = deref.root_var if deref is not None else None
                stores.setdefault(var, []).append(instr)
                if var is not None and _is_position(var):
                    work.append(instr.srcs[1].value)
            elif instr.name == "store_output" and instr["location"] == VaryingSlot.POS:
                work.append(instr.srcs[0].value)
    seen_vars: set[Variable] = set()
    while work:
        value = work.pop()
        if value in marked:
            continue
        marked.add(value)
        instr = value.instr
        work.extend(src.value for src in instr.srcs)
        if isinstance(instr, Phi):
            work.extend(_deciders(instr))
        elif isinstance(instr, Deref):
            var = instr.root_var
            if var is not None and var not in seen_vars and var.mode & TEMPORARIES:
                seen_vars.add(var)
                for store in stores.get(var, ()):
                    work.append(store.srcs[1].value)
                    work.extend(_conditions_around(store))
    return marked


def _is_position(var: Variable) -> bool:
    return bool(var.mode & Mode.SHADER_OUT) and var.location == VaryingSlot.POS


def _deciders(phi: Phi) -> list[Def]:
    """Conditions that select the source of a phi."""
    block = phi.block
    assert block is not None
    owner = block.owner
    before = owner[owner.index(block) - 1] if owner[0] is not block else block.parent
    if isinstance(before, If):
        return [before.condition.value]
    if isinstance(before, Loop):
        return [
            node.parent.condition.value
            for node in blocks_in(before.body)
            if node.jump is not None and isinstance(node.parent, If)
        ]
    return []


def _conditions_around(instr: Instr) -> list[Def]:
    """Conditions of the ifs around an instruction."""
    found: list[Def] = []
    block = instr.block
    at: object = block
    while isinstance(at, (Block, If, Loop)):
        if isinstance(at, If):
            found.append(at.condition.value)
        at = at.parent
    return found
