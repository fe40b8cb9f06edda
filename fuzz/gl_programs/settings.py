"""The rows of `settings.txt`: state that changes between draws, and lines that put it back.

Programs follow each other on one context, so each row says what its initial value is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzz.gl_programs.common import UNITS
from gallette.compiler.text_tables import table_rows

_CHOICE = re.compile(r"\{([^{}=]*)(?:=([^{}]*))?\}")
_SWITCH = re.compile(r"switch (\w+) ([\d.]+)")
PROFILES = {
    "core": ("plain",),
    "compat": ("plain", "compat"),
    "es": ("plain",),
    "fixed": ("fixed",),
    "modern": ("modern",),
    "shared": (),
}
"""whose rows change the state of which programs"""
_PUT_BACK = {"fixed": ("plain", "compat")}
"""what else is put back for these; rows of plain programs are for all"""


@dataclass(frozen=True, slots=True)
class _Setting:
    """A row: the text that changes the state, as a rule writes it, and what puts it back."""

    of: frozenset[str]
    weight: str
    text: str
    reset: str


def _settings() -> Iterator[_Setting]:
    for row in table_rows(Path(__file__).with_name("settings.txt")):
        names, weight, text = row.split(" ", 2)
        of, (lines, _, reset) = frozenset(names.split(",")), text.partition(" => ")
        choices = [found[2] for found in _CHOICE.finditer(lines)]
        changed = _CHOICE.sub(r"{\1}", lines)
        if switch := _SWITCH.fullmatch(lines):
            changed = f"{{switch:{switch[1]}:{float(switch[2]) * 100:.0f}}}"
            reset = f"gl.disable(GL.{switch[1]})"
        elif not reset and None not in choices:
            reset = _CHOICE.sub(lambda found: found[2], lines)
        if "unit" in of:
            units = " ".join(map(str, range(UNITS)))
            last = "gl.active_texture(GL.TEXTURE0)"
            changed = f"gl.active_texture(GL.TEXTURE{{{units}}}); {changed}; {last}"
            each = "; ".join(f"gl.active_texture(GL.TEXTURE{u}); {reset}" for u in range(UNITS))
            reset = f"{each}; {last}" if reset else ""
        yield _Setting(of, weight, changed, reset)


_SETTINGS = tuple(_settings())


def rules(names: tuple[str, ...]) -> str:
    """A rule for each of these profiles, whose alternatives are its settings."""
    text = ""
    for name in names:
        rows = [row for row in _SETTINGS if row.of.intersection(PROFILES[name])]
        lines = [f"  {row.weight} {row.text}" for row in rows if row.weight != "0"]
        text += "\n".join([f"set_{name}:", *lines, ""]) if lines else ""
    return text


def resets(profile: str) -> list[str]:
    """Lines that put the state of a profile's programs back."""
    of = {"plain", *PROFILES[profile], *_PUT_BACK.get(profile, ())}
    return [*dict.fromkeys(row.reset for row in _SETTINGS if row.reset and row.of & of)]
