"""Combine a table entry and an implementation into the method that callers see.

The method takes all C parameters, or omits the trailing outputs and returns them instead. It turns
strings into `str`, runs the implementation, records a GL error instead of raising it, and stores
outputs through the caller's pointers. An implementation with `stores_itself` stores its own
outputs. Functions with plain parameters only take a fast path; their methods have an attribute
`direct`: the method without error handling, for callers that handle errors (see `abi`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from inspect import Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from gallette.compiler.errors import GalletteError, ResetError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.state_tracker.entry_points.arguments import checked_count, misfit
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError, invalid_value
from gallette.state_tracker.entry_points.functions import Function, Kind, Param
from gallette.state_tracker.entry_points.memory import (
    dtype_of,
    read_string,
    read_strings,
    write_bytes,
)
from gallette.state_tracker.stream import ring
from gallette.state_tracker.stream.calls import keeps_state
from gallette.state_tracker.without_compatibility import NO_PRIMITIVES

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


class _Omitted:
    """Stands for an output that a Python caller omitted, in functions that store themselves."""

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED = _Omitted()


_ZERO_IS_NONE = ("GL_EXT_debug_label", "GL_EXT_debug_marker")


_PLACE = re.compile(r"Get\w*(Location|Index)(ARB|EXT)?")


def default_of(function: Function) -> Any:
    """The result of a failed call."""
    if _PLACE.fullmatch(function.name):  # the result for names that are not found, and for errors
        return 0xFFFFFFFF if function.result == "uint" else -1
    if function.name == "ClientWaitSync":
        return GL.WAIT_FAILED
    if function.result != "void":
        return None if function.result.endswith("*") else 0
    outs = function.outputs
    if not outs or function.is_raw:
        return b"" if outs else None
    values = [_empty(p) for p in outs]
    return values[0] if len(values) == 1 else tuple(values)


def _empty(param: Param) -> Any:
    if param.kind is Kind.OUT_STRING:
        return ""
    return 0 if param.kind is Kind.OUT_SCALAR else [0]


def converter(function: Function, index: int) -> Callable[[tuple[Any, ...]], Any] | None:
    """The conversion of an input parameter for the implementation; None if it needs none."""
    param = function.params[index]
    before = function.params[index - 1] if index else None
    if param.kind is Kind.STRING:
        needed = param.name.lower().endswith("name") and not function.name.startswith("Is")
        if before is not None and before.name == "length":
            # A length below this means: NUL-terminated.
            least = 1 if function.extension in _ZERO_IS_NONE else 0

            def sized(args: tuple[Any, ...]) -> Any:
                pointer, length = args[index], args[index - 1]
                if pointer is None:
                    _no_text(param, needed)
                    return None
                return read_string(pointer, length if length >= least else None)

            return sized

        def text(args: tuple[Any, ...]) -> str | None:
            if args[index] is None:
                _no_text(param, needed)
                return None
            return read_string(args[index])

        return text
    if param.kind is Kind.STRINGS:
        lengths = index + 1 < len(function.params) and function.params[index + 1].name == "length"

        def texts(args: tuple[Any, ...]) -> Any:
            if args[index - 1] < 0:
                raise invalid_value("a negative count")
            if args[index] is None and args[index - 1]:
                raise invalid_value(f"{param.name} is a null pointer")
            return read_strings(args[index], args[index - 1], args[index + 1] if lengths else None)

        return texts
    return None


def _no_text(param: Param, needed: bool) -> None:
    if needed:
        raise invalid_value(f"{param.name} is a null pointer")


def _store(function: Function, args: tuple[Any, ...], values: tuple[Any, ...]) -> None:
    """Write outputs through the pointers given."""
    remaining = iter(values)
    capacity: int | None = None
    written: Any = None
    for param, pointer in zip(function.params, args, strict=True):
        if param.kind is Kind.CAPACITY:
            capacity = pointer
        elif param.kind is Kind.WRITTEN:
            written = pointer
        elif param.kind is Kind.OUT_STRING:
            text = next(remaining).encode()
            if capacity is None:  # an ordinary parameter of that name gives the capacity
                names = [p.name for p in function.params]
                capacity = args[names.index(param.length)] if param.length in names else 0
            text = text[: max(capacity - 1, 0)]
            if pointer is not None and capacity > 0:
                write_bytes(pointer, text + b"\0")
            if written is not None:
                write_bytes(written, np.array([len(text)], np.int32))
        elif param.kind in (Kind.OUT_ARRAY, Kind.OUT_SCALAR):
            value = next(remaining)
            if pointer is None:
                continue
            dtype = np.dtype("u8") if param.stars > 1 else dtype_of(param.type)
            array = _as_array(value, dtype)
            if param.kind is Kind.OUT_ARRAY and param.length:
                array = array[: _room(function, param, args, array.size)]
            if capacity is not None and param.kind is Kind.OUT_ARRAY:
                array = array[:capacity]
                if written is not None:
                    write_bytes(written, np.array([array.size], np.int32))
            write_bytes(pointer, array)


def _room(function: Function, param: Param, args: tuple[Any, ...], default: int) -> int:
    """The capacity of an output array, given by a parameter or a number."""
    if param.length.isdigit():
        return int(param.length)
    for other, value in zip(function.params, args, strict=True):
        if other.name == param.length:
            return max(int(value), 0)
    return default


def _as_array(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, np.dtype[Any]]:
    items = [value] if not isinstance(value, list | tuple | np.ndarray) else value
    if dtype.kind in "iu":  # GL converts silently between signed and unsigned
        mask = (1 << (8 * dtype.itemsize)) - 1
        wide = np.array([int(v) & mask for v in items], f"u{dtype.itemsize}")
        return wide.view(dtype)
    with np.errstate(over="ignore"):
        return np.array([0 if v is None else v for v in items], dtype)


@lazy_dataclass(frozen=True)
class _Facts:
    """Facts shared by a function's methods in all contexts, computed once."""

    required: int
    converters: tuple[Callable[[tuple[Any, ...]], Any] | None, ...]
    answers: bool
    several: bool
    is_raw: bool
    has_texts: bool
    capacities: tuple[int, ...]
    """places of parameters that say how much room there is"""
    converts: bool
    signature: Signature


