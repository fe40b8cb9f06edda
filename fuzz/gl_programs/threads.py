"""Two programs at once in threads of their own: neither may notice the other.

One calls through C pointers, which leaves Python to the other meanwhile, and the other by methods.
Their contexts share their objects, or nothing but the driver's screen. One by one, each program
runs on a context that is alone.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from fuzz.gl_programs.beside import MARKS, Program, mixed
from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.run import CONTEXTS, Pointers, Side, queueing
from gallette.state_tracker.context import Context

__all__ = ["WHILE", "Threads", "at_once"]

WHILE = " while "
"""stands between the profiles of both programs"""
SHARING = f"{WHILE}sharing "
"""the same, if their contexts share objects"""
SOON = 1e-6
"""Seconds until a thread may have to wait for another: as often as can be."""


def at_once(seed: int, program: Callable[[int, str], Program], kinds: Sequence[str]) -> Program:
    """Two programs, as `mixed` makes them: the turns mean nothing."""
    between = random.Random(seed).choice((WHILE, SHARING))
    return mixed(seed, program, kinds, between)


class Threads:
    """A context for each of two programs; the sides are "at once" and "one by one"."""

    def __init__(self, side: str, profile: str) -> None:
        self._together = side == "at once"
        first, second = profile.replace(SHARING, WHILE).split(WHILE)
        if not self._together:
            self._sides = Side("queued", first), Side("queued", second)
            return
        of, version = CONTEXTS[first]
        context = Context("numpipe", profile=of, version=version)
        called = Side("queued", first, gl=Pointers(context))
        of, version = CONTEXTS[second]
        if SHARING in profile:
            other = Context("numpipe", profile=of, version=version, share=context)
        else:
            other = Context("numpipe", profile=of, version=version, screen=context.screen)
        share = called.world if SHARING in profile else None
        self._sides = called, Side("queued", second, gl=other, world=share)

    def run(self, lines: Sequence[str]) -> list[Seen]:
        """What both see, one after the other."""
        seen: tuple[list[Seen], list[Seen]] = [], []
        start = threading.Barrier(2 if self._together else 1)

        def one(which: int) -> None:
            mark, side = MARKS[which], self._sides[which]
            start.wait()
            side.gl.make_current()
            side.perform(
                (line[len(mark) :] for line in lines if line.startswith(mark)), seen[which]
            )
            side.world.reset()

        with queueing("queued"), often():
            threads = [threading.Thread(target=one, args=(which,)) for which in range(2)]
            for thread in threads:
                thread.start()
                if not self._together:
                    thread.join()
            for thread in threads:
                thread.join()
        return [*seen[0], Seen("the other", ""), *seen[1]]

    def release(self) -> None:
        """Give the contexts back."""
        for side in reversed(self._sides):
            side.release()


@contextmanager
def often() -> Iterator[None]:
    """Threads change meanwhile wherever they may."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SOON)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
