"""Contexts whose calls are recorded without Python (see `entry_points.recording`).

Recording begins behind draws that were like one before (`repeats`): the words say what state the
context is in then. It ends when somebody comes to Python, and what was noted is replayed
(`replaying`). The words of its last record say what state the context is in behind that.
"""

from __future__ import annotations

import ctypes
import struct
from _thread import get_ident
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing import draw as draws
from gallette.state_tracker.drawing import viewports
from gallette.state_tracker.drawing.known_names import (
    Buffers,
    Framebuffers,
    Names,
    Programs,
    draw_buffers,
)
from gallette.state_tracker.drawing.replaying import Replay, Tokens
from gallette.state_tracker.enables import is_enabled, set_enabled
from gallette.state_tracker.entry_points import recording, shortcuts
from gallette.state_tracker.entry_points.current import CALL_TABLES, current_context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.memory import LISTENERS
from gallette.state_tracker.entry_points.recording import LOG_BYTES, MARK, WRITTEN_BYTES, words
from gallette.state_tracker.entry_points.recording.words import (
    BOUND,
    CAPABILITIES,
    COPIED,
    FIRST_STATE,
    FRAMEBUFFER_WORDS,
    HEADER,
    MOST_ARRAYS,
    MOST_BUFFERS,
    MOST_POINTS,
    MOST_QUERIES,
    MOST_TEXTURES,
    PROGRAM_WORDS,
    SAMPLES_PASSED,
    TEXTURE_2D,
    UNIFORM_UNIT,
    UNITS,
    WORDS,
    Word,
)
from gallette.state_tracker.shading.program_objects import use_program
from gallette.state_tracker.texturing.texture_objects import bind_texture
from gallette.state_tracker.vertices.buffer_objects import bind_buffer
from gallette.state_tracker.vertices.vertex_arrays import bind_vertex_array

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable
    from gallette.state_tracker.targets.framebuffers import Framebuffer

__all__ = ["Replays"]

_WORTH_IT = 8
"""So few draws recorded are quicker made one by one."""

_LEAST_PATIENCE, _MOST_PATIENCE = 2, 256
_OF_PROGRAM = slice(Word.PLACES, Word.PLACES + PROGRAM_WORDS)
_CLEAR_VALUES = slice(Word.CLEAR_COLOR, Word.CLEAR_STENCIL + 1)
_DRAW_BUFFERS = slice(Word.DRAW_BUFFERS, Word.DRAW_BUFFERS + FRAMEBUFFER_WORDS)
_COLOR = (ctypes.c_float * 4).from_buffer(words, 8 * Word.CLEAR_COLOR)
_CLEARED = GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT
_SITUATIONS = 16

_State = tuple[int, ...]
_UNIT_0, _POINT_0 = Word.UNIT_0 - FIRST_STATE, Word.POINT_0 - FIRST_STATE
_FRAMEBUFFER, _PROGRAM = Word.FRAMEBUFFER - FIRST_STATE, Word.PROGRAM - FIRST_STATE
_BOXES = (
    (Word.SCISSOR, "scissors", viewports.scissor, Dirty.SCISSOR),
    (Word.VIEWPORT, "viewports", viewports.viewport, Dirty.VIEWPORT),
)
"""The word of a rectangle, the attribute, what sets it for all viewports, what is dirty then."""


