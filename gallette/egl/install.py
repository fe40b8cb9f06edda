"""Making programs use gallette's OpenGL: this process (`install`), or a new one.

Python libraries find OpenGL in many ways: by a library's name, through `ctypes.util.find_library`,
through a platform they choose by an environment variable. `install` redirects all of them;
libraries imported before may have chosen already.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable, MutableMapping
from typing import Any

from gallette.egl.libraries import folder, vendor_file

# What find_library is asked for, and the file it means.
SONAMES = {
    "GL": "libGL.so.1",
    "GLX": "libGLX.so.0",
    "OpenGL": "libOpenGL.so.0",
    "EGL": "libEGL.so.1",
    "GLESv2": "libGLESv2.so.2",
    "GLESv1_CM": "libGLESv1_CM.so.1",
    "OSMesa": "libOSMesa.so.8",
}
# Which libraries clients load; a value that is set already is left alone.
_LIBRARIES = {
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GLCONTEXT_LINUX_LIBGL": "libGL.so.1",
    "GLCONTEXT_LINUX_LIBEGL": "libEGL.so.1",
}
# How clients do without a window system, where there is none.
_OFF_SCREEN = {
    "EGL_PLATFORM": "surfaceless",
    "PYOPENGL_PLATFORM": "egl",
    "SDL_VIDEODRIVER": "offscreen",
    "SDL_VIDEO_DRIVER": "offscreen",
    "PYGLET_HEADLESS": "1",
    "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow",
    "VISPY_APP_BACKEND": "egl",
    "MUJOCO_GL": "egl",
}
# Qt Quick draws in the main thread: PySide6 keeps Python's lock while it waits for another one.
_IN_PYTHON = {"QSG_RENDER_LOOP": "basic"}
_KEPT: list[Any] = []


def environment(
    variables: MutableMapping[str, str], driver: str | None = None, python: bool = False
) -> None:
    """Set the variables with which a program, perhaps a Python program, draws on gallette."""
    windows = variables.get("DISPLAY") or variables.get("WAYLAND_DISPLAY")
    off_screen = {} if windows else _OFF_SCREEN
    for name, value in (_LIBRARIES | off_screen | (_IN_PYTHON if python else {})).items():
        variables.setdefault(name, value)
    variables["__EGL_VENDOR_LIBRARY_FILENAMES"] = str(vendor_file())
    before = variables.get("LD_LIBRARY_PATH", "")
    ours = str(folder())
    if ours not in before.split(":"):
        variables["LD_LIBRARY_PATH"] = f"{ours}:{before}" if before else ours
    if driver is not None:
        variables["GALLETTE_DRIVER"] = driver


def install(driver: str | None = None) -> None:
    """Make libraries of this process that look for OpenGL find gallette.

    The libraries are loaded here under their usual names, so code that loads `libGL.so.1` later
    gets gallette's; `find_library` names them, and where there is no display the environment makes
    window libraries do without windows.
    """
    environment(os.environ, driver, python=True)
    if _KEPT:
        return
    for name in SONAMES.values():
        _KEPT.append(ctypes.CDLL(str(folder() / name), mode=ctypes.RTLD_GLOBAL))
    _KEPT.append(ctypes.util.find_library)
    ctypes.util.find_library = _find_library(ctypes.util.find_library)  # type: ignore[assignment]
    _standalone_contexts()


def _find_library(before: Callable[[str], str | None]) -> Callable[[str], str | None]:
    def find_library(name: str) -> str | None:
        return SONAMES.get(name) or before(name)

    return find_library


def _standalone_contexts() -> None:
    """Make EGL the default backend of moderngl's standalone contexts, which need no X server."""
    try:
        import glcontext
    except ImportError:
        return
    if not os.environ.get("DISPLAY"):
        glcontext.default_backend = lambda: glcontext.get_backend_by_name("egl")


def pyopengl(driver: str | None = None) -> None:
    """Make PyOpenGL use gallette; call it before the first `import OpenGL.GL`."""
    install(driver)
    from OpenGL.plugins import PlatformPlugin

    PlatformPlugin("gallette", "gallette.egl.pyopengl.GallettePlatform")
    os.environ["PYOPENGL_PLATFORM"] = "gallette"
    if "OpenGL.platform" in sys.modules:
        from gallette.compiler.errors import GalletteError

        raise GalletteError("gallette.pyopengl() must come before PyOpenGL chooses its platform")


def get_proc_address(name: str) -> int:
    """The address of a C function of OpenGL, EGL or OSMesa; 0 if gallette has none.

    OpenGL functions mean the calling thread's current context.
    """
    import gallette.egl.osmesa
    import gallette.egl.sync  # noqa: F401  (they register functions)
    from gallette.egl.functions import proc_address

    return proc_address(name)
