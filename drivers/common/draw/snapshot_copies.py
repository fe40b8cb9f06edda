"""Snapshots with copies in place of buffers that were written since, and with versions of
textures.

An application that computes vertices for every draw writes one buffer again and again, and
`copy_on_write` has a copy of it for each draw. Concatenated, the copies are one buffer, in which
each draw starts at other vertices; such draws become instances of one draw (see `merging`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import MERGED_STAGES, Bound, ConstantBuffer
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.program import DriverShader
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.state import DrawInfo, VertexBuffer, VertexElement

from .draw_states import DrawStates
from .programs import Selection
from .snapshot import Begun, Snapshot

if TYPE_CHECKING:
    from .copy_on_write import TextureVersions


class SnapshotWithCopies(Snapshot):
    """A snapshot that reads copies and versions, for one execution.

    There may be one for each draw, so data is derived only when it is used.
    """

    __slots__ = ("_buffers", "_copies", "_now", "versions")

    def __init__(
        self,
        now: Snapshot,
        copies: Mapping[int, HostResource],
        versions: Sequence[tuple[TextureVersions, int]] = (),
    ) -> None:
        """`copies`: the copy that is substituted for a resource, by the resource's identity."""
        self._now, self._copies, self.versions = now, copies, versions
        self._states = None if copies else now.states
        self.state_key, self.scissors, self.viewports = now.state_key, now.scissors, now.viewports
        self.reads, self.blocks = (*now.reads, *[at for _, at in versions]), now.blocks
        self.buffers = tuple(map(self._name, now.buffers))
        if any(now.blocks):
            self.blocks = tuple([tuple(map(self._name, keys)) for keys in now.blocks])
        self.held, self._resources, self._merge_keys = False, [], {}
        self._buffers: list[VertexBuffer | None] | None = None

    @property
    def like(self) -> Snapshot:
        return self._now

    def _name(self, key: Any) -> Any:
        """The key of a buffer's contents, with the copy substituted for the buffer."""
        copy = self._copies.get(key[0]) if type(key) is tuple else None
        return key if copy is None else (id(copy), *key[1:])

    @property
    def vertex_buffers(self) -> Sequence[VertexBuffer | None]:
        if self._buffers is None:
            self._buffers = []
            for each in self.like.vertex_buffers:
                copy = None if each is None else self._copies.get(id(each.buffer))
                if each is not None and copy is not None:
                    each = VertexBuffer(copy, each.offset, each.stride)
                self._buffers.append(each)
        return self._buffers

    def bytes_of(self, slot: int) -> npt.NDArray[np.uint8]:
        buffer = self.like.vertex_buffers[slot]
        copy = None if buffer is None else self._copies.get(id(buffer.buffer))
        return self.like.bytes_of(slot) if copy is None else copy.storage[0][0, 0]

    def block(self, stage: Stage, number: int) -> ConstantBuffer | None:
        found = self.like.block(stage, number)
        copy = None if found is None else self._copies.get(id(found.buffer))
        if found is None or copy is None:
            return found
        data = copy.bytes_at(found.offset, len(found.data))
        return ConstantBuffer(None, data, copy, found.offset)

    @property
    def states(self) -> DrawStates:
        """The states, derived when more is needed than the differences."""
        if self._states is None:
            now = self.like.states
            stages = dict(now.bound.stages)
            for stage in MERGED_STAGES:
                bindings = stages[stage]
                blocks = [self.block(stage, number) for number in range(len(bindings.constants))]
                stages[stage] = replace(bindings, constants=blocks)
            buffers = tuple(self.vertex_buffers)
            copy = replace(now.bound, vertex_buffers=buffers, stages=stages)
            self._states = now.for_snapshot(copy, now)
        return self._states

    def selection(self, mode: Primitive) -> Selection | None:
        return self.like.selection(mode)

    def can_be_pending(self, mode: Primitive) -> bool:
        return self.like.can_be_pending(mode)

    def observes_start(self, mode: Primitive) -> bool:
        return self.like.observes_start(mode)

    def merge_key(self, mode: Primitive) -> tuple[Any, ...]:
        found = self.like.merge_key(mode)
        if found == (self.like,):
            return (self,)
        if self.blocks != self.like.blocks and self.large_blocks(mode) is not None:
            return *found, self.blocks
        return found

    @property
    def shaders(self) -> tuple[DriverShader | None, ...]:
        return self.like.shaders


def _end_to_end(buffer: Resource, versions: Sequence[bytes], stride: int) -> HostResource:
    """One buffer with all versions, each starting at a whole row."""
    room = bytes(-buffer.desc.width % stride)
    return buffer_of(b"".join([each + room for each in versions]), buffer.desc)


def buffer_of(contents: bytes, like: ResourceDesc) -> HostResource:
    """A buffer that holds these bytes and is otherwise like another, not counted by any ledger."""
    data = np.frombuffer(contents, np.uint8)
    desc = replace(like, width=len(data))
    return HostResource(desc, lambda resource: None, [data.reshape(1, 1, -1)])


@lazy_dataclass()
class Stream:
    """Draws with one snapshot that read versions of a buffer."""

    snapshot: Snapshot  # the snapshot, with all versions in place of the buffer
    width: int  # of the buffer: draws may read so much of a version
    stride: int
    last: int  # the end of the first row of a draw that begins at 0
    divisor: int  # so many instances have a row; 0: each vertex has one
    versions: int
    begun: Begun
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
            instance = info.start_instance
            return [self.begun.at(info, info.start, instance + by) for by in shifts]
        return [self.begun.at(info, info.start + by) for by in shifts]


def stream_of(
    snapshot: Snapshot, mode: Primitive, buffer: Resource, versions: Sequence[bytes], begun: Begun
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
    return Stream(streamed, width, stride, max(ends), divisor, len(versions), begun)


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
