"""Whether there is a native GL, asked once per process."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reference import missing

ROOT = Path(__file__).resolve().parent.parent.parent


@functools.cache
def native_problem() -> str:
    """Why there is no native GL ("" if there is one)."""
    from gallette.compiler.errors import GalletteError
    from gallette.state_tracker import create_context

    os.environ.setdefault("EGL_PLATFORM", "surfaceless")
    os.environ.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
    try:
        create_context("native").release()
    except GalletteError as error:
        return str(error)
    return ""


@pytest.fixture
def native() -> str:
    """The native driver's name; the test skips without one, or fails where one is required."""
    problem = native_problem()
    if problem:
        missing(problem)
    return "native"


@pytest.fixture
def gallette(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "120", **environment}
        return subprocess.run(
            [sys.executable, "-m", "gallette", *map(str, arguments)],
            capture_output=True,
            text=True,
            env=env,
            cwd=tmp_path,
            timeout=300,
            check=False,
        )

    return run
