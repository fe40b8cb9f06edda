"""NIR to the lane program: vectors become components, phis become joins and carried values.

Two simplifications: an if with one side that jumps away has nothing to join, so the other side's
code moves after the if. And a value defined inside a loop (or in the remaining side of such an if)
but used outside gets a copy at each exit, as in loop-closed SSA.
"""

from __future__ import annotations

from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Block, Body, If, Jump, Loop, Phi, Shader
from gallette.compiler.nir.ir.cf import place_of

from .lane_ir import BreakOp, ContinueOp, IfOp, LaneProgram, LaneValue, LoopOp, Region
from .translate_memory import MemoryTranslator


def translate(shader: Shader, *, flat_colors: bool = False) -> LaneProgram:
    """Translate an optimised shader with a single function.

    `flat_colors` is flat shading: colour varyings take the provoking vertex's value, unless they
    have an interpolation qualifier.
    """
    return _Translator(shader, flat_colors).run()


class _Translator(MemoryTranslator):
    """Adds control flow."""

    def run(self) -> LaneProgram:
        self.loops: dict[Loop, tuple[LoopOp, list[Phi], list[Phi]]] = {}
        self.body(self.shader.entry.body)
        return self.program

    # -- control flow --------------------------------------------------------------------------

    def body(self, body: Body) -> None:
        """Translate a body into the current region, which may change after an if that jumps."""
        for node in body:
            if isinstance(node, Block):
                self.block(node)
            elif isinstance(node, If):
                self.branch(node)
            else:
                self.loop(node)

    def block(self, block: Block) -> None:
        for instr in block.instrs():
            if isinstance(instr, Phi):
                continue  # made with the if or loop before
            if isinstance(instr, Jump):
                self.jump(instr, block)
                return
            self.instruction(instr)

    def nested(self, region: Region) -> Region:
        outer, self.region = self.region, region
        return outer

    def branch(self, node: If) -> None:
        op = IfOp(self.component(node.condition, 0), self.region)
        op.divergent = op.cond.varying
        self.region.items.append(op)
        after = node.owner[place_of(node) + 1]
        assert isinstance(after, Block)
        then_jumps, else_jumps = _jumps(node.then_body), _jumps(node.else_body)
        if then_jumps or else_jumps:
            op.negated = not then_jumps
            leaving, staying = node.then_body, node.else_body
            if not then_jumps:
                leaving, staying = staying, leaving
            outer = self.nested(op.then)
            self.body(leaving)
            self.region = outer
            self.body(staying)
            for phi in after.phis():
                for src in phi.phi_srcs:
                    if not _inside(src.pred, leaving):
                        self.components[phi.result] = self.whole(src)
            return
        outer = self.nested(op.then)
        self.body(node.then_body)
        values = {phi: self.whole(phi.src_for(node.then_last)) for phi in after.phis()}
        self.region = op.else_
        self.body(node.else_body)
        for phi in after.phis():
            other = self.whole(phi.src_for(node.else_last))
            results = []
            for i, (a, b) in enumerate(zip(values[phi], other, strict=True)):
                if _same_everywhere(a, b, op):
                    results.append(a)
                    continue
                joined = self.new(a.bits, "b1" if a.bits == 1 else "", outer)
                joined.op = op
                joined.varying = _differs(phi, i)
                op.joins.append((joined, a, b))
                results.append(joined)
            self.components[phi.result] = results
        self.region = outer

    def loop(self, node: Loop) -> None:
        op = LoopOp(self.region)
        op.divergent, op.divergent_continue = node.divergent, node.divergent_continue
        before = node.owner[place_of(node) - 1]
        after = node.owner[place_of(node) + 1]
        assert isinstance(before, Block) and isinstance(after, Block)
        self.region.items.append(op)
        phis = list(node.first.phis())
        outer = self.region
        for phi in phis:
            initial = self.whole(phi.src_for(before))
            carried = []
            for i, value in enumerate(initial):
                one = self.new(value.bits, "b1" if value.bits == 1 else "", op.body)
                one.op = op
                one.varying = _differs(phi, i)
                carried.append(one)
            op.initial.extend(initial)
            op.carried.extend(carried)
            self.components[phi.result] = carried
        exit_phis = list(after.phis())
        for phi in exit_phis:
            results = []
            for i in range(phi.result.num_components):
                bits = phi.result.bit_size
                one = self.new(bits, "b1" if bits == 1 else "", outer)
                one.op = op
                one.varying = _differs(phi, i)
                op.exits.append(one)
                results.append(one)
            self.components[phi.result] = results
        self.loops[node] = (op, phis, exit_phis)
        self.nested(op.body)
        self.body(node.body)
        if not _jumps(node.body):
            self.go_round(op, phis, node.last)
        self.region = outer

    def jump(self, jump: Jump, block: Block) -> None:
        if jump.type in ("return", "halt"):
            raise GalletteError(f"`{jump.type}` must have been lowered before code generation")
        at: Any = block.parent
        while not isinstance(at, Loop):
            at = at.parent
        op, phis, exit_phis = self.loops[at]
        if jump.type == "continue":
            self.go_round(op, phis, block)
            return
        leave = BreakOp(op, self.region)
        for phi in exit_phis:
            leave.values.extend(self.whole(phi.src_for(block)))
        op.breaks.append(leave)
        self.region.items.append(leave)

    def go_round(self, op: LoopOp, phis: list[Phi], block: Block) -> None:
        again = ContinueOp(op, self.region)
        for phi in phis:
            again.values.extend(self.whole(phi.src_for(block)))
        op.continues.append(again)
        self.region.items.append(again)


def _differs(phi: Phi, component: int) -> bool:
    return bool(phi.result.divergent_components >> component & 1)


def _jumps(body: Body) -> bool:
    """Whether control never reaches the end of this body."""
    last = body[-1]
    assert isinstance(last, Block)
    if last.jump is not None:
        return True
    if len(body) > 1 and isinstance(body[-2], If):
        node = body[-2]
        return _jumps(node.then_body) and _jumps(node.else_body)
    return False


def _inside(block: Block, body: Body) -> bool:
    at: Any = block
    while isinstance(at, (Block, If, Loop)):
        if at.owner is body:
            return True
        at = at.parent
    return False


def _same_everywhere(a: LaneValue, b: LaneValue, op: IfOp) -> bool:
    """Whether both sides of an if end with the same value, defined outside of it."""
    if a.const is not None:
        return a.const == b.const
    return a is b and _is_outside(a, op)


def _is_outside(value: LaneValue, op: IfOp) -> bool:
    region: Region | None = value.region
    while region is not None:
        if region.owner is op:
            return False
        region = region.parent
    return True
