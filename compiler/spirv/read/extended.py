"""GLSL.std.450: built-in functions, which GLSL's front end implements already.

If both languages have a function, both get the same instructions, so a shader's results do not
depend on its language.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.function_table import FunctionTable
from gallette.compiler.glsl.lower.math import FORMULAS, ldexp, lower_math
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.pointers import (
    DerefPlace,
    Handle,
    Place,
    RootPlace,
    Value,
    element_of,
)

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

# Functions that are one opcode, whatever the sign of their types.
_OPCODES = {name: nir for nir, name in tables.OPCODES.items() if not name.startswith("Op")}
_OPCODES |= {name: nir for name, nir in tables.ALSO_READ.items() if not name.startswith("Op")}
# GLSL's names of functions, where they are not the lower-case name.
_NAMES = {
    "Atan2": "atan", "InverseSqrt": "inversesqrt", "MatrixInverse": "inverse", "FClamp": "clamp",
    "NClamp": "clamp", "SmoothStep": "smoothstep", "FaceForward": "faceforward",
}  # fmt: skip


@lazy_dataclass()
class _Call:
    """The part of a call that the rows of GLSL's table read."""

    name: str
    type: Type | None
    params: list[tuple[str, Type | None]]


Handler = Callable[["FunctionReader", str, Instruction, tuple[int, ...]], Value]
_SPECIAL = FunctionTable[str, Handler]()
_does = _SPECIAL.entry


def glsl_std_450(r: FunctionReader, i: Instruction) -> None:
    """Translate an extended instruction."""
    w = i.words
    op = grammar().extended["GLSL.std.450"].by_opcode.get(w[3])
    if op is None:
        raise i.error(f"GLSL.std.450 has no instruction {w[3]}")
    args = w[4:]
    if len(args) != len(op.operands):
        raise i.error(f"{op.name} takes {len(op.operands)} operands, not {len(args)}")
    special = _SPECIAL.get(op.name)
    if special is not None:
        r.values[w[1]] = special(r, op.name, i, args)
    elif op.name in _OPCODES:
        r.values[w[1]] = r.b.alu(_OPCODES[op.name], *[r.ssa(a) for a in args])
    else:
        name = _NAMES.get(op.name) or op.name[0].lower() + op.name[1:]
        r.values[w[1]] = math(r, name, r.type(i).nir, args)


def math(r: FunctionReader, name: str, type: Type, args: tuple[int, ...]) -> Value:
    """Call one of GLSL's functions with values of the module."""
    result = math_results(r, name, type, args)[0]
    return tuple(result) if isinstance(result, list) else result


def math_results(
    r: FunctionReader, name: str, type: Type | None, args: tuple[int, ...]
) -> tuple[Any, ...]:
    """The results of a GLSL function: the returned value, and the values it writes."""
    values = [r.value(a) for a in args]
    if any(isinstance(v, (Place, Handle)) for v in values):
        raise SpirvError("expected numbers")
    call: Any = _Call(name, type, [("in", r.type_of(a) or type) for a in args])
    results = lower_math(r.b, call, values)
    assert results is not None, name
    return results


@_does("UClamp", "SClamp")
def _clamp(r: FunctionReader, name: str, i: Instruction, args: tuple[int, ...]) -> Value:
    return FORMULAS.build(r.b, "clamp", [r.ssa(a) for a in args], "u" if name[0] == "U" else "i")


@_does("Modf", "Frexp")
def _through_pointer(r: FunctionReader, name: str, i: Instruction, args: tuple[int, ...]) -> Value:
    first, second = math_results(r, name.lower(), r.type(i).nir, args[:1])
    r.place(args[1]).store(r.b, second)
    return first


@_does("ModfStruct", "FrexpStruct")
def _as_struct(r: FunctionReader, name: str, i: Instruction, args: tuple[int, ...]) -> Value:
    return math_results(r, name[:-6].lower(), r.type_of(args[0]), args)


@_does("Ldexp")
def _ldexp(r: FunctionReader, name: str, i: Instruction, args: tuple[int, ...]) -> Value:
    x, exponent = r.ssa(args[0]), r.ssa(args[1])
    return ldexp(r.b, x, exponent if exponent.bit_size == 32 else r.b.i2i32(exponent))


@_does("InterpolateAtCentroid", "InterpolateAtSample", "InterpolateAtOffset")
def _interpolate(r: FunctionReader, name: str, i: Instruction, args: tuple[int, ...]) -> Value:
    kind = {"Centroid": "centroid", "Sample": "sample_index", "Offset": "offset"}[name[13:]]
    place = r.place(args[0])
    deref = deref_of(r, place, i)
    component: Def | None = None
    if deref.form == "array" and deref.parent is not None and deref.parent.type.is_vector:
        component = deref.srcs[1].value
        deref = deref.parent
    srcs = [deref.result, *[r.ssa(a) for a in args[1:]]]
    value = r.b.intrinsic(f"interp_deref_at_{kind}", srcs, num_components=deref.type.components)
    if component is not None:
        value = element_of(r.b, place.type, value, component)
    return value


def deref_of(r: FunctionReader, place: Place, i: Instruction) -> Deref:
    """The deref of a place, which must have one."""
    if isinstance(place, RootPlace):
        place = place.place(r.b)
    if not isinstance(place, DerefPlace):
        raise i.error("expected a pointer to a variable")
    return place.deref
