"""Draws of fixed function between which C set state or matrices.

Old programs draw a few vertices, then bind another texture or multiply a matrix, thousands of times
in a frame. Their calls are in the ring of `state_tracker.stream`, which knows the draws whose state
has been there before. The uniforms that follow from the matrices are computed for all of them at
once. The vertices of primitives go into one buffer, and each glBegin becomes a glDrawArrays. Draws
from the application's buffers stay what they are; attributes without an array have the value of
their time.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.optional.compatibility.kept_primitives import (
    keep_vertices,
    release_vertices,
    vertices_of,
)
from gallette.state_tracker.optional.compatibility.recorded_arrays import (
    copies_colors,
    set_arrays,
)
from gallette.state_tracker.optional.compatibility.recorded_lists import (
    fixed_token,
    is_known,
    may_know_draws,
)
from gallette.state_tracker.optional.compatibility.recorded_materials import (
    SETS_MATERIAL,
    RecordedMaterials,
)
from gallette.state_tracker.optional.compatibility.recorded_matrices import (
    CALL,
    UNIT,
    Moved,
    fill_with,
    moved_by,
)
from gallette.state_tracker.optional.compatibility.recorded_vertices import (
    BEGIN,
    END,
    IS_PRIMITIVE,
    POS,
    SETS_COLOR,
    Specified,
    current_values,
    specified,
)
from gallette.state_tracker.shading.builtin_uniforms import Bytes, fill
from gallette.state_tracker.stream.calls import (
    CALLS,
    IN_LIST,
    NUMBERS,
    Ints,
    Role,
    distinct,
)
from gallette.state_tracker.stream.states import Hashes, hashes_of
from gallette.state_tracker.vertices.current_attribs import set_current
from gallette.state_tracker.vertices.vertex_arrays import VertexArray

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

_USUAL = tuple(int(getattr(VertAttrib, name)) for name in ("NORMAL", "COLOR0", "COLOR1", "TEX0"))
"""Attributes that most draws read: they come from the buffer even if they do not change."""
_SPECIFIES = np.array([call.specifies for call in CALLS])
_MOVES = np.array([call.moves for call in CALLS])
_SELECTS = np.arange(len(CALLS)) == UNIT  # which matrix of a texture is the current one
_SETS_ARRAYS = np.array([call.sets_arrays for call in CALLS])
_COPIES = np.array([call.copies for call in CALLS])
_IS_UNIFORM = np.array([call.role is Role.UNIFORM for call in CALLS])
_USE, _SHADE = NUMBERS["UseProgram"], NUMBERS["ShadeModel"]
_DRAW, _LISTED = NUMBERS["DrawArrays"], NUMBERS["DrawArraysInstanced"]
"""What primitives become, and quads of lists, which are cut in another way."""
_SWITCHES = np.array([call.name in ("Enable", "Disable") for call in CALLS])
_UNKNOWN = (
    *(int(GL.COLOR_MATERIAL), int(GL.PRIMITIVE_RESTART)),
    int(GL.PRIMITIVE_RESTART_FIXED_INDEX),
)
"""Capabilities on which other things depend than what a stream knows."""
_NUMBER = 15
"""The word of a draw that has its number; it has fewer arguments."""
_IS_DRAW = np.array([call.role is Role.DRAW for call in CALLS])
_ROOM = 1 << 21
"""Bytes of a buffer for vertices."""
_MOST_ROOMS = 16
"""Programs that set ever other attributes must not fill the memory."""
_ALL_BITS = (1 << 64) - 1


@lazy_dataclass()
class _Room:
    """A buffer of vertices with some attributes, and where the last ones end."""

    vao: VertexArray
    end: int = 0


class Rooms:
    """Buffers for the vertices of recorded draws, by their attributes."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._rooms: dict[tuple[tuple[int, ...], bool], _Room] = {}

    def add(
        self, slots: tuple[int, ...], even_colors: bool, data: Any
    ) -> tuple[VertexArray, int] | None:
        """Write vertices into a buffer: the arrays, and the first vertex; None if they are too
        many.
        """
        stride = 16 * len(slots)
        capacity = _ROOM // stride
        if len(data) > capacity:
            return None
        room = self._rooms.get((slots, even_colors))
        if room is None:
            if len(self._rooms) >= _MOST_ROOMS:
                self.release()
                self._ctx.stream.outdate()  # known draws read the released buffers
            empty = np.zeros((capacity, len(slots), 4), np.float32)
            room = _Room(keep_vertices(self._ctx, list(slots), empty))
            room.vao.even_colors = even_colors
            self._rooms[slots, even_colors] = room
        first = room.end if room.end + len(data) <= capacity else 0
        room.end = first + len(data)
        buffer = room.vao.bindings[POS].buffer
        assert buffer is not None and buffer.resource is not None
        raw = data.reshape(-1).view(np.uint8)
        self._ctx.pipe.buffer_subdata(buffer.resource, stride * first, raw)
        return room.vao, first

    def release(self) -> None:
        for room in self._rooms.values():
            release_vertices(room.vao)
        self._rooms = {}


