"""Buffer objects: storage, binding points, mapping, copies."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import Bind, MapFlags, Target, Usage
from gallette.pipe.formats import format_named
from gallette.pipe.resource import Resource, ResourceDesc, Transfer
from gallette.pipe.state import Box
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import Pointer, read_bytes
from gallette.state_tracker.objects import GLObject, NameTable, swap

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

# Binding points, with the query of the bound buffer, if there is one.
TARGETS: dict[int, str] = {
    GL.ARRAY_BUFFER: "ARRAY_BUFFER_BINDING",
    GL.PIXEL_PACK_BUFFER: "PIXEL_PACK_BUFFER_BINDING",
    GL.PIXEL_UNPACK_BUFFER: "PIXEL_UNPACK_BUFFER_BINDING",
    GL.UNIFORM_BUFFER: "UNIFORM_BUFFER_BINDING",
    GL.TEXTURE_BUFFER: "TEXTURE_BUFFER_BINDING",
    GL.TRANSFORM_FEEDBACK_BUFFER: "TRANSFORM_FEEDBACK_BUFFER_BINDING",
    GL.COPY_READ_BUFFER: "COPY_READ_BUFFER_BINDING",
    GL.COPY_WRITE_BUFFER: "COPY_WRITE_BUFFER_BINDING",
    GL.DRAW_INDIRECT_BUFFER: "DRAW_INDIRECT_BUFFER_BINDING",
    GL.SHADER_STORAGE_BUFFER: "SHADER_STORAGE_BUFFER_BINDING",
    GL.ATOMIC_COUNTER_BUFFER: "ATOMIC_COUNTER_BUFFER_BINDING",
    GL.DISPATCH_INDIRECT_BUFFER: "DISPATCH_INDIRECT_BUFFER_BINDING",
    GL.QUERY_BUFFER: "QUERY_BUFFER_BINDING",
    GL.PARAMETER_BUFFER: "PARAMETER_BUFFER_BINDING",
    GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD: "",
}

USAGES: dict[int, Usage] = {
    GL.STREAM_DRAW: Usage.STREAM,
    GL.STREAM_READ: Usage.STAGING,
    GL.STREAM_COPY: Usage.STREAM,
    GL.STATIC_DRAW: Usage.DEFAULT,
    GL.STATIC_READ: Usage.STAGING,
    GL.STATIC_COPY: Usage.DEFAULT,
    GL.DYNAMIC_DRAW: Usage.DYNAMIC,
    GL.DYNAMIC_READ: Usage.STAGING,
    GL.DYNAMIC_COPY: Usage.DYNAMIC,
}

# A buffer may be bound to any target during its life.
ANY_BIND = (
    Bind.VERTEX_BUFFER
    | Bind.INDEX_BUFFER
    | Bind.CONSTANT_BUFFER
    | Bind.SHADER_BUFFER
    | Bind.SAMPLER_VIEW
    | Bind.STREAM_OUTPUT
    | Bind.INDIRECT
    | Bind.QUERY_BUFFER
)

# State that depends on a buffer's resource, to be derived again when it is replaced.
HOLDERS = (
    Dirty.UNIFORM_BUFFERS | Dirty.TEXTURES | Dirty.TRANSFORM_FEEDBACK | Dirty.STORAGE | Dirty.IMAGES
)


@lazy_dataclass()
class Mapping:
    """A mapped range of a buffer."""

    transfer: Transfer
    offset: int
    length: int
    access: int
    address: int


PAGE = 65536
"""Size of a page of sparse buffers in bytes."""

_ALL: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)
"""No pages: the buffer is not sparse."""


def _runs(committed: npt.NDArray[np.bool_], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a range that are in committed pages."""
    for page in range(begin // PAGE, -(-end // PAGE)):
        if committed[page]:
            yield max(begin, page * PAGE), min(end, (page + 1) * PAGE)


class BufferObject(GLObject):
    """A buffer: its bytes are stored in a pipe resource (None while its size is 0)."""

    kind = "buffer"

    def __init__(self, name: int, ctx: Context):
        super().__init__(name)
        self.group = ctx.group
        self.size = 0
        self.usage: int = GL.STATIC_DRAW
        self.resource: Resource | None = None
        self.mapping: Mapping | None = None
        self.immutable = False
        self.committed: npt.NDArray[np.bool_] = _ALL  # of a sparse buffer: its pages
        self.pins = 0  # number of its textures with a handle
        self.flags: int = 0
        self.keep: Any = None  # Python memory shared with the application

    def allocate(self, size: int, data: Pointer, usage: int) -> None:
        """Replace the storage; the old contents are lost."""
        if self.resource is None or self.size != size or self.resource.desc.memory:
            resource = None
            if size:
                resource = self._created(size, USAGES.get(usage, Usage.DEFAULT))
            self._replace(resource, size)
        self.unmap()
        self.usage = usage
        if size and data is not None:
            self.write(0, read_bytes(data, size))

    def share(self, size: int, address: int, usage: int, keep: Any) -> None:
        """Use the application's memory as storage, for AMD_pinned_memory.

        `keep` is kept alive as long as the storage: arrays passed by Python callers.
        """
        self._replace(self._created(size, Usage.STAGING, address), size)
        self.usage, self.keep = usage, keep

    def _created(self, size: int, usage: Usage, memory: int = 0) -> Resource:
        """New storage; on failure nothing changes."""
        label = self.label or f"buffer {self.name}"
        desc = ResourceDesc(
            Target.BUFFER, format_named("R8_UINT"), size,
            bind=ANY_BIND, usage=usage, label=label, memory=memory,
        )  # fmt: skip
        return self.group.screen.resource_create(desc)

    def _replace(self, resource: Resource | None, size: int) -> None:
        self.unmap()
        self._drop()
        self.resource, self.size = resource, size
        self.group.mark(HOLDERS)
        self.group.epoch += 1

    def write(self, offset: int, data: Any) -> None:
        if self.committed.size and not self.committed.all():
            for begin, end in _runs(self.committed, offset, offset + len(data)):
                part = data[begin - offset : end - offset]
                if self.resource is not None:
                    self.group.pipe.buffer_subdata(self.resource, begin, part)
            return
        if self.resource is not None:
            self.group.pipe.buffer_subdata(self.resource, offset, data)

    def read(self, offset: int, size: int) -> bytes:
        if self.resource is None or size <= 0:
            return b""
        return self.group.pipe.buffer_read(self.resource, offset, size)

    def read_padded(self, offset: int, size: int) -> bytes:
        """Bytes from `offset` on, padded with zeros after the end of the buffer."""
        found = self.read(offset, min(size, self.size - offset)) if offset >= 0 else b""
        return found.ljust(size, b"\0")

    def map(self, offset: int, length: int, access: int) -> int:
        """Map a range; returns the address of its first byte."""
        assert self.resource is not None
        box = Box(offset, width=length)
        transfer = self.group.pipe.transfer_map(self.resource, 0, _map_flags(access), box)
        address: int = transfer.data.__array_interface__["data"][0]  # faster than `ctypes`
        self.mapping = Mapping(transfer, offset, length, access, address)
        if self.blocked:
            self.group.mapped += 1
            self.group.reconsider_recording()
        return address

    def unmap(self) -> None:
        if self.mapping is not None:
            self.group.pipe.transfer_unmap(self.mapping.transfer)
            blocked, self.mapping = self.blocked, None
            if blocked:
                self.group.mapped -= 1
                self.group.reconsider_recording()

    @property
    def plain(self) -> Resource | None:
        """Its storage, if all of it may be written."""
        if self.immutable or self.mapping is not None or self.committed.size:
            return None
        return self.resource

    @property
    def blocked(self) -> bool:
        """Whether it is mapped without GL_MAP_PERSISTENT_BIT, so that most commands must not access
        it.
        """
        return self.mapping is not None and not self.mapping.access & GL.MAP_PERSISTENT_BIT

    def _drop(self) -> None:
        if self.resource is not None:
            self.resource.unref()
            self.resource = self.keep = None

    def destroy(self) -> None:
        self.unmap()
        self._drop()


MAP_BITS: dict[int, MapFlags] = {
    GL.MAP_READ_BIT: MapFlags.READ,
    GL.MAP_WRITE_BIT: MapFlags.WRITE,
    GL.MAP_INVALIDATE_RANGE_BIT: MapFlags.DISCARD_RANGE,
    GL.MAP_INVALIDATE_BUFFER_BIT: MapFlags.DISCARD_WHOLE,
    GL.MAP_UNSYNCHRONIZED_BIT: MapFlags.UNSYNCHRONIZED,
    GL.MAP_FLUSH_EXPLICIT_BIT: MapFlags.FLUSH_EXPLICIT,
    GL.MAP_PERSISTENT_BIT: MapFlags.PERSISTENT,
    GL.MAP_COHERENT_BIT: MapFlags.COHERENT,
}


@functools.lru_cache(maxsize=64)
def _map_flags(access: int) -> MapFlags:
    """The driver's flags; combining flag objects is slow."""
    flags = MapFlags(0)
    for bit, flag in MAP_BITS.items():
        if access & bit:
            flags |= flag
    return flags


@lazy_dataclass()
class IndexedBinding:
    """One indexed binding point; size 0 means the whole buffer, whatever its size."""

    buffer: BufferObject | None = None
    offset: int = 0
    size: int = 0

    def set(self, buffer: BufferObject | None, offset: int = 0, size: int = 0) -> None:
        self.buffer = swap(self.buffer, buffer)
        self.offset, self.size = (offset, size) if buffer is not None else (0, 0)

    def range(self) -> tuple[int, int]:
        """Offset and the number of bytes that exist."""
        if self.buffer is None:
            return 0, 0
        room = max(0, self.buffer.size - self.offset)
        return self.offset, min(self.size, room) if self.size else room


class BufferState:
    """Names and binding points of buffers."""

    def __init__(self, ctx: Context):
        limits = ctx.limits
        self.names: NameTable[BufferObject] = ctx.group.table("buffer")
        self.bound: dict[int, BufferObject | None] = dict.fromkeys(TARGETS)
        self.uniform = [IndexedBinding() for _ in range(limits.max_uniform_buffer_bindings)]
        self.storage = [IndexedBinding() for _ in range(limits.max_storage_buffer_bindings)]
        self.atomic = [IndexedBinding() for _ in range(limits.max_atomic_buffer_bindings)]

    def release_all(self) -> None:
        for target in self.bound:
            self.bound[target] = swap(self.bound[target], None)
        for binding in (*self.uniform, *self.storage, *self.atomic):
            binding.set(None)


INDEXED_DIRTY: dict[int, int] = {
    GL.UNIFORM_BUFFER: Dirty.UNIFORM_BUFFERS,
    GL.SHADER_STORAGE_BUFFER: Dirty.STORAGE,
    GL.ATOMIC_COUNTER_BUFFER: Dirty.STORAGE,
    GL.TRANSFORM_FEEDBACK_BUFFER: Dirty.TRANSFORM_FEEDBACK,
}


def indexed(ctx: Context, target: int) -> list[IndexedBinding]:
    """The indexed binding points of a target."""
    if target == GL.UNIFORM_BUFFER:
        return ctx.buffers.uniform
    if target == GL.TRANSFORM_FEEDBACK_BUFFER:
        return ctx.feedback.current.bindings
    if target == GL.SHADER_STORAGE_BUFFER and ctx.caps.max_shader_buffers:
        return ctx.buffers.storage
    if target == GL.ATOMIC_COUNTER_BUFFER and ctx.caps.max_shader_buffers:
        return ctx.buffers.atomic
    raise invalid_enum(target, "indexed buffer target")


def lookup(ctx: Context, name: int) -> BufferObject | None:
    """The buffer of that name, created on first use; None for 0."""
    if name == 0:
        return None
    return ctx.buffers.names.bind(name, lambda n: BufferObject(n, ctx), ctx.is_core)


def check_target(ctx: Context, target: int) -> None:
    """Check that the binding point exists in this context."""
    check_es(ctx, target, "buffer target")
    if target == GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD and not ctx.caps.user_memory:
        raise invalid_enum(target, "buffer target")


def bound(ctx: Context, target: int) -> BufferObject:
    """The buffer bound to a target; GL errors if there is no such target or nothing bound."""
    if target == GL.ELEMENT_ARRAY_BUFFER:
        found = ctx.arrays.current.element_buffer
    elif target in TARGETS:
        found = ctx.buffers.bound[target]
    else:
        raise invalid_enum(target, "buffer target")
    check_target(ctx, target)
    if found is None:
        raise invalid_operation(f"no buffer is bound to {GL.name_of(target)}")
    return found


def name_of(buffer: BufferObject | None) -> int:
    return buffer.name if buffer is not None else 0
