"""Windows of an X server: what eglSwapBuffers and glXSwapBuffers show, and demos that use both."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gallette.egl import glx, xcb
from gallette.egl.constants import EGL
from gallette.egl.contexts import Request
from gallette.egl.display import Display
from gallette.egl.errors import EglError
from gallette.egl.windows import connect
from gallette.egl.x11 import X11, _pack
from tests.drivers.vulkan.device import needs_device
from tests.egl.conftest import missing
from tests.egl.xserver import can_serve, on, x_server


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    pytest.importorskip("Xlib")
    if not can_serve():
        missing("Xvfb")
    with x_server() as name:
        yield name


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
nowhere = ctypes.c_ulong(12345)
for address in (None, ctypes.byref(nowhere)):
    for what, error in (("Window", 0x300B), ("Pixmap", 0x300A)):
        for end in ("", "EXT"):
            call = f"eglCreatePlatform{what}Surface{end}"
            found = egl.eglGetProcAddress(call.encode())
            call = ctypes.CFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * 4)(found)
            assert not call(display, config, address, None)
            assert egl.eglGetError() == error, (what, end)
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
# (`make clients` has their gears.)
DEMOS = {"es2tri": 0.1, "glxdemo": 0.02}


@pytest.mark.parametrize("demo", DEMOS)
def test_demos_of_mesa_utils(server: str, libraries: Path, tmp_path: Path, demo: str) -> None:
    if shutil.which(demo) is None:
        missing(f"{demo} (mesa-utils, mesa-utils-extra)")
    picture = tmp_path / "frame.png"
    command = [sys.executable, "-m", "gallette", "run", "--frames", "1", "--save", str(picture)]
    env = on(server)
    done = subprocess.run([*command, demo], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    saved = Image.open(picture)
    assert saved.mode == "RGB"  # the window has no alpha, whatever was drawn
    seen = np.asarray(saved)
    lit = float((seen.max(axis=-1) > 30).mean())
    assert lit >= DEMOS[demo], f"{lit:.3f} of the picture is lit"


# Scenes of glmark2, which knows some pixels of each.
SCENES = (
    "build:use-vbo=false", "texture:texture-filter=mipmap", "shading:shading=phong",
    "bump:bump-render=height", "effect2d:kernel=0,1,0;1,-4,1;0,1,0;", "pulsar:light=false:quads=5",
    "desktop:effect=shadow:windows=4", "desktop:effect=blur:blur-radius=5:passes=1:separable=true",
    "buffer:update-method=map", "conditionals:fragment-steps=0:vertex-steps=5",
    "function:fragment-complexity=low:fragment-steps=5",
    "loop:fragment-steps=5:fragment-uniform=true:vertex-steps=5",
)  # fmt: skip


@pytest.mark.parametrize("driver", ["numpipe", pytest.param("vulkan", marks=needs_device)])
def test_scenes_of_glmark2_are_what_it_expects(driver: str, server: str) -> None:
    if shutil.which("glmark2") is None:
        missing("glmark2 (glmark2-x11)")
    command = [sys.executable, "-m", "gallette", "run", "--driver", driver, "glmark2", "--validate"]
    # What is shown of a device's pictures does not depend on what they are of.
    scenes = SCENES if driver == "numpipe" else SCENES[::4]
    command += [word for scene in scenes for word in ("-b", scene)]
    done = subprocess.run(command, env=on(server), capture_output=True, text=True, timeout=300)
    verdicts = [line for line in done.stdout.splitlines() if "Validation" in line]
    assert len(verdicts) == len(scenes), done.stdout + done.stderr
    assert [line for line in verdicts if "Success" not in line] == []


def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def cannot() -> None:
        raise OSError("libX11-xcb.so.1: cannot open shared object file")

    monkeypatch.setattr(xcb, "_xlib", cannot)
    with pytest.raises(EglError):
        connect(EGL.PLATFORM_X11, 0, lambda: None)
    assert "need libxcb and libX11-xcb: libX11-xcb.so.1: " in capfd.readouterr().err


@pytest.mark.parametrize("shares", [True, False], ids=["shared", "sent"])
def test_a_picture_is_shown_from_shared_memory_or_sent(
    server: str, monkeypatch: pytest.MonkeyPatch, shares: bool
) -> None:
    from Xlib import X
    from Xlib import display as xdisplay

    monkeypatch.setenv("DISPLAY", server)
    other = xdisplay.Display()
    screen = other.screen()
    window = screen.root.create_window(0, 0, 70, 60, 0, screen.root_depth)
    window.map()
    other.sync()
    x11 = X11(xcb.Connection(EGL.PLATFORM_X11, 0, lambda: None))
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
    late = x11.open(window.id)
    x11.close()
    assert late is not None
    late.present(pixels)  # nothing happens
    with pytest.raises(EglError):
        late.size()
    other.close()


def test_pixels_of_two_bytes_are_packed_into_padded_rows() -> None:
    pixels = np.array([[[255, 0, 0, 9], [0, 255, 0, 9], [8, 4, 248, 9]]], np.uint8)
    rows = np.zeros((1, 8), np.uint8)
    _pack(pixels, rows, 16)
    assert rows.view(np.uint16)[0].tolist() == [0xF800, 0x07E0, 1 << 11 | 1 << 5 | 31, 0]


# A program of Xlib and GLX.
START = """
import ctypes, sys
import numpy as np
from Xlib import X, display as xdisplay
from gallette.egl.libraries import folder

