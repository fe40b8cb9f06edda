"""Display lists: recording GL calls, and playing them back.

While a list is compiled, the context's methods for compiled functions are recorders
(`Recorder.wrap`): they copy the data that the arguments point at and append a call to the list.
Playback calls the ordinary methods in order, of whichever context of the share group plays the
list. Vertices between glBegin and glEnd are stored as the primitive they formed when first played,
if nothing outside the list can change them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.errors import ResetError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.count_limits import MOST_NAMES, check_count
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    address_of,
    buffer_offset,
    bytes_at,
    read_bytes,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets, to_int
from gallette.state_tracker.objects import GLObject
from gallette.state_tracker.optional.compatibility.list_functions import (
    LIST_TYPES,
    is_compiled,
    is_forbidden,
    is_image,
    is_vertex_data,
    pointer_bytes,
    vector_bytes,
)
from gallette.state_tracker.optional.compatibility.list_runs import LEAST, Run, moves
from gallette.state_tracker.optional.compatibility.pixel_ops.bitmaps import (
    LETTER,
    Letter,
    decode_letter,
)
from gallette.state_tracker.optional.compatibility.recorded_lists import EMPTY, Content, Listed
from gallette.state_tracker.optional.compatibility.recorded_vertices import BEGIN, END, kept
from gallette.state_tracker.parameters import PARAMETERS
from gallette.state_tracker.stream import ring
from gallette.state_tracker.stream.calls import CALLS, COMMAND_BYTES, IN_LIST, NUMBERS, Ints

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.kept_primitives import KeptPrimitives

MAX_NESTING = 64
_MOST_COMMANDS = 1 << 10
"""Limit on the calls of lists whose commands are kept: longer ones are slow in any case."""

Method = Callable[..., Any]
Around = Callable[["Context", Method, tuple[Any, ...]], None]
"""Makes a call with the state that was current when it was recorded."""


@lazy_dataclass(eq=False)
class Call:
    """One recorded call."""

    function: Function
    args: tuple[Any, ...]
    around: Around | None = None
    end: int = 0  # of primitives that begin here: the index of the next call after them
    begins: int = 0  # how many primitives; there may be only attributes and materials
    kept: KeptPrimitives | None = None
    run: Run | None = None  # that begins here
    rows: Ints | None = None  # the commands that it stands for, of primitives from a stream

    def play(self, ctx: Context) -> None:
        method = ctx.unrecorded(self.function)
        if self.around is not None:
            self.around(ctx, method, self.args)
            return
        try:
            getattr(method, "direct", method)(*self.args)
        except GLError as error:
            ctx.record_error(error, self.function)
        except (ResetError, MemoryError) as error:
            ctx.work_failed(error, self.function)


_SETTERS: dict[str, tuple[Any, int]] = {
    name: (row.fields, 0) for row in PARAMETERS for name in row.by if name in FUNCTIONS
}
"""Functions that set a state, what they set, and how many of their arguments say which."""
del _SETTERS["Enable"]
_SETTERS |= {"Enable": ("enables", 1), "Disable": ("enables", 1), "BindTexture": ("textures", 1)}
_SETTERS |= {name: (name, 0) for name in ("ShadeModel", "BlendFunc")}


def without_repetitions(calls: list[Call]) -> list[Call]:
    """The calls without those that set a state to what it is: libraries repeat them before every
    part of a shape.
    """
    kept: list[Call] = []
    known: dict[Any, Any] = {}
    inside = False
    for call in calls:
        name = call.function.name
        if name in ("Begin", "End"):
            if not inside and name == "End":  # calls before it may have been errors
                known = {}
            inside = name == "Begin"
        elif not inside and name in _SETTERS:
            what, count = _SETTERS[name]
            key, value = (what, *call.args[:count]), (name, *call.args)
            if known.get(key) == value:
                continue
            known[key] = value
        elif not (inside or call.kept is not None or is_specified(call) or moves(call)):
            known = {}
        kept.append(call)
    return kept


def is_specified(call: Call) -> bool:
    """Whether a call sets a vertex, attributes of floats or materials, and nothing else."""
    name = call.function.name
    if name.startswith("Material"):
        return call.args[1:2] != (GL.COLOR_INDEXES,)
    return is_vertex_data(name) and not name.startswith(("VertexAttribI", "VertexAttribL"))


def _row_of(call: Call) -> Ints | None:
    """A call as a command of a stream, if there is one."""
    number, row = NUMBERS.get(call.function.name), bytearray(COMMAND_BYTES)
    if number is None or call.around is not None or not CALLS[number].write(row, 0, call.args):
        return None
    return np.frombuffer(row, np.int64)[None]


class DisplayList(GLObject):
    """A named sequence of calls."""

    kind = "display list"

    def __init__(self, name: int):
        super().__init__(name)
        self.calls: list[Call] = []

    def destroy(self) -> None:
        for call in self.calls:
            if call.kept is not None:
                call.kept.release()
            if call.run is not None:
                call.run.release()

    def finish(self) -> None:
        """Find the primitives that consist only of vertices, attributes and materials, and runs of
        them with matrices between.
        """
        self.calls = without_repetitions(self.calls)
        first = index = primitives = 0
        while index <= len(self.calls):
            ahead = self.calls[index] if index < len(self.calls) else None
            if ahead is not None:
                self._find_primitives(index)
                if ahead.end or moves(ahead):
                    primitives += ahead.begins > 0
                    index = ahead.end or index + 1
                    continue
            if primitives >= LEAST:
                self.calls[first].run = Run(self.calls, first, index)
            first = index = index + 1
            primitives = 0

    def _find_primitives(self, first: int) -> None:
        """Find the end of the primitives that begin with this call, if any; or of attributes and
        materials that no primitive follows.
        """
        begun, end, begins = -1, first, 0
        call = self.calls[first]
        if call.kept is not None:  # of arrays
            call.end, call.begins = first + 1, 1
            return
        for index in range(first, len(self.calls)):
            name = self.calls[index].function.name
            if name == "Begin" and begun < 0:
                begun = index
            elif name == "End" and begun >= 0:
                begun, end, begins = -1, index + 1, begins + 1
            elif not is_specified(self.calls[index]):
                break
            elif not begins and begun < 0:
                end = index + 1
        if end > first:
            call.end, call.begins = end, begins

    def content(self, ctx: Context) -> Content | None:
        """What it consists of, if that is known, and only matrices and primitives; those that set
        something only if they are alone.
        """
        if not self.calls:
            return EMPTY
        first, count = self.calls[0], len(self.calls)
        if first.end == count:
            return Listed(self).content
        run = first.run
        return run.content(ctx) if run is not None and run.end == count else None

    @property
    def is_series(self) -> bool:
        """Whether it consists of matrices and primitives, which are kept."""
        if not self.calls:
            return True
        first, count = self.calls[0], len(self.calls)
        return first.end == count or (first.run is not None and first.run.end == count)

    @cached_property
    def commands(self) -> Ints | None:
        """Its calls as commands of a stream, if there are such for all of them, and no runs, which
        are drawn as series.
        """
        count = sum(1 if call.rows is None else len(call.rows) for call in self.calls)
        if count > _MOST_COMMANDS or any(call.run is not None for call in self.calls):
            return None
        parts = [np.zeros((0, COMMAND_BYTES // 8), np.int64)]
        for call in self.calls:
            rows = _row_of(call) if call.rows is None else call.rows
            if rows is None:
                return None
            parts.append(rows)
        found = np.concatenate(parts)
        known: set[str] = set()
        for number in found[:, 0].tolist():
            function = CALLS[number].name
            if CALLS[number].specifies and function not in ("Begin", "End"):
                attribute = function.rstrip("fdubiv").rstrip("1234").replace("Rect", "Vertex")
                if "Vertex" in known and attribute not in known:
                    return None  # the first vertices have a value from before the list
                known.add(attribute)
        found[found[:, 0] == BEGIN, IN_LIST] = 1
        return found

    def play(self, ctx: Context) -> None:
        calls, index = self.calls, 0
        while index < len(calls):
            run = calls[index].run
            index = run.end if run is not None and run.play(ctx, self) else self.step(ctx, index)

    def step(self, ctx: Context, index: int) -> int:
        """Make a call, or the calls of primitives; returns which one is next."""
        call, immediate = self.calls[index], ctx.immediate
        if not call.end or immediate.active or (immediate.busy and not call.begins):
            call.play(ctx)
            return index + 1
        immediate.draw_pending()
        kept = call.kept
        if kept is None:
            kept = self._keep(ctx, index)
        else:
            kept.follow(ctx)
        try:
            if immediate.can_replay(kept):
                immediate.replay(kept)
            else:
                for each in self.calls[index : call.end]:
                    each.play(ctx)
        except GLError as error:
            ctx.record_error(error, call.function if call.begins == 1 else FUNCTIONS["End"])
        if kept is not call.kept:
            kept.release()
        return call.end

    def _keep(self, ctx: Context, index: int) -> KeptPrimitives:
        """Keep the primitives that calls form, if these set no error."""
        begin = self.calls[index]

        def made() -> None:
            for each in self.calls[index : begin.end]:
                each.play(ctx)

        error, ctx.error = ctx.error, GL.NO_ERROR
        try:
            kept = ctx.immediate.keep(made)
        finally:
            failed, ctx.error = ctx.error, error or ctx.error
        if not failed:
            begin.kept = kept
        return kept


class ListState:
    """The list being compiled, if any, and the base of glCallLists."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self.names = ctx.group.table("display list")
        self.base = 0
        self.depth = 0
        self.recorder: Recorder | None = None

    def call(self, name: int) -> None:
        """Play a list; names without a list, and lists nested too deeply, are ignored."""
        found = self.names.get(name)
        if found is None or self.depth >= MAX_NESTING:
            return
        self.depth += 1
        try:
            found.play(self._ctx)
        finally:
            self.depth -= 1


