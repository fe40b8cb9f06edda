"""Materials that C set between recorded draws: each draw has the values of its time."""

from __future__ import annotations

import copy
import marshal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.shading.builtin_uniforms import Bytes, fill
from gallette.state_tracker.stream.calls import CALLS, COMMAND_BYTES, NUMBERS, PAYLOAD, Ints

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.optional.compatibility.lighting import Material
    from gallette.state_tracker.shading.programs import Executable

    Materials = Sequence[Material]  # of the front, of the back

SETS_MATERIAL = np.array([call.sets_material for call in CALLS])
_BY_VALUE = NUMBERS["Materialf"]
_FACES = GL.FRONT, GL.BACK, GL.FRONT_AND_BACK
_COLORS = GL.AMBIENT, GL.DIFFUSE, GL.SPECULAR, GL.EMISSION, GL.AMBIENT_AND_DIFFUSE


def are_valid(rows: Ints) -> bool:
    """Whether none of these calls that set materials is an error."""
    if not len(rows):
        return True
    faces, names, by_value = rows[:, 1], rows[:, 2], rows[:, 0] == _BY_VALUE
    numbers = rows.view(np.float32)
    shininess = np.where(by_value, numbers[:, 6], numbers[:, PAYLOAD // 4])
    good = np.isin(names, _COLORS) & ~by_value
    good |= (names == GL.SHININESS) & (shininess >= 0.0) & (shininess <= 128.0)
    return bool((good & np.isin(faces, _FACES)).all())


class RecordedMaterials:
    """The materials of some draws."""

    def __init__(self, ctx: Context, rows: Ints, made: Ints) -> None:
        """`rows`: the calls that set materials; `made`: how many of them are made before each
        draw. They are made now.
        """
        self._ctx = ctx
        rows = np.ascontiguousarray(rows)
        commands, address = rows.data.cast("B"), rows.ctypes.data
        needed = {*made.tolist(), len(rows)}
        known: dict[Any, int] = {}
        self._states: list[Materials] = []
        which = np.zeros(len(rows) + 1, np.int64)
        for count in range(len(rows) + 1):
            if count:
                call, at = CALLS[int(rows[count - 1, 0])], (count - 1) * COMMAND_BYTES
                ctx.stream.perform(call, call.arguments(commands, at, address))
            if count in needed:
                state = [copy.copy(each) for each in ctx.lighting.materials]
                values = marshal.dumps([each.values for each in state], 2)
                which[count] = known.setdefault(values, len(known))
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
