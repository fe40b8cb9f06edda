"""Windows of a Wayland compositor, weston without a screen: what eglSwapBuffers gives it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.egl.conftest import missing

SOCKET = "wayland-test"


@pytest.fixture(scope="module")
def compositor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment for programs of a compositor that runs as long as this lasts."""
    if shutil.which("weston") is None:
        missing("weston")
    place = tmp_path_factory.mktemp("wayland")
    place.chmod(0o700)
    kept = {k: v for k, v in os.environ.items() if k not in ("EGL_PLATFORM", "DISPLAY")}
    env = {**kept, "XDG_RUNTIME_DIR": str(place), "WAYLAND_DISPLAY": SOCKET}
    command = ["weston", "--no-config", "--backend=headless-backend.so", f"--socket={SOCKET}"]
    with (place / "log").open("w") as log:
        running = subprocess.Popen(command, env=env, stdout=log, stderr=log)
    try:
        while not (place / SOCKET).exists():
            assert running.poll() is None, (place / "log").read_text()
            time.sleep(0.02)
        yield env
    finally:
        running.terminate()
        running.wait()


def run(script: str, env: dict[str, str]) -> None:
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


BEGIN = """
import ctypes
from ctypes import c_float, c_int, c_uint, c_void_p
import numpy as np
from gallette.egl.constants import EGL
from gallette.egl.display import display_of
from gallette.egl.libraries import folder
from gallette.egl.wayland import Wayland

egl = ctypes.CDLL(str(folder() / "libEGL.so.1"))
gl = ctypes.CDLL(str(folder() / "libGL.so.1"))
wl = ctypes.CDLL("libwayland-egl.so.1")
for function in (egl.eglGetDisplay, egl.eglGetPlatformDisplay, egl.eglCreateContext,
                 egl.eglCreateWindowSurface, egl.eglCreatePlatformWindowSurface,
                 wl.wl_egl_window_create):
    function.restype = c_void_p

class Program(Wayland):  # it needs a surface, and gallette's class can make one
    def _found(self, data, registry, name, interface, version):
        super()._found(data, registry, name, interface, version)
        if interface == b"wl_compositor":
            text = self.client.interface_name("compositor")
            made = self.client.new(registry, 0, "compositor", name, text, 1, 0)
            self.surface = self.client.new(made, 0, "surface", 0)

program = Program(0)
window = wl.wl_egl_window_create(c_void_p(program.surface), 20, 10)
"""
DRAW = """
display = c_void_p(egl.eglGetDisplay(c_void_p(program.client.display)))
assert egl.eglInitialize(display, None, None)
wanted = (c_int * 7)(EGL.SURFACE_TYPE, EGL.WINDOW_BIT, EGL.ALPHA_SIZE, 8, EGL.RED_SIZE, 8, EGL.NONE)
config, count = c_void_p(), c_int()
assert egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
egl.eglBindAPI(EGL.OPENGL_API)
context = c_void_p(egl.eglCreateContext(display, config, None, None))
bad = egl.eglCreateWindowSurface(display, config, c_void_p(12345), None)
assert not bad and egl.eglGetError() == 0x300B
surface = c_void_p(egl.eglCreatePlatformWindowSurface(display, config, c_void_p(window), None))
assert surface and egl.eglMakeCurrent(display, surface, surface, context)
ours = display_of(display.value).surface(surface.value).window
client, attached_buffers = ours._wayland.client, []

def request(proxy, number, *arguments, send=client.request):
    if (proxy, number) == (program.surface, 1):
        attached_buffers.append(arguments[0])
    send(proxy, number, *arguments)

client.request = request

def frame(red, size):
    gl.glViewport(0, 0, *size)
    gl.glClearColor(c_float(red), c_float(0.2), c_float(0.4), c_float(1))
    gl.glClear(0x4000)
    gl.glEnable(0x0C11)
    gl.glScissor(0, 0, size[0], 1)
    gl.glClearColor(c_float(0), c_float(1), c_float(0), c_float(1))
    gl.glClear(0x4000)
    gl.glDisable(0x0C11)
    assert egl.eglSwapBuffers(display, surface)
    attached = c_int(), c_int()
    wl.wl_egl_window_get_attached_size(c_void_p(window), *map(ctypes.byref, attached))
    assert (attached[0].value, attached[1].value) == size
    (shown,) = (b for b in ours._buffers if b.proxy == attached_buffers[-1])
    assert shown.busy
    picture = np.frombuffer(shown._memory, np.uint8).reshape(size[1], size[0], 4)
    assert (picture[:-1] == (102, 51, round(red * 255), 255)).all()
    assert (picture[-1] == (0, 255, 0, 255)).all()
    assert len(ours._buffers) <= 3
"""


def test_frames_are_attached_in_the_windows_size_until_it_is_destroyed(
    compositor: dict[str, str],
) -> None:
    script = (
        "for number in range(8): frame(number / 7, (20, 10))\n"
        "wl.wl_egl_window_resize(c_void_p(window), 32, 16, 0, 0)\n"
        "for number in range(5): frame(number / 5, (32, 16))\n"
        "width = c_int()\n"
        "assert egl.eglQuerySurface(display, surface, EGL.WIDTH, ctypes.byref(width))\n"
        "assert width.value == 32\n"
        # A window may be destroyed before its surface.
        "wl.wl_egl_window_destroy(c_void_p(window))\n"
        "assert not egl.eglSwapBuffers(display, surface) and egl.eglGetError() == 0x300B\n"
        "assert egl.eglDestroySurface(display, surface)\n"
        "assert egl.eglMakeCurrent(display, None, None, None)\n"
        "window = wl.wl_egl_window_create(c_void_p(program.surface), 20, 10)\n"
        "assert egl.eglCreateWindowSurface(display, config, c_void_p(window), None)\n"
        "assert egl.eglTerminate(display)\n"
    )
    run(BEGIN + DRAW + script, compositor)


def test_a_display_is_found_by_the_environment(compositor: dict[str, str]) -> None:
    script = (
        "from gallette.egl.display import default_platform\n"
        "assert default_platform(0) == EGL.PLATFORM_WAYLAND\n"
        "display = c_void_p(egl.eglGetPlatformDisplay(EGL.PLATFORM_WAYLAND, None, None))\n"
        "assert egl.eglInitialize(display, None, None) and egl.eglTerminate(display)\n"
        "assert egl.eglInitialize(display, None, None)\n"
    )
    run(BEGIN + script, compositor)


def test_without_a_compositor_there_is_no_display(compositor: dict[str, str]) -> None:
    script = (
        "import ctypes\n"
        "from gallette.egl.libraries import folder\n"
        "egl = ctypes.CDLL(str(folder() / 'libEGL.so.1'))\n"
        "egl.eglGetPlatformDisplay.restype = ctypes.c_void_p\n"
        "display = ctypes.c_void_p(egl.eglGetPlatformDisplay(0x31D8, None, None))\n"
        "assert not egl.eglInitialize(display, None, None) and egl.eglGetError() == 0x3001\n"
    )
    run(script, {**compositor, "WAYLAND_DISPLAY": "nothing-listens-here"})


def test_a_program_draws_and_its_frame_is_saved(compositor: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("weston-simple-egl") is None:
        missing("weston-simple-egl")
    command = [sys.executable, "-m", "gallette", "run", "--frames", "3"]
    command += ["--save", str(tmp_path / "frame.png"), "weston-simple-egl"]
    done = subprocess.run(command, env=compositor, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    colors = Image.open(tmp_path / "frame.png").convert("RGB").getcolors(1 << 16)
    assert colors is not None and len(colors) > 50  # a triangle from red to green and blue