class Recorder:
    """Makes methods that record into one list."""

    def __init__(self, ctx: Context, name: int, mode: int):
        self._ctx = ctx
        self.mode = mode
        self.list = DisplayList(name)

    def specify(self, rows: Ints) -> int:
        """Add recorded calls of vertices; returns how many: all, or none. Those of whole primitives
        are one call of the list.
        """
        steps = (rows[:, 0] == BEGIN).astype(np.int64) - (rows[:, 0] == END)
        places = steps.nonzero()[0]
        if self.mode != GL.COMPILE or not len(places):
            return 0
        # The first primitive may have begun before these calls, and the last may not end yet.
        first = int(places[0]) + 1 if steps[places[0]] < 0 else 0
        end = len(rows) if steps[places[-1]] < 0 else int(places[-1])
        if end <= first or (found := kept(self._ctx, rows[first:end])) is None:
            return 0
        stream = self._ctx.stream
        stream.make(rows[:first])
        self.list.calls.append(_of_rows(rows[first:end].copy(), found))
        stream.make(rows[end:])
        return len(rows)

    def wrap(self, function: Function, method: Method) -> Method:
        """The method that replaces `method` while the list is compiled."""
        ctx = self._ctx
        if not is_compiled(function.name):
            return method
        if is_forbidden(function.name):
            return lambda *args: ctx.record_error(
                invalid_operation("not while a display list is compiled"), function
            )
        calls = self.list.calls
        execute = self.mode == GL.COMPILE_AND_EXECUTE
        snapshot = _snapshot_of(function)

        words, pending, stream = ring.words, ring.PENDING, ctx.stream

        def record(*args: Any) -> Any:
            if words[pending]:  # calls from C, before this one
                ring.flush(stream)
            around: Around | KeptPrimitives | None = None
            kept = args
            if snapshot is not None:
                try:
                    around, kept = snapshot(ctx, function, args)
                except GLError as error:  # an argument points at invalid memory
                    ctx.record_error(error, function)
                    return None
                except MemoryError as error:
                    ctx.work_failed(error, function)
                    return None
            if callable(around):
                calls.append(Call(function, kept, around))
            else:
                calls.append(Call(function, kept, kept=around))
            return method(*args) if execute else None

        return record


