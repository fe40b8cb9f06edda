"""Running shader_tests on the native GL: verdicts, messages, crashes, result files."""

from __future__ import annotations

import itertools
import json
import os
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gallette.compiler.errors import InputError
from gallette.piglit_subset import known
from gallette.piglit_subset.environment import child_environment
from gallette.piglit_subset.execute import run_file, run_test
from gallette.piglit_subset.history import Costs
from gallette.piglit_subset.junit import write_junit
from gallette.piglit_subset.pool import TestProcess, run_all
from gallette.piglit_subset.results import Entry, Run, merge, read_run, write_run
from gallette.piglit_subset.shader_test import parse_file, parse_text
from gallette.piglit_subset.suite import Shard, find_tests, some_bundled
from gallette.piglit_subset.summary import pass_rate, summarise
from gallette.running import known_failures, known_list

pytestmark = pytest.mark.native

GREEN = """
[require]
GLSL >= 3.30
[vertex shader passthrough]
[fragment shader]
#version 330
uniform vec4 c;
out vec4 color;
void main() { color = c; }
[test]
uniform vec4 c 0 1 0 1
"""


def test_every_failed_probe_is_told_with_pictures(native: str) -> None:
    """A failed probe does not stop the test."""
    commands = "draw rect -1 -1 2 2\nprobe rgb 0 0 1 0 0\nprobe rgb 1 1 1 0 0\n"
    result = run_test(parse_text(GREEN + commands, "t.shader_test"), native)
    assert [m.split(":")[1] for m in result.messages] == ["13", "14"]
    assert result.images["observed"].shape == (250, 250, 4)


def write(folder: Path, name: str, text: str) -> tuple[str, Path]:
    path = folder / f"{name}.shader_test"
    path.write_text(text)
    return name, path


