"""EGL errors: raised in Python, stored per thread, returned by eglGetError."""

from __future__ import annotations

from _thread import get_ident

from gallette.compiler.errors import GalletteError
from gallette.egl.constants import Error
from gallette.state_tracker.entry_points.thread_ends import at_thread_end, expect_end

_LAST: dict[int, int] = {}


class EglError(GalletteError):
    """A call that EGL refuses with an error code."""

    def __init__(self, code: Error, text: str):
        super().__init__(f"EGL_{code.name}: {text}")
        self.code = code


def check(condition: object, code: Error, text: str) -> None:
    """Refuse a call unless the condition holds."""
    if not condition:
        raise EglError(code, text)


def set_error(code: int) -> None:
    if get_ident() not in _LAST:
        expect_end()
    _LAST[get_ident()] = code


def last_error() -> int:
    """Return the calling thread's error and reset it."""
    return _LAST.pop(get_ident(), int(Error.SUCCESS))


at_thread_end(lambda: _LAST.pop(get_ident(), None))
