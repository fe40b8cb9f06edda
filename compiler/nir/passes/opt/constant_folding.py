"""Operations on constants are done now, and constant offsets become slots."""

from __future__ import annotations

from gallette.compiler.nir.ir.fold import fold_alu
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.questions import const_int, instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.surgery import remove_unused
from gallette.compiler.nir.passes.io.lower_io import slot_enum
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("constant_folding", preserves=Metadata.CONTROL_FLOW)
def constant_folding(shader: Shader) -> bool:
    """Evaluate ALU instructions whose sources are all constant, by the opcode's own semantics.

    The result has the same bits the driver would compute. Derivatives of constants are zero.
    Inputs and outputs with a constant offset name the slot itself (see `fold_slot`).
    """
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if isinstance(instr, Intrinsic) and instr.info.name in SLOT_ACCESSES:
                progress |= fold_slot(instr, shader.stage)
            if not isinstance(instr, Alu):
                continue
            for src in instr.srcs:
                if not isinstance(src.value.instr, LoadConst):
                    break
            else:
                fold(instr)
                progress = True
    return progress


SLOT_ACCESSES = frozenset(
    (
        "load_input",
        "load_interpolated_input",
        "load_per_vertex_input",
        "load_output",
        "load_per_vertex_output",
        "store_output",
        "store_per_vertex_output",
    )
)
"""Intrinsics whose last source counts slots from the `location`."""


def fold_slot(access: Intrinsic, stage: Stage) -> bool:
    """Add a constant offset to the slot of an input or output; out of range it is no slot's.

        32 %two = load_const (2)
        32x4 %v = load_input (%two) (location=VAR0, num_slots=3)
        32x4 %v = load_input (%zero) (location=VAR2, num_slots=1)

    Drivers, and what links stages, take a slot that is named to be one. So a load out of range
    becomes zero, and a store is removed.
    """
    number = access.srcs[-1].value
    offset, slots = const_int(number), max(1, access["num_slots"])
    if offset is None or (offset == 0 and slots == 1):
        return False
    if not 0 <= offset < slots:
        if access.dest is not None:
            zero = LoadConst((0,) * access.dest.num_components, access.dest.bit_size)
            zero.insert_before(access)
            access.dest.rewrite_uses(zero.dest)
        remove_unused(access)
        return True
    mode = Mode.SHADER_IN if "input" in access.info.name else Mode.SHADER_OUT
    access["location"] = slot_enum(stage, mode, int(access["location"]) + offset)
    access["base"] += offset
    access["num_slots"] = 1
    if offset:
        zero = LoadConst((0,), number.bit_size)
        zero.insert_before(access)
        access.srcs[-1].rewrite(zero.dest)
        if not number.uses:
            remove_unused(number.instr)
    return True


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
