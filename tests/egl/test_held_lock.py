"""A thread draws while the program waits for it and keeps Python's lock."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.egl.conftest import missing

HERE = Path(__file__).parent
SCRIPT = """
import ctypes, sys
from ctypes import byref, c_int, c_void_p
import gallette
gallette.install("numpipe")
egl = ctypes.CDLL("libEGL.so.1")
for function in (egl.eglGetPlatformDisplay, egl.eglCreateContext, egl.eglCreatePbufferSurface):
    function.restype = c_void_p
display = c_void_p(egl.eglGetPlatformDisplay(0x31DD, None, None))
egl.eglInitialize(display, None, None)
egl.eglBindAPI(0x30A2)
config = c_void_p()
egl.eglChooseConfig(display, (c_int * 3)(0x3033, 1, 0x3038), byref(config), 1, byref(c_int()))
surface = egl.eglCreatePbufferSurface(display, config, (c_int * 5)(0x3057, 4, 0x3056, 4, 0x3038))
core = (c_int * 7)(0x3098, 3, 0x30FB, 3, 0x30FD, 1, 0x3038)
context = egl.eglCreateContext(display, config, None, core)
free, held = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
assert free.begin(display, c_void_p(surface), c_void_p(context)) == 0
print(held.next())
assert free.next() == 0
free.pixels.restype = ctypes.POINTER(ctypes.c_ubyte * 8)
print(*free.pixels().contents)
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="calls are recorded on x86-64")
def test_recorded_calls_need_no_lock(libraries: Path, tmp_path: Path) -> None:
    """They are made for the first time, so they must have been resolved before."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        missing("a C compiler")
    made = str(tmp_path / "held.so")
    command = [str(compiler), "-shared", "-fPIC", "-o", made, str(HERE / "held.c")]
    command += [f"-L{libraries}", "-l:libEGL.so.1", "-l:libGL.so.1", "-lpthread"]
    subprocess.run(command, check=True, timeout=60)
    command = [sys.executable, "-c", SCRIPT, made]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["0", "0", "255", "0", "255", "255", "0", "255", "255"]
