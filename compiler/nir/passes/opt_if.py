"""Ifs are simplified."""

from __future__ import annotations

from compiler.nir.builder import Builder
from compiler.nir.cf import Block, If, impl_of, next_block, prev_block, walk
from compiler.nir.instrs import Alu, LoadConst, Phi
from compiler.nir.pass_runner import nir_pass
from compiler.nir.shader import FunctionImpl, Metadata, Shader
from compiler.nir.values import Src


@nir_pass("opt_if", preserves=Metadata.CONTROL_FLOW)
def opt_if(shader: Shader) -> bool:
    """Three simplifications of `if`.

    `if (!c) A else B` becomes `if (c) B else A` when only B holds code. Inside the branches
    the condition is known: its uses there become true and false. A phi that chooses between true
    and false is the condition (or its complement).
    """
    progress = False
    for impl in shader.impls():
        impl.require(Metadata.DOMINANCE)
        for node in list(walk(impl.body)):
            if isinstance(node, If):
                progress |= _known_condition(impl, node)
                progress |= _bool_phis(impl, node)
                progress |= _negated(node)
    return progress


def _negated(node: If) -> bool:
    """Look through `inot` in a condition by swapping the branches."""
    condition = node.condition.value.instr
    if not isinstance(condition, Alu) or condition.op.name != "inot":
        return False
    inner = condition.srcs[0]
    if inner.value.num_components != 1:
        return False
    node.condition.rewrite(inner.value)
    node.then_body, node.else_body = node.else_body, node.then_body
    impl_of(node).invalidate()
    return True


def _known_condition(impl: FunctionImpl, node: If) -> bool:
    value = node.condition.value
    if len(value.uses) == 1 or isinstance(value.instr, LoadConst):
        return False
    progress = False
    for known, block in ((True, node.then_first), (False, node.else_first)):
        inside: list[Src] = []
        for src in value.uses:
            if src is node.condition:
                continue
            home = _home(src)
            if home is not None and block.predecessors and block.dominates(home):
                inside.append(src)
        if inside:
            constant = Builder(impl).at_start(block).imm_bool(known)
            for src in inside:
                src.rewrite(constant)
                if src.swizzle:
                    src.swizzle = (0,) * len(src.swizzle)
            progress = True
    return progress


def _home(src: Src) -> Block | None:
    """The block at whose point the use reads."""
    user = src.parent
    if isinstance(user, If):
        return prev_block(user)
    if isinstance(user, Phi):
        for phi_src in user.phi_srcs:
            if phi_src is src:
                return phi_src.pred
    return user.block


def _bool_phis(impl: FunctionImpl, node: If) -> bool:
    progress = False
    after = next_block(node)
    for phi in list(after.phis()):
        if phi.result.bit_size != 1 or len(phi.srcs) != 2 or phi.result.num_components != 1:
            continue
        if {s.pred for s in phi.phi_srcs} != {node.then_last, node.else_last}:
            continue
        then_value = phi.src_for(node.then_last).value.instr
        else_value = phi.src_for(node.else_last).value.instr
        if not isinstance(then_value, LoadConst) or not isinstance(else_value, LoadConst):
            continue
        pair = (then_value.values[0], else_value.values[0])
        if pair == (1, 0):
            phi.replace_by(node.condition.value)
        elif pair == (0, 1):
            b = Builder(impl).at_start(after)
            phi.replace_by(b.inot(node.condition.value))
        else:
            continue
        progress = True
    return progress
