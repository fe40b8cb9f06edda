"""Numbers that mean no good: the edges of every range, and what is not a number at all."""

from __future__ import annotations

import random

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