p, i = ctypes.c_void_p, ctypes.c_int
x = ctypes.CDLL("libX11.so.6")
gl = ctypes.CDLL(str(folder() / "libGL.so.1"))
for lib, name, result, *given in (
    (x, "XOpenDisplay", p, p), (x, "XDefaultRootWindow", p, p), (x, "XLoadFont", p, p, p),
    (x, "XCreateSimpleWindow", p, p, p, i, i, i, i, i, p, p), (x, "XMapWindow", i, p, p),
    (x, "XResizeWindow", i, p, p, i, i),
    (gl, "glXChooseVisual", p, p, i, p), (gl, "glXCreateContext", p, p, p, p, i),
    (gl, "glXMakeCurrent", i, p, p, p), (gl, "glXUseXFont", None, p, i, i, i),
    (gl, "glCallLists", None, i, i, p), (gl, "glReadPixels", None, i, i, i, i, i, i, p),
):
    getattr(lib, name).restype, getattr(lib, name).argtypes = result, given
width, height = 60, 30
native = x.XOpenDisplay(None)
window = x.XCreateSimpleWindow(
    native, x.XDefaultRootWindow(native), 0, 0, width, height, 0, None, None)
x.XMapWindow(native, window)
assert not gl.glXCreateContext(native, None, None, 1), "there is no such visual"
visual = gl.glXChooseVisual(native, 0, (i * 9)(4, 5, 8, 8, 9, 8, 10, 8, 0))
assert gl.glXMakeCurrent(native, window, gl.glXCreateContext(native, visual, None, 1))
"""

# Text by lists of glXUseXFont, and the same text drawn by the X server.
FONT = """
text, name = b"Agj| 1y", b"fixed"
gl.glPixelStorei(0x0CF2, 17)
gl.glXUseXFont(x.XLoadFont(native, name), 0, 256, 1000)
gl.glMatrixMode(0x1701)
gl.glOrtho.argtypes = [ctypes.c_double] * 6
gl.glOrtho(0, width, 0, height, -1, 1)
gl.glClear(0x4000)
gl.glColor3f.argtypes = [ctypes.c_float] * 3
gl.glColor3f(1, 1, 1)
gl.glRasterPos2i(5, 10)
gl.glListBase(1000)
gl.glCallLists(len(text), 0x1401, text)
pixels = np.zeros((height, width), np.uint8)
gl.glReadPixels(0, 0, width, height, 0x1903, 0x1401, pixels.ctypes.data)
assert gl.glGetError() == 0

