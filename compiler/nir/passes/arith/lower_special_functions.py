"""Functions that a machine lacks become those it has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.formulas import BuilderMaker, Formulas
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.operations import Build, lower_operations
from gallette.compiler.nir.lower.target_machine import LOWERED, Machine
from gallette.compiler.nir.run.pass_runner import nir_pass

_FORMULAS = Formulas.beside(__file__, "special_functions.txt", LOWERED)


@nir_pass("lower_special_functions", preserves=Metadata.CONTROL_FLOW, exact=False)
def lower_special_functions(
    shader: Shader,
    *,
    has: str = "",
    steps: int = 2,
    ffma: bool = True,
    exact_division: bool = False,
    full_range: bool = False,
) -> bool:
    """Express division, roots, exponentials and angles that are not in `has` by those that are.

    `has` is opcodes separated by `+`; "" is a machine with all of them.

    Before: `32 %1 = frcp %0`; after, on a machine with `frcp_8bit` and one step: `32 %1 = frcp_8bit
    %0`, then `%3 = ffma(-%0, %1, 1)` (the relative error), `%4 = ffma(%1, %3, %1)`, and a select of
    %1 where %4 is NaN. The options are the fields of `compiler.nir.lower.Machine`, which describes
    each machine. 16-bit floats are computed in 32 bits; 64-bit ones are not changed. Everything
    built is exact, so that no algebraic rule undoes a range reduction. Run it after the last
    `algebraic`, which may form divisions from reciprocals again.
    """
    machine = Machine.of(
        has or LOWERED, steps=steps, ffma=ffma, exact_division=exact_division, full_range=full_range
    )
    return lower_operations(shader, partial(_lowering, machine))


def _lowering(machine: Machine, instr: Alu) -> Build | None:
    if instr.op.name not in machine.lacks or instr.result.bit_size == 64:
        return None
    return partial(_built, machine, instr.op.name)


def _built(machine: Machine, name: str, b: Builder, srcs: Sequence[Def]) -> Def:
    narrow = srcs[0].bit_size == 16
    if narrow:
        srcs = [b.f2f32(src) for src in srcs]
    with b.exactly():
        value = _Maker(b, machine).routine(name, srcs)
    return b.f2f16(value) if narrow else value


class _Maker(BuilderMaker):
    """Builds formulas of `special_functions.txt` for a machine."""

    __slots__ = ("machine",)

    def __init__(self, b: Builder, machine: Machine) -> None:
        super().__init__(b, {})
        self.machine = machine

    def alu(self, name: str, srcs: Sequence[Def]) -> Def:
        if name == "ffma" and not self.machine.ffma:
            return self.b.fadd(self.b.fmul(srcs[0], srcs[1]), srcs[2])
        return super().alu(name, srcs)

    def routine(self, name: str, srcs: Sequence[Def]) -> Def:
        """A special function."""
        m = self.machine
        if name in m.has:
            return self.b.alu(name, *srcs)
        if name in ("frcp", "frsq"):
            return self.inverse(name, srcs[0])
        if name in ("fsin", "fcos"):
            return self.of_angle(name, srcs[0])
        if name == "fsqrt" and m.ffma and ("frsq" in m.has or m.steps):
            name = "fsqrt_corrected"
        elif name == "fdiv" and m.exact_division:
            name = "fdiv_corrected"
        return self.row(name, *srcs)

    def row(self, name: str, *srcs: Def) -> Def:
        return _FORMULAS.make(self, name, srcs)  # type: ignore[no-any-return]

    def inverse(self, name: str, x: Def) -> Def:
        m = self.machine
        if name == "frcp" and "fdiv" in m.has:
            return self.row("frcp_of_quotient", x)
        if name == "frsq" and "frsq_8bit" not in m.has:
            return self.row("frsq_of_root", x)
        first = y = self.b.alu(f"{name}_8bit", x)
        for _ in range(m.steps):
            y = self.row(f"better_{name}", x, y)
        return self.row("unless_nan", y, first) if m.steps else y

    def of_angle(self, name: str, x: Def) -> Def:
        m, b = self.machine, self.b
        reduced = f"{name}_reduced"
        if reduced in m.has:
            r = self.row("less_turns", x, self.row("turns", x))
            if m.full_range:
                r = self.row("if_large", x, self.row("angle", *self.exact_angle(x)), r)
            return self.row("of_finite", b.alu(reduced, r), x)
        number = self.row("quarters", x)
        n, r = b.f2i32(number), self.row("less_quarters", x, number)
        if m.full_range:
            exact_n, exact_r = self.exact_angle(x)
            n, r = self.row("if_large", x, exact_n, n), self.row("if_large", x, exact_r, r)
        if name == "fcos":
            n = self.row("next_quarter", n)
        return self.row("of_finite", self.row("sine", n, r), x)

    def exact_angle(self, x: Def) -> tuple[Def, Def]:
        """The quarter turns of an angle of any size, and the remainder."""
        at, size = self.row("first_bit", x), self.row("significand", x)
        words = [self.row(f"word_{k}", self.b.ushr(at, self.b.imm_int(5))) for k in range(4)]
        top, middle, last = (self.row("aligned", *pair, at) for pair in pairwise(words))
        low = self.row("product_low", size, middle, last)
        high = self.row("product_high", size, top, middle, low)
        return self.row("exact_quarters", x, high), self.row("exact_rest", x, high, low)
