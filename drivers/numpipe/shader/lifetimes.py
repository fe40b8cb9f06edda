"""Lifetimes: where every value is last read, and what each region reads from outside."""

from __future__ import annotations

from .lane_ir import IfOp, LaneProgram, LaneValue, LoopOp, Op, Region
from .walking import coordinates, is_quad_op


def find_lifetimes(program: LaneProgram) -> None:
    """Number the items; fill in `start`, `end`, `livein` and `quads`."""
    _Lifetimes(program).run()


LAST = 1 << 60
"""The end of values that the shader returns."""


class _Lifetimes:
    def __init__(self, program: LaneProgram):
        self.program = program
        self.at = 0
        self.loops: list[tuple[LoopOp, list[LaneValue]]] = []
        self.livein: dict[Region, dict[LaneValue, None]] = {}

    def run(self) -> None:
        self.region(self.program.root)
        for region, values in self.livein.items():
            region.livein = list(values)

    def use(self, value: LaneValue, region: Region, scalar: bool = True) -> None:
        if value.const is not None:
            return
        value.scalar_use |= scalar
        value.end = max(value.end, self.at)
        for loop, extended in self.loops:
            if value.region.depth < loop.body.depth:
                extended.append(value)
        if value.varying:
            at: Region | None = region
            while at is not None and at is not value.region:
                self.livein.setdefault(at, {})[value] = None
                at = at.parent

    def define(self, value: LaneValue) -> None:
        value.start = self.at
        value.end = max(value.end, self.at)

    def region(self, region: Region) -> None:
        for item in region.items:
            self.at += 1
            item.pos = self.at
            if isinstance(item, Op):
                arithmetic = item.what == "alu" and item.dsts[0].varying
                for src in item.srcs:
                    self.use(src, region, not arithmetic)
                    if item.what == "output":
                        src.end = LAST
                for src in coordinates(item):
                    src.lookups += 1 if src.region.loop is region.loop else 2
                for dst in item.dsts:
                    self.define(dst)
                if is_quad_op(item):
                    at: Region | None = region
                    while at is not None:
                        at.quads = True
                        at = at.parent
            elif isinstance(item, IfOp):
                self.branch(item, region)
            elif isinstance(item, LoopOp):
                self.loop(item, region)
            else:
                for value in item.values:
                    self.use(value, region)

    def branch(self, item: IfOp, region: Region) -> None:
        self.use(item.cond, region)
        self.region(item.then)
        self.use(item.cond, region)
        self.region(item.else_)
        self.at += 1
        item.merge_pos = self.at
        self.use(item.cond, region)
        for result, a, b in item.joins:
            for value, side in ((a, item.then), (b, item.else_)):
                self.use(value, side if value.region is side else region)
            self.define(result)

    def loop(self, item: LoopOp, region: Region) -> None:
        for value in item.initial:
            self.use(value, region)
        for value in item.carried:
            self.define(value)
        self.loops.append((item, []))
        self.region(item.body)
        self.at += 1
        item.end_pos = self.at
        _, extended = self.loops.pop()
        for value in extended:
            value.end = max(value.end, self.at)
        for value in item.exits:
            self.define(value)
