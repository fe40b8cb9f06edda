"""Random states of a colour buffer, and the numbers that go through them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.formats import layout
from gallette.drivers.common.fixed.output import ColorKey
from gallette.pipe.enums import BlendFactor, BlendFunc, LogicOp
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.state import BlendState, RenderTargetBlend

Array = npt.NDArray[Any]
LANES = 16
STORED = [
    f
    for f in FORMATS.values()
    if f.codec in ("plain", "small_float")
    and f.is_color
    and all(c.type in ("UNORM", "SNORM", "FLOAT", "UINT", "SINT") or c.name == "X"
            for c in f.channels)
    and all(c.bits <= 32 for c in f.channels)
]  # fmt: skip
_FLOATS = np.array(
    [0.0, np.nan, 1.0, -1.0, 0.5, 0.25, 0.7, 0.0031308, 1e-9, 1.5, -7.0, 65504.0, 1e9, -1e9, 0.9999,
     np.inf], np.float32
)  # fmt: skip
_WHOLE = np.array(
    [0, 1, 2, 3, 127, 128, 255, 256, 32767, 32768, 65535, 65536, -1, -2, -32769, 2**31 - 1]
).astype(np.int32)


def colors(format: Format, seed: int = 0) -> list[Array]:
    """Four components of each lane: awkward ones."""
    given = _WHOLE if format.is_pure_integer else _FLOATS
    return [np.roll(given.view(format.rgba_dtype), 5 * k + 3 * seed) for k in range(4)]


def texels(format: Format) -> Array:
    """Random texels: one word or several."""
    size, count = layout(format)
    random = np.random.default_rng(format.block_bytes)
    raw = random.integers(0, 256, (LANES, format.block_bytes), np.uint8)
    if format.is_float:  # NaN has many encodings
        raw &= 0x3B
    words = raw.view(f"u{size // 8}")
    return words if count > 1 else words[:, 0]


def words_of(found: Array) -> list[Array]:
    """The words of texels, one array for each."""
    return [found] if found.ndim == 1 else [np.ascontiguousarray(w) for w in found.T]


def states(count: int, seed: int) -> Iterator[tuple[Format, BlendState]]:
    """Random formats with random blending, logic operations and masks."""
    random = np.random.default_rng(seed)

    def one(values: Iterable[Any]) -> Any:
        choices = list(values)
        return choices[random.integers(len(choices))]

    for _ in range(count):
        format = one(STORED)
        kind = random.integers(4)
        mask = int(random.integers(1, 16)) if random.integers(2) else 0xF
        func = one(BlendFunc)
        other = func if func.is_advanced else one(f for f in BlendFunc if not f.is_advanced)
        target = RenderTargetBlend(
            kind < 3, func, one(BlendFactor), one(BlendFactor), other, one(BlendFactor),
            one(BlendFactor), mask,
        )  # fmt: skip
        yield format, BlendState((target,), logicop_enable=kind == 3, logicop=one(LogicOp))


def key_of(format: Format, state: BlendState) -> ColorKey:
    return ColorKey.of(format, state, 0)
