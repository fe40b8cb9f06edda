"""Draws and dispatches of the driver itself, with the application's state set aside.

A clear that writes some channels or stencil bits only, and samples that the host has changed, are
draws of one rectangle over a layer; samples that the host reads are fetched by a compute shader.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.text.parser import parse
from gallette.drivers.common.bound import Bound, ConstantBuffer, Cso, StageBindings
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.pipe.enums import CompareFunc, Primitive, StencilOp
from gallette.pipe.formats import Format
from gallette.pipe.resource import level_extent
from gallette.pipe.state import (
    BlendState,
    DepthStencilAlphaState,
    DrawInfo,
    FramebufferState,
    RasterizerState,
    RenderTargetBlend,
    ScissorState,
    ShaderBuffer,
    StencilState,
    Surface,
    VertexElement,
    ViewportState,
)
from gallette.pipe.variant_log import VariantLog

from .lowering import source

if TYPE_CHECKING:
    from .context import VulkanContext


def texel_type(format: Format) -> str:
    """The type that shaders have of a colour format."""
    if not format.is_pure_integer:
        return "float32"
    return "int32" if format.is_signed_integer else "uint32"


_RASTER = Cso(RasterizerState(multisample=True))
_NO_ELEMENTS: Cso[tuple[VertexElement, ...]] = Cso(())


@cache
def _blend(mask: int) -> Cso[BlendState]:
    return Cso(BlendState((RenderTargetBlend(colormask=mask),)))


@cache
def _tests(depth: bool, stencil: int) -> Cso[DepthStencilAlphaState]:
    """The tests of such draws: depth is written unchanged, and the reference to these bits of the
    stencil.
    """
    replace = StencilOp.REPLACE
    one = StencilState(
        bool(stencil), CompareFunc.ALWAYS, replace, replace, replace, writemask=stencil
    )
    return Cso(
        DepthStencilAlphaState(depth, depth, CompareFunc.ALWAYS, stencil=(one, StencilState()))
    )


class Internal:
    """The driver's own shaders of a context, and draws with them."""

    def __init__(self, context: VulkanContext) -> None:
        self.context = context
        self._log = VariantLog()
        self._shaders: dict[str, ShaderObject[Any, Any]] = {}

    def shader(self, text: str) -> ShaderObject[Any, Any]:
        """A shader from its text, made once."""
        found: ShaderObject[Any, Any] | None = self._shaders.get(text)
        if found is None:
            compiler = self.context.screen.compiler
            found = self._shaders[text] = ShaderObject(parse(text), compiler, self._log)
        return found

    @contextmanager
    def aside(self) -> Iterator[Bound]:
        """A block with other bound state, without queries, captures or a render condition."""
        context = self.context
        context.rendering.end()
        kept, queries, feedback = context.bound, context.queries, context.draws.feedback
        active, wanted = queries.active, feedback.wanted
        context.bound = Bound(_blend(0xF), _RASTER, _tests(False, 0), _NO_ELEMENTS)
        context.bound.stages = {stage: StageBindings() for stage in Stage}
        queries.active, feedback.wanted = [], False
        try:
            yield context.bound
        finally:
            context.rendering.end()
            context.bound = kept
            queries.active, feedback.wanted = active, wanted

    def clear(
        self, surface: Surface, words: bytes, mask: int, stencil: tuple[int, int],
        rect: ScissorState,
    ) -> None:  # fmt: skip
        """Clear masked channels of a colour surface, or masked bits (value, mask) of a stencil."""
        type = texel_type(surface.format) if surface.format.is_color else "float32"
        with self.aside() as bound:
            bound.blend, bound.depth_stencil_alpha = _blend(mask), _tests(False, stencil[1])
            bound.stencil_ref = stencil[0], stencil[0]
            self._cover(surface, rect, source("constant", type=type), words)

    def write(self, surface: Surface, data: ShaderBuffer, what: str) -> None:
        """Write the "color", "depth" or "stencil" of each sample of a surface from a buffer.

        Stencil bits are set one at a time, in a stencil that is zero: devices need not allow
        shaders to write it.
        """
        width, height, _ = level_extent(surface.resource.desc, surface.level)
        whole = ScissorState(0, 0, width, height)
        type = texel_type(surface.format) if what == "color" else ""
        samples = max(1, surface.resource.desc.samples)
        text = source("samples", rest=source(what, type=type), discards=what == "stencil")
        bits = [1 << bit for bit in range(8)] if what == "stencil" else [0]
        with self.aside() as bound:
            bound.min_samples = samples
            bound.stages[Stage.FRAGMENT].buffers = [data]
            bound.stencil_ref = 0xFF, 0xFF
            for layer in range(surface.first_layer, surface.last_layer + 1):
                for bit in bits:
                    bound.depth_stencil_alpha = _tests(what == "depth", bit)
                    facts = np.array([width, height, layer * samples, bit], np.uint32)
                    one = Surface(surface.resource, surface.format, surface.level, layer, layer)
                    self._cover(one, whole, text, facts.tobytes())

    def _cover(self, surface: Surface, rect: ScissorState, text: str, uniforms: bytes) -> None:
        """Draw a rectangle over each layer of a surface. The viewport bounds it, because devices
        differ in which samples a scissor keeps.
        """
        context, bound = self.context, self.context.bound
        width, height, _ = level_extent(surface.resource.desc, surface.level)
        half = (rect.maxx - rect.minx) / 2, (rect.maxy - rect.miny) / 2, 0.5
        bound.viewports = (ViewportState(half, (rect.minx + half[0], rect.miny + half[1], 0.5)),)
        bound.shaders = {
            Stage.VERTEX: self.shader(source("corners")),
            Stage.FRAGMENT: self.shader(text),
        }
        bound.stages[Stage.FRAGMENT].constants = [ConstantBuffer(uniforms)]
        for layer in range(surface.first_layer, surface.last_layer + 1):
            one = Surface(surface.resource, surface.format, surface.level, layer, layer)
            color = surface.format.is_color
            context.rendering.end()
            bound.framebuffer = FramebufferState(
                width, height, 1, max(1, surface.resource.desc.samples),
                (one,) if color else (), None if color else one,
            )  # fmt: skip
            context.draws.draw(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))

    def destroy(self) -> None:
        """Destroy the shaders."""
        for shader in self._shaders.values():
            self.context.draws.forget_shader(shader)
            shader.destroy()
        self._shaders.clear()
