"""The harness of the fuzzers: what it counts, what it finds, what it makes of failing inputs."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.harness import Finding, main, run_here
from tests.fuzz.toy import Toy

Captured = pytest.CaptureFixture[str]


def ran(capsys: Captured, *arguments: str) -> tuple[int, str]:
    status = main("toy", Toy, [*arguments, "--jobs", "1"])
    return status, capsys.readouterr().out


def test_answers_are_counted(capsys: Captured) -> None:
    status, shown = ran(capsys, "--count", "9")
    assert status == 0
    assert "next 9: 4 even, 5 odd; 0 findings of 0 kinds" in shown


def test_a_failing_input_is_made_small_and_saved(capsys: Captured, tmp_path: Path) -> None:
    status, shown = ran(capsys, "--first", "12", "--save", str(tmp_path))
    assert status == 1
    assert "case 13: unlucky\nthese\n7 11 13\n" in shown
    assert "  1 x unlucky: cases [13]" in shown
    assert (tmp_path / "toy_13.txt").read_text() == "7 11 13"
    assert main("toy", Toy, ["--replay", str(tmp_path / "toy_13.txt")]) == 1
    (tmp_path / "toy_13.txt").write_text("7 11")
    assert main("toy", Toy, ["--replay", str(tmp_path / "toy_13.txt")]) == 0


def test_a_run_continues_after_findings_on_request(capsys: Captured) -> None:
    status, shown = ran(capsys, "--first", "12", "--count", "4", "--all", "--quick")
    assert status == 1
    assert "next 16: 1 odd; 3 findings of 1 kinds" in shown
    assert "  3 x unlucky: cases [13, 14, 15]" in shown


@pytest.mark.parametrize(
    "number,kind,text",
    [
        (40, "ZeroDivisionError in ", "raise ZeroDivisionError"),
        (50, "the process died of exit status 3", "looking at [50]"),
        (60, "no answer in 5 s", "looking at [60]"),
    ],
)
def test_a_case_that_raises_dies_or_hangs_is_a_finding(
    number: int, kind: str, text: str, capsys: Captured
) -> None:
    arguments = ["--first", str(number - 1), "--count", "3", "--all", "--limit", "5"]
    status, shown = ran(capsys, *arguments)
    assert status == 1
    assert f"case {number}: {kind}" in shown
    assert text in shown
    assert f"next {number + 2}: 2 odd; 1 findings" in shown


def test_a_case_can_be_shown(capsys: Captured) -> None:
    assert ran(capsys, "--first", "3", "--show") == (0, "0 1 2 3\n")


def test_a_slice_raises_what_it_finds() -> None:
    assert run_here(Toy, range(4)) == {"odd": 2, "even": 2}
    with pytest.raises(Finding, match="case 13: unlucky: these"):
        run_here(Toy, range(20))
