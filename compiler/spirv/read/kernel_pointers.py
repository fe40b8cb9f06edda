"""Derefs and addresses for the pointers of kernels, which may be cast and moved."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.layout import OPENCL, align, explicit_size, explicit_type, size_align
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.types import Type
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv.module import SpirvError
from gallette.compiler.spirv.read.model import SpvType
from gallette.compiler.spirv.read.pointers import DerefPlace, RootPlace, Value

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader


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


def element(b: Builder, parent: Deref, index: Def) -> Deref:
    deref = Deref("ptr_as_array", parent.modes, parent.type)
    deref.stride = parent.stride
    deref.add_src(parent.result)
    deref.add_src(index)
    b.insert(deref)
    return deref
