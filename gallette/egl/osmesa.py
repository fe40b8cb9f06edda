"""OSMesa: contexts that draw into the caller's memory.

A context draws into images and copies them to that memory at glFinish and glFlush, when OSMesa
guarantees that the memory is up to date, and when the context stops being current.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette import default_driver
from gallette.compiler.errors import GalletteError
from gallette.egl.registry import c_function
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.current import current_context, set_current
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.targets.window import Drawable

COLOR_INDEX, RGBA, BGRA, ARGB, RGB, BGR, RGB_565 = 0x1900, 0x1908, 0x1, 0x2, 0x1907, 0x4, 0x5
ROW_LENGTH, Y_UP = 0x10, 0x11
WIDTH, HEIGHT, FORMAT, TYPE, MAX_WIDTH, MAX_HEIGHT = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
DEPTH_BITS, STENCIL_BITS, ACCUM_BITS, PROFILE = 0x30, 0x31, 0x32, 0x33
CORE_PROFILE, COMPAT_PROFILE = 0x34, 0x35
MAJOR, MINOR = 0x36, 0x37
# Which of R, G, B, A stand in memory, in that order.
_ORDERS = {
    RGBA: (0, 1, 2, 3),
    BGRA: (2, 1, 0, 3),
    ARGB: (3, 0, 1, 2),
    RGB: (0, 1, 2),
    BGR: (2, 1, 0),
}
_TYPES: dict[int, Any] = {
    GL.UNSIGNED_BYTE: (np.uint8, GL.RGBA8),
    GL.UNSIGNED_SHORT: (np.uint16, GL.RGBA16),
    GL.FLOAT: (np.float32, GL.RGBA32F),
}


class OSMesaContext:
    """One context, and the memory that it draws into while it is current."""

    gl: Context

    def __init__(
        self, format: int, depth: int, stencil: int, share: OSMesaContext | None,
        profile: str = "compat", version: tuple[int, int] = (1, 0),
    ):  # fmt: skip
        before = current_context()
        shared = share.gl if share is not None else None
        self.gl: Context = Context(default_driver(), profile=profile, version=version, share=shared)
        set_current(before)
        self.format = format
        self.has_depth = depth or stencil
        self.drawable: Drawable | None = None
        self.address = self.type = self.row_length = 0
        self.y_up = True
        for name in ("glFlush", "glFinish"):
            self.gl.calls[name] = self._then_copy(self.gl.calls[name])

    def _then_copy(self, method: Any) -> Any:
        def call() -> None:
            method()
            self.copy_out()

        return call

    def bind(self, address: int, kind: int, width: int, height: int) -> None:
        if kind not in _TYPES:
            raise GalletteError("OSMesa draws bytes, shorts and floats")
        color = _TYPES[kind][1]
        depth = GL.DEPTH24_STENCIL8 if self.has_depth else GL.NONE
        old = self.drawable
        if old is None or old.size != (width, height) or kind != self.type:
            self.drawable = Drawable(self.gl.screen, (width, height), 0, color, depth)
        self.address, self.type = address, kind
        self.gl.make_current()
        self.gl.bind_drawables(self.drawable, self.drawable)
        if old is not None and old is not self.drawable:
            old.release()

    def copy_out(self) -> None:
        """Copy the picture, in the caller's layout, to the caller's memory."""
        drawable = self.drawable
        if drawable is None or not self.address:
            return
        from gallette.egl.frames import read_back

        width, height = drawable.size
        pixels: npt.NDArray[Any] = read_back(self.gl, drawable, self.type, _TYPES[self.type][0])
        if not self.y_up:
            pixels = pixels[::-1]
        row = self.row_length or width
        if self.format == RGB_565:
            wide = pixels.astype(np.uint16)
            words = (wide[..., 0] >> 3) << 11 | (wide[..., 1] >> 2) << 5 | wide[..., 2] >> 3
            _memory(self.address, np.uint16, (height, row))[:, :width] = words
            return
        order = _ORDERS[self.format]
        target = _memory(self.address, pixels.dtype, (height, row, len(order)))
        target[:, :width] = pixels[..., order]

    def release(self) -> None:
        if self.drawable is not None:
            self.gl.bind_drawables(None, None)
            self.drawable.release()
        self.gl.release()


def _memory(address: int, dtype: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = (ctypes.c_uint8 * size).from_address(address)
    return np.frombuffer(raw, dtype).reshape(shape)


_CONTEXTS: dict[int, OSMesaContext] = {}
_CURRENT: dict[int, OSMesaContext] = {}  # by GL context: what is current is known there


def _add(context: OSMesaContext) -> int:
    _CONTEXTS[id(context)] = context
    _CURRENT[id(context.gl)] = context
    return id(context)


def _current() -> OSMesaContext | None:
    gl = current_context()
    return _CURRENT.get(id(gl)) if gl is not None else None


def _create(format: int, depth: int, stencil: int, share: int, **version: Any) -> int:
    if format not in _ORDERS and format != RGB_565:
        return 0
    try:
        return _add(OSMesaContext(format, depth, stencil, _CONTEXTS.get(share), **version))
    except GalletteError:
        return 0


@c_function("up:p")
def OSMesaCreateContext(format: int, share: int) -> int:
    return _create(format, 24, 8, share)


@c_function("uiiip:p")
def OSMesaCreateContextExt(format: int, depth: int, stencil: int, accum: int, share: int) -> int:
    return _create(format, depth, stencil, share)


@c_function("pp:p")
def OSMesaCreateContextAttribs(attribs: int, share: int) -> int:
    given = _until_zero(attribs)
    core = given.get(PROFILE, COMPAT_PROFILE) == CORE_PROFILE
    version = (given.get(MAJOR, 1), given.get(MINOR, 0))
    depth, stencil = given.get(DEPTH_BITS, 0), given.get(STENCIL_BITS, 0)
    profile = "core" if core else "compat"
    format = given.get(FORMAT, RGBA)
    return _create(format, depth, stencil, share, profile=profile, version=version)


def _until_zero(pointer: int) -> dict[int, int]:
    """OSMesa's attributes, which end with 0."""
    found: dict[int, int] = {}
    items = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int32)) if pointer else None
    index = 0
    while items is not None and items[index]:
        found[int(items[index])] = int(items[index + 1])
        index += 2
    return found


