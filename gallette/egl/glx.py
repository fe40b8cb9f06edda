"""GLX for programs that link our libGL: the X11 platform of EGL under GLX's names.

Only libGL itself exports these; a vendor for glvnd's libGLX is not made, as programs started by
`gallette run` find our libGL first. Framebuffer configs are EGL's, windows become EGL surfaces when
they are first drawn on. Memory that the caller frees with XFree comes from malloc or from Xlib.
"""

from __future__ import annotations

import ctypes
import functools
import os
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from gallette.egl.configs import Config
from gallette.egl.constants import EGL, Error
from gallette.egl.contexts import EglContext, Request, current, make_current
from gallette.egl.display import Display, display_of, get_display
from gallette.egl.errors import EglError
from gallette.egl.functions import _store, proc_address
from gallette.egl.images import plain_unpacking, texture_from_pixels
from gallette.egl.registry import c_function
from gallette.egl.surfaces import Surface
from gallette.state_tracker.entry_points.c_strings import c_string
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.thread_ends import at_thread_end
from gallette.state_tracker.limits import GALLETTE_VERSION

if TYPE_CHECKING:
    from gallette.egl.x11 import X11

NONE, TRUE_COLOR, RGBA_TYPE, RGBA_BIT = 0x8000, 0x8002, 0x8014, 1
USE_GL, RGBA, DOUBLEBUFFER, STEREO = 1, 4, 5, 6
CONFIG_CAVEAT, X_VISUAL_TYPE, TRANSPARENT_TYPE = 0x20, 0x22, 0x23
VISUAL_ID, SCREEN, DRAWABLE_TYPE, RENDER_TYPE = 0x800B, 0x800C, 0x8010, 0x8011
X_RENDERABLE, FBCONFIG_ID, SRGB_CAPABLE = 0x8012, 0x8013, 0x20B2
BIND_RGB, BIND_RGBA, BIND_MIPMAP, BIND_TARGETS, Y_INVERTED = range(0x20D0, 0x20D5)
TEXTURE_FORMAT, TEXTURE_TARGET, MIPMAP_TEXTURE = 0x20D5, 0x20D6, 0x20D7
FORMAT_RGB, FRONT_LEFT = 0x20D9, 0x20DE
_TEXTURES = {0x20DB: GL.TEXTURE_1D, 0x20DC: GL.TEXTURE_2D, 0x20DD: GL.TEXTURE_RECTANGLE}
DONT_CARE = -1
# GLX's attribute -> EGL's
_SIZES = {
    2: EGL.BUFFER_SIZE, 8: EGL.RED_SIZE, 9: EGL.GREEN_SIZE, 10: EGL.BLUE_SIZE, 11: EGL.ALPHA_SIZE,
    12: EGL.DEPTH_SIZE, 13: EGL.STENCIL_SIZE, 100000: EGL.SAMPLE_BUFFERS, 100001: EGL.SAMPLES,
    0x8016: EGL.MAX_PBUFFER_WIDTH, 0x8017: EGL.MAX_PBUFFER_HEIGHT, 0x8018: EGL.MAX_PBUFFER_PIXELS,
    VISUAL_ID: EGL.NATIVE_VISUAL_ID, FBCONFIG_ID: EGL.CONFIG_ID, 3: EGL.LEVEL,
}  # fmt: skip
_BOOLEANS = (USE_GL, RGBA, DOUBLEBUFFER, STEREO)  # without a value in glXChooseVisual's list
_EXTENSIONS = (
    "GLX_ARB_create_context GLX_ARB_create_context_no_error GLX_ARB_create_context_profile "
    "GLX_ARB_create_context_robustness GLX_ARB_framebuffer_sRGB GLX_ARB_get_proc_address "
    "GLX_ARB_multisample GLX_EXT_create_context_es2_profile GLX_EXT_create_context_es_profile "
    "GLX_EXT_framebuffer_sRGB GLX_EXT_no_config_context GLX_EXT_swap_control "
    "GLX_EXT_texture_from_pixmap GLX_EXT_visual_info GLX_EXT_visual_rating "
    "GLX_MESA_copy_sub_buffer GLX_MESA_query_renderer GLX_MESA_swap_control GLX_SGIS_multisample "
    "GLX_SGIX_fbconfig GLX_SGIX_pbuffer GLX_SGI_make_current_read GLX_SGI_swap_control"
)


