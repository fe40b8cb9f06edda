"""Captures as benchmarks: the calls that a real program makes in a frame, repeated on any
driver.

A frame is the last one of the capture; all calls before it are made once. Python makes the calls
on every driver, through C pointers as the program did (`Repetition`). The time that this takes by
itself is in the time on `noop`, which draws nothing. The calls of the capture, which are many
objects, are left out when Python looks for garbage.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from gallette.capture import Replayer, open_capture
from gallette.capture.repeat import Repetition
from gallette.capture.story import Call, Capture, Event, Step
from gallette.compiler.errors import InputError

SUFFIX = ".gcap"

_ONCE = ("context", "release")
"""events that a frame made again does not repeat"""


def last_frame(path: Path) -> tuple[Capture, list[Call]]:
    """A capture and the calls of its last frame."""
    capture = open_capture(path)
    if not capture.calls:
        raise InputError(f"{path}: the capture has no calls")
    last = capture.calls[-1].frame
    return capture, [call for call in capture.calls if call.frame == last]


def captures_in(paths: Sequence[Path]) -> list[str]:
    """The captures that are meant: those of folders, and files."""
    found = [
        p for path in paths for p in (sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path])
    ]
    if not found:
        raise InputError(f"{paths[0]}: no captures (*{SUFFIX})")
    return [str(path) for path in found]


def capture_frame(path: Path, driver: str) -> tuple[Callable[[], None], dict[int, Any]]:
    """Make a capture's calls up to the last frame; returns the function that makes those of that
    frame, and the contexts.
    """
    capture, calls = last_frame(path)
    number = calls[0].number
    start = capture.steps.index(capture.calls[number - 1])
    replayer = Replayer(capture, driver)
    replayer.play(capture.steps[:start])
    later = [each for each in capture.events("context") if each.before > number]
    replayer.play(later)  # contexts that the frame creates
    # A frame begins in the context in which the last one began.
    steps: list[Step] = [Event("current", [capture.calls[number - 1].context], number)]
    steps += [
        step for step in capture.steps[start:] if isinstance(step, Call) or step.kind not in _ONCE
    ]

    gc.collect()
    gc.freeze()  # the capture's calls, which the program did not keep

    repetition = Repetition(replayer, steps)
    makes: Iterator[Callable[[], None]]
    makes = itertools.chain([repetition.first], itertools.repeat(repetition))

    def frame() -> None:
        next(makes)()
        replayer.gl.finish()
        if replayer.result.errors:
            raise InputError(f"{path}: {replayer.result.errors[0]}")

    return frame, replayer.contexts
