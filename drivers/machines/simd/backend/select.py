"""Selection: a lowered shader becomes flat code of the execution unit: control flow, messages,
halves of SIMD16.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.nir.ir import If, Loop
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.drivers.machines.constants import ConstantSlot
from gallette.drivers.machines.isa.messages import LIVE_FLAG, RENDER_OPS, Place
from gallette.drivers.machines.isa.types import TYPES, RegType, type_of
from gallette.drivers.machines.selection.core import Operand
from gallette.drivers.machines.selection.flow import is_empty, only_jumps
from gallette.drivers.machines.simd.isa.instruction import NULL, Instruction, Region, immediate

from .code import Code
from .select_alu import AluSelector
from .selector import FLAGS

UD, D = TYPES["UD"], TYPES["D"]
MOST_PAYLOAD = 11
"""The maximum payload of a message, in registers; longer SIMD16 messages are sent in halves."""


class Selector(AluSelector):
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
        self.flags = dict.fromkeys(FLAGS)

    def jump(self, type: str) -> None:
        self.flow("break" if type == "break" else "cont")

    def branch(self, node: If) -> None:
        flag, uniform = self.flag_of(self.value(node.condition)), not node.divergent
        jump = only_jumps(node.then_body, node.else_body)
        if jump is not None:
            self.flow("break" if jump == "break" else "cont", pred="+", flag=flag, uniform=uniform)
            return
        self.flow("if", pred="+", flag=flag, uniform=uniform)
        self.depth += 1
        self.body(node.then_body)
        if not is_empty(node.else_body):
            self.flow("else")
            self.body(node.else_body)
        self.depth -= 1
        self.flow("endif")

    def loop(self, node: Loop) -> None:
        self.flow("do", uniform=not node.divergent)
        self.depth += 1
        self.body(node.body)
        self.depth -= 1
        if self.may_discard:  # pixels that write nothing must not keep a loop running
            self.flow("break", pred="!", flag=LIVE_FLAG, uniform=True)
        self.flow("while")

    # -- values ------------------------------------------------------------------------------------

    def register(self, bits: int) -> Region:
        return self.new(D if bits == 1 else type_of("uint", bits))

    def bits(self, value: int, size: int) -> Region:
        if size == 1:
            return immediate(value * 0xFFFFFFFF, D)
        return immediate(value, type_of("uint", size))

    # -- messages ----------------------------------------------------------------------------------

    def send_for_reply(
        self,
        unit: str,
        fields: dict[str, int],
        payload: Sequence[Operand],
        type: RegType,
        count: int,
        note: str = "",
    ) -> list[Operand]:
        made = self.new(type, count)
        self.send(unit, fields, payload, made, self.code.sizes[made.nr], note=note)
        return list(self.parts(made, count))

    def send_message(
        self, unit: str, fields: dict[str, int], payload: Sequence[Operand], note: str = ""
    ) -> None:
        self.send(unit, fields, payload, note=note)

    def sample(
        self,
        op: str,
        fields: dict[str, int],
        payload: list[Operand],
        offsets: list[tuple[int, ...]],
        count: int,
    ) -> list[Operand]:
        """Send a sampler message; constant offsets are passed in a header."""
        header = None
        if offsets:
            fields["offsets"] = 1 if len(offsets) == 1 else 2
            header = self.header(
                {
                    2 + k: sum((v & 0xFF) << 8 * at for at, v in enumerate(offset))
                    for k, offset in enumerate(offsets)
                }
            )
        length = sum(self.component_bytes(r.type.size * 8) for r in payload) // 32
        if self.width == 16 and length > MOST_PAYLOAD:
            return self._in_halves("sampler", fields, payload, count, header, op)
        made = self.new(UD, count)
        size = self.code.sizes[made.nr]
        self.send("sampler", fields, payload, made, size, header=header, note=op)
        return list(self.parts(made, count))

    def _in_halves(
        self,
        unit: str,
        fields: dict[str, int],
        payload: list[Operand],
        count: int,
        header: Region | None,
        note: str,
    ) -> list[Operand]:
        """Send a message for channels 0-7 and again for 8-15, and combine the replies."""
        whole = self.new(UD, count)
        for group in (0, 8):
            part = Region("v", self.code.new(count), UD)
            self.send(
                unit, fields, payload, part, count, header=header, width=8, group=group, note=note
            )
            for k, target in enumerate(self.parts(whole, count)):
                src, fresh = part.plus(32 * k), not (k or group)
                self.append(Instruction("mov", target.at(group), (src,), group=group, fresh=fresh))
        return list(self.parts(whole, count))

    # -- constants ---------------------------------------------------------------------------------

    def uniform(self, block: int, offset: int, type: RegType) -> Region | None:
        slot = self.slot(ConstantSlot(block, offset), type.size)
        return None if slot is None else self.constant_region(slot, type)

    def whole_block(self, block: int, offset: int, count: int) -> list[Operand] | None:
        """Load words at a constant offset: 32 bytes at a time, equal for all channels."""
        found: list[Operand] = []
        loaded: dict[int, Region] = {}
        for k in range(count):
            start = (offset + 4 * k) // 32 * 32
            if start not in loaded:
                header = self.header({2: start})
                made = Region("v", self.code.new(1), UD)
                fields = {"block": block, "whole": 1, "size": 2, "count": 8}
                self.send("constant", fields, [], made, 1, header=header, no_mask=True, width=8)
                loaded[start] = made
            at = (offset + 4 * k) % 32
            found.append(loaded[start]._replace(offset=at, stride=0))
        return found

    # -- fragments ---------------------------------------------------------------------------------

    def result(self, place: Place) -> Region:
        return self.new(UD)

    def assign(self, target: Region, value: Region) -> None:
        self.emit("mov", target, self.typed(value, target.type))

    def discard_where(self, condition: Region | None) -> None:
        """Emit f1.0 &= not condition: a comparison with the flag itself as predicate."""
        null = NULL._replace(type=D)
        if condition is None:
            one = immediate(1, D)
            self.emit("cmp", null, self.placed(one), one, cond="nz", flag=LIVE_FLAG)
            return
        self.emit("cmp", null, condition, immediate(0, D), cond="z", flag=LIVE_FLAG, pred="+")
