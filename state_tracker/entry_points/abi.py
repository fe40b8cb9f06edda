"""gallette's GL as C function pointers, for programs that expect an OpenGL library.

There is one pointer per function and process, made when it is first requested. Its effect depends
on the calling thread's current context (`current.py`): the pointer looks the function up in that
context's `CallTable`, which holds the methods that Python callers use. No exception may propagate
into C: it becomes a GL error, and one that is not a deliberate `GalletteError` is a bug in
gallette, so its traceback is printed (once per entry point; it is not stored, since it would keep
every array of its frames alive). Ctrl-C is not a GL error: the signal is raised again as soon as
the caller has returned to C. Without a current context a call does nothing.
"""

from __future__ import annotations

import _thread
import ctypes
import sys
import threading
import traceback
from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError, MisuseError, ResetError, print_message
from gallette.state_tracker.entry_points.c_strings import c_string
from gallette.state_tracker.entry_points.current import CALL_TABLES, current_context
from gallette.state_tracker.entry_points.dispatch import default_of
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.registry import implementation
from gallette.state_tracker.stream import ring
from gallette.state_tracker.stream.calls import keeps_state

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

_BACK_FROM_C = 0.01  # seconds: much longer than returning from a callback takes

_POINTERS: list[Any] = []  # an address that was handed out may be used for ever
_ADDRESSES: dict[str, int] = {}
"""An address for each function, always the same: moderngl keeps the first it gets. If two threads
ask at once, the first decides (`setdefault`), since it may already be calling.
"""

_REPORTED: set[str] = set()


def known(c_name: str) -> Function | None:
    """The table's entry of `glSomething`, implemented or not."""
    name = c_name.removeprefix("gl")
    return FUNCTIONS[name] if name in FUNCTIONS and name != c_name else None


def address(c_name: str) -> int:
    """The address of `glSomething` for every context; 0 if OpenGL has no such function."""
    found = _ADDRESSES.get(c_name)
    if found is None:
        function = known(c_name)
        if function is None:
            return 0
        core = FUNCTIONS.alias(function)
        same = core is not None and implementation(core) is implementation(function)
        recorded = core if core is not None and same else function
        pointer = _pointer(function, _entry_point(function))
        found = _ADDRESSES.setdefault(c_name, ring.stub_address(recorded.name, pointer))
    return found


def _pointer(function: Function, entry: Callable[..., Any]) -> int:
    """The address of a C pointer that calls `entry`."""
    pointer = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(entry)
    _POINTERS.append(pointer)
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


class CallTable(dict[str, Callable[..., Any]]):
    """The functions that C pointers call in one context: methods, made when first called."""

    def __init__(self, context: Context):
        super().__init__()
        self._context = context

    def __missing__(self, c_name: str) -> Callable[..., Any]:
        function = known(c_name)
        assert function is not None
        has_function = self._context.has_function
        if not has_function(function):  # a recorded call has the core name
            function = next(filter(has_function, FUNCTIONS.same_as(function)), function)
        method = _method(self._context, function)
        if hasattr(method, "direct"):  # `failed` records its errors
            method = method.direct
        self[c_name] = method
        return method


def _method(context: Context, function: Function) -> Callable[..., Any]:
    """The Python method with its result converted for C."""
    method: Callable[..., Any] = getattr(context, function.method)
    if function.result != "const ubyte*":
        return method

    def text(*args: Any) -> int:
        result = method(*args)
        return c_string(result) if isinstance(result, str) else result or 0

    return text


def _entry_point(function: Function) -> Callable[..., Any]:
    """The function that C calls. Void functions return nothing, so only the others convert results.

    Commands recorded earlier are executed first.
    """
    name, tables, no_table = function.c_name, CALL_TABLES, _NoContext()
    words, pending = ring.words, ring.PENDING

    def call(*args: Any) -> None:
        try:
            if words[pending]:
                ring.flush()
            tables.get(get_ident(), no_table)[name](*args)
        except BaseException as error:
            failed(function, error)

    def call_that_changes(*args: Any) -> None:
        try:
            _about_to_change()
            tables.get(get_ident(), no_table)[name](*args)
        except BaseException as error:
            failed(function, error)

    nothing = default_of(function) or 0

    def answer(*args: Any) -> Any:
        try:
            if changes:
                _about_to_change()
            elif words[pending]:
                ring.flush()
            return tables.get(get_ident(), no_table)[name](*args) or 0
        except BaseException as error:
            failed(function, error)
            return nothing

    changes = not keeps_state(function)
    if function.restype is not None:
        return answer
    return call_that_changes if changes else call


def _about_to_change() -> None:
    """Execute the recorded commands before a call outside the stream changes state."""
    context = current_context()
    if context is not None:
        context.stream.forget()


class _NoContext(dict[str, Callable[..., Any]]):
    """The call table of a thread without a context: all calls do nothing."""

    def __missing__(self, c_name: str) -> Callable[..., Any]:
        return lambda *args: 0


def failed(function: Function, error: BaseException) -> None:
    """Record the error of a failed call; C reads it with glGetError."""
    if isinstance(error, KeyboardInterrupt):
        # Raised here, ctypes would swallow it; the delay lets this call return.
        threading.Timer(_BACK_FROM_C, _thread.interrupt_main).start()
        return
    if isinstance(error, MisuseError):  # already recorded; C reads it with glGetError
        print_message(f"gallette: {error}")
        return
    context = current_context()
    if context is not None and isinstance(error, GLError):
        context.record_error(error, function)
        return
    if context is not None and isinstance(error, ResetError | MemoryError):
        context.work_failed(error, function)
        return
    code = GL.OUT_OF_MEMORY if isinstance(error, MemoryError) else GL.INVALID_OPERATION
    if context is not None:
        context.record_error(GLError(code, str(error)), function)
    if function.name not in _REPORTED:
        _REPORTED.add(function.name)
        if isinstance(error, GalletteError):
            print_message(f"gallette: {function.c_name}: {error}")
        else:
            print(f"gallette: bug in {function.c_name}:", file=sys.stderr)
            print_message("".join(traceback.format_exception(error)).rstrip())
