"""Run a Python script with gallette as its OpenGL: `python launch.py SCRIPT ARGS`.

`-m MODULE` and `-c CODE` are accepted instead of a script. The script finds modules where Python
itself would look for them, and gallette even if it is not installed.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib.util import find_spec


def main() -> None:
    if find_spec("gallette") is None:
        sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(__file__))))
    from gallette.egl.frames import begin
    from gallette.egl.install import install

    install()
    begin()
    sys.argv = sys.argv[1:]
    if sys.argv[0] == "-m":
        sys.argv = sys.argv[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    if sys.argv[0] == "-c":
        code = sys.argv[1]
        sys.argv = ["-c", *sys.argv[2:]]
        sys.path.insert(0, "")
        exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        return
    sys.path.insert(0, os.path.dirname(os.path.realpath(sys.argv[0])))
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
