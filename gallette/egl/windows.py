"""Windows to present to. Without a window system, opening one fails as EGL specifies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from gallette.compiler.errors import print_message
from gallette.egl.configs import Visuals
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError


class Window(Protocol):
    """A native window, which has a size and shows the pixels of a surface."""

    native: int

    @property
    def has_alpha(self) -> bool:
        """Whether windows below show through."""
        ...

    def size(self) -> tuple[int, int]: ...
    def present(self, pixels: Any) -> None: ...
    def close(self) -> None: ...


class WindowSystem(Protocol):
    """A connection to a window system."""

    kinds: int
    """The kinds of surface that it has, EGL.WINDOW_BIT and EGL.PIXMAP_BIT."""
    by_address: bool
    """Do eglCreatePlatformWindowSurface and its like take a window's address?"""

    def visuals(self) -> Visuals: ...
    def open(self, native: int) -> Window | None: ...
    def close(self) -> None: ...


def connect(platform: int, native: int, ended: Callable[[], None]) -> WindowSystem:
    """The program's connection to a Wayland compositor or an X server, or one of our own if it has
    none. `ended` is called before the program closes its connection, if Xlib has opened it.
    """
    if platform == EGL.PLATFORM_WAYLAND:
        from gallette.egl.wayland import Wayland

        return Wayland(native)
    from gallette.egl.x11 import X11
    from gallette.egl.xcb import Connection, missing

    what = missing()
    if what is not None:
        print_message(f"gallette: {what}")  # programs do not show what EGL tells them
        raise EglError(Error.NOT_INITIALIZED, what)
    return X11(Connection(platform, native, ended))
