"""Restrict the compatibility profile to OpenGL ES 1.1: reject the enums it does not have.

An ES 1.1 context runs on the compatibility profile's code with the functions that the table lists
for it. It also has fewer enums: `enums.txt` lists them, and a method of such a context
rejects all others before its arguments reach code that would accept them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette.compiler.text_tables import table_rows
from gallette.state_tracker.entry_points.dispatch import default_of
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.functions import Function, Kind
from gallette.state_tracker.entry_points.registry import restricts

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

# Extensions with their own enums, in contexts of every kind.
_FREE = frozenset(("GL_KHR_debug", "GL_EXT_debug_label"))


@cache
def es1_enums() -> frozenset[int]:
    """Every enum of an ES 1.1 context."""
    lines = table_rows(Path(__file__).with_name("enums.txt"))
    return frozenset(GL.value_of(name) for line in lines for name in line.split())


@restricts("es1")
def knowing_es1(ctx: Context, function: Function, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, rejecting enums that OpenGL ES 1.1 does not have."""
    places = [i for i, p in enumerate(function.params) if p.type == "enum" and p.kind is Kind.VALUE]
    image = function.name == "TexImage2D"
    if function.extension in _FREE or not (places or image):
        return method
    known = es1_enums()
    failed = default_of(function)

    def call(*args: Any) -> Any:
        for i in places:
            if i < len(args) and args[i] not in known:
                ctx.record_error(invalid_enum(args[i], function.params[i].name), function)
                return failed
        if image and (wrong := _image_error(known, args)) is not None:
            ctx.record_error(wrong, function)
            return None
        return method(*args)

    call.__name__, call.__doc__ = method.__name__, method.__doc__
    return call


_SIZED = frozenset(
    (GL.RGB8, GL.RGBA8, GL.RGB565, GL.RGBA4, GL.RGB5_A1, GL.ALPHA8, GL.LUMINANCE8,
     GL.LUMINANCE8_ALPHA8, GL.LUMINANCE4_ALPHA4, GL.RGB10, GL.RGB10_A2)
)  # fmt: skip


def _image_error(known: frozenset[int], args: tuple[Any, ...]) -> GLError | None:
    """An error for an image whose format would need conversion: OpenGL ES 1.1 has none."""
    internal, format = args[2], args[6]
    if internal not in known and internal not in _SIZED:
        return invalid_value(f"{GL.name_of(internal)} is not an internal format")
    if internal not in _SIZED and internal != format:
        return invalid_operation("internal format and format differ")
    return None