class VisualInfo(ctypes.Structure):
    """Xlib's XVisualInfo."""

    _fields_ = [
        ("visual", ctypes.c_void_p), ("visualid", ctypes.c_ulong), ("screen", ctypes.c_int),
        ("depth", ctypes.c_int), ("class", ctypes.c_int), ("red_mask", ctypes.c_ulong),
        ("green_mask", ctypes.c_ulong), ("blue_mask", ctypes.c_ulong),
        ("colormap_size", ctypes.c_int), ("bits_per_rgb", ctypes.c_int),
    ]  # fmt: skip


@functools.cache
def _xlib() -> Any:
    lib = ctypes.CDLL("libX11.so.6")
    lib.XGetVisualInfo.restype = ctypes.c_void_p
    lib.XGetVisualInfo.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    return lib


@functools.cache
def _libc() -> Any:
    lib = ctypes.CDLL(None)
    lib.malloc.restype, lib.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    return lib


def _display(native: int) -> Display:
    """EGL's display of an Xlib Display, initialised."""
    found = display_of(get_display(EGL.PLATFORM_X11, native), initialized=False)
    found.initialize()
    return found


_SURFACES: dict[tuple[int, int], Surface] = {}  # (display, window or pbuffer) -> surface
_CONFIG_OF: dict[tuple[int, int], Config] = {}  # windows of glXCreateWindow
_PIXMAPS: dict[tuple[int, int], dict[int, int]] = {}  # attributes of those made for textures
_CONFIG_OF_VISUAL: dict[int, Config] = {}
"""The address of a visual that was given -> the config it was given for: many have one visual."""
_PBUFFERS = [0x70000000]
_NOTHING = 0, 0, 0
_CURRENT: dict[int, tuple[int, int, int]] = {}
"""Thread -> its current display, and the drawables it draws on and reads from."""


def _x11(display: Display) -> X11:
    from gallette.egl.x11 import X11

    assert isinstance(display.windows, X11)
    return display.windows


def _value(config: Config, attribute: int) -> int | None:
    """A framebuffer config's attribute in GLX's terms."""
    if attribute in _SIZES:
        return config[_SIZES[attribute]]
    fixed = {
        USE_GL: 1, RGBA: 1, DOUBLEBUFFER: int(not config.single), STEREO: 0, 7: 0,
        14: 16, 15: 16, 16: 16, 17: 16,  # accumulation: every window has it
        CONFIG_CAVEAT: NONE, X_VISUAL_TYPE: TRUE_COLOR if config[EGL.NATIVE_VISUAL_ID] else NONE,
        TRANSPARENT_TYPE: NONE, SCREEN: 0, RENDER_TYPE: RGBA_BIT,
        DRAWABLE_TYPE: 7 if config[EGL.NATIVE_VISUAL_ID] else 4,
        X_RENDERABLE: int(config[EGL.NATIVE_VISUAL_ID] != 0), SRGB_CAPABLE: int(config.srgb != 0),
        0x25: 0, 0x26: 0, 0x27: 0, 0x28: 0, 0x24: 0,
        BIND_RGB: 1, BIND_RGBA: int(config[EGL.ALPHA_SIZE] > 0), BIND_MIPMAP: 0, BIND_TARGETS: 7,
        Y_INVERTED: 1,  # a pixmap's first row is the texture's
    }  # fmt: skip
    return fixed.get(attribute)


_AT_LEAST = (2, 8, 9, 10, 11, 12, 13, 100000, 100001, 7, 14, 15, 16, 17)
_MASKS = (DRAWABLE_TYPE, RENDER_TYPE, BIND_TARGETS)
_IGNORED = (0x8016, 0x8017, 0x8018, VISUAL_ID)


