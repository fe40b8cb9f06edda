"""What recorded calls do to the stacks of matrices: all products at once, level by level.

Which matrix follows from which is known without the arguments (`Course`): first all are computed
that follow from those before the calls, then all that follow from these.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.memory import read_bytes
from gallette.state_tracker.optional.compatibility.matrices import (
    FACTORS,
    TEXTURE_UNITS,
    VOLUMES,
    Matrix,
    MatrixStack,
    Which,
    factors,
    most_matrices,
    product,
    rounded,
)
from gallette.state_tracker.shading.builtin_uniforms import Bytes, fill
from gallette.state_tracker.stream.calls import CALLS, NUMBERS, PAYLOAD, Call, Ints, distinct

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

PUSH, POP, CALL, _IDENTITY, LOAD, MULTIPLY, LOAD_DOUBLE, MULTIPLY_DOUBLE, MODE, UNIT = (
    NUMBERS[name]
    for name in (
        *("PushMatrix", "PopMatrix", "CallList"),
        *("LoadIdentity", "LoadMatrixf", "MultMatrixf", "LoadMatrixd", "MultMatrixd"),
        *("MatrixMode", "ActiveTexture"),
    )
)
IS_FACTOR = np.array([call.moves for call in CALLS])
IS_FACTOR[[PUSH, POP, CALL, MODE]] = False
"""By function: whether it loads or multiplies by a matrix."""
_MODES = int(GL.MODELVIEW), int(GL.PROJECTION), int(GL.TEXTURE)


@lazy_dataclass(frozen=True)
class Course:
    """What calls do to the matrix stack, whatever their arguments."""

    end: int  # the first call that is not made, because it fails
    left: list[int]  # the stack after the calls: numbers of matrices
    nodes: Ints  # the matrix of each primitive
    loaded: Ints  # matrices that follow from no other, and those that were there
    levels: list[tuple[Ints, Ints]]  # matrices that follow from those of earlier levels

    def multiplied(self, before: MatrixStack, factors: Matrix) -> Matrix:
        """All matrices: those there were, and those that each call loads or multiplies by."""
        matrices = np.concatenate((np.array([*before]), factors))
        with np.errstate(all="ignore"):
            matrices[self.loaded] = rounded(matrices[self.loaded])
            for some, parents in self.levels:
                matrices[some] = product(matrices[parents], matrices[some])
        return matrices


@functools.lru_cache(maxsize=16)
def known_course(numbers: bytes, depth: int, most: int) -> Course:
    """Programs repeat the same calls in each frame."""
    return course(np.frombuffer(numbers, np.int64).tolist(), depth, most)


def course(numbers: list[int], depth: int, most: int) -> Course:
    """The course of the functions with these numbers, on a stack of `most` matrices."""
    left, end = list(range(depth)), len(numbers)
    parents, levels = [-1] * depth, [0] * depth
    nodes: list[int] = []
    for place, number in enumerate(numbers):
        if number == CALL:
            nodes.append(left[-1])
        elif number == PUSH and len(left) < most:
            left.append(left[-1])
        elif number == POP and len(left) > 1:
            left.pop()
        elif number in (PUSH, POP):
            end = place
            break
        else:
            parent = -1 if number in (_IDENTITY, LOAD, LOAD_DOUBLE) else left[-1]
            left[-1] = len(parents)
            parents.append(parent)
            levels.append(levels[parent] + 1 if parent >= 0 else 0)
    parent_of, level_of = np.array(parents), np.array(levels)
    by_level = [(level_of == level).nonzero()[0] for level in range(max(levels) + 1)]
    further = [(some, parent_of[some]) for some in by_level[1:]]
    return Course(end, left, np.array(nodes, np.int64), by_level[0], further)


def factors_of(rows: Ints) -> Matrix:
    """The matrix that each call loads or multiplies by."""
    found = np.zeros((len(rows), 4, 4))
    for number in distinct(rows[:, 0]):
        call, some = CALLS[number], (rows[:, 0] == number).nonzero()[0]
        if call.name[:-1] in FACTORS:
            found[some] = factors(call.name[:-1], _arguments(call, rows[some]))
        elif number in (LOAD, MULTIPLY):
            first = PAYLOAD // 4
            columns = rows[some].view(np.float32)[:, first : first + 16].reshape(-1, 4, 4)
            with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN like others
                found[some] = columns.swapaxes(1, 2)
        elif number in (LOAD_DOUBLE, MULTIPLY_DOUBLE):
            read = [
                read_bytes(place, call.payload).view(np.float64) for place in rows[some, 1].tolist()
            ]
            found[some] = np.reshape(read, (-1, 4, 4)).swapaxes(1, 2)
        elif number == _IDENTITY:
            found[some] = np.eye(4)
        elif call.name in VOLUMES:
            volume, values = VOLUMES[call.name], _arguments(call, rows[some]).tolist()
            found[some] = np.reshape([volume(*each) for each in values], (-1, 4, 4))
    return found


def _arguments(call: Call, rows: Ints) -> Matrix:
    words = rows[:, 1 : 1 + call.words]
    if call.name[-1] == "f":
        return np.ascontiguousarray(words).view(np.float32)[:, ::2].astype(np.float64)
    return np.ascontiguousarray(words).view(np.float64)


@lazy_dataclass()
class Moved:
    """What calls do to the matrices with which draws between them draw."""

    mode: int  # the last matrix mode
    drawn: dict[Which, Matrix]  # by stack that they change: the matrix of each draw
    left: dict[Which, Matrix]  # and the matrices after all calls

    def draw_with(self, ctx: Context, number: int) -> None:
        """Set the matrices of one draw."""
        for which, matrices in self.drawn.items():
            ctx.matrices[which] = MatrixStack(matrices[number, None])

    def finish(self, ctx: Context) -> None:
        """Set the matrices to what they are after all calls."""
        for which, matrices in self.left.items():
            ctx.matrices[which] = MatrixStack(matrices)
        ctx.matrices.mode = self.mode


def moved_by(ctx: Context, rows: Ints) -> Moved | None:
    """What calls do to the matrices with which calls of lists draw; None if one of them fails."""
    numbers, (modes, stacks) = rows[:, 0], _stacks(ctx, rows)
    drawn = numbers == CALL
    changes = IS_FACTOR[numbers] | (numbers == PUSH) | (numbers == POP)
    moved = Moved(int(modes[-1]), {}, {})
    if set(distinct(modes)).difference(_MODES):
        return None
    for stack in distinct(stacks[changes]):
        which = mode, unit = _which(stack)
        if not 0 <= unit < TEXTURE_UNITS:
            return None
        some = rows[changes & (stacks == stack) | drawn]
        before = ctx.matrices[which]
        way = known_course(some[:, 0].tobytes(), len(before), most_matrices(mode))
        if way.end < len(some):
            return None
        try:
            matrices = way.multiplied(before, factors_of(some[IS_FACTOR[some[:, 0]]]))
        except GLError:
            return None
        moved.drawn[which], moved.left[which] = matrices[way.nodes], matrices[way.left]
    return moved


def without_effect(ctx: Context, rows: Ints) -> list[int]:
    """Which of some calls push onto a full stack, or pop its last matrix."""
    steps = (rows[:, 0] == PUSH).astype(np.int64) - (rows[:, 0] == POP)
    some, found = steps.nonzero()[0], list[int]()
    stacks = _stacks(ctx, rows)[1][some]
    for stack in distinct(stacks):
        mode, unit = which = _which(stack)
        if mode not in _MODES or not 0 <= unit < TEXTURE_UNITS:
            continue  # that is an error, too
        at, depth, most = some[stacks == stack], len(ctx.matrices[which]), most_matrices(mode)
        depths = depth + np.cumsum(steps[at])
        if depths.min() >= 1 and depths.max() <= most:
            continue
        for place, step in zip(at.tolist(), steps[at].tolist(), strict=True):
            if 1 <= depth + step <= most:
                depth += step
            else:
                found.append(place)
    return sorted(found)


def _stacks(ctx: Context, rows: Ints) -> tuple[Ints, Ints]:
    """The matrix mode at each call, and the number of the current stack."""
    modes = _last_set(rows, MODE, ctx.matrices.mode)
    units = _last_set(rows, UNIT, ctx.textures.active + GL.TEXTURE0) - GL.TEXTURE0
    return modes, np.where(modes == GL.TEXTURE, units << 32, 0) | modes


def _which(stack: int) -> Which:
    return stack & 0xFFFFFFFF, stack >> 32


def _last_set(rows: Ints, number: int, before: int) -> Ints:
    """For each call what the last call of one function up to it set; `before`: before all."""
    setters = (rows[:, 0] == number).nonzero()[0]
    values = np.append(before, rows[setters, 1])
    found: Ints = values[setters.searchsorted(np.arange(len(rows)), "right")]
    return found


def fill_with(
    ctx: Context, vertex: Executable, blocks: Bytes, matrices: Mapping[Which, Matrix]
) -> None:
    """Write the uniforms that follow from matrices into copies of the default block, one for each
    draw, whose matrices of some stacks are given.
    """
    before = {which: ctx.matrices[which] for which in matrices}
    for which, some in matrices.items():
        ctx.matrices[which] = MatrixStack([some])
    fill(ctx, vertex, 0, blocks)
    for which, stack in before.items():
        ctx.matrices[which] = stack
