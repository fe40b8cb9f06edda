"""Running programs: their lines on one context or on two, and everything that is seen of them.

Contexts serve many programs, one after the other: making one costs more than drawing into it, and
what one program leaves behind is one more thing that can go wrong.

The profile of a program says what it runs on. "core" is one context. Where there are two, each line
begins with the mark of its own: "shared" is one program that uses the objects of both; "core beside
fixed" are two programs whose contexts share objects, and whose lines alternate; "core while fixed"
two programs in threads ("core while sharing fixed" if their contexts share objects). The other side
of such a pair runs each program by itself, from its first line to its last, on a context that
shares nothing.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fuzz import programs
from fuzz.gl_programs import es
from fuzz.gl_programs.common import MARKS
from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.eyes import Eyes
from fuzz.gl_programs.shared import Shared
from fuzz.gl_programs.world import World
from gallette.drivers.common.draw import execution, queue
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.native.context import NativeContext
from gallette.state_tracker.stream import stream

CONTEXTS: dict[str, tuple[str, tuple[int, int]]] = {
    "core": ("core", (4, 3)),
    "compat": ("compat", (4, 3)),
    "es": ("es", es.VERSION),
    "fixed": ("compat", (4, 3)),
    "modern": ("core", (4, 5)),
    "shared": ("core", (4, 3)),
}
"""the profile and version of each kind of program"""
_NUMPIPE = ("queued", "immediate", "streamed", "together", "apart")
_PAIR = re.compile(r" (beside|while sharing|while) ")
SOON = 1e-6
"""Seconds until a thread may have to wait for another: as often as can be."""


@contextmanager
def queueing(side: str) -> Iterator[None]:
    """numpipe merges whatever it may, or nothing: both are the same GL."""
    before = queue.SMALL, execution.WORTH_MERGING, stream.FEW, stream.PATIENCE
    if side in ("queued", "streamed", "together", "apart"):
        execution.WORTH_MERGING = 2
    if side.endswith("streamed"):  # every batch is looked at as a whole
        stream.FEW, stream.PATIENCE = 1, 1 << 30
    elif side == "immediate":
        queue.SMALL = 0
    try:
        yield
    finally:
        queue.SMALL, execution.WORTH_MERGING, stream.FEW, stream.PATIENCE = before


class Pointers(NativeContext):
    """One of our contexts, called as C does."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.profile, self.requested_version = context.profile, context.requested_version
        self._egl: Any = _Called(context)
        self._retained = {}


class _Called:
    """What a native context asks of EGL."""

    def __init__(self, context: Context) -> None:
        self.make_current = context.make_current
        self.get_proc_address = context.load_opengl_function
        self.destroy = context.release


class _Seat:
    """A context and what programs on it may call; it may share objects, or only the screen."""

    def __init__(
        self, side: str, profile: str, share: _Seat | None = None, screen: _Seat | None = None
    ) -> None:
        driver, pointers = side.removesuffix(":streamed"), side.endswith(("streamed", "pointers"))
        of, version = CONTEXTS[profile]
        kinds: dict[str, Any] = {}
        make: Any = Context
        if driver.startswith("native"):
            driver, make = driver.partition(":")[2] or "llvmpipe", NativeContext
        elif driver in (*_NUMPIPE, "pointers"):
            driver = "numpipe"
        if screen is not None:
            kinds["screen"] = screen.context.screen
        other = share.context if share is not None else None
        made = make(driver, profile=of, version=version, share=other, **kinds)
        self.context = made
        self.gl: Any = Pointers(made) if pointers else made
        self.world = World(self.gl, profile, share and share.world)
        self.world.reset()

    def names(self, seen: list[Seen]) -> dict[str, Any]:
        """The names that a program finds."""
        world, eyes = self.world, Eyes(self.world, seen)
        names: dict[str, Any] = {"gl": self.gl, "GL": GL, "np": np, "w": world, "see": eyes}
        return names


