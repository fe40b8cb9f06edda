"""Loads, stores, pointers to members, atomics and barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.compiler.nir.ir.values import Def
from gallette.compiler.spirv import tables
from gallette.compiler.spirv.grammar import name_of, value_of
from gallette.compiler.spirv.module import Instruction
from gallette.compiler.spirv.read.arithmetic import does
from gallette.compiler.spirv.read.extended import deref_of
from gallette.compiler.spirv.read.pointers import Counter, Place, Texel

if TYPE_CHECKING:
    from gallette.compiler.spirv.read.function import FunctionReader

_ATOMICS = {name: nir for nir, name in tables.ATOMICS.items()}
_ATOMICS |= dict.fromkeys(("OpAtomicIIncrement", "OpAtomicIDecrement", "OpAtomicISub"), "iadd")


@does("OpAccessChain", "OpInBoundsAccessChain")
def _chain(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    place = r.place(w[2])
    for id in w[3:]:
        place = place.step(r.b, r.index(id))
    r.values[w[1]] = place


@does("OpLoad")
def _load(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    value = r.place(w[2]).load(r.b)
    if value.__class__ is not Def or r.type(i).kind == "pointer":
        value = r.loaded(i, value)
    r.values[w[1]] = value


@does("OpStore")
def _store(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    r.place(w[0]).store(r.b, r.stored(i, r.value(w[1])))


@does("OpCopyMemory")
def _copy(r: FunctionReader, i: Instruction) -> None:
    r.place(i.words[0]).store(r.b, r.place(i.words[1]).load(r.b))


@does("OpArrayLength")
def _length(r: FunctionReader, i: Instruction) -> None:
    place = r.place(i.words[2]).step(r.b, i.words[3])
    deref = deref_of(r, place, i)
    r.values[i.words[1]] = r.b.intrinsic("deref_buffer_array_length", [deref.result])


# Atomics.


def _atomic(r: FunctionReader, i: Instruction, place: Place, op: str, srcs: list[Def]) -> Def:
    """A read-modify-write; with two sources (compare, value) an exchange."""
    b = r.b
    bits = srcs[-1].bit_size
    suffix = "_swap" if len(srcs) == 2 else ""
    indices: dict[str, Any] = {"atomic_op": op}
    if isinstance(place, Counter):
        indices["base"] = place.base
        if suffix:
            del indices["atomic_op"]
        return b.intrinsic(f"atomic_counter{suffix}", [place.address(b), *srcs], **indices)
    if isinstance(place, Texel):
        image = place.image
        assert image.texture is not None
        nir = image.type.nir
        assert nir.dim is not None
        return b.intrinsic(
            f"image_deref_atomic{suffix}",
            [image.texture.result, place.coord, place.sample, *srcs],
            bit_size=bits,
            dim=nir.dim.value,
            is_array=nir.is_arrayed,
            **indices,
        )
    deref = deref_of(r, place, i)
    return b.intrinsic(f"deref_atomic{suffix}", [deref.result, *srcs], bit_size=bits, **indices)


@does(*_ATOMICS)
def _modify(r: FunctionReader, i: Instruction) -> None:
    b, w = r.b, i.words
    place = r.place(w[2])
    bits = r.type(i).nir.bit_size
    if i.name in ("OpAtomicIIncrement", "OpAtomicIDecrement"):
        data = b.imm_int(1 if i.name == "OpAtomicIIncrement" else -1, bits)
    else:
        data = r.ssa(w[5])
        if i.name == "OpAtomicISub":
            data = b.ineg(data)
    r.values[w[1]] = _atomic(r, i, place, _ATOMICS[i.name], [data])


@does("OpAtomicCompareExchange", "OpAtomicCompareExchangeWeak")
def _exchange(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    srcs = [r.ssa(w[7]), r.ssa(w[6])]
    r.values[w[1]] = _atomic(r, i, r.place(w[2]), "xchg", srcs)


@does("OpAtomicLoad")
def _atomic_load(r: FunctionReader, i: Instruction) -> None:
    w = i.words
    place = r.place(w[2])
    if isinstance(place, Texel):
        zero = r.b.imm_int(0, r.type(i).nir.bit_size)
        r.values[w[1]] = _atomic(r, i, place, "iadd", [zero])
    else:
        r.values[w[1]] = place.load(r.b)


@does("OpAtomicStore")
def _atomic_store(r: FunctionReader, i: Instruction) -> None:
    place, value = r.place(i.words[0]), r.ssa(i.words[3])
    if isinstance(place, (Texel, Counter)):
        _atomic(r, i, place, "xchg", [value])
    else:
        place.store(r.b, value)


# Barriers.

_SCOPES = {
    "CrossDevice": "device",
    "Device": "device",
    "Workgroup": "workgroup",
    "Subgroup": "subgroup",
    "Invocation": "none",
    "QueueFamily": "device",
}
_MEMORY = value_of("MemorySemantics", "UniformMemory") | value_of("MemorySemantics", "ImageMemory")


def _scope(r: FunctionReader, id: int, i: Instruction) -> str:
    name = name_of("Scope", r.d.integer(id, i))
    if name not in _SCOPES:
        raise i.error(f"scope {name} is not supported")
    return _SCOPES[name]


@does("OpControlBarrier", "OpMemoryBarrier")
def _barrier(r: FunctionReader, i: Instruction) -> None:
    execution = _scope(r, i.words[0], i) if i.name == "OpControlBarrier" else "none"
    memory = _scope(r, i.words[-2], i)
    if i.name == "OpControlBarrier" and memory == "none":
        memory = "workgroup"
    r.b.intrinsic("barrier", execution_scope=execution, memory_scope=memory)
