"""What is promised for macOS and Windows needs nothing that those systems lack (docs/ci.md)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("other_system.py")
SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "ci" / "sample"
SYSTEMS = ["win32", "darwin"]

COMMANDS = {
    "diff gradient --driver noop --against noop": "1 of 1 scenes agree",
    "explain a.frag": "return {4: [",
    "lesson variants": "next: gallette lesson",
    "drivers": "numpipe",
    "pixel gradient 5,5": "at the end: colour 0",
    "trace gradient": "draw_vbo",
    "piglit run --filter arrays/length -j 1 -o out": "pass",
}
"""what is asked of the command line, and a part of the answer"""

# One process does it all: each command imports what it needs when it is called.
ALL = """
import contextlib, io, json, sys
from gallette.cli import main

answers = []
for words in json.loads(sys.argv[1]):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
        except Exception as error:
            status = repr(error)
    answers.append([status, printed.getvalue()])
print(json.dumps(answers))
"""
BOTH_DRIVERS = """
import pytest

for driver in ("numpipe", "jit"):
    words = ["-q", "-p", "no:cacheprovider", "tests/test_shapes.py"]
    assert pytest.main([*words, f"--gallette-driver={driver}"]) == 0, driver
"""


def run_on(system: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), system, *words],
        cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> object:
    """Status and words of each command."""
    folder = tmp_path_factory.mktemp(request.param)
    folder.joinpath("a.frag").write_text("#version 330\nout vec4 c;\nvoid main() { c = vec4(1); }")
    folder.joinpath("all.py").write_text(ALL)
    given = json.dumps([command.split() for command in COMMANDS])
    done = run_on(request.param, "all.py", given, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(zip(COMMANDS, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.mark.parametrize("answers", SYSTEMS, indirect=True)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(answers: dict[str, tuple[object, str]], command: str) -> None:
    status, printed = answers[command]
    assert status == 0 and COMMANDS[command] in printed, (status, printed)


@pytest.mark.parametrize("system", SYSTEMS)
def test_drawing_and_the_fixtures(system: str, tmp_path: Path) -> None:
    script = tmp_path / "both.py"
    script.write_text(BOTH_DRIVERS)
    done = run_on(system, str(script), cwd=SAMPLE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("13 passed") == 2, done.stdout + done.stderr


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_needs_linux_says_so(system: str, tmp_path: Path) -> None:
    tmp_path.joinpath("a.py").write_text("")
    if system == "darwin":
        pytest.importorskip("ctypes.macholib", reason="this Python has no part for macOS")
    done = run_on(system, "-m", "gallette", "run", "a.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "gallette's OpenGL libraries exist for Linux" in done.stderr
