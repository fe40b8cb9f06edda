"""glBegin and glEnd, the current colour, normal and texture coordinates, and glRect.

glEnd does not draw. The vertices stay in a list, interleaved with the attributes that were set
since the first of them, and further primitives are appended to it: old programs draw thousands of
squares with only a colour or a material set between them, which is an attribute then. The next call
that is none of these draws them all from one temporary buffer (`draw_pending`). Bitmaps become
pending likewise, until something else than a raster position or a bitmap follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VertAttrib
from gallette.pipe.settings import may_defer
from gallette.pipe.taps import is_tapped
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.draw import check_mode, draw_parts
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError, invalid_enum, invalid_operation
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets
from gallette.state_tracker.optional.compatibility.kept_primitives import (
    COLOR,
    POS,
    KeptPrimitives,
    Part,
    Values,
    add_part,
    as_vector,
    interleaved,
    vertices_of,
    without_materials,
)
from gallette.state_tracker.optional.compatibility.lighting import MATERIAL0
from gallette.state_tracker.optional.compatibility.list_functions import is_vertex_data
from gallette.state_tracker.optional.compatibility.matrices import coordinate_unit
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import LETTER
from gallette.state_tracker.optional.compatibility.recorded_arrays import (
    client_arrays,
    draw_from_copies,
)
from gallette.state_tracker.optional.compatibility.recorded_draws import (
    RecordedDraws,
    Rooms,
    recorded_draws,
    switches_unknown,
)
from gallette.state_tracker.optional.compatibility.recorded_lists import (
    play,
    sets_state,
    with_lists,
    without_commands,
)
from gallette.state_tracker.optional.compatibility.recorded_matrices import without_effect
from gallette.state_tracker.optional.compatibility.recorded_vertices import (
    END,
    specify,
    unmatched,
)
from gallette.state_tracker.stream.calls import Ints
from gallette.state_tracker.vertices.current_attribs import GL_TYPES, LARGEST, set_current
from gallette.state_tracker.vertices.vertex_arrays import VertexArray
from gallette.state_tracker.without_compatibility import NO_PRIMITIVES, Primitives

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.pixel_ops.pixel_rectangles import Rectangle

MOST = 1 << 14
"""Pending vertices: drawing more of them together is not faster."""

MOST_BITMAPS = 256
"""Pending bitmaps, each of at most `LETTER` rows: the texture that holds all has 16,384 at most."""


@lazy_dataclass()
class _Pending:
    """Primitives that are not drawn yet, and their vertices."""

    blocks: list[Any] = field(default_factory=list)  # `[vertex, attribute, 4]` floats
    data: list[float] = field(default_factory=list)  # of vertices after those, made one by one
    slots: list[int] = field(default_factory=lambda: [POS])
    values: dict[int, Values] = field(default_factory=dict)  # of the next vertex, but its position
    count: int = 0
    draws: list[Part] = field(default_factory=list)
    is_fixed: bool | None = None  # what `ImmediateState.is_fixed` has found

    def add(self, block: Any) -> None:
        self.count += len(block)
        self.settle()
        self.blocks.append(block)

    def array(self) -> Any:
        """All vertices, as one block."""
        self.settle()
        return self.blocks[0] if len(self.blocks) == 1 else np.concatenate(self.blocks)

    def settle(self) -> None:
        """Make a block of the vertices that were made one by one."""
        if self.data:
            last = np.array(self.data, np.float32).reshape(-1, len(self.slots), 4)
            self.blocks.append(last)
            self.data = []


_INSIDE = re.compile(
    r"EvalCoord[12][fd]v?|EvalPoint[12]|ArrayElement(EXT)?|Material[fi]v?|CallLists?|Begin|End"
    r"|PrimitiveRestartNV|GetError|Rect[sifd]v?"
)

_BESIDE_BITMAPS = re.compile(
    r"Bitmap|ListBase|RasterPos\d.*|WindowPos\d.*|PixelStore[fi]|(Push|Pop)ClientAttrib"
)
"""Functions that do not change how pending bitmaps are drawn."""


def may_stand_inside(function: Function) -> bool:
    """Whether the function may be called between glBegin and glEnd, or handles that case itself."""
    return is_vertex_data(function.name) or _INSIDE.fullmatch(function.name) is not None


class Vertices:
    """What functions have to wait for that leave pending bitmaps as they are."""

    def __init__(self, state: ImmediateState):
        self._state = state

    @property
    def busy(self) -> bool:
        return self._state.busy and not self._state.bitmaps

    def leave(self) -> None:
        self._state.leave()


class ImmediateState:
    """The primitive being specified, if any, and the pending ones; or pending bitmaps."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.active = False
        self.busy = False  # active, or something is pending
        self.bitmaps: list[Rectangle] = []
        self.mode: int = 0
        self._pending = _Pending()
        self._first = 0  # vertex of the primitive being specified
        self._row: Values = ()  # the attributes of the next vertex
        self._before: dict[int, tuple[int, Values]] = {}  # how many vertices have it from before
        self._arrays: dict[tuple[int, ...], VertexArray] = {}  # by the attributes they hold
        self._rooms = Rooms(ctx)
        self.materials: tuple[int, ...] = ()  # properties that are attributes in this draw
        self.keeps = False  # whether primitives are kept for a display list, and not drawn

    def before(self, function: Function) -> ImmediateState | Vertices | Primitives:
        """What a call of this function must end first."""
        if not self._ctx.is_compat or may_stand_inside(function):
            return NO_PRIMITIVES
        return Vertices(self) if _BESIDE_BITMAPS.fullmatch(function.name) else self

    def begin(self, mode: int) -> None:
        if self.bitmaps:
            self.draw_pending()
        self.active = self.busy = True
        self.mode, self._first = mode, self._pending.count

    def attribute(self, slot: int, values: Values, before: Values | None = None) -> None:
        """Set an attribute; it applies from the next vertex on."""
        pending = self._pending
        if slot not in pending.values:
            if pending.count:
                if before is None:
                    before = self._ctx.arrays.values[slot]
                self._before[slot] = pending.count, before
                column = np.broadcast_to(np.array(before, np.float32), (pending.count, 1, 4))
                pending.blocks = [np.concatenate([pending.array(), column], axis=1)]
            pending.slots.append(slot)
        pending.values[slot] = values
        self._row = sum(pending.values.values(), ())

    def current(self, slot: int, values: Values, kind: str) -> None:
        """React to a new current value, while `busy`."""
        if self.active or (kind == "float" and not self.bitmaps):
            self.attribute(slot, values)
        else:
            self.draw_pending()

    def material(self, number: int, value: Any, before: Any) -> None:
        """React to a new value of a material property: to pending primitives it is an attribute."""
        if self.active or self.keeps or (self.busy and not self.bitmaps and self.is_fixed()):
            self.attribute(MATERIAL0 + number, as_vector(value), as_vector(before))
        else:
            self.draw_pending()

    def is_fixed(self) -> bool:
        """Whether vertices go through fixed function, not through a shader that reads materials as
        uniforms. No call changes that while vertices are pending.
        """
        pending, programs = self._pending, self._ctx.programs
        if self.busy and pending.is_fixed is not None:
            return pending.is_fixed
        if self._ctx.dirty & Dirty.PROGRAM:
            programs.resolve()
        vertex = programs.vertex
        found = vertex is not None and vertex.is_fixed_function
        if self.busy:
            pending.is_fixed = found
        return found

    def vertex(self, values: Values, kind: str = "float") -> None:
        if not self.active:
            return  # undefined by GL: harmless here
        self._pending.data += values + (0.0, 0.0, 0.0, 1.0)[len(values) :] + self._row
        self._pending.count += 1

    def end(self) -> None:
        self.active = False
        self._add(self.mode, self._first, self._pending.count)
        if self.keeps:
            if self._pending.count > MOST:
                self._pending.settle()
        elif self._pending.count > MOST or not self.may_defer():
            self._draw()

    def _add(self, mode: int, first: int, end: int) -> None:
        """Add a primitive, which has these of the pending vertices."""
        if first == end:
            return
        if self.keeps:
            self._pending.draws.append((mode, first, end - first))
        else:
            add_part(self._pending.draws, mode, first, end - first)

    def _add_all(self, modes: Ints, begins: Ints, ends: Ints) -> None:
        """Add primitives, those of equal modes that can be concatenated as one."""
        if not len(modes):
            return
        whole = vertices_of(modes)
        parts = (ends - begins) % np.maximum(whole, 1) + (whole == 0)
        starts = np.append(True, (modes[1:] != modes[:-1]) | (parts[:-1] > 0)).nonzero()[0]
        stops = np.append(starts[1:], len(modes)) - 1
        for mode, first, end in zip(
            modes[starts].tolist(), begins[starts].tolist(), ends[stops].tolist(), strict=True
        ):
            self._add(mode, first, end)

    def specify(self, rows: Ints) -> int:
        """Make recorded calls of vertices; returns how many: all, or none."""
        recorder = self._ctx.lists.recorder
        if recorder is not None:
            return recorder.specify(rows)
        may = not self.bitmaps and self.may_defer()
        return len(rows) if may and specify(self._ctx, rows) else 0

    def draws(self, rows: Ints, ends: Ints) -> RecordedDraws | None:
        """Recorded calls of vertices, matrices and state as draws from a buffer, up to one of
        `ends`; None if they must be made in another way.
        """
        self.draw_pending()
        return recorded_draws(self._ctx, self._rooms, rows, ends) if self.may_defer() else None

    def client_arrays(self) -> tuple[int, list[int]] | None:
        """Which client arrays stubs may copy for the next draw (see `recorded_arrays`)."""
        return client_arrays(self._ctx)

    def from_copies(self, row: Ints, draw: Callable[..., None]) -> Callable[..., None]:
        """An entry point that draws from copied client arrays."""
        return partial(draw_from_copies, self._ctx, row, draw)

    def release_all(self) -> None:
        """Release what lasts as long as the context."""
        self._rooms.release()

    def play(self, rows: Ints) -> int:
        """Make recorded calls of matrices and lists; returns how many."""
        return play(self._ctx, rows)

    def with_lists(self, rows: Ints) -> tuple[Ints, Ints] | None:
        """Recorded calls, with the calls of lists in place of those that call the lists; and where
        each of the former ends. None if a list is played in another way.
        """
        return with_lists(self._ctx, rows)

    def apart(self, rows: Ints) -> list[int]:
        """Which of recorded calls are no part of draws: those of lists that are played in another
        way, of matrices without effect, of ends without a beginning, and of some capabilities.
        """
        lists = without_commands(self._ctx, rows).tolist()
        ends, switches = self.unmatched(rows).tolist(), switches_unknown(rows).nonzero()[0]
        return sorted([*lists, *ends, *switches.tolist(), *without_effect(self._ctx, rows)])

    def unmatched(self, rows: Ints) -> Ints:
        """Which of recorded calls end no primitive."""
        return unmatched(self.active, rows)

    def lists_set_state(self, rows: Ints) -> bool:
        """Whether lists that recorded calls call may set what a stream knows."""
        return sets_state(self._ctx, rows)

    def unfinished(self, rows: Ints) -> int:
        """How many of these calls there are to the end of the primitive being specified, if any."""
        ends = (rows[:, 0] == END).nonzero()[0]
        return int(ends[0]) + 1 if self.active and len(ends) else 0

    def append(self, columns: dict[int, Any], modes: Ints, begins: Ints, ends: Ints) -> None:
        """Add vertices, given by attribute, and the primitives that begin and end before these of
        them: the first may have begun earlier, and the last may not end yet.
        """
        pending, count = self._pending, len(columns[POS])
        for slot in columns.keys() - pending.values.keys() - {POS} if count else ():
            self.attribute(slot, self._ctx.arrays.values[slot])
        first = pending.count
        data = np.empty((count, len(pending.slots), 4), np.float32)
        for place, slot in enumerate(pending.slots):
            data[:, place] = columns[slot] if slot in columns else pending.values[slot]
        pending.add(data)
        begins = begins + first
        if self.active:
            modes, begins = np.append(self.mode, modes), np.append(self._first, begins)
        self._add_all(modes[: len(ends)], begins[: len(ends)], ends + first)
        self.active = len(begins) > len(ends)
        if len(begins):
            self.busy, self.mode, self._first = True, int(modes[-1]), int(begins[-1])
        if not self.active and pending.count > MOST:
            self.draw_pending()

    def bitmap(self, bitmap: Rectangle) -> None:
        """Draw a bitmap together with those that follow: each is a letter, as a rule."""
        self.bitmaps.append(bitmap)
        self.busy = True
        count, large = len(self.bitmaps), max(bitmap.pixels.shape) > LETTER
        if large or count >= MOST_BITMAPS or (count == 1 and not self.may_defer()):
            self.draw_pending()

    def may_defer(self) -> bool:
        """Whether primitives may be drawn later, and together."""
        ctx = self._ctx
        return not (
            ctx.observed or ctx.strict or ctx.lost or ctx.rendering.active
            or ctx.debug.callback is not None or ctx.framebuffers.draw.flip_y
            or is_tapped(ctx.pipe, "draw_vbo") or self._counts_primitives()
        ) and may_defer()  # fmt: skip

    def _counts_primitives(self) -> bool:
        """Whether shaders may read gl_PrimitiveID, which glBegin sets to zero."""
        executable = self._ctx.programs.executable
        if executable is None:
            return self._ctx.pipelines.current is not None
        return executable.counts_primitives

    def leave(self) -> None:
        """Prepare for a call that is not allowed between glBegin and glEnd."""
        if self.active:
            raise invalid_operation("not between glBegin and glEnd")
        self.draw_pending()

    def draw_pending(self) -> None:
        """Draw the pending primitives, unless one is being specified, or all are kept."""
        if self.active or self.keeps or not self.busy:
            return
        if self.bitmaps:
            bitmaps, self.bitmaps, self.busy = self.bitmaps, [], False
            self._ctx.pixel_drawer.draw("bitmap", bitmaps)
            return
        try:
            self._draw()
        except GLError as error:
            self._ctx.record_error(error, FUNCTIONS["End"])

    def _draw(self) -> None:
        """Draw all primitives, in order; the first error ends it."""
        pending, _ = self._take()
        if pending.draws:
            self._draw_array(pending.slots, pending.array(), pending.values, pending.draws)

    def _take(self) -> tuple[_Pending, dict[int, tuple[int, Values]]]:
        """What is pending, and which vertices have values from before; nothing is pending then."""
        taken = self._pending, self._before
        self._pending, self._before, self._row, self.busy = _Pending(), {}, (), False
        return taken

    def keep(self, made: Callable[[], None]) -> KeptPrimitives:
        """The primitives that these calls specify, and what they set; nothing is drawn."""
        self.draw_pending()
        self.busy = self.keeps = True
        try:
            made()
        finally:
            self.keeps = False
            pending, before = self._take()
        data = pending.array() if pending.draws else np.zeros((0, len(pending.slots), 4))
        return KeptPrimitives(pending.slots, data, pending.draws, pending.values, before)

    def can_replay(self, kept: KeptPrimitives) -> bool:
        """Whether primitives can be drawn from their buffer, and not by the calls for them."""
        kept.prepare(self._ctx)
        return not kept.needs_fixed_function(self._ctx) or self.is_fixed()

    def replay(self, kept: KeptPrimitives, draws: Callable[[], None] | None = None) -> None:
        """Draw primitives that can be replayed, and set attributes and materials as the calls
        would have.
        """
        ctx = self._ctx
        for mode in kept.modes:
            check_mode(ctx, mode)
        for slot, values in kept.last.items():
            set_current(ctx, slot, values)
        if COLOR in kept.last:
            ctx.lighting.track_color(ctx)
        if kept.last_materials:
            ctx.lighting.put_all(ctx, kept.last_materials)
        if kept.vao is None:
            return
        together = len(kept.parts) == 1 or draws is not None or self.may_defer()
        for number, (constants, _) in enumerate(kept.groups):
            some = draws or partial(kept.draw, ctx, number, together)
            self._draw_with(kept.materials, constants, kept.vao, some)

    def _draw_array(
        self, slots: list[int], data: Any, last: dict[int, Values], draws: list[Part]
    ) -> None:
        """Draw interleaved `[vertex, attribute, 4]` float data with a vertex array of its own."""
        ctx = self._ctx
        lit = max(slots) >= MATERIAL0 and ctx.lighting.enabled and self.is_fixed()
        slots, data, materials, groups = without_materials(slots, data, draws, last, lit)
        vao = self._arrays.get(tuple(slots))
        if vao is None:
            vao = self._arrays[tuple(slots)] = interleaved(slots)
        vao.bindings[POS].move(0, 16 * len(slots), data.ctypes.data, data)
        try:
            for constants, parts in groups:
                self._draw_with(materials, constants, vao, partial(draw_parts, ctx, parts))
        finally:
            vao.bindings[POS].keep = None

    def _draw_with(
        self,
        materials: tuple[int, ...],
        constants: dict[int, Any],
        vao: VertexArray,
        made: Callable[[], None],
    ) -> None:
        """Draw with material properties that are attributes, and the values of others."""
        ctx, lighting = self._ctx, self._ctx.lighting
        others: dict[int, Any] = {}
        for number, value in constants.items():
            if (before := lighting.property(number)) != value:
                others[number] = before
                lighting.put(ctx, number, value)
        if materials:
            self.materials = materials
            ctx.dirty |= Dirty.PROGRAM
        try:
            self.draw_from(vao, made)
        finally:
            for number, value in others.items():
                lighting.put(ctx, number, value)
            if materials:
                self.materials = ()
                ctx.dirty |= Dirty.PROGRAM

    def draw_from(self, vao: VertexArray, made: Callable[[], None]) -> None:
        """Draw with another vertex array than the application's."""
        arrays = self._ctx.arrays
        saved, types, arrays.current = arrays.current, arrays.types, vao
        try:
            made()
        finally:
            arrays.current, arrays.types = saved, types


