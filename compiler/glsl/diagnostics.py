"""Errors and warnings of one compile, and the text of the info log.

A compile reports as many errors as it can find. Code that cannot continue raises `Abort`, which the
parser and checker catch at the nearest statement or declaration to continue from there.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from gallette.compiler.errors import Span, caret_message
from gallette.compiler.glsl.parse.source import SourceMap
from gallette.compiler.lazy_dataclass import lazy_dataclass

MAX_ERRORS = 20
MAX_WARNINGS = 200
MAX_MESSAGE = 1000
"""the longest message, since it may quote a name of megabytes"""
MAX_SHOWN = 160
"""the longest piece of a source line that a message quotes"""


class Abort(Exception):
    """Control flow: the current construct was rejected and its error has been logged."""


class TooManyErrors(Abort):
    """Control flow: enough errors have been reported."""


@lazy_dataclass(frozen=True)
class Diagnostic:
    """One message; `str()` is its lines in the info log."""

    severity: str
    message: str
    span: Span | None = None
    source_line: str = ""
    hint: str = ""

    def __str__(self) -> str:
        if self.span is None:
            return f"{self.severity}: {self.message}" + (f"\n  {self.hint}" if self.hint else "")
        span, line = self.span, self.source_line
        if len(line) > MAX_SHOWN:
            # Generated code has lines of megabytes; show a window around the place.
            start = max(0, span.column - MAX_SHOWN // 2)
            line = line[start : start + MAX_SHOWN]
            span = Span(span.line, span.column - start, span.end_column - start, span.file)
        shown = caret_message(self.severity, self.message, span, line, self.hint)
        return f"{self.span}: {self.severity}: {self.message}\n{shown.partition(chr(10))[2]}"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """The hint `did you mean 'x'?` for a near miss, or ""."""
    close = difflib.get_close_matches(name, list(candidates)[:4000], n=1, cutoff=0.7)
    return f"did you mean '{close[0]}'?" if close else ""


class Log:
    """Collects diagnostics; `end` is the location after the offending construct."""

    __slots__ = ("_seen", "diagnostics", "error_count", "sources")

    def __init__(self, sources: SourceMap | None = None) -> None:
        self.sources = sources or SourceMap()
        self.diagnostics: list[Diagnostic] = []
        self.error_count = 0
        self._seen: set[tuple[int, str]] = set()

    def _add(self, severity: str, message: str, loc: int, end: int, hint: str) -> None:
        if len(message) > MAX_MESSAGE:
            message = f"{message[:MAX_MESSAGE]}..."
        if (loc, message) in self._seen:
            return
        self._seen.add((loc, message))
        span = self.sources.span(loc, max(end, loc + 1))
        text = self.sources.line_text(loc)
        self.diagnostics.append(Diagnostic(severity, message, span, text, hint))

    @property
    def is_full(self) -> bool:
        """Whether the maximum number of errors has been reported."""
        return self.error_count >= MAX_ERRORS

    def error(self, message: str, loc: int, end: int = 0, hint: str = "") -> None:
        """Report an error and continue."""
        self._add("error", message, loc, end, hint)
        self.error_count += 1
        if self.is_full:
            raise TooManyErrors

    def abort(self, message: str, loc: int, end: int = 0, hint: str = "") -> Abort:
        """Report an error; returns the exception to raise."""
        self.error(message, loc, end, hint)
        return Abort()

    def give_up(self, message: str, loc: int, end: int = 0) -> Abort:
        """Report an error after which continuing is useless; returns the exception to raise."""
        self.error_count = MAX_ERRORS - 1
        try:
            self.error(message, loc, end)
        except TooManyErrors as stop:
            return stop
        raise AssertionError("the last error ends the compile")

    def warning(self, message: str, loc: int, end: int = 0, hint: str = "") -> None:
        """Report something suspicious that is not an error."""
        if self.takes_warnings:
            self._add("warning", message, loc, end, hint)

    @property
    def takes_warnings(self) -> bool:
        """Whether another warning may be reported, since their number is limited."""
        return len(self.diagnostics) < MAX_WARNINGS

    @property
    def text(self) -> str:
        """The info log."""
        return "".join([f"{d}\n" for d in self.diagnostics]) if self.diagnostics else ""
