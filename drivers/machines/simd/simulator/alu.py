"""Arithmetic instructions as steps: functions that execute one for all threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import semantics as sem
from gallette.drivers.machines.isa.types import RegType
from gallette.drivers.machines.simd.isa.instruction import Instruction
from gallette.drivers.machines.simd.isa.opcodes import CONDITIONS
from gallette.drivers.machines.simulator.threads import Threads, put
from gallette.drivers.machines.simulator.units.port import Step

from .access import Reader, reader, writer

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
    compute = _computed(instr, constants)
    mask_for = mask_of(instr)
    write = writer(instr.dst, instr.width)
    kind = instr.op.kind
    if kind == "select" or not instr.cond:

        def step(m: Threads) -> None:
            write(m, compute(m), mask_for(m))

        return step
    half = slice(instr.group // 8, (instr.group + max(instr.width, 8)) // 8)
    holds, flag = CONDITIONS[instr.cond], instr.flag

    def step_with_flag(m: Threads) -> None:
        value = compute(m)
        if kind == "compare":
            truth, value = value, np.subtract(_ZERO, value)
        else:
            truth = holds(value, value.dtype.type(0))
        mask = mask_for(m)  # it may be the flag itself, which changes last
        write(m, value, mask)
        put(m.flags[flag][half], truth, mask)

    return step_with_flag


def _computed(instr: Instruction, constants: range) -> Reader:
    """A function that returns the value of an instruction; of a comparison, its truth."""
    sources = _sources(instr, constants)
    if instr.op.kind == "select" and not instr.cond:
        half = slice(instr.group // 8, (instr.group + instr.width) // 8)
        flag = instr.flag
        first, second = reversed(sources) if instr.pred == "-" else sources
        return lambda m: np.where(m.flags[flag][half], first(m), second(m))
    function = _function(instr)
    if function is None:
        return sources[0]
    return lambda m: np.asarray(function(*[read(m) for read in sources]))


def _function(instr: Instruction) -> Callable[..., Any] | None:
    """The function to compute, None for a copy of bits."""
    op, source, dst = instr.op, instr.srcs[0].type, instr.dst.type
    if op.kind == "compare":
        return CONDITIONS[instr.cond]
    if op.kind == "select":
        return _EXTREMES[instr.cond, source.base == "float"]
    if op.kind == "move":
        convert = _conversion(source, dst)
        if not instr.sat:
            return convert
        return lambda x: sem.fsat(x if convert is None else convert(x))
    compute = op.semantics
    if op.name == "bfe":
        compute = sem.ibitfield_extract if source.base == "int" else sem.ubitfield_extract
    assert compute is not None
    if not instr.sat:
        return compute
    if source.base != "float":
        return _saturating(instr)
    plain = compute
    return lambda *args: sem.fsat(plain(*args))


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


_EXTREMES: dict[tuple[str, bool], Callable[..., Any]] = {
    ("l", True): sem.fmin,
    ("ge", True): sem.fmax,
    ("l", False): np.minimum,
    ("ge", False): np.maximum,
}
