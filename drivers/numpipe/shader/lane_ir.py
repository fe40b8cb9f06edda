"""The lane program: NIR split into scalar operations inside nested regions.

This small IR stands between NIR and Python source. Every value is one component (`LaneValue`):
swizzles, vectors and moves are plain references. Control flow is a tree of `Region`s with
operations, `IfOp`s and `LoopOp`s; NIR's phis are attached to those (`joins` of an if, `carried` and
`exits` of a loop). Analyses (`analyse`) and the emitter (`emit`) read only this IR.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Variable

Item: TypeAlias = "Op | IfOp | LoopOp | BreakOp | ContinueOp"


class LaneValue:
    """One component of one SSA value.

    `kind` is a dtype letter and a size in bytes (`f4 i4 u4 b1 f8 ...`), initially empty for values
    whose producer works with any dtype. `const` has the raw bits of a constant.
    """

    __slots__ = (
        "bits",
        "const",
        "end",
        "id",
        "kind",
        "link",
        "lookups",
        "op",
        "region",
        "scalar_use",
        "start",
        "used",
        "varying",
        "votes",
    )

    def __init__(self, id: int, bits: int, region: Region, kind: str = ""):
        self.id = id
        self.bits = bits
        self.region = region
        self.kind = kind
        self.const: int | None = None
        self.op: Item | None = None
        self.varying = False
        self.used = False
        self.lookups = 0  # of textures with it as a coordinate; more where a loop repeats one
        self.scalar_use = False  # read by something else than arithmetic on lanes
        self.start = self.end = 0
        self.link: LaneValue | None = None  # union-find over values that should share a kind
        self.votes: dict[str, int] | None = None

    def __repr__(self) -> str:
        return f"<v{self.id} {self.kind}>"

    @property
    def output_kind(self) -> str:
        """The dtype as an output: clipping and depth tests take numbers, whatever computed the
        bits.
        """
        return f"f{self.bits // 8}" if self.bits >= 16 else self.kind or "u1"

    @property
    def shared(self) -> bool:
        """Whether several lookups need the same of it, so that its array is not overwritten."""
        return self.lookups > 1 and self.varying and isinstance(self.op, Op)


class Region:
    """A run of items executed by the same lanes; `owner` is its if or loop."""

    __slots__ = ("depth", "items", "livein", "loop", "owner", "parent", "quads", "which")

    def __init__(self, parent: Region | None, owner: IfOp | LoopOp | None, which: str):
        self.parent = parent
        self.owner = owner
        self.which = which  # root, then, else or loop
        self.items: list[Item] = []
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.loop: LoopOp | None = parent.loop if parent is not None else None
        if isinstance(owner, LoopOp):
            self.loop = owner
        self.livein: list[LaneValue] = []  # varying values of outer regions read inside
        self.quads = False  # contains an operation that needs whole 2x2 quads


class Op:
    """A scalar operation: `what` is its kind, `data` has what that kind needs."""

    __slots__ = ("data", "dsts", "loc", "pos", "srcs", "what")

    def __init__(self, what: str, data: Any, dsts: list[LaneValue], srcs: list[LaneValue]):
        self.loc = 0  # line of the source, for debuggers
        self.what = what
        self.data = data
        self.dsts = dsts
        self.srcs = srcs
        self.pos = 0


class IfOp:
    """Runs one of two regions; `joins` are (result, value of then, value of else)."""

    __slots__ = ("cond", "divergent", "else_", "joins", "merge_pos", "negated", "pos", "then")

    def __init__(self, cond: LaneValue, parent: Region):
        self.cond = cond
        self.negated = False
        self.then = Region(parent, self, "then")
        self.else_ = Region(parent, self, "else")
        self.joins: list[tuple[LaneValue, LaneValue, LaneValue]] = []
        self.divergent = False
        self.pos = self.merge_pos = 0


class LoopOp:
    """Repeats its body; lanes leave by `BreakOp`.

    `carried` are the values at the start of an iteration, `initial` those of the first one. `exits`
    are results used after the loop; each break and continue has its own sources.
    """

    __slots__ = (
        "body",
        "breaks",
        "carried",
        "continues",
        "divergent",
        "divergent_continue",
        "end_pos",
        "exits",
        "initial",
        "pos",
        "watched",
    )

    def __init__(self, parent: Region):
        self.body = Region(parent, self, "loop")
        self.carried: list[LaneValue] = []
        self.initial: list[LaneValue] = []
        self.exits: list[LaneValue] = []
        self.breaks: list[BreakOp] = []
        self.continues: list[ContinueOp] = []
        self.divergent = False
        self.divergent_continue = False
        self.watched = False  # ends when only lanes that write nothing are left in it
        self.pos = self.end_pos = 0


class BreakOp:
    """The lanes of its region leave the loop with `values` for `loop.exits`."""

    __slots__ = ("loop", "pos", "region", "values")

    def __init__(self, loop: LoopOp, region: Region):
        self.loop = loop
        self.region = region
        self.values: list[LaneValue] = []
        self.pos = 0


class ContinueOp:
    """The lanes of its region start the next iteration with `values` for `loop.carried`.

    Every body that can reach its end has one there, so the back edge is never implicit.
    """

    __slots__ = ("loop", "pos", "region", "values")

    def __init__(self, loop: LoopOp, region: Region):
        self.loop = loop
        self.region = region
        self.values: list[LaneValue] = []
        self.pos = 0


class LaneArray:
    """Per-lane memory: an array with dynamic indices, or an output.

    It has `rows` scalars per lane. It is `varying` unless every store is uniform, in uniform flow.
    """

    __slots__ = ("bits", "kind", "rows", "varying", "votes")

    def __init__(self, rows: int, bits: int):
        self.rows = rows
        self.bits = bits
        self.varying = False
        self.kind = ""
        self.votes: dict[str, int] = {}


@lazy_dataclass()
class LaneProgram:
    """A whole shader as a lane program, with the facts that translation has found."""

    stage: str
    root: Region
    values: list[LaneValue] = field(default_factory=list)
    arrays: dict[Variable, LaneArray] = field(default_factory=dict)
    output_arrays: dict[tuple[int, int, int], LaneArray] = field(default_factory=dict)
    uses_discard: bool = False
    patch_size: int = 1  # invocations that share the outputs of a patch
