"""Windows to present to. Without a window system, opening one fails as EGL specifies."""

from __future__ import annotations

from typing import Any, Protocol

from gallette.compiler.errors import print_message
from gallette.egl.configs import Visuals
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError

__all__ = ["NEEDS_XLIB", "Window", "WindowSystem", "connect"]


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


NEEDS_XLIB = "windows of X11 need python-xlib: pip install gallette[x11]"


class WindowSystem(Protocol):
    """A connection to a window system."""

    kinds: int
    """The kinds of surface that it has, EGL.WINDOW_BIT and EGL.PIXMAP_BIT."""
    by_address: bool
    """Do eglCreatePlatformWindowSurface and its like take a window's address?"""

    def visuals(self) -> Visuals: ...
    def open(self, native: int) -> Window | None: ...
    def close(self) -> None: ...


def connect(platform: int, native: int) -> WindowSystem:
    """The program's connection to a Wayland compositor, or a separate one to the X server that
    `DISPLAY` (or an X Display) names.
    """
    if platform == EGL.PLATFORM_WAYLAND:
        from gallette.egl.wayland import Wayland

        return Wayland(native)
    try:
        from gallette.egl.x11 import X11
    except ImportError as error:
        what = f"gallette: {NEEDS_XLIB}"
        print_message(what)  # programs do not show what EGL tells them
        raise EglError(Error.NOT_INITIALIZED, what) from error
    return X11(native if platform == EGL.PLATFORM_X11 else 0)
