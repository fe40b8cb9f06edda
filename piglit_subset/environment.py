"""Child processes that draw: with this package on their path, without modules of the working
directory, and with a quiet native GL.

>>> child_environment("native")["EGL_PLATFORM"]
'surfaceless'
>>> child_command("gallette.render", "jit")[1:]
['-P', '-m', 'gallette.render', 'jit']
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path


def _package_home() -> str:
    """The folder `gallette` was imported from, so that a child imports the same one."""
    spec = find_spec("gallette")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).resolve().parent.parent)


def child_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of this package in `child_environment`.

    `python -m` would first search the working directory, which may contain other people's modules.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment(driver: str, jobs: int = 1) -> dict[str, str]:
    """A copy of the environment for one of `jobs` processes drawing on `driver`."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [_package_home(), env.get("PYTHONPATH", "")]))
    if driver.startswith("native"):
        env.setdefault("EGL_PLATFORM", "surfaceless")
        env.setdefault("LIBGL_ALWAYS_SOFTWARE", "1")
    if jobs > 1:  # no thread pools within pools
        env.setdefault("LP_NUM_THREADS", "0")
        env.setdefault("OMP_NUM_THREADS", "1")
        env.setdefault("OPENBLAS_NUM_THREADS", "1")
    return env
