"""Control flow: instructions that end a block, and say where the first channels are afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gallette.drivers.simd.isa.instruction import Instruction

from .threads import DONE, RUNNING, Threads

__all__ = ["Leave", "leave"]

Array = npt.NDArray[Any]
Leave: TypeAlias = Callable[[Threads], int]
"""Executes a branch; the number of the next instruction."""


def leave(instr: Instruction, at: int) -> Leave:
    """How the block that ends with `instr` (number `at`) is left."""
    return _MAKERS[instr.op.name](instr, at)


def _first(m: Threads, next: int) -> int:
    """Go on at `next` if anybody is left there, else where the first channels wait."""
    if m.active:
        return next
    return min(m.waiting, default=DONE)


def _chosen(instr: Instruction, wanted: bool) -> Callable[[Threads], Array]:
    """Running channels whose flag (with the predicate's sign) is `wanted`."""
    flag = instr.flag
    if instr.pred == "!":

        def lonely(m: Threads) -> Array:
            mask = m.running()
            busy = mask & m.flags[flag]
            quads = busy.reshape(-1, 4).any(axis=1)
            return mask & ~np.repeat(quads, 4).reshape(mask.shape)

        return lonely
    positive = (instr.pred == "+") is wanted

    def choose(m: Threads) -> Array:
        value = m.flags[flag] if positive else ~m.flags[flag]
        mask: Array = m.running()
        return mask & value

    return choose


def _if(instr: Instruction, at: int) -> Leave:
    losers, target = _chosen(instr, False), instr.target

    def go(m: Threads) -> int:
        m.park(losers(m), target)
        return _first(m, at + 1)

    return go


def _else(instr: Instruction, at: int) -> Leave:
    target = instr.target

    def go(m: Threads) -> int:
        m.park(m.running(), target)
        return _first(m, at + 1)

    return go


def _plain(instr: Instruction, at: int) -> Leave:
    return lambda m: at + 1


def _jump(instr: Instruction, at: int) -> Leave:
    """break, cont and halt."""
    target = DONE if instr.op.name == "halt" else instr.target
    chosen = _chosen(instr, True) if instr.pred else None

    def go(m: Threads) -> int:
        m.park(m.running() if chosen is None else chosen(m), target)
        return _first(m, at + 1)

    return go


_LEAST = 64
"""Fewer threads than this are not worth a copy."""


_INSTRUCTION = 4096
"""What an instruction costs besides its lanes, in the units of `work`: a Python call or two."""


def _while(instr: Instruction, at: int) -> Leave:
    target = instr.target
    cost = (at - target + 1) * _INSTRUCTION

    def go(m: Threads) -> int:
        if not m.active:
            return _first(m, at + 1)
        m.launch.resources.work.spend(cost + m.active)
        executable = m.launch.executable
        if m.count >= _LEAST and m.waiting and not executable.has_barriers:
            busy = m.threads()
            if busy is not None and int(np.count_nonzero(busy)) * 2 <= m.count:
                _separately(m, np.flatnonzero(busy), target)
                return _first(m, at + 1)
        return target

    return go


def _separately(m: Threads, chosen: Array, target: int) -> None:
    """Run the few threads that are still inside without the many that have left."""
    part = m.take(chosen)
    m.launch.executable.run(part, target, min(m.waiting))
    assert not (part.pc == RUNNING).any()
    m.put(chosen, part)


_MAKERS: dict[str, Callable[[Instruction, int], Leave]] = {
    "if": _if,
    "else": _else,
    "endif": _plain,
    "do": _plain,
    "while": _while,
    "break": _jump,
    "cont": _jump,
    "halt": _jump,
}