@entry
def begin(ctx: Context, mode: int) -> None:
    check_mode(ctx, mode)
    if mode == GL.PATCHES:
        ctx.programs.resolve()
        if Stage.TESS_EVAL not in ctx.programs.stages:
            raise invalid_operation("patches are for tessellation")
    ctx.immediate.begin(mode)


@entry
def end(ctx: Context) -> None:
    if not ctx.immediate.active:
        raise invalid_operation("glEnd without glBegin")
    ctx.immediate.end()


def _family(
    name: str, counts: tuple[int, ...], letters: str, store: Any, normalized: bool = False
) -> None:
    """Register `name{count}{letter}` and the pointer forms."""
    for count in counts:
        for letter in letters.split():
            scale = LARGEST.get(letter) if normalized else None

            def by_value(ctx: Context, *values: Any, scale: float | None = scale) -> None:
                if scale is None:
                    store(ctx, tuple(map(float, values)))
                else:
                    store(ctx, tuple([max(v / scale, -1.0) for v in values]))

            def by_pointer(
                ctx: Context, pointer: Pointer, count: int = count, letter: str = letter,
                set_values: Any = by_value,
            ) -> None:  # fmt: skip
                set_values(ctx, *read_array(pointer, GL_TYPES[letter], count).tolist())

            register(f"{name}{count}{letter}", by_value)
            register(f"{name}{count}{letter}v", by_pointer)


