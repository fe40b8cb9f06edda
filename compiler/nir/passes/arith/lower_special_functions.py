"""Functions that a machine lacks become those it has."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.lower import exponentials, reciprocals, trigonometry
from gallette.compiler.nir.lower.table import special
from gallette.compiler.nir.lower.target_machine import LOWERED, Machine
from gallette.compiler.nir.run.pass_runner import nir_pass

ROOMS = (exponentials, reciprocals, trigonometry)
"""modules that register their functions on import"""


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
    lacks = machine.lacks
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if not isinstance(instr, Alu) or instr.op.name not in lacks:
                continue
            bits = instr.result.bit_size
            if bits == 64:
                continue
            b = Builder(impl).at_before(instr)
            srcs = [b.swizzle(src.value, src.swizzle) for src in instr.srcs]
            if bits == 16:
                srcs = [b.f2f32(src) for src in srcs]
            value = special(b, machine, instr.op.name, *srcs)
            instr.replace_by(b.f2f16(value) if bits == 16 else value)
            progress = True
    return progress
