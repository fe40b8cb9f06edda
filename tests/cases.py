"""Cases as text: what a test is given and, after `->`, what it expects.

    # Remarks stand between cases.
    == section option option=value
    : A template, line by line; `$` stands for the text of a case.
    text -> answer
    [name] text\\nof two lines -> answer
    text
    on several lines
    -> answer
    -> a second answer

A case with one line has its answer on the same line, and `\\n` in it is a new line. In a section
with the option `list` every line is a case, and nothing is said of what is expected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_PLACE = re.compile(r"\$(?!\w)")
_NAME = re.compile(r"\[([^\]]+)\](?: |$)")


@dataclass(frozen=True)
class Case:
    """One case of a section."""

    line: int
    name: str
    text: str
    answers: tuple[str, ...]
    template: str = ""
    options: dict[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The text in its template."""
        return _PLACE.sub(lambda _: self.text, self.template) if self.template else self.text

    @property
    def answer(self) -> str:
        """The answers, a line each."""
        return "\n".join(self.answers)

    @property
    def numbers(self) -> list[float]:
        return [float(word) for word in self.answer.split()]

    def __str__(self) -> str:
        return self.name or f"line {self.line}: {self.text[:60]}"


@dataclass
class Section:
    """Cases that are asked the same."""

    name: str
    options: dict[str, str]
    template: str = ""
    cases: list[Case] = field(default_factory=list)


def _case(section: Section, line: int, lines: list[str], answers: list[str]) -> Case:
    name = _NAME.match(lines[0])
    if name:
        lines = [lines[0][name.end() :], *lines[1:]] if lines[0][name.end() :] else lines[1:]
    text = "\n".join(lines)
    return Case(
        line, name[1] if name else "", text, tuple(answers), section.template, section.options
    )


@cache
def sections(path: Path) -> dict[str, Section]:
    """All sections of a file by name."""
    found: dict[str, Section] = {}
    section, start = Section("", {}), 0
    text: list[str] = []
    answers: list[str] = []

    def finish() -> None:
        nonlocal text, answers
        if text:
            assert answers and found, f"{path}:{start}: no answer, or in no section"
            section.cases.append(_case(section, start, text, answers))
        text, answers = [], []

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("->"):
            assert text, f"{path}:{number}: an answer to nothing"
            answers.append(line[3:])
            continue
        if answers:
            finish()
        if not text:
            if line in ("", "#") or line.startswith("# "):
                continue
            if line.startswith("== "):
                name, *words = line[3:].split()
                section = Section(name, {w.partition("=")[0]: w.partition("=")[2] for w in words})
                assert name not in found, f"{path}:{number}: a second section {name}"
                found[name] = section
                continue
            if line.startswith(": ") or line == ":":
                section.template += ("\n" if section.template else "") + line[2:]
                continue
            start = number
            if "list" in section.options:
                assert found, f"{path}:{number}: in no section"
                section.cases.append(
                    _case(section, start, line.replace("\\n", "\n").split("\n"), [])
                )
                continue
            given, arrow, answer = line.rpartition(" ->")
            if arrow and answer[:1] in ("", " "):
                text, answers = given.replace("\\n", "\n").split("\n"), [answer[1:]]
                finish()
                continue
        text.append(line)
    finish()
    return found


def each(path: Path, *names: str) -> Any:
    """A test's parameter `case`: every case of these sections (of all)."""
    some = sections(path)
    cases = [case for name in names or some for case in some[name].cases]
    assert cases
    return pytest.mark.parametrize("case", cases, ids=str)
