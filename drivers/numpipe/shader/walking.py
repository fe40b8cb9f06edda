"""Traversal of a lane program, and predicates that analyses and the emitter share."""

from __future__ import annotations

from collections.abc import Iterator

from .lane_ir import BreakOp, ContinueOp, IfOp, Item, LaneValue, LoopOp, Op, Region

EFFECTS = frozenset(
    {
        "output",
        "output_indirect",
        "discard",
        "array_store",
        "emit_vertex",
        "end_primitive",
        "storage_write",
    }
)
_BY_LANE = frozenset(
    {
        "array_load",
        "corner_at",
        "helper",
        "input",
        "input_indirect",
        "output_load",
        "peer_load",
        "row_of_primitive",
        "shared_index",
        "shared_load",
        "storage_read",
        "system",
    }
)


def walk(region: Region) -> Iterator[tuple[Item, Region]]:
    """Every item with the region it is in, in program order."""
    for item in region.items:
        yield item, region
        if isinstance(item, IfOp):
            yield from walk(item.then)
            yield from walk(item.else_)
        elif isinstance(item, LoopOp):
            yield from walk(item.body)


def is_quad_op(op: Op) -> bool:
    """Whether an operation combines the lanes of a 2x2 quad."""
    if op.what == "tex":
        return bool(op.data[0].info.implicit_lod)
    return op.what == "alu" and op.data.is_derivative


def coordinates(item: Item) -> list[LaneValue]:
    """The coordinates at which an operation filters a texture."""
    if not isinstance(item, Op) or item.what != "tex" or item.data[0].op not in _FILTERED:
        return []
    at = 0
    for kind, size in item.data[1]:
        if kind == "coord":
            return item.srcs[at : at + size]
        at += size
    return []


_FILTERED = frozenset(("tex", "txb", "txl"))


def has_jump(region: Region) -> bool:
    """Whether lanes can leave the region's loop from inside it."""
    for item in region.items:
        if isinstance(item, (BreakOp, ContinueOp)):
            return True
        if isinstance(item, IfOp) and (has_jump(item.then) or has_jump(item.else_)):
            return True
    return False


def touches_memory(region: Region) -> bool:
    """Whether it contains accesses addressed by the lane's number in the whole chunk."""
    return any(
        item.watched
        if isinstance(item, LoopOp)
        else isinstance(item, Op) and (item.what in EFFECTS or item.what in _BY_LANE)
        for item, _ in walk(region)
    )
