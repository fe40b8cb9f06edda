"""Primitives between glBegin and glEnd that C called, with matrices between them, as one series.

The functions wrote their calls into the ring of `state_tracker.stream`. All vertices are put into
one buffer, and the primitives are given to the driver together, each with the uniforms that follow
from its matrix, as those of display lists are (`recorded_lists`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.state import DrawInfo
from gallette.state_tracker.drawing.draw import PRIMITIVES, draw
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.optional.compatibility.kept_primitives import (
    keep_vertices,
    release_vertices,
    vertices_of,
)
from gallette.state_tracker.optional.compatibility.recorded_lists import (
    CALL,
    POP,
    PUSH,
    course,
    draw_all,
    factors_of,
    may_play,
)
from gallette.state_tracker.optional.compatibility.recorded_vertices import (
    BEGIN,
    END,
    SETS_COLOR,
    specified,
)
from gallette.state_tracker.stream.calls import CALLS, Ints

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.vertices.vertex_arrays import VertexArray

LEAST = 8
"""Primitives; fewer are drawn one by one as fast."""

_SPECIFIES = np.array([call.specifies for call in CALLS])


@lazy_dataclass(eq=False)
class _Primitive:
    """A primitive, or several with the same matrix."""

    vao: VertexArray
    calls: dict[Any, DrawInfo]  # by kind
    kind: tuple[int, int]  # mode and count
    first: int  # vertex

    before = last = dict[int, Any]()
    between_equal_values = True

    def call(self, info: DrawInfo) -> DrawInfo:
        found = self.calls.get(self.kind)
        if found is None:
            mode, count = self.kind
            found = replace(info, mode=PRIMITIVES[mode], start=self.first, count=count)
            self.calls[self.kind] = found
        return found

    def draw(self, ctx: Context) -> None:
        mode, count = self.kind
        try:
            ctx.immediate.draw_from(self.vao, partial(draw, ctx, mode, self.first, count))
        except GLError as error:
            ctx.record_error(error, FUNCTIONS["End"])


def draw_moved(ctx: Context, rows: Ints) -> int:
    """Make recorded calls of vertices and of the current matrix; returns how many: none if they
    have to be made one by one, or are too few primitives.
    """
    immediate = ctx.immediate
    numbers = rows[:, 0]
    ends = numbers == END
    if ends.sum() < LEAST or not may_play(ctx) or immediate.bitmaps or not immediate.may_defer():
        return 0
    inside = np.cumsum((numbers == BEGIN).astype(np.int64) - ends)
    stop = int((inside == 0).nonzero()[0].max(initial=-1)) + 1  # the last may not end yet
    lists = (numbers[:stop] == CALL).nonzero()[0]
    stop = int(lists[0]) if len(lists) else stop
    rows, numbers, ends, inside = rows[:stop], numbers[:stop], ends[:stop], inside[:stop]
    specifies = _SPECIFIES[numbers]
    if ends.sum() < LEAST or inside[~specifies].any():
        return 0
    found = specified(ctx, rows[specifies])
    before = ctx.matrices.current
    marks = ~specifies | ends
    way = course(np.where(ends, CALL, numbers)[marks].tolist(), len(before))
    if found is None or way.end < marks.sum():
        return 0
    immediate.draw_pending()
    if not immediate.is_fixed():
        return 0
    moves = ~(specifies | np.isin(numbers, (PUSH, POP)))
    matrices = way.multiplied(before, factors_of(rows[moves]))
    modes, firsts, counts, nodes = _joined(
        found.modes, found.begins, found.ends - found.begins, way.nodes
    )
    slots = list(found.columns)
    data = np.stack([*found.columns.values()], 1).astype(np.float32)
    vao, calls = keep_vertices(ctx, slots, data), dict[Any, DrawInfo]()
    vao.even_colors = not (SETS_COLOR[numbers] & (inside > 0)).any()
    parts = zip(modes.tolist(), counts.tolist(), firsts.tolist(), strict=True)
    drawn = [_Primitive(vao, calls, (mode, count), first) for mode, count, first in parts]
    try:
        draw_all(ctx, drawn, matrices[nodes], matrices[way.left])
    finally:
        release_vertices(vao)
    found.set_last(ctx)
    return stop


def _joined(modes: Ints, firsts: Ints, counts: Ints, nodes: Ints) -> tuple[Ints, ...]:
    """The primitives without empty ones, neighbours with equal matrices as one if that is
    possible.
    """
    some = counts > 0
    modes, firsts, counts, nodes = modes[some], firsts[some], counts[some], nodes[some]
    whole = vertices_of(modes)
    joins = (modes[1:] == modes[:-1]) & (nodes[1:] == nodes[:-1])
    joins &= (whole[:-1] > 0) & (counts[:-1] % np.maximum(whole[:-1], 1) == 0)
    starts = np.append(True, ~joins).nonzero()[0]
    return modes[starts], firsts[starts], np.add.reduceat(counts, starts), nodes[starts]