def marked(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Tests, and an environment whose sitecustomize makes a worker die or hang at two of them."""
    good = GREEN + "draw rect -1 -1 2 2\nprobe all rgba 0 1 0 1\n"
    tests = dict(write(folder, n, good) for n in ("a", "boom", "c", "sleep", "e"))
    (folder / "sitecustomize.py").write_text(
        textwrap.dedent(
            """
            import os, pathlib, time
            read = pathlib.Path.read_text
            def read_text(self, *args, **kwargs):
                if self.name.startswith("boom"):
                    os.abort()
                while self.name.startswith("sleep"):
                    time.sleep(60)
                return read(self, *args, **kwargs)
            pathlib.Path.read_text = read_text
            """
        )
    )
    root = str(Path(__file__).resolve().parent.parent.parent)
    return tests, {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), root])}


def test_a_dying_worker_costs_one_test_only(native: str, tmp_path: Path) -> None:
    tests, env = marked(tmp_path)
    del tests["sleep"]
    reports = run_all(list(tests.items()), native, jobs=2, timeout=120, environment=env)
    results = {r.name: r.result for r in reports}
    assert results == {"a": "pass", "boom": "crash", "c": "pass", "e": "pass"}


def test_a_hanging_worker_costs_one_test_only(native: str, tmp_path: Path) -> None:
    tests, env = marked(tmp_path)
    process = TestProcess(native, 120, env)
    try:
        assert process.run("a", tests["a"]).result == "pass"
        process.timeout = 0.1
        hung = process.run("sleep", tests["sleep"])
        assert (hung.result, hung.reason) == ("timeout", "no answer within 0.1 s")
        process.timeout = 120
        assert process.run("e", tests["e"]).result == "pass"
    finally:
        process.close()


def test_results_are_written_in_piglits_format(native: str, tmp_path: Path) -> None:
    tests = [write(tmp_path, "one", GREEN + "draw rect -1 -1 2 2\nprobe all rgba 0 0 0 0\n")]
    run = Run("native", start=1.0, end=2.0)
    for report in run_all(tests, native, jobs=1, timeout=30):
        run.tests[report.name] = report
    path = write_run(run, tmp_path / "out")
    document = json.loads(path.read_text())
    assert document["results_version"] == 10
    assert document["__type__"] == "TestrunResult"
    entry = document["tests"]["one"]
    assert entry["result"] == "fail"
    assert entry["time"]["__type__"] == "TimeAttribute"
    assert entry["__type__"] == "TestResult"
    again = read_run(tmp_path / "out")
    assert again.tests["one"].result == "fail"
    assert again.tests["one"].reason == run.tests["one"].reason
    assert list(again.tests["one"].images) == ["observed", "expected"]


# What Mesa's llvmpipe does not offer: tests that ask for it say so and are skipped.
NOT_IN_MESA = """GL_ARB_bindless_texture
    GL_ARB_compute_variable_group_size
    GL_ARB_fragment_shader_interlock
    GL_ARB_sample_locations
    GL_EXT_debug_marker
    GL_EXT_demote_to_helper_invocation
    GL_EXT_depth_bounds_test
    GL_EXT_shader_texture_lod
    GL_INTEL_fragment_shader_ordering
    GL_NV_fragment_shader_interlock"""


def test_bundled_tests_pass_on_the_native_gl(
    native: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(find_tests([])) >= 700
    # Without its cache Mesa has no binaries of programs.
    monkeypatch.setenv("MESA_SHADER_CACHE_DISABLE", "false")
    monkeypatch.setenv("MESA_SHADER_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("GALLIVM_PERF", "nopt")  # llvmpipe compiles more than it draws here
    reports = list(run_all(some_bundled(step=40), native, jobs=2, timeout=60))
    expected = known_failures("native")
    bad = {r.name: r.reason for r in reports if r.result != "pass"}
    reasons = {bad[name] for name in bad if name not in expected}
    reasons -= {why for why in reasons if why.startswith("requires OpenGL core 4.6")}
    assert reasons == {f"requires {name}" for name in NOT_IN_MESA.split()}
    assert {r.name for r in reports if r.result == "pass"} & set(expected) == set()


def test_every_bundled_test_says_what_it_proves() -> None:
    for _, path in find_tests([]):
        first = path.read_text().split("\n", 1)[0]
        assert first.startswith("# ") and first.endswith("."), path


def test_summary_compares_runs() -> None:
    a = Run("a", {"x@1": Entry("pass"), "x@2": Entry("fail"), "y@3": Entry("skip")})
    b = Run("b", {"x@1": Entry("fail"), "x@2": Entry("pass")})
    summary = summarise([a, b])
    kinds = {t.name: t.kind for t in summary.tests}
    assert kinds == {"x@1": "regression", "x@2": "fix", "y@3": "changed"}
    assert summary.folders == [("x", [(1, 2), (1, 2)]), ("y", [(0, 0), (0, 0)])]
    assert pass_rate(a.totals()) == 0.5


def test_known_failures_are_forgiven_and_surprises_are_not(tmp_path: Path) -> None:
    (tmp_path / "native-x.txt").write_text("# list\na/1  slow\na/2  wrong\n")
    listed = known.load(tmp_path / "native-x.txt")
    assert listed == {"a@1": "slow", "a@2": "wrong"}
    run = Run("native:x", {"a@1": Entry("fail"), "a@2": Entry("pass"), "a@3": Entry("fail")})
    judgement = known.judge(run, listed)
    assert judgement.known == {"a@1": "slow"}
    assert (judgement.failures, judgement.surprises) == (["a@3"], ["a@2"])


def test_a_known_failure_needs_a_reason(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("a/1\n")
    with pytest.raises(InputError, match=r"x.txt:1:1: error: a known failure needs a reason"):
        known.load(tmp_path / "x.txt")


def test_every_known_failure_is_a_bundled_test() -> None:
    names = {name for name, _ in find_tests([])}
    for path in known.FOLDER.glob("*.txt"):
        assert set(known.load(path)) <= names
    # A driver's own list may name tests of other suites, too; its bundled ones must exist.
    for name in known.load(known_list("numpipe")):
        assert "glsl-3.30" not in name or name in names


def test_the_list_of_a_driver_is_beside_its_code() -> None:
    numpipe = known_list("numpipe")
    assert (numpipe.parent.name, numpipe.name) == ("numpipe", "fails.txt")
    assert known_list("trace:numpipe") == numpipe
    assert known_list("native:softpipe") == known.FOLDER / "native-softpipe.txt"


def test_the_list_of_known_failures_is_rewritten(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("# kept\na/1  slow\n\na/2  wrong\nb/1  elsewhere\n")
    run = Run("x", {"a@1": Entry("fail"), "a@2": Entry("pass"), "a@3": Entry("crash", "died\nx")})
    assert known.update(run, path) == (["a@3"], ["a@2"])
    assert path.read_text() == "# kept\na/1  slow\n\nb/1  elsewhere\na/3  seen: died\n"
    assert known.judge(run, known.load(path)).ok


def test_files_of_results_that_are_none(tmp_path: Path) -> None:
    """Each is refused in one line that names it."""
    folder = tmp_path / "file"
    folder.write_text("{}")
    run = Run("x", {"a@1": Entry("pass")})
    for call, message in (
        (lambda: write_run(run, folder), "file: cannot write: File exists"),
        (lambda: write_junit(run, folder / "j.xml", {}), "cannot write: File exists"),
        (lambda: known.update(run, folder / "x.txt"), "cannot write: Not a directory"),
        (lambda: read_run(tmp_path / "none.json"), "none.json: cannot read: No such file"),
        (lambda: read_run(folder), "file: not a results file: no table of tests"),
        (lambda: merge([run, Run("y")]), "cannot merge runs of x and of y"),
        (lambda: find_tests([], lists=[tmp_path / "none"]), "none: cannot read: "),
        (lambda: parse_file(tmp_path / "none"), "none: cannot read: No such file"),
    ):
        with pytest.raises(InputError, match=message):
            call()
    (tmp_path / "list").write_text("\n  gone.shader_test\n")
    with pytest.raises(InputError, match=r"list:2:3: error: no such file: gone\.shader"):
        find_tests([], lists=[tmp_path / "list"])


def test_tests_of_one_name_are_numbered(tmp_path: Path) -> None:
    """From several folders, in which the same name stands for several tests."""
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
        write(folder, "one", "")
    found = find_tests(folders)
    assert found == [(n, f / "one.shader_test") for n, f in zip(
        ("one", "one~2", "one~3"), folders, strict=True)]  # fmt: skip


def test_shards_are_the_whole_without_overlap(tmp_path: Path) -> None:
    tests = [(str(i), tmp_path) for i in range(11)]
    parts = [Shard(i, 3).of(tests) for i in (1, 2, 3)]
    assert sorted(t for part in parts for t in part) == sorted(tests)
    assert {len(p) for p in parts} == {3, 4}
    for text in ("0/3", "4/3", "1", "a/b"):
        with pytest.raises(InputError, match="--shard"):
            Shard.parse(text)


def test_lists_name_files_or_tests(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    write(tmp_path / "spec", "b", "")
    _, path = write(tmp_path, "a", "")
    listing = tmp_path / "list.txt"
    for lines in itertools.permutations(("# two", "spec/b", f"{path}  # by file", "")):
        listing.write_text("\n".join(lines) + "\n")
        assert [n for n, _ in find_tests([tmp_path], lists=[listing])] == ["a", "spec@b"]
    assert [n for n, _ in find_tests([tmp_path], exclude=["B$"])] == ["a"]
    listing.write_text("a\n  nobody\n")
    with pytest.raises(InputError, match=r"list.txt:2:3: error: no test has this name"):
        find_tests([tmp_path], lists=[listing])


def test_junit_counts_and_escapes(tmp_path: Path) -> None:
    run = Run("x", {"a@1": Entry("pass"), "a@2": Entry("fail", "<\x00>"), "b": Entry("crash")})
    run.tests["a@3"] = Entry("fail", "again")
    suite = ElementTree.parse(write_junit(run, tmp_path / "j.xml", {"a@3": "slow"})).getroot()[0]
    counts = {k: suite.get(k) for k in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert next((c.get("classname"), c.get("name")) for c in suite) == ("a", "1")
    assert suite.find(".//failure").get("message") == "<?>"


def test_long_tests_come_first(tmp_path: Path) -> None:
    tests = [write(tmp_path, n, "") for n in ("a", "b", "c")]
    run = Run("x", {"b": Entry("pass", start=1, end=3), "c": Entry("pass", start=1, end=2)})
    Costs("x", tmp_path).learn(run)
    assert [n for n, _ in Costs("x", tmp_path).longest_first(tests)] == ["b", "c", "a"]


def test_names_follow_the_folder(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    write(tmp_path / "spec", "b", "")
    write(tmp_path, "a", "")
    assert [n for n, _ in find_tests([tmp_path])] == ["a", "spec@b"]
    assert [n for n, _ in find_tests([tmp_path], ["SPEC/"])] == ["spec@b"]


def test_a_missing_file_fails_its_test(tmp_path: Path, native: str) -> None:
    assert "cannot read" in run_file(tmp_path / "x.shader_test", native).reason


def test_what_debug_flags_print_in_workers_is_seen(gallette, tmp_path: Path) -> None:
    test = next(p for n, p in find_tests([]) if n.endswith("flat-float"))
    done = gallette("piglit", "run", test, GALLETTE_DEBUG="gl:calls")
    assert done.returncode == 0, done.stderr
    assert "glLinkProgram" in done.stderr


def test_tables_have_the_given_width(gallette) -> None:
    done = gallette("diff", "gradient", "--against", "numpipe", COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_debug_output_of_workers_reaches_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    test = tmp_path / "clears.shader_test"
    test.write_text("[require]\nGLSL >= 1.20\n\n[test]\nclear color 0 0 0 0\nclear\n")
    environment = {**child_environment("noop"), "GALLETTE_DEBUG": "gl:calls"}
    list(run_all([("clears", test)], "noop", jobs=1, timeout=60, environment=environment))
    told = capfd.readouterr().err
    assert "-- clears" in told and "glClear(" in told
