"""Control flow: predecessors, successors and source-order indices of blocks."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, Body, If, Loop, list_blocks
from gallette.compiler.nir.ir.instrs import Jump
from gallette.compiler.nir.ir.metadata import Analysis, Metadata, register
from gallette.compiler.nir.ir.shader import FunctionImpl


def compute_cfg(impl: FunctionImpl) -> None:
    """Predecessors, successors and source-order indices of all blocks.

    An unreachable block (after a loop without break, for example) has no successors, so that phis
    need no sources from it.
    """
    if len(impl.body) == 1:
        only = impl.first
        only.index, only.predecessors, only.successors = 0, [], []
        return
    blocks = list_blocks(impl.body)
    for i, block in enumerate(blocks):
        block.index = i
        block.predecessors = []
        block.successors = []
    # (body, successor of its last block, innermost loop's first block, block after that loop)
    stack: list[tuple[Body, Block | None, Block | None, Block | None]] = [
        (impl.body, None, None, None)
    ]
    while stack:
        body, leave, loop_first, loop_next = stack.pop()
        for i in range(0, len(body), 2):
            node = body[i]
            assert isinstance(node, Block)
            block = node
            follower = body[i + 1] if i + 1 < len(body) else None
            after = body[i + 2] if follower is not None else None
            last = block.last
            successors: list[Block | None]
            if isinstance(last, Jump):
                target = {"break": loop_next, "continue": loop_first}.get(last.type)
                successors = [target] if target is not None else []
            elif isinstance(follower, If):
                successors = [follower.then_first, follower.else_first]
            elif isinstance(follower, Loop):
                successors = [follower.first]
            else:
                successors = [leave] if leave is not None else []
            block.successors = [s for s in successors if s is not None]
            if isinstance(follower, If):
                assert isinstance(after, Block)
                stack.append((follower.then_body, after, loop_first, loop_next))
                stack.append((follower.else_body, after, loop_first, loop_next))
            elif isinstance(follower, Loop):
                assert isinstance(after, Block)
                stack.append((follower.body, follower.first, follower.first, after))
    reached = {blocks[0]}
    work = [blocks[0]]
    while work:
        for successor in work.pop().successors:
            if successor not in reached:
                reached.add(successor)
                work.append(successor)
    for block in blocks:
        if block not in reached:
            block.successors = []
        for successor in block.successors:
            successor.predecessors.append(block)


def describe_cfg(impl: FunctionImpl) -> list[tuple[int, list[Block], list[Block]]]:
    return [(b.index, list(b.predecessors), list(b.successors)) for b in impl.blocks()]


register(Analysis(Metadata.CFG, Metadata.NONE, compute_cfg, describe_cfg))
