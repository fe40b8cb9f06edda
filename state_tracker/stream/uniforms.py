"""The uniforms of a batch: the contents of the default block for each draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gallette.state_tracker.shading.programs import ProgramObject

from .calls import CALLS, PAYLOAD, Ints

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.shading.programs import Executable

__all__ = ["Uniforms"]

_LOCATIONS = 1 << 24
Bytes = npt.NDArray[np.uint8]

_NUMBERED = {kind: number for number, kind in enumerate({call.kind: None for call in CALLS})}
_KINDS = np.array([_NUMBERED[call.kind] for call in CALLS])
"""A number for the kind of uniform that each function sets."""


class Uniforms:
    """The uniform calls of a batch, in order."""

    def __init__(self, ctx: Context, commands: Ints, where: Ints, programs: Ints) -> None:
        """`where`: the positions of uniform calls among the commands; `programs`: the name of the
        program in use at each.
        """
        self._ctx = ctx
        self.odd = len(commands)
        """The first call that does more than store bytes, and must be made separately."""
        self._writes: dict[int, list[tuple[int, int, Ints, Bytes]]] = {}  # by program: from, to
        self._found: dict[int, Executable | None] = {}
        if not len(where):
            return
        rows = commands[where]
        locations = rows[:, 1]
        wild = (locations < -1) | (locations >= _LOCATIONS)
        if wild.any():
            self.odd = int(where[wild.argmax()])
        keys = (programs * _LOCATIONS + (locations & (_LOCATIONS - 1))) * 64 + _KINDS[rows[:, 0]]
        order = keys.argsort(kind="stable")
        keys = keys[order]
        starts = np.concatenate(((True,), keys[1:] != keys[:-1])).nonzero()[0]
        payload = rows.view(np.uint8).reshape(len(rows), -1)[:, PAYLOAD:]
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
            some = order[start:end]
            first = int(some[0])
            program, location = int(programs[first]), int(locations[first])
            self._add(program, location, int(rows[first, 0]), where[some], payload[some])

    def executable(self, name: int) -> Executable | None:
        """The executable of a program, if its uniforms may be recorded."""
        if name not in self._found:
            program = self._ctx.programs.names.get(name) if name else None
            self._found[name] = program.executable if isinstance(program, ProgramObject) else None
        return self._found[name]

    def _add(self, name: int, location: int, number: int, where: Ints, payload: Bytes) -> None:
        executable = self.executable(name)
        if executable is None:
            self.odd = min(self.odd, int(where[0]))
            return
        uniforms = executable.uniforms
        slot = uniforms.slots.get(location)
        if slot is None:
            odd = location not in uniforms.ignored
        elif slot.copies(*CALLS[number].kind):
            writes = self._writes.setdefault(name, [])
            for first, begin, size in slot.pieces:
                writes.append((begin, begin + size, where, payload[:, first : first + size]))
            odd = False
        else:
            odd = slot.kind != "" or CALLS[number].kind != ("i", 1, 1)
            if not odd:  # a texture unit, usually unchanged
                unit = uniforms.units[slot.index][slot.element]
                odd = bool((payload[:, :4].copy().view(np.int32) != unit).any())
        if odd:
            self.odd = min(self.odd, int(where[0]))

    def rows(self, name: int, draws: Ints) -> Bytes | None:
        """The default blocks for draws of one program at these positions among the commands."""
        executable = self.executable(name)
        if executable is None:
            return None
        data = np.frombuffer(bytes(executable.uniforms.data), np.uint8)
        found = np.repeat(data[None], len(draws), 0)
        for begin, end, where, payload in self._writes.get(name, ()):
            last = where.searchsorted(draws) - 1
            first = int(last.searchsorted(0))
            if first < len(draws):
                found[first:, begin:end] = payload[last[first:]]
        return found

    def store(self, end: int) -> None:
        """Store in the programs the uniforms that were set before the command at `end`."""
        for name, writes in self._writes.items():
            executable = self._found[name]
            assert executable is not None
            data = executable.uniforms.data
            for begin, stop, where, payload in writes:
                last = int(where.searchsorted(end)) - 1
                if last >= 0:
                    data[begin:stop] = payload[last].tobytes()
