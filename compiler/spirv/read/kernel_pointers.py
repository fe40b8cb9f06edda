"""Pointers of kernels: NIR derefs based on casts of addresses, and the operations on them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import OPENCL, align, explicit_size, explicit_type, size_align
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.types import UINT, Base, Type, scalar
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import Instruction, SpirvError
from gallette.compiler.spirv.read.arithmetic import does
from gallette.compiler.spirv.read.model import SpvType
from gallette.compiler.spirv.read.pointers import DerefPlace, Place, RootPlace, Value

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

__all__ = ["address_of", "cast", "deref_at", "element", "mode_of"]

_MODES = {
    "CrossWorkgroup": Mode.GLOBAL,
    "Workgroup": Mode.SHARED,
    "Function": Mode.FUNCTION_TEMP,
    "UniformConstant": Mode.GLOBAL,
    "Generic": Mode.GLOBAL | Mode.SHARED | Mode.FUNCTION_TEMP,
}

_UINT8 = scalar(Base.UINT8)


def mode_of(type: SpvType) -> Mode:
    found = _MODES.get(type.storage)
    if found is None:
        raise SpirvError(f"pointers to storage class {type.storage} are not supported")
    return found


def cast(b: Builder, address: Def, modes: Mode, type: SpvType) -> Deref:
    return b.deref_cast(address, modes, *_in_memory(type.nir))


@cache
def _in_memory(type: Type) -> tuple[Type, int]:
    """A type with its layout, and the stride of its elements."""
    nir = explicit_type(type, OPENCL)
    size, alignment = size_align(type, OPENCL)
    return nir, max(align(size, alignment), explicit_size(nir), 1)


def deref_at(r: FunctionReader, place: Value) -> Deref:
    if isinstance(place, RootPlace):
        place = place.place(r.b)
    if not isinstance(place, DerefPlace):
        raise SpirvError("expected a pointer to memory")
    return place.deref


def address_of(r: FunctionReader, place: Value) -> Def:
    """The address of a pointer."""
    if isinstance(place, Def):
        return place
    deref = deref_at(r, place)
    deref.result.bit_size = 64 if deref.modes & Mode.GLOBAL else 32
    return deref.result


# Operations on pointers that only kernels have.


@does("OpPtrAccessChain", "OpInBoundsPtrAccessChain")
def _pointer_chain(r: FunctionReader, i: Instruction) -> None:
    b, w = r.b, i.words
    place: Place = r.place(w[2])
    first = r.index(w[3])
    if first != 0:
        parent = deref_at(r, place)
        if parent.form not in ("cast", "ptr_as_array"):
            parent = cast(b, parent.result, Mode(parent.modes), place.type)
        index = b.imm_int(first, 64) if isinstance(first, int) else first
        place = DerefPlace(place.type, element(b, parent, index))
    for id in w[4:]:
        place = place.step(b, r.index(id))
    r.values[w[1]] = place


@does("OpCopyMemorySized")
def _copy(r: FunctionReader, i: Instruction) -> None:
    """Copy a constant number of bytes, in words if possible."""
    b = r.b
    size = r.d.integer(i.words[2], i)
    if size > 1 << 12:
        raise i.error(f"a copy of {size} bytes is too long")
    unit = UINT if size % 4 == 0 else _UINT8
    step = 4 if size % 4 == 0 else 1
    ends = []
    for word in i.words[:2]:
        deref = deref_at(r, r.value(word))
        ends.append(b.deref_cast(deref.result, Mode(deref.modes), unit, step))
    for at in range(size // step):
        target, source = (element(b, end, b.imm_int(at, 64)) for end in ends)
        b.store_deref(target, b.load_deref(source))


def element(b: Builder, parent: Deref, index: Def) -> Deref:
    deref = Deref("ptr_as_array", parent.modes, parent.type)
    deref.stride = parent.stride
    deref.add_src(parent.result)
    deref.add_src(index)
    b.insert(deref)
    return deref


@does("OpGenericCastToPtr", "OpPtrCastToGeneric", "OpConvertUToPtr", "OpConvertPtrToU")
def _cast(r: FunctionReader, i: Instruction) -> None:
    r.values[i.words[1]] = r.cast_pointer(i, r.value(i.words[2]))


@does("OpPtrEqual", "OpPtrNotEqual")
def _pointer_equal(r: FunctionReader, i: Instruction) -> None:
    x, y = (address_of(r, r.value(w)) for w in i.words[2:4])
    r.values[i.words[1]] = r.b.ieq(x, y) if i.name == "OpPtrEqual" else r.b.ine(x, y)
