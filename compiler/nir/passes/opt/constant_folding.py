"""Operations on constants are done now."""

from __future__ import annotations

from gallette.compiler.nir.ir.fold import fold_alu
from gallette.compiler.nir.ir.instrs import Alu, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.surgery import remove_unused
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("constant_folding", preserves=Metadata.CONTROL_FLOW)
def constant_folding(shader: Shader) -> bool:
    """Evaluate ALU instructions whose sources are all constant, by the opcode's own semantics.

    The result has the same bits the driver would compute. Derivatives of constants are zero.
    """
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if not isinstance(instr, Alu):
                continue
            for src in instr.srcs:
                if not isinstance(src.value.instr, LoadConst):
                    break
            else:
                fold(instr)
                progress = True
    return progress


def fold(instr: Alu) -> LoadConst:
    """The constant that takes the place of an operation on constants."""
    dest = instr.dest
    values = (0,) * dest.num_components if instr.op.is_derivative else fold_alu(instr)
    assert values is not None
    const = LoadConst(values, dest.bit_size)
    const.insert_before(instr)
    dest.rewrite_uses(const.dest)
    remove_unused(instr)
    return const
