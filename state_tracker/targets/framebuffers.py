"""Framebuffer objects: attachments, completeness, and the corresponding pipe framebuffer."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.enums import Bind, Target
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource
from gallette.pipe.state import FramebufferState, Surface
from gallette.state_tracker.dirty import Dirty
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.objects import GLObject, NameTable
from gallette.state_tracker.targets.renderbuffers import Renderbuffer
from gallette.state_tracker.targets.window import Drawable
from gallette.state_tracker.texturing.es_formats import renders_in_es
from gallette.state_tracker.texturing.texture_formats import (
    InternalFormat,
    encoded_format,
    linear_format,
)
from gallette.state_tracker.texturing.textures import TextureObject

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.pixel_data.plain_reads import PlainRead

DEPTH, STENCIL = "depth", "stencil"


@lazy_dataclass(eq=False)
class Attachment:
    """One attached image: a renderbuffer, or a level (face, layer) of a texture."""

    object: TextureObject | Renderbuffer
    level: int = 0
    face: int = 0
    layer: int = 0
    layered: bool = False
    encodes: bool = False  # a window's image: as if of the sRGB format with equal bits

    def same_image(self, other: Attachment | None) -> bool:
        return (
            other is not None
            and self.object is other.object
            and (self.level, self.face, self.layer) == (other.level, other.face, other.layer)
        )

    @property
    def info(self) -> InternalFormat | None:
        if isinstance(self.object, Renderbuffer):
            return self.object.info if self.object.resource is not None else None
        image = self.object.image(self.face, self.level)
        return image.info if image is not None else None

    @property
    def unsized(self) -> int:
        """The unsized internal format that a texture was given in ES, if any."""
        if isinstance(self.object, Renderbuffer):
            return 0
        image = self.object.image(self.face, self.level)
        return image.unsized if image is not None else 0

    @property
    def format(self) -> Format:
        """The pipe format of the attached image: a view's may differ from the storage's."""
        if isinstance(self.object, Renderbuffer):
            assert self.object.resource is not None
            return self.object.resource.desc.format
        image = self.object.image(self.face, self.level)
        assert image is not None
        return image.format

    @property
    def encoded(self) -> Format:
        """The format where colours are encoded if it is one of sRGB."""
        return encoded_format(self.format) if self.encodes else self.format

    @property
    def size(self) -> tuple[int, int]:
        if isinstance(self.object, Renderbuffer):
            return self.object.width, self.object.height
        image = self.object.image(self.face, self.level)
        if image is None:
            return 0, 0
        if self.object.target.pipe is Target.TEXTURE_1D_ARRAY:
            return image.width, 1
        return image.width, image.height

    @property
    def samples(self) -> int:
        if isinstance(self.object, Renderbuffer):
            return self.object.samples
        image = self.object.image(self.face, self.level)
        return image.samples if image is not None else 0

    @property
    def layers(self) -> int:
        """The number of layers that exist."""
        if isinstance(self.object, Renderbuffer):
            return 1
        image = self.object.image(self.face, self.level)
        if image is None:
            return 0
        target = self.object.target
        if target.pipe is Target.TEXTURE_1D_ARRAY:
            return image.height
        return 6 if target.faces == 6 else image.depth

    def place(self) -> tuple[Resource, int, int, int] | None:
        """Resource, level, first and last layer."""
        if isinstance(self.object, Renderbuffer):
            resource = self.object.resource
            level, layer = self.object.place
            return None if resource is None else (resource, level, layer, layer)
        found = self.object.storage(self.face, self.level)
        if found is None:
            return None
        resource, level, first = found
        if self.layered:
            return resource, level, first, first + self.layers - 1
        first += self.layer
        return resource, level, first, first

    def surface(self, srgb: bool) -> Surface | None:
        """The render target; without `srgb` writes are not encoded."""
        place = self.place()
        if place is None:
            return None
        resource, level, first, last = place
        format = self.encoded if srgb else linear_format(self.format)
        return Surface(resource, format, level, first, last)


class Framebuffer(GLObject):
    """A framebuffer object created by the application."""

    kind = "framebuffer"
    is_window = False

    def __init__(self, name: int, max_colors: int):
        super().__init__(name)
        self.attachments: dict[int | str, Attachment] = {}
        self.draw_buffers: list[int] = [GL.COLOR_ATTACHMENT0] + [GL.NONE] * (max_colors - 1)
        self.read_buffer: int = GL.COLOR_ATTACHMENT0
        self.default_size = (0, 0, 0, 0)  # width, height, layers, samples without attachments
        self.default_samples = 0  # the actual number
        self.fixed_locations = False
        self.programmable_locations = False
        self.sample_grid = False
        self.flip_y = False  # see `flipping`
        self.sample_locations: dict[int, tuple[float, float]] = {}
        self._status: tuple[int, int] | None = None  # for an image generation: the status
        self._pipe_state: tuple[Hashable, FramebufferState] | None = None
        self._kinds: tuple[Hashable, tuple[bool, bool]] | None = None
        self.plain_read: PlainRead | None = None

    @property
    def has_back(self) -> bool:
        """Whether it is a window with a back buffer."""
        return False

    def attach(self, point: int | str, attachment: Attachment | None) -> None:
        self._status = self._pipe_state = self._kinds = self.plain_read = None
        if attachment is not None:
            attachment.object.retain()
        old = self.attachments.pop(point, None)
        if old is not None:
            old.object.release()
        if attachment is not None:
            self.attachments[point] = attachment

    def detach(self, item: GLObject) -> bool:
        """Remove every attachment of a deleted object; true if there was one."""
        points = [p for p, a in self.attachments.items() if a.object is item]
        for point in points:
            self.attach(point, None)
        return bool(points)

    def color(self, buffer: int) -> Attachment | None:
        """The attachment of a draw or read buffer enum."""
        return self.attachments.get(buffer - GL.COLOR_ATTACHMENT0)

    @property
    def depth_stencil(self) -> Attachment | None:
        return self.attachments.get(DEPTH) or self.attachments.get(STENCIL)

    @property
    def samples(self) -> int:
        for attachment in self.attachments.values():
            return attachment.samples
        return self.default_samples

    @property
    def size(self) -> tuple[int, int]:
        """The area common to all attachments."""
        if not self.attachments:
            return self.default_size[:2]
        sizes = [a.size for a in self.attachments.values()]
        return min(s[0] for s in sizes), min(s[1] for s in sizes)

    def is_fixed_point(self, ctx: Context) -> bool:
        """Whether no colour buffer that is drawn to is floating-point."""
        return not self._numbers(ctx)[0]

    def holds_negative(self, ctx: Context) -> bool:
        """Whether a colour buffer that is drawn to has a signed fixed-point format."""
        return self._numbers(ctx)[1]

    def _numbers(self, ctx: Context) -> tuple[bool, bool]:
        """Whether colour buffers that are drawn to hold floats, and signed fixed-point numbers:
        derived once for an image generation.
        """
        key = ctx.group.images, tuple(self.draw_buffers)
        if self._kinds is None or self._kinds[0] != key:
            colors = [self.color(name) for name in self.draw_buffers if name != GL.NONE]
            infos = [each.info for each in colors if each is not None and each.info is not None]
            floats = any(info.candidates[0].is_float and info.is_color for info in infos)
            channels = [c for info in infos for c in info.candidates[0].channels]
            self._kinds = key, (floats, any(c.type == "SNORM" for c in channels))
        return self._kinds[1]

    def has(self, channel: str) -> bool:
        """Whether there is a depth ("Z") or stencil ("S") buffer."""
        found = self.attachments.get(DEPTH if channel == "Z" else STENCIL)
        return found is not None and found.info is not None and channel in found.info.base

    def status(self, ctx: Context) -> int:
        """The result of glCheckFramebufferStatus."""
        if not self.attachments:
            if self.default_size[0] and self.default_size[1]:
                return GL.FRAMEBUFFER_COMPLETE
            return GL.FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT
        images = ctx.group.images
        if self._status is None or self._status[0] != images:
            self._status = images, self._attached(ctx)
        return self._status[1]

    def _attached(self, ctx: Context) -> int:
        """The status of the attachments."""
        for point, attachment in self.attachments.items():
            if not _complete_attachment(ctx, point, attachment):
                return GL.FRAMEBUFFER_INCOMPLETE_ATTACHMENT
        for point, attachment in self.attachments.items():
            if not _is_drawn_to(ctx, point, attachment):
                return GL.FRAMEBUFFER_UNSUPPORTED
        if len({a.samples for a in self.attachments.values()}) > 1:
            return GL.FRAMEBUFFER_INCOMPLETE_MULTISAMPLE
        layered = {a.layered for a in self.attachments.values()}
        colors = [a.object for p, a in self.attachments.items() if p not in (DEPTH, STENCIL)]
        targets = {c.target.value for c in colors if isinstance(c, TextureObject)}
        if len(layered) > 1 or (layered == {True} and len(targets) > 1):
            return GL.FRAMEBUFFER_INCOMPLETE_LAYER_TARGETS
        depth, stencil = self.attachments.get(DEPTH), self.attachments.get(STENCIL)
        if depth is not None and stencil is not None and not depth.same_image(stencil):
            return GL.FRAMEBUFFER_UNSUPPORTED
        return GL.FRAMEBUFFER_COMPLETE

    def state(self, ctx: Context) -> FramebufferState:
        """The pipe framebuffer, colour buffers in the order of the draw buffers.

        It is derived once for an image generation, because many programs change framebuffers
        between draws.
        """
        srgb, default = ctx.raster.framebuffer_srgb, (self.default_size, self.default_samples)
        key = ctx.group.images, srgb, default, tuple(self.draw_buffers)
        if self._pipe_state is None or self._pipe_state[0] != key:
            self._pipe_state = key, self._derived(srgb)
        return self._pipe_state[1]

    def _derived(self, srgb: bool) -> FramebufferState:
        colors: list[Surface | None] = []
        for name in self.draw_buffers:
            found = self.color(name) if name != GL.NONE else None
            colors.append(found.surface(srgb) if found is not None else None)
        while colors and colors[-1] is None:
            colors.pop()
        zs = self.depth_stencil
        width, height = self.size
        layers = min((a.layers for a in self.attachments.values() if a.layered), default=1)
        if not self.attachments:
            layers = max(1, self.default_size[2])
        return FramebufferState(
            width,
            height,
            layers,
            self.samples,
            tuple(colors),
            zs.surface(False) if zs is not None else None,
        )

    def read_attachment(self) -> Attachment | None:
        return self.color(self.read_buffer) if self.read_buffer != GL.NONE else None

    def destroy(self) -> None:
        for point in list(self.attachments):
            self.attach(point, None)


def _complete_attachment(ctx: Context, point: int | str, attachment: Attachment) -> bool:
    info, place = attachment.info, attachment.place()
    if info is None or place is None or 0 in attachment.size:
        return False
    if not attachment.layered and attachment.layer >= attachment.layers:
        return False
    texture = attachment.object
    if isinstance(texture, TextureObject) and not texture.immutable_levels:
        # Levels beside the base are drawn to if they are mipmaps; as on Mesa, those before it, too.
        if attachment.level > texture.base_level and not texture.is_complete(True):
            return False
    if isinstance(point, str):
        return ("Z" if point == DEPTH else "S") in info.base
    if not info.is_color or (info.compat_only and not ctx.is_compat):
        return False
    if ctx.profile == "es" and not renders_in_es(info, attachment.unsized):
        return False
    return info.is_attachable


def _is_drawn_to(ctx: Context, point: int | str, attachment: Attachment) -> bool:
    """Whether the driver can render to the image's format."""
    place = attachment.place()
    assert place is not None
    desc = place[0].desc
    bind = Bind.DEPTH_STENCIL if isinstance(point, str) else Bind.RENDER_TARGET
    return ctx.screen.is_format_supported(attachment.format, desc.target, desc.samples, bind)


