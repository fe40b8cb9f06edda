"""EGL contexts: the OpenGL that a request selects, and making a context current."""

from __future__ import annotations

from _thread import get_ident
from functools import partial
from typing import TYPE_CHECKING, Any

from gallette import default_driver
from gallette.compiler.gc_pause import loading
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError, check
from gallette.egl.registry import LOCK
from gallette.state_tracker.entry_points.thread_ends import at_thread_end, expect_end

if TYPE_CHECKING:
    from gallette.egl.configs import Config
    from gallette.egl.display import Display
    from gallette.egl.surfaces import Surface
    from gallette.state_tracker.context import Context

_API: dict[int, int] = {}
CURRENT: dict[int, EglContext] = {}
"""Thread -> its current context."""

_DEBUG, _FORWARD, _ROBUST = 1, 2, 4  # bits of EGL_CONTEXT_FLAGS_KHR
_VERSIONS = {
    EGL.OPENGL_API: frozenset(
        [(1, n) for n in range(6)] + [(2, 0), (2, 1)] + [(3, n) for n in range(4)]
        + [(4, n) for n in range(7)]
    ),
    EGL.OPENGL_ES_API: frozenset([(1, 0), (1, 1), (2, 0), (3, 0), (3, 1), (3, 2)]),
}  # fmt: skip


def bind_api(api: int) -> None:
    check(api in _VERSIONS, Error.BAD_PARAMETER, f"0x{api:04X} is not an API gallette has")
    if get_ident() not in _API:
        expect_end()
    _API[get_ident()] = api


def bound_api() -> int:
    return _API.get(get_ident(), EGL.OPENGL_ES_API)


def current() -> EglContext | None:
    return CURRENT.get(get_ident())


@at_thread_end
def release_thread() -> None:
    """Release the thread's context and reset its state to that of a new thread."""
    with LOCK:
        make_current(None, None, None)
    _API.pop(get_ident(), None)


class Request:
    """The attributes of a new context, read and checked."""

    def __init__(self, api: int, given: dict[int, int]):
        self.api = api
        self.major, self.minor = 1, 0
        self.core, self.profile_mask = True, EGL.CORE_PROFILE_BIT
        self.debug = self.forward = self.robust = self.no_error = False
        self.reset = EGL.NO_RESET_NOTIFICATION
        for attribute, value in given.items():
            self._take(attribute, value)
        version = (self.major, self.minor)
        check(version in _VERSIONS[api], Error.BAD_MATCH, f"there is no version {version}")
        if api == EGL.OPENGL_ES_API:
            check(not self.forward, Error.BAD_ATTRIBUTE, "forward-compatible is desktop OpenGL")
        else:
            check(
                not self.forward or version >= (3, 0),
                Error.BAD_MATCH,
                "forward-compatible contexts begin with 3.0",
            )
            if version >= (3, 2):
                both = EGL.CORE_PROFILE_BIT, EGL.COMPATIBILITY_PROFILE_BIT
                check(self.profile_mask in both, Error.BAD_MATCH, "one profile, core or not")
        if self.no_error:
            check(not (self.debug or self.robust), Error.BAD_MATCH, "no-error excludes checking")

    def _take(self, attribute: int, value: int) -> None:
        desktop = self.api == EGL.OPENGL_API
        if attribute == EGL.CONTEXT_MAJOR_VERSION:
            self.major = value
        elif attribute == EGL.CONTEXT_MINOR_VERSION:
            self.minor = value
        elif attribute == EGL.CONTEXT_FLAGS_KHR:
            known = _DEBUG | _FORWARD | _ROBUST if desktop else _DEBUG
            check(not value & ~known, Error.BAD_ATTRIBUTE, f"unknown flags 0x{value:X}")
            self.debug = self.debug or bool(value & _DEBUG)
            self.forward = bool(value & _FORWARD)
            self.robust = bool(value & _ROBUST)
        elif attribute == EGL.CONTEXT_OPENGL_PROFILE_MASK and desktop:
            self.profile_mask = value
        elif attribute == EGL.CONTEXT_OPENGL_DEBUG:
            self.debug = bool(value)
        elif attribute == EGL.CONTEXT_OPENGL_FORWARD_COMPATIBLE and desktop:
            self.forward = bool(value)
        elif attribute in (EGL.CONTEXT_OPENGL_ROBUST_ACCESS, EGL.CONTEXT_OPENGL_ROBUST_ACCESS_EXT):
            self.robust = bool(value)
        elif attribute == EGL.CONTEXT_OPENGL_NO_ERROR_KHR:
            self.no_error = bool(value)
        elif attribute in (
            EGL.CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
            EGL.CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
        ):
            both = EGL.NO_RESET_NOTIFICATION, EGL.LOSE_CONTEXT_ON_RESET
            check(value in both, Error.BAD_ATTRIBUTE, "an unknown reset strategy")
            self.reset = value
        elif attribute not in (EGL.CONTEXT_PRIORITY_LEVEL_IMG, EGL.CONTEXT_RELEASE_BEHAVIOR_KHR):
            check(False, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} is not a context's attribute")

    @property
    def profile(self) -> str:
        """The profile: es, core where requested, else compat."""
        if self.api == EGL.OPENGL_ES_API:
            return "es"
        wants_core = self.profile_mask == EGL.CORE_PROFILE_BIT
        if (self.major, self.minor) >= (3, 2):
            return "core" if wants_core else "compat"
        return "core" if (self.major, self.minor) == (3, 1) and self.forward else "compat"


