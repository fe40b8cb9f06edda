"""The command stream: bound state, transfers, clears, copies; draws are in `draw`.

The host code in `drivers/common` works on mirrors and mapped buffers: it calls `on_host` first,
which waits for the device and copies newer contents. Work of the device begins with `on_device`,
which copies in the other direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.ir import Shader, Stage
from gallette.drivers.common.memory.clear import ClearValues
from gallette.drivers.common.memory.context import MemoryContext
from gallette.drivers.common.memory.resource import transfer_map, transfer_unmap
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import ClearFlags, MapFlags, QueryType
from gallette.pipe.interface import Fence, Handle
from gallette.pipe.resource import Resource, Transfer
from gallette.pipe.state import (
    BlitInfo,
    Box,
    ComputeInfo,
    DrawInfo,
    FramebufferState,
    ScissorState,
    StreamOutputInfo,
    Surface,
    TextureWrite,
)

from .batch import Batch, Stream
from .blits import blit_on_device, copy_on_device
from .copies import download, upload
from .draw import Draws
from .internal import Internal
from .memory.formats import DEPTH, STENCIL
from .memory.resources import VulkanBuffer, VulkanTexture
from .pipeline.cache import executables
from .queries import Queries, VulkanQuery
from .rendering import Rendering, clear_on_device, clear_rect_on_device
from .samples import read_samples, write_samples
from .series import Recorded, SeriesRecorder, records

if TYPE_CHECKING:
    from .screen import VulkanScreen

_WRITES = MapFlags.WRITE | MapFlags.DISCARD_RANGE
_RENAMED = 1 << 22
"""The largest buffer that gets other memory when it is written while the device reads it."""


class _BatchFence(Fence):
    """A fence that is signalled when a batch has been executed."""

    def __init__(self, batch: Batch | None, done: Callable[[], None]) -> None:
        self._batch, self._done = batch, done

    def wait(self, timeout_ns: int) -> bool:
        done = self._batch is None or self._batch.wait(min(timeout_ns, 2**64 - 1))
        if done:
            self._done()
        return done


class VulkanContext(MemoryContext):
    """Records draws into batches."""

    screen: VulkanScreen

    def __init__(self, screen: VulkanScreen) -> None:
        super().__init__(screen)
        self.device = screen.device
        self.stream = Stream(screen.device, screen.allocator)
        self.queries = Queries(self.stream)
        self.rendering = Rendering(self)
        self.draws = Draws(self)
        self.internal = Internal(self)
        self.series = SeriesRecorder(self)
        self.stream.before_submit = self.rendering.end
        self.stream.after_submit = self.draws.forget

    # -- where contents are ----------------------------------------------------------------------

    def on_host(
        self, resource: Resource, levels: Iterable[int] = (0,), write: bool = False
    ) -> None:
        """Called before the host reads or writes a resource."""
        if isinstance(resource, VulkanTexture):
            levels = tuple(levels)
            if resource.newer_image.intersection(levels):
                self.rendering.end()
                if resource.samples > 1:
                    read_samples(self, resource)
                else:
                    download(self.stream, resource, levels)
            if write:
                resource.host_wrote(levels)
        elif isinstance(resource, VulkanBuffer):
            resource.gpu.wait(write)

    def on_device(self, resource: Resource, levels: Iterable[int], write: bool = False) -> None:
        """Called before the device uses levels of a texture."""
        assert isinstance(resource, VulkanTexture)
        if resource.newer_mirror:
            levels = tuple(levels)
            if not resource.newer_mirror.keys().isdisjoint(levels):
                self.rendering.end()
                self.stream.prepare(resource.image, resource.format.aspect)
                if resource.samples > 1 and resource.writes:
                    resource.newer_mirror.clear()
                    write_samples(self, resource)
                else:
                    upload(self.stream, resource, levels)
        self.stream.batch.uses(resource.image, write)
        if write:
            resource.device_wrote(levels)

    # -- shaders ---------------------------------------------------------------------------------

    def create_shader_state(
        self, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None = None
    ) -> Handle:
        made: ShaderObject[Any, Any] = ShaderObject(
            shader, self.screen.compiler, self.variant_log, stream_output
        )
        self.shaders.add(made)
        return made

    def delete_shader_state(self, handle: Handle) -> None:
        self.draws.forget_shader(handle)
        super().delete_shader_state(handle)

    # -- work ------------------------------------------------------------------------------------

    def draw_vbo(self, info: DrawInfo) -> None:
        self.raise_failure()
        if not self.skipped:
            self.draws.draw(info)

    def prepared_draw(self, info: DrawInfo) -> Recorded | None:
        """The last draw, to be repeated by `draw_series`; None if that is impossible."""
        made = self.draws.made
        return None if made is None or "draw_vbo" in self.__dict__ else records(self, made, info)

    def draw_series(self, series: Series) -> int:
        """Repeat draws and the changes between them; returns how many commands were executed."""
        if self._failure is not None or self._condition is not None or "draw_vbo" in self.__dict__:
            return 0
        return self.series.repeat(series)

    def launch_grid(self, info: ComputeInfo) -> None:
        self.raise_failure()
        self.draws.compute(info)

    def clear_attachments(
        self, target: FramebufferState, flags: ClearFlags, values: ClearValues,
        scissor: ScissorState | None,
    ) -> None:  # fmt: skip
        clear_on_device(self, flags, values, scissor, target)

    def clear_surface(
        self, surface: Surface, flags: ClearFlags, values: ClearValues, rect: ScissorState
    ) -> None:
        if not clear_rect_on_device(self, surface, flags, values, rect):
            super().clear_surface(surface, flags, values, rect)

    def blit(self, info: BlitInfo) -> None:
        if not self.skipped and not blit_on_device(self, info):
            super().blit(info)

    def copy_texels(self, *what: Any) -> None:
        if not copy_on_device(self, *what):
            super().copy_texels(*what)

    # -- transfers -------------------------------------------------------------------------------

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        self.raise_failure()
        write = bool(flags & MapFlags.WRITE)
        if isinstance(resource, VulkanTexture):
            whole = resource.stored is not None or resource.samples > 1
            whole = whole or resource.format.aspect == DEPTH | STENCIL
            if not flags & MapFlags.DISCARD_RANGE or whole:
                self.on_host(resource, (level,))
            if write:
                resource.host_wrote((level,), None if whole else box)
        elif write and not flags & MapFlags.READ:
            self._make_writable(resource, flags)  # type: ignore[arg-type]
        elif not flags & MapFlags.UNSYNCHRONIZED:
            self.on_host(resource, (level,), write)
        return transfer_map(resource, level, flags, box)  # type: ignore[arg-type]

    def _make_writable(self, buffer: VulkanBuffer, flags: MapFlags) -> None:
        """Called before the host writes a buffer: gives it other memory if the device still reads
        the old contents.
        """
        if not buffer.gpu.busy or (buffer.live and flags & MapFlags.UNSYNCHRONIZED):
            return
        gpu = buffer.gpu
        written = gpu.writer is not None and not gpu.writer.is_done()
        mapped = buffer.live or flags & MapFlags.PERSISTENT
        if written or mapped or buffer.desc.width > _RENAMED:
            gpu.wait(write=True)
        else:
            buffer.replace()

    def transfer_unmap(self, transfer: Transfer) -> None:
        transfer_unmap(transfer)

    def texture_subdata(self, write: TextureWrite, data: bytes) -> None:
        """Write texels to the mirror."""
        texture = write.texture
        assert isinstance(texture, VulkanTexture)
        transfer = self.transfer_map(texture, write.level, _WRITES, write.box)
        transfer.data[...] = np.frombuffer(data, np.uint8).reshape(transfer.data.shape)
        self.transfer_unmap(transfer)

    def buffer_subdata(
        self, resource: Resource, offset: int, data: bytes | memoryview | npt.NDArray[np.uint8]
    ) -> None:
        assert isinstance(resource, VulkanBuffer)
        source = np.frombuffer(data, np.uint8)
        if source.size:
            self._make_writable(resource, MapFlags.WRITE)
            resource.bytes_at(offset, source.size)[:] = source
            resource.touch()

    def set_stream_output_targets(self, targets: Any, append: bool = False) -> None:
        self.rendering.end()
        self.draws.feedback.bind(targets, append)
        super().set_stream_output_targets(targets, append)

    # -- queries and synchronisation ---------------------------------------------------------------

    def create_query(self, type: QueryType, index: int = 0) -> Handle:
        return VulkanQuery(type, index)

    def begin_query(self, query: Handle) -> None:
        self._change_query(query, begins=True)

    def end_query(self, query: Handle) -> None:
        self._change_query(query, begins=False)

    def _change_query(self, query: VulkanQuery, begins: bool) -> None:
        if not query.counts_samples or self.draws.feedback.running:
            self.rendering.end()
        self.queries.change(query, begins, self.rendering.target is not None)

    def get_query_result(self, query: Handle, wait: bool) -> int | dict[str, int] | None:
        self.raise_failure()
        if not wait and not self.queries.is_ready(query):
            return None
        result: int | dict[str, int] = query.result()
        return result

    def destroy_query(self, query: Handle) -> None:
        if query.active:
            self.end_query(query)
        query.segments.clear()

    def flush(self) -> Fence:
        self.raise_failure()
        return _BatchFence(self.stream.submit(), self.draws.feedback.update_sizes)

    def explain(self, handle: Handle) -> dict[str, Any]:
        """How a shader was compiled: its SPIR-V, and the device's statistics of its pipelines."""
        found = super().explain(handle)
        for told, variant in zip(found["variants"], handle.variants.values(), strict=True):
            for pipeline in self.screen.pipelines.using(variant.program)[:1]:
                lines = executables(self.device, pipeline.handle)
                told["code"] += "".join(f"; {line}\n" for line in lines)
        return found

    def memory_barrier(self) -> None:
        self.rendering.end()

    def destroy(self) -> None:
        self.rendering.end()
        self.internal.destroy()
        try:
            super().destroy()
        finally:
            self.stream.destroy()
            self.queries.destroy()
