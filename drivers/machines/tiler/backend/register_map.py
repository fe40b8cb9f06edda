"""Live ranges as a table of registers over cycles, in scheduled order.

A channel writes only its own part of a register, so plain liveness applies. A value is named by the
instruction that wrote the register last; a cell is that instruction's number plus one, or 0 where
the register is dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.backend.schedule import places_read, places_written
from gallette.drivers.machines.register_picture import BUSY, IDLE, WAIT
from gallette.drivers.machines.tiler.isa.instruction import Instruction

from .code import ROOM
from .timing import PIPE

Array = npt.NDArray[Any]
MOST_WAIT = 24
"""Longer waits are drawn with this length."""


def live_registers(code: Sequence[Instruction]) -> Array:
    """Whether each register is live after each instruction."""
    after = _after(code)
    reads = [_registers(places_read(instr)) for instr in code]
    kills = [_registers(_replaced(instr)) for instr in code]
    live: list[frozenset[int]] = [frozenset()] * len(code)
    changed = True
    while changed:
        changed = False
        for at in range(len(code) - 1, -1, -1):
            out = frozenset().union(*(live[k] for k in after[at]))
            found = reads[at] | (out - kills[at])
            if found != live[at]:
                live[at], changed = found, True
    table = np.zeros((ROOM, len(code)), np.bool_)
    for at in range(len(code)):
        for nr in frozenset().union(*(live[k] for k in after[at])):
            table[nr, at] = True
    return table


def _after(code: Sequence[Instruction]) -> list[list[int]]:
    """The successors of each instruction."""
    found = []
    for at, instr in enumerate(code):
        after = [at + 1] * instr.falls + [instr.target] * instr.jumps
        found.append([k for k in after if k < len(code)])
    return found


def _registers(places: set[int]) -> frozenset[int]:
    """The registers among places, without predicates."""
    return frozenset(place for place in places if place < ROOM)


def _replaced(instr: Instruction) -> set[int]:
    """The registers that are overwritten completely."""
    return set() if instr.dst.file == "h" else places_written(instr)


def register_map(code: Sequence[Instruction], stalls: Sequence[int]) -> tuple[Array, Array]:
    """The table, a column per cycle, and what the pipe does in each.

    A value occupies its register from the cycle in which its instruction is issued.
    """
    live = live_registers(code)
    values = np.zeros((ROOM, len(code)), np.int32)
    last = np.zeros(ROOM, np.int32)
    for at in (*range(len(code)), *range(len(code))):  # twice, because loops go back
        for nr in _registers(places_written(code[at])):
            last[nr] = at + 1
        values[:, at] = np.where(live[:, at], last, 0)
    columns: list[Array] = []
    strip: list[int] = []
    before = np.zeros(ROOM, np.int32)
    for at, instr in enumerate(code):
        wait, busy = min(stalls[at], MOST_WAIT), PIPE.issue_cycles(instr)
        columns += [before] * wait + [values[:, at]] * busy
        strip += [WAIT] * wait + [IDLE if instr.op.kind == "nop" else BUSY] * busy
        before = values[:, at]
    return np.stack(columns, axis=1), np.array(strip)
