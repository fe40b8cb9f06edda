"""One kind of random programs: what they may do, how often, and the state that changes between.

A setting is a function that takes a `Writer` and writes a line; it stands beside the line that puts
its state back to the initial value, for programs follow each other on one context. A step takes
what is known of the program so far and says one or more lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from fuzz.gl_programs.writer import Writer

__all__ = ["FEWEST_DRAWS", "Kind"]

FEWEST_DRAWS = 10
"""of a program"""

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class _Setting:
    write: Callable[[Writer], str]
    core: bool


class Kind(Generic[Known]):
    """A registry of steps, which take a `Known`, and of settings."""

    def __init__(self, resets: Sequence[str] = ()) -> None:
        self._steps: list[Callable[[Known], None]] = []
        self._weights: list[int] = []
        self._settings: list[_Setting] = []
        self.resets = list(resets)
        """what puts all of it back to the initial state"""
        self.compat_resets: list[str] = []
        """the same of what core profiles do not have"""

    def step(self, weight: int) -> Callable[[Callable[[Known], None]], Callable[[Known], None]]:
        """One thing a program may do, and how often beside the others."""

        def register(function: Callable[[Known], None]) -> Callable[[Known], None]:
            self._steps.append(function)
            self._weights.append(weight)
            return function

        return register

    def setting(self, write: Callable[[Writer], str], reset: str, *, core: bool = True) -> None:
        """A line that changes one piece of state, and the line that undoes it (if it has one)."""
        self._settings.append(_Setting(write, core))
        known = self.resets if core else self.compat_resets
        if reset and reset not in known:
            known.append(reset)

    def switch(self, cap: str, chance: float, *, core: bool = True) -> None:
        """A capability, on with this chance."""
        self.setting(
            lambda w: f"gl.{'enable' if w.often(chance) else 'disable'}(GL.{cap})",
            f"gl.disable(GL.{cap})",
            core=core,
        )

    def change(self, w: Writer) -> str:
        """One setting of those that the program's profile has."""
        return w.r.choice([s for s in self._settings if s.core or not w.core]).write(w)

    def walk(self, w: Writer, known: Known, steps: int) -> None:
        """At least so many steps, and ten draws."""
        done = 0
        while done < steps or w.draws < FEWEST_DRAWS:
            w.r.choices(self._steps, self._weights)[0](known)
            done += 1