class _OtherWay(Exception):
    """Recorded calls must be made in another way than as draws that are followed."""


class RecordedDraws:
    """The draws, and the calls between them that set state."""

    def __init__(
        self, ctx: Context, rows: Ints, count: int, vao: VertexArray | None, current: Specified
    ) -> None:
        """`rows`: the commands, without those that set attributes; `count`: how many of the
        recorded calls they make; `vao`: where the vertices are, if not in the application's arrays.
        Then `current` has the attributes that differ between draws.

        Raises `_OtherWay` if they must be made in another way.
        """
        self._ctx, self._vao, self.count = ctx, vao, count
        self._current: dict[int, Any] = {} if vao is not None else current.columns
        self._blocks: dict[Executable, Bytes] = {}
        numbers = rows[:, 0]
        drawn, sets, moves = _IS_DRAW[numbers], SETS_MATERIAL[numbers], _MOVES[numbers]
        rows[drawn, _NUMBER] = np.arange(np.count_nonzero(drawn))
        self._moved, self._materials = _moved(ctx, rows, moves, drawn), None
        if sets.any():
            try:
                self._materials = RecordedMaterials(ctx, rows[sets], np.cumsum(sets)[drawn])
            except GLError as error:
                raise _OtherWay from error
        self.rows = rows[~(moves | sets)]
        self.state = hash(marshal.dumps((self._arrays(), ctx.lighting.values), 2)) & _ALL_BITS
        """The hash of the state, outside the slots of the stream, that selects the shaders."""
        self._last = current if vao is None else None

    def _arrays(self) -> Any:
        """What is known of the arrays, and of attributes without one."""
        if self._vao is None:
            values = self._ctx.arrays.values
            return [value for slot, value in enumerate(values) if slot not in self._current]
        slots = [slot for slot, each in enumerate(self._vao.attribs) if each.enabled]
        return slots, self._vao.even_colors

    @property
    def reads_current(self) -> bool:
        """Whether attributes of the draws may have no array."""
        return self._vao is None

    def kinds(self, rows: Ints, values: Hashes) -> Hashes:
        """The hashes of calls, which tell draws with other attributes apart."""
        if not self._current:
            return values
        drawn = _IS_DRAW[rows[:, 0]]
        found = values.copy()
        columns = np.concatenate([*self._current.values()], 1)
        found[drawn] += hashes_of(columns[rows[drawn, _NUMBER]], [*self._current])
        return found

    def make(self, follow: Callable[[], None]) -> None:
        """Make all calls: those of `rows` by `follow`."""
        try:
            if self._vao is None:
                follow()
            else:
                self._ctx.immediate.draw_from(self._vao, follow)
        finally:
            if self._moved is not None:
                self._moved.finish(self._ctx)
            if self._materials is not None:
                self._materials.finish()
            if self._last is not None:
                self._last.set_last(self._ctx)

    def before(self, row: Sequence[int]) -> None:
        """Called before one of the draws is made by its entry point."""
        number = int(row[_NUMBER])
        if self._vao is not None:
            self._vao.in_list = bool(row[0] == _LISTED)
        for slot, values in self._current.items():
            set_current(self._ctx, slot, tuple(values[number].tolist()))
        if self._moved is not None:
            self._moved.draw_with(self._ctx, number)
        if self._materials is not None:
            self._materials.draw_with(number)

    def token(self) -> Any:
        """The driver's token for the draw that was just made, if no more than `state` says what it
        reads.
        """
        return fixed_token(self._ctx, self._vao or self._ctx.arrays.current, self.reads_current)

    def blocks(self, vertex: Executable) -> Bytes:
        """The uniforms that one shader reads: a row for each draw, or one for all."""
        found = self._blocks.get(vertex)
        if found is None:
            ctx = self._ctx
            moved = {} if self._moved is None else self._moved.drawn
            if self._materials is not None:
                found = self._materials.blocks(vertex)
            else:
                fill(ctx, vertex, 2)
                found = np.frombuffer(bytes(vertex.uniforms.data), np.uint8)[None]
                found = np.repeat(found, len(next(iter(moved.values()), (0,))), 0)
            fill_with(ctx, vertex, found, moved)
            ctx.dirty |= Dirty.CONSTANTS
            self._blocks[vertex] = found
        return found

    def rows_of(self, rows: Ints) -> Ints:
        """The rows of `blocks` of some draws."""
        found: Ints = rows[:, _NUMBER]
        varies = self._materials is not None or (self._moved is not None and self._moved.drawn)
        return found if varies else np.zeros_like(found)


def _moved(ctx: Context, rows: Ints, moves: Any, drawn: Any) -> Moved | None:
    """What calls do to the matrices of draws between them, if anything."""
    if not moves.any():
        return None
    follows = moves | drawn | _SELECTS[rows[:, 0]]
    some = rows[follows]
    some[drawn[follows], 0] = CALL
    if (moved := moved_by(ctx, some)) is None:
        raise _OtherWay
    return moved