def _setter(slot: VertAttrib) -> Any:
    return lambda ctx, values: set_current(ctx, int(slot), values)


def _vertex(ctx: Context, values: Values) -> None:
    ctx.immediate.vertex(values)


def _color(ctx: Context, values: Values) -> None:
    set_current(ctx, int(VertAttrib.COLOR0), values)
    ctx.lighting.track_color(ctx)


_family("vertex", (2, 3, 4), "s i f d", _vertex)
_family("color", (3, 4), "b s i ub us ui f d", _color, normalized=True)
_family("secondary_color", (3,), "b s i ub us ui f d", _setter(VertAttrib.COLOR1), normalized=True)
_family("normal", (3,), "b s i f d", _setter(VertAttrib.NORMAL), normalized=True)
_family("tex_coord", (1, 2, 3, 4), "s i f d", _setter(VertAttrib.TEX0))
for _letter in "fd":
    register(
        f"fog_coord{_letter}",
        lambda ctx, v: set_current(ctx, int(VertAttrib.FOG), (float(v), 0.0, 0.0, 1.0)),
    )
    register(
        f"fog_coord{_letter}v",
        lambda ctx, p, t=_letter: set_current(
            ctx,
            int(VertAttrib.FOG),
            (float(read_array(p, GL_TYPES[t], 1)[0]), 0.0, 0.0, 1.0),
        ),
    )