def _of_rows(rows: Ints, found: KeptPrimitives) -> Call:
    """The call for primitives of a list, which these commands specify."""

    def one_by_one(ctx: Context, method: Method, args: tuple[Any, ...]) -> None:
        commands, address = rows.data.cast("B"), rows.ctypes.data
        for place, number in enumerate(rows[:, 0].tolist()):
            call = CALLS[number]
            given = call.arguments(commands, place * COMMAND_BYTES, address)
            Call(call.function, given).play(ctx)

    return Call(FUNCTIONS["DrawArrays"], (), one_by_one, kept=found, rows=rows)


Snapshot = Callable[
    ["Context", Function, tuple[Any, ...]], "tuple[Around | KeptPrimitives | None, tuple[Any, ...]]"
]


def _snapshot_of(function: Function) -> Snapshot | None:
    """How to copy the arguments of a function; None if they are plain numbers."""
    from gallette.state_tracker.optional.compatibility import list_arrays

    name = function.name
    if list_arrays.is_array_draw(name):
        return list_arrays.snapshot
    if is_image(name):
        return _keep_image
    pointers = [p.kind is Kind.POINTER for p in function.params]
    if pointers[-1:] == [True] and pointers.count(True) == 1 and (size := vector_bytes(function)):
        return partial(_keep_vector, size)
    return _keep_values if any(pointers) else None


