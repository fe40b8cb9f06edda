"""The environment of a process that draws: this very package on its path, and a quiet native GL.

>>> child_environment("native")["EGL_PLATFORM"]
'surfaceless'
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

__all__ = ["child_environment"]


def _package_home() -> str:
    """The folder `gallette` was imported from, so that a child imports the same one."""
    spec = find_spec("gallette")
    assert spec is not None and spec.origin is not None
    return str(Path(spec.origin).resolve().parent.parent)


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
