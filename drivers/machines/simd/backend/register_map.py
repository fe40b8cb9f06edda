"""Live ranges as a table of registers over instructions, for `map_picture`.

Rows are registers, columns instructions in their order before scheduling. A cell is 0 where the
register is free, n + 1 where virtual register n is live there, and -(n + 1) where n is live only in
channels that wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.backend.colouring import bits_of
from gallette.drivers.machines.register_picture import RESERVED

from .code import ROOM, Code
from .liveness import LiveRanges, MaskedLiveness

Array = npt.NDArray[Any]


def register_map(code: Code, places: dict[int, int], ranges: LiveRanges) -> Array:
    """The table of code whose virtual registers have `places`, but are not replaced yet.

    Waiting values come from the structure, whichever `ranges` the allocation used: a register that
    was overwritten while its value waits shows the later one.
    """
    aware = MaskedLiveness(code, "mask_aware" if ranges != "loop_extended" else ranges)
    table = np.zeros((ROOM, len(code.instrs)), np.int32)
    for block in aware.blocks.values():
        at = block.stop - 1
        for instr, live in aware.backwards(block):
            for nr in bits_of(block.parked & ~live):
                _put(table, code, places, nr, at, -(nr + 1))
            for nr in bits_of(live):
                _put(table, code, places, nr, at, nr + 1)
            if instr.dst.file == "v":
                _put(table, code, places, instr.dst.nr, at, instr.dst.nr + 1)
            at -= 1
    header = code.constant_registers
    table[0] = RESERVED
    table[header.start : header.stop] = RESERVED
    return table


def _put(table: Array, code: Code, places: dict[int, int], nr: int, at: int, value: int) -> None:
    place = places.get(nr)
    if place is not None:
        table[place : place + code.sizes[nr], at] = value
