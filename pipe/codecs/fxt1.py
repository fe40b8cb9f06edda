"""FXT1 (3DFX_texture_compression_FXT1) decoding: 8x4 texels in 128 bits, all blocks at once.

A block is two halves of 4x4, with the texels of the left one first. Its highest bits select one of
four modes, which interpret colours of 15 bits (blue lowest) and short selectors:

* *hi*: two colours and five between them, or transparent, by selectors of three bits;
* *chroma*: four colours;
* *mixed*: each half has two colours and two between them (or one, and transparent); the second
  colour's green has a sixth bit, and the first one's is that bit or its complement;
* *alpha*: three colours with alpha, or transparent; or each half between a colour of its own and
  one that both share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Bytes = npt.NDArray[np.uint8]

_COLOR_AT = (64, 79, 94, 109)
"""The bits where the colours of all modes but *hi* begin; alphas of five bits from 109 on."""


def full_range(codes: Array, bits: int) -> Array:
    """Codes of `bits` bits expanded to eight bits."""
    top = (1 << bits) - 1
    return (codes * 510 + top) // (2 * top)


def _field(bits: Array, at: int, size: int) -> Array:
    """Numbers [n] of `size` bits, from bit `at` on."""
    weights = np.left_shift(1, np.arange(size))
    return np.asarray(bits[:, at : at + size] @ weights)


def _color(bits: Array, at: int) -> Array:
    """Red, green and blue [n, 3] of eight bits."""
    return np.stack([full_range(_field(bits, at + k, 5), 5) for k in (10, 5, 0)], axis=-1)


def _steps(first: Array, last: Array, count: int) -> Array:
    """`count` + 1 colours [n, count + 1, c] from one to the other."""
    k = np.arange(count + 1)[:, None]
    return (first[:, None] * (count - k) + last[:, None] * k + count // 2) // count


def _with_alpha(colors: Array, alpha: int = 255) -> Array:
    return np.concatenate([colors, np.full((*colors.shape[:-1], 1), alpha)], axis=-1)


def _clear(palette: Array, which: int) -> Array:
    palette[:, which] = 0
    return palette


def _hi(bits: Array) -> Array:
    """Palettes [n, 2, 8, 4] of each half (here equal)."""
    between = _with_alpha(_steps(_color(bits, 96), _color(bits, 111), 6))
    palette = np.zeros((len(bits), 8, 4), np.int64)
    palette[:, :7] = between
    return np.stack([palette, palette], axis=1)


def _chroma(bits: Array) -> Array:
    palette = _with_alpha(np.stack([_color(bits, at) for at in _COLOR_AT], axis=1))
    return np.stack([palette, palette], axis=1)


def _mixed(bits: Array) -> Array:
    halves = []
    punched = bits[:, 124].astype(np.bool_)
    for half, (low, high) in enumerate((_COLOR_AT[:2], _COLOR_AT[2:])):
        last_bit = bits[:, 125 + half]
        first, last = _color(bits, low), _color(bits, high)
        last[:, 1] = full_range(_field(bits, high + 5, 5) << 1 | last_bit, 6)
        punch = np.stack([first, (first + last) // 2, last, last], axis=1)
        selected = bits[:, 32 * half + 1]  # the first selector's high bit
        first[:, 1] = full_range(_field(bits, low + 5, 5) << 1 | last_bit ^ selected, 6)
        plain = _with_alpha(_steps(first, last, 3))
        halves.append(np.where(punched[:, None, None], _clear(_with_alpha(punch), 3), plain))
    return np.stack(halves, axis=1)


def _alpha(bits: Array) -> Array:
    colors = [
        np.concatenate(
            [_color(bits, _COLOR_AT[i]), full_range(_field(bits, 109 + 5 * i, 5), 5)[:, None]],
            axis=-1,
        )
        for i in range(3)
    ]
    shared, own = bits[:, 124].astype(np.bool_), np.stack([*colors, colors[0]], axis=1)
    own = _clear(own, 3)
    halves = [_steps(colors[i], colors[1], 3) for i in (0, 2)]
    return np.stack([np.where(shared[:, None, None], half, own) for half in halves], axis=1)


def _fxt1(block: Bytes) -> Bytes:
    """Texels [n, 4, 8, 4]."""
    bits = np.unpackbits(np.ascontiguousarray(block), axis=1, bitorder="little").astype(np.int64)
    mode = _field(bits, 125, 3)
    texels = np.zeros((len(block), 32, 4), np.uint8)
    for modes, size, palettes in (
        ((0, 1), 3, _hi), ((2,), 2, _chroma), ((3,), 2, _alpha), ((4, 5, 6, 7), 2, _mixed),
    ):  # fmt: skip
        which = np.flatnonzero(np.isin(mode, modes))
        if not len(which):
            continue
        some = bits[which]
        weights = np.left_shift(1, np.arange(size))
        selectors = some[:, : 32 * size].reshape(-1, 2, 16, size) @ weights
        found = np.take_along_axis(palettes(some), selectors[..., None], axis=2)
        texels[which] = found.reshape(-1, 32, 4)
    return texels.reshape(-1, 2, 4, 4, 4).transpose(0, 2, 1, 3, 4).reshape(-1, 4, 8, 4)


def _fxt1_opaque(block: Bytes) -> Bytes:
    """Texels [n, 4, 8, 4] of a format without alpha."""
    texels = _fxt1(block)
    texels[..., 3] = 255
    return texels


DECODERS = {"fxt1": _fxt1, "fxt1_opaque": _fxt1_opaque}
