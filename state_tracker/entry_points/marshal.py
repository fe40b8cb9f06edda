"""Convert Python calls to C calls of a native GL function, for any entry of the table.

`native_method` gives the Python method of one function: arguments are converted for C (a `str`
becomes NUL-terminated bytes, an array its address), and outputs that the caller omitted are
allocated, read back and returned.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.arguments import checked_count, misfit
from gallette.state_tracker.entry_points.functions import Function, Kind, Param
from gallette.state_tracker.entry_points.memory import address_of, dtype_of

# An output whose size only GL knows is allocated with this size, pre-filled with a pattern that no
# query returns in practice; values that still hold the pattern afterwards were not written.
ROOM = 4096
PATTERN = 0xA5
STRING_ROOM = 1 << 16

Measure = Callable[[Function, tuple[Any, ...]], int]


def _number(param: Param, value: Any) -> Any:
    if param.type in ("float", "clampf", "double", "clampd"):
        return float(value)
    return operator.index(value) if not isinstance(value, float) else int(value)


def _strings(value: Any) -> tuple[int, Any]:
    texts = [value] if isinstance(value, str | bytes) else list(value)
    raw = [t.encode() if isinstance(t, str) else bytes(t) for t in texts]
    array = (ctypes.c_char_p * len(raw))(*raw)
    return ctypes.addressof(array), (array, raw)


class _Call:
    """One call in flight: the C arguments and the objects to keep alive while it runs."""

    def __init__(self) -> None:
        self.arguments: list[Any] = []
        self.alive: list[Any] = []

    def add(self, param: Param, value: Any) -> None:
        if param.kind in (Kind.VALUE, Kind.CAPACITY) and not param.stars:
            self.arguments.append(value)
            return
        if param.kind is Kind.STRING and isinstance(value, str):
            value = value.encode() + b"\0"
        if param.kind is Kind.STRINGS and not (value is None or isinstance(value, int)):
            address, keep = _strings(value)
        else:
            found, keep = address_of(value, param.type if param.stars == 1 else "intptr")
            address = found or 0
        self.alive.append(keep)
        self.arguments.append(address)


def _allocate(param: Param, values: dict[str, Any]) -> Any:
    """Allocate an output that the caller omitted."""
    if param.kind in (Kind.OUT_SCALAR, Kind.WRITTEN):
        count = 1
    elif param.kind is Kind.OUT_STRING:
        count = STRING_ROOM
    elif param.length == "*":
        return np.full(ROOM, PATTERN, np.uint8)
    else:
        count = int(param.length) if param.length.isdigit() else int(values[param.length])
    dtype = np.dtype("u8") if param.stars > 1 else dtype_of(param.type)
    return np.zeros(max(count, 0), dtype)


def _collect(param: Param, room: Any) -> Any:
    """The Python value of an output after the call."""
    if param.kind is Kind.OUT_STRING:
        return room.tobytes().split(b"\0", 1)[0].decode("utf-8", "replace")
    if param.kind is Kind.OUT_RAW:
        return room.tobytes()
    if param.kind is Kind.OUT_SCALAR:
        return room[0].item()
    if param.length == "*":
        dtype = np.dtype("u8") if param.stars > 1 else dtype_of(param.type)
        untouched = (room.reshape(-1, dtype.itemsize) == PATTERN).all(axis=1)
        written = np.flatnonzero(~untouched)
        return room.view(dtype)[: written[-1] + 1 if written.size else 0].tolist() or [0]
    return room.tolist()


def c_arguments(function: Function, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """A call's arguments for C, all of which are given, and the memory that they point to."""
    made = _Call()
    for param, value in zip(function.params, args, strict=True):
        is_number = param.kind in (Kind.VALUE, Kind.CAPACITY) and not param.stars
        made.add(param, _number(param, value or 0) if is_number else value)
    return made.arguments, made.alive


def native_method(
    function: Function, entry: Callable[..., Any], measure: Measure
) -> Callable[..., Any]:
    """The Python method for a C entry point (a ctypes function with its types set).

    `measure` returns the size in bytes of an image output, which depends on GL state.
    """
    params, required = function.params, function.required
    simple = all(p.kind is Kind.VALUE for p in params)
    returns_text = function.result == "const ubyte*"

    def result_of(value: Any) -> Any:
        if returns_text:
            return ctypes.string_at(value).decode() if value else None
        return value

    def call_simple(*args: Any) -> Any:
        try:
            return entry(*args)
        except (ctypes.ArgumentError, TypeError):
            if len(args) != len(params):
                raise TypeError(checked_count(function, args)) from None
            try:
                return entry(*(_number(p, a) for p, a in zip(params, args, strict=True)))
            except (TypeError, ValueError, ctypes.ArgumentError) as error:
                raise TypeError(misfit(function, args) or str(error)) from None

    has_texts = any(p.kind is Kind.STRINGS for p in params)

    def call(*args: Any) -> Any:
        if has_texts:
            args = function.with_count(args)
        if not required <= len(args) <= len(params):
            raise TypeError(checked_count(function, args))
        try:
            return called(args)
        except (TypeError, ValueError, AttributeError, ctypes.ArgumentError) as error:
            wrong = misfit(function, args)
            if wrong:
                raise TypeError(wrong) from error
            raise

    def called(args: tuple[Any, ...]) -> Any:
        made = _Call()
        rooms: list[tuple[Param, Any]] = []
        values: dict[str, Any] = {}
        for i, param in enumerate(params):
            if i < len(args):
                value = args[i]
                if param.kind is Kind.VALUE and not param.stars:
                    value = _number(param, value) if value is not None else 0
                values[param.name] = value
            elif param.kind is Kind.CAPACITY:
                value = STRING_ROOM if function.params[i + 1].name == "length" else ROOM // 4
                if not any(p.kind is Kind.OUT_STRING for p in params):
                    value = ROOM // 8
            elif param.kind is Kind.OUT_RAW:
                value = np.zeros(measure(function, args), np.uint8)
                rooms.append((param, value))
            else:
                value = _allocate(param, values)
                if param.kind is not Kind.WRITTEN:
                    rooms.append((param, value))
            made.add(param, value)
        result = result_of(entry(*made.arguments))
        outputs = [_collect(param, room) for param, room in rooms]
        if not outputs:
            return result
        if function.result != "void":
            outputs.insert(0, result)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    method = call_simple if simple and function.result != "const ubyte*" else call
    method.__name__ = method.__qualname__ = function.method
    method.__doc__ = str(function)
    method.__signature__ = function.signature  # type: ignore[attr-defined]
    return method


def missing(function: Function) -> Callable[..., Any]:
    """A substitute for an entry point that this GL does not have."""

    def call(*args: Any) -> Any:
        raise GalletteError(f"{function.c_name} is not available in this context")

    return call
