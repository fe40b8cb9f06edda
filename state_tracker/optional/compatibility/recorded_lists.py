"""Display lists that C called thousands of times, each time with another matrix, as one series.

The functions wrote their calls into the ring of `state_tracker.stream`. Primitives whose draws
differ only in the uniforms that follow from the matrices are given to the driver together, with a
row of uniforms for each: those of lists of a single primitive, and of lists of primitives with
matrices between them, whose calls take the place of the call for the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.pipe.draw_series import Pieces, Series
from gallette.pipe.state import DrawInfo
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.optional.compatibility.kept_primitives import SLOTS
from gallette.state_tracker.optional.compatibility.matrices import (
    Matrix,
    MatrixStack,
    most_matrices,
)
from gallette.state_tracker.optional.compatibility.recorded_matrices import (
    CALL,
    IS_FACTOR,
    factors_of,
    fill_with,
    known_course,
)
from gallette.state_tracker.shading.builtin_uniforms import Bytes
from gallette.state_tracker.stream.calls import (
    CALLS,
    Ints,
    distinct,
)
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.display_lists import DisplayList
    from gallette.state_tracker.optional.compatibility.kept_primitives import (
        KeptPrimitives,
        Values,
    )
    from gallette.state_tracker.shading.programs import Executable
    from gallette.state_tracker.vertices.vertex_arrays import VertexArray

_ALL = frozenset(SLOTS)
_STAGES = {Stage.VERTEX, Stage.FRAGMENT}
_MOST_CALLS = 1 << 16
"""Limit on the calls in lists that are made together, since long lists may be called often."""
_MOST_UNIFORMS = 1 << 12
"""Limit on the bytes of a program's uniforms."""
_MOST_LISTED, _DEEPEST = 1 << 14, 8
"""Limits on the calls that one list becomes, and on how deep lists call others."""


def play(ctx: Context, rows: Ints) -> int:
    """Make recorded calls that change the current matrix or call lists; returns how many. The
    last one may be an error, or a list that is played call by call.
    """
    if not may_play(ctx) or ctx.lists.recorder is not None:
        return 0
    ctx.immediate.draw_pending()
    stack = _Stack(ctx, rows)
    draw_all(ctx, stack.drawn, stack.matrices[stack.nodes], stack.matrices[stack.left])
    if stack.end < len(rows):
        number = int(rows[stack.end, 0])
        ctx.stream.perform(CALLS[number], (int(rows[stack.end, 1]),) if number == CALL else ())
        return stack.end + 1
    return stack.end


def with_lists(ctx: Context, rows: Ints) -> tuple[Ints, Ints] | None:
    """Recorded calls, with the calls of lists in place of those that call these lists; and where
    each of the former ends. None if a list is played in another way.
    """
    sizes: dict[int, _Size | None] = {}
    lengths = np.ones(len(rows), np.int64)
    for place in (rows[:, 0] == CALL).nonzero()[0].tolist():
        size = _size_of(ctx, int(rows[place, 1]), sizes, 0)
        if size is None:
            return None
        lengths[place] = size[0]
    ends = np.cumsum(lengths)
    return None if lengths.sum() > _MOST_CALLS else (_expanded(ctx, rows, {}), ends)


def _expanded(ctx: Context, rows: Ints, known: dict[int, Ints]) -> Ints:
    """The calls with those of lists; `known`: those of some lists."""
    parts: list[Ints] = []
    done = 0
    for place in (rows[:, 0] == CALL).nonzero()[0].tolist():
        name = int(rows[place, 1])
        if name not in known:
            found = ctx.lists.names.get(name)
            known[name] = rows[:0] if found is None else _expanded(ctx, found.commands, known)
        parts += (rows[done:place], known[name])
        done = place + 1
    return np.concatenate((*parts, rows[done:])) if parts else rows


_Size = tuple[int, int]
"""How many calls a list becomes, and how deep lists call others."""


def _size_of(ctx: Context, name: int, known: dict[int, _Size | None], depth: int) -> _Size | None:
    """The size of a list; None if it is played in another way. `known`: that of some lists, None
    while it is sought; `depth`: that of the list which calls it.
    """
    found = ctx.lists.names.get(name)
    if found is None:  # no calls
        return 0, 0
    if name not in known:
        known[name] = None
        if not found.is_series and found.commands is not None and depth < _DEEPEST:
            called = found.commands[found.commands[:, 0] == CALL, 1].tolist()
            count, height = len(found.commands) - len(called), 0
            for each in called:
                size = _size_of(ctx, each, known, depth + 1)
                if size is None:
                    return None
                count, height = count + size[0], max(height, size[1])
            if count <= _MOST_LISTED:
                known[name] = count, height + 1
    size = known[name]
    return None if size is None or depth + size[1] > _DEEPEST else size


def without_commands(ctx: Context, rows: Ints) -> Ints:
    """The recorded calls of lists that are played in another way than as these lists' calls."""
    places = (rows[:, 0] == CALL).nonzero()[0]
    known: dict[int, _Size | None] = {}
    some = [n for n in distinct(rows[places, 1]) if _size_of(ctx, n, known, 0) is None]
    found: Ints = places[np.isin(rows[places, 1], some)]
    return found


