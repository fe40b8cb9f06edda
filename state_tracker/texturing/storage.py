"""Images allocated together: immutable storage, and multisample textures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.es_enums import check_es
from gallette.state_tracker.entry_points.registry import register
from gallette.state_tracker.texturing.image_rules import (
    check_target,
    is_of_another_profile,
    multisample_format,
)
from gallette.state_tracker.texturing.teximage import check_sizes
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    InternalFormat,
    sample_count,
)
from gallette.state_tracker.texturing.texture_targets import (
    CUBE_FACES,
    TARGETS,
    TargetInfo,
    image_target,
)
from gallette.state_tracker.texturing.textures import TextureObject, make_image
from gallette.state_tracker.texturing.units import current

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_UNSIZED = frozenset(
    [
        "1",
        "2",
        "3",
        "4",
        "RED",
        "RG",
        "RGB",
        "RGBA",
        "BGRA",
        "SRGB",
        "SRGB_ALPHA",
        "SLUMINANCE",
        "SLUMINANCE_ALPHA",
        "DEPTH_COMPONENT",
        "DEPTH_STENCIL",
        "STENCIL_INDEX",
        "ALPHA",
        "LUMINANCE",
        "LUMINANCE_ALPHA",
        "INTENSITY",
        "COMPRESSED_RED",
        "COMPRESSED_RG",
        "COMPRESSED_RGB",
        "COMPRESSED_RGBA",
        "COMPRESSED_SRGB",
        "COMPRESSED_SRGB_ALPHA",
        "COMPRESSED_ALPHA",
        "COMPRESSED_LUMINANCE",
        "COMPRESSED_LUMINANCE_ALPHA",
        "COMPRESSED_INTENSITY",
        "COMPRESSED_SLUMINANCE",
        "COMPRESSED_SLUMINANCE_ALPHA",
    ]
)


def _storage(
    ctx: Context, texture: TextureObject, levels: int, internalformat: int,
    extent: tuple[int, int, int], samples: int = 0, fixed: bool = True,
) -> None:  # fmt: skip
    info = _check_storage(ctx, texture.target, levels, internalformat, extent)
    if texture is ctx.textures.defaults[texture.target.value]:
        raise invalid_operation("the default texture has no immutable storage")
    if texture.immutable_levels:
        raise invalid_operation("the texture's storage is immutable already")
    if not check_sizes(ctx, texture.target, 0, extent):
        raise invalid_value("the texture is too large")
    image = make_image(ctx, info, texture.target, extent, samples, fixed)
    sparse = texture.sparse
    pages = None if sparse is None else sparse.divided(ctx, texture.target, image, levels)
    texture.allocate(levels, image)
    if sparse is not None:
        sparse.pages = pages


def _check_storage(
    ctx: Context, target: TargetInfo, levels: int, internalformat: int, extent: tuple[int, int, int]
) -> InternalFormat:
    """Check the parameters of immutable storage of any texture; returns its format."""
    if levels < 1 or min(extent) < 1:
        raise invalid_value("storage needs at least one level and one texel")
    info = INTERNAL_FORMATS.get(internalformat)
    unsized = info is not None and info.name in _UNSIZED
    if info is None or unsized or is_of_another_profile(ctx, info):
        raise invalid_enum(internalformat, "sized internal format")
    check_target(ctx, info, target)
    edges = [s for axis, s in enumerate(extent) if axis != target.layers_axis]
    if levels > (max(edges).bit_length() if target.mipmapped else 1):
        raise invalid_operation("more levels than a full mipmap chain has")
    return info


def _proxy_storage(
    ctx: Context, target: TargetInfo, levels: int, internalformat: int, extent: tuple[int, int, int]
) -> None:
    """Set the proxy state for immutable storage; empty if it is too large."""
    info = _check_storage(ctx, target, levels, internalformat, extent)
    fits = check_sizes(ctx, target, 0, extent)
    for level in range(target.last_level(ctx.caps) + 1):
        image = None
        if fits and level < levels:
            image = make_image(ctx, info, target, target.level_extent(extent, level))
        ctx.textures.set_proxy(target, level, image)


def _storage_family(dimensions: int) -> None:
    ones = (1,) * (3 - dimensions)

    def by_target(ctx: Context, target: int, levels: int, internalformat: int, *size: int) -> None:
        check_es(ctx, target, "texture target")
        info, _, proxy = image_target(target, 0) if target != GL.TEXTURE_CUBE_MAP else (
            TARGETS[target], 0, False,
        )  # fmt: skip
        if info.dimensions != dimensions or target in CUBE_FACES:
            raise invalid_enum(target, f"target of {dimensions}D storage")
        extent = (*size, *ones)
        if proxy:
            _proxy_storage(ctx, info, levels, internalformat, (extent[0], extent[1], extent[2]))
            return
        _storage(
            ctx, current(ctx, info.value), levels, internalformat, (extent[0], extent[1], extent[2])
        )

    def by_name(ctx: Context, name: int, levels: int, internalformat: int, *size: int) -> None:
        texture, extent = ctx.textures.names.require(name), (*size, *ones)
        if texture.target.dimensions != dimensions:
            raise invalid_operation(f"texture {name} has no {dimensions}D storage")
        _storage(ctx, texture, levels, internalformat, (extent[0], extent[1], extent[2]))

    register(f"tex_storage{dimensions}d", by_target)
    register(f"texture_storage{dimensions}d", by_name)


for _n in (1, 2, 3):
    _storage_family(_n)


def _multisample(
    ctx: Context, texture: TextureObject, samples: int, internalformat: int,
    extent: tuple[int, int, int], fixed: int, immutable: bool,
) -> None:  # fmt: skip
    info = _check_samples(ctx, samples, internalformat)
    samples = sample_count(ctx.caps, samples)
    if immutable:
        _storage(ctx, texture, 1, internalformat, extent, samples, bool(fixed))
        return
    if texture.immutable_levels:
        raise invalid_operation("the texture's storage is immutable")
    if not check_sizes(ctx, texture.target, 0, extent):
        raise invalid_value("the texture is too large")
    texture.define(0, 0, make_image(ctx, info, texture.target, extent, samples, bool(fixed)))


def _check_samples(ctx: Context, samples: int, internalformat: int) -> InternalFormat:
    info = multisample_format(ctx, internalformat)
    if samples < 1:
        raise invalid_value("a multisample texture has at least one sample")
    if samples > ctx.caps.max_samples:
        raise invalid_operation(f"the driver has {ctx.caps.max_samples} samples at most")
    return info


def _multisample_family(dimensions: int, name: str) -> None:
    expected = GL.TEXTURE_2D_MULTISAMPLE if dimensions == 2 else GL.TEXTURE_2D_MULTISAMPLE_ARRAY
    stored = name.startswith("tex_storage")

    def call(ctx: Context, target: int, samples: int, internalformat: int, *rest: int) -> None:
        info = TARGETS[expected]
        check_es(ctx, target, "texture target")
        if target not in (expected, info.proxy):
            raise invalid_enum(target, "multisample texture target")
        size = (*rest[:-1], *(1,) * (3 - dimensions))
        extent = (size[0], size[1], size[2])
        if target == info.proxy:
            kind = _check_samples(ctx, samples, internalformat)
            samples = sample_count(ctx.caps, samples)
            if stored:
                _check_storage(ctx, info, 1, internalformat, extent)
            image = make_image(ctx, kind, info, extent, samples, bool(rest[-1]))
            fits = check_sizes(ctx, info, 0, extent)
            ctx.textures.set_proxy(info, 0, image if fits else None)
            return
        texture = current(ctx, target)
        _multisample(ctx, texture, samples, internalformat, extent, rest[-1], stored)

    def by_name(ctx: Context, texture: int, samples: int, internalformat: int, *rest: int) -> None:
        found = ctx.textures.names.require(texture)
        if found.target.value != expected:
            raise invalid_operation(f"texture {texture} is a {found.target.name}")
        size = (*rest[:-1], *(1,) * (3 - dimensions))
        extent = (size[0], size[1], size[2])
        _multisample(ctx, found, samples, internalformat, extent, rest[-1], True)

    register(name, call)
    if stored:
        register(name.replace("tex_", "texture_", 1), by_name)


for _n in (2, 3):
    _multisample_family(_n, f"tex_image{_n}d_multisample")
    _multisample_family(_n, f"tex_storage{_n}d_multisample")