@c_function("p:v")
def OSMesaDestroyContext(context: int) -> None:
    found = _CONTEXTS.pop(context, None)
    if found is not None:
        _CURRENT.pop(id(found.gl), None)
        found.release()


@c_function("ppuii:b")
def OSMesaMakeCurrent(context: int, buffer: int, kind: int, width: int, height: int) -> int:
    before, found = _current(), _CONTEXTS.get(context)
    if before is not None:
        before.copy_out()
    if not context:
        set_current(None)
        return 1
    if found is None or not buffer or width < 1 or height < 1 or kind not in _TYPES:
        return 0
    found.bind(buffer, kind, width, height)
    return 1


@c_function(":p")
def OSMesaGetCurrentContext() -> int:
    found = _current()
    return id(found) if found is not None else 0


@c_function("ii:v")
def OSMesaPixelStore(name: int, value: int) -> None:
    found = _current()
    if found is not None and name == ROW_LENGTH:
        found.row_length = max(value, 0)
    elif found is not None and name == Y_UP:
        found.y_up = bool(value)


@c_function("ip:v")
def OSMesaGetIntegerv(name: int, value: int) -> None:
    found = _current()
    if found is None:
        return
    width, height = found.drawable.size if found.drawable is not None else (0, 0)
    edge = found.gl.caps.max_texture_2d_size
    values = {
        WIDTH: width, HEIGHT: height, FORMAT: found.format, TYPE: found.type,
        ROW_LENGTH: found.row_length, Y_UP: int(found.y_up), MAX_WIDTH: edge, MAX_HEIGHT: edge,
    }  # fmt: skip
    ctypes.c_int32.from_address(value).value = values.get(name, 0)


_KEPT: dict[int, Any] = {}


def _describe(width: int, height: int, third: int, *pointers: int) -> None:
    for pointer, number in zip(pointers, (width, height, third), strict=True):
        if pointer:
            ctypes.c_int32.from_address(pointer).value = number


@c_function("ppppp:b")
def OSMesaGetDepthBuffer(context: int, width: int, height: int, each: int, buffer: int) -> int:
    found = _CONTEXTS.get(context)
    if found is None or found.drawable is None or not found.has_depth:
        return 0
    size = found.drawable.size
    data = found.gl.read_pixels(0, 0, *size, GL.DEPTH_COMPONENT, GL.UNSIGNED_INT)
    _KEPT[context] = np.frombuffer(data, np.uint32).copy()
    _describe(*size, 4, width, height, each)
    ctypes.c_void_p.from_address(buffer).value = _KEPT[context].ctypes.data
    return 1


@c_function("ppppp:b")
def OSMesaGetColorBuffer(context: int, width: int, height: int, format: int, buffer: int) -> int:
    found = _CONTEXTS.get(context)
    if found is None or found.drawable is None:
        return 0
    found.copy_out()
    _describe(*found.drawable.size, found.format, width, height, format)
    ctypes.c_void_p.from_address(buffer).value = found.address
    return 1


@c_function("p:p")
def OSMesaGetProcAddress(name: int) -> int:
    from gallette.egl.functions import proc_address

    text = ctypes.cast(name, ctypes.c_char_p).value or b""
    return proc_address(text.decode("ascii", "replace"))


@c_function("b:v")
def OSMesaColorClamp(enable: int) -> None:
    found = _current()
    if found is not None:
        found.gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, GL.TRUE if enable else GL.FIXED_ONLY)


@c_function("ppu:v")
def OSMesaPostprocess(context: int, filter: int, value: int) -> None:
    """Fail: post-processing filters are Mesa's own, and gallette has none."""