def _choose(display: Display, wanted: dict[int, int]) -> list[Config]:
    def fits(config: Config) -> bool:
        for attribute, value in wanted.items():
            have = _value(config, attribute)
            if value == DONT_CARE or attribute in _IGNORED:
                continue
            if have is None:
                return False
            if attribute in _MASKS:
                if have & value != value:
                    return False
            elif have < value if attribute in _AT_LEAST else have != value:
                return False
        return True

    number = wanted.get(FBCONFIG_ID, DONT_CARE)
    if number != DONT_CARE:  # nothing else counts
        return [c for c in display.configs if c[EGL.CONFIG_ID] == number]
    wanted = {DRAWABLE_TYPE: 1} | wanted  # what else has a default is so of every config
    found = [c for c in display.configs if fits(c) and c[EGL.COLOR_COMPONENT_TYPE_EXT] == 0x333A]
    deep = 1 if wanted.get(12, 0) > 0 else -1  # asked for depth: the deepest first
    colors = [a for a in (8, 9, 10, 11) if wanted.get(a, 0) > 0]
    # Single buffers should precede others, but they share visuals here: SFML, which requests
    # nothing and takes the first config of its visual, would get one.
    return sorted(
        found,
        key=lambda c: (
            -sum(_value(c, a) or 0 for a in colors), c[EGL.BUFFER_SIZE], c.single,
            c[EGL.SAMPLES], -deep * c[EGL.DEPTH_SIZE], c[EGL.STENCIL_SIZE], c[EGL.CONFIG_ID],
        ),
    )  # fmt: skip


def _list(pointer: int, booleans: tuple[int, ...] = ()) -> dict[int, int]:
    found: dict[int, int] = {}
    items = ctypes.cast(pointer, ctypes.POINTER(ctypes.c_int32)) if pointer else None
    index = 0
    while items is not None and items[index]:
        name = int(items[index])
        if name in booleans:
            found[name], index = 1, index + 1
        else:
            found[name], index = int(items[index + 1]), index + 2
    return found


def _visual(native: int, number: int) -> int:
    """Xlib's own description of a visual, for the caller to free."""
    template, count = VisualInfo(visualid=number), ctypes.c_int()
    found = _xlib().XGetVisualInfo(native, 1, ctypes.addressof(template), ctypes.addressof(count))
    return found or 0


def _visual_of(native: int, config: Config) -> int:
    """The visual of a config, which is found again by `_of_visual`; 0 if it has none."""
    number = config[EGL.NATIVE_VISUAL_ID]
    visual = _visual(native, number) if number else 0
    if visual:
        _CONFIG_OF_VISUAL[visual] = config
    return visual


# -- versions, extensions and configurations -------------------------------------------------------


@c_function("ppp:i")
def glXQueryExtension(display: int, error: int, event: int) -> int:
    _store(error, 0)
    _store(event, 0)
    return 1


@c_function("ppp:i")
def glXQueryVersion(display: int, major: int, minor: int) -> int:
    _store(major, 1)
    _store(minor, 4)
    return 1


@c_function("pi:p")
def glXQueryExtensionsString(display: int, screen: int) -> int:
    return c_string(_EXTENSIONS)


def _string(name: int) -> int:
    return c_string({1: "gallette", 2: "1.4", 3: _EXTENSIONS}.get(name, ""))


@c_function("pi:p")
def glXGetClientString(display: int, name: int) -> int:
    return _string(name)


@c_function("pii:p")
def glXQueryServerString(display: int, screen: int, name: int) -> int:
    return _string(name)


@c_function("p:p", "glXGetProcAddressARB")
def glXGetProcAddress(name: int) -> int:
    from gallette.egl.registry import c_address

    text = (ctypes.cast(name, ctypes.c_char_p).value or b"").decode("ascii", "replace")
    return c_address(text) if text.startswith("glX") else proc_address(text)


# -- configs and visuals ---------------------------------------------------------------------------


@c_function("pip:p")
def glXChooseVisual(native: int, screen: int, attribs: int) -> int:
    found = _choose(_display(native), {DOUBLEBUFFER: 0} | _list(attribs, _BOOLEANS))
    return _visual_of(native, found[0]) if found else 0