_FACTS: dict[str, _Facts] = {}


def _facts(function: Function) -> _Facts:
    found = _FACTS.get(function.name)  # hashing the whole function would take longer
    if found is None:
        found = _FACTS[function.name] = _work_out(function)
    return found


def _work_out(function: Function) -> _Facts:
    outputs = function.outputs
    converters = tuple(converter(function, i) for i in range(len(function.params)))
    result = function.result != "void"
    return _Facts(
        function.required,
        converters,
        bool(outputs) or result,
        len(outputs) > 1 or bool(outputs and result),
        function.is_raw,
        any(p.kind is Kind.STRINGS for p in function.params),
        tuple(i for i, p in enumerate(function.params) if p.kind is Kind.CAPACITY),
        any(converters),
        function.signature,
    )


# Exceptions that Python raises for arguments of unusable types.
_ASTRAY = (TypeError, ValueError, AttributeError, OverflowError, GalletteError)


def bind_method(
    context: Context, function: Function, implementation: Callable[..., Any]
) -> Callable[..., Any]:
    """The method of `context` for one GL function."""
    facts = _facts(function)
    params, required, converters = function.params, facts.required, facts.converters
    total, several = len(params), facts.several
    words, pending = ring.words, ring.PENDING
    stream = context.stream
    changes = not keeps_state(function)
    record, default = context.record_error, default_of(function) if facts.answers else None

    begun = context.immediate.before(function)

    def named(args: tuple[Any, ...], error: Exception) -> None:
        """Report which argument made a call fail."""
        wrong = misfit(function, function.with_count(args) if facts.has_texts else args)
        if wrong:
            raise TypeError(wrong) from (None if isinstance(error, GLError) else error)

    run: Callable[..., Any] = functools.partial(implementation, context)
    is_raw = facts.is_raw or getattr(implementation, "stores_itself", False)
    is_plain = is_raw or (required == total and not facts.converts)
    padded = total if is_raw else 0  # to so many arguments with outputs that are left out

    def method(*args: Any) -> Any:
        if words[pending]:
            ring.flush(stream)
        if changes:
            stream.forget_shared()
        given = args if len(args) >= padded else args + (OMITTED,) * (padded - len(args))
        try:
            if begun.busy:
                begun.leave()
            return answer(*given)
        except GLError as error:
            named(args, error)
            record(error, function)
            return default
        except (ResetError, MemoryError) as error:
            context.work_failed(error, function)
            return default
        except _ASTRAY as error:
            named(args, error)
            raise

    def converting(*args: Any) -> Any:
        """The method with inputs converted for the implementation, and outputs for the caller."""
        if facts.has_texts:
            args = function.with_count(args)
        if not required <= len(args) <= total:
            raise TypeError(checked_count(function, args))
        for i in facts.capacities:
            if i < len(args) and args[i] < 0:
                raise invalid_value(f"{params[i].name} is negative")
        inputs: Any = args[:required]
        if facts.converts:
            inputs = [
                args[i] if convert is None else convert(args)
                for i, convert in enumerate(converters[:required])
            ]
        result = run(*inputs)
        if len(args) == required:
            return result
        args += (None,) * (total - len(args))
        values = result if several else (result,)
        if function.result != "void" and several:
            _store(function, args, values[1:])
            return values[0]
        _store(function, args, values)
        return None

    def outside(*args: Any) -> Any:
        if begun.busy:
            begun.leave()
        return implementation(context, *args)

    if is_plain:  # as C calls it, with all arguments there are
        method.direct = run if begun is NO_PRIMITIVES else outside  # type: ignore[attr-defined]
    answer = run if is_plain else converting
    method.__name__ = method.__qualname__ = function.method
    method.__doc__ = str(function)
    method.__signature__ = facts.signature  # type: ignore[attr-defined]
    return method
