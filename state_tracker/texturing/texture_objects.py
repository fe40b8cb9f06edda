"""Entry points of texture names, binding and parameters, and of sampler objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.color_clamp import queried_color
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import (
    Pointer,
    read_array,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, gets_indexed, to_int
from gallette.state_tracker.object_kinds import objects
from gallette.state_tracker.objects import GLObject
from gallette.state_tracker.parameters import profiles_of
from gallette.state_tracker.setters import Check, check_of
from gallette.state_tracker.texturing.sampling import SamplerParams, check_multisample
from gallette.state_tracker.texturing.texture_targets import (
    DESKTOP_TARGETS,
    TARGETS,
    texture_target,
)
from gallette.state_tracker.texturing.textures import SWIZZLES, TextureObject
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


class SamplerObject(GLObject):
    """A sampler object: parameters that override a texture's own."""

    kind = "sampler"

    def __init__(self, name: int, forget: Callable[[SamplerObject], None] = lambda gone: None):
        super().__init__(name)
        self.params = SamplerParams()
        self.pinned = False  # by a handle: its parameters are immutable
        self._forget = forget

    def check_unpinned(self) -> None:
        if self.pinned:
            raise invalid_operation(f"sampler {self.name} has a handle and cannot be changed")

    def destroy(self) -> None:
        if self.pinned:
            self._forget(self)


# -- names and binding ---------------------------------------------------------------------------


@entry
def create_textures(ctx: Context, target: int, n: int) -> list[int]:
    info = DESKTOP_TARGETS.get(target)
    if info is None:
        raise invalid_enum(target, "texture target")
    return ctx.textures.names.create(n, lambda k: TextureObject(k, info, ctx))


def _unbind(ctx: Context, texture: TextureObject) -> None:
    state, target = ctx.textures, texture.target.value
    for unit in state.units:
        if unit.bound[target] is texture:
            unit.bound[target] = state.defaults[target].retain()
            texture.release()
    for image in ctx.images:
        if image.texture is texture:
            image.clear()
    ctx.framebuffers.detach(texture)
    ctx.dirty |= Dirty.TEXTURES | Dirty.IMAGES


objects("texture", lambda ctx: ctx.textures.names, _unbind, label=GL.TEXTURE)


def lookup(ctx: Context, target: int, name: int) -> TextureObject:
    """The texture of that name for a target, created on first use."""
    info = texture_target(target)
    check_es(ctx, target, "texture target")
    if name == 0:
        return ctx.textures.defaults[target]
    found = ctx.textures.names.bind(name, lambda n: TextureObject(n, info, ctx), ctx.is_core)
    if found.target is not info:
        raise invalid_operation(f"texture {name} is a {found.target.name}")
    return found


@entry
def bind_texture(ctx: Context, target: int, texture: int) -> None:
    found = ctx.textures.names.get(texture)
    if found is not None and found.target.value == target:
        ctx.textures.bind(target, found)
        return
    ctx.textures.bind(target, lookup(ctx, target, texture))


@entry
def bind_texture_unit(ctx: Context, unit: int, texture: int) -> None:
    state = ctx.textures
    if unit >= len(state.units):
        raise invalid_value(f"there is no texture unit {unit}")
    saved, state.active = state.active, unit
    try:
        if texture:
            found = state.names.require(texture)
            state.bind(found.target.value, found)
        else:
            for target, default in state.defaults.items():
                state.bind(target, default)
    finally:
        state.active = saved


@entry
def active_texture(ctx: Context, texture: int) -> None:
    unit = texture - GL.TEXTURE0
    if not 0 <= unit < len(ctx.textures.units):
        raise invalid_enum(texture, "texture unit")
    ctx.textures.active = unit


# -- parameters ------------------------------------------------------------------------------------


@lazy_dataclass(frozen=True)
class TextureParameter:
    """A parameter of textures that a topic adds, with its extension."""

    extension: str
    read: Callable[[TextureObject], Any]
    store: Callable[[TextureObject, Any], None] | None = None


_PARAMETERS: dict[int, TextureParameter] = {}


def texture_parameter(pname: int, parameter: TextureParameter) -> None:
    """Register a parameter of textures."""
    _PARAMETERS[pname] = parameter


