"""Our GL as C function pointers, for programs that expect an OpenGL library.

There is one pointer per function and process, made when it is first asked for. What it does depends
on the calling thread's current context (`current.py`): the pointer looks the function up in that
context's `CallTable`, which holds the very methods Python callers use. Nothing may escape into C:
an exception becomes a GL error, and one that is not a deliberate `GalletteError` is a bug here, so
its traceback is printed (once per entry point; nothing keeps it, since it pins every array its
frames can see). Ctrl-C is nobody's GL error: it is delivered again as soon as the caller is back
from C. Without a current context a call does nothing.
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

from gallette.compiler.errors import GalletteError, MisuseError, ResetError, tell
from gallette.state_tracker.entry_points import recording, shortcuts
from gallette.state_tracker.entry_points.current import CALL_TABLES, current_context
from gallette.state_tracker.entry_points.dispatch import default_of
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.texts import kept_text

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["CallTable", "address", "failed", "known"]

_BACK_FROM_C = 0.01  # seconds: much longer than the way out of a callback

_POINTERS: list[Any] = []  # whoever was told an address may use it for ever
_ADDRESSES: dict[str, int] = {}
"""The same numbers each time: moderngl never lets go of one. Of two threads that ask at once the
first decides (`setdefault`, `update`), since the other may be calling by then."""

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
        if shortcuts.possible(function.name):
            _shorten()
        if c_name not in _ADDRESSES:
            pointer = _pointer(function, _entry_point(function))
            _ADDRESSES.setdefault(c_name, recording.put_in_front(function.name, pointer))
        found = _ADDRESSES[c_name]
    return found


def _pointer(function: Function, entry: Callable[..., Any]) -> int:
    """The address of a C pointer that calls `entry`."""
    pointer = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(entry)
    _POINTERS.append(pointer)
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _shorten() -> None:
    """Make the pointers of the functions that have shortcuts: of all or none, since each relies on
    the others to tell what they do. So of none, if somebody was given one of them without.
    """
    functions = [FUNCTIONS[name] for name in shortcuts.NAMES]
    if any(function.c_name in _ADDRESSES for function in functions):
        return
    pointers = {function.name: _pointer(function, _noting(function)) for function in functions}
    _ADDRESSES.update(
        {
            FUNCTIONS[name].c_name: recording.put_in_front(name, found)
            for name, found in shortcuts.compiled(pointers).items()
        }
    )


class CallTable(dict[str, Callable[..., Any]]):
    """What the C pointers call in one context: the methods, made when first called."""

    def __init__(self, context: Context):
        super().__init__()
        self._context = context

    def __missing__(self, c_name: str) -> Callable[..., Any]:
        function = known(c_name)
        assert function is not None
        method = _method(self._context, function)
        if hasattr(method, "direct"):  # `failed` records its errors
            method = method.direct
            if not shortcuts.leaves_alone(function.name):
                method = _forgetting(method)
        self[c_name] = method
        return method


def _method(context: Context, function: Function) -> Callable[..., Any]:
    """The Python method with its result as C wants it."""
    method: Callable[..., Any] = getattr(context, function.method)
    if function.result != "const ubyte*":
        return method

    def text(*args: Any) -> int:
        result = method(*args)
        return kept_text(result) if isinstance(result, str) else result or 0

    return text


def _entry_point(function: Function) -> Callable[..., Any]:
    """What C calls. Results of functions without one are ignored, so only the others differ.

    Most calls of most programs are of one or two numbers: they do without a tuple for them.
    """
    name, tables, no_table = function.c_name, CALL_TABLES, _NoContext()

    def call_one(one: Any) -> None:
        try:
            tables.get(get_ident(), no_table)[name](one)
        except BaseException as error:
            failed(function, error)

    def call_two(one: Any, two: Any) -> None:
        try:
            tables.get(get_ident(), no_table)[name](one, two)
        except BaseException as error:
            failed(function, error)

    def call_three(one: Any, two: Any, three: Any) -> None:
        try:
            tables.get(get_ident(), no_table)[name](one, two, three)
        except BaseException as error:
            failed(function, error)

    def call(*args: Any) -> None:
        try:
            tables.get(get_ident(), no_table)[name](*args)
        except BaseException as error:
            failed(function, error)

    nothing = default_of(function) or 0

    def answer(*args: Any) -> Any:
        try:
            return tables.get(get_ident(), no_table)[name](*args) or 0
        except BaseException as error:
            failed(function, error)
            return nothing

    if function.restype is not None:
        return answer
    few: dict[int, Callable[..., Any]] = {1: call_one, 2: call_two, 3: call_three}
    return few.get(len(function.params), call)


def _noting(function: Function) -> Callable[..., Any]:
    """The same for a function of one or two numbers with a shortcut: what it did is noted."""
    name, short = function.c_name, function.name
    note, note_bound = shortcuts.note, shortcuts.note_bound
    tables, no_table = CALL_TABLES, _NoContext()

    def call(one: Any) -> None:
        try:
            tables.get(get_ident(), no_table)[name](one)
            note(current_context, short, one)
        except BaseException as error:
            shortcuts.forget()
            failed(function, error)

    def call_two(one: Any, two: Any) -> None:
        try:
            tables.get(get_ident(), no_table)[name](one, two)
            note_bound(current_context, short, one, two)
        except BaseException as error:
            shortcuts.forget()
            failed(function, error)

    return call if len(function.params) == 1 else call_two


def _forgetting(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that may change what shortcuts rely on."""
    words = shortcuts.WORDS

    def call(*args: Any) -> Any:
        words[0] = 0
        return method(*args)

    return call


class _NoContext(dict[str, Callable[..., Any]]):
    """The call table of a thread without a context: everything does nothing."""

    def __missing__(self, c_name: str) -> Callable[..., Any]:
        return lambda *args: 0


def failed(function: Function, error: BaseException) -> None:
    """A call came to grief: C learns of it by glGetError."""
    if isinstance(error, KeyboardInterrupt):
        # Raised here ctypes would swallow it; the delay lets this call return.
        threading.Timer(_BACK_FROM_C, _thread.interrupt_main).start()
        return
    if isinstance(error, MisuseError):  # recorded already; C learns of it by glGetError
        tell(f"gallette: {error}")
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
            tell(f"gallette: {function.c_name}: {error}")
        else:
            print(f"gallette: bug in {function.c_name}:", file=sys.stderr)
            tell("".join(traceback.format_exception(error)).rstrip())
