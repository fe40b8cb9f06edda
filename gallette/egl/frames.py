"""The frames of a program, as PNG files.

`GALLETTE_FRAMES` says where they go: a file name (the last frame stays) or one with `%d` in it
(every frame). `GALLETTE_FRAME_LIMIT` ends the program after that many frames.

A frame is what swapping buffers shows. A program that never does has no window: then each
glReadPixels of at least half of a framebuffer is a frame, and for a program that reads nothing, the
framebuffer it drew to when its context or the process ended.
"""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.output_files import write_whole
from gallette.pictures import png_bytes

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.targets.framebuffers import Framebuffer
    from gallette.state_tracker.targets.window import Drawable

_COUNT = [0]
_READING = [False]  # whether it is this module that reads a framebuffer


def begin() -> None:
    """Observe framebuffer reads, too, if this process's frames are to be saved."""
    from gallette.state_tracker.entry_points.watchers import READERS

    if os.environ.get("GALLETTE_FRAMES") and not READERS:
        pictures = _Pictures()
        READERS.append(pictures)
        atexit.register(pictures.end)


class _Pictures:
    """The frames of a program without a window."""

    def __init__(self) -> None:
        self.frames = 0

    @property
    def _has_window(self) -> bool:
        return _COUNT[0] > self.frames

    def read(self, gl: Context, width: int, height: int) -> None:
        """Handle a read of a framebuffer by the program."""
        framebuffer = gl.framebuffers.read
        across, down = framebuffer.size
        if not _READING[0] and not self._has_window and 2 * width * height >= across * down:
            self._take(gl, framebuffer)

    def died(self, gl: Context) -> None:
        """Handle the end of a context: save the last picture, if there was none."""
        if not _COUNT[0]:
            self._take(gl, gl.framebuffers.draw)

    def end(self) -> None:
        """Handle the end of the process."""
        from gallette.state_tracker.entry_points.current import current_context

        gl = current_context()
        if gl is not None and not gl.released:
            self.died(gl)

    def _take(self, gl: Context, framebuffer: Framebuffer) -> None:
        """Save a framebuffer's colours as a frame, if they can be read as a picture."""
        pixels = _colors(gl, framebuffer, framebuffer.size)
        if pixels is not None:
            self.frames += 1
            keep(np.flipud(pixels))


def _colors(
    gl: Context,
    framebuffer: Framebuffer,
    size: tuple[int, int],
    kind: int = 0x1401,
    dtype: Any = np.uint8,
) -> npt.NDArray[Any] | None:
    """RGBA values (bytes) of a framebuffer, row 0 at the bottom; None if it has no such values."""
    from gallette.state_tracker.entry_points.enums import GL
    from gallette.state_tracker.entry_points.watchers import unwatched
    from gallette.state_tracker.pixel_data.pixels import PackState

    width, height = size
    frames = gl.framebuffers
    read, pack, dirty_error = frames.read, gl.pack, gl.error
    buffer = gl.buffers.bound[GL.PIXEL_PACK_BUFFER]
    frames.read, gl.pack = framebuffer, PackState()
    gl.buffers.bound[GL.PIXEL_PACK_BUFFER] = None
    _READING[0] = True
    try:
        with unwatched():
            data: Any = gl.read_pixels(0, 0, width, height, GL.RGBA, kind)
    finally:
        _READING[0] = False
        frames.read, gl.pack, gl.error = read, pack, dirty_error
        gl.buffers.bound[GL.PIXEL_PACK_BUFFER] = buffer
    return np.frombuffer(data, dtype).reshape(height, width, 4) if data else None


def read_back(
    gl: Context, drawable: Drawable, kind: int = 0x1401, dtype: Any = np.uint8
) -> npt.NDArray[Any]:
    """RGBA values (bytes) of a drawable that is current, row 0 at the bottom."""
    found = _colors(gl, gl.framebuffers.window, drawable.size, kind, dtype)
    assert found is not None  # a window can be read
    return found


def keep(pixels: npt.NDArray[np.uint8], opaque: bool = False) -> None:
    """Write one frame; end the program after the last requested one.

    The alpha of `opaque` windows is invisible, so it is left out.
    """
    _COUNT[0] += 1
    pattern = os.environ["GALLETTE_FRAMES"]
    if pattern != os.devnull:
        path = pattern % _COUNT[0] if "%" in pattern else pattern
        seen = pixels[..., :3] if opaque else pixels
        write_whole(path, png_bytes(seen))
    if _COUNT[0] == int(os.environ.get("GALLETTE_FRAME_LIMIT") or 0):
        os._exit(0)
