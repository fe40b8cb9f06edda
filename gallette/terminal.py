"""The terminal: one console, one style of progress bars, one set of colours.

File names, sources and logs may hold anything. What a command prints passes `printable` on its way
to a terminal: in `guarded` streams all of it, in a `console` the text between rich's own codes.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO, cast

from gallette.compiler.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

COLORS = {
    "pass": "green",
    "warn": "yellow",
    "fail": "red",
    "crash": "bold red",
    "timeout": "magenta",
    "skip": "blue",
    "notrun": "bright_black",
    "incomplete": "magenta",
}


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 draw`, `2 draws`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


class _Guarded:
    """A stream to a terminal that shows control characters instead of sending them."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return self.stream.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """A block in which printed text cannot control the terminal, and no character causes an
    error.
    """
    before = sys.stdout, sys.stderr
    for stream in before:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # what the encoding lacks is escaped
            reconfigure(errors="backslashreplace")
    if before[0].isatty():
        sys.stdout = cast(TextIO, _Guarded(before[0]))
    if before[1].isatty():
        sys.stderr = cast(TextIO, _Guarded(before[1]))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def console() -> Console:
    """A console on stdout. Paths and names are printed unchanged, except for control characters,
    and never wrapped in a log.
    """
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Guarded(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                text, style, control = segment
                yield segment if control else Segment(printable(text, mark=False), style)

    out = sys.stdout
    width = None if out.isatty() else _width_of_a_pipe()
    file = out.stream if isinstance(out, _Guarded) else None
    return Guarded(soft_wrap=True, highlight=False, width=width, file=file)


def _width_of_a_pipe() -> int:
    """The width of output to a pipe: COLUMNS, or that of the terminal the command runs in.

    Without a terminal, as in a log, tables get as much room as they need.
    """
    import os

    told = os.environ.get("COLUMNS", "")
    if told.isdigit() and int(told) > 0:
        return max(int(told), 40)
    for descriptor in (2, 0):  # standard error and input are often still the terminal
        try:
            return max(os.get_terminal_size(descriptor).columns, 40)
        except OSError:
            continue
    return 120


_NARROW = 72
"""Columns of a terminal below which a table does without its box."""


def table(out: Console, title: str) -> Table:
    """A table for a console: if there is little room, words are broken rather than truncated."""
    from rich.table import Table

    class Whole(Table):
        def add_column(self, *args: Any, **kwargs: Any) -> None:
            super().add_column(*args, **{"overflow": "fold", **kwargs})

    if out.width < _NARROW:
        return Whole(title=title, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    return Whole(title=title)


def progress_bar(out: Console) -> Progress:
    """A bar with count, time and a free note; it disappears when the job is done."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("[bright_black]{task.fields[note]}"),
        console=out,
        transient=True,
    )
