"""The shared libraries written by Python, in a process that runs Python already."""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.egl import functions, install, sync
from gallette.egl.display import display_of
from gallette.egl.elf import BEFORE_SLOTS, shared_library
from gallette.egl.libraries import exports, folder, texts_of
from gallette.egl.machine import ARCHITECTURES, assemble
from gallette.egl.registry import _FUNCTIONS, prototype
from tests.egl.conftest import missing


@functools.cache
def private_library() -> str:
    """Our libEGL under a name of its own: other tests want the machine's in this process."""
    path = os.path.join(tempfile.mkdtemp(), "libEGL-of-a-test.so")
    names = exports()["libEGL.so.1"]
    content = shared_library(
        platform.machine(), "libEGL-of-a-test.so", names, texts_of(path, names, "none")
    )
    Path(path).write_bytes(content)
    return path


class Egl:
    """Our libEGL with a display that is initialised."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL(private_library())
        for name in ("eglGetPlatformDisplay", "eglCreatePbufferSurface", "eglCreateContext",
                     "eglGetProcAddress", "eglGetCurrentContext", "eglCreateSync",
                     "eglQueryString", "eglCreateImage"):  # fmt: skip
            getattr(self.lib, name).restype = ctypes.c_void_p
        self.display = ctypes.c_void_p(self.lib.eglGetPlatformDisplay(0x31DD, None, None))
        assert self.lib.eglInitialize(self.display, None, None)
        self.lib.eglBindAPI(0x30A2)

    def ints(self, *values: int) -> Any:
        return (ctypes.c_int * (len(values) + 1))(*values, 0x3038)

    def choose(self, *wanted: int) -> list[int]:
        found, count = (ctypes.c_void_p * 500)(), ctypes.c_int()
        ok = self.lib.eglChooseConfig(
            self.display, self.ints(*wanted), found, 500, ctypes.byref(count)
        )
        assert ok, hex(self.lib.eglGetError())
        return [int(c or 0) for c in found[: count.value]]

    def attribute(self, config: int, attribute: int) -> int:
        value = ctypes.c_int()
        assert self.lib.eglGetConfigAttrib(
            self.display, ctypes.c_void_p(config), attribute, ctypes.byref(value)
        )
        return value.value

    def context(self, *attributes: int, config: int = 0, share: Any = None) -> Any:
        made = self.lib.eglCreateContext(
            self.display, ctypes.c_void_p(config), share, self.ints(*attributes)
        )
        return ctypes.c_void_p(made) if made else None

    def pbuffer(self, config: int, width: int, height: int) -> Any:
        size = self.ints(0x3057, width, 0x3056, height)
        made = self.lib.eglCreatePbufferSurface(self.display, ctypes.c_void_p(config), size)
        return ctypes.c_void_p(made) if made else None

    def current(self, context: Any, draw: Any = None, read: Any = None) -> bool:
        read = read if read is not None else draw
        return bool(self.lib.eglMakeCurrent(self.display, draw, read, context))

    def gl(self, name: str, result: Any, *types: Any) -> Any:
        address = self.lib.eglGetProcAddress(name.encode())
        assert address, name
        return ctypes.CFUNCTYPE(result, *types)(address)

    def text(self, name: int) -> str:
        return (self.gl("glGetString", ctypes.c_char_p, ctypes.c_uint)(name) or b"").decode()

    def clear(self, red: float) -> None:
        self.gl("glClearColor", None, *[ctypes.c_float] * 4)(red, 0.0, 0.0, 1.0)
        self.gl("glClear", None, ctypes.c_uint)(0x4000)

    def red(self) -> int:
        pixel = (ctypes.c_ubyte * 4)()
        ints = [ctypes.c_int] * 4
        read = self.gl("glReadPixels", None, *ints, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p)
        read(0, 0, 1, 1, 0x1908, 0x1401, pixel)
        return int(pixel[0])


@pytest.fixture
def egl() -> Iterator[Egl]:
    made = Egl()
    yield made
    made.current(None)
    made.lib.eglTerminate(made.display)
    made.lib.eglReleaseThread()


VERSIONS = [
    # (API, attributes) -> what GL_VERSION begins with
    (0x30A2, (), "4."),
    (0x30A2, (0x3098, 2, 0x30FB, 1), "4."),
    (0x30A2, (0x3098, 3, 0x30FB, 3), "4."),
    (0x30A2, (0x3098, 3, 0x30FB, 3, 0x30FD, 2), "4."),
    (0x30A0, (0x3098, 2), "OpenGL ES 3."),
    (0x30A0, (0x3098, 3, 0x30FB, 1), "OpenGL ES 3."),
]


@pytest.mark.parametrize(("api", "attributes", "version"), VERSIONS)
def test_contexts_of_every_version(
    egl: Egl, api: int, attributes: tuple[int, ...], version: str
) -> None:
    egl.lib.eglBindAPI(api)
    context = egl.context(*attributes)
    assert context and egl.current(context)
    assert egl.text(0x1F02).startswith(version)


REFUSED = [
    ((0x3098, 9), 0x3009),  # no such version
    ((0x3098, 3, 0x30FB, 2, 0x30FD, 3), 0x3009),  # two profiles
    ((0x30FC, 0x80), 0x3004),  # unknown flags
    ((0x1234, 1), 0x3004),  # no such attribute
    ((0x31B3, 1, 0x31B0, 1), 0x3009),  # no errors and debugging
]


@pytest.mark.parametrize(("attributes", "error"), REFUSED)
def test_contexts_that_cannot_be(egl: Egl, attributes: tuple[int, ...], error: int) -> None:
    assert egl.context(*attributes) is None
    assert egl.lib.eglGetError() == error


def test_configs_come_in_the_order_of_the_specification(egl: Egl) -> None:
    found = egl.choose(0x3024, 1, 0x3033, 1, 0x3040, 8)
    sizes = [egl.attribute(c, 0x3020) for c in found if egl.attribute(c, 0x3339) == 0x333A]
    # of those asked for with red bits, the deepest red first
    reds = [egl.attribute(c, 0x3024) for c in found if egl.attribute(c, 0x3339) == 0x333A]
    assert reds == sorted(reds, reverse=True) and len(set(sizes)) > 2
    samples = [egl.attribute(c, 0x3031) for c in egl.choose(0x3033, 1, 0x3025, 24, 0x3024, 8)]
    assert samples[0] == 0
    with_depth = egl.choose(0x3033, 1, 0x3025, 24)
    assert all(egl.attribute(c, 0x3025) >= 24 for c in with_depth)
    assert egl.choose(0x3033, 1, 0x3031, 4) and not egl.choose(0x3033, 1, 0x3031, 1000)
    assert not egl.choose(0x3033, 4)  # no windows without a window system


def test_surfaces_have_the_formats_of_their_configs(egl: Egl) -> None:
    context = egl.context()
    (config, *_) = egl.choose(0x3033, 1, 0x3024, 5, 0x3023, 6, 0x3022, 5, 0x3021, 0, 0x3020, 16)
    deep = [c for c in egl.choose(0x3033, 1, 0x3020, 16) if egl.attribute(c, 0x3020) == 16]
    surface = egl.pbuffer(deep[0], 4, 4)
    assert surface and egl.current(context, surface)
    bits = ctypes.c_int()
    get = egl.gl("glGetIntegerv", None, ctypes.c_uint, ctypes.c_void_p)
    found = []
    for name in (0x0D52, 0x0D53, 0x0D54, 0x0D55):
        get(name, ctypes.addressof(bits))
        found.append(bits.value)
    assert found == [5, 6, 5, 0] and config


def test_two_surfaces_and_reading_from_the_other(egl: Egl) -> None:
    (config, *_) = egl.choose(0x3033, 1, 0x3024, 8)
    first, second = egl.pbuffer(config, 4, 4), egl.pbuffer(config, 4, 4)
    context = egl.context(config=config)
    assert egl.current(context, first)
    egl.clear(0.2)
    assert egl.current(context, second)
    egl.clear(0.4)
    assert egl.red() == 102
    assert egl.current(context, second, first)
    assert egl.red() == 51
    egl.clear(0.6)
    assert egl.red() == 51
    assert egl.current(context, second) and egl.red() == 153


def test_destroyed_objects_live_until_they_are_not_current(egl: Egl) -> None:
    (config, *_) = egl.choose(0x3033, 1, 0x3024, 8)
    surface, context = egl.pbuffer(config, 4, 4), egl.context(config=config)
    assert egl.current(context, surface)
    assert egl.lib.eglDestroySurface(egl.display, surface)
    assert egl.lib.eglDestroyContext(egl.display, context)
    egl.clear(0.2)
    assert egl.red() == 51
    assert egl.current(None)
    assert not egl.current(context)
    assert egl.lib.eglGetError() == 0x3006


def test_surfaces_give_their_images_back(egl: Egl) -> None:
    """At once, or when no context has them any more (one that drew keeps what it drew on last)."""
    ledger = display_of(egl.display.value or 0).screen.resources
    (config, *_) = egl.choose(0x3033, 1, 0x3024, 8)
    context = egl.context(config=config)
    for while_current in (False, True):
        before = len(ledger.live)
        surface, other = egl.pbuffer(config, 4, 4), egl.pbuffer(config, 4, 4)
        assert egl.current(context, surface, other)
        egl.red()
        if not while_current:
            assert egl.current(None)
        there = len(ledger.live)
        assert there > before
        for one in (surface, other):
            assert egl.lib.eglDestroySurface(egl.display, one)
        assert len(ledger.live) == (there if while_current else before)
        assert egl.current(None)
        assert len(ledger.live) == before
    assert egl.lib.eglDestroyContext(egl.display, context)


def test_a_context_forgets_the_window_it_leaves(egl: Egl, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is not current must not keep a surface that was destroyed since."""
    (config, *_) = egl.choose(0x3033, 1, 0x3024, 8)
    surface, context = egl.pbuffer(config, 4, 4), egl.context(config=config)
    display = display_of(egl.display.value or 0)
    drawn = display.surfaces[surface.value]
    monkeypatch.setattr(drawn, "window", SimpleNamespace(size=lambda: (4, 4)))
    assert egl.current(context, surface)
    gl = display.contexts[context.value].gl
    assert gl.look_at_window == drawn.look
    assert egl.current(None)
    assert gl.look_at_window is None


