"""Tables for the terminal: every row and cell of them, and how wide they may be."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

import gallette
from gallette.benchmarks.profiling import PARTS
from gallette.benchmarks.sides import Side
from gallette.capture import CaptureError, recording
from gallette.cli import main
from gallette.commands import bench
from gallette.compiler.errors import print_message
from gallette.piglit_subset.results import Entry, Run
from gallette.piglit_subset.summary import summarise
from gallette.reports.terminal import print_folders, print_summary, print_totals, print_versions
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.watchers import frame_done
from gallette.terminal import console, guarded


def shown(console: Console) -> list[str]:
    """The lines of it, without frames; cells of a row between bars."""
    assert isinstance(console.file, io.StringIO)
    lines = []
    for line in console.file.getvalue().splitlines():
        cells = re.split("[│┃]", re.sub("^[│┃]|[│┃]$", "", line.strip()))
        if line.strip() and not set("━─") & set(line):
            lines.append(re.sub(r"[ |]+$", "", " | ".join(cell.strip() for cell in cells)).strip())
    return lines


@pytest.fixture
def out() -> Console:
    return Console(file=io.StringIO(), width=200)


# -- results of tests ------------------------------------------------------------------------------


def runs() -> list[Run]:
    first, second = Run("first", start=1.0, end=3.5), Run("[second]", start=2.0, end=2.25)
    first.tests = {
        "spec@glsl-1.10@a@one": Entry("pass", "said nothing to"),
        "spec@glsl-1.10@[a]@two": Entry("fail", "line [one]\nline two"),
        "spec@glsl-1.30@a@three": Entry("pass"),
        "spec@arb_x@four": Entry("warn"),
        "spec@arb_x@five": Entry("skip", "requires it"),
    }
    second.tests = {
        "spec@glsl-1.10@a@one": Entry("pass"),
        "spec@glsl-1.10@[a]@two": Entry("crash", "dead"),
        "spec@glsl-1.30@a@three": Entry("fail", "wrong"),
        "spec@arb_x@four": Entry("pass"),
        "spec@arb_x@five": Entry("skip", "requires it"),
        "spec@arb_x@six": Entry("skip"),
    }
    return [first, second]


def test_totals_of_a_run(out: Console) -> None:
    print_totals(out, runs()[0])
    assert shown(out) == [
        "first: 5 tests in 2.5",
        "s",
        "result | tests",
        "pass | 2",
        "warn | 1",
        "fail | 1",
        "skip | 1",
        "pass rate | 75.0%",
    ]


@pytest.mark.parametrize("everything", [False, True])
def test_summaries_of_runs(out: Console, everything: bool) -> None:
    print_summary(out, summarise(runs()), everything)
    tests = [
        "spec/arb_x/five | skip | skip | requires it",
        "spec/arb_x/four | warn | pass",
        "spec/arb_x/six | notrun | skip",
        "spec/glsl-1.10/[a]/two | fail | crash | line [one]",
        "|  |  | dead",
        "spec/glsl-1.10/a/one | pass | pass | said nothing to",
        "spec/glsl-1.30/a/three | pass | fail | wrong",
    ]
    assert shown(out) == [
        "tests" if everything else "problems and differences",
        "test | first | [second] | why",
        *(t for t in tests if everything or not ("/one" in t or "/five" in t)),
        "totals",
        "result | first | [second]",
        "pass | 2 | 2",
        "warn | 1 | 0",
        "fail | 1 | 1",
        "crash | 0 | 1",
        "skip | 1 | 2",
        "pass rate | 75.0% | 50.0%",
    ]


def test_a_summary_without_problems(out: Console) -> None:
    print_summary(out, summarise([Run("one", {"a@b": Entry("pass")})]), False)
    assert shown(out) == ["totals", "result | one", "pass | 1", "pass rate | 100.0%"]


def test_rates_of_folders_and_versions(out: Console) -> None:
    print_folders(out, summarise(runs()))
    assert shown(out) == [
        "pass rates (reference: first)",
        "folder | first | [second]",
        "spec/arb_x | 1 / 1  100.0% | 1 / 1  100.0%",
        "spec/glsl-1.10 | 1 / 2   50.0% | 1 / 2   50.0%",
        "spec/glsl-1.30 | 1 / 1  100.0% | 0 / 1    0.0%",
    ]
    again = Console(file=io.StringIO(), width=200)
    print_versions(again, summarise(runs()))
    assert shown(again)[2:] == [
        "glsl-1.10 | 1 / 2   50.0% | 1 / 2   50.0%",
        "glsl-1.30 | 1 / 1  100.0% | 0 / 1    0.0%",
        "arb_x | 1 / 2   50.0% | 1 / 3   33.3%",
    ]


def test_a_group_of_which_none_ran(out: Console) -> None:
    tests = {"spec@x@a": Entry("skip")}, {"spec@x@a": Entry("pass")}
    print_folders(out, summarise([Run("one", tests[0]), Run("two", tests[1])]))
    assert shown(out)[2:] == ["spec/x | none ran | 1 / 1  100.0%"]


def test_where_a_run_does_worse_it_is_red() -> None:
    out = Console(file=io.StringIO(), width=200, force_terminal=True, color_system="standard")
    print_folders(out, summarise(runs()))
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue().count("\x1b[31m") == 1
    assert out.file.getvalue().count("\x1b[32m") == 5


# -- what talks to the terminal --------------------------------------------------------------------

NASTY = "a\x1b[2Jb\x9bc\u202ed\ud800e"
NICE, BARE = "a\ufffd[2Jb\ufffdc\ufffdd\ufffde", "a[2Jbcde"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_what_is_printed_does_not_talk_to_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err, pipe = _Terminal(), _Terminal(), io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with guarded():
        print(NASTY)
        print("\r\x07")
        print_message(NASTY)
        console().print(NASTY, style="red", markup=False)
        table = Table(NASTY, box=None)
        table.add_row(Text(NASTY))
        console().print(table)
    lines = out.getvalue().splitlines()
    assert lines[:2] == [NICE, "\ufffd\ufffd"]
    assert lines[2] == f"\x1b[31m{BARE}\x1b[0m"  # colours of our own stay
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in lines[3:]] == [BARE, BARE]
    assert err.getvalue() == f"{NICE}\n"
    monkeypatch.setattr("sys.stdout", pipe)
    with guarded():
        print("a\x1b[2Jb")
        console().print("a\x1b[2Jb", markup=False)
    assert pipe.getvalue() == "a\x1b[2Jb\na[2Jb\n"  # data stay as they are in a pipe


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_nothing_that_is_printed_fails_for_its_characters(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding, errors="strict"))
    with guarded():
        print("\ud800 \u00e9", flush=True)
    assert raw.getvalue() == "\\ud800 \u00e9\n".encode(encoding, "backslashreplace")


def test_messages_name_files_whatever_they_are_called(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", "no\x1b]0;x\x07\udcff.gcap"]) == 2
    assert capfd.readouterr().err == (
        "no\ufffd]0;x\ufffd\ufffd.gcap: cannot read: No such file or directory\n"
    )


def test_texts_of_sources_are_shown_as_texts(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "a.frag"
    source.write_text("#version 330\n#error \x1b[2J\nvoid main() {}\n")
    assert main(["explain", str(source)]) == 2
    told = capfd.readouterr()
    assert "#error" in told.err and "\x1b" not in told.err + told.out


# -- full disks ------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "words",
    [
        "explain shader.frag --html /dev/full",
        "trace gradient -o /dev/full",
        "trace gradient --json /dev/full",
        "inspect gradient --html /dev/full",
        "diff gradient --against numpipe --html /dev/full/x.html",
    ],
)
def test_an_output_that_does_not_fit_is_one_message(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shader.frag").write_text("#version 330\nout vec4 c;\nvoid main() { c.x = 1.0; }\n")
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert re.search(r"^/dev/full.*: cannot write: (No space|File exists)", capfd.readouterr().err)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_behind_standard_output_is_one_message() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "gallette", "bench", "--list"],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == "gallette: cannot write: No space left on device\n"


def test_a_program_continues_when_its_capture_fails(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A pipe that nobody reads any more."""
    reader, writer = os.pipe()
    path = Path(f"/dev/fd/{writer}")
    message = f"{path}: the capture is incomplete"
    with pytest.raises(CaptureError, match=message), recording(path):
        os.close(reader)
        gl: Any = gallette.create_context(size=(4, 4))
        for _ in range(3):
            gl.clear(GL.COLOR_BUFFER_BIT)
            frame_done()
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    os.close(writer)
    assert capfd.readouterr().err == f"{path}: cannot write: Broken pipe; it ends here\n"


