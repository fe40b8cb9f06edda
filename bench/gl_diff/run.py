"""Running a program: its lines on a context, and everything that can be seen of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from gl_diff.compare import Seen
from gl_diff.world import SIZE, World

import gallette
from gallette.drivers.numpipe.draw import queue
from gallette.state_tracker import GL

__all__ = ["SIDES", "run"]

SIDES = ("queued", "immediate", "native")
_CODE: dict[str, Any] = {}


@contextmanager
def _queueing(side: str) -> Iterator[None]:
    """numpipe merges whatever it may, or nothing: both are the same GL."""
    before = queue.SMALL, queue.WORTH_MERGING
    if side == "queued":
        queue.WORTH_MERGING = 2
    elif side == "immediate":
        queue.SMALL = 0
    try:
        yield
    finally:
        queue.SMALL, queue.WORTH_MERGING = before


class Eyes:
    """The `see_*` functions of a program."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl
        self.seen: list[Seen] = []
        self.draws = 0

    def color(self, index: int = 0) -> None:
        """The bound read framebuffer's colour buffer, as floats or bytes by what it holds."""
        gl = self.gl
        gl.read_buffer(GL.COLOR_ATTACHMENT0 + index)
        raw = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
        pixels = np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE, 4)
        self.seen.append(Seen(f"colour {index}", pixels, self.draws))

    def depth(self) -> None:
        raw = self.gl.read_pixels(0, 0, SIZE, SIZE, GL.DEPTH_COMPONENT, GL.FLOAT)
        self.seen.append(Seen("depth", np.frombuffer(raw, np.float32).reshape(SIZE, SIZE)))

    def stencil(self) -> None:
        raw = self.gl.read_pixels(0, 0, SIZE, SIZE, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
        values = np.frombuffer(raw, np.uint8).reshape(SIZE, SIZE).astype(np.int32)
        self.seen.append(Seen("stencil", values))

    def query(self, name: int) -> None:
        self.seen.append(Seen("query", self.gl.get_query_objectuiv(name, GL.QUERY_RESULT)[0]))

    def buffer(self, target: int, count: int) -> None:
        raw = self.gl.get_buffer_sub_data(target, 0, count * 4)
        self.seen.append(Seen("buffer", np.frombuffer(bytes(raw), np.float32).copy()))

    def blended(self) -> None:
        """A draw whose result depends on what was rounded before."""
        self.draws += 1


def run(lines: Sequence[str], side: str, profile: str = "compat") -> list[Seen]:
    """Execute the lines; a line that fails in Python ends nothing, its error is what was seen."""
    driver = "native:llvmpipe" if side == "native" else "numpipe"
    with _queueing(side):
        gl: Any = gallette.create_context(driver, profile=profile, version=(3, 3))
        try:
            return _execute(gl, lines)
        finally:
            gl.release()


def _execute(gl: Any, lines: Sequence[str]) -> list[Seen]:
    eyes = Eyes(gl)
    names: dict[str, Any] = {"gl": gl, "GL": GL, "np": np, "w": World(gl), "see": eyes}
    for number, line in enumerate(lines):
        code = _CODE.get(line)
        if code is None:
            if len(_CODE) > 20000:
                _CODE.clear()
            code = _CODE[line] = compile(line, f"<line {number}>", "exec")
        try:
            exec(code, names)
        except NameError:
            continue  # the line that made it was taken out by the reducer
        except Exception as error:
            eyes.seen.append(Seen(f"line {number}: {line}", f"{type(error).__name__}: {error}"))
        found = gl.get_error()
        if found:
            eyes.seen.append(Seen(f"error at line {number}: {line}", GL.name_of(found, "error")))
    return eyes.seen
