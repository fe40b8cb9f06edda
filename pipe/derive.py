"""Making a driver's class from the interface itself: what nobody wrote by hand is derived.

The abstract methods of `Screen` and `Context` are the one list of what a driver does. A driver that
treats most of them alike (ignoring them, recording them, forwarding them) says how, once, and can
never miss a method that the interface grows.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature, signature
from typing import Any

__all__ = ["interface_methods", "with_derived_methods"]


def interface_methods(interface: type) -> dict[str, Signature]:
    """The public methods an interface declares, abstract or not, with their signatures."""
    return {
        name: signature(member)
        for name, member in vars(interface).items()
        if callable(member) and not name.startswith("_")
    }


def with_derived_methods(
    name: str, base: type, derive: Callable[[str], Callable[..., Any]]
) -> type[Any]:
    """A concrete subclass of `base` in which `derive(method name)` fills every abstract method."""
    missing = sorted(getattr(base, "__abstractmethods__", ()))
    body: dict[str, Any] = {method: derive(method) for method in missing}
    for method, function in body.items():
        function.__name__ = method
        function.__qualname__ = f"{name}.{method}"
        function.__doc__ = getattr(base, method).__doc__
    return type(name, (base,), {**body, "__module__": base.__module__, "__doc__": base.__doc__})
