"""What draws derive from bound state, as immutable records.

`FixedState` follows from the state objects alone and is kept until another one is bound;
`DrawState` adds what may differ from draw to draw (programs joined with constants and textures,
vertex buffers, capture targets). Draw functions are given a `DrawState` and know no context.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.drivers.common.bound import Bound
from gallette.drivers.common.output.color import ColorTarget
from gallette.drivers.common.output.depth import DepthTarget
from gallette.drivers.common.output.engine import FragmentEngine, FragmentRun
from gallette.drivers.common.output.fragment_state import FragmentShader, FragmentState
from gallette.drivers.common.output.multisample import MultisampleEngine
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.output.smooth import SMOOTH, SmoothEngine
from gallette.drivers.common.program import BoundProgram
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.raster.batch import Batch, FragmentSink, RasterContext
from gallette.drivers.common.raster.samples import sample_pattern
from gallette.drivers.common.raster.setup import Rect
from gallette.drivers.common.raster.stipple import polygon_screen
from gallette.drivers.common.raster.triangles import DepthOffset
from gallette.drivers.common.raster.viewports import Viewports, depth_range
from gallette.drivers.common.vertex.clip import ClipPlanes
from gallette.drivers.common.vertex.fetch import Gathered
from gallette.drivers.common.vertex.vertices import Ints, OwnViewports, VertexSet
from gallette.drivers.common.work import Work
from gallette.pipe.state import (
    DrawInfo,
    FramebufferState,
    RasterizerState,
    StreamOutputInfo,
    StreamOutputTarget,
    VertexBuffer,
    VertexElement,
    ViewportState,
)

from .programs import Selection


class Witness(Protocol):
    """An observer of the fragments of draws; it may run them in its own portions."""

    def around(
        self, draw: DrawState, vertices: VertexSet, batch: Batch, run: FragmentRun
    ) -> FragmentSink:
        """The sink that the primitives of a batch are rasterized into, in place of `run`."""
        ...


class Recorder(Protocol):
    """A driver that records draws to execute them later, in another order."""

    def record(self, draw: DrawState, info: DrawInfo, merged: bool) -> bool:
        """Record a draw; returns false if it must be executed at once."""
        ...


@lazy_dataclass(frozen=True)
class FixedState:
    """Data that follows from the bound state objects."""

    selection: Selection
    engine: FragmentEngine
    raster: RasterContext
    viewport: ViewportState
    stream_output: StreamOutputInfo | None


@lazy_dataclass(frozen=True)
class DrawState:
    """Everything a draw needs besides the call itself."""

    fixed: FixedState
    programs: Mapping[Stage, BoundProgram]  # of the stages before the rasterizer
    fragment: FragmentShader
    elements: tuple[VertexElement, ...]
    buffers: tuple[VertexBuffer | None, ...]
    targets: tuple[StreamOutputTarget | None, ...]
    counters: Counters
    work: Work
    witness: Witness | None = None
    gathered: Gathered | None = None  # vertex buffers, if it is merged of draws with others
    scissors: Ints | None = None  # of each draw, if they differ: `[(x0, y0, x1, y1), draw]`
    firsts: npt.NDArray[np.int64] | None = None  # and where each begins, if they differ in that
    viewports: OwnViewports | None = None  # of each draw, if they differ
    bound: Bound | None = None  # what all this was derived from, while nothing is bound anew
    recorder: Recorder | None = None


def fixed_state(
    bound: Bound, selection: Selection, scratch: Scratch, counters: Counters, work: Work
) -> FixedState:
    """Derive what the selected programs run with."""
    engine = fragment_engine(bound, selection, scratch, counters, work)
    return FixedState(
        selection,
        engine,
        _raster_context(bound, selection, counters),
        bound.viewports[0],
        selection.stream_output,
    )


def fragment_engine(
    bound: Bound, selection: Selection, scratch: Scratch, counters: Counters, work: Work
) -> FragmentEngine:
    """The engine that tests and writes the fragments of draws in this state."""
    framebuffer = bound.framebuffer
    blend = bound.blend.state
    samples = _samples(framebuffer)
    planes = [
        [
            None if surface is None else ColorTarget(surface, blend, i, bound.blend_color, sample)
            for i, surface in enumerate(framebuffer.cbufs)
        ]
        for sample in range(samples)
    ]
    depths = [
        None if framebuffer.zsbuf is None else DepthTarget(framebuffer.zsbuf, sample)
        for sample in range(samples)
    ]
    colors, depth = planes[0], depths[0]
    width, plane = framebuffer.width, framebuffer.width * framebuffer.height
    reference = depth or next((color for color in colors if color is not None), None)
    if reference is not None:
        width, plane = reference.stride, reference.plane
    raster = bound.rasterizer.state
    clamp = None
    if _clamps_depth(raster):
        clamp = depth_range(bound.viewports[0], raster.clip_halfz)
    state = FragmentState(
        width=width,
        plane=plane,
        layers=max(1, framebuffer.layers),
        colors=colors,
        depth=depth,
        tests=bound.depth_stencil_alpha.state,
        references=bound.stencil_ref,
        facts=None if selection.fragment is None else selection.fragment.facts,
        counting=bound.counting_samples > 0,
        depth_clamp=clamp,
        sample_mask=bound.sample_mask,
        work=work,
    )
    if samples == 1:
        kind = SmoothEngine if _is_smooth(raster) else FragmentEngine
        return kind(state, scratch, counters)
    facts = state.facts
    return MultisampleEngine(
        state,
        scratch,
        counters,
        planes,
        depths,
        sample_pattern(samples, bound.sample_locations),
        per_sample=bound.min_samples > 1 or (facts is not None and facts.uses_sample_shading),
        multisampling=raster.multisample,
        alpha_to_coverage=blend.alpha_to_coverage,
        alpha_to_one=blend.alpha_to_one,
    )


def _clamps_depth(raster: RasterizerState) -> bool:
    return raster.depth_clamp or not (raster.depth_clip_near and raster.depth_clip_far)


def _is_smooth(raster: RasterizerState) -> bool:
    return raster.point_smooth or raster.line_smooth or raster.poly_smooth


def _samples(framebuffer: FramebufferState) -> int:
    """Samples per pixel of the attachments."""
    for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
        if surface is not None:
            return max(1, surface.resource.desc.samples)
    return max(1, framebuffer.samples)


def _raster_context(bound: Bound, selection: Selection, counters: Counters) -> RasterContext:
    outputs = selection.last.facts.outputs
    state = bound.rasterizer.state
    distances = {
        6 + i: (VaryingSlot.CLIP_DIST0 + i // 4, i % 4)
        for i in range(8)
        if state.clip_plane_enable >> i & 1
        and outputs.get(VaryingSlot.CLIP_DIST0 + i // 4, 0) >> (i % 4) & 1
    }
    culls = sum((outputs.get(VaryingSlot.CULL_DIST0 + i // 4, 0) >> (i % 4)) & 1 for i in range(8))
    viewports = None
    if VaryingSlot.VIEWPORT in outputs and len(bound.viewports) > 1:
        scissors = bound.scissors if state.scissor else None
        clamps = _clamps_depth(state)
        viewports = Viewports.of(
            bound.viewports, scissors, bound.framebuffer, clamps, state.clip_halfz
        )
    samples = _samples(bound.framebuffer)
    pattern = None
    if state.multisample and samples > 1:
        pattern = sample_pattern(samples, bound.sample_locations)
    smooth = SMOOTH if samples == 1 and _is_smooth(state) else None
    return RasterContext(
        state=state,
        target=Rect.of(bound.framebuffer, bound.scissors[0] if state.scissor else None),
        counters=counters,
        planes=ClipPlanes.of(state, distances),
        flat=selection.flat_slots,
        linear=selection.linear_slots,
        offset=_depth_offset(bound.framebuffer),
        cull_distances=culls,
        screen=polygon_screen(bound.polygon_stipple) if state.poly_stipple_enable else None,
        multisampled=pattern,
        smooth=smooth,
        viewports=viewports,
    )


def _depth_offset(framebuffer: FramebufferState) -> DepthOffset:
    """The size of a depth-offset unit: two steps of a fixed-point buffer, as on llvmpipe."""
    surface = framebuffer.zsbuf
    if surface is None:
        return DepthOffset(0.0)
    for channel in surface.format.channels:
        if channel.name == "Z":
            if channel.type == "FLOAT":
                return DepthOffset(0.0, True)
            return DepthOffset(2.0 / ((1 << channel.bits) - 1))
    return DepthOffset(0.0)