# -- their width -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "terminals", "width"),
    [
        ("90", {2: 70}, 90),
        ("40", {2: 70}, 40),
        ("39", {2: 70}, 40),  # nothing is narrower
        ("1", {2: 70}, 40),
        ("0", {2: 70}, 70),  # no width
        ("", {2: 70}, 70),
        ("wide", {2: 70}, 70),
        ("-90", {2: 70}, 70),
        (None, {2: 70, 0: 60}, 70),
        (None, {0: 60}, 60),
        (None, {0: 39}, 40),
        (None, {2: 0}, 40),
        (None, {1: 60}, 120),  # where output goes is a pipe
        (None, {}, 120),
    ],
)
def test_a_pipe_has_the_width_of_its_reader(
    columns: str | None, terminals: dict[int, int], width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def size(descriptor: int) -> os.terminal_size:
        if descriptor not in terminals:
            raise OSError("no terminal")
        return os.terminal_size((terminals[descriptor], 24))

    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr(os, "get_terminal_size", size)
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert console().width == width


# -- benchmarks ------------------------------------------------------------------------------------


def sides() -> list[Side]:
    """Ours, one that is slower, and one that draws only some of them."""
    ours, slower, other = Side("numpipe"), Side("native:softpipe"), Side("jit")
    ours.times = {"gradient": [0.003, 0.001, 0.002], "blur": [0.5], "text": [0.1]}
    ours.processor = {"gradient": [0.004], "blur": [1.0], "text": [0.25]}
    slower.times = {"gradient": [0.004], "blur": [0.25]}
    slower.processor = {"gradient": [0.006], "blur": [0.5]}
    slower.lacks = {"text": "no [such] thing"}
    other.times = {"text": [0.2]}
    other.processor = {"text": [0.125]}
    other.errors = {"blur": "it [fell] over"}
    ours.profiles = {"blur": dict(zip(PARTS, (0.5, 0.25, 0.125, *[0.0] * 6), strict=True))}
    return [ours, slower, other]


def benched(
    said: list[str], monkeypatch: pytest.MonkeyPatch, found: list[Side]
) -> tuple[int, list[str]]:
    out = Console(file=io.StringIO(), width=200)
    monkeypatch.setattr(bench, "measure", lambda *arguments: found)
    monkeypatch.setattr(bench, "console", lambda: out)
    status = main(["bench", "gradient", "blur", "text", *said])
    return status, shown(out)


def test_benchmarks_are_compared_with_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    assert benched([], monkeypatch, sides()) == (
        1,
        [
            "milliseconds per frame (draw plus read back, median)",
            "benchmark | numpipe | softpipe | jit | softpipe / ours | jit / ours",
            "gradient | 2.0 | 4.0 |  | 2.00x",
            "blur | 500.0 | 250.0 | error | 0.50x",
            "text | 100.0 | no [such] thing | 200.0 |  | 2.00x",
            "geometric mean |  |  |  | 1.00x | 2.00x",
            "above 1x: ours is faster",
            "jit, blur: it [fell] over",
        ],
    )
    status, lines = benched(["--processor"], monkeypatch, sides()[:2])
    assert status == 0
    assert lines[0] == "milliseconds per frame (processor time, median)"
    assert lines[2:6] == [
        "gradient | 4.0 | 6.0 | 1.50x",
        "blur | 1000.0 | 500.0 | 0.50x",
        "text | 250.0 | no [such] thing",
        "geometric mean |  |  | 0.87x",
    ]


def test_where_the_time_of_benchmarks_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    _, lines = benched(["--profile", "--json", str(file)], monkeypatch, sides())
    start = lines.index("numpipe: time by part of the driver, in per cent")
    assert lines[start + 1 : start + 3] == [
        " | ".join(("benchmark", *PARTS)),
        "blur | 50 | 25 | 12 | 0 | 0 | 0 | 0 | 0 | 0",
    ]
    told = [f"{part}: {doc}" for part, doc in PARTS.items()]
    assert lines[start + 3 :] == [*told, f"figures: {file}"]
    figures = json.loads(file.read_text())
    assert figures["unit"] == "seconds"
    ours, slower, other = figures["sides"]
    assert ours["median"] == {"gradient": 0.002, "blur": 0.5, "text": 0.1}
    assert ours["processor"] == {"gradient": 0.004, "blur": 1.0, "text": 0.25}
    assert ours["frames"] == sides()[0].times and ours["profile"] == sides()[0].profiles
    assert (slower["driver"], slower["median"]["text"]) == ("native:softpipe", None)
    assert other["errors"] == {"blur": "it [fell] over"}
