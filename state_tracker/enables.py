"""glEnable and related functions: they set parameters of the table, and a few states that are not
flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.compatibility.matrices import coordinate_unit
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.blending import EVERY_BUFFER
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, gets_indexed
from gallette.state_tracker.parameters import PARAMETERS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["CAPABILITIES", "is_enabled", "set_enabled"]


CAPABILITIES = {row.value: row for row in PARAMETERS if "Enable" in row.by}
_TEXTURES = frozenset(
    (GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D, GL.TEXTURE_CUBE_MAP, GL.TEXTURE_RECTANGLE)
)
FIXED_UNITS = 8
_TEXGEN = {GL.TEXTURE_GEN_S: 0, GL.TEXTURE_GEN_T: 1, GL.TEXTURE_GEN_R: 2, GL.TEXTURE_GEN_Q: 3}


def set_enabled(ctx: Context, cap: int, on: bool) -> None:
    """Implements glEnable and glDisable."""
    found = CAPABILITIES.get(cap)
    if found is not None and ctx.profile in found.profiles:
        holder, field = found.fields[0]
        owner = getattr(ctx, holder)
        if getattr(owner, field) != on or cap == GL.DEPTH_CLAMP:
            setattr(owner, field, on)
            ctx.dirty |= found.dirty
            if cap == GL.COLOR_MATERIAL:
                ctx.lighting.track_color(ctx)
        return
    if cap == GL.BLEND:
        fragment = ctx.fragment
        wanted = EVERY_BUFFER if on else 0
        if fragment.blend_enabled != wanted:
            ctx.dirty |= Dirty.BLEND
        fragment.blend_enabled = wanted
    elif cap == GL.SCISSOR_TEST:
        old = ctx.raster.scissor_enabled
        if old.count(on) < len(old):
            ctx.dirty |= Dirty.SCISSOR | Dirty.RASTERIZER
        ctx.raster.scissor_enabled = [on] * len(old)
    elif 0 <= cap - GL.CLIP_DISTANCE0 < ctx.caps.max_clip_planes:
        bit = 1 << (cap - GL.CLIP_DISTANCE0)
        planes = ctx.raster.clip_planes_enabled
        ctx.raster.clip_planes_enabled = planes | bit if on else planes & ~bit
        ctx.dirty |= Dirty.RASTERIZER | Dirty.CLIP
    elif ctx.is_compat and 0 <= cap - GL.LIGHT0 < 8:
        ctx.lighting.lights[cap - GL.LIGHT0].enabled = on
        ctx.dirty |= Dirty.BUILTINS
    elif ctx.is_compat and cap in _TEXTURES:
        _check_unit(ctx)
        enabled = ctx.textures.unit.enabled
        if on:
            enabled.add(cap)
        else:
            enabled.discard(cap)
        ctx.dirty |= Dirty.BUILTINS | Dirty.PROGRAM
    elif ctx.is_compat and cap in _TEXGEN:
        ctx.lighting.texgen_enabled[coordinate_unit(ctx)][_TEXGEN[cap]] = on
        ctx.dirty |= Dirty.BUILTINS
    elif ctx.profile == "es1" and cap == GL.TEXTURE_GEN_STR_OES:
        for each in (GL.TEXTURE_GEN_S, GL.TEXTURE_GEN_T, GL.TEXTURE_GEN_R):
            set_enabled(ctx, each, on)
    elif ctx.is_compat and (slot := ctx.client_array_slot(cap)) is not None:
        ctx.arrays.current.attribs[slot].enabled = on
        ctx.arrays.current.changed()
    else:
        raise invalid_enum(cap, "capability")


def _check_unit(ctx: Context) -> None:
    """Check the active unit: fixed function has fewer texture units than shaders."""
    if ctx.textures.active >= FIXED_UNITS:
        raise invalid_operation(f"fixed function has {FIXED_UNITS} texture units")


def is_enabled(ctx: Context, cap: int) -> bool:
    """Implements glIsEnabled."""
    found = CAPABILITIES.get(cap)
    if found is not None and ctx.profile in found.profiles:
        return bool(found.read(ctx))
    if cap == GL.BLEND:
        return bool(ctx.fragment.blend_enabled & 1)
    if cap == GL.SCISSOR_TEST:
        return ctx.raster.scissor_enabled[0]
    if 0 <= cap - GL.CLIP_DISTANCE0 < ctx.caps.max_clip_planes:
        return bool(ctx.raster.clip_planes_enabled >> (cap - GL.CLIP_DISTANCE0) & 1)
    if ctx.is_compat and 0 <= cap - GL.LIGHT0 < 8:
        return ctx.lighting.lights[cap - GL.LIGHT0].enabled
    if ctx.is_compat and cap in _TEXTURES:
        return cap in ctx.textures.unit.enabled
    if ctx.is_compat and cap in _TEXGEN:
        return ctx.lighting.texgen_enabled[coordinate_unit(ctx)][_TEXGEN[cap]]
    if ctx.profile == "es1" and cap == GL.TEXTURE_GEN_STR_OES:
        return is_enabled(ctx, GL.TEXTURE_GEN_S)
    if ctx.is_compat:
        if cap == GL.PRIMITIVE_RESTART_NV:  # an enable of the client state, for the same field
            return ctx.raster.primitive_restart
        slot = ctx.client_array_slot(cap)
        if slot is not None:
            return ctx.arrays.current.attribs[slot].enabled
    raise invalid_enum(cap, "capability")


@entry
def enable(ctx: Context, cap: int) -> None:
    set_enabled(ctx, cap, True)


@entry
def disable(ctx: Context, cap: int) -> None:
    set_enabled(ctx, cap, False)


def _set_indexed(ctx: Context, cap: int, index: int, on: bool) -> None:
    if cap == GL.BLEND:
        if not 0 <= index < ctx.caps.max_render_targets:
            raise invalid_value(f"there is no draw buffer {index}")
        bit = 1 << index
        enabled = ctx.fragment.blend_enabled
        ctx.fragment.blend_enabled = enabled | bit if on else enabled & ~bit
        ctx.dirty |= Dirty.BLEND
    elif cap == GL.SCISSOR_TEST:
        if not 0 <= index < len(ctx.raster.scissor_enabled):
            raise invalid_value(f"there is no viewport {index}")
        ctx.raster.scissor_enabled[index] = on
        ctx.dirty |= Dirty.SCISSOR | Dirty.RASTERIZER
    elif ctx.is_compat and (cap in _TEXTURES or cap in _TEXGEN):
        with _unit(ctx, index):
            set_enabled(ctx, cap, on)
    else:
        raise invalid_enum(cap, "indexed capability")


@contextmanager
def _unit(ctx: Context, index: int) -> Iterator[None]:
    """Select a unit: EXT_direct_state_access indexes the enables of texture units."""
    if not 0 <= index < FIXED_UNITS:
        raise invalid_value(f"fixed function has {FIXED_UNITS} texture units")
    saved, ctx.textures.active = ctx.textures.active, index
    try:
        yield
    finally:
        ctx.textures.active = saved


register("enablei", lambda ctx, cap, index: _set_indexed(ctx, cap, index, True))
register("disablei", lambda ctx, cap, index: _set_indexed(ctx, cap, index, False))


@entry
def is_enabledi(ctx: Context, cap: int, index: int) -> int:
    if cap == GL.BLEND and 0 <= index < ctx.caps.max_render_targets:
        return ctx.fragment.blend_enabled >> index & 1
    if cap == GL.SCISSOR_TEST and 0 <= index < len(ctx.raster.scissor_enabled):
        return int(ctx.raster.scissor_enabled[index])
    if cap in (GL.BLEND, GL.SCISSOR_TEST):
        raise invalid_value(f"index {index} of a capability")
    if ctx.is_compat and (cap in _TEXTURES or cap in _TEXGEN):
        with _unit(ctx, index):
            return int(is_enabled(ctx, cap))
    raise invalid_enum(cap, "indexed capability")


register("is_enabled", lambda ctx, cap: int(is_enabled(ctx, cap)))


def _getter(cap: int) -> Any:
    return lambda ctx: is_enabled(ctx, cap)


gets({"BLEND": _getter(GL.BLEND), "SCISSOR_TEST": _getter(GL.SCISSOR_TEST)})
gets({f"CLIP_DISTANCE{i}": _getter(GL.CLIP_DISTANCE0 + i) for i in range(8)})
gets({f"LIGHT{i}": _getter(GL.LIGHT0 + i) for i in range(8)}, profiles="compat")
gets(
    {
        name: _getter(getattr(GL, name))
        for name in (
            *("TEXTURE_1D", "TEXTURE_2D", "TEXTURE_3D", "TEXTURE_CUBE_MAP", "TEXTURE_RECTANGLE"),
            *("TEXTURE_GEN_S", "TEXTURE_GEN_T", "TEXTURE_GEN_R", "TEXTURE_GEN_Q"),
            *("INDEX_ARRAY", "EDGE_FLAG_ARRAY"),
        )
    },
    profiles="compat",
)
gets_indexed(
    lambda c: c.caps.max_render_targets,
    {"BLEND": lambda c, i: bool(c.fragment.blend_enabled >> i & 1)},
)
