"""`GALLETTE_DEBUG`: one table of debug flags, read by every layer and by `gallette --help`.

`GALLETTE_DEBUG=nir:validate,driver:variants` switches flags on; `driver:inexact_used_once=always`
gives one a value. An unknown flag is an error that names the closest one, because a misspelt debug
flag that silently does nothing costs an afternoon.
"""

from __future__ import annotations

import difflib
import os
import threading
from functools import lru_cache

from gallette.compiler.errors import InputError
from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass(frozen=True)
class DebugFlag:
    """One flag: `area:name`, whether it takes a value (and which), and what it does."""

    name: str
    doc: str
    values: tuple[str, ...] = ()

    @property
    def spelling(self) -> str:
        """How the flag is written: `area:name` or `area:name=one|other`."""
        return f"{self.name}={'|'.join(self.values)}" if self.values else self.name


FLAGS: dict[str, DebugFlag] = {
    flag.name: flag
    for flag in (
        DebugFlag("nir:print", "print the shader after every pass that changed it"),
        DebugFlag("nir:validate", "validate linked shaders, and shaders after every pass"),
        DebugFlag("nir:idle", "run passes that would be skipped; they must not change anything"),
        DebugFlag("nir:metadata", "recompute preserved metadata after every pass and compare"),
        DebugFlag("glsl:strict", "reject features that GLSL lacks and other drivers accept"),
        DebugFlag("glsl:dump", "print the NIR of every compiled GLSL shader"),
        DebugFlag("gl:calls", "print every OpenGL call"),
        DebugFlag("gl:errors", "print every OpenGL error with its reason"),
        DebugFlag("driver:variants", "print every new shader variant with its reason"),
        DebugFlag("driver:code", "print the generated code of every variant"),
        DebugFlag(
            "driver:inexact_used_once",
            "when inexact rules may depend on use counts (gallette lesson is_used_once)",
            ("always", "never", "not_position"),
        ),
        DebugFlag(
            "driver:live_ranges",
            "simd: live ranges under divergent control flow (gallette lesson live_ranges)",
            ("naive", "loop_extended", "mask_aware"),
        ),
        DebugFlag(
            "driver:texture_writes",
            "tiler: when texture results reach registers (gallette lesson texture_scoreboard)",
            ("late", "in_order"),
        ),
        DebugFlag(
            "driver:barriers",
            "tiler: instructions that wait for texture results: all, or only readers",
            ("writes", "reads"),
        ),
        DebugFlag(
            "driver:half_colors",
            "tiler: when colours are computed in 16 bits (gallette lesson half_precision)",
            ("auto", "never", "always"),
        ),
        DebugFlag(
            "driver:mixed_pages",
            "simd: allow both page sizes in one page directory (gallette lesson page_tables)",
        ),
        DebugFlag(
            "driver:forget",
            "derive all state again at every draw; a changed picture shows a stale cache",
        ),
        DebugFlag("driver:verify", "jit: let LLVM verify every module"),
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