def _added(ctx: Context, pname: int) -> TextureParameter | None:
    """A topic's parameter, in contexts that list its extension."""
    found = _PARAMETERS.get(pname)
    return found if found is not None and found.extension in ctx.limits.glsl_extensions else None


def set_parameter(ctx: Context, texture: TextureObject, pname: int, values: list[Any]) -> None:
    """Set a glTexParameter of a texture object."""
    texture.check_unpinned()
    check_multisample(ctx, texture.target.multisample, pname)
    value = values[0]
    rect = texture.target.only_edges
    if pname in (GL.TEXTURE_BASE_LEVEL, GL.TEXTURE_MAX_LEVEL):
        level = to_int(value, False)
        if level < 0:
            raise invalid_value("negative texture level")
        fixed, before = rect or texture.target.multisample, (texture.base_level, texture.max_level)
        if pname == GL.TEXTURE_BASE_LEVEL:
            if fixed and level:
                raise invalid_operation("this target has only level 0")
            if texture.immutable_levels:
                level = min(level, texture.immutable_levels - 1)
            texture.base_level = level
        else:
            if texture.immutable_levels:
                level = max(texture.base_level, min(level, texture.immutable_levels - 1))
            texture.max_level = level
        texture.invalidate_views()
        if (texture.base_level, texture.max_level) != before and not texture.immutable_levels:
            # Framebuffers with another level may be complete now, or no longer.
            texture.group.mark(Dirty.FRAMEBUFFER)
    elif pname in _SWIZZLE_INDEX or pname == GL.TEXTURE_SWIZZLE_RGBA:
        chosen = [_SWIZZLE(v) for v in values]
        swizzle = list(texture.swizzle)
        if pname == GL.TEXTURE_SWIZZLE_RGBA:
            swizzle = chosen
        else:
            swizzle[_SWIZZLE_INDEX[pname]] = chosen[0]
        texture.swizzle = (swizzle[0], swizzle[1], swizzle[2], swizzle[3])
        texture.invalidate_views()
    elif (added := _added(ctx, pname)) is not None and added.store is not None:
        added.store(texture, value)
    elif pname in _ROWS and ctx.profile in _ROWS[pname].profiles:
        row = _ROWS[pname]
        setattr(texture, row.field, row.check(value))
        texture.invalidate_views()
    elif pname == GL.TEXTURE_CROP_RECT_OES and ctx.profile == "es1":
        u, v, w, h = (to_int(each, False) for each in values)
        texture.crop_rect = (u, v, w, h)
    else:
        external = texture.target.value == GL.TEXTURE_EXTERNAL_OES
        texture.params.set(ctx, pname, values, rect, external)
    ctx.dirty |= Dirty.TEXTURES


@lazy_dataclass(frozen=True)
class _Row:
    """A parameter of one value: the texture's field, its values as in parameters.txt."""

    field: str
    check: Check
    profiles: frozenset[str]


_ROWS: dict[int, _Row] = {
    int(getattr(GL, name)): _Row(field, check_of(values, name), profiles_of(profiles))
    for name, field, values, profiles in (
        ("DEPTH_STENCIL_TEXTURE_MODE", "stencil_mode", "DEPTH_COMPONENT,STENCIL_INDEX", ""),
        ("DEPTH_TEXTURE_MODE", "depth_mode", "LUMINANCE,INTENSITY,ALPHA,RED", "compat"),
        ("GENERATE_MIPMAP", "generate_mipmap", "bool", "compat"),
        ("TEXTURE_PRIORITY", "priority", "0..1", "compat"),
    )
}
_SWIZZLE = check_of(",".join(map(str, map(int, SWIZZLES))), "TEXTURE_SWIZZLE")
_SWIZZLE_INDEX: dict[int, int] = {
    GL.TEXTURE_SWIZZLE_R: 0,
    GL.TEXTURE_SWIZZLE_G: 1,
    GL.TEXTURE_SWIZZLE_B: 2,
    GL.TEXTURE_SWIZZLE_A: 3,
}
_VECTORS = frozenset((GL.TEXTURE_BORDER_COLOR, GL.TEXTURE_SWIZZLE_RGBA, GL.TEXTURE_CROP_RECT_OES))


