"""Random depth and stencil states, and samples that are tested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.fixed.depth import DepthKey, mask_word, without_masks
from gallette.pipe.enums import CompareFunc, StencilOp
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.state import DepthStencilAlphaState, StencilState

Array = npt.NDArray[Any]
LANES = 16
DEPTHS = np.array(
    [0.0, -0.0, 1.0, 0.5, 0.25, 0.75, np.nan, np.inf, -1.0, 2.0, 1e-9, 0.9999999, 1 / 3, 0.1, 0.3,
     1e-40], np.float32
)  # fmt: skip
STORED = [
    FORMATS[name]
    for name in ("Z16_UNORM", "Z24_UNORM_S8_UINT", "Z32_FLOAT", "Z32_FLOAT_S8X24_UINT", "Z32_UNORM")
    if name in FORMATS
]


def states(count: int, seed: int) -> Iterator[tuple[Format, DepthStencilAlphaState]]:
    random = np.random.default_rng(seed)

    def one(values: Any) -> Any:
        choices = list(values)
        return choices[random.integers(len(choices))]

    def face(enabled: bool) -> StencilState:
        masks = [int(m) for m in random.choice([0xFF, 0x0F, 0xF0, 0x55], 2)]
        return StencilState(enabled, one(CompareFunc), *(one(StencilOp) for _ in range(3)), *masks)

    for _ in range(count):
        format = one(STORED)
        tests = bool(random.integers(4))
        yield (
            format,
            DepthStencilAlphaState(
                depth_enabled=tests,
                depth_writemask=bool(random.integers(2)),
                depth_func=one(CompareFunc),
                stencil=(face(format.has_stencil), face(bool(random.integers(2)))),
            ),
        )


def key_of(format: Format, state: DepthStencilAlphaState) -> DepthKey:
    """The key of a buffer whose word is a texel."""
    depth = next(c for c in format.channels if c.name == "Z")
    stencil = next((c for c in format.channels if c.name == "S"), None)
    word = format.block_bytes * 8
    return DepthKey(
        word,
        word,
        depth.bits,
        depth.shift,
        depth.type == "FLOAT",
        0 if stencil is None else stencil.shift,
        state.depth_func if state.depth_enabled else None,
        state.depth_enabled and state.depth_writemask,
        (without_masks(state.stencil[0]), without_masks(state.stencil[1])) if stencil else None,
    )


def faces(state: DepthStencilAlphaState, references: tuple[int, int]) -> list[Array]:
    """What the tests of both faces are given."""
    pairs = zip(references, state.stencil, strict=True)
    return [np.asarray(reference | mask_word(face), np.uint32) for reference, face in pairs]


def held(format: Format, seed: int) -> Array:
    """Random texels, some of the depths equal to `DEPTHS`'."""
    random = np.random.default_rng(seed)
    raw = random.integers(0, 256, (LANES, format.block_bytes), np.uint8)
    words = raw.view(f"u{format.block_bytes}")[:, 0]
    if format.is_float:  # the depth's sign is never set
        words &= ~words.dtype.type(0xC0000000)
    if "X24" in format.name:
        words &= words.dtype.type(0xFF_FFFFFFFF)
    return np.ascontiguousarray(words)
