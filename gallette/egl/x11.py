"""Windows of an X server: sizes are queried, pictures are sent.

Pictures are in memory shared with the server; a server on another machine receives them in stripes
below its limit for one request.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from gallette.egl.configs import Visuals
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError
from gallette.egl.shared_picture import SharedPicture
from gallette.egl.xcb import Connection

Pixels = npt.NDArray[np.uint8]

_TRUE_COLOR, _Z_PIXMAP = 4, 2
_EVERY_PLANE = (1 << 32) - 1
_GET_GEOMETRY, _CREATE_GC, _FREE_GC, _PUT_IMAGE, _GET_IMAGE = 14, 55, 60, 72, 73


class X11:
    """A connection to an X server."""

    kinds = EGL.WINDOW_BIT | EGL.PIXMAP_BIT
    by_address = True

    def __init__(self, server: Connection):
        self.server = server
        self.shares = True
        """does it read pictures from memory of this process, as far as known?"""

    def visuals(self) -> Visuals:
        """The visuals of windows with these bits of red, green, blue and alpha.

        Windows of the root's visual may have alpha that does not show; windows of 32 bits show what
        is behind them where alpha is small. Toolkits look for either kind, so both are listed.
        """
        screen = self.server.screen
        found: dict[tuple[int, ...], tuple[int, int]] = {}
        for visual in screen.visuals:
            if visual.kind == _TRUE_COLOR:
                bits = [mask.bit_count() for mask in visual.masks]
                alpha = visual.depth - sum(bits)
                found.setdefault((*bits, alpha), (visual.number, _TRUE_COLOR))
        every: Visuals = {bits: (visual,) for bits, visual in found.items()}
        opaque = found.get((8, 8, 8, 0))
        if opaque is not None:
            if screen.depth == 24:
                opaque = (screen.visual, _TRUE_COLOR)
            every[8, 8, 8, 0] = (opaque,)
            every[8, 8, 8, 8] = (opaque, *every.get((8, 8, 8, 8), ()))
        return every

    def geometry(self, drawable: int) -> tuple[int, int, int]:
        """Width, height and depth of a drawable."""
        reply = self.server.ask(_GET_GEOMETRY, 0, "I", drawable)
        if reply is None:
            raise EglError(Error.BAD_NATIVE_WINDOW, f"{drawable:#x} is no window or pixmap")
        return (*struct.unpack_from("HH", reply, 16), reply[1])

    def picture(self, drawable: int) -> Pixels:
        """A drawable's picture as RGBA bytes, top row first."""
        width, height, depth = self.geometry(drawable)
        box = 0, 0, width, height
        reply = self.server.ask(_GET_IMAGE, _Z_PIXMAP, "IhhHHI", drawable, *box, _EVERY_PLANE)
        if reply is None:
            raise EglError(Error.BAD_NATIVE_PIXMAP, f"{drawable:#x} has no picture")
        stride = _stride(width, depth)
        data = np.frombuffer(reply, np.uint8, height * stride, 32)
        return _unpack(data.reshape(height, stride), width, depth)

    def open(self, native: int) -> XWindow | None:
        """A window or pixmap by its number; None if the server has none with that number."""
        if not 0 < native < 1 << 32:
            return None
        window = XWindow(self, native)
        try:
            window.size()
        except EglError:
            return None
        return window

    def close(self) -> None:
        self.server.close()


class XWindow:
    """One window or pixmap."""

    def __init__(self, x11: X11, native: int):
        self.x11, self.server, self.native = x11, x11.server, native
        self.depth = x11.server.screen.depth
        self._context = 0
        self._shared: SharedPicture | None = None
        self._reading = False
        """may the server still be reading the shared picture?"""

    def size(self) -> tuple[int, int]:
        width, height, self.depth = self.x11.geometry(self.native)
        self._reading = False  # it answers in order
        return width, height

    @property
    def has_alpha(self) -> bool:
        """Whether windows below show through."""
        return bool(self.depth == 32)

    def present(self, pixels: Pixels, at: tuple[int, int] = (0, 0)) -> None:
        """Show RGBA bytes, top row first, at a place of the window. The picture is visible when the
        server replies next.
        """
        if not self.server.is_open:
            return
        height, width = pixels.shape[:2]
        if not self._context:
            self._context = self.server.number()
            self.server.tell(_CREATE_GC, 0, "III", self._context, self.native, 0)
        stride = _stride(width, self.depth)
        shared = self._memory(height * stride)
        if shared is None:
            rows = np.zeros((height, stride), np.uint8)
            _pack(pixels, rows, self.depth)
            self._send(rows, width, at)
            return
        _pack(pixels, shared.bytes[: height * stride].reshape(height, stride), self.depth)
        shared.put(self.native, self._context, (height, width), self.depth, at)
        self.server.flush()
        self._reading = True

    def _memory(self, size: int) -> SharedPicture | None:
        """Memory shared with the server that can be written; None if it shares none."""
        if self._reading:
            self.server.sync()
            self._reading = False
        if self._shared is not None and self._shared.size < size:
            self._shared.close()
            self._shared = None
        if self._shared is None and self.x11.shares:
            self._shared = SharedPicture.make(self.server, size)
            self.x11.shares = self._shared is not None
        return self._shared

    def _send(self, rows: Pixels, width: int, at: tuple[int, int]) -> None:
        """Put a picture in stripes below the server's limit for one request."""
        most = max(1, (self.server.longest - 64) // max(1, rows.shape[1]))
        for top in range(0, len(rows), most):
            part = rows[top : top + most]
            box = width, len(part), at[0], at[1] + top, 0, self.depth
            self.server.tell(
                _PUT_IMAGE, _Z_PIXMAP, "IIHHhhBB2x", self.native, self._context, *box,
                data=part.tobytes(),
            )  # fmt: skip
        self.server.sync()

    def close(self) -> None:
        if self._shared is not None:
            self._shared.close()
            self._shared = None
        if self._context:
            self.server.tell(_FREE_GC, 0, "I", self._context)
            self._context = 0


def _stride(width: int, depth: int) -> int:
    """The bytes of a row in the server's format: four or two per pixel, filled up to four."""
    return (width * (4 if depth in (24, 32) else 2) + 3) & ~3


def _pack(pixels: Pixels, rows: Pixels, depth: int) -> None:
    """Pack pixels into rows of bytes in the server's format."""
    height, width = pixels.shape[:2]
    if depth in (24, 32):
        out = rows.reshape(height, width, 4)
        for to, channel in enumerate((2, 1, 0, 3)):
            out[..., to] = pixels[..., channel]
        return
    wide = pixels.astype(np.uint16)
    words = rows.view(np.uint16)[:, :width]
    words[...] = (wide[..., 0] >> 3) << 11 | (wide[..., 1] >> 2) << 5 | wide[..., 2] >> 3


def _unpack(rows: Pixels, width: int, depth: int) -> Pixels:
    """RGBA bytes of rows in the server's format; what has no alpha is opaque."""
    pixels = np.full((len(rows), width, 4), 255, np.uint8)
    if depth in (24, 32):
        channels = depth // 8
        given = rows[:, : 4 * width].reshape(len(rows), width, 4)
        pixels[..., :channels] = given[..., [2, 1, 0, 3][:channels]]
        return pixels
    words = rows.view(np.uint16)[:, :width].astype(np.uint32)
    for channel, (shift, most) in enumerate(((11, 31), (5, 63), (0, 31))):
        pixels[..., channel] = ((words >> shift & most) * 255 + most // 2) // most
    return pixels