def _values(pname: int, suffix: str, pointer: Pointer) -> list[Any]:
    """Parameter values given by pointer; integer border colours are fractions unless `I`."""
    count = 4 if pname in _VECTORS else 1
    gl_type = {"fv": "float", "iv": "int", "iiv": "int", "iuiv": "uint"}[suffix]
    values = [v.item() for v in read_array(pointer, gl_type, count)]
    if suffix == "iv" and pname == GL.TEXTURE_BORDER_COLOR:
        return [max(v / 2147483647.0, -1.0) for v in values]
    return values


def _get(ctx: Context, texture: TextureObject, pname: int) -> list[Any]:
    check_es(ctx, pname, "texture parameter")
    values: dict[int, Any] = {
        GL.TEXTURE_BASE_LEVEL: texture.base_level,
        GL.TEXTURE_MAX_LEVEL: texture.max_level,
        GL.TEXTURE_IMMUTABLE_FORMAT: int(texture.immutable_levels > 0),
        GL.TEXTURE_IMMUTABLE_LEVELS: texture.told_levels or texture.immutable_levels,
        GL.TEXTURE_TARGET: texture.target.value,
        GL.TEXTURE_VIEW_MIN_LEVEL: texture.view_range[0],
        GL.TEXTURE_VIEW_NUM_LEVELS: texture.view_range[1],
        GL.TEXTURE_VIEW_MIN_LAYER: texture.view_range[2],
        GL.TEXTURE_VIEW_NUM_LAYERS: texture.view_range[3],
        GL.IMAGE_FORMAT_COMPATIBILITY_TYPE: GL.IMAGE_FORMAT_COMPATIBILITY_BY_SIZE,
    }
    added = _added(ctx, pname)
    if added is not None:
        return [added.read(texture)]
    if ctx.is_compat:
        values[GL.TEXTURE_RESIDENT] = 1
    for name, index in _SWIZZLE_INDEX.items():
        values[name] = texture.swizzle[index]
    if pname == GL.TEXTURE_SWIZZLE_RGBA:
        return list(texture.swizzle)
    if pname == GL.TEXTURE_CROP_RECT_OES and ctx.profile == "es1":
        return list(texture.crop_rect)
    if pname in values:
        return [values[pname]]
    if pname in _ROWS and ctx.profile in _ROWS[pname].profiles:
        return [getattr(texture, _ROWS[pname].field)]
    if pname == GL.REQUIRED_TEXTURE_IMAGE_UNITS_OES and ctx.profile == "es":
        return [1]
    found = texture.params.get(pname)
    if found is None:
        raise invalid_enum(pname, "texture parameter")
    return found


def _integers(values: list[Any], pname: int, suffix: str) -> list[int]:
    """The answer of a query of integers: bits of the border colour are the same in each of them."""
    border = pname == GL.TEXTURE_BORDER_COLOR
    if suffix == "iv" or not border:
        values = [to_int(v, border) for v in values]
    elif isinstance(values[0], float):
        values = np.array(values, np.float32).view(np.uint32).tolist()
    words = np.array([int(v) & 0xFFFFFFFF for v in values], np.uint32)
    return list(words.view(np.uint32 if suffix == "iuiv" else np.int32).tolist())


def _family(
    names: str,
    find: Callable[[Context, int], Any],
    store: Callable[[Context, Any, int, list[Any]], None],
    read: Callable[[Context, Any, int], list[Any]],
) -> None:
    """Register a setter and a query of each type; methods are called `{names}_parameter...`."""

    def scalar(ctx: Context, which: int, pname: int, value: Any) -> None:
        owner = find(ctx, which)
        if pname in _VECTORS:
            raise invalid_enum(pname, "parameter of one value")
        store(ctx, owner, pname, [value])

    def vector(suffix: str) -> Any:
        def call(ctx: Context, which: int, pname: int, params: Pointer) -> None:
            owner = find(ctx, which)
            store(ctx, owner, pname, _values(pname, suffix, params))

        return call

    def query(suffix: str) -> Any:
        def call(ctx: Context, which: int, pname: int) -> list[Any]:
            owner = find(ctx, which)
            values = read(ctx, owner, pname)
            if suffix == "fv":
                if pname == GL.TEXTURE_BORDER_COLOR and isinstance(owner, TextureObject):
                    values = queried_color(ctx, values)
                return [float(v) for v in values]
            return _integers(values, pname, suffix)

        return call

    for suffix in ("i", "f"):
        register(f"{names}_parameter{suffix}", scalar)
    for suffix, spelt in (("iv", "iv"), ("fv", "fv"), ("iiv", "_iiv"), ("iuiv", "_iuiv")):
        register(f"{names}_parameter{spelt}", vector(suffix))
        register(f"get_{names}_parameter{spelt}", query(suffix))