def _of_visual(display: Display, visual: int) -> Config:
    """The config that a visual was given for, or, if Xlib gave it, the first that has it: it has
    everything but samples.
    """
    if not visual:
        raise EglError(Error.BAD_MATCH, "no visual")
    number = VisualInfo.from_address(visual).visualid
    given = _CONFIG_OF_VISUAL.get(visual)
    if given is not None and given[EGL.NATIVE_VISUAL_ID] == number:
        return given
    fitting = [c for c in display.configs if c[EGL.NATIVE_VISUAL_ID] == number]
    if not fitting:
        raise EglError(Error.BAD_CONFIG, "no config has that visual")
    return fitting[0]


@c_function("ppip:i")
def glXGetConfig(native: int, visual: int, attribute: int, value: int) -> int:
    try:
        found = _value(_of_visual(_display(native), visual), attribute)
    except EglError:
        _store(value, 0)
        return 0 if attribute == USE_GL else 4  # GLX_BAD_VISUAL
    if found is None:
        return 2  # GLX_BAD_ATTRIBUTE
    _store(value, found)
    return 0


def _give(found: list[Config], count: int) -> int:
    _store(count, len(found))
    if not found:
        return 0
    memory: int = _libc().malloc(8 * len(found))
    array = (ctypes.c_void_p * len(found)).from_address(memory)
    for index, config in enumerate(found):
        array[index] = config[EGL.CONFIG_ID]
    return memory


@c_function("pip:p")
def glXGetFBConfigs(native: int, screen: int, count: int) -> int:
    return _give(_display(native).configs, count)


@c_function("pipp:p", "glXChooseFBConfigSGIX")
def glXChooseFBConfig(native: int, screen: int, attribs: int, count: int) -> int:
    return _give(_choose(_display(native), _list(attribs)), count)


@c_function("ppip:i", "glXGetFBConfigAttribSGIX")
def glXGetFBConfigAttrib(native: int, config: int, attribute: int, value: int) -> int:
    found = _value(_display(native).config(config), attribute)
    if found is None:
        return 2
    _store(value, found)
    return 0


@c_function("pp:p", "glXGetVisualFromFBConfigSGIX")
def glXGetVisualFromFBConfig(native: int, config: int) -> int:
    return _visual_of(native, _display(native).config(config))


@c_function("pp:p")
def glXGetFBConfigFromVisualSGIX(native: int, visual: int) -> int:
    return _of_visual(_display(native), visual)[EGL.CONFIG_ID]


# -- contexts --------------------------------------------------------------------------------------


def _create(native: int, config: Config | None, share: int, request: Request) -> int:
    display = _display(native)
    other = display.context(share) if share else None
    context = EglContext(display, config, other, request)
    display.contexts[context.handle] = context
    return context.handle


@c_function("pppi:p")
def glXCreateContext(native: int, visual: int, share: int, direct: int) -> int:
    config = _of_visual(_display(native), visual)
    return _create(native, config, share, Request(EGL.OPENGL_API, {}))


@c_function("ppipi:p", "glXCreateContextWithConfigSGIX")
def glXCreateNewContext(native: int, config: int, kind: int, share: int, direct: int) -> int:
    chosen = _display(native).config(config)
    return _create(native, chosen, share, Request(EGL.OPENGL_API, {}))


_CONTEXT_ATTRIBUTES = {
    0x2091: EGL.CONTEXT_MAJOR_VERSION,
    0x2092: EGL.CONTEXT_MINOR_VERSION,
    0x2094: EGL.CONTEXT_FLAGS_KHR,
    0x9126: EGL.CONTEXT_OPENGL_PROFILE_MASK,
    0x31B3: EGL.CONTEXT_OPENGL_NO_ERROR_KHR,
}
_ES_PROFILE = 4


@c_function("pppip:p")
def glXCreateContextAttribsARB(
    native: int, config: int, share: int, direct: int, attribs: int
) -> int:
    given = _list(attribs)
    chosen = _display(native).config(config) if config else None
    api = EGL.OPENGL_API
    if given.get(0x9126) == _ES_PROFILE:
        del given[0x9126]
        api = EGL.OPENGL_ES_API
    reset = {0x8261: EGL.NO_RESET_NOTIFICATION, 0x8252: EGL.LOSE_CONTEXT_ON_RESET}
    translated = {_CONTEXT_ATTRIBUTES[k]: v for k, v in given.items() if k in _CONTEXT_ATTRIBUTES}
    if 0x8256 in given:
        strategy = EGL.CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY
        translated[strategy] = reset.get(given[0x8256], 0)
    return _create(native, chosen, share, Request(api, translated))


