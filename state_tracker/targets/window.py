"""The images of a window (or pbuffer): a default framebuffer's storage, outside any context.

A surface outlives the contexts that draw on it, and several contexts may use it alternately. So its
buffers belong to a `Drawable`, made on a screen; a context's framebuffer 0 refers to the current
drawable (`Context.bind_drawables`).
"""

from __future__ import annotations

from gallette.compiler.errors import GalletteError
from gallette.pipe.enums import Bind, Target
from gallette.pipe.interface import Screen
from gallette.pipe.resource import ResourceDesc
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.targets.renderbuffers import Renderbuffer
from gallette.state_tracker.texturing.texture_formats import (
    INTERNAL_FORMATS,
    choose_format,
    sample_count,
)


class Drawable:
    """Colour, depth and stencil images of one size; None for missing ones."""

    def __init__(
        self,
        screen: Screen,
        size: tuple[int, int],
        samples: int = 0,
        color: int = GL.RGBA8,
        depth_stencil: int = GL.DEPTH24_STENCIL8,
        single: bool = False,
    ):
        """`color` and `depth_stencil` are internal formats, `GL.NONE` for no such buffer; `single`
        for a front buffer alone.
        """
        self.screen, self.size, self.single = screen, size, single
        self.samples = sample_count(screen.caps, samples) if samples > 1 else 0
        self._color, self._depth_stencil = color, depth_stencil
        self.color = self._image(color, Bind.RENDER_TARGET)
        self.depth_stencil = self._image(depth_stencil, Bind.DEPTH_STENCIL)

    @property
    def buffers(self) -> tuple[Renderbuffer | None, Renderbuffer | None]:
        return self.color, self.depth_stencil

    def _image(self, internal: int, bind: Bind) -> Renderbuffer | None:
        if internal == GL.NONE:
            return None
        info, target = INTERNAL_FORMATS[internal], Target.TEXTURE_2D
        format = choose_format(self.screen, info.candidates, target, self.samples, bind)
        if format is None:
            raise GalletteError(f"the driver has no window buffers of GL_{info.name}")
        width, height = self.size
        buffer = Renderbuffer(0)
        buffer.resource = self.screen.resource_create(
            ResourceDesc(
                target, format, max(width, 1), max(height, 1), samples=self.samples, bind=bind,
                label="default framebuffer",
            )
        )  # fmt: skip
        buffer.width, buffer.height, buffer.samples = max(width, 1), max(height, 1), self.samples
        buffer.info, buffer.internal_format = info, internal
        return buffer

    def resize(self, size: tuple[int, int]) -> None:
        """Create images of a new size; contexts must bind the drawable again."""
        if size != self.size:
            before, self.size = self.size, size
            try:
                color = self._image(self._color, Bind.RENDER_TARGET)
                depth_stencil = self._image(self._depth_stencil, Bind.DEPTH_STENCIL)
            except MemoryError:  # the old images stay
                self.size = before
                raise
            self.release()
            self.color, self.depth_stencil = color, depth_stencil

    def release(self) -> None:
        """Release the images; framebuffers that refer to them keep them alive."""
        for buffer in self.buffers:
            if buffer is not None:
                buffer.release()
        self.color = self.depth_stencil = None
