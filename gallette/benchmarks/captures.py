"""Captures as benchmarks: the calls that a real program makes in a frame, repeated on any
driver.

A frame is the last one of the capture; all calls before it are made once. Python makes the calls
on every driver. The time that this takes by itself is the time on `noop`, which draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gallette.capture import Replayer, open_capture
from gallette.capture.story import Call, Event, Step
from gallette.compiler.errors import InputError

__all__ = ["SUFFIX", "capture_frame"]

SUFFIX = ".gcap"

_ONCE = ("context", "release")
"""events that a frame made again does not repeat"""


def capture_frame(path: Path, driver: str) -> Callable[[], None]:
    """Make a capture's calls up to the last frame; returns the function that makes those of that
    frame.
    """
    capture = open_capture(path)
    if not capture.calls:
        raise InputError(f"{path}: the capture has no calls")
    last = capture.calls[-1].frame
    number = next(c.number for c in capture.calls if c.frame == last)
    start = capture.steps.index(capture.calls[number - 1])
    replayer = Replayer(capture, driver)
    replayer.play(capture.steps[:start])
    # A frame begins in the context in which the last one began.
    steps: list[Step] = [Event("current", [capture.calls[number - 1].context], number)]
    steps += [
        step for step in capture.steps[start:] if isinstance(step, Call) or step.kind not in _ONCE
    ]

    def frame() -> None:
        replayer.play(steps)
        replayer.gl.finish()
        if replayer.result.errors:
            raise InputError(f"{path}: {replayer.result.errors[0]}")

    return frame
