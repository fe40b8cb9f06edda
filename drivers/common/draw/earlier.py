"""What a draw that waits was given, when buffers and textures were written since (see `writes`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.program import DriverShader
from gallette.drivers.common.texture.pages import Pages
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import SamplerView, VertexBuffer

from .finding import DrawStates
from .programs import Selection
from .reaching import MERGED_STAGES
from .waiting import Given, Plan

__all__ = ["Copies", "Earlier"]


class Copies(Protocol):
    """What a buffer held before it was written, several times perhaps."""

    def contents(self, number: int) -> npt.NDArray[np.uint8]: ...

    def version(self, number: int) -> HostResource:
        """The same as a buffer."""
        ...


class Earlier(Given):
    """The same when some resources, of which there are copies now, held something else.

    That is for one execution, so of what is derived from it only what is asked for is made.
    """

    __slots__ = ("_alone", "_buffers", "_copies", "_now", "_versions")

    def __init__(
        self,
        now: Given,
        copies: Mapping[int, tuple[Copies, int]],
        versions: Mapping[int, tuple[Pages, int]],
    ) -> None:
        """`copies`: of buffers, `versions`: of textures, by their identity; and which one."""
        self._copies, self._versions = copies, versions
        self._alone: DrawStates | None = None
        self._now, self._states = now, None
        self.family, self.reads = now.family, now.reads
        self.scissors, self.viewports = now.scissors, now.viewports
        self.buffers, self.blocks = now.buffers, now.blocks
        if copies:
            self.buffers = tuple([self._name(key) for key in now.buffers])
            if any(now.blocks):
                self.blocks = tuple([tuple(map(self._name, keys)) for keys in now.blocks])
        self.held, self.flushes, self._resources = False, 0, []
        self._relatives, self._plans = {}, {}
        self._buffers: list[VertexBuffer | None] | None = None

    @property
    def like(self) -> Given:
        return self._now

    def _name(self, key: Any) -> Any:
        """What stands for a buffer's bytes: of a copy another than of the buffer."""
        if type(key) is tuple and key[0] in self._copies:
            return (*key, self._copies[key[0]][1])
        return key

    def _copy(self, buffer: Resource | None) -> Resource | None:
        """What a buffer was, if there is a copy."""
        found = self._copies.get(id(buffer))
        return None if found is None else found[0].version(found[1])

    @property
    def vertex_buffers(self) -> Sequence[VertexBuffer | None]:
        if self._buffers is None:
            self._buffers = []
            for each in self.like.vertex_buffers:
                copy = None if each is None else self._copy(each.buffer)
                if each is not None and copy is not None:
                    each = VertexBuffer(copy, each.offset, each.stride)
                self._buffers.append(each)
        return self._buffers

    def bytes_of(self, slot: int) -> npt.NDArray[np.uint8]:
        buffer = self.like.vertex_buffers[slot]
        found = None if buffer is None else self._copies.get(id(buffer.buffer))
        return self.like.bytes_of(slot) if found is None else found[0].contents(found[1])

    def block(self, stage: Stage, number: int) -> ConstantBuffer | None:
        found = self.like.block(stage, number)
        copy = None if found is None else self._copy(found.buffer)
        if found is None or copy is None:
            return found
        assert isinstance(copy, HostResource)
        data = copy.bytes_at(found.offset, len(found.data))
        return ConstantBuffer(None, data, copy, found.offset)

    @property
    def states(self) -> DrawStates:
        """The states, where somebody wants more than to know what differs."""
        if self._states is not None:
            return self._states
        now = self.like.states
        stages = dict(now.bound.stages)
        for stage in MERGED_STAGES:
            constants = stages[stage].constants
            blocks = [self.block(stage, number) for number in range(len(constants))]
            stages[stage] = replace(stages[stage], constants=blocks)
        buffers = tuple(self.vertex_buffers)
        copy = replace(now.bound, vertex_buffers=buffers, stages=stages)
        self._states = now.remembering(copy, now)
        return self._states

    @property
    def alone(self) -> DrawStates:
        if not self._versions:
            return self.states
        if self._alone is None:
            states = self.states
            stages = dict(states.bound.stages)
            for stage in MERGED_STAGES:
                views = [view and self._view(view) for view in stages[stage].views]
                constants = list(stages[stage].constants)
                stages[stage] = replace(stages[stage], constants=constants, views=views)
            self._alone = states.remembering(replace(states.bound, stages=stages), states)
        return self._alone

    def _view(self, view: SamplerView) -> SamplerView:
        """A texture as it was."""
        found = self._versions.get(id(view.resource))
        return view if found is None else replace(view, resource=found[0].alone(found[1]))

    @property
    def versions(self) -> Mapping[int, tuple[Pages, int]]:
        return self._versions

    def selection(self, mode: Primitive) -> Selection | None:
        return self.like.selection(mode)

    def waitable(self, mode: Primitive) -> bool:
        return self.like.waitable(mode)

    def sees_start(self, mode: Primitive) -> bool:
        return self.like.sees_start(mode)

    def plan(self, mode: Primitive) -> Plan | None:
        """There is none: it would not be used twice."""
        return None

    def has_no_plan(self, mode: Primitive) -> bool:
        return True

    def relatives(self, mode: Primitive) -> tuple[Any, ...]:
        found = self.like.relatives(mode)
        if found == (self.like,):
            return (self,)
        if self.blocks != self.like.blocks and self.large_blocks(mode) is not None:
            return *found, self.blocks
        return found

    @property
    def shaders(self) -> tuple[DriverShader | None, ...]:
        return self.like.shaders
