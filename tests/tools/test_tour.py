"""The tour of docs/reading.md is short, it exists, and a draw takes no other way."""

from __future__ import annotations

import ast
import fnmatch
import re
from pathlib import Path

import pytest

from tests.tools.documents import ROOT
from tests.tools.tour import PAGE, Run, functions_that_run

TEXT = PAGE.read_text(encoding="utf-8")
STOP = re.compile(
    r"^(\d+)\. `([\w/]+\.py)`(:|, the\s+whole\s+file;\s+begin\s+with)\s+((?:`[\w.]+`[,.]\s+)+)",
    re.M,
)
STOPS = [
    (int(number), file, how != ":", re.findall(r"`([\w.]+)`", names))
    for number, file, how, names in STOP.findall(TEXT)
]
FILES = {file for _, file, _, _ in STOPS}
ROW = re.compile(r"^\| `([\w/*]+\.py)` \| (.*?) \|", re.M)


def _section(title: str) -> dict[str, str]:
    """The table of a section: what its rows name, and what they say of it."""
    return dict(ROW.findall(TEXT.split(f"## {title}\n")[1].split("\n## ")[0]))


SKIPPED = _section("Files that the draw passes through and you can skip")
FOLDERS = _section("Folders that compiling and the first draw pass through")


@pytest.fixture(scope="module")
def run() -> dict[str, Run]:
    return functions_that_run()


def _definitions(file: str) -> dict[str, int]:
    """Functions and classes by qualified name, each with its number of lines."""
    found: dict[str, int] = {}

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                name = f"{prefix}{child.name}"
                found[name] = (child.end_lineno or 0) - child.lineno + 1
                walk(child, f"{name}.")

    walk(ast.parse((ROOT / file).read_text(encoding="utf-8")), "")
    return found


def _lines(file: str, whole: bool, names: list[str]) -> int:
    """How many lines a stop asks to read."""
    if whole:
        return len((ROOT / file).read_text(encoding="utf-8").splitlines())
    return sum(_definitions(file)[name] for name in names)


def _is_read(function: str, whole: bool, names: list[str]) -> bool:
    """Whether a stop's reading has the function."""
    return whole or any(function == name or function.startswith(f"{name}.") for name in names)


def test_the_tour_has_at_most_40_files_and_8000_lines() -> None:
    assert [number for number, *_ in STOPS] == list(range(1, len(STOPS) + 1))
    assert len(FILES) == len(STOPS) <= 40
    assert sum(_lines(*stop[1:]) for stop in STOPS) <= 8000


def test_the_list_of_files_to_skip_does_not_grow() -> None:
    assert len(SKIPPED) <= 21
    assert all((ROOT / file).is_file() and reason for file, reason in SKIPPED.items())


@pytest.mark.parametrize(
    ("file", "names"), [(file, names) for _, file, _, names in STOPS], ids=lambda v: str(v)
)
def test_what_a_stop_names_runs(file: str, names: list[str], run: dict[str, Run]) -> None:
    ran = {name for step in run.values() for name in step.get(file, [])}
    for name in names:
        assert name in ran or any(other.startswith(f"{name}.") for other in ran), name


def test_a_draw_runs_through_the_tour_and_what_can_be_skipped(run: dict[str, Run]) -> None:
    assert set(run["draw again"]) - FILES == set(SKIPPED)


def test_a_draw_runs_no_function_of_a_stop_that_is_not_to_be_read(run: dict[str, Run]) -> None:
    unread = [
        f"{file}: {function}"
        for _, file, whole, names in STOPS
        for function in run["draw again"].get(file, [])
        if not _is_read(function, whole, names)
    ]
    assert unread == []


def test_compiling_and_the_first_draw_stay_in_the_folders_that_are_named(
    run: dict[str, Run],
) -> None:
    inside: dict[str, set[str]] = {pattern: set() for pattern in FOLDERS}
    outside = set()
    for file in {file for step in run.values() for file in step}:
        found = [p for p in FOLDERS if p.count("/") == file.count("/") and fnmatch.fnmatch(file, p)]
        for pattern in found:
            inside[pattern].add(file)
        if not found:
            outside.add(file)
    assert outside <= FILES | set(SKIPPED)
    assert [pattern for pattern, files in inside.items() if not files] == []


def test_rooms_exist() -> None:
    section = TEXT.split("## Optional rooms\n")[1]
    rooms = re.findall(
        r"`((?:state_tracker|drivers|compiler|gallette|piglit_subset)[\w/]*)`", section
    )
    assert len(rooms) > 15
    assert all(Path(ROOT, room).is_dir() for room in rooms)
