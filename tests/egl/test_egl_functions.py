"""EGL's functions called in this process: answers, errors and state.

The rules are those of EGL 1.5 and of the extensions' texts, written down again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.egl import functions, sync
from gallette.egl.constants import EGL, Error
from gallette.egl.contexts import EglContext
from gallette.egl.display import DEVICE, Display, default_platform, display_of, get_display
from gallette.egl.errors import EglError, last_error
from gallette.egl.registry import c_address, c_function, c_names, prototype
from gallette.state_tracker.entry_points.enums import GL

Call = Any


def listed(*values: int, wide: bool = False) -> Any:
    """A list of attributes as C has it; it must be kept while it is used."""
    kind: Any = ctypes.c_ssize_t if wide else ctypes.c_int32
    return (kind * (len(values) + 1))(*values, EGL.NONE)


def refused(error: int, function: Call, *args: Any) -> None:
    with pytest.raises(EglError) as told:
        function(*args)
    assert told.value.code == error


class Egl:
    """A display of its own, and the calls with it."""

    def __init__(self) -> None:
        self.handle = functions.eglGetPlatformDisplay(EGL.PLATFORM_DEVICE_EXT, id(DEVICE), 0)
        assert functions.eglInitialize(self.handle, 0, 0) == 1
        self.display: Display = display_of(self.handle)

    def config(self, *wanted: int) -> int:
        room, count = (ctypes.c_void_p * 1)(), ctypes.c_int32()
        given = listed(EGL.SURFACE_TYPE, EGL.PBUFFER_BIT, *wanted)
        functions.eglChooseConfig(
            self.handle, ctypes.addressof(given), ctypes.addressof(room), 1,
            ctypes.addressof(count),
        )  # fmt: skip
        assert count.value == 1
        return int(room[0])

    def pbuffer(self, config: int, *given: int) -> int:
        kept = listed(EGL.WIDTH, 4, EGL.HEIGHT, 3, *given)
        return functions.eglCreatePbufferSurface(self.handle, config, ctypes.addressof(kept))

    def context(self, *given: int, api: int = EGL.OPENGL_API, share: int = 0) -> int:
        functions.eglBindAPI(api)
        kept = listed(*given)
        return functions.eglCreateContext(self.handle, 0, share, ctypes.addressof(kept))

    def gl(self, context: int) -> Any:
        return self.display.context(context).gl

    def queried(self, surface: int, attribute: int) -> int:
        found = ctypes.c_int32(-77)
        assert functions.eglQuerySurface(self.handle, surface, attribute, ctypes.addressof(found))
        return found.value


@pytest.fixture
def egl() -> Iterator[Egl]:
    made = Egl()
    yield made
    functions.eglReleaseThread()
    functions.eglTerminate(made.handle)


# -- displays and strings --------------------------------------------------------------------------


def text(pointer: int) -> str:
    return (ctypes.cast(pointer, ctypes.c_char_p).value or b"").decode()


def test_displays_of_platforms(monkeypatch: pytest.MonkeyPatch) -> None:
    surfaceless = get_display(EGL.PLATFORM_SURFACELESS_MESA, 0)
    assert get_display(EGL.PLATFORM_SURFACELESS_MESA, 99) == surfaceless
    device = get_display(EGL.PLATFORM_DEVICE_EXT, 0)
    assert get_display(EGL.PLATFORM_DEVICE_EXT, id(DEVICE)) == device != surfaceless
    refused(Error.BAD_PARAMETER, get_display, EGL.PLATFORM_DEVICE_EXT, 99)
    assert get_display(0x1234, 0) == 0
    refused(Error.BAD_PARAMETER, functions.eglGetPlatformDisplay, 0x1234, 0, 0)
    refused(Error.BAD_PARAMETER, functions.eglGetPlatformDisplayEXT, 0x1234, 0, 0)
    monkeypatch.setenv("EGL_PLATFORM", "device")
    assert functions.eglGetDisplay(0) == device
    assert get_display(EGL.NONE, 0) == get_display(0, 0) == device
    named = {"surfaceless": EGL.PLATFORM_SURFACELESS_MESA, "x11": EGL.PLATFORM_X11,
             "xcb": EGL.PLATFORM_XCB_EXT, "device": EGL.PLATFORM_DEVICE_EXT,
             "wayland": EGL.PLATFORM_WAYLAND}  # fmt: skip
    for name, platform in named.items():
        monkeypatch.setenv("EGL_PLATFORM", name)
        assert default_platform(1) == platform
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    for name in ("", "gbm"):
        monkeypatch.setenv("EGL_PLATFORM", name)
        monkeypatch.delenv("DISPLAY", raising=False)
        assert default_platform(0) == EGL.PLATFORM_SURFACELESS_MESA
        assert default_platform(1) == EGL.PLATFORM_X11
        monkeypatch.setenv("DISPLAY", ":0")
        assert default_platform(0) == EGL.PLATFORM_X11


def test_initialising_returns_the_version(egl: Egl) -> None:
    major, minor = ctypes.c_int32(), ctypes.c_int32()
    functions.eglInitialize(egl.handle, ctypes.addressof(major), ctypes.addressof(minor))
    assert (major.value, minor.value) == (1, 5)
    functions.eglTerminate(egl.handle)
    refused(Error.NOT_INITIALIZED, functions.eglQueryString, egl.handle, EGL.VENDOR)
    refused(Error.BAD_DISPLAY, functions.eglInitialize, 77, 0, 0)
    refused(Error.BAD_DISPLAY, functions.eglTerminate, 77)


def test_strings(egl: Egl) -> None:
    ask = functions.eglQueryString
    assert text(ask(egl.handle, EGL.VENDOR)) == "gallette"
    assert text(ask(egl.handle, EGL.VERSION)) == "1.5 gallette"
    assert text(ask(egl.handle, EGL.CLIENT_APIS)) == "OpenGL OpenGL_ES"
    assert "EGL_KHR_fence_sync" in text(ask(egl.handle, EGL.EXTENSIONS)).split()
    refused(Error.BAD_PARAMETER, ask, egl.handle, EGL.WIDTH)
    assert text(ask(0, EGL.VERSION)) == "1.5 gallette"
    own = text(ask(0, EGL.EXTENSIONS)).split()
    assert {"EGL_EXT_platform_base", "EGL_MESA_platform_surfaceless"} <= set(own)
    refused(Error.BAD_DISPLAY, ask, 0, EGL.VENDOR)
    refused(Error.BAD_DISPLAY, ask, 77, EGL.VENDOR)
    assert ask(0, EGL.VERSION) == ask(egl.handle, EGL.VERSION)  # equal texts are kept once
    assert text(functions.eglGetDisplayDriverName(egl.handle)) == "gallette"


def test_there_is_one_device(egl: Egl) -> None:
    room, count = (ctypes.c_void_p * 2)(), ctypes.c_int32()
    where, number = ctypes.addressof(room), ctypes.addressof(count)
    assert functions.eglQueryDevicesEXT(2, where, number) == 1
    assert (room[0], room[1], count.value) == (id(DEVICE), None, 1)
    count.value = 9
    assert functions.eglQueryDevicesEXT(0, 0, number) == 1
    assert count.value == 1
    refused(Error.BAD_PARAMETER, functions.eglQueryDevicesEXT, 0, where, number)
    refused(Error.BAD_PARAMETER, functions.eglQueryDevicesEXT, 1, where, 0)
    ask = functions.eglQueryDeviceStringEXT
    assert text(ask(id(DEVICE), EGL.VENDOR)) == "gallette"
    assert text(ask(id(DEVICE), EGL.RENDERER_EXT)) == "gallette software device"
    assert "EGL_MESA_device_software" in text(ask(id(DEVICE), EGL.EXTENSIONS)).split()
    refused(Error.BAD_PARAMETER, ask, id(DEVICE), EGL.WIDTH)
    refused(Error.BAD_DEVICE, ask, 77, EGL.VENDOR)
    refused(Error.BAD_ATTRIBUTE, functions.eglQueryDeviceAttribEXT, id(DEVICE), EGL.WIDTH, where)
    wide = ctypes.c_ssize_t()
    ask_display = functions.eglQueryDisplayAttribEXT
    assert ask_display(egl.handle, EGL.DEVICE_EXT, ctypes.addressof(wide)) == 1
    assert wide.value == id(DEVICE)
    refused(Error.BAD_ATTRIBUTE, ask_display, egl.handle, EGL.WIDTH, ctypes.addressof(wide))


# -- configs and surfaces --------------------------------------------------------------------------


def test_configs_are_given_as_far_as_there_is_room(egl: Egl) -> None:
    every = len(egl.display.configs)
    room, count = (ctypes.c_void_p * (every + 1))(), ctypes.c_int32()
    where, number = ctypes.addressof(room), ctypes.addressof(count)
    assert functions.eglGetConfigs(egl.handle, 0, 0, number) == 1
    assert count.value == every
    for size in (every + 1, 3, 0, -1):
        ctypes.memset(where, 0, ctypes.sizeof(room))
        functions.eglGetConfigs(egl.handle, where, size, number)
        given = max(min(size, every), 0)
        assert count.value == given
        assert list(room) == [*range(1, given + 1), *[None] * (every + 1 - given)]
    refused(Error.BAD_PARAMETER, functions.eglGetConfigs, egl.handle, where, 1, 0)
    value = ctypes.c_int32()
    functions.eglGetConfigAttrib(egl.handle, 3, EGL.CONFIG_ID, ctypes.addressof(value))
    assert value.value == 3
    ask = functions.eglGetConfigAttrib
    refused(Error.BAD_ATTRIBUTE, ask, egl.handle, 3, 0x1234, ctypes.addressof(value))
    for bad in (0, every + 1):
        refused(Error.BAD_CONFIG, ask, egl.handle, bad, EGL.CONFIG_ID, ctypes.addressof(value))
    assert ask(egl.handle, every, EGL.CONFIG_ID, ctypes.addressof(value)) == 1


def test_what_a_surface_says_of_itself(egl: Egl) -> None:
    config = egl.config(EGL.RED_SIZE, 8, EGL.ALPHA_SIZE, 8)
    plain = egl.pbuffer(config)
    wanted = {
        EGL.WIDTH: 4, EGL.HEIGHT: 3, EGL.CONFIG_ID: config, EGL.RENDER_BUFFER: EGL.BACK_BUFFER,
        EGL.SWAP_BEHAVIOR: EGL.BUFFER_PRESERVED, EGL.BUFFER_AGE_EXT: 1, EGL.MIPMAP_LEVEL: 0,
        EGL.MULTISAMPLE_RESOLVE: EGL.MULTISAMPLE_RESOLVE_DEFAULT, EGL.LARGEST_PBUFFER: 0,
        EGL.GL_COLORSPACE: EGL.GL_COLORSPACE_LINEAR, EGL.TEXTURE_FORMAT: EGL.NO_TEXTURE,
        EGL.TEXTURE_TARGET: EGL.NO_TEXTURE, EGL.MIPMAP_TEXTURE: 0,
        EGL.ALPHA_FORMAT: EGL.VG_ALPHA_FORMAT_NONPRE, EGL.HORIZONTAL_RESOLUTION: EGL.UNKNOWN,
        EGL.VERTICAL_RESOLUTION: EGL.UNKNOWN, EGL.PIXEL_ASPECT_RATIO: EGL.UNKNOWN,
    }  # fmt: skip
    assert {name: egl.queried(plain, name) for name in wanted} == wanted
    other = egl.pbuffer(
        config, EGL.LARGEST_PBUFFER, 1, EGL.TEXTURE_FORMAT, EGL.TEXTURE_RGBA,
        EGL.TEXTURE_TARGET, EGL.TEXTURE_2D, EGL.MIPMAP_TEXTURE, 1,
        EGL.GL_COLORSPACE, EGL.GL_COLORSPACE_SRGB,
    )  # fmt: skip
    changed = {
        EGL.LARGEST_PBUFFER: 1, EGL.TEXTURE_FORMAT: EGL.TEXTURE_RGBA, EGL.MIPMAP_TEXTURE: 1,
        EGL.TEXTURE_TARGET: EGL.TEXTURE_2D, EGL.GL_COLORSPACE: EGL.GL_COLORSPACE_SRGB,
    }  # fmt: skip
    assert {name: egl.queried(other, name) for name in wanted} == wanted | changed
    assert egl.display.surface(other).drawable.color is not None
    colors = [egl.display.surface(s).drawable.color.internal_format for s in (plain, other)]
    assert colors == [egl.display.config(config).color, egl.display.config(config).srgb]
    refused(Error.BAD_ATTRIBUTE, egl.queried, plain, 0x1234)
    refused(Error.BAD_SURFACE, egl.queried, 77, EGL.WIDTH)


def test_what_can_be_set_of_a_surface(egl: Egl) -> None:
    surface = egl.pbuffer(egl.config())
    change = functions.eglSurfaceAttrib
    settings = (
        (EGL.SWAP_BEHAVIOR, EGL.BUFFER_DESTROYED), (EGL.SWAP_BEHAVIOR, EGL.BUFFER_PRESERVED),
        (EGL.MIPMAP_LEVEL, 2), (EGL.MULTISAMPLE_RESOLVE, EGL.MULTISAMPLE_RESOLVE_BOX),
    )  # fmt: skip
    for name, value in settings:
        assert change(egl.handle, surface, name, value) == 1
        assert egl.queried(surface, name) == value
    change(egl.handle, surface, EGL.SWAP_BEHAVIOR, EGL.BUFFER_DESTROYED)
    assert egl.queried(surface, EGL.BUFFER_AGE_EXT) == 0
    refused(Error.BAD_PARAMETER, change, egl.handle, surface, EGL.SWAP_BEHAVIOR, 7)
    refused(Error.BAD_ATTRIBUTE, change, egl.handle, surface, EGL.WIDTH, 7)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ((EGL.WIDTH, -1), Error.BAD_PARAMETER),
        ((EGL.HEIGHT, -1), Error.BAD_PARAMETER),
        ((EGL.RENDER_BUFFER, EGL.BACK_BUFFER), Error.BAD_ATTRIBUTE),
        ((EGL.GL_COLORSPACE, 7), Error.BAD_ATTRIBUTE),
        ((EGL.TEXTURE_FORMAT, EGL.TEXTURE_RGB), Error.BAD_MATCH),
        ((EGL.TEXTURE_TARGET, EGL.TEXTURE_2D), Error.BAD_MATCH),
        ((EGL.WIDTH, 1 << 20), Error.BAD_ALLOC),
        ((EGL.HEIGHT, 1 << 20), Error.BAD_ALLOC),
    ],
)
def test_pbuffers_that_cannot_be(egl: Egl, given: tuple[int, int], error: int) -> None:
    refused(error, egl.pbuffer, egl.config(), *given)


def test_sizes_of_pbuffers(egl: Egl, monkeypatch: pytest.MonkeyPatch) -> None:
    config = egl.config()
    limit = egl.display.config(config)[EGL.MAX_PBUFFER_WIDTH]
    for given, size in {
        (EGL.WIDTH, 0): (0, 3), (EGL.HEIGHT, 0): (4, 0),
        (EGL.HEIGHT, 1, EGL.WIDTH, limit): (limit, 1),
        (EGL.HEIGHT, 1, EGL.WIDTH, limit + 1, EGL.LARGEST_PBUFFER, 1): (limit, 1),
    }.items():  # fmt: skip
        assert egl.display.surface(egl.pbuffer(config, *given)).drawable.size == size
    for said, size in {"7x5": (7, 5), "7": (4, 3), "x5": (4, 3), "7xa": (4, 3)}.items():
        monkeypatch.setenv("GALLETTE_SIZE", said)
        assert egl.display.surface(egl.pbuffer(config)).size == size


def test_there_are_no_windows_and_pixmaps_without_a_window_system(egl: Egl) -> None:
    config, kept = egl.config(), listed(wide=True)
    where = ctypes.addressof(kept)
    for name in ("WindowSurface", "PixmapSurface"):
        error = Error.BAD_NATIVE_WINDOW if name == "WindowSurface" else Error.BAD_NATIVE_PIXMAP
        for create in (f"Create{name}", f"CreatePlatform{name}", f"CreatePlatform{name}EXT"):
            for given in (config, 0):  # it fails whatever else is wrong
                refused(error, getattr(functions, f"egl{create}"), egl.handle, given, 1, where)
    create = functions.eglCreatePbufferFromClientBuffer
    refused(Error.BAD_PARAMETER, create, egl.handle, 0x3038, 1, config, where)


def test_a_pbuffer_becomes_a_texture(egl: Egl) -> None:
    config = egl.config(EGL.ALPHA_SIZE, 8)
    plain = egl.pbuffer(config)
    surface = egl.pbuffer(
        config, EGL.TEXTURE_FORMAT, EGL.TEXTURE_RGBA, EGL.TEXTURE_TARGET, EGL.TEXTURE_2D
    )
    context = egl.context()
    functions.eglMakeCurrent(egl.handle, surface, surface, context)
    gl = egl.gl(context)
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    bind = functions.eglBindTexImage
    refused(Error.BAD_MATCH, bind, egl.handle, plain, EGL.BACK_BUFFER)
    refused(Error.BAD_PARAMETER, bind, egl.handle, surface, EGL.DRAW)
    assert bind(egl.handle, surface, EGL.BACK_BUFFER) == 1
    seen = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    assert bytes(seen) == bytes([51, 102, 153, 204]) * 12
    refused(Error.BAD_ACCESS, bind, egl.handle, surface, EGL.BACK_BUFFER)
    refused(Error.BAD_PARAMETER, functions.eglReleaseTexImage, egl.handle, surface, EGL.DRAW)
    assert functions.eglReleaseTexImage(egl.handle, surface, EGL.BACK_BUFFER) == 1
    assert bind(egl.handle, surface, EGL.BACK_BUFFER) == 1


# -- contexts --------------------------------------------------------------------------------------


def test_what_is_current(egl: Egl) -> None:
    ask = functions.eglGetCurrentSurface
    assert functions.eglGetCurrentContext() == functions.eglGetCurrentDisplay() == 0
    assert ask(EGL.DRAW) == ask(EGL.READ) == 0
    assert functions.eglWaitClient() == 1
    config = egl.config()
    draw, read, context = egl.pbuffer(config), egl.pbuffer(config), egl.context()
    assert functions.eglMakeCurrent(egl.handle, draw, read, context) == 1
    assert functions.eglGetCurrentContext() == context
    assert functions.eglGetCurrentDisplay() == egl.handle
    assert (ask(EGL.DRAW), ask(EGL.READ)) == (draw, read)
    refused(Error.BAD_PARAMETER, ask, EGL.WIDTH)
    finished: list[int] = []
    egl.gl(context).finish = lambda: finished.append(1)
    assert functions.eglWaitClient() == 1
    assert finished == [1]
    assert functions.eglWaitNative(EGL.CORE_NATIVE_ENGINE) == 1
    refused(Error.BAD_PARAMETER, functions.eglWaitNative, 7)
    functions.eglBindAPI(EGL.OPENGL_API)
    assert functions.eglReleaseThread() == 1
    assert functions.eglGetCurrentContext() == 0
    assert functions.eglQueryAPI() == EGL.OPENGL_ES_API
    refused(Error.BAD_PARAMETER, functions.eglBindAPI, 0x30A1)  # OpenVG


def test_surfaces_that_cannot_be_current(egl: Egl) -> None:
    config = egl.config()
    surface, context = egl.pbuffer(config), egl.context()
    make = functions.eglMakeCurrent
    refused(Error.BAD_MATCH, make, egl.handle, surface, surface, 0)
    refused(Error.BAD_MATCH, make, egl.handle, 0, surface, 0)
    refused(Error.BAD_MATCH, make, egl.handle, surface, 0, context)
    refused(Error.BAD_MATCH, make, egl.handle, 0, surface, context)
    refused(Error.BAD_SURFACE, make, egl.handle, 77, 77, context)
    refused(Error.BAD_CONTEXT, make, egl.handle, surface, surface, 77)
    swap, interval = functions.eglSwapBuffers, functions.eglSwapInterval
    refused(Error.BAD_CONTEXT, swap, egl.handle, surface)
    refused(Error.BAD_CONTEXT, interval, egl.handle, 1)
    assert make(egl.handle, 0, 0, context) == 1
    refused(Error.BAD_SURFACE, swap, egl.handle, surface)
    refused(Error.BAD_SURFACE, interval, egl.handle, 1)
    refused(Error.BAD_SURFACE, functions.eglCopyBuffers, egl.handle, surface, 1)
    assert make(egl.handle, surface, surface, context) == 1
    assert swap(egl.handle, surface) == interval(egl.handle, 1) == 1
    refused(Error.BAD_NATIVE_PIXMAP, functions.eglCopyBuffers, egl.handle, surface, 1)


FLAGS: dict[tuple[int, ...], tuple[bool, bool, bool, bool]] = {
    (): (False, False, False, False),
    (EGL.CONTEXT_FLAGS_KHR, 1): (True, False, False, False),
    (EGL.CONTEXT_FLAGS_KHR, 2): (False, True, False, False),
    (EGL.CONTEXT_FLAGS_KHR, 4): (False, False, True, False),
    (EGL.CONTEXT_OPENGL_DEBUG, 1): (True, False, False, False),
    (EGL.CONTEXT_OPENGL_DEBUG, 0): (False, False, False, False),
    (EGL.CONTEXT_OPENGL_FORWARD_COMPATIBLE, 1): (False, True, False, False),
    (EGL.CONTEXT_OPENGL_ROBUST_ACCESS, 1): (False, False, True, False),
    (EGL.CONTEXT_OPENGL_ROBUST_ACCESS_EXT, 1): (False, False, True, False),
    (EGL.CONTEXT_OPENGL_NO_ERROR_KHR, 1): (False, False, False, True),
    (EGL.CONTEXT_OPENGL_DEBUG, 1, EGL.CONTEXT_FLAGS_KHR, 6): (True, True, True, False),
}


@pytest.mark.parametrize("given", FLAGS)
def test_flags_of_contexts(egl: Egl, given: tuple[int, ...]) -> None:
    context = egl.context(EGL.CONTEXT_MAJOR_VERSION, 3, EGL.CONTEXT_MINOR_VERSION, 2, *given)
    gl = egl.gl(context)
    found = gl.debug_context, gl.forward_compatible, gl.robust, gl.no_error
    assert found == FLAGS[given]
    assert gl.loses_context_on_reset is False
    debug, forward, robust, no_error = FLAGS[given]
    bits = gl.get_integerv(GL.CONTEXT_FLAGS)[0]
    assert bits == forward * 1 + debug * 2 + robust * 4 + no_error * 8
    gl.enable(GL.LINE)
    assert gl.get_error() == (GL.NO_ERROR if no_error else GL.INVALID_ENUM)


def test_contexts_that_share_have_errors_or_not(egl: Egl) -> None:
    first = egl.context(EGL.CONTEXT_OPENGL_NO_ERROR_KHR, 1)
    egl.context(EGL.CONTEXT_OPENGL_NO_ERROR_KHR, 1, share=first)
    with pytest.raises(EglError) as found:
        egl.context(share=first)
    assert found.value.code == Error.BAD_MATCH


@pytest.mark.parametrize("version", [(3, 0), (3, 1), (3, 2), (4, 6)])
@pytest.mark.parametrize("forward", [0, 1])
@pytest.mark.parametrize("mask", [EGL.CORE_PROFILE_BIT, EGL.COMPATIBILITY_PROFILE_BIT])
def test_profiles(egl: Egl, version: tuple[int, int], forward: int, mask: int) -> None:
    context = egl.context(
        EGL.CONTEXT_MAJOR_VERSION, version[0], EGL.CONTEXT_MINOR_VERSION, version[1],
        EGL.CONTEXT_OPENGL_FORWARD_COMPATIBLE, forward, EGL.CONTEXT_OPENGL_PROFILE_MASK, mask,
    )  # fmt: skip
    core = mask == EGL.CORE_PROFILE_BIT if version >= (3, 2) else version == (3, 1) and forward
    assert egl.gl(context).profile == ("core" if core else "compat")


RESET = EGL.CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY


def test_sharing_contexts_report_resets_alike(egl: Egl) -> None:
    first = egl.context(RESET, EGL.LOSE_CONTEXT_ON_RESET)
    assert egl.gl(first).loses_context_on_reset is True
    second = egl.context(
        EGL.CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT, EGL.LOSE_CONTEXT_ON_RESET, share=first
    )
    assert egl.gl(second).group is egl.gl(first).group
    with pytest.raises(EglError) as told:
        egl.context(share=first)
    assert told.value.code == Error.BAD_MATCH
    refused(Error.BAD_ATTRIBUTE, egl.context, RESET, 7)


def test_what_a_context_says_of_itself(egl: Egl) -> None:
    config = egl.config()
    functions.eglBindAPI(EGL.OPENGL_ES_API)
    kept = listed(EGL.CONTEXT_MAJOR_VERSION, 3)
    context = functions.eglCreateContext(egl.handle, config, 0, ctypes.addressof(kept))
    surface = egl.pbuffer(config)

    def asked(attribute: int) -> int:
        found = ctypes.c_int32()
        functions.eglQueryContext(egl.handle, context, attribute, ctypes.addressof(found))
        return found.value

    assert asked(EGL.CONFIG_ID) == config
    assert asked(EGL.CONTEXT_CLIENT_TYPE) == EGL.OPENGL_ES_API
    assert asked(EGL.CONTEXT_MAJOR_VERSION) == 3
    assert asked(EGL.RENDER_BUFFER) == EGL.NONE
    functions.eglMakeCurrent(egl.handle, surface, surface, context)
    assert asked(EGL.RENDER_BUFFER) == EGL.BACK_BUFFER
    refused(Error.BAD_ATTRIBUTE, asked, 0x1234)
    assert isinstance(egl.display.context(context), EglContext)


# -- images ----------------------------------------------------------------------------------------


def test_images_of_renderbuffers_and_textures(egl: Egl) -> None:
    context = egl.context(EGL.CONTEXT_MAJOR_VERSION, 4)
    functions.eglMakeCurrent(egl.handle, 0, 0, context)
    gl = egl.gl(context)
    buffer, empty = gl.gen_renderbuffers(2)
    for name in (empty, buffer):
        gl.bind_renderbuffer(GL.RENDERBUFFER, name)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 4, 4)
    texture, cube, solid, hollow = gl.gen_textures(4)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    gl.tex_storage2d(GL.TEXTURE_2D, 2, GL.RGBA8, 4, 4)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, cube)
    gl.tex_storage2d(GL.TEXTURE_CUBE_MAP, 1, GL.RGBA8, 4, 4)
    gl.bind_texture(GL.TEXTURE_3D, solid)
    gl.tex_storage3d(GL.TEXTURE_3D, 1, GL.RGBA8, 4, 4, 4)
    gl.bind_texture(GL.TEXTURE_2D, hollow)

    def made(target: int, name: int, *given: int) -> tuple[int, int]:
        wide, narrow = listed(*given, wide=True), listed(*given)
        found = [
            sync.eglCreateImage(egl.handle, context, target, name, ctypes.addressof(wide)),
            sync.eglCreateImageKHR(egl.handle, context, target, name, ctypes.addressof(narrow)),
        ]
        sources = [egl.display.image_source(image) for image in found]
        assert sources[0] == sources[1]
        assert sources[0] is not None
        for image in found:
            assert sync.eglDestroyImage(egl.handle, image) == 1
            assert egl.display.image_source(image) is None
            refused(Error.BAD_PARAMETER, sync.eglDestroyImage, egl.handle, image)
        return sources[0][1:3]

    level, layer = EGL.GL_TEXTURE_LEVEL, EGL.GL_TEXTURE_ZOFFSET
    assert made(EGL.GL_RENDERBUFFER, buffer) == (0, 0)
    assert made(EGL.GL_TEXTURE_2D, texture) == (0, 0)
    assert made(EGL.GL_TEXTURE_2D, texture, level, 1) == (1, 0)
    for face in range(6):
        assert made(EGL.GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, cube) == (0, face)
    assert made(EGL.GL_TEXTURE_3D, solid, layer, 3) == (0, 3)
    for error, target, name, given in (
        (Error.BAD_PARAMETER, EGL.GL_RENDERBUFFER, empty, ()),
        (Error.BAD_PARAMETER, EGL.GL_RENDERBUFFER, 99, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_2D, 99, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_2D, hollow, ()),
        (Error.BAD_MATCH, EGL.GL_TEXTURE_2D, texture, (level, 2)),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_CUBE_MAP_POSITIVE_X + 6, cube, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_3D, cube, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_2D, cube, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_2D, solid, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_3D, texture, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_CUBE_MAP_POSITIVE_X, texture, ()),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_3D, solid, (layer, 4)),
        (Error.BAD_PARAMETER, EGL.GL_TEXTURE_3D, solid, (layer, -1)),
    ):
        refused(error, made, target, name, *given)
    refused(Error.BAD_CONTEXT, sync.eglCreateImage, egl.handle, 0, EGL.GL_TEXTURE_2D, texture, 0)
    # One that is left lives until its display ends, with the storage it shows.
    kept = sync.eglCreateImage(egl.handle, context, EGL.GL_TEXTURE_2D, texture, 0)
    source = egl.display.image_source(kept)
    assert source is not None
    gl.delete_textures(1, [texture])
    assert source[0].refcount > 0
    functions.eglTerminate(egl.handle)
    assert egl.display.images == {}


# -- as C sees them --------------------------------------------------------------------------------


def test_errors_become_the_threads_last_error() -> None:
    last_error()

    def c(name: str, signature: str) -> Any:
        return prototype(signature)(c_address(name))

    assert c("eglTerminate", "p:u")(77) == 0
    get = c("eglGetError", ":i")
    assert get() == Error.BAD_DISPLAY
    assert get() == Error.SUCCESS
    c("eglTerminate", "p:u")(77)
    assert c("eglQueryAPI", ":u")() == EGL.OPENGL_ES_API
    assert get() == Error.SUCCESS  # a call that went well forgets the error before it
    c("eglTerminate", "p:u")(None)
    assert c("eglGetProcAddress", "p:p")(None) is None
    assert get() == Error.BAD_DISPLAY  # but for those that say nothing of errors
    assert c_address("eglNoSuchFunction") == 0
    assert c_address("eglTerminate") == c_address("eglTerminate")
    assert "eglWaitGL" in c_names("eglWait")
    assert not [name for name in c_names("egl") if not name.startswith("egl")]
    where = np.frombuffer(b"eglTerminate\0glClear\0glNothing\0wglClear\0", np.uint8)
    found = [
        functions.eglGetProcAddress(where.ctypes.data + at) for at in (0, 13, 21, 31)
    ]  # fmt: skip
    assert [bool(f) for f in found] == [True, True, False, False]
    assert functions.eglGetProcAddress(0) == 0


@pytest.mark.parametrize("error", [MemoryError(), ValueError("no value"), "GalletteError"])
def test_an_internal_error_is_reported_once(
    error: BaseException | str, capfd: pytest.CaptureFixture[str]
) -> None:
    from gallette.compiler.errors import GalletteError

    raised = GalletteError("no driver") if isinstance(error, str) else error
    name = f"eglTested{type(raised).__name__}"

    def broken() -> int:
        raise raised

    broken.__name__ = name
    c_function(":i")(broken)
    call = prototype(":i")(c_address(name))
    last_error()
    for _ in range(2):
        assert call() == 0
        assert functions.eglGetError() == Error.BAD_ALLOC
    told = capfd.readouterr().err
    if isinstance(raised, MemoryError):
        assert told == ""
    elif isinstance(raised, GalletteError):
        assert told == f"gallette: {name}: no driver\n"
    else:
        assert told.startswith(f"gallette: bug in {name}:\nTraceback")
        assert told.count("no value") == 1
