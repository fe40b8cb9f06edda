"""Pixel rectangles as draws: quads, whose fragments fetch their values from a texture.

The fragment stage is the current one (fixed function, or a program), with reads of its colour
replaced (`lower_pixel_rectangle`); so texturing, fog and all tests apply as GL requires. The vertex
stage is a small built-in shader that passes on the raster position's data. Afterwards all state
that was bound differently is marked dirty.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage, mutable
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.pipe.enums import (
    Bind,
    CullFace,
    Filter,
    MapFlags,
    MipFilter,
    PolygonMode,
    Primitive,
    Target,
    Usage,
    Wrap,
)
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.state import (
    Box,
    DrawInfo,
    SamplerState,
    SamplerView,
    VertexBuffer,
    VertexElement,
    ViewportState,
)
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.lowering import NULL_KEY, key_of, lower
from gallette.state_tracker.drawing.rasterization import rasterizer_state
from gallette.state_tracker.drawing.validate import validate
from gallette.state_tracker.shading.programs import Executable

if TYPE_CHECKING:
    from gallette.pipe.interface import Handle
    from gallette.state_tracker.context import Context

Array = npt.NDArray[Any]

_TEXCOORDS = 8
# Inputs of the vertex shader: name, components.
_INPUTS = (
    ("place", 4),
    ("texel", 2),
    ("color", 4),
    ("secondary", 4),
    ("fog", 1),
    *((f"coord{i}", 4) for i in range(_TEXCOORDS)),
)
_CORNERS = np.array([(0, 0), (1, 0), (0, 1), (0, 1), (1, 0), (1, 1)])
_FORMATS = {1: "R32_FLOAT", 2: "R32G32_FLOAT", 4: "R32G32B32A32_FLOAT"}
_TYPES = {1: "float", 2: "vec2", 4: "vec4"}


def _vertex_source() -> str:
    lines = ["#version 430 compatibility"]
    for index, (name, size) in enumerate(_INPUTS):
        lines.append(f"layout(location = {index}) in {_TYPES[size]} {name};")
    lines.append("layout(location = 31) out vec2 texel_out;")
    lines.append("void main() {")
    lines.append("gl_Position = place; texel_out = texel; gl_FogFragCoord = fog;")
    lines.append("gl_FrontColor = color; gl_FrontSecondaryColor = secondary;")
    lines.append("gl_BackColor = color; gl_BackSecondaryColor = secondary;")
    lines += [f"gl_TexCoord[{i}] = coord{i};" for i in range(_TEXCOORDS)]
    lines.append("}")
    return "\n".join(lines) + "\n"


_MOST_KEPT, _MOST_BYTES = 16, 1 << 23
"""Limits on the resources that are kept for later draws."""


@lazy_dataclass(eq=False)
class Rectangle:
    """Pixels `[height, width, channels]`, their window position, and what goes with that. Pixels
    are numbers, or the bytes of colours.
    """

    pixels: Array
    x: float
    y: float
    z: float
    zoom: tuple[float, float]
    varyings: Array  # of the raster position


def _stacked(rectangles: Sequence[Rectangle]) -> tuple[Array, list[int]]:
    """The pixels of all in one image, below each other and each array once; their first rows."""
    if len(rectangles) == 1:
        return rectangles[0].pixels, [0]
    places: dict[int, int] = {}
    parts, height = [], 0
    for rectangle in rectangles:
        if id(rectangle.pixels) not in places:
            places[id(rectangle.pixels)] = height
            parts.append(rectangle.pixels)
            height += rectangle.pixels.shape[0]
    image = np.zeros((height, max(p.shape[1] for p in parts), parts[0].shape[2]), np.float32)
    for part in parts:
        top = places[id(part)]
        image[top : top + part.shape[0], : part.shape[1]] = part
    return image, [places[id(r.pixels)] for r in rectangles]


class PixelDrawer:
    """Draws pixel rectangles for one context; its shaders are created on first use."""

    def __init__(self, ctx: Context):
        self._ctx = ctx
        self._vertex: Executable | None = None
        self._elements: Handle = None
        self._kept: dict[ResourceDesc, tuple[Resource, SamplerView]] = {}
        self._fragments: dict[tuple[Executable, Any, str, int], Handle] = {}

    # -- shaders ---------------------------------------------------------------------------------

    def _vertex_handle(self) -> Handle:
        ctx = self._ctx
        if self._vertex is None:
            options = CompileOptions(api="compat", limits=ctx.limits.glsl_limits)
            compiled = compile_shader(Stage.VERTEX, _vertex_source(), options, ["pixel rectangle"])
            linked = link_program([compiled], LinkOptions(separable=True, api="compat"))
            assert linked.ok, compiled.info_log + linked.info_log
            self._vertex = Executable(ctx, linked, 430)
        return self._vertex.handle(Stage.VERTEX)

    def _fragment_handle(self, executable: Executable, what: str, unit: int) -> Handle:
        """The current fragment shader, reading the rectangle's texture."""
        ctx = self._ctx
        key = key_of(ctx, Stage.FRAGMENT, executable) if ctx.lowers else NULL_KEY
        found = self._fragments.get((executable, key, what, unit))
        if found is None:
            shader = mutable(lower(executable.linked.shaders[Stage.FRAGMENT].ref(), key))
            run_passes(
                shader, [("lower_pixel_rectangle", {"what": what, "texture": unit}), "gather_info"]
            )
            optimize(shader)
            run_passes(shader, ["gather_info"])
            found = ctx.pipe.create_shader_state(Stage.FRAGMENT, shader)
            self._fragments[(executable, key, what, unit)] = found
            if self._forget not in executable.on_destroy:
                executable.on_destroy.append(self._forget)
        return found

    def _forget(self, executable: Executable) -> None:
        """Delete the shaders derived from a deleted program."""
        for key in [k for k in self._fragments if k[0] is executable]:
            self._ctx.pipe.delete_shader_state(self._fragments.pop(key))

    # -- the draw --------------------------------------------------------------------------------

    def rectangle(
        self, pixels: Array, x: float, y: float, zoom: tuple[float, float] = (1.0, 1.0)
    ) -> Rectangle:
        """A rectangle at window position (x, y), with the raster position's data."""
        raster = self._ctx.raster_position
        return Rectangle(pixels, x, y, raster.position[2], zoom, raster.varyings)

    def draw(self, what: str, rectangles: Sequence[Rectangle]) -> None:
        """Draw rectangles in order."""
        ctx = self._ctx
        if ctx.dirty & Dirty.PROGRAM:
            ctx.programs.resolve()
        validate(ctx)
        executable = ctx.programs.stages.get(Stage.FRAGMENT)
        if executable is None or ctx.raster.discard:
            return
        pixels, rows = _stacked(rectangles)
        unit = self._bind(executable, what, self._view(pixels))
        self._draw_quads(rectangles, rows)
        self._restore(unit)
        while len(self._kept) > _MOST_KEPT or self._bytes() > _MOST_BYTES:
            self._kept.pop(next(iter(self._kept)))[0].unref()

    def _resource(self, desc: ResourceDesc) -> tuple[Resource, SamplerView]:
        """A resource to be filled, and its view: those of an earlier draw, if possible, because
        drivers keep what they derived from its state.
        """
        found = self._kept.pop(desc, None)
        if found is None:
            made = self._ctx.screen.resource_create(desc)
            found = made, SamplerView(made, desc.format, desc.target)
        self._kept[desc] = found
        return found

    def _bytes(self) -> int:
        return sum(desc.width * desc.height * desc.format.block_bytes for desc in self._kept)

    def _view(self, pixels: Array) -> SamplerView:
        """The view of a texture with these pixels."""
        pipe = self._ctx.pipe
        height, width, channels = pixels.shape
        is_float = pixels.dtype != np.uint8
        format = FORMATS[_FORMATS[channels] if is_float else "R8G8B8A8_UNORM"]
        texture, view = self._resource(
            ResourceDesc(
                Target.TEXTURE_2D, format, width, height, bind=Bind.SAMPLER_VIEW, label="pixels"
            )
        )
        box = Box(0, 0, 0, width, height, 1)
        transfer = pipe.transfer_map(texture, 0, MapFlags.WRITE | MapFlags.DISCARD_RANGE, box)
        raw = np.ascontiguousarray(pixels, np.float32 if is_float else np.uint8).view(np.uint8)
        transfer.data[...] = raw.reshape(transfer.data.shape)
        pipe.transfer_unmap(transfer)
        return view

    def _bind(self, executable: Executable, what: str, view: SamplerView) -> int:
        ctx, pipe = self._ctx, self._ctx.pipe
        used = [
            first + len(executable.uniforms.units[index])
            for first, index, _ in executable.textures.get(Stage.FRAGMENT, ())
        ]
        unit = max(used, default=0)
        handle = self._fragment_handle(executable, what, unit)
        for stage in (Stage.TESS_CTRL, Stage.TESS_EVAL, Stage.GEOMETRY):
            if ctx.bound_shaders.get(stage) is not None:
                pipe.bind_shader_state(stage, None)
                ctx.bound_shaders[stage] = None
        pipe.bind_shader_state(Stage.VERTEX, self._vertex_handle())
        pipe.bind_shader_state(Stage.FRAGMENT, handle)
        ctx.bound_shaders[Stage.VERTEX] = ctx.bound_shaders[Stage.FRAGMENT] = None
        sampler = SamplerState(
            Wrap.CLAMP_TO_EDGE,
            Wrap.CLAMP_TO_EDGE,
            Wrap.CLAMP_TO_EDGE,
            Filter.NEAREST,
            Filter.NEAREST,
            MipFilter.NONE,
        )
        pipe.set_sampler_views(Stage.FRAGMENT, unit, [view])
        pipe.bind_sampler_states(Stage.FRAGMENT, unit, [ctx.caches.sampler.get(sampler)])
        raster = dataclasses.replace(
            rasterizer_state(ctx),
            flatshade=False,
            light_twoside=False,
            cull_face=CullFace.NONE,
            fill_front=PolygonMode.FILL,
            fill_back=PolygonMode.FILL,
            offset_tri=False,
            poly_smooth=False,
            poly_stipple_enable=False,
            depth_clip_near=False,
            depth_clip_far=False,
            depth_clamp=False,
            clip_halfz=False,
            clip_plane_enable=0,
            clamp_vertex_color=False,
        )
        ctx.caches.rasterizer.bind(raster)
        if ctx.feedback.current.running:
            pipe.set_stream_output_targets([])
        return unit

    def _draw_quads(self, rectangles: Sequence[Rectangle], rows: list[int]) -> None:
        ctx = self._ctx
        fb_width, fb_height = ctx.framebuffers.draw.size
        half = np.array((fb_width / 2.0, fb_height / 2.0))
        viewport = ViewportState((*half.tolist(), 0.5), (*half.tolist(), 0.5))
        ctx.pipe.set_viewport_states(0, [viewport] * len(ctx.raster.viewports))
        numbers = np.array([(*r.pixels.shape[1::-1], r.x, r.y, r.z, *r.zoom) for r in rectangles])
        varyings = np.array([r.varyings for r in rectangles])
        size, origin, z, zoom = (numbers[:, None, k] for k in ((0, 1), (2, 3), 4, (5, 6)))
        texel = _CORNERS * size
        data = np.empty((len(rectangles), len(_CORNERS), 6 + varyings.shape[1]), np.float32)
        with np.errstate(all="ignore"):  # the zoom may be infinite
            data[..., :2] = (origin + texel * zoom) / half - 1.0
        data[..., 2] = 2.0 * z - 1.0
        data[..., 3] = 1.0
        data[..., 4:6] = texel
        data[..., 5] += np.array(rows)[:, None]
        data[..., 6:] = varyings[:, None]
        data = data.reshape(-1, data.shape[2])
        stride = data.shape[1] * 4
        room = 1 << (data.nbytes - 1).bit_length()
        buffer, _ = self._resource(
            ResourceDesc(
                Target.BUFFER,
                FORMATS["R8_UINT"],
                room,
                bind=Bind.VERTEX_BUFFER,
                usage=Usage.STREAM,
                label="pixels",
            )
        )
        ctx.pipe.buffer_subdata(buffer, 0, data.reshape(-1).view(np.uint8))
        ctx.pipe.bind_vertex_elements_state(self._vertex_elements())
        ctx.pipe.set_vertex_buffers([VertexBuffer(buffer, 0, stride)])
        try:
            ctx.pipe.draw_vbo(DrawInfo(Primitive.TRIANGLES, 0, len(data)))
        finally:
            ctx.pipe.set_vertex_buffers(())

    def _vertex_elements(self) -> Handle:
        offset, elements = 0, []
        for _, size in _INPUTS:
            elements.append(VertexElement(offset, 0, FORMATS[_FORMATS[size]]))
            offset += 4 * size
        return self._ctx.caches.vertex_elements.get(tuple(elements))

    def _restore(self, unit: int) -> None:
        ctx, pipe = self._ctx, self._ctx.pipe
        pipe.set_sampler_views(Stage.FRAGMENT, unit, [None])
        pipe.bind_sampler_states(Stage.FRAGMENT, unit, [None])
        ctx.vertex_input.unbind()
        current = ctx.feedback.current
        if current.running:
            pipe.set_stream_output_targets(current.targets, append=True)
        ctx.dirty |= Dirty.RASTERIZER | Dirty.VIEWPORT | Dirty.PROGRAM | Dirty.TEXTURES

    def release_all(self) -> None:
        while self._kept:
            self._kept.popitem()[1][0].unref()
        for executable in {key[0] for key in self._fragments}:
            executable.on_destroy.remove(self._forget)
            self._forget(executable)
        if self._vertex is not None:
            self._vertex.destroy()
            self._vertex = None
