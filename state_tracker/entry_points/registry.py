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

__all__ = ["derives", "entry", "implementation", "implementations", "implemented", "register"]

F = TypeVar("F", bound=Callable[..., Any])

Deriver = Callable[[Function], Callable[..., Any] | None]

_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {}
_DERIVERS: dict[str, Deriver] = {}
_DERIVED: dict[str, Callable[..., Any] | None] = {}


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


def derives(extension: str) -> Callable[[Deriver], Deriver]:
    """Decorator: this makes the functions of an extension, each when it is first asked for."""

    def wrap(deriver: Deriver) -> Deriver:
        _DERIVERS[extension] = deriver
        return deriver

    return wrap


def implementation(function: Function) -> Callable[..., Any] | None:
    """What implements an entry point, directly or under its core name."""
    found = _IMPLEMENTATIONS.get(function.method)
    if found is None and function.extension in _DERIVERS:
        if function.method not in _DERIVED:
            _DERIVED[function.method] = _DERIVERS[function.extension](function)
        found = _DERIVED[function.method]
    if found is None:
        core = FUNCTIONS.alias(function)
        if core is not None:
            found = _IMPLEMENTATIONS.get(core.method)
    return found


def implemented(name: str) -> Callable[..., Any]:
    """What implements a function that is known to be there, by its name without `gl`."""
    found = implementation(FUNCTIONS[name])
    assert found is not None, name
    return found


def implementations() -> frozenset[str]:
    """The Python names of everything implemented, aliases not counted."""
    return frozenset(_IMPLEMENTATIONS)
