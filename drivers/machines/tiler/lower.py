"""Lowers operations for which the machine has no instruction.

The formulas are in `lowering.txt`, and those that any machine may use in `selection`.
"""

from __future__ import annotations

from dataclasses import replace

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir import Alu, Def, LoadConst, Shader
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassLog, nir_pass, run_passes
from gallette.drivers.machines.selection.arithmetic import FORMULAS

__all__ = ["ALGEBRAIC", "lowered_for_tiler", "tiler_lower_alu"]

ALGEBRAIC = AlgebraicOptions(
    fuse_fsub=False,
    lower_fpow=True,
    lower_fmod=True,
    lower_frem=True,
    lower_flrp=True,
    lower_ffract=True,
    lower_fsign=True,
    lower_isign=True,
    lower_ldexp=True,
    lower_fdot=True,
    lower_fdph=True,
    lower_fsum=True,
    lower_vector_compare=True,
    lower_slt=True,
    lower_bitfield_extract=True,
    lower_rotate=True,
    lower_sat_arithmetic=True,
    lower_hadd=True,
    lower_carry=True,
    lower_find_lsb=True,
    lower_pack_half=True,
)
"""Operations that algebraic rules lower."""


def lowered_for_tiler(
    shader: Shader,
    options: OptimizeOptions,
    log: PassLog | None = None,
    *,
    only_reciprocal: bool = False,
) -> None:
    """Optimise a shader, and lower everything that the machine lacks.

    `only_reciprocal`: the special function unit has eight bits of 1/x, and no other function.
    """
    options = replace(options, algebraic=ALGEBRAIC)
    optimize(shader, options, log)
    run_passes(shader, ["lower_doubles", "lower_int64", "lower_vars_to_ssa"], log)
    optimize(shader, options, log)
    run_passes(shader, ["tiler_lower_alu"], log)
    if only_reciprocal:
        run_passes(shader, [("lower_special_functions", _FEW), "tiler_lower_alu"], log)
    run_passes(shader, ["copy_prop", "constant_folding", "cse", "dce"], log)


_FEW = {"has": "frcp_8bit+frsq_8bit", "steps": 2}
_FORMULAS = Formulas.beside(__file__, "lowering.txt")


@nir_pass("tiler_lower_alu", preserves=Metadata.CONTROL_FLOW)
def tiler_lower_alu(shader: Shader) -> bool:
    """Lower the remaining divisions, square roots, upper halves of products, and packing.

    Before: `32 %2 = fsqrt %0`; after: `frsq`, `fmul`, two `ffma` and a selection. Needs
    `lower_alu_to_scalar`, `lower_doubles` and `lower_int64`.
    """
    progress = False
    for formulas in (FORMULAS, _FORMULAS):  # the first are made of some of the second
        for impl in shader.impls():
            for instr in list(instrs_of(impl)):
                if isinstance(instr, Alu) and instr.op.name in formulas:
                    instr.replace_by(_lowered(Builder(impl).at_before(instr), instr, formulas))
                    progress = True
    return progress


def _lowered(b: Builder, instr: Alu, formulas: Formulas) -> Def:
    srcs = []
    for src, size in zip(instr.srcs, instr.op.input_sizes, strict=True):
        parts = [b.channel(src.value, src.swizzle[k]) for k in range(max(1, size))]
        srcs.append(b.vec(parts) if size > 1 else parts[0])
    if instr.op.name == "fdiv" and _is_one(srcs[0]):
        return b.frcp(srcs[1])
    return formulas.build(b, instr.op.name, srcs)


def _is_one(value: Def) -> bool:
    maker = value.instr
    return isinstance(maker, LoadConst) and maker.values == (0x3F800000,)
