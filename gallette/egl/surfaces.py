"""EGL surfaces: pbuffers, windows and pixmaps around a drawable's images."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError, check
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.watchers import frame_done
from gallette.state_tracker.targets.window import Drawable

if TYPE_CHECKING:
    from gallette.egl.configs import Config
    from gallette.egl.contexts import EglContext
    from gallette.egl.display import Display
    from gallette.egl.windows import Window

_COLOR_SPACES = (EGL.GL_COLORSPACE_LINEAR, EGL.GL_COLORSPACE_SRGB)


class Surface:
    """A surface that contexts draw on. `kind` is EGL.PBUFFER_BIT, WINDOW_BIT or PIXMAP_BIT."""

    def __init__(
        self,
        display: Display,
        config: Config,
        kind: int,
        size: tuple[int, int],
        attributes: dict[int, int],
        window: Window | None = None,
    ):
        self.display, self.config, self.kind, self.window = display, config, kind, window
        self.attributes = attributes
        srgb = attributes.get(EGL.GL_COLORSPACE) == EGL.GL_COLORSPACE_SRGB
        color = config.srgb if srgb and config.srgb else config.color
        asked = attributes.get(EGL.RENDER_BUFFER, EGL.BACK_BUFFER)
        self.render_buffer = EGL.SINGLE_BUFFER if kind == EGL.PIXMAP_BIT else asked
        self.drawable = Drawable(
            display.screen, size, config[EGL.SAMPLES], color, config.depth_stencil,
            single=self.render_buffer == EGL.SINGLE_BUFFER,
        )  # fmt: skip
        self.swap_behavior = attributes.get(EGL.SWAP_BEHAVIOR, EGL.BUFFER_PRESERVED)
        self.users: list[EglContext] = []
        self.destroyed = False
        self.bound_texture: Any = None
        self._seen = False
        """has anybody looked at the window's size since the last swap?"""

    @property
    def handle(self) -> int:
        return id(self)

    @property
    def size(self) -> tuple[int, int]:
        if self.window is not None:
            return self.window.size()
        return self.drawable.size

    def destroy(self) -> None:
        """Remove the handle; the images are freed when no context draws on them."""
        self.destroyed = True
        self.display.surfaces.pop(self.handle, None)
        if not self.users:
            self._free()

    def leave(self, context: EglContext) -> None:
        if context in self.users:
            self.users.remove(context)
        if self.destroyed and not self.users:
            self._free()

    def _free(self) -> None:
        self.drawable.release()
        if self.window is not None:
            self.window.close()
            self.window = None

    def fit(self) -> bool:
        """Adopt the window's size; returns whether it changed."""
        if self.window is None or self.destroyed:
            return False
        size = self.window.size()
        if size == self.drawable.size or 0 in size:
            return False
        self.drawable.resize(size)
        return True

    def refit(self) -> None:
        """Adopt the window's size, and bind the new images in the contexts that draw on it."""
        if self.fit():
            for user in self.users:
                user.bind_surfaces()

    def look(self) -> None:
        """Check the window's size once per frame, when glViewport shows that one begins."""
        if not self._seen:
            self._seen = True
            with suppress(EglError):  # the window is gone
                self.refit()

    def query(self, attribute: int) -> int:
        width, height = self.drawable.size
        values: dict[int, int] = {
            EGL.WIDTH: width,
            EGL.HEIGHT: height,
            EGL.CONFIG_ID: self.config[EGL.CONFIG_ID],
            EGL.RENDER_BUFFER: self.render_buffer,
            EGL.SWAP_BEHAVIOR: self.swap_behavior,
            EGL.MULTISAMPLE_RESOLVE: self.attributes.get(
                EGL.MULTISAMPLE_RESOLVE, EGL.MULTISAMPLE_RESOLVE_DEFAULT
            ),
            EGL.GL_COLORSPACE: self.attributes.get(EGL.GL_COLORSPACE, EGL.GL_COLORSPACE_LINEAR),
            EGL.ALPHA_FORMAT: EGL.VG_ALPHA_FORMAT_NONPRE,
            EGL.HORIZONTAL_RESOLUTION: EGL.UNKNOWN,
            EGL.VERTICAL_RESOLUTION: EGL.UNKNOWN,
            EGL.PIXEL_ASPECT_RATIO: EGL.UNKNOWN,
            EGL.MIPMAP_LEVEL: self.attributes.get(EGL.MIPMAP_LEVEL, 0),
            EGL.BUFFER_AGE_EXT: int(self.swap_behavior == EGL.BUFFER_PRESERVED),
        }
        if self.kind == EGL.PBUFFER_BIT:
            values[EGL.LARGEST_PBUFFER] = self.attributes.get(EGL.LARGEST_PBUFFER, 0)
            values[EGL.TEXTURE_FORMAT] = self.attributes.get(EGL.TEXTURE_FORMAT, EGL.NO_TEXTURE)
            values[EGL.TEXTURE_TARGET] = self.attributes.get(EGL.TEXTURE_TARGET, EGL.NO_TEXTURE)
            values[EGL.MIPMAP_TEXTURE] = self.attributes.get(EGL.MIPMAP_TEXTURE, 0)
        check(
            attribute in values or attribute in _PBUFFER_ONLY,
            Error.BAD_ATTRIBUTE,
            f"0x{attribute:04X} is not an attribute of a surface",
        )
        return values.get(attribute, 0)

    def swap(self, context: EglContext | None) -> None:
        """Show the picture: in the window, and as a frame if frames are saved."""
        if context is not None:
            with context.gl.using_pipe():
                context.gl.pipe.flush()
            frame_done()
        wanted = os.environ.get("GALLETTE_FRAMES")
        if (self.window is None and not wanted) or context is None:
            return
        pixels = self.pixels(context)
        if self.window is not None:
            self.window.present(pixels)
        if wanted:
            from gallette.egl.frames import keep

            keep(pixels, self.window is not None and not self.window.has_alpha)
        self._seen = False
        self.refit()

    def show_front(self, context: EglContext) -> None:
        """Show what was drawn to the front buffer, which is visible once it is flushed."""
        if self.drawable.single:
            self.swap(context)
        elif self.window is not None:
            self.window.present(self.pixels(context))

    def pixels(self, context: EglContext) -> Any:
        """The picture as an array of RGBA bytes, top row first."""
        import numpy as np

        from gallette.egl.frames import read_back

        assert self.drawable.color is not None
        return np.flipud(read_back(context.gl, self.drawable))