def test_shared_contexts_see_each_others_buffers(egl: Egl) -> None:
    first = egl.context()
    second = egl.context(share=first)
    stranger = egl.context()
    name = ctypes.c_uint()
    assert egl.current(first)
    egl.gl("glGenBuffers", None, ctypes.c_int, ctypes.c_void_p)(1, ctypes.addressof(name))
    egl.gl("glBindBuffer", None, ctypes.c_uint, ctypes.c_uint)(0x8892, name.value)
    known = egl.gl("glIsBuffer", ctypes.c_ubyte, ctypes.c_uint)
    seen = []
    for context in (first, second, stranger):
        assert egl.current(context)
        seen.append(known(name.value))
    assert seen == [1, 1, 0]


def test_sync_objects(egl: Egl) -> None:
    assert egl.lib.eglCreateSync(egl.display, 0x30F9, None) is None  # no context
    assert egl.lib.eglGetError() == 0x3009
    assert egl.current(egl.context())
    sync = ctypes.c_void_p(egl.lib.eglCreateSync(egl.display, 0x30F9, None))
    forever = ctypes.c_uint64((1 << 64) - 1)
    assert egl.lib.eglClientWaitSync(egl.display, sync, 1, forever) == 0x30F6
    assert egl.lib.eglDestroySync(egl.display, sync)
    assert not egl.lib.eglDestroySync(egl.display, sync)
    assert egl.lib.eglGetError() == 0x300C


