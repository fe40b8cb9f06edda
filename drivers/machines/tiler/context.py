"""A pipe context that collects draws into render passes.

Draws are recorded as long as they go to one framebuffer and their results are not read; then the
pass is executed (`render_pass`). A clear of whole attachments begins a pass and costs no memory
traffic, and a blit that resolves an attachment of the pass is executed in its tiles. As in real
tilers, draws that cannot be binned go to memory directly: those with more than two stages,
transform feedback, side effects, layers, or several viewports.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.bound import resources_of
from gallette.drivers.common.context import HostContext
from gallette.drivers.common.draw.state import DrawState
from gallette.drivers.common.memory.clear import ClearValues, clear
from gallette.drivers.common.memory.resource import HostResource, transfer_map
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.machines.program import BoundMachine
from gallette.pipe.enums import ClearFlags, MapFlags
from gallette.pipe.interface import EVERY_CHANNEL, Color, ColorMask, Handle
from gallette.pipe.resource import Resource, Transfer
from gallette.pipe.state import BlitInfo, Box, DrawInfo, FramebufferState, ScissorState

from .bins import Grid
from .keys import VertexKey
from .picture import bins_picture, described
from .render_pass import PassReport, RenderPass
from .tiles import Clear, can_be_tiled, pixel_bytes, whole

if TYPE_CHECKING:
    from gallette.drivers.common.screen import HostScreen

_REPORTS = 64
"""The number of passes whose reports are kept."""


class TilerContext(HostContext):
    """A pipe context of the tiler; it records draws (`drivers.common.draw.state.Recorder`)."""

    regroup = False

    def __init__(
        self, screen: HostScreen, tile_memory: int, bypass: bool, resolve_in_tile: bool
    ) -> None:
        super().__init__(screen)
        self._tile_memory = tile_memory
        self._resolve_in_tile = resolve_in_tile
        self._tile_scratch = Scratch()
        self._pass: RenderPass | None = None
        self.reports: deque[PassReport] = deque(maxlen=_REPORTS)
        if not bypass:
            self._states.recorder = self

    # -- render passes -----------------------------------------------------------------------------

    def execute_deferred(self) -> None:
        super().execute_deferred()
        self._execute()

    def retargeting(self) -> None:
        """Called before another framebuffer is bound. The pass continues until something else is
        drawn to.
        """
        super().execute_deferred()

    def _execute(self) -> None:
        """Execute the recorded pass."""
        found, self._pass = self._pass, None
        if found is None:
            return
        try:
            if found.draws or found.resolves:
                found.execute()
                self.reports.append(found.report)
            else:
                for each in found.clears:
                    clear(found.framebuffer, each.flags, each.values, None)
        except (GalletteError, MemoryError) as error:
            self.deferred_failure(error)
        finally:
            found.release()

    def _begin(self, framebuffer: FramebufferState) -> RenderPass:
        """The pass that draws to a framebuffer."""
        found = self._pass
        if found is not None and (found.framebuffer != framebuffer or found.resolves):
            self._execute()
        if self._pass is None:
            size = framebuffer.width, framebuffer.height
            grid = Grid.of(*size, pixel_bytes(framebuffer), self._tile_memory)
            self._pass = RenderPass(framebuffer, grid, self._tile_scratch)
        return self._pass

    def record(self, draw: DrawState, info: DrawInfo, merged: bool) -> bool:
        """Record a draw in the pass; returns false if it must go to memory directly."""
        bound = draw.bound
        assert bound is not None
        if not self._can_be_binned(draw, bound.framebuffer):
            self._execute()
            return False
        selection = draw.fixed.selection
        vertex = selection.origin[0][0]
        program = draw.programs[Stage.VERTEX]
        assert isinstance(program, BoundMachine)
        code: object = program.program
        key = next(k for k, v in vertex.variants.items() if v.program is code)
        assert isinstance(key, VertexKey)
        binning = vertex.variant_for(replace(key, binning=True)).program
        self._begin(bound.framebuffer).record(
            draw,
            bound,
            info,
            merged,
            binning.bind(program.resources),
            resources_of(bound),
        )
        return True

    def _can_be_binned(self, draw: DrawState, framebuffer: FramebufferState) -> bool:
        selection = draw.fixed.selection
        fragment = selection.fragment
        effects = any(p.facts.has_side_effects for p in selection.stages.values())
        return (
            can_be_tiled(framebuffer)
            and set(selection.stages) == {Stage.VERTEX}
            and not any(target is not None for target in draw.targets)
            and not draw.fixed.raster.state.rasterizer_discard
            and draw.fixed.raster.viewports is None
            and draw.witness is None
            and not effects
            and not (fragment is not None and fragment.facts.has_side_effects)
        )

    # -- calls -------------------------------------------------------------------------------------

    def draw_vbo(self, info: DrawInfo) -> None:
        if not self._queue.joins(info):
            super().execute_deferred()  # pending draws are recorded, and the pass goes on
        super().draw_vbo(info)

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
        super().execute_deferred()
        values = ClearValues(color, depth, stencil, color_mask, stencil_mask)
        framebuffer = self.bound.framebuffer
        fast = (
            self._states.recorder is not None
            and not self.skipped
            and _covers(scissor, framebuffer)
            and whole(values)
            and can_be_tiled(framebuffer)
        )
        if self._pass is not None and (
            not fast or self._pass.draws or self._pass.framebuffer != framebuffer
        ):
            self._execute()
        if fast:
            self._begin(framebuffer).clears.append(Clear(flags, values))
        else:
            super().clear(flags, color, depth, stencil, scissor, color_mask, stencil_mask)

    def blit(self, info: BlitInfo) -> None:
        """Resolve samples of the pass's attachments in its tiles."""
        super().execute_deferred()
        found = self._pass
        if found is None or self.skipped or not (self._resolve_in_tile and found.resolve(info)):
            super().blit(info)

    def invalidate_resource(self, resource: Resource) -> None:
        super().execute_deferred()
        if self._pass is not None:
            self._pass.forget(resource)

    def transfer_map(self, resource: Resource, level: int, flags: MapFlags, box: Box) -> Transfer:
        """Map resources that the pass does not use without executing it."""
        super().execute_deferred()
        if self._pass is not None and self._pass.names(resource):
            self._execute()
        self.raise_failure()
        assert isinstance(resource, HostResource)
        return transfer_map(resource, level, flags, box)

    def explain(self, handle: Handle) -> dict[str, Any]:
        """A fragment shader's explanation, with the bins of the last pass."""
        explained = super().explain(handle)
        if self.reports and handle.stage is Stage.FRAGMENT:
            shown = bins_picture(self.reports[-1])
            for variant in explained["variants"]:
                variant["pictures"].append((f"the last pass: {described(self.reports[-1])}", shown))
        return explained

    def destroy(self) -> None:
        self.execute_deferred()
        super().destroy()
        self._states.recorder = None


def _covers(scissor: ScissorState | None, framebuffer: FramebufferState) -> bool:
    """Whether the scissor covers the framebuffer."""
    return scissor is None or (
        scissor.minx <= 0
        and scissor.miny <= 0
        and scissor.maxx >= framebuffer.width
        and scissor.maxy >= framebuffer.height
    )
