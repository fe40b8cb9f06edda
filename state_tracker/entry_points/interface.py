"""The interface common to all GL contexts, gallette's and the native one.

The GL functions themselves are not written here: they are looked up in the function table by name
(`gl.gen_buffers(2)`), so for a type checker they are `Any`. The rest of the interface is small.
"""

from __future__ import annotations

from typing import Any, Self

from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function


class GLInterface:
    """Base of `Context` and `NativeContext`; also the context object moderngl accepts."""

    profile: str
    requested_version: tuple[int, int]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        """All attributes, including the GL functions of this context."""
        functions = [FUNCTIONS[name] for name in FUNCTIONS]
        found = [f.method for f in functions if self.has_function(f)]
        return sorted({*object.__dir__(self), *found})

    def has_function(self, function: Function) -> bool:
        """Whether this context has that entry point."""
        return function.available(self.profile, self.requested_version)

    def leaves_out(self, function: Function) -> bool:
        """Whether the implementation lacks a function of OpenGL, in contexts of all kinds."""
        return False

    def make_current(self) -> None:
        """Make this the current context for C callers of the GL functions."""
        raise AttributeError("make_current")

    def release(self) -> None:
        """Destroy the context. gallette's contexts raise if shaders or resources outlive it."""
        raise AttributeError("release")

    def load_opengl_function(self, name: str) -> int:
        """The address of a C function of that name, 0 if this GL has none."""
        raise AttributeError("load_opengl_function")

    def __enter__(self) -> Self:
        """For `with`, and for moderngl, which enters the context around its own set-up."""
        self.make_current()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave a `with` block. moderngl calls this without the usual three arguments."""