def _keep_vector(
    size: int, ctx: Context, function: Function, args: tuple[Any, ...]
) -> tuple[None, tuple[Any, ...]]:
    pointer = args[-1]
    if len(args) != len(function.params) or pointer is None or isinstance(pointer, list | tuple):
        return _keep_values(ctx, function, args)
    data = bytes_at(pointer, size) if type(pointer) is int else read_bytes(pointer, size)
    return None, (*args[:-1], bytes(data))


def _keep_values(
    ctx: Context, function: Function, args: tuple[Any, ...]
) -> tuple[None, tuple[Any, ...]]:
    kept = list(args)
    for i, param in enumerate(function.params):
        if param.kind is Kind.POINTER and i < len(args) and args[i] is not None:
            if isinstance(args[i], list | tuple):
                kept[i] = tuple(args[i])
            else:
                size = pointer_bytes(ctx, function, args)
                kept[i] = read_bytes(args[i], size).tobytes() if size else b""
    return None, tuple(kept)


def _keep_image(
    ctx: Context, function: Function, args: tuple[Any, ...]
) -> tuple[Around | None, tuple[Any, ...]]:
    """Record pixels as they are unpacked now, independent of the unpack state at playback; small
    bitmaps are decoded, because lists of letters are played often.
    """
    from gallette.state_tracker.optional.compatibility.list_images import image_bytes

    unpack = ctx.unpack
    buffer = ctx.buffers.bound[GL.PIXEL_UNPACK_BUFFER]
    *front, pointer = args
    if buffer is not None:
        size = image_bytes(ctx, function, args)
        kept: Any = buffer.read(buffer_offset(pointer), size)
    elif pointer is None:
        kept = None
    else:
        kept = read_bytes(pointer, image_bytes(ctx, function, args)).tobytes()
    if function.name == "Bitmap" and kept and max(front[:2]) <= LETTER:
        return None, (*front, Letter(decode_letter(kept, unpack, *front[:2])))

    def play(user: Context, method: Method, values: tuple[Any, ...]) -> None:
        saved, bound = user.unpack, user.buffers.bound
        saved_buffer = bound[GL.PIXEL_UNPACK_BUFFER]
        user.unpack, bound[GL.PIXEL_UNPACK_BUFFER] = unpack, None
        try:
            method(*values)
        finally:
            user.unpack, bound[GL.PIXEL_UNPACK_BUFFER] = saved, saved_buffer

    return play, (*front, kept)


