"""The lessons in their order: chapters, what comes before and after, and the course as a site.

The order is derived from what each lesson says about itself (`chapter`, `place`), so a new lesson
joins the index, and its neighbours' links, by being registered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.lessons.page import LESSONS, Lesson, Page

__all__ = ["CHAPTERS", "chapters", "in_order", "neighbours", "write_course"]

CHAPTERS: dict[str, str] = {
    "First steps": "What happens between a draw call and a pixel, and the language it is told in.",
    "Doing it yourself": "A pass, a rewrite rule, a driver: each small, real, and checked.",
    "The compiler": "What optimisers may do, and what they know about memory and numbers.",
    "Drivers": "Who owns a shader, when it is compiled again, and what the hardware asks for.",
    "Machines": "Registers, masks, page tables, machine code.",
    "Further": "More problems worth seeing.",
}


def chapters() -> Iterator[tuple[str, str, list[Lesson]]]:
    """(name, line about it, lessons) of every chapter that has lessons."""
    for name, about in CHAPTERS.items():
        members = [x for x in LESSONS.values() if _chapter(x) == name]
        if members:
            yield name, about, sorted(members, key=lambda x: (x.place, x.name))


def _chapter(item: Lesson) -> str:
    """Where a lesson belongs; one that names a chapter nobody knows is not lost."""
    return item.chapter if item.chapter in CHAPTERS else "Further"


def in_order() -> list[Lesson]:
    """The whole course, first lesson first."""
    return [item for _, _, members in chapters() for item in members]


def neighbours(name: str) -> tuple[Lesson | None, Lesson | None]:
    """The lesson before and the one after."""
    order = in_order()
    at = [item.name for item in order].index(name)
    return (
        order[at - 1] if at else None,
        order[at + 1] if at + 1 < len(order) else None,
    )


def _told(progress: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda text: progress(f"{name}: {text}")


@dataclass(frozen=True, slots=True)
class Written:
    """A page of the course: the lesson, the file, and why there is none."""

    lesson: Lesson
    path: Path | None
    missing: str = ""


def write_course(
    folder: Path,
    driver: str,
    progress: Callable[[str], None] = lambda text: None,
    names: list[str] | None = None,
) -> tuple[Path, list[Written]]:
    """Run every lesson (or some) and write index, lessons and glossary; the index and what it has.

    A lesson that cannot run here (it needs an extra, say) is listed with the reason.
    """
    from gallette.reports.html import write_glossary, write_lesson, write_lesson_index

    chosen = [x for x in in_order() if names is None or x.name in names]
    written = []
    for item in chosen:
        page = Page(item.title, _told(progress, item.name))
        progress(item.name)
        try:
            item.run(page, driver)
        except GalletteError as error:
            written.append(Written(item, None, str(error).splitlines()[0]))
            continue
        path = write_lesson(page, folder / f"{item.name}.html", item, driver, linked=True)
        written.append(Written(item, path))
    write_glossary(folder / "glossary.html")
    missing = {w.lesson.name: w.missing for w in written if w.path is None}
    absent = {x.name: "not asked for" for x in in_order() if x not in chosen}
    return write_lesson_index(folder, missing | absent, driver), written
