"""Derives the methods of a driver's class from the interface, except those that are written out.

The methods of `Screen` and `Context` are the complete list of a driver's functions. A driver that
treats most of them alike (ignoring, recording or forwarding them) implements that once, and cannot
miss a method that is added to the interface. A method's name consists of a verb and an object:
`calls` splits it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from inspect import Signature, signature
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass

_VERBS = "create|bind|delete|destroy|set|begin|end|get|clear|launch|render"


@lazy_dataclass(frozen=True)
class Call:
    """A method of an interface: `bind_sampler_states` does `bind` to a `sampler_state`."""

    name: str
    verb: str
    kind: str
    signature: Signature
    abstract: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(self.signature.parameters)[1:]

    @property
    def creates(self) -> str:
        """The kind of object that the method creates, or ""."""
        return self.kind if self.verb in ("create", "map") else ""

    @property
    def ends(self) -> bool:
        """Whether the method ends the life of its argument."""
        return self.verb in ("delete", "destroy", "unmap") and bool(self.kind)


def _verb_and_kind(name: str) -> tuple[str, str]:
    """The verb and the object of a method's name: `create_query`, but `resource_create`,
    `transfer_map`.
    """
    first = re.fullmatch(rf"({_VERBS})(?:_(\w+?))?", name)
    if first:
        verb, kind = first.groups("")
    else:
        last = re.fullmatch(r"(resource|transfer|context)_(create|map|unmap)", name)
        kind, verb = last.groups() if last else ("", name)
    return verb, kind.removesuffix("s") if kind.endswith("states") else kind


@cache
def calls(interface: type) -> dict[str, Call]:
    """The public methods an interface declares, abstract or not, in its order."""
    abstract: frozenset[str] = getattr(interface, "__abstractmethods__", frozenset())
    return {
        name: Call(name, *_verb_and_kind(name), signature(member), name in abstract)
        for name, member in vars(interface).items()
        if callable(member) and not name.startswith("_")
    }


def complete_class(
    name: str,
    base: type,
    interface: type,
    derive: Callable[[Call], Callable[..., Any]],
    everything: bool = False,
) -> type[Any]:
    """A concrete subclass of `base`, with methods from `derive` for those that `base` leaves
    abstract.

    With `everything`, methods that the interface itself implements are derived, too, unless `base`
    has them.
    """
    body: dict[str, Any] = {}
    for method, call in calls(interface).items():
        inherited = getattr(base, method)
        missing = getattr(inherited, "__isabstractmethod__", False)
        if missing or (everything and inherited is getattr(interface, method)):
            function = body[method] = derive(call)
            function.__name__ = method
            function.__qualname__ = f"{name}.{method}"
            function.__doc__ = inherited.__doc__
    return type(name, (base,), {**body, "__module__": base.__module__, "__doc__": base.__doc__})
