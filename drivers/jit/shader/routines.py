"""Routines of fixed function (`drivers.common.fixed`) as machine code, inlined where they are used.

Their opcodes are those of shaders and compile the same way, but for two: the division of a code by
the greatest one, which `maths.unit` does without dividing, and conversions to integers where the
routine allows any result out of range.
"""

from __future__ import annotations

from collections.abc import Sequence

from gallette.compiler.nir.ir.bits import float_bits
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.tables import TABLES
from gallette.drivers.common.fixed.routine import Routine, Step

from ..llvm.text import Builder
from ..llvm.values import V
from .alu import emit_alu
from .maths import some_int, unit

_INTEGER = OPCODES["f2i32"]
_DIVIDE, _FLOAT, _AND = OPCODES["fdiv"], OPCODES["u2f32"], OPCODES["iand"]


def inlined(b: Builder, routine: Routine, arguments: Sequence[V | None]) -> list[V]:
    """Emit a routine; returns the components of its results.

    `arguments` are the components of its parameters, None where it does not read one.
    """
    values: list[V] = [
        *arguments,  # type: ignore[list-item]
        *(b.const(f"i{size}", bits) for bits, size in routine.constants),
    ]
    for step in routine.steps:
        if isinstance(step.op, str):
            values.append(element(b, step.op, values[step.sources[0]]))
            continue
        top = _greatest_code(routine, step)
        if step.op is _INTEGER and routine.any_conversion:
            values.append(some_int(b, values[step.sources[0]].as_float()))
        elif top:
            code = routine.steps[step.sources[0] - routine.first_step].sources[0]
            values.append(unit(b, values[code].as_int().to_float(), top))
        else:
            values.append(emit_alu(b, step.op.name, [values[n] for n in step.sources]))
    return [values[n] for n in routine.outputs]


def element(b: Builder, name: str, index: V) -> V:
    """The elements of a constant table."""
    numbers = TABLES[name]()
    t = "float" if numbers.dtype.kind == "f" else "i32"
    where = b.at(b.table(t, numbers.tolist()), index.as_int(), t)
    if not index.w:
        return b.load(where, t)
    return b.gather(where, b.lanes("i1", [True] * index.w), t)


def _greatest_code(routine: Routine, step: Step) -> int:
    """n if the step divides a masked number, at most n, by n; else 0."""
    if step.op is not _DIVIDE or step.bits != 32:
        return 0
    first, inputs = routine.first_step, len(routine.inputs)
    number, divisor = step.sources
    if number < first or not inputs <= divisor < first:
        return 0
    converted = routine.steps[number - first]
    if converted.op is not _FLOAT or converted.sources[0] < first:
        return 0
    masked = routine.steps[converted.sources[0] - first]
    if masked.op is not _AND or not inputs <= masked.sources[1] < first:
        return 0
    top = routine.constants[masked.sources[1] - inputs][0]
    same = routine.constants[divisor - inputs][0] == float_bits(float(top), 32)
    return top if same and top < 1 << 16 else 0
