"""Types of values in registers: how their bits are read, and their encodings in an instruction."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True, eq=False)
class RegType:
    """One type; `base` is float, int or uint."""

    name: str
    code: int
    size: int
    base: str
    dtype: np.dtype[Any]

    def __repr__(self) -> str:
        return self.name


_ROWS = (
    ("UD", "uint", 4),
    ("D", "int", 4),
    ("F", "float", 4),
    ("UW", "uint", 2),
    ("W", "int", 2),
    ("HF", "float", 2),
    ("UQ", "uint", 8),
    ("Q", "int", 8),
    ("DF", "float", 8),
    ("UB", "uint", 1),
    ("B", "int", 1),
)
TYPES: dict[str, RegType] = {
    name: RegType(name, code, size, base, np.dtype(f"{base}{size * 8}"))
    for code, (name, base, size) in enumerate(_ROWS)
}
_BY_KIND = {(t.base, t.size * 8): t for t in TYPES.values()}


def type_of(base: str, bits: int) -> RegType:
    """The type of an ALU value; booleans are 32 bits of zeros or ones."""
    if bits == 1 or base == "bool":
        return TYPES["D"]
    return _BY_KIND[base, bits]
