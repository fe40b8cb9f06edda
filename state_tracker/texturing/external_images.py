"""EGL images as textures and renderbuffers: external storage, shared by all siblings.

Only EGL can resolve an image: the creator of a context sets `Context.find_image`. A sibling refers
to one level and layer of a resource; a texture made from it uses that like a texture view, until it
gets storage of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.resource import Resource, level_extent
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.texturing.texture_formats import InternalFormat
from gallette.state_tracker.texturing.textures import TexImage, TextureObject
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

Source = tuple[Resource, int, int, InternalFormat]


def _source(ctx: Context, image: int) -> Source:
    """Resource, level, layer and format of an image."""
    found = ctx.find_image(image or 0) if ctx.find_image is not None else None
    if found is None:
        raise invalid_value("there is no such EGL image")
    return found


def _adopt(texture: TextureObject, source: Source) -> None:
    resource, level, layer, info = source
    if texture.immutable_levels:
        raise invalid_operation("the texture has immutable storage")
    width, height, _ = level_extent(resource.desc, level)
    image = TexImage(width, height, 1, info, resource.desc.format, resource.desc.samples, True)
    texture.adopt(resource.ref(), level, layer, image)


@entry
def egl_image_target_texture2d_oes(ctx: Context, target: int, image: int) -> None:
    external = target == GL.TEXTURE_EXTERNAL_OES and ctx.profile == "es"
    if target != GL.TEXTURE_2D and not external:
        raise invalid_enum(target, "target of an EGL image")
    _adopt(current(ctx, target), _source(ctx, image))


@entry
def egl_image_target_renderbuffer_storage_oes(ctx: Context, target: int, image: int) -> None:
    if target != GL.RENDERBUFFER:
        raise invalid_enum(target, "renderbuffer target")
    buffer = ctx.renderbuffers.bound
    if buffer is None:
        raise invalid_operation("no renderbuffer is bound")
    resource, level, layer, info = _source(ctx, image)
    width, height, _ = level_extent(resource.desc, level)
    resource.ref()
    if buffer.resource is not None:
        buffer.resource.unref()
    buffer.resource, buffer.place = resource, (level, layer)
    buffer.width, buffer.height, buffer.samples = width, height, resource.desc.samples
    buffer.info, buffer.internal_format = info, info.value
    ctx.group.mark(Dirty.FRAMEBUFFER)


def _no_attributes(attribs: Pointer) -> None:
    if attribs is not None and int(read_array(attribs, "int", 1)[0]) != GL.NONE:
        raise invalid_value("storage of EGL images takes no attributes")


def _store(texture: TextureObject, source: Source) -> None:
    _adopt(texture, source)
    texture.immutable_levels, texture.view_range = 1, (0, 1, 0, 1)


@entry
def egl_image_target_tex_storage_ext(
    ctx: Context, target: int, image: int, attribs: Pointer
) -> None:
    if target != GL.TEXTURE_2D:
        raise invalid_operation("an EGL image is a two-dimensional texture")
    _no_attributes(attribs)
    _store(current(ctx, target), _source(ctx, image))


@entry
def egl_image_target_texture_storage_ext(
    ctx: Context, texture: int, image: int, attribs: Pointer
) -> None:
    found = ctx.textures.names.require(texture)
    if found.target.value != GL.TEXTURE_2D:
        raise invalid_operation("an EGL image is a two-dimensional texture")
    _no_attributes(attribs)
    _store(found, _source(ctx, image))
