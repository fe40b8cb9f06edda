"""Texture objects: images, the storage of their texels, completeness, and sampler views.

GL lets an application define the levels of a texture one by one, in any size, and checks only at
draw time whether they fit together. The state tracker guesses the whole mipmap chain from the first
image and allocates one pipe resource for it; an image that does not fit gets a resource of its own
(a *stray*) until `finalize` gathers all fitting images into a new chain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.codecs import can_encode
from gallette.pipe.enums import Bind, Swizzle, Target
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.resource import Resource, ResourceDesc, level_extent
from gallette.pipe.state import Box, SamplerView
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_operation,
)
from gallette.state_tracker.objects import GLObject, swap
from gallette.state_tracker.texturing.sampling import MIPMAP_FILTERS, SamplerParams
from gallette.state_tracker.texturing.texture_formats import (
    InternalFormat,
    choose_format,
    linear_format,
    sample_count,
)
from gallette.state_tracker.texturing.texture_targets import TargetInfo
from gallette.state_tracker.vertices.buffers import BufferObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

SWIZZLES: dict[int, Swizzle] = {
    GL.RED: Swizzle.X,
    GL.GREEN: Swizzle.Y,
    GL.BLUE: Swizzle.Z,
    GL.ALPHA: Swizzle.W,
    GL.ZERO: Swizzle.ZERO,
    GL.ONE: Swizzle.ONE,
}
IDENTITY = (GL.RED, GL.GREEN, GL.BLUE, GL.ALPHA)
_MOST_VIEWS = 64
"""Limit on cached views of one texture; a program may cycle through all level ranges."""

_DEPTH_MODES: dict[int, tuple[Swizzle, Swizzle, Swizzle, Swizzle]] = {
    GL.RED: (Swizzle.X, Swizzle.ZERO, Swizzle.ZERO, Swizzle.ONE),
    GL.LUMINANCE: (Swizzle.X, Swizzle.X, Swizzle.X, Swizzle.ONE),
    GL.INTENSITY: (Swizzle.X, Swizzle.X, Swizzle.X, Swizzle.X),
    GL.ALPHA: (Swizzle.ZERO, Swizzle.ZERO, Swizzle.ZERO, Swizzle.X),
}


_MOST_GUESSED = 1 << 28
"""Texels of a guessed base level: a small level may be defined first, and alone."""


@lazy_dataclass(eq=False)
class TexImage:
    """One image (level of a face) as the application defined it."""

    width: int
    height: int
    depth: int
    info: InternalFormat
    format: Format
    samples: int = 0
    fixed_samples: bool = True
    stray: Resource | None = None
    words: npt.NDArray[np.uint16] | None = None
    """Luma and chroma, unconverted."""
    unsized: int = 0
    """The unsized internal format it was given in ES, if any."""

    @property
    def extent(self) -> tuple[int, int, int]:
        return self.width, self.height, self.depth

    @property
    def reported_format(self) -> Format:
        """The format reported to the application: compressed, even if its texels are stored
        uncompressed.
        """
        told = self.info.candidates[0]
        return told if told.is_compressed and can_encode(told) else self.format

    @property
    def compressed(self) -> bool:
        return self.reported_format.is_compressed


@contextmanager
def _given_back(made: Resource | list[Any] | None) -> Iterator[None]:
    """Release what was allocated so far if memory runs out."""
    try:
        yield
    except MemoryError:
        for resource in [made] if isinstance(made, Resource) else [m[-1] for m in made or ()]:
            resource.unref()
        raise


class TextureObject(GLObject):
    """A texture of one target."""

    kind = "texture"

    def __init__(self, name: int, target: TargetInfo, ctx: Context):
        super().__init__(name)
        self.group, self.target = ctx.group, target
        self.params = SamplerParams()
        if target.only_edges:
            self.params.min_filter = GL.LINEAR
            edge = GL.CLAMP_TO_EDGE
            self.params.wrap_s = self.params.wrap_t = self.params.wrap_r = edge
        self.base_level, self.max_level = 0, 1000
        self.swizzle = IDENTITY
        self.depth_mode: int = GL.LUMINANCE if ctx.is_compat else GL.RED
        self.stencil_mode: int = GL.DEPTH_COMPONENT
        self.generate_mipmap = False
        self.priority = 1.0
        self.crop_rect = (0, 0, 0, 0)  # for OES_draw_texture
        self.immutable_levels = 0
        # The position of a texture in its resource: (0, 0) unless it is a view of another one.
        self.first_level = self.first_layer = 0
        self.view_layers: int | None = None
        self.adopted = False  # the storage belongs to an EGL image
        self.told_levels: int | None = None  # a view reports its original's immutable levels
        self.view_range = (0, 0, 0, 0)  # level, levels, layer, layers, for queries
        self.images: list[dict[int, TexImage]] = [{} for _ in range(target.faces)]
        self.resource: Resource | None = None
        self.buffer: BufferObject | None = None
        self.buffer_range: tuple[int, int] = (0, 0)
        self.buffer_info: InternalFormat | None = None
        self.sparse: Any = None  # the state of a sparse texture
        self.pinned = False  # by a handle: images and parameters are immutable
        self._views: dict[Any, SamplerView] = {}
        self._complete: dict[tuple[bool, int, int], bool] = {}

    def pin(self) -> None:
        """Make the texture immutable, except for its texels, because a handle was created."""
        if not self.pinned and self.buffer is not None:
            self.buffer.pins += 1
        self.pinned = True

    def check_unpinned(self) -> None:
        if self.pinned:
            raise invalid_operation(f"texture {self.name} has a handle and cannot be changed")

    # -- images ------------------------------------------------------------------------------

    def image(self, face: int, level: int) -> TexImage | None:
        return self.images[face].get(level)

    def whole(self, level: int) -> tuple[int, int, int]:
        """The size of a level in calls by name, where the faces of a cube are layers."""
        image = self.images[0].get(level)
        if image is None:
            return 0, 0, 0
        return (image.width, image.height, 6) if self.target.faces == 6 else image.extent

    def changed(self) -> None:
        """Invalidate derived state after a change of images or level range."""
        self._views.clear()
        self._complete.clear()
        self.group.mark(Dirty.TEXTURES | Dirty.FRAMEBUFFER | Dirty.IMAGES)

    def invalidate_views(self) -> None:
        """Choose views anew, because the level range or the swizzle has changed."""
        if len(self._views) > _MOST_VIEWS:
            self._views.clear()
        self.group.mark(Dirty.TEXTURES)

    def define(self, face: int, level: int, image: TexImage) -> None:
        """Give a level new storage of the image's size and format; contents are undefined.

        Memory is allocated first: on failure nothing changes.
        """
        self.check_unpinned()
        self._disown()
        chain: Resource | None = None
        if all(image.extent) and not self._fits(level, image):
            alone = not any(
                f and (i != face or f.keys() != {level}) for i, f in enumerate(self.images)
            )
            chain = self._allocate_chain(level, image) if alone else None
            if chain is None or not self._fits(level, image, chain):
                with _given_back(chain):
                    image.stray = self._allocate_stray(image)
        self.forget(face, level)
        if chain is not None:
            self._replace_resource(chain)
        self.images[face][level] = image
        self.changed()

    def adopt(self, resource: Resource, level: int, layer: int, image: TexImage) -> None:
        """Use one level and layer of a shared resource as storage; takes over the reference."""
        self._drop_images()
        self._replace_resource(resource)
        self.first_level, self.first_layer, self.view_layers = level, layer, 1
        self.images[0][0] = image
        self.adopted = True
        self.changed()

    def _disown(self) -> None:
        """Drop adopted storage before allocating own storage."""
        if self.adopted:
            self.adopted = False
            self._drop_images()
            self.first_level = self.first_layer = 0
            self.view_layers = None

    def forget(self, face: int, level: int) -> None:
        """Drop an image; the chain remains for the others."""
        old = self.images[face].pop(level, None)
        if old is not None and old.stray is not None:
            old.stray.unref()
        self.changed()

    def allocate(self, levels: int, image: TexImage) -> None:
        """Allocate immutable storage: all levels and faces at once."""
        self.check_unpinned()
        resource = self._create(image, image.extent, levels)
        self._disown()
        self._drop_images()
        self._replace_resource(resource)
        for level in range(levels):
            extent = self.target.level_extent(image.extent, level)
            for face in self.images:
                face[level] = TexImage(
                    *extent, image.info, image.format, image.samples, image.fixed_samples
                )
        self.immutable_levels = levels
        axis = self.target.layers_axis
        layers = 6 if self.target.faces == 6 else image.extent[axis] if axis >= 0 else 1
        self.view_range = (0, levels, 0, layers)
        self.changed()

    def storage(self, face: int, level: int) -> tuple[Resource, int, int] | None:
        """The storage of an image's texels: resource, level in it and first layer."""
        image = self.images[face].get(level)
        if image is None:
            return None
        if image.stray is not None:
            return image.stray, 0, 0
        if self.resource is None:
            return None
        return self.resource, level + self.first_level, face + self.first_layer

    def finalize(self) -> None:
        """Gather strays into one chain, as far as they fit the base level."""
        if not any(i.stray is not None for f in self.images for i in f.values()):
            return
        base = self.images[0].get(self.base_level)
        if base is None or not base.width:
            return
        if base.stray is None and self._fits(self.base_level, base) and not self._gatherable():
            return  # the remaining ones belong to no chain of this base
        old = self.resource
        chain = self._allocate_chain(self.base_level, base)
        with _given_back(chain):
            leftovers = self._leftovers(chain)
        self.resource = chain
        for face, levels in enumerate(self.images):
            for level, image in levels.items():
                source = image.stray or old
                if source is None or not image.width or not self._fits(level, image):
                    continue
                box = Box(0, 0, 0, *self._pipe_extent(image))
                at_level, layer = (0, 0) if image.stray is not None else (level, face)
                box = Box(0, 0, layer, box.width, box.height, box.depth)
                self.group.pipe.resource_copy_region(
                    chain, level, 0, 0, face, source, at_level, box
                )
                if image.stray is not None:
                    image.stray.unref()
                    image.stray = None
        if old is not None:
            for level, face, image, stray in leftovers:
                image.stray = stray
                box = Box(0, 0, face, *self._pipe_extent(image))
                self.group.pipe.resource_copy_region(stray, 0, 0, 0, 0, old, level, box)
            old.unref()
        self.changed()

    def _gatherable(self) -> bool:
        """Whether a stray fits into the present chain."""
        return any(
            image.stray is not None and image.width and self._fits(level, image)
            for levels in self.images
            for level, image in levels.items()
        )

    def _leftovers(self, chain: Resource) -> list[tuple[int, int, TexImage, Resource]]:
        """Images of the present chain that do not fit a new one, each moved to a resource of its
        own.
        """
        found: list[tuple[int, int, TexImage, Resource]] = []
        if self.resource is None:
            return found
        with _given_back(found):
            for face, levels in enumerate(self.images):
                for level, image in levels.items():
                    if image.stray is None and image.width and not self._fits(level, image, chain):
                        found.append((level, face, image, self._allocate_stray(image)))
        return found

    def _pipe_extent(self, image: TexImage) -> tuple[int, int, int]:
        """Width, height and depth-or-layers in pipe's order."""
        if self.target.pipe is Target.TEXTURE_1D_ARRAY:
            return image.width, 1, image.height
        return image.extent

    def _fits(self, level: int, image: TexImage, resource: Resource | None = None) -> bool:
        """Whether this image matches a level of the resource (the texture's, or another)."""
        resource = resource or self.resource
        if resource is None or resource.desc.format is not image.format:
            return False
        if level > resource.desc.last_level or resource.desc.samples != image.samples:
            return False
        width, height, layers = level_extent(resource.desc, level)
        if self.target.faces == 6:
            layers = 1
        return (width, height, layers) == self._pipe_extent(image)

    def _allocate_chain(self, level: int, image: TexImage) -> Resource:
        """A resource in which `image` would be level `level`."""
        extent = [image.width, image.height, image.depth]
        for axis in range(3):
            if axis != self.target.layers_axis and extent[axis] > 1:
                extent[axis] <<= level
        if level and max(extent) == 1:  # the last level: the chain is at least this deep
            for axis in range(2 if self.target.faces == 6 else 1):
                extent[axis] <<= level
        limit = max(self.target.limit(self.group.caps), 1)
        if max(extent[: 3 if self.target.layers_axis < 0 else self.target.layers_axis]) > limit:
            return self._create(image, image.extent, 1)
        if level and math.prod(extent) * self.target.faces > _MOST_GUESSED:
            return self._create(image, image.extent, 1)
        edges = [s for axis, s in enumerate(extent) if axis != self.target.layers_axis]
        levels = max(edges).bit_length() if self.target.mipmapped else 1
        return self._create(image, (extent[0], extent[1], extent[2]), levels)

    def _allocate_stray(self, image: TexImage) -> Resource:
        return self._create(image, image.extent, 1)

    def _create(self, image: TexImage, extent: tuple[int, int, int], levels: int) -> Resource:
        target, (width, height, depth) = self.target.pipe, extent
        layers = 1
        if target is Target.TEXTURE_1D_ARRAY:
            height, layers = 1, height
        elif target in (Target.TEXTURE_2D_ARRAY, Target.TEXTURE_CUBE_ARRAY):
            depth, layers = 1, depth
        elif target is Target.TEXTURE_CUBE:
            layers = 6
        bind = Bind.SAMPLER_VIEW
        screen = self.group.screen
        wanted = Bind.DEPTH_STENCIL if image.format.is_depth_stencil else Bind.RENDER_TARGET
        if screen.is_format_supported(image.format, target, image.samples, wanted):
            bind |= wanted
        label = self.label or f"texture {self.name}"
        desc = ResourceDesc(
            target,
            image.format,
            width,
            height,
            depth,
            layers,
            levels - 1,
            image.samples,
            bind,
            label=label,
        )
        return screen.resource_create(desc)

    def _replace_resource(self, resource: Resource | None) -> None:
        if self.resource is not None:
            self.resource.unref()
        self.resource = resource

    def _drop_images(self) -> None:
        for levels in self.images:
            for image in levels.values():
                if image.stray is not None:
                    image.stray.unref()
            levels.clear()
        self._replace_resource(None)
        self._views.clear()
        self._complete.clear()

    # -- sampling ----------------------------------------------------------------------------

    @property
    def last_level(self) -> int:
        """The last level that sampling may use, by the base image's size and
        GL_TEXTURE_MAX_LEVEL.
        """
        base = self.images[0].get(self.base_level)
        if base is None:
            return self.base_level
        edges = [s for axis, s in enumerate(base.extent) if axis != self.target.layers_axis]
        last = self.base_level + max(max(edges).bit_length() - 1, 0)
        if self.immutable_levels:
            last = min(last, self.immutable_levels - 1)
        return max(self.base_level, min(last, self.max_level))

    def is_complete(self, mipmaps: bool) -> bool:
        """Whether the images fit together, for a filter with or without mipmaps."""
        key = (mipmaps, self.base_level, self.max_level)
        found = self._complete.get(key)
        if found is None:
            found = self._complete[key] = self._check_complete(mipmaps)
        return found

    def _check_complete(self, mipmaps: bool) -> bool:
        base = self.images[0].get(self.base_level)
        if base is None or not (base.width and base.height and base.depth):
            return False
        if self.target.faces == 6 and base.width != base.height:
            return False
        mipmaps = mipmaps and self.target.mipmapped
        if mipmaps and self.base_level > self.max_level:
            return False
        for level in range(
            self.base_level, self.last_level + 1 if mipmaps else self.base_level + 1
        ):
            extent = self.target.level_extent(base.extent, level - self.base_level)
            for face in self.images:
                image = face.get(level)
                if image is None or image.extent != extent or image.info is not base.info:
                    return False
        return True

    def usable(self, params: SamplerParams) -> bool:
        """Whether the texture is complete for sampling with these parameters."""
        if not self.is_complete(params.min_filter in MIPMAP_FILTERS):
            return False
        base = self.images[0][self.base_level]
        stencil = base.info.base == "S" or (
            base.info.base == "ZS" and self.stencil_mode == GL.STENCIL_INDEX
        )
        averaged = params.reduction == GL.WEIGHTED_AVERAGE_ARB or base.info.base == "S"
        if averaged and (base.info.is_integer or stencil):
            nearest = params.min_filter in (GL.NEAREST, GL.NEAREST_MIPMAP_NEAREST)
            return (nearest and params.mag_filter == GL.NEAREST) or self.target.multisample
        return True

    def view(self, decode: bool = True, scalar_shadow: bool = False) -> SamplerView | None:
        """The sampler view of all complete levels.

        GLSL 1.30's shadow lookups return one number (`scalar_shadow`): the alpha depth mode, which
        would leave it 0, is treated as red then.
        """
        if self.target.pipe is Target.BUFFER:
            return self._buffer_view()
        key = (
            decode, scalar_shadow, self.base_level, self.max_level, self.swizzle,
            self.depth_mode, self.stencil_mode,
        )  # fmt: skip
        found = self._views.get(key)
        if found is None:
            self.finalize()
            if self.resource is None:
                return None
            image = self.images[0].get(self.base_level)
            if image is None:
                return None
            info, format = image.info, image.format
            deepest = self.resource.desc.last_level - self.first_level
            last = min(self.last_level, deepest)
            if not self.is_complete(True):
                last = self.base_level
            layers = self.view_layers or self.resource.desc.array_size
            stencil = format.has_stencil and (
                self.stencil_mode == GL.STENCIL_INDEX or not format.has_depth
            )
            found = self._views[key] = SamplerView(
                self.resource,
                format if decode else linear_format(format),
                self.target.pipe,
                min(self.base_level, last) + self.first_level,
                last + self.first_level,
                self.first_layer,
                self.first_layer + layers - 1,
                self._swizzle(info, format, scalar_shadow, 0 if stencil else image.unsized),
                sample_stencil=stencil,
            )
        return found

    def _buffer_view(self) -> SamplerView | None:
        if self.buffer is None or self.buffer.resource is None or self.buffer_info is None:
            return None
        offset, size = self.buffer_range
        room = max(self.buffer.size - offset, 0)
        size = min(size, room) if size else room
        format = self.buffer_info.candidates[0]
        return SamplerView(
            self.buffer.resource,
            format,
            Target.BUFFER,
            swizzle=self._swizzle(self.buffer_info, format, False),
            buffer_offset=offset,
            buffer_size=size,
        )

    def _swizzle(
        self, info: InternalFormat, format: Format, scalar_shadow: bool, unsized: int = 0
    ) -> tuple[Swizzle, Swizzle, Swizzle, Swizzle]:
        """The user's swizzle applied to the channels of the base format."""
        inner = [Swizzle.X, Swizzle.Y, Swizzle.Z, Swizzle.W]
        if info.base in ("Z", "ZS", "S"):
            mode = self.depth_mode if info.base != "S" else GL.RED
            if unsized:  # OES_depth_texture: depth of unsized formats is luminance
                mode = GL.LUMINANCE
            if scalar_shadow and mode == GL.ALPHA:
                mode = GL.RED
            inner = list(_DEPTH_MODES[mode])
        elif format.is_compressed and info.base in ("L", "LA"):  # stored as red, or red and green
            inner = [Swizzle.X] * 3 + [Swizzle.Y if info.base == "LA" else Swizzle.ONE]
        elif "A" not in info.base and info.base != "I":
            inner[3] = Swizzle.ONE
        elif info.base == "A":
            inner = [Swizzle.ZERO, Swizzle.ZERO, Swizzle.ZERO, Swizzle.W]
        result = []
        for source in self.swizzle:
            chosen = SWIZZLES[source]
            result.append(inner[chosen] if chosen <= Swizzle.W else chosen)
        return result[0], result[1], result[2], result[3]

    def attach_buffer(
        self, buffer: BufferObject | None, info: InternalFormat, offset: int, size: int
    ) -> None:
        self.check_unpinned()
        self.buffer = swap(self.buffer, buffer)
        self.buffer_info, self.buffer_range = info, (offset, size)
        self.changed()

    def destroy(self) -> None:
        if self.pinned:
            self.group.handles.forget(self)
            if self.buffer is not None:
                self.buffer.pins -= 1
        self._drop_images()
        self.buffer = swap(self.buffer, None)


