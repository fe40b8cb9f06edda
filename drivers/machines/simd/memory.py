"""simd's memory: every resource, program and scratch area is an object of `gem`.

The bytes stay in the shared storage; the object says which frames they are, and page tables at
which addresses. A draw lists the objects it uses. The batch submitted with the list contains every
object's address, by relocations whose presumed values are right unless something has moved.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gallette.drivers.common.context import HostContext
from gallette.drivers.common.gem import (
    BufferObject,
    ExecObject,
    Manager,
    MemoryRegions,
    Region,
    Relocation,
)
from gallette.drivers.common.gem.picture import address_map, map_picture
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.screen import HostScreen
from gallette.drivers.machines.program import MachineProgram
from gallette.pipe.enums import Target, Usage
from gallette.pipe.interface import Handle
from gallette.pipe.resource import Resource
from gallette.pipe.state import ComputeInfo, DrawInfo

_LOCAL_FIRST = MemoryRegions((Region.LOCAL, Region.SYSTEM))
_SYSTEM_FIRST = MemoryRegions((Region.SYSTEM,))
_BATCH = 16 << 10
_WRITTEN_OFTEN = frozenset({Usage.DYNAMIC, Usage.STREAM, Usage.STAGING})
_SMALL = Region.LOCAL.page
"""Buffers smaller than this stay in system memory, since local memory would round them up to it."""


class DeviceMemory:
    """The objects of one screen."""

    def __init__(self, local: int, break_rule: bool) -> None:
        self.manager = Manager(local, break_rule=break_rule)
        self._handles: dict[int, int] = {}  # by resource
        self._kernels: weakref.WeakKeyDictionary[MachineProgram[Any], int] = (
            weakref.WeakKeyDictionary()
        )

    def adopt(self, resource: HostResource) -> None:
        """Make the resource an object for as long as it lives."""
        size = max(1, resource.backing().size)
        desc = resource.desc
        nearer = desc.target is Target.BUFFER and (desc.usage in _WRITTEN_OFTEN or size < _SMALL)
        regions = _SYSTEM_FIRST if nearer else _LOCAL_FIRST
        name = resource.desc.label or resource.desc.target.value
        made = self.manager.create(size, (regions,), name=name, data=resource.backing)
        self._handles[id(resource)] = made.handle
        let_go = resource._destroy

        def destroy(gone: Resource) -> None:
            self.manager.close(self._handles.pop(id(gone)))
            let_go(gone)

        resource._destroy = destroy

    def handle(self, resource: Resource | None) -> int | None:
        """The object of a resource; None for None, or for another screen's resource."""
        return self._handles.get(id(resource)) if resource is not None else None

    def kernel(self, program: MachineProgram[Any]) -> int:
        """The object with a program's instructions."""
        found = self._kernels.get(program)
        if found is None:
            words = program.compiled.executable.words
            code = np.frombuffer(b"".join(w.to_bytes(16, "little") for w in words), np.uint8)
            made = self.manager.create(
                code.size, (_LOCAL_FIRST,), name=f"kernel {program.name}", data=lambda: code
            )
            found = self._kernels[program] = made.handle
            weakref.finalize(program, _close, weakref.ref(self.manager), found)
        return found

    @contextmanager
    def as_the_device_reads(self, resources: Iterable[Resource | None]) -> Iterator[None]:
        """Temporarily replace the contents of resources by what the page tables map, which may be
        other pages.
        """
        manager = self.manager
        wrong: list[tuple[HostResource, Any, Any]] = []
        for resource in {id(r): r for r in resources}.values():
            handle = self.handle(resource)
            thing = manager.objects[handle] if handle is not None else None
            if thing is None or thing.address is None:
                continue
            assert isinstance(resource, HostResource)
            data = thing.data()
            seen = manager.device_bytes(thing)[: data.size]
            if not np.array_equal(data, seen):
                wrong.append((resource, data.copy(), seen))
        try:
            for resource, _, seen in wrong:
                resource.backing()[:] = seen
                resource.touch()
            yield
        finally:
            for resource, right, _ in wrong:
                resource.backing()[:] = right
                resource.touch()

    def batch(self) -> BufferObject:
        """An object for the words of a context's batches."""
        return self.manager.create(_BATCH, (_SYSTEM_FIRST,), name="batch")


