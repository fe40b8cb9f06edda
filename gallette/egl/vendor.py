"""glvnd's EGL vendor: libEGL calls `__egl_Main` and gets a table of functions to fill in.

The layout of both tables is the vendor ABI of libglvnd (version 0.x): libEGL passes its callbacks,
and gallette returns its functions. Display functions that libEGL does not know need a dispatch
function: one that finds the vendor of its first argument, which is a display, and calls that
vendor's.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from gallette.egl.boot import stop_calling
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError, set_error
from gallette.egl.functions import PLATFORM_EXTENSIONS, proc_address
from gallette.egl.registry import c_address, c_function, c_pointer, prototype
from gallette.state_tracker.entry_points.c_strings import c_string

# The imports, in the order of the table: name, signature.
_IMPORTS = (
    ("get_platform_display", "upp:p"),
    ("get_supports_api", "u:u"),
    ("get_vendor_string", "i:p"),
    ("get_proc_address", "p:p"),
    ("get_dispatch_address", "p:p"),
    ("set_dispatch_index", "pi:v"),
)
_OPTIONAL = 5  # further entries that stay empty

# Extension functions of displays, which libEGL cannot dispatch by itself.
_DISPATCHED = {
    "eglGetDisplayDriverName": "p:p", "eglCreateSyncKHR": "pup:p", "eglDestroySyncKHR": "pp:u",
    "eglClientWaitSyncKHR": "ppit:i", "eglWaitSyncKHR": "ppi:i", "eglSignalSyncKHR": "ppu:u",
    "eglGetSyncAttribKHR": "ppip:u", "eglCreateImageKHR": "ppupp:p", "eglDestroyImageKHR": "pp:u",
    "eglCreateSync64KHR": "pup:p", "eglQueryDeviceAttribEXT": "pip:u",
    "eglQueryDeviceStringEXT": "pi:p",
}  # fmt: skip
_OF_DEVICES = frozenset(("eglQueryDeviceAttribEXT", "eglQueryDeviceStringEXT"))
_KEPT: list[Any] = []
_DISPATCHERS: dict[str, Any] = {}


class _Glvnd:
    """The callbacks that libEGL passed, and our name in it."""

    def __init__(self) -> None:
        self.vendor = 0
        self.indices: dict[str, int] = {}

    def connect(self, exports: int, vendor: int) -> None:
        table = (ctypes.c_void_p * 11).from_address(exports)
        self.vendor = vendor
        self.thread_init = prototype(":v")(table[0])
        self.fetch = prototype("pi:p")(table[6])
        self.set_error = prototype("i:v")(table[7])
        self.set_vendor = prototype("p:u")(table[8])
        self.vendor_of = prototype("p:p")(table[9])
        self.vendor_of_device = prototype("p:p")(table[10])


_GLVND = _Glvnd()


@c_function("uppp:u")
def __egl_Main(version: int, exports: int, vendor: int, imports: int) -> int:
    if version >> 16:
        return 0
    table = (ctypes.c_void_p * (len(_IMPORTS) + _OPTIONAL)).from_address(imports)
    for index, (name, signature) in enumerate(_IMPORTS):
        pointer = c_pointer(signature, _safe(globals()[f"_{name}"], signature))
        _KEPT.append(pointer)
        table[index] = ctypes.cast(pointer, ctypes.c_void_p).value
    stop_calling(table, len(_IMPORTS))
    _GLVND.connect(exports, vendor)
    return 1


def _safe(function: Callable[..., Any], signature: str) -> Callable[..., Any]:
    """Turn errors of a callback into EGL errors."""
    nothing = None if signature.endswith(":v") else 0

    def call(*args: Any) -> Any:
        try:
            return function(*(0 if a is None else a for a in args)) or nothing
        except EglError as error:
            set_error(error.code)
        except BaseException:
            set_error(Error.BAD_ALLOC)
        return nothing

    return call


def _get_platform_display(platform: int, native: int, attribs: int) -> int:
    from gallette.egl.display import get_display

    return get_display(platform, native)


def _get_supports_api(api: int) -> int:
    return int(api in (EGL.OPENGL_API, EGL.OPENGL_ES_API))


def _get_vendor_string(name: int) -> int:
    return c_string(PLATFORM_EXTENSIONS) if name == 0 else 0


def _name(pointer: int) -> str:
    return (ctypes.cast(pointer, ctypes.c_char_p).value or b"").decode("ascii", "replace")


def _get_proc_address(name: int) -> int:
    return proc_address(_name(name))


def _get_dispatch_address(name: int) -> int:
    """A function that finds the vendor of its display and calls that vendor's function."""
    text = _name(name)
    if text not in _DISPATCHED:
        return 0
    if text not in _DISPATCHERS:
        _DISPATCHERS[text] = c_pointer(_DISPATCHED[text], _dispatcher(text))
    return ctypes.cast(_DISPATCHERS[text], ctypes.c_void_p).value or 0


def _dispatcher(name: str) -> Callable[..., Any]:
    own = prototype(_DISPATCHED[name])(c_address(name))

    def call(display: int | None, *args: Any) -> Any:
        _GLVND.thread_init()
        devices = name in _OF_DEVICES
        vendor = (_GLVND.vendor_of_device if devices else _GLVND.vendor_of)(display)
        if not vendor:
            _GLVND.set_error(int(Error.BAD_DEVICE if devices else Error.BAD_DISPLAY))
            return 0
        _GLVND.set_vendor(vendor)
        if vendor == _GLVND.vendor:
            return own(display, *args) or 0
        found = _GLVND.fetch(vendor, _GLVND.indices[name])
        return (prototype(_DISPATCHED[name])(found)(display, *args) or 0) if found else 0

    return call


def _set_dispatch_index(name: int, index: int) -> None:
    _GLVND.indices[_name(name)] = index
