"""`gallette run --check`: what a program would get, said without running it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import gallette
from gallette.cli import main
from gallette.egl import checking

CALLS = "void glFinish(void); int main(void) { glFinish(); return 7; }"


@pytest.fixture
def link(tmp_path: Path) -> object:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source = tmp_path / "calls.c"
    source.write_text(CALLS)

    def made(name: str, *more: str) -> str:
        program = tmp_path / name
        libraries = ["-L", gallette.library_folder(), "-lGL", *more]
        subprocess.run([compiler, source, "-o", program, *libraries], check=True)
        return str(program)

    return made


def test_libraries_that_a_program_is_linked_with(
    link: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(link)
    assert main(["run", "--check", "--driver", "noop", link("plain")]) == 0
    said = capsys.readouterr().out
    assert "driver     noop (--driver)\n" in said and "libGL.so.1: gallette\n" in said
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(Path(gallette.library_folder()) / "libGL.so.1", other)
    stubborn = link("stubborn", f"-Wl,--disable-new-dtags,-rpath,{other}")
    assert main(["run", "--check", stubborn]) == 1
    assert f"libGL.so.1: NOT gallette, but {other}/libGL.so.1\n" in capsys.readouterr().out


def test_a_program_with_a_group_of_its_own_finds_the_libraries(
    link: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """As games that write a list of scores have; by itself it would get the system's."""
    assert callable(link)
    program = Path(link("scores"))
    other = next((group for group in os.getgroups() if group != os.getgid()), os.getgid() + 1)
    try:
        os.chown(program, -1, other)
    except PermissionError:
        pytest.skip("only root, or a member of two groups, can give a file away")
    program.chmod(0o2755)
    assert main(["run", "--check", str(program)]) == 0
    assert "libGL.so.1: gallette\n" in capsys.readouterr().out


def test_nothing_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even what the dynamic linker knows nothing of."""
    marker, script = tmp_path / "marker", tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {marker}\n")
    script.chmod(0o755)
    assert main(["run", "--check", str(script)]) == 0
    assert "unknown: the dynamic linker tells nothing" in capsys.readouterr().out
    assert not marker.exists()


def test_a_missing_library_for_windows_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.touch()
    monkeypatch.setenv("DISPLAY", ":7")
    for missing in (False, True):
        said = "windows of X11 need libxcb" if missing else None
        monkeypatch.setattr(checking, "missing", lambda said=said: said)
        assert main(["run", "--check", str(script)]) == 0
        said = capsys.readouterr().out
        assert "windows    on the X server :7" in said
        assert ("windows of X11 need libxcb" in said) == missing
