"""Running a suite: what is asked of the processes, what is said of their answers, what is kept."""

from __future__ import annotations

import io
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gallette import running, scripts
from gallette.compiler.errors import GalletteError
from gallette.piglit_subset import known
from gallette.piglit_subset.history import Costs
from gallette.piglit_subset.journal import Head
from gallette.piglit_subset.results import ORDER, Entry, Run
from gallette.reports import progress
from gallette.reports.progress import RunProgress, hms
from gallette.running import Job, judge_run, known_failures, parse_results, run_job

FOUND = {
    entry.name: entry
    for entry in (
        Entry("pass", start=10.0, end=11.0, path="a/good.shader_test", name="a@good"),
        Entry("fail", " why [not] ", "", "words", "", 10.0, 12.5, path="b", name="a@[bad]"),
        Entry("skip", "no GL 9.9", path="c", name="b@left"),
        Entry("crash", path="d", name="c@died"),
    )
}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> io.StringIO:
    """What is printed; times of tests are kept in a folder of the test's own."""
    out = io.StringIO()
    console = Console(file=out, width=200, color_system=None)
    monkeypatch.setattr(running, "console", lambda: console)
    monkeypatch.setattr("gallette.reports.terminal.print_totals", lambda out, run: out.print("END"))
    monkeypatch.setenv("GALLETTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GALLETTE_DEBUG", raising=False)
    return out


