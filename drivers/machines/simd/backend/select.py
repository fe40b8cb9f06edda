"""Selection: a lowered shader becomes flat code of the execution unit, control flow included."""

from __future__ import annotations

from gallette.compiler.nir.ir import (
    If,
    Loop,
)
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.drivers.machines.isa.messages import LIVE_FLAG, RENDER_OPS
from gallette.drivers.machines.isa.types import TYPES, type_of
from gallette.drivers.machines.selection.flow import (
    is_empty,
    only_jumps,
)
from gallette.drivers.machines.simd.isa.instruction import Instruction, Region, immediate

from .code import Code
from .select_messages import SendSelector

__all__ = ["Selector"]

UD, D = TYPES["UD"], TYPES["D"]


class Selector(SendSelector):
    """Selects the instructions of a whole shader."""

    def run(self) -> Code:
        """The code of the shader."""
        self.shader.entry.require(Metadata.DIVERGENCE)
        self.body(self.shader.entry.body)
        if self.stage == "fragment":
            self.finish_fragment()
        self.send("render", {"op": RENDER_OPS.index("end")}, [], end=True, note="end")
        self.code.private = self.private
        return self.code

    # -- control flow ------------------------------------------------------------------------------

    def flow(self, name: str, *, pred: str = "", flag: int = 0, uniform: bool = False) -> None:
        instr = Instruction(name, width=self.width, pred=pred, flag=flag)
        instr.uniform = uniform
        self.append(instr)

    def jump(self, type: str) -> None:
        self.flow("break" if type == "break" else "cont")

    def branch(self, node: If) -> None:
        known = self.constant(node.condition)
        cond = bool(known) if known is not None else self.condition(node.condition)
        if isinstance(cond, bool):
            cond = self.known_flag(cond)
        flag, sign = cond
        jump = only_jumps(node.then_body, node.else_body)
        if jump is not None:
            name = "break" if jump == "break" else "cont"
            self.flow(name, pred=sign, flag=flag, uniform=not node.divergent)
            self.forget_flags()
            return
        self.flow("if", pred=sign, flag=flag, uniform=not node.divergent)
        self.forget_flags()
        self.depth += 1
        self.body(node.then_body)
        if not is_empty(node.else_body):
            self.flow("else")
            self.forget_flags()
            self.body(node.else_body)
        self.depth -= 1
        self.flow("endif")
        self.forget_flags()

    def known_flag(self, value: bool) -> tuple[int, str]:
        """A flag for a constant condition."""
        flag = self.take_flag()
        one = immediate(1, D)
        null = Region("n", 0, D)
        self.emit("cmp", null, self.placed(one), one, cond="z" if value else "nz", flag=flag)
        return flag, "+"

    def loop(self, node: Loop) -> None:
        self.flow("do", uniform=not node.divergent)
        self.forget_flags()
        self.depth += 1
        self.body(node.body)
        self.depth -= 1
        if self.may_discard:  # pixels that write nothing must not keep a loop running
            self.flow("break", pred="!", flag=LIVE_FLAG, uniform=True)
        self.flow("while")
        self.forget_flags()

    # -- values ------------------------------------------------------------------------------------

    def register(self, bits: int) -> Region:
        return self.new(D if bits == 1 else type_of("uint", bits))

    def bits(self, value: int, size: int) -> Region:
        if size == 1:
            return immediate(value * 0xFFFFFFFF, D)
        return immediate(value, type_of("uint", size))
