"""Constants that a machine loads into registers before a thread starts: literals and
uniform words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.common.lanes import ShaderResources

PLANE = 1 << 20
"""Slots of this block and above are user clip planes."""


@lazy_dataclass(frozen=True)
class ConstantSlot:
    """The contents of one word of the constant registers: a literal, or a word of a uniform
    block.
    """

    block: int  # -1 for a literal
    value: int  # the literal, or a byte offset


def constant_bytes(
    slots: Sequence[ConstantSlot], resources: ShaderResources
) -> npt.NDArray[np.uint8]:
    """The bytes of the constants for one draw, in rows of 32."""
    words: npt.NDArray[Any] = np.zeros(-(-len(slots) // 8) * 8, np.uint32)
    for at, slot in enumerate(slots):
        if slot.block < 0:
            words[at] = slot.value & 0xFFFFFFFF
        elif slot.block >= PLANE:
            plane = slot.block - PLANE
            planes = resources.clip_planes
            value = planes[plane][slot.value // 4] if plane < len(planes) else 0.0
            words[at] = np.float32(value).view(np.uint32)
        elif slot.block < len(resources.constants):
            data = resources.constants[slot.block]
            if data is not None and 0 <= slot.value <= data.size - 4:
                words[at] = int.from_bytes(data[slot.value : slot.value + 4].tobytes(), "little")
    return words.view(np.uint8)