# -- entry points ----------------------------------------------------------------------------------


@entry
def gen_lists(ctx: Context, range: int) -> int:
    if range < 0:
        raise invalid_value("a negative number of lists")
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    if range == 0:
        return 0
    return ctx.lists.names.reserve_block(range)  # an empty list is a name without an object


def _span(first: int, count: int) -> range:
    return range(first, first + count)


@entry
def delete_lists(ctx: Context, list: int, range: int) -> None:
    if range < 0:
        raise invalid_value("a negative number of lists")
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    names = ctx.lists.names
    doomed = _span(list, range)
    for name in [n for n in names if n in doomed] if range > 65536 else doomed:
        found = names.pop(name)
        if found is not None:
            found.release()


@entry
def is_list(ctx: Context, list: int) -> int:
    return int(ctx.lists.names.is_reserved(list))


@entry
def new_list(ctx: Context, list: int, mode: int) -> None:
    if ctx.lists.recorder is not None or ctx.immediate.active:
        raise invalid_operation("a list is being compiled, or a primitive specified")
    if list == 0:
        raise invalid_value("0 is not the name of a list")
    if mode not in (GL.COMPILE, GL.COMPILE_AND_EXECUTE):
        raise invalid_enum(mode, "list mode")
    ctx.start_recording(Recorder(ctx, list, mode))


@entry
def end_list(ctx: Context) -> None:
    recorder = ctx.lists.recorder
    if recorder is None:
        raise invalid_operation("no list is being compiled")
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    ctx.stop_recording()
    recorder.list.finish()
    names = ctx.lists.names
    old = names.pop(recorder.list.name)
    if old is not None:
        old.release()
    names.bind(recorder.list.name, lambda name: recorder.list, False)


@entry
def call_list(ctx: Context, list: int) -> None:
    ctx.lists.call(list)


@entry
def list_base(ctx: Context, base: int) -> None:
    if ctx.immediate.active:
        raise invalid_operation("not between glBegin and glEnd")
    ctx.lists.base = base


_DTYPES: dict[int, str] = {
    GL.BYTE: "<i1", GL.UNSIGNED_BYTE: "<u1", GL.SHORT: "<i2", GL.UNSIGNED_SHORT: "<u2",
    GL.INT: "<i4", GL.UNSIGNED_INT: "<u4", GL.FLOAT: "<f4",
}  # fmt: skip


@entry
def call_lists(ctx: Context, n: int, type: int, lists: Pointer) -> None:
    if type not in LIST_TYPES:
        raise invalid_enum(type, "type of list names")
    if n < 0:
        raise invalid_value("a negative number of lists")
    if n == 0 or lists is None:
        return
    check_count(n, MOST_NAMES, "lists")
    if isinstance(lists, list | tuple):
        names = [int(v) for v in lists[:n]]
    else:
        address_of(lists)
        raw = read_bytes(lists, n * LIST_TYPES[type])
        if type in _DTYPES:
            found = raw.view(_DTYPES[type]).tolist()
            names = [to_int(v, False) for v in found] if type == GL.FLOAT else found
        else:  # big-endian numbers of 2, 3 or 4 bytes
            rows = raw.reshape(n, -1).astype(np.int64)
            names = [int.from_bytes(bytes(row.astype(np.uint8)), "big") for row in rows]
    base = ctx.lists.base
    for name in names:
        ctx.lists.call((base + name) & 0xFFFFFFFF)


gets(
    {
        "LIST_INDEX": lambda c: c.lists.recorder.list.name if c.lists.recorder else 0,
        "LIST_MODE": lambda c: c.lists.recorder.mode if c.lists.recorder else 0,
        "MAX_LIST_NESTING": lambda c: MAX_NESTING,
    },
    profiles="compat",
)
