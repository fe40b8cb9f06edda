"""Draws between which their vertex buffer was written, as draws from one larger buffer.

`writes` keeps what a buffer held before each write. Laid one behind the other, all that it ever
held is a buffer of its own, in which each draw begins elsewhere; and such draws become one for
little (see `families`). That is the way of what a program makes up anew for every draw, as long as
nothing but where its vertices are tells a draw from the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import DrawInfo

from .earlier import Earlier
from .waiting import Given

__all__ = ["Stream", "stream_of"]

_MOST_CALLS = 4096
_ALL = -1
"""What tells all versions from any of them."""


class _Everything:
    """All versions of a buffer, one behind the other (see `earlier.Copies`)."""

    def __init__(self, buffer: Resource, versions: Sequence[bytes], stride: int) -> None:
        width = buffer.desc.width
        data = bytes(-width % stride).join((*versions, bytes(-width % stride)))
        self._data = np.frombuffer(data, np.uint8)
        self._desc = replace(buffer.desc, width=len(data))
        self._made: HostResource | None = None

    def contents(self, number: int) -> npt.NDArray[np.uint8]:
        return self._data

    def version(self, number: int) -> HostResource:
        if self._made is None:
            storage = [self._data.reshape(1, 1, -1)]
            self._made = HostResource(self._desc, lambda resource: None, storage)
        return self._made


@dataclass(slots=True)
class Stream:
    """What was given for some draws, with such a buffer in place of the one that was written."""

    given: Given
    now: Given
    width: int  # of the buffer: those draws may read so much of a version
    stride: int
    last: int  # the byte behind the first vertex of a draw that begins at 0

    def call(self, info: DrawInfo, version: int) -> DrawInfo | None:
        """A draw's call, begun in that version; None if it could read beyond it."""
        if self.last + (info.start + info.count - 1) * self.stride > self.width:
            return None
        if not version:
            return info
        shift = version * -(-self.width // self.stride)
        known = self.now.moved
        found = known.get((id(info), shift))
        if found is None or found[0] is not info:
            if len(known) >= _MOST_CALLS:
                known.clear()
            found = known[id(info), shift] = info, replace(info, start=info.start + shift)
        return found[1]


def stream_of(
    given: Given, mode: Primitive, buffer: Resource, versions: Sequence[bytes]
) -> Stream | None:
    """Draws of this mode with the versions of a buffer, the last of which is what it holds now;
    None where something but the vertices would tell."""
    bound = given.states.bound
    reach = given.reach(buffer)
    strides = {stride for _, _, stride in reach}
    if len(strides) != 1 or 0 in strides or given.sees_start(mode):
        return None
    for element in bound.elements.state:
        each = bound.vertex_buffers[element.buffer_index]
        if each is not None and each.buffer is not buffer:
            if each.stride and not element.instance_divisor:
                return None  # its draws would begin elsewhere in this one, too
    selection = given.selection(mode)
    if selection is None or any(
        name.startswith("vertex_id") for name in selection.stages[Stage.VERTEX].facts.system_values
    ):
        return None
    (stride,) = strides
    everything = _Everything(buffer, versions, stride)
    streamed = Earlier(given, {id(buffer): (everything, _ALL)}, {})
    return Stream(streamed, given, buffer.desc.width, stride, max(last for _, last, _ in reach))
