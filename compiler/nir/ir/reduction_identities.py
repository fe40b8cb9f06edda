"""The identities of reductions and scans."""

from __future__ import annotations

_LARGEST = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}


def identity(op: str, bits: int) -> int:
    """Raw bits of an operation's identity."""
    ones = (1 << bits) - 1
    if op in ("fmin", "fmax"):
        return _LARGEST[bits] | (0 if op == "fmin" else 1 << bits - 1)
    if op == "fmul":
        return {16: 0x3C00, 32: 0x3F800000, 64: 0x3FF0000000000000}[bits]
    return {
        "imul": 1,
        "imin": ones >> 1,
        "imax": 1 << bits - 1,
        "umin": ones,
        "iand": ones,
    }.get(op, 0)
