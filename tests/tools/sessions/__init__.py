"""What commands print, as it stands in files: `NAME.txt` beside this, a session each.

    python -m tests.tools.sessions            run all sessions and write the files anew
    python -m tests.tools.sessions drivers    one of them

A line that begins with `$ ` is a command; what follows is what it printed, and how it ended unless
all was well. The commands of a session share a folder with what is in `files`. What differs
from run to run (seconds, places) is left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from gallette.cli import main as gallette

__all__ = ["FOLDER", "ROOT", "commands", "run", "sessions"]

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
_LEFT_OUT = (
    # Progress, which a slow machine prints where there is no terminal.
    (re.compile(r"^\S+ on \S+: \d+ of \d+.* left.*\n", re.M), ""),
    (re.compile(r"\b\d+(\.\d+)? ?(s|ms|us|min)\b"), "T"),
    (re.compile(r"\b\d+ kB\b"), "SIZE"),
    (re.compile(r"NumPy [\d.]+"), "NumPy N"),
)


def sessions() -> list[str]:
    """Their names."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def commands(name: str) -> list[str]:
    """The commands of a session."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line[2:] for line in lines if line.startswith("$ ")]


@contextlib.contextmanager
def _in(folder: Path) -> Iterator[None]:
    """A folder with files, and a terminal that is no terminal."""
    shutil.copytree(FOLDER / "files", folder, dirs_exist_ok=True)
    (folder / "tests").symlink_to(ROOT / "piglit_subset" / "spec")
    (folder / "kernels.spvasm").symlink_to(ROOT / "tests" / "kernels" / "kernels.spvasm")
    np.save(folder / "three.npy", np.array([1.5, 2.5, -3.0], np.float32))
    set_here = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "GALLETTE_CACHE": "off"}
    with mock.patch.dict(os.environ, set_here), contextlib.chdir(folder):
        os.environ.pop("GALLETTE_CONFIG", None)  # the settings of all tests
        yield


def run(lines: list[str]) -> Iterator[str]:
    """What a session's commands print, line by line, the commands as well."""
    with tempfile.TemporaryDirectory() as place, _in(Path(place)):
        for line in lines:
            words = shlex.split(line)
            assert words[0] == "gallette"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                try:
                    status = gallette(words[1:])
                except SystemExit as end:
                    status = int(end.code or 0)
            text = printed.getvalue().replace(place, "HERE").replace(str(ROOT), "CHECKOUT")
            for pattern, instead in _LEFT_OUT:
                text = pattern.sub(instead, text)
            yield f"$ {line}"
            yield from (each.rstrip() for each in text.splitlines())
            if status:
                yield f"[ended with {status}]"


def main() -> None:
    """Write files anew."""
    for name in sys.argv[1:] or sessions():
        text = "\n".join(run(commands(name)))
        (FOLDER / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
