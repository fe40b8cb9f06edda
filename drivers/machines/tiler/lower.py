"""Lowers operations for which the machine has no instruction.

The formulas are in `lowering.txt`, and those that any machine may use in `selection`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gallette.compiler.nir.algebraic.options import AlgebraicOptions
from gallette.compiler.nir.builder.formulas import Formulas
from gallette.compiler.nir.ir import Alu, Def, LoadConst, Shader
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.lower.operations import Build, lower_operations
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassLog, nir_pass, run_passes
from gallette.drivers.machines.selection.arithmetic import FORMULAS

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
    progress = lower_operations(shader, partial(_lowering, FORMULAS))
    # These formulas are made of some of the following.
    return lower_operations(shader, partial(_lowering, _FORMULAS)) or progress


def _lowering(formulas: Formulas, instr: Alu) -> Build | None:
    name = instr.op.name
    if name == "fdiv" and name in formulas and _is_one(instr.srcs[0].value):
        return lambda b, srcs: b.frcp(srcs[1])
    return formulas.builder(name) if name in formulas else None


def _is_one(value: Def) -> bool:
    maker = value.instr
    return isinstance(maker, LoadConst) and maker.values == (0x3F800000,)
