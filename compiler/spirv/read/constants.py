"""Constant instructions: nested tuples of raw bits, specialised with the application's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.compiler.nir.ir.types import UINT, Type
from gallette.compiler.spirv.grammar import name_of
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.model import Constant, Data, SpvType, by_name

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.declarations import Declarations

MAX_ELEMENTS = 1 << 16
_SAMPLER = SpvType("sampler", UINT)


def zero(type: SpvType, where: Instruction) -> Data:
    """A constant of zeros."""
    return _zero(type.nir, where, [MAX_ELEMENTS])


def _zero(nir: Type, where: Instruction, budget: list[int]) -> Data:
    budget[0] -= 1
    if budget[0] < 0:
        raise where.error("the constant is too large")
    if nir.element is not None:
        if nir.length > budget[0]:
            raise where.error("the constant is too large")
        return tuple(_zero(nir.element, where, budget) for _ in range(nir.length))
    if nir.is_struct:
        return tuple(_zero(f.type, where, budget) for f in nir.fields)
    if nir.is_matrix:
        return ((0,) * nir.rows,) * nir.columns
    return (0,) * max(nir.components, 1)


def _bool_constant(d: Declarations, i: Instruction) -> None:
    value = int(i.name.endswith("True"))
    value = int(bool(_specialized(d, i, value)))
    d.constants[i.words[1]] = Constant(d.type(i.words[0], i), (value,))


def _specialized(d: Declarations, i: Instruction, value: int) -> int:
    spec = d.decorations.get(i.words[1], {}).get("SpecId")
    if spec and i.name.startswith("OpSpec"):
        d.spec_ids[spec[0]] = i.words[1]
        return d.specialize.get(spec[0], value)
    return value


def _number_constant(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    if type.kind not in ("int", "float"):
        raise i.error(f"%{i.words[0]} is no type of numbers")
    bits = type.nir.bit_size
    value = i.words[2]
    if bits == 64:
        if len(i.words) < 4:
            raise i.error("the literal is cut off")
        value |= i.words[3] << 32
    value = _specialized(d, i, value) & (1 << bits) - 1
    d.constants[i.words[1]] = Constant(type, (value,))


def _composite_constant(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    parts = [d.constant(w, i).data for w in i.words[2:]]
    expected = len(type.members) if type.kind == "struct" else type.count
    if len(parts) != expected:
        raise i.error(f"{len(parts)} parts for {expected}")
    if type.kind == "vector":
        data: Data = tuple(part[0] for part in parts)
    else:
        data = tuple(parts)
    d.constants[i.words[1]] = Constant(type, data)
    if name_of("BuiltIn", d.decorations.get(i.words[1], {}).get("BuiltIn", (0,))[0]) == (
        "WorkgroupSize"
    ):
        d.workgroup_size = i.words[1]


def _null(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    d.constants[i.words[1]] = Constant(type, d.zero(type, i))


def _undef(d: Declarations, i: Instruction) -> None:
    type = d.type(i.words[0], i)
    d.constants[i.words[1]] = Constant(type, d.zero(type, i), True)


def _sampler(d: Declarations, i: Instruction) -> None:
    """A kernel's sampler is a number: its address mode, and whether it is normalised and linear."""
    _, _, address, normalized, linear = i.words[:5]
    d.constants[i.words[1]] = Constant(_SAMPLER, (address << 2 | normalized << 1 | linear,))


CONSTANTS = by_name(
    {
        "OpConstantTrue OpConstantFalse OpSpecConstantTrue OpSpecConstantFalse": _bool_constant,
        "OpConstant OpSpecConstant": _number_constant,
        "OpConstantComposite OpSpecConstantComposite": _composite_constant,
        "OpConstantNull": _null,
        "OpUndef": _undef,
        "OpConstantSampler": _sampler,
    }
)
