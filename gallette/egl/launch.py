"""Run a Python script with gallette as its OpenGL: `python -m gallette.egl.launch SCRIPT ARGS`."""

from __future__ import annotations

import os
import runpy
import sys

__all__: list[str] = []


def main() -> None:
    from gallette.egl.install import install

    install()
    sys.argv = sys.argv[1:]
    if sys.argv[0] == "-m":
        sys.argv = sys.argv[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    if sys.argv[0] == "-c":
        code = sys.argv[1]
        sys.argv = ["-c", *sys.argv[2:]]
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        return
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
