"""What is promised for macOS and Windows needs nothing that those systems lack (docs/ci.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("other_system.py")
SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "ci" / "sample"


def run_on(system: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), system, *words],
        cwd=cwd, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("diff", "gradient", "--against", "numpipe"), "1 of 1 scenes agree"),
        (("explain", "a.frag"), "return {4: ["),
        (("lesson", "variants"), "next: gallette lesson"),
        (("drivers",), "numpipe"),
        (("pixel", "gradient", "5,5"), "at the end: colour 0"),
        (("trace", "gradient"), "draw_vbo"),
        (("piglit", "run", "--filter", "arrays/", "-o", "out"), "pass"),
    ],
)
def test_commands(system: str, words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    tmp_path.joinpath("a.frag").write_text(
        "#version 330\nout vec4 c;\nvoid main() { c = vec4(1); }"
    )
    done = run_on(system, "-m", "gallette", *words, cwd=tmp_path)
    assert done.returncode == 0 and said in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("system", ["win32", "darwin"])
@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_drawing_and_the_fixtures(system: str, driver: str) -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_shapes.py")
    done = run_on(system, *words, f"--gallette-driver={driver}", cwd=SAMPLE)
    assert done.returncode == 0 and "13 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_what_needs_linux_says_so(system: str, tmp_path: Path) -> None:
    tmp_path.joinpath("a.py").write_text("")
    if system == "darwin":
        pytest.importorskip("ctypes.macholib", reason="this Python has no part for macOS")
    done = run_on(system, "-m", "gallette", "run", "a.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "gallette's OpenGL libraries exist for Linux" in done.stderr
