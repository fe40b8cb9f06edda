"""Runs of a display list: primitives with matrices between them, as one series.

The first time a run is played call by call. That shows by which matrices it multiplies, and which
values its vertices have, and none of these changes. The vertices of all primitives are then in one
buffer, and the driver gets all draws at once, each with the uniforms that follow from its matrix.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.state import DrawInfo
from gallette.state_tracker.drawing.draw import PRIMITIVES, draw
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.optional.compatibility.kept_primitives import (
    SLOTS,
    KeptPrimitives,
    current,
)
from gallette.state_tracker.optional.compatibility.matrices import Cells, most_matrices
from gallette.state_tracker.optional.compatibility.recorded_lists import (
    Content,
    draw_all,
    may_play,
)
from gallette.state_tracker.optional.compatibility.recorded_matrices import (
    CALL,
    LOAD,
    MULTIPLY,
    POP,
    PUSH,
    Course,
    course,
)

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.display_lists import Call, DisplayList

LEAST = 4
"""Primitives of a run; fewer are drawn one by one as fast."""

_MATRICES = re.compile(
    r"(Push|Pop)Matrix|LoadIdentity|(Load|Mult)(Transpose)?Matrix[fd]|(Translate|Scale|Rotate)[fd]"
    r"|Ortho|Frustum"
)


def moves(call: Call) -> bool:
    """Whether a call changes the current matrix."""
    return _MATRICES.fullmatch(call.function.name) is not None


@lazy_dataclass(eq=False)
class _Part:
    """A primitive of a run."""

    run: Run
    function: Function  # that has drawn it
    mode: int
    count: int
    first: int  # vertex
    kind: tuple[Run, int, int]
    """What draws have in common that differ only in their first vertex."""

    @property
    def vao(self) -> Any:
        return self.run.kept.vao if self.run.kept is not None else None

    before = last = dict[int, Any]()
    """The run sets attributes at its end."""

    def call(self, info: DrawInfo) -> DrawInfo:
        calls = self.run.calls
        found = calls.get(self.kind)
        if found is None:
            mode = PRIMITIVES[self.mode]
            found = calls[self.kind] = replace(info, mode=mode, start=self.first, count=self.count)
        return found

    def draw(self, ctx: Context) -> None:
        try:
            ctx.immediate.draw_from(self.vao, partial(draw, ctx, self.mode, self.first, self.count))
        except GLError as error:
            ctx.record_error(error, self.function)


class Run:
    """Successive calls of a list."""

    def __init__(self, calls: list[Call], first: int, end: int) -> None:
        self._calls, self.first, self.end = calls, first, end
        self._played = False
        self._numbers: list[int] = []  # of functions, as in `recorded_lists`
        self._courses: dict[int, Course] = {}  # by the depth of the stack before
        self._factors = np.zeros((0, 4, 4))  # the matrix that each loads or multiplies by
        self._parts: list[_Part] = []
        self.calls: dict[tuple[Run, int, int], DrawInfo] = {}  # by kind
        self.kept: KeptPrimitives | None = None

    def release(self) -> None:
        if self.kept is not None:
            self.kept.release()

    def play(self, ctx: Context, played: DisplayList) -> bool:
        """Play it; returns false, having done nothing, if it has to be played call by call."""
        if not may_play(ctx) or not ctx.immediate.may_defer():
            return False
        ctx.immediate.draw_pending()
        if not self._played:
            self._played = True
            self._observe(ctx, played)
            return True
        if self.kept is None:
            return False
        self.kept.follow(ctx)
        if not ctx.immediate.can_replay(self.kept):
            return False
        stack = ctx.matrices.current
        way = self._courses.get(len(stack))
        if way is None:
            most = most_matrices(ctx.matrices.mode)
            way = self._courses[len(stack)] = course(self._numbers, len(stack), most)
        if way.end < len(self._numbers):  # an error
            return False
        matrices = way.multiplied(stack, self._factors)
        drawn = partial(draw_all, ctx, self._parts, matrices[way.nodes], matrices[way.left])
        ctx.immediate.replay(self.kept, drawn)
        return True

    def content(self, ctx: Context) -> Content | None:
        """What it consists of, if that is known, and if nothing else is set between primitives."""
        kept = self.kept
        if kept is None or kept.set or kept.before:
            return None
        kept.prepare(ctx)
        return self._content

    def _observe(self, ctx: Context, played: DisplayList) -> None:
        """Play call by call, and keep what the run consists of, if it can be drawn as a series."""
        index = self.first
        numbers, factors = self._numbers, list[Cells]()
        drawn: list[tuple[Call, KeptPrimitives, dict[int, Any]]] = []  # with what was set before
        last: dict[int, Any] = {}
        start = {slot: current(ctx, slot) for slot in SLOTS}
        good = True
        while index < self.end:
            call = self._calls[index]
            made: list[tuple[Cells, bool]] = []
            ctx.matrices.made = made
            try:
                index = played.step(ctx, index)
            finally:
                ctx.matrices.made = None
            name, kept = call.function.name, call.kept
            if call.end:
                good &= kept is not None
                if kept is not None:
                    if kept.parts:
                        drawn.append((call, kept, dict(last)))
                        numbers += [CALL] * len(kept.draws)
                    last |= kept.set
            elif name in ("PushMatrix", "PopMatrix"):
                numbers.append(PUSH if name == "PushMatrix" else POP)
            else:
                good &= len(made) == 1
                numbers += [LOAD if replaces else MULTIPLY for _, replaces in made]
                factors += [matrix for matrix, _ in made]
        if good and drawn:
            self._factors = np.array(factors).reshape(-1, 4, 4)
            self._keep(drawn, last, start)

    def _keep(
        self,
        drawn: list[tuple[Call, KeptPrimitives, dict[int, Any]]],
        last: dict[int, Any],
        start: dict[int, Any],
    ) -> None:
        """Put all vertices together, with values from before the run for the first of them."""
        quads = {kept.in_list for _, kept, _ in drawn if GL.QUADS in kept.modes}
        if len(quads) > 1:  # which are cut in two ways
            return
        slots = sorted({slot for _, kept, values in drawn for slot in (*kept.slots, *values)})
        blocks: list[Any] = []
        before: dict[int, tuple[int, Any]] = {}
        first = 0
        arrays: set[int] = set()  # attributes that only some primitives have, from arrays
        for call, kept, values in drawn:
            block = np.empty((len(kept.data), len(slots), 4), np.float32)
            for place, slot in enumerate(slots):
                count = len(block)
                if slot in kept.slots:
                    block[:, place] = kept.data[:, kept.slots.index(slot)]
                    count = kept.before[slot][0] if slot in kept.before else 0
                elif slot in values:
                    block[:, place] = values[slot]
                else:
                    block[:, place] = start[slot]
                if count and slot not in values:
                    if slot in arrays:
                        return
                    before[slot] = first + count, start[slot]
            arrays |= {*kept.slots} - kept.set.keys()
            for mode, begin, count in kept.draws:
                kind = self, mode, count
                self._parts.append(_Part(self, call.function, mode, count, first + begin, kind))
            first += len(block)
            blocks.append(block)
        parts = [(part.mode, part.first, part.count) for part in self._parts]
        self.kept = KeptPrimitives(slots, np.concatenate(blocks), parts, last, before)
        self.kept.in_list, self.kept.few = False not in quads, 0
        numbers = np.array(self._numbers, np.int64)
        has = frozenset(slots)
        self._content = Content(numbers, self._factors, [*self._parts], has=has)
        for _, each, _ in drawn:
            each.release()