_FRONT = (GL.FRONT, GL.FRONT_LEFT, GL.LEFT, GL.FRONT_AND_BACK)


class WindowFramebuffer(Framebuffer):
    """Framebuffer 0: the images of a window, or none."""

    kind = "default framebuffer"
    is_window = True
    single = False

    def __init__(self, ctx: Context):
        super().__init__(0, ctx.caps.max_render_targets)
        self.draw_buffers[0] = self.read_buffer = GL.BACK
        self._is_es = ctx.is_es
        self._only = GL.BACK if self._is_es else GL.FRONT
        self._can_draw = ctx.screen.is_format_supported

    def show(self, drawable: Drawable | None) -> None:
        """Use the images of a window, or none."""
        if drawable is not None and drawable.single is not self.single:
            self.single = drawable.single
            self.draw_buffers[0] = self.read_buffer = self._only if self.single else GL.BACK
        color, depth_stencil = drawable.buffers if drawable is not None else (None, None)
        self.attach(0, self._colors(color) if color is not None else None)
        for point in (DEPTH, STENCIL):
            found = depth_stencil if depth_stencil is not None else None
            letter = "Z" if point == DEPTH else "S"
            has = found is not None and letter in found.info.base
            self.attach(point, Attachment(found) if found is not None and has else None)

    def _colors(self, image: Renderbuffer) -> Attachment:
        """Colours that GL_FRAMEBUFFER_SRGB encodes, as on Mesa, in any window of 8-bit channels.

        Games enable it without choosing a config for it. OpenGL ES would always encode them.
        """
        assert image.resource is not None
        desc = image.resource.desc
        twin = encoded_format(desc.format)
        usable = self._can_draw(twin, desc.target, desc.samples, Bind.RENDER_TARGET)
        return Attachment(image, encodes=usable and not self._is_es)

    def color(self, buffer: int) -> Attachment | None:
        """The colour buffer, which all names of back, front and left buffers refer to."""
        return self.attachments.get(0)

    @property
    def has_back(self) -> bool:
        return bool(self.attachments) and not self.single

    @property
    def draws_to_front(self) -> bool:
        return self.single or self.draw_buffers[0] in _FRONT

    def status(self, ctx: Context) -> int:
        return GL.FRAMEBUFFER_COMPLETE if self.attachments else GL.FRAMEBUFFER_UNDEFINED