class EglContext:
    """An EGL context, and the surfaces it draws on where it is current."""

    @loading
    def __init__(
        self, display: Display, config: Config | None, share: EglContext | None, request: Request
    ):
        from gallette.compiler.errors import GalletteError
        from gallette.state_tracker.context import Context
        from gallette.state_tracker.entry_points.current import current_context, set_current

        if share is not None:
            same = share.request.reset == request.reset
            check(same, Error.BAD_MATCH, "contexts that share need the same reset strategy")
            same = share.request.no_error == request.no_error
            check(same, Error.BAD_MATCH, "contexts that share are all without errors, or none")
        self.display, self.config = display, config
        self.request: Request = request
        before = current_context()
        try:
            self.gl: Context = Context(
                default_driver(),
                profile=request.profile,
                version=(request.major, request.minor),
                debug=request.debug,
                screen=display.screen,
                share=share.gl if share is not None else None,
            )
        except GalletteError as error:
            raise EglError(Error.BAD_MATCH, str(error)) from error
        finally:
            set_current(before)
        self.gl.find_image = display.image_source
        self.gl.robust, self.gl.no_error = request.robust, request.no_error
        self.gl.forward_compatible = request.forward
        self.gl.loses_context_on_reset = request.reset == EGL.LOSE_CONTEXT_ON_RESET
        self.draw: Surface | None = None
        self.read: Surface | None = None
        self.threads = 0
        self.destroyed = False

    @property
    def handle(self) -> int:
        return id(self)

    def query(self, attribute: int) -> int:
        values: dict[int, Any] = {
            EGL.CONFIG_ID: self.config[EGL.CONFIG_ID] if self.config is not None else 0,
            EGL.CONTEXT_CLIENT_TYPE: self.request.api,
            0x3098: self.request.major,
            EGL.RENDER_BUFFER: EGL.NONE if self.draw is None else self.draw.query(
                EGL.RENDER_BUFFER
            ),
            EGL.CONTEXT_PRIORITY_LEVEL_IMG: EGL.CONTEXT_PRIORITY_MEDIUM_IMG,
        }  # fmt: skip
        known = attribute in values
        check(known, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} is not an attribute of a context")
        return int(values[attribute])

    def bind_surfaces(self) -> None:
        self.gl.bind_drawables(
            self.draw.drawable if self.draw is not None else None,
            self.read.drawable if self.read is not None else None,
        )

    def enter(self, draw: Surface | None, read: Surface | None) -> None:
        CURRENT[get_ident()] = self
        self.threads += 1
        self.draw, self.read = draw, read
        for surface in {draw, read}:
            if surface is not None:
                surface.users.append(self)
                surface.fit()
        self.gl.make_current()
        from gallette.egl.boot import resolve_recorded

        resolve_recorded()
        with self.gl.using_pipe():
            self.bind_surfaces()
        if draw is not None and draw.window is not None:
            self.gl.look_at_window = draw.look
            self.gl.show_front = partial(draw.show_front, self)

    def leave(self) -> None:
        """Make the context not current, and destroy objects whose destruction was deferred until
        then.
        """
        from gallette.state_tracker.entry_points.current import set_current

        self.gl.look_at_window = self.gl.show_front = None
        if not self.gl.released:
            with self.gl.using_pipe():
                self.gl.pipe.flush()
                self.gl.bind_drawables(None, None)
        CURRENT.pop(get_ident(), None)
        set_current(None)
        self.threads -= 1
        for surface in {self.draw, self.read}:
            if surface is not None:
                surface.leave(self)
        self.draw = self.read = None
        if self.destroyed and not self.threads:
            self._free()

    def destroy(self) -> None:
        self.destroyed = True
        self.display.contexts.pop(self.handle, None)
        if not self.threads:
            self._free()

    def _free(self) -> None:
        from gallette.state_tracker.entry_points.current import current_context, set_current

        before = current_context()
        try:
            self.gl.release()
        finally:
            set_current(before if before is not None and not before.released else None)


def make_current(context: EglContext | None, draw: Surface | None, read: Surface | None) -> None:
    """Implements eglMakeCurrent, for resolved handles."""
    before = current()
    if context is not None:
        elsewhere = context.threads and context is not before
        check(not elsewhere, Error.BAD_ACCESS, "the context is current in another thread")
        for surface in (draw, read):
            if surface is not None:
                _match(context, surface)
    if before is not None:
        if context is before and (draw, read) == (before.draw, before.read):
            context.gl.make_current()
            return
        before.leave()
    if context is not None:
        context.enter(draw, read)


def _match(context: EglContext, surface: Surface) -> None:
    """Whether this context may draw on that surface."""
    for user in surface.users:
        ok = user is context or user.threads == 0 or CURRENT.get(get_ident()) is user
        check(ok, Error.BAD_ACCESS, "the surface is current in another thread")
    if context.config is None:
        return
    for size in (EGL.RED_SIZE, EGL.GREEN_SIZE, EGL.BLUE_SIZE):
        same = context.config[size] == surface.config[size]
        check(same, Error.BAD_MATCH, "the config of the surface is of another format")
