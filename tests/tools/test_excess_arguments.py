"""An argument too many of any `.shader_test` command is an error that names it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from gallette.piglit_subset.commands.registry import COMMANDS
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_text
from gallette.piglit_subset.suite import find_tests
from tests.cases import sections
from tests.tools.test_shader_test_commands import cases

HEADS = sorted(" ".join(words) for words in COMMANDS)
# Commands that have something else to say first.
OPEN = {
    "call": "what is behind the arrow are names for values, of which there are too few",
    "program binary": "it has words of its own",
    "resident texture": "a test of piglit's says `resident texture 1D 0`",
    "viewport swizzle": "it is refused as a whole",
}


LINES = [
    case.text for case in sections(Path(__file__).with_name("command_lines.txt"))["seldom"].cases
]


def _head(line: str) -> str:
    """The longest command that a line begins with."""
    words = line.split()
    for count in range(len(words), 0, -1):
        if tuple(words[:count]) in COMMANDS:
            return " ".join(words[:count])
    return ""


def _tests() -> Iterator[str]:
    """Those that pass: of the table of commands, then the bundled ones, short ones first."""
    rows = [case.values for case in cases()]
    for text, commands, verdict, _ in rows:
        if verdict == "pass":
            yield f"{text}{commands}\n"
    bundled = [path for _, path in find_tests([]) if path.suffix == ".shader_test"]
    yield from sorted((path.read_text() for path in bundled), key=len)
    yield from (rows[0][0] + line + "\n" for line in LINES)


@cache
def examples() -> dict[str, tuple[str, int]]:
    """For each command a test that uses it, and the number of that line."""
    found: dict[str, tuple[str, int]] = {}
    for text in _tests():
        inside = False
        for number, line in enumerate(text.splitlines()):
            if line.startswith("["):
                inside = line.startswith("[test]")
            elif inside and (head := _head(line)):
                found.setdefault(head, (text, number))
    return found


@pytest.mark.parametrize("head", [head for head in HEADS if head not in OPEN])
def test_a_word_too_many(head: str) -> None:
    text, number = examples()[head]
    lines = text.splitlines()
    lines[number] += " toomany"
    found = run_test(parse_text("\n".join(lines) + "\n", "t.shader_test"), "numpipe")
    assert found.result == "fail"
    assert "'toomany'" in "\n".join([found.reason, *found.messages])
    assert f":{number + 1}:" in "\n".join([found.reason, *found.messages])
