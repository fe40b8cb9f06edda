"""Primitives between which C set state or matrices, as draws from a buffer.

Old programs draw a few vertices, then bind another texture or multiply a matrix, thousands of times
in a frame. Their calls are in the ring of `state_tracker.stream`. The vertices of all go into one
buffer, and each glBegin becomes a glDrawArrays, so that the stream knows the draws whose state has
been there before. The uniforms that follow from the matrices are computed for all of them at once.
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
_UNKNOWN = GL.COLOR_MATERIAL, GL.PRIMITIVE_RESTART, GL.PRIMITIVE_RESTART_FIXED_INDEX
"""Capabilities on which other things depend than what a stream knows."""
_NUMBER = 5
"""The word of a draw that has its number; it has fewer arguments."""
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


class RecordedDraws:
    """The draws, and the calls between them that set state."""

    def __init__(
        self,
        ctx: Context,
        vao: VertexArray,
        rows: Ints,
        moved: Moved | None,
        materials: RecordedMaterials | None,
        count: int,
    ) -> None:
        """`rows`: the commands; `moved` and `materials`: what happens to matrices and materials
        between the draws, if anything; `count`: how many of the recorded calls they make.
        """
        self._ctx, self._vao, self.rows, self.count = ctx, vao, rows, count
        self._moved, self._materials = moved, materials
        slots = tuple(slot for slot, each in enumerate(vao.attribs) if each.enabled)
        state = slots, vao.even_colors, ctx.lighting.values
        self.state = hash(marshal.dumps(state, 2)) & _ALL_BITS
        """The hash of the state, outside the slots of the stream, that selects the shaders."""
        self._blocks: dict[Executable, Bytes] = {}

    def make(self, follow: Callable[[], None]) -> None:
        """Make all calls: those of `rows` by `follow`."""
        try:
            self._ctx.immediate.draw_from(self._vao, follow)
        finally:
            if self._moved is not None:
                self._moved.finish(self._ctx)
            if self._materials is not None:
                self._materials.finish()

    def before(self, row: Sequence[int]) -> None:
        """Called before one of the draws is made by its entry point."""
        self._vao.in_list = bool(row[0] == _LISTED)
        if self._moved is not None:
            self._moved.draw_with(self._ctx, int(row[_NUMBER]))
        if self._materials is not None:
            self._materials.draw_with(int(row[_NUMBER]))

    def token(self) -> Any:
        """The driver's token for the draw that was just made, if no more than `state` says what it
        reads.
        """
        return fixed_token(self._ctx, self._vao)

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
    switches = _SWITCHES[numbers]
    caps = rows[switches, 1]
    if any((caps == each).any() for each in _UNKNOWN) or not specifies.any():
        return None
    found = specified(ctx, rows[specifies])
    if found is None or not len(found.columns[POS]):
        return None
    calls = _calls(rows, found, others[~_SETS_ARRAYS[numbers[others]]])
    moves, drawn = _MOVES[calls[:, 0]], (calls[:, 0] == _DRAW) | (calls[:, 0] == _LISTED)
    moved = None
    if moves.any():
        follows = moves | drawn | _SELECTS[calls[:, 0]]
        some = calls[follows]
        some[drawn[follows], 0] = CALL
        moved = moved_by(ctx, some)
        if moved is None:
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
    sets, materials = SETS_MATERIAL[calls[:, 0]], None
    if sets.any():
        try:
            materials = RecordedMaterials(ctx, calls[sets], np.cumsum(sets)[drawn])
        except GLError:
            return None
    calls[drawn, 2] += first
    found.set_last(ctx)
    set_arrays(ctx, rows[_SETS_ARRAYS[numbers]])
    return RecordedDraws(ctx, vao, calls[~(moves | sets)], moved, materials, count)


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
    draws[:, _NUMBER] = np.arange(len(draws))
    order = np.concatenate((others, begins[starts])).argsort(kind="stable")
    return np.concatenate((rows[others], draws)).take(order, 0)
