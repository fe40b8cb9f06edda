"""Materials that C set between recorded draws: each draw has the values of its time."""

from __future__ import annotations

import copy
import marshal
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.registry import implemented
from gallette.state_tracker.shading.builtin_uniforms import Bytes, fill
from gallette.state_tracker.stream.calls import CALLS, COMMAND_BYTES, Ints

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.lighting import Material
    from gallette.state_tracker.shading.programs import Executable

SETS_MATERIAL = np.array([call.sets_material for call in CALLS])


class RecordedMaterials:
    """The materials of some draws."""

    def __init__(self, ctx: Context, rows: Ints, made: Ints) -> None:
        """`rows`: the calls that set materials; `made`: how many of them are made before each
        draw. They are made now; if one is an error, that is raised, and none has an effect.
        """
        self._ctx, before = ctx, ctx.lighting.materials
        ctx.lighting.materials = _copied(before)
        try:
            self._make(np.ascontiguousarray(rows), made)
        except GLError:
            ctx.lighting.materials = before
            raise

    def _make(self, rows: Ints, made: Ints) -> None:
        commands, address = rows.data.cast("B"), rows.ctypes.data
        needed = {*made.tolist(), len(rows)}
        known: dict[Any, int] = {}
        self._states: list[list[Material]] = []  # each: of the front, of the back
        which = np.zeros(len(rows) + 1, np.int64)
        for count in range(len(rows) + 1):
            if count:
                call, at = CALLS[int(rows[count - 1, 0])], (count - 1) * COMMAND_BYTES
                implemented(call.name)(self._ctx, *call.arguments(commands, at, address))
            if count in needed:
                state = _copied(self._ctx.lighting.materials)
                values = marshal.dumps([each.values for each in state], 2)
                which[count] = known.setdefault(values, len(known))
                if len(known) > len(self._states):
                    self._states.append(state)
        self._which, self._last = which[made], int(which[-1])

    def draw_with(self, number: int) -> None:
        """Set the materials of one draw."""
        self._set(int(self._which[number]))

    def finish(self) -> None:
        """Set the materials to what they are after all calls, and after those of colours."""
        self._set(self._last)
        self._ctx.lighting.track_color(self._ctx)

    def _set(self, state: int) -> None:
        self._ctx.lighting.materials = _copied(self._states[state])
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


def _copied(materials: list[Material]) -> list[Material]:
    return [copy.copy(each) for each in materials]
