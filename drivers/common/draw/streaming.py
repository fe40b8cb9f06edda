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
from gallette.pipe.state import DrawInfo, VertexBuffer, VertexElement

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
    last: int  # the byte behind the first row of a draw that begins at 0
    divisor: int  # so many instances have a row; 0: each vertex has one
    versions: int

    def calls(self, info: DrawInfo) -> list[DrawInfo]:
        """A draw's call, begun in each version; none if it could read beyond one."""
        row = info.start + info.count - 1
        if self.divisor:
            if info.instance_count == 1:
                return []  # such draws are instances themselves when they become one
            row = info.start_instance + (info.instance_count - 1) // self.divisor
        if self.last + row * self.stride > self.width:
            return []
        rows = -(-self.width // self.stride)
        known = self.now.moved
        found = known.get((id(info), rows))
        if found is None or found[0] is not info:
            if sum(len(calls) for _, calls in known.values()) >= _MOST_CALLS:
                known.clear()
            found = known[id(info), rows] = info, [info]
        calls = found[1]
        for shift in range(len(calls) * rows, self.versions * rows, rows):
            if self.divisor:
                calls.append(replace(info, start_instance=info.start_instance + shift))
            else:
                calls.append(replace(info, start=info.start + shift))
        return calls


def stream_of(
    given: Given, mode: Primitive, buffer: Resource, versions: Sequence[bytes]
) -> Stream | None:
    """Draws of this mode with the versions of a buffer, the last of which is what it holds now;
    None where something but what vertices or instances read there would tell."""
    bound = given.states.bound
    inside: list[tuple[VertexElement, VertexBuffer]] = []
    others: list[tuple[VertexElement, VertexBuffer]] = []
    for element in bound.elements.state:
        slot = element.buffer_index
        each = bound.vertex_buffers[slot] if slot < len(bound.vertex_buffers) else None
        if each is not None and each.stride:
            (inside if each.buffer is buffer else others).append((element, each))
    if not inside or len(inside) != len(given.reach(buffer)) or given.sees_start(mode):
        return None
    divisors = {element.instance_divisor for element, _ in inside}
    strides = {each.stride for _, each in inside}
    if len(strides) != 1 or (0 in divisors and len(divisors) != 1):
        return None
    divisor, (stride,) = min(divisors), strides
    if any(bool(element.instance_divisor) == bool(divisor) for element, _ in others):
        return None  # its draws would begin elsewhere in these, too
    selection = given.selection(mode)
    if selection is None or any(
        name.startswith("vertex_id") for name in selection.stages[Stage.VERTEX].facts.system_values
    ):
        return None
    everything = _Everything(buffer, versions, stride)
    streamed = Earlier(given, {id(buffer): (everything, _ALL)}, {})
    ends = [e.src_offset + each.offset + e.src_format.block_bytes for e, each in inside]
    width = buffer.desc.width
    return Stream(streamed, given, width, stride, max(ends), divisor, len(versions))
