"""All a context knows, as one comparable value, by walking its objects.

Everything of the state tracker's own is followed; what belongs to the driver or the compiler counts
by identity, except the bytes of resources. What is no state of OpenGL (caches, what is dirty, the
error itself) is left out by name.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["difference", "digest"]

# Not state: derived from it, counted, or about the call itself.
_LEFT_OUT = frozenset(
    (
        *("error", "dirty", "caches", "calls", "group", "pipe", "screen", "limits", "caps"),
        *("debug", "_made", "_set_aside", "_watcher", "vertex_input", "fixed_function"),
        *("pipe_framebuffer", "bound_shaders", "full_rasterizer", "full_depth_stencil"),
        *(
            "_next",
            "ctx",
            "context",
            "_ctx",
            "stages",
            "derived",
            "_status",
            "plain_read",
            "_complete",
        ),
    )
)


def digest(context: Any) -> dict[str, Any]:
    """Path -> value of everything in the context."""
    found: dict[str, Any] = {}
    seen: dict[int, str] = {}
    stack: list[tuple[str, Any]] = [("", context)]
    while stack:
        path, value = stack.pop()
        if value is None or isinstance(value, int | float | str | bytes | enum.Enum):
            found[path] = value if value == value else "nan"
            continue
        if callable(value) and not hasattr(value, "__slots__"):
            continue
        if isinstance(value, np.ndarray):
            found[path] = value.tobytes()
            continue
        if id(value) in seen:
            found[path] = seen[id(value)]
            continue
        seen[id(value)] = path
        if isinstance(value, dict):
            found[path] = len(value)
            stack += [(f"{path}[{k!r}]", v) for k, v in value.items()]
        elif isinstance(value, list | tuple):
            found[path] = len(value)
            stack += [(f"{path}[{i}]", v) for i, v in enumerate(value)]
        elif isinstance(value, set | frozenset):
            found[path] = tuple(sorted(map(repr, value)))
        elif type(value).__module__.startswith("gallette.state_tracker"):
            found[path] = type(value).__name__
            stack += [(f"{path}.{name}", v) for name, v in _fields(value)]
        else:
            found[path] = id(value)
    return found


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    for name, held in getattr(value, "__dict__", {}).items():
        if name not in _LEFT_OUT:
            yield name, held
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in _LEFT_OUT and not name.startswith("__") and hasattr(value, name):
                yield name, getattr(value, name)


def difference(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What changed, in words."""
    if before == after:
        return []
    return [
        f"{path}: {before.get(path, '-')!r} -> {after.get(path, '-')!r}"[:160]
        for path in sorted(before.keys() | after.keys())
        if before.get(path, "-") != after.get(path, "-")
    ]
