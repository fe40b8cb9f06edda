"""Properties of images of one internal format, for a texture target or as a renderbuffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gallette.pipe.enums import Bind, Target
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.targets.renderbuffers import channel_bits, channel_of
from gallette.state_tracker.texturing.format_classes import IMAGE_FORMATS
from gallette.state_tracker.texturing.image_rules import image_format
from gallette.state_tracker.texturing.mipmaps import makes_mipmaps
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    InternalFormat,
    choose_format,
)
from gallette.state_tracker.texturing.texture_targets import TARGETS, TargetInfo

if TYPE_CHECKING:
    from gallette.pipe.formats import Format
    from gallette.state_tracker.context import Context

_KINDS: dict[str, int] = {
    "UNORM": GL.UNSIGNED_NORMALIZED,
    "SNORM": GL.SIGNED_NORMALIZED,
    "FLOAT": GL.FLOAT,
    "SINT": GL.INT,
    "UINT": GL.UNSIGNED_INT,
}
_UNSIZED_IN_ES = (GL.RGB, GL.RGBA)  # allowed there, as the only unsized ones
_WITHOUT_GATHER = (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY, Target.TEXTURE_3D)


@dataclass(frozen=True)
class Facts:
    """The images that can be created with `info`, stored as `format`; no target means a
    renderbuffer.
    """

    ctx: Context
    target: TargetInfo | None
    info: InternalFormat
    format: Format

    @property
    def pipe_target(self) -> Target:
        return self.target.pipe if self.target is not None else Target.TEXTURE_2D

    @property
    def is_texture(self) -> bool:
        return self.target is not None

    @property
    def in_buffer(self) -> bool:
        return self.pipe_target is Target.BUFFER

    @property
    def has_samples(self) -> bool:
        return self.target is None or self.target.multisample

    @property
    def is_srgb(self) -> bool:
        return self.format.is_srgb

    @property
    def has_depth(self) -> bool:
        return self.info.base in ("Z", "ZS")

    @property
    def has_stencil(self) -> bool:
        return self.info.base in ("S", "ZS")

    @property
    def is_plain(self) -> bool:
        """Whether its values are numbers that can be interpolated."""
        return not self.info.is_integer and self.info.base != "S"

    @property
    def drawn(self) -> Bind:
        """The binding with which such an image is drawn to."""
        return Bind.RENDER_TARGET if self.info.is_color else Bind.DEPTH_STENCIL

    @property
    def is_renderable(self) -> bool:
        """Whether a framebuffer with such an image is complete."""
        if self.in_buffer or not self.info.is_attachable:
            return False
        return self.ctx.screen.is_format_supported(self.format, self.pipe_target, 0, self.drawn)

    @property
    def is_layered(self) -> bool:
        """Whether all its layers, faces or slices can be attached at once."""
        return self.pipe_target is Target.TEXTURE_3D or self.pipe_target.is_cube or self.layers > 0

    @property
    def has_mipmaps(self) -> bool:
        return self.target is not None and self.target.mipmapped

    @property
    def makes_mipmaps(self) -> bool:
        return self.has_mipmaps and makes_mipmaps(self.ctx, self.info, self.format)

    @property
    def is_sampled(self) -> bool:
        """Whether shaders can sample it, not only fetch texels."""
        return not self.has_samples and not self.in_buffer

    @property
    def is_gathered(self) -> bool:
        return self.is_sampled and self.pipe_target not in _WITHOUT_GATHER

    @property
    def has_views(self) -> bool:
        return self.is_texture and not self.in_buffer

    @property
    def in_image_units(self) -> bool:
        return self.is_texture and self.info.value in IMAGE_FORMATS

    @property
    def is_image(self) -> bool:
        """Whether shaders can load and store it."""
        return self.in_image_units and bool(self.ctx.caps.max_shader_images)

    @property
    def layers(self) -> int:
        has = self.target is not None and self.target.layers_axis >= 0
        return self.ctx.caps.max_texture_array_layers if has else 0

    def extent(self, axis: int) -> int:
        """The largest size along an axis of glTexImage*, including layers."""
        if self.target is None:
            return self.ctx.caps.max_texture_2d_size if axis < 2 else 0
        if self.in_buffer:
            return self.ctx.caps.max_texture_buffer_size if axis == 0 else 0
        if axis == self.target.layers_axis:
            return self.layers
        axes = {Target.TEXTURE_1D: 1, Target.TEXTURE_1D_ARRAY: 1, Target.TEXTURE_3D: 3}
        return self.target.limit(self.ctx.caps) if axis < axes.get(self.target.pipe, 2) else 0

    @property
    def samples(self) -> list[int]:
        """The available numbers of samples, the largest first."""
        if not self.has_samples or not self.is_renderable:
            return []
        screen, formats = self.ctx.screen, self.info.candidates
        return [
            n
            for n in (16, 8, 4, 2)
            if n <= self.ctx.caps.max_samples
            and choose_format(screen, formats, Target.TEXTURE_2D, n, self.drawn) is not None
        ]

    @property
    def combined(self) -> int:
        """The product of all dimensions, including samples and cube faces."""
        total = 1
        for axis in range(3):
            total *= self.extent(axis) or 1
        if self.target is not None and self.target.multisample:
            total *= max(self.samples, default=1)
        return total * (6 if self.pipe_target.is_cube else 1)

    def bits(self, letter: str) -> int:
        return channel_bits(self.info, letter)

    def kind(self, letter: str) -> int:
        found = channel_of(self.info, letter)
        return int(GL.NONE) if found is None else _KINDS[found.type]


def facts(ctx: Context, target: int, value: int) -> Facts | None:
    """The properties of such images; None if none can be made."""
    info = image_format(ctx, target, value)
    if ctx.profile == "es" and value in _UNSIZED_IN_ES:
        info = INTERNAL_FORMATS[value]
    if info is None:
        return None
    kind = TARGETS.get(target)
    pipe = kind.pipe if kind is not None else Target.TEXTURE_2D
    bind = Bind.RENDER_TARGET if info.is_color else Bind.DEPTH_STENCIL
    if kind is not None and not kind.multisample:
        bind = Bind.SAMPLER_VIEW
    format = choose_format(ctx.screen, info.candidates, pipe, 0, bind)
    return None if format is None else Facts(ctx, kind, info, format)
