"""Control flow of workgroups: invocations that wait for each other, a vector of lanes at a time.

Between two barriers the invocations of a group may run in any order. So the code is split into
segments at the barriers, and each segment is a loop over the group's vectors of lanes. Values that
cross segments are in memory, a row for each vector; values that all invocations agree on are
scalars. An `if` or a loop with a barrier inside remains a branch around whole segments: OpenGL
requires that all invocations take the same branch there, so the group's first one decides.

    for v in vectors:               for v in vectors:
        a = ...                         a = ...
        shared[i] = a       ->          shared[i] = a
        barrier                         row[v] = a
        ... shared[j] + a           for v in vectors:
                                        ... shared[j] + row[v]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.analysis.divergence import analyse_divergence
from gallette.compiler.nir.ir import Block, Body, Def, If, Intrinsic, Jump, Loop, Phi, Src
from gallette.compiler.nir.ir.cf import (
    Node,
    next_block,
    place_of,
    prev_block,
    walk,
)
from gallette.compiler.nir.ir.instrs import Alu, Deref, Instr, LoadConst, Undef

from ..llvm.text import Var
from ..llvm.values import Operand, V, bits_of
from .emitter import Emitter
from .flow import Flow, LoopState, weight

_OUTSIDE = -1
"""In place of a segment's number: between segments."""


@lazy_dataclass()
class _Segment:
    """Instructions, and ifs and loops without a barrier, that run one after the other."""

    number: int
    body: Body
    items: list[Instr | If | Loop] = field(default_factory=list)


@lazy_dataclass()
class _Branch:
    """An if that contains segments."""

    node: If
    then: list[_Step]
    other: list[_Step]


@lazy_dataclass()
class _Round:
    """A loop that contains segments."""

    node: Loop
    steps: list[_Step]


@lazy_dataclass()
class _Leave:
    """A jump out of such a loop, or to its next iteration."""

    jump: Jump
    block: Block


_Step: TypeAlias = "_Segment | _Branch | _Round | _Leave"


