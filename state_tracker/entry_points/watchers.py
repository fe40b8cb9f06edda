"""Somebody watches: every GL call of every context, and what happens around the calls.

A `Watcher` is installed for the process; contexts made from then on show it their methods, the
windows they are given and their end. The state tracker knows nothing of what watchers do with it
(`gallette.capture` writes a file).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from gallette.state_tracker.entry_points.functions import Function

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.targets.window import Drawable

__all__ = [
    "READERS",
    "WATCHERS",
    "Reader",
    "Watcher",
    "colors_read",
    "frame_done",
    "unwatched",
    "watcher",
]


class Watcher(Protocol):
    """What is told of a process's OpenGL."""

    hidden: int

    def born(self, gl: Context, share: Context | None) -> None:
        """A context was made."""

    def wrap(
        self, gl: Context, function: Function, method: Callable[..., Any]
    ) -> Callable[..., Any]:
        """What callers get instead of a method."""

    def window(self, gl: Context, draw: Drawable | None, read: Drawable | None) -> None:
        """Windows became the default framebuffers."""

    def frame(self) -> None:
        """The end of a frame: buffers were swapped."""

    def died(self, gl: Context) -> None:
        """A context is about to be released."""


class Reader(Protocol):
    """An observer of programs that read framebuffers: those show pictures without a window."""

    def read(self, gl: Context, width: int, height: int) -> None:
        """The program has read so many pixels of the read framebuffer's colours."""

    def died(self, gl: Context) -> None:
        """A context is about to be released."""


WATCHERS: list[Watcher] = []
READERS: list[Reader] = []


def watcher() -> Watcher | None:
    """Who watches contexts that are made now."""
    return WATCHERS[-1] if WATCHERS else None


def frame_done() -> None:
    """A frame was shown."""
    for each in WATCHERS:
        each.frame()


def colors_read(gl: Context, width: int, height: int) -> None:
    """Colours of the read framebuffer were read."""
    for each in READERS:
        each.read(gl, width, height)


@contextmanager
def unwatched() -> Iterator[None]:
    """Calls the program did not make: reading a window back to show it."""
    seen = list(WATCHERS)
    for each in seen:
        each.hidden += 1
    try:
        yield
    finally:
        for each in seen:
            each.hidden -= 1
