"""Control flow without effect is removed."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import (
    Block,
    Body,
    If,
    Loop,
    Parent,
    inner_first,
    next_block,
    place_of,
    prev_block,
    successors_of,
    walk,
)
from gallette.compiler.nir.ir.cf_editing import drop_body, drop_phi_preds, merge_blocks, splice
from gallette.compiler.nir.ir.instrs import LoadConst, Undef
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import (
    always_jumps,
    contains_jump,
    contains_own_break,
    has_side_effects,
    impls_with_branches,
    is_phi_of_same,
)
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("dead_cf", preserves=Metadata.NONE)
def dead_cf(shader: Shader) -> bool:
    """Remove unreachable code, and ifs and loops without effect.

    An `if` with a constant condition is replaced by the branch taken; code after an `if` both of
    whose branches jump is unreachable; an `if` with two empty branches and a loop without effects
    (and with an exit) are removed.
    """
    progress = False
    for impl in impls_with_branches(shader):
        while _once(impl):
            progress = True
    return progress


def _once(impl: FunctionImpl) -> bool:
    progress = False
    # Inner nodes first, so that an outer node whose content is removed is found in the same round.
    for node in inner_first(impl.body):
        if not _is_attached(node):
            continue  # already removed with dead code in this round
        if _delete_unreachable(node):
            progress = True
        if isinstance(node, If):
            progress |= _simplify_if(node)
        else:
            progress |= _simplify_loop(node)
    if progress:
        impl.invalidate()
    return progress


def _is_attached(node: Parent) -> bool:
    """Whether a node is still part of its function, with everything around it."""
    while not isinstance(node, FunctionImpl):
        try:
            place_of(node)
        except ValueError:
            return False
        node = node.parent
    return True


def _delete_unreachable(node: If | Loop) -> bool:
    """Delete the code after a node whose end control never reaches."""
    if isinstance(node, If):
        if not (always_jumps(node.then_body) and always_jumps(node.else_body)):
            return False
    elif contains_own_break(node):
        return False
    owner = node.owner
    at = place_of(node) + 1
    follower = owner[at]
    assert isinstance(follower, Block)
    if len(owner) == at + 1 and follower.first is None:
        _cut_phis(follower)
        return False
    rest = owner[at:]
    _forget(rest)
    drop_body(rest)
    del owner[at:]
    owner.append(Block(node.parent, owner))
    return True


def _cut_phis(block: Block) -> None:
    """Remove the phi sources from an unreachable empty block in the blocks after it."""
    for successor in successors_of(block):
        drop_phi_preds(successor, block)


def _simplify_if(node: If) -> bool:
    condition = node.condition.value.instr
    if isinstance(condition, LoadConst):
        _take_branch(node, bool(condition.values[0]))
        return True
    if isinstance(condition, Undef):
        _take_branch(node, False)
        return True
    if not (_is_empty(node.then_body) and _is_empty(node.else_body)):
        return False
    after = next_block(node)
    for phi in list(after.phis()):
        if is_phi_of_same(phi) is None:
            return False
    for phi in list(after.phis()):
        same = is_phi_of_same(phi)
        assert same is not None
        phi.replace_by(same)
    _remove_node(node)
    return True


def _is_empty(body: Body) -> bool:
    first = body[0]
    return len(body) == 1 and isinstance(first, Block) and first.first is None


def _remove_node(node: If | Loop) -> None:
    """Delete an if or loop (nothing in it is used) and merge the blocks around it."""
    before, after = prev_block(node), next_block(node)
    if isinstance(node, If):
        node.condition.drop()  # both branches are empty
    else:
        drop_body(node.body)
    del node.owner[place_of(node)]
    merge_blocks(before, after)


def _take_branch(node: If, value: bool) -> None:
    """Replace an if by the branch that is always taken."""
    taken = node.then_body if value else node.else_body
    dead = node.else_body if value else node.then_body
    before, after = prev_block(node), next_block(node)
    _forget(dead)
    drop_body(dead)
    node.condition.drop()
    owner = node.owner
    at = place_of(node)
    last = taken[-1]
    assert isinstance(last, Block)
    if always_jumps(taken):
        # Control never reaches the code after the if, which is dead.
        rest = owner[at + 1 :]
        _forget(rest)
        drop_body(rest)
        del owner[at:]
        splice(before, taken, None)
        return
    for phi in list(after.phis()):
        phi.replace_by(phi.src_for(last).value)
    del owner[at]
    splice(before, taken, after)


def _forget(nodes: Body) -> None:
    """Remove the phi sources from code that will be deleted, in the blocks after it.

    No other code after it can use its values.
    """
    for piece in walk(nodes):
        if isinstance(piece, Block):
            for successor in successors_of(piece):
                drop_phi_preds(successor, piece)


def _simplify_loop(loop: Loop) -> bool:
    """Remove a loop without used results or effects; unwrap one that runs at most once."""
    if not contains_own_break(loop):
        return False
    last = loop.last
    if last.jump is not None and last.jump.type == "break" and len(loop.body) == 1:
        _unwrap(loop)
        return True
    if contains_jump(loop.body, lambda j: j.type in ("return", "halt")):
        return False
    inside: set[Block] = set()
    for node in walk(loop.body):
        if isinstance(node, Block):
            inside.add(node)
            for instr in node.instrs():
                if has_side_effects(instr) and instr.kind != "jump":
                    return False
    if any(True for _ in next_block(loop).phis()):
        return False
    for block in inside:
        for instr in block.instrs():
            if instr.dest is None:
                continue
            for src in instr.dest.uses:
                if src.home not in inside:
                    return False
    _remove_node(loop)
    return True


def _unwrap(loop: Loop) -> None:
    """Unwrap a loop that is one block ending in break."""
    block = loop.first
    jump = block.jump
    assert jump is not None
    after = next_block(loop)
    before = prev_block(loop)
    for phi in list(after.phis()):
        phi.replace_by(phi.src_for(block).value)
    for phi in list(block.phis()):
        phi.replace_by(phi.src_for(before).value)
    jump.remove()
    del loop.owner[place_of(loop)]
    splice(before, [block], after)
