"""Programs for the tests of gallette as the system's OpenGL, and what they need."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gallette.compiler.errors import GalletteError
from gallette.egl.libraries import folder, libpython, vendor_file
from tests.interrupts import hear_interrupts

HERE = Path(__file__).parent


def missing(what: str) -> None:
    """Skip the test, or fail where everything is required (as for the native reference)."""
    if os.environ.get("GALLETTE_REQUIRE_REFERENCE") == "1":
        pytest.fail(f"required here, and missing: {what}")
    pytest.skip(f"needs {what}")


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of our shared libraries; C programs need an interpreter they can load."""
    try:
        libpython()
    except GalletteError as error:
        missing(str(error))
    return folder()


@pytest.fixture(scope="session")
def host_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`host.c`, compiled."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        missing("a C compiler")
    program = tmp_path_factory.mktemp("host") / "host"
    source = str(HERE / "host.c")
    command = [str(compiler), "-o", str(program), source, "-ldl", "-lpthread"]
    subprocess.run(command, check=True, timeout=60)
    return program


WAYS = ("direct", "glvnd")


@pytest.fixture(params=WAYS)
def host(request: pytest.FixtureRequest, host_program: Path, libraries: Path) -> Callable[..., str]:
    """Run the C program in some of its modes on our libEGL, or on glvnd's with us as vendor."""
    kept = ("EGL", "__EGL", "GALLETTE", "PYTHONDONTWRITEBYTECODE")
    env = {k: v for k, v in os.environ.items() if not k.startswith(kept)}
    if request.param == "direct":
        env["LD_LIBRARY_PATH"] = str(libraries)
    else:
        env["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(vendor_file())
        try:
            __import__("ctypes").CDLL("libEGL.so.1")
        except OSError:
            missing("glvnd's libEGL (libegl1)")

    def run(*modes: str) -> str:
        done = subprocess.run(
            [str(host_program), *modes],
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=hear_interrupts,
        )
        assert done.returncode == 0, f"{done.returncode}: {done.stdout}{done.stderr}"
        assert not done.stderr, done.stderr
        return done.stdout.strip()

    return run
