"""The permitted records of a capture, checked while the file is read.

A capture may be damaged, or made to do harm. After these checks a call has the number and kinds of
arguments its function declares, and numbers that the C types of the parameters hold: readers of
captures get only calls that a recorded program could have made. Pointers are still numbers of the
file; `memory` translates or refuses them.
"""

from __future__ import annotations

import functools
import reprlib
from collections.abc import Callable
from typing import Any

from gallette.capture.container import CaptureError
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function, Kind, Param


class Misfit(CaptureError):
    """The problem with a record, without its place."""


Check = Callable[[Any], bool]

MOST_SIDE = 1 << 15  # pixels of a window's side


def _is_int(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and least <= value <= most


def _number(value: Any) -> bool:
    """Whether a value can be converted to a C `double`; very large integers cannot."""
    return isinstance(value, float) or _is_int(value, -(1 << 64), 1 << 64)


_REAL = ("float", "double", "clampf", "clampd")
_SIGNED = ("byte", "short", "int", "sizei", "fixed", "int64", "intptr", "sizeiptr")
_WIDE = ("int64", "uint64", "intptr", "sizeiptr", "sync", "void")
_BITS = {"byte": 8, "boolean": 8, "char": 8, "ubyte": 8, "half": 16, "short": 16, "ushort": 16}


def _bits(type: str) -> int:
    return 64 if type in _WIDE else _BITS.get(type, 32)


def _address(value: Any) -> bool:
    return _is_int(value, -(1 << 63), (1 << 64) - 1)


@functools.cache
def _of_type(type: str) -> Check:
    """Numbers that fit a GL type, signed or unsigned."""
    if type in _REAL:
        return _number
    bits = _bits(type)
    least, most = -(1 << (bits - 1)), (1 << bits) - 1
    return lambda value: _is_int(value, least, most)


def _name(value: Any) -> bool:
    """A valid Unicode text, because JSON can spell lone surrogates."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_passed(type: str, value: Any) -> Any:
    """A number as C passes it: in the parameter's type, whatever sign was recorded."""
    if type in _REAL:
        return float(value)
    if not isinstance(value, int):  # the null pointer as a sync object
        return value
    bits = _bits(type)
    value = int(value) & (1 << bits) - 1
    return value - (1 << bits) if type in _SIGNED and value >> (bits - 1) else value


def _text(value: Any) -> bool:
    return value is None or _name(value)


def _texts(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(_name(v) for v in value))


def _place(value: Any) -> bool:
    """An address or an offset that was passed on without being read."""
    return isinstance(value, dict) and list(value) == ["@"] and _address(value["@"])


def _check_of(param: Param) -> Check:
    if param.kind is Kind.STRING:
        return _text
    if param.kind is Kind.STRINGS:
        return _texts
    if param.kind is Kind.POINTER:
        one = _address if param.stars > 1 else _of_type(param.type)

        def pointer(value: Any) -> bool:
            if isinstance(value, list):
                return all(one(v) for v in value)
            if isinstance(value, dict) and list(value) == ["b"]:
                return _name(value["b"])
            return value is None or _place(value)

        return pointer
    if param.kind.is_output:
        return lambda value: value is None or _place(value)
    if param.type == "debugproc":  # these calls are not made again
        return lambda value: True
    number = _of_type(param.type)
    if param.type == "sync":
        return lambda value: value is None or number(value)
    return number


@functools.cache
def _checks(name: str) -> tuple[Function, tuple[Check, ...], int]:
    """A function, a check for each parameter, and the index of the count of its texts (or -1)."""
    function = FUNCTIONS[name]
    texts = next((i for i, p in enumerate(function.params) if p.kind is Kind.STRINGS), 0)
    return function, tuple(map(_check_of, function.params)), texts - 1


def _list_of(one: Check) -> Check:
    return lambda value: isinstance(value, list) and all(one(v) for v in value)


def _read(value: Any) -> bool:
    """Client memory that a draw has read: address and resource."""
    return isinstance(value, list) and len(value) == 2 and _address(value[0]) and _name(value[1])


_UINT = _of_type("uint")
_SIZE: Check = lambda value: _is_int(value, 0, (1 << 63) - 1)  # noqa: E731
_MORE: dict[str, Check] = {
    "r": _address,
    "o": _list_of(_address),
    "w": _name,
    "m": _list_of(_read),
    "us": _SIZE,
}


def check_call(name: Any, args: Any, more: Any) -> None:
    """Raise `Misfit` unless this is a valid call of the function `name`."""
    if name not in FUNCTIONS:
        raise Misfit(f"OpenGL has no function gl{name}")
    function, checks, counted = _checks(name)
    if not isinstance(args, list) or not function.required <= len(args) <= len(checks):
        raise Misfit(f"{function} has other arguments")
    for param, check, value in zip(function.params, checks, args, strict=False):
        if not check(value):
            raise Misfit(f"{function}: {param.name} cannot be {_shown(value)}")
    if counted >= 0 and args[counted + 1] is not None and len(args[counted + 1]) != args[counted]:
        raise Misfit(f"{function}: {args[counted]} texts are {len(args[counted + 1])}")
    if not isinstance(more, dict):
        raise Misfit(f"{function}: results cannot be {_shown(more)}")
    for key, check in _MORE.items():
        if key in more and not check(more[key]):
            raise Misfit(f"{function}: the result {key!r} cannot be {_shown(more[key])}")


def _shown(value: Any) -> str:
    text = reprlib.repr(value)
    return text if len(text) < 60 else text[:57] + "..."


# -- records that are no calls ---------------------------------------------------------------------


def _pair(value: Any) -> bool:
    """The width and height of a window."""
    return _list_of(lambda side: _is_int(side, 0, MOST_SIDE))(value) and len(value) == 2


def _optional(one: Check) -> Check:
    return lambda value: value is None or one(value)


def _fields(value: Any, fields: dict[str, Check]) -> bool:
    return isinstance(value, dict) and all(k in value and c(value[k]) for k, c in fields.items())


def _facts(value: Any) -> bool:
    """The parameters that a context was created with."""
    return _fields(
        value,
        {
            "driver": _name,
            "profile": _name,
            "version": lambda v: _list_of(_UINT)(v) and len(v) == 2,
            "debug": lambda v: isinstance(v, bool),
            "share": _UINT,
            "size": _optional(_pair),
            "samples": _optional(lambda v: _is_int(v, 0, 64)),
        },
    )


def _window(value: Any) -> bool:
    checks: list[Check] = [_UINT, _pair, lambda v: _is_int(v, 0, 64), _UINT, _UINT]
    return (
        isinstance(value, list)
        and len(value) == len(checks)
        and all(check(v) for check, v in zip(checks, value, strict=True))
    )


def _places(value: Any) -> bool:
    """The attribute locations of a linked program, by name."""
    return isinstance(value, dict) and all(_of_type("int")(v) for v in value.values())


def _spans(value: Any) -> bool:
    """The locations of uniforms and the number of each one's locations, or of outputs and their
    index.
    """
    return isinstance(value, dict) and all(
        isinstance(v, list) and len(v) == 2 and _of_type("int")(v[0]) and _is_int(v[1], 0, 1 << 16)
        for v in value.values()
    )


def _linked(value: Any) -> bool:
    names = _list_of(_name)
    return _fields(
        value,
        {
            "uniforms": _spans,
            "blocks": names,
            "storage": names,
            "attributes": _places,
            "outputs": _spans,
        },
    )


_EVENTS: dict[str, tuple[Check, ...]] = {
    "context": (_UINT, _facts),
    "current": (_UINT,),
    "window": (_optional(_window), _optional(_window)),
    "frame": (_UINT,),
    "marker": (_name,),
    "framebuffer": (
        _UINT,
        _UINT,
        _UINT,
        lambda v: _list_of(_text)(v) and len(v) <= 32,
        _text,
    ),
    "link": (_UINT, _linked),
    "map": (_UINT, _SIZE, _SIZE, _UINT),
    "write": (_UINT, _SIZE, _name),
    "release": (_UINT,),
}


def check_event(kind: str, parts: list[Any]) -> None:
    """Raise `Misfit` unless this is a valid record of that kind."""
    checks = _EVENTS.get(kind)
    if checks is None:
        raise Misfit(f"there are no records @{kind}")
    fits = len(parts) == len(checks) and all(c(p) for c, p in zip(checks, parts, strict=False))
    if not fits:
        raise Misfit(f"@{kind} cannot be {_shown(parts)}")
