"""A context's command stream: the data that is kept between batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import compress, islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Stage
from gallette.state_tracker.entry_points import abi
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS

from . import ring
from .analysis import Analysis
from .batch import Batch
from .calls import CALLS, COMMAND_BYTES, NUMBERS, Call, Family, Ints, Role
from .states import values_of
from .uniforms import Written

if TYPE_CHECKING:
    from gallette.pipe.state import DrawInfo
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

    from .states import Settings

FEW = 4
"""Up to this many draws are faster one by one, unless some kinds are known."""

PATIENCE = 32
"""Up to this many consecutive small batches are executed as a whole, since a large one may follow:
executing their calls one by one is faster but requires dropping all known kinds.
"""

_RUN = 64
"""Fewer calls of the compatibility profile are faster one by one than as arrays."""

_FEW_CALLS = 32
"""Calls whose bytes are compared: to find out what identifies them would take longer than they
themselves do, where programs set some state between reads of a few pixels.
"""

_MOST_KEPT, _MOST_ANALYSED = 1 << 10, 1 << 16
"""Limits on the batches whose analysis is kept, and on their calls."""

_ALL_BITS = (1 << 64) - 1
_MOST_KINDS, _MOST_ACCEPTED = 1 << 14, 1 << 16
_MOST_UNIFORMS = 1 << 12
_MOST_PARTS = 8
"""Limit on the parts of a batch, each of which ends with an unsupported call; the rest is made call
by call.
"""
_BOTH = {Stage.VERTEX, Stage.FRAGMENT}
_IS_OLD = np.array([call.role is Role.OLD for call in CALLS])
_PLAYED, _SPECIFIED = 1, 2
_ORDERED = np.array([_SPECIFIED * call.specifies + _PLAYED * call.plays for call in CALLS])
"""By function: what runs of the compatibility profile it can be part of, 0 if of none."""
_COPIES = np.array([call.copies for call in CALLS])
_IS_DRAW = np.array([call.role is Role.DRAW for call in CALLS])
_MAKES = np.array([call.is_primitive or call.name in ("Begin", "CallList") for call in CALLS])
"""By function: whether it begins a primitive, or calls a list, which may."""
_CHANGES_ARRAYS = np.array([call.changes_arrays for call in CALLS])
_CALL_LIST, _USE = NUMBERS["CallList"], NUMBERS["UseProgram"]
_DRAWS = frozenset(call.number for call in CALLS if call.role in (Role.DRAW, Role.CLEAR))


class Stream:
    """The data shared by a context's batches."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.kinds: dict[int, Any] = {}
        """By the hash of a draw or clear and its state: the driver's token."""
        self.applied: dict[int, int] = {}
        """By slot: the hash of the context's current value."""
        self.accepted: set[int] = set()
        """Hashes of values that were accepted without an error."""
        self.for_draws = self.for_clears = 0  # the hashes of the state, as far as it was set here
        self._small = 0  # consecutive batches with few draws
        self._analyses: dict[Any, Analysis] = {}
        """By the calls of a batch and what is selected before it."""
        self._analysed = 0  # calls of these
        self._settings: dict[Any, Settings] = {}
        """By the bytes of a few calls that only set state: what they set."""
        self.generation = 0  # incremented when the known draws become invalid
        self._performing = False
        self._pushed: list[dict[int, int] | None] = []
        """What was applied when glPushAttrib saved state, if all that is known was known then."""
        self.taps: list[Callable[[list[tuple[str, tuple[Any, ...]]]], None]] = []
        """Observers: each is called with the commands of a batch, names and arguments, before it is
        executed.
        """
        self.drawn: DrawInfo | None = None  # the draw just made by an entry point
        self.fixed: Any = None  # the draws of fixed function that are being made
        self.readers: dict[int, Executable] = {}
        """By the hash of a draw of fixed function: the vertex shader, which reads its uniforms."""
        self.has_clients = False  # whether there ever were client arrays
        self._knows_clients = False  # whether the stubs know what the last draw read of them

    @property
    def is_old(self) -> bool:
        """Whether calls of `Role.OLD` become commands, too."""
        return self.ctx.is_compat

    @property
    def follows(self) -> bool:
        """Whether others than those of `Role.OLD` become commands."""
        return not self.has_clients or self._knows_clients

    def has_client_array(self) -> None:
        """From now on draws may read memory of the application, which it may change after a call:
        they are made at once, unless the stubs can copy it.
        """
        if not self.has_clients:
            self.has_clients = True
            self.ctx.reconsider_recording()

    def has_drawn(self) -> None:
        """Called for a draw, if the context `has_clients`: find out which the next one may read."""
        if not self._performing and not ring.knows_clients(self):
            self.find_clients()

    def find_clients(self) -> None:
        """Tell the stubs which client arrays are enabled."""
        if self.has_clients:
            found = self.ctx.immediate.client_arrays() if self.is_old else None
            self._knows_clients = found is not None
            ring.has_clients(self, *found or (-1, []))

    def has_array_buffer(self, name: int) -> None:
        """Record which array buffer is bound, because a call outside a batch has just read it: the
        next such calls may become commands.
        """
        if not self._performing:
            ring.has_array_buffer(self, name)

    def may_record(self) -> bool:
        """Whether calls on the context may become commands now."""
        ctx = self.ctx
        return not (
            ctx.released
            or ctx.lost
            or ctx.observed
            or ctx.debug.callback is not None
            or ctx.group.mapped
        )

    def forget(self) -> None:
        """Drop known draws, because state that they depend on may have changed outside a batch."""
        if not self._performing:
            ring.forget(self)
            self._clear()

    def forget_shared(self) -> None:
        """Drop known draws of all contexts of the share group, too: what is shared may be gone, and
        its name another's. The caller has the group's lock.
        """
        if not self._performing:
            for context in self.ctx.group.contexts:
                context.stream.forget()

    def _clear(self) -> None:
        """Drop all known draws and all recorded state."""
        self._pushed.clear()
        self._analyses.clear()
        self._analysed = 0
        if not (self.kinds or self.applied or self.accepted):
            return
        self.kinds.clear()
        self.readers.clear()
        self.applied.clear()
        self.accepted.clear()
        self.for_draws = self.for_clears = 0

    def rows_are_plain(self, plain: bool) -> None:
        """Record whether rows of 4-byte texels lie in client memory without gaps between them: if
        so, updates of textures may become commands.

        A call of a batch cannot make them plain: what the application called after it may have set
        gaps or bound a buffer of pixels already.
        """
        if not (plain and (self._performing or self.is_old)):
            ring.rows_are_plain(self, plain)

    def pushed(self) -> None:
        """Record that glPushAttrib has saved state."""
        self._pushed.append(None if self._performing else self.applied.copy())

    def popped(self, is_restored: Callable[[int], bool | None]) -> None:
        """Record that glPopAttrib has restored some state. `is_restored`: whether a slot is; None
        if that is unknown.
        """
        before = self._pushed.pop() if self._pushed else None
        if before is None or self._performing:
            self._clear()
            return
        changed = [slot for slot, value in self.applied.items() if before.get(slot) != value]
        restored = [is_restored(slot) for slot in changed]
        if None in restored:
            self._clear()
            return
        for slot in compress(changed, restored):
            self._apply(slot, before.get(slot, 0))

    def _apply(self, slot: int, value: int) -> None:
        """Record the value of a slot, which is 0 before any call sets it."""
        family = Family(slot & 255)
        change = value - self.applied.get(slot, 0)
        self.for_draws = (self.for_draws + change * family.seen_by_draws) & _ALL_BITS
        self.for_clears = (self.for_clears + change * family.seen_by_clears) & _ALL_BITS
        if value:
            self.applied[slot] = value
        else:
            self.applied.pop(slot, None)

    def outdate(self) -> None:
        """Invalidate the driver's tokens, because a shared object changed."""
        self.kinds.clear()
        self.readers.clear()
        self.generation += 1

    def store_token(self, key: int, token: Any) -> None:
        """Store the driver's token for draws of one kind."""
        if len(self.kinds) >= _MOST_KINDS:
            self.kinds.clear()
            self.readers.clear()
        self.kinds[key] = token

    def execute(self, commands: memoryview, address: int, written: bytes, written_at: int) -> None:
        """Execute a batch."""
        for tap in self.taps:
            tap(_decoded(commands, address))
        group = self.ctx.group
        with group.lock:
            group.take(self.ctx)
            if not self.is_old:
                self._follow(commands, address, written, written_at)
                return
            rows, written_there = _rows(commands), (written, written_at)
            done = self.ctx.immediate.unfinished(rows)
            self._in_turns(rows[:done], commands[: done * COMMAND_BYTES], address, *written_there)
            for start, end in [*self._alternating(rows, done), (len(rows), len(rows))]:
                part = slice(done * COMMAND_BYTES, start * COMMAND_BYTES)
                at = address + part.start
                self._in_turns(rows[done:start], commands[part], at, *written_there)
                done = start + self._as_draws(rows[start:end], *written_there)

    def _in_turns(
        self, rows: Ints, commands: memoryview, address: int, written: bytes, written_at: int
    ) -> None:
        """Execute calls of `Role.OLD` in order, and those between them as batches."""
        if not len(rows):
            return
        if self._are_diverted() or not (self.readers or self._may_know_draws(rows)):
            self._clear()
            self._in_order(rows, commands, address)
            return
        old = _IS_OLD[rows[:, 0]]
        for start, end in pairwise(_edges(old)):
            part = slice(start * COMMAND_BYTES, end * COMMAND_BYTES)
            at = address + part.start
            if old[start]:
                self._in_order(rows[start:end], commands[part], at)
            else:
                self._follow(commands[part], at, written, written_at)

    def _alternating(self, rows: Ints, first: int) -> list[tuple[int, int]]:
        """Where calls from `first` on that draw by fixed function alternate with others often
        enough: either those that specify primitives, or draws from buffers.
        """
        if self._may_know_draws(rows) or self._are_diverted():
            return []
        rows = rows[first:]
        specifies = _ORDERED[rows[:, 0]] == _SPECIFIED
        drawn = _IS_DRAW[rows[:, 0]]
        # These may be draws of their own.
        alone = (rows[:, 0] == _CALL_LIST) | _COPIES[rows[:, 0]] | drawn
        changes = np.append(False, specifies[1:] != specifies[:-1])[: len(rows)]
        so_far = np.append(0, np.cumsum(changes + 2 * alone))
        if so_far[-1] < 2 * FEW:
            return []
        is_apart = np.zeros(len(rows), bool)
        is_apart[self.ctx.immediate.apart(rows)] = True
        begins = np.append(True, is_apart[:-1])
        # Primitives are drawn while other vertex arrays are bound than the application's.
        arrays = drawn | _CHANGES_ARRAYS[rows[:, 0]]
        both = (_MAKES[rows[:, 0]] | arrays).nonzero()[0]
        begins[both[1:][arrays[both[1:]] != arrays[both[:-1]]]] = True
        starts = begins.nonzero()[0]
        ends = np.append(starts[1:], len(rows))
        ends -= is_apart[ends - 1]
        enough = so_far[ends] - so_far[starts] - changes[starts] >= 2 * FEW
        return [
            (first + start, first + end)
            for start, end in zip(starts[enough].tolist(), ends[enough].tolist(), strict=True)
        ]

    def _as_draws(self, rows: Ints, written: bytes, written_at: int) -> int:
        """Make calls as draws from a buffer, between which state and matrices are set; returns how
        many: none, if they have to be made in another way.
        """
        immediate = self.ctx.immediate
        if not len(rows) or self._are_diverted() or (made := immediate.with_lists(rows)) is None:
            return 0
        rows, ends = made
        draws = immediate.draws(rows, ends)
        if draws is None:
            return 0
        commands, address = draws.rows.data.cast("B"), draws.rows.ctypes.data
        self.fixed = draws
        try:
            draws.make(partial(self._follow, commands, address, written, written_at))
        finally:
            self.fixed = None
        return int(ends.searchsorted(draws.count, "right"))

    def _follow(self, commands: memoryview, address: int, written: bytes, written_at: int) -> None:
        """Execute commands as batches, as far as possible."""
        if self._are_diverted():
            self._clear()
            self._perform_all(commands, address)
            return
        selected, few = self._selected(), None
        if len(commands) <= _FEW_CALLS * COMMAND_BYTES:
            few = commands.tobytes(), selected
            known = self._settings.get(few)
            if known is not None:
                self._set(known, commands, address)
                return
        for _ in range(_MOST_PARTS):
            if not commands or not self._together(commands):
                break
            if len(self.accepted) > _MOST_ACCEPTED:
                self.forget()
            rows = _rows(commands)
            analysis = self._analysis(rows, (written, written_at))
            batch = Batch(self, analysis, rows, commands, address, written, written_at)
            if few is not None and (sets := batch.sets) is not None:
                if len(self._settings) >= _MOST_KEPT:
                    self._settings.clear()
                self._settings[few] = sets
            done = COMMAND_BYTES * batch.execute()
            commands, address, few = commands[done:], address + done, None
        if commands:
            self._clear()
            self._perform_all(commands, address)

    @property
    def fixed_state(self) -> int:
        """The hash of the state, outside the slots, that selects shaders of fixed function."""
        return 0 if self.fixed is None else int(self.fixed.state)

    @property
    def knows_current(self) -> bool:
        """Whether the draws being made may come again with these values of attributes that have no
        array.
        """
        return self.fixed is not None and bool(self.fixed.reads_current)

    def _selected(self) -> tuple[int, ...]:
        """What the slots that calls set depend on."""
        ctx = self.ctx
        bound, buffer = ctx.framebuffers, ctx.buffers.bound[GL.ARRAY_BUFFER]
        return (
            ctx.textures.active,
            ctx.arrays.current.name,
            0 if buffer is None else buffer.name,
            bound.draw.name,
            bound.read.name,
        )

    def _analysis(self, rows: Ints, written: Written) -> Analysis:
        """The analysis of a batch, as far as that follows from what is called and from the state
        before: the same as the last time, if these are.
        """
        numbers = rows[:, 0].astype(np.uint8)
        values = values_of(rows, numbers)
        if self.fixed is not None:
            values = self.fixed.kinds(rows, values)
        key = values.tobytes(), self.for_draws, self.for_clears, self.fixed_state, self._selected()
        found = self._analyses.get(key)
        if found is None or not found.holds(self, rows, written):
            if len(self._analyses) >= _MOST_KEPT or self._analysed > _MOST_ANALYSED:
                self._analyses.clear()
                self._analysed = 0
            found = self._analyses[key] = Analysis(self, rows, numbers, values, written)
            self._analysed += len(rows)
        return found

    def _set(self, known: Settings, commands: memoryview, address: int) -> None:
        """Make calls that only set state, as they did before, and record the values of slots; none
        if all of these have the values already.
        """
        applied = self.applied
        for slot, value, _, _ in known:
            if applied.get(slot) != value:
                break
        else:
            return
        if not self._perform_all(commands, address):
            self._clear()
            return
        draws, clears = self.for_draws, self.for_clears
        for slot, value, by_draws, by_clears in known:
            change = value - applied.get(slot, 0)
            draws += change * by_draws
            clears += change * by_clears
            applied[slot] = value
            self.accepted.add(value)
        self.for_draws, self.for_clears = draws & _ALL_BITS, clears & _ALL_BITS

    def _together(self, commands: memoryview) -> bool:
        """Whether processing a batch as a whole is worthwhile and allowed."""
        if self._has_many_draws(commands):
            self._small = 0
        else:
            self._small += 1
            if not self.kinds or self._small > PATIENCE:
                return False
        ctx = self.ctx
        if ctx.lowers or ctx.lost or ctx.feedback.current.active:
            return False
        if self.fixed is not None:
            return True
        if self.is_old:
            if not (self.readers or self._may_know_draws(_rows(commands))):
                return False
            ctx.immediate.draw_pending()
        return not self.uses_subroutines  # each glUseProgram resets them

    def _are_diverted(self) -> bool:
        """Whether calls are errors, or do not reach the driver as they are: between glBegin and
        glEnd, in a list, for feedback or selection.
        """
        ctx = self.ctx
        return ctx.immediate.active or ctx.lists.recorder is not None or ctx.rendering.active

    def _may_know_draws(self, rows: Ints) -> bool:
        """Whether a program is used of which draws can be known: that reads nothing of fixed
        function.
        """
        programs = self.ctx.programs
        if _is_own(programs.executable):
            return True
        used = set(rows[rows[:, 0] == _USE, 1].tolist())
        return any(_is_own(getattr(programs.names.get(name), "executable", None)) for name in used)

    @staticmethod
    def _has_many_draws(commands: memoryview) -> bool:
        """Whether there are at least `FEW` draws and clears: mostly the first commands tell."""
        draws = filter(_DRAWS.__contains__, commands.cast("q")[:: COMMAND_BYTES // 8])
        return next(islice(draws, FEW - 1, None), None) is not None

    @property
    def uses_subroutines(self) -> bool:
        """Whether the program in use selects subroutines."""
        executable = self.ctx.programs.executable
        return executable is not None and bool(executable.linked.subroutine_uniforms)

    def _in_order(self, rows: Ints, commands: memoryview, address: int) -> None:
        """Make calls of the compatibility profile: long runs of vertices, and of matrices and
        lists, as arrays.
        """
        if self.ctx.immediate.lists_set_state(rows):
            self.forget()
        kinds, size = _ORDERED[rows[:, 0]], COMMAND_BYTES
        kinds[self.ctx.immediate.unmatched(rows)] = 0
        made = 0
        for start, end in pairwise(_edges(kinds)) if len(rows) > _RUN else ():
            kind = int(kinds[start])
            if end - start <= _RUN or not kind:
                continue
            self._perform_all(commands[made * size : start * size], address + made * size)
            made, done = start, _RUN
            while done >= _RUN and end - made > _RUN:
                done = self._run(rows[made:end], kind == _SPECIFIED)
                made += done
        self._perform_all(commands[made * size :], address + made * size)

    def _run(self, rows: Ints, specifies: bool) -> int:
        """Make some calls together; returns how many."""
        immediate = self.ctx.immediate
        try:
            return immediate.specify(rows) if specifies else immediate.play(rows)
        except BaseException as error:  # of a draw
            abi.failed(FUNCTIONS["End" if specifies else "CallList"], error)
            return len(rows)

    def make(self, rows: Ints) -> None:
        """Make recorded calls one by one."""
        if len(rows):
            self._perform_all(rows.data.cast("B"), rows.ctypes.data)

    def _perform_all(self, commands: memoryview, address: int) -> bool:
        """Make calls as C made them; false if one of them failed."""
        good = True
        calls = self.ctx.calls
        for place, number in enumerate(_numbers(commands)):
            call = CALLS[number]
            arguments = call.arguments(commands, place * COMMAND_BYTES, address)
            function = calls[call.c_name]
            self._performing = True
            if self.fixed is not None and call.role is Role.DRAW:
                self.fixed.before(_rows(commands)[place])
            if call.copies:
                function = self.ctx.immediate.from_copies(_rows(commands)[place], function)
            try:
                function(*arguments)
            except BaseException as error:
                self._failed(call, error)
                good = False
        self._performing = False
        return good

    def perform(self, call: Call, arguments: tuple[Any, ...]) -> bool:
        """Make a call as C made it; false if it failed."""
        self._performing = True
        try:
            self.ctx.calls[call.c_name](*arguments)
        except BaseException as error:
            self._failed(call, error)
            return False
        finally:
            self._performing = False
        return True

    def _failed(self, call: Call, error: BaseException) -> None:
        abi.failed(call.function, error)
        ring.forget(self)

    def token(self) -> Any:
        """The driver's token for the draw that was just made, if the draw depends only on state
        that the stream tracks.
        """
        ctx, info = self.ctx, self.drawn
        if self.fixed is not None:
            return self.fixed.token()
        executable = ctx.programs.executable
        assert info is not None
        if executable is None or ctx.blends_advanced or executable.fill is not None:
            return None
        linked = executable.linked
        if executable.has_builtins or linked.subroutine_uniforms or linked.info.has_handles:
            return None
        if len(executable.uniforms.data) > _MOST_UNIFORMS:
            return None
        stages = ctx.programs.stages
        if stages.keys() != _BOTH or any(each is not executable for each in stages.values()):
            return None
        layout = ctx.arrays.current.layouts.get(executable.inputs)
        if layout is None or layout.clients or layout.current:
            return None
        return ctx.pipe.prepared_draw(info)


def _is_own(executable: Executable | None) -> bool:
    """Whether a program reads nothing of fixed function."""
    return executable is not None and not executable.has_builtins


def _rows(commands: memoryview) -> Ints:
    """The words of each command."""
    return np.frombuffer(commands, np.int64).reshape(-1, COMMAND_BYTES // 8)


def _edges(mask: npt.NDArray[Any]) -> list[int]:
    """Where runs of equal entries begin, and the end."""
    return [0, *((mask[1:] != mask[:-1]).nonzero()[0] + 1).tolist(), len(mask)]


def _decoded(commands: memoryview, address: int) -> list[tuple[str, tuple[Any, ...]]]:
    """The calls of a batch; pointers are addresses of copies of the data."""
    calls = [CALLS[number] for number in _numbers(commands)]
    return [
        (call.c_name, call.arguments(commands, place * COMMAND_BYTES, address))
        for place, call in enumerate(calls)
    ]


def _numbers(commands: memoryview) -> list[int]:
    """The function numbers of the calls."""
    return commands.cast("q")[:: COMMAND_BYTES // 8].tolist()
