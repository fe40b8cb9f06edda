"""The walk over a shader's control flow, for any machine's kind of branches."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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

from .core import UD, MessageSelector, Operand
from .io import IO_INTRINSICS
from .memory import MEMORY_INTRINSICS

if TYPE_CHECKING:
    from gallette.drivers.machines.backend.code import Code
    from gallette.drivers.machines.isa.instruction import Instruction


class FlowSelector(MessageSelector):
    """Goes through bodies, blocks and instructions; the machine says what each becomes.

    A phi has a register of its own that every predecessor writes before it leaves; at the phi it is
    copied once more, so that later uses of the old value do not read the new one. Coalescing
    removes the copies that are not needed.
    """

    code: Code[Any]

    def __init__(self, shader: Shader, flat_colors: bool = False) -> None:
        super().__init__(shader, flat_colors)
        self.phis: dict[Def, list[Operand]] = {}
        self.may_discard = may_discard(shader)

    def body(self, body: Body) -> None:
        for node in body:
            if isinstance(node, Block):
                self.block(node)
            elif isinstance(node, If):
                self.branch(node)
            else:
                self.loop(node)

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
            self.jump(jump.type)

    def instruction(self, instr: Instr) -> None:
        self.line = instr.loc
        if isinstance(instr, Alu):
            self.note = instr.op.name
            self.alu(instr)
            self.derivatives |= instr.op.is_derivative
        elif isinstance(instr, LoadConst):
            bits = instr.result.bit_size
            self.values[instr.result] = [self.bits(v, bits) for v in instr.values]
        elif isinstance(instr, Undef):
            d = instr.result
            self.values[d] = [self.bits(0, d.bit_size)] * d.num_components
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

    @abstractmethod
    def branch(self, node: If) -> None: ...

    @abstractmethod
    def loop(self, node: Loop) -> None: ...

    @abstractmethod
    def jump(self, type: str) -> None:
        """Select a break or a continue."""

    def append(self, instr: Instruction) -> None:
        """Add an instruction to the code; the first one of a NIR operation is noted with it."""
        instr.note, self.note = instr.note or self.note, ""
        instr.line = self.line
        self.code.instrs.append(instr)

    # -- phis --------------------------------------------------------------------------------------

    def phi_registers(self, phi: Phi) -> list[Operand]:
        """The registers to which predecessors write a phi's components."""
        d = phi.result
        if d not in self.phis:
            self.phis[d] = [self.register(d.bit_size) for _ in range(d.num_components)]
        return self.phis[d]

    def begin_phi(self, phi: Phi) -> None:
        """Copy a phi's values at its place."""
        values = []
        for source in self.phi_registers(phi):
            values.append(self.register(phi.result.bit_size))
            self.assign(values[-1], source)
        self.values[phi.result] = values

    def leave(self, block: Block) -> None:
        """Write the phis of the blocks that follow."""
        for phi, src in incoming(block):
            for k, target in enumerate(self.phi_registers(phi)):
                self.assign(target, self.value(src, k))

    @abstractmethod
    def register(self, bits: int) -> Operand:
        """A new register for a number of this size."""

    # -- fragment results --------------------------------------------------------------------------

    def finish_fragment(self) -> None:
        """Write zeros at the start to results that not every channel writes, and write the results
        at the end.
        """
        written, self.code.instrs = self.code.instrs, []
        for place in sorted(self.early):
            self.note = "output"
            self.assign(self.outputs[place], self.number(0, UD))
        self.code.instrs += written
        rows: dict[tuple[int, int], dict[int, Operand]] = {}
        for (slot, component, dual), register in sorted(self.outputs.items()):
            rows.setdefault((slot, dual), {})[component] = register
        for (slot, dual), parts in rows.items():
            fields = {"slot": slot, "dual": dual, "mask": sum(1 << k for k in parts)}
            self.write_target(fields, list(parts.values()))

    def write_target(self, fields: dict[str, int], values: list[Operand]) -> None:
        """Write components of one result to the render cache."""
        self.send_message("render", fields, values, "render target")

    # -- what a machine says -----------------------------------------------------------------------

    @abstractmethod
    def alu(self, instr: Alu) -> None: ...

    @abstractmethod
    def tex(self, instr: Tex) -> list[Operand]: ...

    @abstractmethod
    def bits(self, value: int, size: int) -> Operand:
        """A constant of this many bits; one of 1 bit is a boolean."""


def is_empty(body: Body) -> bool:
    """Whether a body has no effects, and no phi after it reads a value from it."""
    if len(body) != 1:
        return False
    block = body[0]
    assert isinstance(block, Block)
    return block.first is None and not _phis_from(block)


def only_jumps(body: Body, other: Body) -> str | None:
    """The jump of an `if (c) break;` with nothing else in it, which a predicated branch
    implements.
    """
    if not is_empty(other) or len(body) != 1:
        return None
    block = body[0]
    assert isinstance(block, Block)
    jump = block.jump
    if jump is None or block.first is not jump or _phis_from(block):
        return None
    return jump.type if jump.type in ("break", "continue") else None


def incoming(block: Block) -> Iterator[tuple[Phi, Src]]:
    """The phis of the successor block, each with its source from this block."""
    for phi in _phis_from(block):
        src = next((s for s in phi.phi_srcs if s.pred is block), None)
        if src is not None:  # None if both branches of the if before have jumped away
            yield phi, src


def may_discard(shader: Shader) -> bool:
    """Whether fragments may be discarded or demoted to helpers."""
    return shader.stage.value == "fragment" and any(
        isinstance(instr, Intrinsic) and instr.info.ends_lanes
        for block in shader.entry.blocks()
        for instr in block.instrs()
    )


def _phis_from(block: Block) -> list[Phi]:
    return [phi for after in successors_of(block) for phi in after.phis()]
