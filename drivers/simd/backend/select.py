"""Instruction selection: a lowered shader becomes flat code; control flow and phis are here.

A phi has a register of its own that every predecessor writes before it leaves; at the phi it is
copied once more, because uses of the old value may follow. Coalescing removes unneeded copies.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import (
    Block,
    Def,
    If,
    Loop,
    Phi,
    Shader,
)
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.drivers.common.machine.launch import LIVE_FLAG
from gallette.drivers.common.machine.messages import RENDER_OPS
from gallette.drivers.common.machine.selection.flow import (
    FlowSelector,
    incoming,
    is_empty,
    may_discard,
    only_jumps,
)
from gallette.drivers.simd.isa.instruction import Instruction, Region, immediate
from gallette.drivers.simd.isa.types import TYPES, type_of

from .code import Code
from .select_messages import SendSelector

__all__ = ["Selector"]

UD, D = TYPES["UD"], TYPES["D"]


class Selector(SendSelector, FlowSelector):
    """Selects a whole shader."""

    def __init__(self, shader: Shader, width: int, flat_colors: bool = False) -> None:
        super().__init__(shader, width, flat_colors)
        self.phis: dict[Def, list[Region]] = {}
        self.may_discard = may_discard(shader)

    def run(self) -> Code:
        """The code of the shader."""
        self.shader.entry.require(Metadata.DIVERGENCE)
        self.body(self.shader.entry.body)
        if self.stage == "fragment":
            self.finish_fragment()
        else:
            self.send("render", {"op": RENDER_OPS.index("end")}, [], end=True, note="end")
        self.code.private = self.private
        return self.code

    def finish_fragment(self) -> None:
        """Initialise results that not every channel writes, and write them at the end."""
        start = [
            Instruction("mov", self.width, self.outputs[place], (immediate(0, UD),), note="output")
            for place in sorted(self.early)
        ]
        self.code.instrs[:0] = start
        rows: dict[tuple[int, int], list[tuple[int, Region]]] = {}
        for (slot, component, dual), region in sorted(self.outputs.items()):
            rows.setdefault((slot, dual), []).append((component, region))
        for (slot, dual), parts in rows.items():
            mask = sum(1 << component for component, _ in parts)
            fields = {"slot": slot, "dual": dual, "mask": mask}
            self.send("render", fields, [region for _, region in parts], note="render target")
        self.send("render", {"op": RENDER_OPS.index("end")}, [], end=True, note="end")

    # -- control flow ------------------------------------------------------------------------------

    def flow(self, name: str, *, pred: str = "", flag: int = 0, uniform: bool = False) -> None:
        instr = Instruction(name, self.width, pred=pred, flag=flag)
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

    # -- phis --------------------------------------------------------------------------------------

    def phi_registers(self, phi: Phi) -> list[Region]:
        """The registers in which predecessors put a phi's components."""
        d = phi.result
        if d not in self.phis:
            type = D if d.bit_size == 1 else type_of("uint", d.bit_size)
            self.phis[d] = [self.new(type) for _ in range(d.num_components)]
        return self.phis[d]

    def begin_phi(self, phi: Phi) -> None:
        values = []
        for region in self.phi_registers(phi):
            values.append(self.emit("mov", self.new(region.type), region))
        self.values[phi.result] = values

    def leave(self, block: Block) -> None:
        """Write the phis of the successor block."""
        for phi, src in incoming(block):
            for k, target in enumerate(self.phi_registers(phi)):
                self.emit("mov", target, self.typed(self.value(src, k), target.type))

    def bits(self, value: int, size: int) -> Region:
        if size == 1:
            return immediate(value * 0xFFFFFFFF, D)
        return immediate(value, type_of("uint", size))
