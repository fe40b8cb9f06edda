"""Captures as benchmarks: the calls that a real program makes in a frame, repeated on any
driver.

A frame is the last one of the capture; all calls before it are made once. The calls of the frame go
through the functions that a C program would call, with arguments that are converted once, so that
little else than the driver's work is measured. Calls that return something, or that name what the
frame generates, are replayed as elsewhere. What our functions take by themselves is the time on
`noop`, which draws nothing. The calls of the capture, which are many objects, are left out when
Python looks for garbage.
"""

from __future__ import annotations

import ctypes
import gc
from collections import ChainMap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from gallette.capture import Replayer, open_capture
from gallette.capture.story import Call, Capture, Event, Step
from gallette.compiler.errors import InputError
from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.entry_points.marshal import c_arguments

SUFFIX = ".gcap"

_ONCE = ("context", "release")
"""events that a frame made again does not repeat"""

_Action = tuple[Callable[..., Any], Sequence[Any]]
"""a function and its arguments"""


def last_frame(path: Path) -> tuple[Capture, list[Call]]:
    """A capture and the calls of its last frame that draws: after it a program only cleans up."""
    capture = open_capture(path)
    if not capture.calls:
        raise InputError(f"{path}: the capture has no calls")
    drawing = [call.frame for call in capture.calls if call.draws]
    last = drawing[-1] if drawing else capture.calls[-1].frame
    return capture, [call for call in capture.calls if call.frame == last]


def captures_in(paths: Sequence[Path]) -> list[str]:
    """The captures that are meant: those of folders, and files."""
    found = [
        p for path in paths for p in (sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path])
    ]
    if not found:
        raise InputError(f"{paths[0]}: no captures (*{SUFFIX})")
    return [str(path) for path in found]


class _FrameReplayer(Replayer):
    """Makes the calls of a frame as often as wanted."""

    def prepare(self, steps: Sequence[Step]) -> list[_Action]:
        """Make the frame's calls twice, checked; returns what makes them from then on."""
        made = self._made = {}
        self._names = ChainMap(made, self._names)
        self.play(steps)
        self._alive: list[Any] = []
        self._entries: dict[tuple[int, str], Callable[..., Any]] = {}
        actions: list[_Action] = []
        with self._arena.guarding():
            for step in steps:
                if isinstance(step, Event):
                    self._event(step)
                    actions.append((self._event, (step,)))
                else:
                    actions += self._actions(step)
                    self._call(step)
        return actions

    def _actions(self, call: Call) -> list[_Action]:
        """What makes a call whose state is the present one."""
        if self.skips(call):
            return []
        again: list[_Action] = [(self._call, (call,))]
        function = call.function
        if not call.more.keys().isdisjoint(("o", "r", "w")) or function.name == "ProgramBinary":
            return again
        self._varies = False
        args = self._arguments(call)
        lent = self._arena.call_done()
        if self._varies or len(args) != len(function.params):
            return again
        converted, alive = c_arguments(function, args)
        self._alive += lent, alive
        loads: list[_Action] = [(self._arena.load, (call,))] if "m" in call.more else []
        return [*loads, (self._entry(function), converted)]

    def name(self, kind: str, recorded: int) -> int:
        self._varies = self._varies or self._key(kind, recorded) in self._made
        return super().name(kind, recorded)

    _varies = False
    _made: dict[Any, int] = {}

    def _entry(self, function: Function) -> Callable[..., Any]:
        """A function of the current context, as C calls it."""
        key = self._current, function.name
        if key not in self._entries:
            prototype = ctypes.CFUNCTYPE(function.restype, *function.argtypes)
            self._entries[key] = prototype(self.gl.load_opengl_function(function.c_name))
        return self._entries[key]


def capture_frame(path: Path, driver: str) -> tuple[Callable[[], None], dict[int, Any]]:
    """Make a capture's calls up to the last frame; returns the function that makes those of that
    frame, and the contexts.
    """
    capture, calls = last_frame(path)
    number, last = calls[0].number, calls[-1].number
    start, end = (capture.steps.index(capture.calls[n - 1]) for n in (number, last))
    replayer = _FrameReplayer(capture, driver)
    replayer.play(capture.steps[:start])
    later = [each for each in capture.events("context") if number < each.before <= last]
    replayer.play(later)  # contexts that the frame creates
    # A frame begins in the context in which the last one began.
    steps: list[Step] = [Event("current", [capture.calls[number - 1].context], number)]
    made = capture.steps[start : end + 1]
    steps += [step for step in made if isinstance(step, Call) or step.kind not in _ONCE]

    actions = replayer.prepare(steps)
    gc.collect()
    gc.freeze()  # the capture's calls, which the program did not keep

    def frame() -> None:
        for function, args in actions:
            function(*args)
        replayer.gl.finish()
        if replayer.result.errors:
            raise InputError(f"{path}: {replayer.result.errors[0]}")

    return frame, replayer.contexts