server = xdisplay.Display()
root = server.screen().root
canvas = root.create_pixmap(width, height, root.get_geometry().depth)
context = canvas.create_gc(foreground=0, font=server.open_font(name.decode()))
canvas.fill_rectangle(context, 0, 0, width, height)
context.change(foreground=0xFFFFFF)
canvas.poly_text(context, 5, height - 10, [(0, text)])
data = canvas.get_image(0, 0, width, height, X.ZPixmap, 0xFFFFFF).data
wanted = np.frombuffer(data, np.uint8).reshape(height, width, 4)[::-1, :, 0]
assert wanted.any() and ((wanted > 0) == (pixels > 0)).all(), (wanted, pixels)
print("written")
"""


RESIZED = """
gl.glClearColor.argtypes = [ctypes.c_float] * 4
gl.glClearColor(1, 1, 1, 1)
x.XResizeWindow(native, window, 80, 50)
gl.glViewport(0, 0, 80, 50)
gl.glClear(0x4000)
pixels = np.zeros((50, 80), np.uint8)
gl.glReadPixels(0, 0, 80, 50, 0x1903, 0x1401, pixels.ctypes.data)
assert (pixels == 255).all(), pixels
print("resized")
"""


def test_fonts_become_lists_and_a_resized_window_is_drawn_on_in_its_new_size(server: str) -> None:
    """By a program that tells its X library of the size and draws once, at once."""
    command = [sys.executable, "-c", START + FONT + RESIZED]
    done = subprocess.run(command, env=on(server), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "written\nresized\n"), done.stderr


# Pixmaps become textures while the program keeps the server from answering others, as window
# managers do.
PIXMAPS = """
for lib, name, result, *given in (
    (x, "XCreatePixmap", p, p, p, i, i, i), (x, "XCreateGC", p, p, p, p, p),
    (x, "XSetForeground", i, p, p, p), (x, "XFillRectangle", i, p, p, p, i, i, i, i),
    (x, "XGrabServer", i, p), (x, "XUngrabServer", i, p), (x, "XSync", i, p, i),
    (gl, "glXChooseFBConfig", ctypes.POINTER(p), p, i, p, p),
    (gl, "glXCreatePixmap", p, p, p, p, p), (gl, "glXDestroyPixmap", None, p, p),
    (gl, "glXQueryDrawable", None, p, p, i, p), (gl, "glXGetProcAddress", p, ctypes.c_char_p),
    (gl, "glGetTexImage", None, i, i, i, i, p), (gl, "glGetIntegerv", None, i, p),
):
    getattr(lib, name).restype, getattr(lib, name).argtypes = result, given
bind = ctypes.CFUNCTYPE(None, p, p, i, p)(gl.glXGetProcAddress(b"glXBindTexImageEXT"))
release = ctypes.CFUNCTYPE(None, p, p, i)(gl.glXGetProcAddress(b"glXReleaseTexImageEXT"))
gl.glPixelStorei(0x0CF2, 2)  # GL_UNPACK_ROW_LENGTH
found = []
for depth, texture_format, target, name in (
    (24, 0x20D9, 0x20DC, 0x0DE1), (32, 0x20DA, 0x20DC, 0x0DE1), (32, 0x20D9, 0x20DD, 0x84F5),
    (16, 0x20D9, 0x20DC, 0x0DE1),
):
    pixmap = x.XCreatePixmap(native, window, 3, 2, depth)
    context = x.XCreateGC(native, pixmap, None, None)
    for colour, box in ((0x40204060, (0, 0, 3, 2)), (0x80FF1000, (2, 0, 1, 1))):
        if depth == 16:
            colour = (colour >> 19 & 31) << 11 | (colour >> 10 & 63) << 5 | colour >> 3 & 31
        x.XSetForeground(native, context, colour)
        x.XFillRectangle(native, pixmap, context, *box)
    wanted = (i * 5)(0x8010, 2, 0x20D1 if texture_format == 0x20DA else 0x20D0, 1, 0)
    config = gl.glXChooseFBConfig(native, 0, wanted, ctypes.byref(i()))[0]
    kind = (i * 5)(0x20D5, texture_format, 0x20D6, target, 0)
    made = gl.glXCreatePixmap(native, config, pixmap, kind)
    x.XGrabServer(native)
    sizes = []
    for what in (0x801D, 0x801E, 0x20D5, 0x20D6):
        value = i()
        gl.glXQueryDrawable(native, made, what, ctypes.byref(value))
        sizes.append(value.value)
    assert sizes == [3, 2, texture_format, target], sizes
    bind(native, made, 0x20DE, None)
    x.XUngrabServer(native)
    release(native, made, 0x20DE)
    gl.glXDestroyPixmap(native, made)
    seen = np.zeros((2, 3, 4), np.uint8)
    gl.glGetTexImage(name, 0, 0x1908, 0x1401, seen.ctypes.data)
    print(*(bytes(seen[at]).hex() for at in ((0, 0), (0, 2), (1, 2))))
