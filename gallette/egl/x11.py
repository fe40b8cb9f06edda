"""Windows of an X server, through python-xlib: sizes are queried, pictures are sent.

gallette opens a connection of its own: window numbers mean the same in every connection to a
server. Pictures are in memory shared with the server; a server on another machine receives them in
stripes below its limit for one request.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt
from Xlib import X
from Xlib import display as xdisplay
from Xlib import error as xerror

from gallette.egl.configs import Visuals
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError
from gallette.egl.shared_picture import SharedPicture

__all__ = ["X11"]

Pixels = npt.NDArray[np.uint8]

_TRUE_COLOR = 4


class Client:
    """The program's own connection, an Xlib `Display`; absent for programs without one."""

    def __init__(self, native: int):
        self._native = native
        try:
            self._xlib: Any = ctypes.CDLL("libX11.so.6") if native else None
        except OSError:
            self._xlib = None

    def server(self) -> str | None:
        """The name of the server it is connected to."""
        if self._xlib is None:
            return None
        ask = self._xlib.XDisplayString
        ask.restype, ask.argtypes = ctypes.c_char_p, [ctypes.c_void_p]
        name: bytes | None = ask(self._native)
        return name.decode() if name else None

    def sync(self) -> None:
        """Wait until the server has processed the program's requests, such as creating a window."""
        if self._xlib is not None:
            self._xlib.XSync.argtypes = [ctypes.c_void_p, ctypes.c_int]
            self._xlib.XSync(self._native, 0)

    def geometry(self, drawable: int) -> tuple[int, int, int]:
        """Width, height and depth of a drawable."""
        root, values = ctypes.c_ulong(), (ctypes.c_uint * 6)()
        ask = self._xlib.XGetGeometry
        ask.argtypes = [ctypes.c_void_p, ctypes.c_ulong] + [ctypes.c_void_p] * 7
        places = [ctypes.addressof(values) + 4 * i for i in range(6)]
        ask(self._native, drawable, ctypes.addressof(root), *places)
        width, height, _, depth = values[2:]
        return width, height, depth

    def picture(self, drawable: int) -> Pixels:
        """A drawable's picture as RGBA bytes, top row first."""
        width, height, depth = self.geometry(drawable)
        get, free = self._xlib.XGetImage, self._xlib.XDestroyImage
        get.restype, free.argtypes = ctypes.POINTER(_XImage), [ctypes.c_void_p]
        get.argtypes = [ctypes.c_void_p, ctypes.c_ulong, *[ctypes.c_int] * 4, ctypes.c_ulong]
        get.argtypes += [ctypes.c_int]
        image = get(self._native, drawable, 0, 0, width, height, (1 << 32) - 1, X.ZPixmap)
        if not image:
            raise EglError(Error.BAD_NATIVE_PIXMAP, f"{drawable:#x} has no picture")
        try:
            stride = image.contents.bytes_per_line
            data = ctypes.string_at(image.contents.data, height * stride)
            return _unpack(np.frombuffer(data, np.uint8).reshape(height, stride), width, depth)
        finally:
            free(image)


class _XImage(ctypes.Structure):
    """The first members of Xlib's XImage."""

    _fields_ = [
        ("width", ctypes.c_int), ("height", ctypes.c_int), ("xoffset", ctypes.c_int),
        ("format", ctypes.c_int), ("data", ctypes.c_void_p), ("byte_order", ctypes.c_int),
        ("unit", ctypes.c_int), ("bit_order", ctypes.c_int), ("pad", ctypes.c_int),
        ("depth", ctypes.c_int), ("bytes_per_line", ctypes.c_int),
    ]  # fmt: skip