class Replays:
    """A context whose calls may be recorded."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._hidden: dict[str, Any] = {}
        self._shown: _State = ()  # the state the context is in, as words
        self._executables: dict[int, Executable] = {}  # of programs that may come into use
        self._repeated = 0  # draws in a row, more or less
        self._patience = _LEAST_PATIENCE
        self._replaying = False
        self._arrays, self._textures = Names(MOST_ARRAYS), Names(MOST_TEXTURES)
        self._tokens: dict[Any, Tokens] = {}
        self._queries, self._buffers = Names(MOST_QUERIES), Buffers()
        self._framebuffers, self._programs = Framebuffers(), Programs()
        self._turn = ctx.group.lock
        self._target: Framebuffer = ctx.framebuffers.draw  # as it was
        self._boxes: dict[str, list[Any]] = {}  # of all viewports, as they were
        self._points: list[tuple[Any, int, int]] = []  # of uniform blocks, as they were
        self._bound: tuple[int, ...] = ()  # the buffers that are, by `BOUND`
        self._cleared: list[int] = []  # what glClear clears to, as words

    # -- beginning -----------------------------------------------------------------------------

    def repeated(self, executable: Executable) -> None:
        """A draw was like one before. If there were several, the next will be recorded."""
        self._repeated += 1
        program = self.ctx.programs.current
        if program is not None:
            self._programs.note(program.name)
        self._framebuffers.note(self.ctx.framebuffers.draw.name)
        if self._repeated >= self._patience and recording.possible():
            self._repeated = 0
            if self._may_begin(executable):
                self._begin()

    def _may_begin(self, executable: Executable) -> bool:
        ctx = self.ctx
        program = ctx.programs.current
        return (
            recording.is_free()
            and not self._replaying
            and ctx.is_core
            and ctx.may_shorten
            and current_context() is ctx
            and CALL_TABLES.get(get_ident()) is ctx.calls
            and not (LISTENERS or ctx.debug.enabled or ctx.rendering.active)
            and program is not None
            and program.executable is executable
            and self._programs.can_be_recorded(program)
            and ctx.arrays.current.name > 0
            and ctx.limits.uniform_buffer_offset_alignment == UNIFORM_UNIT
            and all(_are_alike(getattr(ctx.raster, name)) for _, name, _, _ in _BOXES)
            and not any(unit.bound[TEXTURE_2D].deleted for unit in ctx.textures.units[:UNITS])
        )

    def _begin(self) -> None:
        with recording.beginning(self) as free:
            if free:
                self._say_what_is_so()

    def _say_what_is_so(self) -> None:
        ctx = self.ctx
        assert ctx.programs.current is not None
        words[Word.KNOWN_PROGRAMS], self._executables = self._programs.of(ctx)
        current = self._executables[ctx.programs.current.name]
        words[_OF_PROGRAM] = current.uniforms.words()
        size = max(len(each.uniforms.data) for each in self._executables.values())
        start, stride = recording.log(), 8 * (HEADER + COPIED) + -(-size // 8) * 8
        words[Word.NEXT], words[Word.END] = start, start + LOG_BYTES - stride
        words[Word.STRIDE] = stride
        words[Word.KNOWN_ARRAYS] = self._arrays.of(ctx.arrays.names, lambda array: True)
        words[Word.KNOWN_TEXTURES] = self._textures.of(
            ctx.textures.names, lambda texture: texture.target.value == TEXTURE_2D
        )
        words[Word.KNOWN_QUERIES] = self._queries.of(
            ctx.queries.names, lambda query: query.target == SAMPLES_PASSED
        )
        words[Word.KNOWN_BUFFERS] = self._buffers.of(ctx)
        copies = recording.written()
        words[Word.COPY_NEXT], words[Word.COPY_END] = copies, copies + WRITTEN_BYTES - 8
        words[Word.QUERY] = self._active_query()
        self._boxes = {name: getattr(ctx.raster, name) for _, name, _, _ in _BOXES}
        points = ctx.buffers.uniform[:MOST_POINTS]
        self._points = [(point.buffer, point.offset, point.size) for point in points]
        self._bound = self._bound_buffers()
        for word, name in zip(BOUND.values(), self._bound, strict=True):
            words[word] = name
        self._target = ctx.framebuffers.draw
        self._cleared = self._begin_clears()
        self._shown = self._state()
        words[FIRST_STATE:WORDS] = list(self._shown)
        shortcuts.forget()
        self._hidden = ctx.__dict__
        CALL_TABLES[get_ident()] = recording.Guard(self, ctx.calls)
        ctx.__dict__ = {MARK: self}

    def _begin_clears(self) -> list[int]:
        """Say what is so around clears; answers the words of what they clear to."""
        ctx = self.ctx
        targets, state = ctx.framebuffers, ctx.fragment
        _COLOR[:] = list(state.clear_color)
        noted = tuple(_COLOR) == state.clear_color and not ctx.raster.discard
        words[Word.NOT_CLEARED] = ~_CLEARED if noted else -1
        struct.pack_into("<d", words, 8 * Word.CLEAR_DEPTH, state.clear_depth)
        words[Word.CLEAR_STENCIL] = state.clear_stencil & 0xFFFFFFFF
        words[Word.READ_FRAMEBUFFER] = targets.read.name
        words[Word.KNOWN_FRAMEBUFFERS] = self._framebuffers.of(ctx)
        words[_DRAW_BUFFERS] = draw_buffers(targets.draw)
        masks = [each.mask for each in state.blend]
        bits = {mask: sum(on << bit for bit, on in enumerate(mask)) for mask in {*masks}}
        told = bytes([bits[mask] for mask in masks]).ljust(8, b"\xff")
        struct.pack_into("<8s", words, 8 * Word.COLOR_MASKS, told)
        words[Word.COLOR_MASK] = bits[masks[0]] if len(bits) == 1 else -1
        words[Word.DEPTH_MASK] = int(state.depth_mask)
        return words[_CLEAR_VALUES]

    def _state(self) -> _State:
        """What the words of state are now."""
        ctx = self.ctx
        found = [0] * COPIED
        assert ctx.programs.current is not None
        found[_PROGRAM] = ctx.programs.current.name
        found[Word.ARRAY - FIRST_STATE] = ctx.arrays.current.name
        found[_FRAMEBUFFER] = ctx.framebuffers.draw.name
        found[Word.ACTIVE - FIRST_STATE] = ctx.textures.active
        for cap, (word, _) in CAPABILITIES.items():
            found[word - FIRST_STATE] = int(is_enabled(ctx, cap))
        for word, *_ in _BOXES:
            found[word - FIRST_STATE + 1] = -1
        found[_POINT_0 : _POINT_0 + 2 * MOST_POINTS] = [-1] * (2 * MOST_POINTS)
        found[_UNIT_0:] = [unit.bound[TEXTURE_2D].name for unit in ctx.textures.units[:UNITS]]
        return tuple(found)

    def _active_query(self) -> int:
        """The word of the query of samples."""
        active = self.ctx.queries.active
        query = active.get((SAMPLES_PASSED, 0))
        if query is None or len(active) > 1:
            return -1 if active else 0
        return query.name

    def _bound_buffers(self) -> tuple[int, ...]:
        """The words of the targets of buffers."""
        bound, names = self.ctx.buffers.bound, self.ctx.buffers.names
        found = [bound[target] for target in BOUND]
        return tuple(
            0
            if each is None or names.get(each.name) is not each or each.name >= MOST_BUFFERS
            else each.name
            for each in found
        )

    def for_others(self) -> dict[str, Any]:
        """What threads see that are not recorded: they neither end that nor replay in between."""
        return {} if words[Word.THREAD] == get_ident() else self._hidden

    # -- the end -------------------------------------------------------------------------------

    def end(self) -> None:
        """Replay what was noted, and record no more."""
        with self._turn:
            self._end()

    def _end(self) -> None:
        ctx, thread, executables = self.ctx, words[Word.THREAD], self._executables
        noted = recording.stop(self)
        if noted is None:
            return
        new, ctx.__dict__ = ctx.__dict__, self._hidden
        ctx.__dict__.update({name: value for name, value in new.items() if name != MARK})
        if isinstance(CALL_TABLES.get(thread), recording.Guard):
            CALL_TABLES[thread] = ctx.calls
        if ctx.group.crowded:  # by now
            ctx.forget_methods()
            ctx.group.take(ctx)
        last = tuple(noted.words[FIRST_STATE:])
        bound = [noted.words[word] for word in BOUND.values()]
        many = len(noted.log) >= _WORTH_IT * noted.words[Word.STRIDE]
        self._patience = _LEAST_PATIENCE if many else min(2 * self._patience, _MOST_PATIENCE)
        if not noted.words[Word.PENDING]:
            return
        ctx.dirty |= Dirty.CONSTANTS
        if noted.log:
            uniforms = [executable.uniforms.data for executable in executables.values()]
            final = [bytes(each) for each in uniforms]
            self._replaying = True
            try:
                Replay(self, executables, noted).all()
            finally:
                self._replaying = False
                for each, data in zip(uniforms, final, strict=True):
                    each[:] = data
                ctx.dirty |= Dirty.CONSTANTS
        self.show(last)
        read = noted.words[Word.READ_FRAMEBUFFER]
        if read != ctx.framebuffers.read.name:
            ctx.framebuffers.bind(ctx.framebuffers.names.require(read), False, True)
        cleared = noted.words[_CLEAR_VALUES]
        if cleared != self._cleared:
            self.show_cleared(cleared)
        for target, old, name in zip(BOUND, self._bound, bound, strict=True):
            if name != old:
                bind_buffer(ctx, target, name)

    def tokens(self, executables: Iterable[Executable]) -> Tokens:
        """Those of kinds of records that are known in this situation."""
        ctx = self.ctx
        situation = ctx.repeats.situation(executables), draws.restarts(ctx), self._shown
        found = self._tokens.get(situation)
        if found is None:
            if len(self._tokens) >= _SITUATIONS:
                self._tokens.clear()
            found = self._tokens[situation] = Tokens()
        return found

    def show(self, state: _State) -> None:
        """Bring the context into that state."""
        old = self._shown
        if state == old:
            return
        ctx, self._shown = self.ctx, state
        if state[_PROGRAM] != old[_PROGRAM]:
            use_program(ctx, state[_PROGRAM])
        target = state[_FRAMEBUFFER]
        if target != old[_FRAMEBUFFER]:
            found = ctx.framebuffers.names.get(target) if target else None
            ctx.framebuffers.bind(found or self._target, True, False)
        array = state[Word.ARRAY - FIRST_STATE]
        if array != old[Word.ARRAY - FIRST_STATE]:
            bind_vertex_array(ctx, array)
        for cap, (word, _) in CAPABILITIES.items():
            if state[word - FIRST_STATE] != old[word - FIRST_STATE]:
                set_enabled(ctx, cap, bool(state[word - FIRST_STATE]))
        if state[_UNIT_0:] != old[_UNIT_0:]:
            for unit in range(UNITS):
                texture = state[_UNIT_0 + unit]
                if texture != old[_UNIT_0 + unit]:
                    ctx.textures.active = unit
                    bind_texture(ctx, TEXTURE_2D, texture)
        ctx.textures.active = state[Word.ACTIVE - FIRST_STATE]
        for number in range(MOST_POINTS):
            at = _POINT_0 + 2 * number
            if state[at : at + 2] != old[at : at + 2]:
                self._bind_point(number, *state[at : at + 2])
        for word, name, change, dirty in _BOXES:
            at = word - FIRST_STATE
            if state[at : at + 2] == old[at : at + 2]:
                continue
            if state[at + 1] < 0:
                setattr(ctx.raster, name, list(self._boxes[name]))
                ctx.dirty |= dirty
            else:
                change(ctx, *struct.unpack("<4i", struct.pack("<2q", *state[at : at + 2])))

    def show_cleared(self, values: Sequence[int]) -> None:
        """Let glClear clear to what these words say."""
        state = self.ctx.fragment
        *color, state.clear_depth, stencil, _ = struct.unpack("<4fd2i", struct.pack("<4q", *values))
        state.clear_color, state.clear_stencil = tuple(color), stencil

    @property
    def scissor(self) -> tuple[int, int, int, int]:
        """The first box before any was recorded."""
        box: tuple[int, int, int, int] = self._boxes["scissors"][0]
        return box

    def _bind_point(self, number: int, named: int, offset: int) -> None:
        """Bind a buffer for uniform blocks, or what was bound before."""
        ctx = self.ctx
        found = self._points[number]
        if named >= 0:
            found = ctx.buffers.names.get(named & 0xFFFFFFFF), offset, named >> 32
        ctx.buffers.uniform[number].set(*found)
        ctx.dirty |= Dirty.UNIFORM_BUFFERS


def _are_alike(things: list[Any]) -> bool:
    return things.count(things[0]) == len(things)