@c_function("pp:v")
def glXDestroyContext(native: int, context: int) -> None:
    _display(native).context(context).destroy()


@c_function("pp:i")
def glXIsDirect(native: int, context: int) -> int:
    return 1


@c_function("pppu:v")
def glXCopyContext(native: int, source: int, target: int, mask: int) -> None:
    """Copy the groups of state that glPushAttrib would save."""
    display = _display(native)
    given, taken = display.context(source), display.context(target)
    if taken.threads:
        raise EglError(Error.BAD_ACCESS, "a context that is current keeps its state")
    given.gl.push_attrib(mask)
    taken.gl.attrib_stack.server.append(given.gl.attrib_stack.server.pop())
    taken.gl.pop_attrib()


@c_function("ppip:i")
def glXQueryContext(native: int, context: int, attribute: int, value: int) -> int:
    found = _display(native).context(context)
    config = found.config[EGL.CONFIG_ID] if found.config is not None else 0
    _store(value, {FBCONFIG_ID: config, RENDER_TYPE: RGBA_TYPE, SCREEN: 0}.get(attribute, 0))
    return 0


def _surface(display: Display, drawable: int, context: EglContext) -> Surface:
    """The surface of a window, made when it is first drawn on."""
    key = (id(display), drawable)
    found = _SURFACES.get(key)
    if found is None or found.destroyed:
        assert display.windows is not None
        window = display.windows.open(drawable)
        if window is None:
            raise EglError(Error.BAD_NATIVE_WINDOW, f"{drawable:#x} is not a window")
        config = _CONFIG_OF.get(key) or context.config or display.configs[0]
        buffers = {EGL.RENDER_BUFFER: EGL.SINGLE_BUFFER if config.single else EGL.BACK_BUFFER}
        found = Surface(display, config, EGL.WINDOW_BIT, window.size(), buffers, window)
        display.surfaces[found.handle] = _SURFACES[key] = found
    return found


@c_function("pppp:i", "glXMakeCurrentReadSGI")
def glXMakeContextCurrent(native: int, draw: int, read: int, context: int) -> int:
    if not context:
        make_current(None, None, None)
        _leave()
        return 1
    display = _display(native)
    wanted = display.context(context)
    surfaces = [_surface(display, d, wanted) if d else None for d in (draw, read)]
    make_current(wanted, surfaces[0], surfaces[1])
    _CURRENT[get_ident()] = native, draw, read
    return 1


@at_thread_end
def _leave() -> None:
    _CURRENT.pop(get_ident(), None)


def _current() -> tuple[int, int, int]:
    return _CURRENT.get(get_ident(), _NOTHING)


@c_function("ppp:i")
def glXMakeCurrent(native: int, drawable: int, context: int) -> int:
    return int(glXMakeContextCurrent(native, drawable, drawable, context))


@c_function(":p")
def glXGetCurrentContext() -> int:
    context = current()
    return context.handle if context is not None else 0


@c_function(":p")
def glXGetCurrentDisplay() -> int:
    return _current()[0]


@c_function(":p")
def glXGetCurrentDrawable() -> int:
    return _current()[1]


@c_function(":p", "glXGetCurrentReadDrawableSGI")
def glXGetCurrentReadDrawable() -> int:
    return _current()[2]


# -- drawables -------------------------------------------------------------------------------------


@c_function("pp:v")
def glXSwapBuffers(native: int, drawable: int) -> None:
    found = _SURFACES.get((id(_display(native)), drawable))
    if found is not None:
        found.swap(current())