_PBUFFER_ONLY = (
    EGL.LARGEST_PBUFFER,
    EGL.TEXTURE_FORMAT,
    EGL.TEXTURE_TARGET,
    EGL.MIPMAP_TEXTURE,
)
_ATTRIBUTES = {
    EGL.PBUFFER_BIT: (
        EGL.WIDTH, EGL.HEIGHT, EGL.LARGEST_PBUFFER, EGL.TEXTURE_FORMAT, EGL.TEXTURE_TARGET,
        EGL.MIPMAP_TEXTURE, EGL.GL_COLORSPACE, EGL.COLORSPACE, EGL.ALPHA_FORMAT,
    ),
    EGL.WINDOW_BIT: (EGL.RENDER_BUFFER, EGL.GL_COLORSPACE, EGL.COLORSPACE, EGL.ALPHA_FORMAT),
    EGL.PIXMAP_BIT: (EGL.GL_COLORSPACE, EGL.COLORSPACE, EGL.ALPHA_FORMAT),
}  # fmt: skip


def surface_attributes(kind: int, config: Config, given: dict[int, int]) -> dict[int, int]:
    """Check the attributes of a new surface."""
    for attribute in given:
        known = attribute in _ATTRIBUTES[kind]
        check(known, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} is not an attribute of this surface")
    check(config[EGL.SURFACE_TYPE] & kind, Error.BAD_MATCH, "the config has no such surfaces")
    space = given.get(EGL.GL_COLORSPACE, EGL.GL_COLORSPACE_LINEAR)
    check(space in _COLOR_SPACES, Error.BAD_ATTRIBUTE, "an unknown colour space")
    if space == EGL.GL_COLORSPACE_SRGB:
        check(config.srgb != GL.NONE, Error.BAD_MATCH, "the config has no sRGB buffers")
    if kind == EGL.PBUFFER_BIT:
        width, height = given.get(EGL.WIDTH, 0), given.get(EGL.HEIGHT, 0)
        check(width >= 0 and height >= 0, Error.BAD_PARAMETER, "a negative size")
        limit = config[EGL.MAX_PBUFFER_WIDTH]
        if given.get(EGL.LARGEST_PBUFFER):
            given = {**given, EGL.WIDTH: min(width, limit), EGL.HEIGHT: min(height, limit)}
        else:
            check(max(width, height) <= limit, Error.BAD_ALLOC, "larger than any image here")
        texture = given.get(EGL.TEXTURE_FORMAT, EGL.NO_TEXTURE)
        target = given.get(EGL.TEXTURE_TARGET, EGL.NO_TEXTURE)
        check(
            (texture == EGL.NO_TEXTURE) == (target == EGL.NO_TEXTURE),
            Error.BAD_MATCH,
            "a texture needs both a format and a target",
        )
    return given
