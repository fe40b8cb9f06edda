"""What a lesson is made of: a row of blocks that the terminal and the HTML page both can draw."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

__all__ = [
    "LESSONS",
    "Block",
    "Code",
    "Diff",
    "Drawing",
    "Flip",
    "Lesson",
    "Page",
    "Pictures",
    "Prose",
    "Question",
    "Table",
    "Try",
    "lesson",
]


_FIGURE = re.compile(r"[-+]?[\d.,]+( ?[%\w/]+){0,3}$")


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs; with `heading` a new section starts."""

    text: str
    heading: str = ""
    kind: str = "prose"


@dataclass(frozen=True, slots=True)
class Code:
    """Source, NIR or generated code."""

    text: str
    language: str
    caption: str = ""
    kind: str = "code"


@dataclass(frozen=True, slots=True)
class Diff:
    """Two texts side by side, as a line diff."""

    before: str
    after: str
    caption: str = ""
    kind: str = "diff"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of figures; the first column names the row."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    caption: str = ""
    kind: str = "table"

    @property
    def figures(self) -> frozenset[int]:
        """The columns that are numbers (with a unit, perhaps): set flush right."""
        return frozenset(
            i
            for i in range(1, len(self.columns))
            if any(row[i] for row in self.rows)
            and all(not row[i] or _FIGURE.match(row[i]) for row in self.rows)
        )


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures with captions (8-bit RGB, top row first)."""

    pictures: list[tuple[str, npt.NDArray[Any]]]
    kind: str = "pictures"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A line drawing: SVG for the page (colours by its classes), words for the terminal."""

    svg: str
    words: str
    caption: str = ""
    kind: str = "drawing"


@dataclass(frozen=True, slots=True)
class Flip:
    """Recorded states of one thing, (name, blocks) each: the page switches between them."""

    caption: str
    states: list[tuple[str, list[Block]]]
    kind: str = "flip"


@dataclass(frozen=True, slots=True)
class Try:
    """Commands to try, with what to look for."""

    commands: list[tuple[str, str]]
    kind: str = "try"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the answer the reader can uncover."""

    text: str
    answer: str
    kind: str = "question"


Block = Prose | Code | Diff | Table | Pictures | Drawing | Flip | Try | Question


@dataclass(slots=True)
class Page:
    """A lesson being written; `progress` is told what is being worked on."""

    title: str
    progress: Callable[[str], None] = lambda text: None
    blocks: list[Block] = field(default_factory=list)

    def section(self, heading: str, text: str = "") -> None:
        self.blocks.append(Prose(" ".join(text.split()), heading))

    def prose(self, text: str) -> None:
        self.blocks.append(Prose(" ".join(text.split())))

    def add(self, block: Block) -> None:
        self.blocks.append(block)

    def flip(self, caption: str, *states: tuple[str, list[Block]]) -> None:
        """Switches: one of the states is seen at a time, the first at first."""
        self.blocks.append(Flip(caption, list(states)))

    def tries(self, *commands: tuple[str, str]) -> None:
        """What the reader can do now: command, and what to look for."""
        self.blocks.append(Try(list(commands)))

    def ask(self, text: str, answer: str) -> None:
        """A question with its answer folded away."""
        self.blocks.append(Question(" ".join(text.split()), " ".join(answer.split())))


@dataclass(frozen=True, slots=True)
class Lesson:
    """A registered lesson."""

    name: str
    title: str
    doc: str
    run: Callable[[Page, str], None]
    chapter: str
    place: int


LESSONS: dict[str, Lesson] = {}


def lesson(
    name: str, title: str, *, chapter: str = "Further", place: int = 50
) -> Callable[[Callable[[Page, str], None]], Callable[[Page, str], None]]:
    """Register a lesson: a function that fills a page, given the driver to use.

    `chapter` is one of `course.CHAPTERS`; within it lessons are in order of `place`.
    """

    def register(run: Callable[[Page, str], None]) -> Callable[[Page, str], None]:
        doc = " ".join((run.__doc__ or "").strip().split("\n\n")[0].split())
        LESSONS[name] = Lesson(name, title, doc, run, chapter, place)
        return run

    return register
