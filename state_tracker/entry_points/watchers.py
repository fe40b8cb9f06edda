"""Observation of every GL call of every context, and of the events around the calls.

A `Watcher` is installed for the process; contexts made from then on report their methods, their
windows and their end to it. The state tracker does not depend on what watchers do
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


class Watcher(Protocol):
    """The events of a process's OpenGL that are reported to a watcher."""

    hidden: int

    def born(self, gl: Context, share: Context | None) -> None:
        """A context was made."""

    def wrap(
        self, gl: Context, function: Function, method: Callable[..., Any]
    ) -> Callable[..., Any]:
        """The method that callers get instead of the original."""

    def window(self, gl: Context, draw: Drawable | None, read: Drawable | None) -> None:
        """Windows became the default framebuffers."""

    def frame(self) -> None:
        """The end of a frame: buffers were swapped."""

    def died(self, gl: Context) -> None:
        """A context is about to be released."""


class Reader(Protocol):
    """An observer of programs that show frames without a window, by reading framebuffers."""

    def read(self, gl: Context, width: int, height: int) -> None:
        """The program has read pixels of the read framebuffer's colours."""

    def died(self, gl: Context) -> None:
        """A context is about to be released."""


WATCHERS: list[Watcher] = []
READERS: list[Reader] = []


def watcher() -> Watcher | None:
    """The watcher that new contexts get: the last one that was installed, or None."""
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
    """Suspend watching, for calls that the program did not make: reading a window back to
    show it.
    """
    seen = list(WATCHERS)
    for each in seen:
        each.hidden += 1
    try:
        yield
    finally:
        for each in seen:
            each.hidden -= 1
