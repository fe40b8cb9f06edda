"""OpenGL on top of `pipe`, and the machine's own OpenGL behind the same interface.

`create_context` makes either; the function table (`functions.py`) defines what both can do.
"""

from __future__ import annotations

from gallette.compiler.gc_pause import loading
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.interface import GLInterface

__all__ = ["GL", "GLInterface", "create_context"]


@loading
def create_context(
    driver: str = "numpipe",
    *,
    profile: str = "core",
    version: tuple[int, int] = (3, 3),
    debug: bool = False,
    size: tuple[int, int] | None = None,
    samples: int = 0,
    strict: bool = False,
) -> GLInterface:
    """A current GL context of a pipe driver, or of the native GL ("native", "native:softpipe").

    `size` asks for a default framebuffer (RGBA8, depth 24, stencil 8) of that many pixels. A
    `strict` context of gallette raises `MisuseError` in Python for every call that sets a GL error.
    """
    base, _, inner = driver.partition(":")
    if base == "native":
        from gallette.state_tracker.native.context import NativeContext

        return NativeContext(
            inner, profile=profile, version=version, debug=debug, size=size, samples=samples
        )
    from gallette.state_tracker.context import Context

    return Context(
        driver,
        profile=profile,
        version=version,
        debug=debug,
        size=size,
        samples=samples,
        strict=strict,
    )
