"""Do two things hold the same, however deep? For what was remembered, and the same made anew.

`difference` walks both at once, through tuples, tables, arrays and the fields of objects, and names
the first place where they differ. What has an identity of its own (a resource, a shader, counters)
has to be the very same.
"""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

import numpy as np

from gallette.compiler.nir.ir import Shader
from gallette.drivers.common.bound import Cso
from gallette.drivers.common.output.order import Scratch
from gallette.drivers.common.queries import Counters
from gallette.drivers.common.variants.shader import ShaderObject
from gallette.drivers.common.work import Work
from gallette.pipe.interface import Screen
from gallette.pipe.resource import Resource

__all__ = ["difference"]

_THEMSELVES = (Resource, Shader, ShaderObject, Cso, Counters, Work, Scratch, Screen, type)
_NOTES = frozenset(
    {
        *("derived", "hits", "misses", "revision", "_sampled", "_looked", "_writes", "_remembered"),
        *("_enough", "_few", "_waits", "_reading"),
    }
)
"""fields that say how often something was asked for, or keep what follows from the others, or what
seems worth it"""


def difference(one: Any, other: Any, place: str = "", seen: set[Any] | None = None) -> str | None:
    """Where the two differ first; None if they are the same."""
    if one is other:
        return None
    seen = set() if seen is None else seen
    pair = id(one), id(other)
    if pair in seen:
        return None
    seen.add(pair)
    if type(one) is not type(other) or isinstance(one, _THEMSELVES):
        return place or "itself"
    if isinstance(one, np.ndarray):
        return None if _same_array(one, other) else place
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return f"{place} (keys)"
        return _first((f"{place}[{key}]", one[key], other[key], seen) for key in one)
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return f"{place} (length)"
        pairs = zip(one, other, strict=True)
        return _first((f"{place}[{n}]", *both, seen) for n, both in enumerate(pairs))
    if isinstance(one, types.FunctionType):
        if one.__code__ is not other.__code__:
            return place
        cells = [tuple(c.cell_contents for c in f.__closure__ or ()) for f in (one, other)]
        return difference(cells[0], cells[1], f"{place}()", seen)
    if isinstance(one, types.MethodType):
        methods = [(m.__func__, m.__self__) for m in (one, other)]
        return difference(methods[0], methods[1], place, seen)
    if isinstance(one, functools.partial):
        parts = [(p.func, p.args, p.keywords) for p in (one, other)]
        return difference(parts[0], parts[1], place, seen)
    fields = _fields(one)
    if fields is None:
        return None if one == other or one != one else place
    theirs = _fields(other) or {}
    both_have = (n for n in fields if n in theirs and n not in _NOTES)
    return _first((f"{place}.{n}", fields[n], theirs[n], seen) for n in both_have)


def _first(parts: Any) -> str | None:
    for place, one, other, seen in parts:
        if one is not other and (found := difference(one, other, place, seen)) is not None:
            return found
    return None


def _same_array(one: Any, other: Any) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.ctypes.data == other.ctypes.data and one.strides == other.strides:
        return True
    if one.dtype == object:
        return difference(one.tolist(), other.tolist()) is None
    return bool(one.tobytes() == other.tobytes())


def _fields(value: Any) -> dict[str, Any] | None:
    """What an object of ours holds; None of what is compared as a whole."""
    kind: Any = type(value)
    slots = _slots(kind)
    if slots is None:
        return None
    found: dict[str, Any] = dict(getattr(value, "__dict__", ()))
    for name in slots:
        if hasattr(value, name):
            found[name] = getattr(value, name)
    return found


@functools.cache
def _slots(kind: Any) -> tuple[str, ...] | None:
    if not kind.__module__.startswith("gallette."):
        return None
    if issubclass(kind, enum.Enum | int | str | bytes | float):
        return None
    found: list[str] = []
    for each in kind.__mro__:
        slots = each.__dict__.get("__slots__", ())
        found += (slots,) if isinstance(slots, str) else slots
    return tuple(found)
