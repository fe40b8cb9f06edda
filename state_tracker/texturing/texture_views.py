"""glTextureView: another texture object over some levels and layers of an immutable texture.

The view refers to the original's resource and records its first level and layer there; its images
have the view's format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_operation, invalid_value
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.texturing.format_classes import view_class
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    InternalFormat,
    format_of_size,
)
from gallette.state_tracker.texturing.texture_targets import TargetInfo, texture_target
from gallette.state_tracker.texturing.textures import TexImage, TextureObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_CUBES = (
    GL.TEXTURE_CUBE_MAP, GL.TEXTURE_2D, GL.TEXTURE_2D_ARRAY, GL.TEXTURE_CUBE_MAP_ARRAY,
)  # fmt: skip
# The targets that may view textures of each (table 8.20): an array or a cube has layers that make
# one of several targets, a single image none but itself and an array.
_VIEWS: dict[int, tuple[int, ...]] = {
    GL.TEXTURE_1D: (GL.TEXTURE_1D, GL.TEXTURE_1D_ARRAY),
    GL.TEXTURE_1D_ARRAY: (GL.TEXTURE_1D, GL.TEXTURE_1D_ARRAY),
    GL.TEXTURE_2D: (GL.TEXTURE_2D, GL.TEXTURE_2D_ARRAY),
    GL.TEXTURE_2D_ARRAY: _CUBES,
    GL.TEXTURE_CUBE_MAP: _CUBES,
    GL.TEXTURE_CUBE_MAP_ARRAY: _CUBES,
    GL.TEXTURE_3D: (GL.TEXTURE_3D,),
    GL.TEXTURE_RECTANGLE: (GL.TEXTURE_RECTANGLE,),
    GL.TEXTURE_2D_MULTISAMPLE: (GL.TEXTURE_2D_MULTISAMPLE, GL.TEXTURE_2D_MULTISAMPLE_ARRAY),
    GL.TEXTURE_2D_MULTISAMPLE_ARRAY: (GL.TEXTURE_2D_MULTISAMPLE, GL.TEXTURE_2D_MULTISAMPLE_ARRAY),
}


def _compatible_formats(view: InternalFormat, original: InternalFormat) -> bool:
    if view is original:
        return True
    found = view_class(view)
    return found != GL.NONE and found == view_class(original)


def _check_layers(target: TargetInfo, asked: int, layers: int, image: TexImage) -> None:
    """Check that `layers`, those of `asked` that exist, form a texture of that target.

    A single-layer target requires `asked` to be one.
    """
    wanted = {
        GL.TEXTURE_CUBE_MAP: layers == 6,
        GL.TEXTURE_CUBE_MAP_ARRAY: layers % 6 == 0,
    }.get(target.value, asked == 1 or target.layers_axis >= 0)
    if not wanted:
        raise invalid_value(f"{layers} layers do not make a {target.name}")
    if target.pipe.is_cube and image.width != image.height:
        raise invalid_operation("cube map faces are square")


def _layers_of(texture: TextureObject) -> int:
    image = texture.images[0][0]
    if texture.target.value == GL.TEXTURE_CUBE_MAP:
        return 6 if texture.view_layers is None else texture.view_layers
    return image.extent[texture.target.layers_axis] if texture.target.layers_axis >= 0 else 1


@entry
def texture_view(
    ctx: Context, texture: int, target: int, origtexture: int, internalformat: int,
    minlevel: int, numlevels: int, minlayer: int, numlayers: int,
) -> None:  # fmt: skip
    names = ctx.textures.names
    original = names.get(origtexture)
    if original is None:
        raise invalid_value(f"{origtexture} is not the name of a texture")
    if texture == 0 or numlevels == 0 or numlayers == 0:
        raise invalid_value("a view needs a name, a level and a layer")
    if not names.is_reserved(texture):
        raise invalid_operation(f"{texture} was not generated as the name of a texture")
    if names.get(texture) is not None:
        raise invalid_operation(f"texture {texture} has a target already")
    if not original.immutable_levels:
        raise invalid_operation("only immutable textures can be viewed")
    info = texture_target(target)
    if target not in _VIEWS.get(original.target.value, ()):
        raise invalid_operation(f"a {info.name} cannot view a {original.target.name}")
    base = original.images[0][0]
    kind = INTERNAL_FORMATS.get(internalformat)
    if kind is None or not _compatible_formats(kind, base.info):
        raise invalid_operation(
            f"{GL.name_of(internalformat)} cannot view texels of GL_{base.info.name}"
        )
    layers = _layers_of(original)
    if minlevel >= original.immutable_levels or minlayer >= layers:
        raise invalid_value("the view begins outside the texture")
    numlevels = min(numlevels, original.immutable_levels - minlevel)
    asked, numlayers = numlayers, min(numlayers, layers - minlayer)
    _check_layers(info, asked, numlayers, original.images[0][minlevel])
    view = names.bind(texture, lambda n: TextureObject(n, info, ctx), True)
    _share(view, original, kind, (minlevel, numlevels), (minlayer, numlayers))


def _share(
    view: TextureObject, original: TextureObject, kind: InternalFormat,
    levels: tuple[int, int], layers: tuple[int, int],
) -> None:  # fmt: skip
    assert original.resource is not None
    view.resource = original.resource.ref()
    view.first_level = original.first_level + levels[0]
    view.first_layer = original.first_layer + layers[0]
    view.view_layers = layers[1]
    view.immutable_levels = levels[1]
    view.sparse = original.sparse
    view.told_levels = original.told_levels or original.immutable_levels
    view.view_range = (
        original.view_range[0] + levels[0],
        levels[1],
        original.view_range[2] + layers[0],
        layers[1],
    )
    stored = original.images[0][0].format
    same = kind is original.images[0][0].info
    format = stored if same else format_of_size(kind.candidates, stored)
    for level in range(levels[1]):
        source = original.images[0][levels[0] + level]
        extent = [source.width, source.height, source.depth]
        if original.target.layers_axis >= 0:
            extent[original.target.layers_axis] = 1
        if view.target.layers_axis >= 0:
            extent[view.target.layers_axis] = layers[1]
        for face in view.images:
            face[level] = TexImage(
                extent[0], extent[1], extent[2], kind, format, source.samples, source.fixed_samples
            )
    view.changed()
