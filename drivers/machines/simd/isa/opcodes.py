"""The opcodes of the execution unit: `opcodes.txt` has the semantics and the cost of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.drivers.machines.isa import instruction
from gallette.drivers.machines.isa.opcodes import opcode_rows


@lazy_dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Opcode(instruction.Opcode):
    """One row of the opcode table; `kind` is alu, move, select, compare, flow, send or none."""

    latency: int
    issue: int


OPCODES: dict[str, Opcode] = {
    row["name"]: Opcode(**row, code=code)
    for code, row in enumerate(opcode_rows(__file__, "opcodes.txt"), 1)
}

CONDITIONS: dict[str, Callable[..., Any]] = {
    "z": np.equal,
    "nz": np.not_equal,
    "g": np.greater,
    "ge": np.greater_equal,
    "l": np.less,
    "le": np.less_equal,
}
"""Conditions of `cmp`, `sel` and flag-writing instructions, in the order of their codes from 1."""
