"""Runs a program on gallette in a process of its own, and keeps its frames."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.egl.starting import prepared

_GRACE = 5.0
"""Seconds that a program has to end after it was asked to."""
_STEP = 0.05
"""Seconds between two looks at whether it has."""


@lazy_dataclass()
class Finished:
    """How a program ended, and the frames it showed."""

    returncode: int
    frames: list[Path] = field(default_factory=list)
    timed_out: bool = False
    stdout: str = ""
    stderr: str = ""


def run_program(
    program: Sequence[str],
    driver: str | None,
    *,
    folder: Path | None = None,
    frames: int = 0,
    size: tuple[int, int] | None = None,
    timeout: float | None = None,
    env: Mapping[str, str] | None = None,
    capture: bool = False,
    record: Path | None = None,
) -> Finished:
    """Run a program or script until it ends, has shown this many `frames`, or exceeds its time.

    Frames go to `folder`, if there is one, as `1.png`, `2.png` and so on. `capture` keeps the
    program's output, which otherwise goes to this process's. `record` makes a capture of its OpenGL
    calls.
    """
    save = ""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        save = os.path.join(str(folder).replace("%", "%%"), "%d.png")
    command, variables = prepared(
        list(program), driver, frames=frames, save=save, size=size, record=record
    )
    variables.update(env or {})
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams = (out, err) if capture else (None, None)
        child = subprocess.Popen(command, env=variables, stdout=streams[0], stderr=streams[1])
        status, late = _wait(child, timeout)
        finished = Finished(status, timed_out=late)
        if capture:
            for name, stream in (("stdout", out), ("stderr", err)):
                stream.seek(0)
                setattr(finished, name, stream.read().decode(errors="replace"))
    if folder is not None:
        found = [path for path in folder.iterdir() if re.fullmatch(r"\d+\.png", path.name)]
        finished.frames = sorted(found, key=lambda path: int(path.stem))
    return finished


def _wait(child: subprocess.Popen[bytes], timeout: float | None) -> tuple[int, bool]:
    """Wait for a process; returns its exit status, and whether it exceeded its time.

    Ctrl-C reaches the child as well: nothing is left running when this returns or raises. Scripts
    that start the program wait for it, so all processes that the child has started end with it.
    """
    late, started = False, list[int]()
    try:
        return child.wait(timeout), False
    except subprocess.TimeoutExpired:
        late, started = True, _started_by(child.pid)
        child.terminate()
        _signal(started, signal.SIGTERM)
        end = time.monotonic() + _GRACE
        while time.monotonic() < end and (child.poll() is None or _running().keys() & {*started}):
            time.sleep(_STEP)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        _signal(started, signal.SIGKILL)
    return child.returncode, late


def _started_by(process: int) -> list[int]:
    """The processes that a process has started, and those that they have, as far as they run."""
    children: dict[int, list[int]] = {}
    for each, parent in _running().items():
        children.setdefault(parent, []).append(each)
    found = [process]
    for each in found:
        found += children.get(each, [])
    return found[1:]


def _running() -> dict[int, int]:
    """The processes that run, with the one that has started each."""
    found: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            state, parent = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                found[int(path.parent.name)] = int(parent)
    return found


def _signal(processes: Sequence[int], number: signal.Signals) -> None:
    for each in processes:
        with contextlib.suppress(OSError):
            os.kill(each, number)