def sets_state(ctx: Context, rows: Ints) -> bool:
    """Whether lists that recorded calls call may set more than attributes and matrices."""
    names = distinct(rows[rows[:, 0] == CALL, 1])
    return any(
        found is not None and not found.is_series for found in map(ctx.lists.names.get, names)
    )


def may_play(ctx: Context) -> bool:
    """Whether draws with matrices of their own can be made as a series."""
    return ctx.matrices.mode in (GL.MODELVIEW, GL.PROJECTION) and may_know_draws(ctx)


def may_know_draws(ctx: Context) -> bool:
    """Whether draws of fixed function reach the driver as they are."""
    return not (
        ctx.immediate.active
        or ctx.rendering.active
        or ctx.lowers
        or ctx.lost
        or ctx.feedback.current.active
    )


@lazy_dataclass(frozen=True)
class Content:
    """What a list consists of, if that is matrices and primitives."""

    numbers: Ints  # of functions: `CALL` is one of the primitives
    factors: Matrix  # the matrix that each of them loads or multiplies by
    drawn: list[Drawn]
    sets: frozenset[int] = frozenset()  # attributes that it may set
    has: frozenset[int] = _ALL  # those for which all of its primitives have values of their own


EMPTY = Content(np.zeros(0, np.int64), np.zeros((0, 4, 4)), [])


class _Stack:
    """The current matrices during some calls, and the primitives that are drawn with them."""

    def __init__(self, ctx: Context, rows: Ints) -> None:
        before, names = ctx.matrices.current, ctx.lists.names
        numbers, factors = rows[:, 0], factors_of(rows)
        moves = IS_FACTOR[numbers]
        lengths = np.ones(len(rows), np.int64)
        made: list[Ints] = []
        multiplied: list[Matrix] = []
        drawn: list[Drawn] = []
        begin, end, count = 0, len(rows), 0
        sets, has = EMPTY.sets, EMPTY.has
        for place in (numbers == CALL).nonzero()[0].tolist():
            found = names.get(int(rows[place, 1]))
            content = EMPTY if found is None else found.content(ctx)
            if content is not None:
                sets, has = sets | content.sets, has & content.has
            count += 0 if content is None else len(content.numbers)
            if content is None or not sets <= has or count > _MOST_CALLS:
                end = place
                break
            made += (numbers[begin:place], content.numbers)
            multiplied += (factors[begin:place][moves[begin:place]], content.factors)
            drawn += content.drawn
            lengths[place], begin = len(content.numbers), place + 1
        all_made = np.concatenate((*made, numbers[begin:end]))
        most = most_matrices(ctx.matrices.mode)
        way = known_course(all_made.tobytes(), len(before), most)
        if way.end < len(all_made):  # an error: the call that makes it is not made, nor later ones
            ends = np.cumsum(lengths[:end])
            end = int(np.searchsorted(ends, way.end, "right"))
            made_at = ends[end - 1] if end else 0
            way = known_course(all_made[:made_at].tobytes(), len(before), most)
        self.end, self.left = end, way.left
        self.drawn, self.nodes = drawn[: len(way.nodes)], way.nodes  # and the matrix of each
        matrices = *multiplied, factors[begin:end][moves[begin:end]]
        self.matrices = way.multiplied(before, np.concatenate(matrices))


class Drawn(Protocol):
    """A primitive of a display list."""

    @property
    def kind(self) -> Any:
        """What draws have in common that differ only in their first vertex; None if unknown."""
        ...

    @property
    def vao(self) -> VertexArray | None:
        """Its vertices, in a buffer."""
        ...

    @property
    def first(self) -> int:
        """Its first vertex there."""
        ...

    @property
    def before(self) -> dict[int, Any]:
        """The attributes of which its first vertices have values from before."""
        ...

    @property
    def last(self) -> dict[int, Values]:
        """Attributes that it sets."""
        ...

    def call(self, info: DrawInfo) -> DrawInfo:
        """The driver's call, given that of another primitive in the same arrays."""
        ...

    def draw(self, ctx: Context) -> None:
        """Draw it with the current matrix."""
        ...


class Listed:
    """A display list of one primitive."""

    first = 0

    def __init__(self, found: DisplayList) -> None:
        self._name, self._call = found.name, found.calls[0]

    @property
    def content(self) -> Content:
        kept = self._call.kept
        sets, has = _ALL, _ALL
        if kept is not None:
            sets, has = frozenset(kept.set), frozenset(kept.slots)
        return Content(np.array([CALL]), EMPTY.factors, [self], sets, has)

    @property
    def kind(self) -> KeptPrimitives | None:
        kept = self._call.kept
        return kept if kept is not None and kept.is_alone else None

    def call(self, info: DrawInfo) -> DrawInfo:
        return info  # it is alone in its arrays

    def draw(self, ctx: Context) -> None:
        ctx.stream.perform(CALLS[CALL], (self._name,))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call.kept, name)


