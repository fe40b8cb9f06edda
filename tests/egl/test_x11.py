"""Windows of an X server: what eglSwapBuffers and glXSwapBuffers show, and demos that use both."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gallette.egl.errors import EglError
from gallette.egl.windows import connect
from tests.egl.conftest import missing


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """An X server of our own, by name."""
    pytest.importorskip("Xlib")
    if shutil.which("Xvfb") is None:
        missing("Xvfb")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "320x240x24", "-nolisten", "tcp"]
    running = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    assert number, "Xvfb does not start"
    yield f":{number}"
    running.terminate()
    running.wait()


def on(server: str) -> dict[str, str]:
    """An environment with a display; that other tests want no windows is their business."""
    kept = {k: v for k, v in os.environ.items() if k != "EGL_PLATFORM"}
    return {**kept, "DISPLAY": server}


SCRIPT = """
import ctypes, sys
import numpy as np
from Xlib import X, display as xdisplay
from gallette.egl.libraries import folder

server = xdisplay.Display()
screen = server.screen()
window = screen.root.create_window(0, 0, 40, 30, 0, screen.root_depth)
window.map()
server.sync()
egl = ctypes.CDLL(str(folder() / "libEGL.so.1"))
for name in ("eglGetPlatformDisplay", "eglCreateContext", "eglCreateWindowSurface",
             "eglGetProcAddress"):
    getattr(egl, name).restype = ctypes.c_void_p
display = ctypes.c_void_p(egl.eglGetPlatformDisplay(0x31D5, None, None))
assert egl.eglInitialize(display, None, None), hex(egl.eglGetError())
wanted = (ctypes.c_int * 5)(0x3033, 4, 0x3024, 8, 0x3038)
config, count = ctypes.c_void_p(), ctypes.c_int()
assert egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
assert count.value == 1
egl.eglBindAPI(0x30A2)
context = ctypes.c_void_p(egl.eglCreateContext(display, config, None, None))
bad = egl.eglCreateWindowSurface(display, config, ctypes.c_void_p(12345), None)
assert not bad and egl.eglGetError() == 0x300B
surface = ctypes.c_void_p(
    egl.eglCreateWindowSurface(display, config, ctypes.c_void_p(window.id), None)
)
assert surface and egl.eglMakeCurrent(display, surface, surface, context)

def gl(name, *types):
    return ctypes.CFUNCTYPE(None, *types)(egl.eglGetProcAddress(name.encode()))

def show(width, height):
    gl("glDisable", ctypes.c_uint)(0x0C11)
    gl("glClearColor", *[ctypes.c_float] * 4)(1.0, 0.4, 0.2, 1.0)
    gl("glClear", ctypes.c_uint)(0x4000)
    gl("glEnable", ctypes.c_uint)(0x0C11)
    gl("glScissor", *[ctypes.c_int] * 4)(0, 0, 5, 4)
    gl("glClearColor", *[ctypes.c_float] * 4)(0.0, 0.0, 1.0, 1.0)
    gl("glClear", ctypes.c_uint)(0x4000)
    assert egl.eglSwapBuffers(display, surface)
    data = window.get_image(0, 0, width, height, X.ZPixmap, 0xFFFFFF).data
    seen = np.frombuffer(data, np.uint8).reshape(height, width, 4)[..., :3]
    expected = np.full((height, width, 3), (51, 102, 255), np.uint8)
    expected[height - 4 :, :5] = (255, 0, 0)
    assert (seen == expected).all(), seen

show(40, 30)
window.configure(width=50, height=20)
server.sync()
egl.eglSwapBuffers(display, surface)
show(50, 20)
print("shown")
"""


def test_a_window_shows_what_was_drawn_and_follows_its_size(server: str) -> None:
    env = on(server)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "shown\n"), done.stderr


# demo -> the rough share of its window that is not black after the first frame
DEMOS = {"es2tri": 0.1, "es2gears_x11": 0.2, "glxgears": 0.2, "glxdemo": 0.02}


@pytest.mark.parametrize("demo", DEMOS)
def test_demos_of_mesa_utils(server: str, libraries: Path, tmp_path: Path, demo: str) -> None:
    if shutil.which(demo) is None:
        missing(f"{demo} (mesa-utils, mesa-utils-extra)")
    picture = tmp_path / "frame.png"
    command = [sys.executable, "-m", "gallette", "run", "--frames", "1", "--save", str(picture)]
    env = on(server)
    done = subprocess.run([*command, demo], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen = np.asarray(Image.open(picture).convert("RGB"))
    lit = float((seen.max(axis=-1) > 30).mean())
    assert lit >= DEMOS[demo], f"{lit:.3f} of the picture is lit"


def test_without_the_x_library_programs_are_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "gallette.egl.x11", None)
    with pytest.raises(EglError):
        connect(0)
    assert "pip install gallette[x11]" in capfd.readouterr().err


@pytest.mark.parametrize("shares", [True, False], ids=["shared", "sent"])
def test_a_picture_is_shown_from_shared_memory_or_sent(
    server: str, monkeypatch: pytest.MonkeyPatch, shares: bool
) -> None:
    from Xlib import X
    from Xlib import display as xdisplay

    from gallette.egl.x11 import X11

    monkeypatch.setenv("DISPLAY", server)
    other = xdisplay.Display()
    screen = other.screen()
    window = screen.root.create_window(0, 0, 70, 60, 0, screen.root_depth)
    window.map()
    other.sync()
    x11 = X11(0)
    x11.shares = shares
    shown = x11.open(window.id)
    assert shown is not None
    random = np.random.default_rng(1)
    for width, height in ((13, 7), (70, 60), (31, 60)):  # one that fits, a larger one, a narrow one
        pixels = random.integers(0, 256, (height, width, 4), np.uint8)[::-1]
        shown.present(pixels)
        assert x11.shares == shares, "an Xvfb of this machine reads this process's memory"
        assert shown.size() == (70, 60)
        data = window.get_image(0, 0, width, height, X.ZPixmap, 0xFFFFFF).data
        seen = np.frombuffer(data, np.uint8).reshape(height, width, 4)[..., 2::-1]
        assert (seen == pixels[..., :3]).all()
    shown.close()
    x11.close()
    other.close()


def test_pixels_of_two_bytes_are_packed_into_padded_rows() -> None:
    from gallette.egl.x11 import _pack

    pixels = np.array([[[255, 0, 0, 9], [0, 255, 0, 9], [8, 4, 248, 9]]], np.uint8)
    rows = np.zeros((1, 8), np.uint8)
    _pack(pixels, rows, 2)
    assert rows.view(np.uint16)[0].tolist() == [0xF800, 0x07E0, 1 << 11 | 1 << 5 | 31, 0]
