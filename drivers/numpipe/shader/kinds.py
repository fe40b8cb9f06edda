"""Chooses the dtype of every value.

Arithmetic determines its result's dtype. Loads, joins and selections only pass bits on: they take
the dtype that most of their users read, together with all values they are joined to, so that as few
values as possible have to be viewed as another dtype.
"""

from __future__ import annotations

from collections.abc import Iterator

from gallette.compiler.nir.ir.opcodes import Opcode

from .lane_ir import BreakOp, ContinueOp, IfOp, Item, LaneProgram, LaneValue, LoopOp, Op
from .walking import walk

AGNOSTIC = frozenset(
    {"iadd", "isub", "imul", "iand", "ior", "ixor", "inot", "ieq", "ine", "ishl", "ineg"}
)
"""Integer operations whose result bits do not depend on signedness."""


def choose_kinds(program: LaneProgram) -> None:
    """Choose the dtype of values that loads, joins and selections pass on."""
    items = [item for item, _ in walk(program.root)]
    for item in items:
        for a, b in _same_kind(item):
            _unite(a, b)
    for item in items:
        if isinstance(item, Op) and item.what in ("alu", "alu_n"):
            _vote_alu(item)
        for a, b in _same_kind(item):
            _vote(a, b.kind)
            _vote(b, a.kind)
    for value in program.values:
        if not value.kind and value.const is None:
            value.kind = _winner(_find(value).votes, value.bits)
    for item in items:
        if isinstance(item, Op) and item.what == "alu" and item.data.name in AGNOSTIC:
            _settle_agnostic(item)
        elif isinstance(item, Op) and item.what == "array_store":
            array, kind = item.data[0], item.srcs[0].kind
            if kind:
                array.votes[kind] = array.votes.get(kind, 0) + 1
        elif isinstance(item, Op) and item.what == "array_load":
            array, kind = item.data[0], item.dsts[0].kind
            array.votes[kind] = array.votes.get(kind, 0) + 1
    for array in program.arrays.values():
        array.kind = "b1" if array.bits == 1 else _winner(array.votes, array.bits)


def _winner(votes: dict[str, int] | None, bits: int) -> str:
    """The dtype that most users read, for values of so many bits."""
    if votes:
        return max(votes, key=lambda k: (votes[k], k))
    return f"f{bits // 8}" if bits >= 16 else f"u{bits // 8}"


def _same_kind(item: Item) -> Iterator[tuple[LaneValue, LaneValue]]:
    """Pairs of values that should have one dtype, so that neither needs a view."""
    if isinstance(item, IfOp):
        for result, a, b in item.joins:
            yield result, a
            yield result, b
    elif isinstance(item, LoopOp):
        yield from zip(item.carried, item.initial, strict=True)
    elif isinstance(item, ContinueOp):
        yield from zip(item.loop.carried, item.values, strict=True)
    elif isinstance(item, BreakOp):
        yield from zip(item.loop.exits, item.values, strict=True)
    elif isinstance(item, Op) and item.what == "alu" and item.data.name == "bcsel":
        item.dsts[0].kind = "b1" if item.dsts[0].bits == 1 else ""
        yield item.dsts[0], item.srcs[1]
        yield item.dsts[0], item.srcs[2]


def _open(value: LaneValue) -> bool:
    return not value.kind and value.const is None


def _find(value: LaneValue) -> LaneValue:
    while value.link is not None:
        value = value.link
    return value


def _unite(a: LaneValue, b: LaneValue) -> None:
    if _open(a) and _open(b):
        ra, rb = _find(a), _find(b)
        if ra is not rb:
            ra.link = rb


def _vote(value: LaneValue, kind: str) -> None:
    if kind and _open(value):
        root = _find(value)
        if root.votes is None:
            root.votes = {}
        root.votes[kind] = root.votes.get(kind, 0) + 1


def _vote_alu(op: Op) -> None:
    opcode: Opcode = op.data
    if opcode.name == "bcsel":
        return
    for type, src in zip(opcode.input_types, op.srcs, strict=False):
        if _open(src):
            base = "i" if opcode.name in AGNOSTIC else type.base[0]
            _vote(src, "b1" if src.bits == 1 else f"{base}{src.bits // 8}")


def _settle_agnostic(op: Op) -> None:
    """Choose unsigned if every operand is unsigned, else signed; either computes the same bits."""
    dst = op.dsts[0]
    if dst.kind == "b1":
        return
    kinds = {src.kind[0] for src in op.srcs if src.const is None}
    dst.kind = f"{'u' if kinds == {'u'} else 'i'}{dst.bits // 8}"
