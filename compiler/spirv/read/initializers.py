"""Initial values of global variables, and of the variables of interface blocks."""

from __future__ import annotations

from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.model import Constant, Data, SpvType
from gallette.compiler.spirv.read.pointers import Place, RootPlace, SplitBlock

_MODES = Mode.SHADER_OUT | Mode.SHADER_TEMP | Mode.UNIFORM


def initialise(place: Place, type: SpvType, initial: Constant, where: Instruction) -> None:
    """Set the initial value of the NIR variables of a place."""
    if initial.type.id != type.id:
        raise where.error("the initial value is of another type")
    if not initial.undefined:
        _give(place, initial.data, where)


def _give(place: Place, data: Data, where: Instruction) -> None:
    if isinstance(place, RootPlace):
        if place.var.mode & Mode.SHARED:
            # Workgroup memory is zeroed by every driver.
            if not _is_zero(data):
                raise where.error("workgroup memory can only begin as zeros")
        elif place.var.mode & _MODES:
            place.var.constant_initializer = data
        else:
            raise where.error("a variable of this storage class has no initial value")
    elif isinstance(place, SplitBlock):
        # In per-vertex blocks each member is an array of its values.
        parts = list(zip(*data, strict=True)) if place.arrayed else data
        for member, part in zip(place.members, parts, strict=True):
            _give(member, part, where)
    else:
        raise where.error("a variable of this kind has no initial value")


def _is_zero(data: Data | int) -> bool:
    return all(map(_is_zero, data)) if isinstance(data, tuple) else data == 0
