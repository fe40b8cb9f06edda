"""Atomic operations on storage buffers, shared memory, images and counters.

All invocations of a group operate on one word. If the operation commutes, the final value is known;
an exchange or a comparison leaves the value of some invocation, and the returned values have a
known sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce

from gallette.piglit_subset.generators.common import templates

LANES = 16
_OPS: dict[str, tuple[int, Callable[[int, int], int], str]] = {
    # name -> initial value, meaning, operand of invocation i (which GLSL and Python read alike)
    "Add": (7, lambda a, b: a + b, "3 * i + 1"),
    "Min": (900, min, "40 + (i * 7 + 3) % 16"),
    "Max": (5, max, "40 + (i * 7 + 3) % 16"),
    "And": (0xFFFF, lambda a, b: a & b, "0xFFFF ^ (1 << i & 0x5555)"),
    "Or": (0x10000, lambda a, b: a | b, "1 << i & 0x3333"),
    "Xor": (0x0FF0, lambda a, b: a ^ b, "1 << (i % 5)"),
}


def tests() -> Iterator[str]:
    make = templates("atomics")
    for place in ("buffer", "shared", "image"):
        for scalar in ("uint", "int"):
            for op, (first, meaning, operand) in _OPS.items():
                operands = [eval(operand, {"i": i}) for i in range(LANES)]
                end = reduce(meaning, operands, first)
                yield make.commuting(place, scalar, op, LANES, first, operand, end)
            yield make.exchange(place, scalar, LANES, 100 + sum(range(1, LANES + 1)))
            yield make.compare(place, scalar, LANES)
    for name, call, end, seen in (
        ("increment", "atomicCounterIncrement", 20 + LANES, range(20, 20 + LANES)),
        ("decrement", "atomicCounterDecrement", 20 - LANES, range(20 - LANES, 20)),
        ("read", "atomicCounter", 20, [20] * LANES),
    ):
        yield make.counter(name, call, LANES, end, sum(seen))
