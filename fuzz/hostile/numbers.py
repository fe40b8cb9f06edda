"""Numbers that mean no good: the edges of every range, and what is not a number at all."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

__all__ = [
    "BITS",
    "FLOATS",
    "INTEGERS",
    "SIZES",
    "data",
    "doubles",
    "floats",
    "integer",
    "integers",
    "real",
]

SIZES = (0, 1, 2, 3, 4, 8, 12, 15, 16, 17, 31, 32, 60, 64, 100, 255, 256, 257, 1000, 1024, 4000)
SIZES += (4096, 4097, 65536, 70000)
"""of buffers, in bytes"""

INTEGERS = (-1, -2, -3, -4, -16, -256, -65536, -(1 << 24), -(1 << 30), -(1 << 31), -(1 << 31) + 1)
INTEGERS += (7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 255, 256, 1023, 4095, 65535, 65536, 1 << 20)
INTEGERS += ((1 << 24) + 1, 1 << 28, 1 << 29, 1 << 30, (1 << 30) + 1, (1 << 31) - 1, (1 << 31) - 4)
"""of 32 bits, with a sign"""

FLOATS = ("0.0", "-0.0", "1.0", "-1.0", "0.5", "1e-45", "1e-38", "1e-20", "1e-7", "0.999999")
FLOATS += ("2.0", "-2.5", "31.5", "32.0", "255.5", "1e3", "65504.0", "65520.0", "16777217.0")
FLOATS += ("2147483520.0", "2147483648.0", "-2147483648.0", "4294967296.0", "9.3e18", "1e20")
FLOATS += ("1e38", "-1e38", "3.4e38")
"""literals of Python and of GLSL"""

BITS = (0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001, 0x00000001, 0x80000001)
"""floats that have no literals in GLSL: infinities, numbers that are none, the smallest ones"""


def integer(r: random.Random) -> int:
    """A number of 32 bits with a sign: a small one as often as an edge."""
    kind = r.random()
    if kind < 0.5:
        return r.randrange(9)
    if kind < 0.9:
        return r.choice(INTEGERS)
    return r.randrange(-(1 << 31), 1 << 31)


def real(r: random.Random, wild: float = 0.5) -> str:
    """A float as Python spells it."""
    kind = r.random()
    if kind > wild:
        return repr(r.randrange(-64, 65) / 16)
    if kind > wild / 4:
        return r.choice(FLOATS)
    return r.choice(("float('nan')", "float('inf')", "float('-inf')"))


def integers(seed: int, count: int) -> Any:
    """Numbers of 32 bits."""
    r = random.Random(seed)
    return np.array([integer(r) for _ in range(count)], np.int32)


def floats(seed: int, count: int) -> Any:
    """Floats of all kinds, half of them tame."""
    rng = np.random.default_rng(seed)
    tame = (rng.integers(-64, 65, count) / 16).astype(np.float32)
    edges = np.array([*map(float, FLOATS)], np.float32)
    bits = np.array(BITS, np.uint32).view(np.float32)
    wild = np.concatenate((edges, bits))[rng.integers(0, len(edges) + len(bits), count)]
    found: Any = np.where(rng.random(count) < 0.6, tame, wild)
    return found


def doubles(seed: int, count: int) -> Any:
    """These numbers in double precision."""
    with np.errstate(invalid="ignore"):
        return floats(seed, count).astype(np.float64)


def data(seed: int, size: int) -> bytes:
    """Bytes: floats, small numbers, edges, or anything."""
    kind, words = seed % 4, -(-size // 4)
    if kind == 0:
        made = floats(seed, words).tobytes()
    elif kind == 1:
        made = integers(seed, words).tobytes()
    elif kind == 2:
        made = np.random.default_rng(seed).integers(0, 40, words, np.uint32).tobytes()
    else:
        made = np.random.default_rng(seed).bytes(size)
    return bytes(made[:size])