def _multi_tex_coord() -> None:
    def slot_of(target: int) -> int:
        unit = target - GL.TEXTURE0
        if not 0 <= unit < 8:
            raise invalid_enum(target, "texture unit")
        return int(VertAttrib.TEX0) + unit

    for count in (1, 2, 3, 4):
        for letter in "sifd":

            def by_value(ctx: Context, target: int, *values: Any) -> None:
                set_current(ctx, slot_of(target), tuple(float(v) for v in values))

            def by_pointer(
                ctx: Context, target: int, pointer: Pointer, count: int = count, t: str = letter
            ) -> None:
                values = read_array(pointer, GL_TYPES[t], count).tolist()
                set_current(ctx, slot_of(target), tuple(float(v) for v in values))

            register(f"multi_tex_coord{count}{letter}", by_value)
            register(f"multi_tex_coord{count}{letter}v", by_pointer)


_multi_tex_coord()


@entry
def edge_flag(ctx: Context, flag: int) -> None:
    set_current(ctx, int(VertAttrib.EDGEFLAG), (float(bool(flag)), 0.0, 0.0, 1.0))


@entry
def edge_flagv(ctx: Context, flag: Pointer) -> None:
    edge_flag(ctx, int(read_array(flag, "boolean", 1)[0]))


def _rect(ctx: Context, x1: float, y1: float, x2: float, y2: float) -> None:
    check_mode(ctx, GL.POLYGON)
    ctx.immediate.begin(GL.POLYGON)
    for x, y in ((x1, y1), (x2, y1), (x2, y2), (x1, y2)):
        ctx.immediate.vertex((float(x), float(y)))
    ctx.immediate.end()


