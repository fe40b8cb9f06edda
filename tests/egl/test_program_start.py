"""How programs are started on gallette, and the code of the libraries that they load.

The machine code stands in `code.txt`, label by label, as it was when programs of both machines were
seen to run (`test_hosts.py` runs the one of this machine, `test_aarch64.py` an interpreter of the
other): `python -m tests.egl.test_program_start` writes it anew.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gallette import cli
from gallette.egl import install, launch
from gallette.egl.libraries import folder, vendor_file
from gallette.egl.machine import ARCHITECTURES, IMPORTS, assemble

CODE = Path(__file__).with_name("code.txt")
BASE = 0x40_1000


def outside() -> dict[str, int]:
    """Where a library's data would lie."""
    names = ["table", "once", *(f"slot{i}" for i in range(3)), *(f"got_{n}" for n in IMPORTS)]
    texts = ["libpython", "program", "python", "failed", "Py_IsInitialized", "Py_SetProgramName",
             "Py_InitializeEx", "PyGILState_Ensure", "PyRun_SimpleStringFlags",
             "PyEval_SaveThread", "PyGILState_Release", "PyInterpreterState_Main"]  # fmt: skip
    places = {name: 0x60_2000 + 8 * i for i, name in enumerate(names)}
    places |= {f"text_{name}": 0x60_5008 + 0x118 * i for i, name in enumerate(texts)}
    return places | {"length_failed": 77}


def listing() -> Iterator[str]:
    for architecture in ARCHITECTURES:
        code = assemble(architecture, BASE, outside(), 3)
        data = code.finish()
        labels = sorted(code.labels.items(), key=lambda item: (item[1], item[0]))
        ends = [at for _, at in labels[1:]] + [BASE + len(data)]
        yield f"== {architecture}"
        for (name, at), end in zip(labels, ends, strict=True):
            yield f"{name}: {data[at - BASE : end - BASE].hex()}"


def test_code_is_what_was_seen_to_run() -> None:
    assert list(listing()) == CODE.read_text().splitlines()


