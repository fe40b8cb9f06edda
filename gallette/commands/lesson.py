"""`gallette lesson`: list the lessons, or run one in the terminal or into a page."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.difftext import diff_lines
from gallette.lessons.page import Block, Code, Diff, Lesson, Page, Pictures, Prose, Table
from gallette.terminal import console, progress_bar

__all__ = ["add_arguments", "make_page", "run"]

_STYLES = {"add": "green", "del": "red", "same": "", "hunk": "bright_black"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="the lesson; without one, list them")
    parser.add_argument("--driver", default=None, help="the driver (default: GALLETTE_DRIVER)")
    parser.add_argument("--html", type=Path, default=None, metavar="FILE", help="write a page")


def run(options: argparse.Namespace) -> int:
    from gallette.lessons import LESSONS

    out = console()
    if options.name is None:
        for item in LESSONS.values():
            out.print(f"[bold]{item.name:<14}[/] {item.title}\n{'':<15}{item.doc}")
        return 0
    if options.name not in LESSONS:
        known = ", ".join(LESSONS)
        raise GalletteError(f"gallette lesson: unknown lesson {options.name!r} (one of {known})")
    driver = options.driver or default_driver()
    if driver.split(":")[0] == "native":
        raise GalletteError("gallette lesson: lessons look inside a driver of the stack")
    from gallette.running import check_driver

    check_driver(driver)
    page = make_page(LESSONS[options.name], driver)
    if options.html is not None:
        from gallette.reports.html import write_lesson

        out.print(f"page: {write_lesson(page, options.html)}")
        return 0
    for block in page.blocks:
        _print(out, block)
    return 0


def make_page(item: Lesson, driver: str) -> Page:
    """Run a lesson, saying what it is doing."""
    with progress_bar(console()) as bar:
        task = bar.add_task(item.name, total=None, note="")
        page = Page(item.title, lambda text: bar.update(task, note=text))
        item.run(page, driver)
    return page


def _print(out: Console, block: Block) -> None:
    if isinstance(block, Prose):
        if block.heading:
            out.rule(block.heading)
        out.print(block.text, markup=False, soft_wrap=False)
    elif isinstance(block, Code):
        if block.caption:
            out.print(Text(block.caption, style="bright_black"))
        out.print(Syntax(block.text, block.language, background_color="default"))
    elif isinstance(block, Diff):
        out.print(Text(block.caption, style="bright_black"))
        for kind, line in diff_lines(block.before, block.after):
            out.print(Text({"add": "+ ", "del": "- "}.get(kind, "  ") + line, style=_STYLES[kind]))
    elif isinstance(block, Table):
        table = RichTable()
        for i, column in enumerate(block.columns):
            table.add_column(column, justify="left" if i == 0 else "right")
        for row in block.rows:
            table.add_row(*row)
        out.print(table)
    elif isinstance(block, Pictures):
        for caption, _ in block.pictures:
            out.print(Text(f"[picture] {caption} (see --html)", style="bright_black"))
