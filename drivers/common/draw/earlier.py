"""What a draw that waits was given, when buffers have been written since (see `writes`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import ConstantBuffer
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.program import DriverShader
from gallette.pipe.enums import Primitive
from gallette.pipe.resource import Resource
from gallette.pipe.state import VertexBuffer

from .finding import DrawStates
from .programs import Selection
from .waiting import MERGED_STAGES, Given, Plan

__all__ = ["Earlier"]


class Earlier(Given):
    """The same when some buffers, of which there are copies now, held something else.

    That is for one execution, so of what is derived from it only what is asked for is made.
    """

    __slots__ = ("_buffers", "_copies", "_now")

    def __init__(self, now: Given, copies: Mapping[int, Resource]) -> None:
        """`copies`: of buffers, by their identity."""
        self._copies = copies
        self._now, self._states = now, None
        self.family, self.reads = now.family, now.reads
        self.scissors, self.viewports = now.scissors, now.viewports
        self.buffers = tuple([self._name(key) for key in now.buffers])
        self.blocks = tuple([tuple([self._name(key) for key in keys]) for keys in now.blocks])
        self.held, self._resources = False, []
        self._relatives, self._plans = {}, {}
        self._buffers: list[VertexBuffer | None] | None = None

    @property
    def like(self) -> Given:
        return self._now

    def _name(self, key: Any) -> Any:
        """What stands for a buffer's bytes, with the copy in its place."""
        if type(key) is tuple and key[0] in self._copies:
            return id(self._copies[key[0]]), *key[1:]
        return key

    @property
    def vertex_buffers(self) -> Sequence[VertexBuffer | None]:
        if self._buffers is None:
            copies = self._copies
            self._buffers = [
                each
                if each is None or id(each.buffer) not in copies
                else VertexBuffer(copies[id(each.buffer)], each.offset, each.stride)
                for each in self.like.vertex_buffers
            ]
        return self._buffers

    def block(self, stage: Stage, number: int) -> ConstantBuffer | None:
        found = self.like.block(stage, number)
        copy = None if found is None else self._copies.get(id(found.buffer))
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

    def selection(self, mode: Primitive) -> Selection | None:
        return self.like.selection(mode)

    def waitable(self, mode: Primitive) -> bool:
        return self.like.waitable(mode)

    def sees_start(self, mode: Primitive) -> bool:
        return self.like.sees_start(mode)

    def plan(self, mode: Primitive) -> Plan | None:
        """There is none: it would not be used twice."""
        return None

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
