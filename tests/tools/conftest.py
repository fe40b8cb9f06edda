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


Gallette = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def gallette(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Gallette:
    """The command line, called in this process: what it and its children print, and its status."""
    from gallette.cli import main

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        words = list(map(str, arguments))
        capfd.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in {"COLUMNS": "120", **environment}.items():
                patch.setenv(name, value)
            try:
                status = main(words)
            except SystemExit as stop:
                status = int(stop.code or 0)
        told = capfd.readouterr()
        return subprocess.CompletedProcess(words, status, told.out, told.err)

    return run


@pytest.fixture
def gallette_alone(tmp_path: Path) -> Gallette:
    """The same in a process of its own, for what is decided when it starts."""

    def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
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
