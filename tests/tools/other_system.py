"""Runs a module or script as if this were another system: `other_system.py win32 -m gallette ...`.

What that system's Python lacks is taken away once the standard library and other people's packages
are imported: they have their own ways there. What is left is what gallette itself asks for.
"""

from __future__ import annotations

import asyncio  # noqa: F401
import ctypes
import http.server  # noqa: F401
import importlib.util
import io
import mmap
import multiprocessing  # noqa: F401
import os
import platform
import runpy
import signal
import subprocess  # noqa: F401
import sys
import sysconfig
import tempfile  # noqa: F401
import zipfile  # noqa: F401
from types import ModuleType
from typing import Any

LACKS: dict[str, dict[Any, str]] = {
    "win32": {
        os: "fchmod fork getpgid geteuid getuid killpg mkfifo O_DIRECTORY O_NOFOLLOW posix_spawn "
        "register_at_fork sched_getaffinity setsid",
        mmap: "MADV_HUGEPAGE MAP_ANONYMOUS MAP_PRIVATE MAP_SHARED PROT_EXEC PROT_READ PROT_WRITE",
        signal: "alarm ITIMER_PROF pthread_sigmask setitimer SIGALRM SIGHUP SIGKILL SIGPIPE "
        "SIGPROF SIGQUIT SIGUSR1",
    },
    "darwin": {os: "memfd_create posix_fadvise sched_getaffinity", mmap: "MADV_HUGEPAGE"},
}
MODULES = {"win32": ("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty")}
NAMES = {"win32": ("Windows", "AMD64"), "darwin": ("Darwin", "arm64")}


def become(system: str) -> None:
    """Let this process look like another system."""
    for package in ("llvmlite.binding", "moderngl", "numpy", "PIL.Image", "pytest", "rich.console"):
        if importlib.util.find_spec(package.partition(".")[0]) is not None:
            importlib.import_module(package)
    setattr(io, "_WindowsConsoleIO", type("_WindowsConsoleIO", (), {}))  # noqa: B010 - for pytest
    sysconfig.get_config_vars()
    for module, names in LACKS[system].items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in MODULES.get(system, ()):
        sys.modules[name] = None  # type: ignore[assignment]
    if system == "win32":
        msvcrt = ModuleType("msvcrt")
        vars(msvcrt).update(LK_NBLCK=2, locking=lambda file, mode, count: None)
        sys.modules["msvcrt"] = msvcrt
        library: Any = ctypes.CDLL

        def load(name: str | None, *args: Any, **kwargs: Any) -> Any:
            if name is None:
                raise TypeError("LoadLibrary() argument 1 must be str, not None")
            return library(name, *args, **kwargs)

        ctypes.CDLL = load  # type: ignore[assignment, misc]
    sys.platform = system
    platform.system = lambda: NAMES[system][0]
    platform.machine = lambda: NAMES[system][1]


if __name__ == "__main__":
    _, system, *sys.argv = sys.argv
    become(system)
    if sys.argv[0] == "-m":
        sys.argv.pop(0)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