# -- programs


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What `launch` would run, without making this process's libraries ours."""
    seen: list[Any] = []
    monkeypatch.setattr(install, "install", lambda: seen.append("installed"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    return seen


def test_scripts_modules_and_texts_are_run(
    started: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    script = tmp_path / "script.py"
    text = "import sys\nprint(__name__, sys.argv, sys.path[0])\n"
    script.write_text(text)
    (tmp_path / "a_module_of_tests.py").write_text(text)
    monkeypatch.setattr(sys, "argv", ["launch", str(script), "1", "2"])
    launch.main()
    told = capsys.readouterr().out
    assert told == f"__main__ {[str(script), '1', '2']} {tmp_path}\n"
    monkeypatch.setattr(sys, "argv", ["launch", "-c", "import sys; print(__name__, sys.argv)", "x"])
    launch.main()
    assert capsys.readouterr().out == "__main__ ['-c', 'x']\n"
    monkeypatch.setattr(sys, "argv", ["launch", "-m", "a_module_of_tests", "7"])
    launch.main()
    told = capsys.readouterr().out
    assert told.startswith(f"__main__ ['{tmp_path / 'a_module_of_tests.py'}', '7']")
    assert started == ["installed"] * 3


def test_the_environment_of_programs() -> None:
    found: dict[str, str] = {}
    install.environment(found)
    ours = str(folder())
    wanted = {
        "PYOPENGL_PLATFORM": "egl", "SDL_VIDEODRIVER": "offscreen", "PYGLET_HEADLESS": "1",
        "SDL_VIDEO_DRIVER": "offscreen", "LIBGL_ALWAYS_SOFTWARE": "1", "MUJOCO_GL": "egl",
        "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow", "VISPY_APP_BACKEND": "egl",
        "GLCONTEXT_LINUX_LIBGL": "libGL.so.1", "GLCONTEXT_LINUX_LIBEGL": "libEGL.so.1",
        "EGL_PLATFORM": "surfaceless", "LD_LIBRARY_PATH": ours,
        "__EGL_VENDOR_LIBRARY_FILENAMES": str(vendor_file()),
    }  # fmt: skip
    assert found == wanted
    install.environment(found, "jit")
    assert found == wanted | {"GALLETTE_DRIVER": "jit"}  # nothing stands there twice
    chosen = {"MUJOCO_GL": "osmesa", "DISPLAY": ":1", "LD_LIBRARY_PATH": "/a:/b"}
    install.environment(chosen)
    assert chosen["MUJOCO_GL"] == "osmesa"
    for name in ("EGL_PLATFORM", "SDL_VIDEODRIVER", "PYGLET_HEADLESS", "VISPY_APP_BACKEND"):
        assert name not in chosen  # there are windows
    windows = {"WAYLAND_DISPLAY": "wayland-0"}
    install.environment(windows)
    assert "SDL_VIDEODRIVER" not in windows and windows["LIBGL_ALWAYS_SOFTWARE"] == "1"
    assert chosen["LD_LIBRARY_PATH"] == f"{ours}:/a:/b"
    behind = {"LD_LIBRARY_PATH": f"/a:{ours}"}
    install.environment(behind, python=True)
    assert behind["LD_LIBRARY_PATH"] == f"/a:{ours}"
    assert behind["QSG_RENDER_LOOP"] == "basic" and "QSG_RENDER_LOOP" not in chosen


def test_libraries_of_this_process_are_found_by_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[Any] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name, mode: loaded.append((name, mode)) or name)
    monkeypatch.setattr(ctypes.util, "find_library", lambda name: f"lib{name}.so")
    monkeypatch.setattr(install, "_KEPT", [])
    monkeypatch.setattr(install, "_standalone_contexts", lambda: loaded.append("contexts"))
    environment: dict[str, str] = {}
    monkeypatch.setattr(os, "environ", environment)
    install.install("simd")
    install.install()
    files = (
        "GL.so.1",
        "GLX.so.0",
        "OpenGL.so.0",
        "EGL.so.1",
        "GLESv2.so.2",
        "GLESv1_CM.so.1",
        "OSMesa.so.8",
    )
    assert loaded == [
        *((str(folder() / f"lib{name}"), ctypes.RTLD_GLOBAL) for name in files), "contexts",
    ]  # fmt: skip
    assert environment["GALLETTE_DRIVER"] == "simd"
    assert ctypes.util.find_library("GL") == "libGL.so.1"
    assert ctypes.util.find_library("OSMesa") == "libOSMesa.so.8"
    assert ctypes.util.find_library("m") == "libm.so"


@pytest.mark.parametrize("display", ["", ":0"])
def test_standalone_contexts_need_no_window_system(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    glcontext = pytest.importorskip("glcontext")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setattr(glcontext, "default_backend", "untouched")
    monkeypatch.setattr(glcontext, "get_backend_by_name", lambda name: f"backend {name}")
    install._standalone_contexts()
    if display:
        assert glcontext.default_backend == "untouched"
    else:
        assert glcontext.default_backend() == "backend egl"


def test_functions_have_addresses() -> None:
    names = "glClear", "eglInitialize", "eglCreateSync", "OSMesaMakeCurrent", "nothing", "glNothing"
    found = [bool(install.get_proc_address(name)) for name in names]
    assert found == [True] * 4 + [False] * 2
    import gallette

    assert gallette.get_proc_address("glClear") == install.get_proc_address("glClear")


# -- the command line


def test_interrupts_and_closed_pipes_end_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ended(error: BaseException) -> Any:
        def run(arguments: Any) -> int:
            raise error

        return run

    monkeypatch.setattr(cli, "execute", ended(KeyboardInterrupt()))
    assert cli.main([]) == 130
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "interrupted\n")
    replaced: list[Any] = []
    monkeypatch.setattr(os, "open", lambda path, flags: (path, flags))
    monkeypatch.setattr(os, "dup2", lambda *args: replaced.append(args))
    monkeypatch.setattr(cli, "execute", ended(BrokenPipeError()))
    assert cli.main([]) == 0
    assert replaced == [((os.devnull, os.O_WRONLY), 1)]


def main() -> None:
    """Write the file."""
    CODE.write_text("\n".join(listing()) + "\n")


if __name__ == "__main__":
    main()
