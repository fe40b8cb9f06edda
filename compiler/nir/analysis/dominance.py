"""Dominance: a block dominates another if every path to the other goes through it."""

from __future__ import annotations

from gallette.compiler.nir.ir.cf import Block, list_blocks
from gallette.compiler.nir.ir.metadata import Analysis, Metadata, register
from gallette.compiler.nir.ir.shader import FunctionImpl

_FAR = 1 << 60


def compute_dominance(impl: FunctionImpl) -> None:
    """Immediate dominators, the tree's children and pre/post numbers.

    Structured code in source order is a reverse postorder of a reducible graph, so one sweep is
    enough. Unreachable blocks have no dominator and count as dominated by everything.
    """
    entry = impl.first
    if len(impl.body) == 1:
        entry.idom, entry.children = None, []
        entry.dom_in, entry.dom_out = 0, 1
        return
    blocks = list_blocks(impl.body)
    for block in blocks:
        block.idom = None
        block.children = []
        block.dom_in, block.dom_out = _FAR, -1
    entry.idom = entry
    for block in blocks[1:]:
        new: Block | None = None
        # Begin with the last predecessor: common dominators then move up the tree from there, and
        # no path is walked twice, however many predecessors there are.
        for pred in sorted(block.predecessors, key=_index, reverse=True):
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


def _index(block: Block) -> int:
    return block.index


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


def describe_dominance(impl: FunctionImpl) -> list[Block | None]:
    return [block.idom for block in impl.blocks()]


register(Analysis(Metadata.DOMINANCE, Metadata.CFG, compute_dominance, describe_dominance))
