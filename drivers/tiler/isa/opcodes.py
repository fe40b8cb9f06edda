"""The opcode table: what each instruction computes, in which category it is, what it costs.

Instructions come in categories, as their encodings do:

    0  flow: branches, kill, end, nop        4  special functions, in a unit of their own
    1  moves and conversions                 5  textures and derivatives
    2  two sources                           6  everything else that other units do
    3  three sources

`semantics` are functions over arrays of the sources' type, the same NumPy code as in NIR's table. A
source type of `b` is 32 bits of any type. Results of 1, 2 and 3 can be read after a fixed number of
cycles that the *compiler* must fill (`delay` in `timing`); an instruction waits for results of 4
and of nearby units with (ss), for those of 5 and of memory with (sy).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gallette.compiler.nir.ir import semantics as sem
from gallette.drivers.common.machine.messages import UNITS

__all__ = ["BY_CODE", "COMPARES", "OPCODES", "Opcode"]


@dataclass(frozen=True, slots=True, eq=False)
class Opcode:
    """One row; `kind` is flow, nop, alu, compare, select, special, quad or message."""

    name: str
    cat: int
    code: int
    sources: int
    kind: str
    source: str  # type of the sources: f, s, u, h (16-bit float) or b
    dest: str
    semantics: Callable[..., Any] | None
    doc: str

    def __repr__(self) -> str:
        return f"<{self.name}>"


OPCODES: dict[str, Opcode] = {}
_COUNT = [0] * 8
_function: Callable[..., Any]


def _row(
    cat: int,
    name: str,
    sources: int,
    types: str,
    semantics: Callable[..., Any] | None,
    doc: str,
    kind: str = "alu",
) -> None:
    source, _, dest = types.partition(">")
    code, _COUNT[cat] = _COUNT[cat], _COUNT[cat] + 1
    OPCODES[name] = Opcode(name, cat, code, sources, kind, source, dest, semantics, doc)


# 0: flow. Targets are instruction numbers.
_row(0, "nop", 0, "b>b", None, "nothing", "nop")
_row(0, "br", 0, "b>b", None, "channels with the predicate go to the target", "flow")
_row(0, "jump", 0, "b>b", None, "all channels go to the target", "flow")
_row(0, "brdead", 0, "b>b", None, "quads without a live pixel go to the target", "flow")
_row(0, "end", 0, "b>b", None, "channels end", "flow")
_row(0, "kill", 0, "b>b", None, "pixels with the predicate are alive no more", "kill")

# 1: moves and conversions.
_row(1, "mov", 1, "b>b", np.copy, "copy; an immediate has 32 bits here")
for _from, _to, _function in (
    ("f", "s", sem.f2int(np.int32)),
    ("f", "u", sem.f2int(np.uint32)),
    ("s", "f", sem.to(np.float32)),
    ("u", "f", sem.to(np.float32)),
    ("f", "h", sem.to(np.float16)),
    ("h", "f", sem.to(np.float32)),
):
    _row(1, f"cov.{_from}{_to}", 1, f"{_from}>{_to}", _function, "convert")

# 2: two sources (some use one).
for _name, _function, _doc in (
    ("add", np.add, "a + b"),
    ("min", sem.fmin, "the smaller; a NaN loses"),
    ("max", sem.fmax, "the larger; a NaN loses"),
    ("mul", np.multiply, "a * b"),
):
    _row(2, f"{_name}.f", 2, "f>f", _function, _doc)
for _name, _function, _doc in (
    ("absneg", np.copy, "copy, with the source's sign changed"),
    ("floor", np.floor, "round down"),
    ("ceil", np.ceil, "round up"),
    ("trunc", np.trunc, "round towards zero"),
    ("rndne", np.rint, "round to nearest even"),
):
    _row(2, f"{_name}.f", 1, "f>f", _function, _doc)
COMPARES: dict[str, Callable[..., Any]] = {
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}
for _type in "fsu":
    for _name, _function in COMPARES.items():
        _row(2, f"cmps.{_type}.{_name}", 2, f"{_type}>u", _function, "1 or 0", "compare")
for _name, _type, _function, _doc in (
    ("add.u", "u", np.add, "a + b"),
    ("sub.u", "u", np.subtract, "a - b"),
    ("min.s", "s", np.minimum, "the smaller"),
    ("max.s", "s", np.maximum, "the larger"),
    ("min.u", "u", np.minimum, "the smaller"),
    ("max.u", "u", np.maximum, "the larger"),
    ("and.b", "u", np.bitwise_and, "bitwise and"),
    ("or.b", "u", np.bitwise_or, "bitwise or"),
    ("xor.b", "u", np.bitwise_xor, "bitwise exclusive or"),
    ("shl.b", "u", sem.ishl, "shift left"),
    ("shr.b", "u", sem.shr, "shift right, zeros come in"),
    ("ashr.b", "s", sem.shr, "shift right, signs come in"),
    ("mull.u", "u", lambda a, b: (a & 0xFFFF) * (b & 0xFFFF), "product of the low halves"),
    ("mul.u24", "u", sem.mul24, "product of 24-bit values"),
    ("mul.s24", "s", sem.mul24, "product of sign-extended 24-bit values"),
):
    _row(2, _name, 2, f"{_type}>{_type}", _function, _doc)
for _name, _type, _function, _doc in (
    ("not.b", "u", np.invert, "bitwise complement"),
    ("absneg.s", "s", np.copy, "copy, with the source's sign changed"),
    ("cbits.b", "u", sem.bit_count, "number of set bits"),
    ("msb.b", "u", lambda x: sem.ufind_msb(x).view(np.uint32), "highest set bit, -1 if none"),
    ("bfrev.b", "u", sem.bitfield_reverse, "bits in reverse order"),
):
    _row(2, _name, 1, f"{_type}>{_type}", _function, _doc)

# 3: three sources.
_row(3, "mad.f", 3, "f>f", sem.ffma, "a * b + c, rounded once")
_row(
    3,
    "madsh.m16",
    3,
    "u>u",
    lambda a, b, c: ((a >> np.uint32(16)) * (b & np.uint32(0xFFFF)) << np.uint32(16)) + c,
    "high half of a by low half of b, shifted up, and c",
)
_row(3, "mad.u24", 3, "u>u", lambda a, b, c: sem.mul24(a, b) + c, "24-bit product and c")
_row(3, "sel.b", 3, "u>u", None, "a where b is not 0, else c", "select")

# 4: special functions.
for _name, _function, _doc in (
    ("rcp", sem.frcp, "1 / x"),
    ("rsq", sem.frsq, "1 / sqrt(x)"),
    ("log2", sem.flog2, "logarithm to base 2"),
    ("exp2", sem.fexp2, "2 to the power x"),
    ("sin", sem.fsin, "sine"),
    ("cos", sem.fcos, "cosine"),
    ("rcp8", sem.frcp_8bit, "1 / x, of which eight bits are right"),
):
    _row(4, _name, 1, "f>f", _function, _doc, "special")

# 5: operations on other channels of the quad.
for _name, _doc in (
    ("dsx", "difference along x"),
    ("dsy", "difference along y"),
    ("dsx.c", "the same for all of a quad"),
    ("dsy.c", "the same for all of a quad"),
):
    _row(5, _name, 1, "f>f", None, _doc, "quad")
_row(5, "sam", 1, "b>b", None, "a texture", "message")

# 6: the other units.
MNEMONICS = {"sampler": "sam", "constant": "ldc", "render": "rt", "gateway": "bar"}
for _unit in UNITS:
    if _unit != "sampler":
        _name = MNEMONICS.get(_unit, _unit)
        _row(6, _name, 1, "b>b", None, f"a message to the unit `{_unit}`", "message")

UNIT_OF = {MNEMONICS.get(unit, unit): unit for unit in UNITS}
"""The unit of a message's mnemonic."""

BY_CODE = {(op.cat, op.code): op for op in OPCODES.values()}