FENCE, REUSABLE, SIGNALED, UNSIGNALED, BAD_ATTRIBUTE = 0x30F9, 0x30FA, 0x30F2, 0x30F3, 0x3004
SYNC_TYPE, SYNC_STATUS, SYNC_CONDITION, PRIOR_COMMANDS = 0x30F7, 0x30F1, 0x30F8, 0x30F0


def test_what_is_said_of_sync_objects(egl: Egl) -> None:
    """Fences have a condition, and signal themselves; the others are signalled."""

    def asked(sync: Any, attribute: int) -> int:
        wide, narrow = ctypes.c_ssize_t(-1), ctypes.c_int(-1)
        said = []
        for name, value in (("eglGetSyncAttrib", wide), ("eglGetSyncAttribKHR", narrow)):
            ok = getattr(egl.lib, name)(egl.display, sync, attribute, ctypes.byref(value))
            said.append(value.value if ok else -egl.lib.eglGetError())
        assert said[0] == said[1]
        return said[0]

    assert egl.current(egl.context())
    wanted = {
        FENCE: {SYNC_STATUS: SIGNALED, SYNC_CONDITION: PRIOR_COMMANDS},
        REUSABLE: {SYNC_STATUS: UNSIGNALED, SYNC_CONDITION: -BAD_ATTRIBUTE},
    }
    for kind, values in wanted.items():
        sync = ctypes.c_void_p(egl.lib.eglCreateSync(egl.display, kind, None))
        egl.lib.eglClientWaitSync(egl.display, sync, 0, ctypes.c_uint64(0))
        values |= {SYNC_TYPE: kind, 0x3057: -BAD_ATTRIBUTE}
        assert {attribute: asked(sync, attribute) for attribute in values} == values
        for mode in (SIGNALED, UNSIGNALED, SIGNALED):
            assert egl.lib.eglSignalSyncKHR(egl.display, sync, mode) == (kind == REUSABLE)
            assert egl.lib.eglGetError() == (0x3000 if kind == REUSABLE else 0x3009)
            assert asked(sync, SYNC_STATUS) == (mode if kind == REUSABLE else SIGNALED)
            waited = egl.lib.eglClientWaitSync(egl.display, sync, 0, ctypes.c_uint64(0))
            assert waited == (0x30F5 if mode == UNSIGNALED and kind == REUSABLE else 0x30F6)
        assert egl.lib.eglSignalSyncKHR(egl.display, sync, 7) == 0
        assert egl.lib.eglGetError() == (0x300C if kind == REUSABLE else 0x3009)
        assert egl.lib.eglDestroySync(egl.display, sync)
    assert egl.current(None)


