"""A host that holds Python's lock while it waits for a thread that draws: the thread can draw."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.egl.conftest import missing

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="needs Linux on x86-64"
)

_HOST = """
import ctypes, sys, threading, time
import gallette
gallette.install("numpipe")
library = ctypes.PyDLL(sys.argv[1])  # whose functions are called with the lock held
ran = []

def counts():
    while True:
        ran.append(time.time())
        time.sleep(0.001)

threading.Thread(target=counts, daemon=True).start()
print("red", library.draw_in_a_thread())
before = len(ran)
end = time.monotonic() + 0.5
while time.monotonic() < end:  # busy, and not in a call: nothing is lent that is not let go
    sum(range(1000))
print("ran", len(ran) > before)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        missing("a C compiler")
    made = tmp_path_factory.mktemp("held") / "held.so"
    source = Path(__file__).with_name("held.c")
    subprocess.run(
        [str(compiler), "-shared", "-fPIC", "-o", made, source, "-ldl", "-lpthread"], check=True
    )
    return made


def test_a_thread_draws_while_the_main_thread_waits_with_the_lock(library: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _HOST, str(library)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["red 255", "ran True"]