class _Row(Var):
    """A variable with lanes for every vector of the group."""

    __slots__ = ("flow", "offset", "size")

    def __init__(self, flow: GroupFlow, t: str, w: int) -> None:
        super().__init__(flow.b, t, w, "")
        self.flow = flow
        self.size = max(1, bits_of(t) * w // 8)
        self.offset = flow.e.reserve(self.size * flow.vectors)

    def _place(self) -> V:
        return self.flow.vector_part(self.offset, self.size)

    def get(self) -> V:
        return self.b.load(self._place(), self.t, self.w)

    def set(self, value: Operand) -> None:
        new = self.b.spread(self.b.const(self.t, value), self.w)
        assert (new.t, new.w) == (self.t, self.w)
        self.b.store(self._place(), new)


class GroupFlow(Flow):
    """Translates the entry function for groups of `size` invocations, the first at lane `base`."""

    def __init__(self, e: Emitter, base: V, size: int) -> None:
        super().__init__(e)
        self.base, self.size = base, size
        self.vectors = e.vectors_together = -(-size // e.w)
        self.vector: V = e.b.const("i64", 0)  # the number of the current vector
        self.segment = _OUTSIDE
        self.count = 0
        self.outside: set[object] = set()  # ifs and loops that contain segments
        self.homes: dict[Instr | If | Loop, int] = {}  # the segment of each
        self.crossing: set[Def] = set()  # values that cross segments
        e.memory_at = self.vector_part  # type: ignore[method-assign]
        e.variables_for = self._rows_for  # type: ignore[method-assign]

    def run(self) -> None:
        impl = self.e.shader.entry
        analyse_divergence(impl, everywhere=True)
        self._find_outside(impl.body)
        steps = self._plan(impl.body)
        self._find_escapes(impl.body)
        self.e.local = self._is_open  # type: ignore[method-assign]
        self._steps(steps)

    # -- segments --------------------------------------------------------------------------------

    def _plan(self, body: Body) -> list[_Step]:
        """Split a body at its barriers."""
        steps: list[_Step] = []
        now = self._new(body)

        def cut(step: _Step | None = None) -> None:
            nonlocal now
            if now.items:
                steps.append(now)
            if step is not None:
                steps.append(step)
            now = self._new(body)

        for node in body:
            if isinstance(node, Block):
                for instr in node.instrs():
                    if isinstance(instr, Jump):
                        cut(_Leave(instr, node))
                    elif is_barrier(instr):
                        cut()
                    else:
                        now.items.append(instr)
                        self.homes[instr] = now.number
            elif node not in self.outside:
                now.items.append(node)
                self._enter(node, now.number)
            elif isinstance(node, If):
                cut(_Branch(node, self._plan(node.then_body), self._plan(node.else_body)))
            else:
                cut(_Round(node, self._plan(node.body)))
        cut()
        return steps

    def _new(self, body: Body) -> _Segment:
        self.count += 1
        return _Segment(self.count, body)

    def _enter(self, node: If | Loop, number: int) -> None:
        """Record the segment of everything in a node."""
        self.homes[node] = number
        bodies = [node.body] if isinstance(node, Loop) else [node.then_body, node.else_body]
        for inner in (inner for body in bodies for inner in walk(body)):
            if isinstance(inner, Block):
                self.homes.update((instr, number) for instr in inner.instrs())
            else:
                self.homes[inner] = number

    def _find_outside(self, body: Body) -> None:
        """Find ifs and loops with a barrier inside, or with a jump out of a loop that has one."""
        jumps = []
        for node in walk(body):
            if isinstance(node, Block):
                if node.jump is not None:
                    jumps.append(node)
                if any(map(is_barrier, node.instrs())):
                    self.outside.update(_around(node))
        for block in jumps:
            around = list(_around(block))
            loop = next(k for k, node in enumerate(around) if isinstance(node, Loop))
            if around[loop] in self.outside:
                self.outside.update(around[:loop])

    # -- uses of values ----------------------------------------------------------------------------

    def _find_escapes(self, body: Body) -> None:
        for node in walk(body):
            for instr in node.instrs() if isinstance(node, Block) else ():
                dest, home = instr.dest, self.homes.get(instr)
                if dest is None or home is None or isinstance(instr, (LoadConst, Undef)):
                    continue
                if isinstance(instr, Phi) and self._sent_from_outside(instr):
                    self.crossing.add(dest)
                if any(home != used for src in dest.uses for used in self._used_in(src)):
                    self.crossing.add(dest)
                    self.e.escape(dest)
        super()._find_escapes(body)

    def _used_in(self, src: Src) -> Iterator[int]:
        """The segments in which a use reads its value."""
        user = src.parent
        if isinstance(user, Deref):  # read by loads and stores through it
            for use in user.result.uses:
                yield from self._used_in(use)
        elif isinstance(user, Phi) and self._sent_from_outside(user):
            yield _OUTSIDE
        else:
            yield self.homes.get(user, _OUTSIDE)

    def _sent_from_outside(self, phi: Phi) -> bool:
        """Whether it is assigned between segments."""
        block = phi.block
        assert block is not None
        place = place_of(block)
        return (block.owner[place - 1] if place else block.parent) in self.outside

    def _is_open(self, src: Src) -> bool:
        instr = src.value.instr
        assert instr is not None
        return self.homes.get(instr) == self.segment and super()._is_open(src)

    def _rows_for(self, result: Def) -> list[Var]:
        """Memory for a definition, in rows if other segments read it."""
        t, divergent, w = f"i{result.bit_size}", result.divergent_components, self.e.w
        crosses = result in self.crossing
        return [
            _Row(self, t, w)
            if crosses and divergent >> i & 1
            else self.b.zeroed(t, w if divergent >> i & 1 else 0)
            for i in range(result.num_components)
        ]

    def vector_part(self, offset: int, size: int) -> V:
        """The current vector's part of memory with `size` bytes per vector."""
        place = self.vector * size + offset
        return self.b.at(self.e.local_memory(), place, "i8")

    # -- code ------------------------------------------------------------------------------------

    def _steps(self, steps: Sequence[_Step]) -> None:
        for step in steps:
            if isinstance(step, _Segment):
                self._run_segment(step)
            elif isinstance(step, _Branch):
                self._branch(step)
            elif isinstance(step, _Round):
                self._round(step)
            else:
                self._leave(step)

    @contextmanager
    def _each_vector(self, segment: int) -> Iterator[None]:
        """Emit code that runs for every vector of the group."""
        b, e = self.b, self.e
        outer = e.mask, e.entry_mask, e.start
        with b.loop(b.const("i64", 0), b.const("i64", self.vectors)) as vector:
            first = vector * e.w
            self.segment, self.vector = segment, vector
            e.stage.begin_vector(self.base + first)
            if self.size % e.w:
                left = b.spread(b.const("i64", self.size) - first, e.w).to("i32")
                e.mask = b.lanes("i32", range(e.w)) < left
            else:
                e.mask = b.lanes("i1", [True] * e.w)
            e.entry_mask, e.start = e.mask, b.reserve()
            yield
        self.segment, self.vector = _OUTSIDE, b.const("i64", 0)
        e.mask, e.entry_mask, e.start = outer

    def _run_segment(self, step: _Segment) -> None:
        if all(_is_scalar(item) for item in step.items):
            self.segment = step.number
            self._items(step)
            self.segment = _OUTSIDE
        else:
            with self._each_vector(step.number):
                self._items(step)

    def _items(self, step: _Segment) -> None:
        end = self.b.block()
        self.path.append(id(step.body))
        self.ends.append(end)
        for item in step.items:
            if isinstance(item, Phi):
                self._phi(item)
            elif isinstance(item, If):
                self._if(item)
            elif isinstance(item, Loop):
                self._loop(item)
            else:
                self.e.instruction(item)
        self.ends.pop()
        self.path.pop()
        self.b.place(end)

    def _branch(self, step: _Branch) -> None:
        b, node = self.b, step.node
        cond = self.e.value(node.condition)
        if cond.w:
            cond = b.extract(cond, 0)
        phis = list(next_block(node).phis())
        then, other, after = b.block(), b.block(), b.block()
        b.branch(cond, then, other)
        self.e.depth += 1
        for label, steps, body in (
            (then, step.then, node.then_body),
            (other, step.other, node.else_body),
        ):
            b.place(label)
            self._steps(steps)
            if b.open:
                self._send_between(phis, body[-1])
            b.jump(after)
        self.e.depth -= 1
        b.place(after)

    def _round(self, step: _Round) -> None:
        b, node = self.b, step.node
        phis, exit_phis = list(node.first.phis()), list(next_block(node).phis())
        labels = b.block(), b.block(), b.block()
        state = LoopState(node, False, phis, exit_phis, *labels, None, None)
        self._send_between(phis, prev_block(node))
        self.e.depth += 1
        self.loops.append(state)
        b.place(state.head)
        self.e.spend(weight(node.body, self.size))
        self._steps(step.steps)
        if b.open:
            self._send_between(phis, node.last)
        b.place(state.latch)
        b.jump(state.head)
        self.loops.pop()
        self.e.depth -= 1
        b.place(state.after)

    def _leave(self, step: _Leave) -> None:
        loop = self.loops[-1]
        leaving = step.jump.type == "break"
        self._send_between(loop.exit_phis if leaving else loop.phis, step.block)
        self.b.jump(loop.after if leaving else loop.latch)

    def _send_between(self, phis: list[Phi], pred: Node) -> None:
        """Assign phis their values for edges from `pred`, for every vector."""
        assert isinstance(pred, Block)
        coming = [phi for phi in phis if any(src.pred is pred for src in phi.phi_srcs)]
        if all(not variable.w for phi in coming for variable in self._variables(phi)):
            self._send(coming, pred, None)
        else:
            with self._each_vector(_OUTSIDE):
                self._send(coming, pred, None)


def is_barrier(instr: Instr) -> bool:
    """Whether invocations wait here, in contrast to a memory barrier."""
    if not isinstance(instr, Intrinsic) or instr.name != "barrier":
        return False
    return instr["execution_scope"] not in ("none", "subgroup")


def _around(block: Block) -> Iterator[If | Loop]:
    """The ifs and loops around a block, from the innermost out."""
    at = block.parent
    while isinstance(at, (If, Loop)):
        yield at
        at = at.parent


def _is_scalar(item: Instr | If | Loop) -> bool:
    """Whether it is equal for all invocations, and reads nothing that differs between vectors."""
    if not isinstance(item, (Alu, LoadConst, Undef, Phi, Deref)):
        return False
    return item.dest is None or not item.dest.divergent or isinstance(item, (Deref, LoadConst))
