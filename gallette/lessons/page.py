"""What a lesson is made of: a row of blocks that the terminal and the HTML page both can draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

__all__ = ["LESSONS", "Code", "Diff", "Lesson", "Page", "Pictures", "Prose", "Table", "lesson"]


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


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures with captions (8-bit RGB, top row first)."""

    pictures: list[tuple[str, npt.NDArray[Any]]]
    kind: str = "pictures"


Block = Prose | Code | Diff | Table | Pictures


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


@dataclass(frozen=True, slots=True)
class Lesson:
    """A registered lesson."""

    name: str
    title: str
    doc: str
    run: Callable[[Page, str], None]


LESSONS: dict[str, Lesson] = {}


def lesson(
    name: str, title: str
) -> Callable[[Callable[[Page, str], None]], Callable[[Page, str], None]]:
    """Register a lesson: a function that fills a page, given the driver to use."""

    def register(run: Callable[[Page, str], None]) -> Callable[[Page, str], None]:
        doc = " ".join((run.__doc__ or "").strip().split("\n\n")[0].split())
        LESSONS[name] = Lesson(name, title, doc, run)
        return run

    return register
