"""The call graph: finds recursion within a shader and within a linked stage."""

from __future__ import annotations

from gallette.compiler.glsl.check import hir


def find_recursion(functions: list[hir.Function]) -> tuple[hir.Function, int, int] | None:
    """A call that is part of a cycle, if there is one."""
    if not [f for f in functions if f.calls]:
        return None
    done: set[hir.Function] = set()
    for start in functions:
        if start in done:
            continue
        path: list[tuple[hir.Function, int]] = [(start, 0)]
        active = {start}
        while path:
            function, i = path[-1]
            if i >= len(function.calls):
                path.pop()
                active.discard(function)
                done.add(function)
                continue
            path[-1] = (function, i + 1)
            callee, loc, end = function.calls[i]
            if callee in active:
                return callee, loc, end
            if callee not in done:
                active.add(callee)
                path.append((callee, 0))
    return None
