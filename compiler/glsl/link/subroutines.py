"""The indices of subroutines: declared ones, and free ones for the others."""

from __future__ import annotations

import itertools

from gallette.compiler.glsl.check import hir
from gallette.compiler.link.log import LinkLog

__all__ = ["numbered"]


def numbered(functions: list[hir.Function], log: LinkLog) -> list[str]:
    """The names of subroutines by their index; empty where no subroutine has the index."""
    names: dict[int, str] = {}
    for function in functions:
        index = function.subroutine_index
        if index in names:
            log.error(f"'{names[index]}' and '{function.name}' have the same index")
        elif index >= 0:
            names[index] = function.name
    free = (i for i in itertools.count() if i not in names)
    for function in functions:
        if function.subroutine_index < 0:
            names[next(free)] = function.name
    return [names.get(i, "") for i in range(max(names, default=-1) + 1)]
