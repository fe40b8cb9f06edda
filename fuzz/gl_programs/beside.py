"""Two programs at once, on contexts that share their objects: neither may notice the other.

The lines of both are one list, each with the mark of its program, in the order in which they run
when the programs run beside each other. Apart, each runs from its first line to its last on a
context that shares nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from fuzz.gl_programs.compare import Seen
from fuzz.gl_programs.run import Side, perform, queueing

__all__ = ["BESIDE", "MARKS", "Both", "Program", "mixed"]

MARKS = ("A: ", "B: ")
BESIDE = " beside "
"""stands between the profiles of both programs"""
MOST_AT_ONCE = 6
"""lines of one program before the other has its turn"""

Program = tuple[list[str], str]


def mixed(
    seed: int, program: Callable[[int, str], Program], kinds: Sequence[str], between: str = BESIDE
) -> Program:
    """Two programs of some kinds, interleaved; `between` stands between their profiles."""
    r = random.Random(seed)
    (one, profile), (two, other) = (program(r.randrange(1 << 20), r.choice(kinds)) for _ in MARKS)
    waiting = [[MARKS[0] + line for line in one], [MARKS[1] + line for line in two]]
    lines: list[str] = []
    turn = 0
    while any(waiting):
        count = r.randrange(1, MOST_AT_ONCE)
        lines += waiting[turn][:count]
        del waiting[turn][:count]
        turn = 1 - turn
    return lines, f"{profile}{between}{other}"


class Both:
    """A context for each of two programs; the sides are "beside" and "apart"."""

    def __init__(self, side: str, profile: str) -> None:
        first, second = profile.split(BESIDE)
        one = Side("queued", first)
        self._sides = one, Side("queued", second, one if side == "beside" else None)
        self._together = side == "beside"

    def run(self, lines: Sequence[str]) -> list[Seen]:
        """What both see, one after the other."""
        with queueing("queued"):
            seen: tuple[list[Seen], list[Seen]] = [], []
            names = [side.names(mine) for side, mine in zip(self._sides, seen, strict=True)]
            for line in lines if self._together else sorted(lines, key=_mark):
                which = MARKS.index(_mark(line))
                self._sides[which].gl.make_current()
                perform(line[len(MARKS[0]) :], names[which], seen[which])
            for side in self._sides:
                side.gl.make_current()
                side.world.reset()
            return [*seen[0], Seen("the other", ""), *seen[1]]

    def release(self) -> None:
        """Give the contexts back."""
        for side in reversed(self._sides):
            side.release()


def _mark(line: str) -> str:
    return line[: len(MARKS[0])]
