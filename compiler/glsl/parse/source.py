"""Source locations: one integer per place, converted to file:line:column on demand.

A shader may have several strings, includes, spliced lines and `#line` directives. Storing all that
with each token would be slow, so a token has one integer *location*: an offset into an address
space in which every source text has its own range. `SourceMap` converts it when an error is
printed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from gallette.compiler.errors import Span
from gallette.compiler.lazy_dataclass import field, lazy_dataclass

_SPLICE = re.compile(r"\\(?:\r\n|\n|\r)")
_NEWLINE = re.compile(r"\r\n|\n|\r")


def _first(entry: tuple[Any, ...]) -> int:
    """The offset from which an entry applies, as the key of a binary search."""
    found: int = entry[0]
    return found


@lazy_dataclass()
class _File:
    base: int
    name: str
    original: str
    text: str
    splices: list[tuple[int, int]]
    """(offset in `text`, characters removed before it)"""
    lines: list[int] = field(default_factory=list)
    """start offsets of the original's lines, filled when first needed"""
    overrides: list[tuple[int, int, str | None]] = field(default_factory=list)
    """(offset in `text` from which a #line applies, number to add to lines, other file name)"""
    latest: tuple[int, str] = (-1, "")
    """the most recently requested line"""

    def original_offset(self, offset: int) -> int:
        found = bisect_right(self.splices, offset, key=_first)
        return offset + (self.splices[found - 1][1] if found else 0)

    def line_of(self, offset: int) -> int:
        """0-based physical line of an offset in the original."""
        if not self.lines:
            self.lines = [0, *(m.end() for m in _NEWLINE.finditer(self.original))]
        return bisect_right(self.lines, offset) - 1

    def line_text(self, index: int) -> str:
        """One line of the original; messages about one line share the string."""
        if self.latest[0] != index:
            start = self.lines[index]
            end = self.lines[index + 1] if index + 1 < len(self.lines) else len(self.original)
            self.latest = index, self.original[start:end].rstrip("\r\n")
        return self.latest[1]


class SourceMap:
    """The address space of all texts in one compile."""

    __slots__ = ("_bases", "_files", "_last", "names")

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._files: list[_File] = []
        self._bases: list[int] = []
        self._last: tuple[int, int, _File | None] = (0, 0, None)
        """the most recent location, its line, and its text if its lines are easily counted"""
        self.names = names
        """names of source strings by their number in `#line N M`"""

    def add(self, name: str, original: str) -> tuple[int, str]:
        """Assign a range to a text; returns its base and the text with spliced lines joined."""
        text, splices = original, []
        if "\\" in original:
            pieces, last, removed = [], 0, 0
            for m in _SPLICE.finditer(original):
                pieces.append(original[last : m.start()])
                removed += m.end() - m.start()
                splices.append((m.end() - removed, removed))
                last = m.end()
            text = "".join(pieces) + original[last:]
        base = self._bases[-1] + len(self._files[-1].text) + 2 if self._files else 0
        self._files.append(_File(base, name, original, text, splices))
        self._bases.append(base)
        return base, text

    @property
    def has_overrides(self) -> bool:
        """Whether there is a `#line`."""
        return any(file.overrides for file in self._files)

    def _file(self, loc: int) -> _File:
        return self._files[max(0, bisect_right(self._bases, loc) - 1)]

    def override_line(self, loc: int, line: int, source: int | None) -> None:
        """Apply `#line` at `loc`: the next physical line has number `line` (in string `source`)."""
        file = self._file(loc)
        offset = loc - file.base
        following = file.line_of(file.original_offset(offset)) + 2
        name = None
        if source is not None:
            name = self.names[source] if 0 <= source < len(self.names) else str(source)
        elif file.overrides:
            name = file.overrides[-1][2]
        end = file.text.find("\n", offset)
        file.overrides.append((end if end >= 0 else len(file.text), line - following, name))

    def line(self, loc: int) -> int:
        """The line number as `__LINE__` and messages report it."""
        return self.span(loc, loc).line

    def text_line(self, loc: int) -> int:
        """The line of the text itself, from 1, without `#line`; 0 if there is none."""
        last, line, file = self._last
        if file is not None and last <= loc <= file.base + len(file.text):
            # Statements ask in order: count the lines from the previous location.
            line += file.text.count("\n", last - file.base, loc - file.base)
            self._last = loc, line, file
            return line
        if not self._files:
            return 0
        file = self._file(loc)
        offset = min(max(0, loc - file.base), len(file.text))
        if file.splices or "\r" in file.text:
            return file.line_of(file.original_offset(offset)) + 1
        line = 1 + file.text.count("\n", 0, offset)
        self._last = file.base + offset, line, file
        return line

    def span(self, loc: int, end: int) -> Span:
        """The printable place of `loc`, up to `end` if that is on the same line."""
        if not self._files:
            return Span(1, 1)
        file = self._file(loc)
        offset = min(max(0, loc - file.base), len(file.text))
        original = file.original_offset(offset)
        index = file.line_of(original)
        shift, name = 0, file.name
        found = bisect_right(file.overrides, offset, key=_first)
        if found:
            _, shift, other = file.overrides[found - 1]
            name = other if other is not None else file.name
        column = original - file.lines[index] + 1
        width = max(1, min(end - loc, len(file.line_text(index)) - column + 1))
        return Span(index + 1 + shift, column, column + width, name)

    def line_text(self, loc: int) -> str:
        """The physical source line around `loc`."""
        if not self._files:
            return ""
        file = self._file(loc)
        offset = file.original_offset(min(max(0, loc - file.base), len(file.text)))
        return file.line_text(file.line_of(offset))
