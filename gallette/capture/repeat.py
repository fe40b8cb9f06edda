"""Makes some of a capture's calls again and again, as fast as the program made them.

The program called C pointers with arguments that it had at hand. So do repetitions, on every
driver: from the second time on, when the state before each call is the same as the last time,
arguments are kept as C passes them. What is left to do for a call is to look up the names of
objects, and to store the client arrays that it reads.

Calls with results, texts or lists of names are made by the replayer each time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from gallette.capture.arguments import object_kind
from gallette.capture.replay import Replayer
from gallette.capture.story import Call, Event, Step
from gallette.state_tracker.entry_points.functions import Kind
from gallette.state_tracker.entry_points.marshal import CCall
from gallette.state_tracker.stream import ring

_ELSEWHERE = ("LinkProgram", "ProgramBinary", "CopyImageSubData", "ObjectLabel")
"""Functions for which the replayer does more than to pass on their arguments."""
_KEPT = frozenset(("m", "us"))  # what may be recorded beside the arguments of calls that are kept

Made = tuple[Callable[..., object], tuple[Any, ...]]


class Repetition:
    """Makes the calls of these steps, which start from the state that they leave behind."""

    def __init__(self, replayer: Replayer, steps: Sequence[Step]):
        self._replayer, self._steps = replayer, steps
        self._kept: list[Made] | None = None
        self._alive: list[Any] = []  # memory that arguments point to
        self._links = any(isinstance(s, Call) and s.name in _ELSEWHERE[:2] for s in steps)

    def first(self) -> None:
        """Make the calls for the first time."""
        self._replayer.play(self._steps)

    def __call__(self) -> None:
        """Make the calls another time."""
        if self._kept is None:
            self._kept = kept = []
            for step in self._steps:
                made = self._made(step)
                if made is not None:
                    kept.append(made)
                    made[0](*made[1])
        else:
            for function, arguments in self._kept:
                function(*arguments)

    def _made(self, step: Step) -> Made | None:
        """How a step is made from now on; None if it does nothing."""
        replayer = self._replayer
        if isinstance(step, Event):
            return self._replayed, (step,)
        if not replayer.makes(step):
            return None
        if not self._is_kept(step):
            return self._replayed, (step,)
        address = replayer.gl.load_opengl_function(step.function.c_name)
        if not address:
            return self._replayed, (step,)
        function, call = step.function, CCall()
        entry = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(address)
        places: list[tuple[int, Any]] = []
        with replayer.passing_addresses() as memory:
            arguments = replayer.arguments(step)
            for place, (param, value) in enumerate(zip(function.params, arguments, strict=True)):
                call.add(param, value)
                kind = object_kind(step.name, param.name, param.type)
                if kind:
                    places.append((place, replayer.key(kind, step.args[place])))
        self._alive += (*memory, *call.alive)
        made: Made = entry, tuple(call.arguments)
        if places:
            made = self._named, (*made, places)
        if step.more.get("m"):
            made = self._loaded, (step, *made)
        if step.name == "UseProgram":
            made = self._using, (step, *made)
        return made

    def _is_kept(self, call: Call) -> bool:
        """Whether all that changes between repetitions of a call are names and client arrays."""
        if call.name.startswith(_ELSEWHERE) or call.more.keys() - _KEPT:
            return False
        for param, value in zip(call.function.params, call.args, strict=False):
            if param.kind not in (Kind.VALUE, Kind.POINTER):
                return False
            if isinstance(value, list) and object_kind(call.name, param.name, param.type):
                return False
            if self._links and param.name in ("location", "uniformBlockIndex", "storageBlockIndex"):
                return False
        return len(call.args) == len(call.function.params)

    def _replayed(self, step: Step) -> None:
        ring.flush()  # commands read memory of their own, which the replayer would not allow
        self._replayer.play([step])

    def _named(self, entry: Any, arguments: tuple[Any, ...], places: Any) -> None:
        """Make a call with the present names of the objects at these places."""
        known, given = self._replayer.names, list(arguments)
        for place, key in places:
            given[place] = known.get(key, key[2])
        entry(*given)

    def _loaded(self, call: Call, function: Any, arguments: tuple[Any, ...]) -> None:
        self._replayer.load(call)
        function(*arguments)

    def _using(self, call: Call, function: Any, arguments: tuple[Any, ...]) -> None:
        self._replayer.uses(call.args[0])
        function(*arguments)
