"""EGL's functions, each a few lines on top of displays, surfaces and contexts."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from gallette.egl.constants import EGL, Error
from gallette.egl.contexts import (
    EglContext,
    Request,
    bind_api,
    bound_api,
    current,
    make_current,
    release_thread,
)
from gallette.egl.display import DEVICE, attributes, default_platform, display_of, get_display
from gallette.egl.errors import EglError, check, last_error
from gallette.egl.registry import c_function, is_c_function
from gallette.egl.surfaces import Surface, surface_attributes
from gallette.state_tracker.entry_points.c_strings import c_string

CLIENT_EXTENSIONS = (
    "EGL_EXT_client_extensions EGL_EXT_device_base EGL_EXT_device_enumeration "
    "EGL_EXT_device_query EGL_EXT_platform_base EGL_KHR_client_get_all_proc_addresses"
)
PLATFORM_EXTENSIONS = (
    "EGL_EXT_platform_device EGL_EXT_platform_wayland EGL_EXT_platform_x11 EGL_EXT_platform_xcb "
    "EGL_KHR_platform_wayland EGL_KHR_platform_x11 EGL_MESA_platform_surfaceless"
)
_DISPLAY_EXTENSIONS = (
    "EGL_EXT_buffer_age EGL_EXT_create_context_robustness EGL_EXT_pixel_format_float "
    "EGL_IMG_context_priority EGL_KHR_config_attribs EGL_KHR_context_flush_control "
    "EGL_KHR_create_context EGL_KHR_create_context_no_error EGL_KHR_fence_sync "
    "EGL_KHR_get_all_proc_addresses EGL_KHR_gl_colorspace "
    "EGL_KHR_gl_renderbuffer_image EGL_KHR_gl_texture_2D_image EGL_KHR_gl_texture_3D_image "
    "EGL_KHR_gl_texture_cubemap_image EGL_KHR_image EGL_KHR_image_base "
    "EGL_KHR_no_config_context EGL_KHR_reusable_sync "
    "EGL_KHR_surfaceless_context EGL_KHR_wait_sync EGL_MESA_configless_context "
    "EGL_MESA_query_driver"
)
_DEVICE_EXTENSIONS = "EGL_EXT_device_query_name EGL_MESA_device_software"


def _store(pointer: int, value: int) -> None:
    if pointer:
        ctypes.c_int32.from_address(pointer).value = value


def _store_wide(pointer: int, value: int) -> None:
    if pointer:
        ctypes.c_ssize_t.from_address(pointer).value = value


# -- displays --------------------------------------------------------------------------------------


@c_function(":i", quiet=True)
def eglGetError() -> int:
    return last_error()


@c_function("p:p")
def eglGetDisplay(native: int) -> int:
    return get_display(default_platform(native), native)


@c_function("upp:p")
def eglGetPlatformDisplay(platform: int, native: int, attribs: int) -> int:
    found = get_display(platform, native)
    check(found, Error.BAD_PARAMETER, f"gallette has no platform 0x{platform:04X}")
    return found


@c_function("upp:p")
def eglGetPlatformDisplayEXT(platform: int, native: int, attribs: int) -> int:
    return eglGetPlatformDisplay(platform, native, attribs)


@c_function("ppp:u")
def eglInitialize(display: int, major: int, minor: int) -> int:
    display_of(display, initialized=False).initialize()
    _store(major, 1)
    _store(minor, 5)
    return 1


@c_function("p:u")
def eglTerminate(display: int) -> int:
    display_of(display, initialized=False).terminate()
    return 1


@c_function("pi:p")
def eglQueryString(display: int, name: int) -> int:
    if not display:
        texts = {
            EGL.EXTENSIONS: f"{CLIENT_EXTENSIONS} {PLATFORM_EXTENSIONS}",
            EGL.VERSION: "1.5 gallette",
        }
        check(name in texts, Error.BAD_DISPLAY, "that string belongs to a display")
        return c_string(texts[name])
    display_of(display)
    texts = {
        EGL.VENDOR: "gallette",
        EGL.VERSION: "1.5 gallette",
        EGL.EXTENSIONS: _DISPLAY_EXTENSIONS,
        EGL.CLIENT_APIS: "OpenGL OpenGL_ES",
    }
    check(name in texts, Error.BAD_PARAMETER, f"0x{name:04X} is not the name of a string")
    return c_string(texts[name])


@c_function("p:p")
def eglGetDisplayDriverName(display: int) -> int:
    display_of(display)
    return c_string("gallette")


@c_function("ipp:u")
def eglQueryDevicesEXT(room: int, devices: int, count: int) -> int:
    check(room > 0 or not devices, Error.BAD_PARAMETER, "no room for a device")
    check(count, Error.BAD_PARAMETER, "nowhere to store the number of devices")
    if devices:
        ctypes.c_void_p.from_address(devices).value = id(DEVICE)
    _store(count, 1)
    return 1


def _device(handle: int) -> None:
    check(handle == id(DEVICE), Error.BAD_DEVICE, f"{handle:#x} is not a device of gallette's")


@c_function("pi:p")
def eglQueryDeviceStringEXT(device: int, name: int) -> int:
    _device(device)
    texts = {
        EGL.EXTENSIONS: _DEVICE_EXTENSIONS,
        EGL.VENDOR: "gallette",
        EGL.RENDERER_EXT: "gallette software device",
    }
    check(name in texts, Error.BAD_PARAMETER, "a device has no such string")
    return c_string(texts[name])


@c_function("pip:u")
def eglQueryDeviceAttribEXT(device: int, attribute: int, value: int) -> int:
    _device(device)
    raise EglError(Error.BAD_ATTRIBUTE, "a software device has no attributes")


@c_function("pip:u", "eglQueryDisplayAttribKHR")
def eglQueryDisplayAttribEXT(display: int, attribute: int, value: int) -> int:
    display_of(display)
    check(attribute == EGL.DEVICE_EXT, Error.BAD_ATTRIBUTE, "a display has a device only")
    _store_wide(value, id(DEVICE))
    return 1


# -- configs ---------------------------------------------------------------------------------------


def _give_configs(found: list[Any], configs: int, room: int, count: int) -> int:
    check(count, Error.BAD_PARAMETER, "nowhere to store the number of configs")
    if configs:
        found = found[: max(room, 0)]
        array: Any = (ctypes.c_void_p * len(found)).from_address(configs) if found else ()
        for index, config in enumerate(found):
            array[index] = config[EGL.CONFIG_ID]
    _store(count, len(found))
    return 1


@c_function("ppip:u")
def eglGetConfigs(display: int, configs: int, room: int, count: int) -> int:
    found = [c for c in display_of(display).configs if not c.single]
    return _give_configs(found, configs, room, count)


@c_function("pppip:u")
def eglChooseConfig(display: int, attribs: int, configs: int, room: int, count: int) -> int:
    from gallette.egl.configs import choose

    found = choose(display_of(display).configs, attributes(attribs))
    return _give_configs(found, configs, room, count)


@c_function("ppip:u")
def eglGetConfigAttrib(display: int, config: int, attribute: int, value: int) -> int:
    found = display_of(display).config(config).attributes
    known = attribute in found
    check(known, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} is not an attribute of a config")
    _store(value, found[attribute])
    return 1


# -- surfaces --------------------------------------------------------------------------------------


def _add_surface(surface: Surface) -> int:
    surface.display.surfaces[surface.handle] = surface
    return surface.handle


def _wanted_size() -> tuple[int, int] | None:
    """The size in `GALLETTE_SIZE=WxH`, which off-screen surfaces get whatever the program
    requests.
    """
    width, _, height = os.environ.get("GALLETTE_SIZE", "").partition("x")
    return (int(width), int(height)) if width.isdigit() and height.isdigit() else None


@c_function("ppp:p")
def eglCreatePbufferSurface(display: int, config: int, attribs: int) -> int:
    owner = display_of(display)
    chosen = owner.config(config)
    given = surface_attributes(EGL.PBUFFER_BIT, chosen, attributes(attribs))
    size = _wanted_size() or (given.get(EGL.WIDTH, 0), given.get(EGL.HEIGHT, 0))
    return _add_surface(Surface(owner, chosen, EGL.PBUFFER_BIT, size, given))


@c_function("pupp:p")
def eglCreatePbufferFromClientBuffer(
    display: int, kind: int, buffer: int, config: int = 0, attribs: int = 0
) -> int:
    display_of(display)
    raise EglError(Error.BAD_PARAMETER, "there are no client buffers of other APIs")


def _window_surface(
    display: int,
    config: int,
    native: int,
    given: dict[int, int],
    kind: int,
    pointed: bool = False,
) -> int:
    """Create a window surface. `pointed`: the platform functions take the address of a window's
    number on X11.
    """
    owner = display_of(display)
    wrong = Error.BAD_NATIVE_WINDOW if kind == EGL.WINDOW_BIT else Error.BAD_NATIVE_PIXMAP
    # The error comes first: on such a platform the call fails whatever its arguments are
    # (EGL_MESA_platform_surfaceless).
    check(owner.windows is not None, wrong, "this platform has no windows")
    assert owner.windows is not None
    chosen = owner.config(config)
    given = surface_attributes(kind, chosen, given)
    if pointed and owner.windows.by_address:
        check(native, wrong, "no window")
        native = int(ctypes.c_ulong.from_address(native).value)
    taken = any(s.window is not None and s.window.native == native for s in owner.surfaces.values())
    check(not taken, Error.BAD_ALLOC, "the window has a surface already")
    window = owner.windows.open(native)
    check(window is not None, wrong, f"{native:#x} is not a window of this display")
    assert window is not None
    return _add_surface(Surface(owner, chosen, kind, window.size(), given, window))


@c_function("pppp:p")
def eglCreateWindowSurface(display: int, config: int, window: int, attribs: int) -> int:
    return _window_surface(display, config, window, attributes(attribs), EGL.WINDOW_BIT)


@c_function("pppp:p")
def eglCreatePlatformWindowSurface(display: int, config: int, window: int, attribs: int) -> int:
    given = attributes(attribs, True)
    return _window_surface(display, config, window, given, EGL.WINDOW_BIT, pointed=True)


@c_function("pppp:p")
def eglCreatePlatformWindowSurfaceEXT(display: int, config: int, window: int, attribs: int) -> int:
    given = attributes(attribs)
    return _window_surface(display, config, window, given, EGL.WINDOW_BIT, pointed=True)


@c_function("pppp:p")
def eglCreatePixmapSurface(display: int, config: int, pixmap: int, attribs: int) -> int:
    return _window_surface(display, config, pixmap, attributes(attribs), EGL.PIXMAP_BIT)


@c_function("pppp:p")
def eglCreatePlatformPixmapSurface(display: int, config: int, pixmap: int, attribs: int) -> int:
    given = attributes(attribs, True)
    return _window_surface(display, config, pixmap, given, EGL.PIXMAP_BIT, pointed=True)


@c_function("pppp:p")
def eglCreatePlatformPixmapSurfaceEXT(display: int, config: int, pixmap: int, attribs: int) -> int:
    given = attributes(attribs)
    return _window_surface(display, config, pixmap, given, EGL.PIXMAP_BIT, pointed=True)


@c_function("pp:u")
def eglDestroySurface(display: int, surface: int) -> int:
    display_of(display).surface(surface).destroy()
    return 1


@c_function("ppip:u")
def eglQuerySurface(display: int, surface: int, attribute: int, value: int) -> int:
    found = display_of(display).surface(surface)
    found.refit()
    _store(value, found.query(attribute))
    return 1


@c_function("ppii:u")
def eglSurfaceAttrib(display: int, surface: int, attribute: int, value: int) -> int:
    found = display_of(display).surface(surface)
    if attribute == EGL.SWAP_BEHAVIOR:
        both = EGL.BUFFER_PRESERVED, EGL.BUFFER_DESTROYED
        check(value in both, Error.BAD_PARAMETER, "an unknown swap behaviour")
        found.swap_behavior = value
    elif attribute in (EGL.MIPMAP_LEVEL, EGL.MULTISAMPLE_RESOLVE):
        found.attributes[attribute] = value
    else:
        check(False, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} cannot be set")
    return 1


@c_function("ppi:u")
def eglBindTexImage(display: int, surface: int, buffer: int) -> int:
    found = display_of(display).surface(surface)
    check(buffer == EGL.BACK_BUFFER, Error.BAD_PARAMETER, "only the back buffer is a texture")
    texture = found.attributes.get(EGL.TEXTURE_FORMAT, EGL.NO_TEXTURE)
    check(texture != EGL.NO_TEXTURE, Error.BAD_MATCH, "the surface was not made for texturing")
    check(found.bound_texture is None, Error.BAD_ACCESS, "bound already")
    context = current()
    if context is not None:
        from gallette.egl.images import texture_from_buffer

        found.bound_texture = texture_from_buffer(context.gl, found.drawable.color)
    return 1


@c_function("ppi:u")
def eglReleaseTexImage(display: int, surface: int, buffer: int) -> int:
    found = display_of(display).surface(surface)
    check(buffer == EGL.BACK_BUFFER, Error.BAD_PARAMETER, "only the back buffer is a texture")
    found.bound_texture = None
    return 1


@c_function("pi:u")
def eglSwapInterval(display: int, interval: int) -> int:
    display_of(display)
    context = current()
    check(context is not None, Error.BAD_CONTEXT, "no context is current")
    check(context and context.draw, Error.BAD_SURFACE, "no surface is current")
    return 1


@c_function("pp:u")
def eglSwapBuffers(display: int, surface: int) -> int:
    found = display_of(display).surface(surface)
    context = current()
    check(context is not None, Error.BAD_CONTEXT, "no context is current")
    assert context is not None
    check(context.draw is found, Error.BAD_SURFACE, "the surface is not current")
    found.swap(context)
    return 1


@c_function("ppp:u")
def eglCopyBuffers(display: int, surface: int, pixmap: int) -> int:
    owner = display_of(display)
    found, context = owner.surface(surface), current()
    check(context is not None and context.draw is found, Error.BAD_SURFACE, "not current")
    check(owner.windows is not None, Error.BAD_NATIVE_PIXMAP, "this platform has no pixmaps")
    assert owner.windows is not None and context is not None
    target = owner.windows.open(pixmap)
    check(target is not None, Error.BAD_NATIVE_PIXMAP, f"{pixmap:#x} is not a pixmap")
    assert target is not None
    target.present(found.pixels(context))
    target.close()
    return 1


# -- contexts --------------------------------------------------------------------------------------


@c_function("u:u")
def eglBindAPI(api: int) -> int:
    bind_api(api)
    return 1


@c_function(":u")
def eglQueryAPI() -> int:
    return bound_api()


@c_function("pppp:p")
def eglCreateContext(display: int, config: int, share: int, attribs: int) -> int:
    owner = display_of(display)
    chosen = owner.config(config) if config else None
    other = owner.context(share) if share else None
    context = EglContext(owner, chosen, other, Request(bound_api(), attributes(attribs)))
    owner.contexts[context.handle] = context
    return context.handle


@c_function("pp:u")
def eglDestroyContext(display: int, context: int) -> int:
    display_of(display).context(context).destroy()
    return 1


@c_function("pppp:u")
def eglMakeCurrent(display: int, draw: int, read: int, context: int) -> int:
    owner = display_of(display, initialized=bool(context))
    if not context:
        check(not draw and not read, Error.BAD_MATCH, "surfaces but no context")
        make_current(None, None, None)
        return 1
    wanted = owner.context(context)
    check(bool(draw) == bool(read), Error.BAD_MATCH, "one surface only")
    surfaces = owner.surface(draw) if draw else None, owner.surface(read) if read else None
    make_current(wanted, *surfaces)
    return 1


@c_function("ppip:u")
def eglQueryContext(display: int, context: int, attribute: int, value: int) -> int:
    _store(value, display_of(display).context(context).query(attribute))
    return 1


@c_function(":p")
def eglGetCurrentContext() -> int:
    context = current()
    return context.handle if context is not None else 0


@c_function(":p")
def eglGetCurrentDisplay() -> int:
    context = current()
    return id(context.display) if context is not None else 0


@c_function("i:p")
def eglGetCurrentSurface(which: int) -> int:
    check(which in (EGL.DRAW, EGL.READ), Error.BAD_PARAMETER, "draw or read")
    context = current()
    surface = None
    if context is not None:
        surface = context.draw if which == EGL.DRAW else context.read
    return surface.handle if surface is not None else 0


@c_function(":u")
def eglReleaseThread() -> int:
    release_thread()
    return 1


@c_function(":u", "eglWaitGL")
def eglWaitClient() -> int:
    context = current()
    if context is not None:
        context.gl.finish()
    return 1


@c_function("i:u")
def eglWaitNative(engine: int) -> int:
    check(engine == EGL.CORE_NATIVE_ENGINE, Error.BAD_PARAMETER, "an unknown engine")
    return 1


# -- function pointers -----------------------------------------------------------------------------


def proc_address(name: str) -> int:
    """The address of any EGL or OpenGL function that gallette has, else 0."""
    from gallette.egl.boot import lazy_address
    from gallette.egl.libraries import implemented

    known = is_c_function(name) or (name.startswith("gl") and name in implemented())
    return lazy_address(name) if known else 0


@c_function("p:p", quiet=True)
def eglGetProcAddress(name: int) -> int:
    text = ctypes.cast(name, ctypes.c_char_p).value if name else None
    return proc_address(text.decode("ascii", "replace")) if text else 0
