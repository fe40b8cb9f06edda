"""Find the invalid argument of a failed GL call; checked only after a failure, to keep calls fast.

A Python caller can pass any object. An unusable one makes some line of the state tracker fail, with
a message about that line; `misfit` compares the arguments with the function's declaration and
reports the invalid one by its declared name.
"""

from __future__ import annotations

from typing import Any

from gallette.state_tracker.entry_points.functions import Function, Kind, Param

_REAL = ("float", "double", "clampf", "clampd")
_TEXT = (str, bytes, bytearray, memoryview)


def checked_count(function: Function, args: tuple[Any, ...]) -> str:
    """A message about a wrong number of arguments, or ""."""
    required, total = function.required, len(function.params)
    if required <= len(args) <= total:
        return ""
    wanted = f"{total}" if required == total else f"{required} to {total}"
    head = f"{function.method}: {wanted} argument{'s' if total != 1 else ''}, {len(args)} given"
    if len(args) < required:
        return (
            f"{head}; missing: {', '.join(p.name for p in function.params[len(args) : required])}"
        )
    names = ", ".join(p.name for p in function.params)
    return f"{head}; there are: {names}" if names else head


def misfit(function: Function, args: tuple[Any, ...]) -> str:
    """A message about the first argument that does not fit its declaration, or ""."""
    wrong = checked_count(function, args)
    if wrong:
        return wrong
    for param, value in zip(function.params, args, strict=False):
        wanted = _unfit(param, value)
        if wanted:
            shown = repr(value)
            shown = shown if len(shown) < 60 else shown[:57] + "..."
            return f"{function.method}: {param.name} is {wanted}, not {shown}"
    return ""


def _unfit(param: Param, value: Any) -> str:
    """A description of valid values of the parameter, for the error message; "" if the value is
    valid.
    """
    if param.stars == 0:
        return _unfit_number(param, value)
    if value is None or _is_index(value):
        return ""  # a null pointer, an address, an offset
    if param.kind is Kind.STRING:
        return "" if isinstance(value, _TEXT) else "a text"
    if param.kind is Kind.STRINGS:
        if isinstance(value, str | bytes):
            return ""
        fine = isinstance(value, list | tuple) and all(isinstance(v, _TEXT) for v in value)
        return "" if fine or hasattr(value, "_length_") else "a text or a list of texts"
    if isinstance(value, list | tuple):
        one = Param(param.type, param.name, Kind.VALUE)
        odd = next((v for v in value if param.stars == 1 and _unfit_number(one, v)), None)
        return f"numbers ({param.type})" if odd is not None else ""
    try:
        memoryview(value)
    except TypeError:
        return "memory: bytes, an array, a list, an address or None"
    return ""


def _unfit_number(param: Param, value: Any) -> str:
    if param.type in _REAL:
        return "" if hasattr(value, "__float__") or _is_index(value) else f"a number ({param.type})"
    if _is_index(value) or (param.type in ("sync", "void", "DEBUGPROC") or "PROC" in param.type):
        return ""
    kind = {"enum": "an enum", "boolean": "a bool", "bitfield": "a bit mask"}
    return kind.get(param.type, f"a whole number ({param.type})")


def _is_index(value: Any) -> bool:
    return hasattr(value, "__index__")
