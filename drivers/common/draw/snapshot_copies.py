"""Snapshots with copies in place of buffers that were written since, and with versions of
textures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.program import DriverShader
from gallette.pipe.enums import Primitive
from gallette.pipe.state import VertexBuffer

from .draw_states import DrawStates
from .programs import Selection
from .resources import MERGED_STAGES
from .snapshot import Snapshot

if TYPE_CHECKING:
    from .copy_on_write import TextureVersions

__all__ = ["SnapshotWithCopies"]


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
