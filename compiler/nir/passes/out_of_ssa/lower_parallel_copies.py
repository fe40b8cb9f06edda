"""Parallel copies become one store after the other."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import ParallelCopy
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_parallel_copies", preserves=Metadata.CONTROL_FLOW)
def lower_parallel_copies(shader: Shader) -> bool:
    """`parallel_copy %r1 <- %1, %r2 <- %2` becomes two `store_reg`.

    The sources are SSA values, read from their registers earlier, so the order cannot matter.
    """
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if not isinstance(instr, ParallelCopy):
                continue
            b = Builder(impl).at_before(instr)
            for reg, src in zip(instr.regs, instr.srcs, strict=True):
                mask = (1 << src.value.num_components) - 1
                b.intrinsic("store_reg", [src.value, reg.value], write_mask=mask)
            instr.remove()
            progress = True
    return progress
