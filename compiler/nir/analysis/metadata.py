"""Metadata: facts about a function that several passes need and that are costly to recompute.

`impl.require(Metadata.DOMINANCE)` makes them available, `impl.preserve(kept)` after a change says
what still holds; structural edits (`insert_node_at`, `merge_blocks`, ...) drop everything by
themselves. `check` recomputes what claims to be valid and compares: the debug mode of the runner.
"""

from __future__ import annotations

from gallette.compiler.nir.check.errors import metadata_error
from gallette.compiler.nir.ir.cf import Block, Body, If, Loop
from gallette.compiler.nir.ir.instrs import Jump, Phi
from gallette.compiler.nir.ir.shader import FunctionImpl, Metadata
from gallette.compiler.nir.ir.values import Def

_FAR = 1 << 60


def compute(impl: FunctionImpl, wanted: Metadata) -> None:
    """Compute whatever of `wanted` (and what it builds on) does not hold."""
    missing = wanted & ~impl.valid
    if missing & Metadata.LOOPS:
        from gallette.compiler.nir.analysis.loops import analyse_loops

        compute(impl, Metadata.CONTROL_FLOW)
        analyse_loops(impl)
    if missing & Metadata.DIVERGENCE:
        from gallette.compiler.nir.analysis.divergence import analyse_divergence

        compute(impl, Metadata.CFG)
        analyse_divergence(impl)
    if missing & Metadata.CONTROL_FLOW & ~impl.valid:
        if not impl.valid & Metadata.CFG:
            compute_cfg(impl)
        if wanted & Metadata.DOMINANCE and not impl.valid & Metadata.DOMINANCE:
            compute_dominance(impl)
            impl.valid |= Metadata.DOMINANCE
    if missing & Metadata.INSTR_INDEX:
        index_instrs(impl)
    if missing & Metadata.LIVENESS:
        if not impl.valid & Metadata.CFG:
            compute_cfg(impl)
        compute_liveness(impl)
    impl.valid |= missing


def compute_cfg(impl: FunctionImpl) -> None:
    """Predecessors, successors and source-order indices of all blocks.

    A block that cannot be reached (behind a loop without break, say) leads nowhere, so phis have
    no sources from it.
    """
    blocks = list(impl.blocks())
    for i, block in enumerate(blocks):
        block.index = i
        block.predecessors = []
        block.successors = []
    # (body, where its last block goes, innermost loop's first block, block behind that loop)
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
    impl.valid |= Metadata.CFG | Metadata.BLOCK_INDEX


def compute_dominance(impl: FunctionImpl) -> None:
    """Immediate dominators, the tree's children and pre/post numbers, dominance frontiers.

    Structured code in source order is a reverse postorder of a reducible graph, so one sweep is
    enough. Unreachable blocks have no dominator and count as dominated by everything.
    """
    blocks = list(impl.blocks())
    entry = blocks[0]
    for block in blocks:
        block.idom = None
        block.children = []
        block.frontier = []
        block.dom_in, block.dom_out = _FAR, -1
    entry.idom = entry
    for block in blocks[1:]:
        new: Block | None = None
        for pred in block.predecessors:
            if pred.idom is None:
                continue
            if new is None:
                new = pred
                continue
            a, b = new, pred
            while a is not b:
                while a.index > b.index:
                    assert a.idom is not None
                    a = a.idom
                while b.index > a.index:
                    assert b.idom is not None
                    b = b.idom
            new = a
        block.idom = new
        if new is not None:
            new.children.append(block)
    entry.idom = None
    _number_tree(entry)
    for block in blocks:
        if len(block.predecessors) < 2 or (block.idom is None and block is not entry):
            continue
        for pred in block.predecessors:
            if pred.idom is None and pred is not entry:
                continue
            runner: Block | None = pred
            while runner is not None and runner is not block.idom:
                if block not in runner.frontier:
                    runner.frontier.append(block)
                runner = runner.idom


def _number_tree(entry: Block) -> None:
    counter = 0
    entry.dom_in = 0
    stack = [(entry, iter(entry.children))]
    while stack:
        block, children = stack[-1]
        child = next(children, None)
        counter += 1
        if child is None:
            block.dom_out = counter
            stack.pop()
        else:
            child.dom_in = counter
            stack.append((child, iter(child.children)))


def index_instrs(impl: FunctionImpl) -> None:
    """Number instructions and values in source order."""
    i = d = 0
    for block in impl.blocks():
        at = block.first
        while at is not None:
            at.index = i
            i += 1
            if at.dest is not None:
                at.dest.index = d
                d += 1
            at = at.next


def compute_liveness(impl: FunctionImpl) -> None:
    """`live_in` and `live_out` of every block.

    A phi's result is live into its block only from its definition on; its sources are live out of
    the predecessor they come from. An `If` reads its condition at the end of the block before it.
    """
    blocks = list(impl.blocks())
    condition_of: dict[Block, Def] = {}
    for block in blocks:
        i = block.owner.index(block) + 1
        node = block.owner[i] if i < len(block.owner) else None
        if isinstance(node, If):
            condition_of[block] = node.condition.value
        block.live_in = set()
        block.live_out = set()
    work = list(blocks)
    queued = set(blocks)
    while work:
        block = work.pop()
        queued.discard(block)
        live: set[Def] = set()
        for successor in block.successors:
            live |= successor.live_in
            for phi in successor.phis():
                for arriving in phi.phi_srcs:
                    if arriving.pred is block:
                        live.add(arriving.value)
        block.live_out = set(live)
        if block in condition_of:
            live.add(condition_of[block])
        at = block.last
        while at is not None:
            if at.dest is not None:
                live.discard(at.dest)
            if not isinstance(at, Phi):
                for src in at.srcs:
                    live.add(src.value)
            at = at.prev
        if live != block.live_in:
            block.live_in = live
            for pred in block.predecessors:
                if pred not in queued:
                    queued.add(pred)
                    work.append(pred)


def check(impl: FunctionImpl, where: str) -> None:
    """Recompute what claims to hold and complain about differences."""
    valid = impl.valid
    if valid & Metadata.CFG:
        before = [(b, list(b.predecessors), list(b.successors)) for b in impl.blocks()]
        compute_cfg(impl)
        for block, preds, succs in before:
            if preds != block.predecessors or succs != block.successors:
                raise metadata_error(where, "control flow links", block.index)
    if valid & Metadata.DOMINANCE:
        idoms = [(b, b.idom) for b in impl.blocks()]
        compute_dominance(impl)
        for block, idom in idoms:
            if idom is not block.idom:
                raise metadata_error(where, "dominance", block.index)
    if valid & Metadata.LIVENESS:
        live = [(b, b.live_in, b.live_out) for b in impl.blocks()]
        compute_liveness(impl)
        for block, live_in, live_out in live:
            if live_in != block.live_in or live_out != block.live_out:
                raise metadata_error(where, "liveness", block.index)
    if valid & Metadata.DIVERGENCE:
        from gallette.compiler.nir.analysis.divergence import analyse_divergence

        values = [i.dest for b in impl.blocks() for i in b.instrs() if i.dest is not None]
        flags = [value.divergent for value in values]
        analyse_divergence(impl)
        for value, divergent in zip(values, flags, strict=True):
            if value.divergent != divergent and value.instr.block is not None:
                raise metadata_error(where, "divergence", value.instr.block.index)
    impl.valid = valid