for _letter in "sifd":
    register(f"rect{_letter}", _rect)

    def _rect_v(ctx: Context, v1: Pointer, v2: Pointer, t: str = GL_TYPES[_letter]) -> None:
        _rect(ctx, *read_array(v1, t, 2).tolist(), *read_array(v2, t, 2).tolist())

    register(f"rect{_letter}v", _rect_v)


def _current(slot: VertAttrib, count: int = 4) -> Any:
    return lambda ctx: list(ctx.arrays.values[int(slot)][:count])


gets(
    {
        "CURRENT_COLOR": _current(VertAttrib.COLOR0),
        "CURRENT_SECONDARY_COLOR": _current(VertAttrib.COLOR1),
        "CURRENT_NORMAL": _current(VertAttrib.NORMAL, 3),
    },
    profiles="compat",
    normalized=True,
)
gets(
    {
        "CURRENT_TEXTURE_COORDS": lambda c: list(
            c.arrays.values[int(VertAttrib.TEX0) + coordinate_unit(c)]
        ),
        "CURRENT_FOG_COORD": lambda c: c.arrays.values[int(VertAttrib.FOG)][0],
        "EDGE_FLAG": lambda c: bool(c.arrays.values[int(VertAttrib.EDGEFLAG)][0]),
    },
    profiles="compat",
)
