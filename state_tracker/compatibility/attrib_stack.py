"""glPushAttrib and glPushClientAttrib: groups of state saved and restored as a whole.

A group is a list of fields (`ctx.<holder>` and field names). Saving copies the values; restoring
writes them back and marks all derived state as dirty.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.objects import swap
from gallette.state_tracker.vertices.vertex_arrays import bind_vertex_array

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.textures import TextureObject
    from gallette.state_tracker.vertices.buffers import BufferObject
    from gallette.state_tracker.vertices.vertex_arrays import VertexArray

__all__ = ["AttribStack"]

DEPTH = 16
_GROUPS: dict[int, dict[str, str]] = {
    GL.COLOR_BUFFER_BIT: {
        "fragment": "blend blend_enabled blend_color logic_enabled index_logic_enabled logic_op "
        "dither alpha_test alpha_func alpha_ref clear_color clamp_fragment_color clamp_read_color",
        "raster": "framebuffer_srgb",
        "color_index": "clear mask",
    },
    GL.DEPTH_BUFFER_BIT: {"fragment": "depth_test depth_mask depth_func clear_depth"},
    GL.STENCIL_BUFFER_BIT: {
        "fragment": "stencil_test stencil stencil_two_side stencil_active clear_stencil"
    },
    GL.ENABLE_BIT: {
        "fragment": "blend_enabled logic_enabled index_logic_enabled dither alpha_test depth_test "
        "stencil_test stencil_two_side depth_bounds_test alpha_to_coverage alpha_to_one",
        "raster": "cull_enabled offset_fill offset_line offset_point polygon_smooth "
        "polygon_stipple line_smooth line_stipple point_smooth point_sprite program_point_size "
        "two_side clamp_near clamp_far multisample sample_coverage_enabled sample_mask_enabled "
        "scissor_enabled clip_planes_enabled framebuffer_srgb",
        "lighting": "enabled color_material_enabled normalize rescale_normal fog_enabled "
        "color_sum texgen_enabled",
        "evaluators": "auto_normal",
        "assembly": "vertex_enabled fragment_enabled",
    },
    GL.LIGHTING_BIT: {
        "lighting": "enabled lights materials model_ambient local_viewer two_side color_control "
        "color_material_enabled color_material_face color_material_mode",
        "raster": "flat_shade",
        "fragment": "clamp_vertex_color",
    },
    GL.FOG_BIT: {
        "lighting": "fog_enabled fog_mode fog_color fog_density fog_start fog_end fog_index "
        "fog_source fog_distance"
    },
    GL.LINE_BIT: {"raster": "line_width line_smooth line_stipple stipple_factor stipple_pattern"},
    GL.POINT_BIT: {
        "raster": "point_size point_smooth point_sprite point_fade point_min point_max "
        "point_attenuation sprite_origin coord_replace"
    },
    GL.POLYGON_BIT: {
        "raster": "cull_enabled cull_face front_face polygon_front polygon_back offset_fill "
        "offset_line offset_point offset polygon_smooth polygon_stipple"
    },
    GL.POLYGON_STIPPLE_BIT: {"raster": "stipple"},
    GL.SCISSOR_BIT: {"raster": "scissors scissor_enabled"},
    GL.VIEWPORT_BIT: {"raster": "viewports depth_ranges"},
    GL.TRANSFORM_BIT: {
        "raster": "clip_planes clip_planes_enabled clamp_near clamp_far clip_origin clip_depth",
        "matrices": "mode",
        "lighting": "normalize rescale_normal",
    },
    GL.CURRENT_BIT: {
        "arrays": "values types",
        "raster_position": "position valid distance color secondary index texcoords",
    },
    GL.PIXEL_MODE_BIT: {
        "transfer": "scale bias depth_scale depth_bias map_color map_stencil index_shift "
        "index_offset zoom"
    },
    GL.ACCUM_BUFFER_BIT: {"accumulation": "clear_value"},
    GL.EVAL_BIT: {"evaluators": "grids auto_normal"},
    GL.LIST_BIT: {"lists": "base"},
    GL.MULTISAMPLE_BIT: {
        "raster": "multisample sample_coverage_enabled sample_coverage sample_invert "
        "sample_mask_enabled sample_mask",
        "fragment": "alpha_to_coverage alpha_to_one",
    },
}


class AttribStack:
    """Saved attribute groups, innermost last."""

    def __init__(self) -> None:
        self.server: list[dict[Any, Any]] = []
        self.client: list[dict[str, Any]] = []

    def release_all(self) -> None:
        """Release the textures and buffers that saved groups refer to."""
        for saved in self.server:
            for bound, *_ in saved["textures"]["units"] if "textures" in saved else ():
                for texture in bound.values():
                    texture.release()
        for saved in self.client:
            buffers = list(saved.get("buffers", {}).values())
            if "arrays" in saved:
                vao, _, bindings, elements = saved["arrays"]
                vao.release()
                buffers += [elements, *(b[0] for b in bindings)]
            for buffer in buffers:
                if buffer is not None:
                    buffer.release()
        self.server.clear()
        self.client.clear()


def _save_textures(ctx: Context) -> dict[str, Any]:
    """Save bindings, environments and the active unit; the bound textures are kept alive."""
    units = []
    parameters: dict[int, dict[str, Any]] = {}
    for unit in ctx.textures.units:
        bound = {target: texture.retain() for target, texture in unit.bound.items()}
        for texture in bound.values():
            if id(texture) not in parameters:
                parameters[id(texture)] = _parameters(texture)
        units.append((bound, set(unit.enabled), dict(unit.env), unit.lod_bias))
    return {
        "active": ctx.textures.active,
        "units": units,
        "texgen": copy.deepcopy(ctx.lighting.texgen),
        "texgen_enabled": copy.deepcopy(ctx.lighting.texgen_enabled),
        "env_colors": list(ctx.lighting.env_colors),
        "parameters": parameters,
    }


_OF_TEXTURES = "base_level max_level swizzle stencil_mode depth_mode generate_mipmap priority"


def _parameters(texture: TextureObject) -> dict[str, Any]:
    """The state that glTexParameter sets."""
    found = {name: getattr(texture, name) for name in _OF_TEXTURES.split()}
    return found | {"params": copy.copy(texture.params)}


def _restore_textures(ctx: Context, saved: dict[str, Any]) -> None:
    for unit, (bound, enabled, env, bias) in zip(ctx.textures.units, saved["units"], strict=True):
        for target, texture in bound.items():
            keep = texture if not texture.deleted else ctx.textures.defaults[target].retain()
            if keep is not texture:
                texture.release()
            elif (parameters := saved["parameters"].pop(id(texture), None)) is not None:
                for name, value in parameters.items():
                    setattr(texture, name, value)
                texture.looked_at()
            unit.bound[target].release()
            unit.bound[target] = keep
        unit.enabled, unit.env, unit.lod_bias = enabled, env, bias
    ctx.textures.active = saved["active"]
    ctx.lighting.texgen, ctx.lighting.env_colors = saved["texgen"], saved["env_colors"]
    ctx.lighting.texgen_enabled = saved["texgen_enabled"]


@entry
def push_attrib(ctx: Context, mask: int) -> None:
    stack = ctx.attrib_stack.server
    if len(stack) >= DEPTH:
        raise GLError(GL.STACK_OVERFLOW, "the attribute stack is full")
    saved: dict[Any, Any] = {}
    for bit, holders in _GROUPS.items():
        if mask & bit:
            for holder, fields in holders.items():
                for name in fields.split():
                    value = getattr(getattr(ctx, holder), name)
                    saved[(holder, name)] = copy.deepcopy(value)
    if mask & GL.ENABLE_BIT:
        saved["texture_enables"] = [set(u.enabled) for u in ctx.textures.units]
        saved["light_enables"] = [light.enabled for light in ctx.lighting.lights]
    if mask & (GL.ENABLE_BIT | GL.EVAL_BIT):
        saved["map_enables"] = [m.enabled for m in ctx.evaluators.maps.values()]
    if mask & GL.HINT_BIT:
        saved["hints"] = dict(ctx.hints)
    if mask & GL.PIXEL_MODE_BIT:
        saved["read_buffer"] = ctx.framebuffers.read.read_buffer
    if mask & GL.TEXTURE_BIT:
        saved["textures"] = _save_textures(ctx)
    if mask & GL.COLOR_BUFFER_BIT:
        saved["draw_buffers"] = list(ctx.framebuffers.draw.draw_buffers)
    stack.append(saved)


@entry
def pop_attrib(ctx: Context) -> None:
    stack = ctx.attrib_stack.server
    if not stack:
        raise GLError(GL.STACK_UNDERFLOW, "the attribute stack is empty")
    saved = stack.pop()
    for key, value in saved.items():
        if isinstance(key, tuple):
            setattr(getattr(ctx, key[0]), key[1], value)
    for unit, enabled in zip(ctx.textures.units, saved.get("texture_enables", ()), strict=False):
        unit.enabled = enabled
    for light, on in zip(ctx.lighting.lights, saved.get("light_enables", ()), strict=False):
        light.enabled = on
    maps = ctx.evaluators.maps.values()
    for each, on in zip(maps, saved.get("map_enables", ()), strict=False):
        each.enabled = on
    ctx.hints = saved.get("hints", ctx.hints)
    if "read_buffer" in saved:
        ctx.framebuffers.read.read_buffer = saved["read_buffer"]
    if "textures" in saved:
        _restore_textures(ctx, saved["textures"])
    if "draw_buffers" in saved:
        ctx.framebuffers.draw.draw_buffers = saved["draw_buffers"]
    if ("lighting", "color_material_face") in saved:
        ctx.lighting.track_color(ctx)  # tracked materials take the restored colour
    ctx.dirty |= Dirty.ALL


@entry
def push_client_attrib(ctx: Context, mask: int) -> None:
    stack = ctx.attrib_stack.client
    if len(stack) >= DEPTH:
        raise GLError(GL.STACK_OVERFLOW, "the client attribute stack is full")
    saved: dict[str, Any] = {}
    points: tuple[int, ...] = ()
    if mask & GL.CLIENT_PIXEL_STORE_BIT:
        saved["pixels"] = (ctx.pack, ctx.unpack)
        points = (GL.PIXEL_PACK_BUFFER, GL.PIXEL_UNPACK_BUFFER)
    if mask & GL.CLIENT_VERTEX_ARRAY_BIT:
        vao = ctx.arrays.current
        bindings = [
            (_kept(b.buffer), b.offset, b.stride, b.divisor, b.address, b.keep)
            for b in vao.bindings
        ]
        elements = _kept(vao.element_buffer)
        saved["arrays"] = (vao.retain(), copy.deepcopy(vao.attribs), bindings, elements)
        saved["client_unit"] = ctx.arrays.client_unit
        saved["restart"] = (ctx.raster.primitive_restart, ctx.raster.restart_index)
        points += (GL.ARRAY_BUFFER,)
    saved["buffers"] = {point: _kept(ctx.buffers.bound[point]) for point in points}
    stack.append(saved)


def _kept(buffer: BufferObject | None) -> BufferObject | None:
    return buffer.retain() if buffer is not None else None


def _restore_arrays(
    ctx: Context, vao: VertexArray, attribs: Any, bindings: Any, elements: BufferObject | None
) -> None:
    """Restore the contents of a vertex array, and bind it if it still exists."""
    vao.attribs = attribs
    for binding, (buffer, offset, stride, divisor, address, keep) in zip(
        vao.bindings, bindings, strict=True
    ):
        binding.buffer = swap(binding.buffer, buffer)
        if buffer is not None:
            buffer.release()
        binding.move(offset, stride, address, keep)
        binding.divisor = divisor
    vao.use_elements(elements)
    if elements is not None:
        elements.release()
    vao.changed()
    if not vao.deleted:
        bind_vertex_array(ctx, vao.name)
    vao.release()


@entry
def pop_client_attrib(ctx: Context) -> None:
    stack = ctx.attrib_stack.client
    if not stack:
        raise GLError(GL.STACK_UNDERFLOW, "the client attribute stack is empty")
    saved = stack.pop()
    if "pixels" in saved:
        ctx.pack, ctx.unpack = saved["pixels"]
    if "arrays" in saved:
        _restore_arrays(ctx, *saved["arrays"])
        ctx.arrays.client_unit = saved["client_unit"]
        ctx.raster.primitive_restart, ctx.raster.restart_index = saved["restart"]
    bound = ctx.buffers.bound
    for point, buffer in saved["buffers"].items():
        bound[point] = swap(bound[point], buffer)
        if buffer is not None:
            buffer.release()


gets(
    {
        "ATTRIB_STACK_DEPTH": lambda c: len(c.attrib_stack.server),
        "CLIENT_ATTRIB_STACK_DEPTH": lambda c: len(c.attrib_stack.client),
    },
    compat=True,
)
