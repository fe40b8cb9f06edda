"""Live ranges of registers as an image.

The table has a row per register and a column per moment: 0 where the register is free, n + 1 while
it holds value n, -(n + 1) while value n is live only in waiting channels, `RESERVED` where the
register is not available.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
RESERVED = 1 << 20

IDLE, BUSY, WAIT = range(3)
"""What a machine does in a moment, for the strip above the registers."""

_STRIP = np.array([[0.85, 0.85, 0.85], [0.25, 0.55, 0.25], [0.8, 0.1, 0.1]])
_WIDEST = 1600


def map_picture(
    table: Array, scale: int = 6, registers: int = 0, strip: Array | None = None
) -> Array:
    """An RGB image, register 0 in the top row; values live only in waiting channels are darker.

    `strip` says what the machine does in each moment and is drawn above the registers: grey is a
    `nop`, green an instruction, red a wait.
    """
    used = registers or int(np.flatnonzero(table.any(axis=1)).max(initial=0)) + 1
    cells = table[:used]
    number = np.abs(cells).astype(np.int64)
    hue = number * 2654435761 % 360
    shades = np.stack([_channel(hue, shift) for shift in (0, 120, 240)], axis=-1)
    shades = np.where((cells < 0)[..., None], shades * 0.45, shades)
    shades = np.where((cells == RESERVED)[..., None], 0.75, shades)
    shades = np.where((cells == 0)[..., None], 1.0, shades)
    if strip is not None:
        shades = np.concatenate([_STRIP[strip][None], np.ones_like(shades[:1]), shades])
    across = max(1, min(scale, _WIDEST // max(1, table.shape[1])))
    picture: Array = (shades * 255).astype(np.uint8).repeat(scale, axis=0).repeat(across, axis=1)
    picture[::scale] = picture[::scale] // 4 * 3
    return np.ascontiguousarray(picture)


def _channel(hue: Array, shift: int) -> Array:
    away = np.abs((hue + shift) % 360 - 180) / 180.0
    found: Array = 0.35 + 0.6 * away
    return found
