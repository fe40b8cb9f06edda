"""Interpolation of varyings of every type: smooth, flat, noperspective."""

from __future__ import annotations

from collections.abc import Iterator

from gallette.piglit_subset.generators.common import templates, vector

_CORNERS = ((-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0))


def tests() -> Iterator[str]:
    make = templates("interpolation")
    for scalar in ("float", "int", "uint"):
        for size in (1, 2, 3, 4):
            yield make.flat(vector(scalar, size), scalar, _CORNERS)
    for size in (1, 2, 3, 4):
        kind = vector("float", size)
        near = "abs(v - wanted) < 1.0e-5"
        if size > 1:
            near = f"all(lessThan(abs(v - {kind}(wanted)), {kind}(1.0e-5)))"
        for mode in ("smooth", "noperspective"):
            yield make.linear(mode, kind, near, _CORNERS)
    for columns, rows in ((2, 2), (3, 3), (4, 4), (2, 3), (3, 4), (4, 2)):
        places = [(c, r, c * rows + r) for c in range(columns) for r in range(rows)]
        yield make.matrix(f"mat{columns}x{rows}", places, _CORNERS)
    for size in (1, 2, 3, 4):
        component = "" if size == 1 else f"[{size - 1}]"
        yield make.perspective(vector("float", size), component, _CORNERS)