def make_image(
    ctx: Context, info: InternalFormat, target: TargetInfo, extent: tuple[int, int, int],
    samples: int = 0, fixed: bool = True, encodable: bool = False,
) -> TexImage:  # fmt: skip
    """An image description with its pipe format chosen.

    `encodable` images will be filled from plain pixels: there is no compressor, so a compressed
    internal format is stored uncompressed then.
    """
    bind = Bind.SAMPLER_VIEW | (Bind.RENDER_TARGET if info.is_color else Bind.DEPTH_STENCIL)
    candidates = info.candidates
    if encodable and info.is_compressed:
        kind = "SRGB" if candidates[0].is_srgb else candidates[0].channels[0].type
        candidates = _PLAIN_STORAGE[info.base, kind]
    samples = sample_count(ctx.caps, samples)
    format = choose_format(ctx.screen, candidates, target.pipe, samples, bind)
    if format is None:
        raise invalid_operation(f"the driver cannot store GL_{info.name}")
    return TexImage(*extent, info, format, samples, fixed)


_PLAIN_STORAGE: dict[tuple[str, str], tuple[Format, ...]] = {
    (base, kind): tuple(FORMATS[f"{layout}_{kind}"] for layout in layouts)
    for base, kind, *layouts in (
        ("R", "UNORM", "R8"),
        ("R", "SNORM", "R8"),
        ("L", "UNORM", "L8"),
        ("L", "SNORM", "L8"),
        ("LA", "UNORM", "L8A8"),
        ("LA", "SNORM", "L8A8"),
        ("RG", "UNORM", "R8G8"),
        ("RG", "SNORM", "R8G8"),
        ("RGB", "UNORM", "R8G8B8X8", "R8G8B8A8"),
        ("RGB", "SRGB", "R8G8B8X8", "R8G8B8A8"),
        ("RGB", "FLOAT", "R16G16B16A16"),
        ("RGBA", "UNORM", "R8G8B8A8"),
        ("RGBA", "SRGB", "R8G8B8A8"),
    )
}
"""Storage of compressed formats filled from plain pixels, by base and kind of numbers."""
