"""64-bit integers become pairs of 32-bit integers."""

from __future__ import annotations

from functools import partial

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import UINT
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.lower.operations import Build, lower_operations
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_int64", preserves=Metadata.CONTROL_FLOW)
def lower_int64(shader: Shader) -> bool:
    """For targets without 64-bit arithmetic: compute on low and high halves.

    Before: `64 %2 = iadd %0, %1`; after: the halves of both are unpacked, added with carry and
    packed again (see `int64.txt`). The algebraic rules then cancel packs against unpacks, so that
    64-bit values remain only where they are loaded, stored or used by phis. Needs
    `lower_alu_to_scalar`; leaves floating point to `lower_doubles`. Division is a loop over the
    bits.
    """
    return lower_operations(shader, _lowering)


def _lowering(instr: Alu) -> Build | None:
    """The code for `instr`, or None if it does not compute on 64-bit integers."""
    if instr.result.num_components != 1:
        return None
    name = instr.op.name
    if any(s.value.bit_size == 64 for s in instr.srcs):
        name += "_64"
    elif instr.result.bit_size != 64:
        return None
    return _FORMULAS.builder(name) if name in _FORMULAS else None


def _divide(wanted: str, b: Builder, x: Def, y: Def) -> Def:
    """The unsigned quotient or remainder, bit by bit."""
    names = ("quotient_low", "quotient_high", "remainder_low", "remainder_high")
    halves = {name: b.impl.add_local(f"divide_{name}", UINT) for name in names}
    number = b.impl.add_local("divide_bit", UINT)

    def built(name: str, *srcs: Def) -> Def:
        return _FORMULAS.build(b, name, srcs)

    def load(name: str) -> Def:
        return built("pair", *[b.load_var(halves[f"{name}_{end}"]) for end in ("low", "high")])

    def store(name: str, value: Def) -> None:
        for end in ("low", "high"):
            b.store_var(halves[f"{name}_{end}"], built(end, value))

    for var in halves.values():
        b.store_var(var, b.imm_int(0))
    b.store_var(number, b.imm_int(63))
    b.push_loop()
    n = b.load_var(number)
    b.break_if(b.ilt(n, b.imm_int(0)))
    rest = load("remainder")
    moved = built("append", rest, built("next_bit", x, n))
    fits = built("fits", rest, moved, y)
    store("quotient", built("append", load("quotient"), b.b2i32(fits)))
    store("remainder", built("subtracted", moved, fits, y))
    b.store_var(number, b.isub(n, b.imm_int(1)))
    b.pop_loop()
    return load(wanted)


_FORMULAS = Formulas.beside(
    __file__, "int64.txt", {n: partial(_divide, n) for n in ("quotient", "remainder")}
)
