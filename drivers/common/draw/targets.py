"""Draws into several framebuffers that wait together, as long as nobody can tell.

Programs go to and fro between small targets. Draws into one of them do not see what becomes of the
others, unless they sample an attachment of theirs or share one. So those of each framebuffer are
executed by themselves, in order, and the framebuffers one after the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gallette.pipe.state import FramebufferState

from .clearing import Clear
from .families import Waiting
from .reaching import targets_of
from .waiting import Given

__all__ = ["Targets"]


class Targets:
    """The framebuffers that waiting draws write: what is written and read with each."""

    __slots__ = ("_last", "_of_framebuffer", "_sets")

    def __init__(self) -> None:
        self._of_framebuffer: dict[FramebufferState, tuple[set[int], set[int]]] = {}
        self._last: FramebufferState | None = None
        self._sets: tuple[set[int], set[int]] = (set(), set())  # those of the last

    @property
    def several(self) -> bool:
        """Draws into more than one wait."""
        return len(self._of_framebuffer) > 1

    def clear(self) -> None:
        """Nothing waits any more."""
        self._of_framebuffer.clear()
        self._last = None

    def note(self, given: Given) -> None:
        """Draws that were given this wait."""
        framebuffer = given.target
        if framebuffer is not self._last:  # to look it up takes longer than all the rest
            self._sets = self._of_framebuffer.setdefault(framebuffer, (set(), set()))
            self._last = framebuffer
        written, read = self._sets
        written |= given.targets
        if given.sampled:
            read |= given.sampled

    def admits(self, given: Given) -> bool:
        """May such draws wait, too? Those into other framebuffers neither see nor are seen."""
        framebuffer = given.target
        if not self._of_framebuffer or (self._last is framebuffer and not self.several):
            return True
        return not any(
            given.targets & written or given.sampled & written or given.targets & read
            for other, (written, read) in self._of_framebuffer.items()
            if other != framebuffer
        )

    def leaves_alone(self, framebuffer: FramebufferState) -> bool:
        """Do no draws that wait write or sample its attachments?"""
        own = targets_of(framebuffer)
        pairs = self._of_framebuffer.values()
        return not any(own & written or own & read for written, read in pairs)

    def __iter__(self) -> Iterator[FramebufferState]:
        return iter(self._of_framebuffer)

    def __contains__(self, framebuffer: FramebufferState) -> bool:
        """Do draws wait that write it?"""
        return framebuffer in self._of_framebuffer

    def apart(
        self, draws: Sequence[Waiting], clears: Sequence[Clear]
    ) -> Iterable[tuple[list[Waiting], list[Clear]]]:
        """The draws, and the clears between them, by framebuffers."""
        if not self.several:
            return ((list(draws), list(clears)),)
        found: dict[FramebufferState, list[int]] = {}
        known: dict[int, list[int]] = {}
        for number, draw in enumerate(draws):
            given = draw[0].like
            part = known.get(id(given))
            if part is None:
                part = known[id(given)] = found.setdefault(given.target, [])
            part.append(number)
        cleared: dict[FramebufferState, list[Clear]] = {framebuffer: [] for framebuffer in found}
        for clear in clears:
            own = found[clear.framebuffer]
            earlier = replace(clear, after=bisect_left(own, clear.after))
            cleared[clear.framebuffer].append(earlier)
        return [
            ([draws[number] for number in numbers], cleared[framebuffer])
            for framebuffer, numbers in found.items()
        ]
