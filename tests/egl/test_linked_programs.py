"""C programs that are linked with OpenGL's libraries, in each combination, get gallette's."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.egl.install import environment
from gallette.egl.libraries import vendor_file
from tests.egl.conftest import missing
from tests.egl.xserver import can_serve, on, x_server

HERE = Path(__file__).parent
OPENGL, OPENGL_ES = "-DAPI=0x30A2", "-DAPI=0x30A0"
EGL_PROGRAMS = [
    (OPENGL, "libOpenGL.so.0", "libEGL.so.1"),
    (OPENGL, "libGL.so.1", "libEGL.so.1"),
    (OPENGL, "libEGL.so.1", "libGL.so.1"),
    (OPENGL_ES, "libGLESv2.so.2", "libEGL.so.1"),
    (OPENGL_ES, "libEGL.so.1", "libOpenGL.so.0"),
]
GLX_PROGRAMS = [
    ("libGL.so.1",),
    ("libOpenGL.so.0", "libGLX.so.0"),
    ("libGLX.so.0", "libOpenGL.so.0"),
    ("libGLX.so.0", "libGL.so.1"),
]


def linked(libraries: Path, place: Path, *words: str) -> str:
    """Compile the program with these options and libraries, and return its path."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        missing("a C compiler")
    program = str(place / "linked")
    files = [f"-l:{word}" if word.startswith("lib") else word for word in words]
    command = [str(compiler), "-o", program, str(HERE / "linked.c"), f"-L{libraries}", *files]
    subprocess.run(command, check=True, timeout=60)
    return program


def answer(program: str, env: dict[str, str]) -> list[str]:
    done = subprocess.run([program], env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout.strip().split("|")


def check(names: list[str]) -> None:
    vendor, renderer, version, extension, again, pixel = names
    assert vendor == again == "gallette"
    assert "NULL" not in (renderer, version, extension)
    assert pixel == "255 0 255 255"


# Which library has a name is ours to say only where the libraries are ours.
@pytest.mark.parametrize(
    "words,way",
    [
        *[(words, "gallette run") for words in EGL_PROGRAMS],
        *[(words, "glvnd") for words in EGL_PROGRAMS[::3]],
    ],
)
def test_programs_of_egl(words: tuple[str, ...], way: str, libraries: Path, tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("EGL", "__EGL", "DISPLAY"))}
    if way == "glvnd":
        env["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(vendor_file())
    else:
        environment(env)
    check(answer(linked(libraries, tmp_path, *words), env))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if not can_serve():
        missing("Xvfb")
    with x_server() as name:
        yield name


@pytest.mark.parametrize("words", GLX_PROGRAMS)
def test_programs_of_glx(
    words: tuple[str, ...], libraries: Path, server: str, tmp_path: Path
) -> None:
    env = on(server)
    environment(env)
    check(answer(linked(libraries, tmp_path, "-DGLX", *words, "libX11.so.6"), env))
