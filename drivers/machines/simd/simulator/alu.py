"""Arithmetic instructions as steps: functions that execute one for all threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import semantics as sem
from gallette.drivers.machines.isa.types import RegType
from gallette.drivers.machines.simd.isa.instruction import REG_BYTES, Instruction
from gallette.drivers.machines.simd.isa.opcodes import CONDITIONS
from gallette.drivers.machines.simulator.threads import Threads
from gallette.drivers.machines.simulator.units.port import Step

from .access import is_plain, reader, writer

__all__ = ["alu_step", "mask_of"]

Array = npt.NDArray[Any]
_ZERO = np.int32(0)


def mask_of(instr: Instruction) -> Callable[[Threads], Array | None]:
    """The channels an instruction writes: execution mask and predicate; None for all."""
    flag, negative = instr.flag, instr.pred == "-"
    predicated = bool(instr.pred) and instr.op.kind != "select"
    if instr.no_mask:

        def of_threads(m: Threads) -> Array | None:
            threads = m.threads()
            return None if threads is None else threads[None, :, None]

        return of_threads
    if instr.width == 1:
        raise ValueError("a scalar instruction knows no mask: it is nomask")
    half = slice(instr.group // 8, (instr.group + instr.width) // 8)

    def of_channels(m: Threads) -> Array | None:
        mask = m.mask
        if mask is not None:
            mask = mask[half]
        if predicated:
            flags: Array = m.flags[flag][half]
            if negative:
                flags = ~flags
            mask = flags if mask is None else mask & flags
        return mask

    return of_channels


def alu_step(instr: Instruction, constants: range) -> Step:
    """The step of an arithmetic instruction."""
    kind = instr.op.kind
    if kind == "select":
        return _select(instr, constants)
    if kind == "compare":
        return _compare(instr, constants)
    compute, dtype = _function(instr)
    if instr.cond:
        return _with_flag(instr, constants, compute)
    return _compute(instr, constants, compute, dtype)


def _function(instr: Instruction) -> tuple[Callable[..., Any] | None, np.dtype[Any]]:
    """The function to compute, None for a copy of bits; and the dtype of the result."""
    op, source, dst = instr.op, instr.srcs[0].type, instr.dst.type
    if op.kind == "move":
        if instr.sat:
            convert = _conversion(source, dst)
            if convert is None:
                return sem.fsat, dst.dtype
            return lambda x: sem.fsat(convert(x)), dst.dtype
        return _conversion(source, dst), dst.dtype
    compute = op.semantics
    if op.name == "bfe":
        compute = sem.ibitfield_extract if source.base == "int" else sem.ubitfield_extract
    assert compute is not None
    if instr.sat:
        plain = compute
        if source.base == "float":
            return lambda *args: sem.fsat(plain(*args)), source.dtype
        return _saturating(instr), source.dtype
    return compute, source.dtype


def _saturating(instr: Instruction) -> Callable[..., Any]:
    signed = instr.srcs[0].type.base == "int"
    if instr.srcs[1].neg:  # the modifier was removed: see `_sources`
        return sem.isub_sat if signed else sem.usub_sat
    return sem.iadd_sat if signed else sem.uadd_sat


def _conversion(source: RegType, dst: RegType) -> Callable[..., Any] | None:
    """The conversion between two types; None if the bits do not change."""
    if source is dst or (source.base != "float" != dst.base and source.size == dst.size):
        return None
    target = dst.dtype.type
    if source.base == "float" and dst.base != "float":
        return sem.f2int(target)
    return lambda x: x.astype(target)


def _sources(instr: Instruction, constants: range) -> list[Callable[[Threads], Any]]:
    srcs = list(instr.srcs)
    if instr.sat and instr.op.name == "add" and srcs[0].type.base != "float":
        srcs[1] = srcs[1]._replace(neg=False)
    width = instr.width
    return [reader(src, width, constants) for src in srcs]


def _compute(
    instr: Instruction,
    constants: range,
    compute: Callable[..., Any] | None,
    dtype: np.dtype[Any],
) -> Step:
    sources = _sources(instr, constants)
    mask_for = mask_of(instr)
    write = writer(instr.dst, instr.width)
    if compute is None:
        read = sources[0]

        def copy(m: Threads) -> None:
            write(m, read(m), mask_for(m))

        return copy
    plain = is_plain(instr.dst, instr.width) and dtype == instr.dst.type.dtype
    if plain and isinstance(compute, np.ufunc) and compute.nout == 1 and instr.op.kind == "alu":
        return _in_place(instr, compute, sources, mask_for)
    if len(sources) == 1:
        read = sources[0]

        def one(m: Threads) -> None:
            write(m, compute(read(m)), mask_for(m))

        return one

    def several(m: Threads) -> None:
        write(m, np.asarray(compute(*[read(m) for read in sources])), mask_for(m))

    return several


def _in_place(
    instr: Instruction,
    ufunc: np.ufunc,
    sources: list[Callable[[Threads], Any]],
    mask_for: Callable[[Threads], Array | None],
) -> Step:
    """A single NumPy call that writes into the register file."""
    nr = instr.dst.nr + instr.dst.offset // REG_BYTES
    stop = nr + instr.width // 8
    name = {"F": "f", "D": "d", "UD": "u"}[instr.dst.type.name]
    if len(sources) == 1:
        (only,) = sources

        def unary(m: Threads) -> None:
            mask = mask_for(m)
            target = getattr(m, name)[nr:stop]
            if mask is None:
                ufunc(only(m), target)
            else:
                np.copyto(target, ufunc(only(m)), where=mask)

        return unary
    first, second = sources

    def binary(m: Threads) -> None:
        mask = mask_for(m)
        target = getattr(m, name)[nr:stop]
        if mask is None:
            ufunc(first(m), second(m), target)
        else:
            np.copyto(target, ufunc(first(m), second(m)), where=mask)

    return binary


def _set_flag(m: Threads, flag: int, half: slice, value: Any, mask: Array | None) -> None:
    target = m.flags[flag][half]
    if mask is None:
        target[...] = value
    else:
        np.copyto(target, value, where=mask)


def _compare(instr: Instruction, constants: range) -> Step:
    first, second = _sources(instr, constants)
    function = CONDITIONS[instr.cond]
    mask_for = mask_of(instr)
    write = None if instr.dst.file == "n" else writer(instr.dst, instr.width)
    half = slice(instr.group // 8, (instr.group + max(instr.width, 8)) // 8)
    flag = instr.flag

    def step(m: Threads) -> None:
        value = function(first(m), second(m))
        mask = mask_for(m)  # it may be the flag itself, which changes last
        if write is not None:
            write(m, np.subtract(_ZERO, value), mask)
        _set_flag(m, flag, half, value, mask)

    return step


def _with_flag(instr: Instruction, constants: range, compute: Callable[..., Any] | None) -> Step:
    """Compute the result, and the flag by comparing it with zero."""
    sources = _sources(instr, constants)
    function = CONDITIONS[instr.cond]
    mask_for = mask_of(instr)
    write = writer(instr.dst, instr.width)
    half = slice(instr.group // 8, (instr.group + max(instr.width, 8)) // 8)
    flag = instr.flag

    def step(m: Threads) -> None:
        values = [read(m) for read in sources]
        value = values[0] if compute is None else np.asarray(compute(*values))
        holds = function(value, value.dtype.type(0))
        mask = mask_for(m)  # it may be the flag itself, which changes last
        write(m, value, mask)
        _set_flag(m, flag, half, holds, mask)

    return step


def _select(instr: Instruction, constants: range) -> Step:
    first, second = _sources(instr, constants)
    mask_for = mask_of(instr)
    write = writer(instr.dst, instr.width)
    if instr.cond:
        choose = _EXTREMES[instr.cond, instr.srcs[0].type.base == "float"]

        def extreme(m: Threads) -> None:
            write(m, choose(first(m), second(m)), mask_for(m))

        return extreme
    half = slice(instr.group // 8, (instr.group + instr.width) // 8)
    flag, negative = instr.flag, instr.pred == "-"

    def step(m: Threads) -> None:
        a, b = first(m), second(m)
        if negative:
            a, b = b, a
        write(m, np.where(m.flags[flag][half], a, b), mask_for(m))

    return step


_EXTREMES: dict[tuple[str, bool], Callable[..., Any]] = {
    ("l", True): sem.fmin,
    ("ge", True): sem.fmax,
    ("l", False): np.minimum,
    ("ge", False): np.maximum,
}
