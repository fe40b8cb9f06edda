"""Selection: a lowered shader becomes flat code. Control flow and phis are here.

A phi has a register of its own that every predecessor writes before it leaves; at the phi's place
it is copied once more, so that nobody who still needs the old value sees the new one. Coalescing
removes the copies that nobody misses.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import (
    Alu,
    Block,
    Body,
    Def,
    Deref,
    If,
    Instr,
    Intrinsic,
    Jump,
    LoadConst,
    Loop,
    Phi,
    Shader,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.cf import successors_of
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.drivers.common.machine.launch import LIVE_FLAG
from gallette.drivers.common.machine.messages import RENDER_OPS
from gallette.drivers.common.machine.selecting.io import IO_INTRINSICS
from gallette.drivers.common.machine.selecting.memory import MEMORY_INTRINSICS
from gallette.drivers.simd.isa.instruction import Instruction, Region, immediate
from gallette.drivers.simd.isa.types import TYPES, type_of

from .code import Code
from .select_messages import SendSelector

__all__ = ["Selector"]

UD, D = TYPES["UD"], TYPES["D"]


class Selector(SendSelector):
    """Selects a whole shader."""

    def __init__(self, shader: Shader, width: int, flat_colors: bool = False) -> None:
        super().__init__(shader, width, flat_colors)
        self.phis: dict[Def, list[Region]] = {}
        self.may_discard = self.stage == "fragment" and any(
            isinstance(instr, Intrinsic) and instr.info.ends_lanes
            for block in shader.entry.blocks()
            for instr in block.instrs()
        )

    def run(self) -> Code:
        """The code of the shader."""
        self.shader.entry.require(Metadata.DIVERGENCE)
        self.body(self.shader.entry.body)
        if self.stage == "fragment":
            self.finish_fragment()
        else:
            self.send("render", {"op": RENDER_OPS.index("end")}, [], end=True, note="end")
        self.code.private, self.code.has_barriers = self.private, self.has_barriers
        return self.code

    def finish_fragment(self) -> None:
        """Zeros at the start for results that not every channel writes; the writes at the end."""
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

    def body(self, body: Body) -> None:
        for node in body:
            if isinstance(node, Block):
                self.block(node)
            elif isinstance(node, If):
                self.branch(node)
            else:
                self.loop(node)

    def flow(self, name: str, *, pred: str = "", flag: int = 0, uniform: bool = False) -> None:
        instr = Instruction(name, self.width, pred=pred, flag=flag)
        instr.uniform = uniform
        self.append(instr)

    def block(self, block: Block) -> None:
        for phi in block.phis():
            self.begin_phi(phi)
        jump = block.jump
        for instr in block.instrs():
            if not isinstance(instr, (Phi, Jump)):
                self.instruction(instr)
        self.leave(block)
        if jump is not None:
            if jump.type not in ("break", "continue"):
                raise self.fail(f"`{jump.type}`, which must have been lowered")
            self.flow("break" if jump.type == "break" else "cont")

    def branch(self, node: If) -> None:
        known = self.constant(node.condition)
        cond = bool(known) if known is not None else self.condition(node.condition)
        if isinstance(cond, bool):
            cond = self.known_flag(cond)
        flag, sign = cond
        jump = _only_jumps(node)
        if jump is not None:
            self.flow(jump, pred=sign, flag=flag, uniform=not node.divergent)
            self.forget_flags()
            return
        self.flow("if", pred=sign, flag=flag, uniform=not node.divergent)
        self.forget_flags()
        self.depth += 1
        self.body(node.then_body)
        if not _is_empty(node.else_body):
            self.flow("else")
            self.forget_flags()
            self.body(node.else_body)
        self.depth -= 1
        self.flow("endif")
        self.forget_flags()

    def known_flag(self, value: bool) -> tuple[int, str]:
        """A flag for a condition that is a constant."""
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
        if self.may_discard:  # pixels that write nothing must not keep a loop going
            self.flow("break", pred="!", flag=LIVE_FLAG, uniform=True)
        self.flow("while")
        self.forget_flags()

    # -- phis --------------------------------------------------------------------------------------

    def phi_registers(self, phi: Phi) -> list[Region]:
        """Where predecessors put a phi's components."""
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
        """Write the phis of whatever comes next."""
        for after in successors_of(block):
            for phi in after.phis():
                src = next((s for s in phi.phi_srcs if s.pred is block), None)
                if src is None:  # nobody comes from here: both sides of an if before jump away
                    continue
                for k, target in enumerate(self.phi_registers(phi)):
                    self.emit("mov", target, self.typed(self.value(src, k), target.type))

    # -- instructions ------------------------------------------------------------------------------

    def instruction(self, instr: Instr) -> None:
        if isinstance(instr, Alu):
            self.note = instr.op.name
            self.alu(instr)
            if instr.op.is_derivative:
                self.derivatives = True
        elif isinstance(instr, LoadConst):
            bits = instr.result.bit_size
            type = D if bits == 1 else type_of("uint", bits)
            scale = 0xFFFFFFFF if bits == 1 else 1
            self.values[instr.result] = [immediate(v * scale, type) for v in instr.values]
        elif isinstance(instr, Undef):
            d = instr.result
            type = D if d.bit_size == 1 else type_of("uint", d.bit_size)
            self.values[d] = [immediate(0, type)] * d.num_components
        elif isinstance(instr, Intrinsic):
            handler = IO_INTRINSICS.get(instr.name) or MEMORY_INTRINSICS.get(instr.name)
            if handler is None:
                raise self.fail(f"the intrinsic {instr.name!r}")
            found = handler(self, instr)
            if instr.dest is not None:
                self.values[instr.dest] = found
        elif isinstance(instr, Tex):
            self.values[instr.result] = self.tex(instr)
        elif not isinstance(instr, Deref):
            raise self.fail(f"{instr.kind!r} instructions")


def _is_empty(body: Body) -> bool:
    if len(body) != 1:
        return False
    block = body[0]
    assert isinstance(block, Block)
    return block.first is None and not any(_phis_from(block))


def _phis_from(block: Block) -> list[Phi]:
    return [phi for after in successors_of(block) for phi in after.phis()]


def _only_jumps(node: If) -> str | None:
    """`if (c) break;` and nothing else: a branch with a predicate."""
    if not _is_empty(node.else_body) or len(node.then_body) != 1:
        return None
    block = node.then_first
    jump = block.jump
    if jump is None or block.first is not jump or _phis_from(block):
        return None
    return {"break": "break", "continue": "cont"}.get(jump.type)