def _close(manager: weakref.ref[Manager], handle: int) -> None:
    found = manager()
    if found is not None and handle in found.objects:
        found.close(handle)


class SimdContext(HostContext):
    """A pipe context whose draws list their objects."""

    def __init__(self, screen: HostScreen, memory: DeviceMemory) -> None:
        super().__init__(screen)
        self._memory = memory
        self._batch = memory.batch()
        self._listed: tuple[int, ...] = ()
        self._presumed: dict[int, int] = {}

    def draw_vbo(self, info: DrawInfo) -> None:
        if self._memory.manager.space.break_rule:
            self.execute_deferred()
            self._execute(info.index_buffer)
            with self._memory.as_the_device_reads(self._sources(info.index_buffer)):
                super().draw_vbo(info)
                self.execute_deferred()
            return
        super().draw_vbo(info)
        self._execute(info.index_buffer)

    def launch_grid(self, info: ComputeInfo) -> None:
        super().launch_grid(info)
        self._execute(None)

    def destroy(self) -> None:
        super().destroy()
        if self._batch.handle in self._memory.manager.objects:
            self._memory.manager.close(self._batch.handle)

    def _execute(self, extra: Resource | None) -> None:
        """Execute with the list of used objects, if it differs from that of the last draw."""
        memory = self._memory
        handles = {memory.handle(r): None for r in self._resources(extra)}
        for shader in self.bound.shaders.values():
            program = shader.null.program if shader is not None else None
            if isinstance(program, MachineProgram):
                handles[memory.kernel(program)] = None
        listed = tuple(handle for handle in handles if handle is not None)[: _BATCH // 8]
        if listed == self._listed:
            return
        self._listed = listed
        manager = memory.manager
        words = [
            Relocation(handle, 8 * k, presumed=self._presumed.get(handle, -1))
            for k, handle in enumerate(listed)
        ]
        entries = [ExecObject(handle) for handle in listed]
        manager.execute([*entries, ExecObject(self._batch.handle, relocations=words)])
        self._presumed = {word.target: word.presumed for word in words}

    def explain(self, handle: Handle) -> dict[str, Any]:
        """A shader's explanation, with the address space after the first execution."""
        explained = super().explain(handle)
        manager = self._memory.manager
        if manager.executions:
            picture = map_picture(manager, scale=16)
            explained["memory"] = {"map": address_map(manager), "picture": picture}
        return explained

    def _sources(self, extra: Resource | None) -> Iterator[Resource | None]:
        """The resources that a draw only reads."""
        bound = self.bound
        yield extra
        for vertices in bound.vertex_buffers:
            yield vertices.buffer if vertices is not None else None
        for stage in bound.stages.values():
            for view in stage.views:
                yield view.resource if view is not None else None
            for buffer in stage.constants:
                yield buffer.buffer if buffer is not None else None

    def _resources(self, extra: Resource | None) -> Iterator[Resource | None]:
        bound = self.bound
        yield extra
        for surface in (*bound.framebuffer.cbufs, bound.framebuffer.zsbuf):
            yield surface.resource if surface is not None else None
        for vertices in bound.vertex_buffers:
            yield vertices.buffer if vertices is not None else None
        for target in bound.stream_targets:
            yield target.buffer if target is not None else None
        for stage in bound.stages.values():
            for view in (*stage.views, *stage.images):
                yield view.resource if view is not None else None
            for buffer in (*stage.buffers, *stage.constants):
                yield buffer.buffer if buffer is not None else None