def test_known_and_unknown_functions(egl: Egl) -> None:
    find = egl.lib.eglGetProcAddress
    assert find(b"glDrawArrays") and find(b"eglSwapBuffers")
    assert not find(b"glNothingOfTheKind") and not find(b"notEvenGL")


def functions_of(first: str) -> list[tuple[str, str]]:
    """Functions whose first parameter is called that, and their signatures."""
    takes = []
    for name, (guarded, signature) in _FUNCTIONS.items():
        made = getattr(functions, guarded.__name__, getattr(sync, guarded.__name__, None))
        if made is not None and next(iter(inspect.signature(made).parameters), "") == first:
            takes.append((name, signature))
    return takes


def test_every_function_looks_at_its_display(egl: Egl) -> None:
    """EGL_BAD_DISPLAY for what is none, EGL_NOT_INITIALIZED before and after it is in use."""
    ended = ctypes.c_void_p(egl.lib.eglGetPlatformDisplay(0x31DD, None, None))
    egl.lib.eglTerminate(ended)
    takes = functions_of("display")
    assert len(takes) > 40
    for name, signature in takes:
        address = egl.lib.eglGetProcAddress(name.encode())
        call = prototype(signature)(address)
        others = [0] * (len(signature.split(":")[0]) - 1)
        assert not call(4711, *others), name
        assert egl.lib.eglGetError() == 0x3008, name
        if name not in ("eglInitialize", "eglTerminate", "eglMakeCurrent"):
            assert not call(ended, *others), name
            assert egl.lib.eglGetError() == 0x3001, name


def test_every_function_looks_at_its_device(egl: Egl) -> None:
    """EGL_BAD_DEVICE for what is none; of ours, what is asked for is wrong."""
    device, count = ctypes.c_void_p(), ctypes.c_int()
    query = prototype("ipp:u")(egl.lib.eglGetProcAddress(b"eglQueryDevicesEXT"))
    assert query(1, ctypes.addressof(device), ctypes.addressof(count)) and count.value == 1
    takes = functions_of("device")
    assert {name for name, _ in takes} == {"eglQueryDeviceStringEXT", "eglQueryDeviceAttribEXT"}
    for name, signature in takes:
        call = prototype(signature)(egl.lib.eglGetProcAddress(name.encode()))
        others = [0] * (len(signature.split(":")[0]) - 1)
        for handle, error in ((0, 0x322B), (4711, 0x322B), (device.value, None)):
            assert not call(handle, *others), name
            wanted = error or (0x300C if "String" in name else 0x3004)
            assert egl.lib.eglGetError() == wanted, (name, handle)


