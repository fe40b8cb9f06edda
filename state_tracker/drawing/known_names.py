"""What names stand for while calls are recorded, in memory that machine code looks at.

Each table says of every name, up to some number, whether there is such an object and what has to be
known of it (see `entry_points.recording`). Recording ends before any of that changes.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.recording.words import (
    FRAMEBUFFER_WORDS,
    MOST_BUFFERS,
    MOST_DRAW_BUFFERS,
    MOST_FRAMEBUFFERS,
    MOST_PROGRAMS,
    PROGRAM_WORDS,
)
from gallette.state_tracker.objects import NameTable
from gallette.state_tracker.shading.programs import ProgramObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable
    from gallette.state_tracker.targets.framebuffers import Framebuffer

__all__ = ["Buffers", "Framebuffers", "Names", "Programs", "draw_buffers"]

_MOST_LATELY = 16  # framebuffers
_MOST_USED = 32  # programs
_MOST_UNIFORMS = 4096  # bytes


class Buffers:
    """A word for each name: one more than the bytes of that buffer that may be written; 0: there is
    none such."""

    def __init__(self) -> None:
        self.memory = (ctypes.c_int64 * MOST_BUFFERS)()
        self._known: tuple[int, int] = (-1, -1)

    def of(self, ctx: Context) -> int:
        """The address of the words, brought up to date."""
        names = ctx.buffers.names
        known = names.changes, ctx.group.epoch
        if known != self._known:
            self._known = known
            ctypes.memset(self.memory, 0, ctypes.sizeof(self.memory))
            for buffer in names.values():
                if buffer.name < MOST_BUFFERS:
                    writable = buffer.size if buffer.plain is not None else 0
                    self.memory[buffer.name] = 1 + writable
        return ctypes.addressof(self.memory)


_Words = list[ctypes.c_int64 | int]


class _Table:
    """Some words for each name, of which a few have any: the others are 0."""

    def __init__(self, words: int, most: int) -> None:
        self._words, self._told = words, dict[int, _Words]()
        self._memory = (ctypes.c_int64 * (words * most))()
        self._address = ctypes.addressof(self._memory)

    def tell(self, told: dict[int, _Words]) -> int:
        """Say this of these names, and of no others; answers the address."""
        if told != self._told:
            none: _Words = [0] * self._words
            for name in (*self._told, *told):
                at = self._words * name
                self._memory[at : at + self._words] = told.get(name, none)
            self._told = told
        return self._address


class Framebuffers:
    """What is said of the framebuffers that were drawn to lately: their draw buffers."""

    def __init__(self) -> None:
        self._table = _Table(FRAMEBUFFER_WORDS, MOST_FRAMEBUFFERS)
        self._lately: dict[int, None] = {}  # their names

    def note(self, name: int) -> None:
        """It was drawn to."""
        if name not in self._lately and 0 < name < MOST_FRAMEBUFFERS:
            if len(self._lately) >= _MOST_LATELY:
                self._lately.clear()
            self._lately[name] = None

    def of(self, ctx: Context) -> int:
        """The address of the words, brought up to date."""
        self.note(ctx.framebuffers.draw.name)
        told = {}
        for name in self._lately:
            found = ctx.framebuffers.names.get(name)
            if found is not None and found.status(ctx) == GL.FRAMEBUFFER_COMPLETE:
                told[name] = draw_buffers(found)
        return self._table.tell(told)


def draw_buffers(framebuffer: Framebuffer) -> _Words:
    """A framebuffer's draw buffers as words. (Windows have other rules.)"""
    return [*_as_words(tuple(framebuffer.draw_buffers), framebuffer.is_window)]


@functools.lru_cache(maxsize=256)
def _as_words(buffers: tuple[int, ...], is_window: bool) -> tuple[int, ...]:
    used = [number for number, name in enumerate(buffers, 1) if name != GL.NONE]
    count = used[-1] if used and not is_window else 0
    names = [*buffers[:count], *[0] * MOST_DRAW_BUFFERS][:MOST_DRAW_BUFFERS]
    pairs = struct.unpack(
        f"<{MOST_DRAW_BUFFERS // 2}q", struct.pack(f"<{MOST_DRAW_BUFFERS}I", *names)
    )
    return count if count <= MOST_DRAW_BUFFERS else 0, *pairs


class Programs:
    """What is said of the programs that drew lately: where their uniforms go."""

    def __init__(self) -> None:
        self._table = _Table(PROGRAM_WORDS, MOST_PROGRAMS)
        self._lately: dict[int, None] = {}  # their names

    def note(self, name: int) -> None:
        """It drew."""
        if name not in self._lately and name < MOST_PROGRAMS:
            if len(self._lately) >= _MOST_USED:
                self._lately.clear()
            self._lately[name] = None

    def of(self, ctx: Context) -> tuple[int, dict[int, Executable]]:
        """The address of the words, brought up to date, and what those are that they know."""
        known = {}
        for name in self._lately:
            found = ctx.programs.names.get(name)
            if isinstance(found, ProgramObject) and self.can_be_recorded(found):
                assert found.executable is not None
                known[name] = found.executable
        told = {name: each.uniforms.words() for name, each in known.items()}
        return self._table.tell(told), known

    @staticmethod
    def can_be_recorded(program: ProgramObject) -> bool:
        """Is all that changes between its draws among what is recorded? It must be there when it
        comes into use again."""
        executable = program.executable
        return (
            executable is not None
            and program.link_ok
            and not program.delete_pending
            and program.name < MOST_PROGRAMS
            and not executable.has_builtins
            and not executable.linked.subroutine_uniforms
            and len(executable.uniforms.data) <= _MOST_UNIFORMS
        )


class Names:
    """A byte for each name of one kind of object: may it be bound as it is?"""

    def __init__(self, most: int) -> None:
        self.memory = bytearray(most)
        self._changes = -1

    def of(self, table: NameTable[Any], suits: Callable[[Any], bool]) -> int:
        """The address of the bytes, brought up to date."""
        if self._changes != table.changes:
            self._changes = table.changes
            self.memory[:] = bytes(len(self.memory))
            for found in table.values():
                if found.name < len(self.memory) and suits(found):
                    self.memory[found.name] = 1
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
