"""The part of EGL, through ctypes, needed to make an OpenGL context without a window.

Mesa reads `GALLIUM_DRIVER` once per EGL *display*, when it is initialised. Two displays can differ
in platform, so two different Mesa drivers can coexist in one process: the first on the surfaceless
platform, the second on the device platform. A third driver requires that one of them is unused.
"""

from __future__ import annotations

import ctypes
import functools
import os
from dataclasses import dataclass, field
from typing import Any

from gallette.compiler.errors import GalletteError

SURFACELESS_MESA, PLATFORM_DEVICE = 0x31DD, 0x313F
OPENGL_API, OPENGL_ES_API = 0x30A2, 0x30A0
SURFACE_TYPE, PBUFFER_BIT, RENDERABLE_TYPE, NONE = 0x3033, 0x0001, 0x3040, 0x3038
RED, GREEN, BLUE, ALPHA, DEPTH, STENCIL, SAMPLES = (
    0x3024,
    0x3023,
    0x3022,
    0x3021,
    0x3025,
    0x3026,
    0x3031,
)
MAJOR, MINOR, PROFILE_MASK, DEBUG = 0x3098, 0x30FB, 0x30FD, 0x31B0
WIDTH, HEIGHT = 0x3057, 0x3056
OPENGL_BIT, OPENGL_ES_BIT, OPENGL_ES2_BIT = 0x0008, 0x0001, 0x0004


@functools.cache
def egl() -> Any:
    """libEGL with the types of the functions used here; a clear error if it is not installed."""
    try:
        library = ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        raise GalletteError(
            f"no native OpenGL: libEGL.so.1 cannot be loaded ({error}); "
            "on Debian: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri"
        ) from None
    if hasattr(library, "gallette_table"):
        raise GalletteError("no native OpenGL: libEGL.so.1 is gallette's own in this process")
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    ints = ctypes.POINTER(ctypes.c_int)
    prototypes: dict[str, tuple[Any, list[Any]]] = {
        "eglGetProcAddress": (pointer, [ctypes.c_char_p]),
        "eglInitialize": (integer, [pointer, ints, ints]),
        "eglTerminate": (integer, [pointer]),
        "eglBindAPI": (integer, [integer]),
        "eglChooseConfig": (integer, [pointer, ints, ctypes.POINTER(pointer), integer, ints]),
        "eglGetConfigAttrib": (integer, [pointer, pointer, integer, ints]),
        "eglCreateContext": (pointer, [pointer, pointer, pointer, ints]),
        "eglDestroyContext": (integer, [pointer, pointer]),
        "eglCreatePbufferSurface": (pointer, [pointer, pointer, ints]),
        "eglDestroySurface": (integer, [pointer, pointer]),
        "eglMakeCurrent": (integer, [pointer, pointer, pointer, pointer]),
        "eglGetCurrentContext": (pointer, []),
        "eglGetError": (integer, []),
        "eglQueryString": (ctypes.c_char_p, [pointer, integer]),
    }
    for name, (restype, argtypes) in prototypes.items():
        entry = getattr(library, name)
        entry.restype, entry.argtypes = restype, argtypes
    return library


def _extension(name: str, restype: Any, *argtypes: Any) -> Any:
    address = egl().eglGetProcAddress(name.encode())
    if not address:
        raise GalletteError(f"this libEGL has no {name}")
    return ctypes.CFUNCTYPE(restype, *argtypes)(address)


def _attributes(pairs: dict[int, int]) -> Any:
    flat = [v for pair in pairs.items() for v in pair] + [NONE]
    return (ctypes.c_int * len(flat))(*flat)


