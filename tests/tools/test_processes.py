"""The processes that run shader_tests: what they are asked, and how their ends are told."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import GalletteError, InputError
from gallette.piglit_subset import cluster, execute, pool, remote
from gallette.piglit_subset.execute import Unavailable, make_context, run_file, run_test
from gallette.piglit_subset.history import Costs
from gallette.piglit_subset.pool import TestProcess, run_all
from gallette.piglit_subset.remote import RunOptions, SentTest
from gallette.piglit_subset.requirements import context_needs
from gallette.piglit_subset.results import Entry, Run, merge
from gallette.piglit_subset.results import test_name as name_of_test
from gallette.piglit_subset.shader_test import parse_file

GOOD = """[require]
GLSL >= 3.30
SIZE 4 4
[test]
clear color 0 1 0 1
clear
probe all rgba 0 1 0 1
"""


def written(folder: Path, text: str = GOOD, name: str = "a") -> Path:
    path = folder / f"{name}.shader_test"
    path.write_text(text)
    return path


# -- one test


@pytest.mark.parametrize(
    ("change", "result", "reason"),
    [
        (("", ""), "pass", ""),
        (("probe all rgba 0", "probe all rgba 1"), "fail", "4:"),
        (("probe all", "probe warn all"), "pass", ""),
        (("probe all rgba 0", "probe warn all rgba 1"), "warn", ""),
        (("clear\n", "nonsense\n"), "fail", "unknown command"),
        (("GLSL >= 3.30", "GLSL >= 9.90"), "skip", "requires"),
        (("clear\n", "enable GL_TEXTURE_3D_\n"), "fail", ""),
        (("[test]", "[test"), "fail", "a section head needs a closing ']'"),
        (("[test]", "[test] words"), "fail", "unexpected text after the section head"),
        (("[test]", "[tests]"), "fail", "unknown section [tests]"),
        (("1 0 1\n", "1 0 1\ncall glEnable 1\n"), "fail", "GL_INVALID_ENUM"),
    ],
)
def test_a_test_ends_as_it_should(
    change: tuple[str, str], result: str, reason: str, tmp_path: Path
) -> None:
    path = written(tmp_path, GOOD.replace(*change) if change[0] else GOOD)
    before = time.time()
    outcome = run_file(path, "numpipe")
    assert before <= outcome.start <= outcome.end <= time.time()
    assert outcome.result == result, outcome.reason
    if reason != "4:":
        assert reason in outcome.reason
    if result == "fail":
        assert outcome.messages


def test_leaks_fail_passing_tests(tmp_path: Path) -> None:
    test = parse_file(written(tmp_path))

    def spoil(gl: Any) -> None:
        leave = gl.release

        def release() -> None:
            leave()
            raise GalletteError("three resources are left")

        gl.release = release

    outcome = run_test(test, "numpipe", after_create=spoil)
    assert (outcome.result, outcome.reason) == ("fail", "leak: three resources are left")
    wrong = parse_file(written(tmp_path, GOOD.replace("rgba 0", "rgba 1"), "b"))
    assert "three resources" not in run_test(wrong, "numpipe", after_create=spoil).reason


def test_hooks_see_the_context_when_it_is_new_and_before_it_goes(tmp_path: Path) -> None:
    seen: list[Any] = []
    test = parse_file(written(tmp_path))
    outcome = run_test(test, "numpipe", lambda gl: seen.append(("end", gl.released, gl)),
                       lambda gl: seen.append(("begin", gl.released, gl)))  # fmt: skip
    assert outcome.result == "pass"
    assert [(what, released) for what, released, _ in seen] == [("begin", False), ("end", False)]
    assert seen[0][2] is seen[1][2]
    assert seen[0][2].released


@pytest.mark.parametrize(
    ("require", "told"),
    [
        ("GL COMPAT >= 4.3", "requires OpenGL 4.3: unknown driver 'nothing'"),
        ("GL >= 4.3", "requires OpenGL core 4.3: unknown driver 'nothing'"),
        ("GL ES >= 3.1\nGLSL ES >= 3.10", "requires OpenGL ES 3.1: unknown driver 'nothing'"),
    ],
)
def test_contexts_that_cannot_be_created_are_reported(
    require: str, told: str, tmp_path: Path
) -> None:
    test = parse_file(written(tmp_path, GOOD.replace("GLSL >= 3.30", require)))
    with pytest.raises(Unavailable) as error:
        make_context("nothing", context_needs(test))
    assert str(error.value).startswith(told)
    outcome = run_test(test, "nothing")
    assert outcome.result == "skip"
    assert outcome.reason.startswith(told)


def test_a_bug_of_the_implementation_keeps_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(execute, "build", broken)
    outcome = run_file(written(tmp_path), "numpipe")
    assert (outcome.result, outcome.reason) == ("fail", "ZeroDivisionError: by nothing")
    assert "Traceback" in outcome.messages[0]


def test_a_lost_context_fails(tmp_path: Path) -> None:
    def lose(gl: Any) -> None:
        gl.lost = "it hung"

    outcome = run_test(parse_file(written(tmp_path)), "numpipe", after_create=lose)
    assert (outcome.result, outcome.reason) == ("fail", "the context was lost: it hung")


# -- processes that run them


class Worker:
    """A process made up: it answers what it is told to."""

    made: list[Worker]
    answers: list[Any]

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment, self.tests, self.closed = environment, 0, list[bool]()
        self.asked: list[Any] = []
        self.process = type("P", (), {"returncode": -11, "kill": lambda this: None})()
        Worker.made.append(self)

    def request(self, request: Any, timeout: float) -> Any:
        self.tests += 1
        self.asked.append((request, timeout))
        return Worker.answers.pop(0)

    def stderr_of_last(self) -> str:
        return "words"

    def close(self, kill: bool = False) -> None:
        self.closed.append(kill)


REPLY = {
    "result": "pass",
    "reason": "r",
    "out": "o",
    "start": 1.0,
    "end": 3.5,
    "images": {"a": "b"},
}


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Worker]:
    Worker.made, Worker.answers = [], []
    monkeypatch.setattr(pool, "_Worker", Worker)
    monkeypatch.delenv("GALLETTE_DEBUG", raising=False)
    return Worker.made


def test_processes_that_die_or_hang_are_followed_by_others(workers: list[Worker]) -> None:
    process = TestProcess("numpipe", 7.0, {"A": "B"})
    Worker.answers = [REPLY, "crash", REPLY, "timeout", REPLY]
    found = [process.run(f"t{i}", Path(f"p{i}")) for i in range(5)]
    assert [r.result for r in found] == ["pass", "crash", "pass", "timeout", "pass"]
    assert [r.reason for r in found] == [
        "r", "exit status -11", "r", "no answer within 7 s", "r",
    ]  # fmt: skip
    assert [r.name for r in found] == ["t0", "t1", "t2", "t3", "t4"]
    assert [w.closed for w in workers] == [[False], [True], []]  # what hangs is killed
    assert [len(w.asked) for w in workers] == [2, 2, 1]
    assert workers[0].asked[0] == ({"path": "p0", "driver": "numpipe"}, 7.0)
    assert workers[0].environment == {"A": "B"}
    assert (found[0].out, found[0].err, found[0].images) == ("o", "words", {"a": "b"})
    assert (found[0].start, found[0].end, found[0].seconds) == (1.0, 3.5, 2.5)
    assert found[1].end >= found[1].start > 1e9
    assert (
        found[0].command
        == found[2].command[:-1] + "0"
        == ("gallette piglit run --driver numpipe p0")
    )
    process.close(kill=True)
    process.close()
    assert workers[2].closed == [True]


def test_a_process_runs_so_many_tests(
    workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_TESTS_PER_WORKER", 3)
    process = TestProcess("numpipe", 7.0, {})
    Worker.answers = [REPLY] * 7
    for i in range(7):
        process.run(f"t{i}", Path("p"))
    assert [len(w.asked) for w in workers] == [3, 3, 1]
    assert [w.closed for w in workers] == [[False], [False], []]


@pytest.mark.parametrize("asked", [True, False])
def test_words_of_processes(
    asked: bool, workers: list[Worker], capsys: pytest.CaptureFixture[str]
) -> None:
    process = TestProcess("numpipe", 7.0, {"GALLETTE_DEBUG": "glsl"} if asked else {})
    Worker.answers = [REPLY]
    process.run("the test", Path("p"))
    assert capsys.readouterr().err == ("-- the test\nwords\n" if asked else "")


def test_every_test_is_run_once_however_many_processes_there_are(workers: list[Worker]) -> None:
    for jobs in (0, 1, 3):
        workers.clear()
        Worker.answers = [REPLY] * 5
        tests = [(f"t{i}", Path("p")) for i in range(5)]
        found = list(run_all(tests, "numpipe", jobs=jobs, timeout=7.0, environment={"A": "B"}))
        assert sorted(r.name for r in found) == [f"t{i}" for i in range(5)]
        assert len(workers) <= max(1, jobs)
        assert all(w.closed == [False] for w in workers)


def test_mistakes_in_threads_are_not_lost(workers: list[Worker]) -> None:
    Worker.answers = []  # nothing to answer: an IndexError
    with pytest.raises(IndexError):
        list(run_all([("t", Path("p"))], "numpipe", jobs=1, timeout=7.0, environment={}))


def test_closing_the_results_stops_the_processes(
    workers: list[Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    Worker.answers = [REPLY] * 50
    tests = [(f"t{i}", Path("p")) for i in range(50)]
    reports = run_all(tests, "numpipe", jobs=1, timeout=7.0, environment={})
    next(reports)
    reports.close()  # type: ignore[attr-defined]
    assert workers[0].closed[-1:] in ([True], [False])
    assert TestProcess("d", 1.0, {}).kill() is None


# -- clusters


def test_workers_have_files_or_get_them(tmp_path: Path) -> None:
    there = written(tmp_path)
    content = there.read_bytes()
    folder = tmp_path / "folder"
    folder.mkdir()
    assert remote._file(SentTest("n", str(there), content), folder) == there
    assert not list(folder.iterdir())
    other = remote._file(SentTest("n", str(there), b"another"), folder)
    assert other == folder / "a.shader_test"
    assert other.read_bytes() == b"another"
    missing = tmp_path / "gone" / "b.shader_test"
    found = remote._file(SentTest("n", str(missing), content), folder)
    assert found == folder / "b.shader_test"
    assert found.read_bytes() == content


def test_tests_run_in_one_process_for_each_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    class Process:
        def __init__(self, driver: str, timeout: float, environment: dict[str, str]) -> None:
            made.append((driver, timeout, environment.get("GALLETTE_CACHE")))

        def run(self, name: str, path: Path) -> Entry:
            return Entry("pass", path=str(path), name=name)

        def close(self) -> None:
            """Nothing."""

    monkeypatch.setattr(remote, "TestProcess", Process)
    monkeypatch.setattr(remote, "_processes", {})
    monkeypatch.setenv("GALLETTE_CACHE", "here")
    sent = [SentTest(f"t{i}", f"/nowhere/{i}.shader_test", b"x") for i in range(2)]
    for how in (
        RunOptions("a", 5.0, True),
        RunOptions("a", 5.0, True),
        RunOptions("b", 5.0, False),
    ):
        found = [remote._run_test(how, each) for each in sent]
        assert [(r.name, r.path, r.command) for r in found] == [
            (f"t{i}", p, f"gallette piglit run --driver {how.driver} {p}")
            for i, p in enumerate(["/nowhere/0.shader_test", "/nowhere/1.shader_test"])
        ]
    assert made == [("a", 5.0, "here"), ("b", 5.0, "off")]


def test_tests_whose_workers_died_crashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Cluster:
        def __init__(self, address: str) -> None:
            assert address == "x:1"

        def __enter__(self) -> Cluster:
            return self

        def __exit__(self, *args: object) -> None:
            """Nothing."""

        def run(self, function: Any, items: Any, cost: Any) -> Any:
            assert [cost(i) for i in items] == [1.0, 2.0]
            assert function.args[0] == RunOptions("numpipe", 5.0, True)
            yield items[0], Entry("pass", path="p", name="a")
            yield items[1], ValueError("why")

    monkeypatch.setattr(remote, "Cluster", Cluster)
    paths = [written(tmp_path, GOOD, name) for name in "ab"]
    found = list(remote.run_on_cluster(
        list(zip("ab", paths, strict=True)), "numpipe", "x:1", timeout=5.0, use_cache=True,
        cost={"a": 1.0, "b": 2.0}.__getitem__,
    ))  # fmt: skip
    assert [(r.name, r.result, r.reason) for r in found] == [
        ("a", "pass", ""), ("b", "crash", "the test's worker was lost: why"),
    ]  # fmt: skip
    assert found[1].path == str(paths[1])


def test_without_dask_there_are_no_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match="--cluster needs dask"):
        cluster._distributed()


# -- results


def test_runs_of_one_test_are_not_merged() -> None:
    first, second, other = Run("d"), Run("d"), Run("d")
    first.add("a@b", Entry("pass"))
    second.add("a@b", Entry("pass"))
    other.add("a@c", Entry("fail"))
    whole = merge([first, other])[0]
    assert {n: e.result for n, e in whole.tests.items()} == {"a@b": "pass", "a@c": "fail"}
    with pytest.raises(InputError, match="cannot merge: two of the runs have a/b"):
        merge([first, second])


def test_names_of_tests(tmp_path: Path) -> None:
    assert name_of_test(tmp_path / "a/b.shader_test", tmp_path) == "a@b"
    assert name_of_test(Path("/elsewhere/c.shader_test"), tmp_path) == "c"


def test_costs_are_remembered_of_so_many_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gallette.piglit_subset.history._KEPT", 3)
    for number in range(5):
        run = Run("native:x")
        run.add(f"t{number}", Entry("pass", start=1.0, end=1.0 + number))
        Costs("native:x", tmp_path).learn(run)
    kept = Costs("native:x", tmp_path)
    assert kept.seconds == {"t2": 2.0, "t3": 3.0, "t4": 4.0}
    assert kept.path == tmp_path / "times" / "native-x.json"
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x")
    large.write_bytes(b"x" * 10000)
    guess = [kept.of("new", path) for path in (tmp_path / "none", small, large)]
    assert 0 < guess[0] < guess[1] < guess[2]
    order = kept.longest_first([("b", small), ("a", small), ("t4", small), ("new", large)])
    assert [name for name, _ in order][:1] == ["t4"]
    assert [name for name, _ in order][-2:] == ["a", "b"]
