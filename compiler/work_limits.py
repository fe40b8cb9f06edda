"""Limits on the work that one shader may cause.

What is counted is the same on every machine: characters, tokens, parts of types, instructions. A
limit is looked at before the work is done, and the error names the construct and its place. The
limits are far beyond what applications write, and low enough that no step takes more than some
seconds or a GiB.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from gallette.compiler.errors import CompileError

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.types import Type

__all__ = [
    "INCLUDE_COST",
    "MOST_CHARACTERS",
    "MOST_INSTRUCTIONS",
    "MOST_LEAVES",
    "MOST_LEVELS",
    "MOST_LOCALS",
    "MOST_NESTED",
    "MOST_NESTED_LOOPS",
    "MOST_SCALARS",
    "MOST_TOKENS",
    "allow_nesting",
    "check_nesting",
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

MOST_LOCALS: Final = 1 << 18
"""numbers in the arrays of an invocation that have to lie in memory"""

MOST_INSTRUCTIONS: Final = 250_000
"""of a function, with those of the functions it calls as often as it calls them"""

MOST_NESTED: Final = 384
"""ifs and loops of a function inside each other, with those of the functions it calls"""

MOST_NESTED_LOOPS: Final = 128
"""of those, loops: passes look at what is in a loop once for every loop around it"""


def check_nesting(function: str, depth: int, loops: int) -> None:
    """Raise an error that names the function if its ifs and loops are nested too deeply."""
    for count, most, what in (
        (depth, MOST_NESTED, "ifs and loops"),
        (loops, MOST_NESTED_LOOPS, "loops"),
    ):
        if count > most:
            raise CompileError(
                f"function {function!r}, with the functions it calls, nests {what} {count} deep, "
                f"at most {most} are supported"
            )


_FRAMES: Final = 12_000
"""that a recursion over the deepest code needs of Python's stack"""


def allow_nesting() -> None:
    """Have Python allow the recursion that the limits here allow."""
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)


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
