"""Which value is in which register when: a table, and a picture of it.

Rows are registers, columns instructions in their order before scheduling. A cell is 0 where the
register is free, n + 1 where virtual register n is live there, and -(n + 1) where n is only kept
for channels that wait.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.machine.colouring import bits_of

from .code import ROOM, Code
from .liveness import Liveness, LiveRanges

__all__ = ["map_picture", "register_map"]

Array = npt.NDArray[Any]


def register_map(code: Code, places: dict[int, int], ranges: LiveRanges) -> Array:
    """The table of code whose virtual registers have `places`, but are not replaced yet.

    What waits is read off the structure whatever `ranges` the allocation was made with: a register
    that is overwritten while its value waits shows the one that came later.
    """
    aware = Liveness(code, "mask_aware" if ranges != "loop_extended" else ranges)
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
    table[0] = 1 << 20
    table[header.start : header.stop] = 1 << 20
    return table


def _put(table: Array, code: Code, places: dict[int, int], nr: int, at: int, value: int) -> None:
    place = places.get(nr)
    if place is not None:
        table[place : place + code.sizes[nr], at] = value


def map_picture(table: Array, scale: int = 6, registers: int = 0) -> Array:
    """RGB, top row register 0; values that only wait are darker."""
    used = registers or int(np.flatnonzero(table.any(axis=1)).max(initial=0)) + 1
    cells = table[:used]
    number = np.abs(cells).astype(np.int64)
    hue = number * 2654435761 % 360
    shades = np.stack([_channel(hue, shift) for shift in (0, 120, 240)], axis=-1)
    shades = np.where((cells < 0)[..., None], shades * 0.45, shades)
    shades = np.where((cells == 1 << 20)[..., None], 0.75, shades)
    shades = np.where((cells == 0)[..., None], 1.0, shades)
    picture: Array = (shades * 255).astype(np.uint8).repeat(scale, axis=0).repeat(scale, axis=1)
    picture[::scale] = picture[::scale] // 4 * 3
    return np.ascontiguousarray(picture)


def _channel(hue: Array, shift: int) -> Array:
    away = np.abs((hue + shift) % 360 - 180) / 180.0
    found: Array = 0.35 + 0.6 * away
    return found
