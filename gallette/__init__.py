"""The public face of gallette: command line, public API, reports, lessons.

    import gallette, moderngl
    ctx = moderngl.create_context(standalone=True, context=gallette.moderngl_context())

`moderngl_context` makes a GL context, gallette's or the machine's, as the object that moderngl
takes; `create_context` is the same with the GL functions as Python methods. `trace`, `replay`,
`diff`, `pixel`, `debug`, `explain`, `compare_images` and `show` are what the command line does, for
scripts and notebooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gallette.notebook import (
        Image,
        compare_images,
        debug,
        diff,
        draw_scene,
        explain,
        pixel,
        replay,
        show,
        trace,
    )
    from gallette.state_tracker import GLInterface

__all__ = [
    "Image",
    "__version__",
    "compare_images",
    "create_context",
    "debug",
    "default_driver",
    "diff",
    "draw_scene",
    "explain",
    "get_proc_address",
    "install",
    "library_folder",
    "mark",
    "moderngl_context",
    "pixel",
    "pyopengl",
    "quickest_driver",
    "replay",
    "show",
    "trace",
]

__version__ = "0.1.0"


def __dir__() -> list[str]:
    """All public names, also those that are imported when they are first used."""
    return sorted({*globals(), *__all__})


def __getattr__(name: str) -> Any:
    """Import names of `gallette.notebook` on first use."""
    if name in __all__:
        from gallette import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module 'gallette' has no attribute {name!r}")


def default_driver() -> str:
    """The driver to use when none is named: `GALLETTE_DRIVER`, else numpipe."""
    import os

    return os.environ.get("GALLETTE_DRIVER") or "numpipe"


def quickest_driver() -> str:
    """The driver for programs that show pictures: `GALLETTE_DRIVER`, else jit if llvmlite is
    installed, else numpipe.
    """
    import os
    from importlib.util import find_spec

    return os.environ.get("GALLETTE_DRIVER") or ("jit" if find_spec("llvmlite") else "numpipe")


def create_context(
    driver: str | None = None,
    *,
    profile: str = "core",
    version: tuple[int, int] = (3, 3),
    size: tuple[int, int] | None = None,
) -> GLInterface:
    """A current GL context of a driver ("numpipe", "native", "native:softpipe", ...)."""
    import os

    from gallette.state_tracker import create_context as create

    if os.environ.get("GALLETTE_CAPTURE"):
        from gallette.capture.recorder import from_environment

        from_environment()
    return create(driver or default_driver(), profile=profile, version=version, size=size)


def moderngl_context(
    driver: str | None = None,
    *,
    profile: str = "core",
    version: tuple[int, int] = (3, 3),
) -> GLInterface:
    """The `context` argument of `moderngl.create_context(standalone=True, context=...)`."""
    return create_context(driver, profile=profile, version=version)


def mark(name: str, framebuffer: Any) -> None:
    """Mark a picture in a script: `gallette diff` compares the contents of this moderngl
    framebuffer.
    """
    from gallette.scripts import mark as do

    do(name, framebuffer)


def install(driver: str | None = None) -> None:
    """Make this process's libraries find gallette when they look for OpenGL."""
    from gallette.egl.install import install as do

    do(driver)


def pyopengl(driver: str | None = None) -> None:
    """Make PyOpenGL use gallette; to be called before its first import."""
    from gallette.egl.install import pyopengl as do

    do(driver)


def library_folder() -> str:
    """The folder with gallette's libGL.so, libEGL.so and so on, to link a program with (Linux)."""
    from gallette.egl.libraries import folder

    return str(folder())


def get_proc_address(name: str) -> int:
    """The address of a C function of OpenGL or EGL, for the calling thread's current context."""
    from gallette.egl.install import get_proc_address as find

    return find(name)
