"""Runs that survive: cut off anywhere, an interrupted run goes on to the same results."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gallette.compiler.errors import InputError
from gallette.piglit_subset import journal as module
from gallette.piglit_subset.journal import FILE, Head, Journal
from gallette.piglit_subset.results import Entry, read_run

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = [(f"a@{i:02}", Path(f"/nowhere/{i}.shader_test")) for i in range(30)]


def verdict(name: str) -> Entry:
    number = int(name.partition("@")[2])
    result = ("pass", "fail", "skip")[number % 3]
    return Entry(result, f"because of {number}" * (number % 4), start=10.0, end=11.0)


def go_on(journal: Journal) -> None:
    for name, _ in journal.todo():
        journal.add(name, verdict(name))
    journal.finish()


def outcome(folder: Path) -> dict[str, tuple[str, str, dict[str, int]]]:
    return {n: (t.result, t.reason, t.attempts) for n, t in read_run(folder).tests.items()}


@pytest.fixture
def undisturbed(tmp_path: Path) -> tuple[Path, bytes]:
    """A finished run, and its journal as it stood before the end."""
    folder = tmp_path / "undisturbed"
    journal = Journal.create(folder, Head("numpipe", TESTS))
    for name, _ in journal.todo():
        journal.add(name, verdict(name))
    data = (folder / FILE).read_bytes()
    journal.finish()
    return folder, data


def test_whatever_part_of_the_journal_is_left_the_union_is_the_same(
    undisturbed: tuple[Path, bytes], tmp_path: Path
) -> None:
    whole, data = undisturbed
    head = data.index(b"\n") + 1
    cuts = random.Random(14).sample(range(head, len(data)), 60)
    for cut in cuts:
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / FILE).write_bytes(data[:cut])
        go_on(Journal.resume(folder))
        assert outcome(folder) == outcome(whole), cut
        assert not (folder / FILE).exists()


CHILD = """
import os, signal, sys
from pathlib import Path
from tests.tools.test_journal import TESTS, go_on
from gallette.piglit_subset.journal import FILE, Head, Journal

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
real = os.write

def write(fd, data):
    '''Bytes up to the limit reach the file; the next one never does.'''
    room = limit - os.fstat(fd).st_size
    if room >= len(data):
        return real(fd, data)
    real(fd, data[:max(0, room)])
    os.kill(os.getpid(), signal.SIGKILL)

os.write = write
begun = (folder / FILE).exists()
go_on(Journal.resume(folder) if begun else Journal.create(folder, Head("numpipe", TESTS)))
"""


def test_a_process_killed_at_any_byte_loses_nothing_else(
    undisturbed: tuple[Path, bytes], tmp_path: Path
) -> None:
    whole, data = undisturbed
    limits = sorted(random.Random(9).sample(range(data.index(b"\n") + 1, len(data)), 4))
    folder = tmp_path / "killed"
    for limit in limits:
        child = subprocess.run(
            [sys.executable, "-c", CHILD, str(folder), str(limit)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
        assert child.returncode == -signal.SIGKILL
    go_on(Journal.resume(folder))
    assert outcome(folder) == outcome(whole)


def test_a_full_disk_keeps_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal.create(tmp_path, Head("numpipe", TESTS))
    journal.add("a@00", verdict("a@00"))
    real, calls = os.write, []

    def full(fd: int, data: bytes) -> int:
        calls.append(data)
        if len(calls) == 1:
            return real(fd, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "write", full)
    with pytest.raises(InputError, match="No space left on device; 1 results are kept"):
        journal.add("a@01", verdict("a@01"))
    monkeypatch.setattr(module.os, "write", real)
    journal.close()
    assert (tmp_path / FILE).read_bytes().endswith(b"}\n")
    assert len(Journal.resume(tmp_path).todo()) == 29


def test_an_unfinished_run_can_be_read(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, Head("numpipe", TESTS))
    journal.add("a@01", verdict("a@01"))
    assert read_run(tmp_path).totals() == {"fail": 1, "notrun": 29}


def test_a_run_takes_as_long_as_its_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the beginning of each to its last result; between them nobody worked."""
    now = 1000.0
    monkeypatch.setattr(module.time, "time", lambda: now)
    journal = Journal.create(tmp_path, Head("numpipe", TESTS))
    journal.add("a@00", Entry("pass", start=1001.0, end=1030.0))
    journal.add("a@01", Entry("pass", start=1002.0, end=1020.0))
    journal.close()
    now = 1500.0
    Journal.resume(tmp_path).close()
    run = module.read_unfinished(tmp_path)
    assert run is not None
    assert (run.end, run.end - run.start) == (1500.0, 30.0)
    for session, (now, work) in enumerate(((2000.0, 5.0), (3000.0, 7.0), (4000.0, 11.0))):
        journal = Journal.resume(tmp_path)
        journal.add(f"a@{10 + session}", Entry("pass", start=now, end=now + work))
        journal.close()
        run = module.read_unfinished(tmp_path)
        assert run is not None
        assert (run.end, run.end - run.start) == (now + work, (35.0, 42.0, 53.0)[session])
    now = 5000.0
    journal = Journal.resume(tmp_path)
    now = 5100.0
    journal.finish()
    run = read_run(tmp_path)
    assert (run.end, run.end - run.start) == (5100.0, 153.0)


