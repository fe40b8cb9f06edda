"""All a context knows, as comparable values, by walking its objects.

Everything of the state tracker's own is followed; what belongs to the driver or the compiler counts
by identity, except the bytes of resources. What is no state of OpenGL (caches, what is dirty, the
error itself) is left out by name.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

# Not state: derived from it, counted, or about the call itself.
_LEFT_OUT = frozenset(
    (
        *("error", "dirty", "caches", "calls", "group", "pipe", "screen", "limits", "caps"),
        *("debug", "_made", "_unrecorded", "_set_aside", "_watcher", "vertex_input"),
        "fixed_function",
        *("pipe_framebuffer", "bound_shaders", "full_rasterizer", "full_depth_stencil"),
        *(
            "_next",
            "ctx",
            "context",
            "_ctx",
            "stages",
            "derived",
            "_pipe_state",
            "_status",
            "plain_read",
            "_complete",
        ),
    )
)


_PLAIN = frozenset((type(None), bool, int, float, str, bytes))


@dataclass(frozen=True, slots=True)
class Digest:
    """Values in the order they were met, and where: (the place of what holds it, how)."""

    values: list[Any]
    places: list[tuple[Any, Any]]

    def by_path(self) -> dict[str, Any]:
        found = {}
        for place, value in zip(self.places, self.values, strict=True):
            again = isinstance(value, _Again)
            found[_path(place)] = _path(self.places[value.number]) if again else value
        return found


@dataclass(frozen=True, slots=True)
class _Again:
    """What was met before, as that many."""

    number: int


def digest(context: Any) -> Digest:
    """Everything in the context."""
    values: list[Any] = []
    places: list[tuple[Any, Any]] = []
    seen: dict[int, int] = {}
    stack: list[tuple[tuple[Any, Any], Any]] = [((None, ""), context)]
    while stack:
        place, value = stack.pop()
        kind = type(value)
        if kind not in _PLAIN and not isinstance(value, int | float | str | bytes | enum.Enum):
            if callable(value) and not hasattr(value, "__slots__"):
                continue
            if isinstance(value, np.ndarray):
                value = value.tobytes()
            elif id(value) in seen:
                value = _Again(seen[id(value)])
            else:
                seen[id(value)] = len(places)
                if isinstance(value, dict):
                    stack += [((place, (k,)), v) for k, v in value.items()]
                    value = len(value)
                elif isinstance(value, list | tuple):
                    stack += [((place, (i,)), v) for i, v in enumerate(value)]
                    value = len(value)
                elif isinstance(value, set | frozenset):
                    value = tuple(sorted(map(repr, value)))
                elif kind.__module__.startswith("gallette.state_tracker"):
                    stack += [((place, name), held) for name, held in _fields(value)]
                    value = kind.__name__
                else:
                    value = id(value)
        values.append(value if value == value else "nan")
        places.append(place)
    return Digest(values, places)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    for name, held in getattr(value, "__dict__", {}).items():
        if name not in _LEFT_OUT:
            yield name, held
    for name in _slots(type(value)):
        held = getattr(value, name, _NOTHING)
        if held is not _NOTHING:
            yield name, held


_NOTHING = object()


@cache
def _slots(kind: type) -> tuple[str, ...]:
    """The slots that are state."""
    found: list[str] = []
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        found += (slots,) if isinstance(slots, str) else slots
    return tuple(n for n in found if n not in _LEFT_OUT and not n.startswith("__"))


def _path(place: tuple[Any, Any]) -> str:
    """`.name` of a field, `[key]` of an element, from the context on."""
    within, how = place
    if within is None:
        return ""
    return _path(within) + (f"[{how[0]!r}]" if isinstance(how, tuple) else f".{how}")


def difference(before: Digest, after: Digest) -> list[str]:
    """What changed, in words."""
    if before.values == after.values:
        return []
    old, new = before.by_path(), after.by_path()
    return [
        f"{path}: {old.get(path, '-')!r} -> {new.get(path, '-')!r}"[:160]
        for path in sorted(old.keys() | new.keys())
        if old.get(path, "-") != new.get(path, "-")
    ]
