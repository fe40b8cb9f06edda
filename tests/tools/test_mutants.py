"""`make mutants` plants what a program could notice, nothing that only people or checks read."""

from __future__ import annotations

import ast
import json
import marshal
import os
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

from mutants.faults import faults_of  # type: ignore[import-not-found]
from mutants.probes import Probes  # type: ignore[import-not-found]
from mutants.switches import switched  # type: ignore[import-not-found]
from mutate import journal_name  # type: ignore[import-not-found]


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


PROGRAM = '''"""A module."""

from __future__ import annotations

LIMIT = 3


def far(x: int) -> bool:
    """Is it?"""
    if x < LIMIT:
        return False
    y = x + 1
    for step in range(2):
        if step > 5:
            y += step
    return y > LIMIT


def counter():
    total = 0

    def add(n):
        nonlocal total
        total += n
        return total

    return add
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with one module, known to git."""
    (tmp_path / "gallette").mkdir()
    (tmp_path / "gallette" / "one.py").write_text(PROGRAM)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def loaded(code: Path, monkeypatch: pytest.MonkeyPatch, **shared: Any) -> dict[str, Any]:
    module = types.ModuleType("mutants_probes")
    vars(module).update(shared)
    monkeypatch.setitem(sys.modules, "mutants_probes", module)
    names: dict[str, Any] = {}
    exec(marshal.loads(code.read_bytes()), names)
    return names


def test_probes_say_which_lines_ran(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = Probes.of(tree, tree / "code")
    hit = bytearray(probes.count)
    far = loaded(tree / "code" / "0", monkeypatch, PROBES=hit)["far"]
    assert far.__doc__ == "Is it?" and not any(hit)
    lines = probes.lines["gallette/one.py"]

    def ran(x: int) -> set[str]:
        hit[:] = bytes(len(hit))
        far(x)
        text = PROGRAM.splitlines()
        return {text[line - 1].strip() for line, probe in lines.items() if hit[probe]}

    assert ran(1) == {"if x < LIMIT:", "return False"}
    assert {"y = x + 1", "if step > 5:", "return y > LIMIT"} <= ran(4)
    assert not {"return False", "y += step"} & ran(4)
    assert "LIMIT" in probes.names["gallette/one.py"][lines[10]]
    assert 5 not in lines  # of the module, not of a function
    assert Probes.read(tree / "code") == probes


SHARING = """
import pytest
from mutants_probes import PROBES

@pytest.fixture(scope="module")
def made(): PROBES[0] = 1

@pytest.fixture(scope="module")
def more(made): PROBES[1] = 1

@pytest.fixture
def own(): PROBES[2] = 1

def test_a(more): pass
def test_b(made): PROBES[3] = 1
def test_c(own): pass
def test_d(more): pass
"""


def test_what_a_shared_fixture_ran_counts_for_every_test_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "mutants_probes.py").write_text("PROBES = bytearray(8)\n")
    (tmp_path / "test_sharing.py").write_text(SHARING)
    rows, journal = tmp_path / "rows", tmp_path / "journal"
    bench = Path(__file__).resolve().parents[2] / "bench"
    path = os.pathsep.join([str(tmp_path), str(bench)])
    env = {**os.environ, "PYTHONPATH": path, "MUTANTS_ROWS": str(rows)}
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "mutants.plugin", str(tmp_path)],
        env={**env, "MUTANTS_JOURNAL": str(journal)}, check=True, capture_output=True,
    )  # fmt: skip
    tests = [json.loads(line)[0][-6:] for line in journal.read_text().splitlines()]
    found = dict(zip(tests, (f"{byte:08b}"[:4] for byte in rows.read_bytes()), strict=True))
    assert found == {"test_a": "1100", "test_b": "1001", "test_c": "0010", "test_d": "1100"}


def test_an_inactive_fault_changes_nothing_until_it_is_selected(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [("gallette/one.py", fault) for fault in faults_of(PROGRAM.encode())]
    asleep = switched(tree, faults, tree / "code")
    outside = {n for n, (_, fault) in enumerate(faults) if fault.line < 8}
    assert outside and asleep == set(range(len(faults))) - outside
    planted = [-1]
    names = loaded(tree / "code" / "0", monkeypatch, PLANTED=planted)
    for number in (-1, *sorted(asleep)):
        source = PROGRAM.encode() if number < 0 else faults[number][1].planted(PROGRAM.encode())
        expected: dict[str, Any] = {}
        exec(compile(ast.parse(source), "one.py", "exec"), expected)
        planted[0] = number
        add, wanted = names["counter"](), expected["counter"]()
        assert [add(n) for n in (1, 2)] == [wanted(n) for n in (1, 2)]
        for x in range(6):
            assert names["far"](x) == expected["far"](x)


def test_every_part_has_a_journal_whose_name_a_file_can_have(tmp_path: Path) -> None:
    many = [f"tests/state_tracker/test_{number}.py" for number in range(40)]
    asked = [[], ["pipe/"], ["pipe/", "forgotten call"], many, [*many, "tests"], many[::-1]]
    names = [journal_name(seed, *some) for seed in (1, 2) for some in asked]
    for name in names:
        (tmp_path / name).write_text("")
    assert len(set(names)) == len(names)
    assert names[0] == "results-1.jsonl"
    assert names[2] == "results-1-pipe--forgotten-call.jsonl"
