"""Materials that C set between recorded draws: each draw has the values of its time."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.shading.builtin_uniforms import Bytes, fill
from gallette.state_tracker.stream.calls import CALLS, COMMAND_BYTES, Ints

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.lighting import Material
    from gallette.state_tracker.shading.programs import Executable

    Materials = Sequence[Material]  # of the front, of the back

SETS_MATERIAL = np.array([call.sets_material for call in CALLS])


class RecordedMaterials:
    """The materials of some draws."""

    def __init__(self, ctx: Context, rows: Ints, made: Ints) -> None:
        """`rows`: the calls that set materials; `made`: how many of them are made before each
        draw. They are made now.
        """
        self._ctx = ctx
        rows = np.ascontiguousarray(rows)
        commands, address = rows.data.cast("B"), rows.ctypes.data
        needed = set(made.tolist())
        known: dict[Any, int] = {}
        self._states: list[Materials] = []
        which = np.zeros(len(rows) + 1, np.int64)
        for count in range(len(rows) + 1):
            if count:
                call, at = CALLS[int(rows[count - 1, 0])], (count - 1) * COMMAND_BYTES
                ctx.stream.perform(call, call.arguments(commands, at, address))
            if count in needed or count == len(rows):
                state = [copy.copy(each) for each in ctx.lighting.materials]
                which[count] = known.setdefault(repr(state), len(known))
                if len(known) > len(self._states):
                    self._states.append(state)
        self._which, self._last = which[made], int(which[-1])

    def draw_with(self, number: int) -> None:
        """Set the materials of one draw."""
        self._set(int(self._which[number]))

    def finish(self) -> None:
        """Set the materials to what they are after all calls."""
        self._set(self._last)

    def _set(self, state: int) -> None:
        self._ctx.lighting.materials = [copy.copy(each) for each in self._states[state]]
        self._ctx.dirty |= Dirty.VALUES

    def blocks(self, vertex: Executable) -> Bytes:
        """The uniforms of a program for each draw, but for those that follow from matrices."""
        blocks = []
        for state in range(len(self._states)):
            self._set(state)
            fill(self._ctx, vertex, 2)
            blocks.append(np.frombuffer(bytes(vertex.uniforms.data), np.uint8))
        found: Bytes = np.array(blocks)[self._which]
        return found
