"""Our GL as C function pointers, for programs that expect an OpenGL library (moderngl does).

Every pointer is a ctypes callback around the very method Python callers use. Nothing may escape
into C: an exception becomes a GL error, and one that is not a deliberate `GalletteError` is a bug
here, so its traceback is printed (once per entry point).
"""

from __future__ import annotations

import ctypes
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import GLError
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

__all__ = ["EntryPoints"]


class EntryPoints:
    """The C function pointers of one context, made when asked for and kept alive with it."""

    def __init__(self, context: Context):
        self._context = context
        self._pointers: dict[str, Any] = {}
        self._strings: dict[str, Any] = {}
        self._reported: set[str] = set()
        self.failures: list[BaseException] = []

    def address(self, c_name: str) -> int:
        """The address of `glSomething`; 0 if this context has no such function."""
        pointer = self._pointers.get(c_name)
        if pointer is None:
            function = self._find(c_name)
            if function is None:
                return 0
            pointer = ctypes.CFUNCTYPE(function.restype, *function.argtypes)(self._guard(function))
            self._pointers[c_name] = pointer
        return ctypes.cast(pointer, ctypes.c_void_p).value or 0

    def _find(self, c_name: str) -> Function | None:
        name = c_name.removeprefix("gl")
        if not c_name.startswith("gl") or name not in FUNCTIONS:
            return None
        function = FUNCTIONS[name]
        return function if self._context.has_function(function) else None

    def _string(self, text: str) -> int:
        """GL keeps the strings it returns: so do we."""
        buffer = self._strings.get(text)
        if buffer is None:
            buffer = self._strings[text] = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(buffer)

    def _guard(self, function: Function) -> Callable[..., Any]:
        context = self._context
        method = getattr(context, function.method)
        returns_text = function.result == "const ubyte*"
        returns_nothing = function.restype is None

        def call(*args: Any) -> Any:
            try:
                result = method(*args)
            except BaseException as error:
                self._failed(function, error)
                result = 0
            if returns_nothing:
                return None
            if returns_text and isinstance(result, str):
                return self._string(result)
            return result or 0

        return call

    def _failed(self, function: Function, error: BaseException) -> None:
        self.failures.append(error)
        code = GL.OUT_OF_MEMORY if isinstance(error, MemoryError) else GL.INVALID_OPERATION
        self._context.record_error(GLError(code, str(error)), function)
        if function.name not in self._reported:
            self._reported.add(function.name)
            if isinstance(error, GalletteError):
                print(f"gallette: {function.c_name}: {error}", file=sys.stderr)
            else:
                print(f"gallette: bug in {function.c_name}:", file=sys.stderr)
                traceback.print_exception(error, file=sys.stderr)
