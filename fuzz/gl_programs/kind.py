"""One kind of random programs: what they may do, how often, and the state that changes between.

A step takes what is known of the program so far and says one or more lines. A setting is a row of
`settings.txt`: lines that change state, and the lines that put it back to the initial value, for
programs follow each other on one context.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from fuzz.calls.arguments import group
from fuzz.gl_programs.common import FEWEST_DRAWS, UNITS

if TYPE_CHECKING:
    from fuzz.gl_programs.writer import Writer

__all__ = ["Kind"]

Known = TypeVar("Known")
_CHOICE = re.compile(r"\{([^{}=]*)(?:=([^{}]*))?\}")
_SWITCH = re.compile(r"switch (\w+) ([\d.]+)")


@dataclass(frozen=True, slots=True)
class _Setting:
    """A row: `chance` is that of a switch."""

    kinds: frozenset[str]
    weight: float
    lines: str
    chance: float | None
    reset: str

    def write(self, w: Writer) -> str:
        if self.chance is not None:
            return f"gl.{'enable' if w.often(self.chance) else 'disable'}({self.lines})"
        line = _CHOICE.sub(lambda found: w.of(found[1]), self.lines)
        if "unit" in self.kinds:
            unit = w.number(UNITS)
            line = f"gl.active_texture(GL.TEXTURE{unit}); {line}; gl.active_texture(GL.TEXTURE0)"
        return line


def _settings() -> Iterator[_Setting]:
    for row in Path(__file__).with_name("settings.txt").read_text().splitlines():
        if not row or row.startswith("#"):
            continue
        kinds, weight, text = row.split(" ", 2)
        lines, _, reset = text.partition(" => ")
        switch, chance = _SWITCH.fullmatch(lines), None
        choices = [found[2] for found in _CHOICE.finditer(lines)]
        if switch:
            lines, chance = f"GL.{switch[1]}", float(switch[2])
            reset = f"gl.disable({lines})"
        elif not reset and None not in choices:
            reset = _CHOICE.sub(lambda found: found[2], lines)
        of = frozenset(kinds.split(","))
        if reset and "unit" in of:
            each = "; ".join(f"gl.active_texture(GL.TEXTURE{u}); {reset}" for u in range(UNITS))
            reset = f"{each}; gl.active_texture(GL.TEXTURE0)"
        yield _Setting(of, float(weight), lines, chance, reset)


_SETTINGS = tuple(_settings())


class Kind(Generic[Known]):
    """A registry of steps, which take a `Known`; `names` are those of its rows of settings.

    `resets` put all of it back to the initial state, with the settings' own.
    """

    def __init__(self, names: Sequence[str], resets: Sequence[str] = ()) -> None:
        self._steps: list[Callable[[Known], None]] = []
        self._weights: list[int] = []
        self._names = names
        self._more = list(resets)

    def step(self, weight: int) -> Callable[[Callable[[Known], None]], Callable[[Known], None]]:
        """One thing a program may do, and how often beside the others."""

        def register(function: Callable[[Known], None]) -> Callable[[Known], None]:
            self._steps.append(function)
            self._weights.append(weight)
            return function

        return register

    def _rows(self, core: bool) -> list[_Setting]:
        names = {name for name in self._names if not (core and name == "compat")}
        return [row for row in _SETTINGS if row.kinds & names]

    def resets(self, core: bool) -> list[str]:
        """Lines that put everything back."""
        found = [row.reset for row in self._rows(core) if row.reset]
        return [*self._more, *dict.fromkeys(found)]

    def change(self, w: Writer) -> str:
        """One setting of those that the program's profile has."""
        rows = self._rows(w.core)
        return w.r.choices(rows, [row.weight for row in rows])[0].write(w)

    def walk(self, w: Writer, known: Known, steps: int) -> None:
        """At least so many steps, and ten draws."""
        done = 0
        while done < steps or w.draws < FEWEST_DRAWS:
            w.r.choices(self._steps, self._weights)[0](known)
            done += 1


def values(words: str) -> list[str]:
    """The values of a choice."""
    found: list[str] = []
    for word in words.split():
        found += [f"GL.{name}" for name in group(word[1:])] if word.startswith("$") else [word]
    return found