def _of_target(ctx: Context, target: int) -> TextureObject:
    if target == GL.TEXTURE_BUFFER:
        raise invalid_enum(target, "target with parameters")
    return current(ctx, target)


def _of_name(ctx: Context, name: int) -> TextureObject:
    found = ctx.textures.names.require(name)
    if found.target.value == GL.TEXTURE_BUFFER:
        raise invalid_operation("buffer textures have no parameters")
    return found


_family("tex", _of_target, set_parameter, _get)
_family("texture", _of_name, set_parameter, _get)


# -- sampler objects -------------------------------------------------------------------------------


def _unbind_sampler(ctx: Context, sampler: SamplerObject) -> None:
    for unit in ctx.textures.units:
        if unit.sampler is sampler:
            unit.sampler = None
            sampler.release()
    ctx.dirty |= Dirty.TEXTURES


def _new_sampler(ctx: Context, name: int) -> SamplerObject:
    return SamplerObject(name, ctx.group.handles.forget)


objects(
    "sampler",
    lambda ctx: ctx.samplers,
    _unbind_sampler,
    _new_sampler,
    label=GL.SAMPLER,
    generates=False,
)


@entry
def bind_sampler(ctx: Context, unit: int, sampler: int) -> None:
    if unit >= len(ctx.textures.units):
        raise invalid_value(f"there is no texture unit {unit}")
    found = ctx.samplers.require(sampler) if sampler else None
    slot = ctx.textures.units[unit]
    if slot.sampler is found:
        return
    if found is not None:
        found.retain()
    if slot.sampler is not None:
        slot.sampler.release()
    slot.sampler = found
    ctx.dirty |= Dirty.TEXTURES


def _set_sampler(ctx: Context, sampler: SamplerObject, pname: int, values: list[Any]) -> None:
    sampler.check_unpinned()
    sampler.params.set(ctx, pname, values)
    ctx.dirty |= Dirty.TEXTURES


def _get_sampler(ctx: Context, sampler: SamplerObject, pname: int) -> list[Any]:
    values = sampler.params.get(pname)
    if values is None:
        raise invalid_enum(pname, "sampler parameter")
    return values


_family("sampler", lambda ctx, name: ctx.samplers.require(name), _set_sampler, _get_sampler)

gets({"ACTIVE_TEXTURE": lambda c: GL.TEXTURE0 + c.textures.active})
gets({"SAMPLER_BINDING": lambda c: c.textures.unit.sampler.name if c.textures.unit.sampler else 0})
_PROFILES = {
    GL.TEXTURE_EXTERNAL_OES: "es",
    GL.TEXTURE_1D: "desktop",
    GL.TEXTURE_1D_ARRAY: "desktop",
    GL.TEXTURE_RECTANGLE: "desktop",
}
for _target, _info in TARGETS.items():
    gets(
        {_info.binding: lambda c, t=_target: c.textures.unit.bound[t].name},  # type: ignore[misc]
        profiles=_PROFILES.get(_target, ""),
    )


def _units(ctx: Context) -> int:
    if ctx.profile == "es":
        raise invalid_enum(0, "indexed query")
    return len(ctx.textures.units)


def _bound(target: int) -> Callable[[Context, int], int]:
    return lambda ctx, unit: ctx.textures.units[unit].bound[target].name


def _bound_sampler(ctx: Context, unit: int) -> int:
    sampler = ctx.textures.units[unit].sampler
    return 0 if sampler is None else sampler.name


_ES_ALONE = GL.TEXTURE_EXTERNAL_OES
gets_indexed(_units, {i.binding: _bound(t) for t, i in TARGETS.items() if t != _ES_ALONE})
gets_indexed(_units, {"SAMPLER_BINDING": _bound_sampler})