value = i()
gl.glGetIntegerv(0x0CF2, ctypes.byref(value))
assert value.value == 2 and gl.glGetError() == 0
bind(native, window, 0x20DE, None)  # it was not made for texturing: nothing happens
"""


def test_pixmaps_become_textures(server: str) -> None:
    command = [sys.executable, "-c", START + PIXMAPS]
    done = subprocess.run(command, env=on(server), capture_output=True, text=True, timeout=120)
    seen = ["204060ff ff1000ff 204060ff", "20406040 ff100080 20406040"]
    seen += [seen[0], "214163ff ff1000ff 214163ff"]
    assert (done.returncode, done.stdout.splitlines()) == (0, seen), done.stderr


# Before gallette is called for the first time, the program keeps the server from answering others.
GRABBED = START.replace("assert not", """
x.XGrabServer.argtypes = x.XUngrabServer.argtypes = [p]
x.XGrabServer(native)
assert not""") + FONT.replace("server = ", """
gl.glXSwapBuffers.argtypes, x.XSync.argtypes = [p, p], [p, i]
gl.glXSwapBuffers(native, window)
x.XUngrabServer(native)
x.XSync(native, 0)
server = """) + RESIZED  # fmt: skip


def test_the_server_may_be_grabbed_all_the_time(server: str) -> None:
    command = [sys.executable, "-c", GRABBED]
    done = subprocess.run(command, env=on(server), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "written\nresized\n"), done.stderr


# Windows that are gone are drawn on and shown: what the server says of it would end the program.
# A display that is opened after another was closed often has its address.
CLOSED = """
gl.glXSwapBuffers.argtypes = x.XDestroyWindow.argtypes = [p, p]
x.XCloseDisplay.argtypes, x.XSync.argtypes = [p], [p, i]
seen = set()
for turn in range(40):
    gl.glClear(0x4000)
    gl.glXSwapBuffers(native, window)
    x.XDestroyWindow(native, window)
    for _ in range(2):
        gl.glViewport(0, 0, 8, 8)
        gl.glClear(0x4000)
        gl.glXSwapBuffers(native, window)
    x.XSync(native, 0)
    if turn % 2:
        gl.glXMakeCurrent(native, None, None)
    x.XCloseDisplay(native)
    again = native in seen
    seen.add(native)
    native = x.XOpenDisplay(None)
    window = x.XCreateSimpleWindow(
        native, x.XDefaultRootWindow(native), 0, 0, width, height, 0, None, None)
    x.XMapWindow(native, window)
    visual = gl.glXChooseVisual(native, 0, (i * 9)(4, 5, 8, 8, 9, 8, 10, 8, 0))
    assert gl.glXMakeCurrent(native, window, gl.glXCreateContext(native, visual, None, 1))
    if again and turn > 2:
        break
