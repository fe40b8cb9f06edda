"""Draws between which their vertex buffer was written, as draws from one larger buffer.

An application that computes vertices for every draw writes one buffer again and again, and
`copy_on_write` has a copy of it for each draw. Concatenated, the copies are one buffer, in which
each draw starts at other vertices; such draws become instances of one draw (see `merging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.memory.resource import HostResource
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.state import DrawInfo, VertexBuffer, VertexElement

from .resources import MERGED_STAGES
from .snapshot import Snapshot
from .snapshot_copies import SnapshotWithCopies

__all__ = ["Stream", "buffer_of", "stream_of"]


def _end_to_end(buffer: Resource, versions: Sequence[bytes], stride: int) -> HostResource:
    """One buffer with all versions, each starting at a whole row."""
    room = bytes(-buffer.desc.width % stride)
    return buffer_of(b"".join([each + room for each in versions]), buffer.desc)


def buffer_of(contents: bytes, like: ResourceDesc) -> HostResource:
    """A buffer that holds these bytes and is otherwise like another, not counted by any ledger."""
    data = np.frombuffer(contents, np.uint8)
    desc = replace(like, width=len(data))
    return HostResource(desc, lambda resource: None, [data.reshape(1, 1, -1)])


@dataclass(slots=True)
class Stream:
    """Draws with one snapshot that read versions of a buffer."""

    snapshot: Snapshot  # the snapshot, with all versions in place of the buffer
    width: int  # of the buffer: draws may read so much of a version
    stride: int
    last: int  # the end of the first row of a draw that begins at 0
    divisor: int  # so many instances have a row; 0: each vertex has one
    versions: int
    _calls: dict[int, tuple[DrawInfo, list[DrawInfo]]] = field(default_factory=dict)

    def calls(self, info: DrawInfo) -> list[DrawInfo]:
        """A draw's call, started in each version; empty if it could read past the end of one."""
        found = self._calls.get(id(info))
        if found is None:
            found = self._calls[id(info)] = info, self._started(info)
        return found[1]

    def _started(self, info: DrawInfo) -> list[DrawInfo]:
        row = info.start + info.count - 1
        if self.divisor:
            if info.instance_count == 1:
                return []  # merged, such draws are instances themselves
            row = info.start_instance + (info.instance_count - 1) // self.divisor
        if self.last + row * self.stride > self.width:
            return []
        rows = -(-self.width // self.stride)
        shifts = range(0, self.versions * rows, rows)
        if self.divisor:
            return [replace(info, start_instance=info.start_instance + by) for by in shifts]
        return [info.begun_at(info.start + by) for by in shifts]


def stream_of(
    snapshot: Snapshot, mode: Primitive, buffer: Resource, versions: Sequence[bytes]
) -> Stream | None:
    """Draws of this mode with the versions of a buffer, the last of which is its current contents;
    None if the difference could be observed.
    """
    bound = snapshot.states.bound
    inside: list[tuple[VertexElement, VertexBuffer]] = []
    others: list[tuple[VertexElement, VertexBuffer]] = []
    for element in bound.elements.state:
        slot = element.buffer_index
        each = bound.vertex_buffers[slot] if slot < len(bound.vertex_buffers) else None
        if each is not None and each.stride:
            (inside if each.buffer is buffer else others).append((element, each))
    if not inside or _is_read_otherwise(bound, buffer) or snapshot.observes_start(mode):
        return None
    divisors = {element.instance_divisor for element, _ in inside}
    strides = {each.stride for _, each in inside}
    if len(strides) != 1 or (0 in divisors and len(divisors) != 1):
        return None
    divisor, (stride,) = min(divisors), strides
    if any(bool(element.instance_divisor) == bool(divisor) for element, _ in others):
        return None  # its draws would begin elsewhere in these, too
    selection = snapshot.selection(mode)
    if selection is None or any(
        name.startswith("vertex_id") for name in selection.stages[Stage.VERTEX].facts.system_values
    ):
        return None
    streamed = SnapshotWithCopies(snapshot, {id(buffer): _end_to_end(buffer, versions, stride)})
    ends = [e.src_offset + each.offset + e.src_format.block_bytes for e, each in inside]
    width = buffer.desc.width
    return Stream(streamed, width, stride, max(ends), divisor, len(versions))


def _is_read_otherwise(bound: Bound, buffer: Resource) -> bool:
    """Whether draws read the buffer other than row by row as vertices."""
    for stage in MERGED_STAGES:
        bindings = bound.stages[stage]
        if any(block and block.buffer is buffer for block in bindings.constants[1:]):
            return True
    return any(
        each is not None and each.buffer is buffer and not each.stride
        for each in bound.vertex_buffers
    )
