"""The registry of Python functions that implement GL functions.

A topic's module marks its functions with `@entry`; the function's name is the Python method name
from the table, its first parameter the context, the others the C parameters without the outputs
(which it returns). Families such as `uniform{1..4}{f,i,ui}v` are registered in a loop. Extension
aliases (`glBindBufferARB`) need no registration: the table lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from gallette.compiler.function_table import FunctionTable
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

F = TypeVar("F", bound=Callable[..., Any])

Deriver = Callable[[Function], Callable[..., Any] | None]
Restriction = Callable[["Context", Function, Callable[..., Any]], Callable[..., Any]]

_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {}
_DERIVERS = FunctionTable[str, Deriver]()
"""By extension: what derives its functions, each on first use."""
derives = _DERIVERS.entry
_DERIVED: dict[str, Callable[..., Any] | None] = {}
_RESTRICTIONS = FunctionTable[str, Restriction]()
"""By profile: what wraps the methods of its contexts, because the profile allows less than the
implementations do.
"""
restricts = _RESTRICTIONS.entry


def register(method: str, function: Callable[..., Any]) -> None:
    """Make `function` the implementation of the GL function with that Python name."""
    if not FUNCTIONS.has_method(method):
        raise KeyError(f"OpenGL has no function {method}")
    if method in _IMPLEMENTATIONS:
        raise KeyError(f"{method} is implemented twice")
    _IMPLEMENTATIONS[method] = function


def register_for(
    find: Callable[..., Any], functions: Mapping[str, Callable[..., Any]], named: bool = True
) -> None:
    """Register functions that take an object after the context, which `find` looks up: by the first
    argument, or, if it is not `named`, where the context has it bound.
    """

    def by_argument(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(ctx: Context, which: int, *args: Any) -> Any:
            return function(ctx, find(ctx, which), *args)

        return call

    def bound(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(ctx: Context, *args: Any) -> Any:
            return function(ctx, find(ctx), *args)

        return call

    for method, function in functions.items():
        register(method, by_argument(function) if named else bound(function))


def entry(function: F) -> F:
    """Decorator: register this as the implementation of the GL function it is named after."""
    register(function.__name__, function)
    return function


def restriction(profile: str) -> Restriction | None:
    """The wrapper of the methods of a profile's contexts."""
    return _RESTRICTIONS.get(profile)


def implementation(function: Function) -> Callable[..., Any] | None:
    """The implementation of an entry point, directly or under its core name."""
    found = _IMPLEMENTATIONS.get(function.method)
    derive = _DERIVERS.get(function.extension or "")
    if found is None and derive is not None:
        if function.method not in _DERIVED:
            _DERIVED[function.method] = derive(function)
        found = _DERIVED[function.method]
    if found is None:
        core = FUNCTIONS.alias(function)
        if core is not None:
            found = _IMPLEMENTATIONS.get(core.method)
    return found


def implemented(name: str) -> Callable[..., Any]:
    """The implementation of a function that is known to exist, by its name without `gl`."""
    found = implementation(FUNCTIONS[name])
    assert found is not None, name
    return found


def implementations() -> frozenset[str]:
    """The Python names of all implemented functions, without aliases."""
    return frozenset(_IMPLEMENTATIONS)
