"""Which functions run for the program of docs/reading.md: `python -m tests.tools.tour` prints them.

The page's first Python block defines `build`, `draw` and `read`. They are called once unwatched, so
that tables are filled, and then again under a profile hook, each draw at once (GALLETTE_STREAM=off)
and without caches of compiled shaders.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tests.tools.documents import ROOT, blocks

_SETTINGS = {"GALLETTE_STREAM": "off", "GALLETTE_CACHE": "off", "GALLETTE_DEBUG": ""}
PAGE = ROOT / "docs" / "reading.md"
STEPS = ("build", "draw", "draw again", "read")
_IS_FUNCTION = 1  # CO_OPTIMIZED: class bodies and modules do not have it

Run = dict[str, list[str]]
"""Files, and the qualified names of the functions that ran in them."""


def _watched(work: Callable[[], Any]) -> Run:
    found: dict[str, set[str]] = {}

    def hook(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & _IS_FUNCTION:
            path = os.path.realpath(code.co_filename)
            ours = path.startswith(f"{ROOT}/") and "site-packages" not in path
            if ours and os.path.isfile(path):  # generated code is no file
                name = code.co_qualname.split(".<locals>")[0]
                found.setdefault(os.path.relpath(path, ROOT), set()).add(name)

    sys.setprofile(hook)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {path: sorted(names) for path, names in found.items()}


def _trace() -> dict[str, Run]:
    os.environ.update(_SETTINGS)
    [program] = [b for b in blocks("python") if b.page == PAGE and b.number == 0]
    names: dict[str, Any] = {}
    exec(compile(program.text, program.name, "exec"), names)
    names["FRAGMENT"] += "// a text that was not compiled before\n"
    steps = (names["build"], names["draw"], names["draw"], names["read"])
    return {name: _watched(step) for name, step in zip(STEPS, steps, strict=True)}


def functions_that_run() -> dict[str, Run]:
    """Trace the program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.tools.tour"],
        cwd=ROOT,
        env={**os.environ, **_SETTINGS, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Run] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(_trace(), indent=1))
