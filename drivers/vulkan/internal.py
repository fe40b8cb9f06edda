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

if TYPE_CHECKING:
    from .context import VulkanContext

__all__ = ["Internal", "texel_type"]

_CORNERS = """
shader vertex "corners"
info { outputs_written = [0]; system_values_read = [0] }
function main () entry
impl main {
    block b0:
        32 %0 = @load_vertex_id ()
        32 %1 = load_const (0x00000001)
        32 %2 = iand %0, %1
        32 %3 = ushr %0, %1
        32x2 %4 = vec2 %2, %3
        32x2 %5 = ishl %4, %1.xx
        32x2 %6 = isub %5, %1.xx
        32x2 %7 = i2f32 %6
        32 %8 = load_const (0x00000000)
        32 %9 = load_const (0x3f800000)
        32x4 %10 = vec4 %7.x, %7.y, %8, %9
        @store_output (%10, %8) (write_mask=xyzw, location=VARYING.POS)
}
"""
"""The corners of the viewport as a strip."""

_CONSTANT = """
shader fragment "constant"
info {{ outputs_written = [4]; num_ubos = 1 }}
function main () entry
impl main {{
    block b0:
        32 %0 = load_const (0x00000000)
        32x4 %1 = @load_ubo (%0, %0) (range=16)
        @store_output (%1, %0) (write_mask=xyzw, location=FRAG.DATA0, src_type={type})
}}
"""

_SAMPLES = """
shader fragment "samples"
info {{ outputs_written = [{slot}]; system_values_read = [11, 14]; num_ubos = 1; num_ssbos = 1;
       uses_discard = {discards}; uses_sample_shading = True; reads_frag_coord = True }}
function main () entry
impl main {{
    block b0:
        32x4 %0 = @load_frag_coord ()
        32x2 %1 = f2u32 %0.xy
        32 %2 = load_const (0x00000000)
        32x4 %3 = @load_ubo (%2, %2) (range=16)
        32 %4 = @load_sample_id ()
        32 %5 = iadd %3.z, %4
        32 %6 = imul %5, %3.y
        32 %7 = iadd %6, %1.y
        32 %8 = imul %7, %3.x
        32 %9 = iadd %8, %1.x
        32 %10 = load_const (0x00000004)
        32 %11 = ishl %9, %10
        32x4 %12 = @load_ssbo (%2, %11)
        {rest}
}}
"""
"""Each sample takes four words of a buffer: width, height, first plane and a bit are uniforms."""

_DISCARD = """
        32 %13 = iand %12.x, %3.w
        1 %14 = ieq! %13, %2
    if %14 {
        block b1:
            @discard ()
    } else {
        block b2:
    }
    block b3:
"""


def texel_type(format: Format) -> str:
    """The type that shaders have of a colour format."""
    if not format.is_pure_integer:
        return "float32"
    return "int32" if format.is_signed_integer else "uint32"


def _samples(slot: int, rest: str) -> str:
    return _SAMPLES.format(slot=slot, rest=rest, discards=rest is _DISCARD)


@cache
def _source(name: str, type: str) -> str:
    if name == "constant":
        return _CONSTANT.format(type=type)
    if name == "stencil":
        return _samples(4, _DISCARD)
    if name == "depth":
        return _samples(0, "@store_output (%12.x, %2) (write_mask=x, location=FRAG.DEPTH)")
    more = f"write_mask=xyzw, location=FRAG.DATA0, src_type={type}"
    return _samples(4, f"@store_output (%12, %2) ({more})")


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

    def shader(self, source: str) -> ShaderObject[Any, Any]:
        """A shader from its text, made once."""
        found: ShaderObject[Any, Any] | None = self._shaders.get(source)
        if found is None:
            compiler = self.context.screen.compiler
            found = self._shaders[source] = ShaderObject(parse(source), compiler, self._log)
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
        queries.active, feedback.wanted, context.draws.dirty = [], False, True
        try:
            yield context.bound
        finally:
            context.rendering.end()
            context.bound, context.draws.dirty = kept, True
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
            self._cover(surface, rect, _source("constant", type), words)

    def write(self, surface: Surface, data: ShaderBuffer, what: str) -> None:
        """Write the "color", "depth" or "stencil" of each sample of a surface from a buffer.

        Stencil bits are set one at a time, in a stencil that is zero: devices need not allow
        shaders to write it.
        """
        width, height, _ = level_extent(surface.resource.desc, surface.level)
        whole = ScissorState(0, 0, width, height)
        type = texel_type(surface.format) if what == "color" else ""
        samples = max(1, surface.resource.desc.samples)
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
                    self._cover(one, whole, _source(what, type), facts.tobytes())

    def _cover(self, surface: Surface, rect: ScissorState, source: str, uniforms: bytes) -> None:
        """Draw a rectangle over each layer of a surface. The viewport bounds it, because devices
        differ in which samples a scissor keeps.
        """
        context, bound = self.context, self.context.bound
        width, height, _ = level_extent(surface.resource.desc, surface.level)
        half = (rect.maxx - rect.minx) / 2, (rect.maxy - rect.miny) / 2, 0.5
        bound.viewports = (ViewportState(half, (rect.minx + half[0], rect.miny + half[1], 0.5)),)
        bound.shaders = {
            Stage.VERTEX: self.shader(_CORNERS),
            Stage.FRAGMENT: self.shader(source),
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
            context.draws.dirty = True
            context.draws.draw(DrawInfo(Primitive.TRIANGLE_STRIP, count=4))

    def destroy(self) -> None:
        """Destroy the shaders."""
        for shader in self._shaders.values():
            self.context.draws.forget_shader(shader)
            shader.destroy()
        self._shaders.clear()