assert again, "no address came again"
gl.glClearColor.argtypes = [ctypes.c_float] * 4
gl.glClearColor(0, 1, 0, 1)
gl.glClear(0x4000)
gl.glXSwapBuffers(native, window)
other = xdisplay.Display()
x.XSync(native, 0)
shown = other.create_resource_object("window", window)
data = shown.get_image(0, 0, 1, 1, X.ZPixmap, 0xFFFFFF).data
print(bytes(data[:3]).hex())
"""


def test_windows_and_displays_may_end_before_what_is_drawn(server: str) -> None:
    command = [sys.executable, "-c", START + CLOSED]
    done = subprocess.run(command, env=on(server), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "00ff00\n"), done.stderr


def test_a_connection_of_xcb_is_used_itself(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", server)
    mine = xcb.Connection(EGL.PLATFORM_X11, 0, lambda: None)
    made = mine.number()
    mine.tell(1, 0, "IIhhHHHHII", made, mine.screen.root, 0, 0, 9, 4, 0, 1, 0, 0)  # CreateWindow
    display = Display(EGL.PLATFORM_XCB_EXT, mine._address)
    display.initialize()
    assert display.windows is not None
    window = display.windows.open(made)  # nothing has flushed the request that makes it
    assert window is not None and window.size() == (9, 4)
    display.terminate()
    assert mine.ask(14, 0, "I", made) is not None, "it is the program's to close"
    mine.close()


REQUESTS: list[tuple[tuple[int, ...], dict[str, object]]] = [
    # attributes of glXCreateContextAttribsARB -> what is asked for
    ((), {"api": 0x30A2, "major": 1, "minor": 0, "reset": 0x31BE}),
    ((0x2091, 3, 0x2092, 2), {"major": 3, "minor": 2, "profile_mask": 1}),
    ((0x2091, 3, 0x2092, 3, 0x9126, 2), {"major": 3, "minor": 3, "profile_mask": 2}),
    ((0x2091, 3, 0x2092, 1, 0x9126, 4), {"api": 0x30A0, "major": 3, "minor": 1}),
    ((0x2094, 1), {"debug": True, "forward": False, "robust": False}),
    ((0x2091, 3, 0x2094, 2), {"debug": False, "forward": True, "robust": False}),
    ((0x2094, 4), {"debug": False, "forward": False, "robust": True}),
    ((0x31B3, 1), {"no_error": True, "robust": False}),
    ((0x8256, 0x8261), {"reset": 0x31BE}),
    ((0x8256, 0x8252), {"reset": 0x31BF}),
]


@pytest.mark.parametrize(("attributes", "wanted"), REQUESTS)
def test_attributes_of_contexts_are_egls_with_other_numbers(
    monkeypatch: pytest.MonkeyPatch, attributes: tuple[int, ...], wanted: dict[str, object]
) -> None:
    asked = contexts_asked_for(monkeypatch, attributes)
    assert {name: getattr(asked, name) for name in wanted} == wanted


def test_an_unknown_reset_strategy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (0, 0x8253, 0x31BF):
        with pytest.raises(EglError, match="reset strategy"):
            contexts_asked_for(monkeypatch, (0x8256, value))


def contexts_asked_for(monkeypatch: pytest.MonkeyPatch, attributes: tuple[int, ...]) -> Request:
    """What glXCreateContextAttribsARB makes of a list of attributes, without a display."""
    seen: list[Request] = []

    def create(native: int, config: object, share: int, request: Request) -> int:
        seen.append(request)
        return 1

    monkeypatch.setattr(glx, "_display", lambda native: None)
    monkeypatch.setattr(glx, "_create", create)
    given = (ctypes.c_int32 * (len(attributes) + 1))(*attributes, 0)
    assert glx.glXCreateContextAttribsARB(1, 0, 0, 1, ctypes.addressof(given)) == 1
    return seen[0]


def test_a_display_may_be_ended_twice_and_begun_again(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", server)
    display = Display(EGL.PLATFORM_X11, 0)
    for _ in range(2):
        display.initialize()
        assert display.windows is not None
        assert display.windows.visuals()
        display.terminate()
        assert display.windows is None
        display.terminate()
