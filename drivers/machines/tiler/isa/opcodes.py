"""The opcodes of the tiler: `opcodes.txt` has the semantics and the category of each.

Results of categories 1, 2 and 3 can be read after a fixed number of cycles that the *compiler* must
fill (`delay` in `timing`). An instruction waits with (ss) for results of category 4 and of nearby
units, and with (sy) for those of category 5 and of memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import semantics as sem
from gallette.drivers.machines.isa import instruction
from gallette.drivers.machines.isa.opcodes import opcode_rows


@lazy_dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Opcode(instruction.Opcode):
    """One row of the opcode table; `kind` is flow, nop, kill, alu, compare, select, special, quad
    or message.
    """

    cat: int
    source: str  # type of the sources: f, s, u, h (16-bit float) or b
    dest: str


_OWN: dict[str, Callable[..., Any]] = {
    "mull": lambda a, b: (a & 0xFFFF) * (b & 0xFFFF),
    "msb": lambda x: sem.ufind_msb(x).view(np.uint32),
    "madsh": lambda a, b, c: ((a >> np.uint32(16)) * (b & np.uint32(0xFFFF)) << np.uint32(16)) + c,
    "mad24": lambda a, b, c: sem.mul24(a, b) + c,
}


def _rows() -> Iterator[Opcode]:
    count: Counter[int] = Counter()
    for row in opcode_rows(__file__, "opcodes.txt", _OWN):
        cat = row["cat"]
        row["source"], _, row["dest"] = row.pop("types").partition(">")
        yield Opcode(**row, code=cat | count[cat] << 3)
        count[cat] += 1


OPCODES: dict[str, Opcode] = {op.name: op for op in _rows()}

_NONE: Any = {"sources": 0, "semantics": None, "source": "b", "dest": "b", "format": ""}
LABEL = Opcode(name="label", code=-1, kind="label", doc="where branches lead", cat=0, **_NONE)
"""Stands in code until it is laid out, and is no instruction of the machine."""

MNEMONICS = {op.unit: op.name for op in OPCODES.values() if op.unit}
"""What messages to each unit are called."""
