"""Texts by path name that shaders `#include`, shared like shader objects.

A name is an absolute path. `#include "x"` searches next to the including text, then, like `#include
<x>`, in the folders given to glCompileShaderIncludeARB; a path that begins with a slash needs no
folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer
from gallette.state_tracker.entry_points.registry import entry

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context


# GLSL characters without those that end a name in a directive; no empty path components.
_NAME = re.compile(r"(/[\w .+\-*%\[\](){}^|&~=!:;,?#]+)+", re.ASCII)


def _cut(text: str, length: int) -> str:
    return text if length < 0 else text[:length]


def _path(name: str) -> str | None:
    """A valid absolute path in its shortest form."""
    return posixpath.normpath(name) if _NAME.fullmatch(name) else None


def _require(ctx: Context, length: int, name: str) -> tuple[str, str]:
    """The path and its text."""
    path = _path(_cut(name, length))
    if path is None:
        raise invalid_value(f"{name!r} is no absolute path")
    found = ctx.group.named_strings.get(path)
    if found is None:
        raise invalid_operation(f"nothing is named {path}")
    return path, found


@entry
def named_string_arb(
    ctx: Context, type: int, namelen: int, name: str, stringlen: int, string: str
) -> None:
    if type != GL.SHADER_INCLUDE_ARB:
        raise invalid_value(f"{type:#x} is no kind of named string")
    if string is None:
        raise invalid_value("the text is missing")
    path = _path(_cut(name, namelen))
    if path is None:
        raise invalid_value(f"{name!r} is no absolute path")
    ctx.group.named_strings[path] = _cut(string, stringlen)


@entry
def delete_named_string_arb(ctx: Context, namelen: int, name: str) -> None:
    del ctx.group.named_strings[_require(ctx, namelen, name)[0]]


@entry
def is_named_string_arb(ctx: Context, namelen: int, name: str) -> int:
    path = _path(_cut(name, namelen)) if name is not None else None
    return int(path in ctx.group.named_strings)


@entry
def get_named_string_arb(ctx: Context, namelen: int, name: str) -> str:
    return _require(ctx, namelen, name)[1]


@entry
def get_named_stringiv_arb(ctx: Context, namelen: int, name: str, pname: int) -> list[int]:
    _, text = _require(ctx, namelen, name)
    values: dict[int, int] = {
        GL.NAMED_STRING_LENGTH_ARB: len(text) + 1,
        GL.NAMED_STRING_TYPE_ARB: GL.SHADER_INCLUDE_ARB,
    }
    if pname not in values:
        raise invalid_enum(pname, "named string query")
    return [values[pname]]


@entry
def compile_shader_include_arb(
    ctx: Context, shader: int, count: int, path: list[str], length: Pointer
) -> None:
    if ctx.programs.names.get(shader) is None:
        raise invalid_operation(f"{shader} is not the name of a shader")
    found = ctx.programs.shader(shader)
    folders = [p if p == "/" else _path(p) for p in path] if path else []
    if count < 0 or any(f is None for f in folders):
        raise invalid_value("the folders to look in are not absolute paths")
    if found.spirv:
        raise invalid_operation("the shader holds SPIR-V, which is specialised")
    found.compile(ctx, [f.rstrip("/") for f in folders if f is not None])


def include_lookup(ctx: Context, folders: Sequence[str]) -> Callable[[str, str], str | None] | None:
    """The function that resolves `#include`, or None if there are no named strings."""
    strings = ctx.group.named_strings
    if not strings:
        return None
    places: dict[str, str] = {}  # of included texts, by the spelling of their names

    def look(path: str, current: str) -> str | None:
        here = posixpath.dirname(places[current]) if current in places else None
        candidates = [path] if path.startswith("/") else []
        if not candidates:
            candidates = [f"{f}/{path}" for f in (here, *folders) if f is not None]
        for candidate in candidates:
            found = _path(candidate)
            if found in strings:
                assert found is not None
                places[path] = found
                return strings[found]
        return None

    return look
