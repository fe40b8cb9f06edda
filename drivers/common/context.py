"""A pipe context that runs shaders over lanes in NumPy or compiled code, and defers small draws to
merge them.

The driver's screen provides the shader compiler. The stages of a draw are in `draw`, `vertex`,
`raster` and `output`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler import debug
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.lazy_shader import digest_of
from gallette.drivers.common.bound import MERGED_STAGES
from gallette.drivers.common.draw.snapshot import PreparedDraw
from gallette.drivers.common.memory.context import MemoryContext
from gallette.drivers.common.memory.resource import HostResource, transfer_map
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.pipe.draw_series import Series
from gallette.pipe.enums import MapFlags, QueryType
from gallette.pipe.interface import Handle
from gallette.pipe.resource import Resource, Transfer
from gallette.pipe.state import (
    Box,
    ComputeInfo,
    DrawInfo,
    StreamOutputInfo,
)
from gallette.pipe.taps import is_tapped

from .draw.compute import launch
from .draw.draw_states import DrawStates
from .draw.merging import MergedDraws
from .draw.queue import DrawQueue
from .draw.state import Witness
from .work import Work

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader

    from .screen import HostScreen


class HostContext(MemoryContext):
    """A pipe context that executes on the host."""

    screen: HostScreen
    regroup = True  # pending draws with different states may be executed in per-pixel order

    def __init__(self, screen: HostScreen) -> None:
        super().__init__(screen)
        self._states = DrawStates(self.bound, self.counters, Work(screen.budget, screen.time_limit))
        self._joiner = self._states.joiner
        self._queue = DrawQueue(self._states, screen.plans, self.regroup, screen.counts_draws)
        self._by_content: dict[object, ShaderObject[Any, Any]] = {}
        self._forgets = debug.is_set("driver:forget")

    @property
    def work(self) -> Work:
        """The work of the draws of this context."""
        return self._states.work

    def watch(self, witness: Witness | None) -> None:
        """Report the fragments of all following draws to `witness`, which disables merging."""
        self.execute_deferred()
        self._states.witness = witness
        self.bound.epoch += 1

    # -- changes of contents -----------------------------------------------------------------------

    def execute_deferred(self) -> None:
        try:
            self._queue.flush()
        except (GalletteError, MemoryError) as error:
            self.deferred_failure(error)

    def changing(self) -> None:
        self._queue.rebinding()

    def retargeting(self) -> None:
        self.execute_deferred()

    def rebound(self) -> None:
        self._states.forget()

    def stage_rebound(self, stage: Stage) -> None:
        self._joiner.forget(stage)

    def constants_changing(self, stage: Stage, index: int, buffer: Resource | None) -> None:
        """Pending draws have a copy of block 0, but not of other blocks."""
        if index or buffer is not None or stage not in MERGED_STAGES:
            self.changing()

    # -- shaders and work ------------------------------------------------------------------------

    def create_shader_state(
        self, stage: Stage, shader: Shader, stream_output: StreamOutputInfo | None = None
    ) -> Handle:
        if stage is Stage.KERNEL:
            shader.unref()
            raise GalletteError(f"{self.screen.name} has no {stage.value} stage")
        # Programs with equal shaders share one object, and thus its variants and prepared draws.
        digest = digest_of(shader)
        content = (stage, digest, shader.name, shader.label, stream_output)
        made = self._by_content.get(content)
        if made is not None:
            shader.unref()
        else:
            made = ShaderObject(shader, self.screen.compiler, self.variant_log, stream_output)
            self.shaders.add(made)
            if digest and made.kept is not None:
                self._by_content[content], made.content = made, content
        made.users += 1
        return made

    def delete_shader_state(self, handle: Handle) -> None:
        handle.users -= 1
        if handle.users:
            return
        self._by_content.pop(handle.content, None)
        super().delete_shader_state(handle)
        self._states.forget_shaders()
        self._queue.forget()

    def forget_derived(self) -> None:
        """Forget everything derived from bound state and from the contents of resources."""
        self.execute_deferred()
        self._states.forget_shaders()
        self.counters.gather()
        self.counters.apart.clear()  # counters in the scratch memory, which goes
        self._states.scratch = Scratch()
        self._queue.forget()
        for resource in self.screen.resources.live:
            assert isinstance(resource, HostResource)
            resource.derived.clear()
            resource.units.clear()

    def draw_vbo(self, info: DrawInfo) -> None:
        if self._forgets:
            self.forget_derived()
        if not self._queue.joins(info):
            self.execute_deferred()
        if self._failure is not None:
            self.raise_failure()
        if not self.skipped:
            self._queue.submit(info)

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        """Pending draws hold references to the resources they name, so a resource with a single
        reference can be written without flushing; for others see `draw.copy_on_write`.
        """
        assert isinstance(resource, HostResource)
        if resource.refcount > 1 and not self._queue.may_map(resource, flags, (level, box)):
            self.execute_deferred()
        if self._failure is not None:
            self.raise_failure()
        return transfer_map(resource, level, flags, box)

    def _may_map(self, resource: Resource, flags: MapFlags) -> bool:
        """Whether the resource can be read or written without flushing the batch."""
        assert isinstance(resource, HostResource)
        return self._maps_plainly and self._queue.may_map(resource, flags)

    @property
    def _maps_plainly(self) -> bool:
        """Whether transfers of this class check what pending draws read before they map a
        resource.
        """
        return type(self).transfer_map is HostContext.transfer_map

    def ready(self, read: Resource, written: Resource) -> None:
        """Execute pending draws if they write the one or read the other."""
        if not (self._may_map(read, MapFlags.READ) and self._may_map(written, MapFlags.WRITE)):
            self.execute_deferred()

    def buffer_subdata(
        self, resource: Resource, offset: int, data: bytes | memoryview | npt.NDArray[np.uint8]
    ) -> None:
        """Write a small buffer faster than by mapping it, since applications do so between small
        draws.
        """
        end = offset + len(data)
        if not self._maps_plainly or not 0 <= offset < end <= resource.desc.width:
            super().buffer_subdata(resource, offset, data)
            return
        assert isinstance(resource, HostResource)
        if resource.refcount > 1 and not self._queue.may_write(resource):
            self.execute_deferred()
        if self._failure is not None:
            self.raise_failure()
        resource.memory[offset:end] = data  # type: ignore[assignment]
        resource.touch()

    def begin_query(self, query: Handle) -> None:
        """Begin a query; pending draws need no flush, because each draw is counted by itself."""
        if not self._counts_later(query):
            super().begin_query(query)
            return
        self._queue.begin_query(query)

    def end_query(self, query: Handle) -> None:
        if not self._counts_later(query):
            super().end_query(query)
            return
        self._queue.end_query(query)

    def _counts_later(self, query: Handle) -> bool:
        return self.screen.counts_draws and query.type is not QueryType.PIPELINE_STATISTICS

    @property
    def taps(self) -> list[Callable[[Sequence[MergedDraws]], None]]:
        """Observers: each is called with the merged draws of a batch before they are executed."""
        return self._queue.taps

    @property
    def _draws_plainly(self) -> bool:
        """Whether series may be drawn at once. Not if a driver overrides `draw_vbo`, which has to
        be called for each draw; such a driver may also defer draws, and writes between them would
        have to check those.
        """
        return type(self).draw_vbo is HostContext.draw_vbo

    def prepared_draw(self, info: DrawInfo) -> PreparedDraw | None:
        if not self._draws_plainly or self._forgets:
            return None
        return self._queue.prepared(info)

    def prepared_call(self, token: PreparedDraw, info: DrawInfo) -> PreparedDraw | None:
        return self._queue.prepared_call(token, info)

    def draw_series(self, series: Series) -> int:
        if is_tapped(self, "draw_vbo") or not self._draws_plainly:
            return 0
        done = 0
        while done < len(series):
            if self._failure is not None or self._condition is not None:
                break
            more, full = self._queue.extend(series, done)
            done += more
            if full:
                self.execute_deferred()
            elif not more:
                break
        return done

    def destroy(self) -> None:
        self.execute_deferred()
        self._queue.forget()
        super().destroy()

    def launch_grid(self, info: ComputeInfo) -> None:
        self.execute_deferred()
        self.raise_failure()
        if not self.skipped:
            self.counters.cs_invocations += launch(self._states, info)
