"""Selection: a lowered shader becomes flat code. Control flow and phis are here.

A branch is a comparison into p0.x and a jump. A phi has a register of its own that every
predecessor writes before it leaves; at the phi's place it is copied once more, so that nobody who
still needs the old value sees the new one. Coalescing removes the copies that nobody misses.
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
    Src,
    Tex,
    Undef,
)
from gallette.compiler.nir.ir.cf import successors_of
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.common.machine.launch import LIVE_FLAG
from gallette.drivers.common.machine.selecting.io import IO_INTRINSICS
from gallette.drivers.common.machine.selecting.memory import MEMORY_INTRINSICS
from gallette.drivers.common.machine.types import TYPES, type_of
from gallette.drivers.tiler.isa.instruction import Instruction, Operand, immediate

from .code import LABEL, Code
from .select_alu import AluSelector
from .selector import P0, Pair, Value

__all__ = ["Selector"]

UD = TYPES["UD"]
_WHOLE = frozenset({FragResult.DEPTH, FragResult.STENCIL, FragResult.SAMPLE_MASK})


class Selector(AluSelector):
    """Selects a whole shader."""

    def __init__(
        self, shader: Shader, flat_colors: bool = False, half_colors: bool = False
    ) -> None:
        super().__init__(shader, flat_colors)
        self.half_colors = half_colors
        self.phis: dict[Def, list[Value]] = {}
        self.loops: list[tuple[int, int]] = []  # labels: behind the loop, its end
        self.may_discard = self.stage == "fragment" and any(
            isinstance(instr, Intrinsic) and instr.info.ends_lanes
            for block in shader.entry.blocks()
            for instr in block.instrs()
        )

    def run(self) -> Code:
        """The code of the shader."""
        self.body(self.shader.entry.body)
        if self.stage == "fragment":
            self.finish_fragment()
        self.append(Instruction("end"))
        self.code.private = self.private
        return self.code

    def finish_fragment(self) -> None:
        """Zeros at the start for results that not every channel writes; the writes at the end."""
        self.code.instrs[:0] = [
            Instruction("mov", self.outputs[place], (immediate(0),), note="output")
            for place in sorted(self.early)
        ]
        rows: dict[tuple[int, int], list[tuple[int, Operand]]] = {}
        for (slot, component, dual), register in sorted(self.outputs.items()):
            rows.setdefault((slot, dual), []).append((component, register))
        for (slot, dual), parts in rows.items():
            half = self.half_colors and slot not in _WHOLE
            fields = {"slot": slot, "dual": dual, "half": half}
            fields["mask"] = sum(1 << component for component, _ in parts)
            values: list[Operand] = [register for _, register in parts]
            if half:
                values = self.halved(values)
            self.tell("render", fields, values, "render target")

    def halved(self, values: list[Operand]) -> list[Operand]:
        """Values as halves of registers, two to each."""
        packed = [self.new() for _ in range(0, len(values), 2)]
        for k, value in enumerate(values):
            dst = packed[k // 2]._replace(half=True, offset=k % 2)
            self.put("cov.fh", dst, value, fresh=k % 2 == 0)
        return packed

    # -- control flow ------------------------------------------------------------------------------

    def body(self, body: Body) -> None:
        for node in body:
            if isinstance(node, Block):
                self.block(node)
            elif isinstance(node, If):
                self.branch(node)
            else:
                self.loop(node)

    def place(self, label: int) -> None:
        self.append(Instruction(LABEL, target=label))

    def go(self, name: str, label: int, *, inverse: bool = False, pred: int = 0) -> None:
        self.append(Instruction(name, target=label, inverse=inverse, pred=pred))

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
            self.go("jump", self.loops[-1][jump.type == "continue"])

    def predicate(self, src: Src) -> None:
        """A condition in p0.x: by the comparison itself, if that was the last instruction."""
        value = self.value(src)
        last = self.code.instrs[-1] if self.code.instrs else None
        if (
            last is not None
            and last.op.kind == "compare"
            and last.dst == value
            and len(src.value.uses) == 1
        ):
            last.dst = P0
            return
        if value.file != "v":
            value = self.put("mov", self.new(), value)
        self.put("cmps.u.ne", P0, value, immediate(0))

    def branch(self, node: If) -> None:
        self.predicate(node.condition)
        for body, other, inverse in (
            (node.then_body, node.else_body, False),
            (node.else_body, node.then_body, True),
        ):
            jump = _only_jumps(body, other)
            if jump is not None:
                self.go("br", self.loops[-1][jump == "continue"], inverse=inverse)
                return
        otherwise = self.code.label()
        self.go("br", otherwise, inverse=True)
        self.depth += 1
        self.body(node.then_body)
        if _is_empty(node.else_body):
            self.place(otherwise)
        else:
            end = self.code.label()
            if self.code.instrs[-1].op.name != "jump":
                self.go("jump", end)
            self.place(otherwise)
            self.body(node.else_body)
            self.place(end)
        self.depth -= 1

    def loop(self, node: Loop) -> None:
        head, end, behind = (self.code.label() for _ in range(3))
        self.loops.append((behind, end))
        self.place(head)
        self.depth += 1
        self.body(node.body)
        self.depth -= 1
        self.place(end)
        if self.may_discard:  # pixels that write nothing must not keep a loop going
            self.go("brdead", behind, pred=LIVE_FLAG)
        self.go("jump", head)
        self.place(behind)
        self.loops.pop()

    # -- phis --------------------------------------------------------------------------------------

    def phi_registers(self, phi: Phi) -> list[Value]:
        """Where predecessors put a phi's components."""
        d = phi.result
        if d not in self.phis:
            one = (lambda: Pair(self.new(), self.new())) if d.bit_size == 64 else self.new
            self.phis[d] = [one() for _ in range(d.num_components)]
        return self.phis[d]

    def begin_phi(self, phi: Phi) -> None:
        values: list[Value] = []
        for register in self.phi_registers(phi):
            if isinstance(register, Pair):
                values.append(Pair(*(self.emit("mov", part) for part in register)))
            else:
                values.append(self.emit("mov", register))
        self.values[phi.result] = values

    def leave(self, block: Block) -> None:
        """Write the phis of whatever comes next."""
        for after in successors_of(block):
            for phi in after.phis():
                src = next((s for s in phi.phi_srcs if s.pred is block), None)
                if src is None:  # nobody comes from here: both sides of an if before jump away
                    continue
                for k, target in enumerate(self.phi_registers(phi)):
                    value = self.value(src, k)
                    if isinstance(target, Pair):
                        for part, word in zip(target, value, strict=True):
                            self.copy(part, word)
                    else:
                        self.copy(target, value)

    # -- instructions ------------------------------------------------------------------------------

    def instruction(self, instr: Instr) -> None:
        if isinstance(instr, Alu):
            self.note = instr.op.name
            self.alu(instr)
            self.derivatives |= instr.op.is_derivative
        elif isinstance(instr, LoadConst):
            type = type_of("uint", instr.result.bit_size)
            self.values[instr.result] = [self.number(v, type) for v in instr.values]
        elif isinstance(instr, Undef):
            d = instr.result
            type = type_of("uint", d.bit_size)
            self.values[d] = [self.number(0, type)] * d.num_components
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


def _only_jumps(body: Body, other: Body) -> str | None:
    """`if (c) break;` and nothing else: a branch with a predicate."""
    if not _is_empty(other) or len(body) != 1:
        return None
    block = body[0]
    assert isinstance(block, Block)
    jump = block.jump
    if jump is None or block.first is not jump or _phis_from(block):
        return None
    return jump.type if jump.type in ("break", "continue") else None
