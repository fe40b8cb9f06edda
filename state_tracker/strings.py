"""glGetString, glGetStringi, and the queries of error and reset status."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.glsl.language import DESKTOP_VERSIONS, ES_VERSIONS
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.limits import GALLETTE_VERSION

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

# The extensions of SPIR-V, beside version 1.0, that programs may use.
SPIRV_EXTENSIONS = (
    "SPV_KHR_shader_ballot",
    "SPV_KHR_shader_draw_parameters",
    "SPV_KHR_storage_buffer_storage_class",
    "SPV_KHR_subgroup_vote",
)
_STRINGS: dict[int, Callable[[Context], str]] = {}


def says(name: int, string: Callable[[Context], str]) -> None:
    """Register a string of the compatibility profile."""
    _STRINGS[name] = string


@entry
def get_string(ctx: Context, name: int) -> str:
    major, minor = ctx.limits.version
    if name == GL.VENDOR:
        return "gallette"
    if name == GL.RENDERER:
        return f"gallette {ctx.screen.describe()}"
    if name == GL.VERSION:
        if ctx.profile == "es1":
            return f"OpenGL ES-CM {major}.{minor} gallette {GALLETTE_VERSION}"
        if ctx.profile == "es":
            return f"OpenGL ES {major}.{minor} gallette {GALLETTE_VERSION}"
        profile = "Core" if ctx.is_core else "Compatibility"
        return f"{major}.{minor} ({profile} Profile) gallette {GALLETTE_VERSION}"
    if name == GL.SHADING_LANGUAGE_VERSION and ctx.profile != "es1":
        if ctx.profile == "es":
            version = ctx.limits.es_glsl_version
            return f"OpenGL ES GLSL ES {version // 100}.{version % 100:02d}"
        version = ctx.limits.glsl_version
        return f"{version // 100}.{version % 100:02d}"
    if name == GL.EXTENSIONS and not ctx.is_core:
        return " ".join(ctx.limits.extensions)
    if name in _STRINGS and ctx.is_compat:
        return _STRINGS[name](ctx)
    raise invalid_enum(name, "string")


def language_versions(ctx: Context) -> list[str]:
    """The versions accepted by #version, newest first; GLSL 1.10 needs no directive."""
    limits = ctx.limits
    found: list[str] = []
    if ctx.profile != "es":
        for version in DESKTOP_VERSIONS:
            if version > limits.glsl_version:
                continue
            if version < 150:
                found.append(str(version))
            else:
                found.append(f"{version} core")
                if ctx.is_compat:
                    found.append(f"{version} compatibility")
        found.append("")
    for version in ES_VERSIONS:
        if version <= limits.es_glsl_version:
            found.append("100" if version == 100 else f"{version} es")
    return found[::-1]


@entry
def get_stringi(ctx: Context, name: int, index: int) -> str:
    if name == GL.EXTENSIONS:
        names = list(ctx.limits.extensions)
    elif name == GL.SHADING_LANGUAGE_VERSION and ctx.profile != "es":
        names = language_versions(ctx)
    elif name == GL.SPIR_V_EXTENSIONS and ctx.profile != "es":
        names = list(SPIRV_EXTENSIONS)
    else:
        raise invalid_enum(name, "indexed string")
    if index >= len(names):
        raise invalid_value(f"there is no string {index}, only {len(names)}")
    return names[index]


@entry
def get_error(ctx: Context) -> int:
    if ctx.immediate.active:  # between glBegin and glEnd this call is an error itself
        raise invalid_operation("not between glBegin and glEnd")
    ctx.immediate.draw_pending()
    code, ctx.error = ctx.error, GL.NO_ERROR
    return code


@entry
def get_graphics_reset_status(ctx: Context) -> int:
    return GL.GUILTY_CONTEXT_RESET if ctx.lost else GL.NO_ERROR


gets(
    {
        "NUM_SHADING_LANGUAGE_VERSIONS": lambda c: len(language_versions(c)),
    },
    profiles="desktop",
)
gets({"NUM_SPIR_V_EXTENSIONS": lambda c: 0 if c.profile == "es" else len(SPIRV_EXTENSIONS)})