def draw_all(ctx: Context, drawn: Sequence[Drawn], matrices: Matrix, left: Matrix) -> None:
    """Draw each primitive with its matrix; then the current stack is that of `left`."""
    tokens = _Tokens(ctx)
    blocks: dict[Executable, Bytes] = {}
    done, which = 0, ctx.matrices.selected
    try:
        while done < len(drawn):
            end = done
            while end < len(drawn) and tokens.find(drawn[end]) is not None:
                end += 1
            if end > done:
                vertex = ctx.programs.stages[Stage.VERTEX]
                if vertex not in blocks:
                    block = np.frombuffer(bytes(vertex.uniforms.data), np.uint8)
                    blocks[vertex] = np.repeat(block[None], len(matrices), 0)
                    fill_with(ctx, vertex, blocks[vertex], {which: matrices})
                made = _draw_series(ctx, drawn[done:end], blocks[vertex][done:end], tokens.known)
                if not made:
                    tokens.forget()  # what they refer to has changed
                done += made
            if done < len(drawn):
                each = drawn[done]
                ctx.matrices.current = MatrixStack([matrices[done]])
                ctx.stream.drawn = None
                each.draw(ctx)
                if each.kind is not None:
                    tokens.add(each)
                else:  # it may have set materials
                    tokens.forget()
                    blocks.clear()
                done += 1
    finally:
        ctx.matrices.current = MatrixStack(left)


class _Tokens:
    """The driver's tokens for primitives of which one like them was drawn."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.forget()

    def forget(self) -> None:
        self.known: dict[Any, Any] = {None: None}  # by kind
        self._drawn: dict[Any, tuple[Any, DrawInfo]] = {}  # the last ones, by arrays

    def find(self, each: Drawn) -> Any:
        """The token of a primitive; None if it has to be drawn first."""
        if each.kind not in self.known and each.vao in self._drawn:
            token, info = self._drawn[each.vao]
            self.known[each.kind] = self._ctx.pipe.prepared_call(token, each.call(info))
        return self.known.get(each.kind)

    def add(self, each: Drawn) -> None:
        """Add the token of a primitive that was just drawn."""
        token, info = _token(self._ctx, each), self._ctx.stream.drawn
        self.known[each.kind] = token
        if token is not None and info is not None:
            self._drawn[each.vao] = token, info


def _draw_series(
    ctx: Context, drawn: Sequence[Drawn], blocks: Bytes, tokens: dict[Any, Any]
) -> int:
    """Draw primitives with the driver's tokens; returns how many were drawn."""
    kinds = {kind: number for number, kind in enumerate(dict.fromkeys(d.kind for d in drawn))}
    which = np.array([kinds[each.kind] for each in drawn])
    count, size = blocks.shape
    places = size * np.arange(count)
    pieces = Pieces.of((blocks.tobytes(),), np.zeros(count, np.int64), places, np.full(count, size))
    firsts = np.array([each.first for each in drawn])
    made = ctx.pipe.draw_series(Series([tokens[each] for each in kinds], which, pieces, firsts))
    last = {slot: values for each in drawn[:made] for slot, values in each.last.items()}
    for slot, values in last.items():
        set_current(ctx, slot, values)
    ctx.dirty |= Dirty.CONSTANTS
    return made


def _token(ctx: Context, drawn: Drawn) -> Any:
    """The driver's token for a primitive that was just drawn, if its vertices and matrices say all
    that differs between its draws.
    """
    tracked = ctx.lighting.color_material_enabled and int(VertAttrib.COLOR0) in drawn.last
    if drawn.vao is None or drawn.before or tracked:
        return None
    return fixed_token(ctx, drawn.vao, reads_current=True)


def is_known(executable: Executable | None) -> bool:
    """Whether draws of a program are known that reads state of fixed function; or fixed function
    itself, without any.
    """
    if executable is None:
        return True
    linked = executable.linked
    return (
        executable.has_builtins
        and executable.fill is None
        and not (executable.counts_vertices or executable.counts_primitives)
        and not (linked.subroutine_uniforms or linked.info.has_handles)
        and len(executable.uniforms.data) <= _MOST_UNIFORMS
    )


def fixed_token(ctx: Context, vao: VertexArray, reads_current: bool = False) -> Any:
    """The driver's token for the draw from these arrays that was just made, if fixed function drew
    it and only the vertex stage reads uniforms, or a program that `is_known`. `reads_current`: the
    arrays may be incomplete.
    """
    stages, info = ctx.programs.stages, ctx.stream.drawn
    if info is None or stages.keys() != _STAGES:
        return None
    vertex, fragment = stages[Stage.VERTEX], stages[Stage.FRAGMENT]
    layout = vao.layouts.get(vertex.inputs)
    values = [each for each in fragment.linked.uniforms if not each.type.without_array.is_opaque]
    known = vertex.is_fixed_function and not values
    if (
        not (known or (fragment is vertex and is_known(vertex)))
        or layout is None
        or layout.clients
        or (layout.current and not reads_current)
        or ctx.passes_edge_flags
        or ctx.blends_advanced
    ):
        return None
    return ctx.pipe.prepared_draw(info)
