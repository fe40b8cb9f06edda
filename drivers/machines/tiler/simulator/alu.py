"""Arithmetic instructions as steps: functions that execute one for all channels.

The register file is `words[register, wave, channel]`, so an operand is a slice of it, repetitions
included; half registers are every second 16-bit word. Constants are scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import semantics as sem
from gallette.drivers.machines.isa.messages import LIVE_FLAG
from gallette.drivers.machines.simulator.threads import Threads, put
from gallette.drivers.machines.simulator.units.port import Step
from gallette.drivers.machines.tiler.isa.instruction import Instruction, Operand

Array = npt.NDArray[Any]
Reader: TypeAlias = Callable[[Threads], Any]

WAVE = 64
"""Channels that share an instruction."""

_TYPES = {"f": ("F", np.float32), "s": ("D", np.int32), "u": ("UD", np.uint32)}
_LANES = np.arange(WAVE)
# Which channel of a quad is subtracted from which.
_DIFFERENCES = {
    "dsx": ((1, 1, 3, 3), (0, 0, 2, 2)),
    "dsx.c": ((1, 1, 1, 1), (0, 0, 0, 0)),
    "dsy": ((2, 3, 2, 3), (0, 1, 0, 1)),
    "dsy.c": ((2, 2, 2, 2), (0, 0, 0, 0)),
}


def reader(src: Operand, type: str, repeat: int) -> Reader:
    """A function that returns a source's value, with modifiers applied."""
    plain = _unmodified(src, type, repeat)
    if not src.modified:
        return plain
    absolute, negative = src.abs, src.neg

    def read(m: Threads) -> Any:
        value = plain(m)
        if absolute:
            value = np.absolute(value)
        return np.negative(value) if negative else value

    return read


def _unmodified(src: Operand, type: str, repeat: int) -> Reader:
    kind = "u" if type == "b" else type
    if src.file == "i":
        fixed = np.array(src.bits, np.uint32).view(_TYPES[kind][1])[()]
        return lambda m: fixed
    first = src.nr
    stop = first + (repeat if src.rep else 0) + 1
    if src.file == "c":
        name = _TYPES[kind][0]
        if stop - first > 1:
            return lambda m: m.launch.constants[name][first:stop, None, None]
        return lambda m: m.launch.constants[name][first]
    if src.file == "h":
        assert stop - first == 1, "halves are not repeated"
        row, odd = first // 2, first % 2
        dtype = np.float16 if kind == "h" else np.uint16
        return lambda m: m.words[row : row + 1].view(dtype)[:, :, odd::2]
    if kind == "f":
        return lambda m: m.f[first:stop]
    if kind == "s":
        return lambda m: m.d[first:stop]
    return lambda m: m.u[first:stop]


def alu_step(instr: Instruction) -> Step:
    """The step of an arithmetic instruction."""
    compute = _computed(instr)
    start, stop = instr.dst.nr, instr.dst.nr + instr.repeat + 1
    if instr.dst.file == "p":
        return lambda m: put(m.flags[start], compute(m), m.mask)
    half = instr.dst.file == "h"
    saturate = instr.sat

    def step(m: Threads) -> None:
        value = compute(m)
        if saturate:
            value = sem.fsat(value)
        if half:
            row, odd = start // 2, start % 2
            target = m.words[row : row + 1].view(np.uint16)[:, :, odd::2]
            value = value.view(np.uint16) if value.dtype.itemsize == 2 else value.astype(np.uint16)
        else:
            target = m.words[start:stop]
            value = value.view(np.uint32) if value.dtype.itemsize == 4 else value.astype(np.uint32)
        put(target, value, m.mask)

    return step


def _computed(instr: Instruction) -> Reader:
    """A function that returns the value of an instruction."""
    op = instr.op
    sources = [reader(src, op.source, instr.repeat) for src in instr.srcs]
    if op.kind == "quad":
        read = sources[0]
        far, near = (
            (_LANES & ~3) + np.array(swizzle)[_LANES & 3] for swizzle in _DIFFERENCES[op.name]
        )
        return lambda m: np.subtract(*(read(m).take(lanes, axis=2) for lanes in (far, near)))
    if op.kind == "select":
        first, condition, second = sources
        return lambda m: np.where(condition(m) != 0, first(m), second(m))
    if op.name in ("mov", "absneg.f", "absneg.s"):
        return sources[0]
    function = op.semantics
    assert function is not None
    return lambda m: np.asarray(function(*[read(m) for read in sources]))


def kill_step(instr: Instruction) -> Step:
    """Clear the live flag of pixels with the predicate."""
    pred, inverse = instr.pred, instr.inverse

    def step(m: Threads) -> None:
        gone = ~m.flags[pred] if inverse else m.flags[pred]
        if m.mask is not None:
            gone = gone & m.mask
        m.flags[LIVE_FLAG] &= ~gone

    return step
