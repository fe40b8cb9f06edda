"""Limits of the work that one shader may cause.

They count what is equal on every machine: characters, tokens, parts of types, instructions. A limit
is checked before the work is done, and the error names the construct and its place. The limits are
far beyond what applications write, and low enough that compiling ends: most within some seconds and
a GiB, a function of `MOST_INSTRUCTIONS` within a minute and some GiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gallette.compiler.errors import CompileError

if TYPE_CHECKING:
    from gallette.compiler.nir.ir.types import Type

MOST_CHARACTERS: Final = 1 << 22
"""characters of a shader, including its includes"""

INCLUDE_COST: Final = 256
"""characters that an included text counts for at least"""

MOST_TOKENS: Final = 1 << 19
"""tokens of a shader, after the preprocessor"""

MOST_LEVELS: Final = 256
"""nesting of arrays and structures"""

MOST_LEAVES: Final = 1 << 16
"""members of a type, including nested ones; elements of an array count once"""

MOST_SCALARS: Final = 1 << 26
"""scalars in a value of a type"""

MOST_LOCALS: Final = 1 << 18
"""scalars in the arrays of an invocation that must be in memory"""

MOST_INSTRUCTIONS: Final = 1_000_000
"""instructions of a function, including its callees once per call"""

MOST_NESTED: Final = 256
"""nesting of ifs and loops in a function, including its callees

Passes and drivers that recurse over them use at most three frames of Python's stack per level, so
that they stay below its default limit of 1,000.
"""

MOST_NESTED_LOOPS: Final = 128
"""nesting of loops among them, since passes visit the content of a loop once for every loop around
it
"""


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
