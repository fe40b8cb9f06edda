"""Runs of a display list: primitives with only matrices and attributes between them, as one series.

The first time a run is played call by call. That shows by which matrices it multiplies, and which
values its vertices have, and none of these changes. The vertices of all primitives are then in one
buffer, and the driver gets all draws at once, each with the uniforms that follow from its matrix.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.drawing.draw import draw
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.optional.compatibility.immediate import (
    VERTICES,
    Primitive,
    keep_vertices,
    release_vertices,
)
from gallette.state_tracker.optional.compatibility.list_functions import is_vertex_data
from gallette.state_tracker.optional.compatibility.recorded_lists import (
    CALL,
    LOAD,
    MULTIPLY,
    POP,
    PUSH,
    Course,
    course,
    draw_all,
    may_play,
)
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.display_lists import Call, DisplayList

__all__ = ["LEAST", "Run", "may_be_inside"]

LEAST = 4
"""Primitives of a run; fewer are drawn one by one as fast."""

_MATRICES = re.compile(
    r"(Push|Pop)Matrix|LoadIdentity|(Load|Mult)(Transpose)?Matrix[fd]|(Translate|Scale|Rotate)[fd]"
    r"|Ortho|Frustum"
)
_COLOR = int(VertAttrib.COLOR0)


def may_be_inside(call: Call) -> bool:
    """Whether a call that is no part of a primitive may be in a run."""
    name = call.function.name
    return _MATRICES.fullmatch(name) is not None or is_vertex_data(name)


@lazy_dataclass(eq=False)
class _Part:
    """A primitive of a run."""

    run: Run
    function: Function  # that has drawn it
    mode: int
    count: int
    first: int  # vertex

    @property
    def kind(self) -> tuple[int, int]:
        """What draws have in common that differ only in their first vertex."""
        return self.mode, self.count

    @property
    def vao(self) -> Any:
        return self.run.vao

    before = last = dict[int, Any]()
    """The run sets attributes at its end."""
    between_equal_values = True

    def draw(self, ctx: Context) -> None:
        try:
            ctx.immediate.draw_from(self.vao, partial(draw, ctx, self.mode, self.first, self.count))
        except GLError as error:
            ctx.record_error(error, self.function)


def _continues(primitive: Primitive, before: Primitive) -> bool:
    """Whether a primitive and the one before it can be drawn as one."""
    whole = VERTICES.get(primitive.mode, 0)
    return whole > 0 and before.mode == primitive.mode and before.count % whole == 0


class Run:
    """Successive calls of a list."""

    def __init__(self, calls: list[Call], first: int, end: int) -> None:
        self._calls, self.first, self.end = calls, first, end
        self._played = False
        self._numbers: list[int] = []  # of functions, as in `recorded_lists`
        self._courses: dict[int, Course] = {}  # by the depth of the stack before
        self._starts: list[int] = []  # the primitives that do not continue those before them
        self._factors: list[Any] = []  # the matrix that each loads or multiplies by
        self._parts: list[_Part] = []
        self._last: dict[int, Any] = {}  # values of the attributes that it sets
        self._user: Any = None  # the context that played it last
        self.vao: Any = None

    def release(self) -> None:
        if self.vao is not None:
            release_vertices(self.vao)
        self.vao = None

    def play(self, ctx: Context, played: DisplayList) -> bool:
        """Play it; returns false, having done nothing, if it has to be played call by call."""
        if not may_play(ctx) or not ctx.immediate.may_defer():
            return False
        if not self._played:
            self._played = True
            self._observe(ctx, played)
            return True
        if self.vao is None or (ctx.lighting.color_material_enabled and _COLOR in self._last):
            return False
        stack = ctx.matrices.modelview
        way = self._courses.get(len(stack))
        if way is None:
            way = self._courses[len(stack)] = course(self._numbers, len(stack))
        if way.end < len(self._numbers):  # an error
            return False
        if self._user is not ctx:  # layouts refer to the buffer of a context's current values
            self._user, self.vao.layouts = ctx, {}
        ctx.immediate.draw_pending()
        matrices = way.multiplied([*stack, *self._factors])
        draw_all(ctx, self._parts, matrices[way.nodes], matrices[way.left])
        for slot, values in self._last.items():
            set_current(ctx, slot, values)
        return True

    def _observe(self, ctx: Context, played: DisplayList) -> None:
        """Play call by call, and keep what the run consists of, if it can be drawn as a series."""
        arrays, index = ctx.arrays, self.first
        numbers, factors = self._numbers, self._factors
        drawn: list[tuple[Call, Primitive, dict[int, Any]]] = []  # with values that were set before
        last = self._last
        good = True
        while index < self.end:
            call, before = self._calls[index], list(arrays.values)
            made: list[tuple[Any, bool]] = []
            ctx.matrices.made = made
            try:
                index = played.step(ctx, index)
            finally:
                ctx.matrices.made = None
            name = call.function.name
            if call.end:
                primitive = call.primitive
                good &= primitive is not None and not primitive.before
                if primitive is not None:
                    drawn.append((call, primitive, dict(last)))
                    if numbers[-1:] != [CALL] or not _continues(primitive, drawn[-2][1]):
                        numbers.append(CALL)
                        self._starts.append(len(drawn) - 1)
            elif name in ("PushMatrix", "PopMatrix"):
                numbers.append(PUSH if name == "PushMatrix" else POP)
            elif not is_vertex_data(name):
                good &= len(made) == 1
                numbers += [LOAD if replaces else MULTIPLY for _, replaces in made]
                factors += [matrix for matrix, _ in made]
            for slot, values in enumerate(arrays.values):
                if values is not before[slot]:
                    last[slot] = values
                    good &= arrays.types[slot] == "float"
        if good and drawn:
            self._keep(ctx, drawn)

    def _keep(self, ctx: Context, drawn: list[tuple[Call, Primitive, dict[int, Any]]]) -> None:
        """Put all vertices into one buffer, unless one has a value from before the run."""
        slots = sorted(
            {slot for _, primitive, _ in drawn for slot in primitive.slots} | {*self._last}
        )
        blocks: list[Any] = []
        first, starts = 0, set(self._starts)
        for call, primitive, values in drawn:
            block = np.empty((primitive.count, len(slots), 4), np.float32)
            for place, slot in enumerate(slots):
                if slot in primitive.slots:
                    block[:, place] = primitive.data[:, primitive.slots.index(slot)]
                elif slot in values:
                    block[:, place] = values[slot]
                else:
                    return
            if len(blocks) in starts:
                self._parts.append(_Part(self, call.function, primitive.mode, 0, first))
            self._parts[-1].count += primitive.count
            first += primitive.count
            blocks.append(block)
        self.vao = keep_vertices(ctx, slots, np.concatenate(blocks))
        self.vao.in_list = True
