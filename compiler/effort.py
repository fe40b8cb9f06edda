"""Limits on the work that one shader may cause.

What is counted is the same on every machine: characters, tokens, parts of types, instructions. A
limit is looked at before the work is done, and the error names the construct and its place. The
limits are far beyond what applications write, and low enough that no step takes more than some
seconds or a GiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.types import Type

__all__ = [
    "INCLUDE_COST",
    "MOST_CHARACTERS",
    "MOST_INSTRUCTIONS",
    "MOST_LEAVES",
    "MOST_LEVELS",
    "MOST_NESTED",
    "MOST_SCALARS",
    "MOST_TOKENS",
    "too_large",
]

MOST_CHARACTERS: Final = 1 << 22
"""of a shader, with all that it includes"""

INCLUDE_COST: Final = 256
"""characters that an included text counts for at least"""

MOST_TOKENS: Final = 1 << 19
"""of a shader, after the preprocessor"""

MOST_LEVELS: Final = 256
"""of arrays and structures inside each other"""

MOST_LEAVES: Final = 1 << 16
"""members of a type, with those of its members; elements of an array count once"""

MOST_SCALARS: Final = 1 << 26
"""numbers in a value of a type"""

MOST_INSTRUCTIONS: Final = 250_000
"""of a function, with those of the functions it calls as often as it calls them"""

MOST_NESTED: Final = 512
"""ifs and loops of a function inside each other, with those of the functions it calls"""


def too_large(type: Type) -> str:
    """Why a type is not supported, beginning with its name; empty if it is."""
    for count, most, unit in (
        (type.depth, MOST_LEVELS, "levels of arrays and structures"),
        (type.leaf_count, MOST_LEAVES, "members, with those of its members"),
        (type.scalar_count, MOST_SCALARS, "components"),
    ):
        if count > most:
            return f"'{type}' has more than {most} {unit}"
    return ""
