"""The walk through a shader's control flow, whatever the machine's branches look like."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from gallette.compiler.nir.ir import (
    Alu,
    Block,
    Body,
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

from .core import MessageSelector, Operand
from .io import IO_INTRINSICS
from .memory import MEMORY_INTRINSICS

__all__ = ["FlowSelector", "incoming", "is_empty", "may_discard", "only_jumps"]


class FlowSelector(MessageSelector):
    """Goes through bodies, blocks and instructions; the machine says what each becomes."""

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
        """A break or a continue."""

    @abstractmethod
    def begin_phi(self, phi: Phi) -> None:
        """Take a phi's values over at its place."""

    @abstractmethod
    def leave(self, block: Block) -> None:
        """Write the phis of whatever comes next."""

    @abstractmethod
    def alu(self, instr: Alu) -> None: ...

    @abstractmethod
    def tex(self, instr: Tex) -> list[Operand]: ...

    @abstractmethod
    def bits(self, value: int, size: int) -> Operand:
        """A constant of so many bits; one of 1 bit is a truth value."""


def is_empty(body: Body) -> bool:
    """Nothing happens in a body, and no phi behind it wants a value from there."""
    if len(body) != 1:
        return False
    block = body[0]
    assert isinstance(block, Block)
    return block.first is None and not _phis_from(block)


def only_jumps(body: Body, other: Body) -> str | None:
    """`if (c) break;` and nothing else: the jump, which a branch with a predicate can do."""
    if not is_empty(other) or len(body) != 1:
        return None
    block = body[0]
    assert isinstance(block, Block)
    jump = block.jump
    if jump is None or block.first is not jump or _phis_from(block):
        return None
    return jump.type if jump.type in ("break", "continue") else None


def incoming(block: Block) -> Iterator[tuple[Phi, Src]]:
    """The phis of whatever comes next, with what they take from here."""
    for phi in _phis_from(block):
        src = next((s for s in phi.phi_srcs if s.pred is block), None)
        if src is not None:  # else nobody comes from here: both sides of an if before jump away
            yield phi, src


def may_discard(shader: Shader) -> bool:
    """Fragments may end early, or go on as helpers only."""
    return shader.stage.value == "fragment" and any(
        isinstance(instr, Intrinsic) and instr.info.ends_lanes
        for block in shader.entry.blocks()
        for instr in block.instrs()
    )


def _phis_from(block: Block) -> list[Phi]:
    return [phi for after in successors_of(block) for phi in after.phis()]
