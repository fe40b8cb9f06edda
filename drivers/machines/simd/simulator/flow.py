"""Control flow: instructions that end a block and return the next program counter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.simd.isa.instruction import Instruction
from gallette.drivers.machines.simulator.executable import Leave, first_waiting, loop_back_edge
from gallette.drivers.machines.simulator.threads import DONE, Threads

Array = npt.NDArray[Any]


def leave(instr: Instruction, at: int) -> Leave:
    """The function that executes the branch `instr` (number `at`) at the end of a block."""
    return _MAKERS[instr.op.name](instr, at)


def _chosen(instr: Instruction, wanted: bool) -> Callable[[Threads], Array]:
    """Active channels whose flag (with the predicate's sign) is `wanted`."""
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
        return first_waiting(m, at + 1)

    return go


def _else(instr: Instruction, at: int) -> Leave:
    target = instr.target

    def go(m: Threads) -> int:
        m.park(m.running(), target)
        return first_waiting(m, at + 1)

    return go


def _plain(instr: Instruction, at: int) -> Leave:
    return lambda m: at + 1


def _jump(instr: Instruction, at: int) -> Leave:
    """Execute break, cont or halt."""
    target = DONE if instr.op.name == "halt" else instr.target
    chosen = _chosen(instr, True) if instr.pred else None

    def go(m: Threads) -> int:
        m.park(m.running() if chosen is None else chosen(m), target)
        return first_waiting(m, at + 1)

    return go


def _while(instr: Instruction, at: int) -> Leave:
    return lambda m: loop_back_edge(m, at, instr.target)


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
