"""README and docs as blocks: the language of each, and what comments before it say of running it.

Readers of a page do not see the comments:

    <!-- not run: why -->                          none of the block is executed
    <!-- not run, gallette bench: why -->          none of its lines that begin so
    <!-- run, gallette bench: --repeat 1 -->       with these words added to lines that begin so
    <!-- run, TOPIC/NAME: as arrays/length -->     with that in place of it
    <!-- exits with 1, gallette diff -->           what lines that begin so exit with
    <!-- in a process of its own -->               Python that changes its process
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"((?:^<!-- [^\n]* -->\n)*)^```([^\n]*)\n(.*?)^```$", re.S | re.M)
_NOTE = re.compile(
    r"<!-- (not run|run|exits with 1|in a process of its own)(?:, (.*?))?(?:: (.*))? -->"
)


@dataclass
class Block:
    """A block of a page, and what the comments before it say."""

    page: Path
    number: int
    language: str
    text: str
    reason: str = ""  # it is not executed at all
    apart: bool = False  # in a process of its own
    skipped: dict[str, str] = field(default_factory=dict)  # beginning of a line -> why
    added: dict[str, str] = field(default_factory=dict)
    instead: dict[str, str] = field(default_factory=dict)
    fails: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.page.name}:{self.number}"

    def _note(self, kind: str, what: str, text: str) -> None:
        if kind == "not run":
            assert text, f"{self.name}: why is it not run?"
            if what:
                self.skipped[what] = text
            else:
                self.reason = text
        elif kind == "exits with 1":
            self.fails.append(what)
        elif kind == "in a process of its own":
            self.apart = True
        elif text.startswith("as "):
            self.instead[what] = text.removeprefix("as ")
        else:
            self.added[what] = text

    def commands(self) -> Iterator[tuple[str, int]]:
        """The lines to be run, with the exit status each should have."""
        for line in self.lines():
            if self.reason or any(line.startswith(what) for what in self.skipped):
                continue
            status = int(any(line.startswith(what) for what in self.fails))
            for what, text in self.added.items():
                line += f" {text}" if line.startswith(what) else ""
            for what, text in self.instead.items():
                line = line.replace(what, text)
            yield line, status

    def unheard(self) -> list[str]:
        """What comments say of lines that this block does not have."""
        told = [*self.skipped, *self.added, *self.fails]
        idle = [what for what in told if not any(t.startswith(what) for t in self.lines())]
        return idle + [what for what in self.instead if what not in self.text]

    def lines(self) -> list[str]:
        """Its lines without comments; those that end in a backslash go on."""
        joined = re.sub(r"\\\n\s*", "", self.text).splitlines()
        return [
            text for text in (re.split(r"(?:^|\s\s)#", line)[0].strip() for line in joined) if text
        ]


def blocks(*languages: str) -> list[Block]:
    """All blocks of these languages (of any without one)."""
    found = []
    for page in PAGES:
        matches = _BLOCK.findall(page.read_text(encoding="utf-8"))
        for number, (notes, language, text) in enumerate(matches):
            block = Block(page, number, language, text)
            for kind, what, told in _NOTE.findall(notes):
                block._note(kind, what, told)
            unread = notes.count("<!--") - len(_NOTE.findall(notes))
            assert language.startswith("{") or not unread, f"{block.name}: who reads {notes!r}?"
            if not languages or language in languages:
                found.append(block)
    return found
