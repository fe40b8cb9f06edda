"""Display lists that C called thousands of times, each time with another matrix, as one series.

The functions wrote their calls into the ring of `state_tracker.stream`. The matrices are multiplied
level by level: first all that follow from those before the calls, then all that follow from these.
Lists of a single primitive whose draws differ only in the uniforms that follow from the matrices
are given to the driver together, with a row of uniforms for each.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.pipe.draw_series import Pieces, Series
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.optional.compatibility.matrices import (
    DEPTHS,
    FACTORS,
    Matrix,
    factors,
    product,
    rounded,
)
from gallette.state_tracker.shading.builtin_uniforms import Bytes, fill
from gallette.state_tracker.stream.calls import CALLS, NUMBERS, PAYLOAD, Call, Ints
from gallette.state_tracker.vertices.current_attribs import set_current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.display_lists import DisplayList
    from gallette.state_tracker.optional.compatibility.immediate import Primitive
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["play"]

_PUSH, _POP, _CALL, _IDENTITY, _LOAD, _MULTIPLY = (
    NUMBERS[name]
    for name in (
        *("PushMatrix", "PopMatrix", "CallList"),
        *("LoadIdentity", "LoadMatrixf", "MultMatrixf"),
    )
)
_STAGES = {Stage.VERTEX, Stage.FRAGMENT}


def play(ctx: Context, rows: Ints) -> int:
    """Make recorded calls that change the modelview matrix or call lists; returns how many. The
    last one may be an error, or a list of several calls.
    """
    if (
        ctx.matrices.mode != GL.MODELVIEW
        or ctx.immediate.active
        or ctx.lists.recorder is not None
        or ctx.rendering.active
        or ctx.lowers
        or ctx.lost
        or ctx.feedback.current.active
    ):
        return 0
    ctx.immediate.draw_pending()
    stack = _Stack(ctx, rows)
    try:
        _draw(ctx, stack.lists, stack.matrices[stack.nodes])
    finally:
        ctx.matrices.modelview = [matrix.copy() for matrix in stack.matrices[stack.left]]
        ctx.dirty |= Dirty.MATRICES | Dirty.CLIP
    if stack.end < len(rows):
        number = int(rows[stack.end, 0])
        ctx.stream.perform(CALLS[number], (int(rows[stack.end, 1]),) if number == _CALL else ())
        return stack.end + 1
    return stack.end


class _Stack:
    """The modelview matrices during some calls, and the lists that are called with them."""

    def __init__(self, ctx: Context, rows: Ints) -> None:
        before, names = ctx.matrices.modelview, ctx.lists.names
        course = _course(rows[:, 0].tobytes(), len(before))
        found = map(names.get, rows[course.calls, 1].tolist())
        drawn = [(n, each) for n, each in enumerate(found) if each is not None and each.calls]
        other = next((n for n, each in drawn if not each.is_primitive), -1)
        if other >= 0:
            course = _course(rows[: course.calls[other], 0].tobytes(), len(before))
            drawn = [each for each in drawn if each[0] < other]
        self.end, self.left = course.end, course.left
        self.lists: list[DisplayList] = [each for _, each in drawn]
        self.nodes = course.nodes[[n for n, _ in drawn]]  # and the matrix of each
        self.matrices = np.array([*before, *_factors(rows[: self.end])[course.places]])
        loaded = course.loaded
        self.matrices[loaded] = rounded(self.matrices[loaded])
        for some, parents in course.levels:
            self.matrices[some] = product(self.matrices[parents], self.matrices[some])


@dataclass(frozen=True, slots=True)
class _Course:
    """What calls do to the matrix stack, whatever their arguments."""

    end: int  # the first call that is not made, because it fails
    left: list[int]  # the stack after the calls: numbers of matrices
    calls: Ints  # of lists
    nodes: Ints  # the matrix of each
    places: Ints  # the call of each matrix that was not there before
    loaded: Ints  # matrices that follow from no other
    levels: list[tuple[Ints, Ints]]  # matrices that follow from those of earlier levels


@functools.lru_cache(maxsize=16)
def _course(numbers: bytes, depth: int) -> _Course:
    """The course of the functions with these numbers: programs repeat it in each frame."""
    left, end = list(range(depth)), 0
    parents, levels = [-1] * depth, [0] * depth
    places: list[int] = []
    calls: list[tuple[int, int]] = []
    for end, number in enumerate([*np.frombuffer(numbers, np.int64).tolist(), -1]):
        if number == _CALL:
            calls.append((end, left[-1]))
        elif number == _PUSH and len(left) < DEPTHS["modelview"]:
            left.append(left[-1])
        elif number == _POP and len(left) > 1:
            left.pop()
        elif number in (_PUSH, _POP, -1):
            break
        else:
            parent = -1 if number in (_IDENTITY, _LOAD) else left[-1]
            left[-1] = len(parents)
            parents.append(parent)
            levels.append(levels[parent] + 1 if parent >= 0 else 0)
            places.append(end)
    parent_of, level_of = np.array(parents), np.array(levels)
    by_level = [(level_of == level).nonzero()[0] for level in range(max(levels) + 1)]
    at = np.array(calls, np.int64).reshape(-1, 2)
    return _Course(
        end, left, at[:, 0], at[:, 1], np.array(places, np.int64), by_level[0],
        [(some, parent_of[some]) for some in by_level[1:]],
    )  # fmt: skip


def _factors(rows: Ints) -> Matrix:
    """The matrix that each call loads or multiplies by."""
    found = np.zeros((len(rows), 4, 4))
    for number in np.unique(rows[:, 0]).tolist():
        call, some = CALLS[number], (rows[:, 0] == number).nonzero()[0]
        if call.name[:-1] in FACTORS:
            found[some] = factors(call.name[:-1], _arguments(call, rows[some]))
        elif number in (_LOAD, _MULTIPLY):
            first = PAYLOAD // 4
            columns = rows[some].view(np.float32)[:, first : first + 16].reshape(-1, 4, 4)
            with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN like others
                found[some] = columns.swapaxes(1, 2)
        elif number == _IDENTITY:
            found[some] = np.eye(4)
    return found


def _arguments(call: Call, rows: Ints) -> Matrix:
    words = rows[:, 1 : 1 + call.words]
    if call.name[-1] == "d":
        return np.ascontiguousarray(words).view(np.float64)
    return np.ascontiguousarray(words).view(np.float32)[:, ::2].astype(np.float64)


def _draw(ctx: Context, lists: list[DisplayList], matrices: Matrix) -> None:
    """Call each list with its matrix."""
    tokens: dict[Primitive | None, Any] = {None: None}
    blocks: dict[Executable, Bytes] = {}
    drawn = 0
    while drawn < len(lists):
        end = drawn
        while end < len(lists) and tokens.get(lists[end].calls[0].primitive) is not None:
            end += 1
        if end > drawn:
            vertex = ctx.programs.stages[Stage.VERTEX]
            if vertex not in blocks:
                blocks[vertex] = _blocks(ctx, vertex, matrices)
            primitives = [each.calls[0].primitive for each in lists[drawn:end]]
            made = _draw_series(ctx, primitives, blocks[vertex][drawn:end], tokens)
            if not made:
                tokens = {None: None}  # what they refer to has changed
            drawn += made
        if drawn < len(lists):
            found, stream = lists[drawn], ctx.stream
            ctx.matrices.modelview = [matrices[drawn]]
            ctx.dirty |= Dirty.MATRICES | Dirty.CLIP
            stream.drawn = None
            stream.perform(CALLS[_CALL], (found.name,))
            primitive = found.calls[0].primitive
            if primitive is not None:
                tokens[primitive] = _token(ctx, primitive)
            drawn += 1


def _blocks(ctx: Context, vertex: Executable, matrices: Matrix) -> Bytes:
    """The default block of fixed function for each matrix."""
    blocks = np.repeat(np.frombuffer(bytes(vertex.uniforms.data), np.uint8)[None], len(matrices), 0)
    ctx.matrices.modelview = [matrices]
    fill(ctx, vertex, True, blocks)
    return blocks


def _draw_series(
    ctx: Context, primitives: list[Any], blocks: Bytes, tokens: dict[Primitive | None, Any]
) -> int:
    """Draw primitives with the driver's tokens; returns how many were drawn."""
    kinds = {primitive: number for number, primitive in enumerate(dict.fromkeys(primitives))}
    which = np.array([kinds[primitive] for primitive in primitives])
    count, size = blocks.shape
    nothing = np.zeros(count, np.int64)
    pieces = Pieces.of((blocks.tobytes(),), nothing, size * np.arange(count), np.full(count, size))
    made = ctx.pipe.draw_series(Series([tokens[each] for each in kinds], which, pieces, nothing))
    for primitive in reversed(dict.fromkeys(reversed(primitives[:made]))):
        for slot, values in primitive.last.items():
            set_current(ctx, slot, values)
    ctx.dirty |= Dirty.CONSTANTS
    return made


def _token(ctx: Context, primitive: Primitive) -> Any:
    """The driver's token for a primitive that was just drawn, if fixed function draws it, and its
    vertices and matrices say all that differs between its draws.
    """
    stages, info = ctx.programs.stages, ctx.stream.drawn
    if info is None or primitive.vao is None or primitive.before or stages.keys() != _STAGES:
        return None
    vertex, fragment = stages[Stage.VERTEX], stages[Stage.FRAGMENT]
    layout = primitive.vao.layouts.get(vertex.inputs)
    tracked = ctx.lighting.color_material_enabled and int(VertAttrib.COLOR0) in primitive.last
    if (
        not vertex.is_fixed_function
        or any(not each.type.without_array.is_opaque for each in fragment.linked.uniforms)
        or layout is None
        or layout.clients
        or layout.current
        or tracked
        or ctx.passes_edge_flags
        or ctx.blends_advanced
    ):
        return None
    return ctx.pipe.prepared_draw(info)
