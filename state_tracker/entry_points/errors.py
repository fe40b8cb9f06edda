"""GL errors: raised inside an entry point, recorded by the dispatcher, never seen by the caller.

An entry point checks its arguments before it changes any state, and raises one of these errors: a
command that fails has no effect.
"""

from __future__ import annotations

from typing import NoReturn

from gallette.state_tracker.entry_points.enums import GL


class GLError(Exception):
    """`code` is the value for glGetError; the message goes to debug output."""

    def __init__(self, code: int, message: str):
        self.code = code
        super().__init__(message)


def invalid_enum(value: int, what: str = "enum") -> GLError:
    return GLError(GL.INVALID_ENUM, f"{GL.name_of(value)} is not a valid {what} here")


def invalid_value(message: str) -> GLError:
    return GLError(GL.INVALID_VALUE, message)


def invalid_operation(message: str) -> GLError:
    return GLError(GL.INVALID_OPERATION, message)


def invalid_framebuffer(message: str) -> GLError:
    return GLError(GL.INVALID_FRAMEBUFFER_OPERATION, message)


def out_of_memory(message: str) -> GLError:
    return GLError(GL.OUT_OF_MEMORY, message)


def unreachable(value: object) -> NoReturn:
    raise AssertionError(f"unexpected {value!r}")
