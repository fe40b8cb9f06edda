"""The opcode table of the execution unit: what each instruction computes, and what it costs.

`semantics` are functions over arrays of the sources' types, the same NumPy code as in NIR's table,
so that both compute the same bits. `latency` is in cycles from issue until a dependent instruction
may issue; `issue` is how long a SIMD8 instruction occupies the pipe (SIMD16 and 64-bit types take
twice that).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.compiler.nir.ir import semantics as sem

__all__ = ["BY_CODE", "CONDITIONS", "OPCODES", "Opcode"]


@dataclass(frozen=True, slots=True, eq=False)
class Opcode:
    """One row; `kind` is alu, move, select, compare, flow, send or none."""

    name: str
    code: int
    sources: int
    kind: str
    semantics: Callable[..., Any] | None
    latency: int
    issue: int
    doc: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


OPCODES: dict[str, Opcode] = {}


def _row(
    name: str,
    sources: int,
    semantics: Callable[..., Any] | None,
    doc: str,
    kind: str = "alu",
    latency: int = 8,
    issue: int = 1,
) -> None:
    code = len(OPCODES) + 1
    OPCODES[name] = Opcode(name, code, sources, kind, semantics, latency, issue, doc)


_row("mov", 1, None, "copy, converting between types", "move", 6)
_row(
    "sel", 2, None, "a where the flag is set, else b; with a condition: minimum, maximum", "select"
)
_row("cmp", 2, None, "compare; the flag and, as zeros or ones, the destination", "compare")
_row("not", 1, np.invert, "bitwise complement", latency=6)
_row("and", 2, np.bitwise_and, "bitwise and", latency=6)
_row("or", 2, np.bitwise_or, "bitwise or", latency=6)
_row("xor", 2, np.bitwise_xor, "bitwise exclusive or", latency=6)
_row("shl", 2, sem.ishl, "shift left")
_row("shr", 2, sem.shr, "shift right, by the type's sign")
_row("rol", 2, sem.rotate_left, "rotate left")
_row("ror", 2, sem.rotate_right, "rotate right")
_row("add", 2, np.add, "a + b; integers saturate with .sat")
_row("mul", 2, np.multiply, "a * b")
_row("mulh", 2, sem.mul_high, "upper half of the product", latency=12)
_row("mulx", 2, sem.mul_2x32_64, "32 by 32 bits to 64", latency=12)
_row("mul24", 2, sem.mul24, "product of 24-bit values")
_row("mad", 3, sem.ffma, "a * b + c, rounded once", latency=10)
_row("lrp", 3, sem.flrp, "a * (1 - c) + b * c", latency=10)
_row("addc", 2, sem.uadd_carry, "the carry of a + b")
_row("subb", 2, sem.usub_borrow, "the borrow of a - b")
_row("avg", 2, sem.rhadd, "average, rounded up")
_row("avgd", 2, sem.hadd, "average, rounded down")
_row("frc", 1, sem.ffract, "fraction")
_row("rndd", 1, np.floor, "round down")
_row("rndu", 1, np.ceil, "round up")
_row("rndz", 1, np.trunc, "round towards zero")
_row("rnde", 1, np.rint, "round to nearest even")
_row("cbit", 1, sem.bit_count, "number of set bits")
_row("fbh", 1, sem.ufind_msb, "highest set bit, -1 if none")
_row("fbs", 1, sem.ifind_msb, "highest bit unlike the sign, -1 if none")
_row("fbl", 1, sem.find_lsb, "lowest set bit, -1 if none")
_row("bfrev", 1, sem.bitfield_reverse, "bits in reverse order")
_row("bfe", 3, None, "c bits of a from bit b, extended by the type's sign")
_row("bfm", 2, sem.bfm, "a ones from bit b on")

# The extended maths unit: slow, and shared by the threads.
for _name, _sources, _semantics, _cost, _doc in (
    ("inv", 1, sem.frcp, 16, "1 / x"),
    ("sqrt", 1, np.sqrt, 16, "square root"),
    ("rsq", 1, sem.frsq, 16, "1 / sqrt(x)"),
    ("exp", 1, sem.fexp2, 16, "2 to the power x"),
    ("log", 1, sem.flog2, 16, "logarithm to base 2"),
    ("sin", 1, sem.fsin, 22, "sine"),
    ("cos", 1, sem.fcos, 22, "cosine"),
    ("pow", 2, sem.fpow, 28, "a to the power b"),
    ("fdiv", 2, np.divide, 22, "a / b"),
    ("fmod", 2, sem.fmod, 28, "a - b * floor(a / b)"),
    ("frem", 2, sem.frem, 28, "a - b * trunc(a / b)"),
    ("idiv", 2, sem.idiv, 32, "a / b towards zero, signed"),
    ("udiv", 2, np.floor_divide, 32, "a / b, unsigned"),
    ("imod", 2, np.remainder, 32, "remainder with the sign of b"),
    ("irem", 2, np.fmod, 32, "remainder with the sign of a"),
    ("umod", 2, np.remainder, 32, "remainder, unsigned"),
    ("ldexp", 2, sem.ldexp, 16, "a * 2 to the power b"),
    ("frexps", 1, sem.frexp_sig, 16, "significand"),
    ("frexpe", 1, sem.frexp_exp, 16, "exponent"),
    ("quant", 1, sem.fquantize2f16, 16, "round to the precision of 16 bits"),
    ("f16z", 1, sem.f2f16_rtz, 12, "to 16 bits, towards zero"),
    ("norm", 1, sem.fisnormal, 12, "neither zero, denormal, infinite nor NaN"),
    ("fin", 1, np.isfinite, 12, "neither infinite nor NaN"),
):
    _row(f"math.{_name}", _sources, _semantics, _doc, latency=_cost, issue=4)

# Control flow: each channel has a program counter; the thread's is the lowest of them.
_row("if", 0, None, "channels without the flag wait at the target", "flow", 4)
_row("else", 0, None, "channels that are here wait at the target", "flow", 4)
_row("endif", 0, None, "channels that wait here go on", "flow", 2)
_row("do", 0, None, "head of a loop", "flow", 2)
_row("while", 0, None, "channels that are here go back to the target", "flow", 4)
_row("break", 0, None, "channels leave the loop and wait at the target", "flow", 4)
_row("cont", 0, None, "channels wait at the loop's end", "flow", 4)
_row("halt", 0, None, "channels end", "flow", 4)
_row("send", 2, None, "a message to a shared unit", "send", 20)
_row("nop", 0, None, "nothing", "none", 1)

BY_CODE = {op.code: op for op in OPCODES.values()}

CONDITIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "z": (1, np.equal),
    "nz": (2, np.not_equal),
    "g": (3, np.greater),
    "ge": (4, np.greater_equal),
    "l": (5, np.less),
    "le": (6, np.less_equal),
}
"""Conditions of `cmp`, `sel` and flag-writing instructions, with their codes."""
