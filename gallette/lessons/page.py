"""The blocks of a lesson, which both the terminal and the HTML page can draw.

`Page` collects them. The executed parts of a lesson call its methods (`text.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass

_FIGURE = re.compile(r"[-+]?[\d.,]+( ?[%\w/]+){0,3}$")


@lazy_dataclass(frozen=True)
class Prose:
    """Markdown text: paragraphs, lists, headings."""

    text: str
    kind: str = "prose"


@lazy_dataclass(frozen=True)
class Code:
    """A block of code: source, NIR or generated code."""

    text: str
    language: str
    caption: str = ""
    kind: str = "code"

    @property
    def long(self) -> bool:
        """Whether it is so long that the page folds it."""
        return self.text.count("\n") > 32


@lazy_dataclass(frozen=True)
class Diff:
    """Two texts as a line diff."""

    before: str
    after: str
    caption: str = ""
    kind: str = "diff"


@lazy_dataclass(frozen=True)
class Table:
    """A table of figures; the first column names the row."""

    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    caption: str = ""
    kind: str = "table"

    @property
    def figures(self) -> frozenset[int]:
        """The columns that are numbers (perhaps with a unit), which are set flush right."""
        return frozenset(
            i
            for i in range(1, len(self.columns))
            if any(row[i] for row in self.rows)
            and all(not row[i] or _FIGURE.match(row[i]) for row in self.rows)
        )


@lazy_dataclass(frozen=True)
class Pictures:
    """Pictures with captions (8-bit RGB, top row first)."""

    pictures: list[tuple[str, npt.NDArray[Any]]]
    kind: str = "pictures"


@lazy_dataclass(frozen=True)
class Drawing:
    """A line drawing: SVG for the page (colours by its classes), words for the terminal."""

    svg: str
    words: str
    caption: str = ""
    kind: str = "drawing"


@lazy_dataclass()
class Control:
    """A setting of the reader's, and the results of the run for each value: (label, blocks).

    Numbers make a slider, names a row of buttons. A live page contains only the first state; the
    others are computed on request.
    """

    caption: str
    states: list[tuple[str, list[Block]]]
    compute: Callable[[int], list[Block]]
    slider: bool = False
    number: int = 0
    live: bool = False
    kind: str = "control"


@lazy_dataclass(frozen=True)
class Try:
    """Commands to try, with what to look for."""

    commands: list[tuple[str, str]]
    kind: str = "try"


@lazy_dataclass(frozen=True)
class Question:
    """A question with its answer. With choices it is a prediction, and the reader chooses one.

    `right` is the choice that the run found to be true.
    """

    text: str
    answer: str
    choices: tuple[str, ...] = ()
    right: int = -1
    kind: str = "question"


Block = Prose | Code | Diff | Table | Pictures | Drawing | Control | Try | Question


def shown(value: Any) -> str:
    """A value of the run in the form that prose and tables show."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}"
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.3g}"
    return str(value)


@lazy_dataclass()
class Page:
    """A lesson being built; `progress` is called with the current step."""

    title: str
    progress: Callable[[str], None] = lambda text: None
    live: bool = False
    blocks: list[Block] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)

    def add(self, block: Block) -> None:
        self.blocks.append(block)

    def prose(self, text: str) -> None:
        self.add(Prose(text))

    def code(self, text: str, language: str = "nir", caption: str = "") -> None:
        self.add(Code(text.strip("\n"), language, caption))

    def diff(self, before: str, after: str, caption: str = "") -> None:
        self.add(Diff(before, after, caption))

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = ""
    ) -> None:
        """Add a table. Cells may be numbers; they are formatted as in prose."""
        self.add(Table(tuple(columns), [tuple(map(shown, row)) for row in rows], caption))

    def pictures(self, *pictures: tuple[str, npt.NDArray[Any]]) -> None:
        self.add(Pictures([(caption, np.ascontiguousarray(p)) for caption, p in pictures]))

    def control(self, caption: str, values: Sequence[Any], at: Callable[[Any], None]) -> None:
        """Add an interactive control; `at(value)` adds the blocks that one setting shows."""

        def compute(i: int) -> list[Block]:
            self.progress(f"{caption}: {shown(values[i])}")
            with self.aside() as blocks:
                at(values[i])
            return blocks

        # Its number is taken before anything inside of it takes one.
        slider = not isinstance(values[0], str)
        made = Control(caption, [], compute, slider, len(self.controls), self.live)
        self.controls.append(made)
        for i, value in enumerate(values):
            made.states.append((shown(value), [] if self.live and i else compute(i)))
        self.add(made)

    @contextmanager
    def aside(self) -> Iterator[list[Block]]:
        """Collect the blocks added inside the block in a separate list."""
        kept, self.blocks = self.blocks, []
        try:
            yield self.blocks
        finally:
            self.blocks = kept
