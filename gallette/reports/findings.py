"""A test's messages, parsed: the line of the file, the pixel, the values.

The runner writes `file:line: command: probe at (x, y): expected ..., observed ... (n of m pixels
differ)`; a report marks the line, shows the numbers side by side and links to the pixel. Messages
of other runners (piglit's own) have no such places and stay text.
"""

from __future__ import annotations

import re

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.piglit_subset.results import Entry

_PLACE = re.compile(
    r"^(?P<file>\S.*?\.shader_test):(?P<line>\d+):(?:(?P<column>\d+):)? ?(?P<text>.*)$"
)
_PROBE = re.compile(
    r"^(?P<command>.*?): probe at \((?P<x>-?\d+), (?P<y>-?\d+)\): "
    r"expected (?P<expected>.*?), observed (?P<seen>.*?) \((?P<count>.*?)\)$"
)
_VALUE = re.compile(
    r"^(?P<command>.*?): .*?expected (?P<expected>.*?), (?:observed|got) (?P<seen>.*)$"
)


@lazy_dataclass(frozen=True)
class Finding:
    """One problem, with its line of the test file."""

    line: int
    text: str
    command: str = ""
    expected: str = ""
    seen: str = ""
    pixel: tuple[int, int] | None = None
    count: str = ""


def findings(entry: Entry) -> list[Finding]:
    """All problems that the entry's messages report about lines of the test, in order."""
    found: list[Finding] = []
    for text in [*entry.out.splitlines(), *entry.reason.splitlines()]:
        place = _PLACE.match(text.removeprefix("note: "))
        if place is None:
            continue
        finding = _finding(int(place["line"]), place["text"])
        if finding not in found:
            found.append(finding)
    return found


def _finding(line: int, text: str) -> Finding:
    probe = _PROBE.match(text)
    if probe is not None:
        pixel = int(probe["x"]), int(probe["y"])
        return Finding(
            line, text, probe["command"], probe["expected"], probe["seen"], pixel, probe["count"]
        )
    value = _VALUE.match(text)
    if value is not None:
        return Finding(line, text, value["command"], value["expected"], value["seen"])
    return Finding(line, text)
