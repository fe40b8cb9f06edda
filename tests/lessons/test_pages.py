"""Every lesson runs, and its page has what was written down."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gallette.cli import COMMANDS, main
from gallette.lessons import LESSONS, Page, run_lesson
from gallette.lessons.page import Code, Control, Drawing, Pictures, Question, Table, Try
from gallette.reports.html import write_lesson
from tests.tools.outlines import SLOW, outline, written

ROOT = Path(__file__).resolve().parent.parent.parent

FIGURES: dict[str, set[str]] = {
    "half_precision": {
        "16 bits everywhere: a key that forgets the buffer: 48,768 pixels wrong by more than 1/255",
        "32 bits everywhere: 0 pixels wrong by more than 1/255",
    },
    "texture_scoreboard": {"24,528 wrong pixels", "0 wrong pixels"},
    "binning": {
        "2,048|2,048|6,144|6,144|393,216",
        "2,048|2,331|6,144|6,993|393,216",
        "2,048|2,813|6,144|8,439|393,216",
        "by a blit afterwards|2,555,904|0",
        "in the tiles|1,769,472|0",
        "in the tiles, and the samples are invalidated|196,608|0",
    },
    "triangle": {
        "0|-0.8, -0.7, 0, 1|16.0, 18.0|1, 0, 0",
        "1|0.8, -0.7, 0, 1|144.0, 18.0|0, 1, 0",
        "2|0, 0.8, 0, 1|80.0, 108.0|0, 0, 1",
        "  primitive||0, vertices 1, 0, 2",
        "  barycentrics||0.323, 0.316, 0.361",
        "  verdict||written",
    },
}
"""Of pages: captions of pictures and rows of tables. Wrong pixels without a remedy and with each,
what machines did, the triangle's corners and a pixel."""


def shown(blocks: Sequence[Any]) -> Iterator[Any]:
    """The blocks of a page, and those behind its switches."""
    for block in blocks:
        yield block
        for _, behind in getattr(block, "states", ()):
            yield from shown(behind)


@pytest.fixture(scope="module")
def outlined() -> dict[str, list[str]]:
    """What the pages have, as it was written down."""
    found = written()
    assert list(found) == [name for name in LESSONS if name not in SLOW]
    return found


def told(page: Page) -> Iterator[str]:
    """Captions of pictures and rows of tables, wherever they stand."""
    for block in shown(page.blocks):
        if isinstance(block, Table):
            yield from map("|".join, block.rows)
        elif isinstance(block, Pictures):
            yield from (caption for caption, _ in block.pictures)


def said(page: Page) -> Iterator[str]:
    """Everything that is not code."""
    yield from told(page)
    for block in shown(page.blocks):
        for part in ("text", "answer", "caption", "words"):
            if not isinstance(block, Code) or part == "caption":
                yield str(getattr(block, part, ""))


_ONE_OF_MANY = re.compile(r"(?<![\w.,/-])1 (?!is\b|runs\b|m?s\b)[a-z]+s\b")


@pytest.mark.parametrize("name", [n for n in LESSONS if n not in SLOW])
def test_a_lesson_runs_and_has_its_parts(
    name: str,
    outlined: dict[str, list[str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A figure in the opening, a prediction, a control, a summary, commands that exist."""
    page = run_lesson(LESSONS[name], "numpipe")
    opening = list(itertools.takewhile(lambda b: "## " not in getattr(b, "text", ""), page.blocks))
    assert any(isinstance(block, Drawing | Pictures) for block in opening)
    assert any(isinstance(block, Question) and block.choices for block in page.blocks)
    assert any(isinstance(block, Control) and len(block.states) > 1 for block in page.blocks)
    assert any("## Summary" in getattr(block, "text", "") for block in page.blocks)
    assert FIGURES.get(name, set()) <= set(told(page))
    assert [found for text in said(page) for found in _ONE_OF_MANY.findall(text)] == []
    assert outlined[name] == outline(page), "meant: python -m tests.tools.outlines"
    assert 5_000 < write_lesson(page, tmp_path / "page.html").stat().st_size < 2_000_000
    commands = [c for block in page.blocks if isinstance(block, Try) for c, _ in block.commands]
    assert commands
    for command in commands:
        check_command(command, capsys)


def check_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command exists and has the options, or the file is there."""
    words = [w for w in shlex.split(command) if not re.fullmatch(r"[A-Z_]+=\S+", w)]
    if words[0] == "python":
        files = [w for w in words if w.endswith(".py")]
        assert all((ROOT / f).exists() for f in files), command
        return
    assert words[0] == "gallette" and words[1] in COMMANDS, command
    path = words[1:3] if words[1] == "piglit" else words[1:2]
    with pytest.raises(SystemExit):
        main([*path, "--help"])
    usage = capsys.readouterr().out
    for option in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words)):
        assert option in usage, f"no option {option} in {command}"
