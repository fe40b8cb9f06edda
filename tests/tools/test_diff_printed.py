"""What `gallette diff` prints, refuses and answers, with names that look like markup."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from gallette.cli import command_parser
from gallette.commands import comparing, diff
from gallette.compiler.errors import GalletteError
from gallette.scenes import BENCHMARKS, SCENES


def _console(color: bool = False) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    system: Any = "standard" if color else None
    return Console(file=out, width=160, force_terminal=color, color_system=system,
                   highlight=False), out  # fmt: skip


def _pass(name: str, verdict: str, mismatch: int = 0, most: float = 0, over: float = 0) -> Any:
    shade = {"ours": 10, "theirs": 20, "heat": 30}
    pictures = {side: np.full((2, 3, 3), value, np.uint8) for side, value in shade.items()}
    return SimpleNamespace(name=name, verdict=verdict, coverage_mismatch=mismatch,
                           max_difference=most, over_tolerance=over, **pictures)  # fmt: skip


def _report(note: str = "") -> diff.DiffReport:
    scenes = [
        SimpleNamespace(name="[b]one", error="", ok=True,
                        passes=[_pass("[i]p", "identical"), _pass("q q", "close", 1, 0.12345)]),
        SimpleNamespace(name="[b]two", error="", ok=False,
                        passes=[_pass("same", "identical"),
                                _pass("[u]bad", "different", 7, 12.3456, 0.25),
                                _pass("near", "close"), _pass("worse", "different")]),
        SimpleNamespace(name="three", error=" [b]broken\n", ok=False, passes=[]),
    ]  # fmt: skip
    return diff.DiffReport("[b]ours", "theirs", "a", "[i]machine", 1.5, note, cast("Any", scenes))


def _rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in text.splitlines() if line.startswith("│")
    ]  # fmt: skip


def test_a_table_of_passes() -> None:
    out, text = _console()
    report = _report("[u]recorded")
    diff.print_diffs(out, report)
    printed = text.getvalue()
    lines = printed.splitlines()
    assert lines[0] == "[u]recorded" and lines[1].strip() == "[b]ours against [i]machine"
    assert _rows(printed) == [
        ["[b]one", "[i]p", "identical", "0", "0", "0.000%"],
        ["", "q q", "close", "1", "0.123", "0.000%"],
        ["[b]two", "same", "identical", "0", "0", "0.000%"],
        ["", "[u]bad", "different", "7", "12.3", "25.000%"],
        ["", "near", "close", "0", "0", "0.000%"],
        ["", "worse", "different", "0", "0", "0.000%"],
        ["three", "[b]broken", "error", "", "", ""],
    ]
    head = next(line for line in lines if "scene" in line)
    names = ("scene", "pass", "verdict", "coverage differs", "largest", "over 1.5/255")
    assert [head.index(name) for name in names] == sorted(head.index(name) for name in names)
    assert sum(line.startswith("├") for line in lines) == 2  # a rule after each scene but the last
    assert lines[-3:] == [
        "1 of 3 scenes agree",
        "[b]two differs in [u]bad, worse; run again: gallette diff [b]two",
        "three differs in error; run again: gallette diff three",
    ]
    assert not report.ok and diff.DiffReport("", "", "", "", 1, "", report.scenes[:1]).ok
    report.theirs_renderer = report.note = ""
    out, text = _console()
    diff.print_diffs(out, report)
    assert text.getvalue().splitlines()[0].strip() == "[b]ours against theirs"


def test_verdicts_have_colors() -> None:
    out, text = _console(color=True)
    diff.print_diffs(out, _report("note"))
    for word, color in (("note", 33), ("identical", 32), ("close", 32), ("different", 31),
                        ("error", 31), ("three", 31)):  # fmt: skip
        assert f"\x1b[{color}m{word}\x1b[0m" in text.getvalue(), word


def test_pictures_are_beside_each_other(tmp_path: Path) -> None:
    folder = diff.save_pictures(_report(), tmp_path / "a" / "b")
    assert folder == tmp_path / "a" / "b"
    names = ["[b]one-[i]p", "[b]one-q_q", "[b]two-[u]bad", "[b]two-near", "[b]two-same",
             "[b]two-worse"]  # fmt: skip
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.png" for name in names]
    row = np.asarray(Image.open(folder / "[b]one-q_q.png"))
    assert row.shape == (2, 9, 3)
    assert row[0, :, 0].tolist() == [10] * 3 + [20] * 3 + [30] * 3
    (tmp_path / "file").write_text("")
    with pytest.raises(GalletteError, match="cannot write: "):
        diff.save_pictures(_report(), tmp_path / "file")
    assert diff.save_pictures(_report(), folder) == folder  # once more


class Call:
    number = 41

    def __str__(self) -> str:
        return "Draw([b])"


def _capture_diff(
    groups: dict[int, tuple[str, ...]],
    later: int,
    differs: bool = True,
    samples: tuple[int, int] = (4, 4),
) -> Any:
    found = SimpleNamespace(place=(3, 4), ours=(0.12345678, 1.0), theirs=(0.0, 2.0),
                            attachment="[i]color", beyond=5, pixels=60)  # fmt: skip
    first = SimpleNamespace(call=Call(), attachments=[found], samples=samples)
    capture = SimpleNamespace(path="[b]a.gcap", groups=groups, draws=lambda frame: [1, 2, 3])
    shown = first if differs else None
    return SimpleNamespace(capture=capture, notes=["[u]note"], first=shown,
                           ours="[i]x", theirs="y", frame=None, compared=9,
                           draws=[0] * (1 + later))  # fmt: skip


def test_the_first_call_that_differs() -> None:
    out, text = _console()
    diff.print_capture_diff(out, _capture_diff({41: ("[u]g", "h")}, 2))
    head = ["[u]note", "[b]a.gcap: the first call that differs is 41"]
    body = [
        "  [i]color: 5 of 60 pixels differ, most at 3,4: [i]x (0.123457, 1), y (0, 2)",
        "  find out why: gallette pixel [b]a.gcap 3,4 --driver [i]x",
    ]
    last = "  2 later calls differ, too"
    lines = text.getvalue().splitlines()
    assert lines == [*head, "  Draw([b])   in [u]g / h", *body, last]
    out, text = _console(color=True)
    diff.print_capture_diff(out, _capture_diff({}, 0))
    colored = [f"\x1b[33m{head[0]}\x1b[0m", f"\x1b[1;31m{head[1]}\x1b[0m"]
    assert text.getvalue().splitlines() == [*colored, "  Draw([b])", *body]
    out, text = _console()
    diff.print_capture_diff(out, _capture_diff({}, 1, samples=(2, 4)))
    assert text.getvalue().splitlines()[-2:] == [
        "  [i]x has 2 samples there, y 4", "  1 later call differs, too"
    ]  # fmt: skip


def test_captures_that_agree() -> None:
    out, text = _console()
    diff.print_capture_diff(out, _capture_diff({}, 0, differs=False))
    told = "[b]a.gcap: [i]x and y agree after each of 3 draws (9 pictures)"
    assert text.getvalue().splitlines() == ["[u]note", told]


def _parsed(*words: str) -> argparse.Namespace:
    parser = command_parser("diff")
    return parser.parse_args(words)


def test_words_of_the_command_line() -> None:
    assert diff.parse_options(["a=b", "c=", "d=e=f"]) == {"a": "b", "c": "", "d": "e=f"}
    for text in ("a", "=b", ""):
        with pytest.raises(GalletteError, match="--option needs NAME=VALUE, not"):
            diff.parse_options([text])
    given = _parsed()
    assert (given.against, given.tolerance, given.scenes, given.option) == (None, None, [], [])


def test_scenes_that_there_are(tmp_path: Path) -> None:
    script = tmp_path / "a.py"
    script.write_text("")
    assert diff.check_scenes([], "c") == list(SCENES)
    assert diff.check_scenes(["blur", str(script)], "c", scripts=True) == ["blur", str(script)]
    for name, scripts, said in (
        (str(script), False, "needs a scene, not a script"),
        ("none.py", True, "c: none.py: no such file"),
        ("blurr", True, "c: unknown scene 'blurr'; did you mean 'blur'?"),
        ("0123456789", True, "scenes: " + ", ".join(SCENES)),
    ):
        with pytest.raises(GalletteError) as caught:
            diff.check_scenes([name], "c", scripts)
        assert said in str(caught.value)


def test_what_the_command_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []
    outcomes = {"good.gcap": True, "bad.gcap": False}

    def compared(name: str, *given: Any) -> Any:
        asked.append((name, *given))
        return SimpleNamespace(ok=outcomes[name])

    monkeypatch.setattr(diff, "is_capture", lambda name: name in outcomes)
    monkeypatch.setattr("gallette.capture.differ.diff_capture", compared)
    monkeypatch.setattr(diff, "print_capture_diff", lambda out, found: None)
    monkeypatch.setattr(diff, "default_driver", lambda: "usual")
    monkeypatch.setattr("gallette.running.check_driver", lambda name: asked.append(name))
    monkeypatch.setattr(diff, "_check_options", lambda driver, options: None)
    assert diff.run(_parsed("good.gcap")) == 0
    assert asked == ["usual", "native", ("good.gcap", "usual", "native", 1.0, None, None)]
    assert diff.run(_parsed("bad.gcap", "good.gcap")) == 1
    asked.clear()
    words = ("--frame", "2", "--driver", "a", "--against", "b", "--tolerance", "3", "--share", ".1")
    assert diff.run(_parsed("good.gcap", *words)) == 0
    assert asked == ["a", "b", ("good.gcap", "a", "b", 3.0, 2, 0.1)]
    with pytest.raises(GalletteError, match="other is not a capture; compare scenes separately"):
        diff.run(_parsed("good.gcap", "other"))
    out, text = _console()
    monkeypatch.setattr(comparing, "console", lambda: out)
    report = _report()

    def drawn(*given: Any) -> diff.DiffReport:
        asked.append(given)
        return report

    monkeypatch.setattr(diff, "run_diffs", drawn)
    monkeypatch.setattr("gallette.reports.html.write_diff", lambda *given: "[b]page")
    asked.clear()
    assert diff.run(_parsed("blur")) == 1
    assert asked == ["usual", (["blur"], "usual", "native", 1.0, {}, "", None)]
    report.scenes = report.scenes[:1]
    asked.clear()
    words = ("--against", "b", "--option", "x=y", "--cluster", "local:2", "--html", "h")
    assert diff.run(_parsed("blur", *words, "--png", str(tmp_path / "[b]"))) == 0
    assert asked == ["usual", "b", (["blur"], "usual", "b", 1.0, {"x": "y"}, "local:2", None)]
    assert "report: [b]page\n" in text.getvalue()
    assert "pictures: " in text.getvalue() and "/[b]" in text.getvalue()


def test_the_list_of_scenes(monkeypatch: pytest.MonkeyPatch) -> None:
    out, text = _console()
    monkeypatch.setattr(comparing, "console", lambda: out)
    assert diff.run(_parsed("--list")) == 0
    lines = text.getvalue().splitlines()
    timed = [scene for name, scene in BENCHMARKS.items() if name not in SCENES]
    for line, scene in zip(lines, [*SCENES.values(), *timed], strict=True):
        mark = "multi-pass" if scene.multipass else "benchmark" if scene in timed else ""
        assert line.rstrip() == f"{scene.name:<16} {mark:<11} {scene.doc}".rstrip()
    assert {scene.multipass for scene in SCENES.values()} == {False, True}


def test_references_are_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    out, text = _console()
    asked: list[Any] = []
    (tmp_path / "a.npz").write_bytes(bytes(1_234_567))
    monkeypatch.setattr(comparing, "console", lambda: out)
    monkeypatch.setattr("gallette.references.FOLDER", tmp_path)

    def record(scenes: list[str]) -> Any:
        asked.append(scenes)
        return SimpleNamespace(renderer="machine")

    monkeypatch.setattr("gallette.references.record", record)
    assert diff.run(_parsed("--record", "blur", "gradient")) == 0
    assert asked == [["blur", "gradient"]]
    assert text.getvalue() == "recorded 2 scenes from machine (1.23 MB)\n"
    with pytest.raises(GalletteError, match="needs a scene, not a script"):
        diff.run(_parsed("--record", "a.py"))


def test_a_missing_capture_is_no_scene() -> None:
    with pytest.raises(GalletteError, match=r"none\.gcap is not a capture"):
        diff.run(_parsed("none.gcap", "--driver", "numpipe", "--against", "numpipe"))


def test_nothing_is_written_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    out, text = _console()
    report = _report()
    report.scenes = report.scenes[:1]
    monkeypatch.setattr(comparing, "console", lambda: out)
    monkeypatch.setattr(diff, "run_diffs", lambda *given: report)
    monkeypatch.setattr("gallette.reports.html.write_diff", lambda *given: "page")
    monkeypatch.setattr("gallette.running.check_driver", lambda name: None)
    monkeypatch.setattr(diff, "save_pictures", lambda *given: "folder")
    assert diff.run(_parsed("blur")) == 0
    assert text.getvalue().endswith("1 of 1 scenes agree\n")
