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

    # A pipe or a log has no width of its own: leave the tables room.
    return Console(soft_wrap=True, highlight=False, width=None if sys.stdout.isatty() else 120)


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
