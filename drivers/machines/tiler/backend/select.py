"""Selection: a lowered shader becomes flat code of the tiler, control flow included.

A branch is a comparison into p0.x and a jump.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import (
    If,
    Loop,
    Shader,
    Src,
)
from gallette.compiler.nir.ir.slots import FragResult
from gallette.drivers.machines.isa.messages import LIVE_FLAG
from gallette.drivers.machines.isa.types import TYPES, type_of
from gallette.drivers.machines.selection.flow import (
    is_empty,
    only_jumps,
)
from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand, immediate
from gallette.drivers.machines.tiler.isa.opcodes import LABEL

from .code import Code
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
        self.loops: list[tuple[int, int]] = []  # labels: after the loop, its end

    def run(self) -> Code:
        """The code of the shader."""
        self.body(self.shader.entry.body)
        if self.stage == "fragment":
            self.finish_fragment()
        self.append(Instruction("end"))
        self.code.private = self.private
        return self.code

    def write_target(self, fields: dict[str, int], values: list[Operand]) -> None:
        if self.half_colors and fields["slot"] not in _WHOLE:
            fields, values = {**fields, "half": 1}, self.halved(values)
        super().write_target(fields, values)

    def halved(self, values: list[Operand]) -> list[Operand]:
        """Values as half registers, two per register."""
        packed = [self.new() for _ in range(0, len(values), 2)]
        for k, value in enumerate(values):
            dst = packed[k // 2]._replace(half=True, offset=k % 2)
            self.put("cov.fh", dst, value, fresh=k % 2 == 0)
        return packed

    # -- control flow ------------------------------------------------------------------------------

    def place(self, label: int) -> None:
        self.append(Instruction(LABEL, target=label))

    def go(self, name: str, label: int, *, inverse: bool = False, pred: int = 0) -> None:
        self.append(Instruction(name, target=label, inverse=inverse, pred=pred))

    def jump(self, type: str) -> None:
        self.go("jump", self.loops[-1][type == "continue"])

    def predicate(self, src: Src) -> None:
        """A condition in p0.x, written by the comparison itself if that was the last
        instruction.
        """
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
            jump = only_jumps(body, other)
            if jump is not None:
                self.go("br", self.loops[-1][jump == "continue"], inverse=inverse)
                return
        otherwise = self.code.label()
        self.go("br", otherwise, inverse=True)
        self.depth += 1
        self.body(node.then_body)
        if is_empty(node.else_body):
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
        if self.may_discard:  # pixels that write nothing must not keep a loop running
            self.go("brdead", behind, pred=LIVE_FLAG)
        self.go("jump", head)
        self.place(behind)
        self.loops.pop()

    # -- values ------------------------------------------------------------------------------------

    def register(self, bits: int) -> Value:
        return Pair(self.new(), self.new()) if bits == 64 else self.new()

    def bits(self, value: int, size: int) -> Value:
        return self.number(value, type_of("uint", size))
