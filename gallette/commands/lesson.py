"""Read a lesson of the course, in the terminal or as a page.

Lessons run gallette and show what it did: a triangle on its way from call to pixel, how to write a
pass or a driver, and problems of real drivers with a switch for each remedy.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.text.difference import diff_lines
from gallette.lessons.page import (
    Block,
    Code,
    Control,
    Diff,
    Drawing,
    Page,
    Pictures,
    Prose,
    Question,
    Table,
    Try,
)
from gallette.lessons.text import Lesson, run_lesson
from gallette.terminal import console, progress_bar

_STYLES = {"add": "green", "del": "red", "same": "", "hunk": "bright_black"}


def run(options: argparse.Namespace) -> int:
    from gallette.lessons import LESSONS
    from gallette.running import check_driver

    out = console()
    if options.name is None and not options.serve and options.html is None:
        _list(out)
        return 0
    if options.name in ("start", "check"):
        return _exercise(out, options.name, options.exercise)
    if options.exercise:
        raise GalletteError("gallette lesson: only start and check take more than a name")
    if options.name is not None and options.name not in LESSONS:
        known = ", ".join(LESSONS)
        raise GalletteError(f"gallette lesson: unknown lesson {options.name!r}; lessons: {known}")
    driver = options.driver or default_driver()
    if driver.split(":")[0] == "native":
        raise GalletteError("gallette lesson: needs a driver of gallette, not native")
    check_driver(driver)
    if options.serve:
        from gallette.lessons.serve import serve

        return serve(driver, options.name, options.port, not options.no_browser)
    if options.name is None:
        return _write_all(out, options.html, driver)
    item = LESSONS[options.name]
    page = make_page(item, driver)
    if options.html is not None:
        from gallette.reports.html import write_lesson

        out.print(f"page: {write_lesson(page, options.html, item, driver)}", markup=False)
        return 0
    _print_lesson(out, item, page)
    return 0


def _exercise(out: Console, what: str, words: list[str]) -> int:
    """Write the file that an exercise begins with, or check an answer."""
    from gallette.lessons.exercises import EXERCISES, check, start

    if not 1 <= len(words) <= 2 or words[0] not in EXERCISES:
        known = ", ".join(EXERCISES)
        raise GalletteError(f"gallette lesson {what}: name an exercise (one of {known})")
    exercise = EXERCISES[words[0]]
    path = Path(words[1] if len(words) > 1 else exercise.file)
    if what == "start":
        out.print(f"{start(exercise, path)}: {exercise.about}", markup=False)
        return 0
    verdict = check(exercise, path)
    for case in verdict.passed:
        out.print(Text("  right  ", style="green"), Text(case), sep="")
    if verdict.right:
        out.print(f"{exercise.name} is solved: {len(verdict.passed)} cases.", markup=False)
        return 0
    out.print(Text("  wrong  ", style="red"), Text(verdict.failed), sep="")
    out.print(Text(f"         {verdict.what}"))
    if verdict.hint:
        out.print(Text(f"Hint: {verdict.hint}", style="bold"))
    return 1


def _print_lesson(out: Console, item: Lesson, page: Page) -> None:
    out.rule(item.title)
    out.print(Markdown(item.about))
    needs = f"   after: {', '.join(item.needs)}" if item.needs else ""
    out.print(Text(f"about {item.minutes} minutes{needs}", style="bright_black"))
    for block in page.blocks:
        out.print(_drawn(block), soft_wrap=False)
    predicted = [b for b in page.blocks if isinstance(b, Question) and b.choices]
    if predicted:
        out.rule("what the run says about the predictions")
    for question in predicted:
        out.print(Text(f"{question.text}  {question.choices[question.right]}", style="bold"))
        out.print(Markdown(question.answer))
    _neighbours(out, item)


def _list(out: Console) -> None:
    """Print the course's contents."""
    from gallette.lessons.course import chapters
    from gallette.lessons.exercises import EXERCISES

    for name, about, members in chapters():
        out.print(f"[bold]{name}[/]  [bright_black]{about}[/]")
        for item in members:
            out.print(Text(f"  {item.name}", style="bold"), Text(item.title))
            out.print(
                Padding(Text(item.about, style="bright_black"), (0, 0, 0, 4)), soft_wrap=False
            )
            for x in (x for x in EXERCISES.values() if x.lesson == item.name):
                out.print(Text(f"    exercise {x.name}: {x.title}"))
        out.print()


def _neighbours(out: Console, item: Lesson) -> None:
    from gallette.lessons.course import neighbours

    before, after = neighbours(item.name)
    out.rule()
    for word, other in (("before", before), ("next", after)):
        if other is not None:
            out.print(f"{word:>6}: gallette lesson {other.name}   ({other.title})", markup=False)


def _write_all(out: Console, folder: Path, driver: str) -> int:
    from gallette.lessons.course import write_course

    with progress_bar(out) as bar:
        task = bar.add_task("lessons", total=None, note="")
        index, written = write_course(folder, driver, lambda text: bar.update(task, note=text))
    for w in written:
        if w.path is None:
            out.print(f"left out: {w.lesson.name} ({w.missing})", markup=False)
    out.print(f"page: {index}", markup=False)
    return 0


def make_page(item: Lesson, driver: str) -> Page:
    """Run a lesson, and show its progress."""
    with progress_bar(console()) as bar:
        task = bar.add_task(item.name, total=None, note="")
        return run_lesson(item, driver, lambda text: bar.update(task, note=text))


def _drawn(block: Block) -> RenderableType:
    """Render a block of a lesson for the terminal."""
    parts: list[RenderableType] = []
    caption = getattr(block, "caption", "")
    if caption and not isinstance(block, Control):
        parts.append(Text(caption, style="bright_black"))
    if isinstance(block, Prose):
        parts.append(Markdown(block.text))
    elif isinstance(block, Code):
        parts.append(Syntax(block.text, block.language, background_color="default"))
    elif isinstance(block, Diff):
        for kind, line in diff_lines(block.before, block.after):
            sign = {"add": "+ ", "del": "- "}.get(kind, "  ")
            parts.append(Text(sign + line, style=_STYLES[kind]))
    elif isinstance(block, Table):
        table = RichTable()
        for i, column in enumerate(block.columns):
            table.add_column(column, justify="right" if i in block.figures else "left")
        for row in block.rows:
            table.add_row(*(Text(cell) for cell in row))
        parts.append(table)
    elif isinstance(block, Pictures):
        for name, _ in block.pictures:
            parts.append(Text(f"[picture] {name} (see --html)", style="bright_black"))
    elif isinstance(block, Drawing):
        parts.append(Text(block.words))
    elif isinstance(block, Control):
        parts.append(Text(f"\n[control] {block.caption}", style="bold"))
        for name, inside in block.states:
            parts.append(Text(f"  ( ) {name}", style="bold"))
            parts.append(Padding(Group(*(_drawn(b) for b in inside)), (0, 0, 0, 4)))
    elif isinstance(block, Try):
        parts.append(Text("\nTry this", style="bold green"))
        for command, look in block.commands:
            parts += [Text(f"  {command}"), Text(f"      {look}", style="bright_black")]
    elif isinstance(block, Question) and block.choices:
        parts.append(Text(f"\nPredict: {block.text}", style="bold"))
        parts += [Text(f"  ( ) {choice}") for choice in block.choices]
    elif isinstance(block, Question):
        parts += [Text(f"\n? {block.text}", style="bold"), Padding(Markdown(block.answer), (0, 2))]
    return Group(*parts)
