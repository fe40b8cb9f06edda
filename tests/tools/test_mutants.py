"""`make mutants` plants what a program could notice, nothing that only people or checks read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from mutants.faults import faults_of  # type: ignore[import-not-found]


def planted(source: str) -> list[str]:
    return [str(fault) for fault in faults_of(source.encode())]


@pytest.mark.parametrize(
    "source",
    [
        '__all__ = ["a", "b"]',
        '"""A text, of a module."""',
        "assert a < b",
        'raise ValueError("a", 3)',
        'x = zip(a, b, strict=True)',
        'add = f(a, help="how many", metavar="N")',
        "y = x.astype(int, copy=False)",
        "@lru_cache(maxsize=64)\ndef f(): ...",
        "if __name__ == '__main__': ...",
        "def f(x: tuple[int, str]) -> None: ...",
    ],
)  # fmt: skip
def test_nothing_is_planted_where_no_program_could_notice(source: str) -> None:
    assert planted(source) == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("x = a < b", "comparison: < -> <="),
        ("x.dirty |= 1", "forgotten update: x.dirty |= 1 -> pass"),
        ("f(a)", "forgotten call: f(a) -> pass"),
        ("x = f(a, count=b)", "forgotten argument: , count=b -> "),
        ("x = f(a, copy=True)", "forgotten argument: , copy=True -> "),
        ("x = (a, b)", "forgotten element: , b -> "),
        ("if a: ...", "condition: a -> not (a)"),
        ("x = a and b", "logic: and -> or"),
        ("x = 7", "constant: 7 -> 8"),
    ],
)
def test_what_is_planted(source: str, fault: str) -> None:
    assert fault in planted(source)


def test_a_planted_fault_changes_its_own_place_only() -> None:
    source = b"x = 1\ny = 1  # one\n"
    (first, second) = faults_of(source)
    assert (first.line, second.line) == (1, 2)
    assert second.planted(source) == b"x = 1\ny = 2  # one\n"
