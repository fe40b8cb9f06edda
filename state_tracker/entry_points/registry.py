"""Which Python function implements which GL function.

A topic's module marks its functions with `@entry`; the function's name is the Python method name
from the table, its first parameter the context, the rest the C parameters without the outputs
(those it returns). Families such as `uniform{1..4}{f,i,ui}v` register themselves in a loop.
Extension aliases (`glBindBufferARB`) need nothing: the table knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function

__all__ = ["entry", "implementation", "implementations", "register"]

F = TypeVar("F", bound=Callable[..., Any])

_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {}


def register(method: str, function: Callable[..., Any]) -> None:
    """Make `function` the implementation of the GL function with that Python name."""
    if not FUNCTIONS.has_method(method):
        raise KeyError(f"OpenGL has no function {method}")
    if method in _IMPLEMENTATIONS:
        raise KeyError(f"{method} is implemented twice")
    _IMPLEMENTATIONS[method] = function


def entry(function: F) -> F:
    """Decorator: this implements the GL function it is named after."""
    register(function.__name__, function)
    return function


def implementation(function: Function) -> Callable[..., Any] | None:
    """What implements an entry point, directly or under its core name."""
    found = _IMPLEMENTATIONS.get(function.method)
    if found is None:
        core = FUNCTIONS.alias(function)
        if core is not None:
            found = _IMPLEMENTATIONS.get(core.method)
    return found


def implementations() -> frozenset[str]:
    """The Python names of everything implemented, aliases not counted."""
    return frozenset(_IMPLEMENTATIONS)