@c_function("ppiiii:v")
def glXCopySubBufferMESA(
    native: int, drawable: int, x: int, y: int, width: int, height: int
) -> None:
    """Show a part of the picture, whose rows are counted from the lower edge."""
    found, context = _SURFACES.get((id(_display(native)), drawable)), current()
    if found is None or found.window is None or context is None:
        return
    pixels = found.pixels(context)
    top, left = max(0, len(pixels) - y - height), max(0, x)
    part = pixels[top : max(top, len(pixels) - max(0, y)), left : max(left, x + width)]
    window: Any = found.window
    if part.size:
        window.present(part, (left, top))


@c_function("pppp:p")
def glXCreateWindow(native: int, config: int, window: int, attribs: int) -> int:
    display = _display(native)
    _CONFIG_OF[id(display), window] = display.config(config)
    return window


@c_function("pppp:p")
def glXCreatePixmap(native: int, config: int, pixmap: int, attribs: int) -> int:
    _PIXMAPS[id(_display(native)), pixmap] = _list(attribs)
    return int(glXCreateWindow(native, config, pixmap, attribs))


@c_function("ppp:p")
def glXCreateGLXPixmapWithConfigSGIX(native: int, config: int, pixmap: int) -> int:
    return int(glXCreateWindow(native, config, pixmap, 0))


@c_function("ppip:v")
def glXBindTexImageEXT(native: int, drawable: int, buffer: int, attribs: int) -> None:
    """Copy a pixmap's picture into the texture that is bound to its target."""
    display, context = _display(native), current()
    made = _PIXMAPS.get((id(display), drawable), {})
    target = _TEXTURES.get(made.get(TEXTURE_TARGET, 0))
    if target is None or buffer != FRONT_LEFT or context is None:
        raise EglError(Error.BAD_MATCH, f"{drawable:#x} was not made for texturing")
    pixels = _x11(display).picture(drawable)
    if made.get(TEXTURE_FORMAT) == FORMAT_RGB:
        pixels[..., 3] = 255
    texture_from_pixels(context.gl, target, pixels)


@c_function("ppi:v")
def glXReleaseTexImageEXT(native: int, drawable: int, buffer: int) -> None:
    """Do nothing: the texture has a copy."""


def _destroy(native: int, drawable: int) -> None:
    key = (id(_display(native)), drawable)
    _CONFIG_OF.pop(key, None)
    _PIXMAPS.pop(key, None)
    found = _SURFACES.pop(key, None)
    if found is not None:
        found.destroy()


@c_function(
    "pp:v",
    "glXDestroyPixmap",
    "glXDestroyPbuffer",
    "glXDestroyGLXPixmap",
    "glXDestroyGLXPbufferSGIX",
)
def glXDestroyWindow(native: int, drawable: int) -> None:
    _destroy(native, drawable)


@c_function("ppp:p")
def glXCreateGLXPixmap(native: int, visual: int, pixmap: int) -> int:
    display = _display(native)
    _CONFIG_OF[id(display), pixmap] = _of_visual(display, visual)
    return pixmap


@c_function("ppp:p")
def glXCreatePbuffer(native: int, config: int, attribs: int) -> int:
    given = _list(attribs)
    return int(
        glXCreateGLXPbufferSGIX(native, config, given.get(0x8041, 0), given.get(0x8040, 0), 0)
    )


@c_function("ppuup:p")
def glXCreateGLXPbufferSGIX(native: int, config: int, width: int, height: int, attribs: int) -> int:
    display, size = _display(native), (width, height)
    _PBUFFERS[0] += 1
    surface = Surface(display, display.config(config), EGL.PBUFFER_BIT, size, {})
    display.surfaces[surface.handle] = _SURFACES[id(display), _PBUFFERS[0]] = surface
    return _PBUFFERS[0]


@c_function("ppip:v", "glXQueryGLXPbufferSGIX")
def glXQueryDrawable(native: int, drawable: int, attribute: int, value: int) -> None:
    display = _display(native)
    key = (id(display), drawable)
    found, config = _SURFACES.get(key), _CONFIG_OF.get(key)
    width, height = 0, 0
    if found is not None:
        (width, height), config = found.size, found.config
    elif key in _PIXMAPS:
        width, height, _ = _x11(display).geometry(drawable)
    number = config[EGL.CONFIG_ID] if config is not None else 0
    values = {0x801D: width, 0x801E: height, FBCONFIG_ID: number, 0x801B: 1, 0x801C: 0,
              Y_INVERTED: 1}  # fmt: skip
    _store(value, (_PIXMAPS.get(key, {}) | values).get(attribute, 0))