def _device() -> int | None:
    """The software device if there is one, otherwise the first device."""
    pointer = ctypes.c_void_p
    count = ctypes.c_int()
    devices = (pointer * 16)()
    query = _extension("eglQueryDevicesEXT", ctypes.c_uint, ctypes.c_int, pointer, pointer)
    query(16, devices, ctypes.addressof(count))
    text = _extension("eglQueryDeviceStringEXT", ctypes.c_char_p, pointer, ctypes.c_int)
    found: list[int] = [d for d in devices[: count.value] if d]
    for device in found:
        if b"EGL_MESA_device_software" in (text(device, 0x3055) or b""):
            return device
    return found[0] if found else None


@dataclass
class Display:
    """One EGL display and the Mesa driver it was initialised with."""

    handle: int
    driver: str  # "" is the machine's default
    users: int = 0


@dataclass
class _Displays:
    by_platform: dict[int, Display] = field(default_factory=dict)


_DISPLAYS = _Displays()


def _initialise(platform: int, driver: str) -> Display:
    native = _device() if platform == PLATFORM_DEVICE else None
    get = _extension(
        "eglGetPlatformDisplayEXT",
        ctypes.c_void_p,
        ctypes.c_uint,
        ctypes.c_void_p,
        ctypes.c_void_p,
    )
    handle = get(platform, native, None)
    # Mesa's loader chooses zink; every other software driver is chosen by what the loader loads.
    chooses = "MESA_LOADER_DRIVER_OVERRIDE" if driver == "zink" else "GALLIUM_DRIVER"
    saved = {name: os.environ.get(name) for name in (chooses, "LIBGL_ALWAYS_SOFTWARE")}
    if driver:
        os.environ.update({chooses: driver, "LIBGL_ALWAYS_SOFTWARE": "1"})
    try:
        major, minor = ctypes.c_int(), ctypes.c_int()
        ok = handle and egl().eglInitialize(handle, ctypes.byref(major), ctypes.byref(minor))
    finally:
        for key, value in saved.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value
    if not ok:
        raise GalletteError("no native OpenGL: EGL has no display without a window system here")
    return Display(handle, driver)


def open_display(driver: str = "") -> Display:
    """A display for a Mesa driver (softpipe, llvmpipe, zink), shared by all its contexts."""
    displays = _DISPLAYS.by_platform
    for display in displays.values():
        if display.driver == driver:
            display.users += 1
            return display
    for platform in (SURFACELESS_MESA, PLATFORM_DEVICE):
        current = displays.get(platform)
        if current is not None and current.users:
            continue
        if current is not None:
            egl().eglTerminate(current.handle)
            del displays[platform]
        displays[platform] = _initialise(platform, driver)
        displays[platform].users = 1
        return displays[platform]
    names = " and ".join(d.driver or "the default driver" for d in displays.values())
    raise GalletteError(f"at most two native drivers per process; {names} are in use")


class EglSurface:
    """An off-screen framebuffer, which may stand for a window of a replayed program."""

    def __init__(self, display: Display, config: Any, size: tuple[int, int]):
        self._display, self.size = display, size
        box = _attributes({WIDTH: size[0], HEIGHT: size[1]})
        self.handle: int | None = egl().eglCreatePbufferSurface(display.handle, config, box)
        if not self.handle:
            raise GalletteError(f"EGL makes no off-screen surface of {size[0]}x{size[1]}")

    def release(self) -> None:
        egl().eglDestroySurface(self._display.handle, self.handle)
        self.handle = None


