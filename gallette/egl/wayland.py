"""Windows of a Wayland compositor: frames are in memory shared with it (`wl_shm`).

Requests go through libwayland-client, on the program's own connection, so that they are in order
with its requests for the same surface. Events of gallette's objects have a queue of their own,
which the program does not dispatch.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.egl.configs import Visuals
from gallette.egl.constants import EGL, Error
from gallette.egl.display import is_mapped
from gallette.egl.errors import EglError

Pixels = npt.NDArray[np.uint8]

# Requests by number, as the protocol lists them.
_GET_REGISTRY = 1  # of wl_display
_BIND = 0  # of wl_registry
_CREATE_POOL = 0  # of wl_shm
_CREATE_BUFFER, _DESTROY_POOL = 0, 1  # of wl_shm_pool
_DESTROY_BUFFER = 0  # of wl_buffer
_ATTACH, _DAMAGE, _COMMIT = 1, 2, 6  # of wl_surface
_ARGB = 0  # a format of wl_shm: bytes blue, green, red, alpha; colours are multiplied by alpha
_MOST_BUFFERS = 3
"""The compositor shows one and may hold the next; the third can be written."""
_EVERYTHING = (1 << 31) - 1

_P, _U, _I = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int
_GLOBAL = ctypes.CFUNCTYPE(None, _P, _P, _U, ctypes.c_char_p, _U)
_GONE = ctypes.CFUNCTYPE(None, _P, _P, _U)
_RELEASED = ctypes.CFUNCTYPE(None, _P, _P)
_DESTROYED = ctypes.CFUNCTYPE(None, _P)

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "wl_display_connect": (_P, ctypes.c_char_p),
    "wl_display_create_queue": (_P, _P),
    "wl_display_disconnect": (None, _P),
    "wl_display_dispatch_queue": (_I, _P, _P),
    "wl_display_flush": (_I, _P),
    "wl_display_roundtrip_queue": (_I, _P, _P),
    "wl_event_queue_destroy": (None, _P),
    "wl_proxy_add_listener": (_I, _P, _P, _P),
    "wl_proxy_create_wrapper": (_P, _P),
    "wl_proxy_destroy": (None, _P),
    "wl_proxy_marshal_array": (None, _P, _U, _P),
    "wl_proxy_marshal_array_constructor_versioned": (_P, _P, _U, _P, _P, _U),
    "wl_proxy_set_queue": (None, _P, _P),
    "wl_proxy_wrapper_destroy": (None, _P),
}


class _NativeWindow(ctypes.Structure):
    """`struct wl_egl_window` of libwayland-egl, which a program passes as its window."""

    _fields_ = [
        ("version", ctypes.c_ssize_t),
        ("width", _I),
        ("height", _I),
        ("dx", _I),
        ("dy", _I),
        ("attached_width", _I),
        ("attached_height", _I),
        ("driver_private", _P),
        ("resize_callback", _P),
        ("destroy_callback", _P),
        ("surface", _P),
    ]


_NEWEST_VERSION = 99
"""Before it had a version, the structure began with other numbers and ended with a pointer."""


class _Client:
    """libwayland-client on one connection."""

    def __init__(self, native: int):
        try:
            self._library = ctypes.CDLL("libwayland-client.so.0")
        except OSError as error:
            raise EglError(Error.NOT_INITIALIZED, f"no Wayland: {error}") from error
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name.removeprefix("wl_"), function)
        self.own = not native
        self.display: int = native or self.display_connect(None) or 0
        if not self.display:
            raise EglError(Error.NOT_INITIALIZED, "no Wayland compositor")
        self.queue = self.display_create_queue(self.display)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(name)  # the functions of the table are set above

    def request(self, proxy: int, number: int, *arguments: int) -> None:
        self.proxy_marshal_array(proxy, number, _packed(arguments))

    def new(
        self, proxy: int, number: int, interface: str, *arguments: int, version: int = 1
    ) -> int:
        """A request that makes an object; 0 stands for it among the arguments."""
        kind = ctypes.addressof(_P.in_dll(self._library, f"wl_{interface}_interface"))
        packed = _packed(arguments)
        made: int | None = self.proxy_marshal_array_constructor_versioned(
            proxy, number, packed, kind, version
        )
        if not made:
            raise EglError(Error.BAD_ALLOC, f"no {interface} of Wayland")
        return made

    def interface_name(self, interface: str) -> int:
        """The address of an interface's name, with which its structure begins."""
        return _P.in_dll(self._library, f"wl_{interface}_interface").value or 0

    def listen(self, proxy: int, *functions: Any) -> Any:
        """Call these at the events of a proxy; what is returned must live as long as the proxy."""
        table = (_P * len(functions))(*(ctypes.cast(f, _P).value for f in functions))
        self.proxy_add_listener(proxy, ctypes.addressof(table), None)
        return table, functions

    def check(self, answer: int) -> None:
        if answer < 0:
            raise EglError(Error.BAD_NATIVE_WINDOW, "the compositor has closed the connection")

    def close(self) -> None:
        self.event_queue_destroy(self.queue)
        if self.own:
            self.display_disconnect(self.display)


def _packed(arguments: tuple[int, ...]) -> Any:
    """Arguments as libwayland's array of unions; all are integers or addresses."""
    return (ctypes.c_uint64 * max(1, len(arguments)))(*(a & (1 << 64) - 1 for a in arguments))


