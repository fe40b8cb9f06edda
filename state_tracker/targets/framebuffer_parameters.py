"""Framebuffer parameters and invalidation, for bound framebuffers and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.resource import Resource
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import register_for
from gallette.state_tracker.getters import gets
from gallette.state_tracker.targets.framebuffer_objects import bound_framebuffer, by_name
from gallette.state_tracker.targets.framebuffers import DEPTH, STENCIL, Framebuffer
from gallette.state_tracker.texturing.es_formats import own_pair
from gallette.state_tracker.texturing.texture_formats import sample_count

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_DEFAULTS: dict[int, int] = {
    GL.FRAMEBUFFER_DEFAULT_WIDTH: 0,
    GL.FRAMEBUFFER_DEFAULT_HEIGHT: 1,
    GL.FRAMEBUFFER_DEFAULT_LAYERS: 2,
    GL.FRAMEBUFFER_DEFAULT_SAMPLES: 3,
}


def _limit(ctx: Context, pname: int) -> int:
    caps = ctx.caps
    edge = caps.max_texture_2d_size
    return (edge, edge, caps.max_texture_array_layers, caps.max_samples)[_DEFAULTS[pname]]


def _set(ctx: Context, framebuffer: Framebuffer, pname: int, param: int) -> None:
    check_es(ctx, pname, "framebuffer parameter")
    if pname in _LOCATIONS and ctx.caps.sample_locations:
        setattr(framebuffer, _LOCATIONS[pname], bool(param))
        ctx.dirty |= Dirty.SAMPLE_MASK
        return
    fixed = pname == GL.FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS
    flip = pname == GL.FRAMEBUFFER_FLIP_Y_MESA
    if pname not in _DEFAULTS and not fixed and not flip:
        raise invalid_enum(pname, "framebuffer parameter")
    if framebuffer.is_window:
        raise invalid_operation("the default framebuffer has no such parameter")
    if flip:
        framebuffer.flip_y = bool(param)
        if param:
            ctx.flip_framebuffers()
        return
    if fixed:
        framebuffer.fixed_locations = bool(param)
        return
    if not 0 <= param <= _limit(ctx, pname):
        raise invalid_value(f"{param} is not between 0 and {_limit(ctx, pname)}")
    size = list(framebuffer.default_size)
    size[_DEFAULTS[pname]] = param
    framebuffer.default_size = (size[0], size[1], size[2], size[3])
    framebuffer.default_samples = sample_count(ctx.caps, size[3])
    ctx.dirty |= Dirty.FRAMEBUFFER


# Enables of ARB_sample_locations.
_LOCATIONS: dict[int, str] = {
    GL.FRAMEBUFFER_PROGRAMMABLE_SAMPLE_LOCATIONS_ARB: "programmable_locations",
    GL.FRAMEBUFFER_SAMPLE_LOCATION_PIXEL_GRID_ARB: "sample_grid",
}
# Parameters that depend on a framebuffer's images, including the default one's.
_OF_IMAGES = frozenset(
    (
        GL.DOUBLEBUFFER,
        GL.IMPLEMENTATION_COLOR_READ_FORMAT,
        GL.IMPLEMENTATION_COLOR_READ_TYPE,
        GL.SAMPLES,
        GL.SAMPLE_BUFFERS,
        GL.STEREO,
    )
)


def _get(ctx: Context, framebuffer: Framebuffer, pname: int) -> list[int]:
    check_es(ctx, pname, "framebuffer parameter")
    if pname in _OF_IMAGES and ctx.profile != "es":
        samples = framebuffer.samples
        if pname in (GL.IMPLEMENTATION_COLOR_READ_FORMAT, GL.IMPLEMENTATION_COLOR_READ_TYPE):
            return [int(read_pair(ctx, framebuffer)[pname == GL.IMPLEMENTATION_COLOR_READ_TYPE])]
        return [
            {
                GL.SAMPLES: samples,
                GL.SAMPLE_BUFFERS: int(samples > 1),
                GL.DOUBLEBUFFER: int(framebuffer.has_back),
                GL.STEREO: 0,
            }[pname]
        ]
    if pname in _LOCATIONS and ctx.caps.sample_locations:
        return [int(getattr(framebuffer, _LOCATIONS[pname]))]
    fixed = pname == GL.FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS
    flip = pname == GL.FRAMEBUFFER_FLIP_Y_MESA
    if pname not in _DEFAULTS and not fixed and not flip:
        raise invalid_enum(pname, "framebuffer parameter")
    if framebuffer.is_window:
        raise invalid_operation("the default framebuffer has no such parameter")
    if flip:
        return [int(framebuffer.flip_y)]
    if fixed:
        return [int(framebuffer.fixed_locations)]
    return [framebuffer.default_size[_DEFAULTS[pname]]]


def read_pair(ctx: Context, framebuffer: Framebuffer) -> tuple[int, int]:
    """The client format and type that match the colour buffer, so that reading needs no
    conversion.
    """
    found = framebuffer.read_attachment()
    if found is None or found.info is None:
        raise invalid_operation("there is no colour buffer to read")
    if framebuffer.status(ctx) != GL.FRAMEBUFFER_COMPLETE:
        raise invalid_operation("the framebuffer is incomplete")
    if ctx.profile == "es":
        return own_pair(found.info)
    channel = found.info.candidates[0].channels[0]
    integer = found.info.is_integer
    if channel.type == "FLOAT":
        type: int = GL.HALF_FLOAT if channel.bits == 16 else GL.FLOAT
    elif integer:
        type = GL.INT if channel.type == "SINT" else GL.UNSIGNED_INT
    else:
        type = GL.UNSIGNED_SHORT if channel.bits == 16 else GL.UNSIGNED_BYTE
    return int(GL.RGBA_INTEGER if integer else GL.RGBA), int(type)


gets(
    {
        "IMPLEMENTATION_COLOR_READ_FORMAT": lambda c: read_pair(c, c.framebuffers.read)[0],
        "IMPLEMENTATION_COLOR_READ_TYPE": lambda c: read_pair(c, c.framebuffers.read)[1],
    }
)


# -- invalidation ----------------------------------------------------------------------------------

_WINDOW_NAMES = frozenset((GL.COLOR, GL.DEPTH, GL.STENCIL))
_SIDES = frozenset((GL.FRONT_LEFT, GL.FRONT_RIGHT, GL.BACK_LEFT, GL.BACK_RIGHT))
_OLD_NAMES = frozenset((GL.ACCUM, GL.AUX0))


def _is_window_buffer(ctx: Context, name: int) -> bool:
    """Whether a buffer of the default framebuffer is invalidated by that name (17.4.4)."""
    if name in _SIDES:
        return ctx.profile != "es"
    return name in _WINDOW_NAMES or (name in _OLD_NAMES and ctx.is_compat)


def _invalidate(
    ctx: Context, framebuffer: Framebuffer, count: int, attachments: Pointer, *area: int
) -> None:
    """Make contents undefined; the driver is notified of images that are invalidated completely."""
    if count < 0 or (area and (area[2] < 0 or area[3] < 0)):
        raise invalid_value("negative count or size")
    names = read_array(attachments, "uint", count).tolist()
    for attachment in names:
        index = attachment - GL.COLOR_ATTACHMENT0
        if framebuffer.is_window:
            if not _is_window_buffer(ctx, attachment):
                raise invalid_enum(attachment, "buffer of the default framebuffer")
        elif 0 <= index < 32:
            if index >= ctx.caps.max_render_targets:
                raise invalid_operation(f"there is no colour attachment {index}")
        elif attachment not in (
            GL.DEPTH_ATTACHMENT,
            GL.STENCIL_ATTACHMENT,
            GL.DEPTH_STENCIL_ATTACHMENT,
        ):
            raise invalid_enum(attachment, "attachment")
    if not area:
        for resource in _forgotten(framebuffer, names):
            ctx.pipe.invalidate_resource(resource)


_HALVES = {
    GL.DEPTH_ATTACHMENT: (DEPTH,),
    GL.STENCIL_ATTACHMENT: (STENCIL,),
    GL.DEPTH_STENCIL_ATTACHMENT: (DEPTH, STENCIL),
}


def _forgotten(framebuffer: Framebuffer, names: list[int]) -> list[Resource]:
    """The resources of attachments, if all of their contents are named."""
    if framebuffer.is_window:
        return []
    points = {p for name in names for p in _HALVES.get(name, (name - GL.COLOR_ATTACHMENT0,))}
    named: dict[Resource, set[int | str]] = {}
    for point in points:
        attachment = framebuffer.attachments.get(point)
        place = None if attachment is None else attachment.place()
        if place is not None:
            named.setdefault(place[0], set()).add(point)
    return [resource for resource, found in named.items() if _is_all(resource, found)]


def _is_all(resource: Resource, points: set[int | str]) -> bool:
    """Whether a resource holds a single image, covered completely by the attachment points."""
    desc = resource.desc
    if desc.last_level or desc.depth > 1 or desc.array_size > 1:
        return False
    return (DEPTH in points or not desc.format.has_depth) and (
        STENCIL in points or not desc.format.has_stencil
    )


register_for(
    bound_framebuffer,
    {
        "framebuffer_parameteri": _set,
        "get_framebuffer_parameteriv": _get,
        "invalidate_framebuffer": _invalidate,
        "invalidate_sub_framebuffer": _invalidate,
    },
)
register_for(
    by_name,
    {
        "named_framebuffer_parameteri": _set,
        "get_named_framebuffer_parameteriv": _get,
        "invalidate_named_framebuffer_data": _invalidate,
        "invalidate_named_framebuffer_sub_data": _invalidate,
    },
)
