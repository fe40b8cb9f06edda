"""glPushAttrib and glPushClientAttrib: groups of state saved and restored as a whole.

The table of parameters lists the parameters of each group; saving copies the values, restoring puts
back those that have changed and marks as dirty what is derived from them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.objects import swap
from gallette.state_tracker.parameters import PARAMETERS
from gallette.state_tracker.stream.calls import Family
from gallette.state_tracker.vertices.vertex_arrays import bind_vertex_array

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.textures import TextureObject
    from gallette.state_tracker.vertices.buffers import BufferObject
    from gallette.state_tracker.vertices.vertex_arrays import VertexArray

DEPTH = 16
_GROUPS: dict[int, dict[tuple[str, str], int]] = {}
"""holders in the context and their attributes, by group, and what state is derived from them: all,
where the table does not say it"""
for _row in PARAMETERS:
    for _group in _row.groups:
        for _field in _row.fields:
            _known = _GROUPS.setdefault(_group, {})
            _known[_field] = _known.get(_field, 0) | (_row.dirty or Dirty.ALL)

_FAMILY_GROUPS: dict[Family, int] = {
    **dict.fromkeys((Family.VIEWPORT, Family.DEPTH_RANGE), GL.VIEWPORT_BIT),
    Family.SCISSOR: GL.SCISSOR_BIT,
    **dict.fromkeys(
        (
            *(Family.BLEND_FUNC, Family.BLEND_EQUATION, Family.BLEND_COLOR, Family.COLOR_MASK),
            *(Family.ALPHA_FUNC, Family.LOGIC_OP, Family.CLEAR_COLOR),
        ),
        GL.COLOR_BUFFER_BIT,
    ),
    **dict.fromkeys(
        (Family.DEPTH_FUNC, Family.DEPTH_MASK, Family.CLEAR_DEPTH), GL.DEPTH_BUFFER_BIT
    ),
    **dict.fromkeys(
        (Family.STENCIL_FUNC, Family.STENCIL_OP, Family.STENCIL_MASK, Family.CLEAR_STENCIL),
        GL.STENCIL_BUFFER_BIT,
    ),
    **dict.fromkeys(
        (Family.CULL_FACE, Family.FRONT_FACE, Family.POLYGON_OFFSET, Family.POLYGON_MODE),
        GL.POLYGON_BIT,
    ),
    Family.LINE_WIDTH: GL.LINE_BIT,
    Family.POINT_SIZE: GL.POINT_BIT,
    Family.PROVOKING_VERTEX: GL.LIGHTING_BIT,
    Family.SHADE_MODEL: GL.LIGHTING_BIT,
    Family.HINT: GL.HINT_BIT,
    **dict.fromkeys((Family.TEXTURE, Family.TEXTURE_ENV, Family.ACTIVE_TEXTURE), GL.TEXTURE_BIT),
    Family.CAPABILITY: GL.ENABLE_BIT,
}
"""The group that contains all state of a family."""
_CAP_GROUPS = {row.value: sum(row.groups) for row in PARAMETERS if "Enable" in row.by}
_PARTLY = {
    Family.CAPABILITY: ~GL.CURRENT_BIT,
    Family.TEXTURE_PARAMETER: GL.TEXTURE_BIT,
    Family.DRAW_BUFFERS: GL.COLOR_BUFFER_BIT,
    Family.READ_BUFFER: GL.PIXEL_MODE_BIT,
    Family.CLAMP_COLOR: GL.COLOR_BUFFER_BIT | GL.ENABLE_BIT,
}
"""Groups that contain some of it."""


def _is_restored(mask: int, slot: int) -> bool | None:
    """Whether groups contain a slot of a command stream; None if they may."""
    family, cap = Family(slot & 255), slot >> 8 & 0xFFFFFFFF
    if family is Family.CAPABILITY and cap in _CAP_GROUPS:
        return bool(mask & _CAP_GROUPS[cap])
    if mask & _FAMILY_GROUPS.get(family, 0):
        return True
    return None if mask & _PARTLY.get(family, 0) else False


_SHARED = (int, float, str, tuple, type(None), np.ndarray)
"""what the context replaces and never changes in place"""


def _copied(value: Any) -> Any:
    """A copy, which shares what does not change."""
    if isinstance(value, _SHARED):  # most are
        return value
    if isinstance(value, list):
        shared = not value or isinstance(value[0], _SHARED)
        return value.copy() if shared else [_copied(one) for one in value]
    if isinstance(value, dict):
        return {key: _copied(one) for key, one in value.items()}
    made = object.__new__(type(value))
    for name in type(value).__slots__:
        object.__setattr__(made, name, getattr(value, name))
    return made


def _put_back(holder: Any, name: str, value: Any) -> bool:
    """Restore an attribute; returns whether it was another value."""
    now = getattr(holder, name)
    if value is now or (not isinstance(value, np.ndarray) and value == now):
        return False
    setattr(holder, name, value)
    return True


class AttribStack:
    """Saved attribute groups, innermost last."""

    def __init__(self, ctx: Context) -> None:
        self.server: list[dict[str, Any]] = []
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
    """Save bindings, environments and the active unit; the bound textures are kept alive. Default
    textures are not listed: they are what most of the units have.
    """
    defaults = ctx.textures.defaults
    units = []
    named: list[TextureObject] = []
    for unit in ctx.textures.units:
        bound = {}
        if unit.bound != defaults:
            bound = {t: own.retain() for t, own in unit.bound.items() if own is not defaults[t]}
            named += bound.values()
        units.append((bound, unit.enabled, unit.env, unit.lod_bias))
    known = {id(texture): texture for texture in (*defaults.values(), *named)}
    return {
        "active": ctx.textures.active,
        "units": units,
        "texgen": _copied(ctx.lighting.texgen),
        "texgen_enabled": ctx.lighting.texgen_enabled.copy(),
        "env_colors": list(ctx.lighting.env_colors),
        "parameters": [(texture, _parameters(texture)) for texture in known.values()],
    }


_OF_TEXTURES = "base_level max_level swizzle stencil_mode depth_mode generate_mipmap priority"


def _parameters(texture: TextureObject) -> dict[str, Any]:
    """The state that glTexParameter sets."""
    found = {name: getattr(texture, name) for name in _OF_TEXTURES.split()}
    return found | {"params": _copied(texture.params)}


def _restore_textures(ctx: Context, saved: dict[str, Any]) -> None:
    for texture, parameters in saved["parameters"]:
        if not texture.deleted and sum(_put_back(texture, *each) for each in parameters.items()):
            texture.invalidate_views()
    defaults = ctx.textures.defaults
    for unit, (bound, enabled, env, bias) in zip(ctx.textures.units, saved["units"], strict=True):
        for target, default in defaults.items() if bound or unit.bound != defaults else ():
            own = bound.get(target)
            if own is not None and own.deleted:
                own.release()
                own = None
            unit.bound[target].release()
            unit.bound[target] = default.retain() if own is None else own
        unit.enabled, unit.env, unit.lod_bias = enabled, env, bias
    ctx.textures.active = saved["active"]
    ctx.lighting.texgen, ctx.lighting.env_colors = saved["texgen"], saved["env_colors"]
    ctx.lighting.texgen_enabled = saved["texgen_enabled"]


def _switched(ctx: Context) -> list[Any]:
    """Texture units and lights, which glEnable switches one by one."""
    return [*ctx.textures.units, *ctx.lighting.lights]


@entry
def push_attrib(ctx: Context, mask: int) -> None:
    stack = ctx.attrib_stack.server
    if len(stack) >= DEPTH:
        raise GLError(GL.STACK_OVERFLOW, "the attribute stack is full")
    saved: dict[str, Any] = {"fields": {}, "mask": mask}
    fields = saved["fields"]
    for bit, names in _GROUPS.items():
        if mask & bit:
            for place, dirty in names.items():
                value = getattr(getattr(ctx, place[0]), place[1])
                fields[place] = value if isinstance(value, _SHARED) else _copied(value), dirty
    if mask & GL.ENABLE_BIT:
        saved["enables"] = [each.enabled for each in _switched(ctx)]
    if mask & GL.HINT_BIT:
        saved["hints"] = dict(ctx.hints)
    if mask & GL.PIXEL_MODE_BIT:
        saved["read_buffer"] = ctx.framebuffers.read.read_buffer
    if mask & GL.TEXTURE_BIT:
        saved["textures"] = _save_textures(ctx)
    if mask & GL.COLOR_BUFFER_BIT:
        saved["draw_buffers"] = list(ctx.framebuffers.draw.draw_buffers)
    stack.append(saved)
    ctx.stream.pushed()


@entry
def pop_attrib(ctx: Context) -> None:
    stack = ctx.attrib_stack.server
    if not stack:
        raise GLError(GL.STACK_UNDERFLOW, "the attribute stack is empty")
    saved = stack.pop()
    changed = 0
    for (of, name), (value, dirty) in saved["fields"].items():
        if _put_back(getattr(ctx, of), name, value):
            changed |= dirty
            if (of, name) == ("arrays", "types"):
                ctx.group.epoch += 1  # layouts of vertex arrays depend on them
    draw, read = ctx.framebuffers.draw, ctx.framebuffers.read
    others: list[tuple[Any, str, Any]] = []
    if "enables" in saved and saved["enables"] != [each.enabled for each in _switched(ctx)]:
        enables = zip(_switched(ctx), saved["enables"], strict=True)
        others = [(each, "enabled", on) for each, on in enables]
    for place, holder in (("hints", ctx), ("read_buffer", read), ("draw_buffers", draw)):
        if place in saved:
            others.append((holder, place, saved[place]))
    if sum(_put_back(*other) for other in others):
        changed = Dirty.ALL
    if "textures" in saved:
        _restore_textures(ctx, saved["textures"])
        changed = Dirty.ALL
    ctx.dirty |= changed
    if ("lighting", "color_material_face") in saved["fields"]:
        ctx.lighting.track_color(ctx)  # tracked materials take the restored colour
    ctx.stream.popped(partial(_is_restored, saved["mask"]))


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
        saved["arrays"] = (vao.retain(), _copied(vao.attribs), bindings, elements)
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
    profiles="compat",
)
