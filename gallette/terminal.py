"""The terminal: one console, one look of progress bars, one set of colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

__all__ = ["COLORS", "console", "progress_bar"]

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


def console() -> Console:
    """A console on stdout. Paths and names are printed as they are, never wrapped in a log."""
    import sys

    from rich.console import Console

    width = None if sys.stdout.isatty() else _width_of_a_pipe()
    return Console(soft_wrap=True, highlight=False, width=width)


def _width_of_a_pipe() -> int:
    """A pipe has no width; whoever reads it probably sits at the terminal we are run from.

    COLUMNS says otherwise; a log nobody looks at yet leaves the tables room.
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
