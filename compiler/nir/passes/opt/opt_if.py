"""Ifs are simplified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.cf import (
    Block,
    If,
    Node,
    blocks_in,
    impl_of,
    next_block,
    place_of,
    places,
)
from gallette.compiler.nir.ir.cf_editing import drop_phi_preds, merge_blocks, retarget_phis, splice
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import always_jumps, impls_with_branches
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.values import Src
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("opt_if", preserves=Metadata.CONTROL_FLOW)
def opt_if(shader: Shader) -> bool:
    """Simplify `if` in four ways.

    `if (!c) A else B` becomes `if (c) B else A`. Inside the branches the condition is known: its
    uses there become true and false. A phi that selects true or false is the condition (or its
    negation). Two ifs on the same condition with nothing between them are merged.
    """
    progress = False
    for impl in impls_with_branches(shader):
        impl.require(Metadata.DOMINANCE)
        found = places(impl.body)
        before = {node: body[at - 1] for node, body, at in found if isinstance(node, If)}
        for node, body, at in found:
            if isinstance(node, If):
                progress |= _known_condition(impl, node, before)
                progress |= _bool_phis(impl, node, body[at + 1])
                progress |= _negated(node)
        while _merge_neighbours(impl):
            progress = True
    return progress


def _merge_neighbours(impl: FunctionImpl) -> bool:
    """Merge `if (c) A else B; if (c) C else D` into `if (c) A C else B D`."""
    for block, body, at in places(impl.body):
        if at == 0 or at + 1 >= len(body) or not isinstance(block, Block):
            continue
        first, second = body[at - 1], body[at + 1]
        if (
            isinstance(first, If)
            and isinstance(second, If)
            and first.condition.value is second.condition.value
            and block.last is block.last_phi
            and not always_jumps(first.then_body)
            and not always_jumps(first.else_body)
            and not (always_jumps(second.then_body) and always_jumps(second.else_body))
            and all(len(phi.srcs) == 2 for phi in block.phis())
            and not _read_after_a_jump(block, second)
        ):
            _merge(first, block, second)
            return True
    return False


def _read_after_a_jump(between: Block, second: If) -> bool:
    """Whether code to which the second if jumps reads a phi before that if.

    After merging, the phi would be after the jump and no longer dominate that use.
    """
    if not any(b.jump for body in (second.then_body, second.else_body) for b in blocks_in(body)):
        return False
    below = set(blocks_in(between.owner[between.owner.index(second) :]))
    return any(src.home not in below for phi in between.phis() for src in phi.result.uses)


def _merge(first: If, between: Block, second: If) -> None:
    """Append the second if's branches to the first's; phis between are resolved in each branch."""
    after = next_block(second)
    for end, source in (
        (first.then_last, second.then_body),
        (first.else_last, second.else_body),
    ):
        inside = set(blocks_in(source))
        for phi in between.phis():
            value = phi.src_for(end).value
            for src in list(phi.result.uses):
                if src.home in inside:
                    src.rewrite(value)
        last = source[-1]
        assert isinstance(last, Block)
        leaves = always_jumps(source)
        alone = last is source[0]
        if not leaves and alone:
            retarget_phis(last, end)
        splice(end, source, None)
        if leaves:  # control never leaves this branch at its end any more
            drop_phi_preds(between, end if alone else last)
    second.condition.drop()
    del second.owner[place_of(second)]
    # Phis of both blocks are now together, after the merged if.
    merge_blocks(between, after)


def _negated(node: If) -> bool:
    """Remove `inot` from a condition by swapping the branches."""
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


def _known_condition(impl: FunctionImpl, node: If, before: Mapping[Any, Node]) -> bool:
    """Replace uses of an if's condition inside its branches, where its value is known.

    `before` has the block before each if, which is where the condition itself is read.
    """
    value = node.condition.value
    if len(value.uses) == 1 or isinstance(value.instr, LoadConst):
        return False
    progress = False
    for known, block in ((True, node.then_first), (False, node.else_first)):
        inside: list[Src] = []
        for src in value.uses:
            if src is node.condition:
                continue
            home = before.get(src.parent)
            if home is None:
                home = src.home
            if isinstance(home, Block) and block.predecessors and block.dominates(home):
                inside.append(src)
        if inside:
            constant = Builder(impl).at_start(block).imm_bool(known)
            for src in inside:
                src.rewrite(constant)
                if src.swizzle:
                    src.swizzle = (0,) * len(src.swizzle)
            progress = True
    return progress


def _bool_phis(impl: FunctionImpl, node: If, after: Node) -> bool:
    assert isinstance(after, Block)
    progress = False
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