class FramebufferBindings:
    """Names, and the framebuffers bound for drawing and reading."""

    def __init__(self, ctx: Context):
        self.ctx, size, samples = ctx, ctx.first_size, ctx.first_samples
        self.names: NameTable[Framebuffer] = NameTable("framebuffer")
        self.window = WindowFramebuffer(ctx)
        self.turned = False  # images of flipped framebuffers are currently turned
        self.read_window = self.window  # differs if EGL was given two surfaces
        self.draw: Framebuffer = self.window.retain()
        self.read: Framebuffer = self.window.retain()
        if size is not None:
            drawable = Drawable(ctx.screen, size, samples)
            self.show(drawable, drawable)
            drawable.release()

    def bind(self, framebuffer: Framebuffer, draw: bool, read: bool) -> None:
        if draw and framebuffer is not self.draw:
            framebuffer.retain()
            self.draw.release()
            self.draw = framebuffer
            self.ctx.dirty |= Dirty.FRAMEBUFFER
        if framebuffer is self.window:
            framebuffer = self.read_window
        if read and framebuffer is not self.read:
            framebuffer.retain()
            self.read.release()
            self.read = framebuffer

    def show(self, draw: Drawable | None, read: Drawable | None) -> None:
        """Make the images of windows the default framebuffers for drawing and reading."""
        self.window.show(draw)
        if read is draw:
            window = self.window
        else:
            window = (
                WindowFramebuffer(self.ctx)
                if self.read_window is self.window
                else (self.read_window)
            )
            window.show(read)
        if window is not self.read_window:
            old, self.read_window = self.read_window, window
            if self.read.is_window:
                self.bind(self.window, False, True)
            if old is not self.window:
                old.show(None)
                old.release()
        self.ctx.dirty |= Dirty.FRAMEBUFFER

    def detach(self, item: GLObject) -> None:
        """Detach a deleted texture or renderbuffer from the *bound* framebuffers only."""
        for framebuffer in {self.draw, self.read}:
            if not framebuffer.is_window and framebuffer.detach(item):
                self.ctx.dirty |= Dirty.FRAMEBUFFER

    def release_all(self) -> None:
        self.draw.release()
        self.read.release()
        self.names.clear()
        if self.read_window is not self.window:
            self.read_window.release()
        self.window.release()