@pytest.mark.parametrize("driver", [None, "tiler"])
@pytest.mark.parametrize("screen", ["", ":7"])
@pytest.mark.parametrize("path", ["", "/opt/lib"])
def test_what_a_program_is_started_with(driver: str | None, screen: str, path: str) -> None:
    """It finds our libraries first, needs no window without a screen, and keeps its choices."""
    given = {"MUJOCO_GL": "osmesa", "DISPLAY": screen, "LD_LIBRARY_PATH": path}
    found = dict(given, GALLETTE_DRIVER="simd")
    for _ in range(2):  # a second time changes nothing
        install.environment(found, driver)
        ours, *others = found["LD_LIBRARY_PATH"].split(":")
        assert Path(ours, "libGL.so.1").is_file() and others == ([path] if path else [])
        assert Path(found["__EGL_VENDOR_LIBRARY_FILENAMES"]).is_file()
        assert found["GALLETTE_DRIVER"] == (driver or "simd")
        assert found.get("EGL_PLATFORM") == (None if screen else "surfaceless")
        chosen = found["MUJOCO_GL"], found.get("PYOPENGL_PLATFORM")
        assert chosen == ("osmesa", None if screen else "egl")


def test_libglx_is_replaced_as_well_as_libgl() -> None:
    """GLFW and VTK load GLX by a name of its own; the machine's would know none of our contexts."""
    script = (
        "import ctypes, gallette\n"
        "gallette.install()\n"
        "answers = []\n"
        "for name in ('libGL.so.1', 'libGLX.so.0'):\n"
        "    library = ctypes.CDLL(name)\n"
        "    library.glXGetClientString.restype = ctypes.c_char_p\n"
        "    library.glXGetProcAddress.restype = ctypes.c_void_p\n"
        "    clear = library.glXGetProcAddress(b'glClear')\n"
        "    answers.append((library.glXGetClientString(None, 1), clear))\n"
        "assert answers[0] == answers[1] and answers[0][1], answers\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_calls_after_python_ended_do_nothing() -> None:
    """The libraries outlive the interpreter: exit handlers of C may still call them."""
    script = (
        "import ctypes\n"
        "from gallette.egl.libraries import folder\n"
        "lib = ctypes.CDLL(str(folder() / 'libEGL.so.1'))\n"
        "libc = ctypes.CDLL(None)\n"
        "assert lib.eglGetError() == 0x3000\n"
        "libc.on_exit(lib.eglGetError, None)\n"
        "libc.on_exit(lib.eglReleaseThread, None)\n"
        "lib.eglGetProcAddress.restype = ctypes.c_void_p\n"
        "for name in (b'glFlush', b'eglWaitClient'):\n"
        "    libc.on_exit(ctypes.c_void_p(lib.eglGetProcAddress(name)), None)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_library_that_is_first_called_while_python_ends_does_nothing() -> None:
    script = (
        "import builtins, ctypes, os\n"
        "from gallette.egl.libraries import folder\n"
        "class Late:\n"
        "    library, say = ctypes.CDLL(str(folder() / 'libGLX.so.0')), os.write\n"
        "    def __del__(self):\n"
        "        self.say(1, b'%d' % self.library.glXGetCurrentContext())\n"
        "builtins.late = Late()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"0", b"")


LOADS_LATE = """
#include <dlfcn.h>
static void late(void) {
    int (*call)(void) = (int (*)(void))dlsym(dlopen("PATH", RTLD_NOW), "glXGetCurrentContext");
    if (call() != 0) __builtin_abort();
}
__attribute__((destructor)) static void end(void) { late(); }
"""


def test_a_library_that_is_loaded_after_python_ended_does_nothing(tmp_path: Path) -> None:
    """VTK releases its windows then, by another library than it drew with."""
    compiler = shutil.which("cc")
    if compiler is None:
        missing("a C compiler")
    source, library = tmp_path / "late.c", tmp_path / "late.so"
    source.write_text(LOADS_LATE.replace("PATH", str(folder() / "libGLX.so.0")))
    subprocess.run(
        [str(compiler), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60
    )
    script = (
        "import ctypes\n"
        "from gallette.egl.libraries import folder\n"
        "assert ctypes.CDLL(str(folder() / 'libEGL.so.1')).eglGetError() == 0x3000\n"
        f"ctypes.CDLL({str(library)!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_contexts_become_current_after_python_ended() -> None:
    """Qt releases its objects late, and complains if their context does not become current."""
    script = (
        "import atexit, ctypes\n"
        "def late():\n"
        "    print(bool(lib.eglMakeCurrent(None, None, None, None)), lib.eglGetError())\n"
        "atexit.register(late)\n"
        "from gallette.egl.libraries import folder\n"
        "lib = ctypes.CDLL(str(folder() / 'libEGL.so.1'))\n"
        "assert not lib.eglMakeCurrent(None, None, None, None)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"True 0\n", b"")


def test_processes_at_once_write_the_libraries_once(tmp_path: Path) -> None:
    """Many processes, one cache folder: every one finds whole files."""
    script = (
        "import ctypes\n"
        "from gallette.egl.libraries import folder\n"
        "ctypes.CDLL(str(folder() / 'libGL.so.1'))\n"
    )
    env = dict(os.environ, XDG_CACHE_HOME=str(tmp_path))
    running = [subprocess.Popen([sys.executable, "-c", script], env=env) for _ in range(3)]
    assert [p.wait(timeout=120) for p in running] == [0] * 3
    assert len(list((tmp_path / "gallette").iterdir())) == 1
    assert not list((tmp_path / "gallette").rglob("tmp*"))
    # Programs are linked to names without a version.
    found = list((tmp_path / "gallette").rglob("*.so.*"))
    assert found
    for file in found:
        link = file.with_name(file.name.partition(".so")[0] + ".so")
        assert link.is_symlink() and link.samefile(file)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_code_has_the_same_size_at_every_address(architecture: str) -> None:
    first = assemble(architecture, 0, {}, 5)
    moved = assemble(architecture, 0x12340, {}, 5)
    assert len(first.data) == len(moved.data)
    assert {k: v + 0x12340 for k, v in first.labels.items()} == moved.labels


FIRST = len(BEFORE_SLOTS)


def test_a_library_exports_the_given_functions(tmp_path: Path) -> None:
    path = tmp_path / "libx.so"
    texts = dict.fromkeys(("libpython", "program", "python", "failed"), b"\0")
    path.write_bytes(shared_library(platform.machine(), "libx.so", ["one", "two"], texts))
    lib = ctypes.CDLL(str(path))
    table = (ctypes.c_void_p * (FIRST + 2)).in_dll(lib, "gallette_table")
    answer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.c_double)
    double = answer(lambda n, x: n * x)
    asked: list[int] = []

    def resolve(index: int) -> int:
        asked.append(index)
        table[FIRST + index] = ctypes.cast(double, ctypes.c_void_p).value
        return int(table[FIRST + index] or 0)

    resolver = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_long)(resolve)
    table[0] = ctypes.cast(resolver, ctypes.c_void_p).value
    lib.two.restype, lib.two.argtypes = ctypes.c_double, [ctypes.c_int, ctypes.c_double]
    assert [lib.two(3, 0.5), lib.two(4, 0.25)] == [1.5, 1.0]
    assert asked == [1]
    answers = [ctypes.CFUNCTYPE(ctypes.c_int)(word or 0)() for word in table[1:FIRST]]
    assert answers == [0, 1]


OTHER = """
import ctypes, sys
found = [name for name in ("gallette", "numpy") if name in sys.modules]
assert not found and not [p for p in sys.path if p.endswith("site-packages")]
before = list(sys.path)
egl = ctypes.CDLL(sys.argv[1] + "/libEGL.so.1")
egl.eglGetPlatformDisplay.restype = ctypes.c_void_p
display = ctypes.c_void_p(egl.eglGetPlatformDisplay(0x31DD, None, None))
assert egl.eglInitialize(display, None, None)
assert sys.path[: len(before)] == before, "the program's own modules are found first"
print("initialized")
"""


def test_a_program_with_a_python_of_its_own_needs_no_packages(libraries: Path) -> None:
    command = [sys.executable, "-I", "-S", "-c", OTHER, str(libraries)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "initialized\n"), done.stderr
