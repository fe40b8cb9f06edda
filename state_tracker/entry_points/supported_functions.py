"""Which functions of the table work in a context, and which set GL_INVALID_OPERATION there.

A function is present where its version and profile provide it, or its extension is listed. Several
names may be one function (`glMultiDrawArrays` and `glMultiDrawArraysEXT`): all of them work where
one is present, since they share an implementation; llvmpipe does likewise.
"""

from __future__ import annotations

from collections.abc import Set

from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function

_FIXED_POINT = "GL_NV_ES1_1_compatibility"  # OpenGL ES 1.1 for desktop contexts


def answers(function: Function, profile: str, listed: Set[str]) -> bool:
    """Whether the function works in a context of that profile with these extensions."""
    if is_there(function, profile, listed):
        return True
    return any(is_there(same, profile, listed) for same in FUNCTIONS.same_as(function))


def is_there(function: Function, profile: str, listed: Set[str]) -> bool:
    """Whether the function is present by this name."""
    if function.extension is not None:
        return any(
            extension in listed or FUNCTIONS.unlisted.get(extension) == profile
            for extension in FUNCTIONS.extensions(function)
        )
    if profile in ("es", "es1"):
        return function.in_es((3, 2) if profile == "es" else (1, 1))
    if function.since is None:
        return function.es_until is not None and _FIXED_POINT in listed
    return profile == "compat" or not function.compat_only
