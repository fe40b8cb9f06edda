"""Restores SSA form: values that do not dominate all their uses go through variables.

Structuring control flow adds paths that the original did not have (after a discard, around code
guarded by a flag). On those paths the values are not used, but NIR requires every definition to
dominate its uses: such a value is stored where it is defined and loaded where it is used. A pointer
is rebuilt instead.
"""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import Block, If, next_node, prev_block
from gallette.compiler.nir.ir.copying import Remap, clone_instr
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import FunctionImpl
from gallette.compiler.nir.ir.types import Base, vec
from gallette.compiler.nir.ir.values import Def, Src
from gallette.compiler.nir.ir.variables import Variable

_BASES = {1: Base.BOOL, 8: Base.UINT8, 16: Base.UINT16, 32: Base.UINT, 64: Base.UINT64}


def repair_dominance(impl: FunctionImpl) -> bool:
    """Make every definition dominate its uses; there must be no phis yet."""
    impl.invalidate()
    impl.require(Metadata.DOMINANCE)
    broken = [(src, at) for src, at in _uses(impl) if not _reaches(src.value, at)]
    variables: dict[Def, Variable] = {}
    for src, _ in broken:
        parent = src.parent
        b = Builder(impl)
        if isinstance(parent, If):
            b.at_end(prev_block(parent))
        else:
            b.at_before(parent)
        src.rewrite(_rebuilt(b, src.value, variables))
    return bool(broken)


def _uses(impl: FunctionImpl) -> list[tuple[Src, Block]]:
    found: list[tuple[Src, Block]] = []
    for block in impl.blocks():
        for instr in block.instrs():
            found.extend((src, block) for src in instr.srcs)
        node = next_node(block)
        if isinstance(node, If):
            found.append((node.condition, block))
    return found


def _reaches(value: Def, at: Block) -> bool:
    made = value.instr.block
    return made is None or made is at or made.dominates(at)


def _rebuilt(b: Builder, value: Def, variables: dict[Def, Variable]) -> Def:
    """The value at the builder's position."""
    instr = value.instr
    if _reaches(value, b.block):
        return value
    if isinstance(instr, Deref):
        remap = Remap()
        for src in instr.srcs:
            remap.values[src.value] = _rebuilt(b, src.value, variables)
        copy = clone_instr(instr, remap)
        b.insert(copy)
        return copy.result
    var = variables.get(value)
    if var is None:
        type = vec(_BASES[value.bit_size], value.num_components)
        var = b.impl.add_local("carried", type)
        variables[value] = var
        Builder(b.impl).at_after(instr).store_var(var, value)
    return b.load_var(var)
