"""Running a program: its lines on a context, and everything that can be seen of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import gallette
from gallette.drivers.common.draw import queue
from gallette.state_tracker import GL
from gl_diff.compare import Seen
from gl_diff.world import SIZE, World

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

    def __init__(self, gl: Any, seen: list[Seen]) -> None:
        self.gl = gl
        self.seen = seen
        self.draws = 0

    def _read(self, format: int, type: int, dtype: Any, width: int) -> Any:
        """Pixels as [y, x, channel]; nothing where the call failed."""
        size = SIZE * SIZE * width * np.dtype(dtype).itemsize
        raw = bytes(self.gl.read_pixels(0, 0, SIZE, SIZE, format, type))
        return np.frombuffer(raw if len(raw) == size else bytes(size), dtype).reshape(
            SIZE, SIZE, width
        )

    def color(self, index: int = 0, step: int = 1) -> None:
        """The bound read framebuffer's colour buffer, as floats or bytes by what it holds."""
        gl = self.gl
        gl.read_buffer(GL.COLOR_ATTACHMENT0 + index)
        pixels = self._read(GL.RGBA, GL.UNSIGNED_BYTE, np.uint8, 4)
        self.seen.append(Seen(f"colour {index}", pixels, self.draws, step))

    def depth(self) -> None:
        self.seen.append(Seen("depth", self._read(GL.DEPTH_COMPONENT, GL.FLOAT, np.float32, 1)))

    def stencil(self) -> None:
        values = self._read(GL.STENCIL_INDEX, GL.UNSIGNED_BYTE, np.uint8, 1)
        self.seen.append(Seen("stencil", values.astype(np.int32)))

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
        seen: list[Seen] = []
        try:
            _execute(gl, lines, seen)
        finally:
            try:
                gl.release()
            except Exception as error:
                seen.append(Seen("release", f"{type(error).__name__}: {error}"))
        return seen


def _execute(gl: Any, lines: Sequence[str], seen: list[Seen]) -> None:
    eyes = Eyes(gl, seen)
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
            if os.environ.get("GL_DIFF_RAISE"):
                raise
            eyes.seen.append(Seen(f"line {number}: {line}", f"{type(error).__name__}: {error}"))
        found = gl.get_error()
        if found:
            eyes.seen.append(Seen(f"error at line {number}: {line}", GL.name_of(found, "error")))
