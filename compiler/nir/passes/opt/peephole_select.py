"""Small ifs become selects."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import (
    If,
    inner_first,
    next_block,
    place_of,
    prev_block,
)
from gallette.compiler.nir.ir.cf_editing import merge_blocks, pour
from gallette.compiler.nir.ir.instrs import IDENTITY, Alu, Instr, Intrinsic, Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.queries import can_speculate, impls_with_branches
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_BCSEL = OPCODES["bcsel"]


@nir_pass("peephole_select", preserves=Metadata.NONE)
def peephole_select(
    shader: Shader, *, limit: int = 8, expensive_ok: bool = False, tex_ok: bool = False
) -> bool:
    """Run both sides of a short if and select with `bcsel`.

    Before: `if %c { %1 = fadd a, b } else { } %2 = phi %1, a`; after: `%1 = fadd a, b; %2 = bcsel
    %c, %1, a`. Both branches must be single blocks of at most `limit` instructions that may be
    speculated; `expensive_ok` allows transcendental functions and divisions, `tex_ok` texture
    lookups with explicit level.
    """
    progress = False
    for impl in impls_with_branches(shader):
        for node in inner_first(impl.body):
            if isinstance(node, If) and _worthwhile(node, limit, expensive_ok, tex_ok):
                _flatten(node)
                progress = True
    return progress


def _worthwhile(node: If, limit: int, expensive_ok: bool, tex_ok: bool) -> bool:
    if len(node.then_body) != 1 or len(node.else_body) != 1:
        return False
    cost = 0
    for block in (node.then_first, node.else_first):
        for instr in block.instrs():
            price = _price(instr, expensive_ok, tex_ok)
            if price is None:
                return False
            cost += price
    return cost <= limit


def _price(instr: Instr, expensive_ok: bool, tex_ok: bool) -> int | None:
    if isinstance(instr, Tex):
        return 4 if tex_ok and not instr.info.implicit_lod else None
    if not can_speculate(instr):
        return None
    if isinstance(instr, Alu):
        if instr.op.is_costly:
            return 4 if expensive_ok else None
        return 0 if instr.op.is_free else 1
    if isinstance(instr, Intrinsic):
        return 1
    return 0  # constants, undefs, derefs


def _is_exact(value: Def) -> bool:
    return isinstance(value.instr, Alu) and value.instr.exact


def _flatten(node: If) -> None:
    before, after = prev_block(node), next_block(node)
    condition = node.condition.value
    for block in (node.then_first, node.else_first):
        pour(block, before)
    for phi in list(after.phis()):
        dest = phi.result
        n = dest.num_components
        chosen = phi.src_for(node.then_first).value
        other = phi.src_for(node.else_first).value
        select = Alu(
            _BCSEL,
            [(condition, (0,) * n), (chosen, IDENTITY[n]), (other, IDENTITY[n])],
            n,
            dest.bit_size,
            any(_is_exact(v) for v in (condition, chosen, other)),
        )
        before.append(select)
        phi.replace_by(select.result)
    node.condition.drop()
    del node.owner[place_of(node)]
    merge_blocks(before, after)
