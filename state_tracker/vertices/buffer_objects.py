"""Entry points of buffer objects: names, binding, data, mapping, copies, queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.pipe.state import Box
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    bytes_at,
    read_bytes,
    shared_memory,
    write_bytes,
)
from gallette.state_tracker.entry_points.registry import entry, register_for
from gallette.state_tracker.getters import gets, gets_indexed
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import swap
from gallette.state_tracker.vertices.buffers import (
    HOLDERS,
    INDEXED_DIRTY,
    MAP_BITS,
    PAGE,
    TARGETS,
    USAGES,
    BufferObject,
    bound,
    check_target,
    indexed,
    lookup,
    name_of,
)

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


def _unbind(ctx: Context, buffer: BufferObject) -> None:
    buffer.unmap()
    state = ctx.buffers
    for target, current in state.bound.items():
        if current is buffer:
            state.bound[target] = swap(current, None)
    bindings = ctx.feedback.current.bindings
    for binding in (*state.uniform, *state.storage, *state.atomic, *bindings):
        if binding.buffer is buffer:
            binding.set(None)
    ctx.arrays.current.forget_buffer(buffer)
    ctx.dirty |= HOLDERS


objects(
    "buffer",
    lambda ctx: ctx.buffers.names,
    _unbind,
    lambda ctx, name: BufferObject(name, ctx),
    label=GL.BUFFER,
)


@entry
def bind_buffer(ctx: Context, target: int, buffer: int) -> None:
    if target == GL.ELEMENT_ARRAY_BUFFER:
        ctx.arrays.current.use_elements(lookup(ctx, buffer))
        return
    if target not in TARGETS:
        raise invalid_enum(target, "buffer target")
    check_target(ctx, target)
    found = lookup(ctx, buffer)
    ctx.buffers.bound[target] = swap(ctx.buffers.bound[target], found)


@entry
def bind_buffer_base(ctx: Context, target: int, index: int, buffer: int) -> None:
    bind_indexed(ctx, target, index, buffer, 0, 0)


@entry
def bind_buffer_range(
    ctx: Context, target: int, index: int, buffer: int, offset: int, size: int
) -> None:
    if buffer:
        check_block(ctx, target, offset, size)
    bind_indexed(ctx, target, index, buffer, offset, size)


def check_block(ctx: Context, target: int, offset: int, size: int) -> None:
    """Check that a range of a buffer can be bound to an indexed target."""
    if size <= 0:
        raise invalid_value("the size of a buffer range must be positive")
    if offset < 0:
        raise invalid_value("negative offset of a buffer range")
    unit = 4
    if target == GL.UNIFORM_BUFFER:
        unit = ctx.limits.uniform_buffer_offset_alignment
    elif target == GL.SHADER_STORAGE_BUFFER:
        unit = 16
    if offset % unit or (target == GL.TRANSFORM_FEEDBACK_BUFFER and size % 4):
        raise invalid_value(f"buffer range is not aligned to {unit} bytes")


def bind_indexed(
    ctx: Context,
    target: int,
    index: int,
    name: int,
    offset: int,
    size: int,
    general: bool = True,
) -> None:
    """Bind a range to an indexed point; `general`: to the target's general point, too."""
    bindings = indexed(ctx, target)
    if index >= len(bindings):
        raise invalid_value(f"binding point {index} is not below {len(bindings)}")
    if target == GL.TRANSFORM_FEEDBACK_BUFFER and ctx.feedback.current.active:
        raise invalid_operation("transform feedback is active")
    buffer = lookup(ctx, name)
    bindings[index].set(buffer, offset, size)
    if general:
        ctx.buffers.bound[target] = swap(ctx.buffers.bound[target], buffer)
    ctx.dirty |= INDEXED_DIRTY[target]