def test_an_unfinished_run_is_not_thrown_away_unasked(tmp_path: Path) -> None:
    Journal.create(tmp_path, Head("numpipe", TESTS)).close()
    with pytest.raises(InputError, match="not finished"):
        Journal.create(tmp_path, Head("numpipe", TESTS))
    Journal.create(tmp_path, Head("numpipe", TESTS), overwrite=True).close()


def test_two_runs_cannot_write_one_folder(tmp_path: Path) -> None:
    first = Journal.create(tmp_path, Head("numpipe", TESTS))
    with pytest.raises(InputError, match="another run is writing"):
        Journal.resume(tmp_path)
    first.close()


def test_a_finished_run_holds_its_folder_no_longer(tmp_path: Path) -> None:
    """The journal's handle, which is its lock, goes with its file."""
    journal = Journal.create(tmp_path, Head("numpipe", TESTS))
    handle = journal._fd
    assert os.fstat(handle).st_size
    go_on(journal)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)


def test_the_folder_is_checked_before_the_first_test(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file: cannot write: (File exists|Not a directory)"):
        Journal.create(tmp_path / "file", Head("numpipe", TESTS))


def test_some_results_run_again(undisturbed: tuple[Path, bytes]) -> None:
    folder, _ = undisturbed
    before = outcome(folder)
    journal = Journal.resume(folder, frozenset({"fail"}))
    assert [n for n, _ in journal.todo()] == [n for n, _ in TESTS if verdict(n).result == "fail"]
    go_on(journal)
    assert outcome(folder) == before


@pytest.mark.parametrize("done", [0, 1, 4])
def test_what_was_to_run_again_still_is_after_an_interruption(
    undisturbed: tuple[Path, bytes], done: int
) -> None:
    """Also where the journal is cut off before all were named: those named count."""
    folder, _ = undisturbed
    before = outcome(folder)
    again = [n for n, _ in TESTS if verdict(n).result == "fail"]
    journal = Journal.resume(folder, frozenset({"fail"}))
    for name in again[:done]:
        journal.add(name, Entry("pass"))
    journal.close()
    left = again[done:]
    assert read_run(folder).totals() == {
        result: count
        for result, count in (("pass", 10 + done), ("notrun", len(left)), ("skip", 10))
        if count
    }
    journal = Journal.resume(folder)
    assert [n for n, _ in journal.todo()] == left
    journal.close()
    data = (folder / FILE).read_bytes()
    named = data.index(b'{"again":"a@10"}')
    (folder / FILE).write_bytes(data[:named])
    journal = Journal.resume(folder)
    assert [n for n, _ in journal.todo()] == again[: again.index("a@10")]
    for name, _ in journal.todo():
        journal.add(name, Entry("pass"))
    journal.finish()
    now = outcome(folder)
    for name in before:
        changed = name in again[: again.index("a@10")]
        assert now[name][0] == ("pass" if changed else before[name][0])


def test_repeats_find_flaky_tests(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, Head("numpipe", TESTS[:1], repeat=3))
    journal.add("a@00", Entry("pass"))
    journal.add("a@00", Entry("fail", "wrong"))
    journal.close()
    journal = Journal.resume(tmp_path)
    assert len(journal.todo()) == 1
    journal.add("a@00", Entry("pass"))
    journal.finish()
    test = read_run(tmp_path).tests["a@00"]
    assert test.flaky
    assert (test.result, test.reason) == ("fail", "flaky: pass 2, fail 1 times; wrong")


def test_a_strange_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"a": 1}\n')
    with pytest.raises(InputError, match="not the journal of a run"):
        Journal.resume(tmp_path)


def test_the_finished_file_is_piglits(undisturbed: tuple[Path, bytes]) -> None:
    document = json.loads((undisturbed[0] / "results.json").read_text())
    assert document["results_version"] == 10
    assert list(document["tests"]) == sorted(document["tests"])


def test_piglits_own_summary_reads_a_run(undisturbed: tuple[Path, bytes]) -> None:
    piglit = Path("/usr/lib/x86_64-linux-gnu/piglit")
    if not (piglit / "framework").is_dir():
        pytest.skip("piglit is not installed")
    text = textwrap.dedent(
        f"""
        import sys
        sys.path.insert(0, {str(piglit)!r})
        from framework.backends import load
        run = load({str(undisturbed[0])!r})
        print(run.totals["root"]["pass"], run.totals["root"]["fail"])
        """
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", text], capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip("piglit's Python modules are missing")
    assert done.stdout == "10 10\n", done.stderr
