"""What eglSwapBuffers shows: reading a window's picture back, and keeping frames as PNG files.

`GALLETTE_FRAMES` says where frames go: a file name (the last frame stays) or one with `%d` in it
(every frame). `GALLETTE_FRAME_LIMIT` ends the program after that many frames.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.output_files import write_whole
from gallette.pictures import png_bytes

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.targets.window import Drawable

__all__ = ["keep", "read_back"]

_COUNT = [0]


def read_back(
    gl: Context, drawable: Drawable, kind: int = 0x1401, dtype: Any = np.uint8
) -> npt.NDArray[Any]:
    """RGBA values (bytes) of a drawable that is current, row 0 at the bottom."""
    from gallette.state_tracker.entry_points.enums import GL
    from gallette.state_tracker.entry_points.watching import unwatched
    from gallette.state_tracker.pixel_data.pixels import PackState

    width, height = drawable.size
    frames = gl.framebuffers
    read, pack, dirty_error = frames.read, gl.pack, gl.error
    buffer = gl.buffers.bound[GL.PIXEL_PACK_BUFFER]
    frames.read, gl.pack = frames.window, PackState()
    gl.buffers.bound[GL.PIXEL_PACK_BUFFER] = None
    try:
        with unwatched():
            data: Any = gl.read_pixels(0, 0, width, height, GL.RGBA, kind)
    finally:
        frames.read, gl.pack, gl.error = read, pack, dirty_error
        gl.buffers.bound[GL.PIXEL_PACK_BUFFER] = buffer
    return np.frombuffer(data, dtype).reshape(height, width, 4)


def keep(pixels: npt.NDArray[np.uint8], opaque: bool = False) -> None:
    """Write one frame; end the program after the last that was asked for.

    Of `opaque` windows nobody sees the alpha.
    """

    _COUNT[0] += 1
    pattern = os.environ["GALLETTE_FRAMES"]
    if pattern != os.devnull:
        path = pattern % _COUNT[0] if "%" in pattern else pattern
        seen = pixels[..., :3] if opaque else pixels
        write_whole(path, png_bytes(seen))
    if _COUNT[0] == int(os.environ.get("GALLETTE_FRAME_LIMIT") or 0):
        os._exit(0)
