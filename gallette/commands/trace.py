"""`gallette trace`: every draw of a scene or shader_test, and the state behind it."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.terminal import console
from gallette.tracing import Event, TraceStory, trace_target

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", help="a scene's name or a .shader_test file")
    parser.add_argument("--driver", default=None, help="the driver (default: GALLETTE_DRIVER)")
    parser.add_argument("--html", type=Path, default=None, metavar="FILE", help="write a page")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE", help="keep the trace")
    parser.add_argument("--all", action="store_true", help="all bound state, not only changes")


def run(options: argparse.Namespace) -> int:
    from gallette.running import check_driver

    target = options.target
    if target.endswith(".shader_test"):
        if not Path(target).exists():
            raise GalletteError(f"{target}: no such file")
    else:
        from gallette.commands.diff import check_scenes

        check_scenes([target], "gallette trace")
    driver = options.driver or default_driver()
    if driver.split(":")[0] == "native":
        raise GalletteError("gallette trace: only drivers of the stack can be traced")
    check_driver(driver)
    story = trace_target(target, driver, options.json)
    out = console()
    if options.html is not None:
        from gallette.reports.html import write_trace

        out.print(f"report: {write_trace(story, options.html)}")
        return 0
    _print(out, story, options.all)
    return 0


def _print(out: Console, story: TraceStory, everything: bool) -> None:
    for number, event in enumerate(story.events, 1):
        _print_event(out, number, event, everything)
    out.print(
        f"{len(story.events)} drawing calls of {story.calls}, {story.resources} resources; "
        f"{story.outcome}",
        markup=False,
    )


def _print_event(out: Console, number: int, event: Event, everything: bool) -> None:
    out.print(
        Text(f"{number:>4} {event.call}", style="bold"),
        event.text,
        Text(f"{event.microseconds} us", style="bright_black"),
        markup=False,
    )
    for variant in event.variants:
        out.print(Text("       new variant ", style="yellow"), variant, sep="", markup=False)
    for key, value in (event.state if everything else event.changes).items():
        shown = value if len(value) < 160 else value[:157] + "..."
        out.print(Text(f"       {key}: ", style="cyan"), Text(shown), sep="")
