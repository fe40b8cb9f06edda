"""A pipe context on host memory: everything of a driver but its shaders and draws.

A driver adds `create_shader_state`, `draw_vbo` and, if it has compute shaders, `launch_grid`.
Clears, copies, blits, mipmaps, transfers and queries are executed immediately; draws are counted in
`self.counters`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.drivers.common.binding import BindingContext
from gallette.drivers.common.queries import Counters, Query, RenderCondition
from gallette.pipe.enums import ClearFlags, MapFlags, QueryType
from gallette.pipe.formats import Format
from gallette.pipe.interface import EVERY_CHANNEL, Color, ColorMask, Fence, Handle, Screen
from gallette.pipe.resource import Resource, Transfer
from gallette.pipe.state import BlitInfo, Box, ComputeInfo, FramebufferState, ScissorState, Surface

from . import clear as clears
from .blit import blit
from .mipmap import generate_mipmap
from .resource import HostResource, copy_region, transfer_map, transfer_unmap

_BLACK = (0.0, 0.0, 0.0, 0.0)


class _Signalled(Fence):
    """The fence of work that has completed."""

    def wait(self, timeout_ns: int) -> bool:
        return True


class MemoryContext(BindingContext):
    """A pipe context without shaders and draws, which executes everything immediately."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(screen)
        self.counters = Counters()
        self._condition: RenderCondition | None = None

    @property
    def skipped(self) -> bool:
        """Whether the render condition suppresses drawing."""
        return self._condition is not None and not self._condition.passes()

    def ready(self, read: Resource, written: Resource) -> None:
        """Called before a command that reads one resource and writes another."""
        self.execute_deferred()

    def on_host(
        self, resource: Resource, levels: Iterable[int] = (0,), write: bool = False
    ) -> None:
        """Called before the host reads or writes levels of a resource: a driver that keeps
        resources elsewhere, too, updates the copy in host memory.
        """

    def launch_grid(self, info: ComputeInfo) -> None:
        raise GalletteError(f"{self.screen.name} has no compute shaders")

    def clear(
        self,
        flags: ClearFlags,
        color: Color,
        depth: float,
        stencil: int,
        scissor: ScissorState | None = None,
        color_mask: ColorMask = EVERY_CHANNEL,
        stencil_mask: int = 0xFF,
    ) -> None:
        self.execute_deferred()
        if not self.skipped:
            values = clears.ClearValues(color, depth, stencil, color_mask, stencil_mask)
            self.clear_attachments(self.bound.framebuffer, flags, values, scissor)

    def clear_attachments(
        self,
        target: FramebufferState,
        flags: ClearFlags,
        values: clears.ClearValues,
        scissor: ScissorState | None,
    ) -> None:
        """Clear attachments of a framebuffer; a driver may do it elsewhere."""
        clears.clear(target, flags, values, scissor)

    def clear_surface(
        self, surface: Surface, flags: ClearFlags, values: clears.ClearValues, rect: ScissorState
    ) -> None:
        """Clear a rectangle of one surface; a driver may do it elsewhere."""
        self.on_host(surface.resource, (surface.level,), write=True)
        if flags & ClearFlags.COLOR0:
            clears.clear_color(surface, values.color, rect)
            return
        depth, stencil = values.depth, values.stencil
        clears.clear_depth_stencil(surface, flags, depth, stencil, rect, values.stencil_mask)

    def clear_render_target(self, surface: Surface, color: Color, rect: ScissorState) -> None:
        self.execute_deferred()
        values = clears.ClearValues(color, 0.0, 0)
        self.clear_surface(surface, ClearFlags.COLOR0, values, rect)

    def clear_depth_stencil(
        self,
        surface: Surface,
        flags: ClearFlags,
        depth: float,
        stencil: int,
        rect: ScissorState,
        stencil_writemask: int = 0xFF,
    ) -> None:
        self.execute_deferred()
        values = clears.ClearValues(_BLACK, depth, stencil, stencil_mask=stencil_writemask)
        self.clear_surface(surface, flags, values, rect)

    def blit(self, info: BlitInfo) -> None:
        self.execute_deferred()
        if not self.skipped:
            self.on_host(info.src, (info.src_level,))
            self.on_host(info.dst, (info.dst_level,), write=True)
            blit(info)

    def resource_copy_region(
        self,
        dst: Resource,
        dst_level: int,
        dst_x: int,
        dst_y: int,
        dst_z: int,
        src: Resource,
        src_level: int,
        src_box: Box,
    ) -> None:
        self.ready(src, dst)
        self.copy_texels(dst, dst_level, (dst_x, dst_y, dst_z), src, src_level, src_box)

    def copy_texels(
        self,
        dst: Resource,
        dst_level: int,
        origin: tuple[int, int, int],
        src: Resource,
        src_level: int,
        box: Box,
    ) -> None:
        """Copy a box to another place; a driver may do it elsewhere."""
        self.on_host(src, (src_level,))
        self.on_host(dst, (dst_level,), write=True)
        copy_region(dst, dst_level, *origin, src, src_level, box)

    def invalidate_resource(self, resource: Resource) -> None:
        """Do nothing: contents in host memory are kept."""

    def generate_mipmap(
        self,
        resource: Resource,
        format: Format,
        base_level: int,
        last_level: int,
        first_layer: int,
        last_layer: int,
    ) -> None:
        self.ready(resource, resource)
        self.on_host(resource, range(base_level, last_level + 1))
        self.on_host(resource, range(base_level + 1, last_level + 1), write=True)
        generate_mipmap(resource, format, base_level, last_level, first_layer, last_layer)

    # -- transfers -----------------------------------------------------------------------------

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        self.execute_deferred()
        self.raise_failure()
        assert isinstance(resource, HostResource)
        return transfer_map(resource, level, flags, box)

    def transfer_unmap(self, transfer: Transfer) -> None:
        transfer_unmap(transfer)

    # -- queries and synchronisation -------------------------------------------------------------

    def create_query(self, type: QueryType, index: int = 0) -> Handle:
        return Query(type, index)

    def begin_query(self, query: Handle) -> None:
        self.execute_deferred()
        query.active = True
        self.rebound()
        self.bound.count_samples(query.counts_samples)
        query.begin, query.end = self.counters.snapshot(), None

    def end_query(self, query: Handle) -> None:
        self.execute_deferred()
        if query.active:
            self.bound.count_samples(-query.counts_samples)
        query.active = False
        self.rebound()
        query.end = self.counters.snapshot()

    def get_query_result(self, query: Handle, wait: bool) -> int | dict[str, int] | None:
        self.execute_deferred()
        self.raise_failure()
        result: int | dict[str, int] = query.result()
        return result

    def destroy_query(self, query: Handle) -> None:
        if query.active:
            self.end_query(query)

    def render_condition(self, query: Handle | None, inverted: bool, wait: bool) -> None:
        self.execute_deferred()
        self._condition = None if query is None else RenderCondition(query, inverted)

    def flush(self) -> Fence:
        self.execute_deferred()
        self.raise_failure()
        return _Signalled()

    def memory_barrier(self) -> None:
        """Do nothing: work is executed in order."""
        self.execute_deferred()

    def explain(self, handle: Handle) -> dict[str, Any]:
        explained: dict[str, Any] = handle.explain()
        return explained
