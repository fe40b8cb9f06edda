"""The course: chapters, lessons in order, and the whole course as a site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.lessons.text import Lesson, read_lesson, run_lesson

CHAPTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "From a call to a pixel": (
        "What happens between a draw call and a pixel, and the language it is told in.",
        ("triangle", "reading_nir"),
    ),
    "Passes": (
        "What changes a shader: passes and rewrite rules, and what catches the wrong ones.",
        ("writing_a_pass", "algebraic_rule", "newton_raphson"),
    ),
    "Variants": (
        "When a shader is compiled again, who owns it, and what must stay the same.",
        ("variants", "ownership", "is_used_once", "dvec_inputs"),
    ),
    "Memory in the compiler": (
        "What is known about memory while accesses are derefs, and what an address forgets.",
        ("derefs", "pointers", "spirv"),
    ),
    "Machines": (
        "Machine code, registers, masks, and answers that land late.",
        (
            "from_nir_to_machine_code",
            "live_ranges",
            "register_pressure",
            "texture_scoreboard",
            "half_precision",
        ),
    ),
    "Memory of the device": (
        "Tiles on the chip, and the tables that turn addresses into places.",
        ("binning", "page_tables"),
    ),
    "Whole drivers": (
        "The calls on a driver, pending draws, and a driver of your own.",
        ("writing_a_driver", "gl_on_vulkan", "command_stream"),
    ),
}
"""Name of a chapter: what it is about, and its lessons. A new lesson is a file and a line here."""

_FOLDER = Path(__file__).resolve().parent
LESSONS: dict[str, Lesson] = {
    name: read_lesson(_FOLDER / f"{name}.md") for _, names in CHAPTERS.values() for name in names
}


def chapters() -> Iterator[tuple[str, str, list[Lesson]]]:
    """Every chapter: (name, one line about it, lessons)."""
    for chapter, (about, names) in CHAPTERS.items():
        yield chapter, about, [LESSONS[name] for name in names]


def page() -> str:
    """`docs/course.md`: the contents, with links to the generated pages beside it."""
    from gallette.lessons.exercises import EXERCISES

    lines = ["# The course", "", "Made by `python -m gallette.lessons`; do not edit.", ""]
    lines += [
        "Lessons that run: predict, look, set a control. The links lead to pages that were made"
    ]
    lines += ["when this site was built; `gallette lesson --serve` computes what you ask for.", ""]
    for chapter, about, members in chapters():
        lines += [f"## {chapter}", "", about, ""]
        for item in members:
            link = f'<a href="live/lessons/{item.name}.html">{item.title}</a>'
            lines.append(f"- {link} ({item.minutes} minutes). {item.about}")
            for x in (x for x in EXERCISES.values() if x.lesson == item.name):
                lines.append(f"  Exercise: `gallette lesson start {x.name}`. {x.about}")
        lines.append("")
    return "\n".join(lines)


def neighbours(name: str) -> tuple[Lesson | None, Lesson | None]:
    """The previous lesson and the next one."""
    order = list(LESSONS)
    at = order.index(name)
    return (
        LESSONS[order[at - 1]] if at else None,
        LESSONS[order[at + 1]] if at + 1 < len(order) else None,
    )


def _error_text(progress: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda text: progress(f"{name}: {text}")


@lazy_dataclass(frozen=True)
class Written:
    """A page of the course: the lesson, the file, or the reason that there is none."""

    lesson: Lesson
    path: Path | None
    missing: str = ""


def write_course(
    folder: Path,
    driver: str,
    progress: Callable[[str], None] = lambda text: None,
    names: list[str] | None = None,
) -> tuple[Path, list[Written]]:
    """Run every lesson (or some) and write index, lessons and glossary; returns the index and its
    entries.

    A lesson that cannot run here (it needs an extra, say) is listed with the reason.
    """
    from gallette.reports.html import write_glossary, write_lesson, write_lesson_index

    written = []
    for item in LESSONS.values():
        if names is not None and item.name not in names:
            continue
        progress(item.name)
        try:
            page = run_lesson(item, driver, _error_text(progress, item.name))
        except GalletteError as error:
            written.append(Written(item, None, str(error).splitlines()[0]))
            continue
        path = write_lesson(page, folder / f"{item.name}.html", item, driver, linked=True)
        written.append(Written(item, path))
    write_glossary(folder / "glossary.html")
    missing = {w.lesson.name: w.missing for w in written if w.path is None}
    absent = {name: "not asked for" for name in LESSONS if names is not None and name not in names}
    return write_lesson_index(folder, missing | absent, driver), written
