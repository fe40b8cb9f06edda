"""What a program is run on, and what it leaves.

Every program is a fragment shader that runs on a row of pixels, one *lane* each. It reads `inp`, a
buffer with four ints per lane, and `un`, a uniform block of eight ints; it writes the sixteen ints
of `outp` that belong to its lane, and the colour `result`.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

LANES = 8
INPUTS = 4
SLOTS = 16
UNIFORMS = 8

HEADER = """#version 430
layout(std430, binding = 0) readonly buffer In { int inp[]; };
layout(std430, binding = 1) buffer Out { int outp[]; };
layout(std140, binding = 0) uniform Un { ivec4 un[2]; };
layout(location = 0) out ivec4 result;
int lane = int(gl_FragCoord.x);
"""
"""what every program declares"""

Color = tuple[int, int, int, int]


class Rejected(Exception):
    """The compiler does not take the program."""


class Undefined(Exception):
    """The specification does not say what the program does, or it runs for too long."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What one run of a program is given."""

    inp: list[int]
    un: list[int]
    outp: list[int]
    """before the run"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run leaves: colours (None where discarded) and the output buffer."""

    colors: list[Color | None]
    outp: list[int]

    def difference(self, other: Outcome) -> str:
        """ "" if equal, else the first place where they differ."""
        for lane, (a, b) in enumerate(zip(self.colors, other.colors, strict=True)):
            if a != b:
                return f"lane {lane}: result {a} and {b}"
        for i, (x, y) in enumerate(zip(self.outp, other.outp, strict=True)):
            if x != y:
                return f"outp[{i}] (lane {i // SLOTS}): {x} and {y}"
        return ""


def inputs(seed: int) -> Inputs:
    """The numbers for a program of that seed."""
    r = random.Random(seed ^ 0x5EED)

    def number() -> int:
        x = r.choice([r.randrange(8), r.randrange(-64, 64), r.getrandbits(32)])
        return x - (1 << 32) if x >= 1 << 31 else x

    return Inputs(
        [number() for _ in range(LANES * INPUTS)],
        [r.randrange(1, 9) for _ in range(UNIFORMS)],
        [r.randrange(16) for _ in range(LANES * SLOTS)],
    )