class Side:
    """The contexts of one side of a comparison.

    `side` says how one context draws: numpipe merging draws ("queued"), the same called through C
    pointers ("streamed"), numpipe drawing at once ("immediate"), "native", or another driver by its
    name (with ":streamed", through C pointers). Two programs run "together" or "apart".
    """

    def __init__(self, side: str, profile: str, lasting: bool = True) -> None:
        """`lasting`: other programs follow on these contexts."""
        self.side, self._lasting = side, lasting
        first, *pair = _PAIR.split(profile)
        how, second = pair or ("shared" * (profile == "shared"), profile)
        self._threads = how.startswith("while")
        self._one_program = how in ("", "shared")
        self._together = together = side == "together"
        one = _Seat("pointers" if self._threads and together else side, first)
        self.seats = [one]
        if how:
            share = one if how == "shared" or (together and how != "while") else None
            screen = one if how == "while" and together else None
            self.seats.append(_Seat(side, second, share, screen))
        if how == "shared":
            two = self.seats[1].world
            two.linked, two.uses = one.world.linked, one.world.uses

    @property
    def gl(self) -> Any:
        return self.seats[0].gl

    @property
    def world(self) -> World:
        return self.seats[0].world

    def run(self, lines: Sequence[str]) -> list[Seen]:
        """Execute the lines, and take the contexts back to where they were if they go on."""
        seen: tuple[list[Seen], list[Seen]] = [], []
        with queueing(self.side):
            if self._threads:
                self._at_once(lines, seen)
            elif self._one_program:
                self.perform(lines, seen[0])
            else:
                self._in_turn(lines, seen)
            if not self._threads:
                for seat in self.seats:
                    self._end(seat)
        return seen[0] if self._one_program else [*seen[0], Seen("the other", ""), *seen[1]]

    def _end(self, seat: _Seat) -> None:
        """What follows a program: another one, from where the first began."""
        seat.gl.make_current()
        if self._lasting:
            seat.world.reset()

    def perform(self, lines: Iterable[str], seen: list[Seen]) -> None:
        """Execute one program, which has the names of both contexts if there are two."""
        own, last = [seat.names(seen) for seat in self.seats], list[str]()
        for seat, names in zip(self.seats, own, strict=True):
            names["sh"] = Shared(seat.world, seen, self.side == "native", last)
        marked, names = len(own) == 2, dict(own[0])
        if not marked:
            self.seats[0].gl.make_current()
        for line in lines:
            if marked:
                which = MARKS.index(_mark(line))
                self.seats[which].gl.make_current()
                names |= own[which]
                line = line[len(MARKS[0]) :]
            perform(line, names, seen)
        for seat, named in zip(self.seats if marked else (), own, strict=False):
            seat.gl.make_current()
            named["sh"].release()

    def _in_turn(self, lines: Sequence[str], seen: Sequence[list[Seen]]) -> None:
        """Execute two programs, whose lines alternate where they run together."""
        names = [seat.names(mine) for seat, mine in zip(self.seats, seen, strict=True)]
        for line in lines if self._together else sorted(lines, key=_mark):
            which = MARKS.index(_mark(line))
            self.seats[which].gl.make_current()
            perform(line[len(MARKS[0]) :], names[which], seen[which])

    def _at_once(self, lines: Sequence[str], seen: Sequence[list[Seen]]) -> None:
        """Execute two programs in threads, one after the other where they do not run together."""
        start = threading.Barrier(2 if self._together else 1)

        def one(which: int) -> None:
            mark, seat = MARKS[which], self.seats[which]
            start.wait()
            seat.gl.make_current()
            names = seat.names(seen[which])
            for line in lines:
                if line.startswith(mark):
                    perform(line[len(mark) :], names, seen[which])
            self._end(seat)

        before = sys.getswitchinterval()
        sys.setswitchinterval(SOON)
        try:
            threads = [threading.Thread(target=one, args=(which,)) for which in range(2)]
            for thread in threads:
                thread.start()
                if not self._together:
                    thread.join()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)

    def release(self) -> None:
        """Give the contexts back; raises if one leaks."""
        for seat in reversed(self.seats):
            seat.gl.release()


def _mark(line: str) -> str:
    return line[: len(MARKS[0])]


def marks_of(profile: str) -> tuple[str, ...]:
    """What the lines of a program begin with."""
    return ("",) if profile in CONTEXTS and profile != "shared" else MARKS


def run(lines: Sequence[str], side: str, profile: str = "compat") -> list[Seen]:
    """A program on contexts of its own, which are released as the program leaves them."""
    contexts = Side(side, profile, lasting=False)
    seen = contexts.run(lines)
    try:
        with queueing(side):
            contexts.release()
    except Exception as error:
        seen.append(Seen("release", f"{type(error).__name__}: {error}"))
    return seen


def perform(line: str, names: dict[str, Any], seen: list[Seen]) -> None:
    """Execute a line; the error of one that fails in Python is what was seen."""

    def failed(error: Exception) -> None:
        seen.append(Seen(f"line {line}", f"{type(error).__name__}: {error}"))

    programs.perform(line, names, failed)
    found = names["gl"].get_error()
    if found:
        seen.append(Seen(f"error at {line}", GL.name_of(found, "error")))