class Wayland:
    """A connection to a compositor."""

    kinds = EGL.WINDOW_BIT
    by_address = False

    def __init__(self, native: int):
        self.client = client = _Client(native)
        self.shm = 0
        wrapper = client.proxy_create_wrapper(client.display)
        client.proxy_set_queue(wrapper, client.queue)
        self._registry = client.new(wrapper, _GET_REGISTRY, "registry", 0)
        client.proxy_wrapper_destroy(wrapper)
        self._kept = client.listen(
            self._registry, _GLOBAL(self._found), _GONE(lambda data, registry, name: None)
        )
        client.check(client.display_roundtrip_queue(client.display, client.queue))
        if not self.shm:
            raise EglError(Error.NOT_INITIALIZED, "the compositor has no wl_shm")

    def _found(self, data: int, registry: int, name: int, interface: bytes, version: int) -> None:
        if interface == b"wl_shm" and not self.shm:
            text = self.client.interface_name("shm")
            self.shm = self.client.new(registry, _BIND, "shm", name, text, 1, 0)

    def visuals(self) -> Visuals:
        return {(8, 8, 8, 8): ((0, EGL.NONE),), (8, 8, 8, 0): ((0, EGL.NONE),)}

    def open(self, native: int) -> WaylandWindow | None:
        """A program's `wl_egl_window`; None if this cannot be one."""
        if not is_mapped(native, ctypes.sizeof(_NativeWindow)):
            return None
        window = _NativeWindow.from_address(native)
        if not 0 < window.version <= _NEWEST_VERSION or not window.surface:
            return None
        return WaylandWindow(self, native, window)

    def close(self) -> None:
        for proxy in (self.shm, self._registry):
            self.client.proxy_destroy(proxy)
        self.client.display_flush(self.client.display)
        self.client.close()


class _Buffer:
    """A picture in shared memory, and whether the compositor may read it now."""

    def __init__(self, wayland: Wayland, size: tuple[int, int]):
        self._client, self.size, self.busy = wayland.client, size, False
        width, height = size
        count = width * height * 4
        file = os.memfd_create("gallette", os.MFD_CLOEXEC)
        try:
            os.ftruncate(file, count)
            self._memory = mmap.mmap(file, count)
            pool = self._client.new(wayland.shm, _CREATE_POOL, "shm_pool", 0, file, count)
            self.proxy = self._client.new(
                pool, _CREATE_BUFFER, "buffer", 0, 0, width, height, width * 4, _ARGB
            )
            self._client.request(pool, _DESTROY_POOL)
            self._client.proxy_destroy(pool)
        finally:
            os.close(file)  # libwayland has its own copy of a file that is still to be sent
        self._kept = self._client.listen(self.proxy, _RELEASED(self._released))

    def _released(self, data: int, buffer: int) -> None:
        self.busy = False

    def write(self, pixels: Pixels) -> None:
        width, height = self.size
        out = np.frombuffer(self._memory, np.uint8).reshape(height, width, 4)
        for to, channel in enumerate((2, 1, 0, 3)):
            out[..., to] = pixels[..., channel]

    def destroy(self) -> None:
        self._client.request(self.proxy, _DESTROY_BUFFER)
        self._client.proxy_destroy(self.proxy)


class WaylandWindow:
    """A program's `wl_egl_window`, as long as the program does not destroy it."""

    has_alpha = True

    def __init__(self, wayland: Wayland, native: int, window: _NativeWindow):
        self.native = native
        self._wayland, self._window = wayland, window
        self._buffers: list[_Buffer] = []
        self._destroyed = _DESTROYED(self._forget)
        window.destroy_callback = ctypes.cast(self._destroyed, _P).value

    def _forget(self, private: int) -> None:
        self.native = 0

    def size(self) -> tuple[int, int]:
        if not self.native:
            raise EglError(Error.BAD_NATIVE_WINDOW, "the wl_egl_window is destroyed")
        return self._window.width, self._window.height

    def present(self, pixels: Pixels) -> None:
        """Show RGBA bytes, top row first."""
        if not self.native:
            return
        client, window = self._wayland.client, self._window
        height, width = pixels.shape[:2]
        buffer = self._unused((width, height))
        buffer.write(pixels)
        buffer.busy = True
        client.request(window.surface, _ATTACH, buffer.proxy, window.dx, window.dy)
        client.request(window.surface, _DAMAGE, 0, 0, _EVERYTHING, _EVERYTHING)
        client.request(window.surface, _COMMIT)
        window.dx = window.dy = 0
        window.attached_width, window.attached_height = width, height
        client.display_flush(client.display)

    def _unused(self, size: tuple[int, int]) -> _Buffer:
        """A buffer of this size that the compositor does not read; if it reads all, wait."""
        client = self._wayland.client
        while True:
            for buffer in [b for b in self._buffers if not b.busy]:
                if buffer.size == size:
                    return buffer
                self._buffers.remove(buffer)
                buffer.destroy()
            if len(self._buffers) < _MOST_BUFFERS:
                self._buffers.append(_Buffer(self._wayland, size))
            else:
                client.check(client.display_dispatch_queue(client.display, client.queue))

    def close(self) -> None:
        if self.native:
            self._window.destroy_callback = None
        for buffer in self._buffers:
            buffer.destroy()
        self._buffers.clear()
        self._wayland.client.display_flush(self._wayland.client.display)
