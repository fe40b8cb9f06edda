"""Exercises: the template fails, the solution passes, and a wrong answer is told its mistake.

`answers/NAME.txt` has the solution (`== right`) and wrong answers (`== wrong: part of the hint`).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gallette.cli import main
from gallette.compiler.errors import GalletteError
from gallette.lessons import LESSONS
from gallette.lessons.exercises import EXERCISES, check, start

ANSWERS = Path(__file__).parent / "answers"


def answers(name: str) -> list[tuple[str, str]]:
    """(part of the hint, text); the solution has no hint."""
    text = (ANSWERS / f"{name}.txt").read_text(encoding="utf-8")
    parts = re.split(r"^== (right|wrong: .*)\n", text, flags=re.M)[1:]
    return [
        (h.removeprefix("wrong: ").removeprefix("right"), t)
        for h, t in zip(parts[::2], parts[1::2], strict=True)
    ]


CASES = [(name, hint, text) for name in EXERCISES for hint, text in answers(name)]


def test_there_are_at_least_ten_and_each_belongs_to_a_lesson() -> None:
    assert len(EXERCISES) >= 10
    assert {x.lesson for x in EXERCISES.values()} <= set(LESSONS)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_answers_are_a_solution_and_three_mistakes(name: str) -> None:
    hints = [hint for hint, _ in answers(name)]
    assert hints.count("") == 1 and len(hints) >= 4 and len(set(hints)) == len(hints)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_template_fails(name: str, tmp_path: Path) -> None:
    exercise = EXERCISES[name]
    verdict = check(exercise, start(exercise, tmp_path / exercise.file))
    assert not verdict.right and verdict.hint
    assert "Traceback" not in verdict.what


@pytest.mark.parametrize(
    ("name", "hint", "text"), CASES, ids=[f"{n}-{h or 'right'}" for n, h, _ in CASES]
)
def test_an_answer_gets_its_verdict(name: str, hint: str, text: str, tmp_path: Path) -> None:
    exercise = EXERCISES[name]
    path = tmp_path / exercise.file
    path.write_text(text, encoding="utf-8")
    verdict = check(exercise, path)
    assert verdict.right == (not hint), verdict
    assert hint in verdict.hint, verdict
    assert verdict.right or verdict.what


def test_exceptions_of_answers_are_shown_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "bins.py"
    path.write_text("def bins(triangle, tile, columns, rows):\n    return nothing\n")
    verdict = check(EXERCISES["bins"], path)
    assert verdict.failed == "inside of one tile"
    assert verdict.what == f"{path}:2: NameError: name 'nothing' is not defined"
    path.write_text("def bins(:\n")
    assert check(EXERCISES["bins"], path).what.startswith(f"{path}:1: ")
    path.write_text("")
    assert check(EXERCISES["bins"], path).what == "there is no function bins"


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lesson", "start", "bins"]) == 0
    assert "# gallette lesson check bins bins.py" in (tmp_path / "bins.py").read_text()
    assert main(["lesson", "check", "bins"]) == 1
    assert "Hint: Replace the `raise`." in capsys.readouterr().out
    with pytest.raises(GalletteError, match="is there already"):
        start(EXERCISES["bins"], tmp_path / "bins.py")
    (tmp_path / "mine.py").write_text(dict(answers("bins"))[""])
    assert main(["lesson", "check", "bins", "mine.py"]) == 0
    assert "bins is solved" in capsys.readouterr().out
    assert main(["lesson", "check", "binz"]) == 2
    assert main(["lesson", "check", "bins", "nowhere.py"]) == 2
