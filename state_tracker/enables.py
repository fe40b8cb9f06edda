"""glEnable and related functions: they set parameters of the table, and a few states that are not
flags.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.drawing.blending import EVERY_BUFFER
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.registry import entry, register
from gallette.state_tracker.getters import gets, gets_indexed
from gallette.state_tracker.parameters import PARAMETERS, profiles_of

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Read = Callable[["Context"], bool]
Write = Callable[["Context", bool], None]
ReadAt = Callable[["Context", int], bool]
WriteAt = Callable[["Context", int, bool], None]


@lazy_dataclass(frozen=True)
class Switch:
    """A capability that is not one flag: how it is read and set."""

    read: Read
    write: Write
    profiles: frozenset[str]
    at: tuple[ReadAt, WriteAt] | None
    """how the value of an index is read and set, if glEnablei knows it"""


CAPABILITIES = {row.value: row for row in PARAMETERS if "Enable" in row.by}
_SWITCHES: dict[int, Switch] = {}


def switches(
    name: str,
    read: Read,
    write: Write,
    profiles: str = "",
    at: tuple[ReadAt, WriteAt] | None = None,
) -> None:
    """Declare a capability that glIsEnabled and glGet know, by its name without GL_."""
    _SWITCHES[getattr(GL, name)] = Switch(read, write, profiles_of(profiles), at)
    gets({name: read}, profiles=profiles)


def _switch(ctx: Context, cap: int) -> Switch:
    found = _SWITCHES.get(cap)
    if found is None or ctx.profile not in found.profiles:
        raise invalid_enum(cap, "capability")
    return found


def set_enabled(ctx: Context, cap: int, on: bool) -> None:
    """Implements glEnable and glDisable."""
    found = CAPABILITIES.get(cap)
    if found is None or ctx.profile not in found.profiles:
        _switch(ctx, cap).write(ctx, on)
        return
    holder, field = found.fields[0]
    owner = getattr(ctx, holder)
    if getattr(owner, field) != on or cap == GL.DEPTH_CLAMP:
        setattr(owner, field, on)
        ctx.dirty |= found.dirty
        if cap in _SWITCHES:  # something follows from the flag
            _SWITCHES[cap].write(ctx, on)


def is_enabled(ctx: Context, cap: int) -> bool:
    """Implements glIsEnabled."""
    found = CAPABILITIES.get(cap)
    if found is not None and ctx.profile in found.profiles:
        return bool(found.read(ctx))
    return _switch(ctx, cap).read(ctx)


@entry
def enable(ctx: Context, cap: int) -> None:
    set_enabled(ctx, cap, True)


@entry
def disable(ctx: Context, cap: int) -> None:
    set_enabled(ctx, cap, False)


register("is_enabled", lambda ctx, cap: int(is_enabled(ctx, cap)))


def _indexed(ctx: Context, cap: int) -> tuple[ReadAt, WriteAt]:
    found = _SWITCHES.get(cap)
    if found is None or found.at is None or ctx.profile not in found.profiles:
        raise invalid_enum(cap, "indexed capability")
    return found.at


register("enablei", lambda ctx, cap, index: _indexed(ctx, cap)[1](ctx, index, True))
register("disablei", lambda ctx, cap, index: _indexed(ctx, cap)[1](ctx, index, False))
register("is_enabledi", lambda ctx, cap, index: int(_indexed(ctx, cap)[0](ctx, index)))


# -- the switches of all profiles ------------------------------------------------------------------


def _set_blend(ctx: Context, on: bool) -> None:
    wanted = EVERY_BUFFER if on else 0
    if ctx.fragment.blend_enabled != wanted:
        ctx.dirty |= Dirty.BLEND
    ctx.fragment.blend_enabled = wanted


def _draw_buffer(ctx: Context, index: int) -> int:
    """The bit of a draw buffer."""
    if not 0 <= index < ctx.caps.max_render_targets:
        raise invalid_value(f"there is no draw buffer {index}")
    return 1 << index


def _blends(ctx: Context, index: int) -> bool:
    return bool(ctx.fragment.blend_enabled & _draw_buffer(ctx, index))


def _set_blend_of(ctx: Context, index: int, on: bool) -> None:
    bit, enabled = _draw_buffer(ctx, index), ctx.fragment.blend_enabled
    ctx.fragment.blend_enabled = enabled | bit if on else enabled & ~bit
    ctx.dirty |= Dirty.BLEND


def _set_scissor(ctx: Context, on: bool) -> None:
    old = ctx.raster.scissor_enabled
    if old.count(on) < len(old):
        ctx.dirty |= Dirty.SCISSOR | Dirty.RASTERIZER
    ctx.raster.scissor_enabled = [on] * len(old)


def _viewport(ctx: Context, index: int) -> int:
    if not 0 <= index < len(ctx.raster.scissor_enabled):
        raise invalid_value(f"there is no viewport {index}")
    return index


def _scissors(ctx: Context, index: int) -> bool:
    return ctx.raster.scissor_enabled[_viewport(ctx, index)]


def _set_scissor_of(ctx: Context, index: int, on: bool) -> None:
    ctx.raster.scissor_enabled[_viewport(ctx, index)] = on
    ctx.dirty |= Dirty.SCISSOR | Dirty.RASTERIZER


def _set_clip_distance(ctx: Context, index: int, on: bool) -> None:
    bit, planes = _clip_distance(ctx, index), ctx.raster.clip_planes_enabled
    ctx.raster.clip_planes_enabled = planes | bit if on else planes & ~bit
    ctx.dirty |= Dirty.RASTERIZER | Dirty.CLIP


def _clip_distance(ctx: Context, index: int) -> int:
    """The bit of a clip distance."""
    if index >= ctx.caps.max_clip_planes:
        raise invalid_enum(GL.CLIP_DISTANCE0 + index, "capability")
    return 1 << index


switches(
    "BLEND",
    lambda ctx: bool(ctx.fragment.blend_enabled & 1),
    _set_blend,
    at=(_blends, _set_blend_of),
)
switches(
    "SCISSOR_TEST",
    lambda ctx: _scissors(ctx, 0),
    _set_scissor,
    at=(_scissors, _set_scissor_of),
)
for _i in range(8):
    switches(
        f"CLIP_DISTANCE{_i}",
        lambda ctx, i=_i: bool(ctx.raster.clip_planes_enabled & _clip_distance(ctx, i)),  # type: ignore[misc]
        lambda ctx, on, i=_i: _set_clip_distance(ctx, i, on),  # type: ignore[misc]
    )
gets_indexed(
    lambda c: c.caps.max_render_targets,
    {"BLEND": lambda c, i: bool(c.fragment.blend_enabled >> i & 1)},
)