class Asked(list[dict[str, Any]]):
    def __call__(self, todo: Any, driver: str, **more: Any) -> Any:
        self.append({"names": [name for name, _ in todo], "driver": driver, **more})
        return iter([FOUND[name] for name, _ in todo])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the pool of processes was asked; it answers at once."""
    made = Asked()
    monkeypatch.setattr(running, "run_all", made)
    return made


def head(*names: str, repeat: int = 1) -> Head:
    return Head("numpipe", [(n, Path(n)) for n in names or FOUND], 7.5, repeat)


def test_problems_are_printed_at_once(said: io.StringIO, asked: Asked) -> None:
    run = run_job(Job(head(), jobs=3))
    lines = said.getvalue().splitlines()
    assert sorted(lines) == sorted(
        ["   fail a/[bad]", "        why [not]", "  crash c/died", "END"]
    )
    assert lines.index("        why [not]") == lines.index("   fail a/[bad]") + 1
    assert {n: e.result for n, e in run.tests.items()} == {
        n: r.result for n, r in FOUND.items()
    }  # fmt: skip
    assert run.end >= run.start > 0
    (question,) = asked
    assert (question["driver"], question["jobs"], question["timeout"]) == ("numpipe", 3, 7.5)
    assert "GALLETTE_CACHE" in question["environment"]
    assert question["environment"]["GALLETTE_CACHE"] != "off"
    kept = Costs("numpipe")
    assert (kept.seconds["a@good"], kept.seconds["a@[bad]"]) == (1.0, 2.5)
    assert "b@left" not in kept.seconds


def test_verbose_runs_print_everything(said: io.StringIO, asked: Asked) -> None:
    run_job(Job(head("a@good", "b@left"), verbose=True, use_cache=False, jobs=9))
    assert sorted(said.getvalue().splitlines()) == sorted(
        ["   pass a/good", "   skip b/left", "        no GL 9.9", "END"]
    )
    assert asked[0]["environment"]["GALLETTE_CACHE"] == "off"
    assert asked[0]["jobs"] == 2  # no more than there are tests
    said.truncate(0)
    run_job(Job(head("a@good"), jobs=0))
    assert asked[1]["jobs"] == 1
    assert "pass" not in said.getvalue()


def test_the_longest_tests_start_first(said: io.StringIO, asked: Asked) -> None:
    run_job(Job(head()))  # learns that [bad] takes longest
    run_job(Job(head()))
    assert asked[1]["names"][:2] == ["a@[bad]", "a@good"]


def test_output_of_tests_is_shown_on_request(
    said: io.StringIO, asked: Asked, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    run_job(Job(head()))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("GALLETTE_DEBUG", "glsl")
    run_job(Job(head()))
    assert capsys.readouterr().err == "a/[bad]:\nwords\n"


def test_repeated_tests_may_differ(said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = FOUND["a@good"], Entry("fail", "late", path="x", name="a@good")
    monkeypatch.setattr(running, "run_all", lambda *a, **k: iter([first, first, second]))
    run = run_job(Job(head("a@good", repeat=3)))
    assert run.tests["a@good"].flaky
    assert run.tests["a@good"].attempts == {"pass": 2, "fail": 1}
    assert "fail a/good" in said.getvalue()
    assert said.getvalue().count("a/good") == 1
    said.truncate(0)
    assert not judge_run(run)
    assert "1 flaky: not the same result every time" in said.getvalue()


def test_a_folder_keeps_the_run_and_resumes_it(
    said: io.StringIO, asked: Asked, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    run_job(Job(head("a@good", "a@[bad]"), output=folder))
    assert f"results: {folder / 'results.json'}" in said.getvalue().replace("\n", "")
    assert json.loads((folder / "results.json").read_text())["tests"].keys() == {
        "a@good", "a@[bad]",
    }  # fmt: skip
    run_job(Job(head("a@good", "b@left"), output=folder, overwrite=True))
    said.truncate(0)
    run = run_job(Job(head(), output=folder, resume=True, rerun=frozenset(["skip"])))
    assert asked[-1]["names"] == ["b@left"]
    assert set(run.tests) == {"a@good", "b@left"}
    assert "1 of 2 tests have run before, 1 to go" in said.getvalue()


def test_a_cluster_is_used_instead(
    said: io.StringIO, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def remote(todo: Any, driver: str, cluster: str, **more: Any) -> Any:
        seen.append((driver, cluster, more["timeout"], more["use_cache"], more["cost"]("a@good")))
        return iter([FOUND[name] for name, _ in todo])

    monkeypatch.setattr("gallette.piglit_subset.remote.run_on_cluster", remote)
    run_job(Job(head("a@good"), cluster="local:1", use_cache=False))
    assert asked == []
    assert seen == [("numpipe", "local:1", 7.5, False, Costs("none").of("x", Path("none")))]


def test_lists_of_known_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "FOLDER", tmp_path)
    (tmp_path / "native.txt").write_text("a/x  shared\na/y  shared too\n")
    (tmp_path / "native-softpipe.txt").write_text("a/y  its own\n")
    assert known_failures("native:softpipe") == {"a@x": "shared", "a@y": "its own"}
    assert known_failures("native") == {"a@x": "shared", "a@y": "shared too"}
    assert "a@x" not in known_failures("numpipe")
    assert running.known_list("native:softpipe") == tmp_path / "native-softpipe.txt"
    assert running.known_list("numpipe").parts[-3:] == ("drivers", "numpipe", "fails.txt")


def test_runs_are_held_against_their_lists(
    said: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "fails.txt"
    path.write_text("a/known  [a reason]\na/mended  old\n")
    monkeypatch.setattr(running, "known_list", lambda driver: path)
    run = Run("numpipe")
    run.add("a@known", Entry("fail", "x"))
    run.add("a@good", Entry("pass"))
    assert judge_run(run)
    assert said.getvalue() == "  known a/known: [a reason]\n"
    run.add("a@mended", Entry("pass"))
    said.truncate(0)
    assert not judge_run(run)
    told = " ".join(said.getvalue().split())
    assert "unexpected pass a/mended: it is on the list of known failures of numpipe" in told
    assert judge_run(run, update=True)
    assert "0 added, 1 removed" in said.getvalue()
    assert "Replace what was seen" not in said.getvalue()
    run.add("a@new", Entry("crash", "boom"))
    assert not judge_run(run)
    assert judge_run(run, update=True)
    assert "1 added, 0 removed\nReplace what was seen by the reason" in said.getvalue()
    assert "a/new" in path.read_text()
    run.add("b", Entry("pass", attempts={"pass": 2, "fail": 1}))
    assert run.tests["b"].flaky and not judge_run(run)
    assert "1 flaky: not the same result every time" in said.getvalue()
    assert known.load(tmp_path / "none.txt") == {}


def test_results_by_name() -> None:
    assert parse_results("fail,crash") == {"fail", "crash"}
    assert parse_results("") == frozenset()
    assert parse_results(",".join(ORDER)) == set(ORDER)
    with pytest.raises(GalletteError, match=re.escape("no such result: x, y (one of ")):
        parse_results("y,fail,x")


def test_progress_is_a_bar_or_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    out = io.StringIO()
    with RunProgress(Console(file=out, width=100), "tests", [1.0] * 3, done=2) as run:
        for seconds in (1, progress._LINE_SECONDS - 1, progress._LINE_SECONDS - 0.5):
            now[0] += seconds
            run.step(1.0, Counter(fail=1, **{"pass": 2}))
    (line,) = out.getvalue().splitlines()
    assert line.startswith("tests: 4 of 5, ")
    assert line.endswith("fail 1  pass 2")

    class Bar(list[Any]):
        def start(self) -> None:
            self.append("start")

        def stop(self) -> None:
            self.append("stop")

        def add_task(self, title: str, **facts: Any) -> int:
            self.append((title, facts))
            return 7

        def update(self, task: int, **facts: Any) -> None:
            self.append((task, facts["advance"], facts["note"].strip()))

    bar = Bar()
    monkeypatch.setattr(progress, "progress_bar", lambda out: bar)
    with RunProgress(Console(file=out, force_terminal=True), "tests", [1.0], done=2) as run:
        run.step(1.0, Counter({"pass": 1}))
    assert bar == [
        "start", ("tests", {"total": 3, "completed": 2, "note": ""}), (7, 1, "pass 1"), "stop",
    ]  # fmt: skip
    assert [hms(s) for s in (0, 59, 60, 3599, 3600, 3661)] == [
        "0:00", "0:59", "1:00", "59:59", "1:00:00", "1:01:01",
    ]  # fmt: skip


# -- scripts as scenes -----------------------------------------------------------------------------


def shown(folder: Path, text: str) -> dict[str, Any]:
    """The passes of a script, and the words that it says to standard output."""
    pytest.importorskip("moderngl")
    import gallette

    path = folder / "script.py"
    path.write_text("import moderngl, sys\nimport gallette\n" + text)
    passes: dict[str, Any] = {}
    scripts.run_script(
        path, lambda: gallette.moderngl_context("numpipe"),
        lambda taken: passes.__setitem__(taken.name, taken.color),
    )  # fmt: skip
    return passes


MADE = "ctx = moderngl.create_context(standalone=True)\nf = ctx.simple_framebuffer((2, 2))\n"


def test_what_is_read_is_a_pass(tmp_path: Path) -> None:
    found = shown(tmp_path, MADE + (
        "f.clear(1.0, 0, 0, 1.0)\n"
        "f.read()\n"
        "for i in range(2): f.read(components=4)\n"
        "f.read(attachment=-1)\n"  # the depth is no colour
        "buffer = bytearray(16)\n"
        "f.read_into(buffer, components=4)\n"
        "f.color_attachments[0]\n"
        "t = ctx.texture((1, 1), 4, b'\\x01\\x02\\x03\\x04')\n"
        "t.read()\n"
        "ctx.texture((1, 1), 4, dtype='u1').read()\n"  # integers are no colours
        "gallette.mark('marked', f)\n"
    ))  # fmt: skip
    assert list(found) == ["line 6", "line 7", "line 7, 2", "line 10", "line 13", "marked"]
    assert found["line 6"][0, 0].tolist() == [255, 0, 0, 255]
    assert found["line 13"][0, 0].tolist() == [1, 2, 3, 4]


def test_a_script_that_shows_nothing_shows_what_it_used_last(tmp_path: Path) -> None:
    text = MADE + "f.use()\nf.clear(0, 1.0, 0, 1.0)\n"
    assert list(shown(tmp_path, text)) == ["at the end"]
    assert list(shown(tmp_path, text + "f.read()\n")) == ["line 7"]
    assert shown(tmp_path, "") == {}


def test_scripts_get_their_contexts_from_us(tmp_path: Path) -> None:
    text = (
        "first = moderngl.get_context()\n"
        "assert moderngl.get_context() is first\n"
        "second = moderngl.create_standalone_context()\n"
        "assert moderngl.get_context() is second\n"
        "assert 'gallette' in first.info['GL_VENDOR'].lower()\n"
        "assert sys.argv == [__file__] and sys.path[0] in __file__\n"
        "print('words')\n"
    )
    before = list(sys.argv), list(sys.path)
    import moderngl

    kept = moderngl.create_context, moderngl.get_context, moderngl.Framebuffer.read
    shown(tmp_path, text)
    assert (sys.argv, sys.path) == before
    assert (moderngl.create_context, moderngl.get_context, moderngl.Framebuffer.read) == kept
    assert scripts._taking == []


def test_output_of_scripts_is_redirected(tmp_path: Path, capsys: Any) -> None:
    shown(tmp_path, "print('words')\n")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "words\n")


@pytest.mark.parametrize("status", ["", "0", "None", "3", "'no'"])
def test_a_script_may_end_itself(status: str, tmp_path: Path) -> None:
    text = f"sys.exit({status})\n"
    if status in ("3", "'no'"):
        with pytest.raises(GalletteError, match=f"ended with status {eval(status)}"):
            shown(tmp_path, text)
    else:
        assert shown(tmp_path, text) == {}
    assert scripts._taking == []
