"""Adds merge instructions to code without any, such as kernels.

A back edge makes a loop, which ends where its exits meet. An if ends where its paths meet again, as
far as they stay in the same loop. If there is no such block, the code after it is emitted once per
path, which costs only size.
"""

from __future__ import annotations

from gallette.compiler.spirv.grammar import opcode
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.irreducible import make_reducible
from gallette.compiler.spirv.read.model import Block, FunctionCode
from gallette.compiler.spirv.read.structure import successors

__all__ = ["add_merges"]


def add_merges(d: Declarations, code: FunctionCode) -> None:
    """Give every loop header and every branch without a merge instruction one."""
    order, number, dominators = _numbered(code)
    if any(
        number[following] <= number[label] and not dominators[label] >> number[following] & 1
        for label in order
        for following in _next(code, label)
    ):
        # A back edge leads to a block that is also entered from outside the loop.
        make_reducible(d, code)
        code.redirected = True
        order, number, dominators = _numbered(code)
    loops = _loops(code, order, number, dominators)
    for label in order:
        block = code.blocks[label]
        if block.merge is not None:
            continue
        body = loops.get(label)
        if body is not None:
            merge = _exit(code, body, order)
            block.merge = Instruction(opcode("OpLoopMerge"), (merge, 0, 0))
            code.meetings[label] = _meeting(code, block, (label, body), order)
        elif block.end is not None and len(set(successors(block))) > 1:
            inside = _innermost(label, loops, order)
            merge = _meeting(code, block, inside, order)
            block.merge = Instruction(opcode("OpSelectionMerge"), (merge, 0))


def _numbered(code: FunctionCode) -> tuple[list[int], dict[int, int], dict[int, int]]:
    """Blocks in forward order, their numbers, and their dominators."""
    order = _postorder(code)
    order.reverse()
    number = {label: n for n, label in enumerate(order)}
    return order, number, _dominators(code, order, number)


def _postorder(code: FunctionCode) -> list[int]:
    seen, out = {code.first}, []
    stack: list[tuple[int, list[int]]] = [(code.first, _next(code, code.first))]
    while stack:
        label, left = stack[-1]
        while left:
            following = left.pop()
            if following not in seen:
                seen.add(following)
                stack.append((following, _next(code, following)))
                break
        else:
            out.append(label)
            stack.pop()
    return out


def _next(code: FunctionCode, label: int) -> list[int]:
    blocks = code.blocks
    block = blocks.get(label)
    return [] if block is None else [s for s in successors(block) if s in blocks]


def _dominators(code: FunctionCode, order: list[int], number: dict[int, int]) -> dict[int, int]:
    """For each block the set of its dominators, as bits by number."""
    everything = (1 << len(order)) - 1
    found = dict.fromkeys(order, everything)
    found[code.first] = 1
    before: dict[int, list[int]] = {label: [] for label in order}
    for label in order:
        for following in _next(code, label):
            before[following].append(label)
    changed = True
    while changed:
        changed = False
        for label in order[1:]:
            common = everything
            for pred in before[label]:
                common &= found[pred]
            common |= 1 << number[label]
            if common != found[label]:
                found[label], changed = common, True
    return found


def _loops(
    code: FunctionCode, order: list[int], number: dict[int, int], dominators: dict[int, int]
) -> dict[int, set[int]]:
    """The natural loops, by header."""
    before: dict[int, list[int]] = {label: [] for label in order}
    for label in order:
        for following in _next(code, label):
            before[following].append(label)
    loops: dict[int, set[int]] = {}
    for label in order:
        for header in _next(code, label):
            if dominators[label] >> number[header] & 1:
                body = loops.setdefault(header, {header})
                work = [label]
                while work:
                    at = work.pop()
                    if at not in body:
                        body.add(at)
                        work.extend(before[at])
    return loops


def _exit(code: FunctionCode, body: set[int], order: list[int]) -> int:
    """The block where a loop's exits meet: their first common block, else the first exit."""
    exits = [s for label in order if label in body for s in _next(code, label) if s not in body]
    unique = list(dict.fromkeys(exits))
    if len(unique) <= 1:
        return unique[0] if unique else 0
    reach = [_reachable(code, label, set()) for label in unique]
    common = set.intersection(*reach)
    return next((label for label in order if label in common), unique[0])


def _reachable(code: FunctionCode, label: int, without: set[int]) -> set[int]:
    seen: set[int] = set()
    work = [label]
    while work:
        at = work.pop()
        if at not in seen and at not in without:
            seen.add(at)
            work.extend(_next(code, at))
    return seen


def _innermost(label: int, loops: dict[int, set[int]], order: list[int]) -> tuple[int, set[int]]:
    """Header and body of the innermost loop around a block (without one, all blocks)."""
    best, body = 0, set(order)
    for header, found in loops.items():
        if label in found and len(found) < len(body):
            best, body = header, found
    return best, body


def _meeting(
    code: FunctionCode, block: Block, inside: tuple[int, set[int]], order: list[int]
) -> int:
    """The first block on every path from here, for paths that stay in the loop."""
    header, body = inside
    outside = {label for label in order if label not in body} | {header}
    ways = [s for s in dict.fromkeys(successors(block)) if s not in outside and s in code.blocks]
    if len(ways) < 2:
        return 0
    reach = [_reachable(code, way, outside) for way in ways]
    common = set.intersection(*reach)
    for label in order:
        if label in common and all(not _skips(code, way, label, outside, common) for way in ways):
            return label
    return 0


def _skips(code: FunctionCode, way: int, label: int, outside: set[int], common: set[int]) -> bool:
    """Whether a path can reach a later common block without passing `label`."""
    reached = _reachable(code, way, outside | {label})
    return bool(reached & common)