def recorded_draws(ctx: Context, rooms: Rooms, rows: Ints, ends: Ints) -> RecordedDraws | None:
    """The draws that recorded calls make, up to one of `ends` and a primitive that has not ended;
    None if these must be made in another way.
    """
    numbers = rows[:, 0]
    inside = np.cumsum((numbers == BEGIN).astype(np.int64) - (numbers == END))
    inside_at = np.append(0, inside)[ends]
    count = int(ends[inside_at == 0].max(initial=0))
    rows, numbers, inside = rows[:count], numbers[:count], inside[:count]
    specifies = _SPECIFIES[numbers]
    others = (~specifies).nonzero()[0]
    if not may_know_draws(ctx) or inside[others].any() or not _programs_are_known(ctx, rows):
        return None
    if switches_unknown(rows).any():
        return None
    try:
        if _IS_DRAW[numbers].any():
            if _SETS_ARRAYS[numbers].any():
                return None
            at = _IS_DRAW[numbers].nonzero()[0]
            current = current_values(ctx, rows, at)
            if current is None:
                return None
            return RecordedDraws(ctx, rows[others], count, None, current)
        return _of_primitives(ctx, rooms, rows, inside)
    except _OtherWay:
        return None


def switches_unknown(rows: Ints) -> Any:
    """Which calls switch capabilities on which other things depend than what a stream knows."""
    return _SWITCHES[rows[:, 0]] & np.isin(rows[:, 1], _UNKNOWN)


def _of_primitives(ctx: Context, rooms: Rooms, rows: Ints, inside: Ints) -> RecordedDraws | None:
    """The draws of primitives, whose vertices these calls specify. `inside`: which of these are
    between glBegin and glEnd.
    """
    numbers = rows[:, 0]
    specifies = _SPECIFIES[numbers]
    found = specified(ctx, rows[specifies]) if specifies.any() else None
    if found is None or not len(found.columns[POS]):
        return None
    slots = (POS, *sorted({*found.columns, *_USUAL} - {POS}))
    data = np.empty((len(found.columns[POS]), len(slots), 4), np.float32)
    for place, slot in enumerate(slots):
        data[:, place] = found.columns.get(slot, ctx.arrays.values[slot])
    even_colors = not ((SETS_COLOR[numbers] & (inside > 0)).any() or copies_colors(rows))
    flat = ctx.raster.flat_shade or (rows[numbers == _SHADE, 1] != GL.SMOOTH).any()
    if flat and not even_colors:
        return None  # quads are cut by whether the colours of each primitive are even
    room = rooms.add(slots, even_colors, data)
    if room is None:
        return None
    vao, first = room
    calls = _calls(rows, found, (~(specifies | _SETS_ARRAYS[numbers])).nonzero()[0])
    calls[_IS_DRAW[calls[:, 0]], 2] += first
    made = RecordedDraws(ctx, calls, len(rows), vao, found)
    found.set_last(ctx)
    set_arrays(ctx, rows[_SETS_ARRAYS[numbers]])
    return made


def _programs_are_known(ctx: Context, rows: Ints) -> bool:
    """Whether draws are known of the program in use and of those that these calls use."""
    programs, names = ctx.programs, distinct(rows[rows[:, 0] == _USE, 1])
    used = [
        programs.executable,
        *(getattr(programs.names.get(n), "executable", None) for n in names),
    ]
    if used == [None]:
        return True
    if ctx.pipelines.current is not None or _IS_UNIFORM[rows[:, 0]].any():
        return False
    # A shader may read materials, which then follow the colour.
    return not ctx.lighting.color_material_enabled and all(map(is_known, used))


def _calls(rows: Ints, found: Specified, others: Ints) -> Ints:
    """The calls of draws and all `others`, in order. Neighbours of one kind are one draw, if each
    vertex belongs to one primitive only.
    """
    copied = _COPIES[rows[:, 0]]
    begins = ((rows[:, 0] == BEGIN) | IS_PRIMITIVE[rows[:, 0]]).nonzero()[0]
    whole, after = vertices_of(found.modes), others.searchsorted(begins)
    counts = found.ends - found.begins
    new = (whole == 0) | (counts % np.maximum(whole, 1) != 0)
    quads = found.modes == GL.QUADS
    listed = quads & ~copied[begins] & (rows[begins, IN_LIST] != 0)
    alone = quads & copied[begins]  # their cut depends on which are in the same draw
    kinds = np.where(alone, -1 - np.arange(len(begins)), 2 * found.modes + listed)
    new = np.append(True, new[:-1] | (np.diff(kinds) != 0) | (np.diff(after) != 0))
    starts = new.nonzero()[0]
    draws = np.zeros((len(starts), rows.shape[1]), np.int64)
    draws[:, 0], draws[:, 1] = np.where(listed, _LISTED, _DRAW)[starts], found.modes[starts]
    draws[:, 4] = 1  # instance
    draws[:, 2], draws[:, 3] = found.begins[starts], np.add.reduceat(counts, starts)
    order = np.concatenate((others, begins[starts])).argsort(kind="stable")
    return np.concatenate((rows[others], draws)).take(order, 0)
