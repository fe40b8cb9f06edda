"""Taps: how tools observe the calls on a driver's context.

A tap is called in place of a method, with a `PipeCall` that knows the method's name and arguments;
it calls `run` once, and may inspect state before and after. Calls made by taps, and by drivers
during a call, are not shown to taps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .derived_methods import calls
from .interface import Context

DRAWING = (
    "draw_vbo",
    "launch_grid",
    "clear",
    "clear_render_target",
    "clear_depth_stencil",
    "blit",
    "resource_copy_region",
)
"""The calls by which drawing commands of OpenGL write pixels or buffers."""

_METHODS = calls(Context)


class PipeCall:
    """One call on a context: the method's name, the arguments by name, and the result."""

    def __init__(self, name: str, arguments: dict[str, Any], method: Callable[..., Any]) -> None:
        self.name, self.arguments = name, arguments
        self.result: Any = None
        self._method, self._left = method, list[Tap]()

    def run(self) -> None:
        """Make the call: call the next tap or, after the last one, the method itself."""
        if self._left:
            self._left.pop(0)(self)
        else:
            self.result = self._method(**self.arguments)


Tap = Callable[[PipeCall], None]


class _Taps:
    """The taps of a context."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[Tap]] = {}
        self.inside = False

    def method(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        """The function that replaces a method."""
        signature, taps = _METHODS[name].signature, self.by_name[name]

        def tapped(*args: Any, **kwargs: Any) -> Any:
            if self.inside:
                return method(*args, **kwargs)
            bound = signature.bind(None, *args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            del given["self"]
            call = PipeCall(name, given, method)
            call._left += taps
            self.inside = True
            try:
                call.run()
            finally:
                self.inside = False
            return call.result

        return tapped


def tap(pipe: Any, names: Iterable[str], observer: Tap) -> None:
    """Attach an observer to calls of these methods."""
    taps: _Taps = pipe.__dict__.setdefault("_taps", _Taps())
    for name in names:
        if name not in taps.by_name:
            taps.by_name[name] = []
            setattr(pipe, name, taps.method(name, getattr(pipe, name)))
        if observer not in taps.by_name[name]:  # contexts of OpenGL that share have one pipe
            taps.by_name[name].append(observer)


def untap(pipe: Any, names: Iterable[str], observer: Tap) -> None:
    """Detach an observer from calls of these methods."""
    taps: _Taps = pipe.__dict__["_taps"]
    for name in names:
        taps.by_name[name].remove(observer)
        if not taps.by_name[name]:
            del taps.by_name[name]
            delattr(pipe, name)


def is_tapped(pipe: Any, name: str) -> bool:
    """Whether an observer is attached to this method."""
    taps: _Taps | None = pipe.__dict__.get("_taps")
    return taps is not None and name in taps.by_name
