"""The shared libraries, and where they are written for programs to find them.

They are files in a cache folder whose name depends on the versions of gallette and Python. Writing
is atomic: a hundred processes may start at once. Programs run the code in these files, so no other
user must be able to write to the folder.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import platform
import sys
import sysconfig
from pathlib import Path

from gallette.compiler.cache_home import usual_cache_home
from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import atomic_write
from gallette.compiler.private_folder import filled_folder
from gallette.egl.elf import shared_library
from gallette.egl.machine import ARCHITECTURES

PYTHON_FUNCTIONS = (
    "Py_IsInitialized", "Py_SetProgramName", "Py_InitializeEx", "PyGILState_Ensure",
    "PyGILState_Release", "PyRun_SimpleStringFlags", "PyEval_SaveThread", "PyInterpreterState_Main",
)  # fmt: skip
VENDOR_LIBRARY = "libgallette_egl.so.0"
_PYTHON = """
import sys
if not hasattr(sys, "argv"): sys.argv = [""]
same = sys.version_info[:2] == {version!r}
sys.path += [place for place in {places!r}[: None if same else 1] if place not in sys.path]
if not same:
    from importlib.util import find_spec
    if find_spec("numpy") is None:
        print("gallette: this program runs a Python of its own, %d.%d, and gallette is installed "
              "for %d.%d: install numpy there too" % (sys.version_info[:2] + {version!r}),
              file=sys.stderr)
try:
    from gallette.egl.boot import attach
    attach({path!r}, {names!r})
except BaseException:
    import traceback
    print("gallette: the OpenGL library cannot start", file=sys.stderr)
    traceback.print_exc()
"""


def _places() -> list[str]:
    """The folders of gallette and of the packages it imports. A program that embeds Python looks
    for modules elsewhere; these folders come last, so that it finds its own modules first.
    """
    root = str(Path(__file__).resolve().parents[2])
    named = ("site-packages", "dist-packages")
    packages = [p for p in sys.path if p.endswith(named) and os.path.isabs(p)]
    return [root, *(p for p in packages if p != root)]


@functools.cache
def implemented() -> frozenset[str]:
    """Names of the OpenGL functions that gallette has."""
    import gallette.state_tracker.context  # noqa: F401  (registers them)
    from gallette.state_tracker.entry_points.functions import FUNCTIONS
    from gallette.state_tracker.entry_points.registry import implementation

    return frozenset("gl" + n for n in FUNCTIONS if implementation(FUNCTIONS[n]) is not None)


def _gl_names() -> list[str]:
    from gallette.state_tracker.entry_points.functions import FUNCTIONS

    return ["gl" + name for name in FUNCTIONS]


@functools.cache
def exports() -> dict[str, list[str]]:
    """The exported functions of each file."""
    import gallette.egl.functions
    import gallette.egl.glx
    import gallette.egl.osmesa
    import gallette.egl.sync  # noqa: F401
    from gallette.egl.registry import c_names

    gl, egl, osmesa = _gl_names(), c_names("egl"), c_names("OSMesa")
    glx = c_names("glX")
    return {
        VENDOR_LIBRARY: ["__egl_Main", *gl],
        "libEGL.so.1": egl,
        "libGL.so.1": [*glx, *gl],
        "libGLX.so.0": glx,  # GLFW, VTK and others load it by this name
        "libOpenGL.so.0": gl,
        "libGLESv2.so.2": gl,
        "libGLESv1_CM.so.1": gl,
        "libOSMesa.so.8": [*osmesa, *gl],
    }


def libpython() -> str:
    """The path of the interpreter's shared library; raises an error if Python was built without
    one.
    """
    name = f"libpython{sys.version_info.major}.{sys.version_info.minor}.so.1.0"
    places = [
        sysconfig.get_config_var("LIBDIR"),
        f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}",
    ]
    for place in [*places, sys.prefix + "/lib", sys.base_prefix + "/lib", "/usr/lib", "/usr/lib64"]:
        found = Path(place or "/nowhere", name)
        if found.is_file():
            return str(found)
    raise GalletteError(
        f"gallette cannot serve C programs: this Python has no shared library ({name}); "
        "on Debian: apt-get install libpython3-dev"
    )


def texts_of(path: str, names: list[str], python_library: str) -> dict[str, bytes]:
    """The strings in a library's code, among them the Python code that is run at the first call."""
    texts = {n: n.encode() + b"\0" for n in PYTHON_FUNCTIONS}
    places, version = _places(), sys.version_info[:2]
    run = _PYTHON.format(places=places, version=version, path=path, names=" ".join(names))
    texts["python"] = run.encode() + b"\0"
    texts["libpython"] = os.fsencode(python_library) + b"\0"
    texts["program"] = (sys.executable + "\0").encode("utf-32-le")
    texts["failed"] = f"gallette: cannot load {python_library}\n".encode()
    return texts


@functools.cache
def folder() -> Path:
    """The folder with all libraries, written if it does not exist."""
    architecture = platform.machine()
    if sys.platform != "linux" or architecture not in ARCHITECTURES:
        raise GalletteError(
            f"gallette's OpenGL libraries exist for Linux on {' and '.join(ARCHITECTURES)}, "
            f"not for {sys.platform} on {architecture}"
        )
    try:
        python_library = libpython()
    except GalletteError:
        python_library = "libpython-is-missing.so"  # still good inside Python
    made_from = hashlib.sha256(
        repr((_gl_names(), sys.executable, python_library, _places(), architecture)).encode()
    )
    # The sources stand for `exports()`, which imports them: that takes 0.2 s.
    for module in sorted(Path(__file__).parent.glob("*.py")):
        made_from.update(module.read_bytes())
    name = f"egl-{made_from.hexdigest()[:16]}"
    return filled_folder(
        usual_cache_home(),
        name,
        lambda to: _write(to, python_library, architecture),
        "OpenGL libraries",
    )


def _write(place: Path, python_library: str, architecture: str) -> None:
    if (place / "50_gallette.json").is_file():
        return
    for file, names in exports().items():
        texts = texts_of(str(place / file), names, python_library)
        _put(place / file, shared_library(architecture, file, names, texts))
        link = place / (file.partition(".so")[0] + ".so")
        with contextlib.suppress(FileExistsError):  # another process was quicker
            link.symlink_to(file)
    icd = {"file_format_version": "1.0.0", "ICD": {"library_path": str(place / VENDOR_LIBRARY)}}
    _put(place / "50_gallette.json", json.dumps(icd, indent=4).encode())


def _put(path: Path, content: bytes) -> None:
    with atomic_write(path, 0o700) as file:
        file.write(content)


def vendor_file() -> Path:
    """The value of `__EGL_VENDOR_LIBRARY_FILENAMES`."""
    return folder() / "50_gallette.json"
