"""GLSL.std.450: the built-in functions, which GLSL's front end has already.

Where both languages have a function, both get the same instructions, so a shader's image does not
depend on the language it came in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from gallette.compiler.glsl.lower.math import lower_math
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.places import (
    CompactPlace,
    DerefPlace,
    Handle,
    Place,
    RootPlace,
    Value,
)

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

__all__ = ["glsl_std_450"]

# What GLSL calls the function, for those that are not its name in lower case.
_NAMES = {
    "FAbs": "abs",
    "SAbs": "abs",
    "FSign": "sign",
    "SSign": "sign",
    "RoundEven": "roundEven",
    "Atan2": "atan",
    "InverseSqrt": "inversesqrt",
    "MatrixInverse": "inverse",
    "FMin": "min",
    "UMin": "min",
    "SMin": "min",
    "FMax": "max",
    "UMax": "max",
    "SMax": "max",
    "FClamp": "clamp",
    "UClamp": "clamp",
    "SClamp": "clamp",
    "FMix": "mix",
    "SmoothStep": "smoothstep",
    "PackDouble2x32": "packDouble2x32",
    "FaceForward": "faceforward",
    "FindILsb": "findLSB",
    "FindSMsb": "findMSB",
    "FindUMsb": "findMSB",
    "NMin": "min",
    "NMax": "max",
    "NClamp": "clamp",
}
# Those that are one opcode whatever the sign their types were declared with.
_OPCODES = {
    "SAbs": "iabs",
    "SSign": "isign",
    "UMin": "umin",
    "SMin": "imin",
    "UMax": "umax",
    "SMax": "imax",
    "FindILsb": "find_lsb",
    "FindSMsb": "ifind_msb",
    "FindUMsb": "ufind_msb",
    "PackSnorm4x8": "pack_snorm_4x8",
    "PackUnorm4x8": "pack_unorm_4x8",
    "PackSnorm2x16": "pack_snorm_2x16",
    "PackUnorm2x16": "pack_unorm_2x16",
    "PackHalf2x16": "pack_half_2x16",
    "PackDouble2x32": "pack_64_2x32",
    "UnpackSnorm2x16": "unpack_snorm_2x16",
    "UnpackUnorm2x16": "unpack_unorm_2x16",
    "UnpackHalf2x16": "unpack_half_2x16",
    "UnpackSnorm4x8": "unpack_snorm_4x8",
    "UnpackUnorm4x8": "unpack_unorm_4x8",
    "UnpackDouble2x32": "unpack_64_2x32",
}


@dataclass(slots=True)
class _Call:
    """What the rows of GLSL's table ask of a call."""

    name: str
    type: Type
    params: list[tuple[str, Type]]


Handler = Callable[["FunctionReader", Instruction, tuple[int, ...]], Value]
_SPECIAL: dict[str, Handler] = {}


def glsl_std_450(r: FunctionReader, i: Instruction) -> None:
    """One extended instruction."""
    w = i.words
    op = grammar().extended["GLSL.std.450"].by_opcode.get(w[3])
    if op is None:
        raise i.error(f"GLSL.std.450 has no instruction {w[3]}")
    args = w[4:]
    if len(args) != len(op.operands):
        raise i.error(f"{op.name} takes {len(op.operands)} operands, not {len(args)}")
    special = _SPECIAL.get(op.name)
    if special is not None:
        r.values[w[1]] = special(r, i, args)
    elif op.name in _OPCODES:
        r.values[w[1]] = r.b.alu(_OPCODES[op.name], *[r.ssa(a) for a in args])
    else:
        name = _NAMES.get(op.name) or op.name[0].lower() + op.name[1:]
        r.values[w[1]] = math(r, name, r.type(i).nir, args)


def math(r: FunctionReader, name: str, type: Type, args: tuple[int, ...]) -> Value:
    """A function of GLSL's, on values of the module."""
    values = [r.value(a) for a in args]
    if any(isinstance(v, (Place, Handle)) for v in values):
        raise SpirvError("expected numbers")
    params = [("in", r.type_of(a) or type) for a in args]
    call = _Call(name, type, params)
    results = lower_math(r.b, cast(Any, call), values)
    assert results is not None, name
    result = results[0]
    return tuple(result) if isinstance(result, list) else result


def _does(*names: str) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        for name in names:
            _SPECIAL[name] = handler
        return handler

    return register


@_does("UClamp", "SClamp")
def _clamp(r: FunctionReader, i: Instruction, args: tuple[int, ...]) -> Value:
    x, low, high = (r.ssa(a) for a in args)
    signed = grammar().extended["GLSL.std.450"].by_opcode[i.words[3]].name[0] == "S"
    letter = "i" if signed else "u"
    return r.b.alu(f"{letter}min", r.b.alu(f"{letter}max", x, low), high)


@_does("Modf", "Frexp")
def _through_pointer(r: FunctionReader, i: Instruction, args: tuple[int, ...]) -> Value:
    x = r.ssa(args[0])
    place = r.place(args[1])
    modf = grammar().extended["GLSL.std.450"].by_opcode[i.words[3]].name == "Modf"
    first, second = (_modf if modf else _frexp)(r, x)
    place.store(r.b, second)
    return first


@_does("ModfStruct", "FrexpStruct")
def _as_struct(r: FunctionReader, i: Instruction, args: tuple[int, ...]) -> Value:
    x = r.ssa(args[0])
    modf = grammar().extended["GLSL.std.450"].by_opcode[i.words[3]].name == "ModfStruct"
    return (_modf if modf else _frexp)(r, x)


def _modf(r: FunctionReader, x: Def) -> tuple[Def, Def]:
    whole = r.b.ftrunc(x)
    return r.b.fsub(x, whole), whole


def _frexp(r: FunctionReader, x: Def) -> tuple[Def, Def]:
    return r.b.frexp_sig(x), r.b.frexp_exp(x)


@_does("Ldexp")
def _ldexp(r: FunctionReader, i: Instruction, args: tuple[int, ...]) -> Value:
    exponent = r.ssa(args[1])
    return r.b.ldexp(r.ssa(args[0]), exponent if exponent.bit_size == 32 else r.b.i2i32(exponent))


@_does("InterpolateAtCentroid", "InterpolateAtSample", "InterpolateAtOffset")
def _interpolate(r: FunctionReader, i: Instruction, args: tuple[int, ...]) -> Value:
    name = grammar().extended["GLSL.std.450"].by_opcode[i.words[3]].name
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
        from gallette.compiler.spirv.read.places import element_of

        value = element_of(r.b, place.type, value, component)
    return value


def deref_of(r: FunctionReader, place: Place, i: Instruction) -> Deref:
    """The deref of a place that has one."""
    if isinstance(place, RootPlace):
        place = place.place(r.b)
    elif isinstance(place, CompactPlace) and isinstance(place.indices[-1], int):
        place = place.at(r.b, place.indices[-1])
    if not isinstance(place, DerefPlace):
        raise i.error("expected a pointer to a variable")
    return place.deref