class EglContext:
    """A GL context on a display, with an off-screen default framebuffer if a size is given."""

    def __init__(
        self,
        driver: str,
        profile: str,
        version: tuple[int, int],
        debug: bool = False,
        size: tuple[int, int] | None = None,
        samples: int = 0,
        share: EglContext | None = None,
        windows: bool = False,
    ):
        self.display = open_display(driver)
        self.handle: int | None = None
        self._surface: EglSurface | None = None  # its own
        self.bound: tuple[EglSurface | None, EglSurface | None] = (None, None)
        self.api = OPENGL_ES_API if profile == "es" else OPENGL_API
        es_bit = OPENGL_ES2_BIT if version >= (2, 0) else OPENGL_ES_BIT
        self._renderable = es_bit if profile == "es" else OPENGL_BIT
        try:
            self._create(profile, version, debug, size, samples, share, windows)
        except GalletteError:
            self.display.users -= 1
            raise

    def _create(
        self,
        profile: str,
        version: tuple[int, int],
        debug: bool,
        size: tuple[int, int] | None,
        samples: int,
        share: EglContext | None,
        windows: bool,
    ) -> None:
        lib, display = egl(), self.display.handle
        lib.eglBindAPI(self.api)
        attributes = {MAJOR: version[0], MINOR: version[1]}
        if profile != "es" and version >= (3, 2):
            attributes[PROFILE_MASK] = 1 if profile == "core" else 2
        if debug:
            attributes[DEBUG] = 1
        other = None if share is None else share.handle
        # Windows of several configurations may be bound to a context that has none itself
        # (EGL_KHR_no_config_context).
        config = None if windows else self._config(samples)
        self.handle = lib.eglCreateContext(display, config, other, _attributes(attributes))
        if not self.handle:
            name = f"OpenGL{' ES' if profile == 'es' else ''} {version[0]}.{version[1]} {profile}"
            raise GalletteError(f"the native driver makes no {name} context")
        if size is not None:
            self._surface = self.surface(size, samples)
            self.bound = (self._surface, self._surface)

    def surface(
        self, size: tuple[int, int], samples: int = 0, alpha: bool = True, depth: bool = True
    ) -> EglSurface:
        """A framebuffer that this context can draw to; the caller releases it. It has more than was
        asked for only if there is no other configuration.
        """
        return EglSurface(self.display, self._config(samples, alpha, depth), size)

    def _config(self, samples: int, alpha: bool = True, depth: bool = True) -> ctypes.c_void_p:
        """A configuration with RGBA8, depth and stencil, or without some of them."""
        sizes = {RED: 8, GREEN: 8, BLUE: 8, ALPHA: 8 * alpha, DEPTH: 24 * depth, STENCIL: 8 * depth}
        wanted = {SURFACE_TYPE: PBUFFER_BIT, RENDERABLE_TYPE: self._renderable, **sizes}
        if samples:
            wanted[SAMPLES] = samples
        configs, count = (ctypes.c_void_p * 256)(), ctypes.c_int()
        egl().eglChooseConfig(
            self.display.handle, _attributes(wanted), configs, len(configs), ctypes.byref(count)
        )
        value = ctypes.c_int()
        for config in map(ctypes.c_void_p, configs[: count.value]):
            for name, size in sizes.items():  # more may come first than was asked for
                egl().eglGetConfigAttrib(self.display.handle, config, name, ctypes.byref(value))
                if value.value != size:
                    break
            else:
                return config
        if count.value:
            return ctypes.c_void_p(configs[0])
        raise GalletteError("no native OpenGL: EGL offers no RGBA8 + depth + stencil config")

    def make_current(self) -> None:
        egl().eglBindAPI(self.api)
        draw, read = (None if surface is None else surface.handle for surface in self.bound)
        if not egl().eglMakeCurrent(self.display.handle, draw, read, self.handle):
            raise GalletteError(f"eglMakeCurrent failed with 0x{egl().eglGetError():04X}")

    @property
    def is_current(self) -> bool:
        egl().eglBindAPI(self.api)
        return bool(egl().eglGetCurrentContext() == self.handle)

    def destroy(self) -> None:
        if self.handle is None:
            return
        lib, display = egl(), self.display.handle
        if self.is_current:
            lib.eglMakeCurrent(display, None, None, None)
        lib.eglDestroyContext(display, self.handle)
        if self._surface is not None:
            self._surface.release()
        self.handle, self.bound = None, (None, None)
        self.display.users -= 1

    def get_proc_address(self, name: str) -> int:
        return egl().eglGetProcAddress(name.encode()) or 0