class X11:
    """A connection to an X server."""

    kinds = EGL.WINDOW_BIT | EGL.PIXMAP_BIT
    by_address = True

    def __init__(self, native: int):
        self.client = Client(native)
        try:
            self.display: Any = xdisplay.Display(self.client.server())
        except (xerror.DisplayError, OSError) as error:
            raise EglError(Error.NOT_INITIALIZED, f"no X server: {error}") from error
        self.screen: Any = self.display.screen()
        self.shares = True
        """does it read pictures from memory of this process, as far as known?"""

    def visuals(self) -> Visuals:
        """The visuals of windows with these bits of red, green, blue and alpha.

        Windows of the root's visual may have alpha that does not show; windows of 32 bits show what
        is behind them where alpha is small. Toolkits look for either kind, so both are listed.
        """
        found: dict[tuple[int, ...], tuple[int, int]] = {}
        root = (self.screen.root_visual, _TRUE_COLOR)
        for depth in self.screen.allowed_depths:
            for visual in depth["visuals"]:
                if visual["visual_class"] != _TRUE_COLOR:
                    continue
                bits = [int(visual[f"{c}_mask"]).bit_count() for c in ("red", "green", "blue")]
                alpha = depth["depth"] - sum(bits)
                found.setdefault((*bits, alpha), (visual["visual_id"], _TRUE_COLOR))
        every: Visuals = {bits: (visual,) for bits, visual in found.items()}
        opaque = found.get((8, 8, 8, 0))
        if opaque is not None:
            if self.screen.root_depth == 24:
                opaque = root
            every[8, 8, 8, 0] = (opaque,)
            every[8, 8, 8, 8] = (opaque, *every.get((8, 8, 8, 8), ()))
        return every

    def open(self, native: int) -> XWindow | None:
        """A window or pixmap by its number; None if the server has none with that number."""
        if not 0 < native < 1 << 32:
            return None
        self.client.sync()
        window = XWindow(self, native)
        try:
            window.size()
        except EglError:
            return None
        return window

    def close(self) -> None:
        self.display.close()


class XWindow:
    """One window or pixmap."""

    def __init__(self, server: X11, native: int):
        self.server, self.native = server, native
        self.drawable: Any = server.display.create_resource_object("drawable", native)
        self.depth = server.screen.root_depth
        self._context: Any = None
        self._shared: SharedPicture | None = None
        self._reading = False
        """may the server still be reading the shared picture?"""

    def size(self) -> tuple[int, int]:
        self.server.client.sync()  # a requested change of size is done
        try:
            geometry = self.drawable.get_geometry()
        except (xerror.XError, xerror.ConnectionClosedError) as error:
            raise EglError(Error.BAD_NATIVE_WINDOW, str(error)) from error
        self.depth = geometry.depth
        self._reading = False  # it answers in order
        return geometry.width, geometry.height

    @property
    def has_alpha(self) -> bool:
        """Whether windows below show through."""
        return bool(self.depth == 32)

    def present(self, pixels: Pixels) -> None:
        """Show RGBA bytes, top row first. The picture is visible when the server replies next."""
        height, width = pixels.shape[:2]
        if self._context is None:
            self._context = self.drawable.create_gc()
        each = 4 if self.depth in (24, 32) else 2
        stride = (width * each + 3) & ~3
        shared = self._memory(height * stride)
        if shared is None:
            rows = np.zeros((height, stride), np.uint8)
            _pack(pixels, rows, each)
            self._send(rows, width)
            return
        _pack(pixels, shared.bytes[: height * stride].reshape(height, stride), each)
        shared.put(self.native, self._context.id, (height, width), self.depth)
        self.server.display.flush()
        self._reading = True

    def _memory(self, size: int) -> SharedPicture | None:
        """Memory shared with the server that can be written; None if it shares none."""
        if self._reading:
            self.server.display.sync()
            self._reading = False
        if self._shared is not None and self._shared.size < size:
            self._shared.close()
            self._shared = None
        if self._shared is None and self.server.shares:
            self._shared = SharedPicture.make(self.server.display, size)
            self.server.shares = self._shared is not None
        return self._shared

    def _send(self, rows: Pixels, width: int) -> None:
        """Put a picture in stripes below the server's limit for one request."""
        limit = self.server.display.display.info.max_request_length * 4 - 64
        most = max(1, limit // max(1, rows.shape[1]))
        for top in range(0, len(rows), most):
            part = rows[top : top + most]
            self.drawable.put_image(
                self._context, 0, top, width, len(part), X.ZPixmap, self.depth, 0, part.tobytes()
            )
        self.server.display.sync()

    def close(self) -> None:
        if self._shared is not None:
            self._shared.close()
            self._shared = None
        if self._context is not None:
            self._context.free()
            self._context = None


def _pack(pixels: Pixels, rows: Pixels, each: int) -> None:
    """Pack pixels into rows of bytes in the server's format, four or two bytes per pixel."""
    height, width = pixels.shape[:2]
    if each == 4:
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