def _data(
    ctx: Context, buffer: BufferObject, size: int, data: Pointer, usage: int, shared: bool = False
) -> None:
    if usage not in USAGES:
        raise invalid_enum(usage, "buffer usage")
    if size < 0:
        raise invalid_value("negative buffer size")
    if buffer.immutable:
        raise invalid_operation("the buffer's storage is immutable")
    if buffer.pins:
        raise invalid_operation("a texture of the buffer has a handle")
    if shared and size and data is not None:
        address, keep = shared_memory(data, size)
        if size % 4 or address is None:
            raise invalid_operation("buffers of the application's memory are made of whole words")
        buffer.share(size, address, usage, keep)
    else:
        buffer.allocate(size, data, usage)
    buffer.flags = GL.MAP_READ_BIT | GL.MAP_WRITE_BIT | GL.DYNAMIC_STORAGE_BIT


def _storage(ctx: Context, buffer: BufferObject, size: int, data: Pointer, flags: int) -> None:
    if size <= 0:
        raise invalid_value("the size of buffer storage must be positive")
    known = (
        GL.DYNAMIC_STORAGE_BIT
        | GL.CLIENT_STORAGE_BIT
        | GL.MAP_READ_BIT
        | GL.MAP_WRITE_BIT
        | GL.MAP_PERSISTENT_BIT
        | GL.MAP_COHERENT_BIT
    )
    sparse = flags & GL.SPARSE_STORAGE_BIT_ARB
    if sparse and "GL_ARB_sparse_buffer" in ctx.limits.glsl_extensions:
        if flags & (GL.MAP_READ_BIT | GL.MAP_WRITE_BIT):
            raise invalid_value("sparse storage cannot be mapped")
        known |= sparse
    persistent = flags & GL.MAP_PERSISTENT_BIT
    if flags & ~known or (persistent and not flags & (GL.MAP_READ_BIT | GL.MAP_WRITE_BIT)):
        raise invalid_value("invalid buffer storage flags")
    if flags & GL.MAP_COHERENT_BIT and not persistent:
        raise invalid_value("coherent storage must be persistent")
    if buffer.immutable:
        raise invalid_operation("the buffer's storage is immutable")
    buffer.allocate(size, None if sparse else data, GL.DYNAMIC_DRAW)
    buffer.immutable, buffer.flags = True, flags
    ctx.group.epoch += 1
    if sparse:
        buffer.committed = np.zeros(-(-size // PAGE), np.bool_)


def check_range(buffer: BufferObject, offset: int, size: int) -> None:
    if offset < 0 or size < 0 or offset + size > buffer.size:
        raise invalid_value(f"bytes {offset}+{size} are outside a buffer of {buffer.size}")
    mapping = buffer.mapping
    if mapping is not None and buffer.blocked:
        if offset < mapping.offset + mapping.length and mapping.offset < offset + size:
            raise invalid_operation("this part of the buffer is mapped")


def sub_data(ctx: Context, buffer: BufferObject, offset: int, size: int, data: Pointer) -> None:
    check_range(buffer, offset, size)
    if buffer.immutable and not buffer.flags & GL.DYNAMIC_STORAGE_BIT:
        raise invalid_operation("the buffer's storage is not dynamic")
    if size:
        whole = bytes_at(data, size) if type(data) is int else read_bytes(data, size)
        buffer.write(offset, whole)


def _get_sub_data(
    ctx: Context, buffer: BufferObject, offset: int, size: int, data: Pointer
) -> bytes | None:
    check_range(buffer, offset, size)
    if buffer.blocked:
        raise invalid_operation("the buffer is mapped")
    content = buffer.read(offset, size)
    if data is OMITTED:
        return content
    if data is not None:
        write_bytes(data, content)
    return None


_KNOWN_ACCESS = sum(MAP_BITS)


def _map_range(ctx: Context, buffer: BufferObject, offset: int, length: int, access: int) -> int:
    if offset < 0 or length < 0 or offset + length > buffer.size:
        raise invalid_value("the range to map is outside the buffer")
    if access & ~_KNOWN_ACCESS:
        raise invalid_value("unknown access bits")
    reads, writes = access & GL.MAP_READ_BIT, access & GL.MAP_WRITE_BIT
    discards = (
        GL.MAP_INVALIDATE_RANGE_BIT | GL.MAP_INVALIDATE_BUFFER_BIT | GL.MAP_UNSYNCHRONIZED_BIT
    )
    if (
        length == 0
        or buffer.mapping is not None
        or not (reads or writes)
        or (reads and access & discards)
        or (access & GL.MAP_FLUSH_EXPLICIT_BIT and not writes)
    ):
        raise invalid_operation("this access cannot be mapped")
    needs = access & (GL.MAP_READ_BIT | GL.MAP_WRITE_BIT)
    needs |= access & (GL.MAP_PERSISTENT_BIT | GL.MAP_COHERENT_BIT)
    if (buffer.immutable and needs & ~buffer.flags) or (
        not buffer.immutable and access & (GL.MAP_PERSISTENT_BIT | GL.MAP_COHERENT_BIT)
    ):
        raise invalid_operation("the buffer's storage does not allow this access")
    return buffer.map(offset, length, access)


MAP_ACCESS: dict[int, int] = {
    GL.READ_ONLY: GL.MAP_READ_BIT,
    GL.WRITE_ONLY: GL.MAP_WRITE_BIT,
    GL.READ_WRITE: GL.MAP_READ_BIT | GL.MAP_WRITE_BIT,
}


def _map(ctx: Context, buffer: BufferObject, access: int) -> int:
    if access not in MAP_ACCESS:
        raise invalid_enum(access, "access")
    if buffer.mapping is not None or not buffer.size:
        raise invalid_operation("the buffer is mapped already, or empty")
    return _map_range(ctx, buffer, 0, buffer.size, MAP_ACCESS[access])


def _unmap(ctx: Context, buffer: BufferObject) -> int:
    if buffer.mapping is None:
        raise invalid_operation("the buffer is not mapped")
    buffer.unmap()
    return 1


def _flush(ctx: Context, buffer: BufferObject, offset: int, length: int) -> None:
    mapping = buffer.mapping
    if offset < 0 or length < 0:
        raise invalid_value("the range to flush is negative")
    if mapping is None or not mapping.access & GL.MAP_FLUSH_EXPLICIT_BIT:
        raise invalid_operation("the buffer is not mapped for explicit flushing")
    if offset + length > mapping.length:
        raise invalid_value("the range to flush is outside the mapping")


def by_name(ctx: Context, name: int) -> BufferObject:
    return ctx.buffers.names.require(name)


@entry
def buffer_data(ctx: Context, target: int, size: int, data: Pointer, usage: int) -> None:
    shared = target == GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD
    _data(ctx, bound(ctx, target), size, data, usage, shared)


@entry
def buffer_sub_data(ctx: Context, target: int, offset: int, size: int, data: Pointer) -> None:
    """Write to part of a buffer; fast for plain buffers, since programs do this between small
    draws.
    """
    buffer = ctx.buffers.bound.get(target)
    if buffer is not None and type(data) is int and 0 <= offset < offset + size <= buffer.size:
        resource = buffer.plain
        if resource is not None:
            ctx.pipe.buffer_subdata(resource, offset, bytes_at(data, size))
            return
    sub_data(ctx, bound(ctx, target), offset, size, data)


def _to_invalidate(ctx: Context, name: int) -> BufferObject:
    """The buffer to invalidate; the specification defines an error for none."""
    found = ctx.buffers.names.get(name)
    if found is None:
        raise invalid_value(f"{name} is not the name of a buffer")
    return found


register_for(
    _to_invalidate,
    {
        "invalidate_buffer_sub_data": lambda ctx, buffer, *part: check_range(buffer, *part),
        "invalidate_buffer_data": lambda ctx, buffer: check_range(buffer, 0, buffer.size),
    },
)


@entry
def copy_buffer_sub_data(
    ctx: Context, read_target: int, write_target: int, read_at: int, write_at: int, size: int
) -> None:
    _copy(ctx, bound(ctx, read_target), bound(ctx, write_target), read_at, write_at, size)


@entry
def copy_named_buffer_sub_data(
    ctx: Context, read: int, write: int, read_at: int, write_at: int, size: int
) -> None:
    names = ctx.buffers.names
    _copy(ctx, names.require(read), names.require(write), read_at, write_at, size)


def _copy(
    ctx: Context, src: BufferObject, dst: BufferObject, read_at: int, write_at: int, size: int
) -> None:
    check_range(src, read_at, size)
    check_range(dst, write_at, size)
    if src is dst and max(read_at, write_at) < min(read_at, write_at) + size:
        raise invalid_value("source and destination overlap")
    if size and src.resource is not None and dst.resource is not None:
        ctx.pipe.resource_copy_region(
            dst.resource, 0, write_at, 0, 0, src.resource, 0, Box(read_at, width=size)
        )


def _parameter(ctx: Context, buffer: BufferObject, pname: int) -> list[int]:
    mapping = buffer.mapping
    access = mapping.access if mapping else 0
    old_access = {v: k for k, v in MAP_ACCESS.items()}
    unmapped = GL.WRITE_ONLY if ctx.is_es else GL.READ_WRITE  # the latter in OES_mapbuffer
    values: dict[int, int] = {
        GL.BUFFER_SIZE: buffer.size,
        GL.BUFFER_USAGE: buffer.usage,
        GL.BUFFER_MAPPED: int(mapping is not None),
        GL.BUFFER_ACCESS: old_access.get(access & 3, unmapped),
        GL.BUFFER_ACCESS_FLAGS: access,
        GL.BUFFER_MAP_OFFSET: mapping.offset if mapping else 0,
        GL.BUFFER_MAP_LENGTH: mapping.length if mapping else 0,
        GL.BUFFER_IMMUTABLE_STORAGE: int(buffer.immutable),
        GL.BUFFER_STORAGE_FLAGS: buffer.flags,
    }
    if pname not in values:
        raise invalid_enum(pname, "buffer parameter")
    return [values[pname]]


def _pointer(ctx: Context, buffer: BufferObject, pname: int) -> list[int]:
    if pname != GL.BUFFER_MAP_POINTER:
        raise invalid_enum(pname, "buffer pointer")
    return [buffer.mapping.address if buffer.mapping else 0]


register_for(
    bound,
    {
        "buffer_storage": _storage,
        "get_buffer_sub_data": _get_sub_data,
        "map_buffer_range": _map_range,
        "map_buffer": _map,
        "unmap_buffer": _unmap,
        "flush_mapped_buffer_range": _flush,
        "get_buffer_parameteriv": _parameter,
        "get_buffer_parameteri64v": _parameter,
        "get_buffer_pointerv": _pointer,
    },
)
register_for(
    by_name,
    {
        "named_buffer_data": _data,
        "named_buffer_storage": _storage,
        "named_buffer_sub_data": sub_data,
        "get_named_buffer_sub_data": _get_sub_data,
        "map_named_buffer_range": _map_range,
        "map_named_buffer": _map,
        "unmap_named_buffer": _unmap,
        "flush_mapped_named_buffer_range": _flush,
        "get_named_buffer_parameteriv": _parameter,
        "get_named_buffer_parameteri64v": _parameter,
        "get_named_buffer_pointerv": _pointer,
    },
)


def _bound_name(target: int) -> Any:
    return lambda ctx: name_of(ctx.buffers.bound[target])


for _target, _query in TARGETS.items():
    if _query:
        known = "desktop" if _target in (GL.QUERY_BUFFER, GL.PARAMETER_BUFFER) else ""
        gets({_query: _bound_name(_target)}, profiles=known)
gets({"ELEMENT_ARRAY_BUFFER_BINDING": lambda c: name_of(c.arrays.current.element_buffer)})
for _prefix, _kind in (
    ("UNIFORM_BUFFER", GL.UNIFORM_BUFFER),
    ("TRANSFORM_FEEDBACK_BUFFER", GL.TRANSFORM_FEEDBACK_BUFFER),
    ("SHADER_STORAGE_BUFFER", GL.SHADER_STORAGE_BUFFER),
    ("ATOMIC_COUNTER_BUFFER", GL.ATOMIC_COUNTER_BUFFER),
):
    gets_indexed(
        lambda c, k=_kind: len(indexed(c, k)),  # type: ignore[misc]
        {
            f"{_prefix}_BINDING": lambda c, i, k=_kind: name_of(indexed(c, k)[i].buffer),  # type: ignore[misc]
            f"{_prefix}_START": lambda c, i, k=_kind: indexed(c, k)[i].offset,  # type: ignore[misc]
            f"{_prefix}_SIZE": lambda c, i, k=_kind: indexed(c, k)[i].size,  # type: ignore[misc]
        },
    )
