"""Sync objects, flush and finish, memory barriers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.interface import Fence
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.registry import entry, register

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


class SyncState:
    """Live sync objects by handle; handles resemble addresses, as C expects."""

    def __init__(self) -> None:
        self.fences: dict[int, Fence] = {}
        self.labels: dict[int, str] = {}
        self._next = 0x1000

    def add(self, fence: Fence) -> int:
        self._next += 16
        self.fences[self._next] = fence
        return self._next

    def require(self, handle: int) -> Fence:
        found = self.fences.get(handle or 0) if isinstance(handle, int | None) else None
        if found is None:
            raise invalid_value(f"{handle} is not a sync object")
        return found


def _flushed(ctx: Context) -> Fence:
    fence = ctx.pipe.flush()
    if ctx.show_front is not None and ctx.framebuffers.window.draws_to_front:
        ctx.show_front()
    return fence


@entry
def flush(ctx: Context) -> None:
    _flushed(ctx)


@entry
def finish(ctx: Context) -> None:
    _flushed(ctx).wait((1 << 63) - 1)


@entry
def fence_sync(ctx: Context, condition: int, flags: int) -> int:
    if condition != GL.SYNC_GPU_COMMANDS_COMPLETE:
        raise invalid_enum(condition, "sync condition")
    if flags:
        raise invalid_value("sync flags must be 0")
    return ctx.syncs.add(ctx.pipe.flush())


@entry
def is_sync(ctx: Context, sync: int) -> int:
    return int((sync or 0) in ctx.syncs.fences)


@entry
def delete_sync(ctx: Context, sync: int) -> None:
    if sync:
        ctx.syncs.require(sync)
        del ctx.syncs.fences[sync]
        ctx.syncs.labels.pop(sync, None)


@entry
def client_wait_sync(ctx: Context, sync: int, flags: int, timeout: int) -> int:
    fence = ctx.syncs.require(sync)
    if flags & ~GL.SYNC_FLUSH_COMMANDS_BIT:
        raise invalid_value("unknown sync flags")
    if fence.wait(0):
        return GL.ALREADY_SIGNALED
    done = timeout and fence.wait(timeout)
    return GL.CONDITION_SATISFIED if done else GL.TIMEOUT_EXPIRED


@entry
def wait_sync(ctx: Context, sync: int, flags: int, timeout: int) -> None:
    fence = ctx.syncs.require(sync)
    if flags or timeout & 0xFFFFFFFFFFFFFFFF != 0xFFFFFFFFFFFFFFFF:
        raise invalid_value("flags must be 0 and the timeout ignored")
    fence.wait((1 << 63) - 1)


@entry
def get_synciv(ctx: Context, sync: int, pname: int) -> list[int]:
    fence = ctx.syncs.require(sync)
    values: dict[int, int] = {
        GL.OBJECT_TYPE: GL.SYNC_FENCE,
        GL.SYNC_STATUS: GL.SIGNALED if fence.wait(0) else GL.UNSIGNALED,
        GL.SYNC_CONDITION: GL.SYNC_GPU_COMMANDS_COMPLETE,
        GL.SYNC_FLAGS: 0,
    }
    if pname not in values:
        raise invalid_enum(pname, "sync parameter")
    return [values[pname]]


@entry
def memory_barrier(ctx: Context, barriers: int) -> None:
    ctx.pipe.memory_barrier()


@entry
def texture_barrier(ctx: Context) -> None:
    ctx.pipe.memory_barrier()


register("blend_barrier", texture_barrier)
register("framebuffer_fetch_barrier_ext", texture_barrier)
register("blend_barrier_khr", texture_barrier)


_BY_REGION = (
    GL.ATOMIC_COUNTER_BARRIER_BIT
    | GL.FRAMEBUFFER_BARRIER_BIT
    | GL.SHADER_IMAGE_ACCESS_BARRIER_BIT
    | GL.SHADER_STORAGE_BARRIER_BIT
    | GL.TEXTURE_FETCH_BARRIER_BIT
    | GL.UNIFORM_BARRIER_BIT
)


@entry
def memory_barrier_by_region(ctx: Context, barriers: int) -> None:
    if barriers != GL.ALL_BARRIER_BITS and barriers & ~_BY_REGION:
        raise invalid_value("barriers that are not about fragments")
    ctx.pipe.memory_barrier()
