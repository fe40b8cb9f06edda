"""`GALLETTE_DEBUG`: one table of debug flags, read by every layer and by `gallette --help`.

`GALLETTE_DEBUG=nir:validate,driver:variants` switches flags on; `driver:inexact_used_once=always`
gives one a value. An unknown flag is an error that names the closest one, because a misspelt debug
flag that silently does nothing costs an afternoon.
"""

from __future__ import annotations

import difflib
import os
import threading
from dataclasses import dataclass
from functools import lru_cache

from gallette.compiler.errors import InputError

__all__ = ["FLAGS", "DebugFlag", "flag_value", "flags", "hold", "is_set", "release"]


@dataclass(frozen=True, slots=True)
class DebugFlag:
    """One flag: `area:name`, whether it takes a value (and which), and what it does."""

    name: str
    doc: str
    values: tuple[str, ...] = ()


FLAGS: dict[str, DebugFlag] = {
    flag.name: flag
    for flag in (
        DebugFlag("nir:print", "print the shader after every pass that made progress"),
        DebugFlag(
            "nir:validate",
            "validate linked shaders, and after every pass with progress",
        ),
        DebugFlag("nir:idle", "run passes that were left out, too: they must find nothing to do"),
        DebugFlag("nir:metadata", "recompute preserved metadata after every pass and compare"),
        DebugFlag("glsl:dump", "print the NIR of every compiled GLSL shader"),
        DebugFlag("gl:calls", "print every OpenGL call"),
        DebugFlag("gl:errors", "print a line for every OpenGL error set, with its reason"),
        DebugFlag("driver:variants", "print a line for every new shader variant and its reason"),
        DebugFlag("driver:code", "print the generated code of every variant"),
        DebugFlag(
            "driver:inexact_used_once",
            "when inexact rules may look at use counts (see `gallette lesson is_used_once`)",
            ("always", "never", "not_position"),
        ),
        DebugFlag(
            "driver:live_ranges",
            "what the driver simd knows of channels that wait (see `gallette lesson live_ranges`)",
            ("naive", "loop_extended", "mask_aware"),
        ),
        DebugFlag(
            "driver:texture_writes",
            "when answers of textures land in the driver tiler's registers "
            "(see `gallette lesson texture_scoreboard`)",
            ("late", "in_order"),
        ),
        DebugFlag(
            "driver:barriers",
            "who waits for a texture's answer in the driver tiler: its readers, or writers too",
            ("writes", "reads"),
        ),
        DebugFlag(
            "driver:half_colors",
            "where the driver tiler computes colours in 16 bits (see `gallette lesson "
            "half_precision`)",
            ("auto", "never", "always"),
        ),
        DebugFlag(
            "driver:mixed_pages",
            "let directories of the driver simd's page tables have pages of both sizes "
            "(see `gallette lesson page_tables`)",
        ),
        DebugFlag(
            "driver:forget",
            "derive all state anew at every draw: a picture that this mends shows that the driver "
            "kept something for too long",
        ),
        DebugFlag("driver:verify", "have LLVM verify the modules that the driver jit makes"),
        DebugFlag("driver:position_invariant", "treat every vertex position as invariant"),
    )
}


@lru_cache(maxsize=8)
def _parse(text: str) -> dict[str, str]:
    found = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = item.partition("=")
        flag = FLAGS.get(name)
        if flag is None:
            close = difflib.get_close_matches(name, FLAGS, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f" (known: {', '.join(FLAGS)})"
            raise InputError(f"GALLETTE_DEBUG: unknown flag {name!r}{hint}")
        if flag.values and value not in flag.values:
            raise InputError(f"GALLETTE_DEBUG: {name} takes one of {', '.join(flag.values)}")
        found[name] = value or "1"
    return found


def flags() -> dict[str, str]:
    """The flags that are set, with their values ("1" for plain ones)."""
    held: dict[str, str] | None = getattr(_held, "flags", None)
    return _parse(os.environ.get("GALLETTE_DEBUG", "")) if held is None else held


_held = threading.local()


def hold() -> dict[str, str] | None:
    """Make this thread use the flags that are set now, until `release` gets the returned value.

    For code that checks flags often: reading the environment takes longer than most of these checks
    should.
    """
    before: dict[str, str] | None = getattr(_held, "flags", None)
    _held.flags = flags()
    return before


def release(before: dict[str, str] | None) -> None:
    """End a `hold`."""
    _held.flags = before


def is_set(name: str) -> bool:
    """Whether a flag is set."""
    assert name in FLAGS, name
    return name in flags()


def flag_value(name: str, default: str) -> str:
    """The value of a flag, or the default."""
    assert name in FLAGS, name
    return flags().get(name, default)
