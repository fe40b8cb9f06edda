"""Other people's libraries, unmodified, on gallette: each draws what it draws on llvmpipe.

A client is a script in `programs/` that is given a file name and saves its picture there. It runs
once under `gallette run` and once on the machine's own OpenGL. `make clients` runs all of them
(`GALLETTE_REQUIRE_CLIENTS=1`), `make test` those that want what gallette itself is installed with.
`GALLETTE_DRIVER` chooses the driver: `make clients DRIVER=vulkan`.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

PROGRAMS = Path(__file__).parent / "programs"
DRIVER = os.environ.get("GALLETTE_DRIVER", "numpipe")
NATIVE = {
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
    "PYOPENGL_PLATFORM": "egl",
    "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow",
    "SDL_VIDEODRIVER": "offscreen",
    "MUJOCO_GL": "egl",
}


@dataclass(frozen=True)
class Client:
    """A program, the packages it imports, and how far its picture may be from llvmpipe's."""

    name: str
    packages: tuple[str, ...]
    tolerance: int = 2  # of 255, for all but a thousandth of the pixels
    arguments: tuple[str, ...] = ()
    optional: bool = False  # not in the extra: it pins old packages, or must be built
    libraries: tuple[str, ...] = ()  # shared ones that the reference needs


CLIENTS = (
    Client("moderngl_egl", ("moderngl",)),
    Client("pyopengl_egl", ("OpenGL",)),
    Client("pyopengl_egl", ("OpenGL",), 2, ("glu",)),
    Client("pyopengl_contexts", ("OpenGL",)),
    Client("pyglet_headless", ("pyglet",)),
    Client("moderngl_window_headless", ("moderngl_window",)),
    Client("mixed", ("moderngl", "OpenGL")),
    Client("pygame_offscreen", ("pygame",)),
    Client("skia_surface", ("skia",)),
    Client("vtk_sphere", ("vtk",)),
    Client("pyvista_plot", ("pyvista",)),
    Client("zengl_headless", ("zengl", "glcontext")),
    Client("vispy_markers", ("vispy",)),
    Client("vispy_scene", ("vispy",)),
    Client("arcade_headless", ("arcade",)),
    Client("imgui_bundle_window", ("imgui_bundle", "moderngl")),
    Client("panda3d_cubes", ("panda3d",)),
    Client("glfw_null", ("glfw", "moderngl"), libraries=("OSMesa",)),
    # Built from source: glumpy wants Cython and no build isolation, manimgl the headers of Pango.
    Client("glumpy_points", ("glumpy", "OpenGL"), optional=True),
    Client("manimgl_shapes", ("manimlib",), optional=True),
    Client("pyrender_scene", ("pyrender", "trimesh"), optional=True),
    # Its lit spheres are quads, and which diagonal cuts a quad is the implementation's choice.
    Client("mujoco_scene", ("mujoco",), 16),
)


OWN = {"moderngl"}
"""packages that gallette depends on"""


def draw(client: Client, picture: Path, launcher: list[str], extra: dict[str, str]) -> None:
    kept = ("LD_LIBRARY_PATH", "EGL", "__EGL", "PYOPENGL", "SDL", "GALLETTE", "DISPLAY")
    env = {k: v for k, v in os.environ.items() if not k.startswith(kept)} | extra
    script = str(PROGRAMS / f"{client.name}.py")
    done = subprocess.run(
        [sys.executable, *launcher, script, str(picture), *client.arguments],
        env=env, capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def load(picture: Path) -> npt.NDArray[np.int16]:
    return np.asarray(Image.open(picture).convert("RGBA")).astype(np.int16)


def missing(client: Client, what: str) -> None:
    if not client.optional:
        pytest.fail(f"required here, and missing: {what}")
    pytest.skip(f"needs {what}")


@pytest.mark.native
@pytest.mark.parametrize("client", CLIENTS, ids=lambda c: "-".join((c.name, *c.arguments)))
def test_client_draws_what_it_draws_on_llvmpipe(client: Client, tmp_path: Path) -> None:
    if os.environ.get("GALLETTE_REQUIRE_CLIENTS") != "1" and not OWN.issuperset(client.packages):
        pytest.skip("`make clients` runs it")
    for package in client.packages:
        if importlib.util.find_spec(package) is None:
            missing(client, f"{package} (pip install gallette[clients])")
    for library in client.libraries:
        if ctypes.util.find_library(library) is None:
            pytest.skip(f"needs lib{library} for the reference")
    ours, native = tmp_path / "ours.png", tmp_path / "native.png"
    draw(client, ours, ["-m", "gallette", "run", "--driver", DRIVER], {})
    draw(client, native, [], NATIVE)
    found, expected = load(ours), load(native)
    assert found.shape == expected.shape
    assert len(np.unique(expected.reshape(-1, 4), axis=0)) > 1, "the reference is empty"
    difference = np.abs(found - expected).max(axis=-1)
    wrong = int((difference > client.tolerance).sum())
    assert wrong <= 0.001 * difference.size, f"{wrong} of {difference.size} pixels differ"
