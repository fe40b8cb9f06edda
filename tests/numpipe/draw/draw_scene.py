"""A small canvas on the numpipe driver: hand-built shaders, vertices in, pixels out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.drivers.common.context import HostContext
from gallette.drivers.numpipe import NumpipeScreen, create_screen
from gallette.pipe.codecs import unpack, unpack_depth
from gallette.pipe.enums import Bind, BlendFactor, ClearFlags, MapFlags, Primitive, Target
from gallette.pipe.formats import format_named
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.state import (
    BlendState,
    BlitInfo,
    Box,
    DepthStencilAlphaState,
    DrawInfo,
    FramebufferState,
    RasterizerState,
    RenderTargetBlend,
    Surface,
    VertexBuffer,
    VertexElement,
    ViewportState,
)

VEC4 = "R32G32B32A32_FLOAT"
SHAPE = np.array([[0, 0, 0, 1], [0.5, 0, 0, 1], [0, 0.5, 0, 1], [0.5, 0.4, 0, 1]], np.float32)
OVER = RenderTargetBlend(
    True, rgb_src_factor=BlendFactor.SRC_ALPHA, rgb_dst_factor=BlendFactor.INV_SRC_ALPHA
)


def constant(b: Builder, offset: int) -> Any:
    return b.intrinsic("load_ubo", [b.imm_int(0), b.imm_int(offset)], num_components=4)


def moved_vertex() -> Shader:
    """The position plus constant 0."""
    b = Builder.shader_main(Stage.VERTEX, "moved")
    zero = b.imm_int(0)
    place = b.intrinsic("load_input", [zero], num_components=4, base=0, location=0)
    moved = b.fadd(place, constant(b, 0))
    b.intrinsic("store_output", [moved, zero], location=VaryingSlot.POS, write_mask=15)
    return b.shader


def painted_fragment() -> Shader:
    """Constant 1 is the colour, unless its red is above a half: then constant 0 is."""
    b = Builder.shader_main(Stage.FRAGMENT, "painted")
    color = constant(b, 16)
    chosen = b.bcsel(b.flt(b.imm_float(0.5), b.channel(color, 0)), constant(b, 0), color)
    b.intrinsic("store_output", [chosen, b.imm_int(0)], location=FragResult.COLOR, write_mask=15)
    return b.shader


def position_vertex(varyings: Sequence[int] = (VaryingSlot.VAR0,)) -> Shader:
    """Attribute 0 is the position, attribute 1 + i goes to `varyings[i]`."""
    b = Builder.shader_main(Stage.VERTEX, "position")
    zero = b.imm_int(0)
    for base, slot in enumerate((VaryingSlot.POS, *varyings)):
        value = b.intrinsic("load_input", [zero], num_components=4, base=base, location=base)
        b.intrinsic("store_output", [value, zero], location=int(slot), write_mask=15)
    return b.shader


def color_fragment(
    mode: str = "smooth",
    result: int = FragResult.COLOR,
    discard_below: float | None = None,
    depth: bool = False,
) -> Shader:
    """Varying 0 is the colour; optionally its alpha discards or its red becomes the depth."""
    b = Builder.shader_main(Stage.FRAGMENT, "color")
    zero = b.imm_int(0)
    if mode == "flat":
        value = b.intrinsic("load_input", [zero], num_components=4, location=VaryingSlot.VAR0)
    else:
        bary = b.intrinsic("load_barycentric_pixel", [], interp=mode)
        value = b.intrinsic(
            "load_interpolated_input", [bary, zero], num_components=4, location=VaryingSlot.VAR0
        )
    if discard_below is not None:
        condition = b.flt(b.channel(value, 3), b.imm_float(discard_below))
        b.intrinsic("discard_if", [condition])
    if depth:
        red = b.channel(value, 0)
        b.intrinsic("store_output", [red, zero], location=FragResult.DEPTH, write_mask=1)
    b.intrinsic("store_output", [value, zero], location=int(result), write_mask=15)
    return b.shader


class Canvas:
    """One framebuffer and a context to draw on it; everything is released by `close`."""

    def __init__(
        self,
        width: int = 64,
        height: int = 64,
        colors: Iterable[str] = ("R8G8B8A8_UNORM",),
        depth: str | None = None,
        samples: int = 0,
        **options: Any,
    ) -> None:
        """`options` are the screen's."""
        self.samples = samples
        self.width, self.height = width, height
        self.screen: NumpipeScreen = create_screen(**options)
        context = self.screen.context_create()
        assert isinstance(context, HostContext)
        self.context = context
        self.colors = [self._texture(name, Bind.RENDER_TARGET) for name in colors]
        self.depth = None if depth is None else self._texture(depth, Bind.DEPTH_STENCIL)
        self._buffers: list[Resource] = []
        self._shaders: list[Any] = []
        self.framebuffer = FramebufferState(
            width,
            height,
            cbufs=tuple(Surface(c, c.desc.format) for c in self.colors),
            samples=samples,
            zsbuf=None if self.depth is None else Surface(self.depth, self.depth.desc.format),
        )
        context.set_framebuffer_state(self.framebuffer)
        self.depth_range(0.0, 1.0)
        self.rasterizer = RasterizerState(point_quad_rasterization=True)
        self.set_rasterizer()
        self.program(position_vertex(), color_fragment())
        everything = ClearFlags.COLOR | ClearFlags.DEPTH | ClearFlags.STENCIL
        context.clear(everything, (0.0, 0.0, 0.0, 0.0), 1.0, 0)

    def _texture(self, name: str, bind: Bind) -> Resource:
        desc = ResourceDesc(
            Target.TEXTURE_2D,
            format_named(name),
            self.width,
            self.height,
            samples=self.samples,
            bind=bind,
        )
        return self.screen.resource_create(desc)

    def close(self) -> None:
        for shader in self._shaders:
            self.context.delete_shader_state(shader)
        self.context.destroy()
        for resource in (*self.colors, *self._buffers, self.depth):
            if resource is not None:
                resource.unref()

    # -- state -----------------------------------------------------------------------------------

    def depth_range(self, near: float, far: float) -> None:
        w, h = self.width / 2, self.height / 2
        self.context.set_viewport_states(
            0, [ViewportState((w, h, (far - near) / 2), (w, h, (far + near) / 2))]
        )

    def program(self, vertex: Shader, fragment: Shader | None, stream_output: Any = None) -> None:
        context = self.context
        handle = context.create_shader_state(Stage.VERTEX, vertex, stream_output)
        self._shaders.append(handle)
        context.bind_shader_state(Stage.VERTEX, handle)
        if fragment is None:
            context.bind_shader_state(Stage.FRAGMENT, None)
            return
        handle = context.create_shader_state(Stage.FRAGMENT, fragment)
        self._shaders.append(handle)
        context.bind_shader_state(Stage.FRAGMENT, handle)

    def set_rasterizer(self, **changes: Any) -> None:
        self.rasterizer = replace(self.rasterizer, **changes)
        handle = self.context.create_rasterizer_state(self.rasterizer)
        self.context.bind_rasterizer_state(handle)

    def set_tests(self, **values: Any) -> None:
        state = DepthStencilAlphaState(**values)
        context = self.context
        context.bind_depth_stencil_alpha_state(context.create_depth_stencil_alpha_state(state))

    def set_blend(self, state: BlendState) -> None:
        self.context.bind_blend_state(self.context.create_blend_state(state))

    # -- work ------------------------------------------------------------------------------------

    def buffer(self, data: npt.ArrayLike, dtype: Any = np.float32) -> Resource:
        raw = np.ascontiguousarray(np.asarray(data, dtype)).view(np.uint8).reshape(-1)
        desc = ResourceDesc(Target.BUFFER, format_named("R8_UINT"), raw.size)
        resource = self.screen.resource_create(desc)
        self.context.buffer_subdata(resource, 0, raw)
        self._buffers.append(resource)
        return resource

    def vertices(self, positions: npt.ArrayLike, colors: npt.ArrayLike | None = None) -> int:
        """Bind positions and colours (both vec4; a single colour serves all)."""
        place = np.asarray(positions, np.float32).reshape(-1, 4)
        color = np.asarray((1, 1, 1, 1) if colors is None else colors, np.float32).reshape(-1, 4)
        color = np.broadcast_to(color, place.shape)
        both = self.buffer(np.concatenate((place, color), axis=1))
        format = format_named(VEC4)
        elements = (VertexElement(0, 0, format), VertexElement(16, 0, format))
        context = self.context
        context.bind_vertex_elements_state(context.create_vertex_elements_state(elements))
        context.set_vertex_buffers([VertexBuffer(both, 0, 32)])
        return len(place)

    def draw(
        self,
        mode: Primitive,
        positions: npt.ArrayLike,
        colors: npt.ArrayLike | None = None,
        indices: Sequence[int] | None = None,
        **more: Any,
    ) -> None:
        count = self.vertices(positions, colors)
        if indices is not None:
            more["index_buffer"] = self.buffer(indices, np.uint32)
            more["index_size"] = 4
            count = len(indices)
        self.context.draw_vbo(DrawInfo(mode, count=more.pop("count", count), **more))

    # -- results -----------------------------------------------------------------------------------

    def _mapped(self, resource: Resource) -> npt.NDArray[np.uint8]:
        box = Box(width=self.width, height=self.height)
        transfer = self.context.transfer_map(resource, 0, MapFlags.READ, box)
        data = transfer.data[0].copy()
        self.context.transfer_unmap(transfer)
        return data

    def image(self, index: int = 0) -> npt.NDArray[Any]:
        """A colour buffer as `[y, x, 4]`."""
        resource = self.colors[index]
        return unpack(resource.desc.format, self._mapped(resource))

    def pixels(self) -> npt.NDArray[np.uint8]:
        """The bytes of an RGBA8 colour buffer, `[y, x, 4]`."""
        return self._mapped(self.colors[0]).reshape(self.height, self.width, 4)

    def depths(self) -> npt.NDArray[np.float32]:
        assert self.depth is not None
        texels = self._mapped(self.depth).view(np.uint32)
        return unpack_depth(self.depth.desc.format, texels)

    def resolved(self) -> npt.NDArray[Any]:
        """A multisampled colour buffer, resolved by a blit."""
        source = self.colors[0]
        desc = replace(source.desc, samples=0)
        single = self.screen.resource_create(desc)
        box, format = Box(width=self.width, height=self.height), desc.format
        self.context.blit(BlitInfo(single, 0, box, format, source, 0, box, format))
        image = unpack(format, self._mapped(single))
        single.unref()
        return image

    def mapped_depth(self) -> npt.NDArray[np.uint8]:
        """The depth buffer's raw bytes, stencil included."""
        assert self.depth is not None
        return self._mapped(self.depth)
