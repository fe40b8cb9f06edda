"""EGL displays: a screen of a driver, its configs, and everything made on it.

Handles are addresses of the Python objects themselves, so they are unlike those of any other EGL
in the process, which glvnd needs to tell vendors apart.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any, TypeVar

from gallette import default_driver
from gallette.egl.configs import Config, Visuals, make_configs
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import check

if TYPE_CHECKING:
    from gallette.egl.contexts import EglContext
    from gallette.egl.surfaces import Surface
    from gallette.egl.windows import WindowSystem
    from gallette.pipe.interface import Screen
    from gallette.state_tracker.texturing.external_images import Source

T = TypeVar("T")


class Device:
    """The only EGL device: software."""


DEVICE = Device()


class Display:
    """A connection to a platform, and the objects created on it."""

    def __init__(self, platform: int, native: int):
        self.platform, self.native = platform, native
        self.initialized = False
        self.configs: list[Config] = []
        self.surfaces: dict[int, Surface] = {}
        self.contexts: dict[int, EglContext] = {}
        self.syncs: dict[int, Any] = {}
        self.images: dict[int, Any] = {}
        self.windows: WindowSystem | None = None
        self._screen: Screen | None = None

    @property
    def screen(self) -> Screen:
        """The driver's screen, shared by all contexts of the display."""
        if self._screen is None:
            from gallette.pipe.loader import create_screen

            self._screen = create_screen(default_driver())
        return self._screen

    def initialize(self) -> None:
        if self.initialized:
            return
        surfaces, visuals = EGL.PBUFFER_BIT, Visuals()
        if self.platform in _WINDOWED:
            from gallette.egl.windows import connect

            self.windows = connect(self.platform, self.native, self._lost)
            visuals = self.windows.visuals()
            surfaces |= self.windows.kinds
        caps = self.screen.caps
        self.configs = make_configs(caps.max_samples, caps.max_texture_2d_size, surfaces, visuals)
        self.initialized = True

    def terminate(self) -> None:
        """Destroy everything; current objects live until they are not current."""
        self.initialized = False
        for surface in list(self.surfaces.values()):
            surface.destroy()
        for context in list(self.contexts.values()):
            context.destroy()
        self.surfaces.clear()
        self.contexts.clear()
        self.syncs.clear()
        for image in self.images.values():
            image.release()
        self.images.clear()
        if self.windows is not None:
            self.windows.close()
            self.windows = None

    def _lost(self) -> None:
        """The program closes its connection; one that it opens later may have the same address."""
        _DISPLAYS.pop((self.platform, self.native), None)
        self.terminate()

    def image_source(self, handle: int) -> Source | None:
        """The source of an EGL image: resource, level, layer, format."""
        found = self.images.get(handle)
        return None if found is None else (found.resource, found.level, found.layer, found.info)

    def config(self, handle: int) -> Config:
        """The config of a handle; handles are config numbers."""
        check(0 < handle <= len(self.configs), Error.BAD_CONFIG, f"there is no config {handle:#x}")
        return self.configs[handle - 1]

    def surface(self, handle: int) -> Surface:
        check(handle in self.surfaces, Error.BAD_SURFACE, f"{handle:#x} is not a surface")
        return self.surfaces[handle]

    def context(self, handle: int) -> EglContext:
        check(handle in self.contexts, Error.BAD_CONTEXT, f"{handle:#x} is not a context")
        return self.contexts[handle]


_DISPLAYS: dict[tuple[int, int], Display] = {}
_BY_HANDLE: dict[int, Display] = {}

_PLATFORM_NAMES = {
    "surfaceless": EGL.PLATFORM_SURFACELESS_MESA,
    "device": EGL.PLATFORM_DEVICE_EXT,
    "x11": EGL.PLATFORM_X11,
    "xcb": EGL.PLATFORM_XCB_EXT,
    "wayland": EGL.PLATFORM_WAYLAND,
}
_WINDOWED = (EGL.PLATFORM_X11, EGL.PLATFORM_XCB_EXT, EGL.PLATFORM_WAYLAND)


def default_platform(native: int) -> int:
    """The platform of eglGetDisplay: `EGL_PLATFORM`, else X11 or Wayland where it is available,
    else none with windows.
    """
    named = _PLATFORM_NAMES.get(os.environ.get("EGL_PLATFORM", ""))
    if named is not None:
        return named
    if native and is_wayland(native):
        return EGL.PLATFORM_WAYLAND
    if native or os.environ.get("DISPLAY"):
        return EGL.PLATFORM_X11
    if os.environ.get("WAYLAND_DISPLAY"):
        return EGL.PLATFORM_WAYLAND
    return EGL.PLATFORM_SURFACELESS_MESA


_WAYLAND = b"wl_display\0"


def is_wayland(native: int) -> bool:
    """Whether the application's pointer is a `wl_display` rather than Xlib's `Display`.

    A Wayland object begins with a pointer to its interface, and that with its name. Xlib's may
    begin with any data, so only mapped memory is read.
    """
    address = native
    for _ in range(2):
        if not is_mapped(address, ctypes.sizeof(ctypes.c_void_p)):
            return False
        address = ctypes.c_void_p.from_address(address).value or 0
    readable = is_mapped(address, len(_WAYLAND))
    return readable and ctypes.string_at(address, len(_WAYLAND)) == _WAYLAND


def is_mapped(address: int, size: int) -> bool:
    """Whether this many bytes can be read there."""
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
            for line in maps:
                place, rights, *_ = line.split(maxsplit=2)
                first, _, end = place.partition("-")
                if int(first, 16) <= address < int(end, 16):
                    return rights[0] == "r" and address + size <= int(end, 16)
    except OSError:
        pass  # not Linux: there are no Wayland displays
    return False


def get_display(platform: int, native: int) -> int:
    """The handle of a platform's display, 0 if gallette does not know the platform."""
    if platform in (EGL.NONE, 0):
        platform = default_platform(native)
    if platform not in _PLATFORM_NAMES.values():
        return 0
    if platform == EGL.PLATFORM_DEVICE_EXT:
        check(native in (0, id(DEVICE)), Error.BAD_PARAMETER, "not a device of gallette's")
        native = 0
    if platform == EGL.PLATFORM_SURFACELESS_MESA:
        native = 0
    found = _DISPLAYS.get((platform, native))
    if found is None:
        found = _DISPLAYS[platform, native] = Display(platform, native)
        _BY_HANDLE[id(found)] = found
    return id(found)


def display_of(handle: int, initialized: bool = True) -> Display:
    """The display of a handle, which must be initialised for most calls."""
    found = _BY_HANDLE.get(handle)
    if found is None:
        check(False, Error.BAD_DISPLAY, f"{handle:#x} is not a display")
    assert found is not None
    if initialized:
        check(found.initialized, Error.NOT_INITIALIZED, "the display is not initialised")
    return found


def attributes(pointer: int, wide: bool = False) -> dict[int, int]:
    """A list of attributes and values that ends with EGL_NONE."""
    import ctypes

    found: dict[int, int] = {}
    if not pointer:
        return found
    kind: Any = ctypes.c_ssize_t if wide else ctypes.c_int32
    items = ctypes.cast(pointer, ctypes.POINTER(kind))
    index = 0
    while items[index] != EGL.NONE:
        found[int(items[index])] = int(items[index + 1])
        index += 2
    return found
