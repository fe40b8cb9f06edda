"""The functions of ARB_bindless_texture: handles, their residency, uniforms set to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.pipe.enums import Target
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_array
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.shading.programs import Executable
from gallette.state_tracker.shading.uniforms import in_use, linked
from gallette.state_tracker.texturing.format_classes import IMAGE_FORMATS

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.texturing.sampling import SamplerParams
    from gallette.state_tracker.texturing.textures import TextureObject

PLAIN_BORDERS = frozenset(((0, 0, 0, 0), (0, 0, 0, 1), (1, 1, 1, 0), (1, 1, 1, 1)))
"""The border colours that a texture with a handle may have."""

ACCESSES = frozenset((GL.READ_ONLY, GL.WRITE_ONLY, GL.READ_WRITE))


def _texture(ctx: Context, name: int) -> TextureObject:
    found = ctx.textures.names.get(name) if name else None
    if found is None:
        raise invalid_value(f"{name} is not the name of a texture")
    return found


def _check_complete(texture: TextureObject, params: SamplerParams | None) -> None:
    if texture.target.pipe is Target.BUFFER:
        complete = texture.view() is not None
    else:
        complete = texture.usable(params or texture.params)
    if not complete:
        raise invalid_operation("the texture is not complete")


def _texture_handle(ctx: Context, name: int, sampler_name: int | None) -> int:
    texture = _texture(ctx, name)
    sampler = None
    if sampler_name is not None:
        sampler = ctx.samplers.get(sampler_name) if sampler_name else None
        if sampler is None:
            raise invalid_value(f"{sampler_name} is not the name of a sampler")
    params = sampler.params if sampler is not None else texture.params
    _check_complete(texture, params)
    if tuple(params.border_color) not in PLAIN_BORDERS:
        raise invalid_operation("the border colour of a texture with a handle is black or white")
    return ctx.group.handles.texture(texture, sampler).value


@entry
def get_texture_handle_arb(ctx: Context, texture: int) -> int:
    return _texture_handle(ctx, texture, None)


@entry
def get_texture_sampler_handle_arb(ctx: Context, texture: int, sampler: int) -> int:
    return _texture_handle(ctx, texture, sampler)


_LAYERED = frozenset(
    (
        GL.TEXTURE_3D,
        GL.TEXTURE_1D_ARRAY,
        GL.TEXTURE_2D_ARRAY,
        GL.TEXTURE_CUBE_MAP,
        GL.TEXTURE_CUBE_MAP_ARRAY,
        GL.TEXTURE_2D_MULTISAMPLE_ARRAY,
    )
)


@entry
def get_image_handle_arb(
    ctx: Context, texture: int, level: int, layered: int, layer: int, format: int
) -> int:
    found = _texture(ctx, texture)
    if format not in IMAGE_FORMATS:
        raise invalid_value(f"{GL.name_of(format)} is not a format of images")
    target = found.target
    if target.pipe is Target.BUFFER:
        exists, layers = level == 0 and found.view() is not None, 1
    else:
        image = found.image(0, level)
        exists, layers = image is not None and all(image.extent), 1
        if image is not None and target.value in _LAYERED:
            axis = target.layers_axis
            layers = 6 if target.faces == 6 else image.extent[axis if axis >= 0 else 2]
    if not exists:
        raise invalid_value(f"the texture has no level {level}")
    if not layered and not 0 <= layer < layers:
        raise invalid_value(f"layer {layer} of {layers}")
    _check_complete(found, None)
    if layered and target.value not in _LAYERED:
        raise invalid_operation("the texture has no layers")
    return ctx.group.handles.image(found, level, bool(layered), layer, format).value


# -- residency -------------------------------------------------------------------------------------


@entry
def make_texture_handle_resident_arb(ctx: Context, handle: int) -> None:
    ctx.bindless.add_texture(handle)
    ctx.dirty |= Dirty.TEXTURES


@entry
def make_texture_handle_non_resident_arb(ctx: Context, handle: int) -> None:
    ctx.bindless.drop_texture(handle)
    ctx.dirty |= Dirty.TEXTURES


@entry
def make_image_handle_resident_arb(ctx: Context, handle: int, access: int) -> None:
    if access not in ACCESSES:
        raise invalid_enum(access, "image access")
    ctx.bindless.add_image(handle, access)
    ctx.dirty |= Dirty.IMAGES


@entry
def make_image_handle_non_resident_arb(ctx: Context, handle: int) -> None:
    ctx.bindless.drop_image(handle)
    ctx.dirty |= Dirty.IMAGES


@entry
def is_texture_handle_resident_arb(ctx: Context, handle: int) -> int:
    if handle not in ctx.group.handles.textures:
        raise invalid_operation("this is no handle of a texture")
    return int(handle in ctx.bindless.textures)


@entry
def is_image_handle_resident_arb(ctx: Context, handle: int) -> int:
    if handle not in ctx.group.handles.images:
        raise invalid_operation("this is no handle of an image")
    return int(handle in ctx.bindless.images)


# -- uniforms --------------------------------------------------------------------------------------


def _set(ctx: Context, executable: Executable, location: int, values: list[int]) -> None:
    storage = executable.uniforms
    if location in storage.ignored:
        return
    storage.set_handles(storage.slot(location), values)
    if executable in ctx.programs.stages.values():
        ctx.dirty |= Dirty.CONSTANTS | Dirty.TEXTURES | Dirty.IMAGES


def _several(count: int, values: Pointer) -> list[int]:
    if count < 0:
        raise invalid_value("negative count")
    return [int(v) for v in read_array(values, "uint64", count)]


@entry
def uniform_handleui64_arb(ctx: Context, location: int, value: int) -> None:
    _set(ctx, in_use(ctx), location, [value])


@entry
def uniform_handleui64v_arb(ctx: Context, location: int, count: int, value: Pointer) -> None:
    _set(ctx, in_use(ctx), location, _several(count, value))


@entry
def program_uniform_handleui64_arb(ctx: Context, program: int, location: int, value: int) -> None:
    _set(ctx, linked(ctx, program), location, [value])


@entry
def program_uniform_handleui64v_arb(
    ctx: Context, program: int, location: int, count: int, values: Pointer
) -> None:
    _set(ctx, linked(ctx, program), location, _several(count, values))