@c_function("ppt:v", "glXSelectEventSGIX")
def glXSelectEvent(native: int, drawable: int, mask: int) -> None:
    """Do nothing: pbuffers are never clobbered here, so there is no event to send."""


@c_function("ppp:v", "glXGetSelectedEventSGIX")
def glXGetSelectedEvent(native: int, drawable: int, mask: int) -> None:
    ctypes.c_ulong.from_address(mask).value = 0


@c_function(":v")
def glXWaitGL() -> None:
    context = current()
    if context is not None:
        context.gl.finish()


@c_function(":v")
def glXWaitX() -> None:
    """Do nothing: pictures are sent on the program's connection, in order with what it draws."""


@c_function("ppi:v")
def glXSwapIntervalEXT(native: int, drawable: int, interval: int) -> None:
    """Do nothing: there is no refresh to wait for."""


@c_function("u:i", "glXSwapIntervalSGI")
def glXSwapIntervalMESA(interval: int) -> int:
    return 0


@c_function(":i")
def glXGetSwapIntervalMESA() -> int:
    return 0


@c_function("piii:v")
def glXUseXFont(font: int, first: int, count: int, base: int) -> None:
    import numpy as np

    from gallette.egl.x_fonts import glyphs

    context = current()
    if context is None or count < 0:
        raise EglError(Error.BAD_CONTEXT, "no context is current")
    gl, server = context.gl, _x11(_display(_current()[0])).server
    with plain_unpacking(gl):
        for i, glyph in enumerate(glyphs(server, font, first, count)):
            height, width = glyph.bits.shape
            gl.new_list(base + i, GL.COMPILE)
            data = np.packbits(glyph.bits[::-1], axis=1)
            gl.bitmap(width, height, glyph.left, glyph.below, glyph.advance, 0, data)
            gl.end_list()


# -- what draws: GLX_MESA_query_renderer -----------------------------------------------------------

_VENDOR, _DEVICE = 0x8183, 0x8184
_MEMORY = 0x8187
_RENDERER = {
    _VENDOR: (0xFFFFFFFF,), _DEVICE: (0xFFFFFFFF,),  # neither is a piece of hardware
    0x8185: tuple(int(number) for number in GALLETTE_VERSION.split(".")[:3]),
    0x8186: (0,),  # accelerated
    0x8188: (1,),  # its memory is the processor's
    0x8189: (1,),  # the core profile is preferred
    0x818A: (4, 6), 0x818B: (4, 6), 0x818C: (1, 1), 0x818D: (3, 2),
}  # fmt: skip
"""Attribute -> its values; versions of the core and compatibility profiles, ES 1 and ES."""


@c_function("piiip:i")
def glXQueryRendererIntegerMESA(
    native: int, screen: int, renderer: int, attribute: int, value: int
) -> int:
    if attribute == _MEMORY:
        found: tuple[int, ...] = (os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20,)
    else:
        found = _RENDERER.get(attribute, ())
    if not found or renderer or screen:
        return 0
    (ctypes.c_uint32 * len(found)).from_address(value)[:] = [*found]
    return 1


@c_function("ip:i")
def glXQueryCurrentRendererIntegerMESA(attribute: int, value: int) -> int:
    if current() is None:
        return 0
    return int(glXQueryRendererIntegerMESA(_current()[0], 0, 0, attribute, value))


@c_function("piii:p")
def glXQueryRendererStringMESA(native: int, screen: int, renderer: int, attribute: int) -> int:
    if attribute not in (_VENDOR, _DEVICE) or renderer or screen:
        return 0
    named = f" {_display(native).screen.describe()}" if attribute == _DEVICE else ""
    return c_string(f"gallette{named}")


@c_function("i:p")
def glXQueryCurrentRendererStringMESA(attribute: int) -> int:
    if current() is None:
        return 0
    return int(glXQueryRendererStringMESA(_current()[0], 0, 0, attribute))
