"""Lane scopes and registers: which lanes run, and which Python names hold their values.

A *scope* is a set of lanes: the whole chunk, the lanes on one side of a divergent if, or those
still inside a divergent loop. A *register* is a Python name bound to an array with one element per
lane of its scope; once its value is dead, the next operation of the same dtype overwrites the
array.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heapify, heappop, heappush

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

from .lane_ir import LaneValue, LoopOp, Region


@lazy_dataclass(eq=False)
class Register:
    """A name bound to an array; `owned` ones may be overwritten when their value is dead."""

    name: str
    kind: str
    owned: bool
    region: Region  # where the name is first bound; it may be unbound outside


@lazy_dataclass(eq=False)
class Scope:
    """A set of lanes in the generated code."""

    region: Region
    parent: Scope | None
    count: str  # name of the number of lanes
    live: str = ""  # name of the mask of active lanes; empty if all are active
    index: str = ""  # name of the lane numbers within the parent scope
    lanes: str = "None"  # name of the lane numbers within the whole chunk
    loop: LoopOp | None = None
    places: dict[int, Register] = field(default_factory=dict)  # by value id
    free: list[Register] = field(default_factory=list)
    busy: list[tuple[int, int, Register]] = field(default_factory=list)
    """A heap of (last read, a number that breaks ties, register)."""

    def find(self, value: LaneValue) -> Register:
        return self.places[value.id]


class RegisterFile:
    """Allocates registers, independently of the emitted text.

    `dropped` are names of arrays that are neither read nor overwritten any more, which the code
    deletes to make room in the cache. `most` is the maximum number of arrays at a time.
    """

    def __init__(self) -> None:
        self.count = 0
        self.placed = 0
        self.most = 0
        self.dropped: list[str] = []
        self._dead = 0

    def fresh(self, scope: Scope, region: Region, kind: str, owned: bool = True) -> Register:
        self.count += 1
        self.most = max(self.most, self.count - self._dead)
        return Register(f"v{self.count}", kind, owned, region)

    def expire(self, scope: Scope, pos: int, region: Region) -> None:
        """Free registers whose values are read for the last time at or before `pos`."""
        busy = scope.busy
        while busy and busy[0][0] <= pos:
            register = heappop(busy)[2]
            if not register.owned:
                self.dropped.append(register.name)
                self._dead += 1
            elif _encloses(register.region, region):
                scope.free.append(register)

    def reuse(self, scope: Scope, kind: str) -> Register | None:
        """A register with a dead value, whose array may be overwritten."""
        for i in range(len(scope.free) - 1, -1, -1):
            if scope.free[i].kind == kind:
                return scope.free.pop(i)
        return None

    def place(self, scope: Scope, value: LaneValue, register: Register) -> None:
        scope.places[value.id] = register
        self.placed += 1
        heappush(scope.busy, (value.end, self.placed, register))

    def take_over(self, scope: Scope, value: LaneValue, register: Register) -> None:
        """Make a register hold `value` when its own value is read for the last time."""
        scope.busy = [entry for entry in scope.busy if entry[2] is not register]
        heapify(scope.busy)
        self.place(scope, value, register)

    def leave(self, scope: Scope, region: Region) -> None:
        """End a conditional region: names first bound in it may be unbound afterwards.

        (Names first bound in an inner region were dropped when that ended.)
        """
        scope.free = [r for r in scope.free if r.region is not region]


def _encloses(outer: Region, inner: Region | None) -> bool:
    return any(region is outer for region in _ancestors(inner))


def _ancestors(region: Region | None) -> Iterator[Region]:
    while region is not None:
        yield region
        region = region.parent
