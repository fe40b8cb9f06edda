"""What the geometry and tessellation stages are given, against the specification's tables."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.vertex.assembly import (
    Runs,
    assemble,
    input_corners,
    input_units,
    patch_corners,
    patch_units,
)
from gallette.pipe.enums import Primitive

P = Primitive
ADJACENT = (
    P.LINES_ADJACENCY,
    P.LINE_STRIP_ADJACENCY,
    P.TRIANGLES_ADJACENCY,
    P.TRIANGLE_STRIP_ADJACENCY,
)


def spelt_out(mode: Primitive, n: int) -> list[tuple[int, ...]]:
    """Every vertex of every input primitive of a run of n."""
    if mode is P.LINES_ADJACENCY:
        return [tuple(range(i, i + 4)) for i in range(0, n - 3, 4)]
    if mode is P.LINE_STRIP_ADJACENCY:
        return [tuple(range(i, i + 4)) for i in range(n - 3)]
    if mode is P.TRIANGLES_ADJACENCY:
        return [tuple(range(i, i + 6)) for i in range(0, n - 5, 6)]
    count = max((n - 4) // 2, 0)
    found = []
    for i in range(count):  # the specification's table counts vertices from 1
        before = 2 if i == 0 else 2 * i - 1
        after = 2 * i + 6 if i == count - 1 else 2 * i + 7
        if i % 2:
            row = (2 * i + 3, before, 2 * i + 1, 2 * i + 4, 2 * i + 5, after)
        else:
            row = (2 * i + 1, before, 2 * i + 3, after, 2 * i + 5, 2 * i + 4)
        found.append(tuple(vertex - 1 for vertex in row))
    return found


RUNS = [[n] for n in range(13)] + [[6, 0, 9], [5, 8, 12], [3, 7, 10, 6]]


@pytest.mark.parametrize("mode", ADJACENT)
@pytest.mark.parametrize("lengths", RUNS)
def test_adjacent_vertices_stand_where_the_tables_put_them(
    mode: Primitive, lengths: list[int]
) -> None:
    starts = [10 + sum(lengths[:i]) for i in range(len(lengths))]
    runs = Runs(np.array(starts), np.array(lengths))
    wanted = [
        tuple(start + vertex for vertex in row)
        for start, length in zip(starts, lengths, strict=True)
        for row in spelt_out(mode, length)
    ]
    assert [tuple(row) for row in input_corners(mode, runs, True).tolist()] == wanted
    assert input_units(mode, runs) == len(wanted)
    for first, last in ((0, 1), (1, len(wanted)), (len(wanted) // 2, len(wanted))):
        if first < last <= len(wanted):
            some = input_corners(mode, runs, True, (first, last))
            assert [tuple(row) for row in some.tolist()] == wanted[first:last]


@pytest.mark.parametrize("mode", [P.POINTS, P.LINES, P.LINE_LOOP, P.TRIANGLE_STRIP, P.TRIANGLES])
def test_other_primitives_are_assembled_as_usual(mode: Primitive) -> None:
    runs = Runs(np.array([3, 10]), np.array([7, 4]))
    for first in (True, False):
        given = input_corners(mode, runs, first)
        assert given.tolist() == assemble(mode, runs, first).corners.tolist()
    assert input_units(mode, runs) == len(input_corners(mode, runs, True))


@pytest.mark.parametrize("size", [1, 3, 4])
def test_patches_take_so_many_vertices_each_and_leave_the_rest(size: int) -> None:
    runs = Runs(np.array([2, 20]), np.array([7, 4]))
    wanted = [
        list(range(start + at, start + at + size))
        for start, length in ((2, 7), (20, 4))
        for at in range(0, length - size + 1, size)
    ]
    assert patch_corners(runs, size).tolist() == wanted
    assert patch_units(runs, size) == len(wanted)
