"""Processes that gallette starts take no modules from the working directory."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gallette.capture import recording
from gallette.state_tracker import GL, create_context

ROOT = Path(__file__).resolve().parents[2]
# Modules that the children or what they import would find there if they looked.
PLANTED = ("gallette", "json", "numpy", "platform", "random", "selectors", "struct", "tempfile",
           "tomllib", "multiprocessing")  # fmt: skip
PLANT = """import pathlib, sys
with pathlib.Path({marks!r}).open("a") as file:
    print(__name__, file=file)
sys.exit("imported from the working directory")
"""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder full of modules that say when they are imported."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in PLANTED:
        (folder / f"{name}.py").write_text(PLANT.format(marks=str(tmp_path / "marks")))
    return folder


def _no_marks(folder: Path) -> None:
    marks = folder.parent / "marks"
    assert not marks.exists(), marks.read_text()


@pytest.fixture
def call(
    foreign: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., None]:
    """The command line, called in this process: all others are its children."""
    from gallette.cli import main

    def run(*words: str) -> None:
        with monkeypatch.context() as patch:
            patch.chdir(foreign)
            status = main(list(words))
        told = capfd.readouterr()
        _no_marks(foreign)
        assert status == 0, told.out + told.err

    return run


def _run(folder: Path, *words: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gallette", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    _no_marks(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


TEST = ROOT / "piglit_subset/spec/glsl-1.20/two-sided/front-and-back-color.shader_test"
COMMANDS: dict[str, tuple[str, ...]] = {
    "two processes that render": (
        *("diff", "gradient"),
        *("--driver", "noop", "--against", "noop"),
    ),
    "a process that is traced": ("trace", "gradient", "--driver", "noop"),
    "processes that test": ("piglit", "run", str(TEST), "--driver", "numpipe"),
    "workers of a cluster": (
        "piglit",
        "run",
        str(TEST),
        "--driver",
        "numpipe",
        "--cluster",
        "local:1",
    ),
    "processes that measure": ("piglit", "coverage", str(TEST)),
    "processes that are timed": (
        *("bench", "gradient", "--repeat", "1"),
        *("--driver", "noop", "--against", "noop"),
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_children_import_nothing_from_the_working_directory(
    case: str, call: Callable[..., None]
) -> None:
    call(*COMMANDS[case])


def test_such_processes_take_snapshots_of_captures(
    foreign: Path, call: Callable[..., None]
) -> None:
    path = foreign.parent / "a.gcap"
    with recording(path):
        gl = create_context("noop", size=(16, 16))
        gl.clear(GL.COLOR_BUFFER_BIT)
        gl.finish()
        gl.release()
    call("diff", str(path), "--driver", "noop", "--against", "noop")


SCRIPT = """import sys
sys.path.remove({root!r})  # it is there for a gallette that is not installed
import beside
print(beside.WORD, [place for place in sys.path if "foreign" in place])
"""


@pytest.mark.parametrize("way", ["a script", "a script named to python", "a recorded script"])
def test_a_script_finds_the_modules_beside_it_and_no_others(way: str, foreign: Path) -> None:
    folder = foreign.parent / "mine"
    folder.mkdir()
    (folder / "beside.py").write_text("WORD = 'found'\n")
    script = folder / "script.py"
    script.write_text(SCRIPT.format(root=str(ROOT)))
    python = ("python",) if way == "a script named to python" else ()
    assert _run(foreign, "run", *python, str(script)).splitlines()[-1] == "found []"


def test_requested_modules_and_texts_may_be_in_the_working_directory(
    tmp_path: Path,
) -> None:
    (tmp_path / "asked.py").write_text("print(__name__, 'is run')\n")
    assert _run(tmp_path, "run", "python", "-m", "asked") == "__main__ is run\n"
    assert _run(tmp_path, "run", "python", "-c", "import asked") == "asked is run\n"


def test_another_python_runs_itself(tmp_path: Path) -> None:
    """Whose modules the script needs."""
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\necho another: $1\n")
    other.chmod(0o755)
    assert _run(tmp_path, "run", str(other), "script.py") == "another: script.py\n"


def test_every_child_is_started_by_the_function_that_says_so() -> None:
    """`"-m"` in a list that is a command stands in `child_command` alone."""
    found = []
    for folder in ("gallette", "piglit_subset", "state_tracker", "drivers", "pipe", "compiler"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_bytes()
            if b'"-m"' not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.List) and any(
                    isinstance(item, ast.Constant) and item.value == "-m" for item in node.elts
                ):
                    found.append(path.resolve().relative_to(ROOT).as_posix())
    assert set(found) == {"piglit_subset/environment.py"}
