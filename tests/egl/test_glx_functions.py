"""GLX's functions called in this process, on a display whose windows are made up."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.egl import functions, glx
from gallette.egl.configs import make_configs
from gallette.egl.constants import EGL, Error
from gallette.egl.display import Display
from gallette.egl.errors import EglError
from gallette.egl.glx import FBCONFIG_ID, RENDER_TYPE, SCREEN, USE_GL, VisualInfo
from gallette.state_tracker.entry_points.enums import GL

WINDOWS = EGL.WINDOW_BIT | EGL.PIXMAP_BIT | EGL.PBUFFER_BIT
VISUALS = {(8, 8, 8, 0): ((0x21, 4),), (8, 8, 8, 8): ((0x50, 4),)}
DOUBLEBUFFER, RED, ALPHA, DEPTH, RGBA_TYPE = 5, 8, 11, 12, 0x8014


class Window:
    """A window of 5 x 4 pixels that keeps what it is shown."""

    has_alpha = False

    def __init__(self, native: int) -> None:
        self.native, self.shown, self.closed = native, list[Any](), False

    def size(self) -> tuple[int, int]:
        return 5, 4

    def present(self, pixels: Any, at: tuple[int, int] = (0, 0)) -> None:
        self.shown.append(np.array(pixels))
        self.at = at

    def close(self) -> None:
        self.closed = True


class Windows:
    """A window system that has the windows 70 to 79."""

    def __init__(self) -> None:
        self.opened: list[Window] = []

    def open(self, native: int) -> Window | None:
        if not 70 <= native < 80:
            return None
        self.opened.append(Window(native))
        return self.opened[-1]

    def close(self) -> None:
        """Nothing to do."""


class Glx:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.display = Display(EGL.PLATFORM_SURFACELESS_MESA, 0)
        self.display.initialize()
        self.windows = Windows()
        self.display.windows = self.windows  # type: ignore[assignment]
        self.display.configs = make_configs(8, 4096, WINDOWS, VISUALS)
        monkeypatch.setattr(glx, "_display", lambda native: self.display)
        monkeypatch.setattr(glx, "_visual", lambda native, number: 1000 + number)

    def config(self, alpha: int) -> int:
        """A config of a visual; with or without alpha."""
        for config in self.display.configs:
            if config[EGL.NATIVE_VISUAL_ID] and config[EGL.ALPHA_SIZE] == alpha:
                return config[EGL.CONFIG_ID]
        raise AssertionError

    def gl(self, context: int) -> Any:
        return self.display.context(context).gl


@pytest.fixture
def x(monkeypatch: pytest.MonkeyPatch) -> Iterator[Glx]:
    made = Glx(monkeypatch)
    yield made
    glx.glXMakeContextCurrent(1, 0, 0, 0)
    made.display.terminate()


def listed(*values: int) -> Any:
    return (ctypes.c_int32 * (len(values) + 1))(*values, 0)


def asked(call: Any, *args: int) -> tuple[Any, int]:
    """What a call answers, and what it stores."""
    value = ctypes.c_int32(-77)
    return call(*args, ctypes.addressof(value)), value.value


def visual(number: int) -> Any:
    return VisualInfo(visualid=number)


def test_configs_of_visuals(x: Glx) -> None:
    plain, clear = visual(0x21), visual(0x50)
    ask = glx.glXGetConfig
    for kept, alpha in ((plain, 0), (clear, 8)):
        at = ctypes.addressof(kept)
        assert asked(ask, 1, at, ALPHA) == (0, alpha)
        assert asked(ask, 1, at, RED) == (0, 8)
        assert asked(ask, 1, at, USE_GL) == (0, 1)
        assert asked(ask, 1, at, 0x1234) == (2, -77)  # GLX_BAD_ATTRIBUTE
    other = visual(0x99)
    for at in (0, ctypes.addressof(other)):
        assert asked(ask, 1, at, USE_GL) == (0, 0)
        assert asked(ask, 1, at, RED) == (4, 0)  # GLX_BAD_VISUAL
    wanted = listed(4, ALPHA, 8)  # GLX_RGBA
    assert glx.glXChooseVisual(1, 0, ctypes.addressof(wanted)) == 1000 + 0x50
    impossible = listed(RED, 99)
    assert glx.glXChooseVisual(1, 0, ctypes.addressof(impossible)) == 0
    for config in x.display.configs:
        number = config[EGL.NATIVE_VISUAL_ID]
        found = glx.glXGetVisualFromFBConfig(1, config[EGL.CONFIG_ID])
        assert found == (1000 + number if number else 0)


def test_a_visual_that_was_given_for_a_config_stands_for_it(
    x: Glx, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = visual(0x21)
    monkeypatch.setattr(glx, "_visual", lambda native, number: ctypes.addressof(kept))
    fitting = [c[EGL.CONFIG_ID] for c in x.display.configs if c[EGL.NATIVE_VISUAL_ID] == 0x21]
    for config in (fitting[-1], fitting[0]):
        given = glx.glXGetVisualFromFBConfig(1, config)
        context = glx.glXCreateContext(1, given, 0, 1)
        assert asked(glx.glXQueryContext, 1, context, FBCONFIG_ID)[1] == config


def test_what_a_context_says_of_itself(x: Glx) -> None:
    config = x.config(8)
    of_config = glx.glXCreateNewContext(1, config, RGBA_TYPE, 0, 1)
    kept = visual(0x21)
    of_visual = glx.glXCreateContext(1, ctypes.addressof(kept), 0, 1)
    alone = glx.glXCreateContextAttribsARB(1, 0, 0, 1, 0)
    numbers = [asked(glx.glXQueryContext, 1, c, FBCONFIG_ID)[1] for c in (of_config, of_visual)]
    assert numbers == [config, x.display.context(of_visual).config[EGL.CONFIG_ID]]
    assert x.display.config(numbers[1])[EGL.NATIVE_VISUAL_ID] == 0x21
    assert asked(glx.glXQueryContext, 1, alone, FBCONFIG_ID) == (0, 0)
    assert asked(glx.glXQueryContext, 1, of_config, RENDER_TYPE) == (0, RGBA_TYPE)
    assert asked(glx.glXQueryContext, 1, of_config, SCREEN) == (0, 0)
    assert glx.glXIsDirect(1, of_config) == 1
    shared = glx.glXCreateNewContext(1, config, RGBA_TYPE, of_config, 1)
    assert x.gl(shared).group is x.gl(of_config).group
    assert x.gl(alone).group is not x.gl(of_config).group
    glx.glXDestroyContext(1, shared)
    assert shared not in x.display.contexts


def test_groups_of_state_are_copied_between_contexts(x: Glx) -> None:
    kept = visual(0x21)
    first, second = (glx.glXCreateContext(1, ctypes.addressof(kept), 0, 1) for _ in range(2))
    glx.glXMakeCurrent(1, 70, first)
    given, taken = x.gl(first), x.gl(second)
    given.enable(GL.BLEND)
    given.color4f(1, 0.5, 0.25, 1)
    given.depth_func(GL.GREATER)
    glx.glXCopyContext(1, first, second, GL.CURRENT_BIT | GL.COLOR_BUFFER_BIT)
    with pytest.raises(EglError) as told:
        glx.glXCopyContext(1, second, first, GL.CURRENT_BIT)
    assert told.value.code == Error.BAD_ACCESS
    given.color4f(0, 0, 0, 0)
    glx.glXMakeCurrent(1, 70, second)
    assert list(taken.get_floatv(GL.CURRENT_COLOR)) == [1, 0.5, 0.25, 1]
    assert taken.is_enabled(GL.BLEND)
    assert taken.get_integerv(GL.DEPTH_FUNC)[0] == GL.LESS, "its group was not asked for"
    for gl in (given, taken):
        assert gl.get_integerv(GL.ATTRIB_STACK_DEPTH)[0] == 0
    taken.clear(GL.COLOR_BUFFER_BIT)
    assert taken.get_error() == 0


@pytest.mark.parametrize(
    ("box", "at", "rows", "columns"),
    [
        ((0, 0, 5, 4), (0, 0), slice(0, 4), slice(0, 5)),
        ((1, 1, 2, 2), (1, 1), slice(1, 3), slice(1, 3)),
        ((2, 0, 9, 1), (2, 3), slice(3, 4), slice(2, 5)),
        ((-1, -1, 3, 3), (0, 2), slice(2, 4), slice(0, 2)),
        ((7, 1, 2, 2), None, slice(0), slice(0)),
        ((1, 1, 0, 2), None, slice(0), slice(0)),
    ],
)
def test_a_part_of_a_window_is_shown(
    x: Glx, box: tuple[int, ...], at: tuple[int, int] | None, rows: slice, columns: slice
) -> None:
    context = glx.glXCreateNewContext(1, x.config(0), RGBA_TYPE, 0, 1)
    glx.glXCopySubBufferMESA(1, 70, *box)  # it has no surface yet
    glx.glXMakeCurrent(1, 70, context)
    gl, picture = x.gl(context), np.zeros((4, 5, 4), np.uint8)
    picture[..., 0], picture[..., 1], picture[..., 3] = np.arange(5), np.arange(4)[:, None], 255
    gl.window_pos2i(0, 0)
    gl.draw_pixels(5, 4, GL.RGBA, GL.UNSIGNED_BYTE, picture[::-1].copy())
    glx.glXCopySubBufferMESA(1, 70, *box)
    window = x.windows.opened[0]
    assert len(window.shown) == (at is not None)
    if at is not None:
        assert window.at == at
        assert (window.shown[0] == picture[rows, columns]).all()


def test_the_renderer_is_told(x: Glx) -> None:
    def ask(*given: int) -> list[int] | None:
        values = (ctypes.c_uint32 * 3)(*[99] * 3)
        kept = ctypes.addressof(values)
        if len(given) == 1:
            known = glx.glXQueryCurrentRendererIntegerMESA(*given, kept)
        else:
            known = glx.glXQueryRendererIntegerMESA(1, *given, kept)
        return [v for v in values if v != 99] if known else None

    assert ask(0, 0, 0x818A) == ask(0, 0, 0x818B) == [4, 6]
    assert (ask(0, 0, 0x818C), ask(0, 0, 0x818D)) == ([1, 1], [3, 2])
    assert (ask(0, 0, 0x8186), ask(0, 0, 0x8188)) == ([0], [1])
    assert len(ask(0, 0, 0x8185) or ()) == 3
    assert (ask(0, 0, 0x8187) or [0])[0] > 100
    assert ask(0, 0, 0x1234) is ask(0, 1, 0x8186) is ask(0x8186) is None
    assert glx.glXQueryCurrentRendererStringMESA(0x8183) == 0
    glx.glXMakeCurrent(1, 70, glx.glXCreateNewContext(1, x.config(0), RGBA_TYPE, 0, 1))
    assert ask(0x8186) == [0]
    for name, text in ((0x8183, GL.VENDOR), (0x8184, GL.RENDERER)):
        told = ctypes.string_at(glx.glXQueryCurrentRendererStringMESA(name)).decode()
        context = x.display.context(glx.glXGetCurrentContext())
        assert told == context.gl.get_string(text)
    assert glx.glXQueryRendererStringMESA(1, 0, 0, 0x8186) == 0


def test_configs_and_pbuffers_of_sgi_are_those_of_today(x: Glx) -> None:
    kept = visual(0x50)
    config = glx.glXGetFBConfigFromVisualSGIX(1, ctypes.addressof(kept))
    assert x.display.config(config)[EGL.NATIVE_VISUAL_ID] == 0x50
    context = glx.glXCreateNewContext(1, config, RGBA_TYPE, 0, 1)
    assert glx.glXCreateGLXPixmapWithConfigSGIX(1, config, 75) == 75
    pbuffer = glx.glXCreateGLXPbufferSGIX(1, config, 6, 3, 0)
    assert [asked(glx.glXQueryDrawable, 1, pbuffer, n)[1] for n in (0x801D, 0x801E)] == [6, 3]
    for drawable in (75, pbuffer):
        assert glx.glXMakeContextCurrent(1, drawable, drawable, context) == 1
        assert asked(glx.glXQueryDrawable, 1, drawable, FBCONFIG_ID)[1] == config


@pytest.mark.parametrize(
    ("attribute", "buffer", "shown"),
    [((), GL.FRONT, True), ((DOUBLEBUFFER,), GL.BACK, False), ((DOUBLEBUFFER,), GL.FRONT, True)],
)
def test_glflush_shows_the_front_buffer(
    x: Glx, monkeypatch: pytest.MonkeyPatch, attribute: tuple[int, ...], buffer: int, shown: bool
) -> None:
    kept = visual(0x21)
    monkeypatch.setattr(glx, "_visual", lambda native, number: ctypes.addressof(kept))
    wanted = listed(RED, 8, *attribute)
    chosen = glx.glXChooseVisual(1, 0, ctypes.addressof(wanted))
    context = glx.glXCreateContext(1, chosen, 0, 1)
    assert glx.glXMakeCurrent(1, 70, context) == 1
    gl = x.gl(context)
    gl.draw_buffer(buffer)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.flush()
    assert gl.get_integerv(GL.DOUBLEBUFFER)[0] == len(attribute)
    assert len(x.windows.opened[0].shown) == shown


def test_windows_become_surfaces_when_they_are_drawn_on(x: Glx) -> None:
    config = x.config(0)
    context = glx.glXCreateNewContext(1, config, RGBA_TYPE, 0, 1)
    assert glx.glXMakeContextCurrent(1, 70, 71, context) == 1
    assert [w.native for w in x.windows.opened] == [70, 71]
    names = glx.glXGetCurrentDrawable, glx.glXGetCurrentReadDrawable, glx.glXGetCurrentDisplay
    assert [name() for name in names] == [70, 71, 1]
    assert glx.glXGetCurrentContext() == context
    current = x.display.context(context)
    assert current.draw is not None
    assert current.read is not None
    assert (current.draw.window, current.read.window) == tuple(x.windows.opened)
    assert glx.glXMakeCurrent(1, 70, context) == 1
    assert len(x.windows.opened) == 2  # the surface is there already
    assert current.draw is current.read
    gl = x.gl(context)
    gl.clear_color(0.2, 0.4, 0.6, 1)
    gl.clear(GL.COLOR_BUFFER_BIT)
    glx.glXSwapBuffers(1, 70)
    glx.glXSwapBuffers(1, 79)  # has no surface
    assert len(x.windows.opened[0].shown) == 1
    assert x.windows.opened[0].shown[0][0, 0].tolist() == [51, 102, 153, 255]
    assert [asked(glx.glXQueryDrawable, 1, 70, name)[1] for name in (0x801D, 0x801E)] == [5, 4]
    assert asked(glx.glXQueryDrawable, 1, 70, FBCONFIG_ID)[1] == config
    assert [asked(glx.glXQueryDrawable, 1, 79, name)[1] for name in (0x801D, FBCONFIG_ID)] == [0, 0]
    assert [asked(glx.glXQueryDrawable, 1, 70, name)[1] for name in (0x801B, 0x801C)] == [1, 0]
    finished: list[int] = []
    gl.finish = lambda: finished.append(1)
    glx.glXWaitGL()
    assert finished == [1]
    assert glx.glXMakeCurrent(1, 0, 0) == 1
    assert [name() for name in names] == [0, 0, 0]
    assert glx.glXGetCurrentContext() == 0
    glx.glXWaitGL()
    assert finished == [1]
    with pytest.raises(EglError) as told:
        glx.glXMakeCurrent(1, 80, context)
    assert told.value.code == Error.BAD_NATIVE_WINDOW


def test_drawables_have_the_configs_they_were_made_with(x: Glx) -> None:
    clear, plain = x.config(8), x.config(0)
    kept = visual(0x50)
    context = glx.glXCreateContextAttribsARB(1, 0, 0, 1, 0)
    assert glx.glXCreateWindow(1, clear, 72, 0) == 72
    assert glx.glXCreateGLXPixmap(1, ctypes.addressof(kept), 73) == 73
    found = {}
    for drawable in (72, 73, 74):
        glx.glXMakeCurrent(1, drawable, context)
        found[drawable] = asked(glx.glXQueryDrawable, 1, drawable, FBCONFIG_ID)[1]
    of_visual = next(c for c in x.display.configs if c[EGL.NATIVE_VISUAL_ID] == 0x50)
    assert found == {72: clear, 73: of_visual[EGL.CONFIG_ID], 74: 1}  # else the first there is
    glx.glXMakeCurrent(1, 0, 0)
    windows = {w.native: w for w in x.windows.opened}
    glx.glXDestroyWindow(1, 72)
    glx.glXDestroyWindow(1, 99)
    assert windows[72].closed
    assert not windows[73].closed
    assert asked(glx.glXQueryDrawable, 1, 72, 0x801D)[1] == 0
    glx.glXCreateWindow(1, plain, 72, 0)  # again, with another config
    glx.glXMakeCurrent(1, 72, context)
    assert asked(glx.glXQueryDrawable, 1, 72, FBCONFIG_ID)[1] == plain


def test_pbuffers(x: Glx) -> None:
    config = x.config(8)
    context = glx.glXCreateNewContext(1, config, RGBA_TYPE, 0, 1)
    sizes = listed(0x8041, 6, 0x8040, 3)
    first = glx.glXCreatePbuffer(1, config, ctypes.addressof(sizes))
    second = glx.glXCreatePbuffer(1, config, 0)
    assert first != second
    found = [
        asked(glx.glXQueryDrawable, 1, p, name)[1]
        for p in (first, second)
        for name in (0x801D, 0x801E)
    ]
    assert found == [6, 3, 0, 0]
    assert glx.glXMakeCurrent(1, first, context) == 1
    gl = x.gl(context)
    gl.clear_color(0.2, 0.4, 0.6, 0.8)
    gl.clear(GL.COLOR_BUFFER_BIT)
    seen = gl.read_pixels(0, 0, 6, 3, GL.RGBA, GL.UNSIGNED_BYTE)
    assert seen == bytes([51, 102, 153, 204]) * 18
    assert x.windows.opened == []
    surfaces = len(x.display.surfaces)
    glx.glXMakeCurrent(1, 0, 0)
    glx.glXDestroyWindow(1, first)
    assert len(x.display.surfaces) == surfaces - 1


def test_events_and_intervals_are_none() -> None:
    mask = ctypes.c_ulong(77)
    glx.glXGetSelectedEvent(1, 70, ctypes.addressof(mask))
    assert mask.value == 0
    assert glx.glXSwapIntervalMESA(3) == glx.glXGetSwapIntervalMESA() == 0
    assert glx.glXWaitX() is glx.glXSelectEvent(1, 70, 1) is None
    assert glx.glXSwapIntervalEXT(1, 70, 1) is None


def test_functions_are_found_by_name() -> None:
    for name, there in {
        b"glXSwapBuffers": True, b"glXSwapIntervalSGI": True, b"glXCreatePixmap": True,
        b"glXCreateContextWithConfigSGIX": True, b"glXGetCurrentReadDrawableSGI": True,
        b"glXChooseFBConfigSGIX": True, b"glXGetFBConfigAttribSGIX": True,
        b"glXGetVisualFromFBConfigSGIX": True, b"glXMakeCurrentReadSGI": True,
        b"glXQueryGLXPbufferSGIX": True, b"glXDestroyGLXPbufferSGIX": True,
        b"glClear": True, b"glXNothing": False, b"glNothing": False, b"": False,
    }.items():  # fmt: skip
        kept = ctypes.create_string_buffer(name)
        found = glx.glXGetProcAddress(ctypes.addressof(kept))
        assert bool(found) == there, name
    assert functions.proc_address("glClear") != 0
